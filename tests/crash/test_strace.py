"""Faults put in from outside: strace makes the system calls of a real process fail, or kills it at one of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from alveus import Hippocampus

CHILD = Path(__file__).parent / "child.py"
STRACE = shutil.which("strace")


def can_trace():
    """Whether strace is there and may do its work (in some containers it may not)."""
    if STRACE is None:
        return False
    done = subprocess.run([STRACE, "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return done.returncode == 0


pytestmark = pytest.mark.skipif(not can_trace(), reason="strace is missing or may not trace: apt install strace")


KILLED = (-9, 137)


def run_traced(home, inject, *, paths, count=3, extra=""):
    """Run the child with a fault injected into its calls on these files; what it said, how it ended, whether it hit."""
    log = home.with_suffix(".strace")
    command = [STRACE, "-f", "-qq", "-o", log, "-e", f"trace={inject.partition(':')[0]}", "-e", f"inject={inject}"]
    for path in paths:
        command += ["-P", str(path)]
    done = subprocess.run(
        [*command, sys.executable, str(CHILD), str(home), str(count), extra],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert "Traceback" not in done.stderr, done.stderr
    hit = "INJECTED" in log.read_text() or done.returncode in KILLED
    return [line for line in done.stdout.split("\n") if line], done.returncode, hit


def check(home, said):
    """What was acknowledged is there, what was refused is not, and the journal goes on."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        contents = [record.content for record in memory.iter_records()]
        for line in said:
            what, _, content = line.partition(" ")
            if what == "ack":
                assert content in contents, said
            if what == "no":
                assert content not in contents, said
        assert memory.verify_chain(), memory.verify_chain().fault
        memory.record("decision", "life goes on")
        assert memory.verify_chain(), memory.verify_chain().fault


def files_of(home):
    """Everything an agent writes, by its name as the system calls see it."""
    folder, keys = home / "agents" / "river", home / "keys"
    names = ["stream.jsonl", "stream.jsonl.rescue", "stream.head.0.new", "stream.head.1.new", "stream.idx"]
    names += ["stream.head.0", "stream.head.1", "stream.words.new", "stream.words"]
    return [folder, folder.parent, home, keys, *(folder / name for name in names), keys / "river.journal.key.new"]


def begin(home):
    """A journal with a past, so that the first call that fails is one of an append."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        memory.record("decision", "the past")


@pytest.mark.parametrize(
    "inject",
    [
        "fdatasync:error=EIO:when=2",
        "fdatasync:error=ENOSPC:when=1",
        "fdatasync:error=EIO:when=1+",
        "write:error=ENOSPC:when=4",
        "write:error=EIO:when=2",
        "fsync:error=EIO:when=1+",
        "fdatasync:signal=SIGKILL:when=2",
        "write:signal=SIGKILL:when=5",
        "fsync:signal=SIGKILL:when=2",
        "rename:signal=SIGKILL:when=1",
    ],
)
def test_a_fault_at_a_system_call_loses_nothing_acknowledged(tmp_path, inject):
    """The parent's view of what its child was promised holds, whatever call of the child failed."""
    home = tmp_path / "home"
    begin(home)
    said, status, hit = run_traced(home, inject, paths=files_of(home))
    assert hit
    assert (status in KILLED) == ("SIGKILL" in inject)
    assert said
    check(home, said)


def test_a_disk_that_stays_full_is_told_for_each_record(tmp_path):
    """Where no write succeeds each record is refused with a sentence, and reopening finds the past as it was."""
    home = tmp_path / "home"
    begin(home)
    said, _, _ = run_traced(home, "write:error=ENOSPC:when=1+", paths=[home / "agents" / "river" / "stream.jsonl"])
    assert [line.partition(" ")[0] for line in said] == ["no"] * 9 + ["done"]
    check(home, said)


@pytest.mark.parametrize("call", ["mkdir", "rename", "fsync", "linkat", "write"])
def test_creation_killed_at_a_system_call_starts_over(tmp_path, call):
    """A first day that ended with its creation: the next one begins a journal as if nothing had been."""
    home = tmp_path / "home"
    said, status, _ = run_traced(home, f"{call}:signal=SIGKILL:when=1", paths=files_of(home))
    assert status in KILLED
    assert not any(line.startswith("ack") for line in said)
    check(home, said)


# All of them


CALLS = ["write", "fdatasync", "fsync", "rename", "unlink", "openat", "pread64", "ftruncate", "linkat", "mkdir"]


@pytest.mark.prove
@pytest.mark.parametrize("what", ["error=EIO", "error=ENOSPC", "signal=SIGKILL"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("extra", ["", "rotate"])
def test_every_system_call_on_the_journals_files(tmp_path, call, what, extra):
    """Each call of this kind on a file of the journal fails, or is the last one: nothing acknowledged is lost."""
    number, hit = 0, True
    while hit and number < 60:
        number += 1
        home = tmp_path / str(number)
        begin(home)
        said, _, hit = run_traced(home, f"{call}:{what}:when={number}", paths=files_of(home), extra=extra)
        check(home, said)
        shutil.rmtree(home)


@pytest.mark.prove
@pytest.mark.parametrize("call", ["write", "fdatasync", "fsync", "rename"])
def test_a_thousand_kills_at_chosen_calls(tmp_path, call):
    """Each of the first 250 calls of this kind is a writer's last one in turn."""
    for number in range(1, 251):
        home = tmp_path / str(number)
        said, _, _ = run_traced(home, f"{call}:signal=SIGKILL:when={number}", paths=files_of(home), count=100)
        check(home, said)
        shutil.rmtree(home)
