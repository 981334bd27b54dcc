"""All chains of an agent, read as one past; every record is checked on its way out.

What fails its check comes out as a Fault, so that it can be named. An index that turns out damaged is made again and
the reading goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from alveus.errors import InputError, JournalError, NotFound
from alveus.journal import canonical
from alveus.journal.chain import DayTally, Fault
from alveus.journal.record import Kind, SignedRecord
from alveus.journal.seal import Checked, Invalid, check
from alveus.store.index import Entry, IndexDamaged, Wanted, of_kind
from alveus.store.stream import Stream

Found = SignedRecord | Fault


class Past:
    """The streams of one agent, oldest first, the last of them live."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._streams = streams

    def oldest_first(self) -> Iterator[Found]:
        """Every record, in the order written."""
        for stream in self._streams:
            for offset, line in stream.forwards():
                yield read(stream, line, offset)

    def newest_first(self, *, include_routine: bool) -> Iterator[Found]:
        """The records, last first; without the routine ones the cost follows what comes out."""
        for stream in reversed(self._streams):
            for entry in _entries(stream, stream.every if include_routine else stream.informative):
                yield read(stream, stream.line_at(entry.offset), entry.offset)

    def contents(self) -> Iterator[tuple[str, Stream, int]]:
        """The contents of all records, last first, unchecked, each with its stream and byte offset."""
        for stream in reversed(self._streams):
            for offset, line in stream.backwards():
                yield content_of(line), stream, offset

    def find(self, record_id: str) -> SignedRecord:
        """The record of that id. Raises NotFound, or JournalError if it is there but fails its check."""
        damaged: Fault | None = None
        for stream in reversed(self._streams):
            for entry in _matching(stream, bytes.fromhex(record_id[:16])):
                found = read(stream, stream.line_at(entry.offset), entry.offset)
                if isinstance(found, Fault):
                    damaged = found
                elif found.record_id == record_id:
                    return found
        if damaged is not None:
            raise _damaged(damaged)
        raise NotFound(f"there is no record {record_id}", hint="`alveus log` lists the records")

    def beginning(self, short: str) -> SignedRecord:
        """The one record whose id begins so (8 hex digits or more). Raises InputError where there is not just one.

        Raises JournalError if what is there fails its check.
        """
        whole = bytes.fromhex(short[: min(len(short) // 2 * 2, 16)])
        found = [
            read(stream, stream.line_at(entry.offset), entry.offset)
            for stream in self._streams
            for entry in _matching(stream, whole)
        ]
        records = {one.record_id: one for one in found if isinstance(one, SignedRecord)}
        alike = [one for record_id, one in records.items() if record_id.startswith(short)]
        faults = [one for one in found if isinstance(one, Fault)]
        if not alike and faults:
            raise _damaged(faults[0])
        if len(alike) != 1:
            raise InputError(
                f"{len(alike) or 'no'} records begin with {short}",
                code="ambiguous" if alike else "not_found",
                hint="one of " + ", ".join(one.record_id for one in alike) if alike else "copy the id whole",
            )
        return alike[0]

    def place(self, record_id: str) -> tuple[str, int]:
        """The chain and the byte offset of a record. Raises NotFound."""
        for stream in reversed(self._streams):
            for entry in _matching(stream, bytes.fromhex(record_id[:16])):
                found = read(stream, stream.line_at(entry.offset), entry.offset)
                if not isinstance(found, Fault) and found.record_id == record_id:
                    return stream.link.chain or "", entry.offset
        raise NotFound(f"there is no record {record_id}", hint="`alveus log` lists the records")

    def of_kind(self, kind: Kind) -> Iterator[Found]:
        """The records of one kind, last first."""
        for stream in reversed(self._streams):
            for entry in _entries(stream, of_kind(kind)):
                yield read(stream, stream.line_at(entry.offset), entry.offset)

    def day(self, day: str) -> DayTally:
        """What the daily anchor of a UTC day is made of. Raises JournalError if a record of that day is damaged."""
        tally = DayTally()
        for stream in self._streams:
            for line, offset in _lines_of_day(stream, date.fromisoformat(day)):
                try:
                    record = check(line, stream.key)
                except Invalid as invalid:
                    raise JournalError(
                        f"a record of {day} (byte {offset}) is not valid: {invalid.detail}",
                        code=invalid.code,
                        hint="run `alveus verify`; a damaged day cannot be closed",
                    ) from None
                tally.add(record.novelty, record.record_id)
        return tally

    def newest(self, count: int | None) -> list[tuple[Stream, int]]:
        """Where to begin reading forwards to see the last `count` records (None: all): streams with byte offsets."""
        starts: list[tuple[Stream, int]] = []
        for stream in reversed(self._streams):
            size = stream.link.size
            skipped = 0 if count is None else max(0, size - count)
            starts.append((stream, place_of(stream, skipped)))
            count = None if count is None else max(0, count - size)
            if count == 0:
                break
        return starts[::-1]


def _damaged(fault: Fault) -> JournalError:
    return JournalError(
        f"the record is there but is not valid: {fault.detail}", code=fault.code, hint="run `alveus verify`"
    )


def read(stream: Stream, line: bytes, offset: int) -> Found:
    """The record in a line, if it is valid."""
    try:
        return check(line, stream.key).record()
    except Invalid as invalid:
        return Fault(code=invalid.code, detail=invalid.detail, chain=stream.link.chain, offset=offset)


def content_of(line: bytes) -> str:
    """The content of a line that has not been checked; empty for a line that is none."""
    try:
        content = canonical.decode(line)["content"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return content if isinstance(content, str) else ""


def place_of(stream: Stream, seq: int) -> int:
    """The byte offset where record `seq` begins (the end, for one past the last)."""
    while True:
        try:
            view = stream.index.view()
            return stream.link.offset if seq >= view.count else view.entry(seq).offset
        except IndexDamaged:
            stream.rebuild_index()


def line_of(stream: Stream, seq: int) -> bytes:
    """The line of record `seq`, unchecked."""
    return stream.line_at(place_of(stream, seq))


def checked_at(stream: Stream, offset: int) -> Checked | None:
    """The record at a byte offset, or None if what lies there is not valid."""
    try:
        return check(stream.line_at(offset), stream.key)
    except Invalid:
        return None


def _entries(stream: Stream, wanted: Wanted) -> Iterator[Entry]:
    reached: int | None = None
    while True:
        try:
            for entry in stream.index.view().newest_first(wanted):
                if reached is None or entry.seq < reached:
                    yield entry
                    reached = entry.seq
        except IndexDamaged:
            stream.rebuild_index()
            continue
        return


def _matching(stream: Stream, id_start: bytes) -> list[Entry]:
    while True:
        try:
            return list(stream.index.view().find(id_start))
        except IndexDamaged:
            stream.rebuild_index()


def _lines_of_day(stream: Stream, day: date) -> Iterator[tuple[bytes, int]]:
    while True:
        try:
            view = stream.index.view()
            first, after = view.first_of(day), view.first_of(day + timedelta(days=1))
            while first > 0 and view.entry(first - 1).kind is None:
                first -= 1  # an unreadable line stands under the day before it, and may be of this one
        except IndexDamaged:
            stream.rebuild_index()
            continue
        break
    for _, (offset, line) in zip(range(first, after), stream.forwards(place_of(stream, first)), strict=False):
        yield line, offset
