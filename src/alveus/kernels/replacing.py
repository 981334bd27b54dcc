"""Whether one statement replaces another, by all that is known of the two: weights that were learnt, as in `learnt`.

What announces a change is found by `revision`; this finds changes that are not told as such: the later statement is of
the same thing, gives it another value, and what is said since goes by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.kernels import weights
from alveus.kernels.contradiction import contradiction
from alveus.kernels.tone import AT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.company import Field
    from alveus.kernels.score import Scores

SIGNS: Final = (
    "meaning",
    "cosine",
    "contradiction",
    "announced",
    "change",
    "old_change",
    "old_score",
    "new_score",
    "values_gone",
    "values_again",
    "old_alive",
    "new_support",
    "old_support",
    "shared_words",
    "of_oneself",
    "old_by_user",
    "canon_line",
    "old_in_canon",
)
"""What is known of a pair, in the order of `pairs`."""

_NEAR: Final = 0.15
"""Two statements are looked at from this cosine …"""

_NEAREST: Final = 8
"""… and so many earlier ones for each later one."""

_TILE: Final = 256

_OLD: Final = 0.84
_NEW: Final = 0.57
_RULE: Final = 0.30
"""… from these scores, and from this likeness of the later one to a rule."""

_MOST_VALUES: Final = 2
_MOST_WORDS: Final = 3


def replacements(company: Field) -> list[tuple[int, int]]:
    """Pairs of a statement and the one that replaces it, the surest first; none where no weights hold."""
    signs, found = pairs(company)
    if not found:
        return []
    by = np.array([weights.REPLACES[name] for name in SIGNS])
    odds = np.round(signs @ by + weights.REPLACES["bias"], 4)
    return [found[at] for at in map(int, np.argsort(-odds, kind="stable")) if odds[at] >= 0.0]


def pairs(company: Field) -> tuple[Scores, list[tuple[int, int]]]:
    """The signs [n, SIGNS] of pairs of an earlier and a later statement of different sessions, and these pairs."""
    if company.meaning is None:
        return np.zeros((0, len(SIGNS))), []
    told = list(_told(company, company.meaning))
    return np.array([signs for _, signs in told]).reshape(len(told), len(SIGNS)), [pair for pair, _ in told]


def _told(company: Field, meaning: NDArray[np.float32]) -> Iterator[tuple[tuple[int, int], list[float]]]:
    session, scale = company.session, company.scale
    announced = company.changes.copy()
    for rows in company.messages.values():
        announced[rows] = company.changes[rows].max()
    said = _Said(company)
    established = np.flatnonzero(company.score >= _OLD)
    # What reminds of a rule, or asks for it, does not change it.
    holding = (company.tones[:, [AT["ask"], AT["recall"]]] > 0).any(axis=1)
    later = company.user & ~holding & (company.score >= _NEW) & (company.likeness >= _RULE)
    for new, nearest, cosines in _nearest(company, np.flatnonzero(later), established):
        other = [
            (old, cosine, denied, gone)
            for old, cosine in zip(nearest.tolist(), cosines.tolist(), strict=True)
            for gone in [said.gone(old, new)]
            for denied in [contradiction(company.fragments[old].said, company.fragments[new].said, cosine).score]
            if denied or gone or announced[new] >= 0.0  # else nothing in it is another than it was
        ]
        if not other:
            continue
        olds = np.array([old for old, *_ in other])
        like = np.where(session[new + 1 :] != session[new], company.likeness[new + 1 :], 0.0)
        to_new = company.cosines[new, new + 1 :] / scale
        to_old = company.cosines[olds, new + 1 :] / scale
        links = np.maximum(to_old, 0.0) * like
        links[session[olds][:, None] == session[None, new + 1 :]] = 0.0
        alive = np.where(to_old >= to_new, links, 0.0).max(axis=1, initial=0.0)
        again = said.again(new)
        for place, (old, cosine, denied, gone) in enumerate(other):
            line, canon = _by_canon(company, old, new)
            yield (
                (old, new),
                [
                    float(meaning[old] @ meaning[new]),
                    cosine,
                    denied,
                    float(announced[new]),
                    float(company.changes[new]),
                    float(company.changes[old]),
                    float(company.score[old]),
                    float(company.score[new]),
                    gone,
                    again,
                    float(alive[place]) - cosine,
                    float((np.maximum(to_new, 0.0) * like).max(initial=0.0)),
                    float(links[place].max(initial=0.0)),
                    said.shared(old, new),
                    float(company.tones[new, AT["me"]] > 0),
                    float(company.user[old]),
                    line,
                    canon,
                ],
            )


def _nearest(
    company: Field, later: NDArray[np.int64], established: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float32]]]:
    """Each later statement with the nearest earlier ones of other sessions, and their cosines, the nearest first."""
    session = company.session
    for low in range(0, len(later), _TILE):
        ones = later[low : low + _TILE]
        cosines = company.cosines[np.ix_(ones, established)] / company.scale
        fitting = (cosines >= _NEAR) & (established < ones[:, None])
        fitting &= session[established] != session[ones][:, None]
        for new, row, fits in zip(ones.tolist(), cosines, fitting, strict=True):
            near = np.flatnonzero(fits)
            near = near[np.argsort(-row[near], kind="stable")[:_NEAREST]]
            yield new, established[near], row[near]


def _by_canon(company: Field, old: int, new: int) -> tuple[float, float]:
    """How far one line of the canon is beside both, and how near the old one is to the canon."""
    if not company.canon.shape[1]:
        return 0.0, 0.0
    nearest, other = company.canon[old], company.canon[new]
    same = nearest.argmax() == other.argmax()
    return float(min(nearest.max(), other.max()) if same else 0.0), float(nearest.max())


class _Said:
    """Which values are said where."""

    def __init__(self, company: Field) -> None:
        self._session = company.session
        self._values = company.values
        self._by: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(company.values):
            for value in one.mentions:
                self._by[value].append(at)

    def again(self, new: int) -> float:
        """How many values are set anew that other sessions say again; 2 at most."""
        found = [value for value in self._values[new].sets if self._after(value, new) and not self._before(value, new)]
        return float(min(len(found), _MOST_VALUES))

    def gone(self, old: int, new: int) -> float:
        """How many values of the old one no other session says after the new one; 2 at most."""
        return float(min(sum(not self._after(value, new) for value in self._values[old].sets), _MOST_VALUES))

    def shared(self, old: int, new: int) -> float:
        """How many words both say; 3 at most."""
        return float(min(len(self._values[old].mentions & self._values[new].mentions), _MOST_WORDS))

    def _after(self, value: str, at: int) -> Collection[int]:
        return [one for one in self._by[value] if one > at and self._session[one] != self._session[at]]

    def _before(self, value: str, at: int) -> Collection[int]:
        return [one for one in self._by[value] if one < at and self._session[one] != self._session[at]]
