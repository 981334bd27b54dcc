"""What a judgement is, and how a judge's state is written down: the hash of the rest, one line of JSON, bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from alveus.errors import StoreError
from alveus.journal.record import Novelty

FALLBACK: Final = ";embed-failed:"


class NoveltyUnavailable(StoreError):
    """This strategy cannot judge, or its saved state cannot be read; the journal is untouched."""

    default_code = "novelty_unavailable"


class Judgement(NamedTuple):
    """`(novelty, similarity, by)`. `similarity` runs from 0 (nothing like it) to 1 (seen); `by` goes into `hc.by`."""

    novelty: Novelty
    similarity: float
    by: str

    @property
    def fallback(self) -> str:
        """The id of the embedder that failed and was replaced by the words; '' when nothing failed."""
        return self.by.partition(FALLBACK)[2]


class Judge(Protocol):
    """What every strategy offers."""

    def judge(self, content: str) -> Judgement:
        """Judge a content as if it were the next record; changes nothing."""
        ...


def pack(head: Mapping[str, object], body: bytes) -> bytes:
    """A saved state: what `unpack` reads."""
    line = json.dumps({**head, "bytes": len(body)}, sort_keys=True, separators=(",", ":")).encode()
    return b"%s %s\n%s" % (_digest(line, body), line, body)


def _digest(line: bytes, body: bytes) -> bytes:
    return hashlib.sha256(line + b"\n" + body).hexdigest().encode()


def unpack(blob: bytes, form: str) -> tuple[dict[str, Any], bytes]:
    """The head and the body of what `_pack` wrote, of this form and whole."""
    start, _, body = blob.partition(b"\n")
    digest, _, line = start.partition(b" ")
    if digest != _digest(line, body):
        raise unreadable("it is not whole")
    head: dict[str, Any] = json.loads(line)
    if head["format"] != form:
        raise unreadable(f"it is {head['format']}, not {form}")
    return head, body


def split_blob(blob: bytes) -> tuple[bytes, bytes]:
    """The first packed state and what follows it; all of it is the first one when that cannot be told."""
    start, _, _ = blob.partition(b"\n")
    try:
        end = len(start) + 1 + int(json.loads(start.partition(b" ")[2])["bytes"])
    except (KeyError, TypeError, ValueError):
        return blob, b""
    return blob[:end], blob[end:]


def unreadable(why: str) -> NoveltyUnavailable:
    """The error of a saved state that cannot be used."""
    return NoveltyUnavailable(
        f"the saved novelty state cannot be used: {why}.",
        code="novelty_state",
        hint="delete it: it is learnt again from the journal",
    )
