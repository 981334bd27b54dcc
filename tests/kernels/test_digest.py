"""When a digest is due, what it finds changed, and how the memory cache grows. kernels/digest.py."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.kernels.compiler import Bullet, KernelName
from alveus.kernels.digest import (
    LEAST_DELTA,
    THRESHOLD,
    WINDOW,
    Cache,
    Growth,
    What,
    as_json,
    as_markdown,
    changes,
)

HOUR = 3600.0


def bullet(name, text="text", sources=("a",), kernel=KernelName.DECISION, **more):
    """A rule."""
    return Bullet(
        id=name,
        name=kernel,
        text=text,
        sources=tuple(sources),
        first=0.0,
        last=1.0,
        sessions=1,
        count=1,
        score=1.0,
        **more,
    )


def grown(*entries):
    """Growth after these (time, bytes)."""
    growth = Growth()
    for time, size in entries:
        growth.add(time, size)
    return growth


def test_one_byte_more_than_the_threshold_is_due():
    """1,572,864 bytes are not more than that."""
    assert not grown((0, THRESHOLD)).due
    assert not grown((0, THRESHOLD - 1), (1, 1)).due
    assert grown((0, THRESHOLD), (1, 1)).due


def test_only_what_came_within_twelve_hours_counts_together():
    """A steady trickle is never due, however much it comes to."""
    assert not grown((0, THRESHOLD), (WINDOW, THRESHOLD)).due
    assert grown((0, THRESHOLD), (WINDOW - 1, 1)).due
    slow = grown(*((hour * HOUR, THRESHOLD // 12) for hour in range(200)))
    assert not slow.due
    assert slow.total > 10 * THRESHOLD


def test_a_burst_is_due_however_late_somebody_looks():
    """What was due stays due until a digest was made."""
    assert grown((0, THRESHOLD + 1), *((WINDOW * n, 10) for n in range(1, 20))).due


def test_a_clock_that_goes_back_counts_as_one_that_stands():
    """Neither does it open a second window, nor does it close the one there is."""
    assert grown((10 * HOUR, THRESHOLD), (2 * HOUR, 1)).due
    assert not grown((10 * HOUR, THRESHOLD), (23 * HOUR, 1), (0, 1)).due


@given(st.lists(st.tuples(st.floats(0, 40 * HOUR), st.integers(1, THRESHOLD)), max_size=30), st.integers(0, 30))
def test_a_restart_changes_nothing(entries, at):
    """Wherever it comes between two records."""
    whole, first = grown(*entries), grown(*entries[:at])
    second = Growth.from_json(json.loads(json.dumps(first.as_json())))
    for time, size in entries[at:]:
        second.add(time, size)
    assert (second.due, second.total) == (whole.due, whole.total)
    if not whole.due:
        assert (second.within, second.most) == (whole.within, whole.most)


def test_a_state_that_is_none_is_refused():
    """A file that somebody else wrote counts for nothing."""
    for state in ({}, {"window": 3, "total": 0, "most": 0}, {"window": [["x", 1]], "total": 0, "most": 0}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            Growth.from_json(state)


def fates(old, new):
    """What became of each bullet: (what, old text, new text)."""
    delta = changes(old, new)
    return [(one.what, one.old and one.old.text, one.new and one.new.text) for one in delta.changes]


def test_equal_bullets_are_no_change():
    """Even if only their support grew, nothing is said anew."""
    old = bullet("x")
    assert not changes([old], [old])
    delta = changes([old], [replace(old, sources=("a", "b"))])
    assert fates([old], [replace(old, sources=("a", "b"))]) == [(What.CONFIRMED, "text", "text")]
    assert delta.stated() == ()
    assert not delta.takes_back()


def test_a_rule_that_is_new_and_one_that_is_gone():
    """Each is named; that one is gone takes back what was said."""
    assert fates([], [bullet("x")]) == [(What.ADDED, None, "text")]
    assert fates([bullet("x")], []) == [(What.GONE, "text", None)]
    assert changes([bullet("x")], []).takes_back()


def test_a_rule_with_another_id_is_the_same_if_it_rests_on_the_same():
    """The id is of its fragments, and changes when one comes in."""
    old, new = bullet("x", "old", ("a", "b")), bullet("y", "new", ("a", "b", "c"))
    assert fates([old], [new]) == [(What.CHANGED, "old", "new")]
    moved = replace(new, name=KernelName.ANTI, text="old")
    assert fates([old], [moved]) == [(What.CHANGED, "old", "old")]


def test_what_a_new_rule_rests_against_was_superseded():
    """The old one is named beside the new one, once."""
    old = bullet("x", "port 1", ("a", "b"))
    new = bullet("y", "port 2", ("c",), supersedes=("a", "b"))
    assert fates([old], [new]) == [(What.SUPERSEDED, "port 1", "port 2")]
    assert changes([old], [new]).takes_back()


def test_each_old_bullet_has_one_fate():
    """Two new ones that share its sources do not both become it."""
    old = [bullet("x", "both", ("a", "b"))]
    new = [bullet("y", "one", ("a",)), bullet("z", "other", ("b",))]
    found = fates(old, new)
    assert sorted(what for what, _, _ in found) == [What.ADDED, What.CHANGED]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8), st.lists(st.integers(0, 5), max_size=8))
def test_nothing_is_forgotten(before, after):
    """Every old bullet that is not there any more, and every new one, is in the delta or unchanged."""
    old = [bullet(f"o{n}", f"t{t}", (str(s),)) for n, (t, s) in enumerate(before)]
    new = [bullet(f"n{n}", f"t{s}", (str(s),)) for n, s in enumerate(after)]
    delta = changes(old, new)
    olds = [one.old.id for one in delta.changes if one.old is not None]
    news = [one.new.id for one in delta.changes if one.new is not None and one.what is not What.SUPERSEDED]
    assert len(set(news)) == len(news)
    assert len(set(olds)) == len(olds)
    unchanged = len(new) - len(news)
    assert len(old) - len(olds) == unchanged


def test_a_digest_says_what_changed_with_its_sources():
    """For people and for programs."""
    old, new = bullet("x", "port 1", ("a" * 32,)), bullet("y", "port 2", ("c" * 32,), supersedes=("a" * 32,))
    delta = changes([old], [new, bullet("z", "third", ("d" * 32,))])
    text = as_markdown(3, delta, lambda one: one[:8], at="2026-01-01T00:00:00Z", version=2)
    assert "# Digest 3" in text
    assert "1 added, 1 superseded" in text
    assert "port 2 [cccccccc]" in text
    assert "before: port 1 [aaaaaaaa]" in text
    assert [one["what"] for one in as_json(delta)] == ["superseded", "added"]
    assert json.loads(json.dumps(as_json(delta)))[0]["old"]["sources"] == ["a" * 32]
    assert "nothing changed" in as_markdown(4, changes([], []), lambda one: one, at="", version=2)


def test_deltas_go_to_the_end_until_they_outgrow_their_share():
    """Then they are folded: a new prefix begins."""
    cache, added = Cache(prefix=1), changes([], [bullet("x")])
    cache = cache.advanced(2, added, prefix=10_000, deltas=100)
    cache = cache.advanced(3, added, prefix=10_000, deltas=2_500)
    assert cache == Cache(prefix=1, deltas=(2, 3))
    assert cache.advanced(4, added, prefix=10_000, deltas=2_501) == Cache(prefix=4)


def test_a_short_prefix_bears_some_deltas():
    """The share of nothing would be nothing."""
    added = changes([], [bullet("x")])
    assert Cache(prefix=1).advanced(2, added, prefix=0, deltas=LEAST_DELTA) == Cache(prefix=1, deltas=(2,))
    assert Cache(prefix=1).advanced(2, added, prefix=0, deltas=LEAST_DELTA + 1) == Cache(prefix=2)


def test_a_prefix_does_not_say_what_was_taken_back():
    """What a rule replaced is not served beside the rule."""
    old, new = bullet("x", "port 1", ("a",)), bullet("y", "port 2", ("c",), supersedes=("a",))
    assert Cache(prefix=1, deltas=(2,)).advanced(3, changes([old], [new]), prefix=10_000, deltas=1) == Cache(prefix=3)


def test_support_alone_changes_no_context():
    """The cache stays as it is."""
    old = bullet("x")
    grown_ = changes([old], [replace(old, sources=("a", "b"))])
    assert Cache(prefix=1).advanced(2, grown_, prefix=0, deltas=0) == Cache(prefix=1)
