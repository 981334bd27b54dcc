"""ATIF trajectories (Harbor RFC 0001): steps of a user, an agent and the system, with calls and what they observed.

Nothing that a trajectory says is lost: what its items do not tell is kept in their metadata, and where that does not
hold it, the step as it was is an item of its own. `atif_writer` makes the same steps of them again, which is how this
reader knows what is missing.

A trajectory that `atif_writer` wrote says under `extra.alveus` of each step which items it was made of. They come back
as they were, but for one thing that no file can say: that words are a user's, unless the step is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from alveus.drafts import RESERVED
from alveus.importers.atif_writer import NAME, RAW, REST, WHOLE, built, own_fields
from alveus.importers.base import Event, Format, Item, Rejected, Skipped, Source, Span
from alveus.importers.entries import Closed, Layout, Opened, Value
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, small, text_at
from alveus.importers.mould import Mould, Piece
from alveus.importers.pieces import called, returned, thought, words
from alveus.importers.reading import Records, digest, first, walk
from alveus.journal.record import Draft, Kind
from alveus.journal.record import Source as Src

LAYOUT: Final = Layout(
    lists=frozenset({"steps", "subagent_trajectories"}),
    nested=frozenset({"subagent_trajectories"}),
    names=frozenset({"session_id", "trajectory_id"}),
)

_ROLES: Final = {"user": "user", "agent": "assistant", "system": "system"}
_ELEMENTS: Final = ("message", "reasoning_content", "tool_calls", "observation")


@dataclass(slots=True, kw_only=True)
class _Trajectory:
    """One that is being read. One without a name of its own is called by its agent and its first step."""

    header: Facts
    at: Span
    parent: str | None
    session: str | None
    name: str = ""
    steps: int = 0


class _Reader(Records):
    name = NAME

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._open: list[_Trajectory] = []
        self._unnamed: Counter[str] = Counter()

    def opens(self, one: Opened, /) -> Iterator[Event]:
        """A trajectory, alone or of a sub-agent of the one around it."""
        self.count += 1
        parent = self._open[-1] if self._open else None
        if parent:
            yield from self._named(parent, None)
        session = ident(one.header.get("session_id"))
        here = _Trajectory(
            header=one.header,
            at=one.at,
            parent=parent.name if parent else None,
            session=session,
        )
        self._open.append(here)
        if name := ident(one.header.get("trajectory_id")) or session:
            here.name = name
            yield self._head(here)

    def value(self, one: Value, /) -> Iterator[Event]:
        """One step, or what is no trajectory."""
        if not one.member:
            yield from self.events(one.value, one.at)
            return
        if not isinstance(one.value, dict):
            yield Rejected(reason="not an object", at=one.at)
            return
        here = self._open[-1]
        yield from self._named(here, one.value)
        here.steps += 1
        yield from self._step(one.value, here, one.at)

    def closes(self, _: Closed, /) -> Iterator[Event]:
        """It ends."""
        yield from self._named(self._open[-1], None)
        self._open.pop()

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """What is no trajectory."""
        self.count += 1
        if isinstance(value, dict):
            yield Skipped(reason="unknown type: none", at=at)
        else:
            yield Rejected(reason="not an object", at=at)

    def _named(self, here: _Trajectory, step: Facts | None) -> Iterator[Event]:
        if not here.name:
            name = f"{self.stem}~{digest(json_text([here.header.get('agent'), step]))}"
            self._unnamed[name] += 1
            number = self._unnamed[name]
            here.name = f"{name}#{number}" if number > 1 else name
            yield self._head(here)

    def _head(self, here: _Trajectory) -> Item | Skipped:
        """What the trajectory says of itself."""
        told = own_fields(here.header)
        facts = {WHOLE: told} if small(told) == told else {}
        agent = facts_at(told, "agent")
        about = f"trajectory of {text_at(agent, 'name') or 'an agent'} {text_at(agent, 'version')}".strip()
        piece = Piece(
            content=about if facts else json_text(told), facts={**facts, RAW: not facts or None, "parent": here.parent}
        )
        if text_at(here.header, "extra", "alveus", "head") == "none":
            return Skipped(reason="written for this file", at=here.at)
        mould = Mould(format=NAME, container=here.name, id="trajectory", session=here.session, time=None, at=here.at)
        return mould.cast(piece)

    def _step(self, step: Facts, here: _Trajectory, at: Span) -> Iterator[Event]:
        told = list_at(step, "extra", "alveus", "items")
        if told:
            for one in told:
                yield _restored(facts_at(one), step, at)
            return
        plain = own_fields(step)
        pieces = list(_pieces(plain, self))
        rest = {one: inner for one, inner in plain.items() if one not in (*_ELEMENTS, "step_id", "timestamp", "source")}
        mould = Mould(
            format=NAME,
            container=here.name,
            id=ident(step.get("step_id")) or f"step-{here.steps}",
            session=here.session,
            time=step.get("timestamp"),
            at=at,
        )
        if rest and pieces and small(rest) == rest:
            pieces[0] = replace(pieces[0], facts={**pieces[0].facts, REST: rest})
        cast = [mould.cast(piece, number) for number, piece in enumerate(pieces)]
        yield from (one for one in cast if isinstance(one, Item) or not _is_nothing(step))
        if not _same(built([one.draft for one in cast if isinstance(one, Item)]), plain):
            raw = Piece(content=json_text(plain), facts={RAW: True})
            yield replace(mould, id=f"{mould.id}/raw").cast(raw)
        elif not cast:
            yield Skipped(reason="empty message", at=at)


def _is_nothing(step: Facts) -> bool:
    """An empty message beside a call is how the format writes that nothing was said."""
    return not step.get("message")


def _pieces(step: Facts, reader: Records) -> Iterator[Piece]:
    role = _ROLES.get(text_at(step, "source"), "system")
    if text := text_at(step, "reasoning_content"):
        yield thought(text)
    if step.get("message"):
        yield words(role, step.get("message"))
    for one in list_at(step, "tool_calls"):
        arguments = facts_at(one).get("arguments")
        yield called(text_at(one, "function_name"), arguments, text_at(one, "tool_call_id"), reader.calls)
    for one in list_at(step, "observation", "results"):
        yield returned(facts_at(one).get("content"), text_at(one, "source_call_id"), reader.calls)


def _same(step: Facts | None, other: Facts) -> bool:
    """Whether a step that was made again says all that the first said; its number is that of its place."""
    return step is not None and {**step, "step_id": 0} == {**other, "step_id": 0}


def _restored(told: Facts, step: Facts, at: Span) -> Event:
    """An item as it was, of the part of the step that holds its words."""
    content = _content_at(step, list_at(told, "at"))
    if "content" in told:
        content = text_at(told, "content")
    kind, src = text_at(told, "kind"), text_at(told, "src")
    spoken = text_at(step, "source") == "user"
    if kind not in list(Kind) or src not in list(Src) or not content or (src == Src.USER and not spoken):
        return Rejected(reason="an item that this program did not write", at=at)
    metadata = {name: inner for name, inner in facts_at(told, "metadata").items() if name not in RESERVED}
    moment = told.get("event_time", step.get("timestamp"))
    return Item(
        draft=Draft(
            kind=Kind(kind),
            content=content,
            metadata=metadata,
            src=Src(src),
            session=ident(told.get("session")),
            event_time=moment if isinstance(moment, str) else None,
            origin=ident_of_origin(told.get("origin")),
        ),
        at=at,
    )


def ident_of_origin(value: object) -> str | None:
    """An origin as it was written; it is longer than an id may be."""
    return value if isinstance(value, str) and 0 < len(value) <= 1024 else None


def _content_at(step: Facts, where: Sequence[object]) -> str:
    what, place = (*where, "", 0)[:2]
    if what == "raw":
        return json_text(own_fields(step))
    if what == "result":
        found = list_at(step, "observation", "results")
        return text_at(found[place], "content") if isinstance(place, int) and place < len(found) else ""
    if what == "call":
        found = list_at(step, "tool_calls")
        one = found[place] if isinstance(place, int) and place < len(found) else None
        return f"{text_at(one, 'function_name')} {json_text(facts_at(one).get('arguments'))}"
    return text_at(step, "reasoning_content" if what == "reasoning" else "message")


def sniff(head: bytes) -> bool:
    """Whether the first object names the format's version, or has steps with a number and a source."""
    return any(
        text_at(one, "schema_version").startswith("ATIF")
        or any("step_id" in facts_at(step) for step in list_at(one, "steps"))
        for one in first(head)[:1]
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one trajectory, or of one a line."""
    yield from walk(source, LAYOUT, _Reader(source))


FORMAT: Final = Format(name=NAME, title="ATIF trajectory (JSON or JSONL)", sniff=sniff, read=read)
