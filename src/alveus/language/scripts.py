"""Letters: which script they are of, and how a word looks when spelling that people leave out is left out."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import Final

_RANGES: Final = (
    (0x0041, 0x024F, "Latin"),
    (0x0250, 0x036F, ""),
    (0x0370, 0x03FF, "Greek"),
    (0x0400, 0x052F, "Cyrillic"),
    (0x0531, 0x058F, "Armenian"),
    (0x0590, 0x05FF, "Hebrew"),
    (0x0600, 0x077F, "Arabic"),
    (0x08A0, 0x08FF, "Arabic"),
    (0x0900, 0x097F, "Devanagari"),
    (0x0B80, 0x0BFF, "Tamil"),
    (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFF, "Greek"),
    (0xFB1D, 0xFB4F, "Hebrew"),
    (0xFB50, 0xFDFF, "Arabic"),
    (0xFE70, 0xFEFC, "Arabic"),
)
_STARTS: Final = [start for start, _, _ in _RANGES]

_SOUTH_EAST: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
RUN_ON: Final = (
    f"{_SOUTH_EAST}\u3005\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""What is written without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han."""

HANGUL: Final = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
"""Words of which the last syllables are particles."""

MARKS: Final = (
    f"{_SOUTH_EAST}"
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
)
r"""Combining marks, which `\w` leaves out."""

_WIDTHS: Final = re.compile("[\ufb00-\ufb06\uff01-\uffee]+")
_UNSEEN: Final = re.compile("[\u00ad\u0640\u200c\u200d\u2060\ufeff]")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_POINTS: Final = re.compile("[\u0591-\u05bd\u05bf\u064b-\u065f\u0670]")
_MAY_HAVE_MARKS: Final = re.compile("[\u00c0-\u03ff\u0590-\u0670\u1e00-\u1fff]")
_NOT_DECOMPOSED: Final = {"ı": "i", "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ħ": "h"}


@lru_cache(maxsize=1024)
def script(letter: str) -> str:
    """The script of a letter that some stemmer knows, or nothing."""
    code = ord(letter)
    place = bisect_right(_STARTS, code) - 1
    return _RANGES[place][2] if place >= 0 and code <= _RANGES[place][1] else ""


def composed(text: str) -> str:
    """Text in one spelling: NFC, halves and fulls of one width, nothing invisible inside a word, one apostrophe."""
    if text.isascii():
        return text
    text = _UNSEEN.sub("", unicodedata.normalize("NFC", text))
    text = _WIDTHS.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)
    return text.replace("\u2019", "'").replace("\u02bc", "'").replace("\u2011", "-").replace("\u2010", "-")


def fold(word: str) -> str:
    """A composed word as it is compared: case-folded, ё as е, stress marks left out."""
    if word.isascii():
        return word.lower()
    return _ACCENTS.sub("", unicodedata.normalize("NFC", word.casefold()).replace("ё", "е"))


class _Bare(dict[int, str]):
    """Each letter without its diacritics, looked up once: Latin and Greek ones, others as they are."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        base = _NOT_DECOMPOSED.get(letter, letter)
        if script(letter) in ("Latin", "Greek"):
            base = _ACCENTS.sub("", unicodedata.normalize("NFD", base))
        self[code] = base
        return base


_BARE: Final = _Bare()


def bare(word: str) -> str:
    """A folded word as people type it who leave diacritics out: Latin, Greek, Hebrew and Arabic ones."""
    if word.isascii() or not _MAY_HAVE_MARKS.search(word):
        return word
    return _POINTS.sub("", word.translate(_BARE))
