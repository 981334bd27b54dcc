"""Which branches of a conversation somebody left: at a fork, all but the one that was written on last.

What was said there stays, because it was said; a record of it is marked `inactive`. The judgement is that of the day of
the import: it stands beside the record and is not rewritten when somebody goes back to a branch later.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Self

import orjson

from alveus.importers.facts import Facts
from alveus.importers.source import WAITING, Source


class Node(NamedTuple):
    """A record of a tree by short names of it and of its parent. `forks` says whether it may begin a branch."""

    own: int
    parent: int
    forks: bool

    @classmethod
    def of(cls, own: str | None, parent: str | None, *, forks: bool = True) -> Self:
        """The node of these ids; 0 stands for none."""
        return cls(cls.name(own), cls.name(parent), forks)

    @staticmethod
    def name(ident: str | None) -> int:
        """Eight bytes for an id, so that the tree of a large file stays small."""
        if not ident:
            return 0
        return int.from_bytes(hashlib.blake2b(ident.encode(errors="replace"), digest_size=8).digest(), "big") or 1


def abandoned(nodes: Iterable[Node]) -> set[int]:
    """The nodes on branches that were left. The nodes come as they were written, so that the last is the newest.

    Some 60 bytes a node, so that a file of a gigabyte has its tree in memory and not its text.
    """
    names, parents, forks = array("Q"), array("Q"), bytearray()
    for node in nodes:
        if node.own:
            names.append(node.own)
            parents.append(node.parent)
            forks.append(node.forks)
    if not names:
        return set()
    own, above = _placed(names, parents)
    latest = array("q", range(len(own)))
    for place in range(len(own) - 1, -1, -1):
        parent = above[place]
        if parent >= 0 and latest[place] > latest[parent]:
            latest[parent] = latest[place]
    newest = array("q", b"\xff" * (8 * len(own)))
    for place, parent in enumerate(above):
        if parent >= 0 and forks[place] and latest[place] > newest[parent]:
            newest[parent] = latest[place]
    left = bytearray(len(own))
    for place, parent in enumerate(above):
        if parent >= 0 and (left[parent] or (forks[place] and latest[place] < newest[parent])):
            left[place] = True
    return {own[place] for place in range(len(own)) if left[place]}


def _placed(names: array[int], parents: array[int]) -> tuple[array[int], array[int]]:
    """The nodes, and the place of each one's parent, -1 for none. A name that comes again is no node of its own."""
    import numpy as np  # noqa: PLC0415 - whoever reads a transcript's end alone does not wait for it

    own = np.frombuffer(names, dtype=np.uint64)
    known, first = np.unique(own, return_index=True)
    wanted = np.frombuffer(parents, dtype=np.uint64)
    found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    above = np.where(known[found] == wanted, first[found], -1)
    # A parent stands before its children, or this is no tree.
    above[above >= np.arange(len(own))] = -1
    repeated = np.ones(len(own), dtype=bool)
    repeated[first] = False
    above[repeated] = -1
    return names, array("q", above.astype(np.int64).tobytes())


def abandoned_in(source: Source, node: Callable[[Facts], Node]) -> set[int]:
    """The same for a file of lines, which is looked through once before it is read."""
    return abandoned(_nodes(source, node))


def _nodes(source: Source, node: Callable[[Facts], Node]) -> Iterator[Node]:
    for line in source.preview():
        if line is WAITING:
            return
        if line.data:
            try:
                value = orjson.loads(line.data)
            except ValueError:
                continue
            if isinstance(value, Mapping):
                yield node(value)
