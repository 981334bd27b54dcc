"""What the receipts of an agent come to, for people and for programs: lanes, CloudEvents, numbers. spec/audit.md.

Green means lineage, scope, freshness and a checked outcome, and no more: the verdict says so where it is green. Nothing
here holds content, since a receipt holds none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from alveus.audit.judge import Contract, Evidence, Health, State, judge
from alveus.audit.receipt import Boundary, Receipt, Status, as_json, serialise
from alveus.doors import output
from alveus.doors.options import Form, Settings
from alveus.doors.streams import text
from alveus.errors import NotFound
from alveus.store.layout import encode_name

if TYPE_CHECKING:
    from alveus.store.ledger import Ledger

NOT_SHOWN: Final = (
    "that a summary is true: a receipt proves lineage, scope, freshness and a deterministic outcome, not what a model "
    "made of the pages"
)
OURS: Final = (Boundary.STORE, Boundary.STM_MTM, Boundary.RETRIEVE, Boundary.GENERATE)
"""What a lane of ours must show; only hot segments reach LPM."""
WITH: Final[dict[Boundary, tuple[Boundary, ...]]] = {
    Boundary.STORE: (Boundary.STORE, Boundary.STM_MTM),
    Boundary.STM_MTM: (Boundary.STM_MTM,),
    Boundary.MTM_LPM: (Boundary.MTM_LPM,),
    Boundary.RETRIEVE: (Boundary.RETRIEVE, Boundary.GENERATE),
    Boundary.GENERATE: (Boundary.RETRIEVE, Boundary.GENERATE),
}
"""What a run of ours must show that has a boundary: a page's run and a question's run are two."""
MOST_SHOWN: Final = 3
"""Receipts that a person is shown of a rule's findings; --json gives all."""

STYLES: Final[dict[State, str]] = {
    State.HEALTHY: "bold green",
    State.WAITING: "bold yellow",
    State.UNCERTAIN: "bold yellow",
    State.SCOPE_CONFLICT: "bold red",
    State.SOURCE_AT_RISK: "bold red",
    State.PROMOTION_MISSING: "bold red",
    State.STALE_RETRIEVAL: "bold red",
    State.GENERATION_UNVERIFIED: "bold red",
}

TO_DO: Final[dict[State, str]] = {
    State.SCOPE_CONFLICT: "stop using the run's answer, and find out who wrote under the other scope",
    State.SOURCE_AT_RISK: "compare source and destination by run and version before anything is repeated",
    State.UNCERTAIN: "get the missing evidence: promote, retrieve or settle again, then audit",
    State.PROMOTION_MISSING: "promote; the source is still there",
    State.STALE_RETRIEVAL: "retrieve again; if it stays so, the index is behind",
    State.GENERATION_UNVERIFIED: "settle the run with a check of its outcome",
    State.WAITING: "nothing: it moves up when its time or the capacity is reached",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One user with one assistant, and how their memory is."""

    user_scope: str | None
    assistant_scope: str | None
    health: Health


def all_green(lanes: list[Lane]) -> bool:
    """Whether there is a lane, and every one is healthy."""
    return bool(lanes) and all(lane.health for lane in lanes)


def passes(lanes: list[Lane], *, waiting_ok: bool) -> bool:
    """Whether there is a lane, and every one is healthy or, where that will do, only waits."""
    passing = {State.HEALTHY, State.WAITING} if waiting_ok else {State.HEALTHY}
    return bool(lanes) and all(lane.health.state in passing for lane in lanes)


def judged(found: Iterable[Receipt], agent: str, user: str | None, run: str | None, now: datetime) -> Iterator[Lane]:
    """Every lane that the receipts touch, or the one that is asked about, each judged by itself."""
    runs: dict[str, list[Receipt]] = {}
    lanes: dict[tuple[str, str], dict[str, None]] = {} if user is None else {(user, agent): {}}
    for receipt in found:
        runs.setdefault(receipt.run_id, []).append(receipt)
        if run in (None, receipt.run_id) and (user is None or receipt.scope == (user, agent)):
            lanes.setdefault(receipt.scope, {})[receipt.run_id] = None
    if not lanes:
        yield Lane(user_scope=user, assistant_scope=agent, health=judge([], Contract(), now))
    for (lane_user, assistant), touched in lanes.items():
        receipts = [receipt for run_id in touched for receipt in runs[run_id]]
        expected = Contract(
            user_scope=lane_user,
            assistant_scope=assistant,
            required=OURS if run is None else _required(receipts),
            joined=run is not None,
            run_id=run,
        )
        health = judge(receipts, expected, now)
        yield Lane(user_scope=lane_user, assistant_scope=assistant, health=health)


def _required(run: Iterable[Receipt]) -> tuple[Boundary, ...]:
    return tuple(dict.fromkeys(due for receipt in run for due in WITH[receipt.boundary]))


def of_ledger(settings: Settings, *known: str | None) -> Iterator[Receipt]:
    """Every receipt of the agent; known names come out of their hashes."""
    with ledger_of(settings) as ledger:
        yield from ledger.receipts(known=[name for name in known if name is not None], strict=True)


def ledger_of(settings: Settings) -> Ledger:
    """The agent's ledger. Raises NotFound where there is no journal or no key."""
    from alveus.journal.seal import Key
    from alveus.store.creation import is_begun
    from alveus.store.files import DISK
    from alveus.store.keys import KeyRing, read_secret
    from alveus.store.ledger import Ledger

    layout = settings.layout()
    if not is_begun(DISK, layout):
        raise NotFound(
            f"there is no journal for agent {layout.agent_id!r} in {layout.home}",
            hint="`alveus init` begins one; check --home and --agent",
        )
    key = Key(read_secret(DISK, layout.key_file))
    return Ledger(layout.folder, DISK, key, keys=KeyRing(layout, DISK, key))


# The verdict for people, and for programs


def lane_rows(lane: Lane) -> Iterator[output.Row]:
    """A lane for people."""
    health = lane.health
    decided = health.decided
    first = decided[0].sentence if decided else ""
    yield "verdict", Text.assemble((health.state.upper(), STYLES[health.state]), f": {first}")
    yield "user", lane.user_scope or "any"
    yield "assistant", lane.assistant_scope or "any"
    yield "receipts", f"{health.receipts:,} of {output.plural(health.runs, 'run')}"
    for found in _alike(health.evidence):
        yield "evidence", _told(found)
    if health.flags:
        yield "flags", ", ".join(health.flags)
    if health.state in TO_DO:
        yield "to do", TO_DO[health.state]
    if health:
        yield "not shown", NOT_SHOWN


def _alike(evidence: Iterable[Evidence]) -> Iterable[list[Evidence]]:
    """Findings of one rule together, in the order of precedence."""
    found: dict[tuple[State, str], list[Evidence]] = {}
    for one in evidence:
        found.setdefault((one.state, one.rule), []).append(one)
    return found.values()


def _told(found: list[Evidence]) -> str:
    first = found[0]
    sentences = "; ".join(dict.fromkeys(one.sentence for one in found[:MOST_SHOWN]))
    named = [*dict.fromkeys(f"{one.run_id} {one.boundary} {one.status}" for each in found for one in each.receipts)]
    shown = "".join([f"\n{name}" for name in named[:MOST_SHOWN]])
    rest = f"\nand {len(named) - MOST_SHOWN:,} receipts more, which --json gives" if len(named) > MOST_SHOWN else ""
    return f"{first.state}, {first.rule}: {sentences}{shown}{rest}"


def lane_json(lane: Lane) -> dict[str, Any]:
    """A lane for programs."""
    health = lane.health
    return {
        "assistant_scope": lane.assistant_scope,
        "evidence": [_evidence_json(one) for one in health.evidence],
        "flags": list(health.flags),
        "not_shown": NOT_SHOWN,
        "receipts": health.receipts,
        "runs": health.runs,
        "state": health.state,
        "user_scope": lane.user_scope,
    }


def _evidence_json(one: Evidence) -> dict[str, Any]:
    told = [as_json(receipt) for receipt in one.receipts]
    return {"receipts": told, "rule": one.rule, "sentence": one.sentence, "state": one.state}


# Receipts


def asked_for(settings: Settings, user: str | None) -> Iterator[Receipt]:
    """The receipts of a user, or all."""
    asked = None if user is None else text(user)
    for receipt in of_ledger(settings, settings.layout().agent_id, asked):
        if asked in (None, receipt.user_scope):
            yield receipt


def list_receipts(found: Iterable[Receipt], settings: Settings) -> None:
    """Print receipts in the form that is asked for; in text a line each."""
    if settings.form is Form.JSON:
        output.document({"receipts": [*map(as_json, found)]}, settings)
    elif settings.form is Form.LINES:
        for receipt in found:
            output.raw(serialise(receipt) + b"\n")
    else:
        for receipt in found:
            output.show(output.printable("\t".join(_columns(receipt))))


def _columns(receipt: Receipt) -> tuple[str, ...]:
    return (
        receipt.at_utc,
        receipt.run_id,
        receipt.boundary,
        receipt.status,
        str(receipt.version),
        receipt.user_scope,
        receipt.assistant_scope,
    )


def plainly(value: Any) -> str:
    """A field for people."""
    return value if isinstance(value, str) else output.compact(value)


# Leaving the building: spec/audit.md, section 6


def source_of(agent: str) -> str:
    """The agent as the source of an event: a URI reference."""
    return f"/alveus/agents/{encode_name(agent)}"


def cloud_event(receipt: Receipt, source: str) -> dict[str, Any]:
    """The receipt as a CloudEvent 1.0 in JSON; the same receipt has the same id."""
    return {
        "data": as_json(receipt),
        "datacontenttype": "application/json",
        "id": sha256(serialise(receipt)).hexdigest()[:32],
        "source": source,
        "specversion": "1.0",
        "subject": receipt.run_id,
        "time": receipt.at_utc,
        "type": f"dev.alveus.receipt.{receipt.boundary}.{receipt.status}",
    }


@dataclass(frozen=True, slots=True)
class Sample:
    """One number with its name, kind and labels."""

    name: str
    kind: str
    help: str
    labels: dict[str, str]
    value: float


def measured(found: list[Receipt], lanes: list[Lane]) -> Iterator[Sample]:
    """Numbers of receipts and lanes. Labels are closed vocabularies, so their number is bounded."""
    counts = Counter((receipt.boundary, receipt.status) for receipt in found)
    for boundary in Boundary:
        for status in Status:
            labels = {"boundary": boundary.value, "status": status.value}
            yield Sample("alveus_receipts_total", "counter", "Receipts written.", labels, counts[boundary, status])
    newest = {receipt.boundary: receipt.at_utc for receipt in sorted(found, key=lambda one: one.at_utc)}
    for boundary in sorted(newest):
        seconds = datetime.fromisoformat(newest[boundary]).timestamp()
        name = "alveus_last_receipt_timestamp_seconds"
        yield Sample(name, "gauge", "When the newest receipt was made.", {"boundary": boundary.value}, seconds)
    states = Counter(lane.health.state for lane in lanes)
    for state in State:
        yield Sample("alveus_lanes", "gauge", "Lanes by state.", {"state": state.value}, states[state])
    yield Sample("alveus_healthy", "gauge", "Whether every lane is healthy.", {}, all_green(lanes))


def prometheus(samples: Iterable[Sample]) -> str:
    """The samples in the text exposition format, version 0.0.4."""
    told: list[str] = []
    before = ""
    for one in samples:
        if one.name != before:
            told += [f"# HELP {one.name} {one.help}", f"# TYPE {one.name} {one.kind}"]
            before = one.name
        labels = ",".join(f'{name}="{value}"' for name, value in one.labels.items())
        told.append(f"{one.name}{{{labels}}} {_number(one.value)}" if labels else f"{one.name} {_number(one.value)}")
    return "\n".join(told) + "\n"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
