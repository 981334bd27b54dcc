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
    for _, lines in _blocks(files, fd, start, end):
        yield from lines


def placed(files: Files, fd: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """As `forwards`, each line with the byte offset it begins at."""
    for offset, lines in _blocks(files, fd, start, end):
        for line in lines:
            yield offset, line
            offset += len(line)  # noqa: PLW2901


def _blocks(files: Files, fd: int, start: int, end: int) -> Iterator[tuple[int, list[bytes]]]:
    """Runs of lines with the offset of the first. Of a line that is too long only the beginning comes."""
    rest, skipping = b"", False
    while start < end:
        piece = files.read(fd, min(PIECE, end - start), start)
        if not piece:
            break
        offset, start = start - len(rest), start + len(piece)
        if skipping:
            over, found, piece = piece.partition(b"\n")
            if not found:
                continue
            offset, skipping = offset + len(over) + 1, False
        lines = _split(rest + piece)
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if lines:
            yield offset, lines
        if len(rest) > _LONGEST:
            yield start - len(rest), [rest[:_LONGEST] + b"\n"]
            rest, skipping = b"", True
    if rest:
        yield start - len(rest), [rest]


def backwards(files: Files, fd: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines in bytes start..end, last first, each as (offset, line without LF). `end` must end a line.

    Of a line that is too long only the end comes.
    """
    if end <= start:
        return
    at, rest = end - 1, b""
    while at > start:
        size = min(PIECE, at - start)
        at -= size
        piece = files.read(fd, size, at) + rest
        rest, *lines = piece.split(b"\n")
        place = at + len(piece)
        for line in reversed(lines):
            place -= len(line)
            yield place, line
            place -= 1
        rest = rest[: _LONGEST + 1]
    yield at, rest


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


def last_whole_line(files: Files, fd: int, end: int) -> bytes | None:
    """The last line that ends with its LF before byte `end`."""
    at = end
    while at > 0:
        start = max(0, at - PIECE)
        found = files.read(fd, at - start, start).rfind(b"\n")
        if found >= 0:
            return last_line(files, fd, start + found + 1)
        at = start
    return None
