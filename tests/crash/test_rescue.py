"""A sync that fails: the descriptor is never trusted again, and what was in memory goes to a new file."""

import errno
import os
import threading
from collections import deque

import pytest

from alveus import AlveusError, Hippocampus, StoreUncertain
from alveus.store.files import DISK
from scenes import AGENT, examine, play, quicken, stage
from simulator import MUTATING, Clock, Crash, Faulty, Spoil, images


def on_stream(call):
    """Syncs of the stream itself."""
    return call.kind == "datasync" and call.name == "stream.jsonl"


def open_on(disk, root):
    """The agent's journal on a disk."""
    return Hippocampus.open(home=root / "home", agent_id=AGENT, clock=Clock(), files=disk)


def test_failed_sync_is_survived_by_a_copy(tmp_path, monkeypatch):
    """The valid stream is written to a new file, synced, renamed, the folder synced; only then is it durable."""
    quicken(monkeypatch)
    disk, before, _ = stage("append", tmp_path)

    def scene(run):
        run.open()
        run.record("state", "grouped, not yet synced")
        run.record("decision", "its sync fails")

    run, files = play(scene, tmp_path, disk, before, Spoil("eio", only=on_stream))
    assert not run.told.errors
    calls = [(call.kind, call.name) for call in files.calls]
    after = calls[calls.index(("datasync", "stream.jsonl")) + 1 :]
    copying = ["unlink", "create", "write", "write", "write", "sync", "rename", "sync"]
    assert [kind for kind, _ in after] == copying
    assert after[-2:] == [("rename", "stream.jsonl"), ("sync", AGENT)]
    assert ("datasync", "stream.jsonl") not in after
    assert "grouped, not yet synced" in run.told.durable
    for image in images(files.below):
        examine(tmp_path, image, run.told)
    run.record("decision", "on the new file")
    for image in images(files.below):
        examine(tmp_path, image, run.told)
    run.close()
    assert not [name for name in files.below.files() if "rescue" in name]


@pytest.mark.parametrize("how", ["crash", "crash-done"])
def test_power_cut_during_the_copy(tmp_path, monkeypatch, how):
    """A power cut at any call of the rescue leaves a journal with everything acknowledged before."""
    quicken(monkeypatch)
    disk, before, _ = stage("append", tmp_path)

    def scene(run):
        run.open()
        run.record("state", "grouped, not yet synced")
        run.record("decision", "its sync fails")

    for number in range(9):
        spoil = Spoil("eio", only=on_stream)
        crash = Spoil(how, number, only=lambda call, spoil=spoil: bool(spoil.spoiled) and call.kind in MUTATING)

        def fault(call, act, files, arguments, *, spoil=spoil, crash=crash):
            return crash(call, lambda: spoil(call, act, files, arguments), files, arguments)

        run, files = play(scene, tmp_path, disk, before, fault)
        assert bool(crash.spoiled) == (number < 8)
        for image in images(files.below, more=4, seed=number):
            examine(tmp_path, image, run.told)


@pytest.mark.parametrize("how", ["eio", "enospc", "short"])
def test_failed_copy_poisons_the_writer_and_says_what_is_on_disk(tmp_path, monkeypatch, how):
    """Where the copy fails too no more is written; the error counts what is known to be on disk and what is not."""
    quicken(monkeypatch)
    disk, before, _ = stage("append", tmp_path)

    def scene(run):
        run.open()
        run.record("state", "grouped, not yet synced")
        run.record("decision", "its sync fails")

    for number in range(8):
        spoil = Spoil("eio", only=on_stream)
        second = Spoil(how, number, None, only=lambda call, spoil=spoil: bool(spoil.spoiled) and call.kind in MUTATING)

        def fault(call, act, files, arguments, *, spoil=spoil, second=second):
            return second(call, lambda: spoil(call, act, files, arguments), files, arguments)

        run, files = play(scene, tmp_path, disk, before, fault)
        if not second.spoiled:
            assert how == "short"
            continue
        (error,) = run.told.errors
        assert isinstance(error, StoreUncertain)
        assert "first 3 records are known to be on disk" in error.message
        assert "the 2 after them are not" in error.message
        assert error.hint
        files.fault = None
        run.told.errors.clear()
        run.record("decision", "refused")
        (error,) = run.told.errors
        assert error.code == "poisoned"
        # reading goes on, and shows what programs see
        assert "its sync fails" in [record.content for record in run.memory.iter_records()]
        assert run.memory.pattern_completion("old 1")
        assert run.memory.marks()
        run.told.written.append("its sync fails")
        with pytest.raises(StoreUncertain):
            run.memory.close()
        for image in [files.below.copy(), *images(files.below, more=2)]:
            examine(tmp_path, image, run.told)


def test_no_descriptor_is_synced_again_after_its_sync_failed(tmp_path, monkeypatch):
    """Every sync of the append and anchoring scenes fails in turn; the simulated disk would object to a second try."""
    quicken(monkeypatch)
    for name in ("append", "anchor", "rotate", "head"):
        disk, before, scene = stage(name, tmp_path)
        _, files = play(scene, tmp_path, disk, before)
        for number in range(sum(call.kind in ("sync", "datasync") for call in files.calls)):
            fault = Spoil("eio", number, only=lambda call: call.kind in ("sync", "datasync"))
            run, files = play(scene, tmp_path, disk, before, fault)
            assert fault.spoiled
            run.close()


def test_another_writer_notices_the_new_file(tmp_path, monkeypatch):
    """A writer that had the old file open goes on in the new one; nothing is written to a file without a name."""
    quicken(monkeypatch)
    disk, _, _ = stage("append", tmp_path)
    failing = Faulty(disk)
    one, two = open_on(failing, tmp_path), open_on(disk, tmp_path)
    reader = Hippocampus.open(home=tmp_path / "home", agent_id=AGENT, files=disk, read_only=True)
    two.record("decision", "two, before")
    failing.fault = Spoil("eio", only=on_stream)
    one.record("decision", "one, rescued")
    two.record("decision", "two, after")
    one.record("decision", "one, after")
    expected = ["two, before", "one, rescued", "two, after", "one, after"]
    for memory in (one, two, reader):
        assert [record.content for record in memory.iter_records()][3:] == expected
        assert memory.verify_chain()
    for memory in (one, two, reader):
        memory.close()
    with open_on(disk, tmp_path) as again:
        assert again.verify_chain().size == 7


def test_another_writers_unsynced_records_are_rescued_too(tmp_path, monkeypatch):
    """What another writer had written but not synced is in the new file, and becomes durable with it."""
    quicken(monkeypatch)
    disk, before, _ = stage("append", tmp_path)
    failing = Faulty(disk)
    one, two = open_on(failing, tmp_path), open_on(disk, tmp_path)
    two.record("state", "two, grouped")
    failing.fault = Spoil("eio", only=on_stream)
    one.record("decision", "one, rescued")
    before.written += ["two, grouped", "one, rescued"]
    before.all_durable()
    for image in images(disk):
        examine(tmp_path, image, before)
    one.close()
    two.close()


def test_both_writers_fail_their_syncs(tmp_path, monkeypatch):
    """Two writers whose syncs fail one after the other rescue one after the other, and lose nothing."""
    quicken(monkeypatch)
    disk, before, _ = stage("append", tmp_path)
    files = [Faulty(disk), Faulty(disk)]
    writers = [open_on(one, tmp_path) for one in files]
    for turn in range(6):
        files[turn % 2].fault = Spoil("eio", only=on_stream)
        writers[turn % 2].record("decision", f"turn {turn}")
        before.written.append(f"turn {turn}")
        before.all_durable()
        for image in images(disk):
            examine(tmp_path, image, before)
    for writer in writers:
        writer.close()


def test_a_failed_background_sync_is_rescued_without_being_asked(home):
    """A grouped record whose sync fails in the background is safe in a new file a moment later."""
    files = Faulty(DISK)
    with Hippocampus.open(home=home, agent_id=AGENT, files=files) as memory:
        inode = (memory.folder / "stream.jsonl").stat().st_ino
        files.fault = Spoil("eio", only=on_stream)
        memory.record("state", "in the background")
        memory.flush()
        assert (memory.folder / "stream.jsonl").stat().st_ino != inode
        memory.record("state", "next")
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        assert [record.content for record in memory.iter_records()] == ["in the background", "next"]
        assert memory.verify_chain()


def test_a_failed_background_sync_that_cannot_be_rescued_is_told_at_the_next_call(home):
    """Nobody waits for a grouped record's sync: the next record, the flush and the close say that it failed."""
    files = Faulty(DISK)
    memory = Hippocampus.open(home=home, agent_id=AGENT, files=files)
    files.fault = Spoil("eio", 0, None, only=lambda call: call.kind in ("datasync", "rename"))
    memory.record("state", "perhaps lost")
    for _ in range(2):
        with pytest.raises(StoreUncertain):
            memory.flush()
    with pytest.raises(StoreUncertain):
        memory.record("state", "refused")
    assert memory.marks()
    with pytest.raises(StoreUncertain):
        memory.close()


def test_every_thread_that_waits_for_a_failed_sync_is_told(home):
    """Of many threads that wait for one sync, none is told that its record is on disk when that is not known."""
    files = Faulty(DISK)
    memory = Hippocampus.open(home=home, agent_id=AGENT, files=files)
    memory.record("decision", "fine")
    files.fault = Spoil("eio", 0, None, only=lambda call: call.kind in ("datasync", "rename"))
    outcomes = []

    def record(number):
        try:
            memory.record("decision", f"thread {number}")
        except AlveusError as error:
            outcomes.append(type(error))

    threads = [threading.Thread(target=record, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert outcomes == [StoreUncertain] * 8
    with pytest.raises(StoreUncertain):
        memory.close()


def test_what_an_older_rescue_left_behind_is_in_nobodys_way(tmp_path, monkeypatch):
    """A crash may leave a half copy beside the stream: it is no journal, and the next rescue replaces it."""
    quicken(monkeypatch)
    disk, before, _ = stage("append", tmp_path)
    disk.put(tmp_path / "home" / "agents" / AGENT / "stream.jsonl.rescue", b"half a copy")

    def scene(run):
        run.open()
        run.record("decision", "its sync fails")

    run, files = play(scene, tmp_path, disk, before, Spoil("eio", only=on_stream))
    assert not run.told.errors
    run.close()
    examine(tmp_path, files.below, run.told)


def test_readers_may_read_while_the_stream_is_replaced(home):
    """A reader that had the old file open sees the old records, then the new ones, and never a bad one."""
    files = Faulty(DISK)
    with Hippocampus.open(home=home, agent_id=AGENT, files=files) as memory:
        for number in range(3):
            memory.record("decision", f"old {number}")
        with Hippocampus.open(home=home, agent_id=AGENT, read_only=True) as reader:
            records = reader.iter_records()
            assert next(records).content == "old 0"
            files.fault = Spoil("eio", only=on_stream)
            memory.record("decision", "rescued")
            assert [record.content for record in records] == ["old 1", "old 2"]
            assert [record.content for record in reader.iter_records()][-1] == "rescued"


def test_the_errors_of_the_disk_are_named(home):
    """The message keeps the operating system's own words, so that a person can look them up."""
    files = Faulty(DISK)
    memory = Hippocampus.open(home=home, agent_id=AGENT, files=files)
    files.fault = Spoil("eio", 0, None, only=lambda call: call.kind in ("datasync", "rename"))
    with pytest.raises(StoreUncertain, match=os.strerror(errno.EIO)):
        memory.record("decision", "x")
    with pytest.raises(StoreUncertain):
        memory.close()
    assert issubclass(Crash, BaseException)


def test_a_line_adopted_while_another_thread_syncs_is_copied_once(tmp_path, monkeypatch):
    """A sync by another thread in the middle of an append leaves nothing that a later rescue would write twice."""
    quicken(monkeypatch)
    disk, before, _ = stage("append", tmp_path)
    files = Faulty(disk)
    memory = open_on(files, tmp_path)
    log = memory._agent.stream.log

    class Interrupted(deque):
        """A thread switch just before the line is noted as not yet synced."""

        def append(self, entry):
            thread = threading.Thread(target=lambda: log.wait(log.count))
            thread.start()
            thread.join(10)
            super().append(entry)

    log._pending = Interrupted(log._pending)
    memory.record("state", "synced by another thread")
    log._pending = deque(log._pending)
    files.fault = Spoil("eio", only=on_stream)
    memory.record("decision", "its sync fails")
    before.written += ["synced by another thread", "its sync fails"]
    before.all_durable()
    for image in images(disk):
        examine(tmp_path, image, before)
    memory.close()
