"""A state derived from the journal's prefix, saved so that opening need not read that prefix again.

Sealed with a MAC over the state and the place it belongs to: a snapshot that was changed, or that belongs to another
chain or another history, is not used, and what it held is derived again.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from alveus.errors import InputError
from alveus.journal import canonical
from alveus.journal.seal import Key
from alveus.store.files import Files, read_whole, replace

WORDS_DOMAIN: Final = b"alveus.words.v1||"
_LARGEST: Final = 256 << 20
_MAC: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """`state` after `size` records of `chain`, the last of whose lines hashes to `last_line_sha256` (None at 0)."""

    chain: str
    size: int
    last_line_sha256: str | None
    state: bytes


def save(files: Files, path: Path, key: Key, snapshot: Snapshot) -> None:
    """Put the snapshot in place of the last one. Not synced: a lost one costs a longer opening."""
    place = {"chain": snapshot.chain, "last_line_sha256": snapshot.last_line_sha256, "size": snapshot.size}
    data = canonical.encode(place) + b"\n" + snapshot.state
    replace(files, path, data + key.mac(WORDS_DOMAIN, data), durable=False)


def load(files: Files, path: Path, key: Key) -> Snapshot | None:
    """The saved snapshot, or None where there is none that this key sealed."""
    try:
        data = read_whole(files, path, _LARGEST)
    except OSError:
        return None
    if data is None or not hmac.compare_digest(data[-_MAC:], key.mac(WORDS_DOMAIN, data[:-_MAC])):
        return None
    place, _, state = data[:-_MAC].partition(b"\n")
    try:
        fields = canonical.parse(place)
        return Snapshot(state=state, **fields)
    except (InputError, TypeError):
        return None
