"""`kernels.vec` and `kernels.tone`: what fragments mean and how they are said, by their text.

A digest embeds and reads only what is new. Both are derived: deleted, they are made again. Vectors are float16, and a
fresh one is rounded before it is used, so that a run with the file sees what a run without it sees.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from alveus.compiling.rows import RowFile, key_of
from alveus.errors import AlveusError, StoreError
from alveus.kernels import tone, words_en, words_ru
from alveus.store.arrays import numpy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]
    Halves = NDArray[np.float16]
    Counts = NDArray[np.int64]

    from alveus.novelty import Embedder

VECTORS: Final = "kernels.vec"
TONES: Final = "kernels.tone"
_BATCH: Final = 512
_MOST: Final = 65_535


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


class ToneCache:
    """How often each register is marked in a text of a language, by text; made anew when the word lists change."""

    def __init__(self, folder: Path) -> None:
        header = f"alveus.kernels.tone.v1 {_lists()}"
        self._file = RowFile(folder / TONES, header, "uint16", len(tone.REGISTERS))

    def counts(self, texts: Sequence[str], codes: Sequence[str]) -> Counts:
        """Texts and their languages (n) to counts [n, registers]."""
        np = numpy()
        keys = [key_of(code, text) for text, code in zip(texts, codes, strict=True)]
        missing = self._file.missing(keys)
        if missing:
            made = np.minimum([tone.tone(texts[at], codes[at]) for at in missing], _MOST).astype(np.uint16)
            fresh = [keys[at] for at in missing]
            self._file.keep(fresh, made)
            self._file.learn(fresh, made)
        counts: Counts = self._file.rows(keys).astype(np.int64).reshape(len(texts), len(tone.REGISTERS))
        return counts


@cache
def _lists() -> str:
    """Which rules and word lists the counts are of."""
    state = hashlib.sha256()
    for module in (tone, words_en, words_ru):
        state.update(Path(module.__file__ or "").read_bytes())
    return state.hexdigest()[:16]
