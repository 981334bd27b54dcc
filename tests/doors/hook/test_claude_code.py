"""A real Claude Code with our hooks: start, prompt, tool, compaction, resume, against an API on loopback.

Its binary comes with the wheel `claude-agent-sdk`; nothing of it is ours to ship. It is looked for where
ALVEUS_CLAUDE_BINARY says, else in an installed `claude_agent_sdk`.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alveus import Hippocampus
from alveus.doors.hook import spool
from alveus.importers import run
from anthropic_api import SUMMARY, Api, said_last
from hooked import SOURCE, Hooks, Transcript

PORT = "Remember that the build uses port 8081."
NOTED = "Noted: it is 8081, which I keep in mind."
RECALL = "mcp__notes__memory_recall"
VARIABLE = "ALVEUS_CLAUDE_BINARY"


def binary():
    """Claude Code, if it is here."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    found = importlib.util.find_spec("claude_agent_sdk")
    inside = Path(found.origin).parent / "_bundled" / "claude" if found and found.origin else None
    return inside if inside and inside.exists() else None


needs_claude = pytest.mark.skipif(
    binary() is None,
    reason=f"Claude Code is not here: `pip install claude-agent-sdk`, or name its binary in {VARIABLE}",
)


def script(request):
    """What the model answers: a tool's call where one is asked for, a summary, else that it noted the port."""
    last = said_last(request)
    if "summary" in last and "conversation" in last:
        return [{"type": "text", "text": SUMMARY}]
    if "Run the command." in last:
        call = {"command": "echo the tool speaks", "description": "speak"}
        return [{"type": "tool_use", "id": f"toolu_{len(last):04d}", "name": "Bash", "input": call}]
    if "Ask your notes." in last:
        return [{"type": "tool_use", "id": "toolu_notes", "name": RECALL, "input": {"query": "build port"}}]
    return [{"type": "text", "text": NOTED}]


class Claude:
    """Claude Code in a home of its own, with nothing of this machine's environment."""

    def __init__(self, tmp_path):
        self.project = tmp_path / "проект"
        self.project.mkdir()
        self.home = tmp_path / "somebody"
        self.home.mkdir()
        self.memory = tmp_path / "memory"
        self.api = Api(script)
        self.more = []
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "PYTHONPATH": SOURCE,
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ALVEUS_EMBEDDER": "none",
        }
        self.alveus("hooks", "install", "claude-code")

    def alveus(self, *arguments):
        command = [sys.executable, "-m", "alveus.doors.cli", "--home", str(self.memory), *arguments]
        return subprocess.run(command, env=self.env, cwd=self.project, check=True, capture_output=True).stdout

    def serve(self):
        """Have Claude Code start our MCP server for the same memory, under a name of its user's choice."""
        told = json.loads(self.alveus("--json", "hooks", "status"))
        arguments = ["-m", "alveus.doors.cli", "--home", str(self.memory), "--agent", told["agent"], "mcp", "serve"]
        server = {
            "command": sys.executable,
            "args": arguments,
            "env": {"PYTHONPATH": SOURCE, "ALVEUS_EMBEDDER": "none"},
        }
        (self.home / "mcp.json").write_text(json.dumps({"mcpServers": {"notes": server}}))
        self.more = ["--mcp-config", str(self.home / "mcp.json")]

    def say(self, words, session=None, tools=()):
        """One turn; the session's id."""
        command = [str(binary()), "-p", "--output-format", "json", *(["--resume", session] if session else [])]
        command += [*self.more, *(["--allowedTools", *tools] if tools else []), "--", words]
        done = subprocess.run(
            command,
            env=self.env,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)["session_id"]

    def hooks(self, session):
        (path,) = self.home.glob(f".claude/projects/*/{session}.jsonl")
        return Hooks(self.memory, self.project, Transcript(path))


@pytest.fixture
def claude(tmp_path):
    """Claude Code with our hooks; what was started ends with its test."""
    found = Claude(tmp_path)
    yield found
    found.api.shutdown()
    found.api.server_close()
    for one in (found.memory / "hooks" / "agents").glob("*"):
        while spool.is_busy(str(one)):
            time.sleep(0.05)


@needs_claude
def test_claude_code_remembers(claude):
    """The pack is there after a compaction, nothing is stored twice, nothing injected is anybody's words."""
    session = claude.say(PORT)
    claude.say("Run the command.", session, ["Bash"])
    claude.say("/compact", session)
    before = len(claude.api.requests)
    claude.say("After the compaction: which port does the build use?", session)
    hooks = claude.hooks(session)
    hooks.drain()

    asked = json.dumps(claude.api.requests[before:], ensure_ascii=False)
    assert "<alveus-memory sha256=" in asked
    assert "What alveus remembers of this project" in asked

    said = hooks.said()
    contents = [content for _, content in said]
    assert ("user", PORT) in said
    assert ("agent", NOTED) in said
    assert ("tool", "the tool speaks") in said
    assert contents.count(PORT) == 1
    assert not [content for content in contents if "alveus-memory" in content or "What alveus remembers" in content]
    users = [content for src, content in said if src == "user"]
    assert users == [PORT, "Run the command.", "After the compaction: which port does the build use?"]
    origins = [record.hc.origin for record in hooks.records()]
    assert len(origins) == len(set(origins))
    assert not hooks.trouble()

    with Hippocampus.open(home=claude.memory, agent_id=hooks.agent_id) as memory:
        report = run(memory, hooks.transcript.path)
    assert (report.stored, report.revised) == (0, 0), "an import afterwards finds every word known"
    assert report.known == len(origins)


@needs_claude
def test_what_our_server_answered_is_recorded_once(claude):
    """Claude Code asks our own MCP server, beside the hooks: its answer comes back in the transcript alone."""
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    session = claude.say(PORT)
    claude.hooks(session).drain()
    claude.serve()
    before = len(claude.api.requests)
    claude.say("Ask your notes.", session, [RECALL])
    hooks = claude.hooks(session)
    hooks.drain()
    results = [
        block
        for request in claude.api.requests[before:]
        for message in request["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]
    assert any("record_id" in json.dumps(block) and PORT in json.dumps(block) for block in results), results
    assert [content for _, content in hooks.said() if PORT in content] == [PORT]
    assert not [content for _, content in hooks.said() if "record_id" in content]


@needs_claude
def test_a_new_session_knows_what_the_last_one_said(claude):
    """Without a word of it in the new conversation; and without our hooks it does not."""
    first = claude.say(PORT)
    claude.hooks(first).drain()
    before = len(claude.api.requests)
    claude.say("Which port does the build use?")
    asked = json.dumps(claude.api.requests[before:])
    assert PORT in asked
    claude.alveus("hooks", "uninstall", "claude-code")
    before = len(claude.api.requests)
    claude.say("Which port does the build use?")
    assert PORT not in json.dumps(claude.api.requests[before:])


def test_this_test_can_find_a_binary(monkeypatch, tmp_path):
    """The variable names it; a name that is no file would fail and not be skipped."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "claude"))
    assert binary() == tmp_path / "claude"
    assert shutil.which(str(binary())) is None
