"""What a source says, made fit to be signed: text, times, ids, small metadata, binary parts.

The journal takes JSON inside RFC 8785's domain (spec/journal.md, section 2); transcripts hold more than that. Nothing
is dropped in silence here: a lone surrogate becomes U+FFFD and the item is marked `repaired`, a time that cannot be
read is kept as `source_time`, a picture becomes its hash, its type and its size.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from alveus.journal.seal import is_event_time

MAX_INT: Final = 2**53 - 1
MAX_ID: Final = 200
MAX_TEXT: Final = 2_000
MAX_MEMBERS: Final = 64
MAX_NESTING: Final = 4

Facts = Mapping[str, object]
"""A JSON object of the source, not yet looked into."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?\d*([Zz]|[+-]\d\d:?\d\d)", re.ASCII)
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.=-]+)*;base64,([A-Za-z0-9+/]{64,}+={0,2})", re.ASCII)
_NUMBER = re.compile(r"\d{9,16}(?:\.\d{1,9})?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# ── looking into an object that may hold anything ────────────────────────────────────────────────────────────────────


def text_at(value: object, *path: str) -> str:
    """The string at the end of the path, or "" when there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def facts_at(value: object, *path: str) -> Facts:
    """The object at the end of the path, or an empty one."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def list_at(value: object, *path: str) -> Sequence[object]:
    """The list at the end of the path, or an empty one."""
    *parents, last = path
    found = facts_at(value, *parents).get(last)
    return found if isinstance(found, list) else ()


# ── text, ids, times ─────────────────────────────────────────────────────────────────────────────────────────────────


def clean(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD: no UTF-8 and no signature exists for one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def ident(value: object) -> str | None:
    """An id of the source as a string of at most 200 characters without control characters; None when it has none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    name = _CONTROL.sub("\ufffd", clean(str(value))).strip()
    if len(name) > MAX_ID:
        return f"{name[:100]}~{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return name or None


def event_time(value: object) -> str | None:
    """ISO 8601 in the zone the source gave, or UTC for seconds, milli- or microseconds since 1970; None otherwise.

    A time without a zone names no instant and counts as unreadable.
    """
    if isinstance(value, str) and (iso := _ISO.fullmatch(value)):
        return _from_iso(iso)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return _from_epoch(float(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_epoch(value)
    return None


def _from_iso(found: re.Match[str]) -> str | None:
    date, minute, second, fraction, zone = found.groups()
    zone = zone.upper() if len(zone) != len("+0000") else f"{zone[:3]}:{zone[3:]}"
    written = f"{date}T{minute}{second or ':00'}{fraction or ''}{zone}"
    return written if is_event_time(written) else None


def _from_epoch(number: float) -> str | None:
    if not math.isfinite(number) or number <= 0:
        return None
    # Seconds until the year 5138, milliseconds until the same, microseconds after that.
    unit = 1 if number < 1e11 else 1e3 if number < 1e14 else 1e6
    try:
        instant = _EPOCH + timedelta(microseconds=round(number * 1_000_000 / unit))
    except OverflowError:
        return None
    return instant.isoformat().replace("+00:00", "Z")


# ── metadata ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def small(facts: Facts) -> dict[str, Any]:
    """The members that say something, as JSON the journal can sign, each cut to a size that leaves room for content."""
    return {_key(name): _small(value, 1) for name, value in facts.items() if _says_something(value)}


def _says_something(value: object) -> bool:
    return bool(value) or isinstance(value, int | float)


def _key(name: object) -> str:
    return clean(str(name))[:MAX_ID]


def _small(value: object, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _cut(clean(value))
    if isinstance(value, int):
        return value if abs(value) <= MAX_INT else _cut(hex(value))
    if isinstance(value, float):
        # Outside this range a float's shortest form need not survive being read again.
        return value if math.isfinite(value) and (value == 0 or 1e-6 <= abs(value) < 1e15) else repr(value)
    if depth > MAX_NESTING:
        return _cut(clean(json_text(value)))
    if isinstance(value, Mapping):
        return {_key(name): _small(inner, depth + 1) for name, inner in list(value.items())[:MAX_MEMBERS]}
    if isinstance(value, list | tuple):
        return [_small(inner, depth + 1) for inner in value[:MAX_MEMBERS]]
    return _cut(clean(repr(value)))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def json_text(value: object) -> str:
    """A value of the source as people read it: JSON in its own script, in the source's order."""
    return json.dumps(value, ensure_ascii=False)


# ── binary parts ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """A picture or a file that was inside the text: named by its hash, not kept."""

    what: str
    media_type: str
    size: int
    sha256: str

    def __str__(self) -> str:
        return f"[{self.what} sha256:{self.sha256} {self.media_type} {self.size} bytes]"

    def as_json(self) -> dict[str, Any]:
        """What goes into the metadata."""
        return {"sha256": self.sha256, "media_type": self.media_type, "bytes": self.size}


def without_data(text: str) -> tuple[str, tuple[Blob, ...]]:
    """The text with every file that is written into it as a data URI in base64 named by its hash, and those blobs."""
    if ";base64," not in text:
        return text, ()
    found: list[Blob] = []

    def named(uri: re.Match[str]) -> str:
        kind = uri[1] or "unknown"
        found.append(blob("image" if kind.startswith("image/") else "file", kind, uri[2]))
        return str(found[-1])

    return _DATA_URI.sub(named, text), tuple(found)


def blob(what: str, media_type: str, data: str) -> Blob:
    """The blob of a base64 text; of the text itself when it is not base64."""
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raw = clean(data).encode()
    kind = _CONTROL.sub("", clean(media_type))[:100] or "unknown"
    return Blob(what=what, media_type=kind, size=len(raw), sha256=hashlib.sha256(raw).hexdigest())
