"""The two head files: which counts, when one is written, and what it may say."""

import json
import time

import pytest

from alveus import ChainState, Hippocampus
from alveus.journal.head import read_head
from alveus.journal.seal import Key
from alveus.store import stream as stream_room
from alveus.store.files import DISK, folder_locked
from alveus.store.heads import load_head
from forge import Bench, head_bytes, profile_lines
from scenes import AGENT
from simulator import MUTATING, Clock, Faulty


@pytest.fixture
def bench(home):
    """Eight records by hand, without a head yet."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", f"s{number}", "novel") for number in range(8)])
    return bench


def load(bench):
    """The head that counts."""
    return load_head(DISK, bench.stream, Key(bench.key))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_larger_head_counts(bench, order):
    """Of two valid heads the one with more records counts, whichever file it is in."""
    small, large = (bench.heads[number] for number in order)
    small.write_bytes(head_bytes(bench.lines[:3]))
    large.write_bytes(head_bytes(bench.lines[:5]))
    assert load(bench).size == 5


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_heads_of_one_size_the_later_counts(bench, order):
    """Of two heads of the same records the one written later counts: spec/journal.md, section 6."""
    early, late = (bench.heads[number] for number in order)
    early.write_bytes(head_bytes(bench.lines, time="2026-01-02T00:00:00.000000Z"))
    late.write_bytes(head_bytes(bench.lines, time="2026-01-02T00:00:00.000001Z", closed_through="2025-12-31"))
    assert load(bench).closed_through == "2025-12-31"


@pytest.mark.parametrize("spoiled", [0, 1])
@pytest.mark.parametrize("how", [b"", b"{}", b"torn", None])
def test_a_spoiled_head_leaves_the_other(bench, spoiled, how):
    """One torn, empty or missing head file does not matter while the other is whole."""
    bench.heads[1 - spoiled].write_bytes(head_bytes(bench.lines[:3]))
    if how is not None:
        bench.heads[spoiled].write_bytes(how)
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
        verdict = memory.verify_chain()
        assert (verdict.state, verdict.open_end) == (ChainState.OK_OPEN_END, 5)
        memory.record("decision", "goes on")
    assert load(bench).size == 9


def sizes(memory):
    """The sizes of the two heads there are, the smaller first."""
    found = []
    for number in (0, 1):
        path = memory.folder / f"stream.head.{number}"
        if path.exists():
            found.append(json.loads(path.read_bytes())["size"])
    return sorted(found)


def test_a_head_is_there_before_the_first_record(home):
    """Creation leaves a head of size 0: a journal is never without one."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        assert sizes(memory) == [0]
        assert memory.verify_chain().state is ChainState.EMPTY


def test_closing_writes_the_head(home):
    """After an orderly end the head counts every record, and its bytes are the stream's."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("state", "one")
        memory.record("state", "two")
    assert sizes(memory)[-1] == 2
    head = read_head(
        (memory.folder / "stream.head.1").read_bytes(), Key((home / "keys/river.journal.key").read_bytes())
    )
    assert head.bytes == (memory.folder / "stream.jsonl").stat().st_size


def test_the_two_files_are_written_in_turn(home):
    """A head replaces the smaller one, so that the larger survives whatever happens meanwhile."""
    for number in range(1, 6):
        with Hippocampus.open(home=home, agent_id=AGENT) as memory:
            memory.record("state", f"number {number}")
        assert sizes(memory) == [number - 1, number]


def test_while_writing_heads_are_at_most_256_records_apart(home):
    """A writer that never rests leaves no more than 256 records without a head, a sync of them apart."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for number in range(600):
            memory.record("state", f"number {number}")
            if number in (300, 570):
                memory.flush()
                wait_for(lambda least=number - 256: sizes(memory)[-1] >= least)


def test_while_writing_heads_are_at_most_a_second_apart(home, monkeypatch):
    """A writer that writes now and then writes a head with it."""
    monkeypatch.setattr(stream_room, "HEAD_SECONDS", 0.05)
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one")
        pause(0.06)
        memory.record("decision", "two")
        wait_for(lambda: sizes(memory)[-1] == 2)


def pause(seconds):
    """Let the clock run."""
    import time

    time.sleep(seconds)


def wait_for(true):
    """What happens in the background happens soon."""
    for _ in range(500):
        if true():
            return
        pause(0.01)
    raise AssertionError("it did not happen")


def test_a_head_that_cannot_be_written_fails_no_record(home):
    """The head is a lagging floor: a record is acknowledged without it, and the next one catches up."""
    files = Faulty(DISK)
    with Hippocampus.open(home=home, agent_id=AGENT, files=files) as memory:

        def no_heads(call, act, *_):
            if "head" in call.name and call.kind in MUTATING:
                raise OSError(28, "No space left on device")
            return act()

        files.fault = no_heads
        for number in range(520):
            memory.record("decision" if number % 50 == 0 else "state", f"number {number}")
        memory.flush()
        assert sizes(memory) == [0]
        assert memory.verify_chain().open_end == 520
        files.fault = None
    assert sizes(memory)[-1] == 520


def test_a_head_that_failed_at_the_last_record_is_written_at_the_end(home):
    """A head that was due with the last record and could not be written is written by the close."""
    files = Faulty(DISK)
    with Hippocampus.open(home=home, agent_id=AGENT, files=files) as memory:
        memory.record("decision", "one")

        def no_heads(call, act, *_):
            if "head" in call.name and call.kind in MUTATING:
                raise OSError(28, "No space left on device")
            return act()

        files.fault = no_heads
        for number in range(255):
            memory.record("state", f"number {number}")
        memory.flush()
        pause(0.2)
        files.fault = None
    assert sizes(memory)[-1] == 256


def test_a_day_once_closed_stays_closed_whoever_writes_the_head(home):
    """A writer that did not see a day being closed does not open it again with its next head."""
    clock = Clock()
    with (
        Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as one,
        Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as two,
    ):
        one.record("decision", "the first day")
        clock.set("2026-01-02")
        two.record("decision", "the second day")
        clock.set("2026-01-03")
        one.daily_anchor("2026-01-01")
        two.record("decision", "of the one that did not see it")
        two._agent.stream.save_head()
        two.record("decision", "and another")
    heads = [json.loads((one.folder / f"stream.head.{number}").read_bytes()) for number in (0, 1)]
    assert max(heads, key=lambda head: (head["size"], head["time"]))["closed_through"] == "2026-01-01"


def test_a_writer_waits_for_nobody_elses_head(home):
    """Where another process is writing a head, records are written and synced, and the head comes later."""
    with Hippocampus.open(home=home, agent_id=AGENT, lock_timeout=3600) as memory:
        before, log = sizes(memory)[-1], memory._agent.stream.log
        with folder_locked(DISK, memory.folder, 10, "the test"):
            for number in range(stream_room.HEAD_RECORDS + 1):
                memory.record("state", f"state {number}")
            assert log.synced >= stream_room.HEAD_RECORDS
            assert sizes(memory)[-1] == before
        while sizes(memory)[-1] == before:  # though nothing more is recorded
            time.sleep(0.01)


def test_two_writers_heads_never_go_back(home):
    """A slow writer's older head does not take the place of a newer one that another wrote."""
    with (
        Hippocampus.open(home=home, agent_id=AGENT) as one,
        Hippocampus.open(home=home, agent_id=AGENT) as two,
    ):
        one.record("decision", "one")
        with one._agent.stream.log.locked():
            one._agent.stream._mark()
        late = one._agent.stream._marked
        for number in range(5):
            two.record("decision", f"two {number}")
        two._agent.stream.save_head()
        best = sizes(one)[-1]
        one._agent.stream._write_head(*late, 10)
        assert sizes(one)[-1] >= best == 6
