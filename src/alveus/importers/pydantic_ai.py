"""Pydantic-AI's histories: a list of requests and responses with parts, as `ModelMessagesTypeAdapter` dumps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Source
from alveus.importers.entries import Layout
from alveus.importers.facts import Facts, facts_at, json_text, list_at, text_at
from alveus.importers.reading import first

NAME: Final = "pydantic-ai"
LAYOUT: Final = Layout(lists=frozenset({"messages"}))

_KINDS: Final = {"request": "user", "response": "assistant"}


def _message(message: Facts) -> Facts:
    role = _KINDS.get(text_at(message, "kind"))
    if role is None:
        return message
    parts = [one for part in list_at(message, "parts") for one in _part(facts_at(part))]
    stamps = [facts_at(part).get("timestamp") for part in list_at(message, "parts")]
    return {
        "role": role,
        "content": parts,
        "session": message.get("conversation_id"),
        "time": message.get("timestamp") or next((one for one in stamps if one), None),
        "model": message.get("model_name"),
        chat.FACTS: {"run": text_at(message, "run_id")},
    }


def _part(part: Facts) -> Iterator[object]:
    yield _PARTS.get(text_at(part, "part_kind"), _other)(part)


def _words(role: str) -> Callable[[Facts], object]:
    def part(told: Facts) -> object:
        content = told.get("content")
        texts = [_inside(one) for one in content] if isinstance(content, list) else [_inside(content)]
        return {"type": "text", "role": role, "text": "\n".join(texts)}

    return part


def _inside(one: object) -> str:
    """A text, or a picture or document that is named by its kind and its address."""
    if isinstance(one, str):
        return one
    if data := text_at(one, "data"):
        return f"data:{text_at(one, 'media_type')};base64,{data}"
    return f"[{text_at(one, 'kind') or 'part'} {text_at(one, 'url') or json_text(one)}]"


def _thinking(part: Facts) -> object:
    return {"type": "thinking", "text": text_at(part, "content")}


def _called(part: Facts) -> object:
    return {
        "type": "tool_use",
        "name": text_at(part, "tool_name"),
        "input": part.get("args"),
        "id": text_at(part, "tool_call_id"),
    }


def _returned(part: Facts) -> object:
    bad = text_at(part, "outcome") in ("failed", "denied") or text_at(part, "part_kind") == "retry-prompt"
    return {
        "type": "tool_result",
        "name": text_at(part, "tool_name"),
        "content": part.get("content"),
        "tool_use_id": text_at(part, "tool_call_id"),
        "is_error": bad,
    }


def _other(part: Facts) -> object:
    return {"type": text_at(part, "part_kind") or "none", **part}


_PARTS: Final[Mapping[str, Callable[[Facts], object]]] = {
    "system-prompt": _words("system"),
    "user-prompt": _words("user"),
    "text": _words("assistant"),
    "thinking": _thinking,
    "tool-call": _called,
    "builtin-tool-call": _called,
    "tool-return": _returned,
    "builtin-tool-return": _returned,
    "retry-prompt": _returned,
}
_DIALECT: Final = chat.Dialect(name=NAME, layout=LAYOUT, common=_message)


def sniff(head: bytes) -> bool:
    """Whether the first object is a request or response with parts that name their kind."""
    return any(
        text_at(one, "kind") in _KINDS and any("part_kind" in facts_at(part) for part in list_at(one, "parts"))
        for one in first(head, *LAYOUT.lists)[:1]
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one history, streamed."""
    return chat.read(_DIALECT, source)


FORMAT: Final = Format(name=NAME, title="Pydantic-AI messages (JSON)", sniff=sniff, read=read)
