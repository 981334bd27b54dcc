"""Hooks called as an agent calls them: a process, an event on stdin; and transcripts as Claude Code writes them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import alveus as package
from alveus import Hippocampus
from alveus.doors.hook import place, spool, trouble
from alveus.doors.hook.draining import drain

SOURCE = str(Path(package.__file__).parents[1])
AT = "2026-11-30T09:43:{:02d}.000Z"


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a hook finds in its environment: nothing but what is said here."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": SOURCE, "HOME": str(home.parent), **more}


@dataclass
class Transcript:
    """A session's file, written as Claude Code writes it: a record a line, each with its own id."""

    path: Path
    cwd: str = "/srv/river"
    count: int = 0
    lines: list[bytes] = field(default_factory=list)

    @property
    def session(self) -> str:
        return self.path.stem

    def put(self, **record: Any) -> str:
        """Append a record; returns its id."""
        self.count += 1
        uuid = f"{self.session}-{self.count:04d}"
        whole = {
            "sessionId": self.session,
            "uuid": uuid,
            "cwd": self.cwd,
            "timestamp": AT.format(self.count % 60),
            **record,
        }
        self.write(json.dumps(whole, ensure_ascii=False).encode() + b"\n")
        return uuid

    def write(self, data: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lines.append(data)
        with self.path.open("ab") as file:
            file.write(data)

    def user(self, text: str, **more: Any) -> str:
        return self.put(type="user", message={"role": "user", "content": text}, **more)

    def agent(self, text: str, **more: Any) -> str:
        content = [{"type": "text", "text": text}]
        return self.put(type="assistant", message={"role": "assistant", "model": "m", "content": content}, **more)

    def tool(self, call: str, given: str | dict[str, Any], output: str, name: str = "Bash") -> None:
        arguments = {"command": given} if isinstance(given, str) else given
        use = {"type": "tool_use", "id": call, "name": name, "input": arguments}
        self.put(type="assistant", message={"role": "assistant", "model": "m", "content": [use]})
        result = {"type": "tool_result", "tool_use_id": call, "content": output}
        self.put(type="user", message={"role": "user", "content": [result]})

    def attachment(self, kind: str, **more: Any) -> str:
        return self.put(type="attachment", attachment={"type": kind, **more})


@dataclass
class Hooks:
    """The hooks of one project of one home."""

    home: Path
    project: Path
    transcript: Transcript
    harness: str = "claude-code"
    agent: str = ""
    """Whose memory is named to the hooks; that of the project, where none is."""

    @property
    def root(self) -> str:
        return place.hooks_of(str(self.home))

    @property
    def agent_id(self) -> str:
        return self.agent or place.agent_of(str(self.project))

    @property
    def folder(self) -> Path:
        return Path(self.root, "agents", place.encode(self.agent_id))

    def event(self, name: str, **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.transcript.session,
            "transcript_path": str(self.transcript.path),
            "cwd": str(self.project),
            "hook_event_name": name,
            **more,
        }

    def call(self, name: str, **more: Any) -> Any:
        """One event through the real entry point; the document it printed, or None."""
        return self.send(json.dumps(self.event(name, **more)).encode())

    def send(self, data: bytes, *options: str, **more: str) -> Any:
        """Any bytes; a hook never fails, and prints one document or nothing."""
        command = [sys.executable, "-P", "-m", "alveus.doors.hook.entry", self.harness, "--home", str(self.home)]
        command += ["--agent", self.agent] if self.agent else []
        done = subprocess.run(
            [*command, *options], input=data, capture_output=True, check=False, env=environment(self.home, **more)
        )
        assert (done.returncode, done.stderr) == (0, b""), (done.returncode, done.stderr)
        return json.loads(done.stdout) if done.stdout else None

    def put(self, name: str, *, at: float | None = None, **more: Any) -> None:
        """An event put down, and nobody started to take it in."""
        told = {"at": time.time() if at is None else at, "from": self.harness, "event": self.event(name, **more)}
        spool.put(str(self.folder), json.dumps(told).encode())

    def drain(self) -> int:
        """Take in what waits, in this process; whoever does it already is waited for."""
        name = place.encode(self.agent_id)
        new = 0
        while True:
            new += drain(str(self.home), self.agent_id, name)
            busy = self.folder.exists() and spool.is_busy(str(self.folder))
            if not busy and not spool.waiting(str(self.folder)):
                return new
            time.sleep(0.05)

    def open(self) -> Hippocampus:
        return Hippocampus.open(home=self.home, agent_id=self.agent_id, create=False, read_only=True)

    def records(self) -> list[Any]:
        """All records of the project, oldest first; none where there is no journal."""
        if not (self.home / "agents" / place.encode(self.agent_id)).exists():
            return []
        with self.open() as memory:
            assert memory.verify_chain()
            return list(memory.iter_records())

    def said(self) -> list[tuple[str, str]]:
        return [(record.hc.src.value, record.content) for record in self.records()]

    def trouble(self) -> str:
        return trouble.recent(self.root)[1]

    def beside(self, project: Path, session: str) -> "Hooks":
        """The same home, another project and session."""
        project.mkdir(parents=True, exist_ok=True)
        return Hooks(self.home, project, Transcript(self.transcript.path.with_name(f"{session}.jsonl"), str(project)))


def context_of(document: Any) -> str:
    """What was injected."""
    return document["hookSpecificOutput"]["additionalContext"]


def origins(records: Iterable[Any]) -> list[str]:
    """Where each record came from."""
    return [record.hc.origin for record in records]
