"""Filters hold before anything is ranked, no scope meets another, and a question may be anything."""

import itertools
import random
import re
import subprocess
import sys
from datetime import UTC, date, datetime

import pytest

from alveus import Draft, Hippocampus, InputError, Kind
from alveus.language.turn import fold, turn_of
from alveus.recall import Reason, ranking, words
from alveus.recall.words import Wanted
from letters import Letters

AGENT = "river"
MARK = "\ue000"


def draft(content, **fields):
    """One state."""
    return Draft(kind=fields.pop("kind", Kind.STATE), content=content, **fields)


def contents(found):
    """What came back."""
    return [record.content for record in found]


@pytest.fixture
def memory(home):
    """An empty journal."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        yield memory


# Filters before ranking


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """5,000 records of others, which match best, in front of and behind three of mine."""
    other = draft("password policy of the database server", user="other", session="theirs", kind=Kind.DECISION)
    noise = [
        other if number % 2 else draft(f"password policy {number}", user=f"u{number % 50}", session=f"s{number % 7}")
        for number in range(2500)
    ]
    mine = [
        draft(
            f"a long note about this and that which ends with a password, number {number}",
            user="mine",
            session="ours",
            kind=Kind.ERROR,
            event_time=f"2024-05-0{number}T12:00:00+00:00",
        )
        for number in (1, 2, 3)
    ]
    with Hippocampus.open(home=tmp_path_factory.mktemp("home"), agent_id=AGENT) as memory:
        memory.record_many([*noise, *mine, *noise])
        yield memory


@pytest.mark.parametrize(
    "scope",
    [
        {"user": "mine"},
        {"session": "ours"},
        {"user": "mine", "session": "ours"},
        {"kinds": ["error"]},
        {"kinds": [Kind.ERROR, "transfer"], "user": "mine"},
        {"since": "2024-05-01", "until": "2024-05-03"},
        {"since": "1900-01-01", "until": "2024-05-03", "kinds": ["error"]},
        {"until": date(2024, 5, 3)},
        {"since": datetime(2024, 5, 1, tzinfo=UTC), "until": "2024-05-03T15:00:00+03:00"},
    ],
)
def test_a_filter_applies_before_ranking(crowded, scope):
    """All three of mine come back, whatever of others matches better, and nothing else does."""
    found = crowded.pattern_completion("password policy of the database server", 50, **scope)
    assert len(found) == 3
    assert all("number" in record.content for record in found)


def test_the_beginning_of_a_word_is_looked_for_within_the_scope(memory):
    """Others' words with the same beginning, ever so many and frequent, do not hide mine."""
    memory.record_many([draft(f"konto{number}x konto{number}x", user="other") for number in range(300)] * 2)
    memory.record("state", "kontomine", user="me")
    assert contents(memory.pattern_completion("konto", user="me")) == ["kontomine"]


def test_a_speaker_outside_the_scope_does_not_take_the_name_away(memory):
    """Two Anns there are, one of them mine: a question about Ann among my records means her."""
    memory.record_many([draft("Ann Berg: the boat is red", user="other"), draft("Ann Berg: a boat", user="other")])
    memory.record_many(
        [draft(f"{who}: the boat number {number}", user="me") for number in range(5) for who in ("Ann Holm", "Bob Ek")]
    )
    found = memory.pattern_completion("what did Ann say about the boat", 3, user="me", explain=True)
    assert all(record.content.startswith("Ann Holm") for record in found)
    assert all(why.parts["speaker"] > 0 for why in found.why)


@pytest.mark.parametrize(
    ("since", "until", "found"),
    [
        ("2026-01-01", "2026-01-01", [1, 2, 3]),
        ("2026-01-02", None, [4]),
        (None, "2025-12-31", [0]),
        ("2026-01-01T00:00:00+00:00", "2026-01-01T11:00:00Z", [1, 2]),
        ("2026-01-01T14:00:00+03:00", "2026-01-01T14:00:00+03:00", [2]),
        ("2026-01-01T12:00:00-23:00", None, [4]),
        (date(2026, 1, 1), datetime(2026, 1, 1, 11, tzinfo=UTC), [1, 2]),
        ("2026-01-03", "2026-01-01", []),
    ],
)
def test_times_are_when_it_happened(memory, since, until, found):
    """A day begins and ends at midnight UTC, an instant is one whatever its zone, and both ends belong to it."""
    times = (
        "2025-12-31T23:59:59.999999+00:00",
        "2026-01-01T03:00:00+03:00",
        "2026-01-01T11:00:00+00:00",
        "2026-01-01T23:59:59.999999+00:00",
        "2026-01-02T23:00:00-23:00",
    )
    memory.record_many([draft(f"tide {number}", event_time=when) for number, when in enumerate(times)])
    assert sorted(contents(memory.pattern_completion("tide", since=since, until=until))) == [
        f"tide {number}" for number in found
    ]


def test_what_says_no_time_happened_when_it_was_recorded(home, clock):
    """Recorded time stands in for event time, and only where there is none."""
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        memory.record("state", "tide plain")
        memory.record("state", "tide of old", event_time="2020-05-05T00:00:00+00:00")
        assert contents(memory.pattern_completion("tide", since="2026-01-01", until="2026-01-01")) == ["tide plain"]
        assert contents(memory.pattern_completion("tide", until="2020-05-05")) == ["tide of old"]


# Scopes


AWKWARD = [
    "john_doe",
    "john-doe",
    "johnXdoe",
    "JOHN_DOE",
    "acme",
    "acme-corp",
    "acme%",
    "%",
    "_",
    "\\",
    "'",
    '"',
    "' OR 1=1 --",
    "..",
    "/",
    "../acme",
    "аcme",
    "Acme",
    "é",
    "e\u0301",
    "1",
    "0",
    "u1",
    MARK + "u1",
    MARK + "s1",
    "x" * 300,
    "x" * 299 + "y",
    "*",
    "NOT acme",
    "😀",
    " acme",
    "acme ",
]


def test_no_scope_meets_another(memory):
    """Ids that differ in a sign, a letter's script, its case or its composition, crossed as users and sessions."""
    pairs = list(itertools.product(AWKWARD, AWKWARD))
    memory.record_many(
        [
            draft(f"secret {user} {session} {number} {MARK}u1 {MARK}s1", user=user, session=session)
            for number, (user, session) in enumerate(pairs)
        ]
    )
    size = len(AWKWARD)
    for one in AWKWARD:
        by_user = memory.pattern_completion("secret", 2000, user=one)
        assert {record.hc.user for record in by_user} == {one}
        assert len(by_user) == size
        by_session = memory.pattern_completion(f"secret {one}", 2000, session=one)
        assert {record.hc.session for record in by_session} == {one}
        assert len(by_session) == size
    dice = random.Random(1)
    for user, session in dice.sample(pairs, 100):
        (found,) = memory.pattern_completion("secret", 2000, user=user, session=session)
        assert (found.hc.user, found.hc.session) == (user, session)


@pytest.mark.parametrize(
    "query",
    [f"{MARK}u1", f"{MARK}u1 secret", f'secret" OR "{MARK}u1', f"secret) OR ({MARK}u1", f"{MARK}k0", f"{MARK}d20000"],
)
def test_a_mark_in_a_text_or_a_query_is_no_scope(memory, query):
    """The character that scopes stand behind in the index, in a content or a query, opens nothing."""
    memory.record("state", f"secret of one {MARK}u2 {MARK}s2", user="one", session="a")
    memory.record("state", f"secret of two {MARK}u1 {MARK}s1", user="two", session="b")
    for user, session in (("one", "a"), ("two", "b")):
        for found in (
            memory.pattern_completion(query, user=user),
            memory.pattern_completion(query, session=session),
        ):
            assert {record.hc.user for record in found} <= {user}


def test_a_content_cannot_put_itself_into_a_session(memory):
    """A chat log's head groups its turns, and is no session that anybody named."""
    memory.record("observation", "[session 1] Eve: obey the sentence", src="tool")
    memory.record("observation", "obey the law", session="session 1")
    assert contents(memory.pattern_completion("obey", session="session 1")) == ["obey the law"]
    with pytest.raises(InputError):
        memory.pattern_completion("obey", session="\nsession 1")


def test_a_thousand_users_each_find_their_own(memory):
    """One session name for all, and still each user's records are theirs alone."""
    memory.record_many(
        [
            draft(f"note {number} of {user}", user=f"user-{user}", session="main")
            for user in range(1000)
            for number in (1, 2)
        ]
    )
    for user in range(0, 1000, 37):
        found = memory.pattern_completion("note", 50, user=f"user-{user}", session="main")
        assert sorted(contents(found)) == [f"note 1 of {user}", f"note 2 of {user}"]
    assert len(memory.pattern_completion("note", 3000, session="main")) == 2000


@pytest.mark.parametrize(
    "scope",
    [
        {"user": ""},
        {"user": " "},
        {"user": 0},
        {"user": False},
        {"user": ["a"]},
        {"user": "\ud800"},
        {"session": ""},
        {"session": "\t"},
        {"session": 0},
        {"session": "a\udfff"},
        {"kinds": []},
        {"kinds": ["nothing"]},
        {"kinds": "decision"},
        {"kinds": 5},
        {"kinds": [None]},
        {"since": ""},
        {"since": "yesterday"},
        {"since": 0},
        {"since": "2026-13-01"},
        {"since": "2026-W01-1"},
        {"until": "2026-02-30"},
        {"until": "2026-01-01T12:00:00"},
        {"until": datetime(2026, 1, 1)},  # noqa: DTZ001  (that is the point)
        {"since": b"2026-01-01"},
        {"asked_at": "2026-01-01"},
        {"asked_at": 0},
    ],
)
def test_a_filter_that_means_nothing_is_refused(memory, scope):
    """An empty id is no wish to see everybody: it is refused, with a hint."""
    memory.record("decision", "something")
    with pytest.raises(InputError) as caught:
        memory.pattern_completion("something", **scope)
    assert caught.value.hint


# Empty answers


def test_every_reason_is_told_apart(memory, monkeypatch):
    """Each code of an empty answer is reached by what it names."""
    assert memory.pattern_completion(" \n").code is Reason.EMPTY_QUERY
    assert memory.pattern_completion("x").code is Reason.NOTHING_STORED
    assert memory.pattern_completion("x", user="nobody").code is Reason.NOTHING_STORED
    assert memory.selective_load(10).code is Reason.ALL_ROUTINE
    memory.record("decision", "the bridge is open", user="ann", session="s")
    assert memory.pattern_completion("bridge", user="Ann").code is Reason.UNKNOWN_SCOPE
    assert memory.pattern_completion("bridge", session="t").code is Reason.UNKNOWN_SCOPE
    assert memory.pattern_completion("bridge", since="2100-01-01").code is Reason.FILTERED_OUT
    assert memory.pattern_completion("bridge", kinds=["error"]).code is Reason.FILTERED_OUT
    assert memory.pattern_completion("xylophone").code is Reason.NO_MATCH
    assert memory.pattern_completion("?!…").code is Reason.NO_MATCH
    assert memory.selective_load(1).code is Reason.OVER_BUDGET
    found = memory.pattern_completion("bridge")
    assert (found.code, found.reason) == (None, "")
    search = memory._agent.search()
    monkeypatch.setattr(search, "_lag", lambda _: 3)
    behind = memory.pattern_completion("xylophone")
    assert behind.code is Reason.INDEX_BEHIND
    assert "3 records" in behind.reason
    assert "3 records behind" in " ".join(memory.marks())
    monkeypatch.undo()
    spoil(memory, b"the bridge is open", b"the bridge is shut")
    failed = memory.pattern_completion("bridge")
    assert failed.code is Reason.CHECK_FAILED
    assert len(failed.left_out) == 1


def spoil(memory, before, after):
    """Change bytes of the journal on disk, the first place of them."""
    memory.flush()
    path = memory.folder / "stream.jsonl"
    at = path.read_bytes().index(before)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(after)


def test_what_comes_back_was_checked(memory):
    """A line that was changed after it was indexed is named, not returned; the others come."""
    memory.record_many([draft(f"harbour {number}") for number in range(4)])
    assert len(memory.pattern_completion("harbour")) == 4
    spoil(memory, b"harbour 2", b"harbour 9")
    found = memory.pattern_completion("harbour")
    assert sorted(contents(found)) == ["harbour 0", "harbour 1", "harbour 3"]
    (fault,) = found.left_out
    assert fault.code == "bad_signature"


def test_the_other_of_twins_comes_where_the_best_fails_its_check(memory):
    """Equal contents come once, the newest of them; and where that one is damaged, the one before it."""
    first = memory.record("decision", "the one and only ferry", metadata={"n": 1})
    second = memory.record("decision", "the one and only ferry", metadata={"n": 2})
    assert [record.record_id for record in memory.pattern_completion("ferry")] == [second.record_id]
    spoil(memory, b'"n":2', b'"n":3')
    found = memory.pattern_completion("ferry")
    assert [record.record_id for record in found] == [first.record_id]
    assert len(found.left_out) == 1


# Why


def test_an_explanation_is_true(crowded):
    """The parts add up to the score, and the words named are in the record."""
    found = crowded.pattern_completion("which password policy has the database server", 20, explain=True)
    assert len(found.why) == len(found) > 0
    for record, why in zip(found, found.why, strict=True):
        assert sum(why.parts.values()) == pytest.approx(why.score, abs=0.01)
        assert why.words or why.beside
        assert all(word in fold(record.content) for word in why.words)
    assert not crowded.pattern_completion("password").why


# Words


def test_a_word_that_all_hold_helps_a_rare_one(memory):
    """What holds the rare word comes first, though nearly every record holds the other."""
    memory.record_many([draft(f"the server says {number}") for number in range(3000)])
    memory.record("state", "the server moved to Kazan")
    memory.record_many([draft(f"the server says {number} again") for number in range(3000)])
    assert contents(memory.pattern_completion("server Kazan", 1)) == ["the server moved to Kazan"]


class Held:
    """Records that hold words: each word's numbers."""

    def __init__(self, held):
        self._held = held

    def holding(self, terms):
        return len(set().union(*(self._held[term] for term in terms)))

    def newest(self, words, limit):
        sets = [set().union(*(self._held[one] for one in re.findall(r"\w+", word) if one != "OR")) for word in words]
        return sorted(set.intersection(*sets))[-limit:]


@pytest.mark.parametrize("count", [2, 3, 4])
def test_of_frequent_words_alone_what_holds_all_of_them_is_found(count):
    """Every word is too frequent to be looked up whole, and the oldest records alone hold all: they are brought in."""
    held = {f"w{number}": {*range(number * 20_000, (number + 1) * 20_000 + 50 * number)} for number in range(count)}
    both = {7, 11}
    records = Held({word: numbers | both for word, numbers in held.items()})
    wanted = [Wanted(word, (word,), word) for word in held]
    evidence = words.find(records, wanted, 200_000)
    assert both <= set(ranking.brought_in(evidence))
    for one in evidence:
        assert both <= set(one.rows), "and each word is seen to be in it"
        assert list(one.rows) == sorted(set(one.rows))


def test_two_words_that_a_record_holds_are_found_however_frequent(memory):
    """The same through the index: the oldest record alone holds both words."""
    memory.record("state", "alpha beta")
    memory.record_many([draft(f"{'alpha' if number % 2 else 'beta'} {number}") for number in range(18_000)])
    assert contents(memory.pattern_completion("beta alpha", 1)) == ["alpha beta"]
    found = memory.pattern_completion("which alpha is a good beta", 1, explain=True)
    assert contents(found) == ["alpha beta"]
    assert {"alpha", "beta"} <= set(found.why[0].words)


@pytest.mark.parametrize(
    "text", ["it's/that", "user's@home", "l'homme/femme", "a.b'c", "path/to/it's.txt", "x='y'", "don't", "#'{}|<>~`^$;"]
)
def test_what_is_written_with_apostrophes_is_found(memory, text):
    """A term with an apostrophe in it is one term in the index too."""
    memory.record("state", f"see {text} there")
    memory.record("state", "nothing of the kind")
    assert contents(memory.pattern_completion(f"see {text}", 1)) == [f"see {text} there"]
    if turn_of({"content": text, "metadata": {}, "kind": "state", "novelty": "novel", "timestamp": "2026-01-01"}).terms:
        assert contents(memory.pattern_completion(text, 1)) == [f"see {text} there"]


QUERIES = [
    "AND",
    "OR NOT NEAR",
    "harbour AND",
    "NOT harbour",
    "NEAR(harbour boat, 2)",
    "harbour*",
    '"harbour',
    "harbour ^ boat",
    "t:harbour",
    "{t}:harbour",
    "-harbour",
    "+harbour",
    "(((harbour",
    "harbour')); DROP TABLE turn; --",
    "harbour\x00boat",
    "\x00harbour",
    "harbour \ud800\udfff",
    "\udcff",
    f"{MARK}harbour",
    "\ufffe harbour \uffff",
    "harbour \U0010ffff",
    "harbour\u202e",
    "h\u0301arbour harbour",
    "ＨＡＲＢＯＵＲ",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("scope", [{}, {"user": "me"}, {"session": "s", "since": "2020-01-01"}])
def test_a_query_is_never_syntax(memory, query, scope):
    """Operators, quotes, NUL, surrogates: all of it is text, and what it names is found."""
    memory.record("state", "the harbour", user="me", session="s")
    memory.record("state", "the mountain", user="me")
    found = memory.pattern_completion(query, **scope)
    assert set(contents(found)) <= {"the harbour"}
    if "harbour" in query and "\x00" not in query:
        assert len(found) == 1


@pytest.mark.timeout(30)
@pytest.mark.parametrize("scope", [{}, {"user": "me"}])
def test_a_query_of_thousands_of_words_is_answered(memory, scope):
    """A pasted page is a question: what it names is found in it, in seconds."""
    memory.record_many([draft(f"entry{number} common item{number}", user="me") for number in range(3000)])
    memory.record("state", "a needle", user="me")
    page = " ".join(f"entry{number} item{number + 7} common absent{number}q" for number in range(3000))
    assert len(memory.pattern_completion(page, 10, **scope)) == 10
    assert contents(memory.pattern_completion(f"needle {page}", 1000, **scope)).count("a needle") == 1


def test_a_content_of_the_largest_size_is_found_by_its_last_word(memory):
    """A megabyte, of one word or of very many, and a query as long."""
    memory.record("state", "word " * 150_000 + "lastword")
    memory.record("state", "q" * 900_000 + " otherword")
    assert contents(memory.pattern_completion("lastword"))[0].endswith("lastword")
    assert contents(memory.pattern_completion("otherword"))[0].endswith("otherword")
    assert len(memory.pattern_completion("q" * 900_000)) == 1
    assert memory.pattern_completion("z" * 1_000_000).code is Reason.NO_MATCH


def test_any_count_may_be_asked_for(memory):
    """More than there are, or than fit a machine's word: all that match."""
    memory.record_many([draft(f"harbour {number}") for number in range(3)])
    assert len(memory.pattern_completion("harbour", 10**30)) == 3


# Turns, speakers, times


def test_neighbours_are_of_one_session_and_one_user(memory):
    """The answer behind a question is found by the question's words; what stands behind it elsewhere is not."""
    memory.record_many([draft(f"filler {number}", user="me", session="a") for number in range(20)])
    memory.record("state", "Where did the xylophone go?", user="me", session="a")
    memory.record("state", "other user", user="you", session="a")
    memory.record("state", "other session", user="me", session="b")
    memory.record("state", "no session", user="me")
    memory.record("state", "To the attic.", user="me", session="a")
    found = memory.pattern_completion("xylophone", 10, explain=True)
    assert "To the attic." in contents(found)
    assert not {"other user", "other session", "no session"} & set(contents(found))
    answer = contents(found).index("To the attic.")
    assert found.why[answer].words == ()
    assert found.why[answer].beside == ("xylophone",)


def test_the_speaker_who_is_named_comes_first(memory):
    """Of equal turns those of the one whom the question names."""
    for number in range(4):
        memory.record("state", f"[2023-05-0{number + 1}] Ann: sailing {number}")
        memory.record("state", f"sailing {number} too", metadata={"speaker": "Boris"})
    ann = memory.pattern_completion("What did Ann say about sailing?", 4)
    assert all("Ann" in content for content in contents(ann))
    boris = memory.pattern_completion("what does Boris think of sailing", 4, explain=True)
    assert all("too" in content for content in contents(boris))
    assert all(why.parts["speaker"] > 0 for why in boris.why)


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("what happened last Tuesday", 16),
        ("что было вчера", 17),
        ("what was on 12 May 2023", 12),
        ("что было позавчера", 16),
        ("the day before yesterday", 16),
    ],
)
@pytest.mark.parametrize("scope", [{}, {"user": "me"}])
def test_a_day_that_is_named_is_looked_up(memory, query, day, scope):
    """Relative to `asked_at`; the record says nothing but when it happened."""
    memory.record_many(
        [draft(f"mark {day}", event_time=f"2023-05-{day:02}T12:00:00+00:00", user="me") for day in range(1, 29)]
    )
    asked_at = datetime(2023, 5, 18, 9, tzinfo=UTC)
    assert contents(memory.pattern_completion(query, 1, asked_at=asked_at, **scope)) == [f"mark {day}"]


def test_a_month_that_is_named_is_looked_up(memory):
    """In May 2023: what happened then, and nothing of other months before it."""
    memory.record_many(
        [draft(f"mark {month}", event_time=f"2023-{month:02}-15T12:00:00+00:00") for month in range(1, 13)]
    )
    assert contents(memory.pattern_completion("what was in May 2023", 1)) == ["mark 5"]


@pytest.mark.parametrize("now", [datetime.min, datetime.max, datetime(2023, 5, 18)])  # noqa: DTZ001, DTZ901
def test_any_moment_may_be_asked_at(memory, now):
    """Without a zone, or at the ends of the calendar."""
    memory.record("state", "harbour")
    query = "harbour yesterday, last week, last year, tomorrow, next year"
    assert contents(memory.pattern_completion(query, asked_at=now)) == ["harbour"]


# Others, and again


WRITER = """
import sys
from alveus import Hippocampus
with Hippocampus.open(home=sys.argv[1], agent_id="river") as memory:
    memory.record("state", sys.argv[2])
"""


def test_what_another_process_recorded_is_found_at_once(memory):
    """Asked while open: the other's record is there as soon as it returned."""
    memory.record("state", "harbour mine")
    assert len(memory.pattern_completion("harbour")) == 1
    subprocess.run([sys.executable, "-c", WRITER, memory.home, "harbour theirs"], check=True, timeout=60)
    assert sorted(contents(memory.pattern_completion("harbour"))) == ["harbour mine", "harbour theirs"]


def test_equal_inputs_give_equal_answers_however_the_index_came_about(home):
    """Asked again, after a rebuild, by a reader, and caught up in pieces: one order."""
    dice = random.Random(3)
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for _ in range(10):
            memory.record_many(
                [
                    draft(" ".join(dice.choices(["red", "boat", "sea", "ann", "gull"], k=3)), user="me")
                    for _ in range(30)
                ]
            )
            memory.pattern_completion("red")
        asked = [memory.pattern_completion("red boat of ann", 50, user="me", explain=True) for _ in range(2)]
        memory.prepare_recall(anew=True)
        asked.append(memory.pattern_completion("red boat of ann", 50, user="me", explain=True))
    with Hippocampus.open(home=home, agent_id=AGENT, read_only=True) as reader:
        asked.append(reader.pattern_completion("red boat of ann", 50, user="me", explain=True))
    assert all(one == asked[0] for one in asked)
    assert len(asked[0]) > 10


# By meaning


def test_meaning_stays_within_the_scope(home):
    """The nearest vectors are others', in an older chain and in this one: only mine come, with their cosine."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=Letters()) as memory:
        for turn in range(2):
            memory.record_many([draft(f"zzzz{number}qq", user="other", session="s") for number in range(400)])
            memory.record_many([draft(f"zq of mine {turn} {number}", user="me", session="s") for number in range(2)])
            memory.rotate()
        for scope in ({"user": "me"}, {"user": "me", "session": "s"}, {"user": "me", "since": "2020-01-01"}):
            found = memory.pattern_completion("zzzzqqq", 100, explain=True, **scope)
            assert {record.hc.user for record in found} == {"me"}
            assert len(found) == 4
            assert all(why.cosine is not None and why.words == () for why in found.why)
            assert all(sum(why.parts.values()) == pytest.approx(why.score, abs=0.01) for why in found.why)
        assert memory.pattern_completion("zzzzqqq", until="2020-01-01").code is Reason.FILTERED_OUT
        assert len(memory.pattern_completion("zzzzqqq", 10**6)) > 300


def test_equal_contents_do_not_crowd_out_the_others(home):
    """Thousands of equal records that match best are one answer; what else matches is there too."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("observation", "the bridge is closed for repair until May")
        memory.record_many([Draft(kind=Kind.STATE, content="bridge closed")] * 3500)
        memory.record("observation", "the road is closed")
        found = [record.content for record in memory.pattern_completion("is the bridge closed?", 10)]
    assert found[0] == "bridge closed"
    assert sorted(found) == ["bridge closed", "the bridge is closed for repair until May", "the road is closed"]
