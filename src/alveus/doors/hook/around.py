"""What is around the memory on this machine: agents, their transcripts, our hooks in them. Changes nothing.

Whether a transcript was imported is asked of the origins that its last words would have, in every agent of the home.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import sqlite3
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alveus.doors.hook import settings as hooked
from alveus.doors.hook.settings import HARNESSES, MODULE, PROGRAM, Harness, user_folder
from alveus.errors import InputError

CLEANUP: Final = "cleanupPeriodDays"
CLEANUP_DAYS: Final = 30
"""What Claude Code does where nothing is set."""
_ENDS: Final = (64 << 10, 1 << 20)
_BEGINS: Final = 256 << 10
_CHAIN = re.compile(rb'"chain":"([0-9a-f]{32})"')
_ORIGIN = re.compile(rb'"origin":"([^"\\]*)"')

AGENTS: Final = (
    ("Claude Code", "claude", "CLAUDE_CONFIG_DIR", ".claude"),
    ("Codex", "codex", "CODEX_HOME", ".codex"),
    ("Gemini CLI", "gemini", "", ".gemini"),
    ("Qwen Code", "qwen", "", ".qwen"),
    ("Cursor", "cursor-agent", "", ".cursor"),
    ("Copilot CLI", "copilot", "", ".copilot"),
    ("OpenCode", "opencode", "", ".local/share/opencode"),
    ("OpenClaw", "openclaw", "OPENCLAW_STATE_DIR", ".openclaw"),
    ("Pi", "pi", "", ".pi"),
    ("Kimi", "kimi", "", ".kimi"),
    ("Hermes", "hermes", "HERMES_HOME", ".hermes"),
)
"""Agents that are looked for: title, program, variable and folder of what they keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An agent that is here: its program, its folder, or both."""

    title: str
    program: str | None
    folder: Path | None


def agents() -> Iterator[Installed]:
    """The agents of this machine, of those that are known here."""
    for title, program, variable, place in AGENTS:
        chosen = os.environ.get(variable) if variable else None
        folder = Path(chosen).expanduser() if chosen else user_folder() / place
        found = shutil.which(program)
        if found or folder.is_dir():
            yield Installed(title=title, program=found, folder=folder if folder.is_dir() else None)


# ── hooks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Our hooks in one agent's settings. `trouble` says why they cannot be at work, or what is out of date."""

    harness: str
    settings: Path
    events: tuple[str, ...]
    missing: tuple[str, ...]
    commands: tuple[str, ...]
    trouble: str = ""
    mend: str = ""

    @property
    def active(self) -> bool:
        """Whether every event is hooked, and nothing is in the way."""
        return bool(self.events) and not self.missing and not self.trouble


def command_of(harness: Harness, home: Path, agent: str | None) -> str:
    """What the agent runs: our program by its path, so that it is found whatever the agent's environment is."""
    beside = Path(sys.executable).with_name(PROGRAM)
    found = str(beside) if beside.exists() else shutil.which(PROGRAM)
    words = [found] if found else [sys.executable, "-P", "-m", MODULE]
    words += [harness.name, "--home", str(home), *(["--agent", agent] if agent else [])]
    return shlex.join(words)


def hooks(harness: Harness, path: Path, command: str) -> Hooks:
    """How our hooks stand in a settings file; `command` is what would be installed now."""
    again = f"`alveus hooks install {harness.name}`"
    try:
        there = hooked.installed(path)
    except InputError as error:
        return _hooks(harness, path, {}, error.message, error.hint)
    if not there:
        return _hooks(harness, path, {}, "", again)
    commands = {one for ours in there.values() for one in ours}
    off = _switched_off(harness, path)
    if off:
        return _hooks(harness, path, there, off, "change that setting")
    lost = [one for one in commands if not _runs(one)]
    if lost:
        return _hooks(harness, path, there, f"the program they name is gone: {shlex.split(lost[0])[0]}", again)
    if any(len(ours) > 1 for ours in there.values()):
        return _hooks(harness, path, there, "an event is hooked more than once", again)
    if {_without_agent(one) for one in commands} != {_without_agent(command)}:
        return _hooks(harness, path, there, "they call another alveus or another home than this one", again)
    return _hooks(harness, path, there, "", again)


def _hooks(harness: Harness, path: Path, there: Mapping[str, Any], trouble: str, mend: str) -> Hooks:
    missing = tuple(event for event in harness.events if event not in there)
    commands = tuple(sorted({one for ours in there.values() for one in ours}))
    return Hooks(
        harness=harness.name,
        settings=path,
        events=tuple(there),
        missing=missing,
        commands=commands,
        trouble=trouble,
        mend=mend if trouble or missing else "",
    )


def _without_agent(command: str) -> tuple[str, ...]:
    """A command without the agent it names: whose memory is used is its user's choice, and never out of date."""
    words = shlex.split(command)
    if "--agent" in words:
        at = words.index("--agent")
        del words[at : at + 2]
    return tuple(words)


def _runs(command: str) -> bool:
    program = shlex.split(command)[0]
    return shutil.which(program) is not None


def _switched_off(harness: Harness, path: Path) -> str:
    """What keeps the agent from running any hook of its user."""
    if harness.name == "claude-code":
        return f"{path} says disableAllHooks" if _json(path).get("disableAllHooks") is True else ""
    config = path.with_name("config.toml")
    try:
        features = tomllib.loads(config.read_text("utf-8")).get("features", {})
    except (OSError, ValueError):
        return ""
    off = isinstance(features, dict) and features.get("hooks", features.get("codex_hooks")) is False
    return f"{config} says features.hooks = false" if off else ""


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# ── transcripts ──────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A session's file, when it last changed (seconds since 1970), its size."""

    path: Path
    changed: float
    size: int


def cleanup_days() -> tuple[int, Path | None]:
    """After how many days Claude Code deletes a transcript, and the file that says so."""
    for name in ("settings.local.json", "settings.json"):
        path = HARNESSES["claude-code"].home() / name
        value = _json(path).get(CLEANUP)
        if isinstance(value, int) and not isinstance(value, bool):
            return value, path
    return CLEANUP_DAYS, None


def transcripts() -> list[Transcript]:
    """Claude Code's sessions, the one that changed longest ago first; without those of sub-agents beside them."""
    found = []
    for path in (HARNESSES["claude-code"].home() / "projects").glob("*/*.jsonl"):
        with contextlib.suppress(OSError):  # it may be deleted while we look
            told = path.stat()
            if told.st_size:
                found.append(Transcript(path=path, changed=told.st_mtime, size=told.st_size))
    return sorted(found, key=lambda one: (one.changed, one.path))


def not_imported(home: Path, found: list[Transcript]) -> list[Transcript]:
    """Those whose last words are in no agent's journal."""
    with contextlib.ExitStack() as stack:
        known = [stack.enter_context(contextlib.closing(_Known(one))) for one in sorted((home / "agents").glob("*"))]
        return [one for one in found if not _is_known(known, one)]


def days_left(one: Transcript, days: int) -> float:
    """Until Claude Code deletes it, at its next start."""
    return days - (time.time() - one.changed) / 86_400


class _Known:
    """The origins in one agent's journal: those in its database, and those behind it in the stream."""

    def __init__(self, folder: Path) -> None:
        self._db: sqlite3.Connection | None = None
        progress: dict[str, int] = {}
        if (folder / "memory.db").exists():
            with contextlib.suppress(sqlite3.Error):
                uri = f"{(folder / 'memory.db').absolute().as_uri()}?mode=ro"
                self._db = sqlite3.connect(uri, uri=True)
                progress = dict(self._db.execute("SELECT chain, offset FROM origin_progress").fetchall())
        self._late = _late_origins(folder / "stream.jsonl", progress)

    def holds(self, origin: str) -> bool:
        """Whether an item of that origin was recorded."""
        if origin in self._late:
            return True
        try:
            row = self._db and self._db.execute("SELECT 1 FROM origin WHERE name = ? LIMIT 1", (origin,)).fetchone()
        except sqlite3.Error:
            return False
        return row is not None

    def close(self) -> None:
        """Let the file go."""
        if self._db is not None:
            self._db.close()


def _late_origins(stream: Path, progress: Mapping[str, int]) -> set[str]:
    """The origins behind what the database was told of this chain."""
    found: set[str] = set()
    with contextlib.suppress(OSError), stream.open("rb") as file:
        chain = _CHAIN.search(file.readline())
        file.seek(progress.get(chain[1].decode(), 0) if chain else 0)
        for line in file:
            found |= {one.decode("utf-8", "replace") for one in _ORIGIN.findall(line)}
    return found


def _is_known(known: list[_Known], one: Transcript) -> bool:
    """Whether the newest record that says something is in a journal; a file that says nothing misses nothing."""
    origins = _last_origins(one)
    return not origins or any(agent.holds(origin) for agent in known for origin in origins)


def _last_origins(one: Transcript) -> list[str]:
    """The origins that the newest record may have, one a block; by the importer's rule."""
    for size in _ENDS:
        for line in reversed(_end_of(one.path, size)):
            if origins := _origins_of(line):
                return origins
    return []


def _end_of(path: Path, size: int) -> list[bytes]:
    try:
        with path.open("rb") as file:
            whole = file.seek(0, os.SEEK_END)
            file.seek(max(0, whole - size))
            lines = file.read(size).split(b"\n")
    except OSError:
        return []
    return lines if whole <= size else lines[1:]


def _origins_of(line: bytes) -> list[str]:
    from alveus.importers.claude_types import container_of
    from alveus.importers.facts import facts_at, ident, text_at

    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, dict) or found.get("type") not in ("user", "assistant") or found.get("isMeta") is True:
        return []
    content = facts_at(found, "message").get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    said = [place for place, block in enumerate(blocks) if text_at(block, "text") or text_at(block, "name")]
    fork = facts_at(found, "forkedFrom")
    session = ident(fork.get("sessionId")) or ident(found.get("sessionId"))
    uuid = ident(fork.get("messageUuid")) or ident(found.get("uuid"))
    if not session or not uuid:
        return []
    container = container_of(uuid, session).replace("%", "%25").replace(":", "%3A")
    return [f"claude-code:{container}:{f'{place}/' if place else ''}{uuid}" for place in said]


def project_of(path: Path) -> str:
    """The folder a session began in; empty where its first records do not say."""
    try:
        with path.open("rb") as file:
            lines = file.read(_BEGINS).split(b"\n")
    except OSError:
        return ""
    for line in lines:
        if b'"cwd"' in line:
            with contextlib.suppress(ValueError, RecursionError):
                found = json.loads(line)
                if isinstance(found, dict) and isinstance(found.get("cwd"), str):
                    return str(found["cwd"])
    return ""
