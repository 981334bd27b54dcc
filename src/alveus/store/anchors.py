"""The folder of a closed day, `anchors/<day>/`: spec/journal.md, section 8.

Written whole under another name and renamed: a day is closed or it is not.
"""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alveus.journal import canonical
from alveus.journal.anchor import Anchor
from alveus.journal.head import is_day
from alveus.store.files import Files, create, exists, make_folders, read_whole, replace, sync_folder

PAYLOAD: Final = "payload.json"
PAYLOAD_HASH: Final = "payload.sha256"
CHECKPOINT: Final = "checkpoint.note"
STATUS: Final = "status.json"
MONTANA: Final = "montana.op"
_LARGEST: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnchor:
    """What a day's folder holds. A file that is missing is None."""

    day: str
    payload: bytes | None
    payload_hash: bytes | None
    checkpoint: bytes | None


def closed_days(files: Files, folder: Path) -> list[str]:
    """The days that have a folder, oldest first."""
    try:
        names = files.names(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if is_day(name) and _is_folder(files, folder / name))


def _is_folder(files: Files, path: Path) -> bool:
    return stat.S_ISDIR(files.stat(path).st_mode)


def save_anchor(files: Files, folder: Path, anchor: Anchor, note: str) -> Path:
    """Write the day's folder, durably; the day is closed once this returns."""
    make_folders(files, folder)
    new, there = folder / f".{anchor.date}.new", folder / anchor.date
    _remove(files, new)
    files.mkdir(new, 0o700)
    create(files, new / PAYLOAD, anchor.payload_bytes())
    create(files, new / PAYLOAD_HASH, anchor.payload_hash.encode() + b"\n")
    create(files, new / CHECKPOINT, note.encode())
    create(files, new / STATUS, canonical.encode({}))
    sync_folder(files, new)
    files.rename(new, there)
    sync_folder(files, folder)
    return there


def _remove(files: Files, folder: Path) -> None:
    if exists(files, folder):
        for name in files.names(folder):
            files.unlink(folder / name)
        files.rmdir(folder)


def load_anchor(files: Files, folder: Path, day: str) -> StoredAnchor:
    """The files of a day's folder."""
    there = folder / day
    return StoredAnchor(
        day=day,
        payload=_file(files, there / PAYLOAD),
        payload_hash=_file(files, there / PAYLOAD_HASH),
        checkpoint=_file(files, there / CHECKPOINT),
    )


def _file(files: Files, path: Path) -> bytes | None:
    """What is not there as a regular file that can be read is missing."""
    try:
        return read_whole(files, path, _LARGEST)
    except OSError:
        return None


def disagreement(stored: StoredAnchor, anchor: Anchor | None) -> str | None:
    """In what a stored day differs from the day as it is recomputed; None if in nothing."""
    if anchor is None:
        return f"{stored.day} is closed, but the journal has no record of that day"
    if stored.payload != anchor.payload_bytes():
        return f"the payload of {stored.day} is not what the journal gives"
    if stored.payload_hash != anchor.payload_hash.encode() + b"\n":
        return f"the payload hash of {stored.day} is not its payload's"
    return None if stored.checkpoint is not None else f"the checkpoint of {stored.day} is missing"


def save_witness(files: Files, folder: Path, day: str, *, name: str, data: bytes, state: Mapping[str, Any]) -> Path:
    """Put one witness's file into a closed day's folder and its state into `status.json`, durably."""
    there = folder / day
    path = there / name
    replace(files, path, data)
    status = load_status(files, folder, day)
    status[name.partition(".")[0]] = dict(state)
    replace(files, there / STATUS, canonical.encode(status))
    return path


def load_status(files: Files, folder: Path, day: str) -> dict[str, Any]:
    """Per witness: `state` (pending, confirmed, failed), `attempts`, `last_error`."""
    data = _file(files, folder / day / STATUS)
    with contextlib.suppress(canonical.NotCanonical):
        value = canonical.parse(data or b"{}")
        if type(value) is dict:
            return value
    return {}


def witness_files(files: Files, folder: Path, name: str) -> dict[str, bytes]:
    """The files of that name in all closed days."""
    found = {}
    for day in closed_days(files, folder):
        data = _file(files, folder / day / name)
        if data is not None:
            found[day] = data
    return found
