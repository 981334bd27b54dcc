"""Pi's sessions: a header, then entries that are a tree by `id` and `parentId`. OpenClaw's are of the same family.

Going back in a session begins a branch; the branch that was written on last is the active one, the others are marked
`inactive`. A compaction is an entry with the agent's summary. What an extension shows to the model alone is no memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source
from alveus.importers.branches import Node, abandoned_in
from alveus.importers.facts import Facts, facts_at, ident, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, changed_model, compacted, failed, moved, returned, thought, words
from alveus.importers.reading import PLAIN, Pieces, Records, Row, first, many, walk
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "pi"

_ENTRIES: Final = frozenset({"message", "model_change", "compaction", "custom", "custom_message", "branch_summary"})
_SILENT: Final = frozenset({"NO_REPLY", "HEARTBEAT_OK"})
_HOUSEKEEPING: Final = ("Read HEARTBEAT.md", "Pre-compaction memory flush")
_NUMBERS: Final = ("tokensBefore", "firstKeptEntryId", "fromHook")


class Reader(Records):
    """The state of one reading."""

    # One name for the whole family: where a file lies must not change who its items are.
    name = "pi-session"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._left = abandoned_in(source, lambda one: Node.of(ident(one.get("id")), ident(one.get("parentId"))))

    def facts_of(self, value: Facts) -> Facts:
        inactive = Node.name(ident(value.get("id"))) in self._left
        return {"parent": text_at(value, "parentId"), "inactive": inactive or None}

    def header(self, value: Facts) -> Pieces:
        """The session's name, place and origin."""
        self.session = ident(value.get("id")) or self.session
        self.facts |= {"cwd": text_at(value, "cwd")}
        if parent := text_at(value, "parentSession"):
            yield moved(f"session {self.session} was forked from {parent}", {"parent_session": parent})
        else:
            yield Piece.skipped("bookkeeping: session")

    def message(self, value: Facts) -> Pieces:
        """What somebody said, or a tool gave back."""
        told = facts_at(value, "message")
        role = text_at(told, "role")
        if role == "toolResult":
            use, bad = text_at(told, "toolCallId"), told.get("isError") is True
            yield returned(told.get("content"), use, self.calls, name=text_at(told, "toolName"), bad=bad)
        elif role == "bashExecution":
            text = f"$ {text_at(told, 'command')}\n{text_at(told, 'output')}"
            yield Piece(src=Src.TOOL, content=text, facts={"tool": "bash", "exit_code": told.get("exitCode")})
        elif role == "assistant":
            yield from self._answer(told)
        elif role in ("user", "system"):
            piece = words(role, told.get("content"))
            housekeeping = piece.content.startswith(_HOUSEKEEPING)
            yield Piece.skipped("housekeeping of the program") if housekeeping else piece
        else:
            yield Piece.skipped(f"unknown type: role {ident(role) or 'none'}")

    def _answer(self, told: Facts) -> Pieces:
        content = told.get("content")
        facts = {"model": text_at(told, "model")}
        for block in content if isinstance(content, list) else [content]:
            kind = text_at(block, "type")
            if kind == "toolCall":
                given = facts_at(block).get("arguments")
                yield called(text_at(block, "name"), given, text_at(block, "id"), self.calls)
            elif kind == "thinking":
                yield thought(text_at(block, "thinking"))
            else:
                piece = words("assistant", block, facts)
                silent = piece.content.strip() in _SILENT
                yield Piece.skipped("housekeeping of the program") if silent else piece
        if text_at(told, "stopReason") in ("error", "aborted"):
            yield failed(text_at(told, "errorMessage"), text_at(told, "stopReason"))

    def custom_message(self, value: Facts) -> Pieces:
        """What an extension adds: kept when it is shown to people."""
        shown = value.get("display") is not False
        yield words("system", value.get("content")) if shown else Piece.skipped("harness context: custom_message")

    def model(self, value: Facts) -> Pieces:
        """The agent goes on as another model."""
        model, before = text_at(value, "modelId"), str(self.facts.get("model") or "")
        self.facts["model"] = model
        changed = before and before != model
        yield changed_model(model, before) if changed else Piece.skipped("bookkeeping: model_change")

    def compaction(self, value: Facts) -> Pieces:
        """The agent's summary takes the place of what was said."""
        yield compacted(text_at(value, "summary"), {name: value.get(name) for name in _NUMBERS})

    def branch(self, value: Facts) -> Pieces:
        """What was done on a branch that was left."""
        facts = {"summary": True, "left_branch": text_at(value, "fromId")}
        yield Piece(kind=Kind.STATE, src=Src.AGENT, content=text_at(value, "summary"), facts=facts)

    def reset(self, value: Facts) -> Pieces:
        """The conversation begins anew."""
        yield moved(text_at(value, "reason") or "the session was reset")

    table: ClassVar[Mapping[str, Row]] = {
        "session": header,
        "message": message,
        "custom_message": custom_message,
        "model_change": model,
        "compaction": compaction,
        "branch_summary": branch,
        "reset": reset,
        **many("custom thinking_level_change label session_info leaf", "bookkeeping"),
    }


def sniff(head: bytes) -> bool:
    """Whether there is a header of a session, or an entry of its tree."""
    return any(
        (text_at(one, "type") == "session" and "version" in one and "id" in one)
        or (text_at(one, "type") in _ENTRIES and "parentId" in one and "data" not in one)
        for one in first(head)
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one session, streamed."""
    yield from walk(source, PLAIN, Reader(source))


FORMAT: Final = Format(name=NAME, title="Pi session (JSONL)", sniff=sniff, read=read)
