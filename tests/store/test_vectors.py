"""`stream.vec` is derived: deleted, damaged, stale or edited, recall by meaning finds what is in the journal."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

import pytest

from alveus import Draft, Hippocampus, Kind
from alveus.store import vectors as vectors_module
from alveus.store.files import DISK, Disk, folder_locked
from alveus.store.rows import BLOCK, HEADER, layout
from alveus.store.vectors import Vectors, notes_of
from scenes import AGENT
from simulator import Faulty, Spoil

np = pytest.importorskip("numpy", reason="vectors need numpy")

DIMS = 64


class Words:
    """An embedder by hand: a direction for each word, of its own."""

    id, revision, dims = "words-by-hand", "1", DIMS

    def __init__(self, revision="1"):
        self.revision = revision
        self.seen = []

    def encode(self, texts):
        """See `Embedder`."""
        self.seen += texts
        return np.array([self._encode(text) for text in texts], dtype=np.float32)

    def _encode(self, text):
        row = np.full(DIMS, 1e-3)
        for word in text.split():
            row += np.random.default_rng(zlib.crc32((word + self.revision).encode())).normal(size=DIMS)
        return row / np.linalg.norm(row)

    def calibration(self, cosine):
        """See `Embedder`."""
        return cosine


TEXTS = [f"about{number} subject{number} of{number} its{number} own{number}" for number in range(12)]


@pytest.fixture
def path(home):
    """A journal of twelve records, each recalled once by its words."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        memory.record_many([Draft(kind=Kind.STATE, content=text) for text in TEXTS])
        everything_is_found(memory)
    path = memory.folder / "stream.vec"
    assert path.exists()
    assert not path.with_name("stream.vec.new").exists()
    return path


def notes(memory):
    """What the vectors of this memory have to say."""
    return notes_of((*memory._agent.closed, memory._agent.stream))


def everything_is_found(memory, texts=TEXTS):
    """Each text is the first answer to its own words, and nothing is named as spoiled."""
    for text in texts:
        found = memory.pattern_completion(" ".join(text.split()[1:4]), 3)
        assert found, text
        assert found[0].content == text
        assert found.left_out == ()


@pytest.mark.parametrize(
    "how",
    [
        *("deleted", "empty", "cut", "header only", "torn", "zeros", "grown", "a block more", "another header"),
        *("folder", "pipe", "link", "link to itself", "socket", "unreadable"),
    ],
)
def test_a_damaged_file_is_made_anew_or_gone_without(home, path, how):
    """Whatever is done to the file, what was recorded is found, by meaning or by its words."""
    data = path.read_bytes()
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "link":
        path.with_name("elsewhere").write_bytes(data)
        path.symlink_to("elsewhere")
    elif how == "link to itself":
        path.symlink_to(path.name)
    elif how == "socket":
        with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    elif how == "unreadable":
        if os.geteuid() == 0:
            pytest.skip("root reads everything")
        path.write_bytes(data)
        path.chmod(0)
    elif how != "deleted":
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[: HEADER + 3 * 4 * DIMS],
                "header only": data[:HEADER],
                "torn": data[:-7],
                "zeros": bytes(len(data)),
                "grown": data + bytes(4 * DIMS * 50),
                "a block more": data + data[HEADER:],
                "another header": b"[" + data[1:],
            }[how]
        )
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        everything_is_found(memory)
        silent = how in {"deleted", "cut", "header only", "torn", "grown", "a block more"}  # mended, or was whole
        assert any("stream.vec" in mark for mark in memory.marks()) is not silent


@pytest.mark.parametrize("value", [0.0, 1e30, float("nan"), float("inf")])
def test_rows_changed_by_hand_only_rank(home, path, value):
    """Rows that somebody changed can move their records in the ranking; what comes back is checked all the same."""
    data = bytearray(path.read_bytes())
    at = HEADER + layout(DIMS).fields["rows"][1] + 3 * 4 * DIMS
    data[at : at + 2 * 4 * DIMS] = np.full(2 * DIMS, value, dtype="<f4").tobytes()
    path.write_bytes(bytes(data))
    stream = path.parent / "stream.jsonl"
    stream.write_bytes(stream.read_bytes().replace(b"about3 subject3", b"about3 subjectX"))
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        for text in (*TEXTS[:3], *TEXTS[5:]):
            found = memory.pattern_completion(" ".join(text.split()[1:4]), 12)
            assert text in [record.content for record in found]
            assert {record.content for record in found} <= set(TEXTS)
            assert {fault.code for fault in found.left_out} <= {"bad_signature"}


def test_rows_of_a_history_that_was_rolled_back(home, path):
    """A journal put back from a backup and gone on from there: rows of what is no more stand for nothing."""
    backup = home.with_name("backup")
    shutil.copytree(path.parent, backup)
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        memory.record_many([Draft(kind=Kind.STATE, content=f"lost{n} words{n} of{n} nobody{n}") for n in range(20)])
        memory.pattern_completion("lost1 words1")
    for name in ("stream.jsonl", "stream.head.0", "stream.head.1"):
        shutil.copy(backup / name, path.parent / name)
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        everything_is_found(memory)
        found = memory.pattern_completion("lost1 words1 of1", 3)
        assert found.left_out == ()
        others = [f"other{n} future{n} of{n} its{n} own{n}" for n in range(20)]
        memory.record_many([Draft(kind=Kind.STATE, content=text) for text in others])
        everything_is_found(memory, TEXTS + others)


def test_another_embedder_begins_anew(home, path):
    """Other weights, other rows: the file of one is not read as the other's."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words("2")) as memory:
        everything_is_found(memory)
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words("1")) as memory:
        everything_is_found(memory)
    assert path.exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_reader_writes_no_rows(home, path, there):
    """Recall by a read-only instance, or from a disk that cannot be written, needs no file to be written."""
    if not there:
        path.unlink()
    before = sorted((one.name, one.stat().st_mtime_ns) for one in path.parent.iterdir())

    class NoWriting(Disk):
        def open(self, path, flags, mode=0o600):
            assert not flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR)
            return super().open(path, flags, mode)

    options = {"embedder": Words(), "read_only": True, "files": NoWriting()}
    with Hippocampus.open(home=home, agent_id=AGENT, **options) as memory:
        everything_is_found(memory)
        assert memory.context(TEXTS[3], 500).sources
    assert sorted((one.name, one.stat().st_mtime_ns) for one in path.parent.iterdir()) == before


def test_recall_by_meaning_follows_what_others_record_and_changes_of_key(home, path):
    """Records of another writer, without an embedder, and of a later chain are found by meaning too."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        with Hippocampus.open(home=home, agent_id=AGENT) as other:
            other.record("decision", "somebody else wrote that")
            other.rotate()
            other.record("decision", "under another key entirely")
        assert memory.pattern_completion("somebody else wrote", 1)[0].content == "somebody else wrote that"
        assert memory.pattern_completion("another key entirely", 1)[0].content == "under another key entirely"
        everything_is_found(memory)
    assert path.parent.exists()


def test_a_spoiled_record_is_left_out_and_the_next_best_taken(home, path):
    """What is nearest and fails its check is named; what is next is returned."""
    stream = path.parent / "stream.jsonl"
    stream.write_bytes(stream.read_bytes().replace(b"about5 subject5", b"about5 subjectX"))
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        found = memory.pattern_completion("subject5 of5 its5 own5 subject6 of6", 1)
        assert [record.content for record in found] == [TEXTS[6]]
        assert [fault.code for fault in found.left_out] == ["bad_signature"]


# What is written, and what is not


def test_rows_are_made_once(home, path):
    """What has a row is not embedded again: not by a later opening, nor by a reader."""
    for read_only in (False, True, False):
        embedder = Words()
        with Hippocampus.open(home=home, agent_id=AGENT, embedder=embedder, read_only=read_only) as memory:
            memory.pattern_completion("subject5 of5 its5", 3)
            embedder.seen.clear()
            memory.pattern_completion("subject6 of6 its6", 3)
            assert embedder.seen == ["subject6 of6 its6"]
            assert notes(memory) == ()
    assert path.exists()


@pytest.mark.parametrize("how", ["eio", "enospc", "short", "enospc-done"])
def test_a_disk_that_cannot_be_written_costs_no_answer(home, path, how):
    """Where rows cannot be written they stay in memory, recall answers, and a note says why."""
    files = Faulty(DISK)
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words(), files=files) as memory:
        memory.record_many([Draft(kind=Kind.STATE, content=f"more{n} of{n} that{n} kind{n}") for n in range(3)])
        files.fault = Spoil(
            how, times=None, only=lambda call: call.name == path.name and call.kind in {"write", "datasync"}
        )
        everything_is_found(memory, [*TEXTS, "more1 of1 that1 kind1"])
        assert ["could not be written" in note for note in notes(memory)] == [True]
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        everything_is_found(memory, [*TEXTS, "more1 of1 that1 kind1"])
        assert notes(memory) == ()


def test_a_lock_that_is_held_costs_no_answer(home, path):
    """Where another process holds the folder recall waits so long and no longer, once, and answers from memory."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words(), lock_timeout=0.3) as memory:
        memory.record("decision", "more of that kind")
        with folder_locked(DISK, path.parent, 1, "the test"):
            start = time.monotonic()
            everything_is_found(memory)
            assert time.monotonic() - start < 5
        assert ["could not be written" in note for note in notes(memory)] == [True]


def test_what_could_not_be_embedded_is_tried_again(home, path, monkeypatch):
    """A text that the embedder fails for has no row on disk: a later opening, or a minute, gives it one."""

    class Failing(Words):
        def encode(self, texts):
            if any("difficult" in text for text in texts):
                raise RuntimeError
            return super().encode(texts)

    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Failing()) as memory:
        memory.record("state", "difficult one here")
        memory.record("state", "simple two there")
        everything_is_found(memory, [*TEXTS, "simple two there"])
        assert ["has no vectors of 1 records" in note for note in notes(memory)] == [True]
        monkeypatch.setattr(Failing, "encode", Words.encode)
        monkeypatch.setattr(vectors_module, "_LATER", 0)
        vectors_module._OPEN[memory._agent.stream]._lost_until = 0.0  # a minute later
        everything_is_found(memory, [*TEXTS, "simple two there"])
        assert memory.pattern_completion("difficult one here", 1)[0].content == "difficult one here"
        assert notes(memory) == ()
    assert path.exists()


# Another embedder


CHILD = """
import sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from test_vectors import AGENT, Words
from alveus import Hippocampus
from alveus.store import vectors

class Slow(Words):
    def encode(self, texts):
        if {slow} and len(self.seen) > 7:
            print("half", flush=True)
            time.sleep(60)
        return super().encode(texts)

vectors._AT_ONCE = 2
with Hippocampus.open(home=Path({home!r}), agent_id=AGENT, embedder=Slow("2")) as memory:
    memory._agent._to_embed.clear()
    memory.pattern_completion("subject5 of5 its5", 3)
print("done", flush=True)
"""


def child(home, *, slow):
    """A process that recalls with another embedder, and stops in the middle of making its rows if `slow`."""
    tests = Path(__file__).parent
    code = CHILD.format(paths=[str(tests), str(tests.parent)], slow=slow, home=str(home))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def test_a_process_killed_while_it_makes_rows_anew_leaves_the_old_ones(home, path):
    """Killed in the middle, another embedder's process leaves the file as it was; the next writer clears up."""
    before = path.read_bytes()
    with child(home, slow=True) as process:
        assert process.stdout.readline() == "half\n"
        assert path.read_bytes() == before
        new = path.with_name("stream.vec.new")
        assert new.exists()
        with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
            everything_is_found(memory)
        assert new.exists(), "a process that lives is left at its work"
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == before
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        everything_is_found(memory)
    assert not new.exists()
    assert path.read_bytes() == before


def test_rows_made_anew_go_on_where_a_killed_process_was(home, path):
    """The same embedder takes up what was made before, and then the swap is done."""
    with child(home, slow=True) as process:
        assert process.stdout.readline() == "half\n"
        process.send_signal(signal.SIGKILL)
    embedder = Words("2")
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=embedder) as memory:
        memory._agent._to_embed.clear()
        embedder.seen.clear()
        memory.pattern_completion("subject5 of5 its5", 3)
        assert len([text for text in embedder.seen if text in TEXTS]) < len(TEXTS)
        assert ["words-by-hand@1" in note for note in notes(memory)] == [True]
    assert not path.with_name("stream.vec.new").exists()
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words("2")) as memory:
        everything_is_found(memory)
        assert notes(memory) == ()


def test_two_embedders_at_once_do_not_take_turns(home, path):
    """Who has the old rows open keeps them, and writes no more, once another embedder's took their place."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        everything_is_found(memory)
        with child(home, slow=False) as process:
            assert process.stdout.readline() == "done\n"
        after = path.read_bytes()
        memory.record("decision", "more of that kind")
        everything_is_found(memory, [*TEXTS, "more of that kind"])
        assert any("@2" in note for note in notes(memory))
    assert path.read_bytes() == after


# Searching


SIZE, WIDE = 3 * BLOCK + 700, 64


@pytest.fixture(scope="module")
def world():
    """Unit vectors in groups, float32 [size, dims], and ids."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(60, WIDE))
    rows = centres[rng.integers(0, 60, SIZE)] + 0.7 * rng.normal(size=(SIZE, WIDE))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), rng.integers(1, 2**63, SIZE).astype(np.uint64)


@pytest.fixture(params=[True, False], ids=["exact", "two passes"])
def exact(request, monkeypatch):
    """Whether all rows are compared, as in a small journal, or first their signs, as in a large one."""
    if not request.param:
        monkeypatch.setattr(vectors_module, "EXACT", 100)
    return request.param


def made(path, world, *, on_disk=SIZE, read_only=False):
    """Vectors of that world, the first so many on disk, the others in memory."""
    rows, ids = world
    options = {"chain": "c", "by": "embed:x@1", "dims": WIDE, "timeout": 1}
    vectors = Vectors(path, DISK, read_only=False, **options)
    assert len(vectors.look(ids)) == SIZE
    vectors.begin()
    for start in range(0, on_disk, 1_000):
        some = np.arange(start, min(start + 1_000, on_disk))
        vectors.append(some, rows[some])
    vectors.finish()
    if on_disk < SIZE or read_only:
        reader = Vectors(path, DISK, read_only=True, **options)
        missing = reader.look(ids)
        reader.append(missing, rows[missing])
        return reader
    return vectors


def brute(rows, query, wanted, allowed):
    """The true best, by seq."""
    cosines = np.where(allowed, rows @ query, -2)
    order = np.lexsort((-np.arange(len(rows)), -cosines))[: min(wanted, int(allowed.sum()))]
    return np.sort(order)


@pytest.mark.parametrize("on_disk", [SIZE, 2 * BLOCK + 5, 1])
@pytest.mark.parametrize("share", [1.0, 0.3, 0.001, 0.0])
def test_search_finds_the_true_best(tmp_path, world, exact, on_disk, share):
    """The same as comparing everything, on disk or in memory, among all or a few; in two passes almost the same."""
    rows, _ = world
    vectors = made(tmp_path / "stream.vec", world, on_disk=on_disk)
    allowed = np.random.default_rng(3).random(SIZE) < share
    hits = []
    for query in rows[5:4_000:400]:
        found = vectors.search(query, 50, allowed=allowed if share < 1 else None)
        true = brute(rows, query, 50, allowed)
        assert len(found.seqs) == len(true)
        assert allowed[found.seqs].all()
        assert (np.diff(found.seqs) > 0).all()
        assert np.allclose(found.cosines, rows[found.seqs] @ query, atol=1e-5)
        hits.append(np.isin(true, found.seqs).mean() if len(true) else 1.0)
        every = (rows @ query)[allowed] if allowed.any() else np.zeros(1)
        assert found.mean == pytest.approx(every.mean(), abs=1e-5 if exact else 0.02)
        assert found.deviation == pytest.approx(every.std(), abs=1e-5 if exact else 0.02)
    assert np.mean(hits) >= (1.0 if exact else 0.99)


@pytest.mark.usefixtures("exact")
def test_search_unites_what_else_is_asked_for(tmp_path, world):
    """`also` comes with its cosines, allowed or not, once, in order; what has no row has the cosine 0."""
    rows, _ = world
    vectors = made(tmp_path / "stream.vec", world)
    best = vectors.search(rows[9], 3)
    also = np.array([SIZE + 5, 7, int(best.seqs[0]), 8_000, 7])
    found = vectors.search(rows[9], 3, allowed=np.arange(SIZE) != 8_000, also=also)
    assert found.seqs.tolist() == sorted({*best.seqs.tolist(), 7, 8_000, SIZE + 5})
    assert found.seqs.dtype == np.int64
    assert found.cosines.dtype == np.float32
    expected = [float(rows[seq] @ rows[9]) if seq < SIZE else 0.0 for seq in found.seqs]
    assert np.allclose(found.cosines, expected, atol=1e-5)
    assert np.allclose(vectors.cosines(rows[9], also), [0.0, *(rows[also[1:]] @ rows[9])], atol=1e-5)
    assert vectors.search(rows[9], 0, also=np.array([4])).seqs.tolist() == [4]


@pytest.mark.usefixtures("exact")
def test_of_equals_the_newer_come_first(tmp_path, world, monkeypatch):
    """A thousand times the same text: the newest are found, in any order of passes."""
    monkeypatch.setattr(vectors_module, "candidates", lambda _rows, wanted: 2 * wanted)
    rows, ids = world
    same = rows.copy()
    same[1_000:6_000] = rows[0]
    vectors = made(tmp_path / "stream.vec", (same, ids))
    assert vectors.search(rows[0], 10).seqs.tolist() == list(range(5_990, 6_000))


def test_nothing_is_found_among_nothing(tmp_path):
    """An empty journal answers with nothing."""
    options = {"chain": "c", "by": "embed:x@1", "dims": 3, "timeout": 1, "read_only": False}
    vectors = Vectors(tmp_path / "stream.vec", DISK, **options)
    assert vectors.look(np.zeros(0, dtype=np.uint64)).tolist() == []
    vectors.begin()
    vectors.finish()
    found = vectors.search(np.array([1, 0, 0], dtype=np.float32), 5)
    assert (found.seqs.tolist(), found.mean, found.deviation) == ([], 0.0, 0.0)


@pytest.mark.usefixtures("exact")
def test_a_file_cut_while_it_is_mapped_ends_no_process(tmp_path, world):
    """What was cut off by somebody else is not touched: the search finds less, and the next look makes it again."""
    rows, ids = world
    path = tmp_path / "stream.vec"
    vectors = made(path, world)
    os.truncate(path, HEADER + layout(WIDE).itemsize + 5)
    vectors.search(rows[9], 3)
    missing = vectors.look(ids)
    assert missing.tolist() == list(range(BLOCK, SIZE))
    vectors.append(missing, rows[missing])
    assert vectors.search(rows[9_000], 1).seqs.tolist() == [9_000]
    assert vectors.size() == SIZE


def test_rows_of_another_record_are_made_again(tmp_path, world):
    """A row bears its record's id: where the journal has another record there, only that row is missing."""
    rows, ids = world
    vectors = made(tmp_path / "stream.vec", world)
    others = ids.copy()
    others[[4, 5, BLOCK, SIZE - 1]] += np.uint64(1)
    others[9] = 0  # a line that is not valid has no id
    missing = vectors.look(others)
    assert missing.tolist() == [4, 5, 9, BLOCK, SIZE - 1]
    assert vectors.size() == 4
    vectors.append(missing, -rows[missing])
    assert vectors.look(others).tolist() == []
    assert vectors.search(-rows[BLOCK], 1).seqs.tolist() == [BLOCK]
    again = Vectors(tmp_path / "stream.vec", DISK, chain="c", by="embed:x@1", dims=WIDE, read_only=True, timeout=1)
    assert again.look(others).tolist() == []


def test_several_append_and_read_at_once(tmp_path, world):
    """Six instances that make the same rows, and search meanwhile: every row is whole, and there once."""
    rows, ids = world
    options = {"chain": "c", "by": "embed:x@1", "dims": WIDE, "timeout": 30, "read_only": False}
    failed = []

    def work(number):
        try:
            vectors = Vectors(tmp_path / "stream.vec", DISK, **options)
            for size in range(1_000 + number, SIZE, 3_001):
                missing = vectors.look(ids[:size])
                vectors.begin()
                for start in range(0, len(missing), 500):
                    vectors.append(missing[start : start + 500], rows[missing[start : start + 500]])
                vectors.finish()
                found = vectors.search(rows[size - 1], 5)
                assert size - 1 in found.seqs
                assert np.allclose(found.cosines, rows[found.seqs] @ rows[size - 1], atol=1e-5)
        except Exception as error:  # noqa: BLE001  (a thread's failure is the test's)
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    again = Vectors(tmp_path / "stream.vec", DISK, **options)
    missing = again.look(ids)
    assert again.size() > SIZE - 3_100
    there = np.setdiff1d(np.arange(SIZE), missing)
    assert np.allclose(again._state.mapped.scattered(there), rows[there])


def test_records_without_a_vector_are_counted_and_found_by_their_words(home):
    """So many are embedded as were asked for; the marks count the rest, until they are embedded too."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Words()) as memory:
        memory.record_many([Draft(kind=Kind.STATE, content=text) for text in TEXTS])
        memory.prepare_recall(embed=5)
        assert any(mark.startswith(f"{len(TEXTS) - 5} records have no vector") for mark in memory.marks())
        memory.prepare_recall()
        assert not memory.marks()
        everything_is_found(memory)


def test_large_contents_are_embedded_few_at_a_time(home, monkeypatch):
    """So many contents or so many characters, whatever comes first; yet never one alone that could stop the others."""

    class Failing(Words):
        def encode(self, texts):
            if any("difficult" in text for text in texts):
                raise RuntimeError
            return super().encode(texts)

    monkeypatch.setattr(vectors_module, "_CHARACTERS_AT_ONCE", 200)
    long = "difficult " * 30
    few = 200 // len(TEXTS[0]) + 1
    texts = [*TEXTS[:few], long, *TEXTS[few:]]
    told = []
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Failing()) as memory:
        memory.record_many([Draft(kind=Kind.STATE, content=text) for text in texts])
        memory.prepare_recall(lambda what, done, _: told.append(done) if what == "embedding" else None)
        everything_is_found(memory)
    sizes = [after - before for before, after in zip([0, *told], told, strict=False)]
    assert sizes == [few, 3, len(texts) - few - 3]
