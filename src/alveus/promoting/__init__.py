"""Steps over an agent that keep the tiers: pages from the journal, moves, questions, making it all again.

spec/tiers.md. Time, key and files come in through the agent; the tiers' database is this room's own.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from alveus.agent import Agent
from alveus.audit.judge import Flag, State
from alveus.audit.receipt import Boundary, Status
from alveus.errors import StoreError
from alveus.journal.record import SignedRecord
from alveus.journal.seal import digest
from alveus.language.turn import turn_of
from alveus.promoting import asking, catching
from alveus.promoting.receipts import Receipts
from alveus.promoting.rows import scope_of_row
from alveus.store.database import Damaged, Database, ScopeRow
from alveus.store.ledger import Ledger
from alveus.store.stream import Stream
from alveus.tiers.policy import Policy, Scope
from alveus.tiers.promotion import request_of, run_of
from alveus.tiers.retrieval import Reason, Why
from alveus.tiers.stm import Watermark, Window
from alveus.tiers.summary import Request, Summarizer

if TYPE_CHECKING:
    from alveus.promoting.catching import Taken
    from alveus.tiers.mtm import Vector
    from alveus.tiers.page import Page

DATABASE: Final = "tiers.db"
RELEASE: Final = "0.1.0"
"""The package's, as receipts carry it: a test holds it against `alveus.__version__`, which lies above this room."""
_EMBEDDED: Final = 2_000
"""Characters of a page that its meaning is taken from."""


class Tiers:
    """The tiers of one agent, open. Safe from any thread; not to be used by a forked child (`pid`)."""

    def __init__(
        self,
        agent: Agent,
        *,
        policy: Policy | None = None,
        summarizer: Summarizer | None = None,
        patience: float = asking.PATIENCE,
    ) -> None:
        self.pid = os.getpid()
        self.agent = agent
        self.policy = policy or Policy()
        self.summarizer = summarizer
        self.patience = patience
        self.source = f"alveus@{RELEASE}+{self.policy.version}"
        self.read_only = agent.options.read_only
        self.closing = threading.Event()
        self._ledger: Ledger | None = None
        self._kid = ""
        self._guard = threading.Lock()
        self.db = Database(agent.layout.folder / DATABASE, read_only=self.read_only)
        self.receipts = Receipts(self.db, self.ledger, self.source, agent.options.clock)
        self._begun: Stream | None = None

    def ledger(self) -> Ledger:
        """The ledger, opened at first use."""
        agent = self.agent
        with self._guard:
            if self._ledger is None or self._kid != agent.stream.key.kid:  # a rotation changes who signs
                if self._ledger is not None:
                    self._ledger.close()
                self._kid = agent.stream.key.kid
                self._ledger = Ledger(agent.layout.folder, agent.files, agent.stream.key, keys=agent.ring)
            return self._ledger

    def close(self) -> None:
        """Let the files go."""
        if self.pid == os.getpid():
            self.db.close()
            if self._ledger is not None:
                self._ledger.close()

    def stop_if_closing(self) -> None:
        """Raises StoreError where the memory is being closed: a promotion ends between two of its steps."""
        if self.closing.is_set():
            raise StoreError("the memory was closed", code="closed", hint="what is due is promoted at the next opening")

    def overdue(self) -> list[str]:
        """The users whose pages should have moved, as far as the journal was taken in."""
        return [row.user for row in self.db.scopes() if Window(row.departed, row.pages).overflow(self.policy)]

    def rebuild(self) -> None:
        """Make the tiers again, from the journal and the receipts."""
        from alveus.promoting import replay  # noqa: PLC0415  (it knows this room)

        try:
            self.catch_up()
            replay.rebuild(self, lambda: True)
        except Damaged as damaged:
            self.db.renew(damaged)
            self._begun = None
            self.catch_up()

    # The journal

    def stream(self, chain: str) -> Stream | None:
        """The stream of a chain."""
        return next((one for one in self.agent.streams() if (one.link.chain or "") == chain), None)

    def when(self, record: SignedRecord) -> float:
        """When a record happened, in seconds since 1970."""
        return turn_of(record.as_json()).at

    def mark(self, page: Page) -> Watermark:
        """The watermark that stands behind a page."""
        ref = page.refs[-1]
        stream = self.stream(ref.chain)
        line = digest(stream.line_at(ref.offset)) if stream is not None else ""
        return Watermark(ref.chain, ref.seq, line)

    def request_id(self, scope: ScopeRow, page: Page) -> str:
        """The id of what a summariser is asked of a page."""
        return request_of(self.policy, scope_of_row(scope), "page", [page.id])

    def request(self, scope: ScopeRow, page: Page) -> Request:
        """What a summariser is asked of a page."""
        return Request(id=self.request_id(scope, page), said=asking.said_of(self, page))

    # Catching up

    def catch_up(self) -> None:
        """Have every record in a page.

        The first time, see that what is there is of this journal, and finish what a crash left.
        """
        if self._begun is not self.agent.stream:  # the first time, or the files were replaced
            begun = self.agent.stream
            self._begin()
            self._begun = begun
        catching.catch_up(self.db, self.agent.streams(), self.policy, self.agent.layout.agent_id, _Telling(self))
        self.drain()

    def _begin(self) -> None:
        from alveus.promoting import moving, replay  # noqa: PLC0415  (each knows this room)

        if not self._fits():
            replay.rebuild(self, lambda: not self._fits())
        if not self.read_only:
            moving.reconcile_all(self)

    def _fits(self) -> bool:
        """Whether tiers.db is of this journal; an empty one is, where the ledger knows of no move either."""
        if not self.db.progress():
            return next(self.ledger().receipts(), None) is None
        if not catching.fits(self.db, self.agent.streams(), self.policy):
            return False
        return self.read_only or self.receipts.are_known()

    def drain(self) -> None:
        """Bring receipts to the ledger; a reader's stay where they are."""
        if not self.read_only:
            self.receipts.drain()

    def scope(self, scope: Scope) -> ScopeRow | None:
        """The row of a scope, if it has any page."""
        row = self.db.scope(scope.user, scope.assistant)
        return row if row is not None and row.pages else None

    def nothing_of(self, scope: Scope) -> Reason:
        """Why there is nothing of a scope: a name that was misspelt and a memory that is empty are told apart."""
        if any(row.pages for row in self.db.scopes()):
            return Reason(Why.UNKNOWN_SCOPE, f"nothing is stored of user {scope.user!r} with {scope.assistant!r}")
        return Reason(Why.NOTHING_STORED, "nothing is stored yet")

    def marks(self, scope: Scope) -> Iterator[str]:
        """What the judge would say of a scope's moves, as far as it shows without reading the ledger."""
        row = self.scope(scope)
        if row is None:
            return
        due, degraded = len(Window(row.departed, row.pages).overflow(self.policy)), len(self.db.degraded(row.id))
        if due:
            yield f"{State.PROMOTION_MISSING}: {due} pages should have left STM, and are there still: `alveus promote`"
        if degraded:
            yield f"{Flag.DEGRADED}: {degraded} pages were moved without the model: `alveus promote` asks it again"

    def over(self, db: Database) -> Tiers:
        """The same steps over another database: what is made anew there is nobody's yet."""
        other = copy.copy(self)
        other.db = db
        return other

    # Receipts

    def run_of(self, row: ScopeRow, page: Page) -> str:
        """The run of a page, from storage on."""
        return run_of(self.policy, scope_of_row(row), "page", [page.id])

    def tell(self, row: ScopeRow, page: Page, boundary: Boundary, *statuses: Status, **facts: Any) -> None:
        """Put receipts about a page into the outbox; within a transaction.

        Twice the same move is twice the same receipt, so that the ledger keeps one.
        """
        self.receipts.put(
            scope_of_row(row),
            self.run_of(row, page),
            boundary,
            page.version,
            *statuses,
            source_ids=(page.id,),
            source_durable=True,
            source_present=True,
            **facts,
        )

    def tell_waiting(self, row: ScopeRow, page: Page, boundary: Boundary, status: Status, **facts: Any) -> None:
        """The same of a page in STM, with how full it is behind that page: one within the capacity may wait."""
        occupancy = Window(page.ordinal, row.pages).occupancy
        self.tell(row, page, boundary, status, capacity=self.policy.stm_pages, occupancy=occupancy, **facts)

    # Meaning

    def by(self) -> str:
        """Who embeds; empty without an embedder."""
        meaning = self.agent.meaning
        return meaning.by if meaning is not None else ""

    def vector(self, page: Page) -> Vector | None:
        """A page's unit vector [dims]; None without an embedder. One text a call, so that it is the same each time."""
        if self.agent.meaning is None:
            return None
        text = "\n".join(said.text for said in asking.said_of(self, page))
        return self.agent.vector_of(text[:_EMBEDDED])


def open_tiers(agent: Agent, summarizer: Summarizer | str | None = None) -> Tiers:
    """The tiers of an open agent. A summarizer is one of the caller's, or a name; None: what ALVEUS_MODEL names."""
    from alveus.store.models import choose  # noqa: PLC0415

    tiers = Tiers(agent)
    if summarizer is not None and not isinstance(summarizer, str):
        tiers.summarizer = summarizer
        return tiers
    endpoint = choose(summarizer, tiers.db, agent.options.clock)
    if endpoint is not None:
        tiers.summarizer, tiers.patience = endpoint, endpoint.patience
    return tiers


class _Telling(catching.Said):
    """Puts a receipt for every page that was stored, and for every page that is due to leave STM."""

    def __init__(self, tiers: Tiers) -> None:
        self._tiers = tiers

    def __call__(self, taken: Taken, scopes: dict[str, ScopeRow]) -> None:
        if self._tiers.read_only:
            return  # who only reads says nothing
        rows = {row.id: row for row in scopes.values()}
        for (scope, _), page in taken.stored.items():
            self._tiers.tell_waiting(rows[scope], page, Boundary.STORE, Status.VERIFIED)
        for (scope, ordinal), page in taken.overflowed.items():
            if ordinal >= rows[scope].departed:
                self._tiers.tell_waiting(rows[scope], page, Boundary.STM_MTM, Status.WAITING)
