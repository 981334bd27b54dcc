"""The power is cut at every call to the disk, and every disk this can leave is opened again."""

import time

import pytest

from scenes import SCENES, examine, play, quicken, stage
from simulator import Spoil, images


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    quicken(monkeypatch)


def calls_of(scene, root, disk, before):
    """How many calls that change the disk the scene makes; it ends well without a fault."""
    run, files = play(scene, root, disk, before)
    assert not run.told.errors
    return len(files.calls)


@pytest.mark.parametrize("name", SCENES)
def test_a_power_cut_at_any_call_loses_nothing_acknowledged(name, tmp_path):
    """Whenever the power goes, whatever of the unsynced survives: the journal opens, whole, with all it promised."""
    disk, before, scene = stage(name, tmp_path)
    for number in range(calls_of(scene, tmp_path, disk, before)):
        fault = Spoil("crash", number)
        run, files = play(scene, tmp_path, disk, before, fault)
        assert fault.spoiled
        for image in images(files.below, more=3, seed=number):
            try:
                examine(tmp_path, image, run.told)
            except BaseException as error:
                error.add_note(f"power cut before call {number}, {fault.spoiled[0]}: {sorted(image.files())}")
                raise


def test_a_line_torn_at_any_byte_is_set_aside_and_accounted_for(tmp_path):
    """Of a line that was being written when the power went, every possible remainder is recovered from."""
    disk, before, _ = stage("append", tmp_path)
    stream = tmp_path / "home" / "agents" / "river" / "stream.jsonl"

    def scene(run):
        run.open()
        run.record("decision", "the torn one")

    run, files = play(scene, tmp_path, disk, before, Spoil("crash", 1))
    clean = (disk.content(stream), files.below.content(stream))
    torn = 0
    for image in images(files.below, every_byte=True):
        accounts = 0 if image.content(stream) in clean else 1
        memory = examine(tmp_path, image, run.told)
        kept = [name for name in image.files() if ".torn-" in name]
        said = [record for record in reopened(memory, image) if "torn" in record.metadata]
        assert len(kept) == len(said) == accounts
        torn += accounts
    assert torn > 500


def reopened(memory, disk):
    """The records of a journal that was closed."""
    with type(memory).open(home=memory.home, agent_id=memory.agent_id, files=disk) as again:
        return list(again.iter_records())


def test_a_torn_batch_leaves_a_prefix_of_it(tmp_path):
    """Of a batch that no sync covered, what survives is its first records and never a later one without them."""
    disk, before, _ = stage("append", tmp_path)
    batch = [f"of the batch {number}" for number in range(4)]
    stream = tmp_path / "home" / "agents" / "river" / "stream.jsonl"

    def scene(run):
        run.open()
        run.record_many(batch, kind="decision")

    run, files = play(scene, tmp_path, disk, before, Spoil("crash", 1))
    run.told.written += batch
    data, start = files.below.content(stream), len(disk.content(stream))
    ends = [at + 1 for at in range(start, len(data)) if data[at] == ord("\n")]
    for cut in sorted(
        {cut + step for cut in (start, *ends) for step in (-1, 0, 1, 60)} & {*range(start, len(data) + 1)}
    ):
        for filler in (b"", bytes(len(data) - cut)):
            image = disk.copy()
            image.put(stream, data[:cut] + filler)
            examine(tmp_path, image, run.told)


def test_grouped_records_reach_the_disk_within_50_ms_without_being_asked(tmp_path, monkeypatch):
    """A state is synced in the background: a power cut a moment later does not take it."""
    monkeypatch.undo()
    disk, before, _ = stage("append", tmp_path)
    run, files = play(lambda run: (run.open(), run.record("state", "soon on disk")), tmp_path, disk, before)
    deadline = time.monotonic() + 5
    while files.below.unsettled() != ([], []) and time.monotonic() < deadline:
        time.sleep(0.005)
    run.told.all_durable()
    for image in images(files.below):
        examine(tmp_path, image, run.told)
    run.close()


def test_a_flushed_state_survives(tmp_path):
    """What `flush` returned after is on disk, grouped or not."""
    disk, before, _ = stage("append", tmp_path)
    run, files = play(lambda run: (run.open(), run.record("state", "kept"), run.flush()), tmp_path, disk, before)
    assert "kept" in run.told.durable
    for image in images(files.below):
        examine(tmp_path, image, run.told)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.prove)])
def test_power_cuts_during_recovery_after_a_power_cut(every, tmp_path):
    """A second power cut at any call of the recovery from the first loses nothing either."""
    disk, before, scene = stage("recover", tmp_path)
    for number in range(0, calls_of(scene, tmp_path, disk, before), every):
        run, files = play(scene, tmp_path, disk, before, Spoil("crash", number))
        for image in images(files.below, more=0):
            again, files_again = play(scene, tmp_path, image, run.told, Spoil("crash", number // 2))
            for last in images(files_again.below, more=0):
                examine(tmp_path, last, again.told)
