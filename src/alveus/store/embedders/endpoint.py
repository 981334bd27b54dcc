"""`openai:MODEL`: an embeddings endpoint that speaks OpenAI's protocol, of that company or any other, or your own.

An extra. OPENAI_BASE_URL and OPENAI_API_KEY say where it is. The contents leave the machine: it is chosen, never found.
"""

from __future__ import annotations

import hashlib
import os
import threading
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Final

from alveus.errors import InputError, StoreError
from alveus.store.embedders.base import TextEmbedder, unusable

TIMEOUT: Final = 30.0
"""Seconds to wait for an answer."""

RETRIES: Final = 2
"""Times a question is put again after no answer, or one that says: later."""

_HOME: Final = "https://api.openai.com/v1"


def make(model: str) -> TextEmbedder:
    """The embedder of MODEL or MODEL@DIMS. Raises InputError where the package or the key is not there."""
    if find_spec("openai") is None:
        raise InputError("the package openai is not installed.", hint="pip install 'alveus[openai]'")
    if not os.environ.get("OPENAI_API_KEY"):
        raise InputError("OPENAI_API_KEY is not set.", hint="set it; a server that needs no key takes any")
    name, at, dims = model.rpartition("@") if "@" in model else (model, "", "")
    if not name or (at and not (dims.isascii() and dims.isdigit() and int(dims))):
        raise InputError(f"{model!r} is no model.", hint="openai:MODEL, or openai:MODEL@DIMS with its dimensions")
    return Endpoint(name, int(dims) if dims else None)


class Endpoint(TextEmbedder):
    """A model behind an endpoint. Where its dimensions are not given, one question is asked to learn them."""

    def __init__(self, model: str, dims: int | None) -> None:
        super().__init__(model)
        self._model = model
        self._base_url = os.environ.get("OPENAI_BASE_URL") or _HOME
        self._guard = threading.Lock()
        self._dims = dims

    @cached_property
    def revision(self) -> str:
        """Of the address: which weights another server has under the same name nobody can tell."""
        return hashlib.sha256(self._base_url.encode()).hexdigest()[:8]

    @property
    def dims(self) -> int:
        """As given, or as the first answer has it. Raises StoreError where that cannot be had."""
        if self._dims is None:
            self._dims = len(self.rows(["dimensions"])[0])
        return self._dims

    @cached_property
    def _client(self) -> Any:
        import openai  # noqa: PLC0415  (half a second, for whoever chose it)

        return openai.OpenAI(base_url=self._base_url, timeout=TIMEOUT, max_retries=RETRIES)

    def rows(self, texts: list[str]) -> list[list[float]]:
        """One answer's rows, in the order of the texts. Raises StoreError where there is none or rows are missing."""
        import openai  # noqa: PLC0415

        with self._guard:
            client = self._client
        try:
            # As numbers: not every server knows the package's own default, base64.
            answer = client.embeddings.create(model=self._model, input=texts, encoding_format="float")
        except (openai.OpenAIError, ValueError) as error:
            raise StoreError(
                f"the endpoint {self._base_url} gave no vectors: {type(error).__name__}.",
                code="no_vectors",
                hint="check OPENAI_BASE_URL, OPENAI_API_KEY and the model's name",
            ) from error
        found = {item.index: item.embedding for item in answer.data or ()}
        if sorted(found) != list(range(len(texts))) or not all(found.values()):
            raise unusable(self.id, f"{len(found)} rows for {len(texts)} texts")
        return [found[at] for at in range(len(texts))]
