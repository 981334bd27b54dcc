"""A tokenizer of the user's own, by its name: ALVEUS_TOKENIZER. Without one tokens are estimated."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Final

from alveus.errors import InputError

VARIABLE: Final = "ALVEUS_TOKENIZER"
_FORMS: Final = "tokenizers:FILE (a tokenizer.json) or tiktoken:NAME (such as o200k_base)"
Count = Callable[[str], int]


def choose_tokenizer(name: str | None = None) -> Count | None:
    """What counts tokens as the tokenizer of that name does; None where none is named, here or in ALVEUS_TOKENIZER.

    Raises InputError for a name that is neither form, a package that is not installed, a file that cannot be read.
    Nothing is downloaded: tiktoken uses what it has cached.
    """
    asked = name or os.environ.get(VARIABLE)
    return _tokenizer(asked) if asked else None


@lru_cache(maxsize=4)
def _tokenizer(name: str) -> Count:
    kind, _, rest = name.partition(":")
    make = {"tokenizers": _from_file, "tiktoken": _from_tiktoken}.get(kind)
    if make is None or not rest:
        raise InputError(f"there is no tokenizer {name!r}", hint=f"name it as {_FORMS}")
    try:
        return make(rest)
    except ImportError:
        raise InputError(f"the package {kind} is not installed", hint=f"pip install {kind}") from None


def _from_file(path: str) -> Count:
    from tokenizers import Tokenizer  # noqa: PLC0415

    if not Path(path).is_file():
        raise InputError(f"there is no tokenizer file {path}", hint="name a tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:
        raise InputError(f"{path} is no tokenizer file: {error}", hint="name a tokenizer.json") from error
    return lambda text: len(tokenizer.encode(_clean(text), add_special_tokens=False).ids)


def _from_tiktoken(name: str) -> Count:
    import tiktoken  # noqa: PLC0415

    try:
        encoding = tiktoken.get_encoding(name)
    except Exception as error:
        raise InputError(f"tiktoken has no encoding {name!r} here: {error}", hint="one that it has cached") from error
    return lambda text: len(encoding.encode(_clean(text), disallowed_special=()))


def _clean(text: str) -> str:
    """Text without lone surrogates, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode()
