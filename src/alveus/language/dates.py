"""When a question asks about: dates, months and distances named in it, as days. English and Russian.

The words are tables (`dates_en`, `dates_ru`): a pattern, and which reading it has. A reading finds periods; a framing
is what stands before one and narrows or moves it. Of what overlaps the longest is kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date, datetime
from functools import cache
from typing import Final, NamedTuple

from alveus.language import dates_en, dates_ru
from alveus.language.lexicon import Lexicon
from alveus.language.periods import Period
from alveus.language.readings import FRAMINGS, READINGS, Asked


class Span(NamedTuple):
    """The days that a question asks about."""

    start: date
    end: date
    """Included."""
    words: str
    """What of the question said so."""
    exact: bool
    """Whether a date, month or year of the calendar is named, rather than a distance from today."""


class _Found(NamedTuple):
    begin: int
    end: int
    period: Period


_LEXICONS: Final = (dates_en.LEXICON, dates_ru.LEXICON)
_LONGEST_QUESTION: Final = 2000
_MOST_FRAMES: Final = 2
_HALF: Final = 0.5
_EITHER: Final = re.compile(r"(?<!\w)(?:or|или)(?!\w)", re.IGNORECASE)
_OF_NUMBERS: Final = frozenset({"iso", "iso month", "dotted", "slashed", "year", "year alone", "years", "quarter"})
"""Readings of rules that match numbers alone."""
_MAY_BE_NUMBER: Final = re.compile(r"(?:19|20)\d\d|\d\d\.\d\d\.\d\d").search


def spans(text: str, asked_at: datetime) -> list[Span]:
    """What a question says about time, in its order. A month or day without a year is the last not after `asked_at`."""
    folded = unicodedata.normalize("NFC", text[:_LONGEST_QUESTION]).replace("ё", "е").replace("Ё", "Е")
    folded = folded.replace("\u2019", "'").replace("\u00a0", " ")
    return [
        Span(period.start, period.end, folded[begin:end].strip(), period.exact)
        for begin, end, period in _anchored(folded, asked_at.date())
    ]


def _anchored(text: str, today: date) -> list[_Found]:
    """What is found; last week, in a question about what was said on one day, is the week before that day."""
    found = _read_all(text, today)
    days = [item for item in found if item.period.exact and item.period.start == item.period.end]
    if len(days) != 1 or len(found) == 1 or _EITHER.search(text):
        return found
    then = {(item.begin, item.end): item for item in _read_all(text, days[0].period.start)}
    return [item if item.period.exact else then.get((item.begin, item.end), item) for item in found]


def _read_all(text: str, today: date) -> list[_Found]:
    found = [item for lexicon in _LEXICONS for item in _all(lexicon, text, today)]
    return _stretches(_longest(found), text)


def _stretches(found: list[_Found], text: str) -> list[_Found]:
    """From 30 April to 2 May 2023 is one stretch: the year is said once."""
    kept: list[_Found] = []
    for item in found:
        first = kept[-1] if kept else None
        if first and first.period.exact and item.period.exact and _is_stretch(first, item, text):
            start, end = first.period.start, item.period.end
            if start.year != end.year and not re.search(r"\d{4}", text[first.begin : first.end]):
                start = start.replace(year=end.year, day=min(start.day, 28) if start.month == 2 else start.day)
            if start <= end:
                kept[-1] = _Found(first.begin, item.end, Period(start, end, exact=True))
                continue
        kept.append(item)
    return kept


def _is_stretch(first: _Found, last: _Found, text: str) -> bool:
    between = text[first.end : last.begin].strip().lower()
    return any(
        re.fullmatch(lexicon.joins, between) is not None
        and re.search(rf"(?<!\w)(?:{lexicon.opens}) $", text[: first.begin], re.IGNORECASE) is not None
        for lexicon in _LEXICONS
    )


def _all(lexicon: Lexicon, text: str, today: date) -> Iterator[_Found]:
    says_when, may_be_number = _says_when(lexicon, text), _MAY_BE_NUMBER(text)
    for pattern, reading in lexicon.rules:
        if not (may_be_number if reading in _OF_NUMBERS else says_when):
            continue
        for match in _compiled(pattern).finditer(text):
            period = _read(reading, Asked(match, lexicon, today))
            if period:
                yield _framed(_Found(match.start(), match.end(), period), lexicon, text, today)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when a text may match it: all of them take as long as the rest of a process's first question."""
    return re.compile(pattern, re.IGNORECASE)


def _says_when(lexicon: Lexicon, text: str) -> bool:
    """Whether a word of the text begins as a time word does: no rule but those of numbers matches where none does."""
    beginnings = _BEGINNINGS[_LEXICONS.index(lexicon)]
    return any(word.startswith(beginnings) for word in re.findall(r"\w+", text.casefold()))


def _beginnings(lexicon: Lexicon) -> tuple[str, ...]:
    last_words = {words.split()[-1] for words in lexicon.fixed}
    half = {name for name, number in lexicon.numbers.items() if number == _HALF}  # written together: полгода
    together = {name + unit for name in half for unit in lexicon.units}
    return (*lexicon.months, *lexicon.weekdays, *lexicon.seasons, *lexicon.units, *last_words, *together)


def _read(reading: str, asked: Asked) -> Period | None:
    """A period, or none where the calendar has no such day."""
    try:
        return READINGS[reading](asked)
    except (ValueError, OverflowError):
        return None


def _framed(found: _Found, lexicon: Lexicon, text: str, today: date) -> _Found:
    """A period with what stands before it: early June, the weekend before 20 May."""
    for _ in range(_MOST_FRAMES):
        for pattern, framing in lexicon.frames:
            match = _compiled(pattern).search(text, max(0, found.begin - 40), found.begin)
            if match is None:
                continue
            try:
                period = FRAMINGS[framing](Asked(match, lexicon, today), found.period)
            except (ValueError, OverflowError):
                continue
            if period:
                found = _Found(match.start(), found.end, period)
                break
        else:
            break
    return found


def _longest(found: Iterable[_Found]) -> list[_Found]:
    """Of what overlaps the longest, in the order of the text."""
    kept: list[_Found] = []
    for item in sorted(found, key=lambda item: (item.begin - item.end, item.begin)):
        if all(item.end <= other.begin or other.end <= item.begin for other in kept):
            kept.append(item)
    return sorted(kept)


_BEGINNINGS: Final = tuple(map(_beginnings, _LEXICONS))
