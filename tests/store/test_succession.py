"""Changing the key: the old chain ends with a record that names the new one, and everything stays readable."""

from itertools import pairwise

import pytest

from alveus import AlveusError, ChainState, Draft, Hippocampus, Kind, Stored
from alveus.journal.seal import Key
from forge import Bench
from scenes import AGENT


@pytest.fixture
def memory(home, clock):
    """Three chains."""
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        for number in range(6):
            memory.record("decision", f"number {number}", origin=f"test:source:{number}")
            clock.advance(minutes=1)
            if number in (1, 3):
                memory.rotate()
        yield memory


def test_the_files_of_a_rotation(memory, home):
    """The closed chains and their keys are kept under their names, the live one has the plain names."""
    chains = memory.verify_chain().chains
    names = {path.name for path in memory.folder.iterdir() if path.is_file() and "memory.db" not in path.name}
    for chain in chains[:-1]:
        assert {f"stream-{chain.chain}.jsonl", f"stream-{chain.chain}.head.0", f"stream-{chain.chain}.head.1"} <= names
    assert "stream.jsonl" in names
    keys = {path.name: path.read_bytes() for path in (home / "keys").iterdir()}
    assert Key(keys[f"{AGENT}.journal.key"]).kid == chains[-1].kid
    assert {f"{AGENT}.journal.key", *(f"{AGENT}.journal.key.{chain.kid}" for chain in chains[:-1])} == set(keys)
    for chain in chains[:-1]:
        assert Key(keys[f"{AGENT}.journal.key.{chain.kid}"]).kid == chain.kid


def test_closing_and_opening_records(memory):
    """The last record of a chain names the next key and chain, the first of that one the end of the one before."""
    chains = memory.verify_chain().chains
    records = list(memory.iter_records())
    for before, after in pairwise(chains):
        mine = [record for record in records if record.hc.chain == before.chain]
        theirs = [record for record in records if record.hc.chain == after.chain]
        assert mine[-1].metadata == {"closing": {"next_chain": after.chain, "next_kid": after.kid}}
        assert mine[-1].kind == theirs[0].kind == "identity_change"
        assert theirs[0].metadata == {
            "opening": {
                "prev_chain": before.chain,
                "prev_root": before.root,
                "prev_size": before.size,
                "prev_last_id": mine[-1].record_id,
            }
        }
        assert (theirs[0].prev_id, theirs[0].hc.seq, theirs[0].hc.prev_line) == (None, 0, None)
        assert mine[-1].hc.src == theirs[0].hc.src == "system"


def test_everything_is_read_across_chains(memory):
    """Iterating, finding, loading and completing do not stop at a change of key."""
    contents = [record.content for record in memory.iter_records() if record.content.startswith("number")]
    assert contents == [f"number {number}" for number in range(6)]
    for record in memory.iter_records():
        assert memory.get(record.record_id) == record
    assert memory.pattern_completion("number 0")[0].content == "number 0"
    assert "number 0" in [record.content for record in memory.selective_load(1000)]
    newest = [record.record_id for record in memory.iter_records(newest_first=True)]
    assert newest[::-1] == [record.record_id for record in memory.iter_records()]


def test_items_of_closed_chains_stay_known(memory, home):
    """An import after a change of key finds what was imported before it."""
    drafts = [Draft(kind=Kind.DECISION, content=f"number {n}", origin=f"test:source:{n}") for n in range(7)]
    assert [outcome.status for outcome in memory.record_many(drafts)] == [Stored.KNOWN] * 6 + [Stored.NEW]
    (memory.folder / "memory.db").unlink()
    with Hippocampus.open(home=home, agent_id=AGENT) as again:
        assert {outcome.status for outcome in again.record_many(drafts)} == {Stored.KNOWN}


def test_rotating_an_empty_journal_and_twice_in_a_row(home):
    """There need be no records between two changes of key."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.rotate()
        memory.rotate()
        verdict = memory.verify_chain()
        assert [chain.size for chain in verdict.chains] == [1, 2, 1]
        assert verdict.state is ChainState.OK_TO_HEAD or verdict.open_end == 1
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        assert memory.verify_chain().state is ChainState.OK_TO_HEAD


def test_a_writer_with_an_empty_journal_open_sees_the_change(home):
    """A writer that had opened the journal before there was a record writes into the live chain, not over it."""
    with Hippocampus.open(home=home, agent_id=AGENT) as idle:
        with Hippocampus.open(home=home, agent_id=AGENT) as other:
            other.record("decision", "one")
            other.rotate()
            other.record("decision", "two")
        idle.record("decision", "three")
        contents = [record.content for record in idle.iter_records() if record.hc.src == "agent"]
        assert contents == ["one", "two", "three"]
        assert idle.verify_chain()
        assert not list(idle.folder.glob("*.torn-*"))


def test_a_late_head_of_the_old_chain_harms_nothing(home, clock):
    """A head that a writer noted before another changed the key is not written over the new chain's."""
    with (
        Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as slow,
        Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as other,
    ):
        slow.record("decision", "one")
        stream = slow._agent.stream
        with stream.log.locked():
            stream._mark()
        late, stream._marked = stream._marked, None
        other.rotate()
        heads = {path.name: path.read_bytes() for path in other.folder.glob("stream.head.*")}
        try:
            stream._write_head(*late, 10)
        except Exception as error:  # noqa: BLE001
            assert type(error).__name__ == "Moved"
        assert {path.name: path.read_bytes() for path in other.folder.glob("stream.head.*")} == heads
        slow.record("decision", "two")
        assert slow.verify_chain()


def test_old_keys_are_needed(memory, home):
    """Without the key of a closed chain opening says which one is missing, or reads what can be read and says so."""
    memory.close()
    chains = memory.verify_chain().chains
    path = home / "keys" / f"{AGENT}.journal.key.{chains[0].kid}"
    data = path.read_bytes()
    path.unlink()
    try:
        with Hippocampus.open(home=home, agent_id=AGENT) as again:
            assert again.marks()
            assert not again.verify_chain()
    except AlveusError as error:
        assert chains[0].kid in error.message
    path.write_bytes(data)
    path.chmod(0o600)
    with Hippocampus.open(home=home, agent_id=AGENT) as again:
        assert again.verify_chain()


def test_the_old_key_signs_nothing_any_more(memory, home):
    """A record made with the closed chain's key has no place in the live one."""
    from forge import profile_lines

    chains = memory.verify_chain().chains
    memory.flush()
    bench = Bench.of(home)
    old = (home / "keys" / f"{AGENT}.journal.key.{chains[0].kid}").read_bytes()
    forged = profile_lines([("decision", "forged", "novel")] * 5, key=old, chain=chains[-1].chain)
    bench.lines = [*bench.lines, forged[len(bench.lines)]]
    assert memory.verify_chain().fault.code == "wrong_key"


def test_a_caller_cannot_close_a_chain(memory):
    """Only a change of key closes: an identity change with look-alike metadata does not."""
    for key, value in (("Closing", {}), ("closing ", {"next_kid": "a", "next_chain": "b"})):
        memory.record("identity_change", "x", {key: value})
    memory.record("decision", "goes on")
    assert memory.verify_chain()
