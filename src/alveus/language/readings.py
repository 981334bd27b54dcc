"""How a pattern's groups become a period. One reading a kind of phrase, whatever the language.

Groups: `d` `d2` `m` `y` `y2` numbers of the calendar, `w` a day of the week, `season`, `which` one, `n` how many,
`unit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple

from alveus.language import periods
from alveus.language.lexicon import Lexicon, value
from alveus.language.periods import Period

_DAY: Final = timedelta(days=1)
_AHEAD: Final = 10
"""Years after today that a number may still be a year."""
_A_FEW: Final = -1.0
"""The number of an unnamed few."""


class Asked(NamedTuple):
    """A match in a question, and the day it was asked."""

    match: re.Match[str]
    lexicon: Lexicon
    today: date

    def get(self, name: str) -> str | None:
        """A group that the pattern has and that matched."""
        return self.match.groupdict().get(name)

    def number(self, name: str) -> int:
        """A group of digits. Raises `ValueError` if it did not match."""
        return int(self.get(name) or "")

    def month(self) -> int:
        """The month that is named."""
        return value(self.lexicon.months, self.get("m") or "")

    def weekday(self) -> int:
        """The day of the week that is named, Monday 0."""
        return value(self.lexicon.weekdays, self.get("w") or "")

    def unit(self) -> str:
        """The unit that is named."""
        return value(self.lexicon.units, self.get("unit") or "")

    def which(self) -> int | None:
        """Last, this or next as -1, 0, 1; none if nothing says so."""
        word = self.get("which")
        return value(self.lexicon.which, word) if word else None

    def how_many(self) -> float:
        """How many: one, if nothing says so; `_A_FEW` for a few."""
        word = self.get("n")
        if not word:
            return 1
        return int(word) if word.isdecimal() else value(self.lexicon.numbers, word)

    def year(self) -> int | None:
        """The year that is named."""
        digits = self.get("y")
        if not digits:
            return None
        found = int(digits)
        if found > self.today.year + _AHEAD:
            raise ValueError(digits)
        return found

    def follows(self, pattern: str) -> bool:
        """Whether what stands before the match ends so."""
        text = self.match.string[max(0, self.match.start() - 40) : self.match.start()]
        return re.search(rf"(?:{pattern})\s*$", text, re.IGNORECASE) is not None

    def in_doubt(self, word: str) -> bool:
        """Whether a month's name is in lower case and another word of the language too."""
        return word.islower() and re.fullmatch(self.lexicon.doubtful, word) is not None


Reading = Callable[[Asked], Period | None]
Framing = Callable[[Asked, Period], Period | None]


def _iso(asked: Asked) -> Period:
    return periods.day(date(asked.number("y"), asked.number("m"), asked.number("d")), exact=True)


def _iso_month(asked: Asked) -> Period:
    return periods.month(asked.number("y"), asked.number("m"))


def _dotted(asked: Asked) -> Period:
    year = asked.number("y")
    return periods.day(date(year if year > 99 else 2000 + year, asked.number("m"), asked.number("d")), exact=True)


def _slashed(asked: Asked) -> Period:
    """12/31/2023 or 31/12/2023; where both would do, the month is first."""
    first, second, year = asked.number("a"), asked.number("b"), asked.number("y")
    number, day = (second, first) if first > 12 else (first, second)
    return periods.day(date(year, number, day), exact=True)


def _day(asked: Asked) -> Period | None:
    """A day of a month. A doubtful month needs a year, an ordinal, or a word that only a date follows."""
    sure = asked.get("y") or asked.get("th") or not asked.in_doubt(asked.get("m") or "")
    if not (sure or asked.follows(asked.lexicon.introduces)):
        return None
    day = asked.number("d") if asked.get("d") else _ordinal_day(asked.get("dw") or "")
    return periods.day(_on(asked, day), exact=True)


def _days(asked: Asked) -> Period:
    """From one day of a month to another."""
    last = _on(asked, asked.number("d2"))
    return Period(last.replace(day=asked.number("d")), last, exact=True)


def _on(asked: Asked, day: int) -> date:
    """A day of the month that is named: in the year that is named, or the last one that is not to come."""
    year, number = asked.year(), asked.month()
    if year is not None:
        return date(year, number, day)
    for year in range(asked.today.year, asked.today.year - 8, -1):  # 29 February has to wait
        try:
            when = date(year, number, day)
        except ValueError:
            continue
        if when <= asked.today:
            return when
    raise ValueError(day)


_ORDINAL_DAYS: Final = (
    "перв",
    "втор",
    "трет",
    "четверт",
    "пят",
    "шест",
    "седьм",
    "восьм",
    "девят",
    "десят",
    "одиннадцат",
    "двенадцат",
    "тринадцат",
    "четырнадцат",
    "пятнадцат",
    "шестнадцат",
    "семнадцат",
    "восемнадцат",
    "девятнадцат",
    "двадцат",
)


def _ordinal_day(words: str) -> int:
    """The number in words such as «двадцать второго»."""
    *tens, last = words.lower().removesuffix("ьего").removesuffix("ого").split()
    if last == "тридцат":
        return 30
    base = {"двадцать": 20, "тридцать": 30}[tens[0]] if tens else 0
    return base + _ORDINAL_DAYS.index(last) + 1


def _month(asked: Asked) -> Period:
    year = asked.year()
    number = asked.month()
    return periods.month(year, number) if year is not None else _latest_month(asked, number)


def _latest_month(asked: Asked, number: int) -> Period:
    today, which = asked.today, asked.which()
    year = today.year - (number > today.month)
    if which is not None and which < 0 and number == today.month:
        year -= 1
    if which is not None and which > 0:
        year = today.year + (number <= today.month)
    return periods.month(year, number)


def _month_alone(asked: Asked) -> Period | None:
    """A month without a year, where something before it says that it is one."""
    word = asked.get("m") or ""
    if asked.get("which"):
        unsure = asked.in_doubt(word) and asked.follows("the|his|her|their|my|our")
        return None if unsure else _month(asked)
    if word.istitle() and re.fullmatch(asked.lexicon.names, word, re.IGNORECASE):
        return None
    return _month(asked) if asked.follows(asked.lexicon.introduces) else None


def _year(asked: Asked) -> Period | None:
    year = asked.year()
    return periods.year(year) if year is not None else None


def _year_alone(asked: Asked) -> Period | None:
    """A number that is a year by what stands before it."""
    return _year(asked) if asked.follows(asked.lexicon.introduces) else None


def _years(asked: Asked) -> Period | None:
    first, last = asked.year(), asked.number("y2")
    if first is None or not first < last <= asked.today.year + _AHEAD:
        return None
    return Period(date(first, 1, 1), date(last, 12, 31), exact=True)


def _season(asked: Asked) -> Period | None:
    """A season of a year, or the last, this or next one; alone the last that has begun, if it can be no other word."""
    name = value(asked.lexicon.seasons, asked.get("season") or "")
    year, which, today = asked.year(), asked.which(), asked.today
    if year is not None:
        return periods.season(name, year)
    if which is None and asked.get("alone") is None and not asked.follows(asked.lexicon.introduces):
        return None
    begun = [found for back in range(3) if (found := periods.season(name, today.year - back)).start <= today]
    if which is not None and which > 0:
        return Period(*periods.season(name, begun[0].start.year + 1)[:2])
    latest = begun[1] if which is not None and which < 0 and begun[0].end >= today else begun[0]
    return Period(*latest[:2])


def _weekday(asked: Asked) -> Period:
    """The last such day before today; alone it may be today."""
    which, weekday, today = asked.which(), asked.weekday(), asked.today
    if which is None:
        return periods.day(periods.latest_weekday(weekday, today + _DAY))
    if which == 0:
        return periods.day(periods.week(today).start + weekday * _DAY)
    if which > 0:
        return periods.day(periods.next_weekday(weekday, today))
    return periods.day(periods.latest_weekday(weekday, today))


def _weekday_of_week(asked: Asked) -> Period:
    """Tuesday of last week."""
    monday = periods.week(periods.moved(asked.today, asked.which() or 0, "week")).start
    return periods.day(monday + asked.weekday() * _DAY)


def _unit(asked: Asked) -> Period:
    """Last week, this month, next year."""
    unit = asked.unit()
    found = periods.around(unit, periods.moved(asked.today, asked.which() or 0, unit))
    return Period(*found[:2])


def _weekend(asked: Asked) -> Period:
    """The last weekend that has begun."""
    found = periods.weekend(asked.today)
    return found if found.start <= asked.today else periods.weekend(periods.moved(asked.today, -1, "week"))


def _past(asked: Asked) -> Period:
    """The last so many units up to today."""
    count = asked.how_many()
    steps = 6 if count == _A_FEW else round(count)
    return Period(periods.moved(asked.today, -steps, asked.unit()), asked.today)


def _past_few(asked: Asked) -> Period:
    return Period(periods.moved(asked.today, -6, asked.unit()), asked.today)


def _before_last(asked: Asked) -> Period:
    unit = asked.unit()
    return Period(*periods.around(unit, periods.moved(asked.today, -2, unit))[:2])


def _ago(asked: Asked) -> Period:
    unit, count, today = asked.unit(), asked.how_many(), asked.today
    if unit in ("hour", "minute"):
        days = round(count) // 24 if unit == "hour" and count > 0 else 0
        return Period(today - (days + (unit == "hour")) * _DAY, today - days * _DAY)
    return _distance(today, count, unit, -1)


def _distance(when: date, count: float, unit: str, sign: int) -> Period:
    if count == _A_FEW:
        return periods.a_few(when, unit, sign)
    if count != round(count):  # half a year, one and a half months
        whole = {"year": (12, "month"), "month": (30, "day"), "week": (7, "day"), "day": (1, "day")}[unit]
        there = periods.moved(when, sign * round(count * whole[0]), whole[1])
        blur = 45 if unit == "year" else 10
        return Period(there - blur * _DAY, there + blur * _DAY)
    return periods.counted(when, sign * round(count), unit)


def _fixed(asked: Asked) -> Period:
    first, last = value(asked.lexicon.fixed, " ".join(asked.match[0].split()))
    return Period(asked.today + first * _DAY, asked.today + last * _DAY)


def _part_of_current(asked: Asked) -> Period:
    """The end of the year: of this one, or of the last if it is still to come."""
    unit, index = asked.unit(), value(asked.lexicon.parts, asked.get("part") or "")
    now, before = (
        periods.part(periods.around(unit, periods.moved(asked.today, back, unit)), index, 3) for back in (0, -1)
    )
    return Period(*(now if now.start <= asked.today else before)[:2])


def _quarter(asked: Asked) -> Period | None:
    year = asked.year()
    return periods.quarter_of(year, asked.number("q")) if year is not None else None


READINGS: Final[Mapping[str, Reading]] = MappingProxyType(
    {
        "iso": _iso,
        "iso month": _iso_month,
        "dotted": _dotted,
        "slashed": _slashed,
        "day": _day,
        "days": _days,
        "month": _month,
        "month alone": _month_alone,
        "year": _year,
        "year alone": _year_alone,
        "years": _years,
        "season": _season,
        "weekday": _weekday,
        "weekday of week": _weekday_of_week,
        "unit": _unit,
        "weekend": _weekend,
        "past": _past,
        "past few": _past_few,
        "before last": _before_last,
        "ago": _ago,
        "fixed": _fixed,
        "part of current": _part_of_current,
        "quarter": _quarter,
    }
)


def _part(asked: Asked, whole: Period) -> Period | None:
    """Early, mid or late: a third."""
    if whole.start == whole.end:
        return None
    return periods.part(whole, value(asked.lexicon.parts, asked.get("part") or ""), 3)


def _half(asked: Asked, whole: Period) -> Period | None:
    index = value(asked.lexicon.ordinals, asked.get("ord") or "")
    return periods.part(whole, index, 2) if index in (0, 1) and whole.start != whole.end else None


def _ordinal_week(asked: Asked, whole: Period) -> Period | None:
    """The first week of a month is its first seven days; its last weekend the last that begins in it."""
    if (whole.end - whole.start).days < 27:
        return None
    index, unit = value(asked.lexicon.ordinals, asked.get("ord") or ""), asked.unit()
    if unit == "weekend":
        saturday = periods.next_weekday(5, whole.start - _DAY) + 7 * index * _DAY
        if index < 0:
            saturday = periods.latest_weekday(5, whole.end + _DAY)
        return Period(saturday, saturday + _DAY, whole.exact)
    if index < 0:
        return Period(whole.end - 6 * _DAY, whole.end, whole.exact)
    return Period(whole.start + 7 * index * _DAY, whole.start + (7 * index + 6) * _DAY, whole.exact)


def _beside(asked: Asked, anchor: Period) -> Period | None:
    """The weekend before a day, the week of it, two days after it."""
    sign = value(asked.lexicon.sides, asked.get("side") or "")
    if (anchor.end - anchor.start).days > 6:
        return None
    when = anchor.start if sign <= 0 else anchor.end
    if asked.get("w"):
        if sign == 0:
            return None
        weekday = asked.weekday()
        found = periods.latest_weekday(weekday, when) if sign < 0 else periods.next_weekday(weekday, when)
        return periods.day(found, exact=anchor.exact)
    unit = asked.unit()
    if sign == 0:
        return Period(*periods.around(unit, when)[:2], anchor.exact) if unit in ("week", "weekend") else None
    return Period(*_neighbour(asked, when, unit, sign)[:2], anchor.exact)


def _neighbour(asked: Asked, when: date, unit: str, sign: int) -> Period:
    if asked.get("n"):
        return _distance(when, asked.how_many(), unit, sign)
    if unit == "weekend":
        saturday = periods.latest_weekday(5, when) if sign < 0 else periods.next_weekday(5, when)
        return Period(saturday, min(saturday + _DAY, when - _DAY) if sign < 0 else saturday + _DAY)
    first, last = sorted((when + sign * _DAY, periods.moved(when, sign, unit)))
    return Period(first, last)


def _eve(_asked: Asked, anchor: Period) -> Period:
    return periods.day(anchor.start - _DAY, exact=anchor.exact)


FRAMINGS: Final[Mapping[str, Framing]] = MappingProxyType(
    {
        "part": _part,
        "half": _half,
        "ordinal week": _ordinal_week,
        "beside": _beside,
        "eve": _eve,
    }
)
