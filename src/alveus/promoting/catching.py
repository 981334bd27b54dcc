"""Pages out of the journal: what was appended since is taken in, a piece of records a transaction.

Each piece is written together with how far it reaches, so that a kill at any moment leaves nothing half taken or taken
twice. Only records that are on disk are taken in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import orjson

from alveus.errors import StoreError
from alveus.journal.seal import digest
from alveus.promoting.rows import page_of, page_row, scope_of_row
from alveus.store.database import AnswerRow, Database, Progress, ScopeRow
from alveus.store.stream import Stream
from alveus.tiers import page as pages
from alveus.tiers.page import Page, Seen
from alveus.tiers.policy import DEFAULT_USER, Policy
from alveus.tiers.summary import ORIGIN

_AT_ONCE: Final = 512


class Taken:
    """What a catching up touched: by the number of its scope, the pages that changed and those that left the window."""

    def __init__(self) -> None:
        self.stored: dict[tuple[int, int], Page] = {}
        self.overflowed: dict[tuple[int, int], Page] = {}


def fits(db: Database, streams: Sequence[Stream], policy: Policy) -> bool:
    """Whether what was read is of this past, by these rules; another process may have read further than we know of."""
    mine = db.progress()
    if mine and db.about("policy") != policy.version:
        return False
    if [one.chain for one in mine] != [stream.link.chain or "" for stream in streams][: len(mine)]:
        return False
    for number, (one, stream) in enumerate(zip(mine, streams, strict=False)):
        if not _ends_with(stream, one.offset, one.last):
            return False
        if number + 1 < len(mine) and one.offset < stream.link.offset:
            return False  # a later chain was begun upon a part of this one
    return _marks_fit(db, {stream.link.chain or "": stream for stream in streams})


def _ends_with(stream: Stream, offset: int, last: str) -> bool:
    if offset == 0:
        return last == ""
    line = stream.line_before(offset)
    return line is not None and digest(line) == last


def _marks_fit(db: Database, streams: dict[str, Stream]) -> bool:
    """Whether every watermark still names the line that it was set at."""
    for scope in db.scopes():
        if not scope.mark_line:
            continue
        row = db.page(scope.id, scope.departed - 1) if scope.departed else None
        ref = page_of(row).refs[-1] if row is not None else None
        if ref is None or (ref.chain, ref.seq) != (scope.mark_chain, scope.mark_seq) or ref.chain not in streams:
            return False
        if digest(streams[ref.chain].line_at(ref.offset)) != scope.mark_line:
            return False
    return True


def catch_up(db: Database, streams: Sequence[Stream], policy: Policy, assistant: str, said: Said) -> None:
    """Take in what was appended since, of `streams` oldest first; `said` hears of each piece in its transaction."""
    for stream in streams:
        while (at := _progress(db, stream)).offset < stream.link.offset:
            piece = list(islice(_read(stream, at), _AT_ONCE))
            if not piece:
                break
            with db.writing(lasting=False):
                if _progress(db, stream) != at:
                    continue  # another process took this piece
                taking = _Piece(db, policy, assistant)
                for seq, (offset, line) in enumerate(piece, at.size):
                    taking.take(line, (at.chain, seq, offset), at.first + seq + 1)
                taking.save()
                offset, line = piece[-1]
                after = at._replace(size=at.size + len(piece), offset=offset + len(line) + 1, last=digest(line))
                db.put([after])
                db.note_about("policy", policy.version)
                said(taking.taken, taking.scopes)


class Said:
    """Who is told of each piece: by default nobody."""

    def __call__(self, taken: Taken, scopes: dict[str, ScopeRow]) -> None:
        """Within the transaction of the piece."""


def _progress(db: Database, stream: Stream) -> Progress:
    name = stream.link.chain or ""
    found = db.progress()
    mine = next((one for one in found if one.chain == name), None)
    if mine is not None:
        return mine
    return Progress(name, found[-1].first + found[-1].size if found else 0, 0, 0, "")


def _read(stream: Stream, at: Progress) -> Iterator[tuple[int, bytes]]:
    with contextlib.suppress(StoreError, OSError):  # if these records are lost after all, the pages will not fit
        stream.make_durable()
    yield from stream.forwards(at.offset)


class _Piece:
    """Records being taken in, within a transaction."""

    def __init__(self, db: Database, policy: Policy, assistant: str) -> None:
        self._db = db
        self._policy = policy
        self._assistant = assistant
        self._answers: list[AnswerRow] = []
        self._sessions: dict[tuple[int, str], int] = {}
        self._pages: dict[tuple[int, int], Page] = {}
        self.scopes: dict[str, ScopeRow] = {}
        self.taken = Taken()

    def take(self, line: bytes, place: tuple[str, int, int], number: int) -> None:
        """One line of the journal. What is no record belongs to no page."""
        try:
            record = orjson.loads(line)
            if pages.is_summary(record):
                self._note_answer(record, place)
                return
            found = pages.seen(record, place, number)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        if found is not None:
            self._place(found)

    def _note_answer(self, record: dict[str, Any], place: tuple[str, int, int]) -> None:
        hc = record["metadata"]["hc"]
        scope, request = self._scope(hc.get("user") or DEFAULT_USER), hc["origin"].removeprefix(ORIGIN)
        known = self._db.answer(request, scope.id) or any(
            (a.request, a.scope) == (request, scope.id) for a in self._answers
        )
        if not known:  # of two answers the first counts, for everybody
            self._answers.append(AnswerRow(request, scope.id, record["record_id"], place[0], place[2]))

    def _place(self, record: Seen) -> None:
        scope = self._scope(record.user)
        last = self._last(scope.id, record.session)
        if last is None or pages.opens(record, last, scope.pages, self._policy):
            page = pages.begin(record, last, scope.pages, self._policy, scope_of_row(scope))
            scope = scope._replace(pages=scope.pages + 1)
            self._sessions[scope.id, record.session] = page.ordinal
            self._seal(scope.id, scope.pages - 1 - self._policy.stm_pages)
        else:
            page = pages.grown(last, record)
        self.scopes[scope.user] = scope._replace(version=record.number)
        self._pages[scope.id, page.ordinal] = self.taken.stored[scope.id, page.ordinal] = page

    def _scope(self, user: str) -> ScopeRow:
        if user not in self.scopes:
            self.scopes[user] = self._db.scope_made(user, self._assistant)
        return self.scopes[user]

    def _last(self, scope: int, session: str) -> Page | None:
        key = (scope, session)
        ordinal = self._sessions[key] if key in self._sessions else self._db.last_page(scope, session)
        return None if ordinal is None else self._page(scope, ordinal)

    def _page(self, scope: int, ordinal: int) -> Page | None:
        if (scope, ordinal) not in self._pages:
            row = self._db.page(scope, ordinal)
            if row is None:
                return None
            return page_of(row)
        return self._pages[scope, ordinal]

    def _seal(self, scope: int, ordinal: int) -> None:
        """A page leaves the window: its keywords are found, and its terms count from now on."""
        page = self._page(scope, ordinal) if ordinal >= 0 else None
        if page is None:
            return
        page = pages.sealed(page, ordinal, self._db.known(scope, page.words), self._policy)
        self._db.learn(scope, page.words)
        self._pages[scope, ordinal] = self.taken.overflowed[scope, ordinal] = page

    def save(self) -> None:
        """Write what changed. A page that is written here has no segment: it has not left STM."""
        self._db.put(self._answers)
        self._db.put(page_row(page, scope) for (scope, _), page in self._pages.items())
        self._db.put_sessions((scope, session, page) for (scope, session), page in self._sessions.items())
        self._db.put(self.scopes.values())
