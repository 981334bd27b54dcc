"""`make bench`: what the journal costs, as ratios against the seed's own journal run beside it in the same minutes.

Each figure is the median of runs that alternate between the two, so that a machine that slows down slows both.
`--records` and `--large` set the sizes; `--only NAME` runs one table.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from naive import NaiveHippocampus

from alveus import Draft, Hippocampus, Kind, Source
from alveus.journal.canonical import NATIVE
from alveus.store.files import DISK, Disk

KEY = bytes(range(32))
AGENT = "bench"
WORDS = 50_000


def contents(count: int, seed: int = 1) -> Iterator[str]:
    """About 200 characters each; word frequencies follow 1/rank, as text does."""
    rng = random.Random(seed)
    vocabulary = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(3, 9))) for _ in range(WORDS)]
    cumulative, total = [], 0.0
    for rank in range(1, WORDS + 1):
        total += 1 / rank
        cumulative.append(total)
    for _ in range(count):
        yield " ".join(rng.choices(vocabulary, cum_weights=cumulative, k=29))


def timed(act: Callable[[], object]) -> float:
    """Wall-clock seconds of one act."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def interleaved(runs: int, **acts: Callable[[], object]) -> dict[str, float]:
    """Medians in seconds of acts that take turns."""
    times: dict[str, list[float]] = {name: [] for name in acts}
    for _ in range(runs):
        for name, act in acts.items():
            times[name].append(timed(act))
    return {name: statistics.median(values) for name, values in times.items()}


def say(name: str, figure: str, ratio: float, demand: str) -> None:
    """One line of the table."""
    print(f"{name:<44}{figure:<44}{ratio:>9.2f} ×   {demand}", flush=True)


def build(folder: Path, texts: list[str]) -> tuple[NaiveHippocampus, Path]:
    """The same contents in both journals."""
    naive = NaiveHippocampus(folder, AGENT, KEY)
    for number, text in enumerate(texts):
        naive.record("observation", text, {"n": number})
    home = folder / "home"
    with Hippocampus.open(home=home, agent_id=AGENT) as ours:
        for start in range(0, len(texts), 256):
            ours.record_many(
                [
                    Draft(kind=Kind.OBSERVATION, content=text, metadata={"n": start + place}, src=Source.AGENT)
                    for place, text in enumerate(texts[start : start + 256])
                ]
            )
    return naive, home


def bench_verify(folder: Path, records: int, runs: int) -> None:
    """Verification of the same contents; ours checks ids, profile, line hashes, canonical form and root too."""
    naive, home = build(folder, list(contents(records)))
    with Hippocampus.open(home=home, agent_id=AGENT, read_only=True) as ours:

        def check(jobs: int) -> None:
            verdict = ours.verify_chain(jobs=jobs)
            if not verdict or verdict.size != records:
                raise SystemExit(f"not verified: {verdict}")

        def baseline() -> None:
            if naive.verify_chain() != "ok":
                raise SystemExit("the baseline does not verify")

        medians = interleaved(runs, naive=baseline, one=lambda: check(1), two=lambda: check(2))
    for name, jobs, demand in (("one", "one core", "≥ 1.3 (aim 2)"), ("two", "two cores", "≥ 2.2 (aim 3.5)")):
        figure = f"{records / medians[name]:,.0f}/s, seed {records / medians['naive']:,.0f}/s"
        say(f"verify {records:,} records, {jobs}", figure, medians["naive"] / medians[name], demand)


def bench_append(folder: Path, records: int, runs: int) -> None:
    """Appends that share a sync, against the seed's that never sync."""
    texts = list(contents(records))
    rounds = iter(range(10**6))

    def ours() -> None:
        with Hippocampus.open(home=folder / f"append{next(rounds)}", agent_id=AGENT) as memory:
            for text in texts:
                memory.record("observation", text)

    def naive() -> None:
        place = folder / f"naive{next(rounds)}"
        place.mkdir()
        journal = NaiveHippocampus(place, AGENT, KEY)
        for text in texts:
            journal.record("observation", text)
        journal.close()

    medians = interleaved(runs, naive=naive, ours=ours)
    figure = f"{records / medians['ours']:,.0f}/s, seed {records / medians['naive']:,.0f}/s"
    say(
        f"append {records:,} one by one, no sync waited for",
        figure,
        medians["naive"] / medians["ours"],
        "≥ 0.8 (aim 1.5)",
    )


def bench_batches(folder: Path, records: int, runs: int) -> None:
    """As imports append: 256 records a batch."""
    drafts = [Draft(kind=Kind.OBSERVATION, content=text) for text in contents(records)]
    rounds = iter(range(10**6))

    def ours() -> None:
        with Hippocampus.open(home=folder / f"batches{next(rounds)}", agent_id=AGENT) as memory:
            for start in range(0, len(drafts), 256):
                memory.record_many(drafts[start : start + 256])

    def naive() -> None:
        place = folder / f"naive{next(rounds)}"
        place.mkdir()
        journal = NaiveHippocampus(place, AGENT, KEY)
        for draft in drafts:
            journal.record("observation", draft.content)
        journal.close()

    medians = interleaved(runs, naive=naive, ours=ours)
    figure = f"{records / medians['ours']:,.0f}/s, seed {records / medians['naive']:,.0f}/s"
    say(f"append {records:,} in batches of 256", figure, medians["naive"] / medians["ours"], "≥ 0.8 (aim 1.5)")


class SlowDisk(Disk):
    """A disk whose sync takes 2 ms longer: what sharing a sync is worth grows with the sync's latency."""

    def datasync(self, fd: int) -> None:
        time.sleep(0.002)
        super().datasync(fd)


def bench_durable(folder: Path, records: int, runs: int) -> None:
    """Durable appends, one at a time and by eight threads: on this disk, and on one whose sync takes 2 ms longer."""
    durable_on(DISK, "this disk", folder / "this", records, runs)
    durable_on(SlowDisk(), "sync + 2 ms", folder / "slow", max(records // 5, 8), runs)


def durable_on(files: Disk, disk: str, folder: Path, records: int, runs: int) -> None:
    """One at a time against a bare write + sync of the same bytes on the same disk; eight threads against one."""
    texts = list(contents(records))
    with Hippocampus.open(home=folder, agent_id=AGENT, files=files) as memory:
        for text in texts:
            memory.record("decision", text)
        lines = (memory.folder / "stream.jsonl").read_bytes().splitlines(keepends=True)[:records]

        def bare() -> None:
            fd = files.open(folder / "bare", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            for line in lines:
                files.write(fd, line)
                files.datasync(fd)
            files.close(fd)

        def one() -> None:
            for text in texts:
                memory.record("decision", text)

        def eight() -> None:
            threads = [
                threading.Thread(target=lambda mine=texts[place::8]: [memory.record("decision", text) for text in mine])
                for place in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        medians = interleaved(runs, bare=bare, one=one, eight=eight)
    micro = {name: value / records * 1e6 for name, value in medians.items()}
    figure = f"{micro['one']:.0f} µs, write + sync {micro['bare']:.0f} µs"
    say(f"durable, one at a time ({records:,}), {disk}", figure, medians["one"] / medians["bare"], "≤ 1.3")
    figure = f"{records / medians['eight']:,.0f}/s, one thread {records / medians['one']:,.0f}/s"
    say(f"durable, eight threads, {disk}", figure, medians["one"] / medians["eight"], "≥ 4")


def bench_large(folder: Path, records: int, runs: int) -> None:
    """A large journal in which routine dominates: loading 8,000 tokens, and opening it to the first append."""
    print(f"building two journals of {records:,} records …", file=sys.stderr)
    naive, home = build(folder, list(contents(records)))
    naive.close()
    for name in ("load", "open"):
        child = [sys.executable, __file__, "--child", name, str(home)]
        seconds, memory = zip(*(measure(child) for _ in range(runs)), strict=True)
        if name == "load":
            baseline = timed(lambda: naive.selective_load(8000))
            figure = f"{statistics.median(seconds) * 1e3:.1f} ms, seed {baseline:.1f} s; peak {max(memory):.0f} MB"
            say(f"load 8,000 tokens of {records:,}", figure, statistics.median(seconds) / baseline, "≤ 0.01, ≤ 64 MB")
        else:
            figure = f"{statistics.median(seconds) * 1e3:.0f} ms, warm; peak {max(memory):.0f} MB"
            say(
                f"open {records:,} records to the first append",
                figure,
                statistics.median(seconds) / 0.5,
                "of 0.5 s: ≤ 1",
            )


def measure(command: list[str]) -> tuple[float, float]:
    """Seconds and peak megabytes, as a child tells them."""
    seconds, memory = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(memory)


def child(name: str, home: str) -> None:
    """In a process of its own, so that the peak memory is that of the one act."""
    if name == "open":
        start = time.perf_counter()
        memory = Hippocampus.open(home=home, agent_id=AGENT)
        memory.record("decision", "the first append after opening")
        seconds = time.perf_counter() - start
        memory.close()
    else:
        with Hippocampus.open(home=home, agent_id=AGENT, read_only=True) as memory:
            start = time.perf_counter()
            found = memory.selective_load(8000)
            seconds = time.perf_counter() - start
            if not found:
                raise SystemExit(f"nothing loaded: {found.reason}")
    print(seconds, peak_memory())


def peak_memory() -> float:
    """This process's peak, in megabytes, as the kernel counts it: getrusage would count the parent's too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Run the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--durable", type=int, default=2_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=["verify", "append", "batches", "durable", "large"])
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, JSON by {NATIVE}, load {os.getloadavg()[0]:.1f}\n")
    tables: dict[str, tuple[Callable[[Path, int, int], None], int]] = {
        "verify": (bench_verify, args.records),
        "append": (bench_append, args.records // 5),
        "batches": (bench_batches, args.records // 5),
        "durable": (bench_durable, args.durable),
        "large": (bench_large, args.large),
    }
    for name, (table, size) in tables.items():
        if args.only in (None, name):
            with tempfile.TemporaryDirectory(prefix="alveus-bench-", dir=os.environ.get("ALVEUS_BENCH_DIR")) as folder:
                table(Path(folder), size, args.runs)


if __name__ == "__main__":
    main()
