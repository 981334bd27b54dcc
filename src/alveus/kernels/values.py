"""What a rule may set: numbers, times and names, as they are compared across statements.

A change gives a rule a new value, and who goes by it later says that value again: *seven hundred*, *700*.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import repeat
from typing import Final, NamedTuple

from alveus.kernels import opposites_en, opposites_ru
from alveus.kernels.tone import folded, stem
from alveus.language.terms import detect
from alveus.language.tongues import stop_words

_TOKEN: Final = re.compile(r"\d{1,2}:\d\d(?!\d)|\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:[.,]\d+)?|[^\W\d_]+")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
_ENDS: Final = re.compile(r"[.!?…\n]\W*$")
_MODULES: Final = {"en": opposites_en, "ru": opposites_ru}

TELLING: Final = 10
"""Numbers from here tell a value apart; smaller ones are everywhere."""

_HUNDRED: Final = 100.0
_THOUSAND: Final = 1000.0
_LONG: Final = 3
"""Letters of a name, at least."""


class Values(NamedTuple):
    """What a text sets, and all that it mentions: a name that begins a sentence is told by others that do not."""

    sets: frozenset[str]
    mentions: frozenset[str]


@cache
def _common(code: str) -> tuple[frozenset[str], Mapping[str, float]]:
    """Words that are capitalised and no names, and words that are numbers."""
    data = _MODULES[code]
    calendar = {stem(folded(one), code) for some in (data.DAYS, data.MONTHS) for one in some}
    numbers = {folded(word): float(value) for word, value in data.NUMBERS.items() if word not in data.WEAK_NUMBERS}
    return frozenset(calendar), numbers


def values(text: str) -> Values:
    """The numbers, times and names of a text. Of other languages than English and Russian: digits alone."""
    code = detect(text)
    parts = list(map(_part, _TOKEN.findall(text), repeat(code)))
    words = {one.root for one in parts if one.root}
    names = {one.time for one in parts if one.time}
    if any(one.may_name for one in parts):
        names |= set(_names(text, code))
    numbers = [one.number for one in parts if one.counts]
    if any(one is not None for one in numbers):
        names |= {_written(one) for one in _composed(numbers) if one >= TELLING}
    return Values(frozenset(names), frozenset(words | names))


def _names(text: str, code: str) -> Iterator[str]:
    """The words that are capitalised inside a sentence."""
    for token in _TOKEN.finditer(text):
        part = _part(token[0], code)
        if part.may_name and token.start() and not _ENDS.search(text[: token.start()]):
            yield part.root


class _Part(NamedTuple):
    """One token: the number it is, and whether it ends one or goes on; a clock's time; the root of a telling word."""

    number: float | None = None
    counts: bool = True
    time: str = ""
    root: str = ""
    may_name: bool = False


@lru_cache(1 << 16)
def _part(written: str, code: str) -> _Part:
    if ":" in written:
        return _Part(time=written.lstrip("0"))
    if written[0].isdigit():
        return _Part(number=float(written.replace(",", "" if _GROUPED.fullmatch(written) else ".")))
    calendar, numbers = _common(code) if code in _MODULES else (frozenset[str](), dict[str, float]())
    word = folded(written)
    number, counts = numbers.get(word), word not in _JOINING
    if len(word) < _LONG or word in numbers or (code in _MODULES and word in stop_words(code)):
        return _Part(number=number, counts=counts)
    root = stem(word, code) if code in _MODULES else word
    may_name = written[0].isupper() and root not in calendar and code in _MODULES
    return _Part(number=number, counts=counts, root=root, may_name=may_name)


_JOINING: Final = frozenset({"and", "и"})


def _written(number: float) -> str:
    return f"{number:g}"


def _composed(parts: Iterable[float | None]) -> Iterator[float]:
    """Numbers of several words: seven hundred and twenty, сто двадцать."""
    total = now = 0.0
    open_ = False
    for part in (*parts, None):
        if part is None:
            if open_:
                yield total + now
            total = now = 0.0
            open_ = False
        elif part == _HUNDRED and 0 < now < TELLING:
            now *= _HUNDRED
        elif part == _THOUSAND and now:
            total, now = total + now * _THOUSAND, 0.0
        elif open_ and 0 < part < now and _fits(now, part):
            now += part
        else:
            if open_:
                yield total + now
                total = 0.0
            now = part
            open_ = True


def _fits(now: float, part: float) -> bool:
    """Whether a smaller number goes on with a larger one: twenty five, but not five three."""
    size = 1.0
    while now % (size * TELLING) == 0:
        size *= TELLING
    return part < size
