"""DBSCAN, exact and blocked: the partition that scikit-learn's gives, in a bounded memory. Spec/kernels.md, point 4.

Rows that are equal are collapsed first and keep their weight; distances are made a tile at a time and forgotten; cores
that are near one another are joined in a union-find. A border row goes to the cluster whose core comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

TILE: Final = 1_024
"""Rows of a tile: a block of distances takes 4 MB."""

KEPT: Final = 20_000_000
"""Pairs within reach that are kept between passes, 16 bytes each; of more than that each pass makes them again."""

NOISE: Final = -1
_LAST: Final = np.iinfo(np.int64).max


def dbscan(
    rows: NDArray[np.float32], eps: float, least: int, *, weights: NDArray[np.int64] | None = None, tile: int = TILE
) -> NDArray[np.int64]:
    """The cluster of each unit row [n, dims], by cosine distance up to `eps`; -1 for noise.

    A row is a core if rows of a weight of at least `least` are within `eps`, itself included. Clusters are numbered
    in the order of their first core.
    """
    if not len(rows):
        return np.empty(0, dtype=np.int64)
    unique, back, weight = _collapsed(rows, weights)
    edges = _Edges(unique, 1.0 - eps, tile)
    near = weight.copy()
    for ones, others in edges:
        near += np.bincount(ones, weights=weight[others], minlength=len(unique)).astype(np.int64)
        near += np.bincount(others, weights=weight[ones], minlength=len(unique)).astype(np.int64)
    core = near >= least
    parents = np.arange(len(unique), dtype=np.int64)
    for ones, others in edges:
        both = core[ones] & core[others]
        _unite(parents, ones[both], others[both])
    labels = np.where(core, _roots(parents), _LAST)
    given = labels.copy()
    for ones, others in edges:
        # A border row goes to the first cluster that reaches it, as in the sequential algorithm.
        for border, beside in ((ones, others), (others, ones)):
            reached = ~core[border] & core[beside]
            np.minimum.at(given, border[reached], labels[beside[reached]])
    return _numbered(given)[back]


class _Edges:
    """Pairs of rows within reach, a tile at a time, each once and none of a row with itself.

    Passes after the first find them kept, as long as they are few enough to keep.
    """

    def __init__(self, rows: NDArray[np.float32], least: float, tile: int) -> None:
        self._rows = rows
        self._least = least
        self._tile = tile
        self._kept: list[_Pairs] | None = None

    def __iter__(self) -> Iterator[_Pairs]:
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[_Pairs] | None = []
        size = 0
        for pairs in self._made():
            yield pairs
            size += len(pairs[0])
            if kept is not None and size <= KEPT:
                kept.append(pairs)
            else:
                kept = None
        self._kept = kept

    def _made(self) -> Iterator[_Pairs]:
        rows, tile = self._rows, self._tile
        for low in range(0, len(rows), tile):
            block = rows[low : low + tile]
            for high in range(low, len(rows), tile):
                ones, others = np.nonzero(block @ rows[high : high + tile].T >= self._least)
                ones, others = ones + low, others + high
                if high == low:
                    above = ones < others
                    ones, others = ones[above], others[above]
                if len(ones):
                    yield ones, others


def _collapsed(
    rows: NDArray[np.float32], weights: NDArray[np.int64] | None
) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    """Equal rows once, in the order in which they first appear; for each row which of these, and their weights."""
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, back = np.unique(packed, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    back = place[back].astype(np.int64)
    weight = np.bincount(back, weights=weights, minlength=len(order)).astype(np.int64)
    return np.ascontiguousarray(rows[first[order]]), back, weight


def _roots(parents: NDArray[np.int64]) -> NDArray[np.int64]:
    """The root of each row; on the way each is hung below it."""
    while not np.array_equal(up := parents[parents], parents):
        parents[:] = up
    return parents


def _unite(parents: NDArray[np.int64], ones: NDArray[np.int64], others: NDArray[np.int64]) -> None:
    """Join the sets of many pairs at once: the larger root below the smaller, until none is left apart."""
    while len(ones):
        roots = _roots(parents)
        low, high = np.minimum(roots[ones], roots[others]), np.maximum(roots[ones], roots[others])
        apart = low < high
        ones, others = ones[apart], others[apart]
        np.minimum.at(parents, high[apart], low[apart])


def _numbered(roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Clusters numbered in the order of their first cores, which are their roots; -1 for noise."""
    noise = roots == _LAST
    labels = np.full(len(roots), NOISE, dtype=np.int64)
    labels[~noise] = np.unique(roots[~noise], return_inverse=True)[1]
    return labels
