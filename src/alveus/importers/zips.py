"""The members of a zip archive as streams of bytes, by the archive's directory; without one, as far as they go.

A directory stands at the end of an archive, so one that was cut short has none: then the members are read one after the
other from the front. The standard library's reader is asked for the directory alone, since up to Python 3.13 it cannot
unpack method 93, in which inspect-ai writes, and gives nothing of a member that is damaged.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from alveus.importers.inflating import METHODS, CutShort, inflated, stepwise
from alveus.importers.source import Source, Span

Member = tuple[str, Iterator[bytes]]

_LOCAL: Final = struct.Struct("<4sHHHHHLLLHH")
_SIGNATURE: Final = b"PK\x03\x04"
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 1, 8, 0x800
_DESCRIPTOR: Final = 24
_STORED: Final = 0
_UNKNOWN: Final = 0xFFFFFFFF


def members(source: Source) -> Iterator[Member]:
    """The names and bytes of all members that are files. Raises CutShort where the archive ends too early."""
    try:
        with source.path.open("rb") as file, zipfile.ZipFile(file) as archive:
            listed = [one for one in archive.infolist() if not one.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        yield from _from_the_front(source)
        return
    for one in listed:
        yield one.filename, _listed(source, one)


def _listed(source: Source, one: zipfile.ZipInfo) -> Iterator[bytes]:
    header = b"".join(source.chunks(_at(one.header_offset, _LOCAL.size)))
    if len(header) < _LOCAL.size or not header.startswith(_SIGNATURE):
        raise CutShort("the archive's member is not where its directory says")
    if one.flag_bits & _ENCRYPTED:
        raise CutShort("the archive's member is encrypted")
    *_, name, extra = _LOCAL.unpack(header)
    chunks = source.chunks(_at(one.header_offset + _LOCAL.size + name + extra, one.compress_size))
    if one.compress_type == _STORED:
        plain = chunks
    elif one.compress_type in METHODS:
        plain = inflated(METHODS[one.compress_type], chunks)
    else:
        raise CutShort(f"the archive's member is compressed by method {one.compress_type}, which is not known here")
    total = 0
    for piece in plain:
        total = zlib.crc32(piece, total)
        yield piece
    if total != one.CRC:
        raise CutShort("the archive's member is not what was packed")


def _from_the_front(source: Source) -> Iterator[Member]:
    position = 0
    while True:
        header = b"".join(source.chunks(_at(position, _LOCAL.size)))
        if len(header) < _LOCAL.size or not header.startswith(_SIGNATURE):
            break
        _, _, flags, method, _, _, _, packed, _, length, extra = _LOCAL.unpack(header)
        start = position + _LOCAL.size + length + extra
        raw = b"".join(source.chunks(_at(position + _LOCAL.size, length)))
        body = _Body(source, start)
        if flags & _ENCRYPTED or (method == _STORED and (flags & _SIZES_FOLLOW or packed == _UNKNOWN)):
            break
        if method not in (_STORED, *METHODS):
            break
        name = raw.decode("utf-8" if flags & _UTF8 else "cp437", "replace")
        if not name.endswith("/"):
            yield name, body.stored(packed) if method == _STORED else body.compressed(method)
        position = body.end if flags & _SIZES_FOLLOW == 0 else _next(source, body.end)
    raise CutShort("the archive ends too early: it has no directory")


class _Body:
    """One member's bytes; `end` is where they turned out to end, once they were read."""

    def __init__(self, source: Source, start: int) -> None:
        self._source, self.end = source, start

    def stored(self, size: int) -> Iterator[bytes]:
        start, self.end = self.end, self.end + size
        yield from self._source.chunks(_at(start, size))
        if self.end > self._source.size:
            raise CutShort("the archive's member ends too early")

    def compressed(self, method: int) -> Iterator[bytes]:
        one = METHODS[method]()
        for chunk in self._source.chunks(_at(self.end, max(0, self._source.size - self.end))):
            self.end += len(chunk)
            yield from stepwise(one, chunk)
            if one.eof:
                self.end -= len(one.unused_data)
                return
        raise CutShort("the archive's member ends too early")


def _next(source: Source, position: int) -> int:
    """Where the next header stands, after the sizes that may follow a member."""
    near = b"".join(source.chunks(_at(position, _DESCRIPTOR + len(_SIGNATURE))))
    return position + max(near.find(_SIGNATURE), 0)


def _at(start: int, size: int) -> Span:
    return Span(line=1, start=start, size=size)
