r"""JSON that lies in a JSON string, as some exports of Letta do, made plain a step at a time.

Escapes become what they stand for, in UTF-8; half of a surrogate pair stays an escape, which means the same in the JSON
that comes out. What is no escape passes through as it is: the reader of what comes out will say that it is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from alveus.importers.inflating import CutShort

_HEX: Final = b"[0-9a-fA-F]"
_BEGINS = re.compile(rb'\A(?:\xef\xbb\xbf)?[ \t\r\n]*"(?=(?:\\[nrt]|[ ])*[\[{])')
_TOKENS = re.compile(rb'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+')
_HALF = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_HIGH = re.compile(rb"(?<!\\)((?:\\\\)*+)\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_ESCAPE = re.compile(rb"\\(?:u([dD][89abAB]%b)\\u([dD][c-fC-F]%b)|u(%b)|([^u]))" % (_HEX * 2, _HEX * 2, _HEX * 4))
_PLAIN: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_SURROGATES: Final = range(0xD800, 0xE000)


def is_quoted(head: bytes) -> bool:
    """Whether a file is a string that holds a list or an object."""
    return _BEGINS.match(head) is not None


def unquoted(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What the string holds, up to its end. Raises CutShort where something follows it."""
    rest, begun, ended = b"", False, False
    for chunk in chunks:
        data = rest + chunk
        if not begun:
            _, quote, data = data.partition(b'"')
            begun = bool(quote)
        if begun and not ended:
            end = _whole(data)
            ended = data[end : end + 1] == b'"'
            yield _ESCAPE.sub(_meant, data[:end])
            data = data[end + ended :]
        if ended and data.strip():
            raise CutShort("something follows the string that the file is")
        rest = b"" if ended else data
    yield rest


def _whole(data: bytes) -> int:
    """How far the data goes before the end of the string, or before half of an escape."""
    end = 0
    while True:
        found = _TOKENS.match(data, end)
        end = found.end() if found else end
        if end == len(data):
            half = _HIGH.search(data, max(0, end - 4096))
            return half.end(1) if half else end
        if data[end : end + 1] == b'"' or _HALF.match(data, end):
            return end
        # No escape at all: its backslash is passed on.
        end += 1


def _meant(found: re.Match[bytes]) -> bytes:
    high, low, one, plain = found.groups()
    if plain is not None:
        return _PLAIN.get(plain, plain)
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00).encode()
    code = int(one, 16)
    return bytes(found[0]) if code in _SURROGATES else chr(code).encode()
