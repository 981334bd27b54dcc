"""Logs of inspect-ai: one JSON object, or an `.eval`, which is a zip with a member for each sample.

A sample is a conversation, and what it was scored. Long texts lie beside it under their hash; they are put back. The
other members of an `.eval` repeat what the samples say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.entries import Layout
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import failed
from alveus.importers.reading import Records, first, walk

NAME: Final = "inspect-ai"
LAYOUT: Final = Layout(lists=frozenset({"samples"}))

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")


class _Reader(Records):
    name = NAME
    time_at = ("started_at",)

    def opens(self, header: Facts) -> None:
        """What the samples of a log have in common."""
        told = facts_at(header, "eval")
        self.facts = {"task": text_at(told, "task"), "eval": text_at(told, "eval_id"), "model": text_at(told, "model")}

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """The messages of one sample, and its scores."""
        self.count += 1
        if not isinstance(value, Mapping):
            yield Rejected(reason="not an object", at=at)
        elif "messages" not in value:
            known = "epoch" in value or "eval" in value or "scorer" in value
            yield Skipped(reason="copy of a sample" if known else "unknown type: none", at=at)
        else:
            yield from self._sample(value, at)

    def _sample(self, value: Facts, at: Span) -> Iterator[Event]:
        self.session = ident(value.get("uuid")) or f"{self.stem}/{ident(value.get('id'))}/{ident(value.get('epoch'))}"
        self.facts |= {"sample": ident(value.get("id")), "epoch": value.get("epoch")}
        beside = facts_at(value, "attachments")
        for place, one in enumerate(list_at(value, "messages")):
            message = {"time": value.get("started_at"), "id": f"message-{place}", **facts_at(_put_back(one, beside))}
            yield from self.cast(chat.pieces_of(message, self.calls), message, at)
        for name, score in facts_at(value, "scores").items():
            told = facts_at(score)
            text = f"score {name}: {json_text(told.get('value'))}"
            why = text_at(told, "explanation")
            piece = Piece(content=f"{text}\n{why}" if why else text, facts={"score": name})
            yield from self.cast(iter([piece]), {"id": f"score/{name}", "time": value.get("completed_at")}, at)
        if error := facts_at(value, "error"):
            message = {"id": "error", "time": value.get("completed_at")}
            yield from self.cast(iter([failed(text_at(error, "message"), "sample")]), message, at)

    def time_of(self, value: Facts) -> object:
        return value.get("time")

    def facts_of(self, value: Facts) -> Facts:
        return {"model": text_at(value, "model") or self.facts.get("model")}


def _put_back(value: Any, beside: Facts) -> Any:
    """The value with every attachment in the place of its name."""
    if not beside:
        return value
    if isinstance(value, str):
        return _ATTACHMENT.sub(lambda found: text_at(beside, found[1]) or found[0], value)
    if isinstance(value, list):
        return [_put_back(one, beside) for one in value]
    return {name: _put_back(inner, beside) for name, inner in value.items()} if isinstance(value, Mapping) else value


def sniff(head: bytes) -> bool:
    """Whether the first object is a log, a sample, or one of the members that repeat them."""
    found = [*first(head, LAYOUT)[:1], *first(head)[:1]]
    return any(
        ("eval" in one and "plan" in one)
        or ("epoch" in one and "target" in one and "input" in one)
        or ("scorer" in one and "samples" in one)
        for one in found
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one log, streamed by sample."""
    yield from walk(source, LAYOUT, _Reader(source))


FORMAT: Final = Format(name=NAME, title="inspect-ai log (JSON, .eval)", sniff=sniff, read=read)
