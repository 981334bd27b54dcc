"""`stream.idx`: where each record lies and what class it is of, so that reading costs what it returns.

Derived from the stream and remade from it when missing or damaged. Blocks of 256 entries, each sealed with a MAC over
its place and chain: an index changed by hand is noticed, not believed. The newest entries, less than a block, are kept
in memory and read from the stream at opening. A block is written only once its records are on disk.

Entry, 20 bytes, little-endian: offset u64, day since 1970-01-01 u16, kind u8, novelty u8, first 8 bytes of record_id.
Block: 256 entries, then HMAC-SHA-256(key, "alveus.idx.v1||" + chain + u64 block number + entries).
"""

from __future__ import annotations

import contextlib
import hmac
import os
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from alveus.journal.record import DURABLE_KINDS, Kind, Novelty, SignedRecord
from alveus.journal.seal import Checked, Key
from alveus.store.files import Files, opened, write_all

BLOCK: Final = 256
_ENTRY: Final = struct.Struct("<QHBB8s")
_MAC: Final = 32
_AHEAD: Final = 16
"""Blocks that are read at once, 80 KiB, once a walk has come that far."""
_SIZE: Final = BLOCK * _ENTRY.size + _MAC
_DOMAIN: Final = b"alveus.idx.v1||"
_KIND_AT: Final = 10
_NOVELTY_AT: Final = 11
_EPOCH: Final = date(1970, 1, 1)
_KINDS: Final = {kind.value: number for number, kind in enumerate(Kind)}
_NOVELTIES: Final = {novelty.value: number for number, novelty in enumerate(Novelty)}
_UNKNOWN: Final = 255
_KIND_NAMES: Final = tuple(Kind)
_DURABLE: Final = bytes(number for number, kind in enumerate(Kind) if kind in DURABLE_KINDS)
_ROUTINE: Final = _NOVELTIES["routine"]


class Entry(NamedTuple):
    """One record's place: its byte offset, its UTC day, its kind (None: the line is not readable)."""

    seq: int
    offset: int
    day: date
    kind: Kind | None
    id_start: bytes


class IndexDamaged(Exception):
    """A block's seal does not fit. The index has to be made again."""


def entry_of(record: Checked | SignedRecord, offset: int) -> bytes:
    """The packed entry of a valid record whose line begins at `offset`."""
    return _ENTRY.pack(
        offset,
        _days(record.timestamp[:10]),
        _KINDS[record.kind],
        _NOVELTIES[record.novelty],
        bytes.fromhex(record.record_id[:16]),
    )


@lru_cache(maxsize=64)
def _days(day: str) -> int:
    return (date.fromisoformat(day) - _EPOCH).days


class Index:
    """The index of one stream. `count` entries in all, the first `sealed` of them in whole blocks on disk.

    Written to under the journal's lock; `view` is safe from any thread.
    """

    def __init__(self, path: Path, files: Files, key: Key, chain: str, *, read_only: bool) -> None:
        self.path = path
        self._files = files
        self._key = key
        self._chain = chain.encode()
        self._read_only = read_only
        self._guard = threading.Lock()
        self._fresh = bytearray()
        self._blocks = self._count_blocks()

    def _count_blocks(self) -> int:
        try:
            return self._files.stat(self.path).st_size // _SIZE
        except FileNotFoundError:
            return 0

    @property
    def sealed(self) -> int:
        return self._blocks * BLOCK

    @property
    def count(self) -> int:
        return self.sealed + len(self._fresh) // _ENTRY.size

    def add(self, entries: bytes) -> None:
        """The next records' entries, each from `entry_of`."""
        with self._guard:
            self._fresh += entries

    def add_unreadable(self, offset: int) -> None:
        """An entry for a line that is not valid: whoever asks for anything is made to read it, and to name it."""
        view = self.view()
        day = view.entry(view.count - 1).day if view.count else _EPOCH
        self.add(_ENTRY.pack(offset, (day - _EPOCH).days, _UNKNOWN, _UNKNOWN, bytes(8)))

    def forget(self) -> None:
        """Begin again with nothing."""
        with self._guard:
            self._fresh, self._blocks = bytearray(), 0
        if not self._read_only:
            with contextlib.suppress(OSError):
                self._files.unlink(self.path)

    def seal(self, on_disk: int) -> None:
        """Write the whole blocks among the first `on_disk` records; under `heads_locked`. Writers agree on them."""
        blocks = on_disk // BLOCK - self._blocks
        if blocks <= 0 or self._read_only:
            return
        with opened(self._files, self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW) as fd:
            for number in range(self._blocks, self._blocks + blocks):
                entries = bytes(self._fresh[: BLOCK * _ENTRY.size])
                self._put(fd, number, entries + self._mac(number, entries))
                with self._guard:
                    del self._fresh[: BLOCK * _ENTRY.size]
                    self._blocks += 1

    def _put(self, fd: int, number: int, block: bytes) -> None:
        """Block `number`, unless another writer was first; over what a crash or somebody else left there."""
        start = number * _SIZE
        if self._files.read(fd, _SIZE, start) == block:
            return
        if self._files.status(fd).st_size != start:
            self._files.truncate(fd, start)
        write_all(self._files, fd, block)

    def _mac(self, number: int, entries: bytes) -> bytes:
        return self._key.mac(_DOMAIN, self._chain + number.to_bytes(8, "little") + entries)

    def view(self) -> View:
        """The index as it is now."""
        with self._guard:
            return View(self, self._blocks, bytes(self._fresh))

    def read_blocks(self, numbers: range) -> Iterator[bytes]:
        """The entries of sealed blocks side by side, read at once, each judged at its turn. Raises IndexDamaged."""
        first = min(numbers)
        try:
            with opened(self._files, self.path, os.O_RDONLY | os.O_NOFOLLOW) as fd:
                blocks = self._files.read(fd, len(numbers) * _SIZE, first * _SIZE)
        except OSError as error:
            raise IndexDamaged(f"{self.path.name}: {error.strerror}") from error
        for number in numbers:
            start = (number - first) * _SIZE
            entries, mac = blocks[start : start + _SIZE - _MAC], blocks[start + _SIZE - _MAC : start + _SIZE]
            if not hmac.compare_digest(mac, self._mac(number, entries)):
                raise IndexDamaged(f"block {number} of {self.path.name}")
            yield entries


class View:
    """An index at one moment. Every method raises IndexDamaged when a block it needs is not as it was sealed."""

    def __init__(self, index: Index, blocks: int, fresh: bytes) -> None:
        self._index = index
        self._blocks = blocks
        self._fresh = fresh
        self._cached: tuple[int, bytes] = (-1, b"")

    @property
    def count(self) -> int:
        return self._blocks * BLOCK + len(self._fresh) // _ENTRY.size

    def _block(self, number: int) -> bytes:
        if number == self._blocks:
            return self._fresh
        if number != self._cached[0]:
            self._cached = (number, next(self._index.read_blocks(range(number, number + 1))))
        return self._cached[1]

    def _upwards(self, first: int) -> Iterable[tuple[int, bytes]]:
        return chain(self._sealed(range(first, self._blocks)), [(self._blocks, self._fresh)])

    def _downwards(self) -> Iterable[tuple[int, bytes]]:
        return chain([(self._blocks, self._fresh)], self._sealed(range(self._blocks)[::-1]))

    def _sealed(self, numbers: range) -> Iterator[tuple[int, bytes]]:
        """Sealed blocks side by side, one after another. The farther the walk, the more of them are read at once."""
        count = 1
        while numbers:
            yield from zip(numbers[:count], self._index.read_blocks(numbers[:count]), strict=True)
            numbers = numbers[count:]
            count = min(2 * count, _AHEAD)

    def entry(self, seq: int) -> Entry:
        """The entry of record `seq`."""
        number = min(seq // BLOCK, self._blocks)
        return _unpack(self._block(number), seq, seq - number * BLOCK)

    def id_starts(self, first: int) -> bytes:
        """The first 8 bytes of record_id of the records from `first` on, end to end; zeros for an unreadable line."""
        starts = bytearray()
        for number, block in self._upwards(min(first // BLOCK, self._blocks)):
            start = max(0, first - number * BLOCK) * _ENTRY.size + _ENTRY.size - 8
            starts += b"".join(block[at : at + 8] for at in range(start, len(block), _ENTRY.size))
        return bytes(starts)

    def newest_first(self, wanted: Wanted) -> Iterator[Entry]:
        """The entries whose places in a block `wanted(kinds, novelties)` gives, last first."""
        for number, block in self._downwards():
            places = wanted(block[_KIND_AT :: _ENTRY.size], block[_NOVELTY_AT :: _ENTRY.size])
            for place in reversed(places):
                yield _unpack(block, number * BLOCK + place, place)

    def find(self, id_start: bytes) -> Iterator[Entry]:
        """The entries whose record_id begins with these 8 bytes."""
        for number, block in self._upwards(0):
            at = block.find(id_start)
            while at >= 0:
                place, rest = divmod(at, _ENTRY.size)
                if rest == _ENTRY.size - 8:
                    yield _unpack(block, number * BLOCK + place, place)
                at = block.find(id_start, at + 1)

    def first_of(self, day: date) -> int:
        """The number of records before `day`. Days rise along a stream."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.entry(middle).day < day:
                low = middle + 1
            else:
                high = middle
        return low


def _unpack(block: bytes, seq: int, place: int) -> Entry:
    offset, day, kind, _, id_start = _ENTRY.unpack_from(block, place * _ENTRY.size)
    return Entry(
        seq, offset, _EPOCH + timedelta(days=day), _KIND_NAMES[kind] if kind < len(_KIND_NAMES) else None, id_start
    )


Wanted = Callable[[bytes, bytes], list[int]]
"""From the kinds and the novelties of a block, the places that are asked for."""


def every(kinds: bytes, _novelties: bytes) -> list[int]:
    """Every record."""
    return list(range(len(kinds)))


def informative(_kinds: bytes, novelties: bytes) -> list[int]:
    """What is not routine; an unreadable line too, so that it is named and not passed over."""
    if novelties.count(_ROUTINE) == len(novelties):
        return []
    return [place for place, novelty in enumerate(novelties) if novelty != _ROUTINE]


def informative_unsigned(kinds: bytes, novelties: bytes) -> list[int]:
    """As `informative`, where the novelty is not signed: some kinds are never dropped on its word."""
    return [place for place, novelty in enumerate(novelties) if novelty != _ROUTINE or kinds[place] in _DURABLE]


def of_kind(kind: Kind) -> Wanted:
    """The records of one kind; an unreadable line too, so that it is named."""
    wanted = (_KINDS[kind.value], _UNKNOWN)

    def places(kinds: bytes, _novelties: bytes) -> list[int]:
        return [place for place, one in enumerate(kinds) if one in wanted]

    return places
