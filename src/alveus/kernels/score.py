"""How well a fragment agrees with its company: spec/kernels.md, section 1, point 3.

`score = cos(tone) · cos(intent) · (1 − contradiction)`, each clamped at 0. The company of a fragment is what supports
it elsewhere: in other sessions, and in the canon. What the product means differs by embedder and by archive; its scale
is therefore a fragment's place among the others of its archive. docs/explanation/kernels.md shows the curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from math import log
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.kernels.lexicon import terms_of
from alveus.kernels.tone import REGISTERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Scores = NDArray[np.float64]

THRESHOLD: Final = 0.92
"""The seed's threshold, on the calibrated scale: fragments of a lower score make no kernel."""

WEIGHTS: Final = {
    "order": 0.5,
    "ban": 0.5,
    "must": 0.25,
    "forbid": 0.35,
    "habit": 0.35,
    "rule": 0.35,
    "when": 0.35,
    "want": 0.2,
    "why": 0.25,
    "decide": 0.25,
    "revise": 0.25,
    "lately": 0.25,
    "recall": 0.6,
    "self": 0.5,
    "hypothetical": -0.5,
    "joke": -1.0,
    "report_speech": -0.5,
    "ask": -0.4,
    "negated": 0.5,
    "long": -0.5,
}
"""The tone of a rule: what each register says for it, chosen on the development archives and rounded."""

_USER: Final = 0.5
_BIAS: Final = 1.0
_MOST: Final = 2
"""Marks of one register that count: a third adds nothing."""

_LASTING: Final = ("habit", "rule", "recall", "revise")
_ONCE: Final = 0.5
"""What is said for today, and not for longer, says little for a rule."""

NAME: Final = 0.75
"""What a name weighs beside another term."""

TERM_DIMS: Final = 512

WORDS: Final = "words"
"""The scale where there is no embedder."""

_PLACES: Final = (0.0, 0.5, 0.75, 0.85, 0.92, 0.96, 1.0)
REFERENCES: Final = {
    "use-multilingual-3": (0.0, 0.07, 0.103, 0.128, 0.165, 0.218, 0.44),
    WORDS: (0.0, 0.076, 0.11, 0.136, 0.17, 0.213, 0.49),
}
"""By embedder: the products that stand at these quantiles in the development archives."""

_REFERENCE_SIZE: Final = 200
"""What the reference weighs beside an archive's own fragments: a small archive has no distribution of its own."""


def likeness(tones: NDArray[np.int64], user: NDArray[np.bool_]) -> Scores:
    """How like the tones [n, registers] are to the tone of a rule: the clamped cosine, 0 to 1, on a logistic scale."""
    weights = np.array([WEIGHTS.get(name, 0.0) for name in REGISTERS])
    marked = np.minimum(tones, _MOST) @ weights + _USER * user
    lasting = (tones[:, [REGISTERS.index(name) for name in _LASTING]] > 0).any(axis=1)
    marked -= _ONCE * ((tones[:, REGISTERS.index("once")] > 0) & ~lasting)
    given: Scores = 1.0 / (1.0 + np.exp(_BIAS - marked))
    return given


def unit(rows: Vectors) -> Vectors:
    """Rows of length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    given: Vectors = (rows / np.maximum(lengths, 1e-9)).astype(np.float32, copy=False)
    return given


def centred(rows: Vectors, mean: Vectors) -> Vectors:
    """Without what all texts of an embedder have in common, so that unrelated ones are at 0 whatever the embedder."""
    return unit(rows - mean)


def words_of(texts: Sequence[str], own: int) -> Vectors:
    """The terms of texts, as `weighed`."""
    return weighed([terms_of(text) for text in texts], own)


def weighed(terms: Sequence[Sequence[str]], own: int, names: Mapping[str, int] = MappingProxyType({})) -> Vectors:
    """Stemmed terms by their idf among the first `own` texts, hashed into unit rows [n, 512]; zeros for no term.

    `names` says in how many of these a term is a name: that two statements speak of one person makes them no one rule.
    """
    known = list(dict.fromkeys(chain.from_iterable(terms)))
    number = {term: at for at, term in enumerate(known)}
    flat = np.fromiter(map(number.__getitem__, chain.from_iterable(terms)), dtype=np.int64)
    of = np.repeat(np.arange(len(terms)), np.fromiter(map(len, terms), dtype=np.int64, count=len(terms)))
    pairs, counts = np.unique(of * max(1, len(known)) + flat, return_counts=True)
    at, term = np.divmod(pairs, max(1, len(known)))
    frequency = np.bincount(term[at < own], minlength=len(known)).tolist()
    told = [_weight(one, often, own, names.get(one, 0)) for one, often in zip(known, frequency, strict=True)]
    places = np.array([place for place, _ in told], dtype=np.int64)
    weights = np.array([weight for _, weight in told])
    rows = np.zeros((len(terms), TERM_DIMS), dtype=np.float32)
    np.add.at(rows, (at, places[term]), (weights[term] * counts).astype(np.float32))
    return unit(rows)


def _weight(term: str, often: int, own: int, named: int) -> tuple[int, float]:
    """Where a term stands in a row, and its idf, with a sign, so that two terms of one place are not alike."""
    digest = int.from_bytes(blake2b(term.encode("utf-8", "replace"), digest_size=8).digest())
    idf = log((own + 1) / (often + 0.5)) * (NAME if 2 * named >= max(1, often) else 1.0)
    return digest % TERM_DIMS, idf if digest >> 63 else -idf


def intents(meaning: Vectors | None, words: Vectors) -> Vectors:
    """Intent vectors of length 1: the sentence embedding with the terms beside it, of equal weight."""
    return unit(words if meaning is None else np.hstack([meaning, words]).astype(np.float32, copy=False))


def cosines_of(rows: Vectors) -> Vectors:
    """Of unit rows [n, dims] the cosine of each with each, [n, n]: symmetric, to the bit."""
    found = np.empty((len(rows), len(rows)), dtype=np.float32)
    for low in range(0, len(rows), _TILE):
        high = low + _TILE
        some = rows[low:high]
        found[low:high, low:high] = some @ some.T
        np.matmul(some, rows[high:].T, out=found[low:high, high:])
        found[high:, low:high] = found[low:high, high:].T
    return found


_TILE: Final = 1_000
"""Rows of which the products are made, and turned over, together: turning over a whole matrix takes as long again."""


def company(cosines: Vectors, tone: Scores, session: NDArray[np.int64], sessions: int = 2) -> tuple[Scores, Scores]:
    """For each row the mean of its best links to so many other sessions, and the cosine of the very best.

    `cosines` are those of the intents, [n, n]. A link is one of them, clamped at 0, times the tone of what it leads to.
    """
    weight = tone.astype(np.float32)
    names, of = np.unique(session, return_inverse=True)
    members = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of))[:-1])
    kept = min(sessions, len(names))
    top = np.zeros((len(cosines), kept), dtype=np.float32)
    nearest = np.zeros(len(cosines))
    links = np.empty(cosines.shape[1], dtype=np.float32)
    for at, own in enumerate(of.tolist()):
        np.maximum(cosines[at], 0.0, out=links)
        links[members[own]] = 0.0
        nearest[at] = links[links.argmax()]
        links *= weight
        for place in range(kept - 1, -1, -1):
            best = links.argmax()
            top[at, place] = links[best]
            if place:
                links[members[of[best]]] = 0.0
    found: Scores = np.zeros(len(cosines))
    found[:] = top.sum(axis=1) / sessions
    return found, nearest


def calibrated(raw: Scores, embedder_id: str) -> Scores:
    """The place of each score among all of its archive and the reference, 0 to 1: where the threshold stands.

    An embedder that was not measured is taken to be like the default one: what all texts have in common was taken out.
    """
    scores = REFERENCES.get(embedder_id.partition("@")[0], REFERENCES["use-multilingual-3"])
    grid = np.interp((np.arange(_REFERENCE_SIZE) + 0.5) / _REFERENCE_SIZE, _PLACES, scores)
    everything = np.sort(np.concatenate([np.round(raw, _DIGITS), grid]))
    place: Scores = np.searchsorted(everything, np.round(raw, _DIGITS), "left") / len(everything)
    given: Scores = place**_STRETCH
    return given


_STRETCH: Final = 0.8
"""The scale's bend: the threshold stands where nine tenths of an archive are below it."""

_DIGITS: Final = 5
"""Of a product: what differs behind them is the order of a sum."""
