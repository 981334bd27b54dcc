"""Promotion: plan, prepare, act; and reconciliation. spec/tiers.md, section 2.

A plan is made of one state of the database and holds nothing; a model is asked while no lock is held; acting is one
transaction, which looks again whether the plan still fits. A run that a crash interrupted is looked for at its
destination: what is there gets its missing receipt, what is not there is planned again. Nothing is replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from alveus.audit.receipt import Boundary, Status
from alveus.errors import InputError, NotFound, StoreError
from alveus.promoting import applying, asking
from alveus.promoting.rows import page_of, scope_of_row, segment_of
from alveus.store.database import RunRow, ScopeRow, SegmentRow
from alveus.tiers import mtm, summary
from alveus.tiers.lpm import Fact
from alveus.tiers.page import Page
from alveus.tiers.policy import Scope
from alveus.tiers.promotion import Move, Planner, facts_of, run_of
from alveus.tiers.retrieval import Reason
from alveus.tiers.stm import Watermark, Window
from alveus.tiers.summary import Summary, TooLate, Unusable

if TYPE_CHECKING:
    from alveus.promoting import Tiers

_WITH_MODEL: Final = 8
"""Pages moved at once where each is put before a model."""
_FAILURES: Final = 3
"""Failures of a model after which it is not asked again in this promotion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """What a promotion did. `degraded` pages moved without the model that is configured, and can be done again.

    `pages` left STM for MTM, in `segments` of which `opened` are new; `facts` new facts are in LPM; `mended` pages that
    were degraded are so no more. `waiting` pages are in STM, within its capacity. `problems` say why a model's answers
    were not used, `reasons` why there was nothing to promote.
    """

    user: str
    pages: int = 0
    segments: int = 0
    opened: int = 0
    facts: int = 0
    degraded: int = 0
    mended: int = 0
    waiting: int = 0
    problems: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()


@dataclass(slots=True)
class _Tally:
    """What was done so far."""

    pages: int = 0
    segments: set[str] = field(default_factory=set)
    facts: int = 0
    mended: int = 0
    problems: dict[str, None] = field(default_factory=dict)
    failures: int = 0

    def failed(self, why: Unusable) -> None:
        self.problems[str(why)] = None
        self.failures += _FAILURES if isinstance(why, TooLate) else 1

    @property
    def given_up(self) -> bool:
        return self.failures >= _FAILURES


class Reconciled(NamedTuple):
    """What became of a run, and the receipts that were missing and are `written` now.

    `state` is `verified` (it is at its destination), `absent` (it is not: promote again), `open` or `settled` (a
    question).
    """

    run_id: str
    boundary: str
    version: int
    state: str
    written: tuple[str, ...] = ()


def promote(tiers: Tiers, scope: Scope) -> Promoted:
    """Move what is due in this scope. Raises StoreError where nothing can be written."""
    if tiers.read_only:
        raise StoreError("the memory was opened for reading", code="read_only", hint="open it for writing")
    tiers.catch_up()
    if tiers.scope(scope) is None:
        return Promoted(user=scope.user, reasons=(tiers.nothing_of(scope),))
    tally, before, degraded = _Tally(), _segments(tiers, scope), _degraded(tiers, scope)
    while _move_some(tiers, scope, tally):
        _send_hot(tiers, scope, tally)
        tiers.drain()
        tiers.stop_if_closing()
    _send_hot(tiers, scope, tally)
    _mend(tiers, scope, degraded, tally)
    tiers.drain()
    row = tiers.scope(scope)
    return Promoted(
        user=scope.user,
        pages=tally.pages,
        segments=len(tally.segments),
        opened=len(tally.segments - before),
        facts=tally.facts,
        degraded=len(tiers.db.degraded(row.id)) if row is not None else 0,
        mended=tally.mended,
        waiting=row.pages - row.departed if row is not None else 0,
        problems=tuple(tally.problems),
    )


def _segments(tiers: Tiers, scope: Scope) -> set[str]:
    row = tiers.scope(scope)
    return {one.id for one in tiers.db.segments(row.id)} if row is not None else set()


def _degraded(tiers: Tiers, scope: Scope) -> list[RunRow]:
    row = tiers.scope(scope)
    return tiers.db.degraded(row.id) if row is not None else []


# STM → MTM


class _Ready(NamedTuple):
    """A move with all that it takes to make it."""

    move: Move
    mark: Watermark
    request: str
    summary: Summary | None
    degraded: bool


def _move_some(tiers: Tiers, scope: Scope, tally: _Tally) -> bool:
    """Move the next pages; whether there were any."""
    row = tiers.scope(scope)
    moves = _plan(tiers, row) if row is not None else []
    if row is None or not moves:
        return False
    if not _begin(tiers, row, moves):
        return True  # somebody else moves them: plan again
    ready = [_prepare(tiers, row, move, tally) for move in moves]
    if _act(tiers, row, ready):
        _verify(tiers, ready)
        tally.pages += len(ready)
        tally.segments |= {one.move.segment for one in ready}
    return True


def _plan(tiers: Tiers, row: ScopeRow) -> list[Move]:
    """Which pages go where, as things are now. Embeds; no lock is held."""
    due = Window(row.departed, row.pages).overflow(tiers.policy)
    if not due:
        return []
    most = _WITH_MODEL if tiers.summarizer is not None else tiers.policy.batch
    with tiers.db.reading():
        segments = [segment_of(one) for one in tiers.db.segments(row.id)]
        pages = [page_of(one) for one in tiers.db.pages(row.id, due.start, min(due.stop, due.start + most))]
    planner = Planner(
        policy=tiers.policy,
        scope=scope_of_row(row),
        segments={segment.id: segment for segment in segments},
        now=row.clock,
        by=tiers.by(),
        next_ordinal=row.segments,
    )
    return [planner.place(page, tiers.vector(page)) for page in pages]


def _begin(tiers: Tiers, row: ScopeRow, moves: Sequence[Move]) -> bool:
    """Say what is begun; false where the plan does not fit any more."""
    with tiers.db.writing(lasting=False):
        if not _still(tiers, row):
            return False
        for move in moves:
            tiers.db.put([_run(tiers, row, move, "started")])
            tiers.tell_waiting(row, move.page, Boundary.STM_MTM, Status.STARTED, destination_id=move.segment)
    return True


def _still(tiers: Tiers, row: ScopeRow) -> ScopeRow | None:
    """The scope as it is now, if nothing left STM and no segment was opened since `row` was read."""
    now = tiers.db.scope_by_id(row.id)
    return now if now is not None and (now.departed, now.segments) == (row.departed, row.segments) else None


def _run(tiers: Tiers, row: ScopeRow, move: Move, state: str, *, degraded: bool = False) -> RunRow:
    return RunRow(
        run_id=move.run_id,
        scope=row.id,
        boundary=Boundary.STM_MTM.value,
        version=move.page.version,
        state=state,
        sources=orjson.dumps([move.page.id]).decode(),
        destination=move.segment,
        request=tiers.request_id(row, move.page),
        degraded=int(degraded),
    )


def _prepare(tiers: Tiers, row: ScopeRow, move: Move, tally: _Tally) -> _Ready:
    """Everything that takes time: a model's answer, in the journal before it is used. No lock is held."""
    request = tiers.request_id(row, move.page)
    made, degraded = _answer(tiers, row, move.page, tally)
    return _Ready(move, tiers.mark(move.page), request, made, degraded)


def _answer(tiers: Tiers, row: ScopeRow, page: Page, tally: _Tally) -> tuple[Summary | None, bool]:
    """A model's summary of a page, from the journal; or None, and whether that is for want of one."""
    if tiers.summarizer is None and tiers.db.answer(tiers.request_id(row, page), row.id) is None:
        return None, False
    request = tiers.request(row, page)
    made = asking.kept(tiers, row, request)
    if made is not None or tiers.summarizer is None:
        return made, False
    if tally.given_up:
        return None, True
    try:
        asking.keep(tiers, row, page, request, asking.answer_to(tiers, request))
    except Unusable as unusable:
        tally.failed(unusable)
        return None, True
    tiers.catch_up()
    made = asking.kept(tiers, row, request)  # what is used is what the journal says
    return made, made is None


def _act(tiers: Tiers, row: ScopeRow, ready: Sequence[_Ready]) -> bool:
    """Destination, watermark and receipts in one transaction; False where the plan does not fit any more."""
    by = tiers.by()
    with tiers.db.writing():
        now = _still(tiers, row)
        if now is None:
            return False  # somebody else moved them: plan again
        for one in ready:
            move = one.move
            now = applying.move_page(
                tiers.db,
                now,
                move.page,
                move.segment,
                tiers.policy,
                mark=one.mark,
                summary=one.summary.text if one.summary is not None else None,
                degraded=one.degraded,
                vector=move.vector,
                by=by,
            )
            tiers.db.put([_run(tiers, row, move, "committed", degraded=one.degraded)])
            statuses = (Status.COMMITTED, Status.DEGRADED) if one.degraded else (Status.COMMITTED,)
            tiers.tell(
                row, move.page, Boundary.STM_MTM, *statuses, destination_id=move.segment, destination_present=True
            )
    return True


def _verify(tiers: Tiers, ready: Sequence[_Ready]) -> None:
    """Look whether what was committed is there, and say so."""
    with tiers.db.writing(lasting=False):
        for one in ready:
            run = tiers.db.run(one.move.run_id)
            if run is not None:
                _conclude(tiers, run)


# MTM → LPM


def _send_hot(tiers: Tiers, scope: Scope, tally: _Tally) -> None:
    """Send the segments that are hot, at the time of the scope's newest event."""
    row = tiers.scope(scope)
    if row is None:
        return
    for one in tiers.db.segments(row.id):
        hot: SegmentRow | None = one if mtm.is_hot(segment_of(one), row.clock, tiers.policy) else None
        while hot is not None and _send(tiers, row, hot, tally):
            hot = tiers.db.segment(hot.id)  # a batch of it was sent: it goes whole


def _send(tiers: Tiers, row: ScopeRow, segment: SegmentRow, tally: _Tally) -> bool:
    """Send the next pages of a segment that LPM has not had; whether there were any, and nobody else was at it."""
    pages = [page_of(one) for one in tiers.db.unknown_pages(segment.id, tiers.policy.batch)]
    if not pages:
        return False
    facts = {page.id: page_facts(tiers, row, page) for page in pages}
    run_id = run_of(tiers.policy, scope_of_row(row), "lpm", [segment.id, *facts])
    sources = orjson.dumps([segment.id, *facts]).decode()
    run = RunRow(run_id, row.id, Boundary.MTM_LPM.value, segment.version, "started", sources, segment.id, "", 0)
    with tiers.db.writing():
        now = [page_of(one) for one in tiers.db.unknown_pages(segment.id, tiers.policy.batch)]
        if tiers.db.segment(segment.id) != segment or now != pages:
            return False  # somebody else moved pages into it, or sent these: it is looked at again
        tiers.db.put([run])
        _tell_run(tiers, run, Status.STARTED)
        before = len(tiers.db.facts(row.id))
        applying.learn_facts(tiers.db, row, segment.id, facts, tiers.policy)
        tiers.db.put([run._replace(state="committed")])
        _tell_run(tiers, run, Status.COMMITTED, destination_present=True)
        after = len(tiers.db.facts(row.id))
    with tiers.db.writing(lasting=False):
        _conclude(tiers, run._replace(state="committed"))
    tally.facts += after - before
    return True


def page_facts(tiers: Tiers, row: ScopeRow, page: Page) -> list[Fact]:
    """What a page states: in so many words, and what a model made of it; of one thing, the words count."""
    request = tiers.request(row, page)
    said = {one.record_id: one for one in request.said}
    stated = list(summary.extract(request).facts)
    made = asking.kept(tiers, row, request)
    if made is not None:
        known = {(one.subject, one.shelf, one.key) for one in stated}
        stated += [one for one in made.facts if (one.subject, one.shelf, one.key) not in known]
    return facts_of(stated, said, tiers.policy, scope_of_row(row))


# What a model failed at, once more


def _mend(tiers: Tiers, scope: Scope, degraded: Sequence[RunRow], tally: _Tally) -> None:
    """Ask the model again for what an earlier promotion moved without it."""
    row = tiers.scope(scope)
    if row is None or tiers.summarizer is None:
        return
    for run in degraded:
        if tally.given_up:
            return
        for found in tiers.db.pages_by_id(orjson.loads(run.sources)):
            page = page_of(found)
            made, _ = _answer(tiers, row, page, tally)
            if made is not None:
                _mended(tiers, row, run, page, made)
                tally.mended += 1


def _mended(tiers: Tiers, row: ScopeRow, run: RunRow, page: Page, made: Summary) -> None:
    facts = page_facts(tiers, row, page)
    with tiers.db.writing():
        now = tiers.db.pages_by_id([page.id])
        segment = tiers.db.segment(run.destination)
        if now and now[0].known:
            applying.add_facts(tiers.db, row, facts, tiers.policy)
        if segment is not None and tiers.db.newest_page_of(segment.id) == page.id:
            tiers.db.put([segment._replace(summary=made.text, degraded=0)])
        current = tiers.db.run(run.run_id) or run
        tiers.db.put([current._replace(degraded=0)])


# Reconciliation


def reconcile_all(tiers: Tiers) -> list[Reconciled]:
    """Look after every run that a crash may have interrupted: at opening."""
    with tiers.db.writing():
        return [_conclude(tiers, run) for run in tiers.db.runs_in("started", "committed")]


def reconcile(tiers: Tiers, run_id: object) -> Reconciled:
    """What became of a run, with its missing receipts written. Raises NotFound for one that is not known."""
    if not isinstance(run_id, str) or not run_id.strip():
        raise InputError(f"{run_id!r} is no run", hint="`alveus receipts ls` lists the runs")
    if tiers.read_only:
        raise StoreError("the memory was opened for reading", code="read_only", hint="open it for writing")
    tiers.catch_up()
    with tiers.db.writing():
        run = tiers.db.run(run_id)
        if run is None:
            raise NotFound(f"there is no run {run_id}", hint="`alveus receipts ls` lists the runs")
        done = _conclude(tiers, run)
    tiers.drain()
    return done


def _conclude(tiers: Tiers, run: RunRow) -> Reconciled:
    """Compare a run with its destination, within a transaction; what is there gets the receipts that it lacks."""
    if run.boundary not in _THERE:
        return Reconciled(run.run_id, run.boundary, run.version, run.state)
    if not _THERE[run.boundary](tiers, run):
        return Reconciled(run.run_id, run.boundary, run.version, "absent")
    missing = {"started": (Status.COMMITTED, Status.VERIFIED), "committed": (Status.VERIFIED,)}.get(run.state, ())
    if missing:
        tiers.db.put([run._replace(state="verified")])
        _tell_run(tiers, run, *missing, destination_present=True)
    return Reconciled(run.run_id, run.boundary, run.version, "verified", tuple(status.value for status in missing))


def _tell_run(tiers: Tiers, run: RunRow, *statuses: Status, **facts: Any) -> None:
    row = tiers.db.scope_by_id(run.scope)
    if row is None:
        return
    if run.boundary == Boundary.STM_MTM:
        for page in tiers.db.pages_by_id(orjson.loads(run.sources)):
            tiers.tell(row, page_of(page), Boundary.STM_MTM, *statuses, destination_id=page.segment, **facts)
        return
    tiers.receipts.put(
        scope_of_row(row),
        run.run_id,
        Boundary(run.boundary),
        run.version,
        *statuses,
        source_ids=tuple(orjson.loads(run.sources)),
        destination_id=run.run_id,
        source_durable=True,
        source_present=True,
        **facts,
    )


def _page_there(tiers: Tiers, run: RunRow) -> bool:
    pages = tiers.db.pages_by_id(orjson.loads(run.sources))
    return bool(pages) and all(page.segment is not None for page in pages)


def _facts_there(tiers: Tiers, run: RunRow) -> bool:
    _, *ids = orjson.loads(run.sources)
    pages = tiers.db.pages_by_id(ids)
    return len(pages) == len(ids) and all(page.known for page in pages)


_THERE: Final = {Boundary.STM_MTM.value: _page_there, Boundary.MTM_LPM.value: _facts_there}
"""How a run of each boundary is looked for at its destination."""
