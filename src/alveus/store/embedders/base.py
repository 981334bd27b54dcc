"""What every embedder here has in common. Its members are those of the port `alveus.novelty.Embedder`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from alveus.errors import StoreError
from alveus.store.arrays import numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

LONGEST: Final = 2_000
"""Characters of one text: the port's `parts` splits longer contents."""

BATCH: Final = 64
"""Texts in one call of a model: beyond it nothing is gained, and other threads wait longer."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NO_NAME: Final = re.compile(r"[^!-:<-?A-~]")  # what `hc.by` cannot hold: not printable, '@' or ';'
_SHORTEST: Final = 1e-6


class TextEmbedder(ABC):
    """Texts to unit vectors of one model. Safe from several threads."""

    def __init__(self, name: str) -> None:
        self._id = _NO_NAME.sub("-", name)[-140:]

    @property
    def id(self) -> str:
        """The model's name, printable ASCII without `@` and `;`."""
        return self._id

    @property
    @abstractmethod
    def revision(self) -> str:
        """Which weights of that name, likewise."""

    @property
    @abstractmethod
    def dims(self) -> int:
        """The length of a vector."""

    @abstractmethod
    def rows(self, texts: list[str]) -> Any:
        """What the model gives for 1 to 64 clean texts: [n, dims] of any float, of any length."""

    def encode(self, texts: Sequence[str]) -> Rows:
        """Texts (n) to float32 [n, dims], rows of length 1. A text is cut at 2,000 characters.

        Raises StoreError for an answer that cannot be used, and whatever the model raises.
        """
        np = numpy()
        clean = [_SURROGATE.sub("\ufffd", text[:LONGEST]) for text in texts]
        batches = [self._unit(clean[at : at + BATCH]) for at in range(0, len(clean), BATCH)]
        made: Rows = np.concatenate(batches) if batches else np.zeros((0, self.dims), dtype=np.float32)
        return made

    def _unit(self, texts: list[str]) -> Rows:
        np = numpy()
        given = np.asarray(self.rows(texts), dtype=np.float64)
        if given.shape != (len(texts), self.dims):
            raise unusable(self.id, f"{given.shape} numbers for {len(texts)} texts of {self.dims} dimensions")
        lengths = np.linalg.norm(given, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or lengths.min() < _SHORTEST:
            raise unusable(self.id, "rows without a direction: not finite, or of length 0")
        unit: Rows = (given / lengths).astype(np.float32)
        return unit

    def calibration(self, cosine: float) -> float:
        """The cosine on the seed's scale, rising; a model nobody has measured is taken as it is."""
        return cosine


def unusable(name: str, what: str) -> StoreError:
    """The refusal of a model's answer."""
    return StoreError(f"the embedder {name} gave {what}.", code="bad_vectors", hint="check the model that was chosen")
