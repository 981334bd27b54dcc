"""What a digest costs beside the compilation it follows, in processor time; and what a context pays for kernels.

    python bench/digest.py [MEBIBYTES]

A made-up archive of that size (20) is compiled. Then twice more is added, and a digest made: as many bytes of the
journal as make one due, and as many of content. What is new is read, cut, counted and embedded; that the candidates are
compared is done anew, whatever came.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from alveus import Draft, Hippocampus, Kind, Source
from alveus.compiling.kept import read_journal
from alveus.kernels.digest import THRESHOLD

T = TypeVar("T")

SIZE = 20
AT_ONCE = 2_000
JOURNAL = 0.51
"""Of a journal's bytes the share that is content, in this archive."""
SUBJECTS = ("the build", "a migration", "the staging server", "our parser", "the nightly job", "the cache", "a release")
VERBS = (
    "needs",
    "breaks",
    "rebuilds",
    "locks",
    "skips",
    "drops",
    "reports",
    "checks",
    "renames",
    "retries",
    "archives",
)
OBJECTS = (
    "every table",
    "its own log",
    "two replicas",
    "the old index",
    "a temporary file",
    "all tokens",
    "the schema",
)
ENDS = (
    "before noon",
    "on Fridays",
    "without a lock",
    "under load",
    "after a restart",
    "in the north",
    "for each tenant",
)
RULES = (
    "Never force-push to main or to a shared branch.",
    "Always write a failing test before you fix a bug.",
    "Answer in the first line, then stop.",
    "Nothing is deployed before the smoke run on staging is green.",
)


def sentence(dice: random.Random) -> str:
    """Some 250 characters, hardly ever twice."""
    clauses = [" ".join(map(dice.choice, (SUBJECTS, VERBS, OBJECTS, ENDS))) for _ in range(dice.randrange(3, 7))]
    return f"{', and '.join(clauses).capitalize()}: case {dice.randrange(10**6)}."


def messages(dice: random.Random, size: int, first: int) -> Iterator[Draft]:
    """Drafts with so many characters of content: a session of forty messages, now and then with a rule."""
    made, number = 0, first
    while made < size:
        said = " ".join(sentence(dice) for _ in range(dice.randrange(1, 5)))
        if dice.random() < 0.01:
            said += " " + dice.choice(RULES)
        made += len(said)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_735_689_600 + number * 60))
        src = Source.USER if number % 2 else Source.AGENT
        yield Draft(kind=Kind.OBSERVATION, content=said, src=src, session=f"s{number // 40}", event_time=stamp)
        number += 1


def record(memory: Hippocampus, drafts: Iterator[Draft]) -> int:
    """Record them all; how many there were."""
    return sum(len(memory.record_many(batch)) for batch in iter(lambda: list(islice(drafts, AT_ONCE)), []))


def timed(what: str, act: Callable[[], T]) -> tuple[T, float]:
    """The result of `act`, and its processor time, printed."""
    start = time.process_time()
    found = act()
    spent = time.process_time() - start
    print(f"{spent:9.3f} s  {what}")
    return found, spent


def main(mebibytes: int) -> None:
    """The table."""
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as folder, Hippocampus.open(home=Path(folder), agent_id="bench") as memory:
        first = record(memory, messages(dice, mebibytes << 20, 0))
        print(f"{mebibytes} MiB in {first:,} records; processor time")
        done, full = timed("compilation, embedding included", memory.compile)
        print(
            f"{'':11}  {dict(done.kernels.considered)}, {done.embedded:,} embedded, {len(done.kernels.bullets)} rules"
        )
        timed("the journal, with what was kept of it", lambda: read_journal(memory._agent))  # noqa: SLF001
        for share in (JOURNAL, 1.0):
            added = record(memory, messages(dice, int(THRESHOLD * share), first))
            first += added
            status, _ = timed("counting what came since", memory.digest_status)
            print(f"{'':11}  {status.bytes_since:,} bytes in {added:,} records, due: {status.due}")
            made, part = timed("digest", lambda: memory.digest(now=True))
            print(f"{'':11}  {made.embedded if made else 0:,} embedded; 1/{full / part:.1f} of the compilation")
        served, _ = timed("the kernels for a context, every record checked", lambda: memory._served(None, None))  # noqa: SLF001
        print(f"{'':11}  {sum(map(len, served.stated)) if served else 0} lines")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
