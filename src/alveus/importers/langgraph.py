"""LangGraph's checkpoints in SQLite: each holds the state of a thread, and all messages up to then.

A message is taken from the first checkpoint that has it; in the later ones it is a copy. Its class and its fields are
read as data, without the packages that wrote them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

from alveus.importers import chat, langchain
from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.msgpack import Extension, unpack
from alveus.importers.reading import PLAIN, Records, digest, first, walk

NAME: Final = "langgraph"

_DATABASE: Final = "langgraph"
_CONSTRUCTED: Final = frozenset({0, 2, 5})
"""Extensions that name a class and give its arguments: positional, by keyword, and pydantic's."""


class _Reader(Records):
    name = NAME

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._seen: set[str] = set()

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """The messages of one checkpoint that none before it had."""
        self.count += 1
        row = facts_at(value, "row")
        if not row:
            yield Skipped(reason="bookkeeping: database", at=at)
            return
        self.session = ident(row.get("thread_id"))
        try:
            state = facts_at(_plain(unpack(_bytes(row.get("checkpoint")))))
        except ValueError as error:
            yield Rejected(reason=f"a checkpoint that cannot be read: {error}", at=at)
            return
        found = [one for channel in facts_at(state, "channel_values").values() for one in _messages(channel)]
        told = [one for one in found if self._is_new(one)]
        for one in told:
            common = {**langchain.common(one), "time": state.get("ts")}
            yield from self.cast(chat.pieces_of(common, self.calls), common, at)
        if len(told) < len(found) or not found:
            yield Skipped(reason="copy in a later checkpoint" if found else "bookkeeping: checkpoint", at=at)

    def _is_new(self, message: Facts) -> bool:
        told = facts_at(message, "data")
        name = f"{self.session}/{ident(told.get('id')) or digest(repr(sorted(told.items())))}"
        new = name not in self._seen
        self._seen.add(name)
        return new

    def time_of(self, value: Facts) -> object:
        return value.get("time")

    def facts_of(self, value: Facts) -> Facts:
        return {"name": value.get("name")}


def _bytes(value: object) -> bytes:
    try:
        return base64.b64decode(text_at(value, "base64"), validate=True)
    except binascii.Error as error:
        raise ValueError("not a blob") from error


def _plain(value: object, depth: int = 0) -> Any:
    """A value with every message in it as `{"type", "data"}`, and other objects as their arguments."""
    if depth > 16:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        return {name: _plain(inner, depth + 1) for name, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth + 1) for inner in value]
    if not isinstance(value, Extension):
        return value.hex() if isinstance(value, bytes) else value
    inner = _plain(unpack(value.data), depth + 1) if value.code in _CONSTRUCTED else None
    if isinstance(inner, list) and len(inner) >= 3:
        given = inner[2]
        named = {"type": text_at(given, "type"), "data": given}
        return named if str(inner[1]).endswith(("Message", "MessageChunk")) else given
    return None


def _messages(channel: object) -> Iterator[Facts]:
    lists = [channel] if isinstance(channel, list) else [list_at(channel, "messages")]
    for one in (inner for found in lists for inner in found):
        if langchain.is_message(one):
            yield facts_at(one)


def sniff(head: bytes) -> bool:
    """Whether these are the rows of its checkpoints."""
    return any(text_at(one, "database") == _DATABASE for one in first(head)[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one database."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="LangGraph checkpoints (SQLite)", sniff=sniff, read=read)
