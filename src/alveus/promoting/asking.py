"""A model is asked: without any lock, for so long and no longer, and its answer is in the journal before it is used."""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from alveus.errors import AlveusError
from alveus.journal.chain import Fault
from alveus.journal.record import Draft, Kind, SignedRecord, Source
from alveus.store.past import read
from alveus.tiers import summary
from alveus.tiers.summary import ORIGIN, Request, Said, Summary, TooLate, Unusable

if TYPE_CHECKING:
    from alveus.promoting import Tiers
    from alveus.store.database import ScopeRow
    from alveus.tiers.page import Page, Ref

PATIENCE: Final = 30.0
"""Seconds that one answer is waited for."""
_LOOK: Final = 0.1
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
        except AlveusError as error:  # ours, in a sentence that holds no content
            box.put((None, error.message))
        except BaseException as error:  # noqa: BLE001  (someone else's code: whatever it raises, it gave no answer)
            box.put((None, f"the model failed: {type(error).__name__}"))

    threading.Thread(target=ask, name="alveus-summarizer", daemon=True).start()
    answer, failed = _awaited(tiers, box)
    if failed:
        raise Unusable(failed)
    return answer


def _awaited(tiers: Tiers, box: queue.SimpleQueue[tuple[object, str]]) -> tuple[object, str]:
    """What the thread puts into the box. Whoever closes the memory meanwhile does not wait for it."""
    end = time.monotonic() + tiers.patience
    while (left := end - time.monotonic()) > 0:
        tiers.stop_if_closing()
        with contextlib.suppress(queue.Empty):
            return box.get(timeout=min(left, _LOOK))
    raise TooLate("the model did not answer in time")


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


def read_ref(tiers: Tiers, ref: Ref) -> SignedRecord | Fault:
    """A record of a page, read from its line and checked, or what is wrong with it."""
    stream = tiers.stream(ref.chain)
    if stream is None:
        return Fault(code="missing", detail="its chain is not here", chain=ref.chain, offset=ref.offset)
    record = read(stream, stream.line_at(ref.offset), ref.offset)
    if isinstance(record, Fault) or record.record_id == ref.record_id:
        return record
    return Fault(code="missing", detail="another record lies there", chain=ref.chain, offset=ref.offset)


def said_of(tiers: Tiers, page: Page) -> tuple[Said, ...]:
    """The records of a page as a summariser sees them; what fails its check is not there."""
    return tuple(said for said in read_page(tiers, page) if not isinstance(said, Fault))


def read_page(tiers: Tiers, page: Page) -> Iterator[Said | Fault]:
    """The records of a page, each read from its line and checked, or what is wrong with it."""
    for place, ref in enumerate(page.refs):
        record = read_ref(tiers, ref)
        if isinstance(record, Fault):
            yield record
        else:
            yield Said(ref.record_id, ref.src, tiers.when(record), page.version * PLACES + place, record.content)
