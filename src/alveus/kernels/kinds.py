"""Which kernel a rule is of: by the examples that it is nearest to in meaning, and by its grammar.

Without an embedder the grammar tells alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.kernels import examples
from alveus.kernels.tone import AT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Scores, Vectors

_NEIGHBOURS: Final = 6
_MEANING: Final = 5.0
_SELF: Final = 0.5
_FORBIDS: Final = 0.4
_NEGATES: Final = 0.25
_MORE_DECISIONS: Final = 0.3
"""Odds of a rule before anything is known of it: an agent has more playbooks than anything else."""

_TILE: Final = 1_024


def by_meaning(shown: Vectors, asked: Vectors) -> Scores:
    """How much nearer each row is to one kernel's examples than to the others' [n, 3]: the mean of the nearest six."""
    of = np.repeat(np.arange(3), [len(some) for some in examples.BY_KIND])
    found = np.zeros((len(asked), 3))
    for low in range(0, len(asked), _TILE):
        cosines = asked[low : low + _TILE] @ shown.T
        for kind in range(3):
            found[low : low + _TILE, kind] = np.sort(cosines[:, of == kind], axis=1)[:, -_NEIGHBOURS:].mean(axis=1)
    told: Scores = _MEANING * (found - found.mean(axis=1, keepdims=True))
    return told


def by_grammar(tones: NDArray[np.int64]) -> Scores:
    """What the grammar says for each kernel [n, 3]: of how one speaks, of nothing, of what is not to be."""
    few = np.minimum(tones, 2)
    against = _FORBIDS * few[:, AT["forbid"]] + _NEGATES * few[:, AT["negated"]]
    told: Scores = np.stack([_SELF * few[:, AT["self"]], np.full(len(few), _MORE_DECISIONS), against], axis=1)
    return told


def odds(told: Scores) -> Scores:
    """The shares of the three kernels in each row."""
    powers = np.exp(told - told.max(axis=1, keepdims=True))
    given: Scores = powers / powers.sum(axis=1, keepdims=True)
    return given
