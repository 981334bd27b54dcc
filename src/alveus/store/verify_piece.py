"""`python -m alveus.store.verify_piece TASK`: the child process of a verification in pieces.

It imports as little as it can: its start is time in which nothing is verified.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path
from typing import NamedTuple

from alveus.journal.chain import walk_piece
from alveus.journal.seal import Key
from alveus.store import lines
from alveus.store.files import DISK, opened


class Task(NamedTuple):
    """A piece of a stream, bytes start..stop, and what has to be noted while walking it."""

    path: str
    agent_id: str
    start: int
    stop: int
    sizes: tuple[int, ...]
    days: tuple[str, ...]


def main(argument: str) -> None:
    """Walk the piece, with the key from standard input, and write the result to standard output."""
    task = Task(*json.loads(argument))
    key = Key(sys.stdin.buffer.read())
    with opened(DISK, Path(task.path), os.O_RDONLY | os.O_NOFOLLOW) as fd:
        pieces = lines.forwards(DISK, fd, task.start, task.stop)
        walked = walk_piece(pieces, key, task.agent_id, offset=task.start, sizes=task.sizes, days=task.days)
        sys.stdout.buffer.write(pickle.dumps(walked))


if __name__ == "__main__":
    main(sys.argv[1])
