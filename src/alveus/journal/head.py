"""The head: how far the journal is known to reach, and the Merkle root over it. spec/journal.md, section 6.

A head lags: it describes only bytes that are already on disk, and no acknowledgement waits for it. `Tree` is the
compact range of RFC 6962 (section 2.1): it grows by one leaf in amortised constant time and its state is a handful of
hashes, so that opening a journal needs no scan.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any, Final

from alveus.errors import JournalError
from alveus.journal import canonical
from alveus.journal.seal import Key, is_timestamp

MAC_DOMAIN: Final = b"alveus.head.v1||"
EMPTY_ROOT: Final = sha256(b"").digest()
_LEAF: Final = sha256(b"\x00")
_NODE: Final = sha256(b"\x01")
_HEIGHT: Final = 8


def leaf_hash(line: bytes) -> bytes:
    """RFC 6962's hash of a leaf: SHA-256(0x00 || line), 32 bytes."""
    state = _LEAF.copy()
    state.update(line)
    return state.digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    state = _NODE.copy()
    state.update(left + right)
    return state.digest()


class Tree:
    """The Merkle tree over lines begin..end-1, as its compact range.

    A range that starts at 0 has a root; ranges side by side merge, so that pieces can be hashed apart.
    """

    __slots__ = ("_nodes", "begin", "end")

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        self.end = begin
        self._nodes: list[tuple[int, int, bytes]] = []  # (first leaf, level, hash), left to right

    @classmethod
    def from_frontier(cls, size: int, frontier: Sequence[bytes]) -> Tree:
        """The tree of `size` leaves with these full subtrees, largest first; ValueError if they do not fit."""
        tree = cls()
        levels = [level for level in reversed(range(size.bit_length())) if size >> level & 1]
        for level, node in zip(levels, frontier, strict=True):
            tree._nodes.append((tree.end, level, node))
            tree.end += 1 << level
        return tree

    def copy(self) -> Tree:
        twin = Tree(self.begin)
        twin.end = self.end
        twin._nodes = self._nodes.copy()
        return twin

    def append(self, leaf: bytes) -> None:
        """Add the next leaf's hash."""
        self._push(self.end, 0, leaf)
        self.end += 1

    def extend(self, leaves: list[bytes]) -> None:
        """As `append` for each: whole subtrees are hashed level by level, and pushed as one."""
        at = 0
        while at < len(leaves):
            height = min(_HEIGHT, (len(leaves) - at).bit_length() - 1)
            if self.end & ((1 << height) - 1):
                height = min(height, (self.end & -self.end).bit_length() - 1)  # the largest that may begin here
            count = 1 << height
            level = leaves[at : at + count]
            while len(level) > 1:
                level = [
                    sha256(b"\x01" + left + right).digest() for left, right in zip(*[iter(level)] * 2, strict=True)
                ]
            self._push(self.end, height, level[0])
            self.end += count
            at += count

    def merge(self, right: Tree) -> None:
        """Add the range that begins where this one ends."""
        if right.begin != self.end:
            raise ValueError("the ranges do not meet")
        for first, level, node in right._nodes:
            self._push(first, level, node)
        self.end = right.end

    def _push(self, first: int, level: int, node: bytes) -> None:
        nodes = self._nodes
        while nodes and nodes[-1][1] == level and first >> level & 1:
            first, _, left = nodes.pop()
            node = _node_hash(left, node)
            level += 1
        nodes.append((first, level, node))

    @property
    def frontier(self) -> list[bytes]:
        """The hashes of the full subtrees, largest first."""
        return [node for _, _, node in self._nodes]

    def root(self) -> bytes:
        """The Merkle root, 32 bytes; defined for a range that begins at 0."""
        if not self._nodes:
            return EMPTY_ROOT
        root = self._nodes[-1][2]
        for _, _, left in reversed(self._nodes[:-1]):
            root = _node_hash(left, root)
        return root


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What is known to be on disk. Offsets in bytes, size in records, time in the journal's own form.

    `closed_through` is the last closed day (`YYYY-MM-DD`) or None; the two `last_` fields are None at size 0.
    """

    bytes: int
    chain: str
    closed_through: str | None
    frontier: tuple[str, ...]
    last_line_sha256: str | None
    last_record_id: str | None
    root: str
    size: int
    time: str

    def tree(self) -> Tree:
        """The tree this head stands for."""
        return Tree.from_frontier(self.size, [bytes.fromhex(node) for node in self.frontier])


def make_head(
    tree: Tree,
    *,
    chain: str,
    offset: int,
    last_line_sha256: str | None,
    last_record_id: str | None,
    closed_through: str | None,
    time: str,
) -> Head:
    """The head of `tree`, whose lines end at byte `offset` of the stream."""
    return Head(
        bytes=offset,
        chain=chain,
        closed_through=closed_through,
        frontier=tuple(node.hex() for node in tree.frontier),
        last_line_sha256=last_line_sha256,
        last_record_id=last_record_id,
        root=tree.root().hex(),
        size=tree.end,
        time=time,
    )


def write_head(head: Head, key: Key) -> bytes:
    """The head file's bytes: canonical JSON, `mac` over the rest."""
    fields = {name: getattr(head, name) for name in Head.__slots__}
    fields["frontier"] = list(head.frontier)
    mac = key.mac(MAC_DOMAIN, canonical.encode(fields)).hex()
    return canonical.encode({**fields, "mac": mac})


def read_head(data: bytes, key: Key) -> Head:
    """The head in `data`. Raises JournalError (`bad_head`) unless it is canonical, ours, and agrees with itself."""
    try:
        fields = canonical.parse(data)
    except canonical.NotCanonical as error:
        raise _bad(error.message) from None
    if type(fields) is not dict or fields.keys() != _HEAD_FIELDS:
        raise _bad("its fields are not a head's")
    mac = fields.pop("mac")
    expected = key.mac(MAC_DOMAIN, canonical.encode(fields)).hex()
    if type(mac) is not str or not mac.isascii() or not hmac.compare_digest(mac, expected):
        raise _bad("its MAC does not fit")
    if not _well_formed(fields):
        raise _bad("a field is not what the format allows")
    head = Head(**{**fields, "frontier": tuple(fields["frontier"])})
    try:
        root = head.tree().root().hex()
    except ValueError:
        raise _bad("its frontier does not fit its size") from None
    if root != head.root:
        raise _bad("its root is not the root of its frontier")
    return head


_HEAD_FIELDS: Final = frozenset({*Head.__slots__, "mac"})
_HEX64 = re.compile(r"[0-9a-f]{64}").fullmatch
_ID = re.compile(r"[0-9a-f]{32}").fullmatch


def _bad(detail: str) -> JournalError:
    return JournalError(f"the head is not valid: {detail}", code="bad_head")


def _well_formed(fields: dict[str, Any]) -> bool:
    empty = fields["size"] == 0
    return (
        type(fields["size"]) is int
        and type(fields["bytes"]) is int
        and min(fields["size"], fields["bytes"]) >= 0
        and empty == (fields["bytes"] == 0)
        and _matches(_ID, fields["chain"])
        and _matches(_HEX64, fields["root"])
        and is_timestamp(fields["time"])
        and type(fields["frontier"]) is list
        and all(_matches(_HEX64, node) for node in fields["frontier"])
        and (fields["last_record_id"] is None if empty else _matches(_ID, fields["last_record_id"]))
        and (fields["last_line_sha256"] is None if empty else _matches(_HEX64, fields["last_line_sha256"]))
        and (fields["closed_through"] is None or is_day(fields["closed_through"]))
    )


def _matches(pattern: Any, value: object) -> bool:
    return type(value) is str and pattern(value) is not None


def is_day(value: object) -> bool:
    """Whether `value` is a calendar day `YYYY-MM-DD`."""
    if type(value) is not str or re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII) is None:
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True
