"""Copilot CLI's events: `~/.copilot/session-state/<id>/events.jsonl`, or one flat file a session before 1.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, changed_model, compacted, failed, moved, returned, thought, words
from alveus.importers.reading import PLAIN, Pieces, Records, Row, first, many, walk
from alveus.journal.record import Source as Src

NAME: Final = "copilot-cli"

_NOTES: Final = (
    "assistant.turn_start assistant.turn_end session.auto_mode_resolved session.usage_checkpoint session.shutdown"
    " session.compaction_start subagent.completed subagent.selected"
)
_TRUNCATION: Final = ("tokenLimit", "preTruncationTokensInMessages", "postTruncationTokensInMessages", "performedBy")


class _Reader(Records):
    name = NAME

    def facts_of(self, value: Facts) -> Facts:
        told = facts_at(value, "data")
        return {"parent": text_at(value, "parentId"), "under_call": text_at(told, "parentToolCallId")}

    def start(self, value: Facts) -> Pieces:
        """The session's name and place."""
        told = facts_at(value, "data")
        self.session = ident(told.get("sessionId")) or self.session
        self.facts |= {
            "cwd": text_at(told, "context", "cwd"),
            "git_branch": text_at(told, "context", "branch"),
            "model": text_at(told, "selectedModel"),
        }
        yield Piece.skipped("bookkeeping: session.start")

    def model(self, value: Facts) -> Pieces:
        """The agent goes on as another model."""
        told = facts_at(value, "data")
        self.facts["model"] = text_at(told, "newModel")
        yield changed_model(text_at(told, "newModel"), text_at(told, "previousModel"))

    def user(self, value: Facts) -> Pieces:
        """What a person typed; what was attached is named."""
        told = facts_at(value, "data")
        names = [text_at(one, "path") or text_at(one, "displayName") for one in list_at(told, "attachments")]
        yield words("user", text_at(told, "content"), {"attachments": [name for name in names if name]})

    def system(self, value: Facts) -> Pieces:
        """What the program says to the model."""
        yield words("system", text_at(value, "data", "content"))

    def assistant(self, value: Facts) -> Pieces:
        """What the agent thought, said and called."""
        told = facts_at(value, "data")
        if text := text_at(told, "reasoningText"):
            yield thought(text)
        if text := text_at(told, "content"):
            yield words("assistant", text, {"model": text_at(told, "model")})
        for one in list_at(told, "toolRequests"):
            yield called(text_at(one, "name"), facts_at(one).get("arguments"), text_at(one, "toolCallId"), self.calls)

    def reasoning(self, value: Facts) -> Pieces:
        """What the agent thought, as an event of its own."""
        yield thought(text_at(value, "data", "content"))

    def result(self, value: Facts) -> Pieces:
        """What a tool gave back."""
        told = facts_at(value, "data")
        out = facts_at(told, "result")
        text = text_at(out, "content") or text_at(out, "detailedContent") or text_at(told, "error", "message")
        yield returned(text, text_at(told, "toolCallId"), self.calls, bad=told.get("success") is False)

    def started(self, value: Facts) -> Pieces:
        """Work goes to another agent."""
        told = facts_at(value, "data")
        text = text_at(told, "agentDescription") or text_at(told, "agentDisplayName")
        yield moved(text, {"to": text_at(told, "agentName"), "tool_use_id": text_at(told, "toolCallId")}, Src.AGENT)

    def error(self, value: Facts) -> Pieces:
        """What went wrong."""
        told = facts_at(value, "data")
        yield failed(
            text_at(told, "message"), text_at(told, "errorType") or "error", {"status": told.get("statusCode")}
        )

    def aborted(self, value: Facts) -> Pieces:
        """The user stopped the agent."""
        yield failed(text_at(value, "data", "reason"), "abort")

    def truncated(self, value: Facts) -> Pieces:
        """What was said is cut to fit the model."""
        told = facts_at(value, "data")
        yield compacted("", {name: told.get(name) for name in _TRUNCATION})

    def summed_up(self, value: Facts) -> Pieces:
        """What was said is replaced by a summary."""
        told = facts_at(value, "data")
        yield compacted(text_at(told, "summaryContent") or text_at(told, "summary"))

    table: ClassVar[Mapping[str, Row]] = {
        "session.start": start,
        "session.resume": start,
        "session.model_change": model,
        "session.error": error,
        "session.truncation": truncated,
        "session.compaction_complete": summed_up,
        "session.info": system,
        "system.message": system,
        "system.notification": system,
        "user.message": user,
        "assistant.message": assistant,
        "assistant.reasoning": reasoning,
        "tool.execution_complete": result,
        "subagent.started": started,
        "abort": aborted,
        "tool.execution_start": "copy of a call",
        "hook.start": "echo of a hook",
        "hook.end": "echo of a hook",
        **many(_NOTES, "bookkeeping"),
    }


def sniff(head: bytes) -> bool:
    """Whether there are events with data under one of the known types."""
    return any(text_at(one, "type") in _Reader.table and "data" in one and "timestamp" in one for one in first(head))


def read(source: Source) -> Iterator[Event]:
    """The events of one session, streamed."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Copilot CLI events (JSONL)", sniff=sniff, read=read)
