"""SQLite files in which agents keep their conversations, as lines of JSON: `{"table": …, "row": {…}}`.

A database is read in one transaction, so that one that another program writes meanwhile is read as it was.
"""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from alveus.errors import InputError
from alveus.importers.inflating import CutShort, inflated, zstd

LAYOUTS: Final[Mapping[str, tuple[str, ...]]] = {
    "openai-agents": ("agent_messages",),
    "langgraph": ("checkpoints",),
    "opencode": ("session", "message", "part"),
    "openclaw": ("transcript_events",),
    "hermes": ("sessions", "messages"),
    "mem0": ("history",),
    "cursor": ("cursorDiskKV",),
    "cursor-agent": ("meta", "blobs"),
}
"""The tables that each program's conversations lie in, in the order in which they make sense."""

_ORDER: Final[Mapping[str, str]] = {
    "checkpoints": "thread_id, checkpoint_ns, checkpoint_id",
    "transcript_events": "session_id, seq",
    "message": "session_id, time_created, id",
    "part": "message_id, id",
    "session": "time_created, id",
}
_MAX_STEPS: Final = 64  # of a megabyte each: no row is larger than a line may be
_ONLY: Final[Mapping[str, str]] = {"cursorDiskKV": "key LIKE 'bubbleId:%'"}


def rows(path: Path) -> Iterator[bytes]:
    """A first line that names the layout, then every row. Raises InputError for a database of another program."""
    try:
        with _opened(path) as base:
            yield from _rows(base, path)
    except sqlite3.OperationalError as error:
        raise InputError(
            f"{path} cannot be read: {error}",
            hint="Close the program it belongs to, or copy the file with its -wal beside it, and import the copy.",
        ) from error
    except sqlite3.DatabaseError as error:
        raise CutShort(f"the database is damaged: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database as it is now, in one transaction, with nothing made beside it.

    Even a connection that only reads makes a `-shm` where there is none. So what nobody writes to is opened as
    immutable, and what a program left in the midst of a change is copied first, and mended in the copy.
    """
    beside = [
        found for end in ("-wal", "-journal") if (found := Path(f"{path}{end}")).exists() and found.stat().st_size
    ]
    if not beside:
        before = path.stat()
        with closing(_connected(path, "mode=ro&immutable=1")) as base:
            yield base
        after = path.stat()
        if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
            raise CutShort("the database was written to while it was read: import it again")
    elif Path(f"{path}-shm").exists():
        with closing(_connected(path, "mode=ro")) as base:
            yield base
    else:
        with tempfile.TemporaryDirectory(prefix="alveus-") as folder:
            for one in (path, *beside):
                shutil.copy(one, Path(folder, one.name))
            with closing(_connected(Path(folder, path.name), "mode=rw")) as base:
                yield base


def _connected(path: Path, how: str) -> sqlite3.Connection:
    base = sqlite3.connect(f"file:{quote(str(path.absolute()))}?{how}", uri=True)
    base.isolation_level = None
    base.text_factory = lambda data: data.decode("utf-8", "replace")
    base.execute("BEGIN")
    return base


def _rows(base: sqlite3.Connection, path: Path) -> Iterator[bytes]:
    there = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    layout = next((one for one, tables in LAYOUTS.items() if set(tables) <= there), None)
    if layout is None:
        raise InputError(
            f"{path} is a SQLite database of no program that is known here",
            code="unknown_format",
            hint=f"Known: {', '.join(LAYOUTS)}. Otherwise export the conversation as JSON first.",
        )
    yield line({"database": layout})
    for table in LAYOUTS[layout]:
        columns = {row[1] for row in base.execute(f"PRAGMA table_info({table})")}
        order = _ORDER.get(table, "rowid")
        known = all(name in columns for name in order.split(", "))
        # Names come from the tables above, never from the database.
        text = f"SELECT * FROM {table} WHERE {_ONLY.get(table, '1')} ORDER BY {order if known else 'rowid'}"  # noqa: S608
        cursor = base.execute(text)
        names = [one[0] for one in cursor.description]
        for row in cursor:
            yield line({"table": table, "row": dict(zip(names, map(_plain, row), strict=True))})


def line(value: Mapping[str, Any]) -> bytes:
    """One line of what a database or a store is read as."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _plain(value: object) -> object:
    """A column as JSON; bytes that are Zstandard's are unpacked, because only their text says anything."""
    if not isinstance(value, bytes):
        return value
    if value.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            return b"".join(islice(inflated(zstd, [value]), _MAX_STEPS)).decode("utf-8", "replace")
        except CutShort:
            pass
    return {"base64": base64.b64encode(value).decode()}
