"""What no import may hold: files of a gigabyte and lines of a hundred megabytes, imported whole, journal included.

The documents of every format go through the command line, as a user would import them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from transcripts import LARGE, OWN, large

MEMORY_MB = 300
WORDS = "the build server listens on port 8081 and the reviewers asked for smaller commits " * 4
CHILD = """
import sys
from pathlib import Path

from alveus import Hippocampus
from alveus.importers import run

with Hippocampus.open(home=Path(sys.argv[1]), agent_id="large") as memory:
    report = run(memory, Path(sys.argv[2]))
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(report.read, report.stored, report.rejected_count, peak)
"""
COMMAND = """
import sys

from alveus.doors.cli import main

status = main(sys.argv[1:])
print("peak", next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
sys.exit(status)
"""
pytestmark = [
    pytest.mark.prove,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc"),
]


def lines(size: int) -> Iterator[bytes]:
    """A session of Claude Code of at least so many bytes."""
    written = number = 0
    while written < size:
        for piece in OWN["claude-code"].stream(range(number, number + 1000), WORDS):
            written += len(piece)
            yield piece
        number += 1000


def conversations(size: int) -> Iterator[bytes]:
    """ChatGPT's export in one line."""
    one = OWN["chatgpt"].data(1, WORDS)[1:-1]
    for number in range(size // len(one) + 1):
        yield (b"," if number else b"[") + one.replace(b'"c0"', b'"c%d"' % number)
    yield b"]"


@pytest.mark.parametrize(
    ("name", "made", "size", "least"),
    [
        ("session.jsonl", lines, 1_000_000_000, 1_700_000),
        ("conversations.json", conversations, 100_000_000, 100_000),
    ],
    ids=["a gigabyte of lines", "a hundred megabytes in one line"],
)
def test_a_large_file_is_imported_whole_in_little_memory(name, made, size, least, tmp_path):
    """Everything in it is stored, and the process never had more than 300 MB."""
    with (tmp_path / name).open("wb") as file:
        file.writelines(made(size))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path / "home"), str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=True,
    )
    read, stored, rejected, peak = map(int, done.stdout.split())
    assert (stored, rejected) == (read, 0)
    assert stored >= least
    assert peak <= MEMORY_MB * 1024


@pytest.mark.parametrize("name", LARGE)
def test_a_document_of_a_hundred_megabytes_is_imported_in_little_memory(name, tmp_path):
    """One conversation in one line, named at its end, of every format that is one value; once more, all is known."""
    path = tmp_path / f"{OWN[name].file}"
    with path.open("wb") as file:
        file.writelines(large(name, 100_000_000, WORDS * 20))
    for status in ("stored", "already there"):
        command = [sys.executable, "-c", COMMAND, "--home", str(tmp_path / "home"), "--agent", "river"]
        if status == "stored":
            subprocess.run([*command, "init"], capture_output=True, check=True)
        done = subprocess.run([*command, "import", name, str(path)], capture_output=True, text=True, check=True)
        told = re.search(r"read ([\d,]+) = ([\d,]+) stored \+ ([\d,]+) already there", done.stdout)
        read, stored, known = (int(one.replace(",", "")) for one in told.groups())
        assert read - (stored if status == "stored" else known) <= 2
        assert read > 10_000
        assert int(done.stdout.rpartition("peak")[2]) <= MEMORY_MB * 1024
