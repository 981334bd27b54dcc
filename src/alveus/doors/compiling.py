"""Commands about the agent's self: canon, kernels, digests, and who changed what of them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from alveus.doors import output
from alveus.doors.exits import Exit
from alveus.doors.options import Command, Form, Settings, settings_of
from alveus.doors.streams import text
from alveus.errors import AlveusError, InputError, NotFound

if TYPE_CHECKING:
    from alveus.compiling import Compilation, Status
    from alveus.compiling.history import Identity, Standing, Step
    from alveus.compiling.shelf import Kernels
    from alveus.hippocampus import Hippocampus
    from alveus.kernels.compiler import Bullet
    from alveus.kernels.digest import Delta

EVERY: Final = 30.0
"""Seconds between two looks of `digest --watch`."""
LONGEST_PAUSE: Final = 600.0
"""Seconds until `digest --watch` tries again what failed again and again."""
EXCERPT: Final = 100
"""Characters that `drift` shows of a record."""
LINES: Final = 20
"""Lines that `identity check` shows of what was changed in a file."""

canon = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
kernel = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
identity = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


# The canon


@canon.callback()
def about_canon() -> None:
    """Set or show the base canon: the file that says who the agent is.

    A SOUL.md, a CLAUDE.md, a system prompt. What contradicts it does not enter the kernels.
    """


@canon.command("set", cls=Command)
def set_(call: typer.Context, file: Annotated[Path, typer.Argument(metavar="FILE", help="UTF-8 text.")]) -> None:
    """Record a file as the base canon. The same text again changes nothing."""
    settings = settings_of(call)
    with settings.open(write=True) as memory:
        record = memory.set_canon(file)
        holds = memory.canon()
    if settings.form is not Form.TEXT:
        output.document({"canon": holds, "record": record}, settings)
        return
    output.show(record.record_id)
    output.talk(f"{file} is the canon since {_minute(record.timestamp)} UTC; `alveus compile` goes by it")


@canon.command("show", cls=Command)
def show_canon(call: typer.Context) -> None:
    """Show the base canon that holds. Exit status 3 where none was set: then it is bootstrapped."""
    settings = settings_of(call)
    with settings.open() as memory:
        holds = memory.canon()
    if holds is None:
        raise NotFound(
            "no canon was set: it is bootstrapped from what is best supported", hint="`alveus canon set FILE` sets one"
        )
    if settings.form is not Form.TEXT:
        output.document(holds._asdict(), settings)
        return
    output.block(holds.text if holds.text.endswith("\n") else f"{holds.text}\n")
    output.talk(f"set from {holds.file}, {_minute(holds.at)} UTC, record {holds.record_id}")


# Compiling


def compile_(
    call: typer.Context,
    *,
    since: Annotated[
        str | None,
        typer.Option(
            "--since", metavar="TIME", show_default=False, help="Only from what happened since: a day or time."
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="How many fragments each stage left, and why.")] = False,
) -> None:
    """Compile the identity, decision and anti-kernel from what was consistently said.

    They are put in place whole, and recorded. What a person wrote in them stays.
    """
    settings = settings_of(call)
    with settings.open(write=True) as memory, output.preparing(settings) as told:
        done = memory.compile(since=None if since is None else text(since), told=told)
        folder = memory.folder / "kernels"
        marks = memory.marks()
    if settings.form is not Form.TEXT:
        output.document({**_compilation(done), "explain": _explained(done.kernels), "folder": folder}, settings)
        return
    _tell(done, folder)
    if explain:
        _tell_explained(done.kernels)
    for mark in marks:
        output.talk(mark, "yellow")


def _compilation(done: Compilation) -> dict[str, Any]:
    from alveus.kernels.digest import as_json

    return {
        "bullets": len(done.kernels.standing()),
        "canon": done.kernels.canon,
        "changed": done.changed,
        "changes": as_json(done.delta),
        "counts": done.delta.counts(),
        "digest": done.digest,
        "edited": done.edited,
        "embedded": done.embedded,
        "left_out": done.left_out,
        "prefix": done.kernels.cache.prefix,
        "deltas": done.kernels.cache.deltas,
        "troubles": done.troubles,
        "version": done.kernels.version,
    }


def _tell(done: Compilation, folder: Path) -> None:
    kernels = done.kernels
    counts = [f"{count} {what}" for what, count in done.delta.counts().items() if count]
    output.facts(
        [
            ("kernels", f"{kernels.version}, {output.plural(len(kernels.standing()), 'rule')} in {folder}"),
            ("changes", ", ".join(counts) or _NO_CHANGE[done.changed]),
            ("canon", _CANON.get(kernels.canon, kernels.canon)),
            ("digest", str(done.digest)),
        ]
    )
    for name, sentence in sorted(kernels.explains.items()):
        output.talk(f"{name}: {sentence}")
    if done.edited:
        output.talk(f"edited by hand since the last one, and recorded: {', '.join(done.edited)}")
    if done.left_out:
        output.talk(f"{output.plural(done.left_out, 'record')} failed their check: `alveus verify`", "yellow")
    for trouble in done.troubles:
        output.talk(trouble, "yellow")


_CANON: Final = {
    "given": "as it was set",
    "bootstrapped": "bootstrapped from what is best supported: `alveus canon set FILE` sets one",
    "none": "none: nothing is said often enough to be one",
}


_NO_CHANGE: Final = {True: "no rule changed", False: "none: the kernels are what they were"}


def _explained(kernels: Kernels) -> dict[str, Any]:
    return {"considered": kernels.considered, "empty": kernels.explains, "embedder": kernels.embedder}


def _tell_explained(kernels: Kernels) -> None:
    for stage, count in kernels.considered.items():
        output.talk(f"{count:>9,}  {stage}")
    output.talk(f"vectors by {kernels.embedder}")


# Kernels


@kernel.callback()
def about_kernel() -> None:
    """Show the kernels, what changed between two versions, and their history."""


Name = Annotated[
    str | None,
    typer.Argument(metavar="KERNEL", show_default=False, help="identity, decision or anti; else all three."),
]
Version = Annotated[
    int | None, typer.Option("--version", min=1, metavar="N", show_default=False, help="A kept version.")
]


@kernel.command("show", cls=Command)
def show_kernel(call: typer.Context, name: Name = None, *, version: Version = None) -> None:
    """Show the kernels that serve, as they are on disk."""
    from alveus.kernels.compiler import FILES, KernelName
    from alveus.kernels.digest import bullet_json

    settings = settings_of(call)
    if name is not None and name not in list(KernelName):
        raise InputError(f"there is no kernel {name!r}", hint="one of " + ", ".join(KernelName))
    wanted = [one for one in KernelName if name in (None, one)]
    with settings.open() as memory:
        found = memory.kernels(version)
        folder = memory.folder / "kernels.d" / str(found.version)
    if settings.form is not Form.TEXT:
        shown = [
            {**bullet_json(one), "in_file": one.id not in found.out} for one in found.bullets if one.name in wanted
        ]
        told = {"at": found.at, "bullets": shown, "canon": found.canon, "folder": folder, "version": found.version}
        output.document({**told, "explain": _explained(found)}, settings)
        return
    for number, one in enumerate(wanted):
        if number:
            output.show()
        output.prose(_page(folder / FILES[one]))
    output.talk(f"kernels {found.version}, {_minute(found.at)} UTC; `alveus show ID` shows a record that a line cites")


def _page(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace").removesuffix("\n")
    except FileNotFoundError:
        raise NotFound(f"{path.name} is gone", hint="`alveus compile` writes it again") from None


@kernel.command("diff", cls=Command)
def diff(
    call: typer.Context,
    before: Annotated[
        int | None, typer.Argument(metavar="FROM", show_default=False, help="A version; else the one before.")
    ] = None,
    after: Annotated[
        int | None, typer.Argument(metavar="TO", show_default=False, help="A version; else the one that serves.")
    ] = None,
) -> None:
    """Show which rules two versions of the kernels differ in."""
    from alveus.kernels.digest import as_json, changes

    settings = settings_of(call)
    with settings.open() as memory:
        new = memory.kernels(after)
        old = memory.kernels(before if before is not None else _before(memory, new.version))
    delta = changes(old.standing(), new.standing())
    if settings.form is not Form.TEXT:
        output.document(
            {"changes": as_json(delta), "counts": delta.counts(), "from": old.version, "to": new.version}, settings
        )
        return
    _tell_delta(delta)
    output.talk(f"kernels {old.version} to {new.version}")


def _before(memory: Hippocampus, version: int) -> int:
    from alveus.compiling.shelf import Shelf

    older = [one for one in Shelf(memory.folder).versions() if one < version]
    if not older:
        raise NotFound(f"there is no version before {version}", hint="name two versions that `alveus kernel log` lists")
    return older[-1]


def _tell_delta(delta: Delta) -> None:
    for one in delta.changes:
        output.show(f"{one.what}:")
        for sign, bullet in (("-", one.old), ("+", one.new)):
            if bullet is not None:
                output.prose(f"  {sign} {_said(bullet)}")


def _said(bullet: Bullet) -> str:
    return f"{bullet.name}: {output.one_line(bullet.text)} ({bullet.count}/{bullet.sessions}, {bullet.score:.2f})"


@kernel.command("log", cls=Command)
def log(
    call: typer.Context,
    *,
    count: Annotated[
        int | None, typer.Option("-n", min=1, metavar="N", show_default=False, help="The newest N.")
    ] = None,
) -> None:
    """List who changed the agent's self-description, what, and when; newest first."""
    settings = settings_of(call)
    with settings.open() as memory:
        steps = memory.identity_steps()[:count]
    _list_steps(steps, settings)


def _list_steps(steps: Sequence[Step], settings: Settings) -> None:
    if settings.form is Form.JSON:
        output.document({"steps": steps}, settings)
    elif settings.form is Form.LINES:
        for one in steps:
            output.document(one, settings)
    else:
        for one in steps:
            output.show(output.printable("\t".join(_columns(one))))
        if not steps:
            output.talk("nothing of that kind was recorded yet")


def _columns(step: Step) -> tuple[str, ...]:
    return (step.at, step.who, step.what, step.record_id, step.file or _numbers(step))


def _numbers(step: Step) -> str:
    details = step.details
    if "version" not in details:
        return ""
    counts = details.get("changes")
    changed = [f"{count} {what}" for what, count in counts.items() if count] if isinstance(counts, dict) else []
    return f"kernels {details['version']} by {details.get('by')}: {', '.join(changed) or 'no rule changed'}"


# Identity


@identity.callback()
def about_identity() -> None:
    """Check the files that say who the agent is."""


@identity.command("check", cls=Command)
def check(
    call: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", show_default=False, help="A SOUL.md, a CLAUDE.md, a kernel; else all known."),
    ] = None,
) -> None:
    """Check whether a file in use is the recorded one; show who changed what, and when.

    Exit status 4 where it is not, 3 where nothing is recorded of it.
    """
    settings = settings_of(call)
    with settings.open() as memory:
        found = memory.check_identity(file)
    if settings.form is not Form.TEXT:
        output.document({"files": found.files, "recorded": bool(found), "steps": found.steps}, settings)
    else:
        _tell_identity(found)
    if not found.files:
        raise NotFound("nothing about identity is recorded yet", hint="`alveus canon set FILE`, or `alveus compile`")
    states = {one.state for one in found.files}
    if "unknown" in states:
        raise typer.Exit(Exit.NOT_FOUND)
    if not found:
        raise typer.Exit(Exit.BROKEN)


def _tell_identity(found: Identity) -> None:
    for one in found.files:
        output.facts(list(_rows(one)))
        for line in (one.lines or ())[:LINES]:
            output.show(f"    {output.one_line(line)}")
        if len(one.lines or ()) > LINES:
            output.talk(f"and {len(one.lines or ()) - LINES} more lines: --json has all of them")
    if found.steps:
        output.show()
        for step in found.steps:
            output.show(output.printable("\t".join(_columns(step))))


def _rows(one: Standing) -> Iterator[output.Row]:
    yield "file", str(one.path)
    yield "state", _STATES[one.state.value]
    if one.recorded is not None:
        yield "recorded", f"{one.recorded[:16]}… in record {one.record_id}, {_minute(one.at or '')} UTC"
    if one.state.value == "changed":
        yield "in use", f"{(one.sha256 or '')[:16]}…, written {_minute(one.written or '')} UTC: {_changed(one)}"


def _changed(one: Standing) -> str:
    if one.lines is None:
        return "what it said before is not kept"
    if not one.lines:
        return "only line ends, or bytes that are no text"
    return f"{output.plural(one.added, 'line')} added, {one.removed} removed"


_STATES: Final = {
    "recorded": "the recorded one",
    "changed": "NOT the recorded one",
    "missing": "gone",
    "unknown": "nothing is recorded of it: `alveus canon set FILE` records it",
}


# Drift


def drift(
    call: typer.Context,
    *,
    days: Annotated[
        list[int] | None,
        typer.Option("--days", min=1, metavar="N", show_default=False, help="An epoch's length; else 7, and 30."),
    ] = None,
) -> None:
    """Show how far the agent's own words have moved from the canon.

    For each epoch the distance of its tone and of what is meant (0 is none, 1 is unrelated), and how much of it
    contradicts the canon. Where one of them changed by more than chance, the records that moved it are named.
    """
    from alveus.kernels.page import day_of

    settings = settings_of(call)
    with settings.open() as memory:
        found = memory.drift(days or (7, 30))
        named = dict.fromkeys(one for change in found.changes for one in change.records)
        said = {one: memory.get(one).content for one in named}
    if settings.form is not Form.TEXT:
        output.document(found, settings)
        return
    for length in dict.fromkeys(one.days for one in found.epochs):
        output.show(f"{'epochs of':>10} {length:>3} days    tone  intent  contradiction  fragments")
        for one in found.epochs:
            if one.days == length:
                numbers = f"{one.tone:>7.3f} {one.intent:>7.3f}  {one.contradiction:>13.3f}  {one.count:>9,}"
                output.show(f"{day_of(one.first):>10} {'':>9}{numbers}")
    for change in found.changes:
        moved = f"{change.measure} moved from {change.before:.3f} to {change.after:.3f}"
        output.show(f"{day_of(change.at)}, epochs of {change.days} days: {moved}")
        for record_id in change.records:
            output.show(f"  {record_id}  {output.one_line(said[record_id])[:EXCERPT]}")
    if not found.epochs:
        output.talk("the agent has not said enough yet")
    elif not found.changes:
        output.talk("no change that is more than chance")
    output.talk(f"compared with the canon: {_CANON.get(found.canon, found.canon)}")


# Digests


def digest(
    call: typer.Context,
    *,
    now: Annotated[bool, typer.Option("--now", help="Make it whether it is due or not.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Stay, and make one whenever it is due.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Only say how it stands.")] = False,
    every: Annotated[
        float, typer.Option("--every", min=0.1, metavar="SECONDS", help="How often --watch looks.")
    ] = EVERY,
) -> None:
    """Make the incremental digest, if one is due: more than 1.5 MiB were recorded within 12 hours.

    Without an option it looks once, which is what a hook wants. A run that fails leaves the old kernels, and the next
    one tries again.
    """
    settings = settings_of(call)
    if now + watch + status > 1:
        raise InputError("--now, --watch and --status exclude each other", hint="give one of them")
    if status:
        with settings.open() as memory:
            _tell_status(memory.digest_status(), settings)
        return
    with settings.open(write=True) as memory:
        if watch:
            _watch(memory, settings, every)
            return
        with output.preparing(settings) as told:
            done = memory.digest(now=now, told=told)
        found = memory.digest_status()
    _tell_digest(done, found, settings)


def _tell_status(found: Status, settings: Settings) -> None:
    if settings.form is not Form.TEXT:
        output.document(found, settings)
        return
    rows: list[output.Row] = [
        ("last", f"digest {found.digest}, {_minute(found.at)} UTC" if found.digest else "none yet"),
        ("since then", f"{found.bytes_since:,} bytes; {found.bytes_within:,} of them in the newest 12 hours"),
        ("due", "yes" if found.due else f"no: more than {found.threshold:,} bytes within 12 hours"),
        ("kernels", "none yet" if found.version is None else f"version {found.version}"),
    ]
    if found.prefix is not None:
        rows.append(
            ("context", f"the prefix is kernels {found.prefix}, with {output.plural(len(found.deltas), 'delta')}")
        )
    if found.running:
        rows.append(("running", "another process is compiling now"))
    if found.failed is not None:
        rows.append(("failed", f"{found.failed.get('at')}: {found.failed.get('message')}; the old kernels serve"))
    output.facts(rows)


def _tell_digest(done: Compilation | None, found: Status, settings: Settings) -> None:
    if settings.form is not Form.TEXT:
        made = None if done is None else _compilation(done)
        output.document({"made": made, "status": found}, settings)
    elif done is None:
        output.talk(f"not due: {found.bytes_within:,} of {found.threshold:,} bytes within 12 hours")
    else:
        counts = [f"{count} {what}" for what, count in done.delta.counts().items() if count]
        output.show(f"digest {done.digest}, kernels {done.kernels.version}: {', '.join(counts) or 'nothing changed'}")
        for trouble in done.troubles:
            output.talk(trouble, "yellow")


def _watch(memory: Hippocampus, settings: Settings, every: float) -> None:
    """Look, make, wait; until a signal ends it. What fails is told and tried again, at ever longer intervals.

    A signal lets a digest that is being made come to its end, a second one does not: the old kernels stay then.
    """
    ending, idle = threading.Event(), threading.Event()

    def end(*_: object) -> None:
        if ending.is_set():
            raise KeyboardInterrupt
        ending.set()
        if not idle.is_set():
            output.talk("ends with the digest that is being made; Ctrl-C again ends it now, and the old kernels stay")

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    output.talk(f"watching every {every:g} s; Ctrl-C ends it")
    pause = every
    while not ending.is_set():
        idle.clear()
        try:
            done = memory.digest()
            pause = every
            if done is not None:
                _tell_digest(done, memory.digest_status(), settings)
        except AlveusError as error:
            output.talk(
                f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {error.message}; tried again in {pause:g} s", "yellow"
            )
            pause = min(2 * pause, max(LONGEST_PAUSE, every))
        finally:
            idle.set()
        ending.wait(pause)


def _minute(timestamp: str) -> str:
    return timestamp[:16].replace("T", " ")
