"""Stores of many small JSON files that make one transcript only together, as OpenCode's `storage` was.

They are gathered into the lines that a database would give: `{"table": …, "row": {…}}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from alveus.importers.databases import line

_TABLES: Final = ("session", "message", "part")
_MAX_FILE: Final = 64 << 20


def is_store(folder: Path) -> bool:
    """Whether the folder has the parts of such a store."""
    return all((folder / name).is_dir() for name in _TABLES)


def rows(folder: Path) -> Iterator[bytes]:
    """The first line names the layout; a row knows the folder it lay in, which names its message."""
    yield line({"database": "opencode"})
    begun: dict[str, float] = {}
    for table in _TABLES:
        # Parts lie in a folder for each message: they come as their messages did.
        for path in sorted((folder / table).rglob("*.json"), key=lambda one: (begun.get(one.parent.name, 0.0), one)):
            value = _value(path)
            if table == "message" and isinstance(value, dict) and isinstance(value.get("time"), dict):
                moment = value["time"].get("created")
                begun[str(value.get("id"))] = moment if isinstance(moment, int | float) else 0.0
            yield _row(table, path, value)


def size(folder: Path) -> int:
    """The bytes of all its files."""
    return sum(path.stat().st_size for table in _TABLES for path in (folder / table).rglob("*.json"))


def _value(path: Path) -> Any:
    """What a file says; its bytes where that is no JSON."""
    data = path.read_bytes() if path.stat().st_size <= _MAX_FILE else b"{too long"
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data


def _row(table: str, path: Path, value: Any) -> bytes:
    """One file as a row; one that is no JSON is passed on as it is, to be rejected where all bad lines are."""
    if isinstance(value, bytes):
        return value.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n"
    return line({"table": table, "folder": path.parent.name, "row": value})
