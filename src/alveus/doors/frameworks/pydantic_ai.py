"""Pydantic-AI: `ConversationStore`, conversations as chains of entries.

    store = AlveusConversationStore(memory)
    await store.save(result, scope="alice")

Each save rests on a revision. Two that rest on the same one are told apart by their order in the journal: the second is
void, and raises ConversationConflict. A deleted conversation's record is gone; its entries stay in the journal, and a
fork that points into them goes on working.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

try:
    from pydantic import TypeAdapter
    from pydantic_ai.conversation_store import (
        ConversationConflict,
        ConversationEntry,
        ConversationRecord,
        ConversationStore,
    )
except ImportError as error:
    raise ImportError("Pydantic-AI is not installed: pip install 'alveus[pydantic-ai]'") from error

from alveus.doors.frameworks.shelf import Event, Note, Shelf
from alveus.doors.frameworks.transcript import Said, words_of
from alveus.hippocampus import Hippocampus
from alveus.journal.record import Kind, Source

T = TypeVar("T")
_ENTRY: Any = TypeAdapter(ConversationEntry)
_RECORD: Any = TypeAdapter(ConversationRecord)
_PARTS = {
    "user-prompt": (Source.USER, Kind.OBSERVATION),
    "tool-return": (Source.TOOL, Kind.OBSERVATION),
    "retry-prompt": (Source.TOOL, Kind.ERROR),
    "system-prompt": (Source.SYSTEM, Kind.OBSERVATION),
}
"""Whose words a part's are; whatever is not here is the agent's."""


class AlveusConversationStore(ConversationStore):
    """Conversations in the journal of `memory`; of `user`, where several share it."""

    def __init__(self, memory: Hippocampus, *, user: str | None = None, keep_secrets: bool = False) -> None:
        self._records: dict[str, Any] = {}
        self._entries: dict[str, Any] = {}
        self._shelf = Shelf(memory, "pydantic-ai", self._take, user=user, keep_secrets=keep_secrets)

    async def read_record(self, conversation_id: str) -> Any:
        held = await self._ask(lambda: self._records.get(conversation_id))
        return None if held is None else _RECORD.validate_python(held)

    async def read_records(self, *, scope: str | None = None, limit: int | None = None) -> Sequence[Any]:
        held = await self._ask(lambda: [*self._records.values()])
        records = [_RECORD.validate_python(one) for one in held if scope is None or one["scope"] == scope]
        records.sort(key=lambda one: one.updated_at, reverse=True)
        return records[:limit]

    async def read_entry(self, entry_id: str) -> Any:
        return _ENTRY.validate_python(await self._ask(lambda: self._entries[entry_id]))

    async def read_history(self, head_id: str | None, *, limit: int | None = None) -> list[Any]:
        def look() -> list[Any]:
            chain: list[Any] = []
            at = head_id
            while at is not None and (limit is None or len(chain) < limit):
                chain.append(self._entries[at])
                at = chain[-1]["parent_id"]
            return chain

        return [_ENTRY.validate_python(one) for one in reversed(await self._ask(look))]

    async def write_record(
        self, record: Any, *, new_entries: Sequence[Any] = (), expected_revision: str | None
    ) -> None:
        entries = [_ENTRY.dump_python(entry, mode="json") for entry in new_entries]
        saved = {"record": _RECORD.dump_python(record, mode="json"), "expects": expected_revision, "entries": entries}
        said = [_said(entry["message"]) for entry in entries]
        kind, src = (said[-1].kind, said[-1].src) if len({one.src for one in said}) == 1 else (Kind.STATE, Source.AGENT)
        note = Note(
            act="save",
            data=saved,
            says="\n".join(one.words for one in said if one.words),
            kind=kind,
            src=src,
            session=record.conversation_id,
        )
        await asyncio.to_thread(self._change, note, record.conversation_id)

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        note = Note(
            act="delete",
            data={"id": conversation_id, "expects": expected_revision},
            says=f"(conversation {conversation_id} was deleted from the store)",
            src=Source.SYSTEM,
            session=conversation_id,
        )
        await asyncio.to_thread(self._change, note, conversation_id)

    async def _ask(self, look: Callable[[], T]) -> T:
        """Look at what is held, after what others wrote was read, in a thread."""

        def act() -> T:
            with self._shelf.lock:
                self._shelf.read()
                return look()

        return await asyncio.to_thread(act)

    def _change(self, note: Note, conversation_id: str) -> None:
        with self._shelf.lock:
            self._shelf.read()
            data = json.loads(json.dumps(note.data))
            if not self._holds(data) or self._shelf.write([note]) != [True]:
                raise ConversationConflict(conversation_id)

    def _holds(self, data: Any) -> bool:
        """Whether what a change rests on is still so."""
        record = data.get("record")
        stored = self._records.get(record["conversation_id"] if record else data["id"])
        if (stored["revision"] if stored else None) != data["expects"]:
            return False
        if record is None or record["head_id"] is None:
            return record is not None or stored is not None
        return record["head_id"] in self._entries or any(one["id"] == record["head_id"] for one in data["entries"])

    def _take(self, event: Event) -> bool:
        data = event.data
        if not self._holds(data):
            return False
        if event.act == "delete":
            del self._records[data["id"]]
            return True
        self._entries.update({entry["id"]: entry for entry in data["entries"]})
        self._records[data["record"]["conversation_id"]] = data["record"]
        return True


def _said(message: Any) -> Said:
    """Whose a message is: where parts of several stand together, the first counts; all their words are kept."""
    parts = message.get("parts") or []
    src, kind = _PARTS.get(parts[0]["part_kind"] if parts else "", (Source.AGENT, Kind.STATE))
    words = [words_of(part.get("content")) or part.get("tool_name") or "" for part in parts]
    return Said(src, kind, "\n".join(word for word in words if word))
