"""Novelty: both strategies, what they remember, and that no embedder can lose a record."""

import re
import sys
import unicodedata
from itertools import accumulate, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alveus import Draft, Hippocampus
from alveus.errors import InputError
from alveus.journal.record import Kind, Novelty
from alveus.novelty import (
    Embedder,
    EmbeddingNovelty,
    Judge,
    Judgement,
    NoveltyJudge,
    NoveltyUnavailable,
    Prepared,
    WordsNovelty,
    parts,
    words,
)
from alveus.novelty import vocabulary as room
from alveus.novelty.judgement import pack

ROUTINE, NOVEL, SURPRISE = Novelty.ROUTINE, Novelty.NOVEL, Novelty.PREDICTION_ERROR

LETTERS = "abcABC019_ .,-\n\t" + "абвгАБВГйЙ" + "«—»№"
CONTENTS = st.lists(st.text(LETTERS, max_size=40), max_size=30)


class Seed:
    """The seed's words strategy as its section 6 describes it: a vocabulary that only grows."""

    def __init__(self):
        self.vocabulary = set()

    def judge_and_learn(self, content):
        found = re.findall(r"\w+", content.lower())
        new = sum(word not in self.vocabulary for word in found) / len(found) if found else 0.0
        self.vocabulary.update(found)
        return "prediction_error" if new > 0.5 else "novel" if new > 0.2 else "routine"


def feed(state, contents, start=0):
    """Judge and learn each content; the classes."""
    classes = []
    for seq, content in enumerate(contents, start):
        classes += [state.judge(content).novelty]
        state.learn(seq, content)
    return classes


# --- words: the split


@given(st.text(LETTERS + "ёЁµЎў\u00a0\u00ad", max_size=60))
def test_the_table_and_the_general_path_split_alike(content):
    """The fast path for ASCII and Cyrillic gives exactly the words of the general path."""
    assert words(content) == room._words_of_any_script(content)


@given(st.text(max_size=60))
def test_every_text_splits_into_words_that_can_be_saved(content):
    """Any text, lone surrogates included, gives non-empty words without white space that encode as UTF-8."""
    for word in words(content):
        assert word
        assert word.split() == [word]
        assert word.encode()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Hello, hello_world! 42", ["hello", "hello_world", "42"]),
        ("Ёжик, ежик", ["ежик", "ежик"]),
        (unicodedata.normalize("NFD", "Ёлка и йод мой"), ["елка", "и", "йод", "мой"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("naïve " + unicodedata.normalize("NFD", "naïve"), ["naïve", "naïve"]),
        ("5 \u00b5m", ["5", "\u03bcm"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("記憶を証明する", ["記憶", "憶を", "を証", "証明", "明す", "する"]),
        ("日", ["日"]),
        ("用Python写", ["用", "python", "写"]),
        ("기억 시스템", ["기억", "시스템"]),
        ("ความจำ", ["คว", "วา", "าม", "มจ", "จำ"]),
        ("", []),
        ("… — !", []),
    ],
)
def test_words_of(content, expected):
    """Words are case-folded, composed, ё = е; marks stay with their letter; scripts without spaces give pairs."""
    assert words(content) == expected


# --- words: the classes


@given(CONTENTS)
def test_an_unbounded_window_gives_the_seeds_classes(contents):
    """With no window the classes are the seed's, record by record."""
    seed = Seed()
    assert feed(WordsNovelty(None), contents) == [seed.judge_and_learn(content) for content in contents]


@given(CONTENTS)
def test_a_window_that_holds_everything_gives_the_seeds_classes(contents):
    """Ageing changes nothing before the window is full."""
    seed = Seed()
    assert feed(WordsNovelty(), contents) == [seed.judge_and_learn(content) for content in contents]


@pytest.mark.parametrize(
    ("content", "novelty", "similarity"),
    [
        ("a b", ROUTINE, 1.0),
        ("a a a a x", ROUTINE, 0.8),
        ("a a a x", NOVEL, 0.75),
        ("a x", NOVEL, 0.5),
        ("a x x", SURPRISE, 1 / 3),
        ("x y", SURPRISE, 0.0),
        ("", ROUTINE, 1.0),
        ("...", ROUTINE, 1.0),
    ],
)
def test_the_share_of_new_words_decides(content, novelty, similarity):
    """More than half new is a prediction error, more than a fifth novel; occurrences count, and no words is routine."""
    state = WordsNovelty()
    state.learn(0, "a b")
    assert state.judge(content) == (novelty, pytest.approx(similarity), "words/1")


@pytest.mark.parametrize("window", [1, 2, 3, 7])
def test_a_word_is_known_to_the_last_record_of_its_window_and_new_to_the_next(window):
    """Record n knows a word of record m exactly while n - m <= window."""
    state = WordsNovelty(window)
    state.learn(0, "word")
    for seq in range(1, window + 1):
        assert state.judge("word").novelty is ROUTINE
        state.learn(seq, "other")
    assert state.judge("word").novelty is SURPRISE


@given(st.lists(st.sampled_from(["a", "b", "a b", "b c", "c d e", ""]), max_size=40), st.integers(1, 6))
def test_judging_equals_looking_through_the_window(contents, window):
    """The map gives what a search through the last `window` records gives, pruned or not."""
    state = WordsNovelty(window)
    state._prune_at = 0
    for seq, content in enumerate(contents):
        known = {word for old in contents[max(0, seq - window) : seq] for word in old.split()}
        found = content.split()
        new = sum(word not in known for word in found) / len(found) if found else 0.0
        assert state.judge(content).similarity == 1.0 - new
        state.learn(seq, content)
        state._prune()


def test_judging_changes_nothing():
    """A content judged and not recorded is as new as before."""
    state = WordsNovelty()
    before = state.dump()
    assert state.judge("never recorded") == state.judge("never recorded")
    assert state.judge("never recorded").novelty is SURPRISE
    assert state.dump() == before


@pytest.mark.parametrize(("window", "by"), [(10_000, "words/1"), (1_000, "words/1:w=1000"), (None, "words/0")], ids=str)
def test_the_window_is_named(window, by):
    """`by` tells which rule judged: two windows never share a name."""
    assert WordsNovelty(window).judge("x").by == by


def test_a_record_is_learnt_once():
    """Learning a record again, or an older one, is refused and changes nothing."""
    state = WordsNovelty()
    state.learn(5, "five")
    with pytest.raises(InputError, match="already learnt"):
        state.learn(5, "again")
    assert state.next_seq == 6
    assert state.judge("again").novelty is SURPRISE


def test_a_window_below_one_is_refused():
    """A window of no records would call everything new."""
    with pytest.raises(InputError, match="window of 0"):
        WordsNovelty(0)


def test_the_map_stays_within_a_small_multiple_of_the_window(monkeypatch):
    """Words that aged out are dropped: the map follows the window, not the journal."""
    monkeypatch.setattr(WordsNovelty, "_FLOOR", 16)
    state = WordsNovelty(10)
    for seq in range(1_000):
        state.learn(seq, f"w{seq} v{seq}")
        assert len(state) <= 2 * 2 * 10 + 2
    assert state.judge("w995 v995").novelty is ROUTINE


def test_beyond_the_bound_the_longest_unused_words_go(monkeypatch):
    """With more distinct words than the bound, the oldest are forgotten and the newest kept."""
    monkeypatch.setattr(room, "MAX_WORDS", 100)
    monkeypatch.setattr(WordsNovelty, "_FLOOR", 16)
    state = WordsNovelty(None)
    for seq in range(500):
        state.learn(seq, f"w{seq}")
        assert len(state) <= 100
    assert state.judge("w499").novelty is ROUTINE
    assert state.judge("w0").novelty is SURPRISE


def test_a_full_map_is_not_pruned_at_every_record(monkeypatch):
    """A window that holds nearly as many words as the bound costs one pruning a quarter of the bound, not one each."""
    monkeypatch.setattr(room, "MAX_WORDS", 100)
    monkeypatch.setattr(WordsNovelty, "_FLOOR", 16)
    state = WordsNovelty(99)
    sizes = []
    for seq in range(1_000):
        state.learn(seq, f"w{seq}")
        sizes.append(len(state))
    prunings = sum(later < earlier for earlier, later in pairwise(sizes))
    assert prunings <= 1_000 / 25


def test_one_record_beyond_the_bound_is_kept_whole(monkeypatch):
    """A record that alone has more words than the bound is still known to the next."""
    monkeypatch.setattr(room, "MAX_WORDS", 100)
    state = WordsNovelty()
    long = " ".join(f"w{n}" for n in range(150))
    state.learn(0, long)
    assert state.judge(long).novelty is ROUTINE


# --- words: saved and copied


@given(CONTENTS, CONTENTS, st.sampled_from([None, 1, 3, 10_000]))
def test_a_saved_state_judges_on_as_if_never_closed(before, after, window):
    """Saving and loading changes no later judgement, and saving again gives the same bytes."""
    state = WordsNovelty(window)
    feed(state, before)
    loaded = WordsNovelty.load(state.dump())
    assert loaded.dump() == state.dump()
    assert loaded.next_seq == state.next_seq
    assert feed(loaded, after, len(before)) == feed(state, after, len(before))


def test_the_same_records_give_the_same_bytes():
    """A dump depends on nothing but what was learnt."""
    one, two = WordsNovelty(), WordsNovelty()
    for state in (one, two):
        feed(state, ["a b c", "c d", "ё й"])
    assert one.dump() == two.dump()


def test_counts_beyond_four_billion_are_saved():
    """A journal may hold more records than 32 bits count."""
    state = WordsNovelty()
    state.learn(1 << 40, "word")
    assert WordsNovelty.load(state.dump()).judge("word").novelty is ROUTINE


@pytest.mark.parametrize("damage", ["flip", "cut", "other form", "empty"])
def test_a_damaged_state_is_refused_wherever_it_is_damaged(damage):
    """No byte of a saved state can be changed or lost unnoticed."""
    state = WordsNovelty(100)
    feed(state, ["some words", "слова"])
    blob = state.dump()
    bad = {
        "flip": [blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :] for at in range(len(blob))],
        "cut": [blob[:at] for at in range(len(blob))],
        "other form": [pack({"format": "embed/1"}, b""), pack({"format": "words/1"}, b"")],
        "empty": [b"", b"\n", b" \n"],
    }
    for each in bad[damage]:
        with pytest.raises(NoveltyUnavailable) as caught:
            WordsNovelty.load(each)
        assert caught.value.code == "novelty_state"
        assert caught.value.hint


def test_a_copy_goes_its_own_way():
    """What a batch teaches a copy is unknown to the original until the copy is kept."""
    state = WordsNovelty()
    state.learn(0, "a")
    trial = state.copy()
    trial.learn(1, "b")
    assert trial.judge("b").novelty is ROUTINE
    assert state.judge("b").novelty is SURPRISE
    assert (state.next_seq, trial.next_seq) == (1, 2)


# --- words: what ageing is for


def zipf(count, seed=1, size=50_000, length=29):
    """Texts of about 200 characters whose word frequencies follow 1/rank: no topic, no news."""
    rng = Random(seed)
    vocabulary = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(3, 9))) for _ in range(size)]
    cumulative = list(accumulate(1 / rank for rank in range(1, size + 1)))
    for _ in range(count):
        yield " ".join(rng.choices(vocabulary, cum_weights=cumulative, k=length))


def share_not_routine(judge_and_learn, contents, tail):
    """The share of the last `tail` records that are not routine."""
    classes = [judge_and_learn(content) for content in contents]
    return 1 - classes[-tail:].count("routine") / tail


def ageing(window):
    """A judge-and-learn over one WordsNovelty."""
    state = WordsNovelty(window)

    def judge_and_learn(content):
        novelty = state.judge(content).novelty
        state.learn(state.next_seq, content)
        return novelty

    return judge_and_learn


def test_a_topic_that_returns_is_news_again_where_the_seed_yawns():
    """After 11,000 records on something else, an old topic's records are no routine; to the seed they are."""
    rng = Random(7)
    old, other = ([f"{topic}{n}" for n in range(400)] for topic in ("old", "other"))
    about = [*(old for _ in range(1_000)), *(other for _ in range(11_000)), *(old for _ in range(20))]
    contents = [" ".join(rng.choices(topic, k=12)) for topic in about]
    assert share_not_routine(Seed().judge_and_learn, contents, 20) == 0
    assert share_not_routine(ageing(10_000), contents, 20) > 0.5
    assert share_not_routine(ageing(None), contents, 20) == 0


def test_on_text_without_news_a_thousand_records_of_memory_still_tell_records_apart():
    """After 20,000 records of Zipf text the seed calls all of the last 2,000 routine, a window of 1,000 about half."""
    contents = list(zipf(20_000))
    seed, thousand = (share_not_routine(by, contents, 2_000) for by in (Seed().judge_and_learn, ageing(1_000)))
    assert seed < 0.02
    assert 0.4 < thousand < 0.65


@pytest.mark.prove
def test_how_much_stays_novel_after_a_hundred_thousand_records(capsys):
    """After 100,000 records of Zipf text the window decides: 1,000 tells half apart, 10,000 next to nothing."""
    contents = list(zipf(120_000))
    shares = {window: share_not_routine(ageing(window), contents, 20_000) for window in (None, 10_000, 2_000, 1_000)}
    with capsys.disabled():
        sys.stdout.write(f"\nnot routine among records 100,000 to 120,000, by window: {shares}\n")
    assert shares[None] == share_not_routine(Seed().judge_and_learn, contents, 20_000) == 0
    assert 0 < shares[10_000] < 0.01
    assert shares[2_000] > 0.15
    assert shares[1_000] > 0.4


# --- embedding


class Stub:
    """A deterministic embedder: each word is a fixed random direction, a text the sum of its words."""

    id, revision, dims = "stub", "1", 64

    def __init__(self):
        self.np = pytest.importorskip("numpy", reason="vectors need numpy")
        self.seen = []

    def encode(self, texts):
        self.seen.extend(texts)
        rows = [sum((self._direction(word) for word in text.split()), self.np.zeros(self.dims)) for text in texts]
        return self.np.array([row / max(self.np.linalg.norm(row), 1e-9) for row in rows], dtype="float32")

    def _direction(self, word):
        return self.np.random.default_rng(list(word.encode())).standard_normal(self.dims)

    def calibration(self, cosine):
        return cosine


class Plane(Stub):
    """An embedder of two dimensions: the text is the cosine to the first axis."""

    id, dims = "plane", 2

    def encode(self, texts):
        cosines = [float(text) for text in texts]
        return self.np.array([[each, (1 - each * each) ** 0.5] for each in cosines], dtype="float32")


def test_the_first_record_is_a_prediction_error():
    """Nothing came before it, and the similarity says so."""
    assert EmbeddingNovelty(Stub()).judge("hello") == (SURPRISE, 0.0, "embed:stub@1")


@pytest.mark.parametrize(
    ("cosine", "novelty"),
    [("1", ROUTINE), ("0.86", ROUTINE), ("0.84", NOVEL), ("0.51", NOVEL), ("0.49", SURPRISE), ("-1", SURPRISE)],
)
def test_the_largest_cosine_decides(cosine, novelty):
    """Below 0.50 a prediction error, below 0.85 novel, else routine; the nearest of the records counts."""
    state = EmbeddingNovelty(Plane())
    state.learn(0, state.embed("-0.999"))
    state.learn(1, state.embed("1"))
    if cosine == "-1":
        state = EmbeddingNovelty(Plane())
        state.learn(0, state.embed("1"))
    judgement = state.judge(cosine)
    assert judgement.novelty is novelty
    assert judgement.similarity == pytest.approx(float(cosine), abs=1e-3)


def test_thresholds_apply_to_calibrated_cosines():
    """A model whose unrelated texts lie at 0.75 is read on the seed's scale."""

    class Narrow(Plane):
        def calibration(self, cosine):
            return (cosine - 0.75) / 0.25

    state = EmbeddingNovelty(Narrow())
    state.learn(0, state.embed("1"))
    assert state.judge("0.86").novelty is SURPRISE
    assert state.judge("0.86").similarity == pytest.approx(0.44, abs=1e-2)


def test_calibration_is_the_identity_unless_an_embedder_says_otherwise():
    """An embedder that inherits the port need not bring a calibration."""

    class Plain(Embedder):
        id, revision, dims = "plain", "1", 1

    assert Plain().calibration(0.3) == 0.3


def test_the_ring_forgets_what_is_older_than_its_size():
    """A record is compared with the last `cache_size` vectors only."""
    state = EmbeddingNovelty(Stub(), cache_size=3)
    for seq, content in enumerate(["alpha", "beta", "gamma"]):
        state.learn(seq, state.embed(content))
    assert state.judge("alpha").novelty is ROUTINE
    state.learn(3, state.embed("delta"))
    assert state.judge("alpha").novelty is not ROUTINE
    assert state.judge("beta").novelty is ROUTINE
    assert len(state) == 3


def test_rows_of_another_length_are_normalised():
    """An embedder that forgets to normalise is still measured by cosine."""

    class Long(Plane):
        def encode(self, texts):
            return super().encode(texts) * 7

    state = EmbeddingNovelty(Long())
    state.learn(0, state.embed("1"))
    assert state.judge("0.6").similarity == pytest.approx(0.6, abs=1e-5)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_saved_vectors_judge_on(count):
    """Saving and loading keeps every vector and their order, through the ring's turn."""
    state = EmbeddingNovelty(Stub(), cache_size=3)
    for seq in range(count):
        state.learn(seq, state.embed(f"word{seq}"))
    loaded = EmbeddingNovelty.load(state.dump(), Stub(), cache_size=3)
    assert loaded.dump() == state.dump()
    assert (loaded.next_seq, len(loaded), loaded.note) == (state.next_seq, len(state), "")
    assert loaded.judge("word2 x") == state.judge("word2 x")


def test_a_smaller_ring_keeps_the_newest_of_the_saved_vectors():
    """With a smaller cache than was saved, the last vectors are the ones compared with."""
    state = EmbeddingNovelty(Stub(), cache_size=3)
    for seq, content in enumerate(["alpha", "beta", "gamma"]):
        state.learn(seq, state.embed(content))
    loaded = EmbeddingNovelty.load(state.dump(), Stub(), cache_size=1)
    assert loaded.judge("gamma").novelty is ROUTINE
    assert loaded.judge("alpha").novelty is not ROUTINE


def test_a_copied_ring_goes_its_own_way():
    """What a copy learns overwrites no slot of the original."""
    state = EmbeddingNovelty(Stub(), cache_size=1)
    state.learn(0, state.embed("alpha"))
    trial = state.copy()
    trial.learn(1, trial.embed("beta"))
    assert trial.judge("beta").novelty is ROUTINE
    assert state.judge("alpha").novelty is ROUTINE
    assert state.judge("beta").novelty is not ROUTINE


@pytest.mark.parametrize("field", ["id", "revision", "dims"])
def test_vectors_of_another_model_are_not_used(field):
    """Vectors are comparable within one id, revision and width; others are left out and the reason told."""
    state = EmbeddingNovelty(Stub())
    state.learn(0, state.embed("hello"))
    other = Stub()
    setattr(other, field, 32 if field == "dims" else "other")
    loaded = EmbeddingNovelty.load(state.dump(), other)
    assert len(loaded) == 0
    assert "saved vectors are of embed:stub@1 (64)" in loaded.note


def test_damaged_vectors_are_refused():
    """A flipped or lost byte of the saved vectors is noticed."""
    state = EmbeddingNovelty(Stub())
    state.learn(0, state.embed("hello"))
    blob = state.dump()
    for bad in (blob[:-1], blob[:-1] + bytes([blob[-1] ^ 1]), b"", WordsNovelty().dump()):
        with pytest.raises(NoveltyUnavailable):
            EmbeddingNovelty.load(bad, Stub())


@pytest.mark.parametrize(
    ("name", "value"), [("id", ""), ("id", "a;b"), ("revision", "a@b"), ("id", "имя"), ("dims", 0)]
)
def test_an_embedder_that_cannot_be_named_in_a_record_is_refused_at_once(name, value):
    """`by` is signed and parsed: its parts are plain, or the program does not start with them."""
    stub = Stub()
    setattr(stub, name, value)
    with pytest.raises(InputError):
        EmbeddingNovelty(stub)


@given(st.text(max_size=50), st.integers(0, 2_000))
def test_parts_are_short_clean_and_few(text, times):
    """An embedder sees 1 to 8 texts of at most 2,000 characters that encode as UTF-8."""
    texts = parts(text * times)
    assert 1 <= len(texts) <= 8
    assert all(len(each) <= 2_000 and each.encode() is not None for each in texts)


def test_parts_of_a_long_content_reach_its_end():
    """A long log whose last line is the news is not judged by its head alone."""
    text = "x" * 100_000 + "END"
    assert parts(text)[-1].endswith("END")
    assert parts(text)[0].startswith("x")
    assert "".join(parts("ab" * 3_500)) == "ab" * 3_500
    assert parts("a\ud800b") == ["a\ufffdb"]


def test_a_long_content_is_the_mean_of_its_parts():
    """Two halves of different topics lie equally near to both."""
    state = EmbeddingNovelty(Stub())
    state.learn(0, state.embed("alpha"))
    both = ("alpha " * 400)[:2_000] + ("beta " * 400)[:2_000]
    assert 0.5 < state.judge(both).similarity < 0.9


# --- both behind one interface


def raising(error):
    """A fault that raises."""

    def call(_):
        raise error

    return call


FAULTS = {
    "raises": raising(RuntimeError("the secret content itself")),
    "exhausts memory": raising(MemoryError()),
    "gives nothing": lambda _: None,
    "gives text": lambda _: [["no", "numbers"]],
    "gives no rows": lambda rows: rows[:0],
    "gives too many rows": lambda rows: rows.repeat(2, axis=0),
    "gives narrow rows": lambda rows: rows[:, :-1],
    "gives one flat row": lambda rows: rows[0],
    "gives NaN": lambda rows: rows * float("nan"),
    "gives infinity": lambda rows: rows * float("inf"),
    "gives zeros": lambda rows: rows * 0,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_no_embedder_can_lose_a_judgement(fault):
    """Whatever the model call does, the words judge, `by` names the embedder that failed, and learning goes on."""
    stub = Stub()
    stub.encode = lambda texts: fault(Stub.encode(stub, texts))
    state = NoveltyJudge(embedding=EmbeddingNovelty(stub))
    prepared = state.prepare("secret words here")
    judgement = state.judge("secret words here", prepared)
    state.learn(0, "secret words here", prepared)
    assert prepared.vector is None
    assert prepared.failure.startswith("embedder failed: ")
    assert "secret" not in prepared.failure
    assert judgement == (SURPRISE, 0.0, "words/1;embed-failed:stub")
    assert judgement.fallback == "stub"
    assert state.judge("secret words here", prepared).novelty is ROUTINE


@pytest.mark.parametrize("value", [float("nan"), "no number", None])
def test_a_broken_calibration_loses_no_judgement(value):
    """The calibration is the embedder's code too: when it breaks, the words judge."""
    stub = Stub()
    state = NoveltyJudge(embedding=EmbeddingNovelty(stub))
    state.learn(0, "hello", state.prepare("hello"))
    stub.calibration = lambda _: value
    assert state.judge("hello", state.prepare("hello")) == (ROUTINE, 1.0, "words/1;embed-failed:stub")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_stop_during_the_model_call_stops(stop):
    """Ctrl-C is not a failure of the embedder."""

    def interrupted(_):
        raise stop

    stub = Stub()
    stub.encode = interrupted
    with pytest.raises(stop):
        NoveltyJudge(embedding=EmbeddingNovelty(stub)).prepare("hello")


def test_the_embedding_judges_where_it_can():
    """With a vector `by` names the model, and nothing is called a fallback."""
    state = NoveltyJudge(embedding=EmbeddingNovelty(Stub()))
    prepared = state.prepare("hello world")
    state.learn(0, "hello world", prepared)
    judgement = state.judge("hello world", state.prepare("hello world"))
    assert judgement == (ROUTINE, pytest.approx(1.0), "embed:stub@1")
    assert judgement.fallback == ""


def test_the_words_are_ready_when_the_model_is_not():
    """Records judged by embedding are known to the words strategy too."""
    state = NoveltyJudge(embedding=EmbeddingNovelty(Stub()))
    state.learn(0, "hello world", state.prepare("hello world"))
    assert state.judge("hello world") == (ROUTINE, 1.0, "words/1")


def test_a_blank_content_needs_no_model():
    """White space has no meaning to embed: the words judge it, and no failure is reported."""
    stub = Stub()
    state = NoveltyJudge(embedding=EmbeddingNovelty(stub))
    assert state.judge(" \n", state.prepare(" \n")) == (ROUTINE, 1.0, "words/1")
    assert stub.seen == []


def test_a_text_is_cleaned_before_the_model_sees_it():
    """Lone surrogates, which tokenizers choke on, never reach the embedder."""
    stub = Stub()
    NoveltyJudge(embedding=EmbeddingNovelty(stub)).prepare("bad \ud83d end")
    assert stub.seen == ["bad \ufffd end"]


def test_preparing_changes_nothing():
    """The model call runs outside the lock, so it may not touch the state."""
    state = NoveltyJudge(embedding=EmbeddingNovelty(Stub()))
    before = state.dump()
    state.prepare("hello")
    assert state.dump() == before


def test_without_an_embedder_the_words_judge():
    """The judge needs nothing: no numpy, no model, no state."""
    state = NoveltyJudge()
    assert state.prepare("hello").vector is None
    assert state.judge("hello", state.prepare("hello")) == (SURPRISE, 0.0, "words/1")


def test_without_numpy_the_words_judge(monkeypatch):
    """An embedder on a machine without numpy is a failure like any other."""
    stub = Stub()
    state = NoveltyJudge(embedding=EmbeddingNovelty(stub))
    monkeypatch.setitem(sys.modules, "numpy", None)
    prepared = state.prepare("hello")
    assert prepared.failure == "embedder failed: NoveltyUnavailable"
    assert state.judge("hello", prepared).by == "words/1;embed-failed:stub"


def test_the_whole_state_survives_a_restart():
    """Words and vectors are saved together and judge on as before."""
    state = NoveltyJudge(embedding=EmbeddingNovelty(Stub()))
    for seq, content in enumerate(["alpha beta", "gamma", "gamma delta"]):
        state.learn(seq, content, state.prepare(content))
    loaded = NoveltyJudge.load(state.dump(), embedder=Stub())
    assert (loaded.notes, loaded.next_seq) == ((), 3)
    assert loaded.dump() == state.dump()
    prepared = state.prepare("alpha x")
    assert loaded.judge("alpha x", prepared) == state.judge("alpha x", prepared)


@pytest.mark.parametrize(
    ("change", "kept_words", "kept_vectors", "note"),
    [
        ({}, True, True, None),
        ({"window": 100}, False, True, "saved words are of words/1, not of words/1:w=100"),
        ({"revision": "2"}, True, False, "saved vectors are of embed:stub@1 (64), not of embed:stub@2 (64)"),
        ({"cut": 1}, True, False, "it is not whole"),
        ({"cut": 10_000}, False, False, "it is not whole"),
        ({"words only": True}, True, False, "no vectors were saved"),
    ],
    ids=str,
)
def test_what_cannot_be_used_of_a_saved_state_is_named(change, kept_words, kept_vectors, note):
    """Loading never fails on bad bytes and never guesses: each part is whole, or empty and named."""
    state = NoveltyJudge(embedding=EmbeddingNovelty(Stub()))
    state.learn(0, "hello", state.prepare("hello"))
    blob = state.words.dump() if "words only" in change else state.dump()
    blob = blob[: max(0, len(blob) - change.get("cut", 0))]
    stub = Stub()
    stub.revision = change.get("revision", "1")
    loaded = NoveltyJudge.load(blob, window=change.get("window", 10_000), embedder=stub)
    assert (len(loaded.words) > 0, len(loaded.embedding) > 0) == (kept_words, kept_vectors)
    assert (note is None) == (loaded.notes == ())
    assert note is None or any(note in each for each in loaded.notes)
    assert loaded.next_seq == (1 if kept_words else 0)


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_any_bytes_load_as_an_empty_state(blob):
    """A file of garbage costs a note and a walk through the journal's tail, no more."""
    loaded = NoveltyJudge.load(blob)
    assert loaded.next_seq == 0
    assert loaded.notes


def test_a_batch_is_judged_on_a_copy():
    """A batch that does not reach the journal leaves no trace in the judge."""
    state = NoveltyJudge(embedding=EmbeddingNovelty(Stub()))
    trial = state.copy()
    trial.learn(0, "hello", trial.prepare("hello"))
    assert trial.judge("hello", trial.prepare("hello")).novelty is ROUTINE
    assert state.judge("hello", state.prepare("hello")).novelty is SURPRISE


def test_all_strategies_are_judges():
    """One interface: `judge(content) -> (novelty, similarity, by)`."""
    judges: list[Judge] = [WordsNovelty(), EmbeddingNovelty(Stub()), NoveltyJudge()]
    for judge in judges:
        novelty, similarity, by = judge.judge("hello")
        assert isinstance(judge.judge("hello"), Judgement)
        assert (novelty, similarity) == (SURPRISE, 0.0)
        assert by


def test_nothing_attempted_is_not_a_failure():
    """An empty `Prepared` means no model call: the words judge under their own name."""
    state = NoveltyJudge(embedding=EmbeddingNovelty(Stub()))
    assert state.judge("hello", Prepared()).by == "words/1"


def test_an_embedder_that_is_down_is_not_asked_again_for_each_record_of_a_batch(home):
    """Two hundred records cost a handful of calls; each is judged by its words and says that the embedder failed."""
    calls = []

    class Down(Embedder):
        id, revision, dims = "down", "1", 8

        def encode(self, texts):
            calls.append(len(texts))
            raise ConnectionError("no route")

    with Hippocampus.open(home=home, agent_id="river", embedder=Down()) as memory:
        outcomes = memory.record_many([Draft(kind=Kind.STATE, content=f"record {number}") for number in range(200)])
    assert len(outcomes) == 200
    assert {outcome.record.hc.by for outcome in outcomes} == {"words/1;embed-failed:down"}
    assert len(calls) <= 6
