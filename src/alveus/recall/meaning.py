"""Which records mean what the question means? Cosines to every chain's vectors, as standard scores. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Row = NDArray[np.float32]


RELATED: Final = 0.25
"""Calibrated cosine from which a record may be recalled for its meaning alone: half of what makes it not surprising."""


class Chain(Protocol):
    """A chain: its name, the number of its first record, how many it has."""

    @property
    def name(self) -> str: ...
    @property
    def first(self) -> int: ...
    @property
    def size(self) -> int: ...


class Similar(Protocol):
    """Records by likeness: their `seqs` and `cosines`; `mean` and `deviation` of the cosine over all."""

    @property
    def seqs(self) -> Ints: ...
    @property
    def cosines(self) -> Row: ...
    @property
    def mean(self) -> float: ...
    @property
    def deviation(self) -> float: ...


class Vectors(Protocol):
    """The vectors of one chain."""

    def search(
        self, query: Row, wanted: int, *, allowed: NDArray[np.bool_] | None = None, also: Ints | None = None
    ) -> Similar: ...
    def cosines(self, query: Row, seqs: Ints) -> Row: ...


class _Seen(NamedTuple):
    """What the cosines of a chain are like, as a whole."""

    mean: float
    deviation: float


class Meaning:
    """A question as a unit vector float32 [dims], held against the vectors of each chain (by its name)."""

    def __init__(self, vector: Row, vectors: Mapping[str, Vectors], calibration: Callable[[float], float]) -> None:
        self._vector = vector
        self._calibration = calibration
        self._vectors = vectors
        self._seen: dict[str, _Seen] = {}

    def nearest(self, chains: Sequence[Chain], allowed: Ints | None, count: int) -> list[int]:
        """The numbers of the `count` nearest records, of those `allowed` (numbers, ascending; None: all).

        What is as good as unrelated is left out, so that a question about nothing stored finds nothing.
        """
        found: list[tuple[float, int]] = []
        for chain in chains:
            vectors = self._vectors.get(chain.name)
            if vectors is None:
                continue
            similar = vectors.search(self._vector, count, allowed=_mask(chain, allowed))
            self._seen[chain.name] = _Seen(similar.mean, similar.deviation)
            numbers = (similar.seqs + chain.first).tolist()
            found += zip(similar.cosines.tolist(), numbers, strict=True)
        best = sorted(found, reverse=True)[:count]
        return [number for cosine, number in best if self._calibration(cosine) >= RELATED]

    def cosines(self, chains: Sequence[Chain], numbers: Ints) -> tuple[Floats, Floats]:
        """The cosine of each record [n], and how unusual it is: its standard score among all. After `nearest`."""
        cosines, scores = np.zeros(len(numbers)), np.zeros(len(numbers))
        for chain in chains:
            mine = (numbers >= chain.first) & (numbers < chain.first + chain.size)
            vectors, seen = self._vectors.get(chain.name), self._seen.get(chain.name)
            if vectors is None or seen is None or not mine.any():
                continue
            near = vectors.cosines(self._vector, numbers[mine] - chain.first).astype(float)
            cosines[mine] = near
            if seen.deviation > 0:
                scores[mine] = (near - seen.mean) / seen.deviation
        return cosines, scores


def _mask(chain: Chain, allowed: Ints | None) -> NDArray[np.bool_] | None:
    if allowed is None:
        return None
    mask = np.zeros(chain.size, dtype=bool)
    mask[allowed[(allowed >= chain.first) & (allowed < chain.first + chain.size)] - chain.first] = True
    return mask
