"""Drift is measured by epochs against the canon, and a change point names the records that moved it."""

from alveus.kernels.drift import Measure, drift
from talk import talk

FORMAL = [
    "a: The boxes were counted and the report is attached.",
    "a: The delivery left at nine, the list is complete.",
]
CHUMMY = ["a: Haha, just kidding, imagine we sold the van!", "a: Would you believe it? Who knows? Haha!"]


def days(*lines):
    """A session a day of the same lines."""
    return talk(*lines)


def test_an_agent_that_does_not_change_has_no_change_point():
    """Twelve weeks of the same."""
    found = drift(days(*[FORMAL * 2] * 84), encode=None)
    assert found.canon == "bootstrapped"
    assert len([one for one in found.epochs if one.days == 7]) >= 12
    assert found.changes == ()


def test_a_change_of_tone_is_found_where_it_was():
    """Six weeks formal, six weeks chummy: the epoch is named, and only records from after it."""
    said = days(*[FORMAL * 2] * 42, *[CHUMMY * 2] * 42)
    found = drift(said, encode=None)
    moved = [one for one in found.changes if one.measure is Measure.TONE and one.days == 7]
    assert len(moved) == 1
    turn = said[42 * 4].time
    assert abs(moved[0].at - turn) <= 7 * 86_400
    assert moved[0].after > moved[0].before
    chummy = {one.record_id for one in said[42 * 4 :]}
    assert moved[0].records
    assert set(moved[0].records) <= chummy


def test_the_rate_of_contradiction_is_that_against_the_canon():
    """An agent that comes to say the opposite of its canon."""
    canon = "- The kitchen door stays closed at night.\n"
    closed, opened = "a: The kitchen door stays closed at night.", "a: The kitchen door stays open at night."
    said = days(*[[closed, *FORMAL]] * 42, *[[opened, *FORMAL]] * 42)
    found = drift(said, encode=None, canon=canon)
    assert found.canon == "given"
    (moved,) = [one for one in found.changes if one.measure is Measure.CONTRADICTION and one.days == 7]
    assert moved.before < 0.02
    assert moved.after > 0.1


def test_only_the_agent_drifts():
    """What the user or a tool says is not the agent's own."""
    said = days(*[FORMAL * 2] * 42, *[[*FORMAL * 2, "u: Haha, just kidding!", "t: Imagine!"]] * 42)
    assert drift(said, encode=None).changes == ()


def test_nothing_said_is_no_drift():
    """An empty journal has no epochs, and no canon."""
    found = drift([], encode=None)
    assert (found.epochs, found.changes, found.canon) == ((), (), "none")
