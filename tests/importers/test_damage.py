"""Damaged, hostile and enormous input: everything that can be read is imported, everything else is kept aside."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import tracemalloc

import pytest

from alveus.importers import run
from alveus.importers import source as source_module
from alveus.importers.base import Item, Rejected

GOOD = {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "hello"}}
LINE = json.dumps(GOOD).encode()


def other(number, content="again"):
    """Another line like the good one."""
    return json.dumps({**GOOD, "uuid": f"u{number}", "message": {"role": "user", "content": content}}).encode()


@pytest.mark.parametrize(
    ("data", "stored", "rejected"),
    [
        (LINE, 1, 0),
        (LINE + b"\r\n" + other(2) + b"\r\n", 2, 0),
        (b"\xef\xbb\xbf" + LINE + b"\n", 1, 0),
        (LINE + b"\n\xef\xbb\xbf" + other(2), 2, 0),
        (LINE + other(2) + b"\n", 2, 0),
        (LINE + b" \t" + other(2) + b"\n", 2, 0),
        (LINE + other(2)[:-5] + b"\n", 1, 1),
        (LINE + b"\n\n   \n" + other(2) + b"\n", 2, 0),
        (LINE + b"\n" + other(2)[:-9], 1, 1),
        (LINE + b"\n{oops}\n" + other(3) + b"\n", 2, 1),
        (LINE + b"\n" + other(2, "\xff\xfe").replace(b"\\u00ff", b"\xff") + b"\n" + other(3), 2, 1),
        (LINE + b"\n\0\0\0\0\n" + other(3), 2, 1),
        (LINE + b"\n" + other(2).replace(b"again", b"a\0b") + b"\n", 1, 1),
        (LINE + b"\n" + other(2, "a\0b") + b"\n", 2, 0),
        (LINE + b"\n" + b"[" * 100_000 + b"\n" + other(3), 2, 1),
        (LINE + b"\n" + b'{"type":"user","message":' + b'{"a":' * 3000 + b"1" + b"}" * 3001 + b"\n" + other(3), 2, 1),
        (LINE + b"\n" + b"9" * 5000 + b"\n" + other(3), 2, 1),
        (LINE + b'\n{"type":"user","message":{"content":NaN}}\n', 1, 1),
        (LINE + "\u2028\u0085".encode() + b"\n" + other(2), 2, 1),
    ],
)
def test_damage_costs_only_what_it_touches(data, stored, rejected, imported):
    """Line ends, byte order marks, glued, cut and broken lines, bad bytes, deep nesting: the rest is imported."""
    report = imported(data)
    assert (report.stored, report.rejected_count) == (stored, rejected)


def test_every_cut_of_a_session_is_survived(samples, hippocampus, write):
    """A session cut at any byte gives what stands whole before the cut, and at most one rejected line."""
    data = (samples / "claude-code" / "agent-sessions_schema_drift.jsonl").read_bytes()[:1400]
    whole = [number for number, byte in enumerate(data) if byte == ord("\n")]
    for end in range(1, len(data)):
        report = run(hippocampus, write(data[:end]), format="claude-code")
        complete = sum(1 for position in whole if position < end) + (end in whole)
        assert report.read - report.rejected_count >= complete - (end in whole)
        assert report.rejected_count <= 1


def test_every_cut_of_a_document_is_survived(samples, hippocampus, write):
    """The same for one pretty-printed list: the elements before the cut are imported."""
    data = (samples / "openai-chat" / "handmade_bare_messages_with_tools.json").read_bytes()
    for end in range(1, len(data) + 1):
        report = run(hippocampus, write(data[:end], name="chat.json"), format="openai-chat")
        assert report.rejected_count <= 1
        assert report.revised == 0
    assert len(hippocampus.drafts) == 4


@pytest.mark.parametrize("wrap", ["lines", "list", "object"])
def test_a_conversation_cut_before_its_first_question_is_not_stored_twice(wrap, hippocampus, write):
    """A question names the conversation of messages without ids: what came before a missing one waits aside for it."""
    told = [
        {"role": "system", "content": "You keep notes."},
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": "8081"},
    ]
    text = {
        "lines": "\n".join(map(json.dumps, told)) + "\n",
        "list": json.dumps(told, indent=1),
        "object": json.dumps({"messages": told}),
    }[wrap]
    data = text.encode()
    first = len(json.dumps(told[0]))
    for end in range(2, len(data) + 1):
        if wrap != "lines" or end not in (first, first + 1):  # there nothing shows that there is more
            report = run(hippocampus, write(data[:end], name="chat.json"), format="openai-chat")
            assert report.stored + report.known + report.rejected_count
    assert [draft.content for draft in hippocampus.drafts].count("You keep notes.") == 1
    assert len(hippocampus.drafts) == 3


def test_random_bytes_never_stop_an_import(samples, hippocampus, write):
    """Overwritten, inserted and removed bytes anywhere cost lines, never the import."""
    data = (samples / "claude-code" / "claude-code-log_edge_cases.jsonl").read_bytes()
    dice = random.Random(7)
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(dice.randrange(1, 20)):
            start = dice.randrange(len(damaged))
            damaged[start : start + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
        for name in ("claude-code", "openai-chat"):
            run(hippocampus, write(bytes(damaged)), format=name)


def test_lone_surrogate_is_replaced_and_marked(imported, hippocampus):
    """Text that has no UTF-8 is kept with U+FFFD in its place, and says that it was repaired."""
    bad = LINE.replace(b"hello", b"a\\ud800b").replace(b'"s"', b'"s\\udfff"')
    assert imported(bad + b"\n" + other(2, "\U0001f600")).stored == 2
    first, second = hippocampus.drafts
    assert (first.content, first.metadata["repaired"], first.session) == ("a\ufffdb", "lone surrogate", "s\ufffd")
    assert (second.content, second.metadata) == ("\U0001f600", {})


def test_rejected_lines_lie_whole_in_a_file_for_the_owner(imported, hippocampus):
    """What could not be read is kept byte for byte, with its number, in a file that only its owner reads."""
    bad = [b"{oops}\n", b"\xff\xfe\xff\n", b'{"cut": "']
    report = imported(LINE + b"\n" + b"".join(bad))
    assert [(line.line, line.file) for line in report.rejected] == [(n, "session.jsonl") for n in (2, 3, 4)]
    path = report.rejects_file
    assert path.parent == hippocampus.folder / "imports"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [base64.b64decode(one["raw_b64"]) for one in kept] == bad
    assert [one["sha256"] for one in kept] == [hashlib.sha256(data).hexdigest() for data in bad]
    assert [(one["line"], one["size"]) for one in kept] == [(2 + n, len(data)) for n, data in enumerate(bad)]


def test_reason_shows_no_word_of_the_line(imported):
    """A reason may be printed anywhere, so it quotes nothing of what it is about."""
    report = imported(LINE + b'\n{"key": "sk_live_abcdefghijklmnop" oops}\n')
    assert "sk_live" not in report.rejected[0].reason


def test_nothing_is_written_when_nothing_is_rejected(imported, hippocampus):
    """No file for rejected lines appears without one."""
    assert imported(LINE).rejects_file is None
    assert not (hippocampus.folder / "imports").exists()


def test_rejects_file_is_no_link(imported, tmp_path):
    """A link in the place of the rejects file is refused: what may be secret is not written elsewhere."""
    (tmp_path / "aside").symlink_to(tmp_path / "elsewhere")
    from alveus.errors import StoreError

    with pytest.raises(StoreError, match="could not be kept aside"):
        imported(LINE + b"\n{oops}\n", rejects=tmp_path / "aside")
    assert not (tmp_path / "elsewhere").exists()


def test_wide_line_is_imported(imported, hippocampus):
    """A line of 30 MB is an item in parts, and its neighbours are imported."""
    report = imported(LINE + b"\n" + other(2, "xy " * 10_000_000) + b"\n" + other(3))
    assert (report.stored, report.rejected_count) == (3, 0)
    parts = [draft for draft in hippocampus.drafts if draft.origin.endswith(":u2")]
    assert [draft.part for draft in parts] == [(n, len(parts)) for n in range(1, len(parts) + 1)]
    assert "".join(draft.content for draft in parts) == "xy " * 10_000_000


def test_line_over_the_limit_is_set_aside_unheld(monkeypatch, write, hippocampus):
    """A value over the limit is copied aside as a stream: never whole in memory, and whole in the file."""
    monkeypatch.setattr(source_module, "MAX_LINE", 2 << 20)
    monkeypatch.setattr(
        source_module.Source.__init__,
        "__kwdefaults__",
        {**source_module.Source.__init__.__kwdefaults__, "max_line": 2 << 20},
    )
    huge = other(2, "z" * (24 << 20))
    path = write(LINE + b"\n" + huge + b"\n" + other(3) + b"\n")
    tracemalloc.start()
    report = run(hippocampus, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (report.stored, report.rejected_count) == (2, 1)
    assert report.rejected[0].line == 2
    assert "longer than" in report.rejected[0].reason
    assert peak < 16 << 20
    kept = json.loads(report.rejects_file.read_text())
    assert base64.b64decode(kept["raw_b64"]).strip() == huge


def test_single_line_array_streams(write, hippocampus):
    """A list of messages in one line is read element by element, whatever its length."""
    one = json.dumps({"role": "user", "content": "word " * 200}).encode()
    path = write(b"[" + b",".join([one] * 12_000) + b"]", name="chat.json")
    tracemalloc.start()
    report = run(hippocampus, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert report.read == 12_000
    assert peak - sum(len(draft.content) for draft in hippocampus.drafts) < 12 << 20


def test_events_know_their_place(claude):
    """Every event names the line and the bytes it came from."""
    first, second, bad = claude(LINE + b"\n", b"\n", other(2) + b"{oops}\n")
    assert [type(one) for one in (first, second, bad)] == [Item, Item, Rejected]
    assert [(one.at.line, one.at.start) for one in (first, second, bad)] == [
        (1, 0),
        (3, len(LINE) + 2),
        (3, len(LINE) + 2),
    ]
