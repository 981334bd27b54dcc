"""LPM: what is known for long of the user and of the assistant, apart. spec/tiers.md, section 1.

The newest statement of a thing stands; the older ones stay, as history, and say what replaced them. Which is newest
is a matter of when it was said, never of when it was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from alveus.tiers.policy import Policy


class Subject(StrEnum):
    """Of whom a fact is."""

    USER = "user"
    ASSISTANT = "assistant"


class Shelf(StrEnum):
    """Where it lies."""

    PROFILE = "profile"
    KNOWLEDGE = "knowledge"
    TRAITS = "traits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement with its sources. It is true from `since` (seconds), and until `superseded_by` was.

    `restates` names the fact that says the same already. `kept` is false for what the shelf had no more room for: it is
    still in the journal.
    """

    id: str
    subject: Subject
    shelf: Shelf
    key: str
    value: str
    sources: tuple[str, ...]
    since: float
    place: int
    superseded_by: str | None = None
    restates: str | None = None
    kept: bool = True

    @property
    def stands(self) -> bool:
        """Whether it is held to be true now."""
        return self.kept and self.superseded_by is None and self.restates is None

    @property
    def text(self) -> str:
        """The fact in words."""
        return f"{self.key.partition(':')[0].replace('_', ' ')}: {self.value}"


def _order(fact: Fact) -> tuple[float, int, str]:
    return fact.since, fact.place, fact.id


def _about(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.shelf, fact.key


def settled(facts: Iterable[Fact], policy: Policy) -> list[Fact]:
    """All facts of a scope with what stands and what is history: the same for any order that they came in.

    What is only said again replaces nothing: the first of equal statements stands, and the others support it.
    """
    chained: list[Fact] = []
    for _, same in groupby(sorted(facts, key=lambda fact: (*_about(fact), *_order(fact))), key=_about):
        runs = [list(run) for _, run in groupby(same, key=lambda fact: fact.value.casefold())]
        after = [*runs[1:], []]
        for run, following in zip(runs, after, strict=True):
            replaced_by = following[0].id if following else None
            chained.append(replace(run[0], superseded_by=replaced_by, restates=None))
            chained += [replace(fact, superseded_by=replaced_by, restates=run[0].id) for fact in run[1:]]
    return _fifo(chained, policy.knowledge)


def _lives(fact: Fact) -> bool:
    return fact.superseded_by is None and fact.restates is None


def _fifo(facts: Sequence[Fact], most: int) -> list[Fact]:
    """Knowledge holds so many; what came first leaves first."""
    gone: set[str] = set()
    for subject in Subject:
        live = [fact for fact in facts if (fact.subject, fact.shelf) == (subject, Shelf.KNOWLEDGE) and _lives(fact)]
        gone |= {fact.id for fact in sorted(live, key=_order)[: max(0, len(live) - most)]}
    return [replace(fact, kept=fact.id not in gone) for fact in facts]
