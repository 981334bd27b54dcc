"""`tiers.db`: the tiers of an agent's memory, in SQLite beside the stream. spec/tiers.md, sections 2 and 5.

Derived: deleted, it is made again from the journal and from the ledger of receipts. What moves up is written in one
transaction: the destination, which is read back, then the watermark, then the receipt into the outbox. COMMIT
(`synchronous=FULL`) is the commit point: a crash before it leaves everything where it was, one after it leaves a
receipt that waits in the outbox for the ledger.

Rows are plain; what they mean is said in `alveus.tiers`. Every row is found by its scope's number or its whole id: no
pattern is ever matched, and no text is ever put into a statement.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from alveus.errors import StoreError
from alveus.store.origins import to_wal

_VERSION: Final = 2
_PATIENCE: Final = 10.0
_AT_ONCE: Final = 500
_TABLES: Final = (
    "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE progress (
        chain TEXT PRIMARY KEY, first INTEGER NOT NULL, size INTEGER NOT NULL, offset INTEGER NOT NULL,
        last TEXT NOT NULL)""",
    """CREATE TABLE scope (
        id INTEGER PRIMARY KEY, user TEXT NOT NULL, assistant TEXT NOT NULL, pages INTEGER NOT NULL,
        departed INTEGER NOT NULL, version INTEGER NOT NULL, clock REAL NOT NULL, segments INTEGER NOT NULL,
        mark_chain TEXT NOT NULL, mark_seq INTEGER NOT NULL, mark_line TEXT NOT NULL, UNIQUE (user, assistant))""",
    """CREATE TABLE session (
        scope INTEGER NOT NULL, name TEXT NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (scope, name)) WITHOUT ROWID""",
    """CREATE TABLE page (
        scope INTEGER NOT NULL, ordinal INTEGER NOT NULL, id TEXT NOT NULL, session TEXT NOT NULL, at REAL NOT NULL,
        until REAL NOT NULL, version INTEGER NOT NULL, before INTEGER, query TEXT NOT NULL, response TEXT NOT NULL,
        refs TEXT NOT NULL, words TEXT NOT NULL, keywords TEXT NOT NULL, segment TEXT, known INTEGER NOT NULL,
        PRIMARY KEY (scope, ordinal)) WITHOUT ROWID""",
    "CREATE UNIQUE INDEX page_id ON page (id)",
    "CREATE INDEX page_version ON page (scope, version)",
    "CREATE INDEX page_segment ON page (segment, ordinal) WHERE segment IS NOT NULL",
    """CREATE TABLE term (
        scope INTEGER NOT NULL, term TEXT NOT NULL, pages INTEGER NOT NULL, PRIMARY KEY (scope, term)) WITHOUT ROWID""",
    """CREATE TABLE segment (
        id TEXT PRIMARY KEY, scope INTEGER NOT NULL, ordinal INTEGER NOT NULL, pages INTEGER NOT NULL,
        words TEXT NOT NULL, names TEXT NOT NULL, total BLOB, by TEXT NOT NULL, visits INTEGER NOT NULL,
        interaction INTEGER NOT NULL, at REAL NOT NULL, summary TEXT NOT NULL, version INTEGER NOT NULL,
        degraded INTEGER NOT NULL, request TEXT NOT NULL, gone INTEGER NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX segment_scope ON segment (scope, gone, ordinal)",
    """CREATE TABLE fact (
        id TEXT PRIMARY KEY, scope INTEGER NOT NULL, subject TEXT NOT NULL, shelf TEXT NOT NULL, key TEXT NOT NULL,
        value TEXT NOT NULL, sources TEXT NOT NULL, since REAL NOT NULL, place INTEGER NOT NULL, superseded_by TEXT,
        restates TEXT, kept INTEGER NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX fact_scope ON fact (scope)",
    """CREATE TABLE run (
        run_id TEXT PRIMARY KEY, scope INTEGER NOT NULL, boundary TEXT NOT NULL, version INTEGER NOT NULL,
        state TEXT NOT NULL, sources TEXT NOT NULL, destination TEXT NOT NULL, request TEXT NOT NULL,
        degraded INTEGER NOT NULL) WITHOUT ROWID""",
    "CREATE INDEX run_state ON run (state)",
    "CREATE INDEX run_degraded ON run (scope) WHERE degraded = 1",
    """CREATE TABLE answer (
        request TEXT NOT NULL, scope INTEGER NOT NULL, record_id TEXT NOT NULL, chain TEXT NOT NULL,
        offset INTEGER NOT NULL, PRIMARY KEY (request, scope)) WITHOUT ROWID""",
    "CREATE TABLE outbox (n INTEGER PRIMARY KEY AUTOINCREMENT, receipt BLOB NOT NULL)",
    """CREATE TABLE spent (
        day TEXT PRIMARY KEY, calls INTEGER NOT NULL, tokens INTEGER NOT NULL) WITHOUT ROWID""",
)
_DERIVED: Final = (
    "progress", "scope", "session", "page", "term", "segment", "fact", "run", "answer",
)  # fmt: skip
"""What a rebuild makes again. The outbox waits for the ledger, and what was spent was spent."""


class Progress(NamedTuple):
    """How far a chain was read: the number of its first record, records and bytes, the hash of the last line."""

    chain: str
    first: int
    size: int
    offset: int
    last: str


class ScopeRow(NamedTuple):
    """A scope: how many pages it has, how many left STM, its version and its clock; and the watermark."""

    id: int
    user: str
    assistant: str
    pages: int
    departed: int
    version: int
    clock: float
    segments: int
    mark_chain: str
    mark_seq: int
    mark_line: str


class PageRow(NamedTuple):
    """A page; `known` is 1 once LPM has had it. Lists and objects are JSON."""

    scope: int
    ordinal: int
    id: str
    session: str
    at: float
    until: float
    version: int
    before: int | None
    query: str
    response: str
    refs: str
    words: str
    keywords: str
    segment: str | None
    known: int


class SegmentRow(NamedTuple):
    """A segment; `gone` is 1 for one that left MTM. `total` is float32, little-endian."""

    id: str
    scope: int
    ordinal: int
    pages: int
    words: str
    names: str
    total: bytes | None
    by: str
    visits: int
    interaction: int
    at: float
    summary: str
    version: int
    degraded: int
    request: str
    gone: int


class FactRow(NamedTuple):
    """A fact."""

    id: str
    scope: int
    subject: str
    shelf: str
    key: str
    value: str
    sources: str
    since: float
    place: int
    superseded_by: str | None
    restates: str | None
    kept: int


class RunRow(NamedTuple):
    """A run; `state` is `started`, `committed`, `verified` or, of a question, `open` or `settled`."""

    run_id: str
    scope: int
    boundary: str
    version: int
    state: str
    sources: str
    destination: str
    request: str
    degraded: int


class AnswerRow(NamedTuple):
    """Where the journal holds a model's answer to a request."""

    request: str
    scope: int
    record_id: str
    chain: str
    offset: int


Row = TypeVar("Row", ScopeRow, PageRow, SegmentRow, FactRow, RunRow, AnswerRow, Progress)
_TABLE_OF: Final[dict[type, str]] = {
    ScopeRow: "scope",
    PageRow: "page",
    SegmentRow: "segment",
    FactRow: "fact",
    RunRow: "run",
    AnswerRow: "answer",
    Progress: "progress",
}


Within = tuple[str | None, float | None, float | None]
"""A session, and two times."""


class ReadBackFailed(StoreError):
    """What was written is not what is read: nothing was committed."""

    default_code = "read_back_failed"


class Damaged(StoreError):
    """The file is there and cannot be read: `Database.renew` begins another, which is made again."""

    default_code = "tiers_damaged"


class Database:
    """The tiers of one agent. Safe from any thread; not to be used by a forked child (`pid`)."""

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.pid = os.getpid()
        self.guard = threading.RLock()
        self.note = ""
        self._path = path
        self._depth = 0
        self.fresh = False
        self._db = self._copy() if read_only or path is None else self._connect()

    # Opening

    def _connect(self) -> sqlite3.Connection:
        try:
            return self._open(str(self._path))
        except sqlite3.OperationalError as error:  # locked, or no room: the file itself may be sound
            raise unavailable(error) from error
        except sqlite3.DatabaseError as error:
            return self._anew(error)

    def _anew(self, error: Exception) -> sqlite3.Connection:
        """It is no database. It is derived: another takes its place, and this one is put aside."""
        path = Path(str(self._path))
        try:
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            path.replace(path.with_name(path.name + ".damaged"))
            return self._open(str(path))
        except (OSError, sqlite3.Error):
            raise unavailable(error) from error

    def renew(self, damaged: Damaged) -> None:
        """Have an empty database in the place of one that cannot be read."""
        if self._path is None:
            raise damaged
        with self.guard:
            self._db.close()
            self._db = self._anew(damaged)

    def problem(self) -> str:
        """What is wrong with the file, in words; empty where nothing is. Reads all of it."""
        try:
            found = str(self._db.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.DatabaseError as error:
            found = str(error)
        return self.note or ("" if found == "ok" else f"tiers.db is damaged ({' '.join(found.split())})")

    def _copy(self) -> sqlite3.Connection:
        """The tiers in memory: a reader writes nothing, and what the file lacks is made here."""
        if self._path is not None and not self._path.exists():
            self.note = "there is no tiers.db, and the tiers were made in memory for this question"
        elif self._path is not None:
            wal = self._path.with_name(self._path.name + "-wal").exists()
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            uri = f"{self._path.absolute().as_uri()}?{'mode=ro' if wal else 'immutable=1'}"
            try:
                with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=_PATIENCE)) as db:
                    db.backup(copy)
                    if db.execute("PRAGMA user_version").fetchone()[0] == _VERSION:
                        return copy
            except sqlite3.Error as error:
                self.note = f"tiers.db cannot be read ({error}): the tiers are made in memory"
            copy.close()
        return self._open(":memory:")

    def _open(self, where: str) -> sqlite3.Connection:
        db = sqlite3.connect(where, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            if where != ":memory:":
                Path(where).chmod(0o600)
                to_wal(db)
            db.execute("PRAGMA synchronous=FULL")
            if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                self._make_tables(db)
        except BaseException:
            db.close()
            raise
        return db

    def _make_tables(self, db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        try:
            if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    if name != "sqlite_sequence":
                        db.execute(f'DROP TABLE "{name}"')
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA user_version = {_VERSION}")
                self.fresh = True
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def close(self) -> None:
        """Let the file go."""
        with self.guard:
            self._db.close()

    # Transactions

    @contextlib.contextmanager
    def writing(self, *, lasting: bool = True) -> Iterator[None]:
        """One transaction, the only one that writes while it lasts. Within another it is a part of that one.

        What is not `lasting` may be undone by a power cut, never by a crash of this process: what a cut undoes is made
        again, the same.
        """
        with self.guard:
            if not self._depth:
                with _asking():
                    self._db.execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
            with self._transaction("BEGIN IMMEDIATE"):
                yield

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """One state, however many rows are read."""
        with self._transaction("BEGIN"):
            yield

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self.guard, _asking():
            if self._depth:
                yield
                return
            self._db.execute(begin)
            self._depth += 1
            try:
                yield
                self._commit()
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def _commit(self) -> None:
        self._db.execute("COMMIT")  # the commit point: spec/tiers.md, section 2

    # Rows

    def _query(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """All rows of a statement: never in the middle of what another thread writes by this connection."""
        with self.guard, _asking():
            return self._db.execute(statement, values).fetchall()

    def _write(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        with self.guard:
            self._db.executemany(statement, rows)

    def put(self, rows: Iterable[Row]) -> None:
        """Write rows of one table, each in the place of the one with its key."""
        kept = list(rows)
        if kept:
            marks = ", ".join("?" * len(kept[0]))
            table = _TABLE_OF[type(kept[0])]
            self._write(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", kept)  # noqa: S608  (our names)

    def check(self, rows: Iterable[PageRow | SegmentRow | FactRow]) -> None:
        """Read rows back. Raises ReadBackFailed, so that the transaction is undone, unless each is there as written."""
        for row in rows:
            table, key = _TABLE_OF[type(row)], row.id
            found = self._query(f"SELECT * FROM {table} WHERE id = ?", (key,))  # noqa: S608
            if found != [tuple(row)]:
                raise ReadBackFailed(f"a row of {table} is not what was written", hint="run `alveus rebuild`")

    def _rows(self, kind: type[Row], where: str, *values: object) -> list[Row]:
        found = self._query(f"SELECT * FROM {_TABLE_OF[kind]} {where}", values)  # noqa: S608  (our words)
        return [kind(*row) for row in found]

    def _one(self, kind: type[Row], where: str, *values: object) -> Row | None:
        return next(iter(self._rows(kind, where, *values)), None)

    # The journal, as far as it was read

    def progress(self) -> list[Progress]:
        """The chains that were read, oldest first."""
        return self._rows(Progress, "ORDER BY first")

    def about(self, name: str) -> str:
        """A remark about the file; empty where there is none."""
        rows = self._query("SELECT value FROM about WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""

    def note_about(self, name: str, value: str) -> None:
        """Leave such a remark."""
        self._db.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, value))

    def scope(self, user: str, assistant: str) -> ScopeRow | None:
        """The scope of exactly this pair."""
        return self._one(ScopeRow, "WHERE user = ? AND assistant = ?", user, assistant)

    def scope_made(self, user: str, assistant: str) -> ScopeRow:
        """The same, made now if it is new."""
        found = self.scope(user, assistant)
        if found is None:
            ((last,),) = self._query("SELECT coalesce(max(id), 0) FROM scope")
            found = ScopeRow(last + 1, user, assistant, 0, 0, 0, 0.0, 0, "", -1, "")
            self.put([found])
        return found

    def scope_by_id(self, scope: int) -> ScopeRow | None:
        """The scope of that number."""
        return self._one(ScopeRow, "WHERE id = ?", scope)

    def scopes(self) -> list[ScopeRow]:
        """Every scope."""
        return self._rows(ScopeRow, "ORDER BY id")

    # Pages

    def page(self, scope: int, ordinal: int) -> PageRow | None:
        return self._one(PageRow, "WHERE scope = ? AND ordinal = ?", scope, ordinal)

    def pages(self, scope: int, first: int, after: int) -> list[PageRow]:
        """The pages from ordinal `first` to before `after`."""
        return self._rows(
            PageRow, "WHERE scope = ? AND ordinal >= ? AND ordinal < ? ORDER BY ordinal", scope, first, after
        )

    def page_of_version(self, scope: int, version: int) -> PageRow | None:
        """The page whose newest record has that number."""
        return self._one(PageRow, "WHERE scope = ? AND version = ?", scope, version)

    def pages_of(self, segment: str) -> list[PageRow]:
        """The pages of a segment, in their order."""
        return self._rows(PageRow, "WHERE segment = ? ORDER BY ordinal", segment)

    def unknown_pages(self, segment: str, count: int) -> list[PageRow]:
        """The first pages of a segment that LPM has not had."""
        return self._rows(PageRow, "WHERE segment = ? AND known = 0 ORDER BY ordinal LIMIT ?", segment, count)

    def newest_page_of(self, segment: str) -> str:
        """The id of a segment's newest page; empty for one without pages."""
        rows = self._query("SELECT id FROM page WHERE segment = ? ORDER BY ordinal DESC LIMIT 1", (segment,))
        return str(rows[0][0]) if rows else ""

    def pages_by_id(self, ids: Sequence[str]) -> list[PageRow]:
        """The pages of these ids that are there, in the order asked for."""
        found = (self._one(PageRow, "WHERE id = ?", one) for one in ids)
        return [row for row in found if row is not None]

    def gists_of(self, segment: str, count: int) -> list[tuple[str, str]]:
        """The gists of a segment's newest pages, oldest first: (query, response)."""
        rows = self._query(
            "SELECT query, response FROM page WHERE segment = ? ORDER BY ordinal DESC LIMIT ?", (segment, count)
        )
        return rows[::-1]

    def last_page(self, scope: int, session: str) -> int | None:
        """The newest page of a session."""
        rows = self._query("SELECT page FROM session WHERE scope = ? AND name = ?", (scope, session))
        return int(rows[0][0]) if rows else None

    def put_sessions(self, rows: Iterable[tuple[int, str, int]]) -> None:
        self._write("INSERT OR REPLACE INTO session VALUES (?, ?, ?)", rows)

    def known(self, scope: int, terms: Iterable[str]) -> dict[str, int]:
        """In how many finished pages each term stands."""
        asked, found = list(terms), dict[str, int]()
        for at in range(0, len(asked), _AT_ONCE):
            some = asked[at : at + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            found.update(
                self._query(
                    f"SELECT term, pages FROM term WHERE scope = ? AND term IN ({marks})",  # noqa: S608
                    (scope, *some),
                )
            )
        return found

    def learn(self, scope: int, terms: Iterable[str]) -> None:
        """Count one more finished page with these terms."""
        self._write(
            "INSERT INTO term VALUES (?, ?, 1) ON CONFLICT (scope, term) DO UPDATE SET pages = pages + 1",
            ((scope, term) for term in terms),
        )

    # Segments and facts

    def segments(self, scope: int) -> list[SegmentRow]:
        """The segments in MTM, oldest first."""
        return self._rows(SegmentRow, "WHERE scope = ? AND gone = 0 ORDER BY ordinal", scope)

    def segments_within(self, scope: int, within: Within) -> set[str]:
        """The segments with a page of a session, some of it between two times in seconds; None asks nothing."""
        session, since, until = within
        rows = self._query(
            "SELECT DISTINCT segment FROM page WHERE scope = ?1 AND segment IS NOT NULL"
            " AND (?2 IS NULL OR session = ?2) AND (?3 IS NULL OR until >= ?3) AND (?4 IS NULL OR at <= ?4)",
            (scope, session, since, until),
        )
        return {str(segment) for (segment,) in rows}

    def warmth(self, scope: int) -> list[tuple[str, int, int, int, float]]:
        """Of the segments in MTM (id, ordinal, visits, interaction, time), oldest first."""
        return self._query(
            "SELECT id, ordinal, visits, interaction, at FROM segment WHERE scope = ? AND gone = 0 ORDER BY ordinal",
            (scope,),
        )

    def segment(self, segment: str) -> SegmentRow | None:
        return self._one(SegmentRow, "WHERE id = ?", segment)

    def facts(self, scope: int) -> list[FactRow]:
        """Every fact of a scope, history included."""
        return self._rows(FactRow, "WHERE scope = ? ORDER BY id", scope)

    def standing(self, scope: int) -> list[FactRow]:
        """The facts that are held to be true now."""
        where = "WHERE scope = ? AND kept = 1 AND superseded_by IS NULL AND restates IS NULL ORDER BY id"
        return self._rows(FactRow, where, scope)

    # Runs and receipts

    def run(self, run_id: str) -> RunRow | None:
        return self._one(RunRow, "WHERE run_id = ?", run_id)

    def runs_in(self, *states: str) -> list[RunRow]:
        """The runs that are in one of these states."""
        marks = ", ".join("?" * len(states))
        return self._rows(RunRow, f"WHERE state IN ({marks}) ORDER BY run_id", *states)

    def degraded(self, scope: int) -> list[RunRow]:
        """The runs of a scope that made do without the model."""
        return self._rows(RunRow, "WHERE scope = ? AND degraded = 1 ORDER BY version, run_id", scope)

    def answer(self, request: str, scope: int) -> AnswerRow | None:
        """Where the journal holds the answer to a request of this scope."""
        return self._one(AnswerRow, "WHERE request = ? AND scope = ?", request, scope)

    def put_receipts(self, receipts: Iterable[bytes]) -> None:
        """Put receipts where the ledger will find them."""
        self._write("INSERT INTO outbox (receipt) VALUES (?)", ((one,) for one in receipts))

    def waiting(self, count: int = -1) -> list[tuple[int, bytes]]:
        """Receipts that the ledger has not got yet, oldest first, each with its number; at most `count` from 0 on."""
        return [
            (int(n), bytes(receipt))
            for n, receipt in self._query("SELECT n, receipt FROM outbox ORDER BY n LIMIT ?", (count,))
        ]

    def drop_receipts(self, through: int) -> None:
        """The ledger has them, up to this number."""
        self._db.execute("DELETE FROM outbox WHERE n <= ?", (through,))

    # What models cost

    def spent(self, day: str) -> tuple[int, int]:
        """The calls and tokens of a day."""
        rows = self._query("SELECT calls, tokens FROM spent WHERE day = ?", (day,))
        return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)

    def spend(self, day: str, calls: int, tokens: int) -> None:
        """Count them."""
        with self.writing():
            self._db.execute(
                "INSERT INTO spent VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE SET "
                "calls = calls + excluded.calls, tokens = tokens + excluded.tokens",
                (day, calls, tokens),
            )

    # Making it again

    def changes(self) -> tuple[int, int]:
        """Two numbers that are the same as long as nobody wrote."""
        with self.guard:
            return self._db.total_changes, int(self._query("PRAGMA data_version")[0][0])

    def forget(self) -> None:
        """Empty what is derived; within a transaction."""
        for table in _DERIVED:
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608  (the names are ours)

    def take_over(self, other: Database) -> None:
        """Have what another database has in the place of what is here; within a transaction."""
        self.forget()
        for table in _DERIVED:
            found = other._db.execute(f"SELECT * FROM {table}")  # noqa: S608  (the same class)
            marks = ", ".join("?" * len(found.description))
            self._write(f"INSERT INTO {table} VALUES ({marks})", found)  # noqa: S608

    def dump(self) -> Mapping[str, list[Any]]:
        """Everything derived, table by table, in a fixed order: two that are equal give equal answers."""
        return {
            table: sorted(self._query(f"SELECT * FROM {table}"), key=repr)  # noqa: S608
            for table in _DERIVED
        }


@contextlib.contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise unavailable(error) from error


def unavailable(error: Exception) -> StoreError:
    """SQLite's refusal in our words."""
    told, code = (
        f"tiers.db, which holds the tiers, cannot be used: {error}",
        getattr(error, "sqlite_errorcode", 0) & 0xFF,
    )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Damaged(told, hint="run `alveus rebuild`: it is made again from the journal and the receipts")
    return StoreError(told, code="tiers_unavailable", hint=_HINTS.get(code, _HINT))


_HINT: Final = "try again; if it stays so, move tiers.db away: it is made again from the journal and the receipts"
_HINTS: Final = {
    sqlite3.SQLITE_FULL: "make room on the disk, and try again: nothing was changed",
    sqlite3.SQLITE_READONLY: "check the folder's permissions",
}
