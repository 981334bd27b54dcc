"""Whether a model's sentence says what its sources say. A wording that fails is not used; nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from alveus.kernels.contradiction import denies
from alveus.language.terms import detect, index_terms
from alveus.language.tongues import stop_words

_NEW: Final = 0.25
"""The share of a wording's content words that its sources need not have: a sentence needs words to join them."""

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME: Final = re.compile(r"(?<![.!?…]\s)(?<!^)\b[^\W\d_a-zа-яё][\w-]+")


def grounded(wording: str, sources: Sequence[str], best: str) -> bool:
    """Whether a wording is a sentence with no number or name that its sources do not have, and few other new words.

    It denies what `best`, the source that it stands for, denies, and is in the same language.
    """
    content = _content(wording)
    if not content or "\n" in wording.strip() or detect(wording) != detect(best):
        return False
    said = "\n".join(sources)
    if not set(_NUMBER.findall(wording)) <= set(_NUMBER.findall(said)):
        return False
    heard = said.casefold()
    if any(name.casefold() not in heard for name in _NAME.findall(wording)):
        return False
    known = _content(said) | _content(best)
    if len(content - known) > _NEW * len(content):
        return False
    return denies(wording) == denies(best)


def _content(text: str) -> set[str]:
    code = detect(text)
    stops = stop_words(code)
    return {term for term in index_terms(text, code) if term not in stops}
