"""The shape of what no table knows, as key paths: what a report of an unknown type may show to anybody.

`codex: payload.item.kind` names a member and nothing in it. A name that looks like data (an id, a path, a word of
another script) is written `*`, and the elements of a list are `[]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers.base import Source, Span
from alveus.importers.entries import Value, decode

UNKNOWN: Final = "unknown type: "
MAX_BYTES: Final = 1 << 20
MAX_PATHS: Final = 500
MAX_DEPTH: Final = 8

_NAME = re.compile(r"[$_]?[A-Za-z][A-Za-z_.-]{0,39}|[A-Za-z]{1,12}[0-9]")
_DATA = re.compile(r"(?i)[0-9a-f]{8}|[A-Za-z]{25}")


def paths(source: Source, at: Span) -> set[str]:
    """The key paths of the values at this place; none for a value too large to be looked into."""
    if not 0 < at.size <= MAX_BYTES:
        return set()
    data = b"".join(source.chunks(at))
    found: set[str] = set()
    for one in decode(data.strip(b" \t\r\n,"), at):
        if isinstance(one, Value):
            for path in _paths(one.value, "", 0):
                found.add(path)
                if len(found) >= MAX_PATHS:
                    return found
    return found


def _paths(value: object, prefix: str, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            path = f"{prefix}.{_shown(name)}" if prefix else _shown(name)
            yield path
            yield from _paths(inner, path, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, f"{prefix}[]", depth + 1)


def _shown(name: str) -> str:
    return name if _NAME.fullmatch(name) and not _DATA.search(name) else "*"
