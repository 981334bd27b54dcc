"""Claude Agent SDK: `SessionStore`, the mirror of its transcripts.

    options = ClaudeAgentOptions(session_store=AlveusSessionStore(memory))

An entry's `uuid` is its identity: what comes twice is kept once. A deleted session is gone for the SDK; the journal
keeps it and says that it was deleted. A transcript that is also imported, or captured by the hooks, would be in the
journal twice: use one of the three.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

try:
    from claude_agent_sdk import fold_session_summary
    from claude_agent_sdk.types import SessionStore
except ImportError as error:
    raise ImportError("the Claude Agent SDK is not installed: pip install 'alveus[claude-agent-sdk]'") from error

from alveus.doors.frameworks.shelf import Event, Note, Shelf
from alveus.doors.frameworks.transcript import Said, required_name, words_of
from alveus.hippocampus import Hippocampus
from alveus.journal.record import Kind, Source

T = TypeVar("T")
Key = tuple[str, str, str]
"""Project, session, and the path of a sub-agent's transcript or an empty string."""


@dataclass(slots=True)
class _Session:
    """One transcript: its entries by uuid, or by their record where they have none; and its summary."""

    entries: dict[str, Any] = field(default_factory=dict)
    written: int = 0
    summary: Any = None


class AlveusSessionStore(SessionStore):
    """Transcripts in the journal of `memory`; of `user`, where several share it."""

    def __init__(self, memory: Hippocampus, *, user: str | None = None, keep_secrets: bool = False) -> None:
        self._held: dict[Key, _Session] = {}
        self._shelf = Shelf(memory, "claude-agent-sdk", self._take, user=user, keep_secrets=keep_secrets)

    # The protocol

    async def append(self, key: Any, entries: list[Any]) -> None:
        await asyncio.to_thread(self._append, _key(key), entries)

    async def load(self, key: Any) -> list[Any] | None:
        asked = _key(key)

        def look() -> list[Any] | None:
            session = self._held.get(asked)
            return None if session is None else deepcopy([*session.entries.values()])

        return await self._ask(look)

    async def list_sessions(self, project_key: str) -> list[Any]:
        return await self._ask(
            lambda: [{"session_id": key[1], "mtime": one.written} for key, one in self._mains(project_key)]
        )

    async def list_session_summaries(self, project_key: str) -> list[Any]:
        return await self._ask(
            lambda: [
                deepcopy({**one.summary, "mtime": one.written})
                for _, one in self._mains(project_key)
                if one.summary is not None
            ]
        )

    async def delete(self, key: Any) -> None:
        await asyncio.to_thread(self._delete, _key(key))

    async def list_subkeys(self, key: Any) -> list[str]:
        asked = _key(key)[:2]
        return await self._ask(lambda: [held[2] for held in self._held if held[:2] == asked and held[2]])

    # Steps

    async def _ask(self, look: Callable[[], T]) -> T:
        """Look at what is held, after what others wrote was read, in a thread."""

        def act() -> T:
            with self._shelf.lock:
                self._shelf.read()
                return look()

        return await asyncio.to_thread(act)

    def _mains(self, project: str) -> Iterator[tuple[Key, _Session]]:
        return ((key, one) for key, one in self._held.items() if key[0] == project and not key[2])

    def _append(self, key: Key, entries: list[Any]) -> None:
        with self._shelf.lock:
            self._shelf.read()
            known = self._held[key].entries if key in self._held else {}
            notes = [_note(key, entry) for entry in entries if entry.get("uuid") not in known]
            self._shelf.write(notes)

    def _delete(self, key: Key) -> None:
        with self._shelf.lock:
            self._shelf.read()
            if any(_is_under(held, key) for held in self._held):
                said = f"(the session {key[1]}{key[2] and f', {key[2]},'} was deleted from the session store)"
                self._shelf.write([Note(act="delete", data={"key": key}, says=said, src=Source.SYSTEM, session=key[1])])

    def _take(self, event: Event) -> None:
        project, session_id, subpath = event.data["key"]
        key = (project, session_id, subpath)
        if event.act == "delete":
            for held in [held for held in self._held if _is_under(held, key)]:
                del self._held[held]
            return
        session = self._held.setdefault(key, _Session())
        entry = event.data["entry"]
        name = entry.get("uuid") or event.record_id
        if name in session.entries:
            return
        session.entries[name] = entry
        session.written = int(datetime.fromisoformat(event.at).timestamp() * 1000)
        if not subpath:
            named: Any = {"project_key": project, "session_id": session_id}
            session.summary = fold_session_summary(session.summary, named, [entry])


def _key(key: Mapping[str, Any]) -> Key:
    project, session = required_name(key["project_key"], "project_key"), required_name(key["session_id"], "session_id")
    return project, session, key.get("subpath") or ""


def _is_under(held: Key, key: Key) -> bool:
    """Whether a transcript goes with `key`: itself, or where that is a whole session, everything in it."""
    return held[:2] == key[:2] and (not key[2] or held[2] == key[2])


def _note(key: Key, entry: Any) -> Note:
    said = _said(entry)
    data = {"key": key, "entry": entry}
    return Note(act="append", data=data, says=said.words, kind=said.kind, src=said.src, session=key[1])


def _said(entry: Mapping[str, Any]) -> Said:
    """Whose words an entry holds: the harness writes under the user's name too."""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    words = words_of(content)
    if entry["type"] == "assistant":
        return Said(Source.AGENT, Kind.ERROR if entry.get("isApiErrorMessage") else Kind.STATE, words)
    if entry["type"] == "user" and _is_tools(content):
        return Said(Source.TOOL, Kind.OBSERVATION, "\n".join(words_of(part.get("content")) for part in content or ()))
    if entry["type"] == "user" and not (entry.get("isMeta") or entry.get("isCompactSummary")):
        return Said(Source.USER, Kind.OBSERVATION, words)
    what = " ".join(str(entry[name]) for name in ("type", "subtype") if name in entry)
    return Said(Source.SYSTEM, Kind.OBSERVATION, words or f"({what})")


def _is_tools(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in content
    )
