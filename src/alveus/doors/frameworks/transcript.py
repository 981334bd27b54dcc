"""Conversations as lists that grow, lose their last item, or are cleared: what several frameworks call a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from alveus.doors.frameworks.shelf import Event, Note, Shelf
from alveus.errors import InputError
from alveus.hippocampus import Hippocampus
from alveus.journal.record import Kind, Source


class Said(NamedTuple):
    """Who said an item, of which kind it is, and its words."""

    src: Source
    kind: Kind
    words: str


SPOKEN: dict[str, tuple[Source, Kind]] = {
    "user": (Source.USER, Kind.OBSERVATION),
    "human": (Source.USER, Kind.OBSERVATION),
    "assistant": (Source.AGENT, Kind.STATE),
    "ai": (Source.AGENT, Kind.STATE),
    "tool": (Source.TOOL, Kind.OBSERVATION),
    "function": (Source.TOOL, Kind.OBSERVATION),
    "system": (Source.SYSTEM, Kind.OBSERVATION),
    "developer": (Source.SYSTEM, Kind.OBSERVATION),
}
"""Whose words a role's are, and their kind."""


def words_of(content: Any) -> str:
    """The words in a message's content: a string, or parts of which some have a text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [
        part if isinstance(part, str) else part.get("text", "") for part in content if isinstance(part, str | dict)
    ]
    return "\n".join(text for text in texts if isinstance(text, str) and text)


class Transcripts:
    """The conversations of one framework and user, by their names."""

    def __init__(
        self,
        memory: Hippocampus,
        framework: str,
        said: Callable[[Any], Said],
        *,
        user: str | None = None,
        keep_secrets: bool = False,
    ) -> None:
        self._said = said
        self._held: dict[str, dict[str, Any]] = {}
        self._shelf = Shelf(memory, framework, self._take, user=user, keep_secrets=keep_secrets)

    def _take(self, event: Event) -> Any:
        held = self._held.setdefault(event.session or "", {})
        if event.act == "add":
            held[event.record_id] = event.data
        elif event.act == "pop":
            return held.pop(event.data, None)
        elif event.act == "clear":
            held.clear()
        return None

    def items(self, session: str) -> list[Any]:
        """The items of a conversation, oldest first."""
        with self._shelf.lock:
            self._shelf.read()
            return deepcopy([*self._held.get(session, {}).values()])

    def add(self, session: str, items: Sequence[Any]) -> None:
        """Append items, all or none; they are on disk when this returns."""
        said = [self._said(item) for item in items]
        self._shelf.write(
            [
                Note(act="add", data=item, says=one.words, kind=one.kind, src=one.src, session=session)
                for item, one in zip(items, said, strict=True)
            ]
        )

    def pop(self, session: str) -> Any | None:
        """Take the last item off; None where there is none. Of two who pop at once each gets another one."""
        with self._shelf.lock:
            while True:
                self._shelf.read()
                held = self._held.get(session)
                if not held:
                    return None
                last = next(reversed(held))
                (item,) = self._shelf.write([_mark("pop", last, session)])
                if item is not None:
                    return item

    def clear(self, session: str) -> None:
        """Empty a conversation; the journal keeps what it was."""
        with self._shelf.lock:
            self._shelf.read()
            if self._held.get(session):
                self._shelf.write([_mark("clear", None, session)])


def _mark(act: str, data: Any, session: str) -> Note:
    said = f"({act} in session {session})" if data is None else f"({act} in session {session}: record {data})"
    return Note(act=act, data=data, says=said, src=Source.SYSTEM, session=session)


def required_name(name: object, what: str) -> str:
    """A name that names something. Raises InputError for an empty one."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{what} is {name!r}, which names nothing", hint="pass a name")
    return name
