"""Which turns answer a question? Pure arithmetic over a pool of candidates; docs/explanation/recall.md says why.

A turn is scored by the question's words in it and in the three turns on either side of it, by its session as a whole,
and by its meaning where there are vectors. Each of the three is centred over the pool before they are added, so that
their weights mean the same whatever the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from alveus.recall.sets import distinct, is_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

# Chosen by reason and looked at on LoCoMo's five dev conversations; docs/explanation/recall.md names each.
K1: Final = 1.2
B: Final = 0.5
BESIDE: Final = {1: 0.5, 2: 0.3, 3: 0.15, -1: 0.3, -2: 0.2, -3: 0.1}
"""What a turn's score gives to the turns after it (1, 2, 3) and before it."""
ANSWERS: Final = 0.5
"""What a question's score gives to the turn after it, besides."""
ASKING: Final = 0.5
"""What a turn loses that itself ends with a question."""
SESSION: Final = 0.3
MEANING: Final = 0.7
SAID_BY: Final = 1.0
"""What a turn gains whose speaker, and nobody else, is named in the question."""
ENOUGH: Final = 2.0
"""How many times a word's weight the turns around may add, at half the effect: saying it thrice is not three words."""
ORDINALS: Final = 1 << 32
"""More than any session has turns: `session * ORDINALS + ordinal` is a turn's place."""


class Pool(NamedTuple):
    """Candidates, ordered by place: arrays of equal length, int64.

    `number` counts the records of all chains; `length` is in terms; `asks` is 0 or 1; `speaker` 0 where unknown.
    """

    number: Ints
    session: Ints
    ordinal: Ints
    length: Ints
    asks: Ints
    speaker: Ints
    twin: Ints


class Evidence(NamedTuple):
    """One word of the question: how much it tells, and the numbers of the turns that hold it, ascending."""

    word: str
    weight: float
    rows: Ints


class Sessions(NamedTuple):
    """The sessions of the pool (ids ascending) with their lengths in terms; `total` of all in scope, `mean` length.

    Session 0 is none: it scores nothing.
    """

    ids: Ints
    lengths: Ints
    total: int
    mean: float


class Scores(NamedTuple):
    """The parts of each candidate's score, and their sum."""

    total: Floats
    words: Floats
    session: Floats
    meaning: Floats
    speaker: Floats
    asking: Floats


def weight_of(count: int, holding: int) -> float:
    """How much a word tells that `holding` of `count` turns hold: BM25's idf."""
    return float(np.log1p((count - holding + 0.5) / (holding + 0.5)))


def score(
    pool: Pool,
    evidence: Sequence[Evidence],
    sessions: Sessions,
    *,
    mean_length: float,
    named: int = 0,
    similar: Floats | None = None,
) -> Scores:
    """Score the pool. `similar` [n] is each candidate's standard score by meaning; `named` the speaker asked about."""
    beside = _Beside(pool)
    hits = [is_in(pool.number, one.rows) for one in evidence]
    norm = 1 / (1 + K1 * (1 - B + B * pool.length / max(mean_length, 1.0)))
    words = np.zeros(len(pool.number))
    for one, hit in zip(evidence, hits, strict=True):
        around = beside.spread(np.where(hit, one.weight * (K1 + 1) * norm, 0.0))
        words += around / (1 + around / (ENOUGH * one.weight))
    none = np.zeros(len(pool.number))
    in_words = standard(words)
    in_session = SESSION * standard(_by_session(pool, hits, sessions))
    in_meaning = none if similar is None else MEANING * standard(beside.spread(similar))
    by_speaker = SAID_BY * (pool.speaker == named) if named else none
    by_asking: Floats = -ASKING * pool.asks.astype(np.float64)
    total: Floats = in_words + in_session + in_meaning + by_speaker + by_asking
    return Scores(total, in_words, in_session, in_meaning, by_speaker, by_asking)


def places_around(pool: Pool, evidence: Sequence[Evidence], count: int) -> list[tuple[int, int]]:
    """The places (session, ordinal) beside the `count` turns that hold most, and beside those that hold nothing."""
    weights = np.zeros(len(pool.number))
    for one in evidence:
        weights += one.weight * is_in(pool.number, one.rows)
    best = np.concatenate([np.argsort(-weights, kind="stable")[:count], np.flatnonzero(weights == 0)])
    places = pool.session[best] * ORDINALS + pool.ordinal[best]
    around = distinct(np.concatenate([places + step for step in BESIDE]))
    around = around[~is_in(around, pool.session * ORDINALS + pool.ordinal)]
    return [divmod(place, ORDINALS) for place in around.tolist()]


def standard(values: Floats) -> Floats:
    """Centred, in units of the standard deviation; zeros where all are equal."""
    if not len(values):
        return values
    deviation = float(values.std())
    return (values - values.mean()) / deviation if deviation > _EQUAL else np.zeros_like(values)


def order(pool: Pool, scores: Scores) -> Ints:
    """Positions in the pool, best first, the newer of equals first."""
    return np.lexsort((-pool.number, -scores.total))


class _Beside:
    """Who stands beside whom in the pool."""

    def __init__(self, pool: Pool) -> None:
        self._places = pool.session * ORDINALS + pool.ordinal
        self._from = {step: self._at(-step) for step in BESIDE}
        self._asks = pool.asks > 0

    def _at(self, step: int) -> tuple[Ints, NDArray[np.bool_]]:
        """For each candidate the position of the turn `step` places on, and whether it is in the pool."""
        wanted = self._places + step
        found = np.minimum(np.searchsorted(self._places, wanted), max(len(wanted) - 1, 0))
        return found, self._places[found] == wanted

    def spread(self, own: Floats) -> Floats:
        """Each turn's score with what the turns beside it give."""
        total = own.copy()
        for step, share in BESIDE.items():
            found, there = self._from[step]
            total += np.where(there, share * own[found], 0.0)
        before, there = self._from[1]
        return total + np.where(there & self._asks[before], ANSWERS * own[before], 0.0)


def _by_session(pool: Pool, hits: Sequence[NDArray[np.bool_]], sessions: Sessions) -> Floats:
    """Each turn's session as one document, scored by BM25."""
    at = np.searchsorted(sessions.ids, pool.session)
    norm = K1 * (0.25 + 0.75 * sessions.lengths / max(sessions.mean, 1.0))
    total = np.zeros(len(sessions.ids))
    for hit in hits:
        times = np.bincount(at[hit], minlength=len(sessions.ids))
        weight = weight_of(sessions.total, int(np.count_nonzero(times)))
        total += weight * times * (K1 + 1) / (times + norm)
    total[sessions.ids == 0] = 0.0
    return total[at] if len(at) else np.zeros(0)


_EQUAL: Final = 1e-12
