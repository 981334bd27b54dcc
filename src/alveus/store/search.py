"""`recall.db`: the full-text index of an agent's records, all chains together, in SQLite beside the stream.

Derived: deleted, it is made again. It is caught up by whoever opens the journal or asks; each piece of records is one
transaction together with how far it reaches, so that a kill at any moment leaves nothing half indexed or indexed
twice. A rebuild is one transaction too: until it ends, everybody is served by the old index. Only records that are on
disk are taken in. It only ranks: what it finds is read from the stream and checked before it is returned.

Terms are kept without positions (FTS5, `detail=none`), once a record. `store.asking` says what is asked of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
import string
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakSet

from alveus.errors import Locked, StoreError
from alveus.journal import canonical
from alveus.journal.seal import digest
from alveus.language.turn import Turn, turn_of
from alveus.store.asking import KINDS, MARK, NOVELTIES, Asking, IndexBroken, Indexed, day_term
from alveus.store.files import DISK, folder_locked
from alveus.store.origins import to_wal

if TYPE_CHECKING:
    from alveus.store.stream import Stream

_VERSION: Final = 2
_PATIENCE: Final = 10.0
_QUESTION_PATIENCE: Final = 2_000
"""Milliseconds that a question waits for whoever writes the index; then the old one answers, and says so."""
_AT_ONCE: Final = 8192
_BYTES_AT_ONCE: Final = 1 << 20
"""Records, and bytes of them, to a transaction. A byte takes fifteen of memory meanwhile; larger ones are no faster."""
_HASH: Final = 8 << 20
"""Bytes of terms that FTS5 gathers before it writes them: a piece, so that few segments have to be merged."""
_TRIES: Final = 5
_MISHAPS: Final = 2
_BEFORE_FORK: Final = 2.0
_WAL_HEADER: Final = 32
_ALONE: Final = 0
"""The session of records that name none: they stand so far apart in it that none is beside another."""
_APART: Final = 4
_PUNCTUATION: Final = string.punctuation.replace('"', "").replace("'", "''")
"""All marks that a term may hold, as they stand within quotes."""
_TABLES: Final = (
    f"""CREATE VIRTUAL TABLE terms USING fts5(
        t, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '{_PUNCTUATION}'")""",
    "CREATE VIRTUAL TABLE counts USING fts5vocab(terms, 'row')",
    """CREATE TABLE turn (
        number INTEGER PRIMARY KEY, chain INTEGER NOT NULL, offset INTEGER NOT NULL, session INTEGER NOT NULL,
        ordinal INTEGER NOT NULL, length INTEGER NOT NULL, asks INTEGER NOT NULL, speaker INTEGER NOT NULL,
        kind INTEGER NOT NULL, novelty INTEGER NOT NULL, day INTEGER NOT NULL, at REAL NOT NULL,
        twin INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX turn_place ON turn (session, ordinal)",
    """CREATE TABLE session (
        id INTEGER PRIMARY KEY, user INTEGER NOT NULL, name TEXT NOT NULL, turns INTEGER NOT NULL,
        length INTEGER NOT NULL, UNIQUE (user, name))""",
    "CREATE TABLE name (id INTEGER PRIMARY KEY, what TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (what, name))",
    "CREATE TABLE speaker_term (term TEXT NOT NULL, speaker INTEGER NOT NULL, PRIMARY KEY (term, speaker))",
    """CREATE TABLE progress (
        chain TEXT PRIMARY KEY, id INTEGER NOT NULL, first INTEGER NOT NULL, size INTEGER NOT NULL,
        offset INTEGER NOT NULL, last TEXT NOT NULL)""",
    "CREATE TABLE language (code TEXT PRIMARY KEY, terms INTEGER NOT NULL)",
)
_DERIVED: Final = ("turn", "session", "name", "speaker_term", "progress", "language")
_UNREADABLE: Final = (0, 0, 0, -1, -1, 0, 0.0)
"""The columns of a line that is no record, from `length` to `at`."""
_INSERT: Final = f"INSERT INTO turn VALUES ({', '.join('?' * 13)})"  # noqa: S608  (thirteen question marks)
_INSERT_TERMS: Final = "INSERT INTO terms (rowid, t) SELECT ? + key, value FROM json_each(?) WHERE value <> ''"
_HELD: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNWRITABLE: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_DAMAGED: Final = (
    sqlite3.SQLITE_ERROR,  # a table is missing, or is another one
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_CONSTRAINT,
)


_Columns = tuple[int, int, int, int, int, int, int, int, int, int, int, float, int]
"""Of `turn`."""


class _State(NamedTuple):
    """What tells whether a file was written meanwhile."""

    modified: int
    size: int
    wal: int | None


Told = Callable[[int], None]
"""Told how many records are indexed."""


def _nobody(_: int) -> None:
    """Who is told when nobody asked."""


class Search:
    """The index of one agent. Safe from any thread; not to be used by a forked child (`pid`)."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.pid = os.getpid()
        self.note = ""
        self.behind = 0
        self._path = path
        self._guard = threading.RLock()
        self._held_by_fork = False
        _all.add(self)
        self._names: dict[tuple[str, str], int] = {}
        self._sessions: dict[tuple[int, str], list[Any]] = {}
        self._version = 0
        self._db = self._copy() if read_only else self._connect()

    def _connect(self) -> sqlite3.Connection:
        if self._is_strange():
            self.note = "recall.db is not a file: the index is made in memory, each time anew"
            return self._open(":memory:")
        try:
            try:
                return self._open(str(self._path))
            except sqlite3.DatabaseError as error:
                if _code_of(error) not in _DAMAGED:
                    raise
                return self._replace()
        except sqlite3.Error as error:
            if _code_of(error) in _HELD:
                raise _unavailable(error) from error
            self.note = _unwritten(error)
        except (OSError, Locked) as error:
            self.note = _unwritten(error)
        return self._open(":memory:")

    def _is_strange(self) -> bool:
        """Whether something lies in the place of the file that is none, or is another one's."""
        try:
            return not stat.S_ISREG(self._path.lstat().st_mode)
        except OSError:
            return False

    def _replace(self) -> sqlite3.Connection:
        """Another file in the place of one that is no database: it is derived. Unless another process was faster."""
        with folder_locked(DISK, self._path.parent, _PATIENCE, "another process is replacing recall.db"):
            try:
                return self._open(str(self._path))
            except sqlite3.DatabaseError as error:
                if _code_of(error) not in _DAMAGED:
                    raise
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            return self._open(str(self._path))

    def _copy(self) -> sqlite3.Connection:
        """The index in memory: a reader writes nothing, and what the file lacks is made here."""
        tries = _TRIES
        while tries > 0 and (before := self._state()) is not None:
            tries -= 1
            copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            # Where no other process has the file open it has no -wal, and SQLite would make one unless told otherwise.
            how = "mode=ro&readonly_shm=1" if before.wal is not None else "immutable=1"
            try:
                with contextlib.closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?{how}", uri=True)) as db:
                    db.backup(copy)
                    whole = db.execute("PRAGMA user_version").fetchone()[0] == _VERSION
            except sqlite3.Error as error:
                whole = False
                tries = 0 if _code_of(error) == sqlite3.SQLITE_PROTOCOL else tries  # which took ten seconds to tell
            if whole and (before.wal is not None or self._state() == before):
                return copy
            copy.close()
        return self._open(":memory:")

    def _state(self) -> _State | None:
        """What the file looks like; None where there is none."""
        if self._is_strange():
            return None
        try:
            status = self._path.stat()
        except OSError:
            return None
        try:
            wal = self._path.with_name(self._path.name + "-wal").stat()
        except OSError:
            return _State(status.st_mtime_ns, status.st_size, None)
        return _State(status.st_mtime_ns, status.st_size, wal.st_ino if wal.st_size > _WAL_HEADER else None)

    def _open(self, where: str) -> sqlite3.Connection:
        if where != ":memory:":  # whose permissions SQLite gives to the files beside it
            os.close(os.open(where, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
            self._path.chmod(0o600)
        db = sqlite3.connect(where, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            to_wal(db)
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("PRAGMA cache_size=-16384")
            if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                self._make_tables(db)
            db.execute(f"PRAGMA busy_timeout={_QUESTION_PATIENCE}")
        except BaseException:
            db.close()
            raise
        return db

    @staticmethod
    def _make_tables(db: sqlite3.Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        try:
            if db.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
                for table in ("counts", "terms", *_DERIVED):
                    db.execute(f"DROP TABLE IF EXISTS {table}")
                for table in _TABLES:
                    db.execute(table)
                db.execute("INSERT INTO terms (terms, rank) VALUES ('hashsize', ?)", (_HASH,))
                db.execute(f"PRAGMA user_version = {_VERSION}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def close(self) -> None:
        """Let the file go."""
        with self._guard:
            self._db.close()

    def before_fork(self) -> None:
        """Let who is within SQLite come out: a lock inside it that a thread holds stays locked in a child for ever."""
        self._held_by_fork = self._guard.acquire(timeout=_BEFORE_FORK)

    def after_fork(self) -> None:
        """In the parent, go on."""
        if self._held_by_fork:
            self._guard.release()

    # Catching up

    def catch_up(self, streams: Sequence[Stream], told: Told = _nobody) -> None:
        """Take in what was appended since: `streams` oldest first, the last of them live; `told` hears how far it is.

        Where another process holds the index for too long the old one serves, and `behind` says by how many records.
        """
        with self._guard:
            try:
                self._persist(lambda: self._catch_up(streams, told))
            except sqlite3.Error as error:
                if _code_of(error) not in _HELD or not self._fits(streams):
                    raise _unavailable(error) from error
            finally:
                with contextlib.suppress(sqlite3.Error):
                    self.behind = self._lag(streams)

    def _catch_up(self, streams: Sequence[Stream], told: Told) -> None:
        if not self._fits(streams):
            with contextlib.suppress(Locked):
                streams[-1].refresh()  # it may be we who are behind: another process recorded, or changed the key
            if not self._fits(streams):
                self._rebuild(streams, told)
        for stream in streams:
            reading: _Reading | None = None
            while (progress := self._progress(stream)).offset < stream.link.offset:
                if reading is None or reading.piece.start != progress.offset:
                    reading = _Reading(self._read(stream, progress))
                if not reading.piece.turns:
                    return  # the file was cut meanwhile: the next look at it says so
                with self._transaction():
                    if self._progress(stream) == progress:  # else another process took this piece
                        after, texts = self._take(progress, reading.piece)
                        self._take_terms(after, texts, reading, commit=True)
                told(progress.first + progress.size + len(reading.piece.turns))
                reading.go_on()

    def _lag(self, streams: Sequence[Stream]) -> int:
        """How many records are not indexed yet."""
        if all(self._progress(stream).offset >= stream.link.offset for stream in streams):
            return 0
        return max(1, sum(stream.link.size for stream in streams) - self.count())

    def rebuild(self, streams: Sequence[Stream], told: Told = _nobody) -> None:
        """Make the index again, in one transaction: others are served by the old one until it ends."""
        with self._guard:
            try:
                self._persist(lambda: self._rebuild(streams, told))
                self.behind = self._lag(streams)
            except sqlite3.Error as error:
                raise _unavailable(error) from error

    def _rebuild(self, streams: Sequence[Stream], told: Told) -> None:
        with self._transaction():
            self._db.execute("INSERT INTO terms(terms) VALUES ('delete-all')")
            for table in _DERIVED:
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608  (the names are ours)
            self._forget_names()
            for stream in streams:
                progress = self._progress(stream)
                reading = _Reading(self._read(stream, progress))
                while reading.piece.turns:
                    progress, texts = self._take(progress, reading.piece)
                    self._take_terms(progress, texts, reading, commit=False)
                    told(progress.first + progress.size)
                    reading.go_on()

    def _persist(self, write: Callable[[], None]) -> None:
        """`write`, again after a damaged index was begun anew, or one that cannot be written was taken into memory."""
        for _ in range(_MISHAPS):
            try:
                write()
            except sqlite3.Error as error:
                if _code_of(error) in _UNWRITABLE:
                    self._go_on_in_memory(error)
                elif _code_of(error) in _DAMAGED:
                    self._begin_again()
                else:
                    raise
            else:
                return
        write()

    def _go_on_in_memory(self, error: sqlite3.Error) -> None:
        """The disk takes no more: with what is indexed, if it can be read, in memory."""
        self.note = _unwritten(error)
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            self._db.backup(copy)
        except sqlite3.Error:
            copy.close()
            copy = self._open(":memory:")
        self._use(copy)

    def _begin_again(self) -> None:
        """An empty index in the place of a damaged one; written over it, for other processes may have the file open."""
        empty = self._open(":memory:")
        try:
            empty.backup(self._db)
        except sqlite3.Error as error:
            self.note = _unwritten(error)
            self._use(empty)
        else:
            empty.close()
            self._forget_names()

    def _use(self, db: sqlite3.Connection) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._db.close()
        self._db = db
        self._forget_names()

    def _fits(self, streams: Sequence[Stream]) -> bool:
        """Whether what is indexed is the beginning of this past."""
        mine = {row[0]: Indexed(*row) for row in self._db.execute("SELECT * FROM progress ORDER BY first")}
        there = [stream.link.chain or "" for stream in streams]
        if list(mine) != there[: len(mine)]:
            return False
        for number, stream in enumerate(streams[: len(mine)]):
            progress = mine[stream.link.chain or ""]
            if not _ends_with(stream, progress):
                return False
            if number + 1 < len(mine) and progress.offset < stream.link.offset:
                return False  # a later chain was begun upon a part of this one
        return True

    def _progress(self, stream: Stream) -> Indexed:
        name = stream.link.chain or ""
        row = self._db.execute("SELECT * FROM progress WHERE chain = ?", (name,)).fetchone()
        if row is not None:
            return Indexed(*row)
        (chains,) = self._db.execute("SELECT count(*) FROM progress").fetchone()
        return Indexed(name, chains, self.count(), 0, 0, "")

    def count(self) -> int:
        """How many records are indexed."""
        (number,) = self._db.execute("SELECT coalesce(max(number), -1) + 1 FROM turn").fetchone()
        return int(number)

    def _read(self, stream: Stream, progress: Indexed) -> Iterator[tuple[int, bytes]]:
        with contextlib.suppress(StoreError, OSError):  # if these records are lost after all, the index will not fit
            stream.make_durable()
        yield from stream.forwards(progress.offset)

    def _take(self, progress: Indexed, piece: _Piece) -> tuple[Indexed, list[str]]:
        """The next records of a chain, within a transaction, but for their terms, which come back, a text each."""
        number, chain = progress.first + progress.size, progress.id
        rows, texts, languages, scopes = list[_Columns](), list[str](), dict[str, int](), _Scopes()
        for offset, turn in piece.turns:
            if turn is None:
                rows.append((number, chain, offset, _ALONE, number * _APART, *_UNREADABLE, number))
                texts.append("")
            else:
                kind, novelty, user, _, speaker, at, day, asks, twin, language, terms, length = turn
                session, ordinal = self._place(turn, number)
                said_by = self._speaker(speaker, language) if speaker else 0
                of_kind = KINDS[kind]
                said = (length, 1 if asks else 0, said_by, of_kind, NOVELTIES[novelty], day, at, twin)
                rows.append((number, chain, offset, session, ordinal, *said))
                texts.append(terms + scopes[of_kind, day, session, self._name("user", user) if user else 0])
                languages[language] = languages.get(language, 0) + length
            number += 1
        self._db.executemany(_INSERT, rows)
        self._db.executemany(
            "INSERT INTO language VALUES (?, ?) ON CONFLICT (code) DO UPDATE SET terms = terms + excluded.terms",
            languages.items(),
        )
        self._save_sessions()
        after = progress._replace(size=number - progress.first, offset=piece.end, last=piece.last)
        self._db.execute("INSERT OR REPLACE INTO progress VALUES (?, ?, ?, ?, ?, ?)", after)
        return after, texts

    def _take_terms(self, after: Indexed, texts: list[str], reading: _Reading, *, commit: bool) -> None:
        """The terms of the piece that ends at `after`; meanwhile, what follows it is read.

        They take one statement, in which SQLite is by itself, so that another processor can read on.
        """
        given = (after.first + after.size - len(texts), json.dumps(texts, ensure_ascii=False))

        def write() -> None:
            self._db.execute(_INSERT_TERMS, given)
            if commit:
                self._db.execute("COMMIT")

        if reading.piece.is_full:
            _beside(write, reading.look_ahead)
        else:
            write()

    def _place(self, turn: Turn, number: int) -> tuple[int, int]:
        """The turn's session and its place in it."""
        if not turn.session:
            return _ALONE, number * _APART
        key = (self._name("user", turn.user) if turn.user else 0, turn.session)
        session = self._sessions.get(key) or self._load_session(key)
        if session is None:
            new = self._db.execute("INSERT INTO session VALUES (NULL, ?, ?, 0, 0)", key)
            session = [new.lastrowid, 0, 0]
        ordinal = session[1]
        session[1:] = ordinal + 1, session[2] + turn.length
        self._sessions[key] = session
        return session[0], ordinal

    def _load_session(self, key: tuple[int, str]) -> list[Any] | None:
        row = self._db.execute("SELECT id, turns, length FROM session WHERE user = ? AND name = ?", key).fetchone()
        return None if row is None else list(row)

    def _save_sessions(self) -> None:
        changed = [(*session[1:], session[0]) for session in self._sessions.values()]
        self._db.executemany("UPDATE session SET turns = ?, length = ? WHERE id = ?", changed)
        self._sessions.clear()

    def _name(self, what: str, name: str) -> int:
        """The number of a name, given to it now if it has none."""
        known = self._names.get((what, name)) or self._find_name(what, name)
        if known is None:
            known = self._db.execute("INSERT INTO name VALUES (NULL, ?, ?)", (what, name)).lastrowid or 0
        self._names[what, name] = known
        return known

    def _find_name(self, what: str, name: str) -> int | None:
        row = self._db.execute("SELECT id FROM name WHERE what = ? AND name = ?", (what, name)).fetchone()
        return None if row is None else int(row[0])

    def _speaker(self, speaker: str, language: str) -> int:
        if ("speaker", speaker) in self._names:
            return self._names["speaker", speaker]
        number = self._name("speaker", speaker)
        from alveus.language.terms import index_terms  # noqa: PLC0415

        terms = {(term, number) for code in {language, "en"} for term in index_terms(speaker, code)}
        self._db.executemany("INSERT OR IGNORE INTO speaker_term VALUES (?, ?)", terms)
        return number

    def _forget_names(self) -> None:
        self._names.clear()
        self._sessions.clear()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
            if version != self._version:  # another process wrote: what is remembered of names may be of an older index
                self._version = version
                self._forget_names()
            yield
            if self._db.in_transaction:
                self._db.execute("COMMIT")
        except BaseException:
            self._forget_names()
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    # Asking

    @contextlib.contextmanager
    def asking(self) -> Iterator[Asking]:
        """One question, asked of one state of the index, however many queries it takes."""
        with self._guard:
            try:
                self._db.execute("BEGIN")
                try:
                    yield Asking(self._db)
                finally:
                    self._db.execute("COMMIT")
            except sqlite3.Error as error:
                if _code_of(error) in _DAMAGED:
                    self._begin_again()
                    raise IndexBroken(f"recall.db was damaged and is made again: {error}", hint="try again") from error
                raise _unavailable(error) from error


class _Scopes(dict[tuple[int, int, int, int], str]):
    """The terms of scopes that were met (kind, day, session, user), each behind a space."""

    def __missing__(self, scope: tuple[int, int, int, int]) -> str:
        kind, day, session, user = scope
        terms = f" {MARK}k{kind} {day_term(day)}"
        if session != _ALONE:
            terms += f" {MARK}s{session}"
        if user:
            terms += f" {MARK}u{user}"
        self[scope] = terms
        return terms


class _Piece(NamedTuple):
    """Records of one transaction, each with its byte offset; the bytes they begin and end at, the last line's hash.

    `is_full`: others may follow. Of nothing, without records, the start is -1.
    """

    turns: list[tuple[int, Turn | None]]
    start: int
    end: int
    last: str
    is_full: bool


class _Reading:
    """A stream's records in pieces, of which the next can be read before its turn."""

    def __init__(self, lines: Iterator[tuple[int, bytes]]) -> None:
        self._lines = lines
        self._next: _Piece | None = None
        self.piece = self._read()

    def _read(self) -> _Piece:
        turns: list[tuple[int, Turn | None]] = []
        offset, line, room = 0, b"", _BYTES_AT_ONCE
        for offset, line in islice(self._lines, _AT_ONCE):
            turns.append((offset, _turn_in(line)))
            room -= len(line)
            if room < 0:
                break
        is_full = room < 0 or len(turns) == _AT_ONCE
        return _Piece(turns, turns[0][0] if turns else -1, offset + len(line) + 1, digest(line), is_full)

    def look_ahead(self) -> None:
        """Read the next piece."""
        self._next = self._read()

    def go_on(self) -> None:
        """To the next piece."""
        self.piece, self._next = self._next or self._read(), None


def _beside(act: Callable[[], None], meanwhile: Callable[[], None]) -> None:
    """`act` in a thread of its own while this one does `meanwhile`; it has ended when this returns or raises.

    Whoever takes the turn first acts. A thread that was not there yet when this one was interrupted finds it taken,
    and does nothing behind the back of a caller who has gone on.
    """
    turn, ended, met = threading.Lock(), threading.Event(), list[BaseException]()

    def run() -> None:
        if not turn.acquire(blocking=False):
            return
        try:
            act()
        except BaseException as error:  # noqa: BLE001  (raised below, where somebody can meet it)
            met.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, name="alveus-index")
    is_mine = False
    try:
        with contextlib.suppress(RuntimeError):  # there are too many, or the interpreter ends
            thread.start()
        meanwhile()
    finally:
        is_mine = turn.acquire(blocking=False)
        if not is_mine:
            _wait_for(ended)
            thread.join()
    if is_mine:
        act()
    if met:
        raise met[0]


def _wait_for(ended: threading.Event) -> None:
    """The end of what a thread does, interrupts notwithstanding: it may not come later than what its caller does then.

    No `join`: in Python 3.11 one that is interrupted takes a thread at work for dead.
    """
    interrupt: BaseException | None = None
    while not ended.is_set():
        try:
            ended.wait()
        except BaseException as error:  # noqa: BLE001  (raised below; a signal's handler raises what it likes)
            interrupt = error
    if interrupt:
        raise interrupt


def _turn_in(line: bytes) -> Turn | None:
    """The turn in an unchecked line; None where nothing can be made of it."""
    try:
        turn = turn_of(canonical.decode(line))
        known = turn.kind in KINDS and turn.novelty in NOVELTIES
        (turn.user + turn.session + turn.speaker).encode()  # a damaged line may say anything
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None
    return turn if known else None


def _ends_with(stream: Stream, progress: Indexed) -> bool:
    if progress.offset == 0:
        return True
    line = stream.line_before(progress.offset)
    return line is not None and digest(line) == progress.last


def _code_of(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 for an error that is not SQLite's."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _unwritten(error: Exception) -> str:
    return f"the index recall.db cannot be written ({error}): it is made in memory, each time anew"


def _unavailable(error: sqlite3.Error) -> StoreError:
    return StoreError(
        f"recall.db, the index for recall, cannot be used: {error}",
        code="index_unavailable",
        hint="try again; if it stays so, `alveus rebuild` makes it again from the journal",
    )


_all: Final[WeakSet[Search]] = WeakSet()


def _before_fork() -> None:
    for search in list(_all):
        search.before_fork()


def _after_fork() -> None:
    for search in list(_all):
        search.after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork)
