r"""A transcript as bytes: lines of bounded size, ranges by offset, and how much has been read.

Lines end at `\n` and nowhere else: U+2028, U+0085 and a lone CR are content. A line longer than `WIDE` is walked over
and not held; its place is known, which is enough to cut it into values, or to copy it aside. No value over `MAX_LINE`
is ever held.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

import orjson

from alveus.errors import InputError, NotFound

MAX_LINE: Final = 64 << 20
WIDE: Final = 1 << 20
HEAD: Final = 256 << 10
CHUNK: Final = 256 << 10
BOM: Final = b"\xef\xbb\xbf"

_REPORT_EVERY: Final = 256 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Where in the file something stands: the number of its line, from 1, and its bytes."""

    line: int
    start: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line that is not blank.

    `data` is without its BOM and line end, and None when the line is wide; `torn` when the file ends without ending
    the line.
    """

    at: Span
    data: bytes | None
    torn: bool


WAITING: Final = Line(at=Span(line=0, start=0, size=0), data=b"", torn=False)
"""The end of a file that is followed, for now."""

_NOT_YET: Final = b" "


class Source:
    """One transcript, opened for reading; a context manager.

    `progress` is called with the number of bytes read since the last call; over a whole import these add up to the
    file's size. `file` holds the bytes where they do not lie in `path` as they are: the member of an archive, the rows
    of a database. `cut_short` says why there are fewer of them than there should be. With `follow` the lines of a file
    that is being written do not end: at its end they are `WAITING`, and a line without an end is left for later.

    Raises NotFound when there is no such file, InputError when it is not a regular file or not readable.
    """

    def __init__(
        self,
        path: Path,
        *,
        file: BinaryIO | None = None,
        progress: Callable[[int], None] | None = None,
        max_line: int = MAX_LINE,
        head: int = HEAD,
        follow: bool = False,
    ) -> None:
        self.path = path
        self.name = path.name
        self.max_line = max_line
        self.cut_short = ""
        self.follow = follow
        self._progress = progress
        self._unreported = 0
        self._file = file or _open(path)
        self.size = os.fstat(self._file.fileno()).st_size
        self.head = self._pread(head, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def lines(self) -> Iterator[Line]:
        """Every line that is not blank, in order, with at most `WIDE` bytes of it in memory."""
        return self._lines(counted=True)

    def preview(self) -> Iterator[Line]:
        """The same lines before they are read, up to where the file ends now.

        None for a source that begins elsewhere than its file: it is small on purpose, and in a hurry.
        """
        return self._lines(counted=False) if type(self).lines is Source.lines else iter(())

    def _lines(self, *, counted: bool) -> Iterator[Line]:
        self._file.seek(0)
        number = start = 0
        while data := self._readline(WIDE + 1) or self._waited():
            whole = data.endswith(b"\n") or len(data) <= WIDE
            end = data if whole else self._walk_over(data)
            size = len(data) if whole else self._file.tell() - start
            if not counted and data is _NOT_YET:
                return
            if self.follow and not end.endswith(b"\n") and not (whole and _is_value(data)):
                self._file.seek(start)
                yield WAITING
                continue
            number += 1
            at = Span(line=number, start=start, size=size)
            start += size
            bare = data.strip(b" \t\r\n").removeprefix(BOM) if whole else None
            if bare != b"":
                yield Line(at=at, data=bare, torn=not end.endswith(b"\n"))
            # A wide line is reported as its bytes are looked at.
            self._advance(size if whole and counted else 0)
        self._advance(0, last=counted)

    def chunks(self, at: Span, *, counted: bool = False) -> Iterator[bytes]:
        """The bytes of one range; `counted` when this is the one time that they are read."""
        start, left = at.start, at.size
        while left and (data := self._pread(min(CHUNK, left), start)):
            yield data
            start += len(data)
            left -= len(data)
            if counted:
                self._advance(len(data))
        if counted:
            self._advance(0, last=at.start + at.size >= self.size)

    def pass_over(self) -> None:
        """Report the whole file as read, because nobody is going to read it."""
        self._advance(self.size, last=True)

    def _waited(self) -> bytes:
        """In a file that is followed its end is a line that has no bytes yet."""
        return _NOT_YET if self.follow else b""

    def _walk_over(self, data: bytes) -> bytes:
        """Read to the end of the line, keeping nothing but its last bytes."""
        while not data.endswith(b"\n") and (more := self._readline(CHUNK)):
            data = more
        return data

    def _readline(self, limit: int) -> bytes:
        try:
            return self._file.readline(limit)
        except OSError as error:
            raise self._unreadable(error) from error

    def _pread(self, size: int, start: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), size, start)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> InputError:
        return InputError(f"{self.path} could not be read to its end: {error.strerror}")

    def _advance(self, size: int, *, last: bool = False) -> None:
        # A call a line would cost more than reading the line.
        self._unreported += size
        if self._progress and self._unreported and (last or self._unreported >= _REPORT_EVERY):
            self._progress(self._unreported)
            self._unreported = 0


def _is_value(data: bytes) -> bool:
    """Whether a line without an end is a whole object or list, to which nothing can be added."""
    if data.strip(b" \t\r\n")[-1:] not in (b"}", b"]"):
        return False
    try:
        orjson.loads(data.removeprefix(BOM))
    except ValueError:
        return False
    return True


def _open(path: Path) -> BinaryIO:
    # A FIFO or a device would hold the import for ever, so the kind is asked before the file is opened.
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} is not a regular file", hint="Give a transcript, or a folder of transcripts.")
        return path.open("rb")
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
