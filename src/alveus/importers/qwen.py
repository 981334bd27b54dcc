"""Qwen Code's chats: Claude Code's envelope around Gemini's parts.

A rewind is a record: what came after its target was left. The answers of one request share their uuid when they are
written in several records, which then are one record in several pieces. What hooks add to a prompt is its own part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source, Span
from alveus.importers.branches import Node, abandoned_in
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, compacted, returned, thought, words
from alveus.importers.reading import PLAIN, Pieces, Records, Row, digest, first, walk
from alveus.journal.record import Kind

NAME: Final = "qwen-code"

_HOOK: Final = "<qwen:user-prompt-submit-context>"


class _Reader(Records):
    name = NAME
    id_at = ("uuid",)

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._left = abandoned_in(source, lambda one: Node.of(ident(one.get("uuid")), ident(one.get("parentUuid"))))
        self._last: str | None = None
        self._places: dict[str, int] = {}

    def cast(self, pieces: Pieces, value: Facts, at: Span) -> Iterator[Event]:
        """The items of a record; a record that goes on with the one before goes on with its places too."""
        own = ident(value.get("uuid"))
        if own is None or own != self._last:
            self._last, self._places = own, {}
        mould = self.mould(value, at)
        for piece in list(pieces) or [Piece.skipped("empty message")]:
            # The same words under the same id are the same piece, written twice.
            yield mould.cast(piece, self._places.setdefault(digest(piece.content), len(self._places)))

    def kind(self, value: Facts) -> str:
        kind = text_at(value, "type")
        return f"system/{text_at(value, 'subtype')}" if kind == "system" else kind

    def facts_of(self, value: Facts) -> Facts:
        return {
            "parent": text_at(value, "parentUuid"),
            "inactive": Node.name(ident(value.get("uuid"))) in self._left or None,
            "cwd": text_at(value, "cwd"),
            "git_branch": text_at(value, "gitBranch"),
            "model": text_at(value, "model"),
        }

    def user(self, value: Facts) -> Pieces:
        """What a person typed, or the program under the same role."""
        noted = text_at(value, "subtype") not in ("", "mid_turn_user_message")
        for part in list_at(value, "message", "parts"):
            if text_at(part, "text").startswith(_HOOK):
                yield Piece.skipped("echo of a hook")
            else:
                yield words("system" if noted else "user", [_plain(part)], {"note": text_at(value, "subtype")})

    def assistant(self, value: Facts) -> Pieces:
        """What the agent thought, called and said."""
        for part in list_at(value, "message", "parts"):
            told = facts_at(part)
            if made := facts_at(part, "functionCall"):
                yield called(text_at(made, "name"), made.get("args"), text_at(made, "id"), self.calls)
            elif told.get("thought") is True:
                yield thought(text_at(part, "text"))
            else:
                yield words("assistant", [_plain(part)])

    def result(self, value: Facts) -> Pieces:
        """What a tool gave back."""
        bad = text_at(value, "toolCallResult", "status") in ("error", "cancelled")
        for part in list_at(value, "message", "parts"):
            told = facts_at(part, "functionResponse")
            out = facts_at(told, "response")
            text = text_at(out, "output") or text_at(out, "error") or (json_text(out) if out else "")
            yield returned(text, text_at(told, "id"), self.calls, name=text_at(told, "name"), bad=bad)

    def rewind(self, value: Facts) -> Pieces:
        """The user went back to an earlier record: what came after it was rejected."""
        to = text_at(value, "systemPayload", "targetUuid")
        yield Piece(kind=Kind.DECISION, content=f"rewound to {to}", facts={"rewound_to": to})

    def compression(self, value: Facts) -> Pieces:
        """A summary takes the place of what was said."""
        told = facts_at(value, "systemPayload")
        yield compacted(text_at(told, "summary"), {"tokens": facts_at(told, "info")})

    def note(self, value: Facts) -> Pieces:
        """The program's other notes hold nothing to remember."""
        yield Piece.skipped(f"bookkeeping: system/{ident(value.get('subtype')) or 'none'}")

    table: ClassVar[Mapping[str, Row]] = {
        "user": user,
        "assistant": assistant,
        "tool_result": result,
        "system/rewind": rewind,
        "system/chat_compression": compression,
        **dict.fromkeys(
            (
                f"system/{name}"
                for name in (
                    "ui_telemetry",
                    "custom_title",
                    "session_artifact_snapshot",
                    "slash_command",
                    "at_command",
                    "notification",
                    "",
                )
            ),
            note,
        ),
    }


def _plain(part: object) -> object:
    if inline := facts_at(part, "inlineData"):
        mime = text_at(inline, "mimeType")
        return {"type": "image_url", "url": f"data:{mime};base64,{text_at(inline, 'data')}"}
    return {"type": "text", "text": text_at(part, "text")} if "text" in facts_at(part) else part


def sniff(head: bytes) -> bool:
    """Whether there is the envelope with Gemini's parts in it."""
    return any("parts" in facts_at(one, "message") and "uuid" in one for one in first(head))


def read(source: Source) -> Iterator[Event]:
    """The events of one chat, streamed."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Qwen Code chat (JSONL)", sniff=sniff, read=read)
