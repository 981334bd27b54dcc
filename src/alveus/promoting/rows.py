"""The tiers' values as rows, and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from alveus.audit.receipt import Boundary
from alveus.store.database import FactRow, PageRow, RunRow, ScopeRow, SegmentRow
from alveus.tiers.lpm import Fact, Shelf, Subject
from alveus.tiers.mtm import Segment
from alveus.tiers.page import Page, Ref
from alveus.tiers.policy import Scope


def _dump(value: Any) -> str:
    return orjson.dumps(value).decode()


def scope_of_row(row: ScopeRow) -> Scope:
    """The pair that a row is of."""
    return Scope(user=row.user, assistant=row.assistant)


def page_row(page: Page, scope: int, segment: str | None = None, *, known: int = 0) -> PageRow:
    """A page as a row."""
    return PageRow(
        scope=scope,
        ordinal=page.ordinal,
        id=page.id,
        session=page.session,
        at=page.at,
        until=page.until,
        version=page.version,
        before=page.before,
        query=page.query,
        response=page.response,
        refs=_dump([list(ref) for ref in page.refs]),
        words=_dump(page.words),
        keywords=_dump(page.keywords),
        segment=segment,
        known=known,
    )


def page_of(row: PageRow) -> Page:
    """The page of a row."""
    return Page(
        id=row.id,
        ordinal=row.ordinal,
        session=row.session,
        refs=refs_of(row),
        at=row.at,
        until=row.until,
        version=row.version,
        before=row.before,
        query=row.query,
        response=row.response,
        words=words_of(row),
        keywords=tuple(orjson.loads(row.keywords)),
    )


def refs_of(row: PageRow) -> tuple[Ref, ...]:
    """The records of a row's page."""
    return tuple(Ref(*ref) for ref in orjson.loads(row.refs))


def words_of(row: PageRow) -> dict[str, int]:
    """The terms of a row's page, counted."""
    words: dict[str, int] = orjson.loads(row.words)
    return words


def segment_row(segment: Segment, scope: int, *, gone: bool = False) -> SegmentRow:
    """A segment as a row."""
    return SegmentRow(
        id=segment.id,
        scope=scope,
        ordinal=segment.ordinal,
        pages=segment.pages,
        words=_dump(segment.words),
        names=_dump(segment.names),
        total=segment.total,
        by=segment.by,
        visits=segment.visits,
        interaction=segment.interaction,
        at=segment.at,
        summary=segment.summary,
        version=segment.version,
        degraded=int(segment.degraded),
        request=segment.request,
        gone=int(gone),
    )


@lru_cache(maxsize=1024)
def segment_of(row: SegmentRow) -> Segment:
    """The segment of a row: remembered, since every page is held against every segment."""
    return Segment(
        id=row.id,
        ordinal=row.ordinal,
        pages=row.pages,
        words=orjson.loads(row.words),
        names=orjson.loads(row.names),
        total=row.total,
        by=row.by,
        visits=row.visits,
        interaction=row.interaction,
        at=row.at,
        summary=row.summary,
        version=row.version,
        degraded=bool(row.degraded),
        request=row.request,
    )


def fact_row(fact: Fact, scope: int) -> FactRow:
    """A fact as a row."""
    return FactRow(
        id=fact.id,
        scope=scope,
        subject=fact.subject.value,
        shelf=fact.shelf.value,
        key=fact.key,
        value=fact.value,
        sources=_dump(list(fact.sources)),
        since=fact.since,
        place=fact.place,
        superseded_by=fact.superseded_by,
        restates=fact.restates,
        kept=int(fact.kept),
    )


def fact_of(row: FactRow) -> Fact:
    """The fact of a row."""
    return Fact(
        id=row.id,
        subject=Subject(row.subject),
        shelf=Shelf(row.shelf),
        key=row.key,
        value=row.value,
        sources=tuple(orjson.loads(row.sources)),
        since=row.since,
        place=row.place,
        superseded_by=row.superseded_by,
        restates=row.restates,
        kept=bool(row.kept),
    )


def question_run(run_id: str, scope: int, version: int, segments: tuple[str, ...]) -> RunRow:
    """The run of a question, until it is settled."""
    return RunRow(run_id, scope, Boundary.RETRIEVE.value, version, "open", _dump(segments), "", "", 0)
