"""How a call fails: one table from errors to what a model reads."""

from __future__ import annotations

from typing import Final

from alveus.doors.exits import of_system
from alveus.errors import AlveusError, InputError, JournalError, Locked, NotFound, StoreError, StoreUncertain

ADVICE: Final[tuple[tuple[type[AlveusError], str], ...]] = (
    (NotFound, ""),
    (InputError, "Nothing was done."),
    (JournalError, "Do not repeat the call; tell the user."),
    (StoreUncertain, "Do not repeat it before you have looked: memory_recall, or memory_status."),
    (Locked, "Nothing was done; try again in a moment."),
    (StoreError, "Nothing was done; it can be tried again when that is mended. Tell the user."),
    (AlveusError, "Tell the user."),
)
"""What an agent can do about it. The first row that fits counts."""


def sentence(error: AlveusError | OSError) -> str:
    """The failure as text for a model: what, what to try, what became of the call, and the code."""
    told = of_system(error) if isinstance(error, OSError) else error
    advice = next(advice for kind, advice in ADVICE if isinstance(told, kind))
    parts = [f"{told.message}.", f"Hint: {told.hint}." if told.hint else "", advice, f"[{told.code}]"]
    return " ".join(part for part in parts if part)
