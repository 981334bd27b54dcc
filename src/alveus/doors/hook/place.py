"""Whose memory an event belongs to, and where hooks keep their files: `hooks/` in the home.

A project is the folder that the session was started in, and each project has a memory of its own: an agent named after
the folder and a hash of its whole path, so that folders with one name, worktrees and names in any script stay apart. A
session keeps the memory it began with, wherever it or its sub-agents go. An agent that is named, by `--agent` or
ALVEUS_AGENT, takes every project.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

FOLDER: Final = "hooks"
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~")
_LONGEST_NAME: Final = 120
_HASH: Final = 12

Event = Mapping[str, Any]


class Scope(NamedTuple):
    """Whose memory: the agent, its folder's name on disk, and the project's folder."""

    agent_id: str
    name: str
    project: str


def find_home(given: str | None) -> str:
    """The home: as given, else ALVEUS_HOME, else the user's data folder."""
    chosen = given or os.environ.get("ALVEUS_HOME")
    if not chosen:
        import platformdirs

        chosen = platformdirs.user_data_dir("alveus", appauthor=False)
    return os.path.abspath(os.path.expanduser(chosen))


def hooks_of(home: str) -> str:
    """Where hooks keep their files."""
    return os.path.join(home, FOLDER)


def scope_of(root: str, harness: str, event: Event, agent: str | None) -> Scope:
    """The scope of an event. What its session began with counts, and is noted where this is its first event."""
    project = _project(harness, event)
    named = agent or os.environ.get("ALVEUS_AGENT")
    if named:
        return Scope(named, encode(named), project)
    session = text(event, "session_id")
    path = session_file(root, harness, session) if session else ""
    known = _read(path) if path else None
    if known is not None:
        return known
    agent_id = agent_of(project)
    scope = Scope(agent_id, encode(agent_id), project)
    try:
        return _begin(path, scope) if path else scope
    except OSError:  # then nothing can be put down either, which is what is said
        return scope


def agent_of(project: str) -> str:
    """The agent of a project: `name~hash`, of the folder with every link in its path followed."""
    import hashlib

    try:
        path = os.path.realpath(project)
    except ValueError:  # no file system has such a name
        path = project
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    name = "".join(_shown(char) for char in os.path.basename(path) or "root")
    while len(encode(name)) > _LONGEST_NAME:
        name = name[:-1]
    return f"{name}~{digest}"


def encode(name: str) -> str:
    """An agent's name on disk, as `alveus.store.layout` writes it."""
    if not _PLAIN.issuperset(name):
        from urllib.parse import quote

        name = quote(name, safe="", errors="replace")
    return "%2E" + name[1:] if name.startswith(".") else name


def session_file(root: str, harness: str, session: str) -> str:
    """Where the scope of a session is noted."""
    if len(session) > _LONGEST_NAME or not _PLAIN.issuperset(session):
        import hashlib

        session = hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
    return os.path.join(root, "sessions", f"{harness}-{session}.json")


def text(event: Event, name: str) -> str:
    """A member that is text; an empty one where there is none."""
    value = event.get(name)
    return value if isinstance(value, str) else ""


def write_whole(path: str, data: bytes, *, lasting: bool = True) -> None:
    """A small file, replaced as a whole. One that is not `lasting` may be lost, or empty, after a power cut."""
    beside = f"{path}.{os.getpid()}.new"
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        while data:
            data = data[os.write(fd, data) :]
        if lasting:
            os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(beside, path)


def _project(harness: str, event: Event) -> str:
    # The event's folder moves with every `cd`; where the session was started, Claude Code says in the environment.
    started = os.environ.get("CLAUDE_PROJECT_DIR") if harness == "claude-code" else None
    return started or text(event, "cwd") or os.getcwd()


def _shown(char: str) -> str:
    return char if char.isprintable() and not "\ud800" <= char <= "\udfff" else "_"


def _read(path: str) -> Scope | None:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read())
        return Scope(str(found["agent"]), str(found["name"]), str(found["project"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _begin(path: str, scope: Scope) -> Scope:
    """Note the scope of a session; of two that begin it at once, one is right for both."""
    told = json.dumps({"agent": scope.agent_id, "name": scope.name, "project": scope.project})
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    beside = f"{path}.{os.getpid()}.first"
    write_whole(beside, told.encode())
    try:
        os.link(beside, path)
    except FileExistsError:
        known = _read(path)
        if known is not None:
            return known
        os.replace(beside, path)  # it cannot be read: it says nothing
        return scope
    finally:
        if os.path.exists(beside):
            os.unlink(beside)
    return scope
