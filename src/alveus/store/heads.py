"""The two head files: spec/journal.md, section 6. Written in turn, so that a torn one leaves the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from alveus.errors import JournalError
from alveus.journal.chain import Fault
from alveus.journal.head import Head, read_head, write_head
from alveus.journal.seal import Key, format_time
from alveus.store.files import Files, folder_locked, read_whole, replace

_LARGEST: Final = 64 << 10
_SEEN: Final = 16


def head_paths(stream: Path) -> tuple[Path, Path]:
    """`stream.head.0` and `stream.head.1` beside `stream.jsonl`; `stream-<chain>.head.…` beside a closed one."""
    return stream.with_name(f"{stream.stem}.head.0"), stream.with_name(f"{stream.stem}.head.1")


def load_head(files: Files, stream: Path, key: Key) -> Head | Fault:
    """The larger valid head; a Fault `head_missing` where there is none, `bad_head` where none is valid."""
    heads, faults = [], []
    for path in head_paths(stream):
        try:
            data = read_whole(files, path, _LARGEST)
            if data is not None:
                heads.append(read_head(data, key))
        except JournalError as error:
            faults.append(Fault(code="bad_head", detail=f"{path.name}: {error.message}"))
        except OSError as error:
            faults.append(Fault(code="bad_head", detail=f"{path.name} cannot be read: {error.strerror}"))
    if heads:
        return max(heads, key=_rank)
    return faults[0] if faults else Fault(code="head_missing", detail="there is no head beside the journal")


def save_head(files: Files, stream: Path, key: Key, head: Head, seen: dict[bytes, Head]) -> Head:
    """Write `head`, durably, over the smaller of the two, unless a larger one is there; returns what then counts.

    A closed day stays closed, whoever closed it. Under `heads_locked`. `seen` spares checking the same bytes again: it
    holds the heads that this writer found valid, and is the caller's to keep.
    """
    there = [_loaded(files, path, key, seen) for path in head_paths(stream)]
    known = [one for one in there if one is not None and one.chain == head.chain]
    largest = max(known, key=_rank, default=None)
    if largest is not None:
        closed = max(largest.closed_through or "", head.closed_through or "") or None
        head = replace_fields(head, closed_through=closed, time=max(head.time, _after(largest.time)))
        if largest.size > head.size or (largest.size == head.size and largest.closed_through == closed):
            return largest
    slot = min((0, 1), key=lambda number: _rank(one) if (one := there[number]) is not None else _NO_RANK)
    data = write_head(head, key)
    replace(files, head_paths(stream)[slot], data)
    if len(seen) == _SEEN:
        seen.clear()
    seen[data] = head
    return head


def _after(time_of_head: str) -> str:
    """The next instant: of two heads of one size the later counts, whatever the clock did in between."""
    return format_time(datetime.fromisoformat(time_of_head) + timedelta(microseconds=1))


@contextlib.contextmanager
def heads_locked(files: Files, folder: Path, timeout: float) -> Iterator[None]:
    """Hold the right to write heads and index blocks: a lock apart from the journal's, so that no append waits."""
    with folder_locked(files, folder, timeout, "another process is writing this journal's head"):
        yield


def _loaded(files: Files, path: Path, key: Key, seen: dict[bytes, Head]) -> Head | None:
    try:
        data = read_whole(files, path, _LARGEST)
        return None if data is None else seen.get(data) or read_head(data, key)
    except (JournalError, OSError):
        return None


_NO_RANK: Final = (-1, "")


def _rank(head: Head) -> tuple[int, str]:
    return head.size, head.time
