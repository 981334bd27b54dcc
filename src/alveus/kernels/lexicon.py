"""What texts say by their words: terms, and values. Both follow from a text alone, so that they can be kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from alveus.kernels.values import Values, values
from alveus.language.terms import detect, index_terms
from alveus.language.tongues import stop_words

T = TypeVar("T")


class Lexicon:
    """What texts say, found anew."""

    def terms(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """The stemmed terms of each text, as `terms_of`."""
        return once(terms_of, texts)

    def values(self, texts: Sequence[str]) -> list[Values]:
        """What each text sets and mentions."""
        return once(values, texts)


def once(find: Callable[[str], T], texts: Sequence[str]) -> list[T]:
    """What is found for each text, with each looked at once."""
    found = {text: find(text) for text in dict.fromkeys(texts)}
    return [found[text] for text in texts]


def terms_of(text: str) -> Sequence[str]:
    """The stemmed terms of a text, in order and with repetitions, without function words."""
    code = detect(text)
    stops = stop_words(code)
    return [term for term in index_terms(text, code) if term not in stops]
