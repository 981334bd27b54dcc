"""The daily anchor's payload and hash: spec/journal.md, section 8.

Pure; the folder of a closed day is `store`'s, what outsiders witness is `witness`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from alveus.journal import canonical
from alveus.journal.chain import DayTally


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """One closed day: the payload, its canonical bytes and their SHA-256 (hex)."""

    agent_id: str
    date: str
    count: int
    dna_hash: str
    novelty_distribution: Mapping[str, int]
    first_id: str
    last_id: str

    def payload(self) -> dict[str, Any]:
        """The JSON object that is hashed."""
        return {
            "agent_id": self.agent_id,
            "date": self.date,
            "count": self.count,
            "dna_hash": self.dna_hash,
            "novelty_distribution": dict(self.novelty_distribution),
            "first_id": self.first_id,
            "last_id": self.last_id,
        }

    def payload_bytes(self) -> bytes:
        return canonical.encode(self.payload())

    @property
    def payload_hash(self) -> str:
        """`anchor_payload_hash`: 64 hex digits."""
        return sha256(self.payload_bytes()).hexdigest()


def make_anchor(agent_id: str, day: str, tally: DayTally) -> Anchor | None:
    """The anchor of one UTC day, or None for a day without records."""
    if not tally.ids:
        return None
    return Anchor(
        agent_id=agent_id,
        date=day,
        count=len(tally.ids),
        dna_hash=sha256("|".join(sorted(tally.ids)).encode()).hexdigest(),
        novelty_distribution={str(name): count for name, count in tally.novelty.items()},
        first_id=tally.ids[0],
        last_id=tally.ids[-1],
    )
