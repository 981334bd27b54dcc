"""How fast each format is imported, in processor time: reading its bytes, understanding them, and the whole import.

Each format's file is made (`tests/transcripts.py`), with turns of a few hundred characters, and imported into a journal
of its own by a process of its own, so that the peak of memory is that of the one import. `--large` adds what no memory
should feel: a JSONL of 1 GB, and of every format that is one value 100 MB of it in one line.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from alveus import Hippocampus
from alveus.importers import run
from alveus.importers.source import Source
from alveus.importers.table import named
from transcripts import LARGE, OWN, Made
from transcripts import large as document

WORDS = "the build server listens on port 8081 and the reviewers asked for smaller commits "
TURN = WORDS * 4
LARGE_LINES = "claude-code"


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=float, default=4.0)
    options.add_argument("--large", action="store_true", help="also 1 GB of lines, and 100 MB in one line")
    options.add_argument("--child", nargs=2, metavar=("FORMAT", "FILE"), help=argparse.SUPPRESS)
    options.add_argument("--no-store", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.child:
        child(*given.child, store=not given.no_store)
        return
    print(f"load {os.getloadavg()[0]:.1f}; processor time; peak of the importing process")
    print(f"{'format':34}{'read':>9}{'understood':>12}{'imported':>10}{'peak':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, made in OWN.items():
            measured(name, made, Path(folder), int(given.megabytes * 1e6))
        if given.large:
            large(Path(folder))


def measured(name: str, made: Made, folder: Path, size: int) -> None:
    """One line of the table."""
    turns = max(2, size // (len(made.data(3, TURN)) // 3))
    path = folder / made.file
    path.write_bytes(made.data(turns, TURN))
    told(name, path)
    path.unlink()


def told(name: str, path: Path, label: str = "", *, store: bool = True) -> None:
    """The figures of one file, from a process of its own."""
    command = [sys.executable, __file__, "--child", name, str(path)] + ([] if store else ["--no-store"])
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    read, understood, imported, peak = map(float, out)
    whole = f"{imported:>8.1f}" if store else f"{'–':>8}"
    print(f"{label or name:34}{read:>9,.0f}{understood:>12.1f}{whole}  {peak:>7.0f} MB", flush=True)


def child(name: str, file: str, *, store: bool) -> None:
    """Read, understand and import one file; megabytes a second of each, and the peak in megabytes."""
    path, size = Path(file), Path(file).stat().st_size / 1e6
    chosen = named(name)

    def timed(events: Iterator[object]) -> float:
        began = time.process_time()
        for _ in events:
            pass
        return size / max(time.process_time() - began, 1e-6)

    with path.open("rb") as bare:
        read = timed(iter(lambda: bare.read(1 << 18), b""))
    with Source(path) as source:
        understood = timed(iter(chosen.read(source)))
    imported = 0.0
    if store:
        with (
            tempfile.TemporaryDirectory() as home,
            Hippocampus.open(home=Path(home), agent_id="bench") as memory,
        ):
            began = time.process_time()
            report = run(memory, path, name)
            imported = size / (time.process_time() - began)
        if report.rejected_count or not report.stored:
            raise SystemExit(f"{name}: {report.stored} stored, {report.rejected_count} rejected")
    print(read, understood, imported, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def large(folder: Path) -> None:
    """The files that must be streamed. Their words are understood; what is stored is measured by `run.py`."""
    lines = folder / "large.jsonl"
    made = OWN[LARGE_LINES]
    with lines.open("wb") as file:
        number = 0
        while file.tell() < 1_000_000_000:
            for piece in made.stream(range(number, number + 1000), TURN):
                file.write(piece)
            number += 1000
    told(LARGE_LINES, lines, f"{LARGE_LINES}, 1 GB of lines", store=False)
    lines.unlink()
    for name in LARGE:
        one = folder / OWN[name].file
        with one.open("wb") as file:
            file.writelines(document(name, 100_000_000, TURN))
        told(name, one, f"{name}, 100 MB in one line", store=False)
        one.unlink()


if __name__ == "__main__":
    main()
