"""A model is asked: without any lock, for so long and no longer, and its answer is in the journal before it is used."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from alveus.journal.chain import Fault
from alveus.journal.record import Draft, Kind, Source
from alveus.store.past import read
from alveus.tiers import summary
from alveus.tiers.summary import ORIGIN, Request, Said, Summary, Unusable

if TYPE_CHECKING:
    from alveus.promoting import Tiers
    from alveus.store.database import ScopeRow
    from alveus.tiers.page import Page

PATIENCE: Final = 30.0
"""Seconds that one answer is waited for."""
PLACES: Final = 1_000
"""More than a page has records: a record's place is its page's version and its number there."""


def answer_to(tiers: Tiers, request: Request) -> Summary:
    """The model's summary. Raises Unusable, whatever the model did."""
    if tiers.summarizer is None:
        raise Unusable("no model is configured")
    return summary.parse(_within(tiers, request), request)


def _within(tiers: Tiers, request: Request) -> object:
    """The model's answer, from a thread of its own: one that hangs is left behind, and its answer is nobody's."""
    model, box = tiers.summarizer, queue.SimpleQueue[tuple[object, str]]()

    def ask() -> None:
        try:
            box.put((model.answer(request) if model is not None else None, ""))
        except BaseException as error:  # noqa: BLE001  (someone else's code: whatever it raises, it gave no answer)
            box.put((None, type(error).__name__))

    threading.Thread(target=ask, name="alveus-summarizer", daemon=True).start()
    try:
        answer, failed = box.get(timeout=tiers.patience)
    except queue.Empty:
        raise Unusable("the model did not answer in time") from None
    if failed:
        raise Unusable(f"the model failed: {failed}")
    return answer


def keep(tiers: Tiers, scope: ScopeRow, page: Page, request: Request, made: Summary) -> None:
    """Write the answer to the journal, on disk when this returns; asked again, it is the record that is there."""
    model = tiers.summarizer
    told = {
        "model": getattr(model, "id", "unknown"),
        "output": summary.as_json(made),
        "page": page.id,
        "policy": tiers.policy.version,
        "request": request.id,
        "sources": [said.record_id for said in request.said],
    }
    draft = Draft(
        kind=Kind.STATE,
        content=made.text,
        metadata={"summary": told},
        src=Source.SYSTEM,
        user=scope.user,
        origin=f"{ORIGIN}{request.id}",
    )
    tiers.agent.append([draft], durable=True)


def kept(tiers: Tiers, scope: ScopeRow, request: Request) -> Summary | None:
    """What the journal holds as the answer to a request: checked against its signature and, like any answer, parsed."""
    row = tiers.db.answer(request.id, scope.id)
    stream = tiers.stream(row.chain) if row is not None else None
    if row is None or stream is None:
        return None
    record = read(stream, stream.line_at(row.offset), row.offset)
    if isinstance(record, Fault) or record.hc is None or record.hc.user != scope.user:
        return None
    told = record.metadata.get("summary")
    try:
        output = told["output"] if isinstance(told, dict) else None
        return summary.parse(json.dumps(output), request)
    except (Unusable, KeyError, TypeError, ValueError):
        return None


def said_of(tiers: Tiers, page: Page) -> tuple[Said, ...]:
    """The records of a page as a summariser sees them; what fails its check is not there."""
    return tuple(said for said in read_page(tiers, page) if not isinstance(said, Fault))


def read_page(tiers: Tiers, page: Page) -> Iterator[Said | Fault]:
    """The records of a page, each read from its line and checked, or what is wrong with it."""
    for place, ref in enumerate(page.refs):
        stream = tiers.stream(ref.chain)
        if stream is None:
            yield Fault(code="missing", detail="its chain is not here", chain=ref.chain, offset=ref.offset)
            continue
        record = read(stream, stream.line_at(ref.offset), ref.offset)
        if isinstance(record, Fault):
            yield record
        elif record.record_id != ref.record_id:
            yield Fault(code="missing", detail="another record lies there", chain=ref.chain, offset=ref.offset)
        else:
            yield Said(ref.record_id, ref.src, tiers.when(record), page.version * PLACES + place, record.content)
