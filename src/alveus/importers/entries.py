"""From bytes to JSON values, one at a time, in the file's order, whatever the layout.

A transcript is either lines, each with one value or several glued together, or a document: one list, or one object
with lists in it, over many lines or in a single enormous one. Readers see neither: they see a value, the opening and
the closing of what holds many, or something broken, each with its place. Damage costs the value it is in and no other.

What holds many is opened with all that it says beside them, also behind them, and so is read twice where it is too
large to be held: a conversation may be named at its end, and one that grows from a file that is held into one that is
streamed must not change its name, or everything in it would be stored again. No reader can tell which of them it was.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from alveus.importers.cutter import Closing, Keys, Opening, Piece, cut
from alveus.importers.facts import Facts
from alveus.importers.source import BOM, WAITING, WIDE, Line, Source, Span

MAX_HEADER: Final = 8 << 20
"""Bytes of an object beside the many that it holds, between two of them."""
MAX_DEPTH: Final = 16
"""Of objects that are too large to be held and hold such objects: each is read again."""

SHORT: Final = "cut short: "
"""What a reason begins with where the bytes end too early."""

_PEEK: Final = 32
_NAME_REACH: Final = 1024
_NO_END: Final = f"{SHORT}the end is missing"
_TOO_DEEP: Final = "nested too deeply"
_AROUND: Final = "not JSON: what stands around the list"
_NOWHERE: Final = Span(line=0, start=0, size=0)
_DECODER = json.JSONDecoder()
# What may stand between glued values: white space, the comma of a list taken apart, RFC 7464's record separator.
_BETWEEN = re.compile("[ \t\r\n,\x1e]*+")
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)
_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*+)\\(?:u[0-9a-fA-F]{0,3})?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One JSON value of the source; of many, `member` says of which, and `key` its name where it has one."""

    value: object
    at: Span
    member: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A list that is in no object begins."""

    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An object that holds many begins: `header` has all its other members, and `member` says of which it is one.

    `holds` names the members that the many are of. `nodes` has what `Layout.node` made of each of them.
    """

    header: Facts
    at: Span
    member: str = ""
    holds: frozenset[str] = frozenset()
    nodes: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """It ends; `empty` when it held none."""

    at: Span
    empty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Bytes that are not JSON, too long, or too deep."""

    reason: str
    at: Span


@dataclass(frozen=True, slots=True)
class Waiting:
    """The end of a file that is followed, for now."""


Entry: TypeAlias = Value | Listed | Opened | Closed | Broken | Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a format keeps what is many.

    `lists` are the members of an object that hold many, of which those in `nested` hold objects that may hold many
    themselves; `maps` are those that hold many by name; `passed` are lists of no use, which nobody is shown. `beside`
    are maps in which something is to be looked up: the header has them, and reads there what is asked for.

    Where the end of an object is missing, what it holds is kept if one of its `names` is there, as a member or as what
    holds them, since those may have names of their own: what cannot be named would be stored again when the file is
    whole.

    A format that keeps a tree says by `node` what has to be known of each of the many (its name and value are given)
    before the first is read, and by `order` in which order they are to be read; its many are those of one map.
    """

    lists: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    node: Callable[[str, object], Any] | None = None
    order: Callable[[Sequence[Any]], Sequence[int]] | None = None

    def keys(self, limit: int) -> Keys:
        """The same for the machine that cuts."""
        lists, maps = self.lists | self.passed, self.maps | self.beside
        return Keys(lists=lists, maps=maps, nested=self.nested, limit=limit, wide=WIDE)

    def many(self, value: object) -> dict[str, Any]:
        """The members of a value that hold many."""
        if not isinstance(value, dict) or (self.lists.isdisjoint(value) and self.maps.isdisjoint(value)):
            return {}
        lists, maps = self.lists | self.passed, self.maps
        return {
            name: inner
            for name, inner in value.items()
            if (name in lists and isinstance(inner, list)) or (name in maps and isinstance(inner, dict))
        }


def entries(source: Source, layout: Layout) -> Iterator[Entry]:
    """Every value of the file."""
    if is_document(source.head):
        yield from _streamed(source, Span(line=1, start=0, size=source.size), layout, counted=True)
        return
    for line in source.lines():
        if line is WAITING:
            yield Waiting()
        else:
            yield from _line(source, line, layout)


def decode(data: bytes, at: Span, *, torn: bool = False) -> Iterator[Value | Broken]:
    """The values in these bytes: one, or several glued together; what follows the last good one is broken."""
    short = SHORT if torn else ""
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
    whole = Keys(lists=keys, limit=len(text), wide=len(text))
    for piece in cut([text], whole, _NOWHERE):
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
        found = list(decode(line.data, line.at, torn=line.torn))
        if not (found and isinstance(found[-1], Broken) and _may_hold_many(line.data, layout)):
            for one in found:
                yield from _apart(one, layout)
            return
    yield from _streamed(source, line.at, layout, counted=line.data is None)


# ── what holds many, and is held ─────────────────────────────────────────────────────────────────────────────────────


def _apart(one: Value | Broken, layout: Layout, member: str = "") -> Iterator[Entry]:
    """A value as it would come if it were too large to be held."""
    if isinstance(one, Broken):
        yield one
        return
    try:
        found = list(_taken_apart(one.value, one.at, layout, member))
    except RecursionError:
        found = [Broken(reason=_TOO_DEEP, at=one.at)]
    yield from found


def _taken_apart(value: object, at: Span, layout: Layout, member: str) -> Iterator[Entry]:
    if isinstance(value, list):
        yield Listed(at=at)
        for inner in value:
            yield from _taken_apart(inner, at, layout, member)
        return
    many = layout.many(value)
    if not many or not isinstance(value, dict):
        yield Value(value=value, at=at, member=member)
        return
    header = {name: inner for name, inner in value.items() if name not in many}
    shown = {name: inside for name, inside in many.items() if name not in layout.passed}
    ones = [one for name, inside in shown.items() if name not in layout.nested for one in _ones(name, inside, at)]
    nodes = [layout.node(one.key, one.value) for one in ones] if layout.node else []
    yield Opened(header=header, at=at, member=member, holds=frozenset(many), nodes=nodes)
    if layout.order:
        yield from (ones[place] for place in layout.order(nodes))
    for name, inside in shown.items():
        if name in layout.nested:
            for inner in inside:
                yield from _taken_apart(inner, at, layout, name)
        elif not layout.order:
            yield from _ones(name, inside, at)
    yield Closed(at=at, empty=not any(shown.values()))


# ── what holds many, and is not held ─────────────────────────────────────────────────────────────────────────────────


class _Outline:
    """What an object says beside the many that it holds, and where it is."""

    def __init__(self, at: Span) -> None:
        self.at = self.begins = at
        self.members: set[str] = set()
        self.nodes: list[Any] = []
        self.places = array("Q")
        """Where what each node is of begins, and behind it how long it is."""
        self.beside: dict[str, dict[str, Span]] = {}
        """Where in a map that is looked into each name stands."""
        self.torn = True
        self.lost: list[Span] = []
        self._parts: list[bytes] = []

    def opens(self, piece: Opening, inside: bytes) -> None:
        """Elements begin."""
        self._says(piece.before, piece.at, b',"":' if self._parts else b'{"":')
        self._parts.append(inside)
        self.members.add(piece.name)

    def closes(self, piece: Closing) -> None:
        """The object ends."""
        self._says(piece.rest, piece.at, b"}")
        self.torn = False

    def holds(self, piece: Piece, member: str, source: Source, layout: Layout) -> None:
        """It holds this."""
        self._ends(piece.at)
        if member in layout.beside and (name := _name_of(source, piece)) is not None:
            self.beside.setdefault(member, {})[name] = piece.at
        elif layout.node and piece.data and not piece.torn and member not in layout.nested | layout.passed:
            for one in _elements(piece.data, piece.at, layout, member):
                if isinstance(one, Value):
                    self.nodes.append(layout.node(one.key, one.value))
                    self.places.extend((piece.at.start, piece.at.size))

    def header(self) -> Facts | None:
        """The members beside the many; None where they are no JSON."""
        whole = b"".join(self._parts) + (b"}" if self.torn else b"")
        found = [one.value for one in decode(whole, _NOWHERE) if isinstance(one, Value)]
        if not found or not isinstance(found[0], dict):
            return None
        without = self.members | {""} if self.lost else self.members
        return {name: inner for name, inner in found[0].items() if name not in without}

    def _says(self, text: bytes | None, at: Span, else_: bytes) -> None:
        held = text is not None and len(text) <= MAX_HEADER
        self._parts.append(text if text is not None and held else else_)
        if not held:
            self.lost.append(at)
        self._ends(at)

    def _ends(self, at: Span) -> None:
        self.at = replace(self.at, size=at.start + at.size - self.at.start)


class _Beside(Mapping[str, object]):
    """A map that is not held: what is asked for is read where it stands."""

    def __init__(self, source: Source, places: Mapping[str, Span]) -> None:
        self._source, self._places = source, places

    def __getitem__(self, name: str) -> object:
        at = self._places[name]
        found = [*decode(b"{" + b"".join(self._source.chunks(at)) + b"}", at)][:1]
        return next(
            (one.value.get(name) for one in found if isinstance(one, Value) and isinstance(one.value, dict)), None
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _name_of(source: Source, piece: Piece) -> str | None:
    """The name of a member by its beginning, however long it is; None for one that is cut off or broken."""
    start = b"".join(source.chunks(replace(piece.at, size=min(piece.at.size, _NAME_REACH))))
    try:
        name, _ = _DECODER.raw_decode(start.decode(errors="ignore"))
    except ValueError:
        return None
    return name if isinstance(name, str) and not piece.torn and piece.at.size <= source.max_line else None


def _outlines(source: Source, at: Span, layout: Layout) -> Iterator[_Outline]:
    """The outline of every object there that holds many, one after the other."""
    one: _Outline | None = None
    member = ""
    for piece in cut(source.chunks(at), layout.keys(source.max_line if layout.node else MAX_HEADER), at):
        if isinstance(piece, Opening):
            member = piece.name
            if member:
                one = one or _Outline(piece.at)
                one.opens(piece, b"{}" if member in layout.maps | layout.beside else b"[]")
        elif one is None:
            continue
        elif isinstance(piece, Closing):
            one.closes(piece)
            yield one
            one = None
        else:
            one.holds(piece, member, source, layout)
    if one:
        yield one


def _streamed(
    source: Source, at: Span, layout: Layout, member: str = "", depth: int = 0, *, counted: bool = False
) -> Iterator[Entry]:
    """The same as `_apart` gives, of bytes that are not held; what is broken in it costs itself."""
    stream = _Stream(source, at, layout, member, depth)
    for piece in cut(source.chunks(at, counted=counted), layout.keys(source.max_line), at):
        if isinstance(piece, Opening):
            yield from stream.opens(piece)
        elif isinstance(piece, Closing):
            yield from stream.closes()
        else:
            yield from stream.piece(piece)
    yield from stream.closes()


class _Stream:
    """Where a stream is: the object that holds what comes now, if any, and of which of its members that is."""

    def __init__(self, source: Source, at: Span, layout: Layout, member: str, depth: int) -> None:
        self._source, self._at, self._layout, self._depth = source, at, layout, depth
        self._outlines = _outlines(source, at, layout)
        self._one: _Outline | None = None
        self._own = self._inside = member
        self._known, self._empty = True, True

    def opens(self, piece: Opening) -> Iterator[Entry]:
        """Elements begin, and with the first of them the object that holds them."""
        self._inside = piece.name or self._own
        if not piece.name:
            yield Listed(at=self._at)
        elif self._one is None:
            # None where the file was changed since: what was said around the list is gone.
            self._one = next(self._outlines, None) or _Outline(piece.at)
            begun = list(self._begun(self._one))
            self._known, self._empty = isinstance(begun[0], Opened), True
            yield from begun
            for one in self._in_order(self._one) if self._known else ():
                self._empty = False
                yield one

    def closes(self) -> Iterator[Entry]:
        """The object ends."""
        if self._one and self._known:
            yield Closed(at=self._one.at, empty=self._empty)
        self._one, self._known, self._inside = None, True, self._own

    def piece(self, piece: Piece) -> Iterator[Entry]:
        """An element, or a value that is in nothing. Of an object that cannot be known again, none is told."""
        layout, inside = self._layout, self._inside
        if self._one is None or (self._known and inside in layout.nested):
            self._empty = False
            yield from self._again(piece)
        elif self._known and (piece.torn or inside not in layout.passed | layout.beside):
            for one in _one_of(self._source, piece, layout, inside):
                # What is read in an order of its own has come already.
                if isinstance(one, Broken) or not layout.order:
                    self._empty = False
                    yield one

    def _begun(self, one: _Outline) -> Iterator[Opened | Broken]:
        header, names = one.header(), self._layout.names
        named = not names or names & ((header or {}).keys() | one.members)
        if (names and header is None) or (one.torn and not named):
            yield Broken(reason=_AROUND if header is None else _NO_END, at=one.at)
            return
        looked = {member: _Beside(self._source, places) for member, places in one.beside.items()}
        yield Opened(
            header={**(header or {}), **looked},
            at=one.at,
            member=self._own,
            holds=frozenset(one.members),
            nodes=one.nodes,
        )
        if header is None:
            yield Broken(reason=_AROUND, at=one.begins)
        for at in one.lost:
            yield Broken(reason=f"longer than {MAX_HEADER:,} bytes around the list", at=at)

    def _in_order(self, one: _Outline) -> Iterator[Value | Broken]:
        for place in self._layout.order(one.nodes) if self._layout.order else ():
            at = replace(one.at, start=one.places[2 * place], size=one.places[2 * place + 1])
            yield from _elements(b"".join(self._source.chunks(at)), at, self._layout, self._inside)

    def _again(self, piece: Piece) -> Iterator[Entry]:
        """A piece that may hold many itself."""
        layout, member = self._layout, self._inside
        smaller = piece.at.size < self._at.size
        found = [] if piece.data is None else list(_one_of(self._source, piece, layout, member))
        broken = any(isinstance(one, Broken) for one in found) and _may_hold_many(piece.data or b"", layout)
        if smaller and self._depth < MAX_DEPTH and (broken or piece.data is None):
            torn = piece.torn
            for entry in _streamed(self._source, piece.at, layout, member, self._depth + 1):
                torn = torn and not (isinstance(entry, Broken) and entry.reason.startswith(SHORT))
                yield entry
            if torn:
                yield _end(piece)
        elif smaller and piece.data is None and piece.at.size <= self._source.max_line:
            yield Broken(reason=_TOO_DEEP, at=piece.at)
        else:
            for one in found or _one_of(self._source, piece, layout, member):
                yield from _apart(one, layout, member)


def _one_of(source: Source, piece: Piece, layout: Layout, member: str) -> Iterator[Value | Broken]:
    """What a piece is."""
    if piece.data is None:
        yield Broken(reason=f"longer than {source.max_line:,} bytes", at=piece.at)
        return
    found = list(_elements(piece.data, piece.at, layout, member, torn=piece.torn)) if piece.data else []
    yield from found
    if piece.torn and not (found and isinstance(found[-1], Broken)):
        yield _end(piece) if found else Broken(reason=_NO_END, at=piece.at)


def _end(piece: Piece) -> Broken:
    """A whole element, behind which the file ends too early."""
    return Broken(reason=_NO_END, at=replace(piece.at, start=piece.at.start + piece.at.size, size=0))


def _elements(data: bytes, at: Span, layout: Layout, member: str, *, torn: bool = False) -> Iterator[Value | Broken]:
    """The values of a piece; of one that has a name, that and the value."""
    named = member in layout.maps
    for one in decode(b"{" + data + b"}" if named else data, at, torn=torn):
        if isinstance(one, Broken):
            yield one
        elif named and isinstance(one.value, dict):
            for key, inner in one.value.items():
                yield Value(value=inner, at=at, member=member, key=key)
        else:
            yield Value(value=one.value, at=at, member=member)


def _ones(member: str, inside: Mapping[str, object] | Sequence[object], at: Span) -> Iterator[Value]:
    """The same of a list or an object that is held."""
    named = inside.items() if isinstance(inside, Mapping) else (("", inner) for inner in inside)
    for key, inner in named:
        yield Value(value=inner, at=at, member=member, key=key)


def _may_hold_many(data: bytes, layout: Layout) -> bool:
    return data.startswith(b"[") or any(f'"{name}"'.encode() in data for name in layout.lists | layout.maps)


def _whole(line: bytes) -> bool:
    return all(isinstance(one, Value) for one in decode(line, _NOWHERE))


def _next(text: str, position: int) -> int:
    found = _BETWEEN.match(text, position)
    return found.end() if found else position


def _why(error: ValueError | RecursionError) -> str:
    """The parser's reason without a word of the text, which may hold a secret."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.pos + 1})"
    return _TOO_DEEP if isinstance(error, RecursionError) else "not JSON: a number of too many digits"
