"""The full-text index follows the journal: whatever happens to it or beside it, what is recorded is found, once."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from alveus import AlveusError, Draft, Hippocampus, Kind, StoreError
from alveus.store import search as search_module

ASKER = Path(__file__).parent / "asker.py"
AGENT = "river"
ALL = 10**6
POOL = 3000
"""More records than one question looks at in full."""


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    """Several pieces of a few hundred records, each written while the next one is read."""
    monkeypatch.setattr(search_module, "_AT_ONCE", 256)


def batch(count, name="a"):
    """Things that all hold one word, and each one of its own."""
    return [Draft(kind=Kind.STATE, content=f"harbour {name}x{number}", session=name) for number in range(count)]


def opened(home, **options):
    """The journal."""
    return Hippocampus.open(home=home, agent_id=AGENT, **options)


def check(memory):
    """Everything recorded is found, once, by the word it shares and by its own; returns how many there are."""
    recorded = [record.content for record in memory.iter_records() if record.content.startswith("harbour")]
    assert len(set(recorded)) == len(recorded), "the test records each once"
    if len(recorded) < POOL:
        assert sorted(one.content for one in memory.pattern_completion("harbour", ALL)) == sorted(recorded)
    by_session: dict[str, list[str]] = {}
    for record in memory.iter_records():
        if record.hc.session is not None:
            by_session.setdefault(record.hc.session, []).append(record.content)
    for session, contents in by_session.items():
        found = memory.pattern_completion("harbour", ALL, session=session)
        assert sorted(one.content for one in found) == sorted(contents)
    search = memory._agent.search()
    assert search.behind == 0
    assert search.count() == memory.size()
    for content in (recorded[:1], recorded[len(recorded) // 2 :][:1], recorded[-1:]):
        for one in content:
            own = one.split()[1]
            assert [record.content for record in memory.pattern_completion(own, 5)][:1] == [one]
    places = search._db.execute("SELECT chain, offset FROM turn").fetchall()
    assert len(set(places)) == len(places)
    return len(recorded)


def begun(home, count=300):
    """A journal with an index; returns the agent's folder."""
    with opened(home) as memory:
        memory.record_many(batch(count))
        assert check(memory) == count
        return memory.folder


def picture(folder):
    """All files: their bytes and when they were written."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir() if path.is_file()}


def child(home, *what):
    """A process at work."""
    return subprocess.Popen(
        [sys.executable, ASKER, home, *map(str, what)], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )


# Following


def test_it_follows_this_process_record_by_record(home):
    """Each is found as soon as it is recorded, also across changes of key."""
    with opened(home) as memory:
        for number in range(12):
            memory.record("state", f"harbour x{number}")
            assert len(memory.pattern_completion("harbour", ALL)) == number + 1
            if number % 5 == 4:
                memory.rotate()
        assert check(memory) == 12
        assert len(memory._agent.streams()) == 3


def test_it_follows_other_processes(home):
    """One process asks, another records, changes the key and asks, by turns."""
    begun(home)
    with opened(home) as memory:
        for number in range(3):
            done = subprocess.run(
                [sys.executable, ASKER, home, "append", "1"], capture_output=True, text=True, timeout=60, check=False
            )
            assert done.returncode == 0, done.stderr
            assert len(memory.pattern_completion("appendx0", ALL)) == 1  # the same content, again and again: once
            memory.record_many(batch(2, f"mine{number}"))
            memory.rotate()
            assert len(memory.pattern_completion(f"mine{number}x1", 1)) == 1
        assert memory._agent.search().count() == memory.size()


def test_two_processes_record_change_keys_and_ask_at_once(home):
    """None is refused, none rebuilds what the other made, and at the end all is found."""
    begun(home)
    processes = [child(home, "record", 3) for _ in range(2)]
    told = []
    for process in processes:
        for line in process.stdout:
            told.append(line)
            if len(told) % 30 == 0:
                break
    for process in processes:
        process.kill()
        rest, _ = process.communicate(timeout=60)
        assert "Error" not in rest
    with opened(home) as memory:
        assert check(memory) > 330


def test_who_is_behind_does_not_make_the_index_again(home, monkeypatch):
    """Another process recorded and indexed since we looked: its index is ahead, and right."""
    begun(home)
    with opened(home) as mine, opened(home) as other:
        assert len(mine.pattern_completion("harbour", ALL)) == 300
        other.record_many(batch(5, "b"))
        assert len(other.pattern_completion("harbour", ALL)) == 305
        search = mine._agent.search()
        monkeypatch.setattr(search, "_rebuild", lambda *_: pytest.fail("it was made again"))
        search.catch_up(mine._agent.streams())
        other.rotate()
        other.record("state", "harbour beyond")
        assert len(other.pattern_completion("harbour", ALL)) == 306
        assert len(mine.pattern_completion("harbour", ALL)) == 306
        assert check(mine) == 306


def test_a_key_changed_while_a_question_is_answered_is_no_error(home, monkeypatch):
    """Between catching up and asking another process begins a chain and indexes it."""
    begun(home)
    with opened(home) as mine, opened(home) as other:
        assert len(mine.pattern_completion("harbour", ALL)) == 300
        search = mine._agent.search()
        catch_up, done = search.catch_up, []

        def then_another_rotates(*args):
            catch_up(*args)
            if not done:
                done.append(True)
                other.rotate()
                other.record("state", "harbour beyond")
                assert len(other.pattern_completion("harbour", ALL)) == 301

        monkeypatch.setattr(search, "catch_up", then_another_rotates)
        assert len(mine.pattern_completion("harbour", ALL)) == 301


# Readers


def test_a_reader_writes_nothing(home):
    """With the index whole, lagging, left by a killed writer with and without its shared memory, or not there."""
    folder = begun(home)
    with opened(home) as memory:
        memory.record_many(batch(5, "late"))  # not indexed
    killed = "import os,sys; from asker import *; m = Hippocampus.open(home=Path(sys.argv[1]), agent_id='river'); \
        m.record_many(batch('killed', 4), durable=True); m.pattern_completion('harbour'); os.kill(os.getpid(), 9)"

    def ask(expected):
        before = picture(folder)
        with opened(home, read_only=True) as reader:
            assert check(reader) == expected
            assert len(reader.timeline()) > 0
            assert reader.context("harbour", 500).sources
        assert picture(folder) == before

    ask(305)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ASKER.parent), os.environ.get("PYTHONPATH", "")])}
    subprocess.run([sys.executable, "-c", killed, home], env=environment, timeout=60, check=False)
    assert (folder / "recall.db-wal").stat().st_size > 0
    ask(309)
    (folder / "recall.db-shm").unlink()
    ask(309)
    for path in folder.glob("recall.db*"):
        path.unlink()
    ask(309)


def test_a_reader_beside_a_writer_writes_nothing_and_sees_all(home):
    """The writer has the index open, and goes on."""
    folder = begun(home)
    with opened(home) as writer, opened(home, read_only=True) as reader:
        for number in range(3):
            writer.record("decision", f"harbour live{number}")
            assert len(writer.pattern_completion("harbour", ALL)) == 301 + number
            before = picture(folder)
            assert check(reader) == 301 + number
            with opened(home, read_only=True) as another:
                assert check(another) == 301 + number
            assert picture(folder) == before


# Another past


def test_a_journal_put_back_to_an_older_copy(home, tmp_path):
    """The index has more than the journal: it is made again, whether or not other records came since."""
    folder = begun(home, 20)
    shutil.copytree(folder, tmp_path / "old")
    with opened(home) as memory:
        memory.record_many(batch(10, "later"))
        assert check(memory) == 30
    for more in (0, 10, 40):
        for path in (tmp_path / "old").iterdir():
            if not path.name.startswith("recall"):
                shutil.copy(path, folder / path.name)
        with opened(home) as memory:
            memory.record_many(batch(more, f"other{more}"))
            assert check(memory) == 20 + more
            assert not len(memory.pattern_completion("laterx3"))


def test_another_history_under_the_same_name(home, tmp_path):
    """An index beside a journal it was not made of, shorter or longer, is made again."""
    folder = begun(home, 30)
    for count in (10, 30, 100):
        other = begun(tmp_path / str(count), count)
        for path in folder.glob("recall.db*"):
            shutil.copy(path, other / path.name)
        with opened(tmp_path / str(count)) as memory:
            assert check(memory) == count
        with opened(tmp_path / str(count), read_only=True) as reader:
            assert check(reader) == count


def test_a_file_cut_while_it_is_open_ends_the_catching_up(home):
    """Nothing more can be read: the call returns, and says that the index is behind."""
    with opened(home) as memory:
        memory.record_many(batch(30))
        memory.flush()
        search, streams = memory._agent.search(), memory._agent.streams()
        path = memory.folder / "stream.jsonl"
        whole = path.read_bytes()
        os.truncate(path, 0)
        with contextlib.suppress(AlveusError):
            search.catch_up(streams)
        assert search.behind == memory._agent.stream.link.size
        path.write_bytes(whole)
        assert check(memory) == 30


# Damaged lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"session":"a"', b'"session":[1]'),
        (b'"session":"a"', b'"session":{ }'),
        (b'"session":"a"', b'"session": 12'),
        (b'"kind":"state"', b'"kind":[     ]'),
        (b'"novelty":"novel"', b'"novelty":{     }'),
        (b'"content":"harbour ax5"', b'"content":"\\ud800\\udfff"'),
        (b'"session":"a","src":"agent"', b'"session":"\\udc80","sr":"a"'),
        (b'"metadata":{"hc":{', b'"metadata":[{"hc":{'),
        (b'"timestamp":"2', b'"timestamp": 2'),
        (b'harbour ax5"', b"harbour ax5\n"),
    ],
)
def test_a_line_that_says_nonsense_does_not_stop_the_index(home, before, after):
    """Types that no record has, on disk: the line is no answer, all others are."""
    with opened(home) as memory:
        memory.record_many(batch(10))
    path = home / "agents" / AGENT / "stream.jsonl"
    lines = path.read_bytes().split(b"\n")
    number = next(number for number, line in enumerate(lines) if b"ax5" in line)
    if before not in lines[number]:
        before = before.replace(b"novel", b"routine", 2)
        after = after.replace(b"{ ", b"{   ")
    changed = lines[number].replace(before, after, 1)[: len(lines[number])].ljust(len(lines[number]), b" ")
    assert changed != lines[number]
    lines[number] = changed
    path.write_bytes(b"\n".join(lines))
    for read_only in (True, False):
        with opened(home, read_only=read_only) as memory:
            found = memory.pattern_completion("harbour", ALL)
            assert sorted(one.content for one in found) == [f"harbour ax{n}" for n in range(10) if n != 5]


# The file itself


def garbage(path):
    """No database at all."""
    path.write_bytes(b"no database " * 1000)


def empty(path):
    """No byte."""
    path.write_bytes(b"")


def cut(path):
    """The first half."""
    os.truncate(path, path.stat().st_size // 2)


def cut_short(path):
    """A page and a bit."""
    os.truncate(path, 5000)


def bad_pages(path):
    """All but the first two pages are noise."""
    data = path.read_bytes()
    path.write_bytes(data[:8192] + b"\xa5" * (len(data) - 8192))


def another_version(path):
    """Made by another version."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def another_database(path):
    """A database of something else."""
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE turn (x)")
        db.execute(f"PRAGMA user_version = {search_module._VERSION}")


def without_a_table(path):
    """One table is gone."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE session")


def rows_missing(path):
    """It says that it has less than it has."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE progress SET size = size - 7")
        db.commit()


def missing(path):
    """No file."""
    path.unlink()


DAMAGE = [garbage, empty, cut, cut_short, bad_pages, another_version, another_database, without_a_table, missing]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("how", ["ask", "read", "rebuild", "timeline", "append"])
def test_a_damaged_index_is_made_again(home, damage, how):
    """Whatever is wrong with the file, whatever is done first: the answers are whole, and the next one's too."""
    folder = begun(home)
    damage(folder / "recall.db")
    with opened(home, read_only=how == "read") as memory:
        if how == "rebuild":
            memory.prepare_recall(anew=True)
        if how == "timeline":
            assert sum(day.routine + day.novel + day.prediction_error for day in memory.timeline()) >= 300
        if how == "append":
            memory.record_many(batch(3, "more"))
        assert check(memory) >= 300
        assert memory.marks() == ()
    with opened(home) as memory:
        assert check(memory) >= 300


def test_an_index_that_contradicts_itself_is_made_again(home):
    """Its progress says less than its rows: what it takes in again is there already."""
    folder = begun(home)
    rows_missing(folder / "recall.db")
    with opened(home) as memory:
        memory.record_many(batch(5, "more"))
        assert check(memory) == 305


def test_damage_under_an_open_index_is_mended(home):
    """Pages overwritten while it is open: asked again or at once, the answers are whole."""
    begun(home)
    with opened(home) as memory:
        assert check(memory) == 300
        memory._agent.search()._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        path = memory.folder / "recall.db"
        data = path.read_bytes()
        path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
        memory._agent.search()._db.execute("PRAGMA shrink_memory")
        memory.record("state", "harbour more")
        with contextlib.suppress(StoreError):
            memory.pattern_completion("harbour")
        assert check(memory) == 301


def test_other_processes_go_on_while_a_damaged_index_is_begun_again(home):
    """It is written over, not replaced: who has the file open sees the new one, and it stays whole."""
    begun(home)
    with opened(home) as mine, opened(home) as other:
        assert check(mine) == check(other) == 300
        with contextlib.closing(sqlite3.connect(mine.folder / "recall.db")) as db:
            db.execute("DROP TABLE language")
        inode = (mine.folder / "recall.db").stat().st_ino
        mine.record("state", "harbour more")
        assert check(mine) == check(other) == 301
        assert (mine.folder / "recall.db").stat().st_ino == inode
    with contextlib.closing(sqlite3.connect(home / "agents" / AGENT / "recall.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("what", ["folder", "fifo", "link", "dangling", "database"])
@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.timeout(60)
def test_what_is_no_file_is_left_alone(home, tmp_path, what, read_only):
    """A folder, a FIFO, a link to another file: it is not touched, and the answers come from memory."""
    folder = begun(home)
    path, target = folder / "recall.db", tmp_path / "precious"
    path.unlink()
    if what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(target)
    if what == "link":
        target.write_text("precious")
    if what == "database":
        with contextlib.closing(sqlite3.connect(target)) as db:
            db.execute("CREATE TABLE session (precious)")
    before = target.read_bytes() if target.exists() else None
    status = path.lstat()
    with opened(home, read_only=read_only) as memory:
        memory.prepare_recall(anew=True)
        assert check(memory) == 300
        assert bool(memory.marks()) == (not read_only)
    assert (target.read_bytes() if target.exists() else None) == before
    assert path.lstat().st_ino == status.st_ino


def test_the_index_is_nobody_elses_to_read(home):
    """It holds the words of all records: only its owner may read it, and the files beside it."""
    previous = os.umask(0)
    try:
        with opened(home) as memory:
            memory.record("state", "secret")
            memory.pattern_completion("secret")
            for path in memory.folder.glob("recall.db*"):
                assert path.stat().st_mode & 0o077 == 0, path.name
    finally:
        os.umask(previous)


FULL = """
import resource, signal, sys
from alveus.completion import prepare
from asker import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = Hippocampus.open(home=Path(sys.argv[1]), agent_id="river")
if sys.argv[2] == "after":
    memory.pattern_completion("harbour")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
for _ in range(2):
    if sys.argv[4] == "rebuild":
        prepare(memory._agent, lambda *_: None, anew=True)
    say(len(memory.pattern_completion("harbour", 10**6)), "|".join(memory.marks()))
"""


@pytest.mark.parametrize(
    ("when", "limit", "act"),
    [
        ("before", 0, "ask"),
        ("before", 5000, "rebuild"),
        ("after", 0, "ask"),
        ("after", 5000, "rebuild"),
        ("after", 100_000, "ask"),
    ],
)
def test_on_a_full_disk_the_answers_come_from_memory(home, when, limit, act):
    """No byte, or too few, can be written: everything is found, and said to be made in memory."""
    with opened(home) as memory:
        memory.record_many(batch(2000))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ASKER.parent), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-c", FULL, home, when, str(limit), act],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert [line.split(" ", 1)[0] for line in lines] == ["2000", "2000"], done.stderr
    if limit < 100_000 and (when == "before" or act == "rebuild"):
        assert "memory" in lines[-1]
    with opened(home) as memory:
        assert check(memory) == 2000


def test_a_disk_without_room_is_told_by_sqlite(home):
    """SQLite's own «full»: the index goes on in memory, with what it had."""
    begun(home)
    with opened(home) as memory:
        assert check(memory) == 300
        search = memory._agent.search()
        pages = search._db.execute("PRAGMA page_count").fetchone()[0]
        search._db.execute(f"PRAGMA max_page_count = {pages}")
        memory.record_many(batch(3000, "more"))
        assert check(memory) == 3300
        assert "memory" in memory.marks()[0]
    with opened(home) as memory:
        assert check(memory) == 3300
        assert memory.marks() == ()


# Many at once


def test_many_threads_ask_while_one_records(home):
    """Every answer holds at least what was recorded before it was asked, each thing once."""
    begun(home, 20)
    failed, stop = [], threading.Event()
    with opened(home) as memory:

        def ask():
            while not stop.is_set():
                least = memory.size()
                contents = [one.content for one in memory.pattern_completion("harbour", ALL)]
                if len(contents) < least or len(set(contents)) != len(contents):
                    failed.append((least, len(contents)))

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for number in range(60):
            memory.record("state", f"harbour t{number}")
        stop.set()
        for thread in threads:
            thread.join(60)
        assert not failed
        assert check(memory) == 80


def test_closing_while_other_threads_ask(home):
    """They get their answer, or one sentence; nothing hangs, and the index is whole."""
    begun(home)
    for number in range(5):
        memory = opened(home)
        errors = []

        def ask(memory=memory, errors=errors):
            try:
                while True:
                    memory.pattern_completion("harbour", 50)
            except BaseException as met:  # noqa: BLE001  (which one is what the test asks)
                errors.append(met)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.01 * number)
        memory.close()
        for thread in threads:
            thread.join(30)
            assert not thread.is_alive()
        assert all(isinstance(error, AlveusError) for error in errors), errors
    with opened(home) as memory:
        assert check(memory) == 300


def test_a_forked_child_asks_for_itself(home):
    """Forked while threads ask: it opens the index anew, and its parent's stays as it was."""
    begun(home)
    with opened(home) as memory:
        stop = threading.Event()

        def ask():
            while not stop.is_set():
                memory.pattern_completion("harbour", 20)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            for number in range(6):
                process = os.fork()
                if process == 0:
                    signal.alarm(30)
                    status = 1
                    with contextlib.suppress(BaseException):
                        memory.record("decision", f"harbour child{number}")
                        status = int(len(memory.pattern_completion("harbour", ALL)) != 301 + number)
                    os._exit(status)
                assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        finally:
            stop.set()
            thread.join(30)
        assert check(memory) == 306


def test_two_processes_that_catch_up_at_once_take_each_piece_once(home):
    """Both begin with nothing indexed."""
    with opened(home) as memory:
        memory.record_many(batch(2900))
    processes = [child(home, "ask") for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    answers = [process.stdout.readline() for process in processes]
    for process in processes:
        process.kill()
        process.communicate(timeout=30)
    assert answers == ["2900\n"] * 3
    with opened(home) as memory:
        assert check(memory) == 2900


def test_a_rebuild_leaves_the_old_index_to_the_others(home, monkeypatch):
    """While one rebuilds, another is answered from the old index, and told that it lacks what was appended since."""
    begun(home)
    monkeypatch.setattr(search_module, "_PATIENCE", 0.2)
    with opened(home) as mine, opened(home) as other:
        assert check(mine) == check(other) == 300
        seen = []

        def meanwhile(what, *_):
            if what == "indexing" and not seen:
                seen.append(len(other.pattern_completion("harbour", ALL)))
                assert other.marks() == ()
                other.record("decision", "harbour appended")
                found = other.pattern_completion("harbour", ALL)
                seen.append(len(found))
                assert "1 records behind" in " ".join(other.marks())
                assert other.pattern_completion("appended").code == "index_behind"

        mine.prepare_recall(meanwhile, anew=True)
        assert seen == [300, 300]
        assert check(mine) == check(other) == 301
        assert other.marks() == ()


def test_an_index_of_another_past_does_not_serve_while_it_is_held(home, tmp_path, monkeypatch):
    """It cannot be made again as long as another process writes it: one sentence, never an answer from it."""
    folder = begun(home, 30)
    other = begun(tmp_path / "other", 10)
    for path in folder.glob("recall.db*"):
        shutil.copy(path, other / path.name)
    monkeypatch.setattr(search_module, "_PATIENCE", 0.2)
    with contextlib.closing(sqlite3.connect(other / "recall.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with opened(tmp_path / "other") as memory:
            with pytest.raises(StoreError) as caught:
                memory.pattern_completion("harbour")
            assert caught.value.code == "index_unavailable"
            assert caught.value.hint
            with pytest.raises(StoreError) as caught:
                memory.prepare_recall(anew=True)
            assert caught.value.code == "index_unavailable"
            db.execute("ROLLBACK")
            assert check(memory) == 10


# Pieces


def test_an_interrupt_while_the_next_piece_is_read_leaves_whole_pieces(home, monkeypatch):
    """What was being written beside it is written, or not, as a whole; the next call goes on from there."""
    with opened(home) as memory:
        memory.record_many(batch(2000))
        read, calls = search_module._Reading.look_ahead, []

        def interrupted(reading):
            calls.append(reading)
            if len(calls) == 3:
                raise KeyboardInterrupt
            read(reading)

        monkeypatch.setattr(search_module._Reading, "look_ahead", interrupted)
        with pytest.raises(KeyboardInterrupt):
            memory.prepare_recall()
        search = memory._agent.search()
        assert search.count() == 3 * 256
        assert not [one for one in threading.enumerate() if one.name == "alveus-index"]
        assert search._db.execute("SELECT count(*) FROM terms WHERE terms MATCH 'harbour'").fetchone() == (3 * 256,)
        monkeypatch.undo()
        assert check(memory) == 2000


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_CORRUPT])
def test_an_error_beside_is_met_by_whoever_catches_up(home, monkeypatch, code):
    """A full disk: on in memory. A damaged file: begun again. Either way everything is found once."""
    with opened(home) as memory:
        memory.record_many(batch(1000))
        failed = []

        def fails_once(act, meanwhile):
            def write():
                if not failed:
                    failed.append(code)
                    error = sqlite3.OperationalError("as if")
                    error.sqlite_errorcode = code
                    raise error
                act()

            beside(write, meanwhile)

        beside = search_module._beside
        monkeypatch.setattr(search_module, "_beside", fails_once)
        memory.prepare_recall()
        assert failed
        assert check(memory) == 1000


@pytest.mark.parametrize("kind", [KeyboardInterrupt, TimeoutError])
def test_whoever_waits_for_the_thread_waits_through_an_interrupt(kind):
    """What a signal raises while the thread writes is raised when it has written, and not before."""
    waiting, written = threading.Event(), []

    def interrupts(*_):
        raise kind

    def write():
        waiting.wait()
        for _ in range(3):
            time.sleep(0.05)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
        time.sleep(0.2)
        written.append(1)

    before = signal.signal(signal.SIGUSR1, interrupts)
    try:
        with pytest.raises(kind):
            search_module._beside(write, waiting.set)
        assert written == [1]
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("late", [False, True])
def test_a_thread_whose_start_was_interrupted_does_nothing_afterwards(monkeypatch, late):
    """Its caller has rolled back what it would write into: either it has written before, or it never does."""
    start, begun, ended, threads, held = threading.Thread.start, [], [], [], threading.Event()

    def write():
        begun.append(1)
        time.sleep(0.1)
        ended.append(1)

    def interrupted(thread):
        run = thread._target
        thread._target = lambda: (held.wait() if late else None, run())
        threads.append(thread)
        start(thread)
        while not (late or begun):
            time.sleep(0.001)
        raise KeyboardInterrupt

    monkeypatch.setattr(search_module.threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        search_module._beside(write, lambda: None)
    assert begun == ended == ([] if late else [1])
    held.set()
    threads[0].join()
    assert begun == ended == ([] if late else [1])


def test_without_a_thread_to_be_had_the_index_is_made_by_this_one(home, monkeypatch):
    """The interpreter ends, or the system has no more of them."""

    def refused(_):
        raise RuntimeError("can't start new thread")

    with opened(home) as memory:
        memory.record_many(batch(1000))
        monkeypatch.setattr(search_module.threading.Thread, "start", refused)
        memory.prepare_recall()
        monkeypatch.undo()
        assert check(memory) == 1000


def test_large_records_make_small_pieces(home, monkeypatch):
    """A piece is so many records or so many bytes, whatever comes first."""
    monkeypatch.setattr(search_module, "_BYTES_AT_ONCE", 10_000)
    told = []
    with opened(home) as memory:
        memory.record_many(batch(250))
        memory.prepare_recall(lambda what, done, _: told.append(done) if what == "indexing" else None)
        assert len(told) > 10
        assert told == sorted(set(told))
        assert check(memory) == 250


# Killed


def kill(home, dice, what, count):
    """Start a process, kill it at a random moment of its work."""
    process = child(home, what, count)
    assert process.stdout.readline() == "ready\n"
    time.sleep(dice.random() * 0.15)
    process.kill()
    process.communicate(timeout=30)


def kill_many(home, times, seed):
    """After each kill, in turn while catching up, while rebuilding and while recording, everything is found once."""
    dice, there = random.Random(seed), 0
    with opened(home) as memory:
        memory.record_many(batch(1500))
    for number in range(times):
        kill(home, dice, ("ask", "rebuild", "record")[number % 3], dice.choice([1, 20, 500]))
        if number % 2:
            with opened(home, read_only=True) as reader:
                check(reader)
        with opened(home) as memory:
            now = check(memory)
            assert now >= there
            there = now
            if number % 3 == 2:
                memory.record_many(batch(200, f"after{number}"))
        if number % 5 == 4:
            for path in (home / "agents" / AGENT).glob("recall.db*"):
                path.unlink()  # the next one is killed while it makes it
    with opened(home) as memory, contextlib.closing(sqlite3.connect(memory.folder / "recall.db")) as db:
        check(memory)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_killed_fifteen_times_it_finds_everything_once(home):
    """At random moments of catching up, of a rebuild and of recording."""
    kill_many(home, 15, 5)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(10))
def test_killed_two_hundred_times_it_finds_everything_once(home, seed):
    """The same with twenty more for each seed."""
    kill_many(home, 20, 100 + seed)
