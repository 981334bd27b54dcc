"""`kernels.vec`: what fragments mean, by their text.

A digest embeds only what is new. It is derived: deleted, it is made again. Vectors are float16, and a fresh one is
rounded before it is used, so that a run with the file sees what a run without it sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from alveus.compiling.rows import RowFile, key_of
from alveus.errors import AlveusError, StoreError
from alveus.store.arrays import numpy

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]
    Halves = NDArray[np.float16]

    from alveus.novelty import Embedder

VECTORS: Final = "kernels.vec"
_BATCH: Final = 512


class VectorCache:
    """The vectors of one embedder, by text. `made` counts the texts that had to be embedded."""

    def __init__(self, folder: Path, embedder: Embedder, told: Callable[[int, int], None] | None = None) -> None:
        name = f"alveus.kernels.vec.v1 {embedder.id}@{embedder.revision}"
        self._file = RowFile(folder / VECTORS, name, "float16", embedder.dims)
        self._embedder = embedder
        self._told = told or (lambda _done, _of: None)
        self.made = 0

    def encode(self, texts: Sequence[str]) -> Rows:
        """Texts (n) to float32 [n, dims], rows of length 1. Raises StoreError where the embedder fails."""
        np = numpy()
        keys = [key_of(text) for text in texts]
        missing = {keys[at]: texts[at] for at in self._file.missing(keys)}
        if missing:
            self._make(missing)
        rows = self._file.rows(keys).astype(np.float32)
        unit: Rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-6))
        return unit

    def _make(self, missing: dict[bytes, str]) -> None:
        """Embed in the order of the keys: the same texts come in the same batches, whoever said them first."""
        np = numpy()
        order, made = sorted(missing), []
        for start in range(0, len(order), _BATCH):
            keys = order[start : start + _BATCH]
            made.append(self._embedded([missing[key] for key in keys]))
            self._file.keep(keys, made[-1])
            self.made += len(keys)
            self._told(start + len(keys), len(order))
        self._file.learn(order, np.concatenate(made))

    def _embedded(self, texts: list[str]) -> Halves:
        np = numpy()
        try:
            rows: Halves = np.asarray(self._embedder.encode(texts), dtype=np.float16)
        except AlveusError:
            raise
        except Exception as error:
            raise StoreError(
                f"the embedder {self._embedder.id} failed: {type(error).__name__}",
                code="no_vectors",
                hint="check the embedder; ALVEUS_EMBEDDER=none compiles by words",
            ) from error
        if rows.shape != (len(texts), self._embedder.dims) or not np.isfinite(rows).all():
            raise StoreError(f"the embedder {self._embedder.id} gave rows of no use", code="bad_vectors")
        return rows
