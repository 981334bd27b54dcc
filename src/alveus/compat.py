"""The calls of mem0's `Memory`, over this journal: `from alveus.compat import Memory`.

    memory = Memory(home="…")
    memory.add("I moved to Kazan", user_id="alice")
    memory.search("Kazan", user_id="alice")

Scope is given at top level or in `filters`, at least one of `user_id`, `agent_id` and `run_id`, and is compared whole.
`user_id` is the record's user, `run_id` its session, `agent_id` whose journal it is. What is added is kept as it was
said (mem0's `infer` has no effect: no model reads it), by whoever said it; keys and tokens are masked first. Nothing
can be updated in place or deleted: a correction is added, and says what it corrects.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, NoReturn, Self

from alveus.completion import scope_of
from alveus.errors import InputError, NotFound
from alveus.hippocampus import DEFAULT_AGENT, Hippocampus, find_agent
from alveus.importers import secrets
from alveus.journal.record import Draft, Kind, SignedRecord, Source

SCOPE: Final = ("user_id", "agent_id", "run_id")
MOST: Final = 1_000
"""Records that one call gives, at most."""
_KEY: Final = "mem0"
"""Where a caller's own metadata stands in a record's: nothing in it can be taken for something of ours."""
_ROLES: Final = {
    "user": (Source.USER, Kind.OBSERVATION),
    "assistant": (Source.AGENT, Kind.STATE),
    "tool": (Source.TOOL, Kind.OBSERVATION),
    "system": (Source.SYSTEM, Kind.OBSERVATION),
}


class _Asked(NamedTuple):
    """A scope, and what a caller's metadata must hold."""

    agent: str
    user: str | None
    session: str | None
    equal: Mapping[str, Any]


class Memory:
    """A memory with mem0's calls. Give it a home, or a memory that is open; close it in the end."""

    def __init__(self, memory: Hippocampus | None = None, *, home: Path | str | None = None) -> None:
        self._guard = threading.Lock()
        self._home = memory.home if memory is not None else home
        self._agent = memory.agent_id if memory is not None else find_agent(None) or DEFAULT_AGENT
        self._given = memory
        self._open: dict[str, Hippocampus] = {} if memory is None else {memory.agent_id: memory}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what this opened; a memory that was given stays open."""
        with self._guard:
            opened, self._open = self._open, {}
        for one in opened.values():
            if one is not self._given:
                one.close()

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,  # noqa: ARG002  (mem0's: whether a model is to rewrite it; here none does)
    ) -> dict[str, Any]:
        """Keep messages, each a record, all or none; they are on disk when this returns, and each has an id.

        Raises InputError for a scope that names nobody, no message, or one without words.
        """
        asked = _scope(self._agent, {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, None)
        drafts = [_draft(message, asked, metadata or {}) for message in _messages(messages)]
        made = self._memory(asked.agent, create=True).record_many(drafts, durable=True)
        return {"results": [{**_told(one.record), "event": "ADD"} for one in made]}

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        top_k: int = 10,
    ) -> dict[str, Any]:
        """What is like the query within the scope, best first; `reason` says why there is none.

        `score` falls from 1 with the place: it orders, and measures nothing. Raises InputError as `add`.
        """
        asked = _scope(self._agent, {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, filters)
        most = _limit(top_k if limit is None else limit)
        found = self._memory(asked.agent).pattern_completion(
            query, MOST if asked.equal else most, user=asked.user, session=asked.session
        )
        fitting = [record for record in found if _fits(record, asked)][:most]
        told: dict[str, Any] = {
            "results": [{**_told(record), "score": 1 / (1 + place)} for place, record in enumerate(fitting)]
        }
        return told if fitting else {**told, "reason": found.reason or "nothing found passes the filters"}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """One memory by its id; None where this agent, and those that were opened, have none of that id."""
        with self._guard:
            others = [name for name in self._open if name != self._agent]
        for name in (self._agent, *others):
            try:
                return _told(self._memory(name).get(memory_id))
            except NotFound:
                continue
        return None

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        top_k: int = 100,
    ) -> dict[str, Any]:
        """What is within the scope, newest first. Raises InputError as `add`."""
        asked = _scope(self._agent, {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, filters)
        most = _limit(top_k if limit is None else limit)
        results = []
        for record in self._memory(asked.agent).iter_records(newest_first=True):
            if _fits(record, asked):
                results.append(_told(record))
            if len(results) == most:
                break
        return {"results": results}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What became of a memory, oldest first: that it was added, and the corrections that name it in `corrects`.

        Raises NotFound for an id that is none.
        """
        first = self.get(memory_id)
        if first is None:
            raise NotFound(f"there is no memory {memory_id}", hint="`search` and `get_all` give ids")
        return [*self._changes(first)]

    def _changes(self, first: dict[str, Any]) -> Iterator[dict[str, Any]]:
        memory = self._memory(first["agent_id"])
        ids, before = {first["id"]}, None
        own = memory.get(first["id"]).hc
        for record in memory.iter_records():
            corrects = _own(record).get("corrects")
            if record.record_id != first["id"] and not (corrects in ids and _same_scope(record, own)):
                continue
            ids.add(record.record_id)
            yield {
                "id": record.record_id,
                "memory_id": first["id"],
                "old_memory": before,
                "new_memory": record.content,
                "event": "ADD" if before is None else "UPDATE",
                "created_at": record.timestamp,
                "updated_at": record.timestamp,
                "is_deleted": False,
                "role": _role(record),
            }
            before = record.content

    def update(self, memory_id: str, data: str) -> NoReturn:
        """Always refused."""
        raise InputError(
            f"memory {memory_id} was not changed, {len(data)} characters were not stored: the journal is append-only",
            code="append_only",
            hint=f"add the correction with metadata={{'corrects': '{memory_id}'}}",
        )

    def delete(self, memory_id: str) -> NoReturn:
        """Always refused."""
        raise InputError(
            f"memory {memory_id} was not deleted: the journal is append-only and signed",
            code="no_deletion",
            hint="add what holds instead",
        )

    def _memory(self, agent: str, *, create: bool = False) -> Hippocampus:
        with self._guard:
            if agent not in self._open:
                self._open[agent] = Hippocampus.open(home=self._home, agent_id=agent, create=create)
            return self._open[agent]


# Scope: compared whole, never by prefix, pattern or default


def _scope(agent: str, given: Mapping[str, Any], filters: Mapping[str, Any] | None) -> _Asked:
    named = {name: value for name, value in given.items() if value is not None}
    equal: dict[str, Any] = {}
    for name, value in _conditions(filters or {}):
        if name not in SCOPE:
            equal[name] = value
        elif named.setdefault(name, value) != value:
            raise InputError(f"two different values are given for {name}", hint="give it once")
    if not named:
        raise InputError("no scope is given", code="no_scope", hint=f"name at least one of {', '.join(SCOPE)}")
    for name, value in named.items():
        if not isinstance(value, str) or not value.strip() or value == "*":
            raise InputError(f"{name} is {value!r}, which names nobody", hint="pass one id, as it was added")
    scope_of(user=named.get("user_id"), session=named.get("run_id"))  # raises for what no record can name
    return _Asked(named.get("agent_id", agent), named.get("user_id"), named.get("run_id"), equal)


def _conditions(filters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in filters.items():
        if name == "AND" and isinstance(value, Sequence) and all(isinstance(one, Mapping) for one in value):
            for one in value:
                yield from _conditions(one)
        elif name in ("AND", "OR", "NOT") or isinstance(value, Mapping):
            raise InputError(f"the filter {name!r} is not understood", hint="equal values, joined by AND, are")
        else:
            yield name, value


def _fits(record: SignedRecord, asked: _Asked) -> bool:
    hc = record.hc
    if hc is None or asked.user not in (None, hc.user) or asked.session not in (None, hc.session):
        return False
    held = _own(record)
    return all(name in held and held[name] == value for name, value in asked.equal.items())


def _same_scope(record: SignedRecord, own: Any) -> bool:
    return record.hc is not None and own is not None and (record.hc.user, record.hc.session) == (own.user, own.session)


def _limit(limit: int) -> int:
    if type(limit) is not int or not 1 <= limit <= MOST:
        raise InputError(f"limit is {limit!r}", hint=f"1 to {MOST}")
    return limit


# Messages in, memories out


def _messages(given: str | Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    if isinstance(given, str):
        given = {"role": "user", "content": given}
    messages = [given] if isinstance(given, Mapping) else list(given)
    if not messages:
        raise InputError(
            "there is no message to add", code="blank", hint="pass a text, or messages with role and content"
        )
    return messages


def _draft(message: Mapping[str, Any], asked: _Asked, metadata: Mapping[str, Any]) -> Draft:
    content, role = message.get("content"), message.get("role")
    if not isinstance(content, str) or not content.strip():
        raise InputError("a message has no text", code="blank", hint="pass messages whose content is text")
    if role not in _ROLES:
        raise InputError(f"{role!r} is no role", hint="one of " + ", ".join(_ROLES))
    src, kind = _ROLES[role]
    return Draft(
        kind=kind,
        content=secrets.mask(content)[0],
        metadata={_KEY: secrets.mask_json(dict(metadata))[0]} if metadata else {},
        src=src,
        user=asked.user,
        session=asked.session,
    )


def _own(record: SignedRecord) -> Mapping[str, Any]:
    held = record.metadata.get(_KEY)
    return held if isinstance(held, Mapping) else {}


def _role(record: SignedRecord) -> str:
    names = {src: role for role, (src, _) in _ROLES.items()}
    return names[record.hc.src] if record.hc else "user"


def _told(record: SignedRecord) -> dict[str, Any]:
    hc = record.hc
    at = datetime.fromisoformat(record.timestamp).astimezone(UTC).isoformat()
    return {
        "id": record.record_id,
        "memory": record.content,
        "hash": sha256(record.content.encode()).hexdigest(),
        "metadata": dict(_own(record)),
        "created_at": at,
        "updated_at": at,
        "user_id": hc.user if hc else None,
        "agent_id": record.agent_id,
        "run_id": hc.session if hc else None,
        "role": _role(record),
    }
