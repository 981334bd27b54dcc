"""Many processes and threads on one journal: one chain, no gap, nothing twice; readers never see a bad record."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

from alveus import (
    AlveusError,
    ChainState,
    Draft,
    Hippocampus,
    InputError,
    Kind,
    Locked,
    NotFound,
    Stored,
)
from alveus.store.files import Disk
from simulator import Clock, Faulty

WRITER = Path(__file__).parent / "writer.py"


class Writers:
    """Processes that begin together."""

    def __init__(self, home, jobs):
        self.home = home
        self.processes = [
            subprocess.Popen(
                [sys.executable, WRITER, home, f"w{number}", str(count), extra],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number, (count, extra) in enumerate(jobs)
        ]
        time.sleep(0.5)  # they have started and wait
        (home.parent / "go").touch()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def running(self):
        """Whether any is still at work."""
        return any(process.poll() is None for process in self.processes)

    def wait(self):
        """Wait for them all; none may have failed."""
        for process in self.processes:
            process.wait(timeout=240)
            assert process.returncode == 0, process.stderr.read()


def check(home, expected):
    """One chain without a gap, in which each writer's records stand in its order; returns the contents."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        records = list(memory.iter_records())
        verdict = memory.verify_chain()
    assert verdict, verdict.fault
    assert verdict.state is ChainState.OK_TO_HEAD
    assert verdict.size == len(records)
    contents = [record.content for record in records if record.hc.src == "agent"]
    assert Counter(contents) == Counter(expected)
    for name in {content.partition("-")[0] for content in expected}:
        mine = [content for content in contents if content.startswith(f"{name}-")]
        assert mine == sorted(mine, key=lambda content: int(content.rpartition("-")[2]))
    return records


@pytest.mark.parametrize("count", [500, pytest.param(2000, marks=pytest.mark.prove)])
def test_four_processes_write_one_chain_while_a_reader_polls(home, count):
    """All records of four processes are in one chain without a gap; a reader meanwhile never sees a bad one."""
    Hippocampus.open(home=home, agent_id="river").close()
    polls, last = 0, 0
    with (
        Writers(home, [(count, "")] * 4) as writers,
        Hippocampus.open(home=home, agent_id="river", read_only=True) as reader,
    ):
        while writers.running():
            polls += 1
            size = reader.size()
            assert size >= last
            last = size
            seen = [record.hc.seq for record in reader.iter_records()]
            assert seen == list(range(len(seen)))
            assert len(seen) >= last
            assert not reader.selective_load(500).left_out
            assert not reader.pattern_completion("w1-1").left_out
            verdict = reader.verify_chain()
            assert verdict, verdict.fault
            assert verdict.size >= last
        writers.wait()
    assert polls
    records = check(home, [f"w{name}-{number}" for name in range(4) for number in range(count)])
    assert [record.hc.seq for record in records] == list(range(4 * count))


def test_batches_of_several_processes_stay_together(home):
    """A batch is appended under one lock: no other writer's record stands inside it."""
    with Writers(home, [(200, "batch")] * 3) as writers:
        writers.wait()
    records = check(home, [f"w{name}-{number}" for name in range(3) for number in range(200)])
    for start in range(0, len(records), 10):
        names = {record.content.partition("-")[0] for record in records[start : start + 10]}
        assert len(names) == 1


def test_several_processes_import_one_source_once(home):
    """An item of a source is recorded once, however many import it at the same time."""
    with Writers(home, [(300, "sources")] * 3) as writers:
        writers.wait()
    check(home, [f"item {number}" for number in range(300)])


@pytest.mark.parametrize("attempt", range(3))
def test_several_processes_create_one_journal(home, attempt):  # noqa: ARG001 - three times over
    """Processes that begin at once, where nothing is yet, begin one journal under one key."""
    with Writers(home, [(3, "create")] * 5) as writers:
        writers.wait()
    check(home, [f"w{name}-{number}" for name in range(5) for number in range(3)])
    assert sorted(path.name for path in (home / "keys").iterdir()) == ["river.journal.key"]


def test_two_rotate_while_others_write_and_a_reader_polls(home):
    """Keys change again and again under writers and a reader: no record is lost, doubled, or seen as bad."""
    Hippocampus.open(home=home, agent_id="river").close()
    with (
        Writers(home, [(100, "rotate"), (100, "rotate"), (150, ""), (150, "")]) as writers,
        Hippocampus.open(home=home, agent_id="river", read_only=True) as reader,
    ):
        while writers.running():
            for record in reader.iter_records():
                assert record.content
            assert not reader.selective_load(500).left_out
            verdict = reader.verify_chain()
            assert verdict, verdict.fault
        writers.wait()
    expected = [f"w{name}-{number}" for name, count in enumerate((100, 100, 150, 150)) for number in range(count)]
    check(home, expected)


def run_threads(count, act):
    """Run `act(number)` in threads; their exceptions come out here."""
    errors = []

    def guarded(number):
        try:
            act(number)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_eight_threads_record_durably(home):
    """Threads share one instance and its syncs: one chain, each thread's records in its order."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        run_threads(8, lambda name: [memory.record("decision", f"w{name}-{number}") for number in range(50)])
    check(home, [f"w{name}-{number}" for name in range(8) for number in range(50)])


def test_one_sync_serves_many_threads(home):
    """Durable records of threads that wait together are synced together."""

    class Slow(Disk):
        def datasync(self, fd):
            time.sleep(0.01)
            super().datasync(fd)

    files = Faulty(Slow())
    with Hippocampus.open(home=home, agent_id="river", files=files) as memory:
        run_threads(8, lambda name: [memory.record("decision", f"w{name}-{number}") for number in range(10)])
        syncs = sum(call.kind == "datasync" for call in files.calls)
    assert syncs < 40


def test_threads_that_record_at_once_share_nearly_every_sync(home):
    """What comes in while a sync is under way is written together and synced by one that follows it."""

    class Slow(Disk):
        def datasync(self, fd):
            time.sleep(0.02)
            super().datasync(fd)

    files = Faulty(Slow())
    with Hippocampus.open(home=home, agent_id="river", files=files) as memory:
        run_threads(8, lambda name: [memory.record("decision", f"w{name}-{number}") for number in range(10)])
        calls = [call.kind for call in files.calls if call.name == "stream.jsonl"]
    assert calls.count("datasync") < 30
    assert calls.count("write") < 40
    check(home, [f"w{name}-{number}" for name in range(8) for number in range(10)])


def test_a_thread_that_is_interrupted_while_it_waits_keeps_no_other_waiting(home):
    """Ctrl-C in one of the threads that wait for each other's syncs: the others go on, or are told, and end."""

    class Slow(Disk):
        def datasync(self, fd):
            time.sleep(0.003)
            super().datasync(fd)

    def interrupt(*_):
        raise KeyboardInterrupt

    acknowledged = []

    def act(name):
        for number in range(60):
            with contextlib.suppress(AlveusError):
                memory.record("decision" if number % 5 else "state", f"w{name}-{number}")
                acknowledged.append(f"w{name}-{number}")

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # Hypothesis is told of every collection, and an interrupt there is nobody's
    try:
        memory = Hippocampus.open(home=home, agent_id="river", files=Slow(), lock_timeout=0.2)
        threads = [threading.Thread(target=act, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for number in range(40):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.002 + number % 7 * 0.001)
                for _ in range(30):
                    with contextlib.suppress(AlveusError):
                        memory.record("decision", "of the thread that is interrupted")
                signal.setitimer(signal.ITIMER_REAL, 0)
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        with contextlib.suppress(AlveusError):
            memory.close()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    with Hippocampus.open(home=home, agent_id="river") as memory:
        assert memory.verify_chain(), memory.verify_chain().fault
        contents = Counter(record.content for record in memory.iter_records())
        assert all(contents[one] == 1 for one in acknowledged)


def test_threads_that_read_write_flush_and_anchor(home):
    """Whatever several threads do with one instance at the same time, none gets an error and the chain is whole."""
    clock = Clock()
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        memory.record("decision", "the first day")
        clock.set("2026-01-03")
        memory.record("decision", "the third day")

        def act(name):
            for number in range(30):
                match name:
                    case 0 | 1:
                        memory.record("state", f"w{name}-{number}")
                    case 2:
                        memory.record_many([Draft(kind=Kind.STATE, content=f"w2-{number}", origin=f"t:t:{number}")])
                    case 3:
                        memory.flush()
                    case 4:
                        assert memory.context("first day", 300).text
                        assert memory.selective_load(100)
                    case 5:
                        assert memory.daily_anchor("2026-01-01").payload["count"] == 1
                    case 6:
                        assert memory.verify_chain()
                    case 7:
                        assert memory.checkpoint()

        run_threads(8, act)
    expected = ["the first day", "the third day"]
    check(home, expected + [f"w{name}-{number}" for name in range(3) for number in range(30)])


def test_threads_go_on_while_another_instance_rotates(home):
    """Threads that record while the journal moves from under them see neither an error nor a loss."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        memory.record("state", "w9-0")

        def act(name):
            if name == 0:
                with Hippocampus.open(home=home, agent_id="river") as other:
                    for _ in range(4):
                        other.rotate()
                        time.sleep(0.02)
                return
            for number in range(60):
                memory.record("decision" if number % 5 == 0 else "state", f"w{name}-{number}")
                if number % 20 == 0:
                    list(memory.iter_records())

        run_threads(4, act)
    check(home, ["w9-0", *(f"w{name}-{number}" for name in range(1, 4) for number in range(60))])


def test_origins_of_many_threads_are_known_afterwards(home):
    """What threads imported side by side is there once, and a second import finds all of it."""

    def drafts(name):
        return [Draft(kind=Kind.STATE, content=f"{name} {n}", origin=f"t:{name}:{n}") for n in range(80)]

    with Hippocampus.open(home=home, agent_id="river") as memory:
        run_threads(6, lambda name: [memory.record_many([one]) for one in drafts(name)])
        outcomes = [outcome for name in range(6) for outcome in memory.record_many(drafts(name))]
        assert {outcome.status for outcome in outcomes} == {Stored.KNOWN}
    with Hippocampus.open(home=home, agent_id="river") as memory:
        outcomes = [outcome for name in range(6) for outcome in memory.record_many(drafts(name))]
        assert {outcome.status for outcome in outcomes} == {Stored.KNOWN}
        assert memory.size() == 480


def test_two_instances_in_one_process_take_turns(home):
    """Two instances are two writers: each sees the other's records before it adds its own."""
    with (
        Hippocampus.open(home=home, agent_id="river") as one,
        Hippocampus.open(home=home, agent_id="river") as two,
    ):
        for number in range(20):
            record = (one, two)[number % 2].record("state", f"w0-{number}")
            assert record.hc.seq == number
            assert [found.hc.seq for found in (two, one)[number % 2].iter_records()] == list(range(number + 1))
    check(home, [f"w0-{number}" for number in range(20)])


def test_a_forked_child_opens_anew(home):
    """A child of a fork has its own descriptor and lock: parent and child write side by side, one chain."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        memory.record("decision", "w0-0", origin="t:t:0")
        children = []
        for name in (1, 2):
            child = os.fork()
            if child == 0:
                status = 1
                with contextlib.suppress(BaseException):
                    for number in range(50):
                        memory.record(
                            "decision" if number % 5 == 0 else "state", f"w{name}-{number}", origin=f"t:{name}:{number}"
                        )
                    memory.flush()
                    status = 0
                os._exit(status)
            children.append(child)
        for number in range(1, 50):
            memory.record("state", f"w0-{number}", origin=f"t:0:{number}")
        for child in children:
            assert os.waitpid(child, 0)[1] == 0
    check(home, [f"w{name}-{number}" for name in range(3) for number in range(50)])
    with Hippocampus.open(home=home, agent_id="river") as memory:
        again = memory.record_many([Draft(kind=Kind.STATE, content="w1-7", origin="t:1:7")])
        assert again[0].status is Stored.KNOWN


def test_a_lock_that_is_not_let_go_is_told_in_time(home):
    """A writer waits a bounded time for another one and then says that it did; readers do not wait at all."""
    with (
        Hippocampus.open(home=home, agent_id="river") as holder,
        Hippocampus.open(home=home, agent_id="river", lock_timeout=0.2) as waiter,
    ):
        holder.record("decision", "held")
        with holder._agent.stream.log.locked():
            began = time.monotonic()
            with pytest.raises(Locked) as caught:
                waiter.record("state", "late")
            assert 0.1 < time.monotonic() - began < 5
            assert caught.value.code == "locked"
            assert caught.value.hint
            assert [record.content for record in waiter.iter_records()] == []
            with Hippocampus.open(home=home, agent_id="river", read_only=True) as reader:
                assert [record.content for record in reader.iter_records()] == ["held"]
                assert reader.verify_chain()
                assert reader.context("held", 100).sources
            with pytest.raises(Locked):
                Hippocampus.open(home=home, agent_id="river", lock_timeout=0.1)
        waiter.record("state", "in the end")
    check(home, ["held", "in the end"])


def test_a_writer_that_died_with_the_lock_holds_nobody_up(home):
    """The lock goes with the process that held it: no orphan has to be removed by hand."""
    Hippocampus.open(home=home, agent_id="river").close()
    child = os.fork()
    if child == 0:
        memory = Hippocampus.open(home=home, agent_id="river")
        memory._agent.stream.log.lock()
        os._exit(0)
    os.waitpid(child, 0)
    with Hippocampus.open(home=home, agent_id="river", lock_timeout=0.5) as memory:
        memory.record("decision", "w0-0")
    check(home, ["w0-0"])


def test_a_scope_that_is_misspelled_is_told(home):
    """Another agent's name is another journal: without leave to create it is an error, not an empty answer."""
    Hippocampus.open(home=home, agent_id="river").close()
    with pytest.raises(NotFound) as caught:
        Hippocampus.open(home=home, agent_id="rivver", create=False)
    assert "rivver" in caught.value.message
    assert caught.value.hint
    assert not (home / "agents" / "rivver").exists()
    with pytest.raises(InputError):
        Hippocampus.open(home=home, agent_id="")


def test_a_reader_outlives_a_write_that_was_taken_back(home):
    """A reader that saw the beginning of a batch the disk did not take goes on with what was recorded instead."""
    files = Faulty(Disk())

    def half(call, act, files, arguments):
        if call.kind == "write" and call.name == "stream.jsonl":
            fd, data = arguments
            files.below.write(fd, data[: data.index(b"\n") + 40])
            assert reader.size() == 2  # a whole line lies there, for the moment
            return 0
        return act()

    with Hippocampus.open(home=home, agent_id="river", files=files) as memory:
        memory.record("decision", "kept")
        with Hippocampus.open(home=home, agent_id="river", read_only=True) as reader:
            files.fault = half
            with pytest.raises(Exception, match="nothing was recorded"):
                memory.record_many([Draft(kind=Kind.STATE, content=f"taken back {n}") for n in range(3)])
            files.fault = None
            assert [record.content for record in reader.iter_records()] == ["kept"]
            memory.record("decision", "what came instead")
            memory.record("decision", "and more")
            contents = [record.content for record in reader.iter_records()]
            assert contents == ["kept", "what came instead", "and more"]
            assert reader.selective_load(1000).left_out == ()


def test_a_reader_does_not_gather_the_journal_in_memory(home):
    """A reader that follows a writer keeps places, not records."""
    with (
        Hippocampus.open(home=home, agent_id="river") as memory,
        Hippocampus.open(home=home, agent_id="river", read_only=True) as reader,
        Hippocampus.open(home=home, agent_id="river") as idle,
    ):
        for number in range(600):
            memory.record("state", f"w0-{number}")
            if number % 100 == 99:
                assert reader.size() == idle.size() == number + 1
        time.sleep(0.2)  # the idle writer's background sync
        for one in (reader, idle):
            assert len(one._agent.stream.log._pending) < 600


def test_threads_share_a_reader(home):
    """Threads that use one read-only instance while a writer works each see a whole prefix of the journal."""
    files = Faulty(Disk())
    with (
        Hippocampus.open(home=home, agent_id="river") as memory,
        Hippocampus.open(home=home, agent_id="river", read_only=True, files=files) as reader,
    ):
        threads = []

        def while_another_reads(call, act, *_):
            data = act()
            if call.kind == "read" and not threads:
                threads.append(threading.Thread(target=reader.size))
                threads[0].start()
                threads[0].join(0.3)  # it may have to wait for us
            return data

        for number in range(3):
            memory.record("decision", f"w0-{number}")
            threads.clear()
            files.fault = while_another_reads
            assert [record.hc.seq for record in reader.iter_records()] == list(range(number + 1))
            threads[0].join(20)
            files.fault = None
        stream = reader._agent.stream
        assert (stream.link.size, stream.tree.end, stream.index.count) == (3, 3, 3)
        assert [record.hc.seq for record in reader.iter_records(newest_first=True)] == [2, 1, 0]


def wait_until(true):
    """Until another thread has come that far."""
    for _ in range(5000):
        if true():
            return
        time.sleep(0.001)
    raise AssertionError("it did not come that far")


@pytest.mark.parametrize("first", ["rotate", "record"])
def test_a_record_that_waits_beside_a_rotation_of_the_same_instance(home, first):
    """Threads that wait together are written together; but nothing is ever written behind a closing record."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        memory.record("decision", "w0-0")
        acts = [memory.rotate, lambda: memory.record("decision", "w1-0"), lambda: memory.record("state", "w2-0")]
        acts = acts if first == "rotate" else acts[::-1]
        agent, threads = memory._agent, []
        with agent._writing:
            for number, act in enumerate(acts):
                threads.append(threading.Thread(target=act))
                threads[-1].start()
                wait_until(lambda number=number: len(agent._waiting) > number)
        for thread in threads:
            thread.join(30)
        assert memory.verify_chain(), memory.verify_chain().fault
        memory.record("decision", "w0-1")
    check(home, ["w0-0", "w1-0", "w2-0", "w0-1"])


def test_threads_record_while_one_of_them_rotates(home):
    """Threads of one instance record, import and change the key side by side: no error, no loss, one past."""
    with Hippocampus.open(home=home, agent_id="river") as memory:

        def act(name):
            for number in range(40):
                memory.record(
                    "decision" if number % 4 == 0 else "state", f"w{name}-{number}", origin=f"t:{name}:{number}"
                )
                if name == 0 and number % 8 == 0:
                    memory.rotate()
                if name == 1 and number % 10 == 0:
                    assert memory.verify_chain(), memory.verify_chain().fault

        run_threads(5, act)
        assert len(memory.verify_chain().chains) == 6
    check(home, [f"w{name}-{number}" for name in range(5) for number in range(40)])


def test_a_child_forked_while_another_thread_writes(home):
    """A fork in the middle of another thread's work leaves a child that can record: it waits for no such thread."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        done = threading.Event()
        count = 0

        def write():
            nonlocal count
            while not done.is_set():
                memory.record("state", f"w0-{count}")
                count += 1

        thread = threading.Thread(target=write)
        thread.start()
        expected = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of this very thing
                for name in range(1, 6):
                    child = os.fork()
                    if child == 0:
                        signal.alarm(20)
                        status = 1
                        with contextlib.suppress(BaseException):
                            memory.record("decision", f"w{name}-0")
                            status = 0
                        os._exit(status)
                    assert os.waitpid(child, 0)[1] == 0
                    expected.append(f"w{name}-0")
        finally:
            done.set()
            thread.join()
    check(home, [*expected, *(f"w0-{number}" for number in range(count))])


def test_many_threads_wait_for_a_lock_no_longer_than_one(home):
    """Threads that meet another process's lock together are told together, in the time that one waits."""
    with (
        Hippocampus.open(home=home, agent_id="river") as holder,
        Hippocampus.open(home=home, agent_id="river", lock_timeout=0.3) as memory,
    ):
        outcomes = []

        def act(name):
            try:
                memory.record("decision", f"w{name}-0")
            except Locked as error:
                outcomes.append(error.code)

        with holder._agent.stream.log.locked():
            began = time.monotonic()
            run_threads(8, act)
            assert time.monotonic() - began < 1.5
        assert outcomes == ["locked"] * 8
        assert memory.size() == 0
