"""What users of other memories have suffered, put to the tiers and the audit; every test holds our answer.

The number above a test is that of a report of such a failure, the rest of the line the place where it was reported.
What a test of another file answers stands in `ELSEWHERE`.
"""

import json
import re
import sqlite3
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alveus import Hippocampus, StoreError
from alveus.audit.judge import Contract, State, judge
from alveus.audit.receipt import Boundary, Status
from alveus.doors.cli import main
from alveus.journal.record import Source
from alveus.store.database import Database

TESTS = Path(__file__).parent

ELSEWHERE = {
    5: ("promoting/test_following.py", "test_a_model_that_was_down_is_asked_again_when_nobody_records"),
    14: ("test_promoting.py", "test_the_old_tiers_serve_until_the_new_ones_are_whole"),
    15: ("test_promoting.py", "test_a_full_disk_leaves_the_tiers_as_they_were"),
    17: ("test_promoting.py", "test_killed_at_any_moment_nothing_is_lost_or_doubled"),
    27: ("promoting/test_following.py", "test_what_another_process_left_is_taken_up"),
    31: ("test_promoting.py", "test_an_index_that_is_not_built_is_said"),
    41: ("test_promoting.py", "test_no_scope_leaks_into_another"),
    43: ("test_promoting.py", "test_metadata_moves_nothing"),
    45: ("test_promoting.py", "test_a_user_that_names_nobody_is_refused_everywhere"),
    54: ("test_promoting.py", "test_promoting_twice_moves_nothing_twice"),
    85: ("store/test_database.py", "test_two_files_open_wait_for_one_another"),
    86: ("test_promoting.py", "test_killed_at_each_step_nothing_is_lost_or_doubled"),
    87: ("promoting/test_following.py", "test_two_processes_keep_one_memory"),
    88: ("test_promoting.py", "test_many_promote_at_once_and_each_page_moves_once"),
    90: ("test_promoting.py", "test_nobody_waits_for_a_model"),
}
NOT_OF_THESE_ROOMS = {
    1: "where the store lies: the journal",
    2: "where the store lies: the journal",
    7: "an incremental digest: kernels",
    12: "what makes a digest due: kernels",
    29: "a long transcript: importers",
    32: "kinds of records: recall",
    34: "settings of a server: the journal",
    36: "temporary files of an index: recall",
    37: "two versions of one program: the journal",
    51: "a project's folder: the names of agents",
    56: "what a harness writes: importers",
    57: "an importer's cursor: importers",
}

# What the tests share


@pytest.fixture
def opened(home):
    """Open the memory of `river`; it promotes when it is told to."""
    return lambda **options: Hippocampus.open(home=home, agent_id="river", **{"tiers": False, **options})


@pytest.fixture
def alveus(home, capfd):
    """Run one command in this process: its exit status, stdout and stderr."""

    def call(*arguments):
        capfd.readouterr()
        status = main(["--home", str(home), "--agent", "river", *arguments])
        return (status, *capfd.readouterr())

    return call


def say(memory, *texts, user=None, session=None, src="user", event_time=None):
    """Record these, each a page of its own where the user says it."""
    for text in texts:
        memory.record("observation", text, src=src, user=user, session=session, event_time=event_time)


def talk(memory, count, user=None, first=0, about="the pump of station {} is loud"):
    """So many pages."""
    say(memory, *(about.format(number) for number in range(first, first + count)), user=user)


def records_in_pages(memory):
    """How often each record lies in a page, over all scopes and tiers."""
    tiers, found = memory._tiering(), Counter()
    tiers.catch_up()
    for row in tiers.db.scopes():
        for page in tiers.db.pages(row.id, 0, row.pages):
            found.update(ref[0] for ref in json.loads(page.refs))
    return found


def everything(memory):
    """That no page is lost or doubled: every record that was said is in one."""
    said = [one.record_id for one in memory.iter_records() if one.hc.src is not Source.SYSTEM]
    assert records_in_pages(memory) == Counter(said)


class Model:
    """A summariser that answers as it is told to."""

    id = "scripted"

    def __init__(self, act):
        self.act, self.asked = act, 0

    def answer(self, request):
        """By the script."""
        self.asked += 1
        return self.act(request)


def summarised(summary, facts=()):
    """An answer of the right form."""
    return lambda _: json.dumps({"summary": summary, "keywords": [], "facts": list(facts)})


def receipts(memory):
    """What the ledger holds."""
    memory._tiering().catch_up()
    return list(memory._tiering().ledger().receipts())


def health(memory, user="default", required=(Boundary.STORE, Boundary.STM_MTM)):
    """The judge's word on a lane."""
    contract = Contract(user_scope=user, assistant_scope="river", joined=False, required=required)
    return judge(receipts(memory), contract, datetime.now(UTC))


# A. Data loss


# 4: hindsight#3876
@pytest.mark.parametrize("answer", ['{"text": "x"}', "", '{"summary": "the pump', "[]", "null", '{"summary": 1}'])
def test_answer_of_the_wrong_form_deletes_nothing_and_is_not_green(answer, opened):
    """As many records and pages after as before; the move is marked, and so is the health."""
    with opened(summarizer=Model(lambda _: answer)) as memory:
        talk(memory, 12)
        before = memory.size()
        done = memory.promote()
        assert (done.pages, done.degraded, memory.size()) == (5, 5, before)
        assert done.problems
        everything(memory)
        found = health(memory)
        assert "degraded" in found.flags
        assert not found


# 9: BAI MemoryOS PR#65
def test_window_that_overflows_drops_nothing(opened):
    """Every page of a window and a half, and of three, is in STM or in MTM, whether or not somebody promoted."""
    with opened() as memory:
        for number in range(21):
            talk(memory, 1, first=number)
            if number % 4 == 3:
                memory.promote()
            everything(memory)
            texts = " ".join(item.text for item in memory.retrieve("pump of station", top_k=50))
            assert all(f"station {each} " in texts for each in range(number + 1))


# 10: BAI MemoryOS PR#66
@pytest.mark.parametrize("words", ["I cannot help with that", "As an AI language model, I am unable", "не могу помочь"])
def test_refusal_never_becomes_a_profile(words, opened):
    """What the user said of himself stands, and nothing of the refusal is anywhere."""

    def act(request):
        fact = {"subject": "user", "shelf": "profile", "key": "name", "value": words}
        fact["sources"] = [request.said[0].record_id]
        return json.dumps({"summary": "the pump", "keywords": [], "facts": [fact]})

    with opened(summarizer=Model(act)) as memory:
        talk(memory, 20, about="My name is Vera. The pump of station {} is loud")
        memory.promote()
        assert [fact.value for fact in memory.facts().facts if fact.key == "name"] == ["Vera"]
        assert not [fact for fact in memory.facts(history=True).facts if words in fact.value]


# 11: letta#2601, #3270
def test_summary_that_fails_keeps_the_tail_and_the_rest(opened):
    """The newest seven pages are whole in STM, the others whole in MTM, word for word."""

    def fails(_):
        raise ValueError

    with opened(summarizer=Model(fails)) as memory:
        talk(memory, 15)
        memory.promote()
        found = memory.retrieve("pump of station", top_k=50)
        assert [item.text for item in found if item.tier == "stm"] == [
            f"user: the pump of station {number} is loud" for number in range(8, 15)
        ]
        assert len([item for item in found if item.tier == "mtm"]) == 8
        everything(memory)


# 18: muninndb#779
def test_no_hole_between_leaving_and_arriving(opened):
    """While a page is between STM and MTM, and a model thinks about it, a question finds it."""
    asked, wake = threading.Event(), threading.Event()

    def sleeps(_):
        asked.set()
        wake.wait(30)

    with opened(summarizer=Model(sleeps)) as memory, opened() as other:
        talk(memory, 9)
        thread = threading.Thread(target=memory.promote)
        thread.start()
        assert asked.wait(30)
        found = [item.text for item in other.retrieve("the pump of station 0")]
        wake.set()
        thread.join(60)
        assert any("station 0 " in text for text in found)
        assert any("station 0 " in item.text for item in other.retrieve("the pump of station 0"))


# 19: opencode-mem#237
def test_making_room_takes_what_was_chosen_and_no_more(opened):
    """The coldest topic leaves MTM alone: not the others, and not the journal; recall still finds it."""
    with opened() as memory:
        say(memory, *(" ".join(f"word{n}x{m}" for m in range(6)) for n in range(210)))
        memory.promote()
        tiers = memory._tiering()
        row = tiers.db.scopes()[0]
        assert len(tiers.db.segments(row.id)) == 200
        gone = {one.segment for one in tiers.db.pages(row.id, 0, 203)} - {one.id for one in tiers.db.segments(row.id)}
        assert len(gone) == 3
        everything(memory)
        (page,) = tiers.db.pages_of(gone.pop())
        words = page.query.split()[0]
        assert [record.content.split()[0] for record in memory.pattern_completion(words, 1)] == [words]


# 20: QwenPaw PR#3028
@pytest.mark.parametrize(
    "text", ["Error: Could not get response from LLM.", "Request timed out (504)", "rate limit exceeded", "Traceback"]
)
@pytest.mark.parametrize("inside", [True, False])
def test_text_of_an_error_is_no_summary(text, inside, opened):
    """Neither alone nor in the right form; nothing says that it was done."""
    with opened(summarizer=Model(summarised(text) if inside else lambda _: text)) as memory:
        talk(memory, 9)
        done = memory.promote()
        assert (done.degraded, len(done.problems) > 0) == (2, True)
        assert not [record for record in memory.iter_records() if text in record.content]
        assert not [one for one in memory._tiering().db.segments(1) if text in one.summary]


# B. Silent failure


# 21: MemOS#1493
def test_what_was_stored_comes_back_with_ids(opened):
    """A page and a fact name the records they rest on, and each is in the journal."""
    with opened() as memory:
        talk(memory, 20, about="I live in Oslo. The pump of station {} is loud")
        memory.promote()
        found = memory.retrieve("pump")
        assert {item.tier for item in found} == {"stm", "mtm", "lpm"}
        assert all(memory.get(source) for item in found for source in item.sources)
        assert found.run_id
        assert all(item.id and item.sources for item in found)


# 23: MemOS#1681
# 38: MemWal#416
def test_misspelt_user_and_a_true_miss_are_told_apart(opened, alveus):
    """By `retrieve` and by `promote`, in words and by a code; an empty memory is a third thing."""
    with opened() as memory:
        assert [why.code for why in memory.retrieve("pump", "anna").reasons] == ["nothing_stored"]
        talk(memory, 3, user="anna")
        assert [why.code for why in memory.retrieve("pump", "ana").reasons] == ["unknown_scope"]
        assert [why.code for why in memory.promote("ana").reasons] == ["unknown_scope"]
        assert not memory.promote("anna").reasons
        assert not memory.retrieve("a word that nobody said", "anna").reasons
    assert "nothing is stored of user 'ana'" in alveus("promote", "--user", "ana")[2]


# 24: mem0#4540, #4061, #4526
def test_facts_that_a_model_garbled_are_missed_aloud(opened, alveus):
    """The promotion names the problem, the receipts are degraded, and the audit carries the flag."""
    with opened(summarizer=Model(lambda _: '{"summary": "\\u12", "facts": [')) as memory:
        talk(memory, 9)
        assert memory.promote().problems
        assert [one.status for one in receipts(memory)].count(Status.DEGRADED) == 2
    lanes = json.loads(alveus("audit", "--json")[1])["lanes"]
    assert lanes[0]["flags"] == ["degraded"]


# 25: mem0#6898
# 30: hindsight#3455
def test_tiers_that_cannot_be_asked_are_an_error_and_said_in_a_context(opened, monkeypatch):
    """Never an answer that looks like nothing found; a context is made without them, and says so."""
    with opened() as memory:
        talk(memory, 9)
        memory.promote()

        def broken(*_):
            raise sqlite3.OperationalError("disk I/O error")

        monkeypatch.setattr(Database, "pages", broken)
        with pytest.raises(StoreError) as caught:
            memory.retrieve("pump")
        assert caught.value.code == "tiers_unavailable"
        pack = memory.context("pump", 500)
        assert any("the tiers cannot be asked" in mark for mark in pack.health)
        assert pack.sources


# 28: hindsight#3397, #3362
def test_waiting_and_failed_are_two_states(opened, monkeypatch):
    """Within the window a page waits; one that should have moved is missing; moved, nothing is counted any more."""
    with opened() as memory:
        talk(memory, 7)
        memory.retrieve("pump")
        assert health(memory).state is State.WAITING
        talk(memory, 2, first=7)
        with monkeypatch.context() as patch:
            patch.setattr(Database, "check", lambda *_: (_ for _ in ()).throw(StoreError("no", hint="x")))
            with pytest.raises(StoreError):
                memory.promote()
        assert health(memory).state is State.PROMOTION_MISSING
        assert memory.promote().pages == 2
        found = health(memory)
        assert found.state is State.WAITING
        assert State.PROMOTION_MISSING not in {one.state for one in found.evidence}


# 39: cognee#3547, openclaw#32277, agentmemory#1373, agentmemory#455, kern-ai#333
def test_change_of_embedding_size_and_back_is_said_and_mended(opened):
    """26 dimensions, then 13, then 26: pages are found at every stage, the change is said, a rebuild mends it."""
    np = pytest.importorskip("numpy")

    class Letters:
        revision = "1"

        def __init__(self, dims):
            self.dims, self.id = dims, f"letters{dims}"

        def encode(self, texts):
            rows = np.array(
                [
                    [1e-3 + sum(ord(mark) % self.dims == at for mark in text) for at in range(self.dims)]
                    for text in texts
                ],
                dtype=np.float32,
            )
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

        def calibration(self, cosine):
            return cosine

    with opened(embedder=Letters(26)) as memory:
        talk(memory, 15)
        memory.promote()
    for dims in (13, 26):
        with opened(embedder=Letters(dims)) as memory:
            found = memory.retrieve("pump of station 2")
            if dims == 13:
                assert [why.code for why in found.reasons] == ["embedder_changed"]
            assert any(item.tier == "mtm" for item in found)
            memory.prepare_recall(anew=True)
            assert not memory.retrieve("pump of station 2").reasons
            everything(memory)


# C. Wrong-scope leaks

TWINS = (
    "john_doe",
    "john-doe",
    "johnXdoe",
    "%",
    "_",
    "acme",
    "acme-corp",
    "Анна",
    "Aнна",
    "..",
    "a/b",
    "&agent_id=x",
    "'",
    "x" * 300,
)


# 42: langgraph#8478
# 49: openclaw#85240, #97458, #108881, #84466
# 52: LongMemory#97
def test_nothing_of_another_scope_comes_by_any_path(opened, alveus):
    """Names that are like one another or like a pattern, crossed in every read path: recall, context, tiers, audit."""
    with opened() as memory:
        for turn in range(9):
            for number, user in enumerate(TWINS):
                say(memory, f"shared pump words, secret{number:02}e. I live in Place{number:02}e. t{turn}", user=user)
        for user in TWINS:
            memory.promote(user)
        for number, user in enumerate(TWINS):
            run = memory.retrieve("shared pump words secret", user)
            paths = {
                "retrieve": " ".join(item.text for item in run),
                "recall": " ".join(one.content for one in memory.pattern_completion("shared secret", 50, user=user)),
                "context": memory.context("shared pump words secret", 3000, user=user).text,
                "facts": " ".join(fact.value for fact in memory.facts(user, history=True).facts),
            }
            for path, text in paths.items():
                assert set(re.findall(r"(?:secret|Place)(\d\d)e", text)) <= {f"{number:02}"}, (path, user)
            assert f"secret{number:02}e" in paths["context"]
            assert memory.settle(run.run_id, {"type": "row_id", "value": f"row{number}"})
        told = receipts(memory)
        assert {one.user_scope for one in told} == set(TWINS)
    for user in TWINS[:8]:
        listed = alveus("receipts", "ls", "--user", user)[1].splitlines()
        assert {line.split("\t")[5] for line in listed} == {user}
        lanes = json.loads(alveus("audit", "--user", user, "--json")[1])["lanes"]
        assert [lane["user_scope"] for lane in lanes] == [user]
        assert "scope_conflict" not in {one["state"] for one in lanes[0]["evidence"]}


# 46: MemMachine#320, #407, #1318
def test_default_user_is_nobody_elses(opened):
    """What names no user is of one scope like any other: it sees nobody's, and nobody sees it."""
    with opened() as memory:
        talk(memory, 3, user="anna")
        talk(memory, 3, about="the valve of station {} leaks")
        assert not [item for item in memory.retrieve("pump valve") if "pump" in item.text]
        assert not [item for item in memory.retrieve("pump valve", "anna") if "valve" in item.text]
        assert not [item for item in memory.retrieve("pump valve", session="s") if item]


# 47: hindsight#3429
def test_same_document_in_two_scopes_stays_two(opened):
    """One origin, two users, each with their own words: a page each, and a change of one leaves the other."""
    with opened() as memory:
        for user, words in (("anna", "red pump"), ("boris", "blue pump"), ("anna", "green pump")):
            memory.record("observation", words, src="user", user=user, origin="notes:doc:1")
        assert [item.text for item in memory.retrieve("pump", "boris")] == ["user: blue pump"]
        assert [item.text for item in memory.retrieve("pump", "anna")] == ["user: red pump", "user: green pump"]


# 48: graphiti#1161, #1325, #1658
def test_making_one_scope_anew_leaves_the_others(opened):
    """Promoting one user changes no row of another; a rebuild of all gives each the same again."""
    with opened() as memory:
        for user in ("anna", "boris"):
            talk(memory, 12, user=user)
        memory.promote("anna")
        tiers = memory._tiering()

        def of(user):
            row = tiers.db.scope(user, "river")
            return row, tiers.db.pages(row.id, 0, row.pages), tiers.db.segments(row.id), tiers.db.facts(row.id)

        before = of("anna")
        memory.promote("boris")
        assert of("anna") == before
        memory.prepare_recall(anew=True)
        assert of("anna") == before


# D. Duplicates


# 55: supermemory openclaw-supermemory#60
def test_fact_said_in_nine_sessions_is_one(opened):
    """And the two wrong ones before it do not outrank it."""
    with opened() as memory:
        for number, town in enumerate(["Rome", "Riga", *["Oslo"] * 9]):
            for page in range(3):
                say(memory, f"Pump {page}. I live in {town}.", session=f"s{number}")
        for _ in range(3):
            memory.promote()
        standing = [fact.value for fact in memory.facts().facts if fact.key == "lives_in"]
        assert standing == ["Oslo"]
        assert [item.text for item in memory.retrieve("where do I live?") if item.kind == "profile"] == [
            "lives in: Oslo"
        ]


# 59: mem0#5545, #5613, truememory#39, memoria#216
def test_blank_content_makes_no_page_and_no_fact(opened):
    """There is nothing to remember, and a model is not asked to make something of it."""
    model = Model(summarised("something"))
    with opened(summarizer=model) as memory:
        for blank in ("", " ", "\n\t", "\u3000"):
            memory.record("observation", blank, src="user")
        assert [why.code for why in memory.retrieve("x").reasons] == ["nothing_stored"]
        assert memory.promote().pages == 0
        assert model.asked == 0
        assert not memory.facts(history=True).facts


# 60: mem0#5643
def test_what_the_assistant_says_is_not_the_users(opened):
    """The same sentence, by the one and by the other, is a fact of each; a tool's is a fact of nobody."""

    def act(request):
        fact = {"subject": "user", "shelf": "profile", "key": "home", "value": "the cloud"}
        fact["sources"] = [request.said[-1].record_id]
        return json.dumps({"summary": "the pump is loud", "keywords": [], "facts": [fact]})

    with opened(summarizer=Model(act)) as memory:
        for number in range(14):
            say(memory, f"The pump {number} is loud. I live in Oslo.")
            say(memory, "I live in the cloud.", src="agent")
            say(memory, "I live in a tool.", src="tool")
        memory.promote()
        found = {(fact.subject, fact.value) for fact in memory.facts(history=True).facts}
        assert found == {("user", "Oslo"), ("assistant", "the cloud")}


# 61: MemOS#1913
def test_near_copies_do_not_crowd_out_the_rest(opened):
    """Forty times the same exchange is one answer, and leaves room for the others."""
    with opened() as memory:
        for number in range(12):
            say(memory, f"the pump of hall {number} has the serial number {number}{number}{number}")
        say(memory, *["is the pump loud?"] * 40)
        memory.promote()
        texts = [item.text for item in memory.retrieve("pump") if item.tier == "mtm"]
        assert len(texts) == len(set(texts)) == 10
        assert sum("serial number" in text for text in texts) == 9


# E. Stale and conflicting memory


# 63: memoria#88, #93
@pytest.mark.parametrize(
    ("old", "new", "key", "value"),
    [
        ("We use PostgreSQL as our database.", "We now use MySQL as our database.", "uses:database", "MySQL"),
        ("Мы используем PostgreSQL как базу.", "Мы теперь используем MySQL как базу.", "uses:базу", "MySQL"),
        ("I live in Oslo.", "Теперь я живу в Казани.", "lives_in", "Казани"),
        ("Меня зовут Вера.", "My name is Nadia.", "name", "Nadia"),
    ],
)
def test_of_two_contradicting_facts_the_newest_stands(old, new, key, value, opened):
    """In English, in Russian, from one to the other; the old one is history, and says what replaced it."""
    with opened() as memory:
        talk(memory, 7, about=old + " Pump {} is loud")
        talk(memory, 14, about=new + " Pump {} is loud", first=7)
        for _ in range(3):
            memory.promote()
        (now,) = [fact for fact in memory.facts().facts if fact.key == key]
        assert now.value == value
        replaced = [fact for fact in memory.facts(history=True).facts if fact.key == key and fact.superseded_by]
        assert replaced
        assert {fact.superseded_by for fact in replaced} == {now.id}


# 64: memoria#10, symaira-memory#555
# 66: graphiti PR#1804, #139
# 68: A-mem#35
def test_what_was_replaced_neither_answers_nor_takes_room(opened):
    """Sixty towns one after another, and one dog: retrieval, listing and context give the last town and the dog."""
    with opened() as memory:
        say(memory, "My dog is called Rex.")
        for number in range(60):
            say(memory, f"I live in Town{number}. The pump is loud.")
        talk(memory, 8)
        for _ in range(3):
            memory.promote()
        last = [fact.value for fact in memory.facts().facts if fact.key == "lives_in"]
        assert len(last) == 1
        asked = memory.retrieve(f"Town3 Town4 {last[0]} where do I live, and my dog?")
        facts = [item.text for item in asked if item.tier == "lpm"]
        assert sorted(facts) == sorted(["family dog: Rex", f"lives in: {last[0]}"]) or facts == [f"lives in: {last[0]}"]
        known = memory.context("where do I live?", 2000).text.partition("## Recalled")[0]
        assert re.findall(r"Town\d+", known) == last


# 67: graphiti#1661, #1625
# 70: hindsight#3500, MemOS#948
def test_newest_is_what_happened_last_not_what_was_told_last(opened):
    """An old conversation that is imported later replaces nothing; each fact and page says when it was."""
    with opened() as memory:
        for page in range(7):
            say(memory, f"I live in Oslo. Pump {page}.", event_time="2025-06-01T12:00:00+00:00")
        for page in range(14):
            say(memory, f"I live in Rome. Pump {page}.", event_time="2020-06-01T12:00:00+00:00")
        for _ in range(3):
            memory.promote()
        (now,) = [fact for fact in memory.facts().facts if fact.key == "lives_in"]
        assert now.value == "Oslo"
        assert datetime.fromtimestamp(now.since, UTC).year == 2025
        (old, *_) = [fact for fact in memory.facts(history=True).facts if fact.value == "Rome" and not fact.restates]
        assert (datetime.fromtimestamp(old.since, UTC).year, old.superseded_by) == (2020, now.id)
        assert "since 2025-06-01" in memory.context("where?", 2000).text
        before = memory.retrieve("pump", until="2021-01-01")
        assert {datetime.fromtimestamp(item.since, UTC).year for item in before} == {2020}


# H. Concurrency


# 89: MemOS#1354, MemMachine#1312, #1174, #1175
def test_first_use_of_the_tiers_by_many_at_once(opened):
    """Six that open, ask and promote at the same moment, none of whom finds a database: no error, one set of tiers."""
    with opened() as memory:
        talk(memory, 20)
    together, failed, found = threading.Barrier(6), [], []

    def begin():
        try:
            with opened() as memory:
                together.wait(30)
                found.append(len(memory.retrieve("pump of station", top_k=50)))
                memory.promote()
        except Exception as error:  # noqa: BLE001  (whatever it was, the test shows it)
            failed.append(error)

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed
    assert len(found) == 6
    with opened() as memory:
        everything(memory)
        moved = [
            one.source_ids
            for one in receipts(memory)
            if (one.boundary, one.status) == (Boundary.STM_MTM, Status.COMMITTED)
        ]
        assert len(moved) == len(set(moved)) == 13


# J. Malformed answers of models


def _with_sources(sources):
    """An answer with one fact that rests on these."""
    fact = f'{{"subject": "user", "shelf": "profile", "key": "k", "value": "pump", "sources": {sources}}}'
    return f'{{"summary": "the pump", "keywords": [], "facts": [{fact}]}}'


# 102: mem0#4540, #4526, #5966, #5604
# 103: graphiti#871, #879, #912
@pytest.mark.parametrize(
    "answer",
    [
        '{"summary": "the pump \\ud800", "keywords": [], "facts": []}',
        '{"summary": "the pump \\uZZZZ", "keywords": [], "facts": []}',
        'Here you are: {"summary": "the pump", "keywords": [], "facts": []}',
        '```json\n{"summary": "the pump", "keywords": [], "facts": []}\n```',
        '{"summary": "the pump", "keywords": []}',
        '{"summary": "the pump", "keywords": [], "facts": [{}]}',
        _with_sources('["7"]'),
        _with_sources("[0]"),
        '{"summary": "the pump", "keywords": [], "facts": {"a": 1}}',
        "\x00",
        "[" * 100_000,
    ],
)
def test_answer_with_broken_parts_stops_nothing_and_is_taken_whole_or_not(answer, opened):
    """Half of a surrogate pair, prose around it, fields and labels that are not there: all pages move all the same."""
    with opened(summarizer=Model(lambda _: answer)) as memory:
        talk(memory, 12)
        done = memory.promote()
        assert (done.pages, done.degraded) == (5, 5)
        everything(memory)
        assert not [record for record in memory.iter_records() if "summary" in record.metadata]
        assert memory.verify_chain()


# The account


def test_every_report_has_its_answer():
    """Each number of these kinds is answered here, or by a test of another file that exists, or is of another room."""
    numbers = {
        *(1, 2, 4, 5, 7, 9, 10, 11, 12, 14, 15, 17, 18, 19, 20),  # A. data loss and destructive maintenance
        *(21, 23, 24, 25, 27, 28, 29, 30, 31, 32, 34, 36, 37, 38, 39),  # B. silent failure
        *(41, 42, 43, 45, 46, 47, 48, 49, 51, 52),  # C. wrong-scope leaks
        *(54, 55, 56, 57, 59, 60, 61),  # D. duplicates, junk, feedback loops
        *(63, 64, 66, 67, 68, 70),  # E. stale and conflicting memory
        *(85, 86, 87, 88, 89, 90),  # H. concurrency and locks
        *(102, 103),  # J. malformed output of models
    }
    source = Path(__file__).read_text(encoding="utf-8")
    tested = {
        int(number)
        for block in re.findall(r"((?:^# \d+: .+\n)+)(?:@|def test_)", source, re.MULTILINE)
        for number in re.findall(r"^# (\d+):", block, re.MULTILINE)
    }
    assert not tested & ELSEWHERE.keys()
    assert not (tested | ELSEWHERE.keys()) & NOT_OF_THESE_ROOMS.keys()
    assert tested | ELSEWHERE.keys() | NOT_OF_THESE_ROOMS.keys() == numbers
    for name, test in ELSEWHERE.values():
        assert f"def {test}(" in (TESTS / name).read_text(encoding="utf-8"), test
