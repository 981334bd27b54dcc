"""What lies behind a path: a transcript, or an archive, a database or a store of many files that holds some.

Whatever is packed becomes plain bytes in a file without a name, which is gone when it is closed; from there on it is
read like any other transcript, so a reader of a format meets neither zips nor rows. Nothing is ever unpacked under a
name that an archive chose. What unpacks to more than it should is refused (`_Limit`), what ends too early is kept as
far as it goes and says so in `Source.cut_short`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, cast

from alveus.errors import InputError
from alveus.importers import databases, quoted, stores, zips
from alveus.importers.inflating import CutShort, gzip, inflated, zstd
from alveus.importers.source import Source, Span

MAX_RATIO: Final = 250
ALWAYS_ALLOWED: Final = 1 << 30
MAX_UNPACKED: Final = 64 << 30
MAX_MEMBERS: Final = 100_000
MAX_WRAPPINGS: Final = 4
"""How often one file is packed: JSON in a string, in `.gz`, in an archive."""

_STREAMS: Final = {b"\x28\xb5\x2f\xfd": zstd, b"\x1f\x8b\x08": gzip}
"""What a file begins with that is one packed file, and what unpacks it."""
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_SQLITE: Final = b"SQLite format 3\0"


def is_packed(source: Source) -> bool:
    """Whether the file holds its transcripts in another form than text."""
    return source.head.startswith((*_STREAMS, *_ZIP, _SQLITE)) or quoted.is_quoted(source.head)


def is_archive(source: Source) -> bool:
    """Whether it is one that may hold many, of which some are no transcripts."""
    return source.head.startswith(_ZIP)


def is_store(folder: Path) -> bool:
    """Whether the folder as a whole is one store."""
    return stores.is_store(folder)


def unpacked(source: Source) -> Iterator[Source]:
    """The transcripts inside a packed file, one after the other; each is closed when the next is asked for.

    Raises InputError for what cannot be unpacked, or unpacks to more than is believed.
    """
    limit = _Limit(source)
    if source.head.startswith(_SQLITE):
        yield from _one(source.path, databases.rows(source.path), limit)
    elif is_archive(source):
        yield from _members(source, limit)
    elif wrapped := _wrapped(source):
        yield from _one(*wrapped, limit)


def gathered(folder: Path) -> Iterator[Source]:
    """The one transcript that a store of many small files is."""
    yield from _one(folder, stores.rows(folder), None)


def _members(source: Source, limit: _Limit) -> Iterator[Source]:
    try:
        for count, (name, pieces) in enumerate(zips.members(source), 1):
            if count > MAX_MEMBERS:
                raise InputError(f"{source.path} has more than {MAX_MEMBERS:,} members", hint="Unpack it yourself.")
            # Below the archive, where no file is: a name that an archive chose means nothing on this disk.
            inside = [part for part in PurePosixPath(name).parts if part not in ("/", "..")]
            yield from _one(Path(source.path, *inside), pieces, limit)
    except CutShort as error:
        source.cut_short = str(error)


def _wrapped(source: Source) -> tuple[Path, Iterator[bytes]] | None:
    """What a file is that is one packed file: its path, and its bytes. None for what is no such file."""
    whole = Span(line=1, start=0, size=source.size)
    packed = next((make for magic, make in _STREAMS.items() if source.head.startswith(magic)), None)
    if packed:
        return source.path.with_suffix(""), inflated(packed, source.chunks(whole))
    return (source.path, quoted.unquoted(source.chunks(whole))) if quoted.is_quoted(source.head) else None


def _one(path: Path, pieces: Iterator[bytes], limit: _Limit | None, depth: int = 1) -> Iterator[Source]:
    """The plain file that these bytes are, however often it was packed."""
    with closing(cast("BinaryIO", tempfile.TemporaryFile(prefix="alveus-"))) as file:
        short = _spool(path, pieces, file, limit)
        file.flush()
        with Source(path, file=file) as source:
            source.cut_short = short
            wrapped = _wrapped(source) if limit and depth < MAX_WRAPPINGS else None
            for inside in _one(*wrapped, limit, depth + 1) if wrapped else (source,):
                inside.cut_short = inside.cut_short or short
                yield inside


def _spool(path: Path, pieces: Iterator[bytes], file: BinaryIO, limit: _Limit | None) -> str:
    try:
        for piece in pieces:
            if limit:
                limit.take(len(piece))
            file.write(piece)
    except CutShort as error:
        return str(error)
    except OSError as error:
        raise InputError(
            f"{path} could not be unpacked: {error.strerror}",
            hint="Make room in the folder for temporary files (TMPDIR), or unpack it yourself.",
        ) from error
    return ""


class _Limit:
    """What a packed file may become. Real transcripts shrink by five to fifty, with repeated pictures by a hundred."""

    def __init__(self, source: Source) -> None:
        self._path = source.path
        self._left = min(MAX_UNPACKED, max(ALWAYS_ALLOWED, source.size * MAX_RATIO))

    def take(self, size: int) -> None:
        """Count what came out. Raises InputError when it is too much."""
        self._left -= size
        if self._left < 0:
            raise InputError(
                f"{self._path} unpacks to far more than a transcript of its size holds",
                code="too_large",
                hint="If you trust it, unpack it yourself and import what comes out.",
            )
