"""Telemetry: the bytes of the journal since the last digest, counted once each, across restarts. spec/kernels.md, 6.

`telemetry.json` holds how far was counted, so that looking costs what is new; deleted, it is counted again from where
the last digest ended, and comes to the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import orjson

from alveus.compiling.reading import BEGINNING, Through
from alveus.kernels.digest import Growth
from alveus.store.files import DISK, replace
from alveus.store.stream import Stream

NAME: Final = "telemetry.json"
_STAMP: Final = b'"timestamp":"'


class Telemetry:
    """How much came since the last digest, which read the journal as far as `since`."""

    def __init__(self, folder: Path, since: Through, *, read_only: bool) -> None:
        self._path = folder / NAME
        self._read_only = read_only
        self.since = since
        self._at = since
        self.growth = Growth()
        self._restore()

    def _restore(self) -> None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            told = orjson.loads(self._path.read_bytes())
            if Through(*told["since"]) == self.since:
                growth, at = Growth.from_json(told["growth"]), Through(*told["at"])
                self.growth, self._at = growth, at

    def catch_up(self, streams: Sequence[Stream]) -> Growth:
        """Count what was appended to these streams, oldest first. Where the place is not of theirs, all is counted."""
        if not _lies_in(self._at, streams):
            self._at, self.growth = (self.since if _lies_in(self.since, streams) else BEGINNING), Growth()
        before = self._at
        chains = [stream.link.chain or "" for stream in streams]
        first = chains.index(self._at.chain) if self._at.chain in chains else 0
        for number, stream in enumerate(streams[first:], first):
            start = self._at.offset if chains[number] == self._at.chain else 0
            end, size = start, self._at.size
            for offset, line in stream.forwards(start):
                end, size = offset + len(line) + 1, size + 1
                self.growth.add(time_of(line), len(line) + 1)
            self._at = Through(chains[number], end, size)
        if self._at != before and not self._read_only:
            self._save()
        return self.growth

    def _save(self) -> None:
        told = {"at": list(self._at), "growth": self.growth.as_json(), "since": list(self.since)}
        with contextlib.suppress(OSError):  # it is counted again
            replace(DISK, self._path, orjson.dumps(told), durable=False)


def _lies_in(at: Through, streams: Sequence[Stream]) -> bool:
    if not at.size:
        return True
    return any((stream.link.chain or "") == at.chain and at.offset <= stream.link.offset for stream in streams)


def time_of(line: bytes) -> float:
    """When a line was recorded, in seconds since 1970; 0 where it does not say. The timestamp is its last field."""
    at = line.rfind(_STAMP) + len(_STAMP)
    try:
        return datetime.fromisoformat(line[at : line.index(b'"', at)].decode("ascii")).timestamp()
    except ValueError:
        return 0.0
