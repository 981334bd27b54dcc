"""What is said of every move, and its way to the ledger: spec/audit.md, section 1.

A receipt goes into the outbox in the transaction of what it speaks of; the ledger is filled from there. One that the
ledger has already is not written twice, so that a crash between the two costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from alveus.audit.receipt import Boundary, Receipt, Status, parse, serialise
from alveus.clock import Clock
from alveus.journal.seal import format_time
from alveus.store.database import Database
from alveus.store.ledger import Ledger
from alveus.tiers.policy import Scope


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
        """Bring what waits to the ledger, oldest first. One process at a time, so that the order is kept."""
        while self._db.waiting(1):
            with self._db.writing(lasting=False):  # the ledger would know these receipts again
                rows = self._db.waiting()
                self._ledger().append(parse(data) for _, data in rows)
                if rows:
                    self._db.drop_receipts(rows[-1][0])

    def all(self) -> Iterator[Receipt]:
        """Every receipt of the ledger, in order, and those that still wait."""
        yield from self._ledger().receipts()
        for _, data in self._db.waiting():
            yield parse(data)
