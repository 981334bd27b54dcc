"""Small pages: a cursor says where the next one begins, and of which question. It names no scope and opens none."""

from __future__ import annotations

import base64
import binascii
import json
from hashlib import sha256
from typing import Final

from alveus.errors import InputError

_LONGEST: Final = 200


def cursor(question: object, place: int) -> str:
    """Where the next page of a question begins."""
    return base64.urlsafe_b64encode(json.dumps([place, _digest(question)]).encode()).decode().rstrip("=")


def place_of(question: object, given: str | None, *, first: int = 0) -> int:
    """Where the asked page begins; `first` without a cursor. Raises InputError for a cursor of another question."""
    if given is None:
        return first
    try:
        padded = given[:_LONGEST] + "=" * (-len(given) % 4)
        place, digest = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
    except (ValueError, TypeError, binascii.Error):
        place, digest = None, None
    if type(place) is not int or place < 0 or digest != _digest(question):
        raise InputError(
            "that cursor is not of this question",
            code="bad_cursor",
            hint="repeat the arguments of the page it came with",
        )
    return place


def _digest(question: object) -> str:
    return sha256(json.dumps(question, ensure_ascii=True, sort_keys=True).encode()).hexdigest()[:16]
