"""Stretches of days, and the arithmetic of calendars on them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final, NamedTuple


class Period(NamedTuple):
    """Days from `start` to `end`, both included."""

    start: date
    end: date
    exact: bool = False
    """Whether a date of the calendar was named, rather than a distance from today."""


SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The first month of each."""

_DAY: Final = timedelta(days=1)
_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LENGTH: Final = {"day": 1, "week": 7}
_BLUR: Final = {"day": 0, "week": 3, "month": 15}
"""Days by which people miss when they count back in a unit."""


def day(when: date, *, exact: bool = False) -> Period:
    """One day."""
    return Period(when, when, exact)


def month(year_: int, number: int) -> Period:
    """A month of the calendar."""
    return Period(date(year_, number, 1), date(year_, number, days_of(year_, number)), exact=True)


def year(number: int) -> Period:
    """A year of the calendar."""
    return Period(date(number, 1, 1), date(number, 12, 31), exact=True)


def season(name: str, year_: int) -> Period:
    """Three months; the winter of a year is the one that begins in it."""
    first = SEASONS[name]
    return Period(date(year_, first, 1), month(*_month_on(year_, first, 2)).end, exact=True)


def week(when: date) -> Period:
    """The days from Monday to Sunday around one."""
    monday = when - when.weekday() * _DAY
    return Period(monday, monday + 6 * _DAY)


def weekend(when: date) -> Period:
    """The Saturday and Sunday that end the week of a day."""
    return Period(week(when).start + 5 * _DAY, week(when).end)


def quarter(when: date) -> Period:
    """The quarter of the year around a day."""
    return quarter_of(when.year, (when.month + 2) // 3)


def quarter_of(year_: int, number: int) -> Period:
    """A quarter, counted from 1."""
    return Period(date(year_, 3 * number - 2, 1), month(year_, 3 * number).end, exact=True)


def around(unit: str, when: date) -> Period:
    """The period of a unit that a day lies in."""
    if unit == "month":
        return month(when.year, when.month)
    if unit == "year":
        return year(when.year)
    return {"day": day, "week": week, "weekend": weekend, "quarter": quarter}[unit](when)


def moved(when: date, count: int, unit: str) -> date:
    """A day so many units later. The day of the month is kept where that month has it."""
    if unit in ("month", "quarter", "year"):
        months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
        year_, number = _month_on(when.year, when.month, months)
        return date(year_, number, min(when.day, days_of(year_, number)))
    return when + count * _LENGTH.get(unit, 7) * _DAY


def days_of(year_: int, number: int) -> int:
    """How many days a month has. By hand: `calendar` brings the system's locales."""
    leap = year_ % 4 == 0 and (year_ % 100 != 0 or year_ % 400 == 0)
    return 29 if number == 2 and leap else _DAYS[number - 1]


def _month_on(year_: int, number: int, months: int) -> tuple[int, int]:
    years, index = divmod(year_ * 12 + number - 1 + months, 12)
    return years, index + 1


def counted(when: date, count: int, unit: str) -> Period:
    """What somebody means who counts so many units from a day: longer units are counted less carefully."""
    there = moved(when, count, unit)
    if unit in ("year", "quarter", "weekend"):
        return Period(*around(unit, there)[:2])
    return Period(there - _BLUR[unit] * _DAY, there + _BLUR[unit] * _DAY)


def a_few(when: date, unit: str, sign: int) -> Period:
    """Some units before (-1) or after (1) a day."""
    first, last = sorted((moved(when, 2 * sign, unit), moved(when, 6 * sign, unit)))
    return Period(first, last)


def latest_weekday(weekday: int, before: date) -> date:
    """The last such day of the week before a day."""
    return before - ((before.weekday() - weekday - 1) % 7 + 1) * _DAY


def next_weekday(weekday: int, after: date) -> date:
    """The first such day of the week after a day."""
    return after + ((weekday - after.weekday() - 1) % 7 + 1) * _DAY


def part(whole: Period, index: int, count: int) -> Period:
    """One of `count` equal parts of a period."""
    days = (whole.end - whole.start).days + 1
    start = whole.start + days * index // count * _DAY
    return Period(start, whole.start + (days * (index + 1) // count - 1) * _DAY, whole.exact)
