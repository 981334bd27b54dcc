"""verify, anchor, export: verdicts for people and programs, and what leaves the machine."""

import json
import re
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alveus import Kind
from alveus.doors.proving import CAUSES

ERRORS = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


@pytest.fixture
def filled(memory, clock, call):
    """Twenty records on each of the first three days of January 2026."""
    with memory:
        for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
            clock.set(day)
            for number in range(20):
                clock.advance(seconds=1)
                memory.record(list(Kind)[number % 6], f"day {day}, thing {number}")
    return call


# verify


def test_a_whole_journal(filled):
    """Green says how much was checked, the root that was found, and what it does not show."""
    ended = filled("verify")
    document = filled("verify", "--json").document
    assert (ended.status, document["state"], document["size"]) == (0, "ok_to_head", 60)
    assert "WHOLE" in ended.out
    assert document["root"] in ended.out
    assert "not shown" in ended.out


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (b"thing 7", b"thing 8", "bad_signature"),
        (b'"agent_id":"river"', b'"agent_id": "river"', "not_canonical"),
        (b'"kind":"error"', b'"kind":"terror"', "bad_field"),
    ],
)
def test_a_changed_journal(filled, edit, old, new, code):
    """Red names the code, the file, the line and the byte; a program gets the same fields; the status is 4."""
    edit(old, new)
    ended = filled("verify")
    document = filled("verify", "--json").document
    assert ended.status == 4
    assert (document["state"], document["code"]) == ("broken", code)
    assert f"BROKEN, {code}" in ended.out
    assert "stream.jsonl" in ended.out
    assert f"{document['line']}, from byte {document['offset']}" in ended.out


def test_the_document_has_the_fields_of_the_specification(filled):
    """Whole or broken, the document has the same keys."""
    keys = set(filled("verify", "--json").document)
    assert keys >= {
        "state",
        "code",
        "detail",
        "chain",
        "line",
        "offset",
        "seq",
        "record_id",
        "chains",
        "root",
        "open_end",
    }


def test_a_journal_too_damaged_to_open_is_verified(filled, folder):
    """What keeps a journal from being opened does not keep it from being judged."""
    for name in ("stream.head.0", "stream.head.1"):
        (folder / name).unlink(missing_ok=True)
    assert filled("log").status == 4
    ended = filled("verify", "--json")
    assert (ended.status, ended.document["code"]) == (4, "head_missing")


def test_a_cut_journal(filled, folder):
    """Without its last record a journal is a valid chain, and the head says that it was longer."""
    stream = folder / "stream.jsonl"
    stream.write_bytes(b"".join(stream.read_bytes().splitlines(keepends=True)[:-1]))
    assert filled("verify", "--json").document["code"] == "short_of_head"


def test_a_torn_end_needs_no_hand(filled, folder):
    """A torn end is told as what it is; verifying changes nothing, the next command that writes sets it aside."""
    stream = folder / "stream.jsonl"
    with stream.open("ab") as end:
        end.write(b'{"agent_id":"ri')
    before = stream.read_bytes()
    ended = filled("verify")
    assert "torn_tail" in ended.out
    assert "nothing: the next command that writes" in ended.out
    assert stream.read_bytes() == before
    assert filled("record", "state", "x").status == 0
    assert filled("verify").status == 0


def test_the_wrong_key(filled, home):
    """Another key is told as that, with where the right one may be."""
    (home / "keys" / "river.journal.key").write_bytes(bytes(32))
    ended = filled("verify")
    assert ended.status == 4
    assert "wrong_key" in ended.out
    assert "ALVEUS_KEY_FILE" in ended.out


def test_a_journal_that_is_not_there(call):
    """No journal is no green verdict."""
    assert call("verify").status == 3


def test_from_the_head_is_not_called_whole(filled):
    """A walk that skipped the past says so, first and in numbers."""
    ended = filled("verify", "--since-head")
    assert "PARTIAL" in ended.out
    assert "WHOLE" not in ended.out
    assert "the first 60 were not looked at" in ended.out


def test_several_chains(filled):
    """After a rotation each chain is told with its key."""
    filled("keys", "rotate")
    ended = filled("verify")
    assert ended.status == 0
    assert len(re.findall(r"^ *chain ", ended.out, re.MULTILINE)) == 2
    assert [chain["closed"] for chain in filled("verify", "--json").document["chains"]] == [True, False]


def test_processes_do_not_change_the_verdict(filled):
    """However many processes, one verdict."""
    assert filled("verify", "--jobs", "3", "--json").document == filled("verify", "--jobs", "1", "--json").document


def test_every_code_has_a_cause():
    """Each code that the manual lists for verdicts is explained here too, and no other."""
    section = ERRORS.read_text("utf-8").partition("## In a verdict")[2]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == set(CAUSES)


# Checkpoints


def test_a_checkpoint_kept_elsewhere(filled, tmp_path):
    """A checkpoint that was kept agrees with a journal that has only grown."""
    note = tmp_path / "kept.note"
    assert filled("export", "--checkpoint", str(note)).out == ""
    filled("record", "decision", "more")
    ended = filled("verify", "--against", str(note))
    assert ended.status == 0
    assert "agrees with" in ended.out
    assert "not shown" not in ended.out


def test_a_rolled_back_disk(filled, tmp_path, home):
    """A home put back to an earlier day is whole; only the checkpoint tells."""
    earlier = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    filled("record", "decision", "more")
    note = tmp_path / "kept.note"
    filled("export", "--checkpoint", str(note))
    for path, data in earlier.items():
        path.write_bytes(data)
    assert filled("verify").status == 0
    ended = filled("verify", "--against", str(note), "--json")
    assert (ended.status, ended.document["code"]) == (4, "against_mismatch")


def test_a_checkpoint_that_cannot_be_used(filled, tmp_path):
    """A missing one is told; one that speaks of the past is not compared with a walk that skipped it."""
    assert filled("verify", "--against", str(tmp_path / "none")).status == 3
    note = str(tmp_path / "kept.note")
    filled("export", "--checkpoint", note)
    assert filled("verify", "--against", note, "--since-head").status == 2


# anchor


def test_a_day_is_closed(filled, folder):
    """Closing a day gives the hash to publish and the folder; again, it is compared."""
    ended = filled("anchor", "2026-01-01")
    document = filled("anchor", "2026-01-01", "--json").document
    assert ended.status == 0
    assert document["payload_hash"] in ended.out
    assert (document["new"], document["payload"]["count"]) == (False, 20)
    assert (folder / "anchors" / "2026-01-01" / "checkpoint.note").exists()
    assert "1 closed day recomputed: 2026-01-01" in filled("verify").out


def test_the_montana_operation(filled, tmp_path):
    """The operation is 3,438 bytes; --out copies it."""
    out = tmp_path / "op"
    document = filled("anchor", "2026-01-01", "--export", "montana", "--out", str(out), "--json").document
    assert len(out.read_bytes()) == document["montana"]["size"] == 3438


@pytest.mark.parametrize(
    ("day", "status"), [("2026-01-03", 2), ("2025-12-31", 3), ("2026-02-30", 2), ("x", 2), ("2999-01-01", 2)]
)
def test_days_that_cannot_be_closed(filled, day, status):
    """The last day with records, days without records and what is no day are told apart."""
    assert filled("anchor", day).status == status


def test_yesterday_is_a_day(filled):
    """`yesterday` stands for a date, for those who close days by a timetable."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    assert yesterday in filled("anchor", "yesterday").err


def test_an_unknown_export(filled):
    """There is one kind of operation."""
    assert filled("anchor", "2026-01-01", "--export", "bitcoin").status == 2


# export


def test_records_leave_to_the_byte(filled, tmp_path, folder):
    """A jsonl export is the journal's lines, on stdout as in a file."""
    stream = (folder / "stream.jsonl").read_bytes()
    out = tmp_path / "out.jsonl"
    assert filled("export").out.encode() == stream
    assert filled("export", "--out", str(out)).out == ""
    assert out.read_bytes() == stream
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_all_chains_leave_in_succession(filled, folder):
    """After a rotation an export holds every chain, oldest first."""
    filled("keys", "rotate")
    (closed,) = folder.glob("stream-*.jsonl")
    assert filled("export").out.encode() == closed.read_bytes() + (folder / "stream.jsonl").read_bytes()


def test_a_file_is_never_overwritten_unasked(filled, tmp_path):
    """What is there stays there, without --force."""
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"precious")
    assert filled("export", "--out", str(out)).status == 2
    assert out.read_bytes() == b"precious"
    assert filled("export", "--out", str(out), "--force").status == 0
    assert out.read_bytes() != b"precious"


def test_what_is_no_file_is_never_replaced(filled, tmp_path):
    """A link, a folder or a device is refused, with --force too."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    for path in (link, tmp_path, Path("/dev/null")):
        assert filled("export", "--out", str(path), "--force").status == 2
    assert filled("export", "--out", str(tmp_path / "no" / "folder")).status == 3


def test_a_damaged_journal_leaves_no_half_file(filled, edit, tmp_path):
    """An export that meets a changed record fails whole: no file, no remains."""
    edit(b"thing 7", b"thing 8")
    out = tmp_path / "out" / "all.jsonl"
    out.parent.mkdir()
    assert filled("export", "--out", str(out)).status == 4
    assert list(out.parent.iterdir()) == []


def test_markdown_keeps_contents_apart(begun):
    """A heading inside a content is no heading of the export."""
    begun("record", "decision", "# not a heading\n\nand more")
    out = begun("export", "--format", "markdown").out
    assert "> # not a heading\n>\n> and more\n" in out
    assert len(re.findall(r"^#+ ", out, re.MULTILINE)) == 2


def test_markdown_is_by_session_and_by_the_day_it_happened(begun, tmp_path):
    """What was imported today stands under the day when it was said, with its session, its tool and its branch."""
    said = {"role": "user", "id": "m1", "session": "s `x`", "time": "2026-03-01T10:20:30+03:00", "content": "hello"}
    called = {"role": "tool", "id": "m2", "session": "s `x`", "name": "ls", "content": "a.txt"}
    (tmp_path / "chat.jsonl").write_text(f"{json.dumps(said)}\n{json.dumps(called)}\n")
    begun("import", str(tmp_path / "chat.jsonl"))
    out = begun("export", "--format", "markdown").out
    assert "## 2026-03-01, session `s 'x'`\n\n### 10:20:30 observation by user\n\n> hello\n\n" in out
    assert "at 2026-03-01T10:20:30+03:00, recorded 20" in out
    assert "tool `ls`, " in out


def test_a_stream_is_not_called_a_document(filled, tmp_path):
    """--json on a stream of records is refused; of an export to a file it tells what was written."""
    assert filled("export", "--json").status == 2
    assert filled("export", "--json", "--out", str(tmp_path / "x")).document["records"] == 60


def test_stdout_carries_one_thing(filled):
    """Records and a checkpoint are not mixed on stdout, nor either with a document."""
    assert filled("export", "--out", "-", "--checkpoint", "-").status == 2
    assert filled("export", "--checkpoint", "-", "--json").status == 2
    assert filled("export", "--checkpoint", "-").out.startswith("alveus/river/")
