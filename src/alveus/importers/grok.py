"""Grok's account export: conversations with their responses, each of which may lie in a wrapper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Source
from alveus.importers.entries import Layout
from alveus.importers.facts import Facts, facts_at, ident, text_at
from alveus.importers.reading import first

NAME: Final = "grok"
LAYOUT: Final = Layout(
    lists=frozenset({"conversations", "responses"}),
    nested=frozenset({"conversations"}),
    names=frozenset({"conversations", "conversation"}),
)

_IDS: Final = ("_id", "id", "response_id")


def _response(one: Facts) -> Facts:
    told = facts_at(one, "response") or one
    human = text_at(told, "sender").casefold() == "human"
    return {
        "role": "user" if human else "assistant",
        "content": text_at(told, "message"),
        "id": chat.first_id(told, _IDS),
        "time": _moment(told.get("create_time")),
        "model": told.get("model"),
        chat.FACTS: {"parent": text_at(told, "parent_response_id")},
    }


def _moment(value: object) -> object:
    """A time as it is, or out of the wrapper that a database put it in."""
    wrapped = facts_at(value, "$date").get("$numberLong") or facts_at(value).get("$date")
    return wrapped or value


def _about(value: Facts) -> Facts:
    return {"title": text_at(value, "conversation", "title")}


def _session(value: Facts) -> str | None:
    return ident(facts_at(value, "conversation").get("id"))


_DIALECT: Final = chat.Dialect(name=NAME, layout=LAYOUT, common=_response, about=_about, session=_session)


def sniff(head: bytes) -> bool:
    """Whether the first object is a conversation with its responses."""
    return any("conversation" in one and "responses" in one for one in first(head, "conversations")[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one export, streamed by conversation."""
    return chat.read(_DIALECT, source)


FORMAT: Final = Format(name=NAME, title="Grok export (JSON)", sniff=sniff, read=read)
