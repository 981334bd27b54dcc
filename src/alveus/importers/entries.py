"""From bytes to JSON values, one at a time, in the file's order, whatever the layout.

A transcript is either lines, each with one value or several glued together, or a document: one list, or one object
with a list in it, over many lines or in a single enormous one. Readers see neither: they see a value, the opening of a
list, or something broken, each with its place. Damage costs the value it is in and no other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from alveus.importers.cutter import Opening, Piece, cut
from alveus.importers.facts import Facts
from alveus.importers.source import BOM, Line, Source, Span

_PEEK: Final = 32
_NOWHERE: Final = Span(line=0, start=0, size=0)
_DECODER = json.JSONDecoder()
# What may stand between glued values: white space, the comma of a list taken apart, RFC 7464's record separator.
_BETWEEN = re.compile("[ \t\r\n,\x1e]*+")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One JSON value of the source."""

    value: object
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The values up to the next opening belong to one list; `header` has the members written before it."""

    header: Facts
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Bytes that are not JSON, too long, or too deep."""

    reason: str
    at: Span


Entry: TypeAlias = Value | Opened | Broken


def entries(source: Source, keys: frozenset[str]) -> Iterator[Entry]:
    """Every value of the file; `keys` names the members of an object at the root that may hold the list."""
    if is_document(source.head):
        whole = Span(line=1, start=0, size=source.size)
        yield from _cut(source, whole, source.chunks(whole, counted=True), keys)
        return
    for line in source.lines():
        yield from _line(source, line, keys)


def decode(data: bytes, at: Span, *, torn: bool = False) -> Iterator[Value | Broken]:
    """The values in these bytes: one, or several glued together; what follows the last good one is broken."""
    short = "cut short: " if torn else ""
    try:
        text = data.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        yield Broken(reason=f"{short}not UTF-8 (byte {error.start + 1})", at=at)
        return
    position = _next(text, 0)
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield Broken(reason=short + _why(error), at=at)
            return
        yield Value(value=value, at=at)
        position = _next(text, position)


def is_document(head: bytes) -> bool:
    """Whether the file is one value over many lines. A single line is left to the lines, whatever its length."""
    first, _, rest = head.removeprefix(BOM).lstrip().partition(b"\n")
    first = first.rstrip()
    if first[:1] not in (b"[", b"{") or not first.endswith((b"[", b"{", b",", b":")):
        return False
    # Else a first line that was cut short would make a document of a file of lines.
    second = rest.lstrip().partition(b"\n")[0]
    return first in (b"[", b"{") or not (second.startswith(b"{") and _whole(second))


def peek(head: bytes, keys: frozenset[str]) -> list[Facts]:
    """The first objects in the head of a file, the last of them as far as it goes: what a format is recognised by."""
    texts = [head] if is_document(head) else [line for line in head.split(b"\n")[:_PEEK] if line.strip()]
    found = (one for text in texts for piece in _pieces(text, keys) for one in decode(_mended(piece), _NOWHERE))
    values = [one.value for one in found if isinstance(one, Value)]
    return [one for one in values if isinstance(one, Mapping)][:_PEEK]


def _pieces(text: bytes, keys: frozenset[str]) -> Iterator[Piece]:
    for piece in cut([text], at=_NOWHERE, keys=keys, limit=len(text)):
        if isinstance(piece, Piece):
            yield piece


def _mended(piece: Piece) -> bytes:
    """A piece that the end of the head cut through, closed where it was cut; it parses if that was inside a string."""
    text = (piece.data or b"").decode(errors="ignore")
    if not piece.torn:
        return text.encode()
    text = _HALF_ESCAPE.sub(r"\1", text)
    tokens = _BRACKETS.findall(text)
    closing: list[str] = []
    for token in tokens:
        if token in "[{":
            closing.append("]" if token == "[" else "}")
        elif token in "]}" and closing:
            closing.pop()
    inside = bool(tokens) and tokens[-1].startswith('"') and text.endswith(tokens[-1]) and not tokens[-1].endswith('"')
    return (text + '"' * inside + "".join(reversed(closing))).encode()


def _line(source: Source, line: Line, keys: frozenset[str]) -> Iterator[Entry]:
    if line.data is not None:
        found = list(decode(line.data, line.at, torn=line.torn))
        if not (found and isinstance(found[-1], Broken) and _may_be_list(line.data, keys)):
            yield from found
            return
    yield from _cut(source, line.at, source.chunks(line.at, counted=line.data is None), keys)


def _cut(source: Source, at: Span, chunks: Iterator[bytes], keys: frozenset[str]) -> Iterator[Entry]:
    for piece in cut(chunks, at=at, keys=keys, limit=source.max_line):
        if isinstance(piece, Opening):
            yield Opened(header=_header(piece.header), at=at)
        elif piece.data is None:
            yield Broken(reason=f"longer than {source.max_line:,} bytes", at=piece.at)
        else:
            yield from decode(piece.data, piece.at, torn=piece.torn)


def _header(opened: bytes) -> Facts:
    """The members before the list: with the list closed at once, they are an object of their own."""
    for one in decode(opened + b"[]}", _NOWHERE) if opened else ():
        if isinstance(one, Value) and isinstance(one.value, dict):
            return one.value
    return {}


def _may_be_list(data: bytes, keys: frozenset[str]) -> bool:
    start = data[:4096]
    return start.startswith(b"[") or any(f'"{key}"'.encode() in start for key in keys)


def _whole(line: bytes) -> bool:
    return all(isinstance(one, Value) for one in decode(line, _NOWHERE))


def _next(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    return found.end() if found else position


def _why(error: ValueError | RecursionError) -> str:
    """The parser's reason without a word of the text, which may hold a secret."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.pos + 1})"
    return "nested too deeply" if isinstance(error, RecursionError) else "not JSON: a number of too many digits"
