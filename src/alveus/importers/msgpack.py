"""MessagePack as data: https://github.com/msgpack/msgpack/blob/master/spec.md. Extensions stay what they are, bytes.

A checkpoint of LangGraph holds objects as extensions that name a class and its arguments. Here nothing is constructed:
what stands in one is looked into, and that is all.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

MAX_DEPTH: Final = 64

_FIXED: Final = {
    0xCA: ">f",
    0xCB: ">d",
    0xCC: ">B",
    0xCD: ">H",
    0xCE: ">I",
    0xCF: ">Q",
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
_TEXTS: Final = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_BYTES: Final = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
_EXTENSIONS: Final = {0xC7: ">B", 0xC8: ">H", 0xC9: ">I"}
_LISTS: Final = {0xDC: ">H", 0xDD: ">I"}
_MAPS: Final = {0xDE: ">H", 0xDF: ">I"}
_CONSTANTS: Final = {0xC0: None, 0xC2: False, 0xC3: True}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """A value of an application's own kind."""

    code: int
    data: bytes


def unpack(data: bytes) -> object:
    """The first value in these bytes. Raises ValueError when they hold none."""
    try:
        return _Reader(data).value(0)
    except (struct.error, IndexError, RecursionError) as error:
        raise ValueError("not MessagePack") from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def value(self, depth: int) -> object:  # noqa: C901, PLR0911 - the format's table of first bytes
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
        code = self._data[self._at]
        self._at += 1
        if code < 0x80 or code >= 0xE0:
            return code if code < 0x80 else code - 0x100
        if code < 0x90:
            return self._map(code & 0x0F, depth)
        if code < 0xA0:
            return self._list(code & 0x0F, depth)
        if code < 0xC0:
            return self._text(code & 0x1F)
        if code in _CONSTANTS:
            return _CONSTANTS[code]
        if code in _FIXED:
            return self._number(_FIXED[code])
        if code in _TEXTS:
            return self._text(self._size(_TEXTS[code]))
        if code in _BYTES:
            return self._take(self._size(_BYTES[code]))
        if code in _LISTS:
            return self._list(self._size(_LISTS[code]), depth)
        if code in _MAPS:
            return self._map(self._size(_MAPS[code]), depth)
        if code not in _EXTENSIONS and not 0xD4 <= code <= 0xD8:
            raise ValueError("not MessagePack")
        size = self._size(_EXTENSIONS[code]) if code in _EXTENSIONS else 1 << (code - 0xD4)
        kind = self._take(1)[0]
        return Extension(code=kind, data=self._take(size))

    def _number(self, form: str) -> object:
        (found,) = struct.unpack(form, self._take(struct.calcsize(form)))
        return found

    def _size(self, form: str) -> int:
        (found,) = struct.unpack(form, self._take(struct.calcsize(form)))
        return int(found)

    def _take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise ValueError("cut short")
        self._at += size
        return self._data[self._at - size : self._at]

    def _text(self, size: int) -> str:
        return self._take(size).decode("utf-8", "replace")

    def _list(self, size: int, depth: int) -> list[object]:
        self._room(size)
        return [self.value(depth + 1) for _ in range(size)]

    def _map(self, size: int, depth: int) -> dict[str, object]:
        self._room(size)
        found: dict[str, object] = {}
        for _ in range(size):
            name = self.value(depth + 1)
            found[name if isinstance(name, str) else repr(name)] = self.value(depth + 1)
        return found

    def _room(self, size: int) -> None:
        # Every element takes a byte at least: a length that promises more is a lie that would cost memory.
        if size > len(self._data) - self._at:
            raise ValueError("cut short")
