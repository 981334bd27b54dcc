"""What a record is to recall: a turn of a session, said by somebody, at some time. Pure.

A content may carry its own head, as chat logs do: `[8 May 2023, 13:56] Ann: …`. What the record's profile and metadata
do not say is taken from there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from alveus.language.terms import detect, terms_of


class Turn(NamedTuple):
    """One record as recall sees it.

    `session` is the session's name, or the stamp of a chat log's head behind a character that no name holds (a content
    cannot put itself into a session), or empty. `at` is when it happened, in seconds
    since 1970 (UTC); `day` is that day where it was, in days since 1970. `twin` is equal for equal contents. `asks`:
    it ends with a question. `terms` are those it is found by, with repetitions, each behind a space; `length` is how
    many.
    """

    kind: str
    novelty: str
    user: str
    session: str
    speaker: str
    at: float
    day: int
    asks: bool
    twin: int
    language: str
    terms: str
    length: int


def turn_of(record: Mapping[str, Any]) -> Turn:
    """The turn that a record's JSON object is. Raises KeyError, TypeError or ValueError for what is no record."""
    content, metadata = record["content"], record["metadata"]
    hc = metadata.get("hc") or {}
    head = head_of(content)
    at, day = _when(hc.get("event_time"), head.stamp, record["timestamp"])
    chunks, folded = content.split(), fold(content)
    language = detect(content, chunks if folded == content else None)
    terms = terms_of(content, chunks, language)
    return Turn(  # by place: one is made for every record
        record["kind"],
        record["novelty"],
        hc.get("user") or "",
        hc.get("session") or (_STAMPED + head.stamp if head.stamp else ""),
        (len(metadata) > ("hc" in metadata) and _speaker(metadata)) or head.speaker,
        at,
        day,
        _asks(content),
        int.from_bytes(blake2b(folded.encode("utf-8", "replace"), digest_size=8).digest(), signed=True),
        language,
        terms,
        terms.count(" "),
    )


class Head(NamedTuple):
    """The head of a chat log's line: when, who, and where the words begin."""

    stamp: str
    speaker: str
    length: int


def head_of(content: str) -> Head:
    """`[stamp] speaker: ` at the beginning of a content; either may be missing."""
    if content[:1] != "[" and ":" not in content[:_LONGEST_SPEAKER]:
        return _NO_HEAD  # by far the most
    found = _HEAD(content[:_LONGEST_HEAD])
    if found is None:
        return _NO_HEAD
    return Head(found["stamp"] or "", (found["speaker"] or "").strip(), found.end())


def _speaker(metadata: Mapping[str, Any]) -> str:
    for name in _SPEAKERS:
        value = metadata.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()[:_LONGEST_NAME]
    return ""


def _when(event_time: str | None, stamp: str, timestamp: str) -> tuple[float, int]:
    """Seconds, and the day as a calendar at that place shows it."""
    if event_time is None and stamp:
        day = _day_of_stamp(stamp)
        if day is not None:
            return day * _DAY + _NOON, day
    if event_time is None and len(timestamp) == _USUAL_TIME and timestamp[-1] == "Z":
        second, day = _second(timestamp[:19])
        return (second * _MICRO + int(timestamp[20:26])) / _MICRO, day
    moment = datetime.fromisoformat(event_time or timestamp)
    return moment.timestamp(), moment.toordinal() - _EPOCH


@lru_cache(maxsize=64)
def _second(text: str) -> tuple[int, int]:
    """Of a UTC time without its fraction the seconds, and the days, since 1970."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return int(moment.timestamp()), moment.toordinal() - _EPOCH


@lru_cache(maxsize=1024)
def _day_of_stamp(stamp: str) -> int | None:
    """The day a chat log's stamp names, in days since 1970."""
    try:
        return datetime.fromisoformat(stamp).toordinal() - _EPOCH
    except ValueError:
        from alveus.language.dates import spans  # noqa: PLC0415  (only chat logs need it)

        named = spans(stamp, datetime(2000, 1, 1, tzinfo=UTC))
    days = {span.start for span in named if span.exact and span.start == span.end}
    return days.pop().toordinal() - _EPOCH if len(days) == 1 else None


def _asks(content: str) -> bool:
    if content.isascii() and "?" not in content[-_LONGEST_HEAD:]:
        return False
    return _ASKS(content, max(0, len(content) - _LONGEST_HEAD)) is not None


def fold(text: str) -> str:
    """Text as it is compared: composed, case-folded, ё as е."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).casefold().replace("ё", "е")


_SPEAKERS: Final = ("speaker", "author", "name", "actor", "from")
"""Metadata keys that name who said it."""
_STAMPED: Final = "\n"
_EPOCH: Final = date(1970, 1, 1).toordinal()
_DAY: Final = 86_400.0
_MICRO: Final = 1_000_000
_USUAL_TIME: Final = len("2026-11-30T12:00:00.000000Z")
_NOON: Final = 43_200.0
_LONGEST_HEAD: Final = 200
_LONGEST_SPEAKER: Final = 50
"""Characters within which a name and its colon stand: as `_HEAD` counts, with room for white space before."""
_LONGEST_NAME: Final = 100
_NO_HEAD: Final = Head("", "", 0)
_HEAD: Final = re.compile(
    r"\s*(?:\[(?P<stamp>[^\]\n]*\d[^\]\n]*)\]\s*)?(?:(?P<speaker>[^\W\d_][\w.'’ -]{0,40}?):\s(?!//))?"
).match
_ASKS: Final = re.compile(r"[?？؟;՞](?=[\s\"'”’»)]*(?:\([^()]*\)\s*)?\Z)").search
"""A question mark at the end, before closing quotes and a remark in brackets."""
