"""Every call to the disk fails in turn, before and after it did its work; nothing that was promised is lost by it."""

import pytest

from alveus import AlveusError, Hippocampus
from alveus.store.files import DISK
from scenes import SCENES, examine, play, quicken, stage
from simulator import MUTATING, READING, Faulty, Spoil, images


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    quicken(monkeypatch)


def failing_calls(name, root, how, kinds):
    """Play a scene once for each call of these kinds, that call failing; yields the run, its disk and the fault."""
    disk, before, scene = stage(name, root)
    whole, files = play(scene, root, disk, before, Spoil(how, 0, 0))
    assert not whole.told.errors
    seen = [call for call in files.all_calls if call.kind in kinds and (how != "short" or call.kind == "write")]
    spared = 0
    for number in range(len(seen)):
        fault = Spoil(how, number, only=lambda call: call.kind in kinds and (how != "short" or call.kind == "write"))
        run, files = play(scene, root, disk, before, fault)
        spared += not fault.spoiled
        if fault.spoiled:
            yield run, files, fault
    assert spared <= 2, "the syncing thread may have a call less to make than the first time, and no more"


def check(run, files, fault, root):
    """The journal goes on working where it is, after a power cut too, and forgets nothing it promised."""
    try:
        files.fault = None
        run.close()
        for image in [files.below.copy(), *list(images(files.below, more=0))[:2]]:
            examine(root, image, run.told)
    except BaseException as error:
        error.add_note(f"{fault.how} at {fault.spoiled}: told {[(one.code, one.message) for one in run.told.errors]}")
        raise


PROVE = pytest.mark.prove


@pytest.mark.parametrize(
    "how", ["eio", "eio-done", "short", pytest.param("enospc", marks=PROVE), pytest.param("enospc-done", marks=PROVE)]
)
@pytest.mark.parametrize("name", SCENES)
def test_a_call_that_fails_loses_nothing_acknowledged(name, how, tmp_path):
    """One change of the disk fails, done or not: what was promised is kept, what was refused is not there."""
    for run, files, fault in failing_calls(name, tmp_path, how, MUTATING):
        check(run, files, fault, tmp_path)


@pytest.mark.parametrize("name", SCENES)
def test_a_read_that_fails_loses_nothing_acknowledged(name, tmp_path):
    """One look at the disk fails: the error is ours, and nothing is lost by it."""
    for run, files, fault in failing_calls(name, tmp_path, "eio", READING):
        check(run, files, fault, tmp_path)


@pytest.mark.parametrize("how", ["enospc", "short", pytest.param("eio", marks=PROVE)])
@pytest.mark.parametrize("name", SCENES)
def test_a_disk_that_fails_from_some_call_on_loses_nothing_acknowledged(name, how, tmp_path):
    """From one call on everything fails: what was promised before is kept, and the errors are ours."""
    disk, before, scene = stage(name, tmp_path)
    _, files = play(scene, tmp_path, disk, before)
    for number in range(len(files.calls)):
        fault = Spoil(how, number, None)
        run, files = play(scene, tmp_path, disk, before, fault)
        check(run, files, fault, tmp_path)


def test_a_record_is_written_in_one_call_and_synced_in_one(tmp_path):
    """A durable append is one write and one fdatasync of the stream: what the proofs here enumerate is all there is."""
    disk, before, _ = stage("append", tmp_path)
    run, files = play(lambda run: (run.open(), run.record("decision", "one")), tmp_path, disk, before)
    assert [(call.kind, call.name) for call in files.calls] == [("write", "stream.jsonl"), ("datasync", "stream.jsonl")]
    run.close()


def test_short_write_means_nothing_recorded_and_the_length_restored(home):
    """On a real disk: a record of which only half could be written leaves the file as it was, and says so."""
    files = Faulty(DISK)
    with Hippocampus.open(home=home, agent_id="river", files=files) as memory:
        memory.record("decision", "before")
        stream = memory.folder / "stream.jsonl"
        size = stream.stat().st_size
        files.fault = Spoil("short")
        with pytest.raises(AlveusError, match="nothing was recorded") as caught:
            memory.record("decision", "does not fit")
        assert caught.value.code == "disk_full"
        assert "space" in caught.value.hint
        assert stream.stat().st_size == size
        files.fault = None
        memory.record("decision", "after")
        assert [record.content for record in memory.iter_records()] == ["before", "after"]
        assert memory.verify_chain()


def test_a_short_write_that_cannot_be_undone_poisons_the_writer(home):
    """Where the torn half cannot be cut off no more is written, the error says what is there, reopening mends it."""
    files = Faulty(DISK)
    memory = Hippocampus.open(home=home, agent_id="river", files=files)
    memory.record("decision", "before")
    files.fault = lambda call, act, files, arguments: (
        Spoil("short")(call, act, files, arguments)
        if call.kind == "write"
        else Spoil("eio")(call, act, files, arguments)
    )
    with pytest.raises(AlveusError, match="first 1 records are whole") as caught:
        memory.record("decision", "torn")
    assert caught.value.code == "poisoned"
    files.fault = None
    with pytest.raises(AlveusError) as caught:
        memory.record("decision", "refused")
    assert caught.value.code == "poisoned"
    assert [record.content for record in memory.iter_records()] == ["before"]
    memory.close()
    with Hippocampus.open(home=home, agent_id="river") as memory:
        assert [record.kind for record in memory.iter_records()] == ["decision", "error"]
        assert memory.verify_chain()
