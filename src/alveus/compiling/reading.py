"""The journal as kernels are compiled from it: every record read once, checked, and told apart from our own notes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from alveus.agent import Agent
from alveus.errors import StoreError
from alveus.journal.chain import Fault
from alveus.journal.record import Kind, SignedRecord, Source
from alveus.kernels.fragment import Utterance
from alveus.store.past import read

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
    """What was read. `users` are by record id, where the record names one; `left_out` failed its check."""

    utterances: list[Utterance] = field(default_factory=list)
    users: dict[str, str] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    wordings: dict[str, str] = field(default_factory=dict)
    edits: dict[str, SignedRecord] = field(default_factory=dict)
    left_out: list[Fault] = field(default_factory=list)
    canon: Canon | None = None
    through: Through = BEGINNING


def read_journal(agent: Agent, since: float | None = None) -> Read:
    """Every record of every chain, as utterances; those that happened before `since` (seconds) are left away."""
    found = Read()
    for stream in agent.streams():
        chain = stream.link.chain or ""
        with contextlib.suppress(StoreError, OSError):  # what is lost after all is not in the next compilation
            stream.make_durable()
        end, size = 0, found.through.size
        for offset, line in stream.forwards():
            record = read(stream, line, offset)
            end, size = offset + len(line) + 1, size + 1
            if isinstance(record, Fault):
                found.left_out.append(record)
            else:
                _take(found, record, Place(chain, offset), since)
        found.through = Through(chain, end, size)
    return found


def _take(found: Read, record: SignedRecord, place: Place, since: float | None) -> None:
    hc = record.hc
    found.places[record.record_id] = place
    if hc is not None and hc.src is not Source.TOOL and _note(found, record):
        return
    time = time_of(record)
    if since is not None and time < since:
        return
    if hc is not None and hc.user is not None:
        found.users[record.record_id] = hc.user
    found.utterances.append(
        Utterance(
            record_id=record.record_id,
            origin=(hc.origin if hc else None) or "",
            src=hc.src if hc else Source.AGENT,  # who said it is not signed: it has no authority
            kind=record.kind,
            session=(hc.session if hc else None) or "",
            time=time,
            text=record.content,
        )
    )


def _note(found: Read, record: SignedRecord) -> bool:
    """Whether the record is a note of the program's own, which is taken as such and never as something said."""
    hc = record.hc
    if hc is None:
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
