"""The nine fields of a record and the signed profile inside it: spec/journal.md, sections 1 and 4.

Bytes become these types once, at the edge; inside there are no dictionaries of fields. `metadata` alone stays a
plain mapping, because it is the caller's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

DOMAIN: Final = "montana.agent.hippocampus.v1"
PROFILE: Final = 1
MAX_LINE: Final = 1 << 20
MAX_DEPTH: Final = 32
MAX_AGENT_ID: Final = 256


class Kind(StrEnum):
    """What happened. A closed list: a new kind needs a new signing domain."""

    STATE = "state"
    DECISION = "decision"
    IDENTITY_CHANGE = "identity_change"
    TRANSFER = "transfer"
    ERROR = "error"
    OBSERVATION = "observation"


class Novelty(StrEnum):
    """How far a record is from what came before it."""

    ROUTINE = "routine"
    NOVEL = "novel"
    PREDICTION_ERROR = "prediction_error"


class Source(StrEnum):
    """Who produced the content; set by the door that took it in."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    SYSTEM = "system"


OPTIONAL_FIELDS: Final = ("user", "session", "event_time", "origin", "part", "clock")
"""The fields of the signed profile that are absent where they say nothing."""

DURABLE_KINDS: Final = frozenset({Kind.DECISION, Kind.IDENTITY_CHANGE, Kind.TRANSFER, Kind.ERROR})
"""Kinds that are on disk before `record` returns, and that are never dropped on an unsigned novelty's word."""


_NO_METADATA: Final[Mapping[str, Any]] = MappingProxyType({})


class Draft(NamedTuple):
    """What a door hands in: words, and what is known about them; no key, no clock, no chain.

    `event_time` is when it happened (ISO 8601 with a zone), where that is not when it is recorded. `origin` is
    `format:container:item-id`; two drafts of one user with one `origin` (and one `part`) are the same item of the
    source. `part` is `(i, n)`, 1 <= i <= n, of a content that was split to fit a line.

    It, `Profile` and `SignedRecord` are tuples since one of each is made for every record: a frozen dataclass costs
    thrice that.
    """

    kind: Kind
    content: str
    metadata: Mapping[str, Any] = _NO_METADATA
    src: Source = Source.AGENT
    user: str | None = None
    session: str | None = None
    event_time: str | None = None
    origin: str | None = None
    part: tuple[int, int] | None = None


class Profile(NamedTuple):
    """`metadata.hc`, the signed profile: spec/journal.md, section 4."""

    chain: str
    seq: int
    prev_line: str | None
    kid: str
    novelty: Novelty
    by: str
    synced: int
    src: Source
    user: str | None = None
    session: str | None = None
    event_time: str | None = None
    origin: str | None = None
    part: tuple[int, int] | None = None
    clock: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The profile as it lies in `metadata.hc`: optional fields are absent, never null."""
        fields: dict[str, Any] = {
            "p": PROFILE,
            "chain": self.chain,
            "seq": self.seq,
            "prev_line": self.prev_line,
            "kid": self.kid,
            "novelty": self.novelty.value,
            "by": self.by,
            "synced": self.synced,
            "src": self.src.value,
        }
        for name in OPTIONAL_FIELDS:
            value = getattr(self, name)
            if value is not None:
                fields[name] = list(value) if name == "part" else value
        return fields


class SignedRecord(NamedTuple):
    """One line of the journal, read or about to be written. `hc` is None in a v1-basic file.

    `metadata` is the caller's own, without `hc`; treat it as read-only.
    """

    agent_id: str
    content: str
    kind: Kind
    metadata: Mapping[str, Any]
    novelty: Novelty
    prev_id: str | None
    record_id: str
    signature: str
    timestamp: str
    hc: Profile | None

    def as_json(self) -> dict[str, Any]:
        """The record as the JSON object on disk: nine keys, `hc` back inside `metadata`."""
        metadata = dict(self.metadata)
        if self.hc is not None:
            metadata["hc"] = self.hc.as_json()
        return {
            "agent_id": self.agent_id,
            "content": self.content,
            "kind": self.kind.value,
            "metadata": metadata,
            "novelty": self.novelty.value,
            "prev_id": self.prev_id,
            "record_id": self.record_id,
            "signature": self.signature,
            "timestamp": self.timestamp,
        }


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def is_agent_id(value: object) -> bool:
    """1 to 256 characters, none of them a control character: spec/journal.md, section 1."""
    return isinstance(value, str) and 0 < len(value) <= MAX_AGENT_ID and not _CONTROL.search(value)
