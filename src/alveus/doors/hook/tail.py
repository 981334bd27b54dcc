"""The end of a transcript that is being written: from the turn where the last reading ended, whole lines only.

A reader counts the records of a file and remembers calls whose results come later. So a reading begins at a turn, not
at a byte, and what lies before it is passed as so many records of nothing: every item gets the origin that it would get
in a reading of the whole file.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from alveus.doors.hook import place
from alveus.importers.entries import Value, decode
from alveus.importers.source import BOM, WIDE, Line, Source, Span

_NOTHING: Final = b"0"
_MARK: Final = 256


class Cursor(NamedTuple):
    """How far a transcript was read: to byte `end`; its newest turn begins at byte `turn`, after `before` records.

    `inode` and `mark`, a hash of the bytes before the turn, tell whether it is still the same file.
    """

    end: int = 0
    turn: int = 0
    before: int = 0
    inode: int = 0
    mark: str = ""


class Tail(Source):
    """One transcript from its cursor on. After `lines` has ended, `end` and `starts` say what was read."""

    def __init__(self, path: Path, cursor: Cursor, saw: Callable[[bytes], None]) -> None:
        super().__init__(path)
        self._saw = saw
        self.inode = path.stat().st_ino
        fits = cursor.inode == self.inode and cursor.end <= self.size and self.mark(cursor.turn) == cursor.mark
        self.cursor = cursor if fits else Cursor()
        self.end = self.cursor.turn
        self.starts: dict[int, int] = {}
        """The byte each line begins at, and the number of records before it."""

    @property
    def unread(self) -> bool:
        """Whether there is anything behind what was read before."""
        return self.size > self.cursor.end

    def cursor_at(self, turn: int) -> Cursor:
        """Where the next reading goes on, the newest turn beginning at that byte."""
        before = self.starts.get(turn, self.cursor.before)
        return Cursor(max(self.end, self.cursor.turn), turn, before, self.inode, self.mark(turn))

    def mark(self, turn: int) -> str:
        """What the bytes before a turn are known by."""
        start = max(0, turn - _MARK)
        found = b"".join(self.chunks(Span(line=0, start=start, size=turn - start)))
        return hashlib.sha256(found).hexdigest()[:32]

    def lines(self) -> Iterator[Line]:
        """The lines that are whole. A line longer than `WIDE` is not held."""
        count = self.cursor.before
        for _ in range(count):
            yield Line(at=Span(line=0, start=0, size=0), data=_NOTHING, torn=False)
        start = self.cursor.turn
        for data, size in self._whole_lines(start):
            at = Span(line=count + 1, start=start, size=size)
            start += size
            bare = None if data is None else data.strip(b" \t\r\n").removeprefix(BOM)
            if bare:
                self._saw(bare)
            if bare != b"":
                self.starts[at.start] = count
                count += 1 if bare is None else sum(isinstance(one, Value) for one in decode(bare, at))
                yield Line(at=at, data=bare, torn=False)
            self.end = start

    def _whole_lines(self, start: int) -> Iterator[tuple[bytes | None, int]]:
        """Each line with its end, or None for its bytes where it is wide; and its size."""
        held: list[bytes] = []
        size = 0
        for chunk in self.chunks(Span(line=0, start=start, size=self.size - start)):
            position = 0
            while (end := chunk.find(b"\n", position)) >= 0:
                piece = chunk[position : end + 1]
                size += len(piece)
                yield (b"".join([*held, piece]) if size <= WIDE else None), size
                held, size, position = [], 0, end + 1
            rest = chunk[position:]
            size += len(rest)
            held = [*held, rest] if size <= WIDE else []


class Cursors:
    """The cursors of one agent's transcripts, in a file. Where it is lost everything is read again, and known."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "cursors.json")
        self._of = self._load()

    def of(self, transcript: str) -> Cursor:
        """Where to go on in a transcript."""
        return self._of.get(transcript, Cursor())

    def note(self, transcript: str, cursor: Cursor) -> None:
        """How far a transcript was read; what was read longest ago stands first."""
        self._of.pop(transcript, None)
        self._of[transcript] = cursor

    def save(self, most: int) -> None:
        """Write them, the `most` newest."""
        kept = dict(list(self._of.items())[-most:])
        place.write_whole(self._path, json.dumps(kept).encode())

    def _load(self) -> dict[str, Cursor]:
        try:
            with open(self._path, "rb") as file:
                found = json.loads(file.read())
            return {str(name): _cursor(*values) for name, values in found.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}


def _cursor(end: int, turn: int, before: int, inode: int, mark: str) -> Cursor:
    return Cursor(int(end), int(turn), int(before), int(inode), str(mark))
