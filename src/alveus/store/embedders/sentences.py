"""`sentence-transformers:NAME_OR_FOLDER`: a model of the package `sentence-transformers` that is on this machine.

An extra. Nothing is downloaded: a name is looked for in the hub's cache, and refused where it is not there.
"""

from __future__ import annotations

import hashlib
import threading
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from alveus.errors import InputError
from alveus.store.embedders.base import TextEmbedder

_SMALL: Final = 1 << 20
"""Bytes up to which a file counts by what it says; a larger one, of weights, by its name and size."""


def make(model: str) -> TextEmbedder:
    """The embedder of a model's name or folder. Raises InputError where the package or the model is not there."""
    if find_spec("sentence_transformers") is None:
        raise InputError(
            "the package sentence-transformers is not installed.", hint="pip install 'alveus[sentence-transformers]'"
        )
    return SentenceTransformers(model, _folder_of(model))


def _folder_of(model: str) -> Path:
    """Where the model's files are: the folder itself, or the hub's cache."""
    path = Path(model).expanduser()
    if path.is_dir():
        return path
    from huggingface_hub import snapshot_download  # noqa: PLC0415  (it comes with sentence-transformers)
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError  # noqa: PLC0415

    name = model if "/" in model else f"sentence-transformers/{model}"
    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise InputError(
            f"the model {model!r} is not on this machine, and nothing is downloaded by itself.",
            hint=f"give a folder that has it, or fetch it yourself: hf download {name}",
        ) from error


class SentenceTransformers(TextEmbedder):
    """A model in a folder, on the processor, loaded with the first text or the first question for its dimensions."""

    def __init__(self, name: str, folder: Path) -> None:
        super().__init__(Path(name).name if Path(name).is_absolute() else name)
        self._folder = folder
        self._guard = threading.Lock()

    @cached_property
    def revision(self) -> str:
        """Of the files: names and sizes, and of the small ones, such as the configuration, what they say."""
        state = hashlib.sha256()
        for path in sorted(path for path in self._folder.rglob("*") if path.is_file()):
            size = path.stat().st_size
            state.update(f"{path.relative_to(self._folder)}\0{size}\0".encode())
            state.update(path.read_bytes() if size < _SMALL else b"")
        return state.hexdigest()[:12]

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (seconds, and torch)

        return SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)

    @cached_property
    def dims(self) -> int:
        """As the first vector has it: how the package names it changes with its versions."""
        return len(self.rows(["dimensions"])[0])

    def rows(self, texts: list[str]) -> Any:
        with self._guard:  # its tokenizer is not safe from two threads
            return self._model.encode(texts, convert_to_numpy=True, show_progress_bar=False)
