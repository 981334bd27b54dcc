"""v1-basic: files of another implementation, without the signed profile. They are read and verified, never written."""

import hashlib
import hmac
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alveus import AlveusError, ChainState, Hippocampus, Kind, StoreError
from alveus.hippocampus import verify_layout
from alveus.store.files import DISK
from alveus.store.layout import make_layout
from forge import KEY, Bench, basic_lines, canonical, head_bytes, sealed
from scenes import AGENT

GAPS = {
    "order_of_twins",
    "novelty_signed",
    "gapless_sequence",
    "previous_line_bound",
    "one_chain",
    "time_rising",
    "head",
    "tail_cut_visible",
}


class PlainWriter:
    """The journal as the seed's document has it, and nothing more: what other implementations write."""

    def __init__(self, folder: Path, agent_id: str, key: bytes) -> None:
        self.path, self.agent_id, self.key, self.tail = folder / "stream.jsonl", agent_id, key, None

    def record(self, kind: str, content: str, metadata=None, novelty="novel") -> dict:
        """Append one record."""
        record = {
            "agent_id": self.agent_id,
            "content": content,
            "kind": kind,
            "metadata": metadata or {},
            "prev_id": self.tail,
            "timestamp": datetime.now(UTC).isoformat(),
        }
        seed = {name: record[name] for name in ("agent_id", "timestamp", "content", "metadata")}
        signature = hmac.new(self.key, b"montana.agent.hippocampus.v1||" + canonical(record), hashlib.sha256)
        record["record_id"] = self.tail = hashlib.sha256(canonical(seed)).digest()[:16].hex()
        record |= {"novelty": novelty, "signature": signature.hexdigest()}
        with self.path.open("ab") as stream:
            stream.write(canonical(record) + b"\n")
        return record


@pytest.fixture
def bench(home):
    """A plain writer's journal of twelve records, all of them called routine."""
    bench = Bench(home)
    writer = PlainWriter(bench.folder, AGENT, bench.key)
    for number, kind in enumerate([*Kind, *Kind]):
        writer.record(kind, f"{kind} {number}: переезд", {"number": number, "x": [1.5, None]}, novelty="routine")
    return bench


def verdict_of(bench):
    """The verdict on the files."""
    return verify_layout(make_layout(bench.home, AGENT), DISK)


def test_another_implementations_file_is_valid(bench):
    """It is verified as far as it goes, its end is open, and the promises that do not hold are listed."""
    verdict = verdict_of(bench)
    assert verdict.state is ChainState.OK_OPEN_END
    assert verdict.size == 12
    assert set(verdict.gaps) == GAPS
    assert verdict.head_size is None


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-01-01T12:00:00Z",
        "2026-01-01T12:00:00+00:00",
        "2026-01-01T12:00:00.5Z",
        "2026-01-01T12:00:00.123456789+00:00",
    ],
)
def test_times_of_other_implementations(home, stamp):
    """Any spelling of a UTC instant that the format allows."""
    bench = Bench(home)
    record = json.loads(basic_lines([("state", "x", "novel")])[0])
    bench.lines = [canonical(sealed({**record, "timestamp": stamp}))]
    assert verdict_of(bench)


@pytest.mark.parametrize(
    "stamp", ["2026-01-01T12:00:00", "2026-01-01T12:00:00+03:00", "2026-02-30T12:00:00Z", "2026-01-01T12:00:00.Z", ""]
)
def test_times_that_are_none(home, stamp):
    """Other zones, no zone, days that do not exist."""
    bench = Bench(home)
    record = json.loads(basic_lines([("state", "x", "novel")])[0])
    bench.lines = [canonical(sealed({**record, "timestamp": stamp}))]
    assert verdict_of(bench).fault.code == "bad_field"


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("edit", "bad_signature"),
        ("id", "bad_record_id"),
        ("delete", "chain_break"),
        ("swap", "chain_break"),
        ("novelty", None),
        ("cut", None),
        ("agent", "bad_signature"),
    ],
)
def test_attacks_on_a_plain_file(bench, how, code):
    """The signature, the id and the links are checked; what they do not bind is among the listed gaps."""
    lines = bench.lines
    if how == "edit":
        bench.edit(5, content="rewritten")
    elif how == "id":
        bench.edit(5, record_id="ab" * 16)
    elif how == "delete":
        bench.lines = lines[:5] + lines[6:]
    elif how == "swap":
        bench.lines = [*lines[:5], lines[6], lines[5], *lines[7:]]
    elif how == "novelty":
        bench.edit(5, novelty="novel")
    elif how == "cut":
        bench.lines = lines[:5]
    else:
        bench.edit(5, agent_id="brook")
    verdict = verdict_of(bench)
    if code is None:
        assert verdict.state is ChainState.OK_OPEN_END
        assert {"novelty_signed", "tail_cut_visible"} <= set(verdict.gaps)
    else:
        assert verdict.fault.code == code


def test_a_record_of_another_agent(home):
    """Signed with the same key, and still another agent's."""
    bench = Bench(home)
    bench.lines = basic_lines([("state", "x", "novel")], agent_id="brook")
    assert verdict_of(bench).fault.code == "wrong_chain"


def test_a_head_beside_a_plain_file(bench):
    """There is none: one that lies there is not of it."""
    bench.heads[0].write_bytes(head_bytes([]))
    assert verdict_of(bench).fault.code == "bad_head"


def test_reading_goes_on_and_writing_is_refused(bench):
    """It can be read, searched and loaded from; not a byte is added to it."""
    before = bench.stream.read_bytes()
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
        assert memory.read_only
        records = list(memory.iter_records())
        assert [record.metadata["number"] for record in records] == list(range(12))
        assert all(record.hc is None for record in records)
        assert memory.get(records[3].record_id) == records[3]
        assert memory.pattern_completion("переезд", 3)
        assert memory.context("переезд", 1000).sources
        with pytest.raises(StoreError) as caught:
            memory.record("decision", "x")
        assert caught.value.code == "read_only"
        with pytest.raises(StoreError):
            memory.rotate()
        with pytest.raises(AlveusError):
            memory.checkpoint()
        assert memory.verify_chain().state is ChainState.OK_OPEN_END
    assert bench.stream.read_bytes() == before
    assert not [path for path in bench.heads if path.exists()]


def test_what_counts_is_never_dropped_on_the_word_of_an_unsigned_novelty(bench):
    """Decisions, identity changes, transfers and errors are loaded although the file calls them routine."""
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
        kinds = [record.kind for record in memory.selective_load(10_000)]
        assert kinds == [
            kind for kind in [*Kind, *Kind] if kind in {"decision", "identity_change", "transfer", "error"}
        ]
        assert len(memory.selective_load(10_000, include_routine=True)) == 12
        assert "decision" in memory.context("nothing of it", 2000).text


def test_a_tail_that_another_program_is_writing(bench):
    """An unended last line of a plain file is not a record yet; it is left alone."""
    bench.stream.write_bytes(bench.stream.read_bytes() + b'{"agent_id":"riv')
    before = bench.stream.read_bytes()
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
        assert memory.size() == 12
    assert bench.stream.read_bytes() == before
    assert verdict_of(bench).fault.code == "torn_tail"


def test_records_appended_by_the_other_program_are_seen(bench):
    """A plain writer goes on, and its new records are read."""
    writer = PlainWriter(bench.folder, AGENT, bench.key)
    writer.tail = bench.record(11)["record_id"]
    with Hippocampus.open(home=bench.home, agent_id=AGENT) as memory:
        writer.record("decision", "later")
        assert [record.content for record in memory.iter_records()][-1] == "later"
        assert memory.size() == 13
        assert memory.verify_chain().size == 13
    assert bench.key == KEY


def test_an_empty_stream_without_a_head_is_no_plain_file(home):
    """Nothing says what it is: it is not taken for a journal that never had anything in it."""
    bench = Bench(home)
    bench.lines = []
    assert not verdict_of(bench)
    with pytest.raises(AlveusError) as caught:
        Hippocampus.open(home=home, agent_id=AGENT)
    assert caught.value.code == "head_missing"
