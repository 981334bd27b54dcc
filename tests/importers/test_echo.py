"""What our own tools answered is nobody's words; what looks like it and is not stays (complaint kind D)."""

from __future__ import annotations

import json

import pytest

from alveus.fence import fenced
from alveus.importers import echo, run
from alveus.importers.intake import ECHO
from alveus.journal.record import Draft, Kind, Source

ANSWER = json.dumps({"records": [{"record_id": "0a" * 16, "content": "the port is 8081"}], "health": []})
PACK = json.dumps({"text": fenced("the port is 8081"), "tokens": 9, "sources": ["0a" * 16]})


def result(tool, text, kind=Kind.OBSERVATION, src=Source.TOOL):
    """What a tool gave, as a draft."""
    return Draft(kind=kind, content=text, src=src, metadata={"tool": tool} if tool else {})


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("mcp__alveus__memory_recall", ANSWER),
        ("mcp__alveus__memory_status", '{"agent_id": "river"}'),
        ("mcp__my-Alveus_2__search_memories", ANSWER),
        ("alveus_get_memory", ANSWER),
        ("mcp__memory__search_memories", ANSWER),
        ("mcp__memory__memory_context", PACK),
        ("memory_recall", json.dumps({"content": [{"type": "text", "text": ANSWER}]})),
    ],
)
def test_an_answer_of_ours_is_dropped(tool, text):
    """By the server's name, or by the tool's and what it says; as JSON in JSON too."""
    assert echo.without(result(tool, text)) is None


@pytest.mark.parametrize(
    "draft",
    [
        result("mcp__mem0__search_memories", '{"results": [{"id": "1", "memory": "the port is 8081"}]}'),
        result("Bash", ANSWER),
        result("", ANSWER),
        result("mcp__alveus__memory_recall_all", "the port is 8081"),
        result("mcp__alveus__xmemory_recall", "the port is 8081"),
        result("mcp__alveus__memory_recall", "the store is damaged", kind=Kind.ERROR),
        result("mcp__notes__add_memory", 'mcp__notes__add_memory {"text": "the port is 8081"}', src=Source.AGENT),
        result("mcp__alveus__memory_recall", "the port is 8081", src=Source.USER),
    ],
)
def test_what_is_not_our_answer_stays_as_it_is(draft):
    """Another memory's, another tool's, an error, and what only its name would make ours."""
    assert echo.without(draft) is draft


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__alveus__memory_recall", '{"query": "port"}'),
        ("mcp__alveus__add_memory", '{"text": "the port is 8081"}'),
        ("mcp__notes__memory_record", '{"kind": "decision", "content": "the port is 8081"}'),
    ],
)
def test_a_call_of_ours_is_dropped(tool, given):
    """What it has recorded is a record already, and would be recalled beside it."""
    assert echo.without(result(tool, f"{tool} {given}", src=Source.AGENT)) is None


@pytest.mark.parametrize(
    "line",
    [
        "alveus recall port",
        "cd '/a b' && alveus --home /h --agent river recall 'the port; or what?' 2>&1 | head -20",
        "ALVEUS_HOME=/h uv run alveus context port 2>/dev/null | grep -n 8081 | sort",
        "/usr/local/bin/alveus --json show 0a",
        ".venv/bin/alveus log | sed -n 1,20p | cut -d ' ' -f 2- | tail -n 5 2>/dev/null",
        "alveus --jsonl recall port | jq -r .content | sed 's/a/b/g' | tr a-z A-Z | cat -",
        ["bash", "-lc", "alveus load"],
        ["alveus", "kernel", "show"],
    ],
)
def test_what_our_command_alone_printed_is_known_by_its_line(line):
    """A shell that ran nothing else gave nothing else: that is the memory speaking."""
    assert echo.command({"command": line})
    assert echo.command({"cmd": line})


@pytest.mark.parametrize(
    "line",
    [
        "alveus recall port && make test",
        "alveus recall port; ls",
        "alveus recall port || ls",
        "alveus recall port\nls",
        "ls | alveus record decision -",
        "alveus recall port | python judge.py",
        "(alveus recall port; ls)",
        "alveus record decision 'the port is 8081'",
        "alveus import session.jsonl",
        "echo alveus recall port",
        "grep -r 'alveus recall' .",
        'alveus recall "port',
        "cd a; cat notes && alveus recall port",
        "cd a || cat notes && alveus recall port",
        "cd a | cat notes && alveus recall port",
        "cd $(cat notes >&2; pwd) && alveus recall port",
        "alveus recall `cat notes >&2`",
        "alveus recall port | cat - notes",
        "alveus recall port | cat < notes",
        "alveus recall port | head -n 5 notes",
        "alveus recall port | grep port notes",
        "alveus recall port | grep '>' notes",
        "alveus recall port | grep -e port notes",
        "alveus recall port | grep -rn port",
        "alveus recall port | rg --files",
        "alveus recall port | sed 'r notes'",
        "alveus recall port | sed -n 1,5p notes",
        "alveus recall port | cut -df notes",
        "alveus recall port |& cat notes",
        "./alveus show port",
        "bin/alveus log",
        "cat alveus recall",
        "alveus",
        "",
        ["ls", "alveus"],
        None,
        7,
    ],
)
def test_what_others_may_have_printed_is_theirs(line):
    """Where anything else may have printed, or nothing of ours is shown, the output stays."""
    assert echo.command({"command": line}) == ""


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("Tool use rejected by user: the port is 9090 now, look at compose.yml", {}),
        ("The user doesn't want to proceed with this tool use. They said: ask me first", {}),
        ("ask me first", {"denied": "user-rejected"}),
    ],
)
def test_what_a_user_said_instead_of_an_answer_stays(text, more):
    """A command that a user would not have run printed nothing; their words came in its place, and not as an error."""
    draft = Draft(kind=Kind.OBSERVATION, content=text, src=Source.TOOL, metadata={echo.SHOWN: "recall", **more})
    assert echo.without(draft) is draft


def test_a_memory_that_tells_of_a_refusal_is_still_an_echo():
    """What our command printed names its records."""
    told = f"[{'0a' * 16}] 2026-11-30 09:27 decision by user:\nwe refused the offer"
    assert (
        echo.without(Draft(kind=Kind.OBSERVATION, content=told, src=Source.TOOL, metadata={echo.SHOWN: "recall"}))
        is None
    )


def test_our_commands_are_commands_of_ours():
    """No name is taken for ours that the command line does not have."""
    from alveus.doors.cli import app

    there = {one.name for one in (*app.registered_commands, *app.registered_groups)}
    assert there >= echo.COMMANDS


@pytest.mark.parametrize("line", ["alveus recall port", "alveus recall port && make"])
def test_a_shell_that_read_the_memory_is_an_echo_and_its_call_is_not(line, tmp_path, hippocampus):
    """Of the agent's own look into the memory the call is kept, and the answer only where more may be in it."""
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": line}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "0a0a0a0a  decision  the port is 8081"}
    told = {"sessionId": "0b-session", "cwd": "/w", "timestamp": "2026-11-30T09:27:02.000Z"}
    path = tmp_path / "0b-session.jsonl"
    path.write_text(
        json.dumps({**told, "type": "assistant", "uuid": "u1", "message": {"role": "assistant", "content": [use]}})
        + "\n"
        + json.dumps({**told, "type": "user", "uuid": "u2", "message": {"role": "user", "content": [back]}})
        + "\n"
    )
    alone = "&&" not in line
    report = run(hippocampus, path)
    assert (report.stored, report.skipped.get(ECHO, 0)) == (1 if alone else 2, 1 if alone else 0)
    assert hippocampus.drafts[0].content.startswith("Bash")
    codex = tmp_path / "rollout-2026-11-30T09-27-08-s.jsonl"
    items = [
        {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": json.dumps({"cmd": line})},
        {"type": "function_call_output", "call_id": "c1", "output": "the port is 8081"},
    ]
    lines = [{"timestamp": "2026-11-30T09:27:00.000Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}]
    lines += [{"timestamp": "2026-11-30T09:27:01.000Z", "type": "response_item", "payload": one} for one in items]
    codex.write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert run(hippocampus, codex).skipped.get(ECHO, 0) == (1 if alone else 0)


def test_the_names_are_the_servers():
    """A tool that the server gets is known here."""
    tools = pytest.importorskip("alveus.doors.mcp.tools", reason="the extra `mcp` is not installed")
    assert {tool.name for tool in tools.TOOLS} == set(echo.TOOLS)


def test_it_is_known_by_what_the_server_really_says(home):
    """The text that a client gets of every tool that shows records, under a name that says nothing of us."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    from alveus import Hippocampus
    from alveus.doors.mcp.room import Room
    from alveus.doors.mcp.server import make_server
    from alveus.doors.options import Settings
    from mcp_door import Door

    with Hippocampus.open(home=home, agent_id="river") as memory:
        record = memory.record("decision", "The port is 8081.")
    room = Room(Settings(home=str(home), agent="river"))
    door = Door(lambda: make_server(room))
    asked = [
        ("memory_recall", {"query": "port"}),
        ("search_memories", {"query": "port"}),
        ("memory_context", {"query": "port"}),
        ("get_memory", {"record_id": record.record_id}),
        ("memory_record", {"kind": "observation", "content": "a boat"}),
    ]
    try:
        for name, answer in zip(asked, door.all(asked), strict=True):
            (text,) = answer.content
            assert not answer.is_error
            assert echo.without(result(f"mcp__notes__{name[0]}", text.text)) is None
    finally:
        room.close()


CALLS = [
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "mcp__alveus__memory_recall",
        "arguments": '{"query": "port"}',
    },
    {"type": "function_call_output", "call_id": "c1", "output": ANSWER},
]


def test_an_importer_drops_it_and_says_so(tmp_path, hippocampus):
    """In Codex's rollout as in Claude Code's transcript: call and answer are counted as echo."""
    codex = tmp_path / "rollout-2026-11-30T09-27-08-s.jsonl"
    lines = [{"timestamp": "2026-11-30T09:27:00.000Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/w"}}]
    lines += [{"timestamp": "2026-11-30T09:27:01.000Z", "type": "response_item", "payload": one} for one in CALLS]
    codex.write_text("".join(json.dumps(one) + "\n" for one in lines))
    claude = tmp_path / "0b-session.jsonl"
    use = {"type": "tool_use", "id": "t1", "name": "mcp__alveus__memory_recall", "input": {"query": "port"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": ANSWER}]}
    told = {"sessionId": "0b-session", "cwd": "/w", "timestamp": "2026-11-30T09:27:02.000Z"}
    claude.write_text(
        json.dumps({**told, "type": "assistant", "uuid": "u1", "message": {"role": "assistant", "content": [use]}})
        + "\n"
        + json.dumps({**told, "type": "user", "uuid": "u2", "message": {"role": "user", "content": [back]}})
        + "\n"
    )
    for path in (codex, claude):
        report = run(hippocampus, path)
        assert report.skipped.get(ECHO) == 2, report
    assert not hippocampus.drafts


@pytest.mark.parametrize(("line", "kept"), [("alveus recall port", 0), ("alveus recall port && make", 1)])
def test_a_hook_does_not_take_it_in_either(line, kept):
    """What an agent's shell gave of the memory is no word of an event; what may hold more is."""
    from alveus.doors.hook.words import words_of

    event = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": line},
        "tool_response": {"stdout": "the port is 8081", "stderr": ""},
    }
    assert len(words_of(event)) == kept
