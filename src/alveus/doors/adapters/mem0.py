"""Any mem0-shaped object: `add`, `search`, `get_all`, each within a user and an agent. spec/audit.md, section 5.

Older ones take `user_id` and `agent_id`; since its second version mem0 takes them as `filters` where it reads, and
lists no more than it is told to.

It has no tiers that can be seen: what was added is either among all memories or it is not. `IMPORT` is `module:name`;
a callable is called without arguments.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from inspect import signature
from typing import Any

from alveus.doors.adapters.base import AdapterError, Answer, Glimpse, Pin, Seen
from alveus.doors.adapters.pins import pinned

SHAPE = ("add", "search", "get_all")
MOST = 10_000
"""Memories that are listed, where a number is asked for."""
CAPACITY = 0
"""Nothing waits: what is added has arrived, or has not."""


class Mem0:
    """The object, made anew in every process."""

    def __init__(self, named: str) -> None:
        module, _, name = named.partition(":")
        try:
            self._module = importlib.import_module(module)
            made = getattr(self._module, name or "Memory")
        except (ImportError, AttributeError) as error:
            raise AdapterError(f"{named!r} cannot be imported", hint="--target mem0:MODULE:NAME") from error
        self._memory = made() if callable(made) else made
        missing = [method for method in SHAPE if not callable(getattr(self._memory, method, None))]
        if missing:
            raise AdapterError(f"{named!r} has no {' and no '.join(missing)}", hint="it has to be shaped as mem0 is")

    def pin(self) -> Pin:
        limits = {"object": type(self._memory).__qualname__, "config": repr(getattr(self._memory, "limits", ""))}
        made_by = sys.modules.get(type(self._memory).__module__.partition(".")[0], self._module)
        return {"source_version": pinned("mem0", made_by, limits), "capacity": CAPACITY}

    def store(self, user: str, assistant: str, text: str) -> None:
        self._memory.add(text, user_id=user, agent_id=assistant)

    def promote(self, user: str, assistant: str) -> None:
        """Nothing waits to be promoted."""

    def observe(self, user: str, assistant: str, text: str) -> Seen:
        there = any(text in found for found in _texts(self._read("get_all", user, assistant)))
        return {"source_present": False, "destination_present": there}

    def _read(self, method: str, user: str, assistant: str, *query: str) -> Any:
        """Ask within a lane, in the way that the method takes it."""
        act, lane = getattr(self._memory, method), {"user_id": user, "agent_id": assistant}
        takes = signature(act).parameters
        if "filters" not in takes or "user_id" in takes:
            return act(*query, **lane)
        return act(*query, filters=lane, **({"top_k": MOST} if method == "get_all" and "top_k" in takes else {}))

    def glimpses(self) -> list[Glimpse] | None:
        """What happens inside `add` cannot be seen."""
        return None

    def break_model(self) -> bool:
        """There is no way to ask for the fallback."""
        return False

    def retrieve(self, user: str, assistant: str, query: str) -> Answer:
        return {"texts": [*_texts(self._read("search", user, assistant, query))]}

    def follows(self, user: str, assistant: str, earlier: str, later: str) -> bool | None:
        """All that can say which memory came before which is the order that they are listed in."""
        found = [*_texts(self._read("get_all", user, assistant))]
        places = [at for text in (earlier, later) for at, one in enumerate(found) if text in one]
        return True if len(places) > 1 and places == sorted(places) else None

    def settle(self, user: str, assistant: str, run_id: str, file_hash: str) -> bool | None:  # noqa: ARG002
        """It keeps no runs."""
        return None

    def close(self) -> None:
        close = getattr(self._memory, "close", None)
        if callable(close):
            close()


def _texts(found: Any) -> Iterator[str]:
    """The memories in an answer of any of mem0's versions."""
    if isinstance(found, dict):
        for key in ("results", "memories"):
            if key in found:
                yield from _texts(found[key])
                return
        memory = found.get("memory", found.get("text"))
        if isinstance(memory, str):
            yield memory
    elif isinstance(found, list | tuple):
        for inner in found:
            yield from _texts(inner)
    elif isinstance(found, str):
        yield found
