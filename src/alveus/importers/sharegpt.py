"""ShareGPT's conversations, which training sets are made of: `{"conversations": [{"from": …, "value": …}]}`.

They have no ids and no times: a conversation is known by its number in the file and by its opening.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Source
from alveus.importers.entries import Layout
from alveus.importers.facts import Facts, list_at, text_at
from alveus.importers.reading import first

NAME: Final = "sharegpt"
LAYOUT: Final = Layout(lists=frozenset({"conversations"}), nested=frozenset({"conversations"}))

_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("gpt", "assistant", "chatgpt", "model", "bing", "bard"), "assistant"),
    "system": "system",
    **dict.fromkeys(("observation", "tool", "function"), "tool"),
}


def _turn(turn: Facts) -> Facts:
    speaker, value = text_at(turn, "from"), text_at(turn, "value")
    if speaker == "function_call":
        return {"role": "assistant", "content": [{"type": "tool_call", "value": value}]}
    return {"role": _ROLES.get(speaker, speaker), "content": value} if speaker else turn


_DIALECT: Final = chat.Dialect(name=NAME, layout=LAYOUT, common=_turn)


def sniff(head: bytes) -> bool:
    """Whether the first object is a turn, or a conversation of turns."""
    found = first(head, *LAYOUT.lists)[:1]
    return any(_is_turn(one) or any(map(_is_turn, list_at(one, "conversations"))) for one in found)


def _is_turn(value: object) -> bool:
    return bool(text_at(value, "from")) and isinstance(value, Mapping) and "value" in value


def read(source: Source) -> Iterator[Event]:
    """The events of one file, streamed."""
    return chat.read(_DIALECT, source)


FORMAT: Final = Format(name=NAME, title="ShareGPT conversations (JSON or JSONL)", sniff=sniff, read=read)
