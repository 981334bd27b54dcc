"""`make bench`, third part: what a page costs, what a question costs, and who waits while a model sleeps.

    python bench/tiers.py [--pages 10000] [--sleep 5]

Ratios, not seconds: each figure stands beside the same work in an empty scope in the same run, in turns.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from alveus import Draft, Hippocampus, Kind
from alveus.journal.record import Source

TOPICS = 120
WORDS = 40
SEED = 7


def words(dice: random.Random, topic: int, count: int) -> str:
    """A text about one of the topics."""
    return " ".join(f"w{topic}x{dice.randrange(WORDS)}" for _ in range(count))


def exchange(dice: random.Random, number: int, user: str) -> list[Draft]:
    """A question and an answer."""
    topic = dice.randrange(TOPICS)
    fact = f". I live in Town{number // 100}." if number % 100 == 0 else ""
    return [
        Draft(kind=Kind.OBSERVATION, content=f"{words(dice, topic, 12)} q{number}{fact}", src=Source.USER, user=user),
        Draft(kind=Kind.OBSERVATION, content=words(dice, topic, 20), src=Source.AGENT, user=user),
    ]


def timed(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Milliseconds."""
    start = clock()
    act()
    return (clock() - start) * 1000


def fill(memory: Hippocampus, pages: int) -> None:
    """A scope of so many pages, promoted."""
    dice = random.Random(SEED)
    for first in range(0, pages, 1000):
        memory.record_many([one for n in range(first, min(pages, first + 1000)) for one in exchange(dice, n, "full")])
    print(f"  promoted in {timed(lambda: memory.promote('full')) / 1000:.1f} s")


def adding(memory: Hippocampus, other: Hippocampus, rounds: int) -> None:
    """Add a page and have it taken in: to the full scope, to one that was empty, each in its own journal, in turns."""
    dice, full, empty, moved, moved_empty = random.Random(SEED), [], [], [], []

    def add(one: Hippocampus, user: str, number: int) -> None:
        one.record_many(exchange(dice, number, user))
        one._tiering().catch_up()  # noqa: SLF001  (what retrieve and promote begin with)

    for number in range(rounds):
        time.sleep(0.12)  # what is synced in the background is none of it
        full.append(timed(lambda number=number: add(memory, "full", number)))
        time.sleep(0.12)
        empty.append(timed(lambda number=number: add(other, f"empty{number}", number)))
        moved.append(timed(lambda: memory.promote("full")))
        moved_empty.append(timed(lambda number=number: other.promote(f"empty{number}")))
    a, b = statistics.median(full), statistics.median(empty)
    print(f"add a page      {a:6.2f} ms in a full scope, {b:6.2f} ms in an empty one: {a / b:.2f} × (limit 1.5)")
    a, b = statistics.median(moved), statistics.median(moved_empty)
    print(f"promote it      {a:6.2f} ms; where nothing is due {b:.2f} ms")


def asking(memory: Hippocampus, rounds: int) -> None:
    """Ask, over everything."""
    dice = random.Random(SEED + 1)

    def ask() -> None:
        memory.retrieve(words(dice, dice.randrange(TOPICS), 4), "full")

    took = [timed(ask) for _ in range(rounds)]
    work = statistics.median(timed(ask, time.process_time) for _ in range(rounds))
    print(
        f"retrieve        {statistics.median(took):6.2f} ms median, {max(took):.2f} ms at most (limit 30);"
        f" {work:.2f} ms of processor time"
    )


class Sleeper:
    """A model that takes its time."""

    id = "sleeper"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.asked = threading.Event()

    def answer(self, _: object) -> None:
        """Nothing, late."""
        self.asked.set()
        time.sleep(self.seconds)


def sleeping(home: Path, seconds: float) -> None:
    """How long a writer and a reader wait while a model is asked, beside how long they take when none is."""
    model = Sleeper(seconds)
    dice = random.Random(SEED)
    with Hippocampus.open(home=home, agent_id="sleep", embedder="none", summarizer=model) as memory:
        memory.record_many([one for n in range(8) for one in exchange(dice, n, "u")])
        with Hippocampus.open(home=home, agent_id="sleep", embedder="none", summarizer="none") as other:
            other.retrieve("w1x1", "v")

            def work() -> None:
                other.record("observation", words(dice, 1, 5), src="user", user="v")
                other.retrieve("w1x1", "v")

            usual = [timed(work) for _ in range(20)]
            thread = threading.Thread(target=memory.promote, args=("u",))
            thread.start()
            model.asked.wait()
            meanwhile = [timed(work) for _ in range(20)]
            thread.join()
    slower = max(meanwhile) - statistics.median(usual)
    print(
        f"model asleep    the slowest of 20 writes and questions {max(meanwhile):6.2f} ms, usually"
        f" {statistics.median(usual):.2f} ms: {slower:.2f} ms longer (limit 50)"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--sleep", type=float, default=5.0)
    options = parser.parse_args()
    os.environ["ALVEUS_EMBEDDER"] = "none"
    os.environ["ALVEUS_TIERS"] = "off"  # what is measured is done here, and nothing beside it
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with (
            Hippocampus.open(home=home, agent_id="full") as memory,
            Hippocampus.open(home=home, agent_id="empty") as other,
        ):
            print(f"{options.pages} pages in one scope")
            fill(memory, options.pages)
            segments = len(memory._tiering().db.segments(1))  # noqa: SLF001
            print(f"  {segments} segments, {(memory.folder / 'tiers.db').stat().st_size / 1e6:.0f} MB")
            adding(memory, other, options.rounds)
            asking(memory, options.rounds)
            print(f"rebuild         {timed(lambda: memory._tiering().rebuild()) / 1000:6.2f} s")  # noqa: SLF001
        sleeping(home, options.sleep)


if __name__ == "__main__":
    main()
