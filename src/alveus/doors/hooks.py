"""Commands about the hooks that agents call: install, uninstall, status, backfill."""

from __future__ import annotations

import difflib
import os
import time
from enum import StrEnum
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from alveus.doors import output
from alveus.doors.options import Command, Form, Settings, settings_of
from alveus.errors import AlveusError, InputError

if TYPE_CHECKING:
    from alveus.doors.hook.around import Hooks, Transcript
    from alveus.doors.hook.settings import Change, Harness

hooks = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Let an agent's own hooks record what it does and give it its memory back.",
)


class Known(StrEnum):
    """The agents that hooks can be installed in."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"


_Program = Annotated[Known, typer.Argument(metavar="claude-code|codex", help="The agent program.", show_default=False)]
_File = Annotated[
    str | None,
    typer.Option("--settings", metavar="FILE", show_default=False, help="A settings file other than the user's."),
]
_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


@hooks.command("install", cls=Command)
def install(call: typer.Context, program: _Program, settings: _File = None) -> None:
    """Have an agent call **alveus-hook**: what it says and does is recorded, what bears on a prompt is injected.

    Every project gets a memory of its own; with --agent all share that one. The settings file is backed up, the
    difference is printed, and other hooks stay. Doing it again changes nothing.
    """
    from alveus.doors.hook import settings as hooked
    from alveus.doors.hook.around import command_of

    asked = settings_of(call)
    harness = hooked.HARNESSES[program]
    command = command_of(harness, asked.find_home(), asked.agent)
    change = hooked.install(harness, _path(harness, settings), command)
    _write(asked, harness, change)
    if asked.form is Form.TEXT:
        if harness.after:
            output.talk(harness.after, style="bold")
        output.talk("It is at work from the next session on. `alveus hooks backfill` imports what was said before.")


@hooks.command("uninstall", cls=Command)
def uninstall(call: typer.Context, program: _Program, settings: _File = None) -> None:
    """Take our hooks out of an agent's settings; other hooks, and what was recorded, stay."""
    from alveus.doors.hook import settings as hooked

    harness = hooked.HARNESSES[program]
    _write(settings_of(call), harness, hooked.uninstall(_path(harness, settings)))


@hooks.command("status", cls=Command)
def status(call: typer.Context) -> None:
    """Say which hooks are at work, whose memory this folder's sessions have, what waits and what failed."""
    from alveus.doors.hook import place, trouble

    asked = settings_of(call)
    home = str(asked.find_home())
    found = list(looked_at(asked))
    project = str(Path.cwd())
    whose = asked.agent or os.environ.get("ALVEUS_AGENT") or place.agent_of(project)
    waits, failed = waiting(home), trouble.sentence(place.hooks_of(home))
    if asked.form is not Form.TEXT:
        output.document(
            {"agent": whose, "failures": failed, "hooks": found, "project": project, "waiting_bytes": waits}, asked
        )
        return
    output.facts([*((one.harness, _said(one)) for one in found)])
    output.facts(
        [
            ("this folder", f"{output.printable(whose)} remembers its sessions: --agent names it to other commands"),
            (
                "waiting",
                f"{waits:,} bytes of events; the next event of a session takes them in" if waits else "nothing",
            ),
            ("failures", failed or "none in the log"),
        ]
    )


@hooks.command("backfill", cls=Command)
def backfill(call: typer.Context) -> None:
    """Import what Claude Code's transcripts hold and no journal does, each into its project's memory.

    What hooks put down and nobody took in yet is taken in first. With --agent all goes into that memory. Doing it
    again imports nothing twice.
    """
    from alveus.doors.hook import around
    from alveus.doors.hook.draining import drained

    asked = settings_of(call)
    home = asked.find_home()
    taken = drained(str(home), agents_that_wait(str(home)))
    rows = []
    for agent_id, found in _by_agent(asked, around.not_imported(home, around.transcripts())).items():
        rows.append(_imported(home, agent_id, found))
    if asked.form is Form.TEXT:
        for row in rows:
            output.show(Text.assemble((output.printable(str(row["agent"])), "bold"), f"  {_counted(row)}"))
        output.talk(
            f"{output.plural(taken, 'record')} of waiting events; {output.plural(len(rows), 'project')} imported"
        )
    else:
        output.document({"projects": rows, "taken": taken}, asked)


# ── settings files ───────────────────────────────────────────────────────────────────────────────────────────────────


def _path(harness: Harness, given: str | None) -> Path:
    path = Path(given).expanduser() if given else harness.settings()
    return path.resolve()  # a link to a file of one's own stays one


def _write(asked: Settings, harness: Harness, change: Change) -> None:
    """Back the file up, replace it as a whole, and say what changed."""
    backup = _replace(change) if change.changes else None
    difference = _difference(change)
    if asked.form is not Form.TEXT:
        told = {"backup": backup, "changed": change.changes, "difference": difference}
        output.document({**told, "harness": harness.name, "settings": change.path}, asked)
        return
    for line in difference.splitlines():
        output.show(Text(output.printable(line), style=_STYLES.get(line[:1], "")))
    if not change.changes:
        output.talk(f"{change.path}: nothing to change")
    elif backup is None:
        output.talk(f"{change.path} was made")
    else:
        output.talk(f"{change.path} was changed; what it was lies in {backup}")


def _replace(change: Change) -> Path | None:
    from alveus.doors.hook import settings as hooked

    path, backup = change.path, None
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if hooked.read(path) != change.before:
        raise InputError(f"{path} was changed by somebody else at this moment; nothing was changed", hint="try again")
    mode = 0o600
    if change.before is not None:
        mode = path.stat().st_mode & 0o777
        backup = _unused(path.with_name(f"{path.name}.before-alveus-{time.strftime('%Y%m%dT%H%M%S')}"))
        _create(backup, change.before, mode)
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    _create(new, change.after or "", mode)
    new.replace(path)
    return backup


def _unused(path: Path) -> Path:
    """The path, or the first like it that is not taken: two changes within a second have a backup each."""
    others = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(one for one in chain([path], others) if not one.exists())


def _create(path: Path, text: str, mode: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with open(fd, "wb") as file:  # noqa: PTH123  (the mode counts from the first byte on)
        file.write(text.encode())
        file.flush()
        os.fsync(fd)


def _difference(change: Change) -> str:
    before, after = (text.splitlines() if text else [] for text in (change.before, change.after))
    return "\n".join(difflib.unified_diff(before, after, str(change.path), str(change.path), lineterm=""))


# ── how things stand ─────────────────────────────────────────────────────────────────────────────────────────────────


def looked_at(asked: Settings) -> list[Hooks]:
    """Our hooks in the user's settings of every agent we know."""
    from alveus.doors.hook import around
    from alveus.doors.hook import settings as hooked

    home = asked.find_home()
    found = []
    for harness in hooked.HARNESSES.values():
        path = harness.settings()
        command = around.command_of(harness, home, asked.agent)
        found.append(around.hooks(harness, path, command))
    return found


def agents_that_wait(home: str) -> list[tuple[str, str]]:
    """The agents for which something was put down: id, and name on disk."""
    from alveus.doors.hook import place
    from alveus.store.layout import decode_name

    folder = Path(place.hooks_of(home), "agents")
    names = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    return [(decode_name(name), name) for name in names]


def waiting(home: str) -> int:
    """How many bytes of events are not in the journal yet."""
    from alveus.doors.hook import place, spool

    folder = Path(place.hooks_of(home), "agents")
    return sum(spool.unrecorded(str(folder / name)) for _, name in agents_that_wait(home))


def _said(one: Hooks) -> str:
    if not one.events:
        return f"not installed in {one.settings}" + (f": {one.trouble}" if one.trouble else "")
    if one.active:
        return f"at work, {output.plural(len(one.events), 'event')} in {one.settings}"
    what = one.trouble or f"{', '.join(one.missing)} not hooked"
    return f"{what} ({one.settings}); {one.mend}"


# ── backfill ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _by_agent(asked: Settings, found: list[Transcript]) -> dict[str, list[Transcript]]:
    """The transcripts by the memory they belong to; those that name no folder to the agent of this call."""
    from alveus.doors.hook import place
    from alveus.doors.hook.around import project_of

    whose: dict[str, list[Transcript]] = {}
    fallback = asked.layout().agent_id
    named = asked.agent or os.environ.get("ALVEUS_AGENT")
    for one in found:
        project = "" if named else project_of(one.path)
        agent_id = named or (place.agent_of(project) if project else fallback)
        whose.setdefault(agent_id, []).append(one)
    return whose


def _imported(home: Path, agent_id: str, found: list[Transcript]) -> dict[str, object]:
    """Import them into one memory. A transcript that cannot be read is named and stops no other."""
    from alveus.hippocampus import Hippocampus
    from alveus.importers import run

    stored = known = 0
    failed: list[str] = []
    with Hippocampus.open(home=home, agent_id=agent_id) as memory:
        for one in found:
            for path in (one.path, *sorted(one.path.with_suffix("").glob("subagents/**/*.jsonl"))):
                try:
                    report = run(memory, path, "claude-code")
                except InputError as error:
                    failed.append(f"{path}: {error.message}")
                except AlveusError as error:
                    raise type(error)(f"{path}: {error.message}", code=error.code, hint=error.hint) from error
                else:
                    stored += report.stored + report.revised
                    known += report.known
    return {"agent": agent_id, "failed": failed, "known": known, "stored": stored, "transcripts": len(found)}


def _counted(row: dict[str, object]) -> str:
    failed = row["failed"]
    bad = f", {len(failed)} failed: {failed[0]}" if isinstance(failed, list) and failed else ""
    return f"{row['transcripts']} transcripts: {row['stored']} stored, {row['known']} already there{bad}"
