"""Utterances, and the fragments they are cut into: spec/kernels.md, section 1.

An utterance is one record as kernels see it; a fragment is what of it can stand for itself. Both are ordered by event
time, origin and text, never by record_id or seq: the same archive gives the same kernels, however it came in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from alveus.journal.record import Kind, Source

LONGEST: Final = 400
"""Characters of a fragment: a longer sentence is cut between words."""

LEANS: Final = 10
"""A fragment of fewer words leans on the message before it."""

_CONTEXT: Final = 200
"""Characters kept of the message before."""

_QUOTED_WORDS: Final = 4
"""A quotation of so many words is somebody's sentence; a shorter one is a name or a word that is talked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One record of the journal, as kernels see it.

    `origin` is `hc.origin` where there is one, else empty: it orders, and means nothing. `time` is in seconds since
    1970: `hc.event_time`, else the timestamp.
    """

    record_id: str
    origin: str
    src: Source
    kind: Kind
    session: str
    time: float
    text: str


class What(StrEnum):
    """What a fragment is made of."""

    PROSE = "prose"
    CODE = "code"
    TOOL = "tool"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A sentence or a short paragraph of one utterance.

    `key` is a stable hash of whence, when and what, without record_id and seq. `said` is the text without what it
    quotes, `whole` the number of its utterance in order; `before` is the end of what somebody else said before it,
    where it is so short that it leans on that.
    """

    key: str
    record_id: str
    src: Source
    kind: Kind
    session: str
    time: float
    text: str
    what: What
    said: str
    before: str = ""
    whole: int = 0


def ordered(utterances: Iterable[Utterance]) -> list[Utterance]:
    """Utterances in order of event time, origin and text; of those that are the same item only one is kept."""
    kept: dict[tuple[object, ...], Utterance] = {}
    for one in utterances:
        known = kept.get(same := (one.origin or (one.session, one.time), one.src, one.text))
        if known is None or (one.time, one.record_id) < (known.time, known.record_id):
            kept[same] = one
    return sorted(kept.values(), key=lambda one: (one.time, one.origin, one.session, one.src, one.text))


def cut(utterances: Iterable[Utterance]) -> list[Fragment]:
    """The fragments of some utterances, in order, whatever order these come in."""
    found: list[Fragment] = []
    last: dict[str, Utterance] = {}
    context: dict[str, str] = {}
    for whole, one in enumerate(ordered(utterances)):
        earlier = last.get(one.session)
        if earlier is not None and earlier.src != one.src:
            context[one.session] = tail(earlier)
        last[one.session] = one
        before = context.get(one.session, "")
        found += (fragment(one, place, piece, before=before, whole=whole) for place, piece in enumerate(pieces(one)))
    return found


def fragment(one: Utterance, place: int, piece: Piece, *, before: str, whole: int) -> Fragment:
    """The fragment that is piece number `place` of an utterance."""
    what, text, said = piece
    stem = f"{one.origin}\0{one.session}\0{one.time!r}\0{one.src}\0{place}\0{text}"
    return Fragment(
        key=blake2b(stem.encode("utf-8", "replace"), digest_size=10).hexdigest(),
        record_id=one.record_id,
        src=one.src,
        kind=one.kind,
        session=one.session,
        time=one.time,
        text=text,
        what=what,
        said=said,
        before=before if len(said.split()) < LEANS else "",
        whole=whole,
    )


def tail(one: Utterance) -> str:
    """What of an utterance leads over to the answer of somebody else."""
    return one.text[-_CONTEXT:] if one.src is not Source.TOOL else ""


Piece = tuple[What, str, str]
"""What a piece of an utterance is made of, its text, and the text without its quotations."""


_FENCE: Final = re.compile(r"(?ms)^ {0,3}(```|~~~).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)")
_QUOTATION: Final = re.compile(r"«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|(?<!\w)\"[^\"\n]*\"(?!\w)")
_CODE_SPAN: Final = re.compile(r"`[^`\n]+`")
_BREAK: Final = re.compile(
    r"(?<=[.!?…])[\"'»”)\]]*\s+(?=[\"'«“(\[]*[^\W\d_]|[\"'«“(\[]*\d|[`$/~-])|(?<=[.!?…][\"'»”)])\s+"
)
_MARK: Final = re.compile(r"^\s*(?:[-*+•–—]|\d{1,2}[.)]|#{1,6})\s+")
_WORDISH: Final = re.compile(r"[^\W\d_]{2,}")
_SYMBOLS: Final = re.compile(r"[=|{}<>\\;$@_/\[\]()#^~*&%]|\d")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|mr|mrs|ms|dr|prof|st|т\.е|т\.к|т\.д|т\.п|напр|др|см|г|ул)|\b[A-ZА-Я])\.$",
    re.IGNORECASE,
)


def pieces(one: Utterance) -> Iterator[Piece]:
    """What an utterance is cut into."""
    if one.src is Source.TOOL:
        yield What.TOOL, one.text[:LONGEST], ""
        return
    at = 0
    for fence in _FENCE.finditer(one.text):
        yield from _lines(one.text[at : fence.start()])
        yield What.CODE, fence[0][:LONGEST], ""
        at = fence.end()
    yield from _lines(one.text[at:])


def _lines(text: str) -> Iterator[Piece]:
    for line in text.split("\n"):
        stripped = line.strip()
        if not _WORDISH.search(stripped):
            continue
        if stripped.startswith(">"):
            yield What.QUOTE, stripped[:LONGEST], ""
        elif _is_code(stripped):
            yield What.CODE, stripped[:LONGEST], ""
        else:
            yield from _sentences(_MARK.sub("", stripped))


def _is_code(line: str) -> bool:
    """Whether a line is output or code rather than words: more of it is symbols and digits than a sentence has."""
    letters = sum(map(len, _WORDISH.findall(line)))
    return 2 * len(_SYMBOLS.findall(_CODE_SPAN.sub("", line))) > letters


def _sentences(text: str) -> Iterator[Piece]:
    masked = _QUOTATION.sub(_masked, text)
    at = 0
    for place in (*_breaks(masked), len(text)):
        raw, said = text[at:place].strip(), masked[at:place].replace(_HIDDEN, "").strip()
        at = place
        if not _WORDISH.search(raw):
            continue
        if 2 * len(said) < len(raw):
            yield What.QUOTE, raw[:LONGEST], ""
            continue
        for start in range(0, len(raw), LONGEST):
            yield What.PROSE, raw[start : start + LONGEST], said[start : start + LONGEST]


_HIDDEN: Final = "\x00"


def _masked(quotation: re.Match[str]) -> str:
    """A quotation of a sentence becomes characters without meaning, so that it neither speaks nor ends a sentence."""
    if len(_WORDISH.findall(quotation[0])) < _QUOTED_WORDS:
        return quotation[0]
    return _HIDDEN * len(quotation[0])


def _breaks(text: str) -> Iterator[int]:
    for found in _BREAK.finditer(text):
        if not _ABBREVIATION.search(text[max(0, found.start() - 8) : found.start()]):
            yield found.end()
