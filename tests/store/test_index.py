"""`stream.idx` is derived: deleted, damaged, stale or edited, it costs time and never hides or invents a record."""

import pytest

from alveus import Hippocampus
from alveus.store import index as room
from alveus.store.files import DISK
from forge import Bench
from scenes import AGENT
from simulator import Clock, Faulty

COUNT = 20


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(room, "BLOCK", 4)
    monkeypatch.setattr(room, "_SIZE", 4 * room._ENTRY.size + room._MAC)


def build(home, first=0):
    """A journal with five sealed blocks, half of its records routine."""
    clock = Clock()
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        for number in range(first, first + COUNT):
            clock.advance(hours=3)
            memory.record("state", "the usual" if number % 2 else f"surprise{number} entirely{number} new{number}")
    return memory.folder / "stream.idx"


def look(home, **options):
    """Everything that is read through the index."""
    with Hippocampus.open(home=home, agent_id=AGENT, **options) as memory:
        records = list(memory.iter_records(newest_first=True))
        found = [record.content for record in memory.selective_load(10_000)]
        assert [memory.get(record.record_id) for record in records] == records
        assert records[::-1] == list(memory.iter_records())
        return [record.content for record in records], found


def test_an_index_is_sealed_block_by_block(home):
    """What is on disk of the index is whole blocks, each with its seal."""
    path = build(home)
    assert path.stat().st_size == 5 * room._SIZE


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "how", ["deleted", "empty", "cut", "torn", "zeros", "flipped", "grown", "doubled", "blocks swapped", "folder"]
)
def test_a_damaged_index_changes_nothing_that_is_read(home, how, read_only):
    """Whatever is done to the file, the same records come out, and the same are found worth loading."""
    path = build(home)
    expected = look(home)
    assert len(expected[0]) == COUNT
    assert len(expected[1]) < COUNT
    data = path.read_bytes()
    size = room._SIZE
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how != "deleted":
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[: 2 * size],
                "torn": data[:-7],
                "zeros": bytes(len(data)),
                "flipped": data[:37] + bytes([data[37] ^ 1]) + data[38:],
                "grown": data + b"more",
                "doubled": data + data,
                "blocks swapped": data[size : 2 * size] + data[:size] + data[2 * size :],
            }[how]
        )
    assert look(home, read_only=read_only) == expected
    if how != "folder":
        with Hippocampus.open(home=home, agent_id=AGENT) as memory:
            memory.record("decision", "something unheard-of: goes on")
        assert look(home)[0] == ["something unheard-of: goes on", *expected[0]]


def test_an_index_of_another_chain_or_key_is_not_believed(home, tmp_path):
    """An index is sealed for its chain: another journal's in its place is made anew."""
    path = build(home)
    expected = look(home)
    other = build(tmp_path / "other", first=50)
    path.write_bytes(other.read_bytes())
    assert look(home) == expected


def test_an_index_edited_to_hide_a_record_is_noticed(home):
    """An entry changed to `routine` by hand would keep its record from being loaded: the seal does not fit any more."""
    path = build(home)
    expected = look(home)
    data = bytearray(path.read_bytes())
    routine = list(room.Novelty).index(room.Novelty.ROUTINE)
    for block in range(5):
        for entry in range(4):
            data[block * room._SIZE + entry * room._ENTRY.size + room._NOVELTY_AT] = routine
    path.write_bytes(bytes(data))
    assert look(home) == expected


def test_an_index_of_a_longer_history_is_made_anew(home):
    """A journal put back from a backup is shorter than the index that was left: it is not believed."""
    import shutil

    path = build(home)
    backup = home.with_name("backup")
    shutil.copytree(path.parent, backup)
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for number in range(COUNT):
            memory.record("state", f"later{number} and{number} new{number}")
    for name in ("stream.jsonl", "stream.head.0", "stream.head.1"):
        shutil.copy(backup / name, path.parent / name)
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for number in range(COUNT):
            memory.record("state", f"another{number} future{number} altogether{number}")
    contents, loaded = look(home)
    assert len(contents) == 2 * COUNT
    assert all(not content.startswith("later") for content in contents)
    assert "another0 future0 altogether0" in loaded


@pytest.mark.parametrize("delete_index", [True, False])
@pytest.mark.parametrize("number", [2, COUNT - 2])
def test_a_novelty_flipped_on_disk_does_not_hide_the_record(home, number, delete_index):
    """A record made to look routine in the file is named as left out, also by an index made from that file."""
    path = build(home)
    bench = Bench.of(home)
    record = bench.record(number)
    assert record["novelty"] != "routine"
    padding = "x" * (len(record["novelty"]) - len("routine"))  # so that the file stays as long as the head says
    bench.edit(number, novelty="routine", content=record["content"] + padding)
    if delete_index:
        path.unlink()
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        loaded = memory.selective_load(10_000)
        assert record["content"] not in [one.content for one in loaded]
        assert [fault.code for fault in loaded.left_out] == ["bad_signature"]
        assert not memory.verify_chain()


def test_the_damage_is_found_while_reading(home):
    """An index damaged under an open journal is made anew in the middle of reading, which goes on where it was."""
    path = build(home)
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        expected = [record.content for record in memory.iter_records(newest_first=True)]
        records = memory.iter_records(newest_first=True)
        found = [next(records).content for _ in range(6)]
        path.write_bytes(bytes(len(path.read_bytes())))
        found += [record.content for record in records]
        assert found == expected


@pytest.mark.parametrize("number", range(5))
def test_each_block_is_judged_at_its_turn(home, number):
    """Blocks are read several at once: each is held against its own seal, and keeps nobody from those before it."""
    path = build(home)
    data = bytearray(path.read_bytes())
    data[number * room._SIZE + room._NOVELTY_AT] ^= 1
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        path.write_bytes(bytes(data))
        view = memory._agent.stream.index.view()
        walk = view.newest_first(room.every)
        assert [next(walk).seq for _ in range(number + 1, 5) for _ in range(4)] == list(range(19, number * 4 + 3, -1))
        for rest in (lambda: next(walk), lambda: list(view.find(bytes(8))), lambda: view.id_starts(0)):
            with pytest.raises(room.IndexDamaged, match=f"block {number} "):
                rest()


def test_a_walk_opens_the_file_ever_less_often_and_keeps_it_never(home):
    """Of 40 blocks 1, 2, 4, 8, 16 and 9 are read at once, from whichever end; between them no descriptor is held."""
    for first in range(0, 8 * COUNT, COUNT):
        build(home, first)
    files = Faulty(DISK)
    with Hippocampus.open(home=home, agent_id=AGENT, files=files) as memory:
        view = memory._agent.stream.index.view()
        assert view.count == 40 * 4
        for walk in (lambda: view.newest_first(room.every), lambda: view.find(bytes(8)), lambda: view.id_starts(0)):
            files.all_calls.clear()
            assert all("stream.idx" not in files._names.values() for _ in walk())
            assert [call.kind for call in files.all_calls if call.name == "stream.idx"] == ["open", "read"] * 6


def test_an_index_that_cannot_be_written_fails_no_record(home):
    """With a folder in the index's place records go on being written, and reading is as before."""
    (home / "agents" / AGENT).mkdir(parents=True)
    (home / "agents" / AGENT / "stream.idx").mkdir()
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for number in range(COUNT):
            memory.record("decision", f"number {number}")
        assert len(list(memory.iter_records(newest_first=True))) == COUNT
        assert memory.verify_chain()
