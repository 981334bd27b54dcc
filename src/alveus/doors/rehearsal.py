"""An import without consequences: the same steps, into nothing.

What the journal already holds is learnt by reading it once, so that a rehearsal counts as the import itself would.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from alveus.agent import Stored
from alveus.drafts import check_draft
from alveus.journal.record import Draft, SignedRecord

_Item = tuple[str, int]


class Fate(NamedTuple):
    """What would become of a draft."""

    status: Stored


class Rehearsal:
    """Stands where an import expects the memory."""

    def __init__(self, folder: Path, records: Iterable[SignedRecord]) -> None:
        self.folder = folder
        self._held: dict[_Item, set[bytes]] = {}
        for record in records:
            if record.hc and record.hc.origin is not None:
                self._hold((record.hc.origin, _place(record.hc.part)), record.content)

    def record_many(self, drafts: Sequence[Draft], /) -> list[Fate]:
        """What would become of each draft. Raises InputError for one that the journal would refuse."""
        for draft in drafts:
            check_draft(draft)
        return [Fate(self._fate(draft)) for draft in drafts]

    def flush(self) -> None:
        """Nothing was written."""

    def _fate(self, draft: Draft) -> Stored:
        if draft.origin is None:
            return Stored.NEW
        item = (draft.origin, _place(draft.part))
        known = item in self._held
        if self._hold(item, draft.content):
            return Stored.REVISED if known else Stored.NEW
        return Stored.KNOWN

    def _hold(self, item: _Item, content: str) -> bool:
        """Whether this content of the item is new."""
        digests = self._held.setdefault(item, set())
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()
        new = digest not in digests
        digests.add(digest)
        return new


def _place(part: tuple[int, int] | None) -> int:
    return part[0] if part else 0
