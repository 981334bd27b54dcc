"""The vectors of spec/audit.md, section 3: receipts, a contract and a time, and the state that follows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

from alveus.audit.judge import PRECEDENCE, State
from alveus.audit.receipt import from_json
from making.shared import time_at

Vector = dict[str, Any]
Wire = dict[str, Any]
Lines = list[Wire]

USER: Final = "anna"
ASSISTANT: Final = "river"
VERSION: Final = 22
MINUTE: Final = 60
HOUR: Final = 3600
NOW: Final = 10 * MINUTE
LANE: Final = {"userScope": USER, "assistantScope": ASSISTANT}
CONTRACT: Final[Wire] = {**LANE, "version": VERSION}


def line(boundary: str, at: float, status: str = "committed", **facts: Any) -> Wire:
    """One receipt as it lies in the ledger; a fact that is None is left out."""
    whole = {
        **LANE,
        "atUtc": time_at(at),
        "boundary": boundary,
        "runId": "run-1",
        "sourceVersion": "example/1.0+a1b2c3d4",
        "status": status,
        "version": VERSION,
        **facts,
    }
    told = {name: value for name, value in sorted(whole.items()) if value is not None}
    from_json(told)
    return told


def whole_run(**facts: Any) -> Lines:
    """A run in which everything agrees."""
    return [
        line("store", 0, sourceDurable=True, sourcePresent=True, **facts),
        line("stm_mtm", 10, sourcePresent=False, destinationPresent=True, **facts),
        line("mtm_lpm", 20, destinationPresent=True, **facts),
        line("retrieve", 30, **facts),
        line("generate", 40, dependsOnVersion=facts.get("version", VERSION), **facts),
    ]


def waits(**facts: Any) -> Lines:
    """A page in STM, durable, its wait open."""
    declared = {"declaredWaitUntil": time_at(HOUR), "capacity": 7, "occupancy": 3}
    return [line("store", 0, "waiting", **{"sourceDurable": True, "sourcePresent": True, **declared, **facts})]


def changed(lines: Lines, boundary: str, **facts: Any) -> Lines:
    """The same lines, the facts of one boundary changed; None takes a fact away."""
    return [
        {name: value for name, value in {**one, **facts}.items() if value is not None}
        if one["boundary"] == boundary
        else one
        for one in lines
    ]


def without(lines: Lines, *boundaries: str) -> Lines:
    """The same lines but for some boundaries."""
    return [one for one in lines if one["boundary"] not in boundaries]


def case(  # noqa: PLR0917  (a vector is a row)
    name: str, shows: str, lines: Sequence[Wire], state: str, rules: Sequence[str], now: float = NOW, **contract: Any
) -> Vector:
    """One vector. `rules` are those that name the state; `contract` changes the usual one, None takes away."""
    expected = {key: value for key, value in {**CONTRACT, **contract}.items() if value is not None}
    degraded = any(one["status"] == "degraded" for one in lines)
    return {
        "name": name,
        "shows": shows,
        "receipts": list(lines),
        "contract": expected,
        "now": time_at(now),
        "expect": {"state": state, "rules": sorted(set(rules)), "flags": ["degraded"] if degraded else []},
    }


# The source's eight


def the_eight() -> list[Vector]:
    """The cases of the source, in its order."""
    gone = [line("store", 0, sourceDurable=True), line("stm_mtm", 10, "started", sourcePresent=False)]
    kept = [line("store", 0, sourceDurable=True, sourcePresent=True)]
    return [
        case("whole lineage", "Everything agrees.", whole_run(), "healthy", ["all_agree"]),
        case("below capacity", "STM is durable and the declared wait is open.", waits(), "waiting", ["wait_is_open"]),
        case("stm gone, mtm not committed", "The source went before its destination was shown.", gone,
             "source_at_risk", ["source_gone"]),
        case("stm kept, no promotion", "The expected move never happened.", kept, "promotion_missing",
             ["wait_is_over"]),
        case("user changes on the way", "One event belongs to another scope.",
             changed(whole_run(), "stm_mtm", userScope="boris"), "scope_conflict", ["two_scopes"]),
        case("v21 where v22 is expected", "There is a memory, and it is stale.",
             changed(whole_run(), "retrieve", version=21), "stale_retrieval", ["old_version"]),
        case("an answer without dependency", "An answer came, and nothing says from what.",
             changed(whole_run(), "generate", dependsOnVersion=None), "generation_unverified", ["no_dependency"]),
        case("no implementation version", "The evidence cannot be interpreted safely.",
             [{k: v for k, v in one.items() if k != "sourceVersion"} for one in whole_run()], "uncertain",
             ["no_source_version"]),
    ]  # fmt: skip


# One thing at a time


def boundaries() -> list[Vector]:
    """Each boundary missing, failed, only begun."""
    found = []
    for boundary, (state, rule) in {
        "store": ("uncertain", "not_stored"),
        "stm_mtm": ("promotion_missing", "wait_is_over"),
        "mtm_lpm": ("promotion_missing", "never_moved"),
        "retrieve": ("uncertain", "not_retrieved"),
        "generate": ("generation_unverified", "no_answer"),
    }.items():
        shows = f"Nothing is known of {boundary}."
        found.append(case(f"{boundary} missing", shows, without(whole_run(), boundary), state, [rule]))
    for boundary, (state, rule) in {
        "store": ("uncertain", "not_stored"),
        "stm_mtm": ("source_at_risk", "source_gone"),
        "mtm_lpm": ("promotion_missing", "wait_is_over"),
        "retrieve": ("uncertain", "not_retrieved"),
        "generate": ("generation_unverified", "no_answer"),
    }.items():
        for status in ("failed", "started"):
            lines = changed(whole_run(), boundary, status=status, destinationPresent=None)
            shows = f"{boundary} is {status}, which is not committed."
            found.append(case(f"{boundary} {status}", shows, lines, state, [rule]))
    return found


def moves() -> list[Vector]:
    """What may be known of a move."""
    run, store = whole_run(), line("store", 0, sourceDurable=True, sourcePresent=True)
    failed = line("stm_mtm", 5, "failed", sourcePresent=True)
    late = line("stm_mtm", 50, "failed", sourcePresent=True)
    over = {"declaredWaitUntil": time_at(5 * MINUTE)}
    return [
        case("failed, then committed", "A move that was tried again and arrived has arrived.",
             [run[0], failed, *run[1:]], "healthy", ["all_agree"]),
        case("committed, then failed", "Two receipts contradict each other.", [*run, late], "uncertain",
             ["contradictory"]),
        case("failed, source kept", "Failed is not committed, and the source is there.", [store, failed],
             "promotion_missing", ["wait_is_over"]),
        case("failed, wait still open", "A move that was tried in vain does not wait.",
             [*waits(), failed], "promotion_missing", ["wait_is_over"]),
        case("committed, destination not there", "The commit is contradicted while the source is kept.",
             changed(changed(run, "stm_mtm", destinationPresent=False), "stm_mtm", sourcePresent=True),
             "uncertain", ["contradictory"]),
        case("committed, both gone", "A destination that was looked for and not found, and no source.",
             changed(run, "stm_mtm", destinationPresent=False), "source_at_risk", ["source_gone"]),
        case("source gone before any move", "The page left STM and nothing was ever begun.",
             [line("store", 0, sourceDurable=True), line("store", 5, sourcePresent=False)], "source_at_risk",
             ["source_gone"]),
        case("source unknown", "Nothing says whether the source is still there.", [line("store", 0)], "uncertain",
             ["source_unknown"]),
        case("source not durable", "A page that is in memory only does not wait safely.",
             waits(sourceDurable=False), "uncertain", ["source_unknown"]),
        case("waited, then moved", "What waited and then arrived has arrived.", [*waits(), *run[1:]], "healthy",
             ["all_agree"]),
        case("degraded", "A move by the fallback is committed, and flagged.",
             changed(run, "stm_mtm", status="degraded"), "healthy", ["all_agree"]),
        case("degraded and stale", "The flag does not change the state.",
             changed(changed(run, "stm_mtm", status="degraded"), "retrieve", version=21), "stale_retrieval",
             ["old_version"]),
        case("verified", "Read back is as good as committed.", changed(run, "stm_mtm", status="verified"), "healthy",
             ["all_agree"]),
        case("wait over", "The declared wait ended, and nothing moved.", waits(**over), "promotion_missing",
             ["wait_is_over"]),
        case("wait ends now", "The last moment of the wait is still of it.", waits(declaredWaitUntil=time_at(NOW)),
             "waiting", ["wait_is_open"]),
        case("capacity alone", "A wait may be declared by capacity, without a time.",
             waits(declaredWaitUntil=None), "waiting", ["wait_is_open"]),
        case("capacity just reached", "STM is full, and the next page moves the oldest.", waits(occupancy=7), "waiting",
             ["wait_is_open"]),
        case("capacity exceeded", "STM holds more than it can, and nothing moved.", waits(occupancy=8),
             "promotion_missing", ["wait_is_over"]),
        case("moved by another run", "The same pages, by their identifiers, arrived in another run.",
             [line("store", 0, sourceDurable=True, sourceIds=["a" * 32], runId="run-2"),
              *changed(whole_run(), "stm_mtm", sourceIds=["a" * 32])], "healthy", ["all_agree"], joined=False),
        case("other pages moved by another run", "Another page's arrival settles nothing.",
             [line("store", 0, sourceDurable=True, sourceIds=["b" * 32], runId="run-2"),
              *changed(whole_run(), "stm_mtm", sourceIds=["a" * 32])], "promotion_missing", ["wait_is_over"],
             joined=False),
    ]  # fmt: skip


def versions() -> list[Vector]:
    """Which version was expected, retrieved and used."""
    run, words = whole_run(), whole_run(version="2026-11.b")
    passed, failed = ({"type": "test_result", "value": value} for value in ("passed", "failed"))
    return [
        case("no version expected", "The run's own version is what it must retrieve.",
             changed(run, "retrieve", version=21), "stale_retrieval", ["old_version"], version=None),
        case("versions that are words", "A version may be an identifier.", words, "healthy", ["all_agree"],
             version="2026-11.b"),
        case("words that differ", "Identifiers are compared whole.", changed(words, "retrieve", version="2026-11.B"),
             "stale_retrieval", ["old_version"], version="2026-11.b"),
        case("number against word", '22 is not "22".', changed(run, "retrieve", version="22"), "stale_retrieval",
             ["old_version"]),
        case("a version from nowhere", "A higher version than any that was stored is not understood.",
             changed(changed(run, "retrieve", version=23), "generate", dependsOnVersion=23), "uncertain",
             ["unknown_version"]),
        case("another version stored", "What was stored is not what is expected.", whole_run(version=21), "uncertain",
             ["not_stored"]),
        case("answer depends on the older one", "v22 was retrieved and v21 used.",
             changed(run, "generate", dependsOnVersion=21), "generation_unverified", ["no_dependency"]),
        case("answer before retrieval", "An answer cannot depend on what came back an hour later.",
             changed(run, "retrieve", atUtc=time_at(HOUR)), "generation_unverified", ["no_dependency"], HOUR + MINUTE),
        case("retrieved again", "The newest retrieval counts.",
             [line("retrieve", 25, version=21), *run], "healthy", ["all_agree"]),
        case("outcome checked", "A test that passed.", changed(run, "generate", outcomeReceipt=passed), "healthy",
             ["all_agree"], outcome=True),
        case("outcome failed", "A test that failed.", changed(run, "generate", outcomeReceipt=failed),
             "generation_unverified", ["outcome_missed"]),
        case("outcome asked for", "The contract wants a check and there is none.", run, "generation_unverified",
             ["outcome_missed"], outcome=True),
        case("another implementation", "The pin is not the one expected.", run, "uncertain", ["other_source_version"],
             sourceVersion="example/2.0+a1b2c3d4"),
        case("implementation changes on the way", "One run, two implementations.",
             changed(run, "retrieve", sourceVersion="example/2.0+a1b2c3d4"), "uncertain", ["other_source_version"]),
        case("one receipt without a pin", "One is enough.", changed(run, "generate", sourceVersion=None), "uncertain",
             ["no_source_version"]),
    ]  # fmt: skip


def times() -> list[Vector]:
    """Freshness, and clocks that differ."""
    run, day = whole_run(), 24 * HOUR
    old = changed(run, "store", atUtc=time_at(-2 * day))
    return [
        case("nothing", "No evidence is not green.", [], "uncertain", ["no_receipts"]),
        case("yesterday's green", "A day and a minute later.", run, "uncertain", ["expired"], day + MINUTE),
        case("just fresh", "A day after the first receipt, to the second.", run, "healthy", ["all_agree"], day),
        case("just expired", "A second more.", run, "uncertain", ["expired"], day + 1),
        case("one of them old", "Every boundary that is relied on must be fresh.", old, "uncertain", ["expired"]),
        case("a longer limit", "The limit is the contract's.", run, "healthy", ["all_agree"], 2 * day,
             freshFor=3 * day),
        case("old and waiting", "A wait that nobody looked at for days.", waits(declaredWaitUntil=time_at(5 * day)),
             "uncertain", ["expired"], 3 * day),
        case("old and at risk", "A loss does not expire.",
             [line("store", 0, sourceDurable=True), line("stm_mtm", 10, "started", sourcePresent=False)],
             "source_at_risk", ["source_gone"], 3 * day),
        case("clock four minutes ahead", "Clocks may differ by five minutes.",
             changed(run, "generate", atUtc=time_at(NOW + 4 * MINUTE)), "healthy", ["all_agree"]),
        case("clock six minutes ahead", "Not by six.", changed(run, "generate", atUtc=time_at(NOW + 6 * MINUTE)),
             "uncertain", ["from_the_future"]),
        case("answer's clock a little behind", "An answer dated three minutes before its retrieval.",
             changed(run, "generate", atUtc=time_at(30 - 3 * MINUTE)), "healthy", ["all_agree"]),
    ]  # fmt: skip


def orders() -> list[Vector]:
    """Duplicates, receipts out of order, two runs at once."""
    run, other = whole_run(), whole_run(runId="run-2")
    mixed = [one for pair in zip(run, other, strict=True) for one in pair]
    stale = changed(other, "retrieve", version=21)
    return [
        case("twice each", "A receipt that comes twice says no more.", [*run, *run], "healthy", ["all_agree"]),
        case("backwards", "The order of arrival does not matter.", run[::-1], "healthy", ["all_agree"]),
        case("commit before its start", "The times count, not the places.",
             [run[1], line("stm_mtm", 8, "started", sourcePresent=True), run[0], *run[2:]], "healthy", ["all_agree"]),
        case("two runs at once", "Each is judged by its own receipts.", mixed, "healthy", ["all_agree"]),
        case("two runs at once, one stale", "The other's success does not cover it.",
             [one for pair in zip(run, stale, strict=True) for one in pair], "stale_retrieval", ["old_version"]),
        case("two runs at once, one not retrieved", "The other's retrieval is not its own.",
             [*without(other, "retrieve", "generate"), *run], "uncertain", ["not_retrieved"]),
        case("two halves", "Half of one run and half of another are no whole.",
             [*run[:3], *other[3:]], "uncertain", ["not_stored", "not_retrieved"]),
        case("two halves of one lane", "Where operations have runs of their own, they are.",
             [*run[:3], *other[3:]], "healthy", ["all_agree"], joined=False),
        case("one run asked about", "The other one's state is not asked about.",
             [*run, *stale], "healthy", ["all_agree"], runId="run-1"),
        case("an unknown run asked about", "Nothing is known of it.", run, "uncertain", ["no_receipts"], runId="run-3"),
        case("an old failure, a later success", "A loss in an earlier run is not hidden by a later one.",
             [line("store", -HOUR, sourceDurable=True, runId="run-0"),
              line("stm_mtm", 10 - HOUR, "failed", sourcePresent=False, runId="run-0"), *run], "source_at_risk",
             ["source_gone"]),
    ]  # fmt: skip


def scopes() -> list[Vector]:
    """Both dimensions, compared whole."""
    run, twin = whole_run(), "\u0430nna"  # the first letter is Cyrillic
    found = [
        case("right user, wrong assistant", "The shared assistant is another's.",
             changed(run, "retrieve", assistantScope="delta"), "scope_conflict", ["two_scopes"]),
        case("both wrong", "The last event belongs to nobody who was asked about.",
             changed(run, "generate", userScope="boris", assistantScope="delta"), "scope_conflict", ["two_scopes"]),
        case("user alone expected", "The assistant is whatever the run agrees on.", run, "healthy", ["all_agree"],
             assistantScope=None),
        case("user alone expected, two assistants", "The run does not agree with itself.",
             changed(run, "retrieve", assistantScope="delta"), "scope_conflict", ["two_scopes"], assistantScope=None),
        case("assistant alone expected", "The user is whatever the run agrees on.", run, "healthy", ["all_agree"],
             userScope=None),
        case("no scope expected", "The run agrees with itself.", run, "healthy", ["all_agree"], userScope=None,
             assistantScope=None),
        case("another lane's run", "What is wrong elsewhere is not asked about.",
             [*run, *changed(whole_run(runId="run-2", userScope="boris"), "retrieve", version=21)], "healthy",
             ["all_agree"]),
        case("only another lane's run", "Nothing is known of this one.", whole_run(userScope="boris"), "uncertain",
             ["no_receipts"]),
        case("another lane's run, by its id", "A run that is asked for, in another lane.", whole_run(userScope="boris"),
             "scope_conflict", ["two_scopes"], runId="run-1"),
    ]  # fmt: skip
    awkward = {"Cyrillic twin": twin, "prefix": "anna-corp", "case": "Anna", "space": "anna ", "composed": "anne\u0301",
               "wildcard": "%", "keyed hash": "hmac-sha256:" + "0" * 64}  # fmt: skip
    for name, user in awkward.items():
        shows = "Names are compared as they are, never by likeness."
        found.append(case(f"one event of a {name}", shows, changed(run, "stm_mtm", userScope=user), "scope_conflict",
                          ["two_scopes"]))  # fmt: skip
    for name, user in {"Cyrillic": "Анна Ж.", "Japanese": "愛", "emoji": "👩\u200d🚀", "decomposed": "e\u0301"}.items():
        lines = whole_run(userScope=user)
        found.append(case(f"a {name} user", "A name in any script.", lines, "healthy", ["all_agree"], userScope=user))
    precomposed = whole_run(userScope="\u00e9")
    shows = "One letter spelled in two ways is two names."
    found.append(case("composed is not decomposed", shows, precomposed, "uncertain", ["no_receipts"],
                      userScope="e\u0301"))  # fmt: skip
    return found


# Two states at once

SPOILED: Final[dict[State, tuple[Callable[[Lines], Lines], str]]] = {
    State.SCOPE_CONFLICT: (lambda run: changed(run, "generate", userScope="boris"), "two_scopes"),
    State.SOURCE_AT_RISK: (
        lambda run: changed(run, "stm_mtm", status="failed", sourcePresent=False, destinationPresent=None),
        "source_gone",
    ),
    State.UNCERTAIN: (lambda run: changed(run, "store", sourceVersion=None), "no_source_version"),
    State.PROMOTION_MISSING: (
        lambda run: changed(run, "mtm_lpm", status="failed", destinationPresent=None),
        "wait_is_over",
    ),
    State.STALE_RETRIEVAL: (
        lambda run: changed(changed(run, "retrieve", version=21), "generate", dependsOnVersion=21),
        "old_version",
    ),
    State.GENERATION_UNVERIFIED: (lambda run: changed(run, "generate", dependsOnVersion=None), "no_dependency"),
    State.WAITING: (
        lambda run: changed(run, "mtm_lpm", status="waiting", destinationPresent=None, declaredWaitUntil=time_at(HOUR)),
        "wait_is_open",
    ),
    State.HEALTHY: (lambda run: run, "all_agree"),
}
"""What gives each state to a whole run, and the rule that finds it."""


def pairs() -> list[Vector]:
    """Every pair of states, in one run where both can be, and in two runs, in both orders."""
    found = []
    for first, second in combinations(PRECEDENCE, 2):
        (spoil, rule), (spoil_too, _) = SPOILED[first], SPOILED[second]
        shows = f"{first} comes before {second}."
        if second is not State.HEALTHY and (first, second) != (State.PROMOTION_MISSING, State.WAITING):
            found.append(case(f"{first} with {second}", shows, spoil(spoil_too(whole_run())), first, [rule]))
        for name, early, late in (("then", spoil, spoil_too), ("after", spoil_too, spoil)):
            later = [{**one, "runId": "run-2", "atUtc": _later(one["atUtc"])} for one in late(whole_run())]
            found.append(case(f"{first} {name} {second}", shows, [*early(whole_run()), *later], first, [rule]))
    return found


def _later(at: str) -> str:
    return at.replace("T09:0", "T09:05").replace("T09:050", "T09:05")


FILES: Final[dict[str, Callable[[], list[Vector]]]] = {
    "eight": the_eight,
    "boundaries": boundaries,
    "moves": moves,
    "versions": versions,
    "times": times,
    "orders": orders,
    "scopes": scopes,
    "pairs": pairs,
}


def document(part: str, vectors: Sequence[Vector]) -> bytes:
    """A file of vectors."""
    names = [one["name"] for one in vectors]
    if len(names) != len(set(names)):
        raise ValueError(f"{part}: {sorted({name for name in names if names.count(name) > 1})} stand there twice")
    text = json.dumps({"part": part, "vectors": list(vectors)}, indent=1)
    return text.encode() + b"\n"
