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
from alveus.importers.entries import Closed, Layout, Opened, Value
from alveus.importers.facts import Facts, facts_at, ident, json_text, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import failed
from alveus.importers.reading import Records, first, walk

NAME: Final = "inspect-ai"
LAYOUT: Final = Layout(
    lists=frozenset({"samples", "messages"}),
    nested=frozenset({"samples"}),
    passed=frozenset({"events"}),
    beside=frozenset({"attachments"}),
    # A sample that was cut has no name: when its messages were, and what they refer to, stands behind them.
    names=frozenset({"samples"}),
)

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")


class _Reader(Records):
    name = NAME
    time_at = ("started_at",)

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._sample: Facts = {}
        self._place = 0
        self._copied = False

    def opens(self, one: Opened, /) -> Iterator[Event]:
        """What the samples of a log have in common, or the messages of a sample."""
        told = facts_at(one.header, "eval")
        self._copied = "scorer" in one.header
        if self._copied:
            yield Skipped(reason="copy of a sample", at=one.at)
        elif "messages" in one.holds:
            self.count += 1
            self._sample, self._place = one.header, 0
            name, epoch = ident(one.header.get("id")), one.header.get("epoch")
            self.session = ident(one.header.get("uuid")) or f"{self.stem}/{name}/{ident(epoch)}"
            self.facts |= {"sample": name, "epoch": epoch}
        elif told:
            about = {
                name: text_at(told, at) for name, at in (("task", "task"), ("eval", "eval_id"), ("model", "model"))
            }
            self.facts = dict(about)

    def value(self, one: Value, /) -> Iterator[Event]:
        """One message of a sample, or what is none."""
        if one.member != "messages":
            yield from () if self._copied else self.events(one.value, one.at)
            return
        beside = self._sample.get("attachments")
        told = facts_at(_put_back(one.value, beside if isinstance(beside, Mapping) else {}))
        message = {"time": self._sample.get("started_at"), "id": f"message-{self._place}", **told}
        self._place += 1
        yield from self.cast(chat.pieces_of(message, self.calls), message, one.at)

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """What has no messages."""
        self.count += 1
        if not isinstance(value, Mapping):
            yield Rejected(reason="not an object", at=at)
        else:
            known = "epoch" in value or "eval" in value or "scorer" in value
            yield Skipped(reason="copy of a sample" if known else "unknown type: none", at=at)

    def closes(self, one: Closed, /) -> Iterator[Event]:
        """How a sample was scored, or failed."""
        self._copied = False
        sample, self._sample = self._sample, {}
        moment = sample.get("completed_at")
        for name, score in facts_at(sample, "scores").items():
            told = facts_at(score)
            text = f"score {name}: {json_text(told.get('value'))}"
            why = text_at(told, "explanation")
            piece = Piece(content=f"{text}\n{why}" if why else text, facts={"score": name})
            yield from self.cast(iter([piece]), {"id": f"score/{name}", "time": moment}, one.at)
        if error := facts_at(sample, "error"):
            message = {"id": "error", "time": moment}
            yield from self.cast(iter([failed(text_at(error, "message"), "sample")]), message, one.at)

    def time_of(self, value: Facts) -> object:
        return value.get("time")

    def facts_of(self, value: Facts) -> Facts:
        return {"model": text_at(value, "model") or self.facts.get("model")}


def _put_back(value: Any, beside: Facts) -> Any:
    """The value with every attachment in the place of its name."""
    if not beside:
        return value
    if isinstance(value, str):
        return _ATTACHMENT.sub(lambda found: text_at({"": beside.get(found[1])}, "") or found[0], value)
    if isinstance(value, list):
        return [_put_back(one, beside) for one in value]
    return {name: _put_back(inner, beside) for name, inner in value.items()} if isinstance(value, Mapping) else value


def sniff(head: bytes) -> bool:
    """Whether the first object is a log, a sample, or one of the members that repeat them."""
    found = [*first(head, "samples")[:1], *first(head)[:1]]
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
