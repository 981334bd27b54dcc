"""A file of rows of one length by the hash of what they were made of: derived, shared by processes, deletable.

The header says what made the rows; a file with another header is begun again. A row carries its checksum: a torn end is
cut off by the next writer, and a damaged row is made again. Writers append under an operating system's lock on the
file; a reader needs none.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from alveus.store.arrays import numpy
from alveus.store.files import DISK, opened

KEY: Final = 16
_SUM: Final = 4
_PATIENCE: Final = 10.0
"""Seconds that another writer is waited for; without the lock the rows stay in memory."""
_PAUSE: Final = 0.01


def key_of(*texts: str) -> bytes:
    """The hash of some texts, which are told apart from the same texts cut otherwise."""
    state = blake2b(digest_size=KEY)
    for text in texts:
        data = text.encode("utf-8", "replace")
        state.update(len(data).to_bytes(8, "little") + data)
    return state.digest()


class RowFile:
    """Rows of `width` numbers of one type, by key. What cannot be written costs time, and nothing else."""

    def __init__(self, path: Path, header: str, dtype: str, width: int) -> None:
        self._path = path
        self._header = f"{header} {dtype} {width}\n".encode()
        self._dtype = numpy().dtype(dtype).newbyteorder("<")
        self._width = width
        self._size = KEY + self._dtype.itemsize * width + _SUM
        self._known: dict[bytes, int] = {}
        self._rows: Any = None

    def missing(self, keys: Sequence[bytes]) -> list[int]:
        """The places of those keys that have no row, each key once."""
        self._load()
        first = {key: at for at, key in reversed(list(enumerate(keys)))}
        return sorted(at for key, at in first.items() if key not in self._known)

    def rows(self, keys: Sequence[bytes]) -> Any:
        """The rows of these keys, [n, width]. Raises KeyError for one that has none."""
        self._load()
        return self._rows[[self._known[key] for key in keys]]

    def learn(self, keys: Sequence[bytes], rows: Any) -> None:
        """Take in rows that were kept."""
        self._load()
        first = len(self._rows)
        self._rows = numpy().concatenate([self._rows, numpy().asarray(rows, dtype=self._dtype)])
        self._known.update({key: first + number for number, key in enumerate(keys)})

    def keep(self, keys: Sequence[bytes], rows: Any) -> None:
        """Append rows to the file."""
        given = numpy().asarray(rows, dtype=self._dtype)
        with suppress(OSError):
            self._append(b"".join(_entry(key, row.tobytes()) for key, row in zip(keys, given, strict=True)))

    def _load(self) -> None:
        if self._rows is None:
            self._known, self._rows = self._read()

    def _read(self) -> tuple[dict[bytes, int], Any]:
        np = numpy()
        nothing = np.zeros((0, self._width), self._dtype)
        try:
            data = self._path.read_bytes()
        except OSError:
            return {}, nothing
        count = (len(data) - len(self._header)) // self._size
        if not data.startswith(self._header) or count <= 0:
            return {}, nothing
        body = memoryview(data)[len(self._header) : len(self._header) + count * self._size]
        table = np.frombuffer(body, np.uint8).reshape(count, self._size)
        sums = np.ascontiguousarray(table[:, -_SUM:]).view("<u4").reshape(-1).tolist()
        known: dict[bytes, int] = {}
        for number in range(count):
            start = number * self._size
            if zlib.crc32(body[start : start + self._size - _SUM]) == sums[number]:
                known[bytes(body[start : start + KEY])] = number
        return known, np.ascontiguousarray(table[:, KEY:-_SUM]).view(self._dtype)

    def _append(self, data: bytes) -> None:
        with opened(DISK, self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW) as fd:
            deadline = time.monotonic() + _PATIENCE
            while not DISK.try_lock(fd):
                if time.monotonic() > deadline:
                    return
                time.sleep(_PAUSE)
            size = DISK.status(fd).st_size
            if DISK.read(fd, len(self._header), 0) != self._header:
                DISK.truncate(fd, 0)
                data = self._header + data
            elif torn := (size - len(self._header)) % self._size:
                DISK.truncate(fd, size - torn)
            DISK.write(fd, data)


def _entry(key: bytes, row: bytes) -> bytes:
    return key + row + zlib.crc32(key + row).to_bytes(_SUM, "little")
