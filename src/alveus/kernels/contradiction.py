"""Whether two statements exclude each other, told without a model: rules per language, gated by similarity.

Spec/kernels.md, section 1; the lists are data (`opposites_en`, `opposites_ru`). A verdict names the signal that told.
A negator that is an antonym too counts once, Russian double negation counts once, and a number counts only if the rest
of the two statements matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from alveus.kernels import opposites_en, opposites_ru
from alveus.kernels.phrases import ANY, Phrases
from alveus.kernels.tone import folded, stem
from alveus.language.terms import detect
from alveus.language.tongues import stop_words


class Signal(StrEnum):
    """What told that two statements exclude each other."""

    NONE = "none"
    NEGATION = "negation"
    ANTONYM = "antonym"
    NUMBER = "number"
    DATE = "date"
    ENTITY = "entity"
    MODALITY = "modality"
    QUANTITY = "quantity"
    ORDER = "order"
    MODEL = "model"


class Verdict(NamedTuple):
    """How far two statements exclude each other, 0 to 1, and what told."""

    score: float
    signal: Signal


class _Lists(NamedTuple):
    """The lists of one language, by stems."""

    code: str
    opposites: Mapping[str, frozenset[str]]
    phrases: Phrases
    negators: frozenset[str]
    numbers: Mapping[str, float]
    weak: frozenset[str]
    units: Mapping[str, tuple[str, float]]
    days: Mapping[str, int]
    months: Mapping[str, int]
    towards: frozenset[str]
    stops: frozenset[str]


_MODULES: Final[Mapping[str, Any]] = {"en": opposites_en, "ru": opposites_ru}
_CLASSES: Final = (
    "ALL",
    "NONE",
    "SOME",
    "ONLY",
    "ALSO",
    "PERMITS",
    "FORBIDS",
    "REQUIRES",
    "AT_LEAST",
    "AT_MOST",
    "EXTENDS",
)


@cache
def _lists(code: str) -> _Lists:
    data = _MODULES[code]

    def stemmed(words: Iterable[str]) -> tuple[str, ...]:
        return tuple(one if one == ANY else stem(folded(one), code) for one in words)

    opposites: dict[str, set[str]] = {}
    for pair in data.OPPOSITES.replace("\n", " ").split(";"):
        words = stemmed(pair.split())
        if len(words) == 2:
            opposites.setdefault(words[0], set()).add(words[1])
            opposites.setdefault(words[1], set()).add(words[0])
    return _Lists(
        code=code,
        opposites={one: frozenset(others) for one, others in opposites.items()},
        phrases=Phrases(
            (name, stemmed(phrase.split())) for name in _CLASSES for phrase in getattr(data, name).split(",")
        ),
        negators=frozenset(data.NEGATES.split()),
        numbers={folded(word): float(value) for word, value in data.NUMBERS.items()},
        weak=data.WEAK_NUMBERS,
        units={stem(folded(word), code): value for word, value in data.UNITS.items()},
        days={stem(folded(word), code): value for word, value in data.DAYS.items()},
        months={stem(folded(word), code): value for word, value in data.MONTHS.items()},
        towards=frozenset(data.TOWARDS.split()),
        stops=stop_words(code),
    )


_TOKEN: Final = re.compile(r"\d+(?:[ \u00a0]\d{3})+(?!\d)|\d+(?:[.,:]\d+)*|%|[^\W\d_]+(?:['’-][^\W\d_]+)*")


class _Statement:
    """One statement as the rules see it."""

    __slots__ = (
        "classes",
        "content",
        "dates",
        "each",
        "found",
        "lists",
        "names",
        "negative",
        "numbers",
        "opposites",
        "order",
        "stems",
        "words",
    )

    def __init__(self, text: str, lists: _Lists) -> None:
        self.lists = lists
        written = _TOKEN.findall(text)
        self.words = [folded(one) for one in written]
        self.stems = [one if one[0].isdigit() else stem(one, lists.code) for one in self.words]
        self.each = set(self.stems)
        self.opposites = [(word, other) for word in self.each for other in lists.opposites.get(word, ())]
        self.found = list(lists.phrases.found(self.stems))
        self.classes = {one.name for one in self.found}
        self.negative = self._polarity()
        self.numbers = self._numbers()
        self.dates = [("day", lists.days[one]) for one in self.stems if one in lists.days]
        self.dates += [("month", lists.months[one]) for one in self.stems if one in lists.months]
        self.content = {
            one
            for word, one in zip(self.words, self.stems, strict=True)
            if word not in lists.stops
            and word not in lists.negators
            and not one[0].isdigit()
            and word not in lists.numbers
        }
        self.names = {
            stem(folded(one), lists.code)
            for one in written[1:]
            if one[0].isupper()
            and folded(one) not in lists.stops
            and stem(folded(one), lists.code) not in lists.days
            and stem(folded(one), lists.code) not in lists.months
        }
        self.order = [
            one
            for one in self.stems
            if one in lists.days or one in lists.months or one[0].isdigit() or one in self.names
        ]

    def _polarity(self) -> bool:
        """Whether it denies: an odd number of negations; in Russian those of one clause are one."""
        found = [word in self.lists.negators or word.endswith("n't") for word in self.words]
        for one in self.found:
            if one.name == "EXTENDS":
                found[one.at : one.end] = [False] * (one.end - one.at)
        if self.lists.code == "ru":
            return any(found)
        return sum(found) % 2 == 1

    def _numbers(self) -> list[tuple[str, float]]:
        """Values by their measure; a measure without a number is one of it, where a bound is spoken of."""
        found: list[tuple[str, float]] = []
        taken: set[int] = set()
        units = self.lists.units
        for at, word in enumerate(self.words):
            value = _value(word, self.lists)
            if value is None:
                continue
            beside = [*range(at + 1, min(at + 4, len(self.words))), *range(max(0, at - 1), at)]
            near = next((place for place in beside if self.stems[place] in units), None)
            if near is None:
                if word not in self.lists.weak:
                    found.append(("", value))
                continue
            taken.add(near)
            unit, size = units[self.stems[near]]
            found.append((unit, value * size))
        if "AT_LEAST" in self.classes or "AT_MOST" in self.classes:
            found += [units[one] for at, one in enumerate(self.stems) if one in units and at not in taken]
        return found


_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
_DECIMAL: Final = re.compile(r"\d+(?:[.,]\d+)?")


def _value(word: str, lists: _Lists) -> float | None:
    """The number that a word is, in digits or in letters; None for a clock's time, an address and other words."""
    if not word[0].isdigit():
        return lists.numbers.get(word)
    plain = word.replace(" ", "").replace("\u00a0", "")
    if _GROUPED.fullmatch(plain):
        return float(plain.replace(",", ""))
    return float(plain.replace(",", ".")) if _DECIMAL.fullmatch(plain) else None


_REMEMBERED: Final = 1 << 13
"""Statements that are kept as they were read: as many as are compared with one another."""

_language: Final = lru_cache(_REMEMBERED)(detect)


@lru_cache(_REMEMBERED)
def _read(text: str, code: str) -> _Statement:
    return _Statement(text, _lists(code))


def _overlap(one: _Statement, other: _Statement) -> float:
    """How much of the shorter statement's content the other has."""
    left, right = one.content, other.content
    if not left or not right:
        return 0.0
    return len(left & right) / min(len(left), len(right))


def contradiction(earlier: str, later: str, cosine: float | None = None) -> Verdict:
    """How far two statements exclude each other. `cosine` of their meanings, where an embedder has told it.

    Statements of other languages than English and Russian, or of two, are judged by nothing: 0, `none`.
    """
    code = _language(earlier)
    if code not in _MODULES or _language(later) != code:
        return Verdict(0.0, Signal.NONE)
    one, other = _read(earlier, code), _read(later, code)
    shared = _overlap(one, other)
    near = shared if cosine is None else 0.5 * shared + 0.5 * max(0.0, cosine)
    gate = min(1.0, max(0.0, (near - _FAR) / (_NEAR - _FAR)))
    if not gate:
        return Verdict(0.0, Signal.NONE)
    strength, signal = max(_signals(one, other, shared), key=lambda found: found[0], default=(0.0, Signal.NONE))
    return Verdict(round(gate * strength, 4), signal if gate * strength > 0.0 else Signal.NONE)


_FAR: Final = 0.15
_NEAR: Final = 0.55
_REST: Final = 0.4
"""Numbers and names are compared only where so much of the rest matches."""


def _signals(one: _Statement, other: _Statement, shared: float) -> Iterable[tuple[float, Signal]]:
    opposed = _opposed(one, other)
    if one.negative != other.negative and not opposed:
        yield 0.6 + 0.3 * shared, Signal.NEGATION
    if opposed:
        # A pair of opposites of which one is denied says the same twice: off, not on.
        yield (0.75 if one.negative == other.negative else 0.2), Signal.ANTONYM
    yield _of_numbers(one, other) * (shared if shared >= _REST else 0.0), Signal.NUMBER
    yield _of_dates(one, other), Signal.DATE
    if one.names and other.names and not one.names & other.names and shared >= _REST:
        yield 0.6, Signal.ENTITY
    yield _of_modality(one, other), Signal.MODALITY
    yield _of_quantity(one, other), Signal.QUANTITY
    if len(one.order) > 1 and sorted(one.order) == sorted(other.order) and one.order != other.order and shared >= 0.7:
        yield 0.9, Signal.ORDER


def _opposed(one: _Statement, other: _Statement) -> bool:
    left, right = one.each, other.each
    return any(
        other_word in right and other_word not in left and word not in right for word, other_word in one.opposites
    )


def _of_numbers(one: _Statement, other: _Statement) -> float:
    """Different values of one measure, unless one is a bound that the other keeps."""
    for unit, value in one.numbers:
        others = [number for name, number in other.numbers if name == unit]
        known = {number for name, number in one.numbers if name == unit}
        if others and not known & set(others):
            return 0.0 if _kept(one, value, others[0]) or _kept(other, others[0], value) else 0.85
    return 0.0


def _kept(bound: _Statement, value: float, found: float) -> bool:
    least, most = "AT_LEAST" in bound.classes, "AT_MOST" in bound.classes
    return (least and not most and found > value) or (most and not least and found < value)


def _of_dates(one: _Statement, other: _Statement) -> float:
    for kind in ("day", "month"):
        left = {value for name, value in one.dates if name == kind}
        right = {value for name, value in other.dates if name == kind}
        if left and right and not left & right:
            return 0.85 if kind == "day" else 0.5
    return 0.0


def _of_modality(one: _Statement, other: _Statement) -> float:
    for left, right in ((one, other), (other, one)):
        permits = "PERMITS" in left.classes and "FORBIDS" not in left.classes
        if permits and "FORBIDS" in right.classes and "PERMITS" not in right.classes:
            return 0.8
        if permits and "REQUIRES" in right.classes and "REQUIRES" not in left.classes:
            return 0.6
    return 0.0


def _of_quantity(one: _Statement, other: _Statement) -> float:
    for left, right in ((one, other), (other, one)):
        if "ONLY" in left.classes and "ALSO" in right.classes and "ONLY" not in right.classes:
            return 0.6
        if (
            "ALL" in left.classes
            and "NONE" in right.classes
            and "NONE" not in left.classes
            and left.negative != right.negative
        ):
            return 0.8
        if "NONE" in left.classes and "SOME" in right.classes and "NONE" not in right.classes:
            return 0.7
    return 0.0


def denies(text: str) -> bool:
    """Whether a statement is a denial: an odd number of negations, in Russian any. Of other languages: no."""
    code = detect(text)
    return code in _MODULES and _read(text, code).negative
