"""The short way of one record alone: it writes the very bytes that the way of batches writes, and fails as it does."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus import Draft, Hippocampus, InputError, Kind, Source
from alveus.agent import Agent
from scenes import AGENT
from simulator import Clock

texts = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(["", "one two", "one three", "раз два"])
names = st.none() | st.text("abcé ", min_size=1, max_size=8)
drafts = st.builds(
    Draft,
    kind=st.sampled_from(Kind),
    content=texts,
    metadata=st.dictionaries(st.text("nмz", min_size=1, max_size=3), st.integers(-9, 9) | st.floats(0, 1), max_size=3),
    src=st.sampled_from(Source),
    user=names,
    session=names,
    event_time=st.none() | st.just("2025-12-31T12:00:00+03:00"),
    origin=st.none(),
    part=st.none() | st.just((1, 2)),
)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A journal with two records: its key and chain are what both ways go on from."""
    home = tmp_path_factory.mktemp("begun") / "home"
    with Hippocampus.open(home=home, agent_id=AGENT, clock=Clock()) as memory:
        memory.record("state", "one two three")
        memory.record("decision", "four")
    return home


def written(home, drafts, steps, record):
    """The lines that a way writes, with what its calls returned."""
    clock = Clock("2026-01-01T12:00:01Z")
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        returned = []
        for draft, step in zip(drafts, steps, strict=True):
            clock.advance(milliseconds=max(step, 0))
            clock.jump(milliseconds=min(step, 0))
            returned.append(record(memory, draft))
        assert memory.verify_chain()
        return (memory.folder / "stream.jsonl").read_bytes(), returned


@given(st.lists(drafts, min_size=1, max_size=5), st.lists(st.sampled_from([0, 1, 400, -3000]), min_size=5, max_size=5))
def test_both_ways_write_the_same_bytes(begun, tmp_path_factory, batch, steps):
    """Records of every kind, source and optional field, under a clock that stands, goes on and is set back."""
    ways = {
        "short": lambda memory, draft: memory._agent.record(draft, durable=True),
        "long": lambda memory, draft: memory._agent._append((draft,), durable=True, force_clock=False)[0].record,
    }
    made = {}
    for name, way in ways.items():
        home = tmp_path_factory.mktemp(name) / "home"
        shutil.copytree(begun, home)
        made[name] = written(home, batch, steps[: len(batch)], way)
        shutil.rmtree(home)
    assert made["short"] == made["long"]


def test_the_short_way_is_taken(home, monkeypatch):
    """By a record alone of no known source; not by the first of a chain, nor by one with an origin."""
    taken = []
    usual = Agent._record_usual
    monkeypatch.setattr(
        Agent, "_record_usual", lambda *of, **how: taken.append((made := usual(*of, **how)) is not None) or made
    )
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for kind in ("state", "observation", "decision"):
            memory.record(kind, f"a {kind}")
        memory.record("state", "an item", origin="chat:1:1")
    assert taken == [False, True, True, False]


def test_what_cannot_be_recorded_leaves_nothing(home):
    """A content that no line holds: the chain goes on as if nothing had been asked."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("state", "first")
        for content in ("x" * (1 << 20), "a lone \ud800"):
            with pytest.raises(InputError):
                memory.record("state", content)
        assert memory.record("state", "second").hc.seq == 1
        assert memory.size() == 2
        assert memory.verify_chain()
