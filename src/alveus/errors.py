"""What can go wrong, as a tree; verdicts about data are values and are not here.

    AlveusError
    ├── InputError          the caller's: fix the call and repeat it
    │   └── NotFound        what was asked for by name is not there
    ├── JournalError        the disk contradicts itself: stop and look
    ├── StoreError          refused, state known: nothing happened, retry when mended
    │   ├── Locked          another process holds the journal
    │   └── StoreUncertain  cannot tell what is on disk: reconcile before you repeat
    ├── KernelError         the kernels could not be compiled: the old ones serve
    └── WitnessError        an anchor or a witness could not be made or read

Every error carries a stable `code` for programs, one sentence for people, and a `hint`: what to try next.
The doors map the classes to exit statuses in one table each.
"""

from __future__ import annotations

from typing import ClassVar


class AlveusError(Exception):
    """The root. `code` is stable across releases; `hint` says what to do."""

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint


class InputError(AlveusError):
    """The caller's call cannot be carried out as it stands."""

    default_code = "bad_input"


class NotFound(InputError):
    """A record, an agent or a file that was named does not exist."""

    default_code = "not_found"


class JournalError(AlveusError):
    """The files contradict each other or the key; nothing was changed."""

    default_code = "journal_damaged"


class StoreError(AlveusError):
    """The store refused; what is on disk is known and is what it was before the call."""

    default_code = "store_refused"


class Locked(StoreError):
    """Another process holds the lock and did not let go in time."""

    default_code = "locked"


class StoreUncertain(StoreError):
    """The store cannot tell whether the last write is on disk."""

    default_code = "store_uncertain"


class KernelError(AlveusError):
    """The kernels could not be compiled; those that served before serve on."""

    default_code = "kernels_failed"


class WitnessError(AlveusError):
    """An anchor, a checkpoint or a witness's answer is unusable."""

    default_code = "witness"
