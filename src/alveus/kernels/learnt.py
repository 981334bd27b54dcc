"""What a sentence is, told by weights that were learnt: whether it is a rule, of which kernel, whether it changes one.

Logistic regressions over the sentence's vector and its tone, fitted by `bench/fit_kernels.py` on labelled archives and
sentences of many trades; the weights are data (`weights`). They hold for one embedder. With another, or with none, the
registers alone tell a rule (`score.likeness`), examples and grammar its kernel (`kinds`), and cues a change.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from alveus.kernels import weights
from alveus.kernels.kinds import odds
from alveus.kernels.tone import REGISTERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Scores, Vectors

MANNER: Final = (*REGISTERS, "user", "words_3", "words_7", "words_18", "words_25", "log_words")
"""What is known of a sentence beside its vector, in the order of `manner`."""

_MOST: Final = 2
"""Marks of one register that count: a third adds nothing."""

_PARTS: Final = 100.0
"""The weights are written in hundredths."""


class Told(NamedTuple):
    """Of each sentence: how like a rule it is, 0 to 1, the shares of the kernels [n, 3], the odds that it changes one.

    `changes` are logits; a change is announced from 0.
    """

    likeness: Scores
    kinds: Scores
    changes: Scores


def manner(tones: NDArray[np.int64], user: NDArray[np.bool_], words: NDArray[np.int64]) -> Scores:
    """Registers, who speaks, and how long [n, MANNER]."""
    short, middle, long, longer = 3, 7, 18, 25
    return np.column_stack(
        [
            np.minimum(tones, _MOST),
            user,
            words <= short,
            (words > short) & (words <= middle),
            words > long,
            words > longer,
            np.log1p(words),
        ]
    ).astype(np.float64)


def knows(embedder_id: str) -> bool:
    """Whether the weights hold for the vectors of an embedder."""
    return embedder_id.partition("@")[0] == weights.EMBEDDER


def told(vectors: Vectors, how: Scores) -> Told:
    """What sentences are, by their centred vectors [n, dims] and their manner."""
    by_manner, by_meaning, bias = _weights()
    # In double precision and rounded: what differs behind the digits is the order of a sum.
    found = np.round(vectors.astype(np.float64) @ by_meaning + how @ by_manner + bias, 5)
    return Told(1.0 / (1.0 + np.exp(-found[:, 0])), odds(found[:, 1:4]), found[:, 4])


@cache
def _weights() -> tuple[Scores, Scores, Scores]:
    """By manner [MANNER, 5], by meaning [dims, 5], and the bias [5]: rule, three kernels, change."""
    lines = [line.split() for line in weights.MANNER.strip().splitlines()]
    by_name = {name: [float(one) for one in values] for name, *values in lines}
    by_manner = np.array([by_name[name] for name in MANNER]) / _PARTS
    by_meaning = np.array(weights.MEANING.split(), dtype=np.float64).reshape(len(by_manner[0]), -1).T / _PARTS
    return by_manner, by_meaning, np.array(by_name["bias"]) / _PARTS


def forget() -> None:
    """Read the weights anew: they were fitted."""
    _weights.cache_clear()
