"""What a writer does with damage at the end of the stream when it opens, and where it refuses to do anything."""

import hashlib
import os

import pytest

from alveus import AlveusError, ChainState, Hippocampus, JournalError, StoreError
from alveus.journal.seal import Key
from alveus.store.files import DISK, create
from forge import Bench, canonical, head_bytes, profile_lines, sealed
from scenes import AGENT
from simulator import MUTATING, Faulty, Spoil


@pytest.fixture
def bench(home):
    """Six records; the head counts three."""
    bench = Bench(home)
    bench.lines = profile_lines([("state", f"number {number}", "novel") for number in range(6)])
    bench.heads[0].write_bytes(head_bytes(bench.lines[:3]))
    return bench


def torn_files(bench):
    """What was set aside, by name."""
    return sorted(bench.folder.glob("stream.jsonl.torn-*"))


def reopen(bench, **options):
    """Open and close as a writer; the records' contents and kinds."""
    with Hippocampus.open(home=bench.home, agent_id=AGENT, **options) as memory:
        assert memory.verify_chain()
        return [(record.kind.value, record.content) for record in memory.iter_records()]


def resigned(bench, number, synced):
    """The record that says by `synced` what was on disk before it."""
    record = bench.record(number)
    record["metadata"]["hc"]["synced"] = synced
    return canonical(sealed(record, bench.key))


@pytest.mark.parametrize(
    ("spoil", "kept"),
    [
        (lambda data: data[:-1], 5),
        (lambda data: data[:-100], 5),
        (lambda data: data + b"{", 6),
        (lambda data: data + b"\x00" * 5000, 6),
        (lambda data: data + b"\n", 6),
        (lambda data: data + b"\xff\xfe\n\n\n{}", 6),
        (lambda data: data + data[:50], 6),
        (lambda data: data.replace(b'"number 4"', b'"number X"'), 4),
        (lambda data: data.replace(b'"number 3"', b'"number X"'), 3),
        (lambda data: data + b"y" * (2 << 20), 6),
    ],
    ids=[
        "no LF",
        "half a line",
        "a byte",
        "zeros",
        "an empty line",
        "junk lines",
        "copied",
        "fifth",
        "fourth",
        "2 MiB",
    ],
)
def test_damage_after_the_head_is_set_aside_and_accounted_for(bench, spoil, kept):
    """From the first bad byte on all goes to a file of its own; a signed record tells its length and hash."""
    before = spoil(bench.stream.read_bytes())
    bench.stream.write_bytes(before)
    records = reopen(bench)
    assert [content for kind, content in records if kind == "state"] == [f"number {number}" for number in range(kept)]
    (torn,) = torn_files(bench)
    aside = torn.read_bytes()
    assert before.endswith(aside)
    account = bench.record(kept)
    assert account["kind"] == "error"
    assert account["metadata"]["hc"]["src"] == "system"
    assert account["metadata"]["torn"] == {
        "bytes": len(aside),
        "file": torn.name,
        "sha256": hashlib.sha256(aside).hexdigest(),
    }
    assert len(reopen(bench)) == kept + 1, "accounted for once"


def test_a_torn_file_without_its_record_gets_one(bench):
    """A crash between setting aside and accounting: the next opening accounts."""
    (bench.folder / "stream.jsonl.torn-20260101T000000000000001Z").write_bytes(b"left")
    records = reopen(bench)
    assert records[-1][0] == "error"
    assert "torn-20260101T000000000000001Z" in records[-1][1]
    assert len(reopen(bench)) == len(records) == 7


@pytest.mark.parametrize("where", ["before the head", "the head's last line", "cut below the head"])
def test_damage_before_the_head_fails_closed(bench, where):
    """What the head counts had been on disk: nothing is changed, and the offset is named."""
    data = bench.stream.read_bytes()
    if where == "cut below the head":
        bench.stream.write_bytes(data[: len(bench.lines[0]) + 30])
    else:
        number = 1 if where == "before the head" else 2
        bench.stream.write_bytes(data.replace(b'"number %d"' % number, b'"number X"'))
    before = bench.stream.read_bytes()
    if where == "before the head":  # seen by a verification, not by an opening, which reads from the head on
        assert len([*Hippocampus.open(home=bench.home, agent_id=AGENT, read_only=True)._agent.stream.forwards()]) == 6
        with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
            assert memory.verify_chain().fault.line == 2
        return
    with pytest.raises(JournalError, match="byte"):
        Hippocampus.open(home=bench.home, agent_id=AGENT)
    assert bench.stream.read_bytes() == before
    assert not torn_files(bench)


@pytest.mark.parametrize("synced", [2, 3, 4])
def test_a_later_line_that_proves_the_loss_makes_it_fail_closed(bench, synced):
    """A valid line behind the damage says how far the disk had been synced: what was on disk is not set aside."""
    lines = bench.lines
    lines[3] = lines[3].replace(b"number 3", b"number X")
    lines[5] = resigned(bench, 5, synced)
    bench.lines = lines
    before = bench.stream.read_bytes()
    if synced >= 3:
        with pytest.raises(JournalError, match="had been on disk") as caught:
            Hippocampus.open(home=bench.home, agent_id=AGENT)
        assert f"byte {sum(len(line) + 1 for line in lines[:3])}" in caught.value.message
        assert bench.stream.read_bytes() == before
        assert not torn_files(bench)
    else:
        assert len(reopen(bench)) == 4
        assert len(torn_files(bench)) == 1


def test_a_line_of_another_chain_or_key_proves_nothing(bench):
    """Only a line of this chain, signed with this key, can testify."""
    lines = bench.lines
    other = profile_lines([("state", "x", "novel")] * 6, chain="d1" * 16)
    bench.lines = [*lines[:4], b"damage", other[5]]
    assert len(reopen(bench)) == 5


def test_proof_behind_two_large_lines_joined_by_damage(home):
    """A lost LF between two large lines makes one longer than a line may be: what follows it still testifies."""
    bench = Bench(home)
    lines = profile_lines([("state", "x" * 600_000 + str(number), "novel") for number in range(4)])
    bench.lines = lines
    bench.heads[0].write_bytes(head_bytes(lines[:1]))
    bench.replace(3, resigned(bench, 3, 2))
    data = bytearray(bench.stream.read_bytes())
    data[len(lines[0]) + 1 + len(lines[1])] = ord(" ")
    bench.stream.write_bytes(bytes(data))
    with pytest.raises(JournalError, match="had been on disk"):
        Hippocampus.open(home=home, agent_id=AGENT)
    assert bench.stream.read_bytes() == data


@pytest.mark.parametrize("how", ["eio", "enospc", "short"])
def test_where_nothing_can_be_set_aside_the_journal_opens_for_reading(bench, how):
    """No copy, no cut: it is read as far as it is valid, says why it cannot be written, and keeps its tail."""
    before = bench.stream.read_bytes() + b"torn"
    bench.stream.write_bytes(before)
    files = Faulty(DISK)
    files.fault = Spoil(how, 0, None, only=lambda call: call.kind in MUTATING and ".torn-" in call.name)
    with Hippocampus.open(home=bench.home, agent_id=AGENT, files=files) as memory:
        assert memory.read_only
        assert "could not be set aside" in memory.refused
        assert len(list(memory.iter_records())) == 6
        assert memory.pattern_completion("number 5")
        assert memory.context("number", 500).health
        with pytest.raises(StoreError) as caught:
            memory.record("decision", "refused")
        assert caught.value.code == "read_only"
    assert bench.stream.read_bytes() == before
    files.fault = None
    assert len(reopen(bench)) == 7
    assert len(torn_files(bench)) == 1, "a copy that failed leaves nothing that looks like one"


def test_a_reader_leaves_a_torn_tail_alone(bench):
    """Only a writer recovers; a reader sees the whole records, and a verification says what the tail is."""
    before = bench.stream.read_bytes() + b'{"agent_id":"riv'
    bench.stream.write_bytes(before)
    with Hippocampus.open(home=bench.home, agent_id=AGENT, read_only=True) as memory:
        assert len(list(memory.iter_records())) == 6
        verdict = memory.verify_chain()
        assert verdict.fault.code == "torn_tail"
        assert verdict.fault.offset == len(before) - 16
    assert bench.stream.read_bytes() == before


def test_a_tail_that_a_writer_is_writing_is_no_fault(bench):
    """While another process holds the lock a half line is work in progress, not damage."""
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as writer:
        log = writer._agent.stream.log
        with log.locked():
            os.write(log.fd, b'{"agent_id":"riv')
            with Hippocampus.open(home=bench.home, agent_id=AGENT, read_only=True, lock_timeout=0.1) as reader:
                assert len(list(reader.iter_records())) == 6
                try:
                    assert reader.verify_chain().state is ChainState.OK_OPEN_END
                except StoreError as error:
                    assert error.code == "locked"
            os.ftruncate(log.fd, log.end)
        assert writer.verify_chain()


def test_a_running_writer_meets_what_a_killed_one_left(bench):
    """A writer at work that finds the torn line of another process sets it aside before it adds its own."""
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
        with bench.stream.open("ab") as stream:
            stream.write(b'{"agent_id":"riv')
        memory.record("decision", "after it")
        kinds = [record.kind.value for record in memory.iter_records()]
        assert kinds[-2:] == ["error", "decision"] or kinds[-1] == "decision"
        assert memory.verify_chain()
    assert len(torn_files(bench)) == 1
    assert sum(kind == "error" for kind, _ in reopen(bench)) == 1


def test_a_journal_that_was_cut_while_it_was_open_fails_closed(bench):
    """A stream that becomes shorter than what this process has seen is damage; nothing is written over it."""
    memory = Hippocampus.open(home=bench.home, agent_id=AGENT)
    memory.record("decision", "seen")
    bench.lines = bench.lines[:4]
    before = bench.stream.read_bytes()
    for act in (lambda: memory.record("decision", "refused"), memory.close):
        with pytest.raises(AlveusError) as caught:
            act()
        assert caught.value.code == "short_of_head"
    assert bench.stream.read_bytes() == before


def test_a_journal_restored_from_a_backup_under_an_open_writer(bench):
    """Another file under the same name is looked at anew: the writer goes on at its end, whatever that is."""
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
        memory.record("decision", "not in the backup")
        data = b"".join(line + b"\n" for line in bench.lines[:4])
        new = bench.folder / "restored"
        new.write_bytes(data)
        for head in bench.heads:
            head.write_bytes(head_bytes(bench.lines[:4]))
        new.rename(bench.stream)
        memory.record("decision", "after the backup")
        assert [record.content for record in memory.iter_records()][4:] == ["after the backup"]
        assert memory.verify_chain()


def test_a_rotated_journal_with_junk_behind_its_closing_record(home):
    """A crash during a change of key and junk behind the closing record: it is set aside, the change finished."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        memory.record("decision", "one")
        key = Key(bytes(range(32)))
        key.hand_over(lambda secret: create(DISK, memory.layout.old_key(key.kid), secret))
        memory._agent.close_chain(key.kid, "c5" * 16)
    with (home / "agents" / AGENT / "stream.jsonl").open("ab") as stream:
        stream.write(b"junk")
    for _ in range(2):
        with Hippocampus.open(home=home, agent_id=AGENT) as memory:
            memory.record("decision", "two")
            verdict = memory.verify_chain()
            assert verdict, verdict.fault
            assert len(verdict.chains) == 2
            assert verdict.chains[1].chain == "c5" * 16
