"""Sets of whole numbers as arrays.

`np.unique` and `np.isin` import numpy's masked arrays, which nothing here uses: that is a tenth of what the first
question of a process costs, and a hook is a process that asks one question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def distinct(values: Ints) -> Ints:
    """Each value once, ascending."""
    found = np.sort(values)
    return found[_differs_from_before(found)]


def first_of_each(values: Ints) -> Ints:
    """Where each value stands first, in the order of the values."""
    order = np.argsort(values, kind="stable")
    return order[_differs_from_before(values[order])]


def is_in(values: Ints, ascending: Ints) -> NDArray[np.bool_]:
    """For each value whether it is one of those."""
    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    found: NDArray[np.bool_] = ascending[at] == values
    return found


def _differs_from_before(ordered: Ints) -> NDArray[np.bool_]:
    differs = np.ones(len(ordered), dtype=bool)
    differs[1:] = ordered[1:] != ordered[:-1]
    return differs
