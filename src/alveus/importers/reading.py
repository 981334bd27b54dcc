"""What readers of formats share: the walk over a file, and a table that says what each type of record means.

A format whose records carry their own ids is a `Records` with a table: a row turns one record into pieces, and the
first word a row can say is a reason to skip. A format of bare conversations is a dialect of `chat` instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol, TypeAlias, assert_never

from alveus.importers.base import Event, Paused, Rejected, Skipped, Source, Span, guarded
from alveus.importers.calls import Calls
from alveus.importers.entries import Broken, Closed, Layout, Listed, Opened, Value, Waiting, entries, peek
from alveus.importers.facts import Facts, ident, json_text, text_at
from alveus.importers.mould import Mould, Piece

PLAIN: Final = Layout()
"""Values one after the other, and nothing that holds many."""


class Reader(Protocol):
    """What a walk needs of a reader."""

    def value(self, one: Value, /) -> Iterator[Event]:
        """The events of one value."""

    def opens(self, one: Opened, /) -> Iterator[Event]:
        """Those of an object that holds many, but for these."""

    def closes(self, one: Closed, /) -> Iterator[Event]:
        """It ends."""

    def broken(self, entry: Broken) -> Iterator[Event]:
        """A piece that is no value."""


def walk(source: Source, layout: Layout, reader: Reader) -> Iterator[Event]:
    """The events of a file, streamed. A list in no object stands for its elements."""
    for entry in entries(source, layout):
        if isinstance(entry, Value):
            yield from guarded(reader.value(entry), entry.at)
        elif isinstance(entry, Opened):
            yield from guarded(reader.opens(entry), entry.at)
        elif isinstance(entry, Closed):
            yield from guarded(reader.closes(entry), entry.at)
        elif isinstance(entry, Broken):
            yield from reader.broken(entry)
        elif isinstance(entry, Waiting):
            yield Paused()
        elif not isinstance(entry, Listed):
            assert_never(entry)


def first(head: bytes, *lists: str) -> list[Facts]:
    """The first objects of a file, which may be elements of one of these lists."""
    return peek(head, frozenset(lists))


def stem_of(source: Source) -> str:
    """The file's name without what says how it is written."""
    name = source.path.name
    for end in (".zst", ".gz", ".jsonl", ".json", ".md", ".af", ".eval"):
        name = name.removesuffix(end)
    return ident(name) or "file"


Pieces: TypeAlias = Iterator[Piece]
Row: TypeAlias = Callable[[Any, Facts], Pieces] | str
"""What a type means: a method that gives the pieces of its record, or the reason why it has none."""


def many(names: str, row: Row, prefix: str = "") -> dict[str, Row]:
    """The same row for all of these types."""
    return {f"{prefix}{name}": row for name in names.split()}


class Records:
    """A reader of records with ids. A format says what its records mean, and where in them its facts stand."""

    name: ClassVar[str]
    table: ClassVar[Mapping[str, Row]]
    id_at: ClassVar[tuple[str, ...]] = ("id",)
    time_at: ClassVar[tuple[str, ...]] = ("timestamp",)

    def __init__(self, source: Source) -> None:
        self.stem = stem_of(source)
        self.session: str | None = None
        self.facts: dict[str, object] = {}
        self.calls = Calls()
        self.count = 0
        self._container = ""

    def value(self, one: Value, /) -> Iterator[Event]:
        """The events of one record."""
        yield from self.events(one.value, one.at)

    def opens(self, _: Opened, /) -> Iterator[Event]:
        """What an object that holds records says of them; most formats say nothing there."""
        yield from ()

    def closes(self, _: Closed, /) -> Iterator[Event]:
        """What is to be said at its end; most formats say nothing there."""
        yield from ()

    def broken(self, entry: Broken) -> Iterator[Event]:
        """A broken record is counted too, so that mending it later does not move those without an id."""
        self.count += 1
        yield Rejected(reason=entry.reason, at=entry.at)

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """The events of one record."""
        self.count += 1
        if not isinstance(value, Mapping):
            yield Rejected(reason="not an object", at=at)
            return
        kind = self.kind(value)
        row = self.table.get(kind)
        if row is None:
            yield Skipped(reason=f"unknown type: {ident(kind) or 'none'}", at=at)
        elif isinstance(row, str):
            yield Skipped(reason=f"{row}: {kind}", at=at)
        else:
            yield from self.cast(row(self, value), value, at)

    def cast(self, pieces: Pieces, value: Facts, at: Span) -> Iterator[Event]:
        """The items of a record's pieces; a record without any is counted as skipped."""
        # The pieces may find out the session that the record belongs to.
        found = list(pieces) or [Piece.skipped("empty message")]
        mould = self.mould(value, at)
        for place, piece in enumerate(found):
            yield mould.cast(piece, place)

    def kind(self, value: Facts) -> str:
        """The name of the record's row."""
        return text_at(value, "type")

    def mould(self, value: Facts, at: Span) -> Mould:
        """What the items of a record have in common."""
        own = self.id_of(value)
        return Mould(
            format=self.name,
            container=self.container(value),
            id=own or f"record-{self.count}",
            session=self.session_of(value),
            time=self.time_of(value),
            facts={**self.facts, **self.facts_of(value)},
            at=at,
        )

    def id_of(self, value: Facts, /) -> str | None:
        """The record's own id, if it has one; else its place in the file stands for it."""
        return next((found for name in self.id_at if (found := ident(value.get(name)))), None)

    def time_of(self, value: Facts) -> object:
        """When it happened, as the source writes it."""
        return next((value[name] for name in self.time_at if value.get(name) is not None), None)

    def session_of(self, value: Facts) -> str | None:
        """The session that the record belongs to."""
        return ident(value.get("sessionId")) or ident(value.get("session_id")) or self.session

    def facts_of(self, value: Facts) -> Facts:
        """What is worth keeping of the record itself."""
        return {"parent": value.get("parentId")}

    def container(self, value: Facts, /) -> str:
        """The session; for a file that names none its name, and its first record to tell namesakes apart."""
        if named := self.session_of(value):
            return named
        if not self._container:
            self._container = f"{self.stem}~{digest(json_text(value))}"
        return self._container


def digest(text: str) -> str:
    """A short name for a text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
