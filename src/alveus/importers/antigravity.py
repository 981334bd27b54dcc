"""Antigravity's transcripts, the successor of Gemini CLI: `brain/<id>/.system_generated/logs/transcript.jsonl`.

A step has a number, a source and a type. What the model called is in its answers; a step of another type that comes
from the model is what the tool of that name gave back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, compacted, failed, parsed, thought, words
from alveus.importers.reading import PLAIN, Pieces, Records, Row, first, walk
from alveus.journal.record import Source as Src

NAME: Final = "antigravity"

_REQUEST = re.compile(r"<USER_REQUEST>\n?(.*?)\n?</USER_REQUEST>", re.DOTALL)
_PLACED: Final = -4


class _Reader(Records):
    name = NAME
    id_at = ()
    time_at = ("created_at",)

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        parts = source.path.parts
        # brain/<id>/.system_generated/logs/transcript.jsonl: only the folder names the session.
        self.session = ident(parts[_PLACED]) if parts[-3:-1] == (".system_generated", "logs") else None

    def kind(self, value: Facts) -> str:
        kind = text_at(value, "type")
        if kind not in self.table and text_at(value, "source") == "MODEL":
            return "result"
        return kind

    def id_of(self, value: Facts) -> str | None:
        # A step may be written in several lines: its number, and the line's place.
        return f"{ident(value.get('step_index')) or 'step'}-{self.count}"

    def facts_of(self, value: Facts) -> Facts:
        return {"cut": list_at(value, "truncated_fields")}

    def user(self, value: Facts) -> Pieces:
        """What was asked; the settings that were changed with it are the program's."""
        text = text_at(value, "content")
        asked = _REQUEST.search(text)
        yield words("user", asked[1] if asked else text)

    def answer(self, value: Facts) -> Pieces:
        """What the agent thought, said and called."""
        yield thought(text_at(value, "thinking"))
        if text := text_at(value, "content"):
            yield words("assistant", text)
        for one in list_at(value, "tool_calls"):
            given = {name: parsed(inner) for name, inner in facts_at(one, "args").items()}
            yield called(text_at(one, "name"), given, "", self.calls)

    def result(self, value: Facts) -> Pieces:
        """What a tool gave back."""
        tool = text_at(value, "type").casefold()
        if text_at(value, "status") == "ERROR":
            yield failed(text_at(value, "content"), tool)
        else:
            yield Piece(src=Src.TOOL, content=text_at(value, "content"), facts={"tool": tool})

    def checkpoint(self, value: Facts) -> Pieces:
        """A compaction, and what the agent goes on from."""
        yield compacted(text_at(value, "content"))

    def note(self, value: Facts) -> Pieces:
        """What the program says to the model."""
        yield words("system", text_at(value, "content"))

    table: ClassVar[Mapping[str, Row]] = {
        "USER_INPUT": user,
        "PLANNER_RESPONSE": answer,
        "CHECKPOINT": checkpoint,
        "SYSTEM_MESSAGE": note,
        "CONVERSATION_HISTORY": "harness context",
        "result": result,
    }


def sniff(head: bytes) -> bool:
    """Whether there are steps with a number, a source and a type."""
    return any(all(name in one for name in ("step_index", "source", "type")) for one in first(head)[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one transcript, streamed."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Antigravity transcript (JSONL)", sniff=sniff, read=read)
