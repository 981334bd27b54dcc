"""`stream.words` is derived: deleted, edited or old, novelty is judged as if every record had been read again."""

import shutil

import pytest

from alveus import Hippocampus
from alveus import agent as agent_room
from scenes import AGENT

TEXTS = [f"{word} {number}" for number in range(30) for word in ("deploy", "server", "release")]
NEXT = ["deploy 3", "unheard-of things", "server 12 again", "release"]


@pytest.fixture(autouse=True)
def _saved_early(monkeypatch):
    monkeypatch.setattr(agent_room, "SNAPSHOT_AT_CLOSE", 1)


@pytest.fixture
def path(home):
    """The snapshot of a journal of ninety records."""
    with Hippocampus.open(home=home, agent_id=AGENT, words_window=50) as memory:
        for text in TEXTS:
            memory.record("state", text)
    path = memory.folder / "stream.words"
    assert path.exists()
    return path


def judged(home, window=50):
    """How the next records are judged by one who opens the journal now. The journal is left as it was."""
    copy = home.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(home, copy)
    with Hippocampus.open(home=copy, agent_id=AGENT, words_window=window) as memory:
        return [(record.novelty, record.hc.by) for record in (memory.record("state", text) for text in NEXT)]


def never_closed(home):
    """The same records, judged in one go."""
    with Hippocampus.open(home=home.with_name("other"), agent_id=AGENT, words_window=50) as memory:
        for text in TEXTS:
            memory.record("state", text)
        return [(record.novelty, record.hc.by) for record in (memory.record("state", text) for text in NEXT)]


@pytest.mark.usefixtures("path")
def test_novelty_survives_a_restart(home):
    """Closing and opening changes no judgement."""
    assert judged(home) == never_closed(home)


@pytest.mark.parametrize("how", ["deleted", "empty", "cut", "flipped", "zeros", "swapped words", "folder"])
def test_a_snapshot_that_was_tampered_with_is_not_used(home, path, how):
    """A word planted in or taken out of the snapshot does not change what counts as new."""
    expected = judged(home)
    data = path.read_bytes()
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how != "deleted":
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[:-1],
                "flipped": data[:60] + bytes([data[60] ^ 1]) + data[61:],
                "zeros": bytes(len(data)),
                "swapped words": data.replace(b"deploy", b"unseen"),
            }[how]
        )
    assert judged(home) == expected


def test_a_snapshot_of_another_journal_is_not_used(home, path, tmp_path):
    """A snapshot is sealed for its key and its place in its chain."""
    expected = judged(home)
    with Hippocampus.open(home=tmp_path / "elsewhere", agent_id=AGENT, words_window=50) as other:
        for text in NEXT:
            other.record("state", text)
    shutil.copy(other.folder / "stream.words", path)
    assert judged(home) == expected


def test_an_older_snapshot_is_caught_up(home, path):
    """A snapshot from earlier in the same journal is right as far as it goes, and the rest is read."""
    old = path.read_bytes()
    with Hippocampus.open(home=home, agent_id=AGENT, words_window=50) as memory:
        for number in range(20):
            memory.record("state", f"later words {number}")
    expected = judged(home)
    path.write_bytes(old)
    assert judged(home) == expected


def test_a_snapshot_from_a_future_that_was_rolled_back_is_not_used(home, path):
    """A journal put back from a backup does not know the words of what was never in it."""
    backup = {name: (path.parent / name).read_bytes() for name in ("stream.jsonl", "stream.head.0", "stream.head.1")}
    expected = judged(home)
    with Hippocampus.open(home=home, agent_id=AGENT, words_window=50) as memory:
        for text in NEXT:
            memory.record("state", text)
    for name, data in backup.items():
        (path.parent / name).write_bytes(data)
    assert judged(home) == expected


@pytest.mark.parametrize("window", [3, 1000, None])
def test_another_window_is_learnt_from_the_records(home, path, window):
    """The window is the reader's choice: a snapshot of another one is not stretched to fit."""
    expected = judged(home, window)
    path.unlink()
    assert judged(home, window) == expected
