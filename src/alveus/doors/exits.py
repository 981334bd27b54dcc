"""How a command ends: one table from errors to exit statuses."""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import Final

from alveus.errors import AlveusError, InputError, JournalError, Locked, NotFound


class Exit(IntEnum):
    """The exit statuses. GATE is for what is not shown to be well: `audit` and `gate`."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOT_FOUND = 3
    BROKEN = 4
    GATE = 5
    LOCKED = 6
    UNREAD = 7
    INTERRUPTED = 130
    READER_GONE = 141


STATUS: Final[tuple[tuple[type[AlveusError], Exit], ...]] = (
    (NotFound, Exit.NOT_FOUND),
    (InputError, Exit.USAGE),
    (JournalError, Exit.BROKEN),
    (Locked, Exit.LOCKED),
    (AlveusError, Exit.ERROR),
)
"""The first row that fits counts."""


def status_of(error: AlveusError) -> Exit:
    """The exit status of an error."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def of_system(error: OSError) -> AlveusError:
    """The operating system's refusal, in our words."""
    where = error.filename if isinstance(error.filename, str) else "the output"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return AlveusError(
        f"{where}: {error.strerror or error}",
        code="disk_full" if full else "refused",
        hint="make room and try again" if full else "check the path and its permissions",
    )
