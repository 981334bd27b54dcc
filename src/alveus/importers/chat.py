"""Bare conversations: lists of messages with a role, in whatever words a program writes them.

A dialect turns each message of its source into the common form, that of the OpenAI and Anthropic interfaces: `role`,
`content` (a text or parts), `tool_calls`, `id`, a time. A part may carry a `role` of its own.

**Origins.** With an id: `<format>:<container>:<id>`, where the container is the session, else the conversation's id,
else the file's name without its suffix. Without an id the position in the conversation stands for it, and the container
gets `~` and a hash of the conversation's opening (all up to the first user message). So the same file imported twice,
or from another folder, brings nothing new; a file that grew brings what was added; and two conversations that are both
called `chat.json` stay two. The second and later conversations of one file without a name of their own are told apart
by their number in it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from alveus.importers.base import Event, Paused, Rejected, Source, Span, guarded
from alveus.importers.calls import Calls
from alveus.importers.entries import SHORT, Broken, Layout, Listed, Opened, Value, Waiting, entries
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.mould import Mould, Piece
from alveus.importers.pieces import ROLES, called, parsed, refused, returned, thought, words
from alveus.importers.reading import PLAIN, stem_of

_SESSIONS: Final = ("session", "session_id")
_NAMES: Final = (*_SESSIONS, "conversation_id", "thread_id", "id")
_TIMES: Final = ("time", "created_at", "timestamp")
_THOUGHTS: Final = ("thinking", "reasoning", "text", "value")

NOTHING: Final[Facts] = {"\0skip": "bookkeeping"}
"""What a dialect makes of what is no message and nothing to remember."""

FACTS: Final = "\0facts"
"""Where a dialect puts what is to be remembered of a message; no source has a member of this name."""

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

_NAMELESS: Final = f"{SHORT}the question that names the conversation is missing"
_OPENING: Final = 16
_OPENING_BYTES: Final = 4 << 20


def first_id(facts: Facts, names: tuple[str, ...] = _NAMES) -> str | None:
    """The first of these members that is an id."""
    return next((found for name in names if (found := ident(facts.get(name)))), None)


def _itself(message: Facts) -> Facts:
    return message


def _nothing(_: Facts) -> Facts:
    return {}


def _named(conversation: Facts) -> str | None:
    return first_id(conversation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How one program writes conversations.

    `layout` says where a conversation holds its messages; `common` turns a message of the source into the common form,
    with what is to be remembered of it under `FACTS`; `about` says what each message is to remember of its
    conversation, and `session` how that is called, which may also be the file's name, where that is an id.
    """

    name: str
    layout: Layout = PLAIN
    common: Callable[[Facts], Facts] = _itself
    about: Callable[[Facts], Facts] = _nothing
    session: Callable[[Facts], str | None] = _named
    stem_is_session: bool = False


def read(dialect: Dialect, source: Source) -> Iterator[Event]:
    """The events of one file, streamed: at most the opening of one conversation is held."""
    file = _File(dialect, stem_of(source))
    for entry in entries(source, dialect.layout):
        if isinstance(entry, Value):
            yield from file.value(entry.value, entry.at)
        elif isinstance(entry, Opened):
            yield from file.opens(entry.header)
        elif isinstance(entry, Listed):
            yield from file.opens({})
        elif isinstance(entry, Broken):
            yield from file.broken(entry)
        elif isinstance(entry, Waiting):
            yield Paused()
    yield from file.ends()


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────────


class _File:
    """The conversations of one file, one after the other; values outside any list are one conversation together."""

    def __init__(self, dialect: Dialect, stem: str) -> None:
        self._dialect, self._stem = dialect, stem
        self._numbers = count()
        self._talk = self._next({})

    def opens(self, header: Facts) -> Iterator[Event]:
        """A list of messages begins."""
        yield from self._talk.ends()
        self._talk = self._next(header)

    def broken(self, entry: Broken) -> Iterator[Event]:
        """A broken message has its position too, so that mending it later does not move the others."""
        yield from self._talk.hears(Rejected(reason=entry.reason, at=entry.at), entry.at)

    def value(self, value: object, at: Span) -> Iterator[Event]:
        """A message, or a list of messages among them, which is a conversation of its own."""
        if not isinstance(value, list):
            yield from self._talk.hears(value, at)
            return
        talk = self._next({})
        for message in value:
            yield from talk.hears(message, at)
        yield from talk.ends()

    def ends(self) -> Iterator[Event]:
        """What the last conversation still holds back."""
        yield from self._talk.ends()

    def _next(self, header: Facts) -> _Talk:
        return _Talk(self._dialect, self._stem, header, self._numbers)


class _Talk:
    """One conversation. Its messages wait until its opening is whole, because that names those without an id."""

    def __init__(self, dialect: Dialect, stem: str, header: Facts, numbers: Iterator[int]) -> None:
        self._dialect, self._stem, self._numbers = dialect, stem, numbers
        self._session = dialect.session(header)
        if dialect.stem_is_session and self._session is None and UUID.fullmatch(stem):
            self._session = stem
        self._about = dialect.about(header)
        self._number: int | None = None
        self._position = 0
        self._opening = ""
        self._waiting: list[tuple[int, object, Span]] = []
        self._calls = Calls()

    def hears(self, message: object, at: Span) -> Iterator[Event]:
        """The next message, or the rejection that stands in the place of one."""
        if self._number is None:
            self._number = next(self._numbers)
        if isinstance(message, Mapping):
            message = self._dialect.common(message)
        self._waiting.append((self._position, message, at))
        self._position += 1
        held = sum(span.size for _, _, span in self._waiting)
        if (
            self._opening
            or text_at(message, "role") == "user"
            or len(self._waiting) >= _OPENING
            or held > _OPENING_BYTES
        ):
            yield from self.ends()

    def ends(self) -> Iterator[Event]:
        """The events of what has waited.

        Where the file was cut in the opening, nobody knows yet what names the messages in it that have no id.
        """
        nameless = not self._opening and bool(self._waiting) and _is_cut(self._waiting[-1][1])
        self._opening = self._opening or _digest(message for _, message, _ in self._waiting)
        for position, message, at in self._waiting:
            if nameless and isinstance(message, Mapping) and not ident(message.get("id")):
                yield Rejected(reason=_NAMELESS, at=at)
            else:
                yield from guarded(self._events(position, message, at), at)
        self._waiting.clear()

    def _events(self, position: int, message: object, at: Span) -> Iterator[Event]:
        if isinstance(message, Rejected):
            yield message
        elif not isinstance(message, Mapping):
            yield Rejected(reason="not an object", at=at)
        else:
            mould = self._mould(position, message, at)
            pieces = list(pieces_of(message, self._calls)) or [Piece.skipped("empty message")]
            for place, piece in enumerate(pieces):
                yield mould.cast(piece, place)

    def _mould(self, position: int, message: Facts, at: Span) -> Mould:
        session = first_id(message, _SESSIONS) or self._session
        named = session or (f"{self._stem}#{self._number}" if self._number else self._stem)
        own = ident(message.get("id"))
        return Mould(
            format=self._dialect.name,
            container=named if own else f"{named}~{self._opening}",
            id=own or str(position),
            session=session,
            time=next((message[name] for name in _TIMES if message.get(name) is not None), None),
            facts={
                **self._about,
                **facts_at(message, FACTS),
                "name": message.get("name"),
                "model": message.get("model"),
                "source_metadata": message.get("metadata"),
            },
            at=at,
        )


def _is_cut(message: object) -> bool:
    return isinstance(message, Rejected) and message.reason.startswith(SHORT)


def _digest(messages: Iterable[object]) -> str:
    """A short name for an opening: who said what, and nothing that an export may write differently."""
    told = [[text_at(one, "role"), facts_at(one).get("content")] for one in messages if not isinstance(one, Rejected)]
    try:
        text = json.dumps(told, sort_keys=True)
    except RecursionError:
        text = str(len(told))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ── one message ──────────────────────────────────────────────────────────────────────────────────────────────────────


def pieces_of(message: Facts, calls: Calls) -> Iterator[Piece]:
    """The pieces of one message in the common form."""
    role, kind = text_at(message, "role"), text_at(message, "type")
    if "\0skip" in message:
        yield Piece.skipped(text_at(message, "\0skip"))
    elif role in ROLES:
        yield from _spoken(message, role, calls)
    elif kind == "function_call":
        yield called(text_at(message, "name"), message.get("arguments"), text_at(message, "call_id"), calls)
    elif kind == "function_call_output":
        yield _result(message, message.get("output"), text_at(message, "call_id"), calls)
    elif kind == "reasoning":
        yield thought(words("assistant", message.get("summary")).content)
    else:
        yield Piece.skipped(f"unknown type: {ident(role or kind) or 'none'}")


def _spoken(message: Facts, role: str, calls: Calls) -> Iterator[Piece]:
    content = message.get("content")
    if role in ("tool", "function"):
        yield _result(message, content, text_at(message, "tool_call_id"), calls)
        return
    if reasoning := text_at(message, "reasoning_content") or text_at(message, "reasoning"):
        yield thought(reasoning)
    for part in content if isinstance(content, list) else [content] if content else []:
        yield _part(part, role, calls)
    if refusal := text_at(message, "refusal"):
        yield refused(refusal)
    for made in (*list_at(message, "tool_calls"), message.get("function_call")):
        if made:
            to = facts_at(made, "function") or facts_at(made)
            yield called(text_at(to, "name"), to.get("arguments"), text_at(made, "id"), calls)


def _part(part: object, role: str, calls: Calls) -> Piece:
    what = text_at(part, "type")
    if what in ("reasoning", "thinking"):
        return thought(next((text for name in _THOUGHTS if (text := text_at(part, name))), ""))
    if what == "refusal":
        return refused(text_at(part, "refusal") or words("assistant", part).content)
    if what == "tool_call":
        to = facts_at(parsed(facts_at(part).get("value")))
        return called(text_at(to, "name"), to.get("arguments"), "", calls)
    if what == "tool_use":
        return called(text_at(part, "name"), facts_at(part).get("input"), text_at(part, "id"), calls)
    if what == "tool_result":
        return _result(facts_at(part), facts_at(part).get("content"), text_at(part, "tool_use_id"), calls)
    own = text_at(part, "role")
    return words(own if own in ROLES else role, [part])


def _result(message: Facts, output: object, use: str, calls: Calls) -> Piece:
    bad = message.get("is_error") is True or text_at(message, "status") in ("error", "failed", "incomplete")
    return returned(output, use, calls, name=text_at(message, "name") or text_at(message, "function"), bad=bad)
