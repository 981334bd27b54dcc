"""LangChain: `BaseChatMessageHistory`, the messages of one session.

    history = AlveusChatMessageHistory("thread-1", memory)

Cleared messages leave the session; the journal keeps them and says that it was cleared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
except ImportError as error:
    raise ImportError("LangChain is not installed: pip install 'alveus[langchain]'") from error

from alveus.doors.frameworks.transcript import SPOKEN, Said, Transcripts, required_name, words_of
from alveus.hippocampus import Hippocampus
from alveus.journal.record import Kind, Source


class AlveusChatMessageHistory(BaseChatMessageHistory):
    """One conversation in the journal of `memory`; of `user`, where several share it."""

    def __init__(
        self, session_id: str, memory: Hippocampus, *, user: str | None = None, keep_secrets: bool = False
    ) -> None:
        super().__init__()
        self.session_id = required_name(session_id, "session_id")
        self._held = Transcripts(memory, "langchain", _said, user=user, keep_secrets=keep_secrets)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override, unused-ignore]  # the base declares an attribute
        return list(messages_from_dict(self._held.items(self.session_id)))

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self._held.add(self.session_id, [message_to_dict(message) for message in messages])

    def clear(self) -> None:
        self._held.clear(self.session_id)


def _said(message: Any) -> Said:
    src, kind = SPOKEN.get(message["type"].removesuffix("MessageChunk").lower(), (Source.AGENT, Kind.STATE))
    if message["data"].get("status") == "error":
        kind = Kind.ERROR
    calls = [f"{call.get('name')} {call.get('args')}" for call in message["data"].get("tool_calls") or ()]
    return Said(src, kind, "\n".join([words_of(message["data"].get("content")), *calls]).strip())
