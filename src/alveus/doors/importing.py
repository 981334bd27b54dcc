"""The import command: transcripts of other programs, and the account of what became of each line."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from alveus.doors import output
from alveus.doors.exits import Exit, status_of
from alveus.doors.options import Form, Settings, settings_of
from alveus.doors.streams import text
from alveus.doors.writing import KeepSecrets, User
from alveus.errors import AlveusError, InputError, NotFound

if TYPE_CHECKING:
    from alveus.hippocampus import Hippocampus
    from alveus.importers import ImportReport
    from alveus.importers.intake import Recorder

BAR_FROM: Final = 1 << 20
"""Bytes from which an import shows its progress."""

EMBEDDED: Final = 10_000
"""Records that an import embeds at its end, some milliseconds each; `alveus rebuild` embeds the rest."""

SHOWN: Final = 10
"""How many bad lines and unread files are named; the rest is counted."""

EVERY: Final = 2.0
SHARE: Final = 10
"""Seconds between two looks of a watch, and how many times longer than a look it waits for the next at least."""

Progress = Callable[[int], None]

Paths = Annotated[
    list[Path],
    typer.Argument(help="Transcripts, or folders of them. The word `auto`, or a format's name, may stand first."),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", metavar="NAME", help="The format, where it cannot be recognised (`claude-code`, …)."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Store nothing; count what would be stored.")]
WatchThem = Annotated[
    bool, typer.Option("--watch", help="Go on importing what is added, until Ctrl-C; nothing is stored twice.")
]
ReportUnknown = Annotated[
    bool,
    typer.Option("--report-unknown", help="List the key paths of what no format knows; never a word of content."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One path: what became of it."""

    path: Path
    report: ImportReport | None = None
    error: AlveusError | None = None

    def as_json(self) -> dict[str, object]:
        """The report's fields, or the error's."""
        if self.error is not None:
            told = {"code": self.error.code, "hint": self.error.hint, "message": self.error.message}
            return {"path": str(self.path), "error": told}
        fields: dict[str, object] = output.plain(self.report)
        return {"path": str(self.path), "error": None, **fields}


def import_(
    call: typer.Context,
    *,
    paths: Paths,
    name: FormatName = None,
    user: User = None,
    keep_secrets: KeepSecrets = False,
    dry_run: DryRun = False,
    watch: WatchThem = False,
    report_unknown: ReportUnknown = False,
) -> None:
    """Import transcripts; what is there already is not stored twice.

    The format of each is recognised. A line that cannot be read is named, kept aside, and makes the exit status 7; the
    rest is imported. Keys and tokens are masked before anything is signed.
    """
    from alveus.hippocampus import Hippocampus
    from alveus.importers import run, total_bytes

    settings = settings_of(call)
    word, paths = _without_word(paths)
    chosen = next((one for one in (name, word) if one not in (None, "auto")), None)
    if watch:
        _watch(settings, paths, chosen, keep_secrets=keep_secrets, user=user, dry_run=dry_run)
        return
    size = sum(total_bytes(_checked(path)) for path in paths)
    with _recorder(settings, dry_run=dry_run) as memory, _progress(size, settings) as progress:

        def one(path: Path) -> ImportReport:
            return run(
                memory,
                path,
                chosen,
                keep_secrets=keep_secrets,
                user=None if user is None else text(user),
                progress=progress,
                rejects=os.devnull if dry_run else None,
                report_unknown=report_unknown,
            )

        done = [_attempt(path, one, alone=len(paths) == 1) for path in paths]
        if isinstance(memory, Hippocampus):
            _prepare(memory, settings)
    _tell(done, settings, dry_run=dry_run)
    status = _status(done)
    if status:
        raise typer.Exit(status)


def _without_word(paths: list[Path]) -> tuple[str | None, list[Path]]:
    """The format that the first argument names, and the paths. A file of that name is a file."""
    from alveus.importers import FORMATS

    first = str(paths[0])
    if len(paths) > 1 and first in ("auto", *(one.name for one in FORMATS)) and not paths[0].exists():
        return first, paths[1:]
    return None, paths


def _watch(
    settings: Settings, paths: list[Path], name: str | None, *, keep_secrets: bool, user: str | None, dry_run: bool
) -> None:
    """Import, and look again and again what was added, until Ctrl-C."""
    from alveus.importers import Watch

    if dry_run or settings.form is Form.JSON:
        raise InputError(
            "--watch stores what comes, and tells it as it comes", hint="leave --dry-run away; use --jsonl for --json"
        )
    found = [_checked(path) for path in paths]
    with settings.open(write=True) as memory:
        watch = Watch(memory, found, name, keep_secrets=keep_secrets, user=None if user is None else text(user))
        output.talk(f"watching {output.plural(len(found), 'path')}; Ctrl-C ends it")
        try:
            while True:
                began = time.monotonic()
                _tell_look(watch.look(), settings)
                time.sleep(max(EVERY, SHARE * (time.monotonic() - began)))
        except KeyboardInterrupt:
            output.talk("ended: what was stored stays")
        finally:
            watch.close()
            _prepare(memory, settings)


def _tell_look(report: ImportReport, settings: Settings) -> None:
    """One look, unless nothing came."""
    if not (report.read or report.unread_count):
        return
    if settings.form is Form.LINES:
        output.document({"error": None, "path": None, **output.plain(report)}, settings)
    else:
        output.facts([*_remarks(report, dry_run=False), ("sum", balance(report))])
    sys.stdout.flush()


def _checked(path: Path) -> Path:
    if str(path) == "-":
        raise InputError("a transcript is not read from stdin", hint="save it to a file and import the file")
    if not path.exists():
        raise NotFound(f"there is no file {path}", hint="check the path")
    return path


@contextlib.contextmanager
def _recorder(settings: Settings, *, dry_run: bool) -> Iterator[Recorder]:
    if not dry_run:
        with settings.open(write=True) as memory:
            yield memory
        return
    from alveus.doors.rehearsal import Rehearsal

    with settings.open() as memory:
        yield Rehearsal(memory.folder, memory.iter_records())


def _attempt(path: Path, run: Callable[[Path], ImportReport], *, alone: bool) -> Imported:
    """One of several paths that cannot be imported does not keep the others out."""
    try:
        return Imported(path=path, report=run(path))
    except InputError as error:
        if alone:
            raise
        return Imported(path=path, error=error)
    except KeyboardInterrupt:
        output.talk("interrupted: what was stored stays; import again, and nothing is stored twice")
        raise


def _status(done: list[Imported]) -> int:
    for one in done:
        if one.error is not None:
            return status_of(one.error)
    unread = any(one.report is not None and (one.report.rejected_count or one.report.troubled_count) for one in done)
    return Exit.UNREAD if unread else Exit.OK


@contextlib.contextmanager
def _progress(size: int, settings: Settings) -> Iterator[Progress | None]:
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with output.bar(columns, settings, wanted=size >= BAR_FROM) as bar:
        yield None if bar is None else partial(bar.advance, bar.add_task("", total=size))


def _prepare(memory: Hippocampus, settings: Settings) -> None:
    """Index what was imported, so that the first question does not wait for it; recall does what is missing here."""
    try:
        with output.preparing(settings) as told:
            memory.prepare_recall(told, embed=EMBEDDED)
            marks = memory.marks()
    except AlveusError as error:
        marks = (f"what was imported is stored; for recall it is not indexed yet: {error.message}",)
    if settings.form is Form.TEXT:
        for mark in marks:
            output.talk(mark, "yellow")


# The account


def _tell(done: list[Imported], settings: Settings, *, dry_run: bool) -> None:
    if settings.form is Form.LINES:
        for one in done:
            output.document(one.as_json(), settings)
    elif settings.form is Form.JSON:
        output.document({"dry_run": dry_run, "imports": [one.as_json() for one in done]}, settings)
    else:
        for one in done:
            _account(one, dry_run=dry_run)


def _account(one: Imported, *, dry_run: bool) -> None:
    if one.error is not None:
        output.complain(one.error)
    if one.report is None:
        return
    output.show(output.printable(f"{one.path}: {_formats(one.report)}"), "bold")
    name = "dry run" if dry_run else "sum"
    output.facts([*_remarks(one.report, dry_run=dry_run), (name, balance(one.report))])
    if one.report.unknown:
        output.facts([("unknown", f"{count:,} × {path}") for path, count in one.report.unknown.items()])


def _formats(report: ImportReport) -> str:
    if report.files == 1:
        return next(iter(report.formats))
    return ", ".join(f"{output.plural(count, 'file')} of {name}" for name, count in report.formats.items()) or "nothing"


def _remarks(report: ImportReport, *, dry_run: bool) -> Iterator[output.Row]:
    yield from (("note", note) for note in report.notes)
    if report.masked:
        yield "masked", f"{_counted(report.masked)}, before signing"
    troubled = min(report.troubled_count, len(report.unread))
    for file, reason in report.unread[:troubled][:SHOWN]:
        yield "not read", f"{file}: {reason}"
    yield from _rest("not read", report.troubled_count)
    if foreign := [file for file, _ in report.unread[troubled:]]:
        names = ", ".join(foreign[:SHOWN]) + ("" if report.foreign_count <= SHOWN else ", …")
        yield "left", f"{output.plural(report.foreign_count, 'file')} in no format that is known here: {names}"
    for bad in report.rejected[:SHOWN]:
        yield "bad line", f"{bad.file}, line {bad.line}: {bad.reason}"
    yield from _rest("bad line", report.rejected_count)
    if report.rejected_count and not dry_run:
        yield "kept aside", str(report.rejects_file)


def _rest(name: str, count: int) -> Iterator[output.Row]:
    if count > SHOWN:
        yield name, f"… and {count - SHOWN:,} more"


def balance(report: ImportReport) -> str:
    """The sum that has to come out: whatever was read is told."""
    reasons: Counter[str] = Counter()
    for reason, count in report.skipped.items():
        reasons[reason.partition(":")[0]] += count
    parts = [
        f"{report.stored:,} stored",
        f"{report.known:,} already there",
        f"{report.revised:,} revised",
        f"{reasons.total():,} skipped" + (f" ({_counted(dict(reasons.most_common()))})" if reasons else ""),
    ]
    if report.rejected_count:
        parts.append(f"{report.rejected_count:,} bad lines")
    return f"read {report.read:,} = " + " + ".join(parts)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
