"""Promotion that comes by itself: behind a record, never in its way; what fails is said and tried again."""

import json
import threading
import time

import pytest

from alveus import Draft, Hippocampus, InputError, Kind, StoreError
from alveus.audit.receipt import Status
from alveus.doors.cli import main
from alveus.journal.record import Source
from alveus.promoting import following
from alveus.promoting.following import Follower
from alveus.store.database import Database


def exchanges(count, first=0, user=None):
    """So many exchanges, a record each."""
    return [
        Draft(kind=Kind.OBSERVATION, content=f"pump {n} of station {n} is loud", src=Source.USER, user=user)
        for n in range(first, first + count)
    ]


def opened(home, **options):
    """A memory that keeps its tiers."""
    return Hippocampus.open(home=home, agent_id="river", **{"tiers": True, **options})


def in_stm(memory, user=None):
    """How many pages STM holds."""
    tiers = memory._tiering()
    row = tiers.scope(memory._scope(user))
    return row.pages - row.departed


def settled(memory):
    """The memory, once nothing is due."""
    assert memory._follower.wait(30)
    return memory


@pytest.fixture
def model():
    """A summariser that fails until it is told to answer."""

    class Model:
        id = "scripted"
        works = False
        asked = 0

        def answer(self, request):
            self.asked += 1
            if not self.works:
                raise ConnectionError
            return json.dumps({"summary": request.said[0].text, "keywords": ["pump"], "facts": []})

    return Model()


@pytest.mark.parametrize("batch", [True, False])
def test_what_is_recorded_moves_by_itself(home, batch):
    """By `record` and by `record_many`, for each user apart; nobody called `promote`."""
    with opened(home) as memory:
        for user in (None, "anna"):
            if batch:
                memory.record_many(exchanges(20, user=user))
            else:
                for draft in exchanges(20, user=user):
                    memory.record(draft.kind, draft.content, src=draft.src, user=user)
        settled(memory)
        assert (in_stm(memory), in_stm(memory, "anna")) == (7, 7)
        assert not memory.marks()
        assert memory.verify_chain()


def test_closing_waits_for_what_is_due(home):
    """A process that records and ends at once, as a command does, leaves nothing due."""
    with opened(home) as memory:
        memory.record_many(exchanges(30))
    with opened(home, tiers=False) as memory:
        assert in_stm(memory) == 7


def test_what_another_process_left_is_taken_up(home):
    """Also of a user of whom nothing more is recorded."""
    with opened(home, tiers=False) as memory:
        memory.record_many([*exchanges(12, user="anna"), *exchanges(12, user="boris")])
        memory.retrieve("pump", "anna")
        assert in_stm(memory, "anna") == 12
    with opened(home) as memory:
        memory.record("observation", "something else", src="user", user="carl")
        settled(memory)
        assert (in_stm(memory, "anna"), in_stm(memory, "boris")) == (7, 7)


@pytest.mark.parametrize(
    ("given", "said", "there", "kept"),
    [
        (None, None, False, False),
        (None, None, True, True),
        (None, "on", False, True),
        (None, "off", True, False),
        (True, "off", False, True),
        (False, "on", True, False),
    ],
)
def test_who_says_whether_tiers_are_kept(home, monkeypatch, given, said, there, kept):  # noqa: PLR0917
    """The caller, else ALVEUS_TIERS, else whether there are some: a memory without tiers stays without."""
    monkeypatch.delenv("ALVEUS_TIERS", raising=False)
    if said is not None:
        monkeypatch.setenv("ALVEUS_TIERS", said)
    if there:
        with opened(home, tiers=False) as memory:
            memory.promote()
    with opened(home, tiers=given) as memory:
        memory.record_many(exchanges(9))
    with opened(home, tiers=False) as memory:
        assert (memory.folder / "tiers.db").exists() == (kept or there)
        memory.retrieve("pump")
        assert in_stm(memory) == (7 if kept else 9)


def test_a_word_that_is_none_is_refused(home, monkeypatch):
    """ALVEUS_TIERS is on or off."""
    monkeypatch.setenv("ALVEUS_TIERS", "yes")
    with pytest.raises(InputError, match="ALVEUS_TIERS"):
        Hippocampus.open(home=home, agent_id="river")


def test_no_record_waits_for_a_model(home):
    """While a model sleeps records come back; closing does not wait longer than it says."""
    asked, wake = threading.Event(), threading.Event()

    class Sleeper:
        id = "sleeper"

        def answer(self, _request):
            asked.set()
            wake.wait(30)

    with opened(home, summarizer=Sleeper()) as memory:
        memory.record_many(exchanges(9))
        assert asked.wait(30)
        took = []
        for draft in exchanges(20, first=9):
            start = time.perf_counter()
            memory.record(draft.kind, draft.content, src=draft.src)
            took.append(time.perf_counter() - start)
        assert not wake.is_set()
        assert sorted(took)[10] < 1
        wake.set()


def test_closing_leaves_a_model_that_hangs(home, monkeypatch):
    """The page it was asked about is in STM, and moves at the next opening."""
    monkeypatch.setattr("alveus.hippocampus.CLOSING", 0.2)
    asked, wake = threading.Event(), threading.Event()

    class Hung:
        id = "hung"

        def answer(self, _request):
            asked.set()
            wake.wait(60)

    memory = opened(home, summarizer=Hung())
    memory._tiering().patience = 60  # which is how long the promotion itself would wait
    memory.record_many(exchanges(9))
    assert asked.wait(30)
    start = time.perf_counter()
    memory.close()
    assert time.perf_counter() - start < 30
    wake.set()
    with opened(home, tiers=False) as memory:
        assert memory.retrieve("pump").reasons == ()
        assert in_stm(memory) == 9
        assert memory.promote().pages == 2


def test_a_promotion_that_fails_is_said_and_tried_again(home, monkeypatch):
    """The record stands and the health names it; once the disk is well, nothing is due and nothing is said."""
    monkeypatch.setattr(following, "FIRST_RETRY", 0.05)
    act = Database._commit

    def refuses(_):
        raise StoreError("no space left", code="disk_full", hint="make room")

    with opened(home) as memory:
        memory.record_many(exchanges(3))
        settled(memory)
        with monkeypatch.context() as patch:
            patch.setattr(Database, "_commit", refuses)
            assert memory.record("decision", "this one stands", src="user").record_id
            memory.record_many(exchanges(9, first=3))
            memory._follower.wait(30)
            assert any("wait in STM" in mark for mark in memory.marks())
            assert any("wait in STM" in mark for mark in memory.context("pump", 500).health)
        assert Database._commit is act
        for _ in range(200):
            if not memory.marks():
                break
            time.sleep(0.05)
        assert not memory.marks()
        settled(memory)
        assert in_stm(memory) == 7
        assert memory.size() == 13


def test_a_model_that_was_down_is_asked_again_when_nobody_records(home, monkeypatch, model):
    """An agent that has fallen silent heals by itself: pages moved without the model are summarised later."""
    monkeypatch.setattr(following, "FIRST_RETRY", 0.05)
    with opened(home, summarizer=model) as memory:
        memory.record_many(exchanges(9))
        settled(memory)
        assert any("without the model" in mark for mark in memory.marks())
        model.works = True
        for _ in range(200):
            if not memory.marks():
                break
            time.sleep(0.05)
        assert not memory.marks()
        settled(memory)
        assert not memory._tiering().db.degraded(1)


def test_retries_come_ever_more_rarely(model):
    """Doubling, up to a bound: a model that is down is not paid for all night."""
    pauses = []

    class Done:
        degraded = 1

    follower = Follower(lambda _: Done(), list)
    for _ in range(14):
        follower._promote_one("anna")
        pauses.append(follower._again["anna"][1])
    assert pauses[:4] == [1, 2, 4, 8]
    assert pauses[-1] == following.LAST_RETRY
    assert model.asked == 0


def test_two_processes_keep_one_memory(home):
    """Both promote what both record: every page once, and each move committed once."""
    with opened(home) as one, opened(home) as other:
        for number in range(10):
            one.record_many(exchanges(3, first=100 * number))
            other.record_many(exchanges(3, first=100 * number + 50))
        settled(one)
        settled(other)
        one.promote()
        assert in_stm(one) == 7
        told = list(one._tiering().ledger().receipts())
        moved = [each.source_ids for each in told if (each.boundary, each.status) == ("stm_mtm", Status.COMMITTED)]
        assert len(moved) == len(set(moved)) == 53


def test_commands_promote_what_they_record(home, tmp_path, capfd, monkeypatch):
    """`record` and `import` leave nothing due, where tiers are kept."""
    monkeypatch.setenv("ALVEUS_TIERS", "on")
    monkeypatch.setenv("ALVEUS_HOME", str(home))
    monkeypatch.setenv("ALVEUS_AGENT", "river")
    assert main(["init"]) == 0
    for number in range(9):
        assert main(["record", "observation", f"pump {number} is loud"]) == 0
    with opened(home, tiers=False) as memory:
        assert in_stm(memory) == 7
    chat = [{"role": "user", "content": f"valve {number} leaks"} for number in range(12)]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": chat}), "utf-8")
    assert main(["import", str(tmp_path / "chat.json")]) == 0
    with opened(home, tiers=False) as memory:
        assert in_stm(memory) == 7
    capfd.readouterr()
    main(["audit", "--json"])
    states = {one["state"] for lane in json.loads(capfd.readouterr().out)["lanes"] for one in lane["evidence"]}
    assert "promotion_missing" not in states


def test_a_fault_of_our_own_is_said_and_the_next_record_goes_on(home, monkeypatch):
    """What nobody foresaw ends the thread, is a mark, loses nothing, and promotion begins again behind a record."""
    ended = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: ended.set())
    with Hippocampus.open(home=home, agent_id="river", tiers=True) as memory:
        monkeypatch.setattr(memory, "promote", lambda _: 1 / 0)
        memory.record("observation", "the tide is high at noon", user="anna")
        assert ended.wait(30)
        assert [mark for mark in memory.marks() if "ZeroDivisionError" in mark]
    with Hippocampus.open(home=home, agent_id="river", tiers=True) as memory:
        memory.record("observation", "and low at six", user="anna")
        assert memory._follower.wait(30)
        assert not [mark for mark in memory.marks() if "ZeroDivisionError" in mark]
        assert memory.retrieve("tide", "anna").items
