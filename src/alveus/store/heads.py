"""The two head files: spec/journal.md, section 6. Written in turn, so that a torn one leaves the other."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from alveus.errors import JournalError
from alveus.journal.chain import Fault
from alveus.journal.head import Head, read_head, write_head
from alveus.journal.seal import Key
from alveus.store.files import Files, read_whole, replace

_LARGEST: Final = 64 << 10


def head_paths(stream: Path) -> tuple[Path, Path]:
    """`stream.head.0` and `stream.head.1` beside `stream.jsonl`; `stream-<chain>.head.…` beside a closed one."""
    return stream.with_name(f"{stream.stem}.head.0"), stream.with_name(f"{stream.stem}.head.1")


def load_head(files: Files, stream: Path, key: Key) -> Head | Fault:
    """The larger valid head; a Fault `head_missing` where there is none, `bad_head` where none is valid."""
    heads, faults = [], []
    for path in head_paths(stream):
        data = read_whole(files, path, _LARGEST)
        if data is None:
            continue
        try:
            heads.append(read_head(data, key))
        except JournalError as error:
            faults.append(Fault(code="bad_head", detail=f"{path.name}: {error.message}"))
    if heads:
        return max(heads, key=_rank)
    return faults[0] if faults else Fault(code="head_missing", detail="there is no head beside the journal")


def save_head(files: Files, stream: Path, key: Key, head: Head) -> None:
    """Write `head` over the smaller of the two, durably. Under the lock."""
    replace(files, _smaller(files, stream, key), write_head(head, key))


def _smaller(files: Files, stream: Path, key: Key) -> Path:
    ranked = []
    for path in head_paths(stream):
        data = read_whole(files, path, _LARGEST)
        try:
            ranked.append((_rank(read_head(data or b"", key)), path))
        except JournalError:
            return path
    return min(ranked)[1]


def _rank(head: Head) -> tuple[int, str, str]:
    return head.size, head.closed_through or "", head.time
