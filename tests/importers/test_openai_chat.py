"""What chat messages mean, and what stands for their identity."""

from __future__ import annotations

import json

import pytest

from alveus.importers.base import Rejected, Skipped

TALK = [{"role": "user", "content": "which port?"}, {"role": "assistant", "content": "8081"}]


def layouts():
    """The same conversation in every layout."""
    doc = {"messages": TALK}
    return {
        "array": json.dumps(TALK).encode(),
        "pretty array": json.dumps(TALK, indent=2).encode(),
        "object": json.dumps(doc).encode(),
        "pretty object": json.dumps(doc, indent=2).encode(),
        "lines": b"\n".join(json.dumps(one).encode() for one in TALK),
        "object a line": json.dumps(doc).encode() + b"\n",
        "crlf": b"\r\n".join(json.dumps(one).encode() for one in TALK) + b"\r\n",
        "bom": b"\xef\xbb\xbf" + json.dumps(TALK, indent=1).encode(),
        "glued": b"".join(json.dumps(one).encode() for one in TALK),
        "commas": b",\n".join(json.dumps(one).encode() for one in TALK) + b",\n",
    }


@pytest.mark.parametrize("layout", layouts())
def test_layout_changes_nothing(layout, chat, drafts):
    """A list, an object, lines, and each of them indented or on one line, give the same two items."""
    found = drafts(chat(layouts()[layout]))
    assert [(d.kind, d.src, d.content) for d in found] == [
        ("observation", "user", "which port?"),
        ("state", "agent", "8081"),
    ]
    assert [d.origin.rpartition(":")[2] for d in found] == ["0", "1"]
    assert len({d.origin.rpartition(":")[0] for d in found}) == 1


@pytest.mark.parametrize(
    ("message", "kind", "src"),
    [
        ({"role": "system", "content": "be brief"}, "observation", "system"),
        ({"role": "developer", "content": "be brief"}, "observation", "system"),
        ({"role": "tool", "tool_call_id": "c", "content": "out"}, "observation", "tool"),
        ({"role": "tool", "content": "no such file", "is_error": True}, "error", "tool"),
        ({"role": "function", "name": "f", "content": "out"}, "observation", "tool"),
        ({"role": "assistant", "content": None, "refusal": "I will not."}, "error", "agent"),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, "error", "agent"),
        ({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}, "observation", "agent"),
        ({"type": "function_call_output", "call_id": "c", "output": "out"}, "observation", "tool"),
    ],
)
def test_role_gives_kind_and_source(message, kind, src, chat, drafts):
    """Who produced a message and what it is follow from its role, and from nothing it says of itself."""
    (draft,) = drafts(chat(message))
    assert (draft.kind, draft.src) == (kind, src)


def test_parts_refusals_and_calls_are_items_of_their_own(chat, drafts):
    """One message's words, thoughts and calls stay apart, and every origin ends in the message's id."""
    parts = [{"type": "reasoning", "value": "hm"}, {"type": "text", "text": "I look."}]
    call = {"id": "c1", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    found = drafts(chat({"role": "assistant", "id": "m7", "session": "s", "content": parts, "tool_calls": [call]}))
    assert [d.origin for d in found] == ["openai-chat:s:m7", "openai-chat:s:1/m7", "openai-chat:s:2/m7"]
    assert [(d.kind, d.content) for d in found] == [
        ("state", "hm"),
        ("state", "I look."),
        ("observation", 'read {"path": "a"}'),
    ]


def test_handing_over_is_a_transfer_and_back(chat, drafts):
    """A call of `transfer_to_…` and its answer are transfers."""
    call = {"id": "c1", "function": {"name": "transfer_to_refunds", "arguments": "{}"}}
    found = drafts(
        chat({"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1", "content": "ok"})
    )
    assert [d.kind for d in found] == ["transfer", "transfer"]
    assert found[0].metadata["to"] == "refunds"


def test_tool_that_writes_an_identity_file_changes_the_identity(chat, drafts):
    """The rule holds for every agent: writing AGENTS.md is an identity change."""
    given = json.dumps({"path": "AGENTS.md", "content": "I test first."})
    call = {"id": "c1", "function": {"name": "write_file", "arguments": given}}
    (draft,) = drafts(chat({"role": "assistant", "tool_calls": [call]}))
    assert (draft.kind, draft.content) == ("identity_change", "I test first.")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("time", "2026-03-01T10:00:00+03:00", "2026-03-01T10:00:00+03:00"),
        ("created_at", "2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"),
        ("created_at", 1767225600, "2026-01-01T00:00:00Z"),
        ("time", 1767225600.25, "2026-01-01T00:00:00.250000Z"),
        ("time", 1767225600000, "2026-01-01T00:00:00Z"),
        ("time", "1767225600", "2026-01-01T00:00:00Z"),
        ("time", "2026-03-01 10:00:00+0300", "2026-03-01T10:00:00+03:00"),
        ("time", "2026-03-01T10:00Z", "2026-03-01T10:00:00Z"),
    ],
)
def test_time_keeps_its_zone(field, value, expected, chat, drafts):
    """A message's time becomes its event time in the zone it was given in; numbers are UTC."""
    (draft,) = drafts(chat({"role": "user", "content": "x", field: value}))
    assert draft.event_time == expected


@pytest.mark.parametrize("value", ["2026-03-01T10:00:00", "yesterday", True, -5, 1e300, "2026-02-30T10:00:00Z", {}])
def test_time_that_names_no_instant_is_kept_beside(value, chat, drafts):
    """What cannot be read as an instant is no event time."""
    (draft,) = drafts(chat({"role": "user", "content": "x", "time": value}))
    assert draft.event_time is None


def test_id_time_and_session_are_kept(chat, drafts):
    """`id`, `time` and `session` of a message are its origin, event time and session."""
    (draft,) = drafts(
        chat({"role": "user", "content": "x", "id": "m1", "session": "s:1", "time": "2026-01-01T00:00:00Z"})
    )
    assert (draft.origin, draft.session) == ("openai-chat:s%3A1:m1", "s:1")


def test_metadata_of_a_message_moves_nothing(chat, drafts):
    """A message's metadata is kept as what the source said, and sets no scope."""
    (draft,) = drafts(chat({"role": "user", "content": "x", "metadata": {"agent_id": "other", "src": "system"}}))
    assert draft.metadata == {"source_metadata": {"agent_id": "other", "src": "system"}}
    assert (draft.user, draft.session, draft.src) == (None, None, "user")


def test_grown_and_moved_file_brings_only_what_was_added(imported):
    """The same conversation from another folder, longer by two messages, stores two."""
    assert imported(TALK, name="a/chat.json").stored == 2
    report = imported(TALK + TALK, name="b/chat.json")
    assert (report.stored, report.known, report.revised) == (2, 2, 0)


def test_namesakes_are_two_conversations(imported):
    """Two files with one name and no ids are not taken for revisions of each other."""
    imported(TALK, name="a/chat.json")
    other = [{"role": "user", "content": "another question"}, *TALK]
    report = imported(other, name="b/chat.json")
    assert (report.stored, report.revised) == (3, 0)


def test_conversations_of_one_file_stay_apart(imported):
    """Lines with equal openings are separate conversations, and stay so when lines are added."""
    line = {"messages": TALK}
    assert imported(line, line).stored == 4
    report = imported(line, line, line)
    assert (report.stored, report.known, report.revised) == (2, 4, 0)


def test_edited_message_with_an_id_is_a_revision(imported):
    """A message that keeps its id and changes its words is a revision, also when it is the first."""
    imported({"role": "user", "content": "first", "id": "m1"}, name="chat.jsonl")
    report = imported({"role": "user", "content": "edited", "id": "m1"}, name="chat.jsonl")
    assert (report.stored, report.revised) == (0, 1)


def test_broken_message_keeps_its_position(imported):
    """A broken element costs itself alone, and mending it later moves no other message."""
    broken = b'[{"role": "user", "content": "a"}, {oops}, {"role": "assistant", "content": "b"}]'
    report = imported(broken, name="chat.json")
    assert (report.stored, report.rejected_count) == (2, 1)
    mended = broken.replace(b"{oops}", b'{"role": "assistant", "content": "mended"}')
    report = imported(mended, name="chat.json")
    assert (report.stored, report.known, report.revised) == (1, 2, 0)


def test_header_names_the_session(chat, drafts):
    """The members of an object before its messages name the conversation, on one line or on many."""
    for indent in (None, 1):
        text = json.dumps({"id": "conv-9", "messages": TALK}, indent=indent).encode()
        assert {d.session for d in drafts(chat(text))} == {"conv-9"}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "wizard", "content": "x"}, "unknown type: wizard"),
        ({"role": "assistant", "content": None}, "empty message"),
        ({"role": "user", "content": " \n"}, "empty text"),
        ({"content": "x"}, "unknown type: none"),
    ],
)
def test_what_is_left_out_says_why(message, reason, chat):
    """Unknown roles and empty messages are skipped under a reason."""
    (event,) = chat(message)
    assert isinstance(event, Skipped)
    assert event.reason == reason


@pytest.mark.parametrize("value", [42, "text", None])
def test_what_is_no_message_is_rejected(value, chat):
    """A value that is no object is set aside."""
    (event,) = chat(value)
    assert isinstance(event, Rejected)


def test_data_uri_becomes_its_hash(chat, drafts):
    """A picture inside a message is named by its hash; one on the web by its address."""
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]
    inner, outer = drafts(chat({"role": "user", "content": parts}))
    assert inner.content.startswith("[image sha256:2cf24dba")
    assert outer.content == "[image https://example.org/a.png]"
