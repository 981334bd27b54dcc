"""OpenAI Agents SDK: `Session`, the history of one conversation.

    session = AlveusSession("thread-1", memory)
    await Runner.run(agent, "…", session=session)

Items that are popped or cleared leave the session; the journal keeps them and says that they were taken off.
"""

from __future__ import annotations

import asyncio
from typing import Any

try:
    from agents.memory import SessionABC
except ImportError as error:
    raise ImportError("the OpenAI Agents SDK is not installed: pip install 'alveus[openai-agents]'") from error

from alveus.doors.frameworks.transcript import SPOKEN, Said, Transcripts, required_name, words_of
from alveus.hippocampus import Hippocampus
from alveus.journal.record import Kind, Source

_TOOLS = "_output"


class AlveusSession(SessionABC):
    """One conversation in the journal of `memory`; of `user`, where several share it."""

    session_settings = None

    def __init__(
        self, session_id: str, memory: Hippocampus, *, user: str | None = None, keep_secrets: bool = False
    ) -> None:
        self.session_id = required_name(session_id, "session_id")
        self._held = Transcripts(memory, "openai-agents", _said, user=user, keep_secrets=keep_secrets)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        items = await asyncio.to_thread(self._held.items, self.session_id)
        if limit is None:
            return items
        return items[-limit:] if limit > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        await asyncio.to_thread(self._held.add, self.session_id, items)

    async def pop_item(self) -> Any | None:
        return await asyncio.to_thread(self._held.pop, self.session_id)

    async def clear_session(self) -> None:
        await asyncio.to_thread(self._held.clear, self.session_id)


def _said(item: Any) -> Said:
    """A message by its role; what a tool gave is a tool's, whatever else is there is the agent's."""
    role, what = item.get("role"), str(item.get("type", ""))
    if role in SPOKEN:
        src, kind = SPOKEN[role]
        return Said(src, kind, words_of(item.get("content")))
    if what.endswith(_TOOLS):
        return Said(Source.TOOL, Kind.OBSERVATION, words_of(item.get("output")))
    called = f"{item.get('name', what)} {item.get('arguments', '')}".strip()
    return Said(Source.AGENT, Kind.STATE, called)
