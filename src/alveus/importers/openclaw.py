"""OpenClaw's sessions (formerly moltbot, clawdbot): JSONL as Pi writes it, and the databases that came after.

`agents/<agent>/sessions/<id>.jsonl` and its archives (`.jsonl.reset.…`, `.jsonl.deleted.…`, with or without `.zst`) are
told from Pi's by where they lie; the items of both have origins of one kind, so a file that was moved stays known. In
`openclaw-agent.sqlite` a row of `transcript_events` holds the same entry.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from alveus.importers import pi
from alveus.importers.base import Event, Format, Source, Span
from alveus.importers.facts import facts_at, ident, text_at
from alveus.importers.pieces import parsed
from alveus.importers.reading import PLAIN, first, walk

NAME: Final = "openclaw"

_HOMES: Final = ("openclaw", "clawdbot", "moltbot", "clawd")
_DATABASE: Final = "openclaw"


class _Rows(pi.Reader):
    """Entries that are rows; each names its session."""

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """The events of one row."""
        row = facts_at(value, "row")
        session = ident(row.get("session_id"))
        if session != self.session:
            self.session, self.facts = session, {}
        entry = parsed(row.get("event_json") or row.get("event_zstd"))
        yield from super().events(entry if row else {"type": "label"}, at)


def owns(path: Path) -> bool:
    """Whether the file lies among this program's sessions."""
    at_home = any(part.strip(".").casefold().startswith(_HOMES) for part in path.parts[:-1])
    return at_home and ".jsonl" in path.name and _is_session(path)


def _is_session(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return pi.sniff(file.read(1 << 16))
    except OSError:
        return False


def sniff(head: bytes) -> bool:
    """Whether these are the rows of its database."""
    return any(text_at(one, "database") == _DATABASE for one in first(head)[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one session, or of all in one database."""
    yield from walk(source, PLAIN, _Rows(source) if sniff(source.head) else pi.Reader(source))


FORMAT: Final = Format(name=NAME, title="OpenClaw session (JSONL, SQLite)", sniff=sniff, read=read, owns=owns)
