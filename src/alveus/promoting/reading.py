"""What the tiers answer, and what comes of it: spec/tiers.md, sections 3 and 4.

Every page is read from the journal and checked on its way out, and so is what a fact rests on. The database is asked
once, for one state; embedding and reading hold no lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from alveus.audit.receipt import Boundary, Outcome, OutcomeReceipt, Status
from alveus.errors import InputError, NotFound, StoreError
from alveus.estimate import estimate_tokens
from alveus.journal.chain import Fault
from alveus.journal.record import SignedRecord
from alveus.promoting import applying, asking
from alveus.promoting.rows import fact_of, page_of, question_run, refs_of, segment_of, words_of
from alveus.store.arrays import numpy
from alveus.tiers import mtm, retrieval
from alveus.tiers.lpm import Fact
from alveus.tiers.mtm import Segment
from alveus.tiers.page import Page
from alveus.tiers.policy import Scope
from alveus.tiers.retrieval import Item, Question, Reason, Retrieved, Tier, Why, Within
from alveus.tiers.stm import Window

if TYPE_CHECKING:
    from alveus.promoting import Tiers
    from alveus.store.database import PageRow, ScopeRow
    from alveus.store.vectors import Vectors
    from alveus.tiers.mtm import Vector

_EMBED: Final = 2_000
"""Records that one question may have embedded first."""


class _Found(NamedTuple):
    """What one state of the database holds for a question; `row` is the scope in that state."""

    row: ScopeRow
    stm: list[Page]
    scored: list[tuple[float, Page]]
    segment_of: dict[int, str]
    facts: list[tuple[float, Fact]]
    reasons: list[Reason]

    def is_empty(self) -> bool:
        return not (self.stm or self.scored or self.facts)


class _Meaning(NamedTuple):
    """A question by its meaning, and the vectors to hold it against; `vector` is None without an embedder."""

    vector: Vector | None
    by: str
    vectors: Mapping[str, Vectors]


class Asked(NamedTuple):
    """A question: what is asked, how many pages of MTM at most, within what, and in how many tokens by which count."""

    query: str
    top_k: int
    within: Within = Within()
    budget: int | None = None
    count: Callable[[str], int] = estimate_tokens


def retrieve(tiers: Tiers, scope: Scope, asked: Asked) -> Retrieved:
    """All of STM, the pages of MTM that answer best, and LPM; what of it is within the filters, and fits."""
    tiers.catch_up()
    row = tiers.scope(scope)
    if row is None:
        return Retrieved(run_id="", version=0, reasons=(tiers.nothing_of(scope),))
    meaning, question = _meaning(tiers, asked.query), retrieval.question_of(asked.query)
    found = _find(tiers, row, question, meaning, asked)
    items, left_out = _read(tiers, row.id, found)
    reasons = found.reasons
    if found.is_empty():
        reasons = [Reason(Why.FILTERED_OUT, f"nothing of user {scope.user!r} is within what was asked for"), *reasons]
    elif not items:
        reasons = [Reason(Why.CHECK_FAILED, "what was found failed its check"), *reasons]
    items, skipped = (items, []) if asked.budget is None else retrieval.fit(items, asked.budget, asked.count)
    if skipped:
        told = f"{len(skipped)} of {len(skipped) + len(items)} items do not fit into {asked.budget} tokens"
        reasons = [Reason(Why.OVER_BUDGET, told), *reasons]
    read = {item.segment: None for item in items if item.tier is Tier.MTM}
    run_id = _note(tiers, scope, found.row, tuple(read))
    return Retrieved(
        run_id=run_id,
        version=found.row.version,
        items=tuple(items),
        reasons=tuple(reasons),
        left_out=tuple(left_out),
        skipped=tuple(skipped),
    )


def _meaning(tiers: Tiers, query: str) -> _Meaning:
    """The question's vector and the records' vectors. Embeds; no lock is held."""
    vector = tiers.agent.vector_of(query) if query.strip() else None
    if vector is None:
        return _Meaning(None, "", {})
    return _Meaning(vector, tiers.by(), tiers.agent.vectors(_EMBED))


# Finding


def _find(tiers: Tiers, row: ScopeRow, question: Question, meaning: _Meaning, asked: Asked) -> _Found:
    db, policy, within = tiers.db, tiers.policy, asked.within
    with db.reading():
        now = db.scope_by_id(row.id) or row
        window = Window(now.departed, now.pages)
        newest = window.newest(policy)
        stm = [page_of(one) for one in db.pages(row.id, newest.start, newest.stop)]
        due = db.pages(row.id, now.departed, newest.start)
        segments = [segment_of(one) for one in db.segments(row.id)]
        there = segments
        if not within.is_everything():
            holding = db.segments_within(row.id, within)
            there = [one for one in segments if one.id in holding]
        best = _best_segments(there, question, meaning, tiers)
        rows = [*due, *(one for segment in best for one in db.pages_of(segment.id))]
        facts = [fact_of(one) for one in db.standing(row.id)]
    of_segment = {one.ordinal: one.segment or "" for one in rows}
    scored = (one for one in _scored(question, rows, meaning) if within.has_page(one[1]))
    return _Found(
        row=now,
        stm=[page for page in stm if within.has_page(page)],
        scored=retrieval.best_pages(scored, asked.top_k),
        segment_of=of_segment,
        facts=retrieval.best_facts(question, [fact for fact in facts if within.has_fact(fact)], policy),
        reasons=[*_not_built(tiers, meaning), *_embedded_otherwise(segments, meaning)],
    )


def _scored(question: Question, rows: Sequence[PageRow], meaning: _Meaning) -> Iterator[tuple[float, Page]]:
    """Second stage: the pages by how well they answer, best first, of equals the newest.

    Of thousands of rows few become pages: those that are asked for.
    """
    scores = [
        retrieval.page_score(question, words_of(row), cosine)
        for row, cosine in zip(rows, _cosines(rows, meaning), strict=True)
    ]
    for at in sorted(range(len(rows)), key=lambda at: (-scores[at], -rows[at].ordinal)):
        yield scores[at], page_of(rows[at])


def _best_segments(segments: Sequence[Segment], question: Question, meaning: _Meaning, tiers: Tiers) -> list[Segment]:
    """First stage: the segments with the best F."""
    scores = mtm.likeness(
        segments,
        tiers.policy,
        keywords=question.keywords,
        words=question.words,
        vector=meaning.vector,
        by=meaning.by,
    )
    order = sorted(range(len(segments)), key=lambda at: (-scores[at], -segments[at].ordinal))
    return [segments[at] for at in order[: tiers.policy.top_segments] if scores[at] > 0]


def _not_built(tiers: Tiers, meaning: _Meaning) -> list[Reason]:
    """What could not be looked at, since it is not made yet."""
    left = sum(vectors.left for vectors in meaning.vectors.values())
    told = [tiers.db.note] if tiers.db.note else []
    told += [f"{left} records have no vector yet, and are compared by words"] if left else []
    return [Reason(Why.INDEX_NOT_BUILT, f"{one}: run `alveus rebuild`") for one in told]


def _embedded_otherwise(segments: Sequence[Segment], meaning: _Meaning) -> list[Reason]:
    """Whether segments were made by another embedder than the question's."""
    if meaning.vector is None:
        return []
    strange = sorted({segment.by for segment in segments} - {meaning.by})
    if not strange:
        return []
    told = " and ".join(by or "words alone" for by in strange)
    sentence = f"segments were made by {told}, and are compared by words: run `alveus rebuild`"
    return [Reason(Why.EMBEDDER_CHANGED, sentence)]


def _cosines(rows: Sequence[PageRow], meaning: _Meaning) -> list[float | None]:
    """The cosine of each page to the question: that of its nearest record; None without vectors."""
    if meaning.vector is None or not rows:
        return [None] * len(rows)
    np = numpy()
    near = np.zeros(len(rows))
    refs = [refs_of(row) for row in rows]
    for chain, vectors in meaning.vectors.items():
        places = [(at, ref.seq) for at, of_page in enumerate(refs) for ref in of_page if ref.chain == chain]
        if places:
            at, seqs = (np.array(column, dtype=np.int64) for column in zip(*places, strict=True))
            np.maximum.at(near, at, vectors.cosines(meaning.vector, seqs).astype(float))
    return near.round(6).tolist()  # type: ignore[no-any-return]


# Reading


def _read(tiers: Tiers, scope: int, found: _Found) -> tuple[list[Item], list[Fault]]:
    items: list[Item] = []
    left_out: list[Fault] = []
    there = [(0.0, page) for page in found.stm]
    for score, page in [*there, *found.scored]:
        said = list(asking.read_page(tiers, page))
        left_out += [one for one in said if isinstance(one, Fault)]
        good = [one for one in said if not isinstance(one, Fault)]
        if good:
            segment = found.segment_of.get(page.ordinal, "")
            items.append(
                Item(
                    id=page.id,
                    tier=Tier.MTM if segment else Tier.STM,
                    kind="page",
                    version=page.version,
                    score=score,
                    sources=tuple(one.record_id for one in good),
                    text="\n".join(f"{one.src}: {one.text}" for one in good),
                    since=page.at,
                    segment=segment,
                )
            )
    items += _facts(tiers, scope, found.facts, left_out)
    return items, left_out


def records_of(tiers: Tiers, items: Sequence[Item]) -> list[SignedRecord]:
    """The records of the pages among these: of MTM, the best first; then of STM, the newest first; each checked."""
    pages = [item for item in items if item.kind == "page"]
    order = [item.id for item in pages if item.tier is Tier.MTM]
    order += [item.id for item in reversed(pages) if item.tier is Tier.STM]
    refs = [ref for row in tiers.db.pages_by_id(order) for ref in page_of(row).refs]
    return [record for ref in refs if not isinstance(record := asking.read_ref(tiers, ref), Fault)]


def _facts(tiers: Tiers, scope: int, facts: Sequence[tuple[float, Fact]], left_out: list[Fault]) -> Iterator[Item]:
    for score, fact in facts:
        fault = _fault_of(tiers, scope, fact)
        if fault is not None:
            left_out.append(fault)
            continue
        yield Item(
            id=fact.id,
            tier=Tier.LPM,
            kind=fact.shelf.value,
            version=fact.place // asking.PLACES,
            score=score,
            sources=fact.sources,
            text=fact.text,
            since=fact.since,
            subject=fact.subject.value,
        )


def _fault_of(tiers: Tiers, scope: int, fact: Fact) -> Fault | None:
    """What is wrong with a record that the fact rests on. They are of one page, which knows where they lie."""
    page = tiers.db.page_of_version(scope, fact.place // asking.PLACES)
    refs = {ref.record_id: ref for ref in page_of(page).refs} if page is not None else {}
    for source in fact.sources:
        found = asking.read_ref(tiers, refs[source]) if source in refs else None
        if found is None:
            return Fault(code="missing", detail=f"the record {source} is of no page")
        if isinstance(found, Fault):
            return found
    return None


class Facts(NamedTuple):
    """What is known of user and assistant, by subject, shelf and key, the oldest of a key first.

    `left_out` is what is wrong with the records of a fact that is not among them; `reasons` say why nothing can be.
    """

    facts: tuple[Fact, ...]
    left_out: tuple[Fault, ...] = ()
    reasons: tuple[Reason, ...] = ()


def facts(tiers: Tiers, scope: Scope, *, history: bool) -> Facts:
    """The facts that stand; with `history` also those that were replaced, only repeat, or had no more room."""
    tiers.catch_up()
    row = tiers.scope(scope)
    if row is None:
        return Facts((), reasons=(tiers.nothing_of(scope),))
    rows = tiers.db.facts(row.id) if history else tiers.db.standing(row.id)
    found = sorted(map(fact_of, rows), key=lambda one: (one.subject, one.shelf, one.key, one.since, one.place, one.id))
    faults = [_fault_of(tiers, row.id, fact) for fact in found]
    good = tuple(fact for fact, fault in zip(found, faults, strict=True) if fault is None)
    return Facts(good, tuple(fault for fault in faults if fault is not None))


# What comes of it


def _note(tiers: Tiers, scope: Scope, row: ScopeRow, segments: tuple[str, ...]) -> str:
    """The question's receipt, and the visits. A reader leaves no trace, and gets no run to settle."""
    if tiers.read_only:
        return ""
    run_id = os.urandom(16).hex()  # as `secrets` does, which takes longer to import than the question to note
    with tiers.db.writing():
        at = tiers.receipts.put(
            scope, run_id, Boundary.RETRIEVE, row.version, Status.VERIFIED, source_ids=segments, source_present=True
        )
        applying.visit(tiers.db, segments, at.timestamp())
        tiers.db.put([question_run(run_id, row.id, row.version, segments)])
    tiers.drain()
    return run_id


def settle(tiers: Tiers, run_id: str, outcome: object) -> OutcomeReceipt:
    """Say what became of an answer, by a deterministic check. Raises NotFound for a run that is no question's."""
    if tiers.read_only:
        raise StoreError("the memory was opened for reading", code="read_only", hint="open it for writing")
    made = outcome if isinstance(outcome, OutcomeReceipt) else _outcome(outcome)
    told = f"{made.type}:{made.value}"
    tiers.catch_up()
    with tiers.db.writing():
        run = tiers.db.run(run_id)
        row = tiers.db.scope_by_id(run.scope) if run is not None else None
        if run is None or row is None or run.boundary != Boundary.RETRIEVE:
            raise NotFound(f"no question has the run {run_id!r}", hint="settle takes the run_id of what retrieve gave")
        if run.state == "settled" and run.destination != told:
            raise InputError(
                "the run is settled already, with another outcome", code="settled", hint="ask again, and settle that"
            )
        tiers.receipts.put(
            Scope(user=row.user, assistant=row.assistant),
            run_id,
            Boundary.GENERATE,
            run.version,
            Status.VERIFIED if made.passed else Status.FAILED,
            depends_on_version=run.version,
            outcome_receipt=made,
        )
        tiers.db.put([run._replace(state="settled", destination=told)])
    tiers.drain()
    return made


def _outcome(given: object) -> OutcomeReceipt:
    if not isinstance(given, Mapping) or given.keys() != {"type", "value"}:
        raise InputError("the outcome is not {type, value}", hint="type: " + ", ".join(Outcome))
    try:
        kind = Outcome(given["type"])
    except ValueError:
        raise InputError(f"{given['type']!r} is no check of an outcome", hint="one of " + ", ".join(Outcome)) from None
    return OutcomeReceipt(type=kind, value=given["value"])
