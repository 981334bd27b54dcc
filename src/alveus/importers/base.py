"""The words of this room: what a reader of a format yields, and what a format is.

A reader turns bytes into events and decides nothing else: it does not mask, split, store or count. Whatever it met
becomes exactly one event, so that the sum at the end of an import can be checked: an `Item` is to be remembered, a
`Skipped` was understood and left out on purpose, a `Rejected` could not be understood and is kept aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from alveus.importers.source import Source, Span
from alveus.journal.record import Draft

__all__ = ["Event", "Format", "Item", "Paused", "Rejected", "Skipped", "Source", "Span", "guarded", "nobody"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to remember, and the bytes it was read from."""

    draft: Draft
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Understood, and left out: `reason` is one of few words, because it is counted by."""

    reason: str
    at: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Not understood. `at` says which bytes are to be kept aside."""

    reason: str
    at: Span


@dataclass(frozen=True, slots=True)
class Paused:
    """Nothing more for now: the file is being written, and the reader goes on where it stopped."""


Event: TypeAlias = Item | Skipped | Rejected | Paused


def guarded(events: Iterator[Event], at: Span) -> Iterator[Event]:
    """The events of one value; one event, a rejection, for a value too deep to be looked into."""
    try:
        found = list(events)
    except RecursionError:
        found = [Rejected(reason="nested too deeply", at=at)]
    yield from found


def nobody(_: Path) -> bool:
    """No file is of a format by its place alone."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One row of the table of formats.

    `sniff` is given the first bytes of a file (at most `source.HEAD`) and says whether they are of this format;
    `owns` says it by where the file lies, for formats whose beginning says nothing. `read` streams the events of the
    whole file, in the file's order.
    """

    name: str
    title: str
    sniff: Callable[[bytes], bool]
    read: Callable[[Source], Iterator[Event]]
    owns: Callable[[Path], bool] = nobody

    def claims(self, source: Source) -> bool:
        """Whether the file is of this format."""
        return self.owns(source.path) or self.sniff(source.head)
