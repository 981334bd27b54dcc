"""Opening in a world that is not as it should be: each error is a sentence that says what to do; nothing is lost."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import alveus
from alveus import AlveusError, Hippocampus, NotFound, StoreError
from scenes import AGENT
from simulator import Faulty, SimulatedDisk, Spoil

SOURCE = str(Path(alveus.__file__).parent.parent)


def test_default_configuration_survives_restarts(home, monkeypatch):
    """Open, record, exit, three times over with no configuration but the home: everything is there each time."""
    monkeypatch.setenv("ALVEUS_HOME", str(home))
    for number in range(3):
        with Hippocampus.open() as memory:
            memory.record("state", f"session {number}")
            assert [record.content for record in memory.iter_records()] == [f"session {n}" for n in range(number + 1)]


def test_an_exit_without_closing_loses_nothing_written(home):
    """A program that just ends has written what it recorded."""
    script = f"""
from alveus import Hippocampus
memory = Hippocampus.open(home={str(home)!r}, agent_id="river")
memory.record("state", "grouped")
memory.record("decision", "durable")
memory.record("state", "last")
"""
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": SOURCE})
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        assert [record.content for record in memory.iter_records()] == ["grouped", "durable", "last"]


@pytest.mark.parametrize(
    "environment",
    [{"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "POSIX"}, {"PYTHONIOENCODING": "cp1251"}],
)
def test_texts_do_not_depend_on_the_locale(home, tmp_path, environment):
    """Under LANG=C and a console of another code page the same bytes are written and read."""
    script = tmp_path / "script.py"
    script.write_text(
        f"""
from alveus import Hippocampus
with Hippocampus.open(home={str(home)!r}, agent_id="река") as memory:
    memory.record("decision", "сервер переехал — 😀", {{"ключ": "значение"}})
    assert memory.pattern_completion("СЕРВЕР")[0].content == "сервер переехал — 😀"
""",
        encoding="utf-8",
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    subprocess.run(
        [sys.executable, "-W", "error", script], check=True, env={**env, "PYTHONPATH": SOURCE, **environment}
    )
    with Hippocampus.open(home=home, agent_id="река") as memory:
        assert next(iter(memory.iter_records())).content == "сервер переехал — 😀"
        assert memory.verify_chain()


def unusable(home, **options):
    """The error of opening there."""
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=home, agent_id=AGENT, **options)
    assert caught.value.message
    assert caught.value.hint
    return caught.value


def test_nothing_there_and_not_asked_to_begin(home):
    """Without leave to create, a missing journal is not found, and nothing is made."""
    for options in ({"create": False}, {"read_only": True}):
        error = unusable(home, **options)
        assert isinstance(error, NotFound)
        assert str(home) in error.message
    assert not home.exists()


SOMEBODY = 12345


def as_somebody(home):
    """What a user without root's rights gets from opening there and recording: a fork of this process asks."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing"
        try:
            os.setgroups([])
            os.setgid(SOMEBODY)
            os.setuid(SOMEBODY)
            with Hippocampus.open(home=home, agent_id=AGENT) as memory:
                memory.record("decision", "x")
            said = "opened"
        except AlveusError as error:
            said = f"{error.code} | {error.message} | {error.hint}"
        except BaseException as error:  # noqa: BLE001
            said = f"Traceback {error!r}"
        finally:
            os.write(write, said.encode())
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        return pipe.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give its rights up")
@pytest.mark.parametrize("what", ["home", "agents", "folder", "stream", "key", "head", "words"])
def test_without_the_rights(what):
    """A home, folder or file that may not be read or written: an error of ours that names it; nothing changes."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        os.chown(top, SOMEBODY, SOMEBODY)
        home = Path(top) / "home"
        assert as_somebody(home) == "opened"
        folder = home / "agents" / AGENT
        target = {
            "home": home,
            "agents": home / "agents",
            "folder": folder,
            "stream": folder / "stream.jsonl",
            "key": home / "keys" / f"{AGENT}.journal.key",
            "head": folder / "stream.head.1",
            "words": folder / "stream.words",
        }[what]
        target.touch()
        before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
        os.chown(target, 0, 0)
        target.chmod(0o700 if target.is_dir() else 0o600)
        said = as_somebody(home)
        assert "Traceback" not in said
        if what in ("head", "words"):  # replaced, in a folder that is ours
            assert said == "opened" or str(home) in said
        else:
            assert str(home) in said
            assert not said.endswith("| ")
            assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_a_read_only_home_can_be_read(home):
    """A reader needs to write nothing: not a lock file, not a database, not an index."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for number in range(300):
            memory.record("state", f"number {number}")
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}

    class NoWriting(type(alveus.store.files.DISK)):
        def open(self, path, flags, mode=0o600):
            assert not flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR)
            return super().open(path, flags, mode)

        def _refuse(self, *_):
            raise OSError(30, "Read-only file system")

        write = truncate = rename = link = unlink = mkdir = rmdir = _refuse

    with Hippocampus.open(home=home, agent_id=AGENT, read_only=True, files=NoWriting()) as memory:
        assert len(list(memory.iter_records())) == 300
        assert memory.verify_chain()
        assert memory.context("number 7", 300).sources
    (memory.folder / "stream.idx").unlink()
    with Hippocampus.open(home=home, agent_id=AGENT, read_only=True, files=NoWriting()) as memory:
        assert len(list(memory.iter_records(newest_first=True))) == 300
    del before[memory.folder / "stream.idx"]
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()} == {
        path: stamp for path, stamp in before.items() if path.is_file()
    }


@pytest.mark.parametrize("what", ["home", "agents", "keys"])
def test_a_file_in_the_place_of_a_folder(home, what):
    """Where a folder has to be, a file is: the error names it."""
    path = home if what == "home" else home / what
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("not a folder")
    error = unusable(home)
    assert isinstance(error, StoreError)
    assert str(home) in error.message
    assert path.read_text() == "not a folder"


def test_a_disk_that_is_full_at_creation(tmp_path):
    """No space for the first files: told as such, and the next opening begins."""
    (tmp_path / "home" / "agents" / AGENT).mkdir(parents=True)
    for number in range(40):
        disk = SimulatedDisk(tmp_path)
        files = Faulty(disk)
        files.fault = Spoil("enospc", number)
        try:
            Hippocampus.open(home=tmp_path / "home", agent_id=AGENT, files=files).close()
        except StoreError as error:
            assert error.code == "disk_full"
            assert error.hint
        with Hippocampus.open(home=tmp_path / "home", agent_id=AGENT, files=disk) as memory:
            memory.record("decision", "begun")
            assert memory.verify_chain()


@pytest.mark.parametrize("lost", ["stream", "heads", "key", "stream and heads", "folder", "stream and key"])
def test_what_was_lost_is_never_begun_anew(home, lost):
    """A part of a journal is missing: the rest is left as it is, and the error says which part."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one")
    folder, key = memory.folder, home / "keys" / f"{AGENT}.journal.key"
    if "stream" in lost:
        (folder / "stream.jsonl").unlink()
    if "heads" in lost:
        for number in (0, 1):
            (folder / f"stream.head.{number}").unlink()
    if "key" in lost:
        key.unlink()
    if lost == "folder":
        shutil.rmtree(folder)
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    error = unusable(home)
    assert error.code in {"stream_missing", "head_missing", "key_missing"}
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before
    if lost not in ("key", "stream and key"):
        assert unusable(home, read_only=True).code in {"stream_missing", "head_missing"}


def test_a_journal_may_be_begun_again_where_all_of_it_is_gone(home):
    """Key, heads and stream removed together: nothing is left that says there was one."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one")
    shutil.rmtree(home)
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        assert memory.size() == 0


def test_the_journal_moves_with_its_folder(home, tmp_path):
    """A home copied elsewhere is the same journal there."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one")
        memory.rotate()
    shutil.copytree(home, tmp_path / "copy")
    with Hippocampus.open(home=tmp_path / "copy", agent_id=AGENT) as memory:
        memory.record("decision", "two")
        assert memory.verify_chain()


def test_no_descriptor_is_left_open(home):
    """Opening, failing to open, reading and closing again and again leaves no file open."""

    def count():
        return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0

    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one", origin="a:b:c")
    before = count()
    for number in range(5):
        with Hippocampus.open(home=home, agent_id=AGENT) as memory:
            memory.record("state", f"n{number}", origin=f"a:b:{number}")
            memory.rotate()
            memory.pattern_completion("one")
            memory.verify_chain()
        with pytest.raises(AlveusError):
            Hippocampus.open(home=home, agent_id="nobody", create=False)
    key = home / "keys" / f"{AGENT}.journal.key"
    data = key.read_bytes()
    key.write_bytes(bytes(32))
    for _ in range(5):
        with pytest.raises(AlveusError):
            Hippocampus.open(home=home, agent_id=AGENT)
    key.write_bytes(data)
    assert count() == before


def test_a_fresh_folder_is_whole_or_not_there(home):
    """What creation leaves: the key, a head of size 0, an empty stream, and nothing else."""
    Hippocampus.open(home=home, agent_id=AGENT).close()
    assert sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()) == [
        f"agents/{AGENT}/stream.head.0",
        f"agents/{AGENT}/stream.jsonl",
        f"keys/{AGENT}.journal.key",
    ]
