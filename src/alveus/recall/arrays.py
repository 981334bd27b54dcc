"""The arithmetic of `ranking` on numpy's arrays, number for number the same; `ranking` says what each does. Pure.

Lists are faster for one question, because importing numpy takes longer than it saves, and slower for the next.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import fsum
from typing import TYPE_CHECKING, cast

import numpy as np

from alveus.recall import ranking
from alveus.recall.ranking import ORDINALS, Evidence, Pool, Scores, Sessions, deviation_of, weight_of
from alveus.recall.sets import distinct, first_of_each, is_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]


def column(numbers: Sequence[int]) -> ranking.Ints:
    """As `ranking.column`."""
    return _as_ints(np.array(numbers, dtype=np.int64))


def pool_of(rows: Sequence[Sequence[int]]) -> Pool:
    """As `ranking.pool_of`."""
    flat = [value for row in rows for value in row]
    table = np.array(flat, dtype=np.int64).reshape(-1, len(Pool._fields))
    return Pool(*map(_as_ints, table[first_of_each(table[:, 1] * ORDINALS + table[:, 2])].T))


def brought_in(evidence: Sequence[Evidence]) -> list[int]:
    """As `ranking.brought_in`."""
    if not evidence:
        return []
    rows = np.concatenate([_ints(one.rows) for one in evidence])
    numbers = distinct(rows)
    weights = np.repeat([one.weight for one in evidence], [len(one.rows) for one in evidence])
    held = np.bincount(np.searchsorted(numbers, rows), weights=weights, minlength=len(numbers))
    best: list[int] = numbers[np.lexsort((numbers, held))].tolist()
    return best


def among(evidence: Sequence[Evidence], numbers: Collection[int]) -> list[Evidence]:
    """As `ranking.among`."""
    kept = np.sort(np.array(list(numbers), dtype=np.int64))
    return [one._replace(rows=_as_ints(_ints(one.rows)[is_in(_ints(one.rows), kept)])) for one in evidence]


def places_around(pool: Pool, evidence: Sequence[Evidence], count: int) -> list[tuple[int, int]]:
    """As `ranking.places_around`."""
    weights = np.zeros(len(pool.number))
    for one, hit in zip(evidence, _hits(pool, evidence), strict=True):
        weights += one.weight * hit
    best = np.concatenate([np.argsort(-weights, kind="stable")[:count], np.flatnonzero(weights == 0)])
    places = _places(pool)
    around = distinct(np.concatenate([places[best] + step for step in ranking.BESIDE]))
    return [divmod(place, ORDINALS) for place in around[~is_in(around, places)].tolist()]


def score(
    pool: Pool,
    evidence: Sequence[Evidence],
    sessions: Sessions,
    *,
    mean_length: float,
    named: int = 0,
    similar: ranking.Floats | None = None,
) -> Scores:
    """As `ranking.score`."""
    beside = _Beside(pool)
    hits = _hits(pool, evidence)
    norm = 1 / (1 + ranking.K1 * (1 - ranking.B + ranking.B * _ints(pool.length) / max(mean_length, 1.0)))
    words = np.zeros(len(pool.number))
    for one, hit in zip(evidence, hits, strict=True):
        around = beside.spread(np.where(hit, one.weight * (ranking.K1 + 1) * norm, 0.0))
        words += around / (1 + around / (ranking.ENOUGH * one.weight))
    none = np.zeros(len(pool.number))
    in_words = standard(words)
    in_session = ranking.SESSION * standard(_by_session(pool, hits, sessions))
    in_meaning = none if similar is None else ranking.MEANING * standard(beside.spread(np.asarray(similar)))
    by_speaker = ranking.SAID_BY * (_ints(pool.speaker) == named) if named else none
    by_asking = -ranking.ASKING * _ints(pool.asks).astype(np.float64)
    parts = (in_words, in_session, in_meaning, by_speaker, by_asking)
    return Scores(*map(_as_floats, (in_words + in_session + in_meaning + by_speaker + by_asking, *parts)))


def standard(values: Floats) -> Floats:
    """As `ranking.standard`."""
    if not len(values):
        return values
    exact = values.tolist()
    mean = fsum(exact) / len(exact)
    deviation = deviation_of(exact, mean)
    return (values - mean) / deviation if deviation else np.zeros_like(values)


def order(pool: Pool, scores: Scores) -> list[int]:
    """As `ranking.order`."""
    best: list[int] = np.lexsort((-_ints(pool.number), -np.asarray(scores.total))).tolist()
    return best


class _Beside:
    """Who stands beside whom in the pool."""

    def __init__(self, pool: Pool) -> None:
        self._places = _places(pool)
        self._from = {step: self._at(-step) for step in ranking.BESIDE}
        self._asks = _ints(pool.asks) > 0

    def _at(self, step: int) -> tuple[Ints, Mask]:
        """For each candidate the position of the turn `step` places on, and whether it is in the pool."""
        wanted = self._places + step
        found = np.minimum(np.searchsorted(self._places, wanted), max(len(wanted) - 1, 0))
        return found, self._places[found] == wanted

    def spread(self, own: Floats) -> Floats:
        """Each turn's score with what the turns beside it give."""
        total = own.copy()
        for step, share in ranking.BESIDE.items():
            found, there = self._from[step]
            total += np.where(there, share * own[found], 0.0)
        before, there = self._from[1]
        return total + np.where(there & self._asks[before], ranking.ANSWERS * own[before], 0.0)


def _places(pool: Pool) -> Ints:
    return _ints(pool.session) * ORDINALS + _ints(pool.ordinal)


def _hits(pool: Pool, evidence: Sequence[Evidence]) -> list[Mask]:
    return [is_in(_ints(pool.number), _ints(one.rows)) for one in evidence]


def _by_session(pool: Pool, hits: Sequence[Mask], sessions: Sessions) -> Floats:
    """As `ranking._by_session`."""
    ids = np.array(sessions.ids, dtype=np.int64)
    at = np.searchsorted(ids, _ints(pool.session))
    norm = ranking.K1 * (0.25 + 0.75 * np.array(sessions.lengths, dtype=float) / max(sessions.mean, 1.0))
    total = np.zeros(len(ids))
    for hit in hits:
        times = np.bincount(at[hit], minlength=len(ids))
        weight = weight_of(sessions.total, int(np.count_nonzero(times)))
        total += weight * times * (ranking.K1 + 1) / (times + norm)
    total[ids == 0] = 0.0
    return total[at] if len(at) else np.zeros(0)


def _ints(values: ranking.Ints) -> Ints:
    return cast("Ints", values)


def _as_ints(values: Ints) -> ranking.Ints:
    """An array serves as the sequence that a list is."""
    return cast("ranking.Ints", values)


def _as_floats(values: Floats) -> ranking.Floats:
    return cast("ranking.Floats", values)
