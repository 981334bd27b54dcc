"""Questions to `recall.db`: who is in a scope, who holds a word, what lies beside what. `store.search` fills it.

The scope of a record (its user, session, kind, day) stands among its terms behind a character that no text yields, so
that SQLite filters before anything is ranked.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from alveus.errors import StoreError
from alveus.journal.record import Kind, Novelty

MARK: Final = "\ue000"
"""Before a term that is no word."""
KINDS: Final = {kind.value: number for number, kind in enumerate(Kind)}
NOVELTIES: Final = {novelty.value: number for number, novelty in enumerate(Novelty)}
_NO_ROWS: Final[list[int]] = []


class Indexed(NamedTuple):
    """How far a chain is in the index: the number of its first record, records and bytes, the hash of the last line."""

    name: str
    id: int
    first: int
    size: int
    offset: int
    last: str


class Row(NamedTuple):
    """One candidate: the columns of `turn` that ranking reads, in `Pool`'s order."""

    number: int
    session: int
    ordinal: int
    length: int
    asks: int
    speaker: int
    twin: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which records are looked at: all, unless a field says less. Times in seconds since 1970, `until` inclusive."""

    user: str | None = None
    session: str | None = None
    kinds: frozenset[Kind] | None = None
    since: float | None = None
    until: float | None = None

    def is_everything(self) -> bool:
        """Whether nothing is filtered out."""
        return self == Scope()


class Unknown(Exception):
    """A user or session that no record has; `what` says which. Never leaves the store and what asks it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class IndexBroken(StoreError):
    """The index turned out to be damaged while it was asked, and was begun again: catch up, and ask once more."""

    default_code = "index_unavailable"


class Asking:
    """Queries for one question, within one transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def languages(self) -> list[str]:
        """The languages of the records."""
        return [code for (code,) in self._db.execute("SELECT code FROM language")]

    def within(self, scope: Scope) -> Within:
        """The records of a scope. Raises Unknown for a user or a session without records."""
        tokens: list[str] = []
        user = 0
        if scope.user is not None:
            user = self._id("SELECT id FROM name WHERE what = 'user' AND name = ?", f"user {scope.user!r}", scope.user)
            tokens.append(_quoted(f"{MARK}u{user}"))
        if scope.session is not None:
            named = "SELECT id FROM session WHERE name = ? AND ? IN (0, user)"
            ids = [one for (one,) in self._db.execute(named, (scope.session, user))]
            if not ids:
                raise Unknown(f"session {scope.session!r}")
            tokens.append(any_of(f"{MARK}s{one}" for one in ids))
        if scope.kinds is not None:
            tokens.append(any_of(f"{MARK}k{KINDS[kind]}" for kind in scope.kinds))
        if scope.since is not None or scope.until is not None:
            days = self._days_of(scope)
            if len(days) <= _MOST_DAYS:
                tokens.append(any_of(map(day_term, days or [_NEVER])))
        return Within(self._db, scope, tokens)

    def _days_of(self, scope: Scope) -> list[int]:
        """The days that may lie within the scope's times; a day is that of its place, up to one off UTC's."""
        first = -_ALL if scope.since is None else scope.since // _DAY - 1
        last = _ALL if scope.until is None else scope.until // _DAY + 1
        found = self._db.execute("SELECT term FROM counts WHERE term >= ? AND term < ?", (f"{MARK}d", f"{MARK}e"))
        return [day for (term,) in found if first <= (day := int(term[2:])) <= last]

    def _id(self, query: str, what: str, name: str) -> int:
        row = self._db.execute(query, (name,)).fetchone()
        if row is None:
            raise Unknown(what)
        return int(row[0])

    def speakers(self, terms: Iterable[str]) -> list[int]:
        """Who has one of the terms in their name."""
        found = self._db.execute(
            "SELECT DISTINCT speaker FROM speaker_term WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(list(terms)),),
        )
        return [speaker for (speaker,) in found]

    def sessions(self, ids: Sequence[int]) -> dict[int, int]:
        """The sessions' lengths in terms."""
        rows = self._db.execute(
            "SELECT id, length FROM session WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        return dict(rows.fetchall())

    def session_count(self, user: str | None) -> int:
        """How many sessions there are, of one user or of all."""
        if user is None:
            return int(self._db.execute("SELECT count(*) FROM session").fetchone()[0])
        query = "SELECT count(*) FROM session JOIN name ON name.id = user WHERE what = 'user' AND name.name = ?"
        return int(self._db.execute(query, (user,)).fetchone()[0])

    def total_length(self) -> int:
        """The terms of all records together."""
        return int(self._db.execute("SELECT coalesce(sum(terms), 0) FROM language").fetchone()[0])

    def days(self, kinds: Iterable[Kind]) -> list[tuple[int, Novelty, int]]:
        """(day, novelty, how many records) for all days on which something of these kinds happened, oldest first."""
        named = list(Novelty)
        found = self._db.execute(
            "SELECT day, novelty, count(*) FROM turn WHERE kind IN (SELECT value FROM json_each(?)) "
            "GROUP BY day, novelty ORDER BY day",
            (json.dumps([KINDS[kind] for kind in kinds]),),
        )
        return [(day, named[novelty], count) for day, novelty, count in found]

    def place(self, number: int) -> tuple[int, int]:
        """Where a record lies: its chain's place among `chains`, and the byte offset."""
        chain, offset = self._db.execute("SELECT chain, offset FROM turn WHERE number = ?", (number,)).fetchone()
        return chain, offset

    def chains(self) -> list[Indexed]:
        """The chains, oldest first."""
        return [Indexed(*row) for row in self._db.execute("SELECT * FROM progress ORDER BY first")]

    def count(self) -> int:
        """How many records are indexed."""
        return int(self._db.execute("SELECT coalesce(max(number), -1) + 1 FROM turn").fetchone()[0])


class Within:
    """The records of one scope."""

    _COLUMNS: Final = "turn.number, session, ordinal, length, asks, speaker, twin"

    def __init__(self, db: sqlite3.Connection, scope: Scope, tokens: list[str]) -> None:
        self._db = db
        self._tokens = tokens
        self._times = [(sign, value) for sign, value in ((">=", scope.since), ("<=", scope.until)) if value is not None]
        self._held: dict[tuple[str, ...], int] = {}
        self._kinds = None if scope.kinds is None else sorted(KINDS[kind] for kind in scope.kinds)

    def count(self) -> int:
        """How many records there are in the scope."""
        if self._tokens:
            return self._count(self._tokens)
        query = f"SELECT count(*) FROM turn WHERE TRUE{self._in_time()}"  # noqa: S608
        if not self._times:
            query = "SELECT coalesce(max(number), -1) + 1 FROM turn"
        return int(self._db.execute(query, tuple(self._time_values())).fetchone()[0])

    def holding(self, terms: Sequence[str]) -> int:
        """How many of them hold one of the terms; for everything at most so many."""
        asked = tuple(terms)
        if asked not in self._held:  # a question asks twice: whether there are any, and how many
            self._held[asked] = self._hold(asked)
        return self._held[asked]

    def _hold(self, terms: Sequence[str]) -> int:
        if self._is_part():
            return self._count([*self._tokens, any_of(terms)])
        counted = self._db.execute(
            "SELECT coalesce(sum(doc), 0) FROM counts WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(list(terms)),),
        )
        return int(counted.fetchone()[0])

    def beginning(self, word: str) -> list[str]:
        """Terms of these records that begin with `word`, the most frequent first: at most 100."""
        if self._is_part() and not self._count([*self._tokens, f"{_quoted(word)} *"]):
            return []
        found = self._db.execute(
            "SELECT term FROM counts WHERE term >= ? AND term < ? ORDER BY doc DESC LIMIT ?",
            (word, word + "\U0010ffff", _LOOKED_AT),
        )
        return list(islice((term for (term,) in found if not self._is_part() or self.holding([term])), _BEGINNINGS))

    def _count(self, tokens: Sequence[str]) -> int:
        query = f"SELECT count(*) FROM terms{self._join()} WHERE terms MATCH ?{self._in_time()}"  # noqa: S608
        row = self._db.execute(query, (" AND ".join(tokens), *self._time_values())).fetchone()
        return int(row[0])

    def newest(self, words: Sequence[str], limit: int) -> list[int]:
        """The numbers of the newest records that hold all `words` (each from `any_of`), ascending."""
        match = " AND ".join([*self._tokens, *words])
        if not match:
            return _NO_ROWS
        query = f"SELECT terms.rowid FROM terms{self._join()} WHERE terms MATCH ?{self._in_time()}"  # noqa: S608
        query += " ORDER BY terms.rowid DESC LIMIT ?"
        found = self._db.execute(query, (match, *self._time_values(), limit)).fetchall()
        return [number for (number,) in reversed(found)]

    def places(self, limit: int, *, routine: bool) -> list[tuple[int, int]]:
        """Where the newest of them lie, as `Asking.place`, newest first; of a user, a session or kinds."""
        query = (
            "SELECT chain, offset FROM terms JOIN turn ON turn.number = terms.rowid "  # noqa: S608
            f"WHERE terms MATCH ? AND novelty <> ?{self._in_time()} ORDER BY terms.rowid DESC LIMIT ?"
        )
        dropped = -1 if routine else NOVELTIES[Novelty.ROUTINE]
        return self._db.execute(query, (" AND ".join(self._tokens), dropped, *self._time_values(), limit)).fetchall()

    def rows(self, numbers: Iterable[int]) -> list[Row]:
        """The columns of these records, each named once, as far as they are in the scope."""
        query = (
            f"SELECT {self._COLUMNS} FROM json_each(?) AS asked CROSS JOIN turn ON number = asked.value "  # noqa: S608
            f"WHERE TRUE{self._filter()}"
        )
        found = self._db.execute(query, (json.dumps(list(numbers)), *self._time_values()))
        return found.fetchall()

    def different(self, numbers: Iterable[int]) -> set[int]:
        """Of these records, the oldest and the newest of those with equal contents."""
        query = "SELECT twin, number FROM json_each(?) AS asked CROSS JOIN turn ON number = asked.value"
        found = self._db.execute(query, (json.dumps(sorted(numbers)),)).fetchall()
        # Of pairs with one twin a `dict` keeps the last.
        return {*dict(found).values(), *dict(reversed(found)).values()}

    def at(self, places: Iterable[tuple[int, int]]) -> list[Row]:
        """The columns of the records at these places (session, ordinal), as far as they are in the scope."""
        query = (
            f"SELECT {self._COLUMNS} FROM json_each(?) AS place "  # noqa: S608
            f"JOIN turn ON session = place.value >> {_ORDINAL_BITS} AND ordinal = place.value & {_ORDINAL} "
            f"WHERE TRUE{self._filter()}"
        )
        # One number a place: SQLite parses a pair of them anew for each column that it is compared with.
        asked = json.dumps([session << _ORDINAL_BITS | ordinal for session, ordinal in places])
        return self._db.execute(query, (asked, *self._time_values())).fetchall()

    def numbers(self) -> list[int]:
        """The numbers of all of them, ascending."""
        if self._tokens:
            return self.newest((), _ALL)
        query = f"SELECT number FROM turn WHERE TRUE{self._in_time()} ORDER BY number"  # noqa: S608
        return [number for (number,) in self._db.execute(query, tuple(self._time_values()))]

    def is_empty(self) -> bool:
        """Whether nothing is in the scope, times included."""
        if self._tokens:
            return not self.newest((), 1)
        return (
            self._db.execute(
                f"SELECT 1 FROM turn WHERE TRUE{self._in_time()} LIMIT 1",  # noqa: S608
                tuple(self._time_values()),
            ).fetchone()
            is None
        )

    def _filter(self) -> str:
        kinds = "" if self._kinds is None else f" AND kind IN ({', '.join(map(str, self._kinds))})"
        return kinds + self._in_time()

    def _is_part(self) -> bool:
        return bool(self._tokens or self._times)

    def _join(self) -> str:
        return " JOIN turn ON turn.number = terms.rowid" if self._times else ""

    def _in_time(self) -> str:
        return "".join(f" AND turn.at {sign} ?" for sign, _ in self._times)

    def _time_values(self) -> list[float]:
        return [value for _, value in self._times]


_ALL: Final = 1 << 62
_ORDINAL_BITS: Final = 32
_ORDINAL: Final = (1 << _ORDINAL_BITS) - 1
"""More turns than any session has."""
_BEGINNINGS: Final = 100
_LOOKED_AT: Final = 5_000
_DAY: Final = 86_400.0
_MOST_DAYS: Final = 400
"""Days up to which a stretch of time is looked up by its days; the times of what is found are compared in any case."""
_NEVER: Final = 1 << 40


def any_of(terms: Iterable[str]) -> str:
    """A query for records that hold one of the terms."""
    return f"({' OR '.join(map(_quoted, terms))})"


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""').replace("\x00", " ") + '"'


def day_term(day: int) -> str:
    """The term of a day, in days since 1970."""
    return f"{MARK}d{day}"
