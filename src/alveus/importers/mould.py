"""From what a reader understood to a draft: a piece is one thing that happened, a mould the record it was part of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from alveus.importers.base import Item, Skipped, Span
from alveus.importers.facts import Blob, Facts, clean, event_time, small, without_data
from alveus.journal.record import Draft, Kind, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One item of a record; with a `skip`, the reason why this part of the record is none."""

    kind: Kind = Kind.OBSERVATION
    src: Source = Source.SYSTEM
    content: str = ""
    facts: Facts = field(default_factory=dict)
    blobs: tuple[Blob, ...] = ()
    skip: str = ""

    @classmethod
    def skipped(cls, reason: str) -> Self:
        """A part that is left out for this reason."""
        return cls(skip=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mould:
    """What all items cast from one record of the source have in common.

    The record's own id ends each item's origin. Its first item has the plain origin; the others carry their place in
    the record before the id, so that one record's items stay apart and still end in the source's id.
    """

    format: str
    container: str
    id: str
    session: str | None
    time: object
    facts: Facts = field(default_factory=dict)
    at: Span

    def cast(self, piece: Piece, place: int = 0) -> Item | Skipped:
        """The item of a piece; a skip when the piece is one, or when there is nothing in it."""
        if piece.skip or not piece.content.strip():
            return Skipped(reason=piece.skip or "empty text", at=self.at)
        text, inside = without_data(piece.content)
        content = clean(text)
        moment = event_time(self.time)
        known = {
            **self.facts,
            **piece.facts,
            "blob": [one.as_json() for one in (*piece.blobs, *inside)],
            "repaired": "lone surrogate" if content != text else None,
            "source_time": self.time if moment is None else None,
        }
        draft = Draft(
            kind=piece.kind,
            content=content,
            metadata=small(known),
            src=piece.src,
            session=self.session,
            event_time=moment,
            origin=self.origin(place),
        )
        return Item(draft=draft, at=self.at)

    def origin(self, place: int) -> str:
        """`format:container:item-id`; a colon in the container would move the border, so it is written %3A."""
        container = self.container.replace("%", "%25").replace(":", "%3A")
        return f"{self.format}:{container}:{f'{place}/' if place else ''}{self.id}"
