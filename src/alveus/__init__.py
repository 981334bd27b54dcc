"""alveus: a memory for AI agents that can prove what it remembers.

A name is imported when it is first used, so that a process that needs one room does not pay for the house.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alveus.agent import Outcome, Rotation, Stored
    from alveus.anchoring import AnchoredDay, MontanaExport
    from alveus.context import Context
    from alveus.errors import (
        AlveusError,
        InputError,
        JournalError,
        KernelError,
        Locked,
        NotFound,
        StoreError,
        StoreUncertain,
        WitnessError,
    )
    from alveus.hippocampus import Hippocampus
    from alveus.journal.anchor import Anchor
    from alveus.journal.chain import ChainState, ChainVerdict, Fault
    from alveus.journal.record import Draft, Kind, Novelty, Profile, SignedRecord, Source
    from alveus.promoting.moving import Promoted, Reconciled
    from alveus.recall import Recalled
    from alveus.tiers.retrieval import Item, Retrieved

__version__ = "0.1.0"

_ROOMS = {
    "AlveusError": "alveus.errors",
    "Anchor": "alveus.journal.anchor",
    "AnchoredDay": "alveus.anchoring",
    "ChainState": "alveus.journal.chain",
    "ChainVerdict": "alveus.journal.chain",
    "Context": "alveus.context",
    "Draft": "alveus.journal.record",
    "Fault": "alveus.journal.chain",
    "Hippocampus": "alveus.hippocampus",
    "InputError": "alveus.errors",
    "Item": "alveus.tiers.retrieval",
    "JournalError": "alveus.errors",
    "KernelError": "alveus.errors",
    "Kind": "alveus.journal.record",
    "Locked": "alveus.errors",
    "MontanaExport": "alveus.anchoring",
    "NotFound": "alveus.errors",
    "Novelty": "alveus.journal.record",
    "Outcome": "alveus.agent",
    "Profile": "alveus.journal.record",
    "Promoted": "alveus.promoting.moving",
    "Recalled": "alveus.recall",
    "Reconciled": "alveus.promoting.moving",
    "Retrieved": "alveus.tiers.retrieval",
    "Rotation": "alveus.agent",
    "SignedRecord": "alveus.journal.record",
    "Source": "alveus.journal.record",
    "StoreError": "alveus.errors",
    "StoreUncertain": "alveus.errors",
    "Stored": "alveus.agent",
    "WitnessError": "alveus.errors",
}

__all__ = [
    "AlveusError",
    "Anchor",
    "AnchoredDay",
    "ChainState",
    "ChainVerdict",
    "Context",
    "Draft",
    "Fault",
    "Hippocampus",
    "InputError",
    "Item",
    "JournalError",
    "KernelError",
    "Kind",
    "Locked",
    "MontanaExport",
    "NotFound",
    "Novelty",
    "Outcome",
    "Profile",
    "Promoted",
    "Recalled",
    "Reconciled",
    "Retrieved",
    "Rotation",
    "SignedRecord",
    "Source",
    "StoreError",
    "StoreUncertain",
    "Stored",
    "WitnessError",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'alveus' has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)
