"""A process that records, promotes and asks until it is killed: by somebody else, or by itself at a chosen step.

    python promoter.py HOME NAME STEP

STEP counts the moments before and after each commit of the tiers' database and each writing of the ledger; at that one
the process kills itself, as SIGKILL does: no handler, no flush, no goodbye. 0 never does.
"""

import os
import signal
import sys
from pathlib import Path

from alveus import AlveusError, Draft, Hippocampus, Kind
from alveus.journal.record import Source
from alveus.store.database import Database
from alveus.store.ledger import Ledger

USERS = ("anna", "a%", "anna ")


def exchange(name, number, user):
    """A question and an answer."""
    topic = ("trains leave from the station", "bread rises in the oven", "rivers run to the sea")[number % 3]
    return [
        Draft(
            kind=Kind.OBSERVATION,
            content=f"{name}-{number}: {topic}. I live in Town{number % 2}.",
            src=Source.USER,
            user=user,
        ),
        Draft(kind=Kind.OBSERVATION, content=f"{name}-{number} noted: {topic}", user=user),
    ]


def arm(step):
    """Kill this process at that step."""
    left = [step]

    def reached():
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(owner, method):
        act = getattr(owner, method)

        def watched(*given, **named):
            reached()
            done = act(*given, **named)
            reached()
            return done

        setattr(owner, method, watched)

    around(Database, "_commit")
    around(Database, "check")
    around(Database, "put_receipts")
    around(Ledger, "append")


def main(home, name, step):
    """Record an exchange, promote and ask, again and again, for users whose names are alike."""
    arm(step)
    try:
        with Hippocampus.open(home=Path(home), agent_id="river", embedder="none") as memory:
            for number in range(10_000):
                user = USERS[number % len(USERS)]
                memory.record_many(exchange(name, number, user))
                memory.promote(user)
                if number % 4 == 3:
                    memory.settle(memory.retrieve("trains", user).run_id, {"type": "test_result", "value": "passed"})
    except AlveusError as error:
        sys.stderr.write(f"{error.code}: {error.message}\n")
        os._exit(3)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
