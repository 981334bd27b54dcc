"""What was read is read once; and whatever became of the file that says so, what is found is the same."""

import random
import re

import numpy as np
import pytest

import alveus.compiling.kept as room
from alveus import Draft, Hippocampus, Kind, Source
from alveus.compiling.kept import NAME, read_journal
from alveus.compiling.lexicon import NAME as WORDS
from alveus.compiling.reading import utterance_of
from alveus.kernels.prose import Prose
from damage import HOW, spoil

SAID = (
    "Never force-push to main. We lost a day that way!",
    "- Always write a test first.\n- Then fix the bug, e.g. the one in `cut`.",
    "He wrote “the deploy has to wait until noon” and left. Answer in the first line, then stop.",
    "> quoted by somebody\nFrom now on we deploy on Mondays.",
    "```\nrm -rf / # no prose\n```\nJust kidding, haha: delete everything.",
    "Никогда не катим по пятницам. Если бы мы катили, было бы плохо.",
    "Сначала диагностика, потом перезапуск. «Да». Ещё раз: сначала диагностика.",
    "{'a': 1, 'b': [2, 3]}",
    "",
    "word " * 200,
    "a\u2028b \U0001f600 we always say yes. We always say yes.",
)


def drafts(seed, count):
    """Words of everybody, in sessions and in none, several at one time, some twice."""
    dice = random.Random(seed)
    for number in range(count):
        day = dice.randrange(1, 20)
        yield Draft(
            kind=dice.choice((Kind.OBSERVATION, Kind.STATE, Kind.DECISION, Kind.ERROR)),
            content=" ".join(dice.choice(SAID) for _ in range(dice.randrange(1, 3))),
            src=dice.choice((Source.USER, Source.USER, Source.AGENT, Source.TOOL, Source.SYSTEM)),
            user=dice.choice((None, "ada", "bo")),
            session=dice.choice((None, "s1", "s2", "s3")),
            event_time=dice.choice((None, f"2025-03-{day:02}T09:00:00Z")),
            origin=dice.choice((None, f"test:x:{seed}-{number}")),
        )


@pytest.fixture
def memory(home, clock):
    """A memory of 120 records, the newest of other times than the rest."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as opened:
        opened.record_many(list(drafts(1, 120)))
        yield opened


def told(read):
    """All that a compilation takes of what was read."""
    prose = read.utterances.prose()
    arrays = [getattr(prose, name).tolist() for name in ("tones", "user", "kinds", "whole", "words")]
    fragments = prose.made(range(len(prose)))
    return (
        *arrays, fragments, prose.cut, list(read.utterances), read.through, dict(sorted(read.places.items())),
        dict(sorted(read.users.items())), read.left_out, read.canon, sorted(read.edits), read.wordings,
    )  # fmt: skip


def anew(memory, since=None):
    """What is told without the file; it stays as it is."""
    path = memory.folder / NAME
    aside = path.with_name("aside")
    there = path.exists()
    if there:
        path.rename(aside)
    found = told(read_journal(memory._agent, since))
    assert not path.exists()
    if there:
        aside.rename(path)
    return found


def kept(memory, since=None):
    """What is told with it."""
    return told(read_journal(memory._agent, since, keep=True))


@pytest.mark.parametrize("since", [None, 1_741_600_000.0, 4e9])
@pytest.mark.parametrize("lines", [7, 16_384])
def test_columns_say_what_the_words_say(memory, monkeypatch, since, lines):
    """To the byte: the rows, their order and the fragments are those of the utterances, whatever the parts."""
    monkeypatch.setattr(room, "_LINES", lines)
    for seed in (2, 3):
        kept(memory)
        memory.record_many(list(drafts(seed, 60)))
    read = read_journal(memory._agent, since)
    said = [utterance_of(one) for one in memory.iter_records()]
    said = [one for one in said if since is None or one.time >= since]
    random.Random(4).shuffle(said)
    expected, found = Prose.of(said), read.utterances.prose()
    for name in ("tones", "user", "kinds", "whole", "words"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    rows = range(len(expected))
    assert found.made(rows) == expected.made(rows)
    assert found.cut == expected.cut
    assert sorted(map(repr, read.utterances)) == sorted(map(repr, said))
    assert bool(said) == (since != 4e9)


def test_a_record_is_checked_and_cut_once(memory, monkeypatch):
    """Also by the next process; what is new is."""
    looked, cut = [], []
    check, spoken = room.read, room.columns
    monkeypatch.setattr(room, "read", lambda *given: looked.append(given) or check(*given))
    monkeypatch.setattr(room, "columns", lambda said: cut.extend(said) or spoken(said))
    first = kept(memory)
    assert len(looked) == len(cut) == 120
    assert kept(memory) == first
    assert len(looked) == len(cut) == 120
    memory.record_many(list(drafts(5, 10)))
    kept(memory)
    kept(memory)
    assert len(looked) == len(cut) == 130


def test_a_part_is_of_these_very_bytes(memory):
    """A line that was changed since is left out and named, as by one who reads everything."""
    kept(memory)
    path = memory.folder / "stream.jsonl"
    data = bytearray(path.read_bytes())
    at = re.search(rb"Never force", data).start()
    data[at] ^= 1
    path.write_bytes(data)
    read = read_journal(memory._agent, keep=True)
    assert [one.code for one in read.left_out] == ["bad_signature"]
    assert told(read) == anew(memory) == kept(memory)
    data[at] ^= 1
    path.write_bytes(data)
    assert read_journal(memory._agent, keep=True).left_out == []


@pytest.mark.parametrize("damage", HOW)
def test_a_damaged_file_costs_time_only(memory, monkeypatch, damage):
    """It is made again, from where it is damaged."""
    monkeypatch.setattr(room, "_LINES", 20)
    expected = kept(memory)
    path = memory.folder / NAME
    whole = path.read_bytes()
    for at in range(0, len(whole), len(whole) // 5):
        spoil(path, whole, at, damage)
        assert kept(memory) == expected
        if damage == "folder":
            assert path.is_dir()
            return
        assert path.read_bytes() == whole


def test_what_another_version_or_another_key_kept_is_not_used(memory, monkeypatch):
    """It is made again."""
    expected = kept(memory)
    path = memory.folder / NAME
    whole = path.read_bytes()
    monkeypatch.setattr(room, "version", lambda: "0" * 16)
    assert kept(memory) == expected
    assert path.read_bytes() != whole
    monkeypatch.undo()
    memory.rotate()
    read = read_journal(memory._agent)
    assert len(read.utterances) == 120
    assert told(read) == anew(memory)


def test_every_chain_is_kept(memory, monkeypatch):
    """After a change of key the closed chain is read once more, and then no more."""
    kept(memory)
    memory.rotate()
    memory.record_many(list(drafts(6, 20)))
    expected = kept(memory)
    assert expected == anew(memory)
    looked = []
    check = room.read
    monkeypatch.setattr(room, "read", lambda *given: looked.append(given) or check(*given))
    assert kept(memory) == expected
    assert len(looked) == 2  # the notes that close a chain and open the next


def test_a_digest_is_the_compilation_of_a_journal_that_nobody_read(home, clock):
    """The bullets are the same to the byte, and so are the files, but for their version."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        for seed in range(7, 11):
            memory.record_many(list(drafts(seed, 80)))
            memory.digest(now=True)
        digest = memory.kernels()
        for name in (NAME, WORDS):
            (memory.folder / name).unlink()
        compiled = memory.compile()
        assert digest.bullets
        assert compiled.kernels.bullets == digest.bullets
        assert not compiled.changed


def test_who_only_reads_writes_nothing(memory):
    """`drift` may be asked of a memory that was opened for reading."""
    memory.drift([30])
    assert not (memory.folder / NAME).exists()
