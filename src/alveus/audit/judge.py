"""From receipts, a contract and the time to one state with its evidence: spec/audit.md, section 3.

Every rule reports what it finds; none hides another. The table `PRECEDENCE` then says which finding names the state, so
that a later success cannot hide an earlier conflict. Where no rule finds anything, nothing is green either: healthy is
a rule of its own, which names the receipts it stands on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from alveus.audit.receipt import Boundary, Receipt, Status, Version
from alveus.errors import InputError
from alveus.journal.seal import format_time


class State(StrEnum):
    """The eight states of a lane of memory."""

    SCOPE_CONFLICT = "scope_conflict"
    SOURCE_AT_RISK = "source_at_risk"
    UNCERTAIN = "uncertain"
    PROMOTION_MISSING = "promotion_missing"
    STALE_RETRIEVAL = "stale_retrieval"
    GENERATION_UNVERIFIED = "generation_unverified"
    WAITING = "waiting"
    HEALTHY = "healthy"


PRECEDENCE: Final = tuple(State)
"""The first state that has a finding is the state: spec/audit.md, section 3."""


class Flag(StrEnum):
    """What is said beside the state."""

    DEGRADED = "degraded"


ALL: Final = tuple(Boundary)
FRESH_FOR: Final = timedelta(hours=24)
SKEW: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What is expected. A scope or a version that is None is whatever the receipts agree on.

    `joined` says that one run id goes from storage to generation, so that each run must be whole; where each operation
    has a run id of its own, the lane is judged as one, and pages are joined by their identifiers. Naming `run_id`
    judges that run alone.
    """

    user_scope: str | None = None
    assistant_scope: str | None = None
    version: Version | None = None
    required: tuple[Boundary, ...] = ALL
    fresh_for: timedelta = FRESH_FOR
    skew: timedelta = SKEW
    source_version: str | None = None
    run_id: str | None = None
    joined: bool = True
    outcome: bool = False

    def allows(self, receipt: Receipt) -> bool:
        """Whether the receipt lies in the expected lane, both dimensions compared whole."""
        return self.user_scope in (None, receipt.user_scope) and self.assistant_scope in (None, receipt.assistant_scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One finding: the state it speaks for, the rule, one sentence, and the receipts it rests on."""

    state: State
    rule: str
    sentence: str
    receipts: tuple[Receipt, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The verdict. `evidence` is every finding, in the order of precedence; `decided` those that named the state."""

    state: State
    evidence: tuple[Evidence, ...]
    flags: tuple[Flag, ...] = ()
    receipts: int = 0
    runs: int = 0

    @property
    def decided(self) -> tuple[Evidence, ...]:
        return tuple(one for one in self.evidence if one.state is self.state)

    def __bool__(self) -> bool:
        """Whether it is green."""
        return self.state is State.HEALTHY


def judge(receipts: Iterable[Receipt], expected: Contract, now: datetime) -> Health:
    """The state of a lane of memory. Takes time in proportion to the receipts, in whatever order they come."""
    times, findings = _times(expected, now), _Findings()
    runs = _runs_of_lane(receipts, expected)
    _judge_scopes(runs, expected, findings)
    _judge_attempts(runs, expected, times, findings)
    if not runs:
        findings.add(State.UNCERTAIN, "no_receipts", ("there is no receipt for what was asked", ()))
    if not findings.count:
        findings.add(State.UNCERTAIN, "nothing_shown", ("no receipt shows what the contract requires", ()))
    evidence = findings.evidence()
    degraded = any(receipt.status is Status.DEGRADED for run in runs.values() for receipt in run)
    return Health(
        state=evidence[0].state,
        evidence=evidence,
        flags=(Flag.DEGRADED,) if degraded else (),
        receipts=sum(map(len, runs.values())),
        runs=len(runs),
    )


class _Findings:
    """What the rules found. What one rule finds again, in the same words, is one piece of evidence."""

    def __init__(self) -> None:
        self.count = 0
        self._found: dict[tuple[State, str, str], list[Receipt]] = {}

    def add(self, state: State, rule: str, found: _Found) -> None:
        """Note a finding, if it is one."""
        if found is not None:
            self.count += 1
            self._found.setdefault((state, rule, found[0]), []).extend(found[1])

    def evidence(self) -> tuple[Evidence, ...]:
        """Everything, in the order of precedence."""
        found = [
            Evidence(state=state, rule=rule, sentence=sentence, receipts=tuple(receipts))
            for (state, rule, sentence), receipts in self._found.items()
        ]
        return tuple(sorted(found, key=lambda one: _RANK[one.state]))


_RANK: Final = {state: rank for rank, state in enumerate(PRECEDENCE)}


# Which receipts are asked about


def _runs_of_lane(receipts: Iterable[Receipt], expected: Contract) -> dict[str, list[Receipt]]:
    """The runs that touch the lane, whole: a run's receipt of another lane is what a scope conflict looks like."""
    asked = expected.run_id
    runs: dict[str, list[Receipt]] = {}
    touched: dict[str, list[Receipt]] = {}
    for receipt in sorted(receipts, key=_in_order):
        run_id = receipt.run_id
        run = runs.get(run_id)
        if run is None:
            run = runs[run_id] = []
        run.append(receipt)
        if run_id not in touched and (asked == run_id or (asked is None and expected.allows(receipt))):
            touched[run_id] = run
    return touched


_ORDER: Final = {
    Status.STARTED: 0,
    Status.WAITING: 1,
    Status.COMMITTED: 2,
    Status.DEGRADED: 3,
    Status.VERIFIED: 4,
    Status.FAILED: 5,
}
"""Of two receipts of one instant, which counts as the later one."""


def _in_order(receipt: Receipt) -> tuple[str, int]:
    return receipt.at_utc, _ORDER[receipt.status]


class _Times(NamedTuple):
    """The moments that matter, in the journal's form, which sorts as time does."""

    now: str
    oldest: str
    latest: str
    skew: timedelta


def _times(expected: Contract, now: datetime) -> _Times:
    if now.tzinfo is None:
        raise InputError("the time to judge by has no zone", hint="datetime.now(UTC)")
    now = now.astimezone(UTC)
    return _Times(_text(now), _text(now - expected.fresh_for), _text(now + expected.skew), expected.skew)


def _text(moment: datetime) -> str:
    return format_time(moment.replace(tzinfo=None))


# Scope: judged over whole runs, before anything else


def _judge_scopes(runs: dict[str, list[Receipt]], expected: Contract, findings: _Findings) -> None:
    for run in runs.values():
        lane = run[0].scope
        strange = [receipt for receipt in run if receipt.scope != lane or not expected.allows(receipt)]
        if strange:
            sentence = f"an event of the run belongs to another {_dimension(run, expected)}"
            findings.add(State.SCOPE_CONFLICT, "two_scopes", (sentence, strange))


def _dimension(run: list[Receipt], expected: Contract) -> str:
    users = {receipt.user_scope for receipt in run} | {expected.user_scope or run[0].user_scope}
    assistants = {receipt.assistant_scope for receipt in run} | {expected.assistant_scope or run[0].assistant_scope}
    return " and ".join([name for name, seen in (("user", users), ("assistant", assistants)) if len(seen) > 1])


# What is judged as one attempt


@dataclass(slots=True)
class _Passage:
    """One version on its way over one boundary: what is known of its source, and of the move."""

    boundary: Boundary
    source: list[Receipt] = field(default_factory=list)
    move: list[Receipt] = field(default_factory=list)
    settled: bool = False

    @property
    def known(self) -> list[Receipt]:
        return sorted(self.source + self.move, key=_in_order)

    @property
    def done(self) -> bool:
        return self.settled or (_is_good(self.move) and _last(self.move, "destination_present") is not False)


class _Attempt:
    """Receipts that are judged together, in order of time: a run, or the whole lane.

    `open` are the versions not known to have arrived, `retrieved` the newest retrieval that came back, `generated` the
    newest word on an answer, `version` the one expected, `pins` the implementations that are named.
    """

    def __init__(self, receipts: list[Receipt], asked: _Asked, *, newest: bool) -> None:
        self.receipts = receipts
        self.expected, self.times, self.settled = asked
        self.newest = newest
        self.by: dict[Boundary, list[Receipt]] = {boundary: [] for boundary in ALL}
        self.pins: set[str | None] = set()
        for receipt in receipts:
            self.by[receipt.boundary].append(receipt)
            self.pins.add(receipt.source_version)
        self.open = [passage for passage in self._passages() if not passage.done]
        self.retrieved = _newest_good(self.by[Boundary.RETRIEVE])
        self.generated = self.by[Boundary.GENERATE][-1] if self.by[Boundary.GENERATE] else None
        self.version = self._expected_version()

    def requires(self, boundary: Boundary) -> bool:
        return boundary in self.expected.required

    def _expected_version(self) -> Version | None:
        """The contract's, or the newest that was stored or moved before the last retrieval."""
        if self.expected.version is not None and self.newest:
            return self.expected.version
        retrieved = self.by[Boundary.RETRIEVE]
        until = retrieved[-1].at_utc if retrieved else self.times.latest
        held = [receipt for name in _HOLDING for receipt in self.by[name] if receipt.status in HELD]
        before = [receipt for receipt in held if receipt.at_utc <= until] or held
        return _newest_version(before)

    def _passages(self) -> list[_Passage]:
        """Every version that left, or should leave, its tier."""
        found: dict[tuple[Boundary, str, Version], _Passage] = {}
        for receipt in self.by[Boundary.STORE]:
            if receipt.status is not Status.STARTED:
                _at(found, Boundary.STM_MTM, receipt).source.append(receipt)
        for boundary in _MOVES:
            for receipt in self.by[boundary]:
                _at(found, boundary, receipt).move.append(receipt)
        return [self._settle(passage) for passage in found.values() if self._counts(passage)]

    def _counts(self, passage: _Passage) -> bool:
        """A move that began counts, and a source that went; one that only waits, where the contract asks for it."""
        if passage.move or _last(passage.source, "source_present") is False:
            return True
        return self.requires(passage.boundary) and _is_stored(passage.source)

    def _settle(self, passage: _Passage) -> _Passage:
        arrived = self.settled[passage.boundary]
        if arrived:
            ids = {one for receipt in passage.source + passage.move for one in receipt.source_ids}
            passage.settled = bool(ids) and ids <= arrived
        return passage


GOOD: Final = frozenset({Status.COMMITTED, Status.VERIFIED, Status.DEGRADED})
"""What counts as committed; a degraded move is committed, and flagged."""
HELD: Final = GOOD | {Status.WAITING}
"""What counts as stored: what waits in STM is there."""
_MOVES: Final = (Boundary.STM_MTM, Boundary.MTM_LPM)
_HOLDING: Final = (Boundary.STORE, *_MOVES)
_Settled = dict[Boundary, set[str]]
"""The identifiers known to have arrived over a boundary."""


class _Asked(NamedTuple):
    expected: Contract
    times: _Times
    settled: _Settled


def _at(found: dict[tuple[Boundary, str, Version], _Passage], boundary: Boundary, receipt: Receipt) -> _Passage:
    place = (boundary, receipt.run_id, receipt.version)
    passage = found.get(place)
    if passage is None:
        passage = found[place] = _Passage(boundary)
    return passage


def _is_good(receipts: Sequence[Receipt]) -> bool:
    """Whether it was committed, and nothing failed after that."""
    return _newest_good(receipts) is not None and receipts[-1].status is not Status.FAILED


def _is_stored(receipts: Sequence[Receipt]) -> bool:
    """As `_is_good`, of a store, where to wait is to be there."""
    return _newest(receipts, HELD) is not None and receipts[-1].status is not Status.FAILED


def _newest_good(receipts: Sequence[Receipt]) -> Receipt | None:
    return _newest(receipts, GOOD)


def _newest(receipts: Sequence[Receipt], statuses: Collection[Status]) -> Receipt | None:
    for receipt in reversed(receipts):
        if receipt.status in statuses:
            return receipt
    return None


def _last(receipts: Sequence[Receipt], name: str) -> object:
    """The newest word on a fact, or None."""
    for receipt in reversed(receipts):
        value: object = getattr(receipt, name)
        if value is not None:
            return value
    return None


def _newest_version(receipts: Sequence[Receipt]) -> Version | None:
    """The highest of whole numbers; of identifiers, which the adapter orders, the last."""
    numbers = [receipt.version for receipt in receipts if isinstance(receipt.version, int)]
    if numbers and len(numbers) == len(receipts):
        return max(numbers)
    return max(receipts, key=_in_order).version if receipts else None


def _judge_attempts(runs: dict[str, list[Receipt]], expected: Contract, times: _Times, findings: _Findings) -> None:
    """What is found in each attempt. What another run moved under the same identifiers is settled."""
    asked = _Asked(expected, times, _settled(runs))
    groups = list(runs.values()) if expected.joined or not runs else [_together(runs)]
    newest = max((group[-1].at_utc for group in groups), default="")
    one_lane = findings.count == 0
    for group in groups:
        attempt = _Attempt(group, asked, newest=group[-1].at_utc == newest)
        before = findings.count
        _judge_passages(attempt, findings)
        for state, name, rule in RULES:
            findings.add(state, name, rule(attempt))
        if one_lane and findings.count == before:
            findings.add(State.HEALTHY, "all_agree", _agrees(attempt))


def _together(runs: dict[str, list[Receipt]]) -> list[Receipt]:
    return sorted((receipt for run in runs.values() for receipt in run), key=_in_order)


def _judge_passages(attempt: _Attempt, findings: _Findings) -> None:
    for passage in attempt.open:
        state, name, sentence = next(row[1:] for row in FATES if row[0](passage, attempt))
        findings.add(state, name, (sentence, passage.known))


def _settled(runs: dict[str, list[Receipt]]) -> _Settled:
    """What arrived, by the newest word on it, whichever run says it."""
    settled: _Settled = {boundary: set() for boundary in _MOVES}
    every = (one for run in runs.values() for one in run)
    moves = [one for one in every if one.boundary in settled and one.source_ids and one.status in GOOD]
    for receipt in sorted(moves, key=_in_order):
        ids = settled[receipt.boundary]
        (ids.difference_update if receipt.destination_present is False else ids.update)(receipt.source_ids)
    return settled


# The rules: each gives a sentence and the receipts it rests on, or None

_Found = tuple[str, Sequence[Receipt]] | None
_Rule = Callable[[_Attempt], _Found]


def _unpinned(attempt: _Attempt) -> _Found:
    if None not in attempt.pins:
        return None
    bare = [receipt for receipt in attempt.receipts if receipt.source_version is None]
    return "no implementation version is named, so that the evidence cannot be interpreted", bare


def _two_pins(attempt: _Attempt) -> _Found:
    """Within a run, or against the contract; a lane of many runs lives through upgrades."""
    pin = attempt.expected.source_version
    if (len(attempt.pins) == 1 and pin is None) or not (pin or attempt.expected.joined):
        return None
    named = [receipt for receipt in attempt.receipts if receipt.source_version is not None]
    other = [receipt for receipt in named if receipt.source_version != (pin or named[0].source_version)]
    return ("the implementation or its limits are not the ones that are pinned", other) if other else None


def _from_the_future(attempt: _Attempt) -> _Found:
    if attempt.receipts[-1].at_utc <= attempt.times.latest:
        return None
    late = [receipt for receipt in attempt.receipts if receipt.at_utc > attempt.times.latest]
    return "a receipt is dated after now, by more than clocks may differ", late


def _expired(attempt: _Attempt) -> _Found:
    """Evidence that is relied on, boundary by boundary; a finished run that a newer one followed may be old."""
    if not attempt.newest:
        return None
    last = [attempt.by[boundary][-1] for boundary in attempt.expected.required if attempt.by[boundary]]
    old = [receipt for receipt in last if receipt.at_utc < attempt.times.oldest]
    if old:
        return "the evidence is older than the freshness limit", old
    return None


def _not_stored(attempt: _Attempt) -> _Found:
    stores = attempt.by[Boundary.STORE]
    if not attempt.requires(Boundary.STORE):
        return None
    if not _is_stored(stores):
        return "no receipt shows that anything was stored", stores
    if attempt.expected.joined and attempt.version not in {one.version for one in stores if one.status in HELD}:
        return "what was stored is not the version expected", stores
    return None


def _never_moved(attempt: _Attempt) -> _Found:
    """A tier that the contract requires and nothing ever set out for, though everything before it arrived."""
    if attempt.open:
        return None
    if attempt.requires(Boundary.STM_MTM) and not (attempt.by[Boundary.STM_MTM] or attempt.by[Boundary.STORE]):
        return "no receipt shows a move from STM to MTM", []
    if attempt.requires(Boundary.MTM_LPM) and not attempt.by[Boundary.MTM_LPM]:
        return "no receipt shows a move from MTM to LPM", attempt.by[Boundary.STM_MTM]
    return None


def _not_retrieved(attempt: _Attempt) -> _Found:
    if attempt.requires(Boundary.RETRIEVE) and attempt.retrieved is None and not attempt.open:
        return "no receipt shows that the memory was retrieved", attempt.by[Boundary.RETRIEVE]
    return None


def _stale(attempt: _Attempt) -> _Found:
    retrieved = attempt.retrieved
    if retrieved is not None and attempt.version not in (None, retrieved.version) and not _is_ahead(attempt):
        return f"retrieval returned version {retrieved.version} where {attempt.version} is expected", [retrieved]
    return None


def _ahead(attempt: _Attempt) -> _Found:
    if _is_ahead(attempt) and attempt.retrieved is not None:
        return "retrieval returned a version that nothing is known to have stored", [attempt.retrieved]
    return None


def _no_dependency(attempt: _Attempt) -> _Found:
    answer = attempt.generated
    if answer is None or answer.status not in GOOD:
        return None
    if answer.depends_on_version is None:
        return "an answer names no version that it depends on", [answer]
    if answer.depends_on_version != _version_before(attempt, answer):
        return "an answer depends on another version than the one retrieved", [answer]
    if _precedes(answer, attempt):
        return "an answer is older than the retrieval it is to depend on", [answer]
    return None


def _no_answer(attempt: _Attempt) -> _Found:
    """What was retrieved last must have been answered; where nothing was, an answer is due once everything arrived."""
    answer, retrieved = attempt.generated, attempt.retrieved
    if answer is not None and answer.status not in GOOD:
        return f"the generation is {answer.status}, not committed", [answer]
    if not attempt.requires(Boundary.GENERATE):
        return None
    if retrieved is None and answer is None and not attempt.open:
        return "no receipt shows what was made of the memory", []
    if retrieved is not None and retrieved.run_id not in {one.run_id for one in attempt.by[Boundary.GENERATE]}:
        return "no receipt shows what was made of what was retrieved", [retrieved]
    return None


def _outcome_missed(attempt: _Attempt) -> _Found:
    answer = attempt.generated
    if answer is None:
        return None
    if answer.outcome_receipt is not None and not answer.outcome_receipt.passed:
        return "the check of the outcome did not find what it looked for", [answer]
    if answer.outcome_receipt is None and attempt.expected.outcome:
        return "no check of the outcome is named", [answer]
    return None


RULES: Final[tuple[tuple[State, str, _Rule], ...]] = (
    (State.UNCERTAIN, "no_source_version", _unpinned),
    (State.UNCERTAIN, "other_source_version", _two_pins),
    (State.UNCERTAIN, "from_the_future", _from_the_future),
    (State.UNCERTAIN, "expired", _expired),
    (State.UNCERTAIN, "not_stored", _not_stored),
    (State.UNCERTAIN, "not_retrieved", _not_retrieved),
    (State.UNCERTAIN, "unknown_version", _ahead),
    (State.PROMOTION_MISSING, "never_moved", _never_moved),
    (State.STALE_RETRIEVAL, "old_version", _stale),
    (State.GENERATION_UNVERIFIED, "no_dependency", _no_dependency),
    (State.GENERATION_UNVERIFIED, "no_answer", _no_answer),
    (State.GENERATION_UNVERIFIED, "outcome_missed", _outcome_missed),
)
"""What can speak against an attempt, beside its versions on the way, by the state that each rule speaks for."""


def _agrees(attempt: _Attempt) -> _Found:
    """Everything that the contract requires is there; asked only where nothing speaks against the attempt."""
    counts = {boundary: HELD if boundary is Boundary.STORE else GOOD for boundary in attempt.expected.required}
    last = [_newest(attempt.by[boundary], statuses) for boundary, statuses in counts.items()]
    shown = [receipt for receipt in last if receipt is not None]
    if not shown or len(shown) < len(last):
        return None
    return "scope, version, freshness, moves, retrieval and generation agree", shown


# What the rules ask


def _is_gone(passage: _Passage, _: _Attempt) -> bool:
    return _last(passage.known, "source_present") is False


def _was_committed(passage: _Passage, _: _Attempt) -> bool:
    return any(receipt.status in GOOD for receipt in passage.move)


def _is_unknown(passage: _Passage, _: _Attempt) -> bool:
    """No receipt says that the source is on disk. What leaves MTM was committed there, which says it."""
    known = passage.known
    durable, present = _last(known, "source_durable"), _last(known, "source_present")
    kept = durable is True or (durable is None and present is True and _wait_of(passage) is None)
    return passage.boundary is Boundary.STM_MTM and not kept


def _may_wait(passage: _Passage, attempt: _Attempt) -> bool:
    """The declared time is not over, the capacity is not exceeded, and nothing was tried in vain."""
    declared = _wait_of(passage)
    if declared is None or (passage.move and passage.move[-1].status is Status.FAILED):
        return False
    over = declared.capacity is not None and (declared.occupancy or 0) > declared.capacity
    return not over and (declared.declared_wait_until or attempt.times.now) >= attempt.times.now


def _otherwise(_: _Passage, __: _Attempt) -> bool:
    return True


FATES: Final[tuple[tuple[Callable[[_Passage, _Attempt], bool], State, str, str], ...]] = (
    (_is_gone, State.SOURCE_AT_RISK, "source_gone", "the source is gone and its destination is not committed"),
    (
        _was_committed,
        State.UNCERTAIN,
        "contradictory",
        "the move was committed, and then failed or its destination was not there",
    ),
    (_is_unknown, State.UNCERTAIN, "source_unknown", "no receipt says whether the source is still there, and on disk"),
    (_may_wait, State.WAITING, "wait_is_open", "the source is on disk and the declared wait is open"),
    (
        _otherwise,
        State.PROMOTION_MISSING,
        "wait_is_over",
        "the source is kept, and the move that was due is not committed",
    ),
)
"""What has become of a version that is not known to have arrived: the first row that holds."""


def _wait_of(passage: _Passage) -> Receipt | None:
    """The newest receipt that declares a wait: by a time, or by a capacity that is not used up."""
    declares = (one for one in reversed(passage.known) if one.declared_wait_until or one.capacity is not None)
    return next(declares, None)


def _is_ahead(attempt: _Attempt) -> bool:
    """A whole number above the one expected is not stale, but nobody can say what it is."""
    retrieved, version = attempt.retrieved, attempt.version
    return (
        retrieved is not None
        and isinstance(version, int)
        and isinstance(retrieved.version, int)
        and retrieved.version > version
    )


def _version_before(attempt: _Attempt, answer: Receipt) -> Version | None:
    """The version that the answer's own run retrieved; where it retrieved none, the one expected."""
    own = [one for one in attempt.by[Boundary.RETRIEVE] if one.run_id == answer.run_id and one.status in GOOD]
    return own[-1].version if own else attempt.version


def _precedes(answer: Receipt, attempt: _Attempt) -> bool:
    own = [one for one in attempt.by[Boundary.RETRIEVE] if one.run_id == answer.run_id and one.status in GOOD]
    if not own:
        return False
    first = datetime.fromisoformat(own[0].at_utc)
    return datetime.fromisoformat(answer.at_utc) + attempt.times.skew < first
