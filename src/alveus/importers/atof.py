"""ATOF, the event stream of NVIDIA's NeMo relay, which Hermes writes: scopes that start and end, and marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source
from alveus.importers.facts import Facts, facts_at, ident, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, failed, moved, returned, words
from alveus.importers.reading import PLAIN, Pieces, Records, Row, first, many, walk
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "atof"

_OUTPUTS: Final = ("stdout", "output", "result", "content")


class _Reader(Records):
    name = NAME

    def kind(self, value: Facts) -> str:
        kind = text_at(value, "kind")
        if kind == "mark":
            return f"mark/{text_at(value, 'name').partition('.')[2]}"
        return "/".join((kind, text_at(value, "category"), text_at(value, "scope_category")))

    def id_of(self, value: Facts) -> str | None:
        own, half = ident(value.get("uuid")), text_at(value, "scope_category")
        return f"{own}/{half}" if own and half else own

    def session_of(self, value: Facts) -> str | None:
        return ident(facts_at(value, "metadata").get("session_id"))

    def facts_of(self, value: Facts) -> Facts:
        told = facts_at(value, "metadata")
        return {
            "parent": text_at(value, "parent_uuid"),
            "model": text_at(told, "model"),
            "platform": text_at(told, "platform"),
            "turn": text_at(told, "turn_id"),
        }

    def asked(self, value: Facts) -> Pieces:
        """What was put to the model."""
        yield words("user", facts_at(value, "data").get("content"))

    def answered(self, value: Facts) -> Pieces:
        """What the model answered, or how it failed."""
        told = facts_at(value, "data")
        if "error" in told:
            yield failed(text_at(told, "error") or text_at(told, "error", "message"), "llm")
        else:
            yield words("assistant", told.get("assistant_message"))

    def call(self, value: Facts) -> Pieces:
        """A tool is called."""
        use = text_at(value, "metadata", "tool_call_id")
        yield called(text_at(value, "name"), dict(facts_at(value, "data")), use, self.calls)

    def result(self, value: Facts) -> Pieces:
        """What a tool gave back."""
        told, use = facts_at(value, "data"), text_at(value, "metadata", "tool_call_id")
        out = next((told[name] for name in _OUTPUTS if told.get(name)), None) or text_at(told, "error")
        bad = "error" in told or text_at(value, "metadata", "status") in ("error", "failed")
        yield returned(out, use, self.calls, name=text_at(value, "name"), bad=bad)

    def approved(self, value: Facts) -> Pieces:
        """The user let a tool run, or did not."""
        told = facts_at(value, "data")
        word = "approved" if told.get("approved") is True else "denied"
        content = f"{word}: {text_at(told, 'tool_name') or text_at(told, 'approval_id')}"
        yield Piece(kind=Kind.DECISION, src=Src.USER, content=content, facts={"decision": word})

    def started(self, value: Facts) -> Pieces:
        """Work goes to another agent."""
        told = facts_at(value, "data")
        to = text_at(told, "child_session_id")
        yield moved(f"started {text_at(told, 'child_role') or 'an agent'}: {to}", {"to": to}, Src.AGENT)

    table: ClassVar[Mapping[str, Row]] = {
        "scope/llm/start": asked,
        "scope/llm/end": answered,
        "scope/tool/start": call,
        "scope/tool/end": result,
        "mark/approval.response": approved,
        "mark/subagent.start": started,
        **many(
            "scope/agent/start scope/agent/end mark/approval.request mark/session.end mark/session.start", "bookkeeping"
        ),
    }


def sniff(head: bytes) -> bool:
    """Whether there are events that name their version."""
    return any("atof_version" in one and "kind" in one for one in first(head)[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one stream."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="ATOF event stream (JSONL)", sniff=sniff, read=read)
