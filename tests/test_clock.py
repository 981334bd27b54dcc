"""Time: timestamps rise strictly, a clock set back is said, a clock that jumps ahead is refused."""

from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus import Hippocampus, StoreError
from alveus.clock import SystemClock, Ticker, format_time, parse_time
from scenes import AGENT
from simulator import Clock


@pytest.fixture
def memory(home, clock):
    """A journal by the clock in hand."""
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        yield memory


def test_a_timestamp_is_now(memory, clock):
    """Where nothing stands against it, a record's timestamp is the clock's time, to the microsecond."""
    clock.advance(microseconds=123456)
    record = memory.record("state", "one")
    assert record.timestamp == "2026-01-01T12:00:00.123456Z"
    assert record.hc.clock is None


def test_a_clock_that_stands_still(memory):
    """Records of one instant are a microsecond apart, and that is no clock set back."""
    records = [memory.record("state", f"n{number}") for number in range(3)]
    assert [record.timestamp[-7:] for record in records] == ["000000Z", "000001Z", "000002Z"]
    assert records[1].hc.clock is None


@pytest.mark.parametrize("hours", [1, 24, 1000, 200_000])
def test_a_clock_set_back(memory, clock, hours):
    """The next timestamp still rises, and the record says that the clock stood before it."""
    before = memory.record("state", "one")
    clock.jump(hours=-hours)
    record = memory.record("state", "two")
    assert record.hc.clock == "back"
    assert parse_time(record.timestamp) - parse_time(before.timestamp) == timedelta(microseconds=1)
    clock.jump(hours=hours)
    clock.advance(seconds=1)
    assert memory.record("state", "three").hc.clock is None
    assert memory.verify_chain()


@pytest.mark.parametrize("days", [1.01, 30, 36500])
def test_a_jump_ahead_is_refused_unless_forced(memory, clock, days):
    """A wall clock that ran away from the steady one dates nothing; forced, it is believed once and for all."""
    memory.record("state", "one")
    clock.jump(days=days)
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            memory.record("decision", "refused")
        assert caught.value.code == "clock_jump"
        assert "force" in caught.value.hint
    assert memory.size() == 1
    record = memory.record("decision", "forced", force_clock=True)
    assert parse_time(record.timestamp) == clock.now()
    memory.record("decision", "not refused any more")
    assert memory.verify_chain().size == 3


def test_a_jump_that_was_mended_is_forgotten(memory, clock):
    """The clock put right again, everything goes on."""
    memory.record("state", "one")
    clock.jump(days=400)
    with pytest.raises(StoreError):
        memory.record("state", "refused")
    clock.jump(days=-400)
    clock.advance(minutes=1)
    assert memory.record("state", "two").timestamp == "2026-01-01T12:01:00.000000Z"


@pytest.mark.parametrize("days", [0.9, 3, 400])
def test_idling_and_sleeping_are_no_jumps(memory, clock, days):
    """Time that the steady clock counted too is time that passed."""
    memory.record("state", "one")
    clock.advance(days=days)
    assert memory.record("state", "two").hc.clock is None


def test_a_small_step_ahead_is_no_jump(memory, clock):
    """Up to a day, as by a wrong time zone set right, is believed."""
    memory.record("state", "one")
    clock.jump(hours=23.9)
    memory.record("state", "two")


def test_many_small_steps_ahead_are_seen_one_by_one(memory, clock):
    """Between two readings, says the specification: slow drift is not a jump."""
    for number in range(5):
        clock.jump(hours=20)
        memory.record("state", f"n{number}")
    assert memory.verify_chain()


def test_a_restart_is_no_jump(home, clock):
    """A new process has no earlier reading to compare with, however long the machine was off."""
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        memory.record("state", "one")
    clock = Clock("2031-05-05T00:00:00Z")
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        assert memory.record("state", "two").timestamp == "2031-05-05T00:00:00.000000Z"


def test_after_a_closed_day_time_goes_on_the_day_after(memory, clock):
    """A closed day accepts no more records: whatever the clock says, the next one is of a later day."""
    memory.record("state", "the first day")
    clock.set("2026-01-02")
    memory.record("state", "the second day")
    clock.set("2026-01-03")
    anchored = memory.daily_anchor("2026-01-01")
    clock.jump(days=-3)
    record = memory.record("state", "by a clock set back")
    assert record.timestamp > "2026-01-02"
    assert memory.daily_anchor("2026-01-01").payload == anchored.payload
    assert memory.verify_chain().days == ("2026-01-01",)


def test_a_closed_day_stays_closed_in_the_next_chain(memory, clock):
    """A new chain has no record yet, and still dates nothing into a day that was closed before it."""
    memory.record("state", "the first day")
    clock.set("2026-01-02")
    memory.record("state", "the second day")
    clock.set("2026-01-03")
    anchored = memory.daily_anchor("2026-01-01")
    clock.jump(days=-2)
    memory.rotate()
    record = memory.record("state", "in the new chain")
    assert record.timestamp >= "2026-01-02"
    assert memory.daily_anchor("2026-01-01").payload == anchored.payload
    assert memory.verify_chain()


MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS)
def test_times_are_written_in_one_form_and_read_back(moment):
    """Six decimals and Z, also in years of three digits; text order is time order."""
    text = format_time(moment)
    assert len(text) == 27
    assert parse_time(text) == moment


@given(MOMENTS, MOMENTS)
def test_text_order_is_time_order(one, two):
    """Timestamps compare as strings."""
    assert (format_time(one) < format_time(two)) == (one < two)


@given(st.lists(st.integers(-(10**11), 10**11), max_size=20))
def test_whatever_the_clock_does_timestamps_rise(steps):
    """Any course of the clock, forced where it jumps, gives strictly rising timestamps."""
    clock = Clock("2026-01-01T12:00:00Z")
    ticker, last = Ticker(clock), ""
    for step in steps:
        clock.jump(milliseconds=step)
        tick = ticker.tick(last, None, force=True)
        assert tick.timestamp > last
        last = tick.timestamp


def test_the_machines_clocks():
    """The real ones: aware of UTC, and a steady one that does not go back."""
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.steady() <= clock.steady()
