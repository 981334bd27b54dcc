"""The judge: a table of precedence, over evidence that is always there."""

import time
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from alveus.audit.judge import FATES, PRECEDENCE, RULES, Contract, Flag, State, judge
from alveus.audit.receipt import Boundary, Receipt, Status
from alveus.errors import InputError
from alveus.journal.seal import format_time

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
NOW = NOON + timedelta(minutes=5)


def receipt(boundary, seconds=0, status=Status.COMMITTED, run="run", **facts):
    """A receipt so many seconds after noon."""
    return Receipt(
        **{
            "run_id": run,
            "user_scope": "anna",
            "assistant_scope": "river",
            "boundary": boundary,
            "version": 22,
            "status": status,
            "at_utc": format_time(NOON.replace(tzinfo=None) + timedelta(seconds=seconds)),
            "source_version": "example/1",
            **facts,
        }
    )


def run(name="run", **facts):
    """A run in which everything agrees."""
    return [
        receipt(Boundary.STORE, 0, run=name, source_durable=True, source_present=True, **facts),
        receipt(Boundary.STM_MTM, 1, run=name, destination_present=True, **facts),
        receipt(Boundary.MTM_LPM, 2, run=name, **facts),
        receipt(Boundary.RETRIEVE, 3, run=name, **facts),
        receipt(Boundary.GENERATE, 4, run=name, depends_on_version=22, **facts),
    ]


def test_the_precedence_is_the_specification_s():
    """The order of the states, first match wins."""
    assert [*PRECEDENCE] == [
        "scope_conflict",
        "source_at_risk",
        "uncertain",
        "promotion_missing",
        "stale_retrieval",
        "generation_unverified",
        "waiting",
        "healthy",
    ]


def test_every_state_but_healthy_has_a_rule_against_green():
    """No state is the one that is left over; what no rule finds is uncertain."""
    spoken_for = {row[0] for row in RULES} | {row[1] for row in FATES}
    assert spoken_for | {State.SCOPE_CONFLICT, State.HEALTHY} == set(State)
    assert judge(run()[:1], Contract(required=()), NOW).state is State.UNCERTAIN
    assert not judge([], Contract(required=()), NOW)


def test_every_verdict_has_its_evidence():
    """Whatever the state, findings name it, each with a rule and a sentence; green names what it stands on."""
    for receipts in ([], run(), run()[:1], run()[:2], run()[1:], run()[3:]):
        health = judge(receipts, Contract(), NOW)
        assert health.decided
        assert all(one.rule and one.sentence and one.state in State for one in health.evidence)
    assert set(judge(run(), Contract(), NOW).decided[0].receipts) == set(run())


def test_a_sentence_holds_no_name():
    """Evidence may leave the machine: the names of scopes are in the receipts alone."""
    wrong = [*run()[:3], receipt(Boundary.RETRIEVE, 3, user_scope="boris-the-spy", version=21)]
    for one in judge(wrong, Contract(user_scope="anna"), NOW).evidence:
        assert "boris" not in one.sentence
        assert "anna" not in one.sentence


def test_the_order_of_arrival_changes_nothing():
    """All 120 orders of a run have one verdict."""
    spoiled = [*run()[:3], receipt(Boundary.RETRIEVE, 3, version=21), run()[4]]
    assert len({judge(order, Contract(), NOW).evidence for order in permutations(spoiled)}) == 1


def test_a_later_success_hides_nothing():
    """A loss, then as many good runs as you like."""
    lost = [receipt(Boundary.STORE, run="lost", source_durable=True)]
    lost.append(receipt(Boundary.STM_MTM, 1, Status.STARTED, run="lost", source_present=False))
    later = [one for number in range(50) for one in run(f"run-{number}")]
    assert judge([*lost, *later], Contract(), NOW).state is State.SOURCE_AT_RISK
    found = receipt(Boundary.STM_MTM, 9, Status.VERIFIED, run="lost", destination_present=True)
    whole = [receipt(b, 10, run="lost", depends_on_version=22) for b in [*Boundary][2:]]
    assert judge([*lost, *later, found, *whole], Contract(), NOW)


def test_the_newest_word_on_a_page_counts_whichever_run_says_it():
    """A page that one run moved, and that another saw afterwards not to be there, is not settled."""
    ids, lane = {"source_ids": ("ab" * 16,)}, Contract(joined=False, required=(Boundary.STORE, Boundary.STM_MTM))
    stored = receipt(Boundary.STORE, 0, run="a", source_durable=True, source_present=True, **ids)
    moved = [
        receipt(Boundary.STM_MTM, at, run=run, destination_present=True, **ids) for at, run in ((1, "a"), (3, "b"))
    ]
    missed = receipt(Boundary.STM_MTM, 9, Status.VERIFIED, run="a", destination_present=False, **ids)
    assert judge([stored, *moved], lane, NOW).state is State.HEALTHY
    assert judge([stored, *moved, missed], lane, NOW).state is State.UNCERTAIN
    again = receipt(Boundary.STM_MTM, 12, run="b", destination_present=True, **ids)
    assert judge([stored, *moved, missed, again], lane, NOW).state is State.HEALTHY


def test_a_page_that_is_due_stays_so_though_another_one_moved():
    """What is said later of one page ends no wait of another's."""
    lane = Contract(joined=False, required=(Boundary.STORE, Boundary.STM_MTM))
    waits = {"run": "due", "source_ids": ("cd" * 16,), "source_durable": True, "source_present": True, "capacity": 7}
    stored = receipt(Boundary.STORE, 0, Status.VERIFIED, occupancy=1, **waits)
    due = receipt(Boundary.STM_MTM, 1, Status.WAITING, occupancy=8, **waits)
    moved = receipt(Boundary.STM_MTM, 2, run="other", source_ids=("ab" * 16,), destination_present=True)
    assert judge([stored, due], lane, NOW).state is State.PROMOTION_MISSING
    assert judge([stored, due, moved], lane, NOW).state is State.PROMOTION_MISSING
    arrived = receipt(Boundary.STM_MTM, 3, run="due", source_ids=("cd" * 16,), destination_present=True)
    assert judge([stored, due, moved, arrived], lane, NOW).state is State.HEALTHY


def test_a_degraded_move_is_flagged_whatever_the_state():
    """The flag stands beside the state."""
    degraded = [*run(), receipt(Boundary.STM_MTM, 5, Status.DEGRADED, destination_present=True)]
    assert judge(degraded, Contract(), NOW).flags == (Flag.DEGRADED,)
    assert judge(degraded, Contract(), NOW).state is State.HEALTHY
    assert judge(run(), Contract(), NOW).flags == ()


def test_a_question_without_answer_is_unverified_though_pages_wait():
    """Each retrieval needs its answer's receipt; an older one's does not do."""
    waiting = receipt(Boundary.STORE, 0, Status.WAITING, run="page", source_durable=True, capacity=7, occupancy=1)
    asked = receipt(Boundary.RETRIEVE, 20, run="question")
    lane = Contract(joined=False, required=(Boundary.RETRIEVE, Boundary.GENERATE))
    assert judge([waiting, *run()], lane, NOW).state is State.HEALTHY
    assert judge([waiting, *run(), asked], lane, NOW).state is State.GENERATION_UNVERIFIED


def test_a_time_without_a_zone_is_refused():
    """Nobody knows whose noon it would be."""
    with pytest.raises(InputError):
        judge(run(), Contract(), NOON.replace(tzinfo=None))
    east = NOW.astimezone(tz=datetime.fromisoformat("2026-01-01T00:00:00+09:00").tzinfo)
    assert judge(run(), Contract(), east)


@pytest.mark.parametrize("joined", [True, False])
def test_time_grows_with_the_receipts_and_no_faster(joined):
    """Ten times the receipts take about ten times as long."""

    def seconds(runs):
        receipts = [one for number in range(runs) for one in run(f"run-{number}")]
        began = time.process_time()
        assert judge(receipts, Contract(joined=joined), NOW)
        return time.process_time() - began

    assert min(seconds(4000) for _ in range(3)) < 40 * min(seconds(400) for _ in range(3)) + 0.05
