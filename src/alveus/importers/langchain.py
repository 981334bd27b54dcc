"""LangChain's messages, as `messages_to_dict` and as `dumpd` write them. A dump is read as data and never loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Source
from alveus.importers.entries import Layout
from alveus.importers.facts import Facts, facts_at, list_at, text_at
from alveus.importers.reading import first

NAME: Final = "langchain"
LAYOUT: Final = Layout(lists=frozenset({"messages"}))

_ROLES: Final[Mapping[str, str]] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "remove": "",
}
_CHUNK: Final = "MessageChunk"


def common(message: Facts) -> Facts:
    """A message of either serialisation in the common form; another object as it is."""
    told = facts_at(message, "data") or facts_at(message, "kwargs")
    kind = text_at(told, "type") or text_at(message, "type")
    role = _ROLES.get(kind.removesuffix(_CHUNK).casefold(), "") or text_at(told, "role")
    if not told or not role:
        return message
    return {**told, "role": role, "content": _content(told), "tool_calls": None, "metadata": None}


def _content(told: Facts) -> list[object]:
    content = told.get("content")
    parts = list(content) if isinstance(content, list) else [content] if content else []
    calls = list_at(told, "tool_calls")
    # Where the calls are told apart, the blocks that they were told from say them again.
    kept = [part for part in parts if not (calls and text_at(part, "type") == "tool_use")]
    made = [
        {"type": "tool_use", "name": text_at(one, "name"), "input": facts_at(one).get("args"), "id": text_at(one, "id")}
        for one in calls
    ]
    return [*kept, *made]


_DIALECT: Final = chat.Dialect(name=NAME, layout=LAYOUT, common=common)


def is_message(value: object) -> bool:
    """Whether the object is a message of either serialisation."""
    kinds = list_at(value, "id")
    dumped = facts_at(value).get("lc") == 1 and bool(kinds) and str(kinds[-1]).endswith(("Message", _CHUNK))
    return dumped or (text_at(value, "type") in _ROLES and "content" in facts_at(value, "data"))


def sniff(head: bytes) -> bool:
    """Whether the first object is such a message, or holds a list of them."""
    found = first(head, *LAYOUT.lists)[:1]
    return any(is_message(one) or any(map(is_message, list_at(one, "messages"))) for one in found)


def read(source: Source) -> Iterator[Event]:
    """The events of one file, streamed."""
    return chat.read(_DIALECT, source)


FORMAT: Final = Format(name=NAME, title="LangChain messages (JSON)", sniff=sniff, read=read)
