"""mem0's memories: what `get_all` gives, the Markdown that its plugin exports, and the history in its SQLite file.

A memory is what mem0's model made of somebody's words: it is the agent's, whoever the words were of. Its scope in mem0
(user, agent, run) is kept as what the source said; scopes here are set by the door.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.entries import Layout
from alveus.importers.facts import Facts, facts_at, ident, text_at
from alveus.importers.mould import Piece
from alveus.importers.reading import Pieces, Records, first, walk
from alveus.importers.texts import TextLine, joined, text_lines
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "mem0"
LAYOUT: Final = Layout(lists=frozenset({"results", "memories"}))

_KEPT: Final = ("user_id", "agent_id", "run_id", "role", "categories", "type", "confidence", "branch", "files", "score")
_RULE: Final = "---"
_FIELD = re.compile(r"([A-Za-z_]\w*):[ \t]*(.*)")
_SIGN = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*---\r?\n(?:[A-Za-z_]\w*:[^\n]*\n)*?id:[^\n]*\n")


class _Reader(Records):
    name = NAME
    time_at = ("updated_at", "created_at")

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """One memory, or one row of its history."""
        self.count += 1
        if not isinstance(value, Mapping):
            yield Rejected(reason="not an object", at=at)
        elif row := facts_at(value, "row"):
            yield from self.cast(self._change(row), {**row, "id": f"change/{ident(row.get('id'))}"}, at)
        elif "memory" in value:
            yield from self.cast(self._memory(value), value, at)
        else:
            known = "database" in value
            yield Skipped(reason="bookkeeping: database" if known else "unknown type: none", at=at)

    def container(self, _: Facts) -> str:
        return "memories"

    def session_of(self, value: Facts) -> str | None:
        return ident(value.get("run_id"))

    def facts_of(self, value: Facts) -> Facts:
        return {**{name: value.get(name) for name in _KEPT}, "source_metadata": value.get("metadata")}

    def _memory(self, value: Facts) -> Pieces:
        yield Piece(kind=Kind.STATE, src=Src.AGENT, content=text_at(value, "memory"))

    def _change(self, row: Facts) -> Pieces:
        """A memory that came, changed or went; what went is told as what it was."""
        event = text_at(row, "event").casefold()
        text = text_at(row, "new_memory") or text_at(row, "old_memory")
        facts = {"event": event, "memory_id": text_at(row, "memory_id"), "before": text_at(row, "old_memory")}
        gone = event == "delete" or row.get("is_deleted") == 1
        yield Piece(kind=Kind.STATE, src=Src.AGENT, content=text, facts={**facts, "deleted": gone or None})


def _blocks(source: Source, reader: _Reader) -> Iterator[Event]:
    """The plugin's Markdown: the fields of a memory between two rules, then its text up to the next fields."""
    fields: dict[str, str] = {}
    inside = False
    body: list[TextLine] = []
    waiting: list[TextLine | Rejected] = [*text_lines(source)] if source.size <= source.max_line else []
    if source.size > source.max_line:
        yield Rejected(reason=f"longer than {source.max_line:,} bytes", at=Span(line=1, start=0, size=source.size))
    for place, line in enumerate(waiting):
        if isinstance(line, Rejected):
            yield line
        elif line.text.rstrip() == _RULE and (inside or _begins(waiting, place + 1)):
            if not inside:
                yield from _block(fields, body, reader)
                fields, body = {}, []
            inside = not inside
        elif inside and (found := _FIELD.fullmatch(line.text.rstrip())):
            fields[found[1]] = found[2]
        else:
            body.append(line)
    yield from _block(fields, body, reader)


def _begins(lines: list[TextLine | Rejected], place: int) -> bool:
    """Whether the fields of a memory follow: a rule inside a text is followed by none."""
    following = lines[place] if place < len(lines) else None
    return isinstance(following, TextLine) and following.text.startswith("id:")


def _block(fields: Facts, body: list[TextLine], reader: _Reader) -> Iterator[Event]:
    text = "\n".join(line.text for line in body).strip()
    if fields or text:
        at = joined(body[0].at, body[-1].at) if body else Span(line=1, start=0, size=0)
        yield from reader.events({**fields, "memory": text}, at)


def sniff(head: bytes) -> bool:
    """Whether the first object is a memory, these are the rows of its history, or the Markdown's fields begin."""
    return _SIGN.match(head) is not None or any(
        text_at(one, "database") == NAME or ("memory" in one and "id" in one) for one in first(head, *LAYOUT.lists)[:1]
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one export."""
    reader = _Reader(source)
    yield from _blocks(source, reader) if _SIGN.match(source.head) else walk(source, LAYOUT, reader)


FORMAT: Final = Format(name=NAME, title="mem0 memories (JSON, Markdown, SQLite)", sniff=sniff, read=read)
