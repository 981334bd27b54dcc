"""Commands about the home: agents, keys, doctor."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer
from rich.text import Text

from alveus.doors import output
from alveus.doors.exits import Exit
from alveus.doors.options import Command, Form, Settings, settings_of
from alveus.errors import AlveusError, NotFound

if TYPE_CHECKING:
    from alveus.doors.doctor import Finding

GOOD_STATES: Final = ("ok_to_head", "ok_open_end", "empty")
HEALTH_STYLES: Final = {"ok": "green", "warn": "yellow", "bad": "bold red"}

keys = typer.Typer(no_args_is_help=False, invoke_without_command=True, rich_markup_mode="markdown")


# Agents


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLine:
    """An agent of a home. `state` is a verdict's state, or the code of what keeps its journal from being read."""

    agent_id: str
    folder: Path
    records: int | None
    state: str


def agents(call: typer.Context) -> None:
    """List the agents in this home and the state of their journals.

    The state is that of a walk from the last head; `verify` walks everything.
    """
    settings = settings_of(call)
    home = settings.find_home()
    found = [_agent(settings, folder) for folder in _folders(home)]
    if settings.form is Form.JSON:
        output.document({"agents": found, "home": home}, settings)
    elif settings.form is Form.LINES:
        for one in found:
            output.document(one, settings)
    else:
        _list_agents(found, home)


def _folders(home: Path) -> list[Path]:
    folder = home / "agents"
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _agent(settings: Settings, folder: Path) -> AgentLine:
    from alveus.hippocampus import verify_layout
    from alveus.store.files import DISK
    from alveus.store.layout import decode_name, make_layout

    agent_id = decode_name(folder.name)
    try:
        verdict = verify_layout(make_layout(settings.find_home(), agent_id), DISK, since_head=True)
    except AlveusError as error:
        return AgentLine(agent_id=agent_id, folder=folder, records=None, state=error.code)
    state = verdict.fault.code if verdict.fault else verdict.state
    return AgentLine(agent_id=agent_id, folder=folder, records=verdict.size, state=state)


def _list_agents(found: list[AgentLine], home: Path) -> None:
    width = max((len(one.agent_id) for one in found), default=0)
    for one in found:
        count = "? records" if one.records is None else output.plural(one.records, "record")
        style = "" if one.state in GOOD_STATES else "red"
        name = output.printable(one.agent_id).ljust(width)
        output.show(Text.assemble((name, "bold"), f"  {count:>18}  ", (one.state, style)))
    output.talk(f"{output.plural(len(found), 'agent')} in {home}")


# Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLine:
    """A key file. `kid` is None for a key that signs no records, and for one that is refused; `refused` says why."""

    kid: str | None
    path: Path
    mode: str
    use: str
    refused: str = ""


OTHER_KEYS: Final = {"note": "checkpoints", "montana": "montana"}
"""Keys of an agent that are not its journal's, by their purpose, and what they sign."""


@keys.callback()
def list_by_default(call: typer.Context) -> None:
    """List the agent's keys by name, never by content; rotate them.

    Alone it lists them. `keys rotate` begins a new chain under a new key.
    """
    if call.invoked_subcommand is None:
        _list_keys(settings_of(call))


@keys.command("ls", cls=Command)
def ls(call: typer.Context) -> None:
    """List the agent's keys: name (kid), use, mode, path."""
    _list_keys(settings_of(call))


@keys.command("rotate", cls=Command)
def rotate(call: typer.Context) -> None:
    """Close this chain and continue in a new one under a new key.

    The old key is kept: the old chain cannot be verified without it.
    """
    settings = settings_of(call)
    with settings.open(write=True) as memory:
        done = memory.rotate()
        old = memory.layout.old_key(done.old_kid)
    if settings.form is not Form.TEXT:
        output.document({**output.plain(done), "old_key_file": old}, settings)
        return
    output.facts(
        [
            ("new key", done.new_kid),
            ("new chain", done.new_chain),
            ("old key", f"{done.old_kid}, kept at {old}"),
            ("old chain", f"{done.old_chain}, closed"),
        ]
    )
    output.talk("Copy the new key to where you keep keys, and keep the old one: it verifies the old chain.")


def _list_keys(settings: Settings) -> None:
    found = list(_keys(settings))
    if settings.form is Form.JSON:
        output.document({"keys": found}, settings)
    elif settings.form is Form.LINES:
        for one in found:
            output.document(one, settings)
    else:
        for one in found:
            output.show(Text.assemble((one.kid or "-" * 16, "bold"), f"  {one.use:<11}  {one.mode}  {one.path}"))
            if one.refused:
                output.talk(f"  {one.refused}", "red")


def _keys(settings: Settings) -> Iterator[KeyLine]:
    layout = settings.layout()
    current = layout.key_file
    older = sorted(path for path in current.parent.glob("*") if path.name.startswith(f"{current.name}."))
    if not current.exists() and not older:
        raise NotFound(
            f"agent {layout.agent_id!r} has no key at {current}",
            hint="`alveus init` makes one; check --home and --agent",
        )
    if current.exists():
        yield _key(current, "current")
    yield from (_key(path, "old") for path in older)
    for purpose, use in OTHER_KEYS.items():
        path = layout.other_key(purpose)
        if path.exists():
            yield KeyLine(kid=None, path=path, mode=_mode(path), use=use)


def _key(path: Path, use: str) -> KeyLine:
    from alveus.journal.seal import Key
    from alveus.store.files import DISK
    from alveus.store.keys import read_secret

    try:
        kid = Key(read_secret(DISK, path)).kid
    except AlveusError as error:
        return KeyLine(kid=None, path=path, mode=_mode(path), use=use, refused=f"{error.message}; {error.hint}")
    return KeyLine(kid=kid, path=path, mode=_mode(path), use=use)


def _mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.lstat().st_mode):04o}"


# The index


def rebuild(call: typer.Context) -> None:
    """Make the index for recall again from the journal.

    The old one serves until the new one is whole. Vectors that are missing are made too, and the tiers where there are
    some; exit status 1 when these could not be made.
    """
    settings = settings_of(call)
    with settings.open(write=True) as memory, output.preparing(settings) as told:
        count = memory.prepare_recall(told, anew=True)
        marks, failed = memory.marks(), memory.not_remade
    if settings.form is not Form.TEXT:
        output.document({"records": count, "marks": marks}, settings)
    else:
        output.show(f"{output.plural(count, 'record')} indexed")
        for mark in marks:
            output.talk(mark, "yellow")
    if failed:
        raise typer.Exit(Exit.ERROR)


# Doctor


def doctor(call: typer.Context) -> None:
    """Look for what is wrong around a journal; say how to mend it.

    Changes nothing. Exit status 1 if something is bad; warnings leave it 0.
    """
    from alveus.doors.doctor import Health, examine, worst

    settings = settings_of(call)
    found = list(examine(settings))
    health = worst(found)
    if settings.form is Form.TEXT:
        output.facts([row for one in found for row in _finding(one)])
    else:
        output.document({"checks": found, "health": health}, settings)
    if health is Health.BAD:
        raise typer.Exit(Exit.ERROR)


def _finding(one: Finding) -> Iterator[output.Row]:
    yield one.name, Text.assemble((one.health.ljust(6), HEALTH_STYLES[one.health]), output.printable(one.found))
    if one.mend:
        yield "", Text(f"      {output.printable(one.mend)}", "bold")
