"""Letta's agent files, `.af`: agents with their messages, and memory blocks.

The ids in such a file are numbers given at the export, so a message is known by its time, its role and its text, and a
block by its label; it belongs to the first agent that stands before it. Tools are source code and no memory; variables
and secrets of an agent are never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.entries import Closed, Layout, Opened, Value
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import parsed, words
from alveus.importers.reading import Pieces, Records, digest, first, walk
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "letta"
_NO_MEMORY: Final = frozenset({"tools", "files", "sources", "groups", "mcp_servers"})
LAYOUT: Final = Layout(
    lists=frozenset({"agents", "messages", "blocks"}) | _NO_MEMORY,
    nested=frozenset({"agents"}),
    names=frozenset({"agents", "name"}),
)

_SAYS: Final = "send_message"


class _Reader(Records):
    name = NAME
    time_at = ("created_at",)

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._first: str | None = None
        self._inside = False
        self._kept: set[object] = set()

    def opens(self, one: Opened, /) -> Iterator[Event]:
        """The file, or one agent."""
        self.count += 1
        self._inside = one.member == "agents"
        if self._inside:
            self.session = ident(text_at(one.header, "name"))
            self._first = self._first or self.session
            self.facts = {"model": text_at(one.header, "llm_config", "model")}
            kept = list_at(one.header, "in_context_message_ids")
            self._kept = {name for name in kept if isinstance(name, str | int)}
        yield from ()

    def value(self, one: Value, /) -> Iterator[Event]:
        """A message of an agent, or what stands beside the agents."""
        if one.member == "messages":
            message = facts_at(one.value)
            own = message.get("id")
            self.facts["in_context"] = None if isinstance(own, str | int) and own in self._kept else False
            yield from self.cast(self._message(message), message, one.at)
        elif one.member == "blocks":
            self.session, self.facts = self._first, {}
            yield from self.cast(self._block(facts_at(one.value)), facts_at(one.value), one.at)
        elif one.member in _NO_MEMORY:
            if not self._inside:
                yield Skipped(reason=f"no memory: {one.member}", at=one.at)
        else:
            yield from self.events(one.value, one.at)

    def closes(self, _: Closed, /) -> Iterator[Event]:
        """What follows an agent is the file's."""
        self._inside = False
        yield from ()

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """What is no agent file."""
        self.count += 1
        if isinstance(value, dict):
            yield Skipped(reason="unknown type: none", at=at)
        else:
            yield Rejected(reason="not an object", at=at)

    def id_of(self, value: Facts) -> str | None:
        if label := ident(value.get("label")):
            return f"block/{label}"
        said = json_text([value.get("role"), value.get("content"), value.get("tool_calls")])
        return f"{ident(value.get('created_at')) or 'undated'}/{digest(said)}"

    def facts_of(self, value: Facts) -> Facts:
        return {"sender": text_at(value, "sender_id")}

    def _block(self, block: Facts) -> Pieces:
        """What the agent holds of itself and of others."""
        facts = {"label": text_at(block, "label"), "about": text_at(block, "description")}
        yield Piece(kind=Kind.IDENTITY_CHANGE, src=Src.AGENT, content=text_at(block, "value"), facts=facts)

    def _message(self, message: Facts) -> Pieces:
        role = text_at(message, "role")
        if role == "user":
            yield _asked(words("user", message.get("content")))
            return
        said = [one for one in list_at(message, "tool_calls") if text_at(one, "function", "name") == _SAYS]
        for one in said:
            yield words("assistant", text_at(parsed(text_at(one, "function", "arguments")), "message"))
        rest = [one for one in list_at(message, "tool_calls") if one not in said]
        yield from chat.pieces_of({**message, "tool_calls": rest}, self.calls)


def _asked(piece: Piece) -> Piece:
    """A user's words out of the packet that the program puts them in; another packet is the program's."""
    packet = parsed(piece.content)
    kind = text_at(packet, "type")
    if not kind:
        return piece
    text = text_at(packet, "message") or piece.content
    return words("user" if kind == "user_message" else "system", text, {"packet": kind})


def sniff(head: bytes) -> bool:
    """Whether the first object is an agent file."""
    return any("agents" in one and ("blocks" in one or "agent_type" in json_text(one)) for one in first(head)[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one agent file."""
    yield from walk(source, LAYOUT, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Letta agent file (.af)", sniff=sniff, read=read)
