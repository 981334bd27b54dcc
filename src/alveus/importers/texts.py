r"""Transcripts that are text for people: their lines as they are, with the place of each.

Lines end at `\n`, and a carriage return before it is no part of them. A line that is not UTF-8 or is over the limit
costs itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from alveus.importers.base import Rejected
from alveus.importers.source import BOM, Source, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """One line of text, without its end. `torn` when the file ends inside it."""

    text: str
    at: Span
    torn: bool = False


def text_lines(source: Source) -> Iterator[TextLine | Rejected]:
    """Every line, blank ones included."""
    whole = Span(line=1, start=0, size=source.size)
    rest, number, start, lost = b"", 0, 0, 0
    for chunk in source.chunks(whole, counted=True):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            number += 1
            at = Span(line=number, start=start, size=lost + len(line) + 1)
            start += at.size
            yield _line(line, at) if not lost else _too_long(source, at)
            lost = 0
        if lost or len(rest) > source.max_line:
            lost += len(rest)
            rest = b""
    if rest or lost:
        at = Span(line=number + 1, start=start, size=lost + len(rest))
        yield _line(rest, at, torn=True) if not lost else _too_long(source, at)


def joined(first: Span, last: Span) -> Span:
    """The place of all lines from one to another."""
    return Span(line=first.line, start=first.start, size=last.start + last.size - first.start)


def _line(data: bytes, at: Span, *, torn: bool = False) -> TextLine | Rejected:
    try:
        text = data.removesuffix(b"\r").removeprefix(BOM if at.start == 0 else b"").decode()
    except UnicodeDecodeError as error:
        return Rejected(reason=f"not UTF-8 (byte {error.start + 1})", at=at)
    return TextLine(text=text, at=at, torn=torn)


def _too_long(source: Source, at: Span) -> Rejected:
    return Rejected(reason=f"longer than {source.max_line:,} bytes", at=at)
