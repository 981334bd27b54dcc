"""What texts say is found once; and whatever became of the file that says so, what is told is the same."""

import pytest

import alveus.compiling.lexicon as room
from alveus.compiling.lexicon import NAME, KeptLexicon
from alveus.journal.seal import Key
from alveus.kernels.lexicon import Lexicon
from damage import HOW, spoil

TEXTS = (
    "We keep seven hundred boxes in the old store.",
    "",
    "Храним сто двадцать записей, звони Марату.",
    'a\u2028b \U0001f600 10 000 "quoted" \\ é',
    "We keep seven hundred boxes in the old store.",
    "We meet Nadia Fenn at 09:15, and no one else.",
)  # fmt: skip
KEY = Key(b"k" * 32)


def told(folder, texts=TEXTS, *, key=KEY, keep=True):
    """What one process is told of some texts."""
    kept = KeptLexicon(folder, key, keep)
    return [*map(tuple, kept.terms(texts))], kept.values(texts)


@pytest.fixture
def expected():
    """The same, found anew."""
    return [*map(tuple, Lexicon().terms(TEXTS))], Lexicon().values(TEXTS)


@pytest.fixture
def looked(monkeypatch):
    """The texts that were looked at, for terms or for values."""
    found = []
    for where, name in ((room, "terms_of"), (room.values, "values")):
        find = getattr(where, name)
        monkeypatch.setattr(where, name, lambda text, find=find: found.append(text) or find(text))
    return found


def test_each_text_is_looked_at_once(tmp_path, expected, looked):
    """Also by the next process; what is new is."""
    assert told(tmp_path, TEXTS[:3]) == (expected[0][:3], expected[1][:3])
    assert len(looked) == 2 * 3
    assert told(tmp_path) == expected
    assert sorted(looked[6:]) == sorted([TEXTS[3], TEXTS[5]] * 2)
    assert told(tmp_path) == expected
    assert len(looked) == 2 * 5


@pytest.mark.parametrize("damage", HOW)
def test_a_damaged_file_costs_time_only(tmp_path, expected, damage):
    """It is made again, from where it is damaged."""
    told(tmp_path, TEXTS[:3])
    told(tmp_path)
    path = tmp_path / NAME
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        spoil(path, whole, at, damage)
        assert told(tmp_path) == expected
        if damage == "folder":
            assert path.is_dir()
            return
        assert told(tmp_path) == expected


def test_what_another_version_or_another_key_kept_is_not_used(tmp_path, expected, looked, monkeypatch):
    """It is found anew: nobody else can say what a text says."""
    told(tmp_path)
    looked.clear()
    assert told(tmp_path, key=Key(b"o" * 32)) == expected
    assert len(looked) == 2 * 5
    monkeypatch.setattr(room, "version", lambda: "0" * 16)
    assert told(tmp_path, key=Key(b"o" * 32)) == expected
    assert len(looked) == 4 * 5


def test_a_file_that_became_large_is_begun_anew(tmp_path, expected, monkeypatch):
    """What is compared no more does not stay for ever."""
    told(tmp_path, [f"something that nobody says any more, {number} times" for number in range(50)])
    monkeypatch.setattr(room, "LARGEST", 2_000)
    path = tmp_path / NAME
    assert path.stat().st_size > room.LARGEST
    assert told(tmp_path) == expected
    assert path.stat().st_size < room.LARGEST
    assert b"nobodi" not in path.read_bytes()


def test_who_only_reads_writes_nothing(tmp_path, expected):
    """What is found is known to him alone."""
    assert told(tmp_path, keep=False) == expected
    assert not (tmp_path / NAME).exists()
