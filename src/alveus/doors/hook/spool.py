"""Events put down durably, a line each, until they are taken into the journal: `events.jsonl` of an agent.

Whoever writes holds the file's lock, and looks under it that the file is still the one of that name. Whoever takes
renames it under the same lock: from then on nobody writes to it, and it goes only when all that was in it is in the
journal. Locks are the operating system's and end with their process; a line that was cut short by a kill is ended by
the next.
"""

from __future__ import annotations

import fcntl
import os
from typing import Final

EVENTS: Final = "events.jsonl"
TAKEN: Final = "taken.jsonl"
PENDING: Final = "pending.jsonl"
LOCK: Final = "lock"
"""Held by the one process that takes in."""


def put(folder: str, line: bytes) -> None:
    """Append one line, without LF, and return once it is on disk. Raises OSError; nothing is left of the line then."""
    os.makedirs(folder, 0o700, exist_ok=True)
    fd = _locked(os.path.join(folder, EVENTS), create=True)
    if fd is None:
        raise FileNotFoundError(folder)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        try:
            data = memoryview(b"\n" * torn + line + b"\n")
            while data:
                data = data[os.write(fd, data) :]
            os.fsync(fd)
        except OSError:
            os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)


def take(folder: str) -> str | None:
    """The file of what is to be taken in: what an earlier taker left, else all there is; None where there is nothing.

    The caller is the only taker, and unlinks the file when all of it is in the journal.
    """
    taken = os.path.join(folder, TAKEN)
    if os.path.exists(taken):
        return taken
    events = os.path.join(folder, EVENTS)
    fd = _locked(events, create=False)
    if fd is None:
        return None
    try:
        if os.fstat(fd).st_size == 0:  # somebody made it, and is about to write into it
            return None
        os.rename(events, taken)
    finally:
        os.close(fd)
    return taken


def alone(folder: str) -> int | None:
    """The right to take in, as a descriptor to be closed; None where another process has it."""
    fd = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except BaseException:
        os.close(fd)
        raise
    return fd


def is_busy(folder: str) -> bool:
    """Whether another process takes in at this moment."""
    fd = alone(folder)
    if fd is None:
        return True
    os.close(fd)
    return False


def waiting(folder: str) -> int:
    """How many bytes wait to be taken in."""
    return sum(_size(os.path.join(folder, name)) for name in (EVENTS, TAKEN))


def unrecorded(folder: str) -> int:
    """The same and what was heard, and waits for its transcript to bring it."""
    return waiting(folder) + _size(os.path.join(folder, PENDING))


def _locked(path: str, *, create: bool) -> int | None:
    """The file of that name, open and locked."""
    while True:
        try:
            fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            mine, there = os.fstat(fd), os.stat(path)
        except FileNotFoundError:
            os.close(fd)
            continue
        except BaseException:
            os.close(fd)
            raise
        if (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino):
            return fd
        os.close(fd)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
