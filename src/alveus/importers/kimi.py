"""Kimi's wire files: `~/.kimi/sessions/<folder>/<session>/wire.jsonl`, the operations of one session.

All that the model says is in `context.append_loop_event`; who reads messages alone sees the user alone. A prompt is an
operation and then a message: the message is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source
from alveus.importers.facts import Facts, facts_at, ident, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, changed_model, compacted, failed, returned, thought, words
from alveus.importers.reading import PLAIN, Pieces, Records, Row, first, many, walk
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "kimi"

_LOOP: Final = "context.append_loop_event"
_NOTES: Final = (
    "metadata tools.set_active_tools llm.tools_snapshot llm.request usage.record permission.set_mode profile.bind"
    " turn.ended plugin.session_start runtime.set_binding token_counting.measured token_counting.turn_recorded"
    " plan_mode.enter plan_mode.exit full_compaction.begin full_compaction.complete"
)
_NUMBERS: Final = ("tokensBefore", "tokensAfter", "compactedCount", "keptUserMessageCount")


class _Reader(Records):
    name = NAME
    id_at = ()
    time_at = ("time", "created_at")

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        # Only the folder names the session, and only where the file lies at its place.
        self.session = ident(source.path.parent.name) if source.path.name == "wire.jsonl" else None

    def kind(self, value: Facts) -> str:
        kind = text_at(value, "type")
        return f"{kind}/{text_at(value, 'event', 'type')}" if kind == _LOOP else kind

    def id_of(self, value: Facts) -> str | None:
        event = facts_at(value, "event")
        call = ident(event.get("toolCallId"))
        if text_at(event, "type") == "tool.result" and call:
            return f"{call}/output"
        return ident(event.get("uuid")) or call

    def facts_of(self, value: Facts) -> Facts:
        return {"turn": text_at(value, "event", "turnId")}

    def message(self, value: Facts) -> Pieces:
        """What was put before the model: a person's words, or what the program adds."""
        told = facts_at(value, "message")
        role, origin = text_at(told, "role"), text_at(told, "origin", "kind")
        if origin not in ("", "user"):
            yield Piece.skipped(f"harness context: {ident(origin)}")
        elif role in ("user", "assistant", "system"):
            yield words(role, told.get("content"))
        else:
            yield Piece.skipped(f"unknown type: role {ident(role) or 'none'}")

    def part(self, value: Facts) -> Pieces:
        """A thought, or words."""
        told = facts_at(value, "event", "part")
        yield thought(text_at(told, "think")) if text_at(told, "type") == "think" else words("assistant", [told])

    def call(self, value: Facts) -> Pieces:
        """A tool is called."""
        told = facts_at(value, "event")
        yield called(text_at(told, "name"), told.get("args"), text_at(told, "toolCallId"), self.calls)

    def result(self, value: Facts) -> Pieces:
        """What a tool gave back."""
        told = facts_at(value, "event")
        out = facts_at(told, "result")
        yield returned(out.get("output"), text_at(told, "toolCallId"), self.calls, bad=out.get("isError") is True)

    def permission(self, value: Facts) -> Pieces:
        """The user accepted a plan, or refused a call; leave for a single call is bookkeeping."""
        decided = text_at(value, "result", "decision")
        known = self.calls.of(text_at(value, "toolCallId"))
        facts = {"tool": text_at(value, "toolName"), "decision": decided}
        if decided == "approved" and known and known.plan:
            yield Piece(kind=Kind.DECISION, src=Src.AGENT, content=known.plan, facts={**facts, "accepted_by": "user"})
        elif decided in ("rejected", "denied"):
            yield Piece(kind=Kind.DECISION, src=Src.USER, content=f"{decided}: {text_at(value, 'action')}", facts=facts)
        else:
            yield Piece.skipped("bookkeeping: permission")

    def cancelled(self, value: Facts) -> Pieces:
        """A turn was stopped."""
        yield failed(text_at(value, "reason") or "the turn was cancelled", "turn.cancel")

    def settings(self, value: Facts) -> Pieces:
        """Only a change of the model is remembered."""
        model, before = text_at(value, "modelAlias"), str(self.facts.get("model") or "")
        self.facts["model"] = model or before
        changed = model and before and model != before
        yield changed_model(model, before) if changed else Piece.skipped("bookkeeping: config.update")

    def compaction(self, value: Facts) -> Pieces:
        """The agent's own summary takes the place of what was said."""
        yield compacted(text_at(value, "summary"), {name: value.get(name) for name in _NUMBERS})

    table: ClassVar[Mapping[str, Row]] = {
        "context.append_message": message,
        f"{_LOOP}/content.part": part,
        f"{_LOOP}/tool.call": call,
        f"{_LOOP}/tool.result": result,
        f"{_LOOP}/step.begin": "bookkeeping",
        f"{_LOOP}/step.end": "bookkeeping",
        "context.apply_compaction": compaction,
        "permission.record_approval_result": permission,
        "turn.cancel": cancelled,
        "config.update": settings,
        "turn.prompt": "copy of a message",
        "turn.steer": "copy of a message",
        **many(_NOTES, "bookkeeping"),
    }


def sniff(head: bytes) -> bool:
    """Whether there are operations of this protocol."""
    return any("." in text_at(one, "type") and _Reader.table.keys() & {text_at(one, "type")} for one in first(head))


def read(source: Source) -> Iterator[Event]:
    """The events of one session, streamed."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Kimi wire file (JSONL)", sniff=sniff, read=read)
