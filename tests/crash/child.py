"""A process that records until it is killed, and says on its standard output what it was promised.

    python child.py HOME COUNT [rotate|anchor]

Prints `ack CONTENT` after each record that is said to be durable, `no CONTENT` for one that was refused with nothing
recorded, `maybe CONTENT` where the journal could not tell, and `done` after it was closed.
"""

import sys
from pathlib import Path

from alveus import AlveusError, Hippocampus, StoreError, StoreUncertain


def say(*words):
    """One line, at once."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def record(memory, kind, content):
    """Record one thing, and say what became of it."""
    try:
        memory.record(kind, content)
    except StoreUncertain:
        say("maybe", content)
    except StoreError:
        say("no", content)
    else:
        if kind == "decision":
            say("ack", content)


def main(home, name, count, extra=""):
    """Record `count` times two states and a decision; then what else was asked for."""
    try:
        with Hippocampus.open(home=Path(home), agent_id="river") as memory:
            for number in range(count):
                record(memory, "state", f"state-{name}-{number}-{'x' * (number % 7) * 50}")
                record(memory, "observation", f"seen-{name}-{number}")
                record(memory, "decision", f"decision-{name}-{number}")
                if extra == "rotate" and number % 3 == 2:
                    memory.rotate()
        say("done")
    except AlveusError as error:
        say("error", error.code, error.message)


if __name__ == "__main__":
    main(sys.argv[1], "0", int(sys.argv[2]), *sys.argv[3:])
