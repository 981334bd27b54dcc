"""Writers killed at any moment: nothing that was acknowledged as durable is lost."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alveus import AlveusError, Hippocampus

CHILD = Path(__file__).parent / "child.py"


def check(home, said):
    """The journal opens, is whole, and holds every record that was acknowledged."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        contents = [record.content for record in memory.iter_records()]
        verdict = memory.verify_chain()
        assert verdict, verdict.fault
        for line in said:
            what, _, content = line.partition(" ")
            if what == "ack":
                assert content in contents
            if what == "no":
                assert content not in contents
            assert what != "error", line
        numbers = [content for content in contents if content.startswith("decision")]
        assert len(set(numbers)) == len(numbers)
    return sum(line.startswith("ack") for line in said)


def kill_one(home, dice, extra=""):
    """Start a writer, kill it at a random moment, check what it left."""
    process = subprocess.Popen(
        [sys.executable, CHILD, home, "1000000", extra], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    said = [process.stdout.readline().rstrip("\n")]  # the first acknowledgement: it is at work
    time.sleep(dice.random() * 0.05)
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=30)
    lines = out.split("\n")
    said += lines[:-1]  # the last may be torn
    return said


@pytest.mark.parametrize("extra", ["", "rotate"])
def test_a_writer_killed_again_and_again_on_one_journal(tmp_path, extra):
    """Process after process is killed, also while it changes its key; each time all it was promised is there."""
    dice = random.Random(7)
    for _ in range(8):
        said = kill_one(tmp_path / "home", dice, extra)
        with Hippocampus.open(home=tmp_path / "home", agent_id="river") as memory:
            contents = {record.content for record in memory.iter_records()}
            verdict = memory.verify_chain()
        assert verdict, verdict.fault
        assert said
        assert not [line for line in said if line.startswith("ack ") and line[4:] not in contents]


def fork_and_kill(home, name, dice, *, at_work):
    """As `kill_one`, by a fork of this process, which starts at once; killed once it is at work, or at any moment."""
    with contextlib.suppress(AlveusError):
        Hippocampus.open(home=home, agent_id="river").close()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(write, 1)
            sys.stdout = os.fdopen(1, "w", buffering=1)
            sys.path.insert(0, str(CHILD.parent))
            import child as script

            script.main(home, name, 1_000_000)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.readline() if at_work else ""
        time.sleep(0.01 + dice.random() * 0.06)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        said += pipe.read()
    return said.split("\n")[:-1]


def kill_many(home, count, seed):
    """Kill `count` writers in a row on one journal, checking after each; returns the acknowledged records."""
    dice, acknowledged = random.Random(seed), 0
    for number in range(count):
        here = home / str(number // 20)
        acknowledged += check(here, fork_and_kill(here, str(number), dice, at_work=number % 2 == 0))
    return acknowledged


def test_thirty_killed_writers_lose_nothing_acknowledged(tmp_path):
    """Thirty writers killed at random moments: every record whose durability was promised is in the journal."""
    assert kill_many(tmp_path, 30, 1) >= 15


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(20))
def test_a_thousand_killed_writers_lose_nothing_acknowledged(tmp_path, seed):
    """The same with fifty more for each seed."""
    assert kill_many(tmp_path, 50, 100 + seed) >= 25
