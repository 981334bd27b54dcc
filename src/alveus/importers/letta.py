"""Letta's agent files, `.af`: an agent with its memory blocks and its messages. Some hold their JSON in a JSON string.

The ids in such a file are numbers given at the export, so a message is known by its time, its role and its text, and a
block by its label. Tools are source code and no memory; variables and secrets of an agent are never looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.entries import Layout, salvaged
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import parsed, words
from alveus.importers.reading import Pieces, Records, digest, first, walk
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "letta"
LAYOUT: Final = Layout(inner=frozenset({"messages", "blocks", "agents"}), names=frozenset({"agents"}))

_SAYS: Final = "send_message"


class _Reader(Records):
    name = NAME
    time_at = ("created_at",)

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """The blocks of the file, and the messages of each agent."""
        self.count += 1
        whole = _unwrapped(value)
        if not isinstance(whole, Mapping):
            yield Rejected(reason="not an object", at=at)
            return
        agents = [facts_at(one) for one in list_at(whole, "agents")]
        self.session = ident(text_at(agents[0], "name")) if agents else None
        for block in list_at(whole, "blocks"):
            yield from self.cast(self._block(facts_at(block)), facts_at(block), at)
        for agent in agents:
            self.session = ident(text_at(agent, "name"))
            self.facts = {"model": text_at(agent, "llm_config", "model")}
            kept = list_at(agent, "in_context_message_ids")
            for one in list_at(agent, "messages"):
                message = facts_at(one)
                self.facts["in_context"] = None if message.get("id") in kept else False
                yield from self.cast(self._message(message), message, at)
        for name in ("tools", "files", "sources", "groups", "mcp_servers"):
            for _ in list_at(whole, name):
                yield Skipped(reason=f"no memory: {name}", at=at)

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


def _unwrapped(value: object) -> object:
    """The file's object; out of a string where it was written as one, as far as that goes."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return salvaged(value, LAYOUT.inner)


def sniff(head: bytes) -> bool:
    """Whether the first object is an agent file, plain or in a string."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b'"{'):
        end = text.rfind(b"\\")
        try:
            text = json.loads(text[:end] + b'"').encode() if end > 0 else b""
        except ValueError:
            return False
    return any("agents" in one and ("blocks" in one or "agent_type" in json_text(one)) for one in first(text)[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one agent file."""
    yield from walk(source, LAYOUT, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Letta agent file (.af)", sniff=sniff, read=read)
