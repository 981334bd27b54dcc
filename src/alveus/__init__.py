"""alveus: a memory for AI agents that can prove what it remembers."""

from alveus.agent import Outcome, Rotation, Stored
from alveus.anchoring import AnchoredDay, MontanaExport
from alveus.context import Context
from alveus.errors import (
    AlveusError,
    InputError,
    JournalError,
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
from alveus.recall import Recalled

__version__ = "0.1.0"

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
    "JournalError",
    "Kind",
    "Locked",
    "MontanaExport",
    "NotFound",
    "Novelty",
    "Outcome",
    "Profile",
    "Recalled",
    "Rotation",
    "SignedRecord",
    "Source",
    "StoreError",
    "StoreUncertain",
    "Stored",
    "WitnessError",
]
