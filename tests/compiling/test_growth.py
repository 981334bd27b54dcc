"""The trigger on a real journal: by record time, once each, across restarts and processes. spec/kernels.md, 6."""

import multiprocessing
import threading
from datetime import timedelta
from itertools import pairwise

import pytest

from alveus import Draft, Hippocampus, KernelError, Kind
from alveus.kernels import compiler
from alveus.kernels.digest import THRESHOLD
from plain_rules import compile_plainly
from simulator import Clock

LINE = 100_000


def journal_bytes(memory):
    """The bytes of everything that was appended."""
    return sum(path.stat().st_size for path in memory.folder.glob("stream*.jsonl"))


def fill(memory, size):
    """Records whose lines have together at most that many bytes, and nearly as many."""
    for _ in range(size // (LINE + 1_000)):
        memory.record("observation", "x" * LINE, src="user")


@pytest.fixture
def begun(memory):
    """A memory with kernels, from where growth counts."""
    memory.digest(now=True)
    return memory


def test_just_under_does_not_fire_and_one_record_more_does(begun):
    """The bytes of the lines are counted, each once."""
    start = begun.digest_status().bytes_since
    fill(begun, THRESHOLD - start)
    status = begun.digest_status()
    assert status.bytes_since == journal_bytes(begun) - begun.kernels().through.offset
    assert not status.due
    assert begun.digest() is None
    left = THRESHOLD - status.bytes_within
    begun.record("observation", "y" * (left - 2_000), src="user")
    assert THRESHOLD - 2_000 < begun.digest_status().bytes_within <= THRESHOLD
    assert begun.digest() is None
    begun.record("observation", "z" * 2_000, src="user")
    assert begun.digest_status().due
    assert begun.digest().digest == 2
    assert begun.digest() is None


def test_what_is_read_is_not_counted(begun):
    """Asking, packing and looking add nothing."""
    fill(begun, THRESHOLD // 2)
    before = begun.digest_status().bytes_since
    for _ in range(5):
        begun.context("x", 500)
        begun.pattern_completion("x")
        begun.digest_status()
    assert begun.digest_status().bytes_since == before


def test_a_trickle_over_days_does_not_fire(begun, clock):
    """Twelve hours at a time stay below."""
    for _ in range(6):
        fill(begun, THRESHOLD * 2 // 3)
        clock.advance(hours=12)
        assert begun.digest() is None
    assert begun.digest_status().bytes_since > 3 * THRESHOLD


def test_a_burst_of_twenty_mebibytes_fires_once(begun):
    """However far past the threshold, and however often somebody looks."""
    begun.record_many([Draft(kind=Kind.OBSERVATION, content="x" * 500_000) for _ in range(40)])
    assert begun.digest_status().bytes_since > 12 * THRESHOLD
    made = [begun.digest() for _ in range(4)]
    assert [one is not None for one in made] == [True, False, False, False]


def test_a_restart_in_the_middle_loses_no_byte(home, clock, begun):
    """Whether its state was kept or not."""
    fill(begun, THRESHOLD // 2)
    assert begun.digest() is None
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as other:
        fill(other, THRESHOLD // 2)
        half = other.digest_status()
        (other.folder / "digests" / "telemetry.json").unlink()
        assert other.digest_status() == half
        other.record("observation", "x" * LINE, src="user")
        other.record("observation", "x" * LINE, src="user")
        assert other.digest().digest == 2
    assert begun.digest() is None


def test_a_change_of_key_loses_no_byte(begun):
    """The closed chain counts with the one that continues it."""
    fill(begun, THRESHOLD // 2)
    begun.rotate()
    fill(begun, THRESHOLD // 2 + 3 * LINE)
    assert begun.digest_status().due
    assert begun.digest() is not None
    assert begun.digest_status().bytes_since < 10_000


def test_a_clock_step_back_neither_fires_nor_forgets(begun, clock):
    """Records follow the last one then; their bytes fall into its window."""
    fill(begun, THRESHOLD * 2 // 3)
    clock.jump(hours=-20)
    begun.record("observation", "x", src="user", force_clock=True)
    assert begun.digest() is None
    fill(begun, THRESHOLD // 2)
    assert begun.digest() is not None


def test_a_clock_step_forward_ends_the_window(begun, clock):
    """What was recorded a day before by the records' own time is not of these twelve hours."""
    fill(begun, THRESHOLD * 2 // 3)
    clock.jump(days=1)
    begun.record("observation", "x", src="user", force_clock=True)
    fill(begun, THRESHOLD * 2 // 3)
    assert begun.digest() is None
    assert begun.digest_status().bytes_since > THRESHOLD


def test_a_failing_pipeline_is_due_until_it_succeeds(begun, monkeypatch):
    """The failure costs no byte of what was counted."""
    fill(begun, THRESHOLD + 3 * LINE)
    with monkeypatch.context() as patch:
        patch.setattr("alveus.kernels.compiler.compile_kernels", lambda *_, **__: 1 / 0)
        for _ in range(2):
            with pytest.raises(KernelError):
                begun.digest()
    assert begun.digest_status().due
    assert any("outgrew" in mark for mark in begun.marks())
    assert begun.digest() is not None
    assert begun.marks() == ()


def test_two_watchers_at_once_make_one_digest(home, clock, begun):
    """Threads with memories of their own, which see at once that it is due."""
    fill(begun, THRESHOLD + 3 * LINE)
    start, made = threading.Barrier(4), []

    def watch():
        with Hippocampus.open(home=home, agent_id="river", clock=clock, lock_timeout=60) as memory:
            start.wait()
            made.append(memory.digest())

    threads = [threading.Thread(target=watch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one is not None for one in made].count(True) == 1
    assert begun.digest_status().digest == 2


def _watch(home, start, made):
    compiler.compile_kernels = compile_plainly
    with Hippocampus.open(home=home, agent_id="river", clock=Clock(), lock_timeout=60) as memory:
        start.wait()
        made.put(memory.digest() is not None)


def test_two_processes_at_once_make_one_digest(home, begun):
    """The lock is the operating system's."""
    fill(begun, THRESHOLD + 3 * LINE)
    context = multiprocessing.get_context("spawn")
    start, made = context.Barrier(3), context.Queue()
    processes = [context.Process(target=_watch, args=(home, start, made)) for _ in range(3)]
    for process in processes:
        process.start()
    found = [made.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert sorted(found) == [False, False, True]


def test_a_day_of_two_hundred_turns(begun, rule, clock):
    """Five digests: the prefix changes five times at most, byte for byte, and no pack passes its budget."""
    prefixes, digests = [], 0
    for turn in range(200):
        clock.advance(seconds=timedelta(days=1).total_seconds() / 200)
        if turn % 10 == 0:
            rule(begun, f"rule{turn}", f"text of turn {turn} that is as long as a rule is", session=f"s{turn}")
        begun.record("observation", f"turn {turn} " + "x" * 45_000, src="user", session=f"s{turn}")
        if begun.digest() is not None:
            digests += 1
        pack = begun.context(f"what about turn {turn}?", 4_000, top_k=5)
        assert pack.tokens <= 4_000
        prefixes.append(pack.text[: pack.stable])
    assert digests == 5
    assert sum(one != other for one, other in pairwise(prefixes)) <= 5
    assert len(set(prefixes)) <= 6
    assert "text of turn 0 " in prefixes[-1]
