r"""One state machine that cuts a stream of JSON into the elements of its list, without parsing them.

It serves what lines cannot: a pretty-printed file, and a single line of 600 MB. An incremental parser (ijson 3.6 was
tried) stops at the first broken element and loses the rest, turns a lone `\ud800` into `?` unasked, and holds an
element of any size; cutting first and parsing each element alone keeps the bad ones apart, whole and bounded.

Elements are those of a list at the root, of the lists under `keys` in an object at the root, or, where there is no
such list, the root values themselves. The members of an object under one of `maps` are cut likewise, each with its
name. Brackets that do not match are closed as far as they can be, and a string ends at a raw line feed, which JSON does
not allow inside one: so that damage ends where it can be seen to end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from io import BytesIO
from typing import Final

from alveus.importers.source import Span

_WS: Final = b" \t\r\n"
_QUOTE, _COMMA, _LIST, _OBJECT = b'",[{'
_OPENER: Final = {ord("]"): _LIST, ord("}"): _OBJECT}
_KEY_REACH: Final = 256

# Possessive throughout: each byte is looked at once, and in a list or object without another in it twice at most.
_TEXT: Final = rb'(?:[^"\\\n]++|\\[^\n])*+'
_FLAT: Final = rb'(?:[^"\[\]{}]++|"' + _TEXT + rb'")*+'
_STRING = re.compile(_TEXT)
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|"' + _TEXT + rb'")*+')
_BESIDE = re.compile(_FLAT)
_INSIDE = re.compile(rb'(?:[^"\[\]{}]++|"' + _TEXT + rb'"|\{' + _FLAT + rb"\}|\[" + _FLAT + rb"\])*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Elements begin. `name` is the member that holds them, and nothing for a list at the root.

    `before` is the object's text up to them, from its beginning or from where the elements before these ended:
    `{"id": "x", "messages":`, then `, "after": 2, "blocks":`; None when it is over the limit.
    """

    name: str
    before: bytes | None
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The object around the elements ends. `rest` is its text behind them: `, "id": "x"}`; None over the limit."""

    rest: bytes | None
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One element. `data` is None when it is over the limit; `torn` when the stream ended inside it, or before it."""

    at: Span
    data: bytes | None
    torn: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """What is cut: the members that are lists, those that are objects, and the bytes of one element that are held.

    Of the elements of a list at the root and of those in `nested`, which may be cut again, `wide` bytes are held.
    """

    lists: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()
    limit: int
    wide: int


def cut(chunks: Iterable[bytes], keys: Keys, at: Span) -> Iterator[Opening | Piece | Closing]:
    """What a stream that begins at `at` is made of."""
    machine = _Machine(at, keys)
    for chunk in chunks:
        yield from machine.feed(chunk)
    yield from machine.close()


class _Cut(Enum):
    """What a bracket or a comma means for the piece it stands in."""

    NOT_HERE = auto()
    BEFORE = auto()
    AFTER = auto()
    OPENS = auto()


class _Buffer:
    """The piece that is growing: its place, and its bytes until it is over the limit."""

    def __init__(self, start: int, line: int, limit: int) -> None:
        self.start, self.line, self.size, self.newlines = start, line, 0, 0
        self.tail = b""
        self._held = BytesIO()
        self._limit = limit

    def take(self, data: bytes) -> None:
        if not self.size:
            bare = data.lstrip(_WS)
            lead = len(data) - len(bare)
            self.start += lead
            self.line += data.count(b"\n", 0, lead)
            data = bare
        self.size += len(data)
        self.newlines += data.count(b"\n")
        self.tail = (self.tail + data[-_KEY_REACH:])[-_KEY_REACH:]
        if self.size <= self._limit:
            self._held.write(data)
        elif self._held.tell():
            self._held = BytesIO()

    @property
    def at(self) -> Span:
        return Span(line=self.line, start=self.start, size=self.size)

    def data(self) -> bytes | None:
        # A list of parts would be held beside what they are joined to; this is one piece of memory, and is handed over.
        held, self._held = self._held, BytesIO()
        return held.getvalue() if self.size <= self._limit else None

    def next(self, dropped: int, limit: int) -> _Buffer:
        return _Buffer(self.start + self.size + dropped, self.line + self.newlines, limit)


class _Machine:
    def __init__(self, at: Span, keys: Keys) -> None:
        names = b"|".join(re.escape(name.encode()) for name in sorted(keys.lists | keys.maps))
        self._key = re.compile(rb'(?<!\\)"(' + names + rb')"[ \t\r\n]*:[ \t\r\n]*\Z')
        self._keys = keys
        self._stack = bytearray()
        self._depth = 0  # of the list whose elements are cut; 0 between root values
        self._name = ""  # of that list
        self._leftover = False  # inside what follows the list in its object
        self._in_string = self._escaped = False
        self._piece = _Buffer(at.start, at.line, keys.limit)

    def feed(self, chunk: bytes) -> Iterator[Opening | Piece | Closing]:
        mark = 0
        position = self._through_string(chunk, 0) if self._in_string else 0
        while position < len(chunk):
            found = self._skip().match(chunk, position)
            position = found.end() if found else len(chunk)
            if position == len(chunk):
                break
            if chunk[position] == _QUOTE:
                position = self._through_string(chunk, position + 1)
                continue
            turn = self._turn(chunk, mark, position)
            position += 1
            if turn is not _Cut.NOT_HERE:
                self._piece.take(chunk[mark : position - (turn is not _Cut.AFTER)])
                mark = position
                yield from self._finish(turn)
        self._piece.take(chunk[mark:])

    def close(self) -> Iterator[Piece]:
        """What is left when the stream ends: an element, or nothing of one in a list or object that has no end."""
        piece = self._piece
        torn = bool(self._stack) or self._in_string
        if piece.size and not self._leftover:
            yield Piece(at=piece.at, data=piece.data(), torn=torn)
        elif torn:
            yield Piece(at=piece.at, data=b"", torn=True)

    def _skip(self) -> re.Pattern[bytes]:
        """What means nothing where we are: in an element all that closes what it opens, in an object no brackets."""
        depth = len(self._stack)
        if depth == self._depth:
            return _BETWEEN
        return _INSIDE if depth > max(self._depth, 1) else _BESIDE

    def _through_string(self, chunk: bytes, position: int) -> int:
        """The position after the string that `position` is inside of, or the chunk's end."""
        if self._escaped and chunk.startswith(b"\n", position):  # the string ended with its backslash
            self._in_string = self._escaped = False
            return position
        body = _STRING.match(chunk, position + self._escaped)
        end = body.end() if body else len(chunk)
        self._in_string = end >= len(chunk) or (chunk[end] == ord("\\") and end + 1 == len(chunk))
        self._escaped = self._in_string and end < len(chunk)
        return len(chunk) if self._in_string else end + 1

    def _turn(self, chunk: bytes, mark: int, position: int) -> _Cut:
        byte, depth = chunk[position], len(self._stack)
        if byte == _COMMA:
            return _Cut.BEFORE if depth == self._depth else _Cut.NOT_HERE
        if byte in _OPENER:
            return self._close(_OPENER[byte])
        self._stack.append(byte)
        if self._depth == 0 and self._opens(byte, chunk, mark, position, depth):
            self._depth = depth + 1
            return _Cut.OPENS
        return _Cut.NOT_HERE

    def _opens(self, byte: int, chunk: bytes, mark: int, position: int, depth: int) -> bool:
        """Whether elements begin with this bracket; then `_name` says of what."""
        if depth == 0:
            self._name = ""
            return byte == _LIST
        if depth > 1 or self._stack[0] != _OBJECT:
            return False
        found = self._key.search(self._piece.tail + chunk[max(mark, position - _KEY_REACH) : position])
        self._name = found[1].decode() if found else ""
        return self._name in (self._keys.lists if byte == _LIST else self._keys.maps)

    def _close(self, opener: int) -> _Cut:
        opened = self._stack.rfind(opener)
        if opened < 0:
            return _Cut.NOT_HERE
        del self._stack[opened:]
        if opened >= self._depth:
            return _Cut.AFTER if opened == self._depth == 0 else _Cut.NOT_HERE
        self._leftover = bool(self._stack)
        self._depth = 0
        return _Cut.BEFORE

    def _finish(self, turn: _Cut) -> Iterator[Opening | Piece | Closing]:
        piece, rest = self._piece, self._leftover
        again = self._depth > 0 and (not self._name or self._name in self._keys.nested)
        self._piece = piece.next(turn is not _Cut.AFTER, self._keys.wide if again else self._keys.limit)
        if turn is _Cut.OPENS and self._name:
            self._leftover = False
            yield Opening(name=self._name, before=piece.data(), at=piece.at)
        elif turn is _Cut.AFTER and rest:
            self._leftover = False
            yield Closing(rest=piece.data(), at=piece.at)
        elif piece.size:
            yield Piece(at=piece.at, data=piece.data())
        if turn is _Cut.OPENS and not self._name:
            yield Opening(name="", before=b"", at=piece.at)
