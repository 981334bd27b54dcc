"""Words reach the journal from the transcript, once, under the origins that an import gives them."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alveus import Hippocampus
from alveus.doors.hook import draining, place, spool
from alveus.doors.hook.tail import Cursor, Tail
from alveus.errors import StoreError
from alveus.fence import fenced
from alveus.importers import run
from hooked import Hooks, Transcript, origins

USER, AGENT, TOOL = "user", "agent", "tool"


def turn(hooks, number, *, calls=1):
    """One turn of a session, as the agent writes it and as its hooks tell of it."""
    transcript = hooks.transcript
    hooks.put("UserPromptSubmit", prompt=f"question {number}", prompt_id=f"p{number}")
    transcript.user(f"question {number}", promptId=f"p{number}")
    for call in range(calls):
        name = f"call-{number}-{call}"
        transcript.tool(name, f"run {number} {call}", f"output {number} {call}")
        hooks.put(
            "PostToolUse", tool_name="Bash", tool_use_id=name, tool_response={"stdout": f"output {number} {call}"}
        )
    transcript.agent(f"answer {number}")
    hooks.put("Stop", last_assistant_message=f"answer {number}")


def imported(hooks, tmp_path):
    """What an import of the whole transcript says, in a journal of its own."""
    with Hippocampus.open(home=tmp_path / "other", agent_id="other") as memory:
        run(memory, hooks.transcript.path)
        return [(record.content, record.hc.src, record.kind, record.hc.origin) for record in memory.iter_records()]


def told(records):
    """The same of these."""
    return [(record.content, record.hc.src, record.kind, record.hc.origin) for record in records]


def test_what_was_said_and_done_is_recorded(hooks):
    """The user's words are the user's, the agent's the agent's, a tool's the tool's; each once."""
    turn(hooks, 1)
    assert hooks.drain() == 4
    assert hooks.said() == [
        (USER, "question 1"),
        (AGENT, 'Bash {"command": "run 1 0"}'),
        (TOOL, "output 1 0"),
        (AGENT, "answer 1"),
    ]


def test_an_import_finds_the_words_known(hooks, tmp_path):
    """The same origins as the importer's: importing the transcript afterwards stores nothing (complaints 54, 57)."""
    for number in range(4):
        turn(hooks, number, calls=2)
        hooks.drain()
    assert told(hooks.records()) == imported(hooks, tmp_path)
    with Hippocampus.open(home=hooks.home, agent_id=hooks.agent_id) as memory:
        report = run(memory, hooks.transcript.path)
    assert (report.stored, report.revised) == (0, 0)
    assert report.known == 4 * 6


def test_an_import_beside_doubles_nothing(hooks):
    """Nor does a capture after an import."""
    turn(hooks, 1)
    with Hippocampus.open(home=hooks.home, agent_id=hooks.agent_id) as memory:
        assert run(memory, hooks.transcript.path).stored == 4
    assert hooks.drain() == 0
    assert len(hooks.records()) == 4


@pytest.mark.parametrize("every", [1, 2, 3, 5])
def test_read_piece_by_piece_is_read_whole(hooks, tmp_path, every):
    """However often it is taken in while it grows, the records are those of one import, whatever lines it holds.

    Records without an id are numbered by their place in the file, results name calls of earlier lines, words are
    queued, and a compaction's summary speaks of the boundary before it.
    """
    hooks.transcript.put(type="summary", summary="an earlier branch", leafUuid="leaf-1")
    hooks.transcript.write(
        json.dumps({"type": "queue-operation", "operation": "enqueue", "content": "steer", "sessionId": "s"}).encode()
        + b"\n"
    )
    for number in range(3):
        turn(hooks, number)
        line = {"type": "queue-operation", "operation": "remove", "content": f"steer {number}"}
        hooks.transcript.write(json.dumps({**line, "sessionId": hooks.transcript.session}).encode() + b"\r\n")
        hooks.transcript.write(b"{broken\n\n")
    hooks.transcript.put(type="system", subtype="compact_boundary", content="Conversation compacted", parentUuid=None)
    hooks.transcript.user("This session is being continued from a previous conversation", isCompactSummary=True)
    turn(hooks, 9)
    whole = list(hooks.transcript.lines)
    hooks.transcript.path.write_bytes(b"")
    for at in range(0, len(whole), every):
        with hooks.transcript.path.open("ab") as file:
            file.write(b"".join(whole[at : at + every]))
        hooks.put("SessionStart", source="resume")
        hooks.drain()
    assert told(hooks.records()) == imported(hooks, tmp_path)


def test_a_line_that_is_being_written_is_left_for_later(hooks):
    """Half a line is no record, and none is lost by it."""
    hooks.transcript.user("whole")
    line = json.dumps({"type": "user", "uuid": "u2", "sessionId": "s", "message": {"content": "half"}}).encode() + b"\n"
    with hooks.transcript.path.open("ab") as file:
        file.write(line[:30])
    hooks.put("Stop")
    hooks.drain()
    assert hooks.said() == [(USER, "whole")]
    with hooks.transcript.path.open("ab") as file:
        file.write(line[30:])
    hooks.put("Stop")
    hooks.drain()
    assert hooks.said() == [(USER, "whole"), (USER, "half")]


def test_what_was_injected_is_nobodys_words(hooks):
    """It comes back as attachments, in a tool's output and around a prompt: none is recorded (complaints 53, 56)."""
    injected = fenced("the port is 8081, said in another session")
    hooks.transcript.attachment("hook_success", stdout=json.dumps({"additionalContext": injected}))
    hooks.transcript.attachment("hook_additional_context", content=[injected])
    hooks.transcript.put(type="api-request-blob", message={"role": "user", "content": injected})
    hooks.transcript.user(f"<system-reminder>\n{injected}\n</system-reminder>\nwhich port?")
    hooks.transcript.tool(
        "c1", "cat transcript.jsonl", f"line one\n{json.dumps(injected, ensure_ascii=False)}\nline two"
    )
    hooks.transcript.user(injected)
    hooks.transcript.agent(injected)
    hooks.put("UserPromptSubmit", prompt=injected)
    hooks.put("Stop", last_assistant_message=injected)
    hooks.drain()
    contents = [record.content for record in hooks.records()]
    assert not any("8081" in content for content in contents)
    assert "which port?" in contents
    assert any("line one" in content and "line two" in content for content in contents)


def test_what_our_own_tools_answered_is_nobodys_words(hooks):
    """Neither the transcript's copy nor the event's, and nothing is waited for; another server's answer is kept."""
    answer = json.dumps({"records": [{"record_id": "0a" * 16, "content": "the port is 8081"}]})
    for call, name, text in (("c1", "mcp__alveus__memory_recall", answer), ("c2", "mcp__other__find", "a boat")):
        hooks.transcript.tool(call, {"query": "port"}, text, name=name)
        hooks.put("PostToolUse", tool_name=name, tool_use_id=call, tool_response=[{"type": "text", "text": text}])
    hooks.put("PostToolUse", tool_name="mcp__alveus__get_memory", tool_use_id="c3", tool_response=answer)
    hooks.drain()
    assert [content for src, content in hooks.said() if src == TOOL] == ["a boat"]
    assert not any("8081" in content for _, content in hooks.said())
    assert (hooks.folder / spool.PENDING).read_bytes() == b""


def test_a_compaction_is_no_words_of_the_user(hooks):
    """Its summary is a `user` line of the file, and the agent's state in the journal (complaint 56)."""
    hooks.transcript.user("question")
    hooks.transcript.put(type="system", subtype="compact_boundary", content="Conversation compacted")
    hooks.transcript.user("This session is being continued: the user asked a question", isCompactSummary=True)
    hooks.put("PreCompact", trigger="auto")
    hooks.drain()
    assert [src for src, _ in hooks.said()] == [USER, "system", AGENT]


def test_the_sub_agents_words_belong_to_its_session(hooks, tmp_path):
    """Wherever it works: its folder is not another project's memory."""
    sub = hooks.transcript.path.with_suffix("") / "subagents" / "agent-1.jsonl"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    hooks.call("SessionStart", source="startup")
    sub.parent.mkdir(parents=True)
    record = {"type": "assistant", "uuid": "sub-1", "sessionId": hooks.transcript.session, "isSidechain": True}
    record |= {"agentId": "1", "cwd": str(elsewhere), "message": {"content": [{"type": "text", "text": "found it"}]}}
    sub.write_text(json.dumps(record) + "\n")
    hooks.transcript.user("look")
    event = {**hooks.event("SubagentStop", agent_id="1", agent_transcript_path=str(sub)), "cwd": str(elsewhere)}
    hooks.send(json.dumps({**event, "last_assistant_message": "found it"}).encode())
    hooks.drain()
    assert (AGENT, "found it") in hooks.said()
    assert not hooks.beside(elsewhere, "x").records()
    assert len(list((hooks.home / "agents").iterdir())) == 1


def test_secrets_are_masked_before_they_are_signed(hooks):
    """As an import masks them: from the transcript and from an event alike."""
    key = "sk-ant-api03-" + "a1B2" * 24
    hooks.transcript.user(f"my key is {key}")
    hooks.put("UserPromptSubmit", prompt=f"my key is {key}")
    hooks.put("PostToolUse", tool_name="Bash", tool_use_id="gone", tool_response=f"key {key}", at=1.0)
    hooks.drain()
    assert len(hooks.records()) == 2
    assert key not in (hooks.home / "agents" / place.encode(hooks.agent_id) / "stream.jsonl").read_text()


# ── where the transcript does not hold the words ─────────────────────────────────────────────────────────────────────


def test_without_a_transcript_the_event_is_what_there_is(hooks):
    """A session that keeps none: prompt, call and answer are recorded from their events, once."""
    for _ in range(2):
        for event in (
            hooks.event("UserPromptSubmit", prompt="question", prompt_id="p"),
            hooks.event("PostToolUse", tool_name="Bash", tool_use_id="c", tool_response={"stdout": "out"}),
            hooks.event("Stop", last_assistant_message="answer"),
        ):
            spool.put(str(hooks.folder), json.dumps({"at": 1.0, "from": "claude-code", "event": event}).encode())
        hooks.drain()
    assert hooks.said() == [(USER, "question"), (TOOL, '{"stdout": "out"}'), (AGENT, "answer")]
    assert all(record.metadata["heard_by"] == "hook" for record in hooks.records())


def test_a_word_that_comes_late_is_waited_for(hooks):
    """A first prompt is heard before there is a transcript: it is not recorded twice when that comes."""
    hooks.put("UserPromptSubmit", prompt="question", prompt_id="p")
    hooks.drain()
    assert hooks.records() == []
    hooks.transcript.user("question")
    hooks.put("Stop")
    hooks.drain()
    assert hooks.said() == [(USER, "question")]
    assert (hooks.folder / spool.PENDING).read_bytes() == b""


def test_a_word_that_never_comes_is_recorded_all_the_same(hooks, monkeypatch):
    """The agent was killed between the hook and its own file: the words are not lost with it."""
    hooks.transcript.user("an earlier question")
    hooks.put("UserPromptSubmit", prompt="the last words", prompt_id="p")
    hooks.drain()
    assert hooks.said() == [(USER, "an earlier question")]
    monkeypatch.setattr(draining, "GRACE", 0.0)
    hooks.drain()
    assert hooks.said() == [(USER, "an earlier question"), (USER, "the last words")]


def test_a_transcript_that_was_deleted_since_doubles_nothing(hooks, monkeypatch):
    """Its words are in the journal already: the events that tell of them again are known by them."""
    turn(hooks, 1)
    hooks.drain()
    hooks.transcript.path.unlink()
    monkeypatch.setattr(draining, "GRACE", 0.0)
    hooks.put("UserPromptSubmit", prompt="question 1")
    hooks.put("Stop", last_assistant_message="answer  1\n")
    hooks.put("PostToolUse", tool_use_id="call-1-0", tool_response={"told": "otherwise than in the transcript"})
    hooks.drain()
    assert len(hooks.records()) == 4


@pytest.mark.parametrize("change", ["replaced", "cut", "rewritten in place"])
def test_a_transcript_that_was_replaced_is_read_from_its_beginning(hooks, change):
    """What its cursor spoke of is another file now: all of it is read, and what is known is not stored again."""
    for number in range(3):
        turn(hooks, number)
        hooks.drain()
    path = hooks.transcript.path
    lines = path.read_bytes().splitlines(keepends=True)
    new = (
        json.dumps({"type": "user", "uuid": "new", "sessionId": "s", "message": {"content": "new words"}}).encode()
        + b"\n"
    )
    if change == "replaced":
        beside = path.with_suffix(".new")
        beside.write_bytes(new + b"".join(lines))
        beside.replace(path)
    elif change == "cut":
        path.write_bytes(new)
    else:
        path.write_bytes(new + b"".join(lines) * 2)
    hooks.put("SessionStart", source="resume")
    hooks.drain()
    assert [content for _, content in hooks.said()].count("new words") == 1
    assert len(hooks.records()) == 3 * 4 + 1


def test_a_line_of_30_megabytes_does_not_stop_the_rest(hooks):
    """It is split as an import splits it; what stands before and after it is recorded as ever."""
    hooks.transcript.user("before")
    hooks.transcript.tool("big", "cat", "x" * 30_000_000)
    hooks.transcript.user("after")
    hooks.put("SessionEnd")
    hooks.drain()
    contents = [record.content for record in hooks.records()]
    assert (contents[0], contents[-1]) == ("before", "after")
    assert sum(len(content) for content in contents[2:-1]) == 30_000_000


def test_bytes_that_are_no_text_cost_their_line(hooks):
    """Bad UTF-8, NUL and glued objects: what can be read is (complaint 106)."""
    hooks.transcript.user("before")
    hooks.transcript.write(b'{"type": "user", "uuid": "x", "message": {"content": "\xff"}}\n\0\0\n\xef\xbb\xbf')
    hooks.transcript.user("after")
    hooks.put("Stop")
    hooks.drain()
    assert hooks.said() == [(USER, "before"), (USER, "after")]


# ── failures and kills ───────────────────────────────────────────────────────────────────────────────────────────────

POINTS = {
    "before the transcript is read": (draining._Draining, "_take_in"),
    "before anything is recorded": (draining._Draining, "_record"),
    "before the journal is on disk": (Hippocampus, "flush"),
    "before the cursors are saved": (draining.Cursors, "save"),
    "before what is waited for is noted": (place, "write_whole"),
    "before what was taken goes": (os, "unlink"),
}


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize(("where", "what"), POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("after", [False, True], ids=["before it", "after it"])
def test_a_kill_loses_and_doubles_nothing(hooks, monkeypatch, where, what, after):
    """Wherever it is killed, the next one records what is missing, and nothing twice."""
    for number in range(3):
        turn(hooks, number)
    hooks.put("UserPromptSubmit", prompt="not in the transcript")
    with monkeypatch.context() as patched:
        real = getattr(where, what)

        def killed(*args, **options):
            if after:
                real(*args, **options)
            raise Killed

        patched.setattr(where, what, killed)
        with pytest.raises(Killed):
            hooks.drain()
    turn(hooks, 3)
    hooks.drain()
    assert len(hooks.records()) == 4 * 4
    monkeypatch.setattr(draining, "GRACE", 0.0)
    hooks.drain()
    assert [content for _, content in hooks.said()].count("not in the transcript") == 1
    assert not spool.waiting(str(hooks.folder))


def test_a_store_that_refuses_keeps_what_waits(hooks, monkeypatch):
    """A full disk: nothing that was put down goes, the log says so, and the next one takes it in (complaint 21)."""
    turn(hooks, 1)

    def full(*_args, **_options):
        raise StoreError("no space", code="disk_full")

    with monkeypatch.context() as patched:
        patched.setattr(Hippocampus, "record_many", full)
        patched.setattr(draining.sys, "argv", ["x", str(hooks.home), hooks.agent_id, hooks.folder.name])
        assert draining.main() == 1
    assert "no space" in hooks.trouble()
    assert spool.waiting(str(hooks.folder))
    assert hooks.drain() == 4


@pytest.mark.parametrize("fault", [RuntimeError("a fault of ours"), PermissionError("a fault of ours")])
def test_a_fault_of_ours_keeps_no_other_session_out(hooks, monkeypatch, fault):
    """A session that this program cannot take in is tried again, and kept aside after a day; the others go in."""
    other = hooks.beside(hooks.project, "other-session")
    turn(hooks, 1)
    turn(other, 2)
    real = draining._Draining._session
    tried = []

    def faulty(self, memory, harness, events):
        if events[0].event["session_id"] == hooks.transcript.session:
            tried.append(1)
            raise fault
        return real(self, memory, harness, events)

    with monkeypatch.context() as patched:
        patched.setattr(draining._Draining, "_session", faulty)
        hooks.drain()
        assert (USER, "question 2") in hooks.said()
        assert "a fault of ours" in hooks.trouble()
        monkeypatch.setattr(draining, "GRACE", 0.0)
        hooks.drain()
        assert len(tried) == 2, "it is tried once each time, however long it has waited"
        monkeypatch.setattr(draining, "GRACE", 600.0)
    hooks.put("Stop")
    hooks.drain()
    assert {USER, AGENT} <= {src for src, content in hooks.said() if content.endswith(" 1")}


def test_a_line_that_is_no_event_is_kept_aside(hooks):
    """What a killed hook left half written spoils no other line, and lies where a person finds it."""
    turn(hooks, 1)
    with (hooks.folder / spool.EVENTS).open("ab") as file:
        file.write(b'{"at": 1, "fro')
    hooks.drain()
    assert len(hooks.records()) == 4
    assert [path.read_bytes() for path in Path(hooks.root, "rejected").iterdir()] == [b'{"at": 1, "fro']
    assert "cut short" in hooks.trouble()


def test_an_empty_answer_is_no_record(hooks):
    """Nothing blank is recorded, from an event or a transcript (complaint 59)."""
    hooks.transcript.user("  ")
    hooks.transcript.agent("")
    hooks.put("UserPromptSubmit", prompt=" \n")
    hooks.put("Stop", last_assistant_message="")
    hooks.drain()
    assert hooks.records() == []


def test_a_reading_begins_at_the_newest_turn(hooks):
    """A transcript of many turns is not read from its beginning each time (complaint 79)."""
    for number in range(50):
        turn(hooks, number)
    hooks.drain()
    size = hooks.transcript.path.stat().st_size
    turn(hooks, 50)
    cursors = json.loads((hooks.folder / "cursors.json").read_text())
    with Tail(hooks.transcript.path, Cursor(*cursors[str(hooks.transcript.path)]), lambda _line: None) as tail:
        read = [line for line in tail.lines() if line.at.size]
    assert sum(line.at.size for line in read) < hooks.transcript.path.stat().st_size - size * 0.9


def test_codex_events_are_heard_as_well(home, tmp_path):
    """The same entry point serves Codex: without a rollout its events' words are what there is."""
    project = tmp_path / "river"
    project.mkdir()
    hooks = Hooks(home, project, Transcript(tmp_path / "none.jsonl"), "codex")
    event = {**hooks.event("UserPromptSubmit", prompt="list the files", turn_id="t"), "transcript_path": None}
    spool.put(str(hooks.folder), json.dumps({"at": time.time(), "from": "codex", "event": event}).encode())
    hooks.drain()
    assert hooks.said() == [(USER, "list the files")]
    assert origins(hooks.records())[0].startswith("codex:")


def test_a_turn_that_ends_has_the_digest_made_when_it_is_due(hooks, monkeypatch):
    """The growth trigger: looked at when a turn ends, and only then; what failed of late is not tried at every turn."""
    asked = []

    class Status:
        due, running, failed = True, False, None

    monkeypatch.setattr(Hippocampus, "digest_status", lambda _self: Status)
    monkeypatch.setattr(Hippocampus, "digest", lambda _self: asked.append(_self.agent_id))
    turn(hooks, 1)
    hooks.put("PreCompact", trigger="auto")
    hooks.drain()
    assert asked == [hooks.agent_id]
    hooks.put("SubagentStop")
    hooks.drain()
    assert len(asked) == 1
    for changed in ({"due": False}, {"running": True}, {"failed": {"at": datetime.now(UTC).isoformat()}}):
        with monkeypatch.context() as patched:
            for name, value in changed.items():
                patched.setattr(Status, name, value)
            hooks.put("Stop")
            hooks.drain()
    assert len(asked) == 1
    monkeypatch.setattr(Status, "failed", {"at": "2026-01-01T00:00:00Z"})
    hooks.put("Stop")
    hooks.drain()
    assert len(asked) == 2


def test_no_language_model_is_asked_in_the_background(hooks, monkeypatch):
    """Whatever is configured: tokens are spent by who sits there, not by a hook (complaint 80)."""
    monkeypatch.setenv("ALVEUS_MODEL", "openai:nothing")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    turn(hooks, 1)
    assert hooks.drain() == 4
    assert not hooks.trouble()


ROLLOUT = (
    {"type": "session_meta", "payload": {"id": "s", "cwd": "/srv/river", "cli_version": "0.171.0"}},
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>\n</environment_context>"}],
        },
    },
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "id": "m1",
            "role": "user",
            "content": [{"type": "input_text", "text": "list the files"}],
            "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]},
        },
    },
    {
        "type": "response_item",
        "payload": {
            "type": "function_call",
            "id": "f1",
            "name": "exec_command",
            "arguments": '{"cmd": "ls"}',
            "call_id": "call_1",
        },
    },
    {
        "type": "response_item",
        "payload": {"type": "function_call_output", "id": "o1", "call_id": "call_1", "output": "Output:\na.txt\n"},
    },
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "id": "m2",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "there is one"}],
        },
    },
)


def test_codex_words_come_from_its_rollout(home, tmp_path):
    """With the origins of the importer, whatever a hook says of the same call; what it injected is not among them."""
    project = tmp_path / "river"
    project.mkdir()
    rollout = Transcript(tmp_path / "rollout-2026-11-30T09-27-08-s.jsonl")
    hooks = Hooks(home, project, rollout, "codex")
    injected = {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": fenced("the port is 8081")}],
        "internal_chat_message_metadata_passthrough": {"content_item_kinds": ["hooks.additional_context"]},
    }
    for ordinal, line in enumerate((*ROLLOUT, {"type": "response_item", "payload": injected})):
        told = {"timestamp": f"2026-11-30T09:27:{ordinal:02d}.000Z", "ordinal": ordinal, **line}
        rollout.write(json.dumps(told).encode() + b"\n")
    hooks.put("UserPromptSubmit", prompt="list the files", turn_id="t")
    hooks.put("PostToolUse", tool_name="Bash", tool_use_id="call_1", tool_response="a.txt\n")
    hooks.put("Stop", last_assistant_message="there is one")
    hooks.drain()
    assert [src for src, _ in hooks.said()] == [USER, AGENT, TOOL, AGENT]
    assert not any("8081" in content for _, content in hooks.said())
    assert (hooks.folder / spool.PENDING).read_bytes() == b""
    with Hippocampus.open(home=home, agent_id=hooks.agent_id) as memory:
        report = run(memory, rollout.path)
    assert (report.stored, report.revised, report.known) == (0, 0, 4)
