"""The embedders that can be chosen by name, one file a choice; the table below is all there are.

Nothing is imported, loaded or asked before the first text, and nothing is ever downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Final

from alveus.errors import InputError
from alveus.store.embedders import endpoint, sentences, universal
from alveus.store.embedders.base import TextEmbedder

VARIABLE: Final = "ALVEUS_EMBEDDER"

CHOICES: Final[dict[str, tuple[str, Callable[[str], TextEmbedder | None]]]] = {
    "default": ("", universal.make),
    "sentence-transformers": (":NAME_OR_FOLDER", sentences.make),
    "openai": (":MODEL[@DIMS]", endpoint.make),
    "none": ("", lambda _: None),
}
"""By name: the form of what follows it, and what makes the embedder of that."""


def choose(name: str | None = None) -> TextEmbedder | None:
    """The embedder of that name; None for `none`.

    Without a name: what ALVEUS_EMBEDDER names, else the default where its packages are installed, else None.
    Raises InputError for a name that is not in the table, or a choice that cannot be had here.
    """
    asked = name if name is not None else os.environ.get(VARIABLE) or None
    if asked is None:
        return universal.make("") if not missing() else None
    kind, colon, rest = asked.partition(":")
    form, make = CHOICES.get(kind, ("", None))
    if make is None or bool(form) != bool(rest) or (colon and not rest):
        choices = ", ".join(kind + form for kind, (form, _) in CHOICES.items())
        where = "" if name is not None else f" (from {VARIABLE})"
        raise InputError(f"there is no embedder {asked!r}{where}.", hint=f"choose one of: {choices}")
    return make(rest)


def missing() -> list[str]:
    """The packages of the default embedder that are not installed. Imports none of them."""
    return [package for package in universal.NEEDED if find_spec(package) is None]
