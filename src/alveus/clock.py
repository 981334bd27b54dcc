"""Time for the journal: spec/journal.md, section 7, "Clock".

Timestamps rise strictly, so a clock that once ran far ahead would stamp every later record wrongly. A wall clock is
therefore held against the machine's steady clock, which counts suspension: an idle weekend is not a jump.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple, Protocol

from alveus.errors import InputError, StoreError
from alveus.journal.seal import format_time

JUMP_SECONDS: Final = 24 * 3600.0
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SECOND: Final = timedelta(seconds=1)
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The wall clock, in UTC and aware of it."""
        ...

    def steady(self) -> float:
        """Seconds that only ever advance, also while the machine sleeps."""
        ...


class SystemClock:
    """The machine's own."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def steady(self) -> float:
        return time.clock_gettime(_STEADY)


class Tick(NamedTuple):
    """A record's timestamp, and `back` where the clock stood before the last record."""

    timestamp: str
    clock: str | None


class Ticker:
    """Gives each record its timestamp."""

    def __init__(self, clock: Clock) -> None:
        if clock.now().utcoffset() != timedelta(0):
            raise InputError("the clock does not give the time in UTC", hint="datetime.now(UTC)")
        self._clock = clock
        self._wall, self._steady = clock.now().timestamp(), clock.steady()
        self._looked = _NEVER, _NEVER, ""

    def today(self) -> date:
        """The current UTC day."""
        return self._clock.now().date()

    def tick(self, last: str, closed_through: str | None, *, force: bool) -> Tick:
        """The next timestamp after `last` and after the closed days. Raises StoreError for a clock that jumped."""
        now = self._clock.now()
        start, end, prefix = self._looked
        if not start <= now < end:  # within a second nothing jumps
            prefix = self._look(now, force=force)
        timestamp = "%s%06dZ" % (prefix, now.microsecond)  # noqa: UP031  (`format_time` takes thrice as long)
        floor = last if closed_through is None else max(last, f"{closed_through}T23:59:59.999999Z")
        if timestamp <= floor:
            return Tick(format_time(parse_time(floor) + _MICROSECOND), "back" if timestamp < last else None)
        return Tick(timestamp, None)

    def _look(self, now: datetime, *, force: bool) -> str:
        """Hold a new second against the steady clock; how it is spelled."""
        wall, steady = now.timestamp(), self._clock.steady()
        ahead = (wall - self._wall) - (steady - self._steady)
        if ahead > JUMP_SECONDS and not force:
            raise StoreError(
                f"the clock jumped {ahead / 3600:.0f} hours ahead, to {format_time(now)}",
                code="clock_jump",
                hint="set the clock; if it is right now, record once with --force-clock (force_clock=True)",
            )
        if ahead >= 0 or force:  # a clock that was set back and returns has not jumped
            self._wall, self._steady = wall, steady
        start, prefix = now.replace(microsecond=0), format_time(now)[:20]
        self._looked = start, start + _SECOND, prefix
        return prefix


def parse_time(text: str) -> datetime:
    """The instant of a timestamp in the journal's form."""
    return datetime.fromisoformat(text)
