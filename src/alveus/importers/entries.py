"""From bytes to JSON values, one at a time, in the file's order, whatever the layout.

A transcript is either lines, each with one value or several glued together, or a document: one list, or one object
with a list in it, over many lines or in a single enormous one. Readers see neither: they see a value, the opening of a
list, or something broken, each with its place. Damage costs the value it is in and no other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from alveus.importers.cutter import Closing, Opening, Piece, cut
from alveus.importers.facts import Facts
from alveus.importers.source import BOM, WAITING, WIDE, Line, Source, Span

_PEEK: Final = 32
_NO_END: Final = "cut short: the end is missing"
_NOWHERE: Final = Span(line=0, start=0, size=0)
_DECODER = json.JSONDecoder()
# What may stand between glued values: white space, the comma of a list taken apart, RFC 7464's record separator.
_BETWEEN = re.compile("[ \t\r\n,\x1e]*+")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},]', re.DOTALL)
_NAME = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*:', re.DOTALL)
_NO_NAME = ("", "")
_LEAD: Final = BOM + b" \t\r\n"
_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One JSON value of the source."""

    value: object
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The values up to the next opening belong to one list; `header` has the members written before or behind it."""

    header: Facts
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Bytes that are not JSON, too long, or too deep."""

    reason: str
    at: Span


@dataclass(frozen=True, slots=True)
class Waiting:
    """The end of a file that is followed, for now."""


Entry: TypeAlias = Value | Opened | Broken | Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a format keeps what is many.

    `lists` are the members of an object at the root that may hold the list of values: it is read element by element.
    `inner` are those inside a value: where the end of a value is missing, their whole elements are kept, if one of its
    `names` is there too; what cannot be named would be stored again when the file is whole.
    """

    lists: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def entries(source: Source, layout: Layout) -> Iterator[Entry]:
    """Every value of the file."""
    if is_document(source.head):
        whole = Span(line=1, start=0, size=source.size)
        yield from _cut(source, whole, source.chunks(whole, counted=True), layout)
        return
    for line in source.lines():
        if line is WAITING:
            yield Waiting()
        else:
            yield from _line(source, line, layout)


def decode(data: bytes, at: Span, *, torn: bool = False, layout: Layout | None = None) -> Iterator[Value | Broken]:
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
            kept = salvaged(text[position:], layout.inner) if torn and layout and layout.inner else None
            if kept is not None and layout and (isinstance(kept, list) or layout.names & kept.keys()):
                yield Value(value=kept, at=at)
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


def _line(source: Source, line: Line, layout: Layout) -> Iterator[Entry]:
    if line.data is not None:
        found = list(decode(line.data, line.at, torn=line.torn, layout=layout))
        if not (found and isinstance(found[-1], Broken) and _may_be_list(line.data, layout.lists)):
            for one in found:
                yield from _opened(one, layout) if isinstance(one, Value) else [one]
            return
    yield from _cut(source, line.at, source.chunks(line.at, counted=line.data is None), layout)


def _opened(one: Value, layout: Layout) -> Iterator[Entry]:
    """A value that holds a list of values, as it would come if it were too large to be held."""
    whole = one.value if isinstance(one.value, Mapping) else {}
    name = next((name for name in whole if name in layout.lists and isinstance(whole[name], list)), None)
    if name is None:
        yield one
        return
    yield Opened(header={other: inner for other, inner in whole.items() if other != name}, at=one.at)
    for inner in whole[name]:
        yield Value(value=inner, at=one.at)


def _cut(source: Source, at: Span, chunks: Iterator[bytes], layout: Layout) -> Iterator[Entry]:
    behind = iter(_behind(source, at, layout))
    for piece in cut(chunks, at=at, keys=layout.lists, limit=source.max_line):
        if isinstance(piece, Opening):
            yield Opened(header={**_header(piece.header), **next(behind, {})}, at=at)
        elif isinstance(piece, Closing):
            continue
        elif piece.data is None:
            yield Broken(reason=f"longer than {source.max_line:,} bytes", at=piece.at)
        elif not piece.data:
            yield Broken(reason=_NO_END, at=piece.at)
        else:
            found = list(decode(piece.data, piece.at, torn=piece.torn, layout=layout))
            yield from found
            if piece.torn and not (found and isinstance(found[-1], Broken)):
                yield Broken(reason=_NO_END, at=replace(piece.at, start=piece.at.start + piece.at.size, size=0))


def _behind(source: Source, at: Span, layout: Layout) -> list[Facts]:
    """What each object says behind its list, found by going through it once before.

    A conversation may be named there, and a file that grows from one that is held into one that is streamed must not
    change its name: everything in it would be stored again.
    """
    found: list[Facts] = []
    if not layout.lists or next(source.chunks(replace(at, size=min(at.size, 64))), b"").lstrip(_LEAD)[:1] != b"{":
        return found
    for piece in cut(source.chunks(at), at=at, keys=layout.lists, limit=WIDE):
        if isinstance(piece, Opening):
            found.append({})
        elif isinstance(piece, Closing) and found:
            found[-1] = _object(b"{" + piece.rest.lstrip(b" \t\r\n,"))
    return found


def salvaged(text: str, inner: frozenset[str]) -> Any:
    """A value whose end is missing, as far as the whole elements of its inner lists and objects go; None without any.

    An element is whole when a comma or the container's end follows it, so no half of one is taken for all of it.
    """
    stack: list[tuple[str, bool]] = []
    name, end, closing = "", 0, ""
    for found in _TOKENS.finditer(text):
        token = found.group()
        if token in "[{":
            stack.append(("]" if token == "[" else "}", name in inner))
        elif token in "]}" and stack:
            if stack.pop()[1]:
                end, closing = found.end(), _closers(stack)
        elif token == "," and stack and stack[-1][1]:
            end, closing = found.start(), _closers(stack)
        name = (_NAME.match(text, found.start()) or _NO_NAME)[1] if token[0] == '"' else ""
    try:
        return json.loads(text[:end] + closing) if end else None
    except (ValueError, RecursionError):
        return None


def _closers(stack: list[tuple[str, bool]]) -> str:
    return "".join(closer for closer, _ in reversed(stack))


def _header(opened: bytes) -> Facts:
    """The members before the list: with the list closed at once, they are an object of their own."""
    return _object(opened + b"[]}") if opened else {}


def _object(data: bytes) -> Facts:
    """The object that these bytes are; an empty one when they are none."""
    for one in decode(data, _NOWHERE):
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
