"""Events of a framework in the journal: written, followed, and folded into what the framework is to see.

An event is a record whose content is the words in it, so that recall finds them, and whose metadata holds the
framework's own data as JSON text: any number and any depth survives, which the journal's canonical form would refuse.
What is too long for a line is cut into pieces that are written in the same batch. Keys and tokens are masked first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from alveus.errors import JournalError
from alveus.hippocampus import Hippocampus
from alveus.importers import secrets
from alveus.journal.record import Draft, Kind, SignedRecord, Source

KEY: Final = "framework"
"""The key in a record's metadata."""
_LONGEST: Final = 150_000
"""Characters of data that stand in one line; four bytes each, and the words beside them, still fit."""
_READABLE: Final = 20_000
"""Characters of the words that an event shows to recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An event to be written: the act, its data as JSON holds it, and the words in it."""

    act: str
    data: Any
    says: str
    kind: Kind = Kind.OBSERVATION
    src: Source = Source.AGENT
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event that lies in the journal: the id of its record, the act, its data, and when it was written."""

    record_id: str
    act: str
    data: Any
    at: str
    session: str | None


class Shelf:
    """The events of one framework, of one user, folded by `take` in the order of the chain. Safe from any thread.

    `take` is called once for each event and answers what became of it; `write` returns that answer to its caller.
    """

    def __init__(
        self,
        memory: Hippocampus,
        framework: str,
        take: Callable[[Event], Any],
        *,
        user: str | None = None,
        keep_secrets: bool = False,
    ) -> None:
        self.memory = memory
        self.lock = threading.RLock()
        self._framework = framework
        self._take = take
        self._user = user
        self._keep_secrets = keep_secrets
        self._last: str | None = None
        self._pieces: dict[str, list[str]] = {}

    def read(self) -> None:
        """Take in what was written since, by whoever. Raises JournalError where a record is not valid."""
        with self.lock:
            self._follow({})

    def write(self, notes: Sequence[Note], *, durable: bool = True) -> list[Any]:
        """Append the notes in one batch; what the fold made of each."""
        if not notes:
            return []
        with self.lock:
            batches = [self._drafts(note) for note in notes]
            drafts = [draft for batch in batches for draft in batch]
            made = self.memory.record_many(drafts, durable=durable)
            answers: dict[str, Any] = {}
            self._follow(answers)
            ends, end = [], 0
            for batch in batches:
                end += len(batch)
                ends.append(made[end - 1].record.record_id)
            return [answers[record_id] for record_id in ends]

    # Writing

    def _drafts(self, note: Note) -> list[Draft]:
        data, says = note.data, note.says
        if not self._keep_secrets:
            data, says = secrets.mask_json(data)[0], secrets.mask(says)[0]
        text = _json(data)
        pieces = [text[start : start + _LONGEST] for start in range(0, len(text), _LONGEST)]
        held: dict[str, Any] = {"of": self._framework, "act": note.act}
        if len(pieces) == 1:
            return [self._draft(note, _readable(says, note), {**held, "data": text})]
        name = sha256(text.encode("utf-8")).hexdigest()
        parts = [
            self._draft(
                note,
                f"({note.act}, data {number} of {len(pieces)})",
                {"of": self._framework, "piece": name, "number": number, "data": piece},
                src=Source.SYSTEM,
            )
            for number, piece in enumerate(pieces, 1)
        ]
        return [*parts, self._draft(note, _readable(says, note), {**held, "pieces": name})]

    def _draft(self, note: Note, content: str, held: dict[str, Any], src: Source | None = None) -> Draft:
        return Draft(
            kind=Kind.OBSERVATION if src else note.kind,
            content=content,
            metadata={KEY: held},
            src=src or note.src,
            user=self._user,
            session=note.session,
        )

    # Following

    def _follow(self, answers: dict[str, Any]) -> None:
        if self._last is None:
            records: Iterable[SignedRecord] = self.memory.iter_records()
        else:
            records = reversed(self._since(self._last))
        for record in records:
            self._last = record.record_id
            held = record.metadata.get(KEY)
            if isinstance(held, Mapping) and held.get("of") == self._framework and self._is_own(record):
                self._fold(record, held, answers)

    def _since(self, last: str) -> list[SignedRecord]:
        found = []
        for record in self.memory.iter_records(newest_first=True):
            if record.record_id == last:
                break
            found.append(record)
        return found

    def _is_own(self, record: SignedRecord) -> bool:
        return (record.hc.user if record.hc else None) == self._user

    def _fold(self, record: SignedRecord, held: Mapping[str, Any], answers: dict[str, Any]) -> None:
        if "piece" in held:
            if held["number"] == 1:
                self._pieces[held["piece"]] = []
            self._pieces.setdefault(held["piece"], []).append(held["data"])
            return
        event = Event(
            record_id=record.record_id,
            act=held["act"],
            data=json.loads(self._text(record, held)),
            at=record.timestamp,
            session=record.hc.session if record.hc else None,
        )
        answers[record.record_id] = self._take(event)

    def _text(self, record: SignedRecord, held: Mapping[str, Any]) -> str:
        if "data" in held:
            text: str = held["data"]
            return text
        text = "".join(self._pieces.pop(held["pieces"], ()))
        if sha256(text.encode("utf-8")).hexdigest() != held["pieces"]:
            raise JournalError(
                f"the pieces of record {record.record_id} do not make what it names", hint="run `alveus verify`"
            )
        return text


def _json(data: Any) -> str:
    """JSON, in which a lone surrogate stands as its escape: no UTF-8 file can hold one."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


def _readable(says: str, note: Note) -> str:
    """The words of an event as a record can hold them; the act, where there are none."""
    words = says[:_READABLE].encode("utf-8", "replace").decode()
    return words if words.strip() else f"({note.act})"
