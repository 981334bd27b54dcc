"""The gate: seven steps that a memory system has to pass before it is trusted. spec/audit.md, section 4.

A fresh canary goes through the real store, promotion, retrieval and answer, in a process that is really ended and begun
anew. What a target cannot show does not hold: the gate is green only when every step does.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from rich.text import Text

from alveus.audit.judge import FRESH_FOR, Contract, Health, State, judge
from alveus.audit.receipt import Boundary, Outcome, OutcomeReceipt, Receipt, Status, is_identifier
from alveus.doors import output
from alveus.doors.adapters.base import AdapterError, Glimpse, Seen
from alveus.doors.adapters.worker import Worker
from alveus.doors.health import NOT_SHOWN
from alveus.journal.seal import format_time


class Verdict(StrEnum):
    """What a step ended in. Only the first is green."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_SHOWN = "not_shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: what was found in one sentence, and the evidence, canaries named by their numbers."""

    number: int
    name: str
    verdict: Verdict
    found: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """What the gate found. `holds` only where every step does."""

    target: str
    source_version: str | None
    canary: str
    holds: bool
    steps: tuple[Step, ...]


Lane = tuple[str, str]
_Found = tuple[Verdict, str, Sequence[str]]
_MOST_STORED: Final = 40
"""Pages that are stored at most in one step, in the hope that one moves."""


@dataclass(slots=True)
class Canary:
    """A text that is nobody's: where it was stored, and in which place of the order."""

    number: int
    lane: Lane
    text: str
    version: int
    moved: bool = False

    def __str__(self) -> str:
        return f"page {self.number}"


@dataclass(slots=True)
class Gate:
    """One passage of one target through the gate."""

    worker: Worker
    scratch: Path
    clock: Callable[[], datetime]
    canary: str = field(default_factory=lambda: secrets.token_hex(8))
    source_version: str | None = None
    capacity: int = 0
    stored: list[Canary] = field(default_factory=list)
    run: list[Receipt] = field(default_factory=list)

    @property
    def lanes(self) -> list[Lane]:
        """Two users, each with two assistants."""
        names = [f"canary-{self.canary}-{letter}" for letter in "ab"]
        return [(user, assistant) for user in names for assistant in names]

    # What the steps do

    def store(self, lane: Lane, version: int = 1, of: str = "") -> Canary:
        """Store a text that nothing else has, and have promoted what is due."""
        number = len(self.stored) + 1
        named = of or f"{self.canary}-{secrets.token_hex(6)}"
        canary = Canary(number, lane, f"canary {named} version {version}", version)
        self.worker.ask("store", *lane, canary.text)
        self.stored.append(canary)
        self.worker.ask("promote", *lane)
        return canary

    def see(self, canary: Canary) -> Seen:
        """Where a canary is now."""
        seen: Seen = self.worker.ask("observe", *canary.lane, canary.text)
        canary.moved = bool(seen["destination_present"])
        return seen

    def retrieve(self, lane: Lane, query: str) -> list[str]:
        """The texts that come back for a question."""
        answer = self.worker.ask("retrieve", *lane, query)
        return list(answer["texts"])

    def returned(self, canary: Canary, lane: Lane) -> bool:
        """Whether a question for a canary, asked in a lane, brings it back."""
        return any(canary.text in one for one in self.retrieve(lane, canary.text))

    def fill(self, lane: Lane, more: int = 1) -> list[Canary]:
        """Store until STM has been full and `more` pages over it."""
        return [self.store(lane) for _ in range(self.capacity + more)]

    def receipt(self, canary: Canary, boundary: Boundary, status: Status, **facts: Any) -> Receipt:
        """A receipt of what was seen, joined by the canary's hash."""
        user, assistant = canary.lane
        return Receipt(
            run_id=f"gate-{self.canary}-{canary.number}",
            user_scope=user,
            assistant_scope=assistant,
            boundary=boundary,
            version=canary.version,
            status=status,
            at_utc=format_time(self.clock().replace(tzinfo=None)),
            source_version=self.source_version,
            source_ids=(sha256(canary.text.encode()).hexdigest()[:32],),
            **facts,
        )

    def judged(self, canary: Canary, seen: Seen) -> Health:
        """What the judge makes of a page that was stored, and is seen so now."""
        moved = seen["destination_present"]
        receipts = [
            self.receipt(canary, Boundary.STORE, Status.COMMITTED, source_durable=True, source_present=True),
            self.receipt(
                canary,
                Boundary.STM_MTM,
                Status.COMMITTED if moved else Status.STARTED,
                source_present=seen["source_present"],
                destination_present=moved,
                declared_wait_until=None if moved else format_time((self.clock() + FRESH_FOR).replace(tzinfo=None)),
            ),
        ]
        expected = Contract(
            user_scope=canary.lane[0],
            assistant_scope=canary.lane[1],
            version=canary.version,
            required=(Boundary.STORE, Boundary.STM_MTM),
        )
        return judge(receipts, expected, self.clock())


# The seven steps


def _pin(gate: Gate) -> _Found:
    pin = gate.worker.ask("pin")
    gate.source_version = pin["source_version"] if is_identifier(pin["source_version"]) else None
    if gate.source_version is None or pin["capacity"] is None:
        return Verdict.FAILS, "the implementation or its limits are not known, so that nothing can be concluded", ()
    gate.capacity = pin["capacity"]
    return Verdict.HOLDS, f"pinned as {gate.source_version}; STM holds {gate.capacity}", ()


def _scopes(gate: Gate) -> _Found:
    moved = [[one for one in gate.stored if one.moved and one.lane == lane][-1:] for lane in gate.lanes]
    canaries = [*(gate.store(lane) for lane in gate.lanes), *(one for of_lane in moved for one in of_lane)]
    requests, wrong = f"{len(canaries) * len(gate.lanes)} requests", []
    for canary in canaries:
        for number, lane in enumerate(gate.lanes):
            back = gate.returned(canary, lane)
            if lane != canary.lane and back:
                wrong.append(
                    f"{canary} of lane {gate.lanes.index(canary.lane) + 1} came back in {_apart(canary, lane)}"
                )
            if lane == canary.lane and not back:
                wrong.append(f"{canary} did not come back in its own lane {number + 1}")
    if wrong:
        return Verdict.FAILS, f"{len(wrong)} of {requests} were answered from the wrong lane, or not at all", wrong
    gone = len(canaries) - len(gate.lanes)
    found = f"{requests} across 4 lanes, for {gone} pages that had moved and {len(gate.lanes)} new ones"
    return Verdict.HOLDS, f"{found}: each came back in its own lane and in no other", ()


def _apart(canary: Canary, lane: Lane) -> str:
    """In which dimension a lane is the wrong one."""
    names = zip(("user", "assistant"), canary.lane, lane, strict=True)
    return " and ".join([f"another {name}'s" for name, mine, other in names if mine != other]) + " lane"


def _capacity(gate: Gate) -> _Found:
    lane = gate.lanes[0]
    gate.worker.ask("glimpses")
    filled = gate.fill(lane, more=2)
    glimpsed = gate.worker.ask("glimpses") or []
    evidence = [one for canary in filled for one in _risks(gate, canary, glimpsed)]
    if evidence:
        return Verdict.FAILS, "a page left its source before its destination was committed", evidence
    moved = sum(canary.moved for canary in filled)
    if not moved:
        return Verdict.NOT_SHOWN, f"{len(filled)} pages were stored and none moved", ()
    return Verdict.HOLDS, f"{len(filled)} pages stored, {moved} moved, each removal with its destination", ()


def _risks(gate: Gate, canary: Canary, glimpsed: Iterable[Glimpse]) -> Iterator[str]:
    """When a page was neither in its source nor in its destination: in the midst of a move, and now."""
    moments = [(one["moment"], one["seen"]) for one in glimpsed if one["text"] == canary.text]
    lost = {moment: seen for moment, seen in [*moments, ("now", gate.see(canary))] if _is_lost(seen)}
    for moment, seen in lost.items():
        yield f"{canary} {moment}: {gate.judged(canary, seen).state}, neither in STM nor in MTM"


def _is_lost(seen: Seen) -> bool:
    return seen["source_present"] is not True and seen["destination_present"] is not True


def _fallback(gate: Gate) -> _Found:
    if not gate.worker.ask("break_model"):
        return Verdict.NOT_SHOWN, "the fallback cannot be asked for", ()
    filled = gate.fill(gate.lanes[1], more=2)
    seen = {canary.number: gate.see(canary) for canary in filled}
    moved = [canary for canary in filled if canary.moved]
    wrong = [f"{canary}: gone" for canary in filled if _is_lost(seen[canary.number])]
    wrong += [f"{canary}: not marked degraded" for canary in moved if not seen[canary.number].get("degraded")]
    wrong += [f"{canary}: not retrieved" for canary in moved if not gate.returned(canary, canary.lane)]
    if wrong:
        return Verdict.FAILS, "with the model broken, a page was lost, passed for normal or was not retrieved", wrong
    if not moved:
        return Verdict.NOT_SHOWN, "with the model broken nothing moved", ()
    return Verdict.HOLDS, f"{len(moved)} pages moved by the fallback, marked degraded, retrieved apart", ()


def _restart(gate: Gate) -> _Found:
    lane = gate.lanes[2]
    before = gate.fill(lane)
    seen = [gate.see(canary) for canary in before]
    first = gate.worker.pid
    gate.worker.restart()
    after = [gate.store(lane)]
    while not _next_moved(gate, before, after) and len(after) < _MOST_STORED:
        after.append(gate.store(lane))
    evidence = [f"{canary}: gone after the restart" for canary in before if _is_lost(gate.see(canary))]
    evidence += [f"{canary}: not retrieved" for canary in before if not gate.returned(canary, lane)]
    if gate.worker.pid == first:
        return Verdict.FAILS, "the process is the same one", ()
    if evidence:
        return Verdict.FAILS, "what was stored before the restart is not all there after it", evidence
    return _continuity(
        gate, [canary for canary, one in zip(before, seen, strict=True) if one["destination_present"]], before + after
    )


def _next_moved(gate: Gate, before: list[Canary], after: list[Canary]) -> bool:
    """Whether the page after the last one that had moved has moved too."""
    pages = before + after
    last = max((at for at, canary in enumerate(before) if canary.moved), default=-1)
    return last + 1 < len(pages) and bool(
        gate.worker.ask("observe", *pages[0].lane, pages[last + 1].text)["destination_present"]
    )


def _continuity(gate: Gate, moved: list[Canary], pages: list[Canary]) -> _Found:
    if not moved:
        return Verdict.NOT_SHOWN, "nothing had moved before the restart", ()
    earlier = moved[-1]
    later = pages[pages.index(earlier) + 1]
    follows = gate.worker.ask("follows", *earlier.lane, earlier.text, later.text)
    if follows is None:
        return Verdict.NOT_SHOWN, "nothing shows which page came before which", ()
    if not follows:
        sentence = "the first page moved after the restart does not name the last one moved before it"
        return Verdict.FAILS, sentence, [f"{later} does not follow {earlier}: the hint was kept in memory only"]
    return Verdict.HOLDS, f"another process; every page is there, and {later} follows {earlier}", ()


def _outcome(gate: Gate) -> _Found:
    lane = gate.lanes[3]
    named = f"{gate.canary}-{secrets.token_hex(6)}"
    old, new = (gate.store(lane, version, named) for version in (1, 2))
    gate.fill(lane, more=2)
    seen = gate.see(new)
    answer = gate.worker.ask("retrieve", *lane, new.text)
    version = max(
        (canary.version for canary in (old, new) if any(canary.text in one for one in answer["texts"])), default=None
    )
    done = gate.scratch / f"outcome-{gate.canary}"
    done.write_text(f"canary {named} version {version}", "utf-8")
    found = sha256(done.read_bytes()).hexdigest()
    right = found == sha256(new.text.encode()).hexdigest()
    settled = None
    if answer.get("run_id"):
        settled = gate.worker.ask("settle", *lane, answer["run_id"], found)
    gate.run = list(_whole_run(gate, new, seen, version, found if right else None))
    if not right:
        return Verdict.FAILS, f"the outcome was made of version {version}, not of version {new.version}", ()
    if settled is False:
        return Verdict.FAILS, "the target did not take the check of the outcome", ()
    return (
        Verdict.HOLDS,
        f"the agent's file is made of version {new.version}, by its hash",
        (f"file_hash {found[:16]}…",),
    )


def _whole_run(gate: Gate, canary: Canary, seen: Seen, version: int | None, file_hash: str | None) -> Iterator[Receipt]:
    yield gate.receipt(canary, Boundary.STORE, Status.COMMITTED, source_durable=True, source_present=True)
    moved = seen["destination_present"]
    facts = {"source_present": seen["source_present"], "destination_present": moved}
    yield gate.receipt(canary, Boundary.STM_MTM, Status.COMMITTED if moved else Status.STARTED, **facts)
    yield gate.receipt(canary, Boundary.RETRIEVE, Status.COMMITTED if version == canary.version else Status.FAILED)
    outcome = None if file_hash is None else OutcomeReceipt(type=Outcome.FILE_HASH, value=file_hash)
    status = Status.VERIFIED if outcome else Status.FAILED
    yield gate.receipt(canary, Boundary.GENERATE, status, depends_on_version=version, outcome_receipt=outcome)


def _expiry(gate: Gate) -> _Found:
    if not gate.run:
        return Verdict.NOT_SHOWN, "no run went through, so that nothing could expire", ()
    expected = Contract(version=2, required=tuple(one for one in Boundary if one is not Boundary.MTM_LPM), outcome=True)
    today = judge(gate.run, expected, gate.clock())
    tomorrow = judge(gate.run, expected, gate.clock() + FRESH_FOR + timedelta(minutes=1))
    evidence = [f"now: {today.state}", f"a day later: {tomorrow.state}"]
    if not today:
        return Verdict.FAILS, "the run is not healthy even now", [*evidence, *(one.sentence for one in today.decided)]
    if tomorrow.state is not State.UNCERTAIN:
        return Verdict.FAILS, "receipts of yesterday still pass for today's", evidence
    return Verdict.HOLDS, "the run is healthy now, and uncertain a day later", evidence


STEPS: Final[tuple[tuple[int, str, Callable[[Gate], _Found]], ...]] = (
    (1, "pin the implementation", _pin),
    (3, "commit before removing", _capacity),
    (4, "mark the fallback", _fallback),
    (5, "survive a restart", _restart),
    (7, "check the outcome", _outcome),
    (2, "keep the scopes apart", _scopes),
    (6, "let receipts expire", _expiry),
)
"""In the order they are taken: step 2 crosses what the others moved, and what expires in step 6 is what step 7 left."""


def pass_through(target: str, clock: Callable[[], datetime]) -> Passed:
    """Take every step; one that the target cannot take fails and stops no other."""
    with TemporaryDirectory(prefix="alveus-gate-") as scratch:
        gate = Gate(Worker(target, Path(scratch)), Path(scratch), clock)
        try:
            steps = sorted((_take(gate, *step) for step in STEPS), key=lambda step: step.number)
        finally:
            gate.worker.kill()
    return Passed(
        target=target,
        source_version=gate.source_version,
        canary=gate.canary,
        holds=all(step.verdict is Verdict.HOLDS for step in steps),
        steps=tuple(steps),
    )


def _take(gate: Gate, number: int, name: str, step: Callable[[Gate], _Found]) -> Step:
    try:
        verdict, found, evidence = step(gate)
    except AdapterError as error:
        verdict, found, evidence = Verdict.FAILS, "the target failed", [error.message]
    return Step(number=number, name=name, verdict=verdict, found=found, evidence=tuple(evidence))


# For people

STYLES: Final = {Verdict.HOLDS: "green", Verdict.FAILS: "bold red", Verdict.NOT_SHOWN: "yellow"}
MOST_EVIDENCE: Final = 6


def rows(passed: Passed) -> Iterable[output.Row]:
    """What the gate found, for people."""
    word, style = ("OPEN", "bold green") if passed.holds else ("CLOSED", "bold red")
    count = sum(step.verdict is Verdict.HOLDS for step in passed.steps)
    yield "gate", Text.assemble((word, style), f": {count} of {len(passed.steps)} steps hold")
    yield "target", passed.target
    yield "canary", passed.canary
    for step in passed.steps:
        verdict = (f"{step.verdict.replace('_', ' '):<10}", STYLES[step.verdict])
        yield f"{step.number} {step.name}", Text.assemble(verdict, output.printable(step.found))
        for one in step.evidence[:MOST_EVIDENCE]:
            yield "", Text(f"          {output.printable(one)}", "dim")
        if len(step.evidence) > MOST_EVIDENCE:
            yield "", Text(f"          and {len(step.evidence) - MOST_EVIDENCE} more", "dim")
    if passed.holds:
        yield "not shown", NOT_SHOWN
