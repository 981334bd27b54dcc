"""What is kept beside the ledger so that a cut end is seen, and a writer need not read it whole: spec/audit.md.

`receipts.head` says how far the ledger was known to be on disk; `receipts.seen` also which receipts those lines hold.
Both are sealed with the ledger's key and lag behind it. One that is missing or that this key did not seal says nothing.
"""

from __future__ import annotations

import contextlib
import hmac
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final, NamedTuple

from alveus.errors import InputError
from alveus.journal import canonical
from alveus.journal.seal import Invalid, Key
from alveus.store.files import Files, read_whole, replace

HEAD: Final = "receipts.head"
SEEN: Final = "receipts.seen"
DOMAIN: Final = b"alveus.receipt.head.v1||"
IDENTITY: Final = 16
"""Bytes that name a receipt."""
_MAC: Final = 32
_LARGEST: Final = 256 << 20


class Place(NamedTuple):
    """An end of the ledger: how many lines and bytes it had, the hash of the last line, the key of the first."""

    size: int
    offset: int
    last_line: str
    first_kid: str


class Seen(NamedTuple):
    """What the lines up to a place hold."""

    place: Place
    identities: set[bytes]


def save(files: Files, path: Path, key: Key, place: Place, identities: Collection[bytes] = ()) -> None:
    """Put it in the place of the last one. Not synced: a lost one is as good as an older one."""
    told = canonical.encode({"domain": path.name, "kid": key.kid, **place._asdict()})
    data = told + b"\n" + b"".join(identities)
    with contextlib.suppress(OSError):  # nothing is promised of it, and the receipts are on disk
        replace(files, path, data + key.mac(DOMAIN, data), durable=False)


def load(files: Files, path: Path, key_named: Callable[[str], Key]) -> Seen | None:
    """What was saved, or None where there is none that a key of ours sealed."""
    try:
        data = read_whole(files, path, _LARGEST)
        if data is None:
            return None
        told, _, state = data[:-_MAC].partition(b"\n")
        fields = canonical.parse(told)
        key = key_named(fields.pop("kid"))
        if fields.pop("domain") != path.name or not hmac.compare_digest(data[-_MAC:], key.mac(DOMAIN, data[:-_MAC])):
            return None
        return Seen(Place(**fields), {state[at : at + IDENTITY] for at in range(0, len(state), IDENTITY)})
    except (OSError, InputError, Invalid, KeyError, TypeError, AttributeError):
        return None
