"""LangGraph: `BaseStore`, its long-term memory, and a checkpointer, its threads.

    graph = builder.compile(store=AlveusStore(memory), checkpointer=AlveusSaver(memory))

What is put again replaces what was there, and what is deleted is gone, for LangGraph; the journal keeps every version.
A search with a query ranks by the journal's own recall; without one it filters, as the store in memory does. A
checkpoint's bytes are LangGraph's own: they are kept as they are, and secrets in them are not masked.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

try:
    from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, PutOp, SearchItem, SearchOp
    from langgraph.store.memory import InMemoryStore
except ImportError as error:
    raise ImportError("LangGraph is not installed: pip install 'alveus[langgraph]'") from error

from alveus.doors.frameworks.shelf import Event, Note, Shelf
from alveus.errors import InputError
from alveus.hippocampus import Hippocampus
from alveus.journal.record import Kind, Source

Place = tuple[tuple[str, ...], str]
"""A namespace and a key. Compared whole; a prefix of a namespace is a prefix of its labels, not of their letters."""
_LOOKED_AT = 500
"""Records that are looked at for a search with a query."""


class AlveusStore(BaseStore):
    """A store in the journal of `memory`; of `user`, where several share it."""

    def __init__(self, memory: Hippocampus, *, user: str | None = None, keep_secrets: bool = False) -> None:
        self._memory = memory
        self._user = user
        self._items: dict[Place, Item] = {}
        self._newest: dict[str, Place] = {}
        self._of: dict[Place, str] = {}
        self._matching = InMemoryStore()
        self._shelf = Shelf(memory, "langgraph-store", self._take, user=user, keep_secrets=keep_secrets)

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Reads see what was there before the batch; of several puts to one key the last counts, as in LangGraph's."""
        ops = list(ops)
        with self._shelf.lock:
            self._shelf.read()
            results = [self._answer(op) for op in ops]
            puts = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
            self._shelf.write([self._note(op) for op in puts.values() if op.value is not None or self._is_held(op)])
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _is_held(self, op: Any) -> bool:
        return (op.namespace, op.key) in self._items

    def _answer(self, op: Any) -> Any:
        if isinstance(op, PutOp):
            return None
        if isinstance(op, GetOp):
            return _copy(self._items.get((op.namespace, op.key)))
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise InputError(f"{type(op).__name__} is no operation of this store", hint="get, put, search, list namespaces")

    def _namespaces(self, op: Any) -> Any:
        """The namespaces that hold something; the store in memory lists also what was emptied, or only asked for."""
        holding = InMemoryStore()
        holding.batch([PutOp(namespace, "", {}) for namespace in {namespace for namespace, _ in self._items}])
        return holding.batch([op])[0]

    def _search(self, op: Any) -> list[Any]:
        asked = op._replace(query=None) if op.query else op
        if not op.query:
            return [self._found(one) for one in self._matching.batch([asked])[0]]
        everything = asked._replace(limit=max(1, len(self._items)), offset=0)
        fitting = {(one.namespace, one.key) for one in self._matching.batch([everything])[0]}
        recalled = self._memory.pattern_completion(op.query, _LOOKED_AT, user=self._user)
        places = [self._newest.get(record.record_id) for record in recalled]
        ranked = [place for place in places if place in fitting]
        rest = [place for place in self._items if place in fitting and place not in set(ranked)]
        chosen = [*ranked, *rest][op.offset : op.offset + op.limit]
        return [self._found(self._items[place], rank if place in ranked else None) for rank, place in enumerate(chosen)]

    def _found(self, one: Any, rank: int | None = None) -> Any:
        item = self._items[one.namespace, one.key]
        return SearchItem(
            namespace=item.namespace,
            key=item.key,
            value=json.loads(json.dumps(item.value)),
            created_at=item.created_at,
            updated_at=item.updated_at,
            score=None if rank is None else 1 / (1 + rank),
        )

    def _note(self, op: Any) -> Note:
        where = f"{'/'.join(op.namespace)}: {op.key}"
        data = {"namespace": op.namespace, "key": op.key, "value": op.value}
        if op.value is None:
            return Note(act="delete", data=data, says=f"({where} was deleted from the store)", src=Source.SYSTEM)
        return Note(act="put", data=data, says=f"{where}\n{_spelt(op.value)}", kind=Kind.STATE)

    def _take(self, event: Event) -> None:
        place = (tuple(event.data["namespace"]), event.data["key"])
        value = event.data["value"]
        self._newest.pop(self._of.pop(place, ""), None)
        before = self._items.pop(place, None)
        self._matching.batch([PutOp(*place, value)])
        if value is None:
            return
        at = datetime.fromisoformat(event.at)
        created = before.created_at if before is not None else at
        self._items[place] = Item(value=value, key=place[1], namespace=place[0], created_at=created, updated_at=at)
        self._of[place] = event.record_id
        self._newest[event.record_id] = place


def _copy(item: Any) -> Any:
    """An item of its own: what a caller does to its value changes nothing here."""
    if item is None:
        return None
    return Item(
        value=json.loads(json.dumps(item.value)),
        key=item.key,
        namespace=item.namespace,
        created_at=item.created_at,
        updated_at=item.updated_at,
    )


def _spelt(value: Mapping[str, Any]) -> str:
    """A value as words: its texts as they are, whatever else as JSON."""
    return "\n".join(f"{name}: {one if isinstance(one, str) else json.dumps(one)}" for name, one in value.items())


# Threads


class AlveusSaver(InMemorySaver):
    """A checkpointer in the journal of `memory`; of `user`, where several share it. Holds every thread in memory."""

    def __init__(self, memory: Hippocampus, *, user: str | None = None, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self._shelf = Shelf(memory, "langgraph-saver", self._take, user=user, keep_secrets=True)

    def get_tuple(self, config: Any) -> Any:
        with self._shelf.lock:
            self._shelf.read()
            return super().get_tuple(config)

    def list(self, config: Any, **asked: Any) -> Iterator[Any]:
        with self._shelf.lock:
            self._shelf.read()
            found = [*super().list(config, **asked)]
        yield from found

    def get_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        with self._shelf.lock:
            self._shelf.read()
            return super().get_delta_channel_history(config=config, channels=channels)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        kept = {**checkpoint}
        values = kept.pop("channel_values")
        named = config["configurable"]
        where = [named["thread_id"], named.get("checkpoint_ns", ""), checkpoint["id"]]
        blobs = [
            [channel, version, _spell(self.serde.dumps_typed(values[channel]) if channel in values else ("empty", b""))]
            for channel, version in new_versions.items()
        ]
        data = {
            "where": where,
            "parent": named.get("checkpoint_id"),
            "checkpoint": _spell(self.serde.dumps_typed(kept)),
            "metadata": _spell(self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))),
            "blobs": blobs,
        }
        self._write("put", data, f"(checkpoint {checkpoint['id']} of thread {where[0]})", where[0])
        names = ("thread_id", "checkpoint_ns", "checkpoint_id")
        return {"configurable": dict(zip(names, where, strict=True))}

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        named = config["configurable"]
        where = [named["thread_id"], named.get("checkpoint_ns", ""), named["checkpoint_id"]]
        made = [
            [WRITES_IDX_MAP.get(channel, number), channel, _spell(self.serde.dumps_typed(value))]
            for number, (channel, value) in enumerate(writes)
        ]
        data = {"where": where, "task": task_id, "path": task_path, "writes": made}
        self._write("writes", data, f"(writes of task {task_id} in thread {where[0]})", where[0])

    def delete_thread(self, thread_id: str) -> None:
        self._write("delete", {"thread": thread_id}, f"(thread {thread_id} was deleted)", thread_id)

    def _write(self, act: str, data: Any, says: str, thread: str) -> None:
        self._shelf.write([Note(act=act, data=data, says=says, src=Source.SYSTEM, session=thread)])

    def _take(self, event: Event) -> None:
        data = event.data
        if event.act == "delete":
            super().delete_thread(data["thread"])
            return
        thread, namespace, checkpoint = data["where"]
        if event.act == "put":
            for channel, version, blob in data["blobs"]:
                self.blobs[thread, namespace, channel, version] = _read(blob)
            held = (_read(data["checkpoint"]), _read(data["metadata"]), data["parent"])
            self.storage[thread][namespace][checkpoint] = held
            return
        stored = self.writes[thread, namespace, checkpoint]
        for number, channel, value in data["writes"]:
            name = (data["task"], number)
            if number < 0 or name not in stored:
                stored[name] = (data["task"], channel, _read(value), data["path"])

    # In threads: the library has no second, asynchronous form

    async def aget_tuple(self, config: Any) -> Any:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Any, **asked: Any) -> AsyncIterator[Any]:
        for one in await asyncio.to_thread(lambda: [*self.list(config, **asked)]):
            yield one

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def aget_delta_channel_history(self, *, config: Any, channels: Sequence[str]) -> Any:
        return await asyncio.to_thread(lambda: self.get_delta_channel_history(config=config, channels=channels))


def _spell(typed: tuple[str, bytes]) -> list[str]:
    return [typed[0], base64.b64encode(typed[1]).decode("ascii")]


def _read(spelt: Sequence[str]) -> tuple[str, bytes]:
    return spelt[0], base64.b64decode(spelt[1])
