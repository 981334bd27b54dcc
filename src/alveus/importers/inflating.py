"""Packed bytes made plain, a step at a time: what an archive's methods have in common.

Zstandard comes from the standard library where it has it (Python 3.14), else from its backport.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Protocol, cast

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError
else:
    from backports.zstd import ZstdDecompressor, ZstdError

STEP: Final = 1 << 20
"""Bytes that come out at a time, whatever goes in."""


class CutShort(Exception):
    """The packed bytes end, or stop making sense, before they should; what came before is good."""


class Decompressor(Protocol):
    """One stream or frame being unpacked."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Deflate:
    """zlib's decompressor, which keeps what it did not look at, with the manners of the others."""

    def __init__(self, form: int = -zlib.MAX_WBITS) -> None:
        self._one = zlib.decompressobj(form)
        self._held = b""

    @property
    def eof(self) -> bool:
        return self._one.eof

    @property
    def unused_data(self) -> bytes:
        return self._one.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        out = self._one.decompress(self._held + data, max_length)
        self._held = self._one.unconsumed_tail
        return out


def zstd() -> Decompressor:
    """A decompressor of one Zstandard frame."""
    return cast("Decompressor", ZstdDecompressor())


def gzip() -> Decompressor:
    """A decompressor of one member of gzip."""
    return _Deflate(16 + zlib.MAX_WBITS)


METHODS: Final[Mapping[int, Callable[[], Decompressor]]] = {8: _Deflate, 93: zstd}
"""The methods of a zip archive that compress, by their number."""


def inflated(make: Callable[[], Decompressor], chunks: Iterable[bytes]) -> Iterator[bytes]:
    """All streams or frames in these bytes, one after the other. Raises CutShort."""
    one: Decompressor | None = None
    for chunk in chunks:
        data = chunk
        while data:
            one = one or make()
            yield from stepwise(one, data)
            data, one = (one.unused_data, None) if one.eof else (b"", one)
    if one:
        raise CutShort("the compressed bytes end too early")


def stepwise(one: Decompressor, data: bytes) -> Iterator[bytes]:
    """What these packed bytes become, at most `STEP` bytes at a time. Raises CutShort."""
    try:
        while not one.eof and ((out := one.decompress(data, STEP)) or data):
            yield out
            data = b""
    except (ZstdError, zlib.error) as error:
        raise CutShort("the compressed bytes are damaged") from error
