"""The tiers over a journal: moves that lose nothing, scopes that do not leak, models that misbehave, rebuilding."""

import json
import os
import random
import re
import signal
import sqlite3
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

import pytest

import alveus
import promoter
from alveus import Draft, Hippocampus, InputError, JournalError, Kind, NotFound, StoreError
from alveus.audit.judge import Contract, State, judge
from alveus.audit.receipt import Boundary, Outcome, OutcomeReceipt, Status
from alveus.doors.cli import main
from alveus.estimate import estimate_tokens
from alveus.journal.record import Source
from alveus.promoting import RELEASE, reading
from alveus.promoting.rows import page_of
from alveus.store.database import Database
from alveus.tiers import summary
from alveus.tiers.retrieval import Why

TOPICS = ("trains leave from platform nine", "bread rises in a warm oven", "rivers run down to the sea")


def say(memory, count, user=None, first=0, session=None):
    """So many exchanges."""
    for number in range(first, first + count):
        topic = TOPICS[number % len(TOPICS)]
        memory.record(
            "observation", f"{topic}, number {number}. I live in Town{number}.", src="user", user=user, session=session
        )
        memory.record("observation", f"noted of {topic}", user=user, session=session)


def opened(home, **options):
    """A memory that recalls by words, and promotes when it is told to."""
    agent_id = options.pop("agent_id", "river")
    return Hippocampus.open(home=home, agent_id=agent_id, embedder="none", tiers=False, **options)


def tiers_of(memory):
    """Its tiers, caught up."""
    tiers = memory._tiering()
    tiers.catch_up()
    return tiers


def placed(memory):
    """Where each record of each scope is, and that every page is in STM or in one segment, once."""
    tiers, found = tiers_of(memory), Counter()
    for scope in tiers.db.scopes():
        pages = tiers.db.pages(scope.id, 0, scope.pages)
        assert [page.ordinal for page in pages] == list(range(scope.pages))
        for page in pages:
            assert (page.segment is not None) == (page.ordinal < scope.departed)
            found.update(ref.record_id for ref in page_of(page).refs)
        for segment in tiers.db.segments(scope.id):
            assert segment.pages == len(tiers.db.pages_of(segment.id))
    return found


def all_there(memory):
    """Every exchanged record of the journal is in a page, and in one only."""
    records = [one.record_id for one in memory.iter_records() if one.hc.src is not Source.SYSTEM]
    assert placed(memory) == Counter(records)


def receipts(memory):
    """What the ledger holds."""
    tiers = tiers_of(memory)
    return list(tiers.ledger().receipts())


# The whole path


def test_record_promote_retrieve_settle(home):
    """An exchange goes up the tiers, is found, and its use is settled; each step left its receipts."""
    with opened(home) as memory:
        say(memory, 12)
        done = memory.promote()
        assert (done.pages, done.waiting) == (5, 7)
        found = memory.retrieve("which platform do trains leave from?")
        assert [item.tier for item in found][:7] == ["stm"] * 7
        assert "platform nine" in next(item.text for item in found if item.tier == "mtm")
        assert memory.settle(found.run_id, {"type": "test_result", "value": "passed"}).passed
        told = receipts(memory)
        assert {one.boundary for one in told} == {
            Boundary.STORE,
            Boundary.STM_MTM,
            Boundary.RETRIEVE,
            Boundary.GENERATE,
        }
        moves = [one.status for one in told if one.boundary is Boundary.STM_MTM]
        assert Counter(moves) == {Status.WAITING: 5, Status.STARTED: 5, Status.COMMITTED: 5, Status.VERIFIED: 5}
        assert found.version == max(item.version for item in found) == told[-1].depends_on_version
        all_there(memory)


def test_of_the_rows_looked_at_only_the_best_become_pages(home, monkeypatch):
    """By words alone a question costs the words of each page, and no more of those that it does not bring back."""
    made = []
    with opened(home) as memory:
        say(memory, 60)
        assert memory.promote().pages == 53
        monkeypatch.setattr(reading, "page_of", lambda row: made.append(row.ordinal) or page_of(row))
        found = [item for item in memory.retrieve("bread in a warm oven, number 40", top_k=3) if item.tier == "mtm"]
    assert len(found) == 3
    assert "number 40." in found[0].text
    assert len(made) < 7 + 3 + 5


def test_receipts_hold_no_content(home):
    """Not a word of what was stored stands in the ledger, nor in the outbox."""
    with opened(home) as memory:
        say(memory, 12)
        memory.record("observation", "My name is Xanthippe and I live in Vladivostok", src="user")
        memory.promote()
        memory.retrieve("Xanthippe")
        ledger = (memory.folder / "receipts.jsonl").read_bytes()
    assert not [word for word in (b"platform", b"oven", b"Xanthippe", b"Vladivostok", b"Town") if word in ledger]


def test_the_seventh_page_waits_and_the_eighth_sends_the_first(home):
    """The capacity is seven: beyond it each page goes on, and every one is in STM or MTM."""
    with opened(home) as memory:
        for number in range(20):
            say(memory, 1, first=number)
            memory.promote()
            tiers = tiers_of(memory)
            scope = tiers.db.scopes()[0]
            assert scope.pages - scope.departed == min(number + 1, 7)
            all_there(memory)


def test_what_is_due_and_not_moved_is_found(home):
    """Between overflow and promotion there is no hole: a page that waits is still in STM, and answers."""
    with opened(home) as memory:
        memory.record("observation", "The code of the safe is with aunt Polly", src="user")
        say(memory, 40)
        found = memory.retrieve("Who has the code of the safe?")
        assert [item.tier for item in found if "Polly" in item.text] == ["stm"]


def test_promoting_twice_moves_nothing_twice(home):
    """The second promotion of the same pages finds nothing to do, and the ledger does not grow."""
    with opened(home) as memory:
        say(memory, 30)
        memory.promote()
        before, known = tiers_of(memory).db.dump(), len(receipts(memory))
        assert memory.promote().pages == 0
        assert (tiers_of(memory).db.dump(), len(receipts(memory))) == (before, known)


def test_facts_reach_the_profile_and_the_newest_stands(home):
    """What the user says of himself is in LPM with its source; what he said before is history."""
    with opened(home) as memory:
        say(memory, 30)
        memory.promote()
        found = [item for item in memory.retrieve("where?") if item.tier == "lpm"]
        (fact,) = found
        assert (fact.kind, fact.subject, fact.text) == ("profile", "user", "lives in: Town22")
        assert "Town22" in memory.get(fact.sources[0]).content
        history = [one for one in tiers_of(memory).db.facts(1) if one.superseded_by]
        assert len(history) == len(tiers_of(memory).db.facts(1)) - 1


def test_a_segment_that_is_sent_is_sent_whole(home):
    """However many pages joined before it was hot: what the newest of them state is in LPM too."""
    with opened(home) as memory:
        for first, count in ((0, 9), (9, 64)):  # two pages that are not hot, and then a whole batch
            for number in range(first, first + count):
                text = f"The train to Bergen leaves from Oslo. I like fish{number:03}."
                memory.record("observation", text, src="user")
            memory.promote()
        (segment,) = tiers_of(memory).db.segments(1)
        assert (segment.pages, segment.interaction) == (66, 0)
        assert not tiers_of(memory).db.unknown_pages(segment.id, 100)
        assert {one.value for one in memory.facts().facts} == {f"fish{number:03}" for number in range(66)}
        same_after_rebuild(memory)


def test_a_segment_that_was_read_is_warmer(home):
    """Reading raises N_visit, at the time of the reading."""
    with opened(home) as memory:
        say(memory, 12)
        memory.promote()
        before = {one.id: one.visits for one in tiers_of(memory).db.segments(1)}
        found = memory.retrieve("bread in the oven")
        read = {item.segment for item in found if item.segment}
        after = {one.id: one.visits for one in tiers_of(memory).db.segments(1)}
        assert read
        assert {name: after[name] - before[name] for name in after} == {name: int(name in read) for name in after}


def test_an_empty_answer_says_why(home):
    """Nothing stored, and a user that nobody is, are told apart."""
    with opened(home) as memory:
        assert [one.code for one in memory.retrieve("x").reasons] == ["nothing_stored"]
        say(memory, 1, user="anna")
        assert [one.code for one in memory.retrieve("x", user="Anna").reasons] == ["unknown_scope"]
        assert not memory.retrieve("x", user="anna").reasons


def test_an_answer_that_is_narrowed_says_so(home, clock):
    """By session and by time, before ranking: other segments do not crowd it out; nothing left is said to be."""
    with opened(home, clock=clock) as memory:
        for day in range(30):
            say(memory, 1, first=day, session=f"s{day % 3}")
            clock.advance(hours=24)
        memory.promote()
        for session in ("s0", "s1", "s2"):
            texts = [item.text for item in memory.retrieve("trains bread rivers", session=session)]
            numbers = [int(re.search(r"number (\d+)", text)[1]) for text in texts]
            assert numbers
            assert {number % 3 for number in numbers} == {int(session[1])}
        first = memory.retrieve("trains", until="2026-01-04")
        assert {re.search(r"number (\d+)", item.text)[1] for item in first if item.kind == "page"} <= {
            "0",
            "1",
            "2",
            "3",
        }
        assert len(first)
        found = memory.retrieve("trains", session="another")
        assert (len(found), [why.code for why in found.reasons]) == (0, ["filtered_out"])
        assert [why.code for why in memory.retrieve("x", since="2031-01-01").reasons] == ["filtered_out"]
        with pytest.raises(InputError):
            memory.retrieve("x", since="some day")
        with pytest.raises(InputError):
            memory.retrieve("x", session=" ")


def test_an_answer_that_does_not_fit_says_what_was_left(home):
    """Never more tokens than the budget; a giant is skipped and named, and stops nothing."""
    with opened(home) as memory:
        memory.record("observation", "giant " * 4000, src="user")
        say(memory, 6)
        whole = memory.retrieve("trains")
        assert not whole.reasons
        found = memory.retrieve("trains", budget=400)
        assert [why.code for why in found.reasons] == ["over_budget"]
        assert len(found) == 6
        assert len(found.skipped) == 1
        assert sum(estimate_tokens(f"{item.text}\n\n") for item in found) <= 400
        few = memory.retrieve("trains", budget=60)
        assert few.items == found.items[-len(few) :], "of STM the newest have the first turn"
        none = memory.retrieve("trains", budget=1)
        assert (len(none), len(none.skipped), [why.code for why in none.reasons]) == (0, 7, ["over_budget"])


def test_a_list_of_facts_that_is_empty_says_why(home, capfd):
    """A name that was misspelt and a user of whom nothing is known yet are told apart, on the command line too."""
    with opened(home) as memory:
        say(memory, 1, user="anna")
        assert [(why.code, not memory.facts("anna").facts) for why in memory.facts("anan").reasons] == [
            ("unknown_scope", True)
        ]
        assert not memory.facts("anna").reasons
    for user, told in (("anan", "nothing is stored of user 'anan'"), ("anna", "nothing is known of them yet")):
        assert main(["--home", str(home), "--agent", "river", "facts", "--user", user]) == 0
        out, err = capfd.readouterr()
        assert (out, told in err) == ("", True)


def test_an_answer_names_the_version_that_it_was_taken_from(home, monkeypatch):
    """What came in while the question was embedded is answered with, and counts in the version."""
    from alveus.promoting import reading

    meaning = reading._meaning
    with opened(home) as memory, opened(home) as other:
        say(memory, 3)
        memory.retrieve("trains")

        def meanwhile(tiers, query):
            say(other, 1, first=3)
            tiers_of(other)
            return meaning(tiers, query)

        monkeypatch.setattr(reading, "_meaning", meanwhile)
        found = memory.retrieve("trains")
        assert len([item for item in found if item.kind == "page"]) == 4
        assert found.version == max(item.version for item in found) == 8
        memory.settle(found.run_id, {"type": "test_result", "value": "passed"})
        assert [one.version for one in receipts(memory) if one.run_id == found.run_id] == [8, 8]


def test_an_index_that_is_not_built_is_said(home):
    """A reader without tiers.db, and vectors that are not made yet: the answer is given, and says what it lacks."""
    with opened(home) as memory:
        say(memory, 12)
    with opened(home, read_only=True) as memory:
        found = memory.retrieve("trains")
        assert [why.code for why in found.reasons] == ["index_not_built"]
        assert len(found) == 9  # STM, and of what is due that which answers
        assert "rebuild" in found.reasons[0].text
    with Hippocampus.open(home=home, agent_id="river", embedder=Toy(), tiers=False) as memory:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("alveus.promoting.reading._EMBED", 3)
            found = memory.retrieve("trains")
            assert [why.code for why in found.reasons] == ["index_not_built"]
            assert "21 records have no vector yet" in found.reasons[0].text
        assert not memory.retrieve("trains").reasons


def test_every_reason_is_given_somewhere():
    """None of the vocabulary is a dead word: each has a test that gets it."""
    source = Path(__file__).read_text("utf-8")
    assert all(f'"{why}"' in source for why in Why)


def test_facts_are_listed_with_their_history(home, capfd):
    """What stands, and with the history what was replaced, by what, and what only repeats; on the command line too."""
    with opened(home) as memory:
        for town in ("Oslo", "Kazan", "Kazan", "Riga"):
            for number in range(4):
                memory.record("observation", f"My town, station {number}. I live in {town}.", src="user", user="anna")
        memory.promote("anna")
        memory.promote("anna")
        now = memory.facts("anna").facts
        known = memory.facts("anna", history=True).facts
        assert [fact.value for fact in now if fact.key == "lives_in"] in (["Kazan"], ["Oslo"])
        assert len(known) > len(now)
        ids = {fact.id for fact in known}
        replaced = [fact for fact in known if fact.superseded_by]
        assert replaced
        assert all(fact.superseded_by in ids and memory.get(fact.sources[0]) for fact in replaced)
        assert not memory.facts("boris", history=True).facts
    told = ["--home", str(home), "--agent", "river", "facts", "--user", "anna"]
    assert main([*told, "--json"]) == 0
    assert [one["stands"] for one in json.loads(capfd.readouterr().out)["facts"]] == [True] * len(now)
    assert main([*told, "--history"]) == 0
    assert "replaced\tlives in: Oslo" in capfd.readouterr().out
    assert main([*told, "--history", "--jsonl"]) == 0
    assert len(capfd.readouterr().out.splitlines()) == len(known)


def test_a_fact_whose_record_was_changed_is_left_out_and_named(home):
    """What it rests on is read and checked."""
    with opened(home) as memory:
        for number in range(14):
            memory.record("observation", f"Station {number} again. I live in Oslo.", src="user")
        memory.promote()
        assert memory.facts().facts
    path = next(home.rglob("stream.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"Station 0 again. I live in Oslo", b"Station 0 again. I live in Rome"))
    with opened(home, read_only=True) as memory:
        found = memory.facts()
        assert not [fact for fact in found.facts if fact.value != "Oslo"]
        assert found.left_out


def test_a_full_disk_leaves_the_tiers_as_they_were(home, monkeypatch):
    """Made anew they would not fit: the old ones answer, and the health says so."""

    def full(_):
        raise sqlite3.OperationalError("database or disk is full")

    with opened(home) as memory:
        say(memory, 20)
        memory.promote()
        before = tiers_of(memory).db.dump()
        with monkeypatch.context() as patch:
            patch.setattr(Database, "take_over", lambda *_: full(None))
            assert memory.prepare_recall(anew=True) == 40
        assert any("disk is full" in mark for mark in memory.marks())
        assert tiers_of(memory).db.dump() == before
        assert memory.retrieve("trains").items
        assert memory.prepare_recall(anew=True) == 40
        assert not memory.marks()


def test_a_damaged_record_is_left_out_and_named(home):
    """A page whose record fails its check does not answer with it."""
    with opened(home) as memory:
        say(memory, 3)
        memory.retrieve("x")
    path = next(home.rglob("stream.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"platform nine, number 0", b"platform ten!, number 0"))
    with opened(home, read_only=True) as memory:
        found = memory.retrieve("platform")
        assert found.left_out
        assert not [item for item in found if "platform ten!, number 0" in item.text]


def test_an_answer_of_which_nothing_held_says_so(home):
    """Every record that was found fails its check: an empty answer, and not as if nothing were stored."""
    with opened(home) as memory:
        memory.record("observation", "the pump of station nine is loud", src="user", user="anna")
        say(memory, 3, user="boris")
        memory.retrieve("x")
    path = next(home.rglob("stream.jsonl"))
    path.write_bytes(path.read_bytes().replace(b"station nine is loud", b"station nine is calm"))
    with opened(home, read_only=True) as memory:
        found = memory.retrieve("pump", "anna")
        assert (len(found), [why.code for why in found.reasons]) == (0, ["check_failed"])
        assert found.left_out


def test_a_reader_asks_and_leaves_no_trace(home):
    """A memory opened for reading answers from tiers that it makes in memory; it cannot promote."""
    with opened(home) as memory:
        say(memory, 12)
        memory.promote()
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}
    with opened(home, read_only=True) as memory:
        assert len(memory.retrieve("trains")) > 7
        with pytest.raises(StoreError):
            memory.promote()
    assert before == {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}


def test_the_release_is_the_packages():
    """What receipts call the release is what it is."""
    assert alveus.__version__ == RELEASE


# Settling


@pytest.mark.parametrize(
    ("kind", "value"),
    [("file_hash", "ab" * 32), ("row_id", "orders:17"), ("test_result", "failed"), ("destination_lookup", "found")],
)
def test_every_deterministic_check_settles(home, kind, value):
    """The four kinds; a check that failed is told as failed."""
    with opened(home) as memory:
        say(memory, 1)
        run = memory.retrieve("x").run_id
        memory.settle(run, {"type": kind, "value": value})
        last = receipts(memory)[-1]
        assert (last.outcome_receipt, last.run_id) == (OutcomeReceipt(type=Outcome(kind), value=value), run)
        assert last.status is (Status.FAILED if value == "failed" else Status.VERIFIED)


def test_settling_is_done_once(home):
    """The same outcome again is the same; another one is refused; so is a run that is no question's."""
    with opened(home) as memory:
        say(memory, 10)
        memory.promote()
        run = memory.retrieve("x").run_id
        for _ in range(2):
            memory.settle(run, {"type": "test_result", "value": "passed"})
        assert sum(one.boundary is Boundary.GENERATE for one in receipts(memory)) == 1
        with pytest.raises(InputError):
            memory.settle(run, {"type": "test_result", "value": "failed"})
        moved = tiers_of(memory).db.runs_in("verified")[0].run_id
        for unknown in ("f" * 32, "", moved):
            with pytest.raises(NotFound):
                memory.settle(unknown, {"type": "test_result", "value": "passed"})
        for bad in (
            {},
            {"type": "prose", "value": "fine"},
            {"type": "file_hash", "value": "it went well"},
            "passed",
            None,
        ):
            with pytest.raises(InputError):
                memory.settle(run, bad)


# Scopes

AWKWARD = (
    "john_doe", "john-doe", "johnXdoe", "acme", "acme-corp", "acme corp", "%", "_", "..", "/", "a/b", "a%2Fb",
    "\\", "'", '"', "&agent_id=x", "*", "[a]", "Анна", "Aнна", "anna", "ANNA", "default ", "None", "null", "0",
    "é", "e\u0301", "ﬁ", "fi", "😀", "x" * 300, "x" * 299,
)  # fmt: skip


def test_no_scope_leaks_into_another(home):
    """Awkward names crossed: each sees its own page by every path, and nobody else's; LPM too."""
    with opened(home) as memory:
        drafts = []
        for turn in range(9):
            for number, user in enumerate(AWKWARD):
                text = f"shared words, secret{number:03}e. I live in Place{number:03}e. turn{turn}"
                drafts.append(Draft(kind=Kind.OBSERVATION, content=text, src=Source.USER, user=user))
                drafts.append(Draft(kind=Kind.OBSERVATION, content=f"noted secret{number:03}e", user=user))
        memory.record_many(drafts)
        for number, user in enumerate(AWKWARD):
            assert memory.promote(user).pages == 2
            found = memory.retrieve("shared words secret", user)
            assert {
                f"secret{n:03}e" for n in range(len(AWKWARD)) if any(f"secret{n:03}e" in i.text for i in found)
            } == {f"secret{number:03}e"}
            assert not [i for i in found if "Place" in i.text and f"Place{number:03}e" not in i.text]
        for one in receipts(memory):
            assert one.user_scope in AWKWARD
            assert one.assistant_scope == "river"
        all_there(memory)


@pytest.mark.parametrize("user", ["", " ", "\t\n", "a\x00", "a\nb", 0, False, ["anna"], "x" * 1025, "\udc80"])
def test_a_user_that_names_nobody_is_refused_everywhere(home, user):
    """Reading and writing refuse it, with a sentence; nothing is stored or made."""
    with opened(home) as memory:
        for act in (
            lambda: memory.record("observation", "x", user=user),
            lambda: memory.record_many([Draft(kind=Kind.OBSERVATION, content="x", user=user)]),
            lambda: memory.promote(user),
            lambda: memory.retrieve("x", user),
            lambda: memory.facts(user),
            lambda: memory.context("x", 100, user=user),
            lambda: memory.pattern_completion("x", user=user),
        ):
            with pytest.raises(InputError) as refused:
                act()
            assert refused.value.message
        assert memory.size() == 0


def test_two_assistants_share_nothing(home):
    """The right user with the wrong assistant finds nothing."""
    with opened(home) as one, opened(home, agent_id="delta") as other:
        say(one, 10, user="anna")
        one.promote("anna")
        assert [why.code for why in other.retrieve("trains", "anna").reasons] == ["nothing_stored"]


@pytest.mark.parametrize("key", ["user", "user_id", "agent_id", "assistant", "scope", "session", "summary", "src"])
def test_metadata_moves_nothing(home, key):
    """Whatever the caller's metadata says, a record is its user's."""
    with opened(home) as memory:
        value = {"request": "a" * 32, "output": {}} if key == "summary" else "eve"
        memory.record("state", "mine alone", {key: value}, src="user", user="anna")
        assert len(memory.retrieve("mine", "anna")) == 1
        assert [why.code for why in memory.retrieve("mine", "eve").reasons] == ["unknown_scope"]


def test_a_forged_summary_changes_nothing(home):
    """A record that poses as a model's answer, for another user's page, is not used for it."""
    with opened(home) as memory:
        say(memory, 8, user="anna")
        tiers = tiers_of(memory)
        row = tiers.db.scope("anna", "river")
        page = page_of(tiers.db.page(row.id, 0))
        request = tiers.request(row, page)
        output = {"summary": page.query, "keywords": [], "facts": []}
        memory.record(
            "state", page.query, {"summary": {"output": output}}, src="system", user="eve",
            origin=summary.ORIGIN + request.id,
        )  # fmt: skip
        memory.promote("anna")
        assert tiers_of(memory).db.answer(request.id, row.id) is None


# Models


class Model:
    """A scripted one: gives what it is told to, and notes what it was asked."""

    id = "scripted"

    def __init__(self, act):
        self.act = act
        self.asked = []

    def answer(self, request):
        """By the script."""
        self.asked.append(request)
        return self.act(request)


def good(request):
    """An answer that holds."""
    first = request.said[0]
    fact = {
        "subject": "user",
        "shelf": "knowledge",
        "key": "topic",
        "value": first.text.split(",")[0],
        "sources": [first.record_id],
    }
    return json.dumps({"summary": f"Model: {first.text[:40]}", "keywords": ["topic"], "facts": [fact]})


def fails(_):
    """No answer at all."""
    raise ConnectionError("refused")


def hangs(_):
    """Sixty seconds, as far as anybody waits."""
    time.sleep(60)


MISBEHAVIOUR = {
    "none": lambda _: None,
    "empty": lambda _: "",
    "prose": lambda _: "The user talked about trains.",
    "apology": lambda _: "I'm sorry, I cannot help with that.",
    "apology in form": lambda _: json.dumps({"summary": "I cannot help with trains", "keywords": [], "facts": []}),
    "truncated": lambda request: good(request)[:-9],
    "wrong schema": lambda _: json.dumps({"text": "trains"}),
    "ten megabytes": lambda _: "x" * 10_000_000,
    "duplicates": lambda request: json.dumps(
        {**json.loads(good(request)), "facts": json.loads(good(request))["facts"] * 2}
    ),
    "renamed labels": lambda request: good(request).replace(request.said[0].record_id, "f" * 32),
    "no text": lambda _: 7,
    "raises": fails,
    "hangs": hangs,
    "exits": lambda _: sys.exit(1),
}


@pytest.mark.parametrize("act", MISBEHAVIOUR.values(), ids=MISBEHAVIOUR)
def test_a_model_that_misbehaves_costs_nothing_but_its_summary(home, act):
    """Nothing is lost, replaced or invented; the moves are marked; once the model is well, they are mended."""
    model = Model(act)
    with opened(home, summarizer=model) as memory:
        say(memory, 12)
        memory._tiering().patience = 0.3
        records = memory.size()
        done = memory.promote()
        assert (done.pages, done.degraded, done.waiting) == (5, 5, 7)
        assert done.problems
        assert memory.size() == records  # nothing of it became content
        all_there(memory)
        degraded = [one for one in receipts(memory) if one.status is Status.DEGRADED]
        assert len(degraded) == 5
        assert "Model:" not in "".join(one.summary for one in tiers_of(memory).db.segments(1))
        found = memory.retrieve("platform trains")
        assert any(item.tier == "mtm" for item in found)
        model.act = good
        mended = memory.promote()
        assert (mended.mended, mended.degraded, mended.pages) == (5, 0, 0)
        assert not tiers_of(memory).db.degraded(1)
        assert memory.size() == records + 5
        all_there(memory)
        same_after_rebuild(memory, model)


def test_a_model_is_asked_once_for_one_page(home):
    """Its answer is in the journal before it is used: neither a second promotion nor a rebuild asks again."""
    model = Model(good)
    with opened(home, summarizer=model) as memory:
        say(memory, 12)
        assert memory.promote().degraded == 0
        assert len(model.asked) == 5
        kept = [one for one in memory.iter_records() if "summary" in one.metadata]
        assert [(one.kind, one.hc.src) for one in kept] == [(Kind.STATE, Source.SYSTEM)] * 5
        assert all(one.metadata["summary"]["sources"] for one in kept)
        assert any(one.summary.startswith("Model:") for one in tiers_of(memory).db.segments(1))
        memory.promote()
        same_after_rebuild(memory, model)
        assert len(model.asked) == 5


def test_a_profile_survives_a_poor_answer(home):
    """What a model says of a thing that the user said himself replaces nothing."""

    def poor(request):
        first = request.said[0]
        fact = {
            "subject": "user",
            "shelf": "profile",
            "key": "lives_in",
            "value": "number",
            "sources": [first.record_id],
        }
        return json.dumps({"summary": first.text[:60], "keywords": [], "facts": [fact]})

    with opened(home, summarizer=Model(poor)) as memory:
        say(memory, 30)
        memory.promote()
        profile = [item.text for item in memory.retrieve("x") if item.kind == "profile"]
        assert [text.startswith("lives in: Town") for text in profile] == [True]


def test_a_model_that_is_down_is_not_asked_for_every_page(home):
    """After three failures, or one that hung, the rest of a promotion does without it."""
    model = Model(fails)
    with opened(home, summarizer=model) as memory:
        say(memory, 40)
        assert memory.promote().pages == 33
        assert len(model.asked) == 3


def test_a_failure_of_ours_is_said_in_its_words(home):
    """A limit that is reached and a server that is down are two things, and the person is told which it is."""

    def capped(_):
        raise StoreError("the limit for toy is reached for today", code="cost_cap", hint="wait until tomorrow")

    with opened(home, summarizer=Model(capped)) as memory:
        say(memory, 9)
        assert memory.promote().problems == ("the limit for toy is reached for today",)


def test_nobody_waits_for_a_model(home):
    """While a model sleeps others record, ask and promote; what they moved is not moved again."""
    asked, wake = threading.Event(), threading.Event()

    def sleeps(request):
        asked.set()
        wake.wait(30)
        return good(request)

    with opened(home, summarizer=Model(sleeps)) as memory, opened(home, summarizer="none") as other:
        say(memory, 9)
        other.retrieve("x")
        thread = threading.Thread(target=memory.promote)
        thread.start()
        assert asked.wait(10)
        took = []
        for number in range(5):
            start = time.perf_counter()
            say(other, 1, first=20 + number)
            other.retrieve("trains")
            memory.retrieve("trains")
            took.append(time.perf_counter() - start)
        assert other.promote().pages == 7
        wake.set()
        thread.join(30)
        assert min(took) < 0.5
        all_there(memory)
        memory.promote()
        all_there(other)


# Making it again


def same_after_rebuild(memory, model=None):
    """A rebuild gives equal tables, and asks no model."""
    tiers = tiers_of(memory)
    before, asked = tiers.db.dump(), len(model.asked) if model else 0
    tiers.rebuild()
    after = tiers.db.dump()
    for table in before:
        assert after[table] == before[table], table
    assert (len(model.asked) if model else 0) == asked


@pytest.mark.parametrize("seed", range(4))
def test_a_rebuild_gives_equal_answers(home, clock, seed):
    """Whatever was recorded, promoted, asked and settled, in whatever order: the tables come out the same."""
    dice = random.Random(seed)
    with opened(home, clock=clock) as memory:
        for number in range(120):
            user = dice.choice(["anna", "boris"])
            say(memory, 1, user=user, first=dice.randrange(40), session=dice.choice([None, "s", "t"]))
            clock.advance(hours=dice.randrange(1, 50))
            if number % 5 == 4:
                memory.promote(user)
            if number % 7 == 6:
                found = memory.retrieve(dice.choice(TOPICS), user)
                if dice.random() < 0.5:
                    memory.settle(found.run_id, {"type": "row_id", "value": f"r{number}"})
        same_after_rebuild(memory)
        answers = [memory.retrieve(topic, "anna").items for topic in TOPICS]
        version = memory.retrieve("x", "anna").version
    for path in home.rglob("tiers.db*"):
        path.unlink()
    with opened(home, clock=clock) as memory:
        assert memory.retrieve("x", "anna").version == version
        assert [memory.retrieve(topic, "anna").items for topic in TOPICS] == answers


def test_two_hundred_segments_and_their_eviction_come_out_the_same(home):
    """Past 200 the coldest leaves MTM; a rebuild lets the same ones leave."""
    with opened(home) as memory:
        drafts = [
            Draft(kind=Kind.OBSERVATION, content=" ".join(f"word{n}x{m}" for m in range(6)), src=Source.USER)
            for n in range(230)
        ]
        memory.record_many(drafts)
        assert memory.promote().pages == 223
        tiers = tiers_of(memory)
        assert len(tiers.db.segments(1)) == 200
        all_there(memory)
        same_after_rebuild(memory)


def test_a_lost_ledger_loses_no_page(home):
    """Without tiers.db and without the ledger every page is in STM, and goes on again."""
    with opened(home) as memory:
        say(memory, 20)
        memory.promote()
    for name in ("tiers.db*", "receipts.jsonl*"):
        for path in home.rglob(name):
            path.unlink()
    with opened(home) as memory:
        all_there(memory)
        assert memory.promote().pages == 13
        all_there(memory)


@pytest.mark.parametrize("noted", [True, False])
def test_a_database_of_an_earlier_day_is_made_again(home, noted):
    """tiers.db came from a backup, the ledger did not: the moves that only the ledger knows are not planned anew."""
    with opened(home) as memory:
        say(memory, 12)
        memory.promote()
    backup = (memory.folder / "tiers.db").read_bytes()
    with opened(home) as memory:
        say(memory, 30, first=12)
        memory.promote()
        memory.retrieve("trains")
        tables = tiers_of(memory).db.dump()
    (memory.folder / "tiers.db").write_bytes(backup)
    if not noted:
        with sqlite3.connect(memory.folder / "tiers.db") as db:
            db.execute("DELETE FROM about WHERE name = 'ledger'")
        db.close()
    with opened(home) as memory:
        assert tiers_of(memory).db.dump() == tables
        assert memory.promote().pages == 0
        all_there(memory)
    with opened(home, read_only=True) as memory:
        assert len(memory.retrieve("trains")) > 7


def test_hashed_scopes_join_and_are_made_again(home, monkeypatch):
    """With ALVEUS_SCOPES=hashed no name is in the ledger, and all that the ledger is for goes on."""
    monkeypatch.setenv("ALVEUS_SCOPES", "hashed")
    with opened(home) as memory:
        say(memory, 12, user="Anna of Oslo")
        memory.promote("Anna of Oslo")
        found = memory.retrieve("trains", "Anna of Oslo")
        memory.settle(found.run_id, {"type": "test_result", "value": "passed"})
        assert not {b"Anna", b"river"} & set((memory.folder / "receipts.jsonl").read_bytes().split(b'"'))
        assert b"Anna" not in (memory.folder / "receipts.jsonl").read_bytes()
        same_after_rebuild(memory)
        with tiers_of(memory).db.writing():
            tiers_of(memory).tell(*_some_page(memory), Boundary.STORE, Status.VERIFIED)
    with opened(home) as memory:
        assert tiers_of(memory).receipts.are_known()
        same_after_rebuild(memory)


def _some_page(memory):
    row = tiers_of(memory).db.scopes()[0]
    return row, page_of(tiers_of(memory).db.page(row.id, 11))


def test_a_damaged_database_is_made_again(home):
    """No database, or another one's, takes the tiers down: they are made again, and the damaged file is kept aside."""
    with opened(home) as memory:
        say(memory, 20)
        memory.promote()
        before = [item.id for item in memory.retrieve("trains")]
    path = next(home.rglob("tiers.db"))
    path.write_bytes(b"this is no database" * 100)
    with opened(home) as memory:
        assert [item.id for item in memory.retrieve("trains")] == before
    assert path.with_name("tiers.db.damaged").exists()


def test_a_rebuild_takes_the_place_of_a_database_with_spoiled_pages(home):
    """One that opens and cannot be read says what to do, and that does it; the damaged file is kept aside."""
    with opened(home) as memory:
        say(memory, 20)
        memory.promote()
        before = [item.id for item in memory.retrieve("trains")]
    path = next(home.rglob("tiers.db"))
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    with opened(home) as memory:
        with pytest.raises(StoreError) as caught:
            memory.retrieve("trains")
        assert (caught.value.code, "alveus rebuild" in caught.value.hint) == ("tiers_damaged", True)
    with opened(home, read_only=True) as memory, pytest.raises(StoreError, match="malformed"):
        memory.retrieve("trains")
    with opened(home) as memory:
        memory.prepare_recall(anew=True)
        assert not memory.marks()
        assert [item.id for item in memory.retrieve("trains")] == before
        all_there(memory)
    assert path.with_name("tiers.db.damaged").exists()


def test_a_disk_that_is_full_is_said_to_be(home):
    """Nobody is told to move the tiers away where room is what is missing."""
    with opened(home) as memory:
        say(memory, 9)
        sqlite = tiers_of(memory).db._db
        sqlite.execute("PRAGMA max_page_count = 1")
        say(memory, 400)
        with pytest.raises(StoreError) as caught:
            memory.promote()
        assert (caught.value.code, "room" in caught.value.hint) == ("tiers_unavailable", True)
        sqlite.execute("PRAGMA max_page_count = 1000000")
        memory.promote()
        all_there(memory)


def test_tiers_of_another_journal_are_not_believed(tmp_path):
    """A tiers.db that was copied from elsewhere does not fit this journal's lines, and is made again."""
    for name in ("a", "b"):
        with opened(tmp_path / name) as memory:
            say(memory, 12, first=ord(name))
            memory.promote()
    theirs, mine = next((tmp_path / "a").rglob("tiers.db")), next((tmp_path / "b").rglob("tiers.db"))
    mine.write_bytes(theirs.read_bytes())
    with opened(tmp_path / "b") as memory:
        all_there(memory)
        assert any("number 98" in item.text for item in memory.retrieve("number 98"))


def test_the_old_tiers_serve_until_the_new_ones_are_whole(home, monkeypatch):
    """A rebuild that is cut off changes nothing."""
    with opened(home) as memory:
        say(memory, 20)
        memory.promote()
        before = tiers_of(memory).db.dump()

        def cut(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(Database, "take_over", cut)
        with pytest.raises(KeyboardInterrupt):
            memory._tiering().rebuild()
        assert tiers_of(memory).db.dump() == before


def test_a_rotation_changes_nothing(home):
    """Chains follow one another; pages, moves and receipts go on, and a rebuild walks all of it."""
    with opened(home) as memory:
        say(memory, 10)
        memory.promote()
        memory.rotate()
        say(memory, 10, first=10)
        assert memory.promote().pages == 10
        all_there(memory)
        same_after_rebuild(memory)
    with opened(home) as memory:
        all_there(memory)


def test_recall_prepared_anew_remakes_the_tiers(home):
    """What `alveus rebuild` calls makes tiers.db again too."""
    with opened(home) as memory:
        say(memory, 12)
        memory.promote()
        with sqlite3.connect(memory.folder / "tiers.db") as db:
            db.execute("UPDATE segment SET summary = 'changed by hand'")
        db.close()
        memory.prepare_recall(anew=True)
        assert "changed by hand" not in [one.summary for one in tiers_of(memory).db.segments(1)]


# Several at once


def test_many_promote_at_once_and_each_page_moves_once(home):
    """Four writers in one process and two files open: no page is lost, none is in two segments."""
    with opened(home) as memory, opened(home) as other:
        threads = [
            threading.Thread(
                target=lambda one=one, n=n: [(say(one, 1, first=n * 50 + k), one.promote()) for k in range(12)]
            )
            for n, one in enumerate((memory, other, memory, other))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        memory.promote()
        all_there(memory)
        assert sum(placed(memory).values()) == 96
        moved = [
            one.source_ids
            for one in receipts(memory)
            if (one.boundary, one.status) == (Boundary.STM_MTM, Status.COMMITTED)
        ]
        assert len(moved) == len(set(moved)) == 41
        same_after_rebuild(memory)


# Reconciliation


def crash_in(memory, monkeypatch, method, after=0):
    """Promote, and have the process as good as killed at a call of the database's."""

    class Killed(BaseException):
        pass

    act, calls = getattr(Database, method), [0]

    def killed(*given, **named):
        calls[0] += 1
        if calls[0] > after:
            raise Killed
        return act(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Database, method, killed)
        with pytest.raises(Killed):
            memory.promote()


def test_a_run_that_arrived_gets_its_receipt_and_one_that_did_not_is_planned_again(home, monkeypatch):
    """Reconciliation looks at the destination: it writes what is missing, and repeats nothing."""
    with opened(home) as memory:
        say(memory, 9)
        memory.retrieve("x")
        crash_in(memory, monkeypatch, "check")  # the destination is written, and nothing committed
    with opened(home) as memory:
        tiers = tiers_of(memory)
        (one, *_) = tiers.db.runs_in("started")
        assert memory.reconcile(one.run_id).state == "absent"
        assert not [each for each in receipts(memory) if each.status is Status.COMMITTED]
        memory.promote()
        assert memory.reconcile(one.run_id) == (one.run_id, "stm_mtm", one.version, "verified", ())
        with tiers.db.writing():
            tiers.db.put([tiers.db.run(one.run_id)._replace(state="started")])  # the receipt is lost
        assert memory.reconcile(one.run_id).written == ("committed", "verified")
        all_there(memory)
    with pytest.raises(NotFound), opened(home) as memory:
        memory.reconcile("f" * 32)


def test_a_promotion_that_got_half_way_leaves_the_rest_due(home, monkeypatch):
    """Pages that were stored one by one, and a batch of which moved: the judge does not call the others waiting."""
    with opened(home) as memory:
        for number in range(80):
            say(memory, 1, user="anna", first=number)
            tiers_of(memory)
        with monkeypatch.context() as patch:
            patch.setattr("alveus.promoting.Tiers.stop_if_closing", fails)
            with pytest.raises(StoreError):
                memory.promote("anna")
        scope = tiers_of(memory).db.scopes()[0]
        assert (scope.pages, scope.departed) == (80, 64)
        health = judged(memory, "anna")
        assert health.state is State.PROMOTION_MISSING
        assert len({one.source_ids for one in health.decided[0].receipts}) == 80 - 64 - 7
        memory.promote("anna")
        assert judged(memory, "anna").state is State.WAITING


# Kill anywhere


def kill(home, name, step=0, dice=None):
    """Fork a promoter; it kills itself at a step, or is killed at a random moment, while this process adds pages."""
    child = os.fork()
    if child == 0:
        try:
            promoter.main(home, name, step)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(4)
    try:
        with opened(home) as memory:
            for number in range(3):
                memory.record_many(promoter.exchange(f"driver-{name}", number, promoter.USERS[number]))
        if dice is not None:
            time.sleep(dice.random() * 0.25)
            os.kill(child, signal.SIGKILL)
    finally:
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def judged(memory, user):
    """The judge's word on a lane: as far as storage and the first move."""
    contract = Contract(
        user_scope=user, assistant_scope="river", joined=False, required=(Boundary.STORE, Boundary.STM_MTM)
    )
    return judge(receipts(memory), contract, memory._agent.options.clock.now())


def after_a_kill(home):
    """Nothing is lost or doubled; what is due is said to be; a promotion finishes it; and all can be made again."""
    with opened(home) as memory:
        all_there(memory)
        for user in promoter.USERS:
            row = tiers_of(memory).db.scope(user, "river")
            if row is None:
                continue
            begun = [run for run in tiers_of(memory).db.runs_in("started") if run.scope == row.id]
            due = row.pages - row.departed > 7 or any(run.boundary == Boundary.MTM_LPM for run in begun)
            health = judged(memory, user)
            assert health.state is (State.PROMOTION_MISSING if due else State.WAITING), health.decided
            memory.promote(user)
            health = judged(memory, user)
            assert health.state is State.WAITING, health.decided
        all_there(memory)
        said = [one for one in receipts(memory) if one.boundary is Boundary.STM_MTM]
        for status in (Status.COMMITTED, Status.VERIFIED):
            moved = Counter(one.source_ids for one in said if one.status is status)
            assert set(moved.values()) <= {1}
            assert len(moved) == sum(row.departed for row in tiers_of(memory).db.scopes())
        assert memory.verify_chain()
        same_after_rebuild(memory)


@pytest.mark.parametrize("first", [1, 2])
def test_killed_at_each_step_nothing_is_lost_or_doubled(tmp_path, first):
    """Ten processes that kill themselves at one step after another, each on what the one before left."""
    for number, step in enumerate(range(first, 400, 37 + first)):
        home = tmp_path / str(number // 4)
        kill(home, f"{first}-{number}", step)
        after_a_kill(home)


def test_killed_at_any_moment_nothing_is_lost_or_doubled(tmp_path):
    """Six processes killed at random moments."""
    dice = random.Random(11)
    for number in range(6):
        kill(tmp_path / "home", f"r{number}", dice=dice)
        after_a_kill(tmp_path / "home")


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(10))
def test_five_hundred_kills_lose_and_double_nothing(tmp_path, seed):
    """Fifty for each seed: at every step in turn, and at random moments."""
    dice = random.Random(seed)
    for number in range(50):
        home = tmp_path / str(number // 5)
        if number % 2:
            kill(home, f"{seed}-{number}", dice=dice)
        else:
            kill(home, f"{seed}-{number}", 1 + seed * 25 + number // 2)
        after_a_kill(home)


# Meaning


class Toy:
    """An embedder of letters."""

    revision = "1"
    dims = 26

    def __init__(self, name="toy"):
        self.id = name

    def encode(self, texts):
        """How often each letter stands in each text."""
        import numpy as np

        rows = np.array(
            [[text.lower().count(chr(97 + n)) + 1e-3 for n in range(26)] for text in texts], dtype=np.float32
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def calibration(self, cosine):
        """As it is."""
        return cosine


def test_vectors_are_used_where_there_are_some(home):
    """Segments have the sum of their pages' vectors, pages are ranked by their records'; a rebuild gives the same."""
    with Hippocampus.open(home=home, agent_id="river", embedder=Toy()) as memory:
        say(memory, 20)
        assert memory.promote().pages == 13
        assert {one.by for one in tiers_of(memory).db.segments(1) if one.total} == {"embed:toy@1"}
        found = memory.retrieve("bread rising in the oven")
        assert "oven" in next(item for item in found if item.tier == "mtm").text
        assert not found.reasons
        same_after_rebuild(memory)


def test_another_embedder_is_noticed_and_mended_by_a_rebuild(home):
    """Its answers go by words meanwhile, and say so."""
    with Hippocampus.open(home=home, agent_id="river", embedder=Toy()) as memory:
        say(memory, 20)
        memory.promote()
    with Hippocampus.open(home=home, agent_id="river", embedder=Toy("other")) as memory:
        found = memory.retrieve("bread in the oven")
        assert [why.code for why in found.reasons] == ["embedder_changed"]
        assert any(item.tier == "mtm" for item in found)
        memory.prepare_recall(anew=True)
        assert not memory.retrieve("bread in the oven").reasons


def test_an_embedder_that_fails_loses_no_page(home):
    """Pages move by their words."""

    class Broken(Toy):
        def encode(self, _texts):
            raise RuntimeError

    with Hippocampus.open(home=home, agent_id="river", embedder=Broken()) as memory:
        say(memory, 12)
        assert memory.promote().pages == 5
        assert any(item.tier == "mtm" for item in memory.retrieve("trains"))
        all_there(memory)


# The command line


def test_promote_and_reconcile_on_the_command_line(home, capfd, monkeypatch):
    """They say what they did, as text and as JSON; an unknown run is not found, a user that is nobody is refused."""
    monkeypatch.setenv("ALVEUS_HOME", str(home))
    monkeypatch.setenv("ALVEUS_AGENT", "river")
    with opened(home) as memory:
        say(memory, 9, user="anna")
    assert main(["promote", "--user", "anna", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["pages"] == 2
    assert main(["promote", "--user", "anna"]) == 0
    assert "7 pages in STM" in capfd.readouterr().out
    assert main(["promote", "--user", " "]) == 2
    with opened(home) as memory:
        run = tiers_of(memory).db.runs_in("verified")[0].run_id
    assert main(["reconcile", run]) == 0
    assert "verified" in capfd.readouterr().out
    assert main(["reconcile", "f" * 32, "--json"]) == 3
    with opened(home) as memory:
        asked = memory.retrieve("trains", "anna").run_id
    capfd.readouterr()
    assert main(["settle", asked, "test_result", "passed", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["passed"] is True
    assert main(["settle", asked, "test_result", "failed"]) == 2
    assert main(["settle", asked, "opinion", "good"]) == 2
    assert main(["settle", "f" * 32, "row_id", "7"]) == 3
    assert main(["rebuild"]) == 0


def test_a_context_says_how_the_tiers_are(home):
    """Pages that should have moved, and moves without the model, are in its health; a tier page in its sources."""
    model = Model(fails)
    with opened(home, summarizer=model) as memory:
        say(memory, 12)
        memory.retrieve("trains")
        assert any(mark.startswith("promotion_missing: 5 pages") for mark in memory.context("trains", 500).health)
        memory.promote()
        assert [mark.split(":")[0] for mark in memory.context("trains", 500).health] == ["degraded"]
        model.act = good
        memory.promote()
        pack = memory.context("which platform do trains leave from?", 4000)
        assert not pack.health
        pages = {source for item in memory.retrieve("which platform do trains leave from?") for source in item.sources}
        assert pages <= set(pack.sources)
        assert pack.tokens <= 4000


def test_a_damaged_ledger_costs_no_context(home):
    """The audit is beside the memory: a pack is made without the tiers, and says so; asking the tiers is an error."""
    with opened(home) as memory:
        say(memory, 12)
        memory.promote()
    path = memory.folder / "receipts.jsonl"
    path.write_bytes(path.read_bytes()[:700])
    with opened(home) as memory:
        pack = memory.context("trains", 500)
        assert pack.sources
        assert any("the ledger" in mark for mark in pack.health)
        with pytest.raises(JournalError):
            memory.retrieve("trains")
        assert memory.record("decision", "goes on", src="user")


def test_a_context_begins_with_what_is_known_and_can_be_settled(home):
    """The profile stands first, byte for byte the same whatever is asked; the pack names its run and its version."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        for number in range(30):
            said = f"The pump of station {number} is loud."
            said += " My name is Vera. I live in Kazan." if number == 3 else ""
            memory.record("observation", said, src="user", session="s")
            memory.record("state", f"noted, {said}", session="s")
        while memory.promote().pages:
            pass
        packs = [memory.context(query, 2000) for query in ("who am I?", "which pump is loud?")]
        prefixes = {pack.text.split("## Recalled")[0] for pack in packs}
        for pack in packs:
            assert pack.tokens <= 2000
            assert memory.settle(pack.run_id, {"type": "test_result", "value": "passed"})
            assert pack.depends_on_version
            assert all(memory.get(source) for source in pack.sources)
        other = memory.context("who am I?", 2000, session="s")
        assert "## Known" not in other.text, "a profile is of every session"
        assert other.run_id == ""
    assert len(prefixes) == 1
    assert "Kazan" in prefixes.pop()
