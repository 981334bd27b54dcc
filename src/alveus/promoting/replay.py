"""The tiers made again, from the journal and the ledger: no model is called. spec/tiers.md, section 5.

Which page went to which segment, what was read and when, stands in the receipts and is done again in their order.
Everything is made beside what serves, and takes its place in one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Final

import orjson

from alveus.audit.receipt import Boundary, Receipt, Status
from alveus.errors import Locked
from alveus.promoting import applying, asking, catching
from alveus.promoting.moving import page_facts
from alveus.promoting.rows import page_of, question_run
from alveus.store.database import Database, RunRow
from alveus.store.ledger import End

if TYPE_CHECKING:
    from alveus.promoting import Tiers

_TRIES: Final = 20
_PAUSE: Final = 0.01
"""Seconds, times the tries so far: those who write all want the same, and one of them will have done it."""
_GOOD: Final = frozenset({Status.COMMITTED, Status.VERIFIED, Status.DEGRADED})


def rebuild(tiers: Tiers, needed: Callable[[], bool]) -> None:
    """Make tiers.db again, as long as that is needed. Raises Locked where others write too fast for an exchange."""
    for tried in range(_TRIES):
        time.sleep(tried * _PAUSE)
        tiers.drain()
        if not needed():
            return  # another process has done it
        before = tiers.db.changes()
        try:
            tiers.agent.refresh()  # after that look: the journal has all that the database had then
        except Locked:
            continue  # what we know of the journal may be shorter than what the database was made of
        fresh = Database(None)
        try:
            end = End()
            told = _remake(tiers.over(fresh), end)
            with tiers.db.writing():
                if tiers.db.changes() != before:
                    continue  # somebody wrote meanwhile, and the old one serves: begin again
                tiers.db.take_over(fresh)
                tiers.db.note_about("policy", tiers.policy.version)
                tiers.receipts.note(end.place)
                _tell_untold(tiers, told)
        finally:
            fresh.close()
        tiers.drain()
        return
    raise Locked("other processes write too fast for tiers.db to be made again", hint="try again")


def _remake(tiers: Tiers, end: End) -> set[tuple[str, Boundary, int]]:
    """Pages from the journal, moves from the receipts; what the receipts say of which version of which run."""
    db, agent = tiers.db, tiers.agent
    catching.catch_up(db, agent.streams(), tiers.policy, agent.layout.agent_id, catching.Said())
    told: set[tuple[str, Boundary, int]] = set()
    with db.writing():
        names = {name for row in db.scopes() for name in (row.user, row.assistant)}
        for receipt in tiers.receipts.all(names, end):
            if isinstance(receipt.version, int):
                told.add((receipt.run_id, receipt.boundary, receipt.version))
                _EFFECTS.get(receipt.boundary, _nothing)(tiers, receipt)
    return told


def _tell_untold(tiers: Tiers, told: set[tuple[str, Boundary, int]]) -> None:
    """Receipts for pages of which the ledger knows nothing: it is new, or was lost."""
    if tiers.read_only:
        return
    for row in tiers.db.scopes():
        for one in tiers.db.pages(row.id, 0, row.pages):
            page = page_of(one)
            run_id = tiers.run_of(row, page)
            if (run_id, Boundary.STORE, page.version) not in told:
                tiers.tell_waiting(row, page, Boundary.STORE, Status.VERIFIED)
            due = row.departed <= page.ordinal < row.pages - tiers.policy.stm_pages
            if due and (run_id, Boundary.STM_MTM, page.version) not in told:
                tiers.tell_waiting(row, page, Boundary.STM_MTM, Status.WAITING)


# What each receipt did


def _moved(tiers: Tiers, receipt: Receipt) -> None:
    """A page into its segment. A page that is not there any more, or by other rules, is left where it is."""
    db = tiers.db
    for found in db.pages_by_id(receipt.source_ids):
        scope, page = db.scope_by_id(found.scope), page_of(found)
        if scope is None or receipt.destination_id is None or receipt.version != page.version:
            continue
        run_id = tiers.run_of(scope, page)
        if receipt.run_id != run_id or receipt.status not in (*_GOOD, Status.STARTED):
            continue
        request_id = tiers.request_id(scope, page)
        answered = db.answer(request_id, scope.id) is not None
        made = asking.kept(tiers, scope, tiers.request(scope, page)) if answered else None
        if receipt.status in _GOOD and found.segment is None:
            if page.ordinal != scope.departed:
                continue  # the receipts before it are lost: it is planned again, in its turn
            applying.move_page(
                db,
                scope,
                page,
                receipt.destination_id,
                tiers.policy,
                mark=tiers.mark(page),
                summary=made.text if made is not None else None,
                degraded=False,
                vector=tiers.vector(page),
                by=tiers.by(),
            )
        _note_run(tiers, receipt, scope.id, [page.id], destination=receipt.destination_id, request=request_id)
        if receipt.status is Status.DEGRADED and made is None:
            _degrade(tiers, run_id, receipt.destination_id, page.id)


def _degrade(tiers: Tiers, run_id: str, segment_id: str, page_id: str) -> None:
    db = tiers.db
    run, segment = db.run(run_id), db.segment(segment_id)
    if run is not None:
        db.put([run._replace(degraded=1)])
    if segment is not None and db.newest_page_of(segment_id) == page_id:
        db.put([segment._replace(degraded=1)])


def _learnt(tiers: Tiers, receipt: Receipt) -> None:
    """A segment's pages into LPM."""
    db, (segment_id, *page_ids) = tiers.db, receipt.source_ids or ("",)
    segment = db.segment(segment_id)
    scope = db.scope_by_id(segment.scope) if segment is not None else None
    if segment is None or scope is None:
        return
    pages = [page_of(one) for one in db.pages_by_id(page_ids) if one.segment == segment_id]
    if receipt.status in _GOOD and any(not one.known for one in db.pages_by_id(page_ids)):
        facts = {page.id: page_facts(tiers, scope, page) for page in pages}
        applying.learn_facts(db, scope, segment_id, facts, tiers.policy)
    if receipt.status in (*_GOOD, Status.STARTED):
        _note_run(tiers, receipt, scope.id, list(receipt.source_ids), destination=segment_id)


def _asked(tiers: Tiers, receipt: Receipt) -> None:
    """A question: what it read is warmer for it."""
    db = tiers.db
    scope = db.scope(receipt.user_scope, receipt.assistant_scope)
    if receipt.status not in _GOOD or db.run(receipt.run_id) is not None:
        return
    applying.visit(db, receipt.source_ids, datetime.fromisoformat(receipt.at_utc).timestamp())
    if scope is not None:
        db.put([question_run(receipt.run_id, scope.id, int(receipt.version), receipt.source_ids)])


def _settled(tiers: Tiers, receipt: Receipt) -> None:
    run, outcome = tiers.db.run(receipt.run_id), receipt.outcome_receipt
    if run is not None and outcome is not None and run.boundary == Boundary.RETRIEVE:
        tiers.db.put([run._replace(state="settled", destination=f"{outcome.type}:{outcome.value}")])


def _nothing(_: Tiers, __: Receipt) -> None:
    """What was stored is in the journal."""


_EFFECTS: Final[dict[Boundary, Callable[[Tiers, Receipt], None]]] = {
    Boundary.STM_MTM: _moved,
    Boundary.MTM_LPM: _learnt,
    Boundary.RETRIEVE: _asked,
    Boundary.GENERATE: _settled,
}
_RANK: Final = {"started": 0, "committed": 1, "verified": 2}
_STATES: Final = {Status.STARTED: "started", Status.VERIFIED: "verified"}


def _note_run(
    tiers: Tiers, receipt: Receipt, scope: int, sources: list[str], *, destination: str, request: str = ""
) -> None:
    """A run as its receipts leave it."""
    state, known = _STATES.get(receipt.status, "committed"), tiers.db.run(receipt.run_id)
    if known is not None and _RANK[known.state] >= _RANK[state]:
        return
    tiers.db.put(
        [
            RunRow(
                receipt.run_id,
                scope,
                receipt.boundary.value,
                int(receipt.version),
                state,
                orjson.dumps(sources).decode(),
                destination,
                request,
                known.degraded if known is not None else 0,
            )
        ]
    )
