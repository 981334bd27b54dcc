"""A process that records, asks or rebuilds until it is killed, and says so on its standard output.

    python asker.py HOME record|ask|rebuild|append [COUNT]

`record` records and asks after each; `ask` asks; `rebuild` makes the index again and again; `append` records COUNT.
"""

import os
import sys
from pathlib import Path

from alveus import Draft, Hippocampus, Kind
from alveus.store import search

search._AT_ONCE = 256  # several pieces, each written while the next one is read


def say(*words):
    """One line, at once."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def batch(name, count):
    """Things that all hold one word, and each one of its own."""
    return [Draft(kind=Kind.STATE, content=f"harbour {name}x{number}", session=name) for number in range(count)]


def main(home, what, count=1):
    """Do it until told otherwise."""
    with Hippocampus.open(home=Path(home), agent_id="river", lock_timeout=60) as memory:
        if what == "append":
            memory.record_many(batch("append", count))
            say(len(memory.pattern_completion("harbour", 10**6)))
            return
        say("ready")
        for turn in range(1_000_000):
            if what == "record":
                memory.record_many(batch(f"w{os.getpid()}n{turn}", count))
            if what == "rebuild":
                memory.prepare_recall(anew=True)
            else:
                say(len(memory.pattern_completion("harbour", 10**6)))
            if what == "record" and turn % 5 == 4:
                memory.rotate()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
