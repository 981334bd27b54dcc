"""aider's `.aider.chat.history.md`: chats one after the other, each under the time it began, in local time.

The user's lines begin with `#### `, those of the program and its tools with `> `, all others are the assistant's. Only
`# aider chat started at` begins a chat: a heading in an answer looks like one and is none. The time names no zone, so
it is kept as what the source says and is no instant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from alveus.importers.base import Event, Format, Rejected, Source, Span
from alveus.importers.mould import Mould, Piece
from alveus.importers.pieces import words
from alveus.importers.reading import digest, stem_of
from alveus.importers.texts import TextLine, joined, text_lines
from alveus.journal.record import Source as Src

NAME: Final = "aider"

_BEGINS: Final = "# aider chat started at "
_SIGN = re.compile(rb"(?:\A|\n)(?:\xef\xbb\xbf)?(?:# aider chat started at \d{4}-|#### [^\n]*\n)")
_USER: Final = "#### "
_TOOL: Final = "> "
_MAX_BLOCK: Final = 8 << 20


class _Reader:
    def __init__(self, source: Source) -> None:
        self._stem = stem_of(source)
        self._session: str | None = None
        self._container = ""
        self._count = 0
        self._speaker = ""
        self._lines: list[TextLine] = []
        self._size = 0

    def events(self, source: Source) -> Iterator[Event]:
        """The events of the file."""
        for line in text_lines(source):
            if isinstance(line, Rejected):
                yield from self._block()
                yield line
                continue
            if line.text.startswith(_BEGINS):
                yield from self._block()
                self._begin(line)
                continue
            speaker = _speaker(line.text)
            if (speaker and speaker != self._speaker) or self._size > _MAX_BLOCK:
                yield from self._block()
                self._speaker = speaker or self._speaker
            self._lines.append(line)
            self._size += len(line.text)
        yield from self._block()

    def _begin(self, line: TextLine) -> None:
        self._session = line.text.removeprefix(_BEGINS).strip()
        self._container, self._count, self._speaker = "", 0, ""

    def _block(self) -> Iterator[Event]:
        """What one speaker said without a break."""
        lines, self._lines, self._size = self._lines, [], 0
        text = "\n".join(_bare(line.text) for line in lines).strip("\n")
        if not text.strip():
            return
        # Two chats may begin in one second; the first that is said in them tells them apart.
        self._container = self._container or f"{self._session or self._stem}~{digest(text)}"
        self._count += 1
        at = joined(lines[0].at, lines[-1].at)
        yield self._mould(at).cast(_piece(self._speaker, text))

    def _mould(self, at: Span) -> Mould:
        return Mould(
            format=NAME,
            container=self._container,
            id=str(self._count),
            session=self._session,
            time=self._session,
            at=at,
        )


def _speaker(text: str) -> str:
    """Who speaks in a line: a blank one says nothing of it."""
    for sign in (_USER, _TOOL):
        if text.startswith(sign):
            return sign
    return "assistant" if text.strip() else ""


def _bare(text: str) -> str:
    for sign in (_USER, _TOOL):
        if text.startswith(sign):
            return text.removeprefix(sign).rstrip()
    return text.rstrip()


def _piece(speaker: str, text: str) -> Piece:
    if speaker == _TOOL:
        return Piece(src=Src.TOOL, content=text, facts={"tool": "aider"})
    return words("user" if speaker == _USER else "assistant", text)


def sniff(head: bytes) -> bool:
    """Whether a chat begins, or a user's line stands among the first."""
    found = _SIGN.search(head)
    return found is not None and (b"aider" in found.group() or b"\n> " in head)


def read(source: Source) -> Iterator[Event]:
    """The events of one history, streamed."""
    yield from _Reader(source).events(source)


FORMAT: Final = Format(name=NAME, title="aider chat history (Markdown)", sniff=sniff, read=read)
