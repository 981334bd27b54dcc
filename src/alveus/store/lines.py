"""Reading lines from a stream without holding more than a piece of it: forwards, backwards, one by its place.

Only LF ends a line. A line longer than the format allows comes out cut, without its LF, and so is seen to be invalid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from alveus.journal.record import MAX_LINE
from alveus.store.files import Files

PIECE: Final = 1 << 18
_LONGEST: Final = MAX_LINE + 1


def forwards(files: Files, fd: int, start: int, end: int) -> Iterator[bytes]:
    """The lines in bytes start..end, each with its LF; the last may lack it."""
    rest = b""
    while start < end:
        piece = files.read(fd, min(PIECE, end - start), start)
        if not piece:
            break
        start += len(piece)
        lines = _split(rest + piece)
        rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
        yield from lines
        if len(rest) > _LONGEST:
            break
    if rest:
        yield rest[: _LONGEST + 1]


def backwards(files: Files, fd: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines in bytes start..end, last first, each as (offset, line without LF). `end` must end a line."""
    if end <= start:
        return
    at, rest = end - 1, b""
    while at > start and len(rest) <= _LONGEST:
        size = min(PIECE, at - start)
        at -= size
        piece = files.read(fd, size, at) + rest
        rest, *lines = piece.split(b"\n")
        place = at + len(piece)
        for line in reversed(lines):
            place -= len(line)
            yield place, line
            place -= 1
    yield at, rest[: _LONGEST + 1]


def line_at(files: Files, fd: int, offset: int, guess: int = 4096) -> bytes:
    """The line that begins at `offset`, without its LF; shorter than the truth only if it is too long or unended."""
    line = files.read(fd, guess, offset)
    while b"\n" not in line and len(line) <= _LONGEST and len(line) >= guess:
        guess *= 4
        line = files.read(fd, guess, offset)
    return line.partition(b"\n")[0]


def last_line(files: Files, fd: int, end: int) -> bytes | None:
    """The line that ends, with its LF, at byte `end`; None if no line ends there."""
    if end == 0 or files.read(fd, 1, end - 1) != b"\n":
        return None
    size = 4096
    while True:
        start = max(0, end - size)
        piece = files.read(fd, end - start, start)[:-1]
        head, found, line = piece.rpartition(b"\n")
        if found or start == 0:
            return line if found else piece
        if len(head) + len(line) > _LONGEST:
            return None
        size *= 4


def _split(piece: bytes) -> list[bytes]:
    if b"\r" not in piece:  # where splitlines would split too
        return piece.splitlines(keepends=True)
    *lines, last = piece.split(b"\n")
    return [line + b"\n" for line in lines] + ([last] if last else [])
