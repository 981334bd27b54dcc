"""The export command: records out of the journal, each checked on its way; and a checkpoint to keep elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final

import typer

from alveus import __version__
from alveus.doors import output
from alveus.doors.options import Form, Settings, settings_of
from alveus.doors.saving import Force, check, save
from alveus.doors.streams import text
from alveus.errors import InputError
from alveus.journal.record import SignedRecord

STDOUT: Final = Path("-")
NAME_CELLS: Final = 80


class Format(StrEnum):
    """How records are written out."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"
    ATIF = "atif"


FormatOf = Annotated[
    Format,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help="jsonl: the journal's lines; markdown: to read; atif: trajectories for other tools, one a line.",
    ),
]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only the records of this session.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to; stdout without it.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Write a signed checkpoint for `verify --against`; records then only with --out.",
    ),
]


def export(
    call: typer.Context,
    *,
    format_: FormatOf = Format.JSONL,
    session: Session = None,
    out: Out = None,
    checkpoint: Checkpoint = None,
    force: Force = False,
) -> None:
    """Write records out, oldest first, each checked on its way.

    jsonl gives the lines of the journal to the byte, of all chains in succession. atif gives a trajectory a session,
    from which an import elsewhere makes the same items. A FILE is written whole or not at all; `-` is stdout.
    """
    settings = settings_of(call)
    target = out if out is not None or checkpoint is not None else STDOUT
    _check_targets(target, checkpoint, settings, force=force)
    count = 0
    with settings.open(write=checkpoint is not None) as memory:
        if target is not None:
            wanted = None if session is None else text(session)
            counted = _Counted(one for one in memory.iter_records() if wanted in (None, _session_of(one)))
            pieces = FORMATS[format_](counted, memory.agent_id)
            _stream(pieces) if target == STDOUT else save(target, pieces, force=force)
            count = counted.count
        if checkpoint is not None:
            _write_checkpoint(checkpoint, memory.checkpoint(), force=force)
    if settings.form is Form.TEXT:
        _tell(count, target, checkpoint)
    elif STDOUT not in (target, checkpoint):
        output.document({"checkpoint": checkpoint, "out": target, "records": count}, settings)


def _check_targets(target: Path | None, checkpoint: Path | None, settings: Settings, *, force: bool) -> None:
    """Before anything is written: stdout carries one thing, and files can be made."""
    claims = [STDOUT for path in (target, checkpoint) if path == STDOUT]
    if len(claims) + (settings.form is Form.JSON) > 1:
        raise InputError(
            "stdout carries one thing: records, a checkpoint, or one document",
            hint="give --out or --checkpoint a FILE, or leave --json away",
        )
    for path in (target, checkpoint):
        if path is not None and path != STDOUT:
            check(path, force=force)


def _write_checkpoint(path: Path, note: str, *, force: bool) -> None:
    if path == STDOUT:
        output.raw(note.encode())
    else:
        save(path, [note.encode()], force=force)


def _tell(count: int, target: Path | None, checkpoint: Path | None) -> None:
    if target is not None:
        output.talk(f"{output.plural(count, 'record')}, each checked" + (f": {target}" if target != STDOUT else ""))
    if checkpoint is not None and checkpoint != STDOUT:
        output.talk(f"the checkpoint: {checkpoint}; keep it where whoever could change this disk cannot")


class _Counted:
    """Records as they pass, and how many did."""

    def __init__(self, records: Iterable[SignedRecord]) -> None:
        self.count = 0
        self._records = records

    def __iter__(self) -> Iterator[SignedRecord]:
        for record in self._records:
            self.count += 1
            yield record


def _session_of(record: SignedRecord) -> str | None:
    return record.hc.session if record.hc else None


def _stream(pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        output.block(piece.decode("utf-8", "replace"))


def _markdown(records: Iterable[SignedRecord], _: str) -> Iterator[bytes]:
    """Headings by session, and by the day it happened; contents quoted, so that a heading inside one stays inside."""
    for (session, day), group in groupby(records, key=lambda record: (_session_of(record), _when(record)[:10])):
        heading = f"## {day}" + (f", session {_named(session)}" if session else "") + "\n\n"
        for record in group:
            yield (heading + _entry(record)).encode("utf-8", "backslashreplace")
            heading = ""


def _when(record: SignedRecord) -> str:
    """When it happened; where nothing says so, when it was recorded."""
    return (record.hc.event_time if record.hc else None) or record.timestamp


def _entry(record: SignedRecord) -> str:
    source, part = (record.hc.src.value, record.hc.part) if record.hc else ("unknown", None)
    when = _when(record)
    quoted = "\n".join(f"> {line}".rstrip() for line in record.content.split("\n"))
    heading = f"### {when[11:19]} {record.kind} by {source}" + (f", part {part[0]} of {part[1]}" if part else "")
    tool = record.metadata.get("tool")
    told = [f"tool {_named(tool)}"] if isinstance(tool, str) and tool else []
    told += ["on a branch that was left"] if record.metadata.get("inactive") is True else []
    told += [record.novelty.replace("_", " "), f"`{record.record_id}`"]
    told += [f"at {when}", f"recorded {record.timestamp}"] if when != record.timestamp else [f"recorded {when}"]
    return f"{heading}\n\n{quoted}\n\n{', '.join(told)}\n\n"


def _named(name: str) -> str:
    """A name from outside as code, on one line, so that nothing in it is markup."""
    return f"`{' '.join(name.replace('`', chr(39)).split())[:NAME_CELLS]}`"


def _lines(records: Iterable[SignedRecord], _: str) -> Iterator[bytes]:
    return map(output.line_of, records)


def _trajectories(records: Iterable[SignedRecord], agent: str) -> Iterator[bytes]:
    from alveus.importers.atif_writer import trajectories

    return trajectories(records, program=f"alveus {__version__}", agent=agent)


FORMATS: Final[dict[Format, Callable[[Iterable[SignedRecord], str], Iterator[bytes]]]] = {
    Format.JSONL: _lines,
    Format.MARKDOWN: _markdown,
    Format.ATIF: _trajectories,
}
