"""Which records hold the words of a question? Rare words bring records in; frequent ones tell them apart. Pure.

A word that most records hold costs more to look up than it tells. It is asked only of the records that rarer words
brought in, and of the few that hold all the frequent words together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from alveus.recall.ranking import Evidence, weight_of

ROWS: Final = 8_000
"""Records that the words of one question may bring in."""
TOGETHER: Final = 1_000
"""Records that are looked at because they hold all frequent words of the question."""
WORDS: Final = 100
"""Words of a question that are asked for, the rarest of them: a pasted page is a question too."""


if TYPE_CHECKING:
    from typing import Protocol

    class Records(Protocol):
        """The records of one scope."""

        def holding(self, terms: Sequence[str]) -> int: ...
        def newest(self, words: Sequence[str], limit: int) -> list[int]: ...


class Wanted(NamedTuple):
    """One thing a question asks for: a word, or a time. `terms` are alternatives; `match` finds one of them."""

    word: str
    terms: tuple[str, ...]
    match: str


class _Counted(NamedTuple):
    wanted: Wanted
    held: int


def find(records: Records, wanted: Sequence[Wanted], count: int) -> list[Evidence]:
    """Who holds what of the question, of `count` records in the scope."""
    counted = [_Counted(one, records.holding(one.terms)) for one in wanted]
    counted = sorted((one for one in counted if one.held), key=lambda one: one.held)[:WORDS]
    rare, frequent = _split(counted)
    found = [records.newest([one.wanted.match], ROWS) for one in rare]
    if frequent:
        base = _either([one.wanted.match for one in rare])
        with_rare = [records.newest([one.wanted.match, base], ROWS) for one in frequent]
        whole = counted if _is_cut(rare) else frequent
        together = records.newest([one.wanted.match for one in whole], TOGETHER) if len(whole) > 1 else []
        if _is_cut(rare):  # then it is one word, and what was found by it with another holds it as well
            found = [sorted({*found[0], *together, *chain.from_iterable(with_rare)})]
        found += [sorted({*rows, *together}) for rows in with_rare]
    return [_evidence(one, rows, count) for one, rows in zip((*rare, *frequent), found, strict=True)]


def _is_cut(rare: Sequence[_Counted]) -> bool:
    """Whether not even all records of the rarest word are taken."""
    return rare[0].held > ROWS


def _split(counted: Sequence[_Counted]) -> tuple[list[_Counted], list[_Counted]]:
    """The rare words, all of whose records are taken (of the rarest in any case the newest), and the frequent ones."""
    left, taken = ROWS, 0
    for one in counted:
        if taken and one.held > left:
            break
        left -= one.held
        taken += 1
    return list(counted[:taken]), list(counted[taken:])


def _evidence(one: _Counted, rows: Sequence[int], count: int) -> Evidence:
    return Evidence(one.wanted.word, weight_of(max(count, one.held), one.held), rows)


def _either(matches: Sequence[str]) -> str:
    return f"({' OR '.join(matches)})"
