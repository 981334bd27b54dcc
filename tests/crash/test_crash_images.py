"""The power is cut at every call to the disk, and every disk this can leave is opened again."""

import pytest
from scenes import SCENES, Told, examine, play, quicken, stage
from simulator import Spoil, images

from alveus.store.log import Log


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


@pytest.mark.parametrize("kind", ["decision", "state"])
def test_a_line_torn_at_any_byte_is_set_aside_and_accounted_for(kind, tmp_path, monkeypatch):
    """Of a line that was being written when the power went, every possible remainder is recovered from."""
    disk, before, _ = stage("append", tmp_path)

    def scene(run):
        run.open()
        run.record(kind, "the torn one")

    # a durable record's sync is the call that the power cut precedes; a grouped one is not synced at all
    run, files = play(scene, tmp_path, disk, before, Spoil("crash", 1))
    torn = 0
    for image in images(files.below, every_byte=True):
        whole = image.content(run.home / "agents" / "river" / "stream.jsonl").endswith(b"\n")
        memory = examine(tmp_path, image, run.told)
        kept = [name for name in image.files() if ".torn-" in name]
        accounts = [record for record in reopened(memory, image) if "torn" in record.metadata]
        assert len(kept) == len(accounts) == (0 if whole else 1)
        torn += len(kept)
    assert torn > 500


def reopened(memory, disk):
    """The records of a journal that was closed."""
    with type(memory).open(home=memory.home, agent_id=memory.agent_id, files=disk) as again:
        return list(again.iter_records())


def test_a_torn_batch_leaves_a_prefix_of_it(tmp_path):
    """Of a batch that no sync covered, what survives is its first records and never a later one without them."""
    disk, before, _ = stage("append", tmp_path)
    batch = [f"of the batch {number}" for number in range(4)]

    def scene(run):
        run.open()
        run.record_many(batch, kind="decision")

    run, files = play(scene, tmp_path, disk, before, Spoil("crash", 1))
    run.told.written += batch
    for image in images(files.below, every_byte=True):
        examine(tmp_path, image, run.told)


def test_grouped_records_reach_the_disk_within_50_ms_without_being_asked(tmp_path, monkeypatch):
    """A state is synced in the background: a power cut a moment later does not take it."""
    import time

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
    assert Log.defer.__name__ == "defer"


def test_a_flushed_state_survives(tmp_path):
    """What `flush` returned after is on disk, grouped or not."""
    disk, before, _ = stage("append", tmp_path)
    run, files = play(lambda run: (run.open(), run.record("state", "kept"), run.flush()), tmp_path, disk, before)
    assert "kept" in run.told.durable
    for image in images(files.below):
        examine(tmp_path, image, run.told)


def test_power_cuts_during_recovery_after_a_power_cut(tmp_path):
    """A second power cut at any call of the recovery from the first loses nothing either."""
    disk, before, scene = stage("recover", tmp_path)
    for number in range(calls_of(scene, tmp_path, disk, before)):
        run, files = play(scene, tmp_path, disk, before, Spoil("crash", number))
        for image in images(files.below, more=1, seed=number):
            told = Told(durable=run.told.durable, written=run.told.written)
            again, files_again = play(scene, tmp_path, image, told, Spoil("crash", number // 2))
            again.told.written = [one for one in again.told.written if one]
            for last in images(files_again.below, more=0):
                memory = examine(tmp_path, last, told)
                assert memory
