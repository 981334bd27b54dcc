"""Which turns answer a question? Pure arithmetic over a pool of candidates; docs/explanation/recall.md says why.

A turn is scored by the question's words in it and in the three turns on either side of it, by its session as a whole,
and by its meaning where there are vectors. Each of the three is centred over the pool before they are added, so that
their weights mean the same whatever the store.

This is the arithmetic on lists. `arrays` is the same on numpy's, for a process that asks more than one question: it
takes a tenth of the time, once numpy is imported. The two agree to the last bit, and a property test holds them to it:
each sum over the pool is `fsum`'s, which does not depend on the order, and all else is done number by number alike.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from math import fsum, log1p, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

Ints = Sequence[int]
"""A list, or numpy's int64 [n] from `arrays`."""
Floats = Sequence[float]
"""A list, or numpy's float64 [n] from `arrays`."""

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
    """Candidates, ordered by place: columns of equal length.

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

    def holds(self, number: int) -> bool:
        """Whether the turn of that number holds the word."""
        at = bisect_left(self.rows, number)
        return at < len(self.rows) and bool(self.rows[at] == number)


class Sessions(NamedTuple):
    """The sessions of the pool (ids ascending) with their lengths in terms; `total` of all in scope, `mean` length.

    Session 0 is none: it scores nothing.
    """

    ids: Sequence[int]
    lengths: Sequence[int]
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


if TYPE_CHECKING:
    from typing import Protocol

    class Arithmetic(Protocol):
        """What this module and `arrays` are both: each takes only what itself has made."""

        def column(self, numbers: Sequence[int], /) -> Ints: ...
        def pool_of(self, rows: Sequence[Sequence[int]], /) -> Pool: ...
        def brought_in(self, evidence: Sequence[Evidence], /) -> list[int]: ...
        def among(self, evidence: Sequence[Evidence], numbers: Collection[int], /) -> list[Evidence]: ...
        def places_around(self, pool: Pool, evidence: Sequence[Evidence], count: int, /) -> list[tuple[int, int]]: ...
        def score(
            self,
            pool: Pool,
            evidence: Sequence[Evidence],
            sessions: Sessions,
            /,
            *,
            mean_length: float,
            named: int = 0,
            similar: Floats | None = None,
        ) -> Scores: ...
        def order(self, pool: Pool, scores: Scores, /) -> list[int]: ...


def weight_of(count: int, holding: int) -> float:
    """How much a word tells that `holding` of `count` turns hold: BM25's idf."""
    return log1p((count - holding + 0.5) / (holding + 0.5))


def deviation_of(values: Collection[float], mean: float) -> float:
    """The standard deviation; zero where all are as good as equal."""
    deviation = sqrt(fsum([(value - mean) * (value - mean) for value in values]) / len(values))
    return deviation if deviation > _EQUAL else 0.0


# ── candidates ───────────────────────────────────────────────────────────────────────────────────────────────────────


def column(numbers: Sequence[int]) -> Ints:
    """The numbers as this arithmetic keeps them."""
    return numbers


def pool_of(rows: Sequence[Sequence[int]]) -> Pool:
    """Rows of `Pool`'s columns, each once, in the order of their places."""
    found = {row[1] * ORDINALS + row[2]: row for row in rows}
    columns = list(zip(*[found[place] for place in sorted(found)], strict=True))
    return Pool(*columns) if columns else Pool(*[()] * len(Pool._fields))


def brought_in(evidence: Sequence[Evidence]) -> list[int]:
    """The numbers of the records that hold something, those that hold most last; of equals the newer last."""
    held: dict[int, float] = {}
    get = held.get
    for one in evidence:
        weight = one.weight
        for number in one.rows:
            held[number] = get(number, 0.0) + weight
    return sorted(sorted(held), key=held.__getitem__)


def among(evidence: Sequence[Evidence], numbers: Collection[int]) -> list[Evidence]:
    """The evidence in these records alone."""
    kept = frozenset(numbers)
    return [one._replace(rows=[number for number in one.rows if number in kept]) for one in evidence]


def places_around(pool: Pool, evidence: Sequence[Evidence], count: int) -> list[tuple[int, int]]:
    """The places (session, ordinal) beside the `count` turns that hold most, and beside those that hold nothing."""
    weights = [0.0] * len(pool.number)
    for one, hits in zip(evidence, _hits(pool, evidence), strict=True):
        for at in hits:
            weights[at] += one.weight
    best = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)[:count]
    places = _places(pool)
    chosen = {places[at] for at in best} | {place for place, weight in zip(places, weights, strict=True) if not weight}
    around = {place + step for place in chosen for step in BESIDE}.difference(places)
    return [divmod(place, ORDINALS) for place in sorted(around)]


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    size = len(pool.number)
    beside = _Beside(pool)
    hits = _hits(pool, evidence)
    mean = max(mean_length, 1.0)
    norm = [1 / (1 + K1 * (1 - B + B * length / mean)) for length in pool.length]
    words = [0.0] * size
    for one, there in zip(evidence, hits, strict=True):
        own, enough = one.weight * (K1 + 1), ENOUGH * one.weight
        for at, around in enumerate(beside.spread([(at, own * norm[at]) for at in there])):
            if around:
                words[at] += around / (1 + around / enough)
    none = [0.0] * size
    in_words = standard(words)
    in_session = [SESSION * one for one in standard(_by_session(pool, hits, sessions))]
    in_meaning = none
    if similar is not None:
        in_meaning = [MEANING * one for one in standard(beside.spread(list(enumerate(similar))))]
    by_speaker = [SAID_BY * (one == named) for one in pool.speaker] if named else none
    by_asking = [-ASKING * one for one in pool.asks]
    parts = (in_words, in_session, in_meaning, by_speaker, by_asking)
    return Scores([a + b + c + d + e for a, b, c, d, e in zip(*parts, strict=True)], *parts)


def standard(values: Sequence[float]) -> list[float]:
    """Centred, in units of the standard deviation; zeros where all are equal."""
    if not values:
        return []
    mean = fsum(values) / len(values)
    deviation = deviation_of(values, mean)
    return [(value - mean) / deviation for value in values] if deviation else [0.0] * len(values)


def order(pool: Pool, scores: Scores) -> list[int]:
    """Positions in the pool, best first, the newer of equals first."""
    newest = sorted(range(len(pool.number)), key=pool.number.__getitem__, reverse=True)
    return sorted(newest, key=scores.total.__getitem__, reverse=True)


class _Beside:
    """Who stands beside whom in the pool."""

    def __init__(self, pool: Pool) -> None:
        places = _places(pool)
        at = {place: at for at, place in enumerate(places)}.get
        nobody = len(places)
        self._to = {step: [at(place + step, nobody) for place in places] for step in BESIDE}
        self._asks = pool.asks

    def spread(self, own: Sequence[tuple[int, float]]) -> list[float]:
        """Each turn's score with what the turns beside it give; `own` names those that have one, by position."""
        total = [0.0] * (len(self._asks) + 1)  # the last is nobody's: what is given to who is not in the pool
        for at, value in own:
            total[at] = value
        for step, share in BESIDE.items():
            to = self._to[step]
            for at, value in own:
                total[to[at]] += share * value
        after = self._to[1]
        for at, value in own:
            if self._asks[at]:
                total[after[at]] += ANSWERS * value
        return total[:-1]


def _places(pool: Pool) -> list[int]:
    return [session * ORDINALS + ordinal for session, ordinal in zip(pool.session, pool.ordinal, strict=True)]


def _hits(pool: Pool, evidence: Sequence[Evidence]) -> list[list[int]]:
    """For each word the positions of those that hold it."""
    position = {number: at for at, number in enumerate(pool.number)}
    return [[position[number] for number in one.rows if number in position] for one in evidence]


def _by_session(pool: Pool, hits: Iterable[Sequence[int]], sessions: Sessions) -> list[float]:
    """Each turn's session as one document, scored by BM25."""
    norm = {
        id_: K1 * (0.25 + 0.75 * length / max(sessions.mean, 1.0))
        for id_, length in zip(sessions.ids, sessions.lengths, strict=True)
    }
    total = dict.fromkeys(sessions.ids, 0.0)
    for hit in hits:
        times: dict[int, int] = {}
        for at in hit:
            times[pool.session[at]] = times.get(pool.session[at], 0) + 1
        weight = weight_of(sessions.total, len(times))
        for id_, count in times.items():
            total[id_] += weight * count * (K1 + 1) / (count + norm[id_])
    total[0] = 0.0
    return [total[id_] for id_ in pool.session]


_EQUAL: Final = 1e-12
