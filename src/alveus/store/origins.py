"""Which items of which sources are in the journal: what makes an import idempotent. spec/journal.md, section 4.

Derived, in SQLite beside the stream (`memory.db`), remade from the stream when missing or damaged. It is asked under
the journal's lock, having read the stream up to its end; what it answers is checked against the record itself before
it is believed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from alveus.errors import StoreError
from alveus.journal import canonical

_TABLES: Final = (
    """CREATE TABLE origin (
        name TEXT NOT NULL, part INTEGER NOT NULL, user TEXT NOT NULL, digest BLOB NOT NULL, chain TEXT NOT NULL,
        offset INTEGER NOT NULL,
        PRIMARY KEY (name, part, user, digest)
    ) WITHOUT ROWID""",
    "CREATE TABLE origin_progress (chain TEXT PRIMARY KEY, size INTEGER NOT NULL, offset INTEGER NOT NULL)",
)
_PATIENCE: Final = 10.0
_PAUSE: Final = 0.005
_VERSION: Final = 2
_WITHOUT_USERS: Final = 1
"""The version that took the item of one user for another's."""
_DIGEST: Final = 16
_AT_ONCE: Final = 10_000
_MARK: Final = b'"origin":"'


class Item(NamedTuple):
    """An item of a source: its origin, of a split content the part's number (else 0), and its user (else empty)."""

    name: str
    part: int
    user: str


@dataclass(frozen=True, slots=True)
class Known:
    """Where an item lies: the chain and the byte offset of its record."""

    chain: str
    offset: int


def digest_of(content: str) -> bytes:
    """What tells a revision from a repetition."""
    return sha256(content.encode("utf-8", "surrogatepass")).digest()[:_DIGEST]


def _unavailable(error: sqlite3.Error) -> StoreError:
    return StoreError(
        f"memory.db, which knows what was imported, cannot be used: {error}",
        code="origins_unavailable",
        hint="try again; if it stays so, delete memory.db: it is made again from the journal",
    )


def to_wal(db: sqlite3.Connection) -> None:
    """Write-ahead logging. SQLite does not wait here for others who do the same, so we do."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _make_tables(db: sqlite3.Connection) -> None:
    if db.execute("PRAGMA user_version").fetchone()[0] == _VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version != _VERSION:
            if version == _WITHOUT_USERS:  # made again from the journal, as if it were not there
                db.execute("DROP TABLE origin")
                db.execute("DROP TABLE origin_progress")
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise _unavailable(sqlite3.DatabaseError("it has tables that are not ours"))
            for table in _TABLES:
                db.execute(table)
            db.execute(f"PRAGMA user_version = {_VERSION}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


class Origins:
    """The origins of one agent, all chains together. Not to be used by a forked child (`pid`)."""

    def __init__(self, path: Path) -> None:
        self.pid = os.getpid()
        self._path = path
        self._db = self._connect()
        self._recent: dict[Item, dict[bytes, Known]] = {}
        self._waiting: list[tuple[str, int, str, bytes, str, int]] = []
        self._progress: dict[str, tuple[int, int]] = {}

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._open()
        except sqlite3.OperationalError as error:  # locked, or no room: the file itself may be sound
            raise _unavailable(error) from error
        except sqlite3.DatabaseError:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            return self._open()

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            to_wal(db)
            db.execute("PRAGMA synchronous=NORMAL")
            _make_tables(db)
        except BaseException:
            db.close()
            raise
        self._path.chmod(0o600)
        return db

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _unavailable(error) from error

    def progress(self, chain: str) -> tuple[int, int]:
        """How far this chain has been read: (records, bytes)."""
        if chain in self._progress:
            return self._progress[chain]
        with self._asking():
            row = self._db.execute("SELECT size, offset FROM origin_progress WHERE chain = ?", (chain,)).fetchone()
        return (row[0], row[1]) if row else (0, 0)

    def read(self, chain: str, lines: Iterable[tuple[int, bytes]], size: int, *, end: int, on_disk: int) -> None:
        """Take the lines (each with its byte offset) from record `size` to byte `end`; `on_disk` records are synced."""
        for offset, line in lines:
            if _MARK in line:
                self._note(chain, line, offset)
            size += 1
            if len(self._waiting) >= _AT_ONCE:
                self._progress[chain] = (size, offset + len(line) + 1)
                self.save(chain, on_disk)
        self._progress[chain] = (size, end)

    def _note(self, chain: str, line: bytes, offset: int) -> None:
        found = _item_of(line)
        if found is not None:
            item, content = found
            digest = digest_of(content)
            self._recent.setdefault(item, {})[digest] = Known(chain, offset)
            self._waiting.append((*item, digest, chain, offset))

    def find(self, item: Item) -> dict[bytes, Known]:
        """The item's records by the digest of their content; empty for an unknown item."""
        with self._asking():
            rows = self._db.execute(
                "SELECT digest, chain, offset FROM origin WHERE name = ? AND part = ? AND user = ?", item
            ).fetchall()
        found = {bytes(digest): Known(chain, offset) for digest, chain, offset in rows}
        return found | self._recent.get(item, {})

    def save(self, chain: str, on_disk: int) -> None:
        """Commit what was read, if the records it refers to (the first `on_disk` of the chain) are on disk."""
        if self._progress.get(chain, (0, 0))[0] <= on_disk:
            self._save(chain)

    def _save(self, chain: str) -> None:
        size, offset = self._progress.get(chain, (0, 0))
        with self._transaction():
            self._db.executemany("INSERT OR IGNORE INTO origin VALUES (?, ?, ?, ?, ?, ?)", self._waiting)
            self._db.execute(
                "INSERT INTO origin_progress VALUES (?, ?, ?) ON CONFLICT (chain) DO UPDATE SET "
                "size = max(size, excluded.size), offset = max(offset, excluded.offset)",
                (chain, size, offset),
            )
        self._waiting.clear()
        self._recent.clear()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._asking():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise

    def forget(self) -> None:
        """Begin again with nothing, after an answer that was not true."""
        with self._transaction():
            self._db.execute("DELETE FROM origin")
            self._db.execute("DELETE FROM origin_progress")
        self._recent.clear()
        self._waiting.clear()
        self._progress.clear()

    def close(self) -> None:
        self._db.close()


def _item_of(line: bytes) -> tuple[Item, str] | None:
    """The item and the content of a line that has an origin; unchecked."""
    try:
        record = canonical.decode(line)
        hc = record["metadata"]["hc"]
        item, content = Item(hc["origin"], hc.get("part", [0])[0], hc.get("user", "")), record["content"]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return None
    return (item, content) if [type(value) for value in (*item, content)] == [str, int, str, str] else None
