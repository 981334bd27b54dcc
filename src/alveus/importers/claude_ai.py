"""Claude.ai's account export: `conversations.json`, alone or in its zip, with `projects.json` and `memories.json`.

A message says the same twice: its blocks, and a text that was made from them. The blocks are taken where there are any
that are known. Where a message was edited or asked again, the branch that was written last is the active one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.branches import Node, abandoned
from alveus.importers.entries import Closed, Layout, Opened, Value
from alveus.importers.facts import Facts, ident, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, returned, thought, words
from alveus.importers.reading import Pieces, Records, first, walk
from alveus.importers.render import PICTURES
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "claude-ai"


def _node(_: str, message: object) -> Node:
    told = message if isinstance(message, Mapping) else {}
    return Node.of(ident(told.get("uuid")), ident(told.get("parent_message_uuid")))


LAYOUT: Final = Layout(
    lists=frozenset({"conversations", "chat_messages"}),
    nested=frozenset({"conversations"}),
    names=frozenset({"conversations", "uuid"}),
    node=_node,
)

_ROLES: Final = {"human": "user", "assistant": "assistant"}
_KNOWN: Final = frozenset({"text", "thinking", "tool_use", "tool_result", *PICTURES})


class _Reader(Records):
    name = NAME
    id_at = ("uuid",)
    time_at = ("created_at", "updated_at")

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._left: set[int] = set()

    def opens(self, one: Opened, /) -> Iterator[Event]:
        """A conversation is its messages, and what was summed up of it."""
        self.count += 1
        if "chat_messages" not in one.holds:
            return
        self.session = ident(one.header.get("uuid"))
        self.facts = {"title": text_at(one.header, "name") or text_at(one.header, "title")}
        self._left = abandoned(one.nodes)
        if summary := text_at(one.header, "summary"):
            piece = Piece(kind=Kind.STATE, src=Src.AGENT, content=summary, facts={"summary": True})
            told = {"uuid": "summary", "created_at": one.header.get("updated_at")}
            yield from self.cast(iter([piece]), told, one.at)

    def closes(self, one: Closed, /) -> Iterator[Event]:
        """A conversation without messages."""
        if one.empty:
            yield Skipped(reason="empty conversation", at=one.at)

    def value(self, one: Value, /) -> Iterator[Event]:
        """One message, or what is no conversation."""
        if one.member == "chat_messages" and isinstance(one.value, Mapping):
            yield from self.cast(self._message(one.value), one.value, one.at)
        else:
            yield from self.events(one.value, one.at)

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """A project and what is remembered of a person have texts of their own."""
        self.count += 1
        if not isinstance(value, Mapping):
            yield Rejected(reason="not an object", at=at)
        elif "conversations_memory" in value or "project_memories" in value:
            yield from self.cast(self._memories(value), value, at)
        elif "docs" in value or "prompt_template" in value:
            yield from self.cast(self._project(value), value, at)
        else:
            yield Skipped(reason="empty conversation" if "chat_messages" in value else "unknown type: none", at=at)

    def facts_of(self, value: Facts) -> Facts:
        names = [text_at(one, "file_name") for name in ("attachments", "files") for one in list_at(value, name)]
        return {
            "parent": text_at(value, "parent_message_uuid"),
            "inactive": Node.name(ident(value.get("uuid"))) in self._left or None,
            "attachments": [name for name in names if name],
        }

    def _message(self, value: Facts) -> Pieces:
        role = _ROLES.get(text_at(value, "sender"))
        if role is None:
            yield Piece.skipped(f"unknown type: sender {ident(value.get('sender')) or 'none'}")
            return
        blocks = [one for one in list_at(value, "content") if text_at(one, "type") in _KNOWN]
        if not blocks:
            yield words(role, text_at(value, "text"))
        for block in blocks:
            yield self._block(role, block)
        for one in list_at(value, "attachments"):
            if text := text_at(one, "extracted_content"):
                yield words("system", text, {"attachment": text_at(one, "file_name")})

    def _block(self, role: str, block: object) -> Piece:
        kind = text_at(block, "type")
        told = block if isinstance(block, Mapping) else {}
        if kind == "thinking":
            return thought(text_at(block, "thinking"))
        if kind == "tool_use":
            return called(text_at(block, "name"), told.get("input"), text_at(block, "id"), self.calls)
        if kind == "tool_result":
            use, bad = text_at(block, "tool_use_id"), told.get("is_error") is True
            return returned(told.get("content"), use, self.calls, name=text_at(block, "name"), bad=bad)
        return words(role, [block])

    def _memories(self, value: Facts) -> Pieces:
        """What the service has noted of a person."""
        texts = [text_at(value, "conversations_memory")]
        projects = value.get("project_memories")
        texts += [
            text for text in (projects.values() if isinstance(projects, Mapping) else ()) if isinstance(text, str)
        ]
        for text in texts:
            yield Piece(kind=Kind.STATE, src=Src.AGENT, content=text, facts={"memory": True})

    def _project(self, value: Facts) -> Pieces:
        """What stands in a project: its instructions and documents."""
        facts = {"project": text_at(value, "name")}
        yield words("system", text_at(value, "prompt_template") or text_at(value, "description"), facts)
        for one in list_at(value, "docs"):
            yield words("system", text_at(one, "content"), {**facts, "document": text_at(one, "filename")})


def sniff(head: bytes) -> bool:
    """Whether the first object is a conversation, a project or a memory of the export."""
    return any(
        "chat_messages" in one or "conversations_memory" in one or ("prompt_template" in one and "uuid" in one)
        for one in first(head, "conversations")[:1]
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one export, streamed by conversation."""
    yield from walk(source, LAYOUT, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Claude.ai export (JSON, zip)", sniff=sniff, read=read)
