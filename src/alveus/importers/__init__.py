"""The door in: what other programs remembered, as signed records.

A transcript becomes events (`base`) through one row of a table of formats (`table`); `run` masks secrets, splits what
is too long, and hands batches to the hippocampus. Everything streams, nothing is imported twice, and every byte that
could not be understood is kept aside and counted.

A name is imported when it is first used: whoever only masks secrets does not wait for the formats.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alveus.importers.intake import run, total_bytes
    from alveus.importers.report import BadLine, ImportReport, Unread
    from alveus.importers.table import FORMATS, detect
    from alveus.importers.watching import Watch

_ROOMS = {
    "BadLine": "alveus.importers.report",
    "FORMATS": "alveus.importers.table",
    "ImportReport": "alveus.importers.report",
    "Unread": "alveus.importers.report",
    "Watch": "alveus.importers.watching",
    "detect": "alveus.importers.table",
    "run": "alveus.importers.intake",
    "total_bytes": "alveus.importers.intake",
}

__all__ = ["FORMATS", "BadLine", "ImportReport", "Unread", "Watch", "detect", "run", "total_bytes"]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'alveus.importers' has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)
