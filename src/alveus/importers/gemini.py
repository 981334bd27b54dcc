"""Gemini CLI's chats (`~/.gemini/tmp/<project>/chats/session-*`): one object once, lines with changes since v0.40.

A line is a header, a message, or a change: `$set` may replace the messages, `$rewindTo` goes back to one. What was said
before a rewind stays, and the rewind is an event. A message that is written again with more in it is the same message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Rejected, Skipped, Source, Span
from alveus.importers.entries import Closed, Layout, Opened
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, failed, returned, thought, words
from alveus.importers.reading import Pieces, Records, Row, first, walk
from alveus.journal.record import Kind

NAME: Final = "gemini-cli"
LAYOUT: Final = Layout(lists=frozenset({"messages"}), names=frozenset({"sessionId"}))

_TYPES: Final = frozenset({"user", "gemini", "info", "error", "warning"})
_HEADER: Final = ("sessionId", "projectHash", "startTime")


class _Reader(Records):
    name = NAME

    def opens(self, one: Opened, /) -> Iterator[Event]:
        """A session in one object is its header and then its messages."""
        self._header(one.header)
        yield from ()

    def closes(self, one: Closed, /) -> Iterator[Event]:
        """A session without messages."""
        if one.empty:
            yield Skipped(reason="bookkeeping: sessionId", at=one.at)

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """A header, a message, or a change, which may hold messages."""
        if not isinstance(value, Mapping):
            self.count += 1
            yield Rejected(reason="not an object", at=at)
            return
        if "projectHash" in value or "sessionId" in value:
            self._header(value)
        inside = list_at(value, "$set", "messages")
        if not inside:
            yield from super().events(value, at)
        for one in inside:
            yield from super().events(one, at)

    def _header(self, value: Facts) -> None:
        self.session = ident(value.get("sessionId")) or self.session
        self.facts |= {"project": text_at(value, "projectHash")}
        if text_at(value, "kind") == "subagent":
            self.facts["subagent"] = True

    def kind(self, value: Facts) -> str:
        if "type" in value:
            return text_at(value, "type")
        return next((name for name in ("$set", "$rewindTo", "sessionId", "projectHash") if name in value), "")

    def facts_of(self, value: Facts) -> Facts:
        return {"model": text_at(value, "model")}

    def user(self, value: Facts) -> Pieces:
        """What a person typed; files that were drawn in stand in the same parts."""
        yield words("user", _parts(value.get("content")))

    def gemini(self, value: Facts) -> Pieces:
        """What the agent thought, called and said."""
        for one in list_at(value, "thoughts"):
            yield thought("\n".join(t for t in (text_at(one, "subject"), text_at(one, "description")) if t))
        if value.get("content"):
            yield words("assistant", _parts(value.get("content")))
        for made in list_at(value, "toolCalls"):
            use = text_at(made, "id")
            yield called(text_at(made, "name"), facts_at(made).get("args"), use, self.calls)
            yield from self._result(facts_at(made), use)

    def _result(self, made: Facts, use: str) -> Pieces:
        shown = made.get("result") or made.get("resultDisplay")
        bad = text_at(made, "status") in ("error", "cancelled")
        if shown or bad:
            parts = [_answered(one) for one in shown] if isinstance(shown, list) else shown
            yield returned(parts, use, self.calls, name=text_at(made, "name"), bad=bad)

    def note(self, value: Facts) -> Pieces:
        """A note of the program."""
        yield words("system", _parts(value.get("content")), {"note": text_at(value, "type")})

    def error(self, value: Facts) -> Pieces:
        """An error of the program."""
        yield failed(words("system", _parts(value.get("content"))).content)

    def rewind(self, value: Facts) -> Pieces:
        """The user went back to an earlier message: what came after it was rejected."""
        to = ident(value.get("$rewindTo")) or ""
        yield Piece(kind=Kind.DECISION, content=f"rewound to {to}", facts={"rewound_to": to})

    table: ClassVar[Mapping[str, Row]] = {
        "user": user,
        "gemini": gemini,
        "info": note,
        "warning": note,
        "error": error,
        "$rewindTo": rewind,
        "$set": "bookkeeping",
        "sessionId": "bookkeeping",
        "projectHash": "bookkeeping",
    }


def _parts(content: object) -> object:
    """Gemini's parts as those that everybody has."""
    return [_part(one) for one in content] if isinstance(content, list) else _part(content)


def _part(one: object) -> object:
    if inline := facts_at(one, "inlineData"):
        mime = text_at(inline, "mimeType")
        return {"type": "image_url", "url": f"data:{mime};base64,{text_at(inline, 'data')}"}
    return {"type": "text", "text": text_at(one, "text")} if isinstance(one, Mapping) and "text" in one else one


def _answered(one: object) -> object:
    """A result in the words of the tool, where it has some."""
    told = facts_at(one, "functionResponse", "response")
    known = next((text for name in ("output", "error") if (text := text_at(told, name))), "")
    return known or (json_text(told) if told else _part(one))


def sniff(head: bytes) -> bool:
    """Whether there is a header of a session, or a message of one."""
    found = first(head)
    return any(sum(name in one for name in _HEADER) > 1 for one in found[:1]) or any(
        text_at(one, "type") == "gemini" and ("content" in one or "toolCalls" in one) for one in found
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one chat."""
    yield from walk(source, LAYOUT, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Gemini CLI chat (JSON or JSONL)", sniff=sniff, read=read)
