"""What kernels are compiled from: what the journal holds for them, told apart from our own notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from alveus.agent import Agent
from alveus.journal.chain import Fault
from alveus.journal.record import Kind, SignedRecord, Source

if TYPE_CHECKING:
    from alveus.kernels.fragment import Utterance

CANON: Final = "canon"
KERNELS: Final = "kernels"
EDIT: Final = "kernel_edit"
"""Keys of metadata that mark our own notes about identity, in records of kind `identity_change`."""
OURS: Final = "alveus:"
"""How the origin begins of what the program itself wrote."""
WORDING: Final = "alveus:wording:"


class Place(NamedTuple):
    """Where a record lies: the chain's name and the byte offset of its line."""

    chain: str
    offset: int


class Through(NamedTuple):
    """How far the journal was read: the live chain, the byte behind the last record read, and the records before it."""

    chain: str
    offset: int
    size: int


BEGINNING: Final = Through("", 0, 0)
"""Nothing was read yet."""


class Canon(NamedTuple):
    """The base canon, as it was set: the words, the file they came from, and the record that holds them."""

    text: str
    file: str
    sha256: str
    record_id: str
    at: str


@dataclass(slots=True)
class Read:
    """What was read. `users` are by record id, of the records that were looked at; `left_out` failed its check."""

    utterances: Iterable[Utterance] = ()
    users: dict[str, str] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    wordings: dict[str, str] = field(default_factory=dict)
    edits: dict[str, SignedRecord] = field(default_factory=dict)
    left_out: list[Fault] = field(default_factory=list)
    canon: Canon | None = None
    through: Through = BEGINNING


def utterance_of(record: SignedRecord) -> Utterance:
    """A record as kernels see it."""
    from alveus.kernels.fragment import Utterance  # noqa: PLC0415  (its patterns are for whoever compiles)

    hc = record.hc
    return Utterance(
        record_id=record.record_id,
        origin=(hc.origin if hc else None) or "",
        src=hc.src if hc else Source.AGENT,  # who said it is not signed: it has no authority
        kind=record.kind,
        session=(hc.session if hc else None) or "",
        time=time_of(record),
        text=record.content,
    )


def take_note(found: Read, record: SignedRecord) -> bool:
    """Whether the record is a note of the program's own, which is taken as such and never as something said."""
    hc = record.hc
    if hc is None or hc.src is Source.TOOL:
        return False
    if (canon := canon_of(record)) is not None:
        found.canon = canon
        return True
    if hc.src is not Source.SYSTEM:
        return False
    if record.kind is Kind.IDENTITY_CHANGE:
        if (edit := note_of(record, EDIT)) is not None:
            found.edits[str(edit.get("file"))] = record
        return True
    origin = hc.origin or ""
    if origin.startswith(WORDING):
        found.wordings[origin.removeprefix(WORDING)] = record.content
    return origin.startswith(OURS)


def canon_of(record: SignedRecord) -> Canon | None:
    """The canon that a record sets: only a user's does."""
    told = note_of(record, CANON)
    if told is None or record.hc is None or record.hc.src is not Source.USER:
        return None
    return Canon(record.content, str(told.get("file", "")), str(told.get("sha256", "")), *_of(record))


def _of(record: SignedRecord) -> tuple[str, str]:
    return record.record_id, record.timestamp


def note_of(record: SignedRecord, name: str) -> Mapping[str, Any] | None:
    """What an identity change says under that key of its metadata; None where it is no note of that kind."""
    told = record.metadata.get(name) if record.kind is Kind.IDENTITY_CHANGE else None
    return told if isinstance(told, Mapping) else None


def time_of(record: SignedRecord) -> float:
    """When it happened, in seconds since 1970."""
    stated = record.hc.event_time if record.hc is not None else None
    return datetime.fromisoformat(stated or record.timestamp).timestamp()


def identity_changes(agent: Agent) -> Iterator[SignedRecord | Fault]:
    """The records of kind `identity_change`, newest first, each checked."""
    return agent.past.of_kind(Kind.IDENTITY_CHANGE)


def newest_canon(agent: Agent) -> Canon | None:
    """The canon that holds now."""
    for record in identity_changes(agent):
        canon = canon_of(record) if isinstance(record, SignedRecord) else None
        if canon is not None:
            return canon
    return None
