"""What a move changes: the same steps whether it is made now or made again from the ledger. spec/tiers.md, section 5.

Each works within a transaction, on rows; what it needs of the journal's words is an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from alveus.promoting.rows import fact_of, fact_row, page_row, segment_of, segment_row
from alveus.store.database import Database, ScopeRow
from alveus.tiers import lpm, mtm
from alveus.tiers.lpm import Fact
from alveus.tiers.mtm import Segment
from alveus.tiers.page import Page
from alveus.tiers.policy import Policy
from alveus.tiers.promotion import evict
from alveus.tiers.stm import Watermark

if TYPE_CHECKING:
    from alveus.tiers.mtm import Vector

GISTS: Final = 20
"""Of a segment's pages, the newest that its summary is drawn from."""


def move_page(
    db: Database,
    scope: ScopeRow,
    page: Page,
    segment_id: str,
    policy: Policy,
    *,
    mark: Watermark,
    summary: str | None,
    degraded: bool,
    vector: Vector | None,
    by: str,
) -> ScopeRow:
    """STM → MTM: the page into its segment, read back; then the watermark. Twice is once."""
    row = db.page(scope.id, page.ordinal)
    if row is None or row.segment is not None:
        return scope
    there = db.segment(segment_id)
    segment = segment_of(there) if there is not None else Segment(id=segment_id, ordinal=scope.segments)
    segment = mtm.joined(segment, page, vector, by)
    placed = page_row(page, scope.id, segment_id)
    db.put([placed])
    gists = [" → ".join(filter(None, gist)) for gist in db.gists_of(segment_id, GISTS)]
    segment = replace(segment, summary=summary or mtm.gist(gists, segment.keywords(policy)), degraded=degraded)
    written = segment_row(segment, scope.id)
    db.put([written])
    db.check([placed, written])
    # The destination is written and was read back: only now the page leaves STM.
    scope = scope._replace(
        segments=max(scope.segments, segment.ordinal + 1),
        clock=max(scope.clock, page.until),
        departed=max(scope.departed, page.ordinal + 1),
        mark_chain=mark.chain,
        mark_seq=mark.seq,
        mark_line=mark.line,
    )
    db.put([scope])
    if there is None:
        _evict(db, scope, policy, segment.id)
    return scope


def _evict(db: Database, scope: ScopeRow, policy: Policy, newest: str) -> None:
    """Past the capacity the coldest leaves MTM, not the journal."""
    rows = db.warmth(scope.id)
    if len(rows) > policy.segments:
        warm = {
            row[0]: Segment(id=row[0], ordinal=row[1], visits=row[2], interaction=row[3], at=row[4]) for row in rows
        }
        gone = evict(warm, scope.clock, policy, newest=newest)
        there = db.segment(gone.id) if gone is not None else None
        db.put([there._replace(gone=1)] if there is not None else [])


def visit(db: Database, segments: Iterable[str], at: float) -> None:
    """Segments that were read, at that time."""
    for segment_id in segments:
        row = db.segment(segment_id)
        scope = db.scope_by_id(row.scope) if row is not None else None
        if row is not None and scope is not None:
            db.put([segment_row(mtm.visited(segment_of(row), at), row.scope, gone=bool(row.gone))])
            db.put([scope._replace(clock=max(scope.clock, at))])


def learn_facts(
    db: Database, scope: ScopeRow, segment_id: str, facts: Mapping[str, list[Fact]], policy: Policy
) -> None:
    """MTM → LPM: what the pages of a segment state (by page id), read back; then the segment cools. Twice is once."""
    row = db.segment(segment_id)
    if row is None:
        return
    add_facts(db, scope, [fact for page in facts.values() for fact in page], policy)
    read = [one._replace(known=1) for one in db.pages_by_id(list(facts)) if one.segment == segment_id]
    db.put(read)
    cooled = segment_row(replace(segment_of(row), interaction=0), row.scope, gone=bool(row.gone))
    db.put([cooled])
    db.check([*read, cooled])


def add_facts(db: Database, scope: ScopeRow, new: Iterable[Fact], policy: Policy) -> None:
    """Facts beside those that are known: what stands and what is history follows from all of them together."""
    before = {row.id: row for row in db.facts(scope.id)}
    known = {row_id: fact_of(row) for row_id, row in before.items()}
    settled = [fact_row(fact, scope.id) for fact in lpm.settled({**known, **{f.id: f for f in new}}.values(), policy)]
    changed = [row for row in settled if before.get(row.id) != row]
    db.put(changed)
    db.check(changed)
