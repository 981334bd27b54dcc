"""How many tokens a text has, where no tokenizer is configured: by script, erring on the high side. Pure.

Four characters a token holds only for English. Words cost by script and length, numbers by groups of three digits,
hashes and other mixtures of letters and digits nearly a token for every character and a half. The weights were set
against o200k_base on translated programs' messages in thirty languages, code, JSON and random ids;
docs/explanation/recall.md says how far it is off.
"""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache
from typing import Final

_PIECES: Final = re.compile(r"[A-Za-z0-9]+|[^\W\d_A-Za-z]+|[^\W_]+|\s+|.", re.DOTALL)
_RUNS: Final = re.compile(r"[A-Za-z]+|[0-9]+")
_HUMPS: Final = re.compile(r"(?<=[a-z])[A-Z]")
_MIXED: Final = 0.76
_CAPITALS: Final = 0.55
_LATIN, _LATIN_FREE = 0.29, 5
_ACCENTED: Final = 1.3
_RUSSIAN, _CYRILLIC, _CYRILLIC_FREE = 0.31, 0.52, 3
_IDEOGRAPH, _TRADITIONAL, _SYLLABLE = 0.9, 1.1, 0.85
_NAME: Final = 0.8
"""What a capital adds to a Cyrillic word: names are rarer, and cut into more pieces."""
_OTHER: Final = 0.5
_BEYOND: Final = 2.2
_LINE, _SPACES, _MARK, _OTHER_MARK, _HUMP = 0.7, 0.6, 0.88, 1.1, 0.6
_NOT_RUSSIAN: Final = frozenset("іїєґўђјљњћџѓќѕІЇЄҐЎЂЈЉЊЋЏЃЌЅ")
_ONLY_TRADITIONAL: Final = frozenset("這們說與檔還麼嗎點讓從對關實將應當變邊發會國來為")
_HARD_SIGNS: Final = 100
"""Bulgarian has a hard sign at least every hundred letters; Russian hardly any."""


def estimate_tokens(text: str) -> int:
    """Tokens of `text`: at or above a tokenizer's count for a text of some length, by a sixth for prose."""
    cyrillic = _CYRILLIC if _is_cyrillic_not_russian(text) else _RUSSIAN
    total, after_space = 0.0, False
    for found in _PIECES.finditer(text):
        piece = found[0]
        total += (_known if len(piece) <= _SHORT else _cost)(piece, cyrillic)
        total += after_space and piece[0].isdigit()  # a number does not take the space before it into its token
        after_space = piece.isspace()
    return math.ceil(total) + bool(text)  # a short text can be dearer than its like


def _is_cyrillic_not_russian(text: str) -> bool:
    return not text.isascii() and (not _NOT_RUSSIAN.isdisjoint(text) or text.count("ъ") * _HARD_SIGNS > len(text))


def _cost(piece: str, cyrillic: float) -> float:
    first = piece[0]
    if first.isascii():
        return _ascii_cost(piece, first)
    if ord(first) > _BASIC_PLANE or _PICTURES[0] <= ord(first) < _PICTURES[1] or first in _JOINERS:
        return _BEYOND
    if unicodedata.category(first)[0] not in "LMN":
        return _OTHER_MARK
    if unicodedata.east_asian_width(first) in "WF":
        ideograph = _IDEOGRAPH if _ONLY_TRADITIONAL.isdisjoint(piece) else _TRADITIONAL
        return sum(_SYLLABLE if _is_syllable(letter) else ideograph for letter in piece)
    if ord(first) < _LATIN_END or _LATIN_MORE[0] <= ord(first) < _LATIN_MORE[1]:
        return len(piece) * _ACCENTED
    if _CYRILLIC_RANGE[0] <= ord(first) < _CYRILLIC_RANGE[1]:
        return 1 + max(0, len(piece) - _CYRILLIC_FREE) * cyrillic + _NAME * (len(piece) > 2 and first.isupper())
    return len(piece) * _OTHER


_known: Final = lru_cache(maxsize=4096)(_cost)
"""Most pieces of a text are met again."""
_SHORT: Final = 32


def _is_syllable(letter: str) -> bool:
    """Kana and Hangul, which tokenizers join more often than ideographs."""
    return "\u3040" <= letter <= "\u30ff" or "\uac00" <= letter <= "\ud7a3"


def _ascii_cost(piece: str, first: str) -> float:
    if first.isspace():
        return _LINE * ("\n" in piece) + _SPACES * (len(piece) > 1)
    if not first.isalnum():
        return _MARK
    runs = _RUNS.findall(piece)
    if len(runs) > 1:
        return len(piece) * _MIXED
    if first.isdigit():
        return math.ceil(len(piece) / 3)
    if len(piece) > 1 and piece.isupper():
        return max(1.0, len(piece) * _CAPITALS)
    return 1 + max(0, len(piece) - _LATIN_FREE) * _LATIN + _HUMP * len(_HUMPS.findall(piece))


_BASIC_PLANE: Final = 0xFFFF
_PICTURES: Final = (0x2190, 0x2C00)
_JOINERS: Final = "\u200d\ufe0f"
_LATIN_END: Final = 0x250
_LATIN_MORE: Final = (0x1E00, 0x1F00)
_CYRILLIC_RANGE: Final = (0x400, 0x530)
