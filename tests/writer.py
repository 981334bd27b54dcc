"""A process that records into a journal others write to as well.

    python writer.py HOME NAME COUNT [rotate|create|batch|sources]

Waits for the file `go` beside the home, then records `COUNT` things, and prints how many are in.
"""

import sys
import time
from pathlib import Path

from alveus import Draft, Hippocampus, Kind


def main(home, name, count, extra=""):
    """Record; every seventh record is durable."""
    while not (home.parent / "go").exists():
        time.sleep(0.001)
    with Hippocampus.open(home=home, agent_id="river", lock_timeout=60) as memory:
        if extra in ("batch", "sources"):
            for start in range(0, count, 10):
                memory.record_many([draft(name, number, extra) for number in range(start, start + 10)])
        else:
            for number in range(count):
                kind = Kind.DECISION if number % 7 == 0 else Kind.STATE
                memory.record(kind, f"{name}-{number}")
                if extra == "rotate" and number % 20 == 19:
                    memory.rotate()
    sys.stdout.write(f"{count}\n")


def draft(name, number, extra):
    """One thing to be recorded; of a source that all writers import at once, or the writer's own."""
    if extra == "sources":
        return Draft(kind=Kind.STATE, content=f"item {number}", origin=f"test:shared:{number}")
    return Draft(kind=Kind.STATE, content=f"{name}-{number}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
