"""What a language has to say about time: its words as numbers, its patterns as names of readings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Lexicon(NamedTuple):
    """The time words of one language. Keys are how the words begin; of several that fit, the longest counts."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    seasons: Mapping[str, str]
    units: Mapping[str, str]
    numbers: Mapping[str, float]
    which: Mapping[str, int]
    """Last, this and next, as -1, 0 and 1."""
    fixed: Mapping[str, tuple[int, int]]
    """Words that are days: the first and the last of them, counted from today."""
    parts: Mapping[str, int]
    """Early, mid and late, as 0, 1 and 2."""
    ordinals: Mapping[str, int]
    """First to fourth as 0 to 3, last as -1."""
    sides: Mapping[str, int]
    """Before and after, as -1 and 1; 0 for around."""
    introduces: str
    """What stands before a month or season that has no year, as a pattern: without it the word may be another one."""
    opens: str
    joins: str
    """What stands before and between two days that are the ends of one stretch, as patterns."""
    doubtful: str
    """Months that are other words in lower case, as a pattern."""
    names: str
    """Months that are people with a capital, as a pattern; in English the words before them tell."""
    rules: tuple[tuple[str, str], ...]
    frames: tuple[tuple[str, str], ...]


def value(table: Mapping[str, T], word: str) -> T:
    """The entry of the longest key that a word begins with. Raises `ValueError` if there is none."""
    folded = word.lower()
    fitting = [key for key in table if folded.startswith(key)]
    if not fitting:
        raise ValueError(word)
    return table[max(fitting, key=len)]
