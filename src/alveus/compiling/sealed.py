"""A derived file in parts, each sealed with the agent's key: deleted, damaged or of another version, it costs time.

    HEADER
    (length of a part, 8 bytes; the part; 32 bytes of MAC)*

A part that does not bear its MAC counts for nothing, with all that come after it. Whoever writes holds the lock of the
compilation.
"""

from __future__ import annotations

import contextlib
import hmac
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from alveus.journal.seal import Key
from alveus.store.files import DISK, opened, read_whole, write_all

_LENGTH: Final = 8
_MAC: Final = 32


class SealedFile:
    """The file. `header` is a line that says what it holds and what made it; more than `largest` bytes are none."""

    def __init__(self, path: Path, header: str, key: Key, largest: int) -> None:
        self._path = path
        self._header = f"{header}\n".encode()
        self._domain = f"{header.split(' ', maxsplit=1)[0]}||".encode() + self._header
        self._key = key
        self._largest = largest
        self._ends = [len(self._header)]

    def read(self) -> Iterator[bytes]:
        """The parts that are whole, in order: once, before anything is written."""
        data = None
        with contextlib.suppress(OSError):
            data = read_whole(DISK, self._path, self._largest + 1)
        if data is None or not data.startswith(self._header) or len(data) > self._largest:
            return
        at = len(self._header)
        while at + _LENGTH + _MAC < len(data):
            size = int.from_bytes(data[at : at + _LENGTH], "little")
            part, mac = data[at + _LENGTH : at + _LENGTH + size], data[at + _LENGTH + size :][:_MAC]
            if not hmac.compare_digest(mac, self._key.mac(self._domain, part)):
                return
            at += _LENGTH + size + _MAC
            self._ends.append(at)
            yield part

    def put(self, after: int, parts: Sequence[bytes]) -> None:
        """Write parts behind the first `after` ones, in place of the others. What cannot be written costs time."""
        data = b"" if after else self._header
        ends = self._ends[: after + 1]
        for part in parts:
            data += len(part).to_bytes(_LENGTH, "little") + part + self._key.mac(self._domain, part)
            ends.append(ends[-1] + _LENGTH + len(part) + _MAC)
        with (
            contextlib.suppress(OSError),
            opened(DISK, self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW) as fd,
        ):
            DISK.truncate(fd, self._ends[after] if after else 0)
            write_all(DISK, fd, data)
            self._ends = ends

    @property
    def count(self) -> int:
        """How many parts are there."""
        return len(self._ends) - 1
