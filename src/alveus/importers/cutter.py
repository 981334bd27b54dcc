r"""One state machine that cuts a stream of JSON into the elements of its list, without parsing them.

It serves what lines cannot: a pretty-printed file, and a single line of 600 MB. An incremental parser (ijson 3.6 was
tried) stops at the first broken element and loses the rest, turns a lone `\ud800` into `?` unasked, and holds an
element of any size; cutting first and parsing each element alone keeps the bad ones apart, whole and bounded.

Elements are those of a list at the root, of the list under one of `keys` in an object at the root, or, where there is
no such list, the root values themselves. Brackets that do not match are closed as far as they can be, and a string
ends at a raw line feed, which JSON does not allow inside one: so that damage ends where it can be seen to end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from alveus.importers.source import Span

_WS: Final = b" \t\r\n"
_QUOTE, _COMMA, _LIST, _OBJECT = b'",[{'
_OPENER: Final = {ord("]"): _LIST, ord("}"): _OBJECT}
_KEY_REACH: Final = 256

# Possessive throughout: each byte is looked at once, whatever the input.
_STRING = re.compile(rb'(?:[^"\\\n]++|\\[^\n])*+')
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|"(?:[^"\\\n]++|\\[^\n])*+")*+')
_INSIDE = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\\n]++|\\[^\n])*+")*+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A list of elements begins. `header` is the object's text before it: `{"id": "x", "messages":`, or nothing."""

    header: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """The object around the list ends. `rest` is its text behind the list: `, "id": "x"}`; nothing over the limit."""

    rest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One element. `data` is None when it is over the limit; `torn` when the stream ended inside it, or before it."""

    at: Span
    data: bytes | None
    torn: bool = False


def cut(chunks: Iterable[bytes], *, at: Span, keys: frozenset[str], limit: int) -> Iterator[Opening | Piece | Closing]:
    """What a stream that begins at `at` is made of, with at most `limit` bytes of one element in memory."""
    machine = _Machine(at, keys, limit)
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
        self._parts: list[bytes] = []
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
            self._parts.append(data)
        else:
            self._parts.clear()

    def data(self) -> bytes | None:
        return b"".join(self._parts) if self.size <= self._limit else None

    def next(self, dropped: int) -> _Buffer:
        return _Buffer(self.start + self.size + dropped, self.line + self.newlines, self._limit)


class _Machine:
    def __init__(self, at: Span, keys: frozenset[str], limit: int) -> None:
        names = b"|".join(re.escape(name.encode()) for name in sorted(keys))
        self._key = re.compile(rb'(?<!\\)"(?:' + names + rb')"[ \t\r\n]*:[ \t\r\n]*\Z')
        self._stack = bytearray()
        self._depth = 0  # of the list whose elements are cut; 0 between root values
        self._leftover = False  # inside what follows the list in its object
        self._in_string = self._escaped = False
        self._piece = _Buffer(at.start, at.line, limit)

    def feed(self, chunk: bytes) -> Iterator[Opening | Piece | Closing]:
        mark = 0
        position = self._through_string(chunk, 0) if self._in_string else 0
        while position < len(chunk):
            skip = _INSIDE if len(self._stack) > self._depth else _BETWEEN
            found = skip.match(chunk, position)
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
        at = Span(line=piece.line, start=piece.start, size=piece.size)
        if piece.size and not self._leftover:
            yield Piece(at=at, data=piece.data(), torn=torn)
        elif torn:
            yield Piece(at=at, data=b"", torn=True)

    def _through_string(self, chunk: bytes, position: int) -> int:
        """The position after the string that `position` is inside of, or the chunk's end."""
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
        if byte == _LIST and self._depth == 0 and self._opens_list(chunk, mark, position, depth):
            self._depth = depth + 1
            return _Cut.OPENS
        return _Cut.NOT_HERE

    def _opens_list(self, chunk: bytes, mark: int, position: int, depth: int) -> bool:
        if depth != 1:
            return depth == 0
        near = chunk[max(mark, position - _KEY_REACH) : position]
        return self._stack[0] == _OBJECT and self._key.search(self._piece.tail + near) is not None

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
        self._piece = piece.next(dropped=turn is not _Cut.AFTER)
        if turn is _Cut.OPENS and self._depth == 2:
            self._leftover = False
            yield Opening(header=piece.data() or b"")
        elif turn is _Cut.AFTER and rest:
            self._leftover = False
            yield Closing(rest=piece.data() or b"")
        elif piece.size:
            yield Piece(at=Span(line=piece.line, start=piece.start, size=piece.size), data=piece.data())
        if turn is _Cut.OPENS and self._depth == 1:
            yield Opening(header=b"")
