"""Closing days: which can be closed, what the anchor says, and that a closed day stays as it was."""

import hashlib
import json
import shutil
from datetime import date

import pytest

from alveus import AlveusError, ChainState, Hippocampus, InputError, JournalError, NotFound
from alveus.store import anchors as anchor_room
from alveus.store import verify
from forge import canonical
from scenes import AGENT

DAYS = ["2026-01-01", "2026-01-02", "2026-01-04"]


@pytest.fixture
def memory(home, clock):
    """Three days with three records each; it is the evening of the fifth."""
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        for day in DAYS:
            clock.set(day)
            for number in range(3):
                memory.record("observation", f"{day} number {number}" if number else f"unheard-of {day} things")
                clock.advance(minutes=1)
        clock.set("2026-01-05", 20)
        yield memory


def of_day(memory, day):
    """The records of one day."""
    return [record for record in memory.iter_records() if record.timestamp.startswith(day)]


def test_the_anchor_is_the_specifications(memory):
    """Payload and hash, computed here from the records as sections 8 and the seed say."""
    anchored = memory.daily_anchor("2026-01-02")
    records = of_day(memory, "2026-01-02")
    ids = [record.record_id for record in records]
    payload = {
        "agent_id": AGENT,
        "date": "2026-01-02",
        "count": 3,
        "dna_hash": hashlib.sha256("|".join(sorted(ids)).encode()).hexdigest(),
        "novelty_distribution": {
            name: sum(record.novelty == name for record in records) for name in ("novel", "prediction_error", "routine")
        },
        "first_id": ids[0],
        "last_id": ids[-1],
    }
    assert anchored.payload == payload
    assert anchored.payload_hash == hashlib.sha256(canonical(payload)).hexdigest()
    assert anchored.new
    assert (anchored.folder / "payload.json").read_bytes() == canonical(payload)
    assert (anchored.folder / "payload.sha256").read_text() == anchored.payload_hash + "\n"
    note = (anchored.folder / "checkpoint.note").read_text().split("\n")
    assert note[0] == f"alveus/{AGENT}/{records[0].hc.chain}"
    assert note[1] == "9"
    assert json.loads((anchored.folder / "status.json").read_bytes()) == {}


def test_closing_again_changes_nothing(memory):
    """A closed day is compared with the journal and returned, by its text or its date."""
    first = memory.daily_anchor("2026-01-01")
    files = {path.name: path.read_bytes() for path in first.folder.iterdir()}
    again = memory.daily_anchor(date(2026, 1, 1))
    assert (again.payload, again.new) == (first.payload, False)
    assert {path.name: path.read_bytes() for path in first.folder.iterdir()} == files


@pytest.mark.parametrize("day", ["2026-01-05", "2026-01-06", "2030-01-01"])
def test_a_day_that_is_not_over(memory, day):
    """Today and later days cannot be closed, records or not."""
    with pytest.raises(InputError) as caught:
        memory.daily_anchor(day)
    assert caught.value.code == "day_open"
    assert caught.value.hint


def test_the_last_day_with_records(memory):
    """A day after which nothing was recorded could still get a record from a slow clock; it waits for the next one."""
    with pytest.raises(InputError) as caught:
        memory.daily_anchor("2026-01-04")
    assert caught.value.code == "day_open"
    memory.record("state", "the next day")
    assert memory.daily_anchor("2026-01-04").payload["count"] == 3


@pytest.mark.parametrize("day", ["2026-01-03", "2025-12-31", "0001-01-01"])
def test_a_day_without_records(memory, day):
    """It has no anchor."""
    with pytest.raises(NotFound):
        memory.daily_anchor(day)
    assert not (memory.folder / "anchors" / day).exists()


@pytest.mark.parametrize(
    "day", ["", "yesterday", "2026-02-30", "2026-1-1", "../2026-01-01", "2026-01-01T00:00:00", "٢٠٢٦-01-01"]
)
def test_what_is_no_day(memory, day):
    """A day has one spelling; nothing else becomes a folder's name."""
    with pytest.raises(InputError):
        memory.daily_anchor(day)


def test_closed_days_are_verified(memory):
    """The verdict names the days whose payload was recomputed."""
    memory.daily_anchor("2026-01-01")
    memory.daily_anchor("2026-01-02")
    verdict = memory.verify_chain()
    assert verdict.state is ChainState.OK_TO_HEAD
    assert verdict.days == ("2026-01-01", "2026-01-02")


@pytest.mark.parametrize("name", ["payload.json", "payload.sha256", "checkpoint.note"])
@pytest.mark.parametrize("how", ["deleted", "edited", "empty", "link", "folder", "large"])
def test_an_anchor_that_was_tampered_with(memory, name, how, tmp_path):
    """Any file of a closed day that is not what the journal gives is found, and the day not closed again over it."""
    path = memory.daily_anchor("2026-01-01").folder / name
    data = path.read_bytes()
    path.unlink()
    if how == "edited":
        path.write_bytes(data.translate(bytes.maketrans(b"0123456789", b"1234567890")))
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "large":
        path.write_bytes(data + b" " * (2 << 20))
    elif how == "folder":
        path.mkdir()
    elif how == "link":
        (tmp_path / "elsewhere").write_bytes(data)
        path.symlink_to(tmp_path / "elsewhere")
    assert memory.verify_chain().fault.code == "anchor_mismatch"
    if name != "checkpoint.note" or how in ("deleted", "folder", "link"):
        with pytest.raises(AlveusError) as caught:
            memory.daily_anchor("2026-01-01")
        assert caught.value.code in {"anchor_mismatch", "journal_damaged"}


def test_a_checkpoint_of_another_history_beside_a_day(memory, tmp_path):
    """A note that our key signed, over another journal of ours, does not pass for this one's."""
    anchored = memory.daily_anchor("2026-01-01")
    with Hippocampus.open(home=tmp_path / "other", agent_id=AGENT) as other:
        other.record("decision", "x")
        (anchored.folder / "checkpoint.note").write_text(other.checkpoint())
    assert memory.verify_chain().fault.code == "anchor_mismatch"


def test_a_deleted_anchor_of_the_last_closed_day(memory):
    """The head knows the last closed day: its folder is missed."""
    memory.daily_anchor("2026-01-01")
    anchored = memory.daily_anchor("2026-01-02")
    shutil.rmtree(anchored.folder)
    assert memory.verify_chain().fault.code == "anchor_mismatch"
    shutil.rmtree(memory.folder / "anchors")
    assert memory.verify_chain().fault.code == "anchor_mismatch"


def test_an_anchor_of_a_day_without_records(memory):
    """A folder for a day the journal does not have is not evidence of anything."""
    anchored = memory.daily_anchor("2026-01-01")
    shutil.copytree(anchored.folder, memory.folder / "anchors" / "2026-01-03")
    assert memory.verify_chain().fault.code == "anchor_mismatch"


def test_other_things_in_the_anchors_folder_are_none_of_ours(memory):
    """Only days are days."""
    memory.daily_anchor("2026-01-01")
    (memory.folder / "anchors" / "notes.txt").write_text("x")
    (memory.folder / "anchors" / ".2026-01-02.new").mkdir()
    (memory.folder / "anchors" / "2026-02-30").mkdir()
    assert memory.verify_chain().days == ("2026-01-01",)
    assert memory.daily_anchor("2026-01-02").new


@pytest.mark.parametrize("number", range(9))
def test_a_damaged_day_cannot_be_closed(memory, number, home, clock):
    """A record that fails its check, or whose date was changed, keeps its day open: no partial anchor is made."""
    memory.flush()
    memory.close()
    path = memory.folder / "stream.jsonl"
    lines = path.read_bytes().split(b"\n")
    for spoil in (
        lambda line: line.replace(b'"observation"', b'"observatioN"'),
        lambda line: line.replace(b'"timestamp":"2026-01-0', b'"timestamp":"2026-09-0'),
        lambda line: line.replace(b'"timestamp"', b'"Timestamp"'),
    ):
        path.write_bytes(b"\n".join([*lines[:number], spoil(lines[number]), *lines[number + 1 :]]))
        (memory.folder / "stream.idx").unlink(missing_ok=True)
        try:
            with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as again:
                for day in DAYS[:2]:
                    try:
                        anchored = again.daily_anchor(day)
                    except AlveusError:
                        assert not (memory.folder / "anchors" / day).exists()
                    else:
                        assert anchored.payload["count"] == 3
                        shutil.rmtree(anchored.folder)
        except JournalError:
            assert number == 8  # the record the head ends with
        path.write_bytes(b"\n".join(lines))


def test_records_of_a_day_in_two_chains(home, clock):
    """A day with a change of key in it is one day: the records of both chains, in order."""
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as memory:
        memory.record("decision", "in the first chain")
        memory.rotate()
        memory.record("decision", "in the second chain")
        clock.set("2026-01-02")
        memory.record("decision", "the next day")
        clock.set("2026-01-03")
        anchored = memory.daily_anchor("2026-01-01")
        records = of_day(memory, "2026-01-01")
        assert anchored.payload["count"] == len(records) == 4
        assert anchored.payload["first_id"] == records[0].record_id
        assert anchored.payload["last_id"] == records[-1].record_id
        assert memory.verify_chain().days == ("2026-01-01",)


def test_a_crash_between_the_folder_and_the_head(memory, monkeypatch, home, clock):
    """The folder is there and the head does not know: the day is closed, and the next call tells the head."""

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(memory._agent.stream), "close_through", crash)
        with pytest.raises(KeyboardInterrupt):
            memory.daily_anchor("2026-01-01")
    assert (memory.folder / "anchors" / "2026-01-01").exists()
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as again:
        assert again.verify_chain().days == ("2026-01-01",)
        assert again._agent.stream.closed_through is None
        assert not again.daily_anchor("2026-01-01").new
        assert again._agent.stream.closed_through == "2026-01-01"
        assert again.verify_chain()


def test_two_close_one_day_at_once(memory, home, clock, monkeypatch):
    """A day that another process closes in the middle of our closing it is closed once, the same for both."""
    save = anchor_room.save_anchor
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock) as other:
        results = []

        def after_the_other(files, folder, anchor, note):
            if not results:
                results.append(None)
                shutil.copytree(memory.folder, home / "kept")
                results[0] = save(files, folder, anchor, note)
                return save(files, folder, anchor, note)
            return save(files, folder, anchor, note)

        monkeypatch.setattr(anchor_room, "save_anchor", after_the_other)
        try:
            memory.daily_anchor("2026-01-01")
        except AlveusError as error:
            assert error.message
        monkeypatch.undo()
        assert other.daily_anchor("2026-01-01").payload["count"] == 3
        assert other.verify_chain().days == ("2026-01-01",)


def test_a_day_closed_while_it_is_verified(memory, home, monkeypatch):
    """A verification that runs while a day is being closed does not call the journal broken."""
    closed_days = verify.closed_days

    def then_closed(files, folder):
        found = closed_days(files, folder)
        if not (folder / "2026-01-01").exists():
            memory.daily_anchor("2026-01-01")
        return found

    monkeypatch.setattr(verify, "closed_days", then_closed)
    with Hippocampus.open(home=home, agent_id=AGENT, read_only=True) as reader:
        assert reader.verify_chain(), reader.verify_chain().fault


def test_a_reader_may_look_at_a_closed_day_and_close_none(memory, home, clock):
    """Opened for reading, a closed day is compared and returned; an open one is not closed."""
    first = memory.daily_anchor("2026-01-01")
    with Hippocampus.open(home=home, agent_id=AGENT, clock=clock, read_only=True) as reader:
        assert reader.daily_anchor("2026-01-01").payload == first.payload
        with pytest.raises(AlveusError) as caught:
            reader.daily_anchor("2026-01-02")
        assert caught.value.code == "read_only"
    assert not (memory.folder / "anchors" / "2026-01-02").exists()


def test_a_montana_operation_is_made_once_and_names_the_one_before(memory):
    """3,438 bytes; the same when asked again; each names its predecessor."""
    one = memory.export_montana("2026-01-01")
    two = memory.export_montana("2026-01-02")
    assert len(one.path.read_bytes()) == 3438
    assert memory.export_montana("2026-01-01").operation == one.operation
    assert two.operation.prev_hash == one.operation.op_id
    assert one.operation.data_hash.hex() == memory.daily_anchor("2026-01-01").payload_hash
    assert memory.verify_chain().days == ("2026-01-01", "2026-01-02")
