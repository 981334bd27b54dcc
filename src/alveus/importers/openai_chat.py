"""OpenAI's chat messages: a JSON list, lines, or `{"messages": [...]}`, alone or one a line; and Responses items.

A message may carry `id`, `time` or `created_at`, and `session`; they become its origin, event time and session. Its
`metadata` is kept as what the source said and moves nothing: user, agent and source are set by the door.

**Origins.** With an id: `openai-chat:<container>:<id>`, where the container is the session, else the conversation's id,
else the file's name without its suffix. Without an id the position in the conversation stands for it, and the container
gets `~` and a hash of the conversation's opening (all up to the first user message). So the same file imported twice,
or from another folder, brings nothing new; a file that grew brings what was added; and two conversations that are both
called `chat.json` stay two. The second and later conversations of one file without a name of their own are told apart
by their number in it.

**Kinds.** User, system and tool messages are observations, the assistant's are state, a refusal or a failed tool is an
error, a tool call is an observation unless `calls` knows better. Every part, refusal and call is an item of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Final

from alveus.importers.base import Event, Format, Rejected, Source, Span, guarded
from alveus.importers.calls import Calls, call
from alveus.importers.entries import Broken, Opened, entries, peek
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.mould import Mould, Piece
from alveus.importers.render import render
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "openai-chat"
LISTS: Final = frozenset({"messages"})

_ROLES: Final[Mapping[str, tuple[Kind, Src]]] = {
    "user": (Kind.OBSERVATION, Src.USER),
    "assistant": (Kind.STATE, Src.AGENT),
    "system": (Kind.OBSERVATION, Src.SYSTEM),
    "developer": (Kind.OBSERVATION, Src.SYSTEM),
    "tool": (Kind.OBSERVATION, Src.TOOL),
    "function": (Kind.OBSERVATION, Src.TOOL),
}
_SESSIONS: Final = ("session", "session_id")
_NAMES: Final = (*_SESSIONS, "conversation_id", "thread_id", "id")
_TIMES: Final = ("time", "created_at", "timestamp")
_SPOKEN: Final = ("content", "tool_calls", "function_call", "refusal")
_THOUGHTS: Final = ("thinking", "reasoning", "text", "value")

_OPENING: Final = 16
_OPENING_BYTES: Final = 4 << 20


def read(source: Source) -> Iterator[Event]:
    """The events of one file, streamed: at most the opening of one conversation is held."""
    file = _File(ident(source.path.stem) or "file")
    for entry in entries(source, LISTS):
        if isinstance(entry, Opened):
            yield from file.opens(entry.header)
        elif isinstance(entry, Broken):
            yield from file.broken(entry)
        else:
            yield from file.value(entry.value, entry.at)
    yield from file.ends()


def sniff(head: bytes) -> bool:
    """Whether the first object is a message, or an object with a list of messages."""
    return any(_is_message(one) or any(map(_is_message, list_at(one, "messages"))) for one in peek(head, LISTS)[:1])


def _is_message(value: object) -> bool:
    return text_at(value, "role") in _ROLES and isinstance(value, Mapping) and any(name in value for name in _SPOKEN)


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────────


class _File:
    """The conversations of one file, one after the other; values outside any list are one conversation together."""

    def __init__(self, stem: str) -> None:
        self._stem = stem
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
        """A message, or a whole conversation as one value."""
        messages = value if isinstance(value, list) else list_at(value, "messages")
        if not messages and (
            text_at(value, "role") or not isinstance(value, Mapping | list) or "messages" not in value
        ):
            yield from self._talk.hears(value, at)
            return
        talk = self._next(facts_at(value))
        for message in messages:
            yield from talk.hears(message, at)
        yield from talk.ends()

    def ends(self) -> Iterator[Event]:
        """What the last conversation still holds back."""
        yield from self._talk.ends()

    def _next(self, header: Facts) -> _Talk:
        return _Talk(self._stem, _first_id(header, _NAMES), self._numbers)


class _Talk:
    """One conversation. Its messages wait until its opening is whole, because that names those without an id."""

    def __init__(self, stem: str, session: str | None, numbers: Iterator[int]) -> None:
        self._stem, self._session, self._numbers = stem, session, numbers
        self._number: int | None = None
        self._position = 0
        self._opening = ""
        self._waiting: list[tuple[int, object, Span]] = []
        self._calls = Calls()

    def hears(self, message: object, at: Span) -> Iterator[Event]:
        """The next message, or the rejection that stands in the place of one."""
        if self._number is None:
            self._number = next(self._numbers)
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
        """The events of what has waited."""
        self._opening = self._opening or _digest(message for _, message, _ in self._waiting)
        for position, message, at in self._waiting:
            yield from guarded(self._events(position, message, at), at)
        self._waiting.clear()

    def _events(self, position: int, message: object, at: Span) -> Iterator[Event]:
        if isinstance(message, Rejected):
            yield message
        elif not isinstance(message, Mapping):
            yield Rejected(reason="not an object", at=at)
        else:
            mould = self._mould(position, message, at)
            pieces = list(_pieces(message, self._calls)) or [Piece.skipped("empty message")]
            for place, piece in enumerate(pieces):
                yield mould.cast(piece, place)

    def _mould(self, position: int, message: Facts, at: Span) -> Mould:
        session = _first_id(message, _SESSIONS) or self._session
        named = session or (f"{self._stem}#{self._number}" if self._number else self._stem)
        own = ident(message.get("id"))
        return Mould(
            format=NAME,
            container=named if own else f"{named}~{self._opening}",
            id=own or str(position),
            session=session,
            time=next((message[name] for name in _TIMES if message.get(name) is not None), None),
            facts={
                "name": message.get("name"),
                "model": message.get("model"),
                "source_metadata": message.get("metadata"),
            },
            at=at,
        )


def _first_id(facts: Facts, names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := ident(facts.get(name)))), None)


def _digest(messages: Iterable[object]) -> str:
    """A short name for an opening: who said what, and nothing that an export may write differently."""
    told = [[text_at(one, "role"), facts_at(one).get("content")] for one in messages if not isinstance(one, Rejected)]
    try:
        text = json.dumps(told, sort_keys=True)
    except RecursionError:
        text = str(len(told))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# ── one message ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _pieces(message: Facts, calls: Calls) -> Iterator[Piece]:
    role, kind = text_at(message, "role"), text_at(message, "type")
    if role in _ROLES:
        yield from _spoken(message, role, calls)
    elif kind == "function_call":
        yield _called(text_at(message, "name"), message.get("arguments"), text_at(message, "call_id"), calls)
    elif kind == "function_call_output":
        yield _returned(message, message.get("output"), text_at(message, "call_id"), calls)
    elif kind == "reasoning":
        yield _thought(render(message.get("summary")).text)
    else:
        yield Piece.skipped(f"unknown type: {ident(role or kind) or 'none'}")


def _spoken(message: Facts, role: str, calls: Calls) -> Iterator[Piece]:
    content = message.get("content")
    if role in ("tool", "function"):
        yield _returned(message, content, text_at(message, "tool_call_id"), calls)
        return
    if thought := text_at(message, "reasoning_content") or text_at(message, "reasoning"):
        yield _thought(thought)
    for part in content if isinstance(content, list) else [content] if content else []:
        yield _part(part, role, calls)
    if refusal := text_at(message, "refusal"):
        yield _refused(refusal)
    for made in (*list_at(message, "tool_calls"), message.get("function_call")):
        if made:
            to = facts_at(made, "function") or facts_at(made)
            yield _called(text_at(to, "name"), to.get("arguments"), text_at(made, "id"), calls)


def _part(part: object, role: str, calls: Calls) -> Piece:
    what = text_at(part, "type")
    if what in ("reasoning", "thinking"):
        return _thought(next((text for name in _THOUGHTS if (text := text_at(part, name))), ""))
    if what == "refusal":
        return _refused(text_at(part, "refusal") or render(part).text)
    if what == "tool_call":
        to = facts_at(_parsed(facts_at(part).get("value")))
        return _called(text_at(to, "name"), to.get("arguments"), "", calls)
    if what == "tool_use":
        return _called(text_at(part, "name"), facts_at(part).get("input"), text_at(part, "id"), calls)
    if what == "tool_result":
        return _returned(facts_at(part), facts_at(part).get("content"), text_at(part, "tool_use_id"), calls)
    kind, src = _ROLES[role]
    done = render([part])
    return Piece(kind=kind, src=src, content=done.text, blobs=done.blobs)


def _thought(text: str) -> Piece:
    if not text.strip():
        return Piece.skipped("empty thinking")
    return Piece(kind=Kind.STATE, src=Src.AGENT, content=text, facts={"thinking": True})


def _refused(text: str) -> Piece:
    return Piece(kind=Kind.ERROR, src=Src.AGENT, content=text, facts={"refused": True})


def _called(name: str, arguments: object, use: str, calls: Calls) -> Piece:
    made = call(name, _parsed(arguments))
    calls.made(use, made)
    return Piece(
        kind=made.kind, src=Src.AGENT, content=made.content, facts={**made.facts, "tool": name, "tool_use_id": use}
    )


def _returned(message: Facts, output: object, use: str, calls: Calls) -> Piece:
    known = calls.of(use)
    done = render(output)
    failed = message.get("is_error") is True or text_at(message, "status") in ("error", "failed", "incomplete")
    back = known is not None and known.kind is Kind.TRANSFER
    return Piece(
        kind=Kind.ERROR if failed else Kind.TRANSFER if back else Kind.OBSERVATION,
        src=Src.TOOL,
        content=done.text or ("the tool failed without a message" if failed else ""),
        facts={
            **(known.facts if known else {}),
            "tool": known.tool if known else text_at(message, "name"),
            "tool_use_id": use,
        },
        blobs=done.blobs,
    )


def _parsed(arguments: object) -> object:
    """Arguments come as JSON in a string; what is not JSON is kept as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


FORMAT: Final = Format(name=NAME, title="OpenAI chat messages (JSON or JSONL)", sniff=sniff, read=read)
