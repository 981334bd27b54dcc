"""ChatGPT's account export: `conversations.json`, alone or in its zip, and single conversations saved from it.

A conversation is a tree of messages. Those on the way from its root to `current_node` are active, the others are
branches that somebody left, marked `inactive`. What says not to be remembered is not; what stands beside the
conversations in the zip (`user.json`: an address, a telephone) is no transcript and is never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.entries import Closed, Layout, Opened, Value
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import ROLES, SILENT, called, failed, returned, thought, words
from alveus.importers.reading import Pieces, Records, first, walk

NAME: Final = "chatgpt"
_WORDS: Final = ("text", "result", "content", "summary", "user_profile", "user_instructions")
_THOUGHTS: Final = frozenset({"thoughts", "reasoning_recap"})


class _Node(NamedTuple):
    """What has to be known of all messages of a tree before the first is told."""

    name: str
    parent: str
    children: tuple[str, ...]

    @classmethod
    def of(cls, name: str, value: object) -> _Node:
        """The node of that name."""
        return cls(name, text_at(value, "parent"), tuple(x for x in list_at(value, "children") if isinstance(x, str)))


def _in_order(nodes: Sequence[_Node]) -> list[int]:
    """Every node after its parent, as the tree is written; nodes that no root leads to come last."""
    places = {node.name: place for place, node in enumerate(nodes)}
    found: dict[int, None] = {}
    stack = [place for place in range(len(nodes) - 1, -1, -1) if nodes[place].parent not in places]
    while stack:
        place = stack.pop()
        if place not in found:
            found[place] = None
            stack += [places[one] for one in reversed(nodes[place].children) if one in places]
    return [*found, *(place for place in range(len(nodes)) if place not in found)]


LAYOUT: Final = Layout(
    lists=frozenset({"conversations"}),
    nested=frozenset({"conversations"}),
    maps=frozenset({"mapping"}),
    names=frozenset({"conversations", "conversation_id", "id"}),
    node=_Node.of,
    order=_in_order,
)


class _Reader(Records):
    name = NAME
    time_at = ("create_time", "update_time")

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._active: set[str] = set()
        self._node: Facts = {}
        self._kept = True

    def opens(self, one: Opened, /) -> Iterator[Event]:
        """A conversation is the messages of its tree, each after the one it answers."""
        self.count += 1
        self._kept = one.header.get("is_do_not_remember") is not True
        if not self._kept:
            yield Skipped(reason="not to be remembered", at=one.at)
        self.session = ident(one.header.get("conversation_id")) or ident(one.header.get("id"))
        self.facts = {"title": one.header.get("title"), "gizmo": one.header.get("gizmo_id")}
        self._active = _upwards(one.nodes, text_at(one.header, "current_node"))

    def closes(self, one: Closed, /) -> Iterator[Event]:
        """A conversation without messages."""
        if one.empty and self._kept:
            yield Skipped(reason="empty conversation", at=one.at)

    def value(self, one: Value, /) -> Iterator[Event]:
        """One message of a tree; what is in none is no conversation."""
        if one.member != "mapping":
            yield from self.events(one.value, one.at)
        elif self._kept:
            self._node = facts_at(one.value)
            if message := facts_at(self._node, "message"):
                yield from self.cast(self._message(message), message, one.at)

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """What has no tree."""
        self.count += 1
        if not isinstance(value, Mapping):
            yield Rejected(reason="not an object", at=at)
        elif value.get("is_do_not_remember") is True:
            yield Skipped(reason="not to be remembered", at=at)
        else:
            yield Skipped(reason="empty conversation" if "mapping" in value else "unknown type: none", at=at)

    def facts_of(self, value: Facts) -> Facts:
        here = text_at(self._node, "id")
        told = facts_at(value, "metadata")
        return {
            "parent": text_at(self._node, "parent"),
            "inactive": (bool(self._active) and here not in self._active) or None,
            "model": text_at(told, "model_slug"),
            "attachments": [text_at(one, "name") or text_at(one, "id") for one in list_at(told, "attachments")],
        }

    def id_of(self, value: Facts) -> str | None:
        return ident(value.get("id")) or ident(self._node.get("id"))

    def _message(self, value: Facts) -> Pieces:
        role, kind = text_at(value, "author", "role"), text_at(value, "content", "content_type")
        content = facts_at(value, "content")
        to = text_at(value, "recipient")
        text = _text(content)
        if role not in ROLES:
            yield Piece.skipped(f"unknown type: role {ident(role) or 'none'}")
        elif facts_at(value, "metadata").get("is_visually_hidden_from_conversation") is True:
            yield Piece.skipped("hidden from the conversation")
        elif kind in _THOUGHTS:
            yield thought(text)
        elif kind == "system_error":
            yield failed(text)
        elif role == "assistant" and kind in ("code", "text") and to not in ("", "all"):
            yield called(to, text, "", self.calls)
        elif role == "tool":
            name = text_at(value, "author", "name")
            bad = text_at(value, "status") == "finished_with_error"
            yield returned(list(_parts(content)) or text or (SILENT if bad else ""), "", self.calls, name=name, bad=bad)
        else:
            # What a user has set for all conversations is told by the user, though the program writes it.
            about = kind == "user_editable_context"
            yield words("user" if about else role, list(_parts(content)) or text, {"about_user": about or None})


def _upwards(nodes: Sequence[_Node], name: str) -> set[str]:
    """The names of the nodes from this one to the root; a circle ends where it closes."""
    parents = {node.name: node.parent for node in nodes}
    seen: set[str] = set()
    while name and name in parents and name not in seen:
        seen.add(name)
        name = parents[name]
    return seen


def _parts(content: Facts) -> Iterator[object]:
    for one in list_at(content, "parts"):
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            yield _pointer(one)


def _pointer(part: Facts) -> str:
    """A picture or a sound: the export names it, and keeps it in a file of its own."""
    what = text_at(part, "content_type").removesuffix("_asset_pointer") or "part"
    where = text_at(part, "asset_pointer") or text_at(part, "audio_asset_pointer", "asset_pointer")
    if where:
        return f"[{what} {where}]"
    return text_at(part, "text") or json_text(part)


def _text(content: Facts) -> str:
    told = [text_at(content, name) for name in _WORDS]
    told += ["\n".join(one for one in list_at(content, "parts") if isinstance(one, str))]
    told += [f"{text_at(one, 'summary')}\n{text_at(one, 'content')}".strip() for one in list_at(content, "thoughts")]
    return "\n".join(one for one in told if one.strip())


def sniff(head: bytes) -> bool:
    """Whether the first object is a conversation: a tree under `mapping`."""
    return any(isinstance(one.get("mapping"), Mapping) for one in first(head, "conversations")[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one export, streamed by conversation."""
    yield from walk(source, LAYOUT, _Reader(source))


FORMAT: Final = Format(name=NAME, title="ChatGPT export (JSON, zip)", sniff=sniff, read=read)
