"""What is said of every move, and its way to the ledger: spec/audit.md, section 1.

A receipt goes into the outbox in the transaction of what it speaks of; the ledger is filled from there. One that the
ledger has already is not written twice, so that a crash between the two costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from typing import Any, Final

from alveus.audit.receipt import Boundary, Receipt, Status, parse, serialise
from alveus.clock import Clock
from alveus.journal.seal import format_time
from alveus.store.database import Database
from alveus.store.ledger import End, Ledger, identity
from alveus.store.ledger_head import Place
from alveus.tiers.policy import Scope

_NOTED: Final = "ledger"
_AT_ONCE: Final = 10_000


class Receipts:
    """Makes receipts of one agent, and brings them to its ledger."""

    def __init__(self, db: Database, ledger: Callable[[], Ledger], source: str, clock: Clock) -> None:
        self._db = db
        self._ledger = ledger
        self._source = source
        self._now: Callable[[], datetime] = clock.now

    def put(
        self, scope: Scope, run_id: str, boundary: Boundary, version: int, *statuses: Status, **facts: Any
    ) -> datetime:
        """Put a receipt for each status into the outbox, within the transaction of what it speaks of; its time."""
        now = self._now()
        made = [
            Receipt(
                run_id=run_id,
                user_scope=scope.user,
                assistant_scope=scope.assistant,
                boundary=boundary,
                version=version,
                status=status,
                at_utc=format_time(now),
                source_version=self._source,
                **facts,
            )
            for status in statuses
        ]
        self._db.put_receipts(serialise(one) for one in made)
        return now

    def drain(self) -> None:
        """Bring what waits to the ledger, oldest first. One process at a time, so that the order is kept.

        What the ledger has then is noted, so that a database of an earlier day is known for one.
        """
        while self._db.waiting(1):
            with self._db.writing(lasting=False):  # the ledger would know these receipts again
                rows = self._db.waiting(_AT_ONCE)
                ledger = self._ledger()
                ledger.append(parse(data) for _, data in rows)
                if rows:
                    self._db.drop_receipts(rows[-1][0])
                self.note(ledger.end())

    def note(self, place: Place | None) -> None:
        """Note, within a transaction, that what the ledger has up to there is in the database too."""
        if place is not None:
            self._db.note_about(_NOTED, json.dumps(place))

    def are_known(self) -> bool:
        """Whether the database knows of every receipt: that the ledger has it, or that it waits.

        One of an earlier day does not. Where the ledger itself is of an earlier day, or lost, the database stands.
        """
        with self._db.writing(lasting=False):  # nobody drains meanwhile
            noted = self._db.about(_NOTED)
            ledger = self._ledger()
            newer = ledger.since(Place(*json.loads(noted))) if noted else ledger.receipts()
            if newer is None:
                return True
            waiting = {ledger.name_of(parse(data)) for _, data in self._db.waiting()}
            return all(identity(serialise(receipt)) in waiting for receipt in newer)

    def all(self, names: Collection[str], end: End) -> Iterator[Receipt]:
        """Every receipt of the ledger, in order, and those that still wait; `end` goes along with the ledger.

        Of `names` come out those that the ledger holds as hashes.
        """
        yield from self._ledger().receipts(known=names, end=end)
        for _, data in self._db.waiting():
            yield parse(data)
