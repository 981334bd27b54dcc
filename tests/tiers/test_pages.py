"""Pages, window, segments and facts as values: spec/tiers.md, section 1."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus import InputError
from alveus.tiers import lpm, mtm, page, promotion, retrieval, summary
from alveus.tiers.lpm import Fact, Shelf, Subject
from alveus.tiers.mtm import Segment
from alveus.tiers.page import Ref, Seen
from alveus.tiers.policy import Policy, Scope, ident, scope_of
from alveus.tiers.stm import Window

POLICY = Policy()
SCOPE = Scope(user="anna", assistant="river")


def seen(number, src="user", text="a word", session="s", *, later_part=False, at=0.0):
    """A record."""
    return Seen(Ref(f"{number:032x}", src, "c", number, number * 100), "anna", session, at, later_part, number, text)


def folded(records, policy=POLICY):
    """The pages that records make, by the rules."""
    pages, last = [], {}
    for record in records:
        before = pages[last[record.session]] if record.session in last else None
        if before is None or page.opens(record, before, len(pages), policy):
            last[record.session] = len(pages)
            pages.append(page.begin(record, before, len(pages), policy, SCOPE))
        else:
            pages[before.ordinal] = page.grown(before, record)
    return pages


# Scopes


@pytest.mark.parametrize("user", ["", " ", "\t", 0, b"x", "a\x00b", "a\nb", "\x85", "x" * 1025, "\ud800"])
def test_a_scope_that_names_nobody_is_refused(user):
    """Empty, blank, no text, a control character, a lone surrogate, too long: each is refused, with a sentence."""
    with pytest.raises(InputError) as refused:
        scope_of(user, "river")
    assert refused.value.message
    assert refused.value.hint


def test_nobody_named_is_the_default_user():
    """Leaving the user out is a scope of its own, by name."""
    assert scope_of(None, "river") == scope_of("default", "river")


@given(st.lists(st.tuples(st.text(min_size=1, max_size=3), st.text(min_size=1, max_size=3)), unique=True, max_size=8))
def test_two_scopes_never_give_one_id(pairs):
    """Ids are of the whole pair: moving a character from one name to the other gives another id."""
    pairs = [pair for pair in pairs if all(each.isprintable() for each in pair)]
    ids = {ident(POLICY, Scope(user=user, assistant=assistant), "page", ["a"]) for user, assistant in pairs}
    assert len(ids) == len(pairs)


# Pages


def test_a_page_is_a_users_record_and_what_follows():
    """An exchange ends where the user speaks again."""
    pages = folded([seen(1), seen(2, "agent"), seen(3, "tool"), seen(4), seen(5, "agent")])
    assert [[ref.seq for ref in one.refs] for one in pages] == [[1, 2, 3], [4, 5]]


def test_sessions_do_not_cut_one_another():
    """Two conversations at once are two chains of pages; each page names the one before it."""
    records = [seen(1, session="a"), seen(2, session="b"), seen(3, "agent", session="a"), seen(4, session="a")]
    pages = folded(records)
    assert [[ref.seq for ref in one.refs] for one in pages] == [[1, 3], [2], [4]]
    assert [one.before for one in pages] == [None, None, 0]


def test_a_split_message_is_one_page():
    """The later parts of a user's long message open no page of their own."""
    assert len(folded([seen(1), seen(2, later_part=True), seen(3, later_part=True)])) == 1


def test_a_page_that_left_the_window_is_finished():
    """A late answer, after the window went on, opens a page of its own."""
    records = [seen(1, session="old"), *(seen(n) for n in range(2, 10)), seen(10, "agent", session="old")]
    assert [ref.seq for ref in folded(records)[0].refs] == [1]
    assert [ref.seq for ref in folded(records)[-1].refs] == [10]


def test_a_page_has_an_end():
    """An agent that records without anybody speaking makes many pages, not one that grows for ever."""
    assert [len(one.refs) for one in folded([seen(n, "agent") for n in range(1, 140)])] == [64, 64, 11]


def test_the_callers_metadata_moves_no_record():
    """Scope and session are the signed profile's; what the caller's metadata says of them is not looked at."""
    metadata = {
        "user": "eve",
        "user_id": "eve",
        "agent_id": "eve",
        "session": "x",
        "hc": {"user": "anna", "src": "user"},
    }
    record = {"record_id": "a" * 32, "content": "x", "kind": "state", "novelty": "novel", "metadata": metadata}
    record["timestamp"] = "2026-01-01T00:00:00.000000Z"
    found = page.seen(record, ("c", 0, 0), 1)
    assert (found.user, found.session) == ("anna", "")


def test_a_models_summary_is_no_page():
    """What a model wrote about pages never becomes a page: nothing feeds on itself."""
    hc = {"src": "system", "origin": summary.ORIGIN + "a" * 32}
    record = {"record_id": "a" * 32, "content": "x", "kind": "state", "metadata": {"hc": hc}}
    assert page.is_summary(record)
    assert page.seen(record, ("c", 0, 0), 1) is None


def test_only_the_journals_own_record_is_a_summary():
    """A user's record that looks like one, by its metadata or origin, is the user's words."""
    for hc in ({"src": "user", "origin": summary.ORIGIN + "a"}, {"src": "agent"}):
        assert not page.is_summary({"kind": "state", "metadata": {"hc": hc, "summary": {"request": "a"}}})


@given(st.integers(0, 30), st.integers(0, 30))
def test_every_page_is_in_stm_or_has_left(left, count):
    """Overflow and window together are all that has not left: a page more than the capacity drops nothing."""
    window = Window(min(left, count), count)
    there = [*window.overflow(POLICY), *window.newest(POLICY)]
    assert there == list(range(min(left, count), count))
    assert len(window.newest(POLICY)) <= POLICY.stm_pages


# Segments


def topic(ordinal, *words, at=0.0):
    """A page about these words, finished."""
    one = folded([seen(ordinal + 1, text=" ".join(words))])[0]
    return page.sealed(page.replace(one, ordinal=ordinal, until=at), 0, {}, POLICY)


def test_a_page_joins_the_segment_most_like_it():
    """F above 0.6 joins the best; below, a segment of its own is opened."""
    planner = promotion.Planner(policy=POLICY, scope=SCOPE, segments={}, now=0.0)
    trains = planner.place(topic(0, "train", "platform", "ticket", "timetable"))
    cakes = planner.place(topic(1, "cake", "sugar", "butter", "oven"))
    again = planner.place(topic(2, "train", "platform", "ticket", "conductor"))
    assert trains.segment == again.segment != cakes.segment


def test_the_same_plan_comes_out_twice():
    """A plan is a function of its pages: made twice, it has the same ids."""
    pages = [topic(n, f"word{n % 3}", "common") for n in range(9)]
    plans = []
    for _ in range(2):
        planner = promotion.Planner(policy=POLICY, scope=SCOPE, segments={}, now=0.0)
        plans.append([(move.run_id, move.segment) for move in map(planner.place, pages)])
    assert plans[0] == plans[1]


def test_heat_is_the_papers():
    """N_visit + L_interaction + exp(-Δt / 10^7 s)."""
    segment = Segment(id="a", ordinal=0, visits=2, interaction=3, at=100.0)
    assert mtm.heat(segment, 100.0, POLICY) == 6.0
    assert mtm.heat(segment, 100.0 + 1e7, POLICY) == pytest.approx(5 + math.exp(-1))
    assert mtm.heat(segment, 50.0, POLICY) == 6.0  # an event of before warms nothing more


def test_a_segment_without_anything_new_is_not_sent_again():
    """However often it is read: LPM has had it."""
    assert mtm.is_hot(Segment(id="a", ordinal=0, visits=0, interaction=4), 0.0, POLICY)
    assert not mtm.is_hot(Segment(id="a", ordinal=0, visits=90, interaction=0), 0.0, POLICY)


def test_the_coldest_leaves_and_never_the_newest():
    """At most 200 segments; past that the coldest goes, of equals the oldest."""
    segments = {f"{n}": Segment(id=f"{n}", ordinal=n, visits=n != 7) for n in range(201)}
    assert promotion.evict(segments, 0.0, POLICY, newest="200").id == "7"
    segments = {f"{n}": Segment(id=f"{n}", ordinal=n) for n in range(201)}
    assert promotion.evict(segments, 0.0, POLICY, newest="0").id == "1"
    assert len(segments) == 200
    assert promotion.evict(segments, 0.0, POLICY, newest="200") is None


# Facts


def fact(name, *, key="lives_in", value="Berlin", since=0.0, shelf=Shelf.PROFILE, subject=Subject.USER, place=0):
    """A fact."""
    return Fact(id=name, subject=subject, shelf=shelf, key=key, value=value, sources=("r",), since=since, place=place)


@given(
    st.permutations(
        [fact("a", since=1, value="Bonn"), fact("b", since=2, value="Rome"), fact("c", since=3, value="Oslo")]
    )
)
def test_the_newest_stands_whatever_the_order(facts):
    """What was said last stands, though it was read first; each of the others names what replaced it."""
    settled = {one.id: one for one in lpm.settled(facts, POLICY)}
    assert [one.id for one in settled.values() if one.stands] == ["c"]
    assert (settled["a"].superseded_by, settled["b"].superseded_by) == ("b", "c")


def test_saying_it_again_replaces_nothing():
    """A repeated statement is no new fact: one stands, since it was first said."""
    settled = lpm.settled([fact("a", since=1), fact("b", since=2), fact("c", since=3, value="berlin")], POLICY)
    assert [one.id for one in settled if one.stands] == ["a"]
    assert all(one.superseded_by is None for one in settled)


def test_knowledge_is_a_queue_of_a_hundred():
    """The hundred-and-first pushes the first out of LPM; it is marked, not removed; the assistant's lie apart."""
    mine = [fact(f"{n:03}", key=f"likes:{n}", since=n, shelf=Shelf.KNOWLEDGE) for n in range(101)]
    other = fact("x", key="likes:0", shelf=Shelf.KNOWLEDGE, subject=Subject.ASSISTANT)
    settled = {one.id: one for one in lpm.settled([*mine, other], POLICY)}
    assert [name for name, one in settled.items() if not one.stands] == ["000"]
    assert len(settled) == 102


def test_a_superseded_fact_answers_no_question():
    """History is kept and not offered: the newest ranks alone."""
    facts = lpm.settled([fact("a", since=1, value="Bonn"), fact("b", since=2, value="Rome")], POLICY)
    found = retrieval.best_facts(retrieval.question_of("Bonn"), facts, POLICY)
    assert [one.value for _, one in found] == ["Rome"]


def test_profiles_are_whole_and_others_ten():
    """All of the profile, and ten facts each of the user and of the assistant."""
    facts = [fact(f"p{n}", key=f"k{n}") for n in range(15)]
    for subject in Subject:
        facts += [
            fact(f"{subject}{n}", key=f"likes:{n}", shelf=Shelf.KNOWLEDGE, subject=subject, since=n) for n in range(15)
        ]
    found = [one for _, one in retrieval.best_facts(retrieval.question_of("x"), lpm.settled(facts, POLICY), POLICY)]
    assert sum(one.shelf is Shelf.PROFILE for one in found) == 15
    assert [sum(one.subject is subject and one.shelf is Shelf.KNOWLEDGE for one in found) for subject in Subject] == [
        10,
        10,
    ]
