"""The ledger of receipts: spec/audit.md, section 2. A log of chained, signed lines beside the stream.

A receipt that `append` has returned for is on disk. The same receipt again, whatever its time, is not written twice, so
that an outbox can be drained after a crash without asking how far it came. What a crash left at the end is set aside
and named; damage before what was known to be on disk is refused, and nothing is changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Self

from alveus.audit.receipt import BadReceipt, Receipt, parse, serialise
from alveus.errors import InputError, JournalError, StoreError
from alveus.journal.canonical import NotCanonical
from alveus.journal.chain import Fault
from alveus.journal.record import MAX_LINE
from alveus.journal.seal import Invalid, Key, digest
from alveus.store import ledger_head, lines
from alveus.store.files import Files, exists, make_folders, opened, sync_folder, write_all
from alveus.store.keys import KeyRing
from alveus.store.ledger_head import Place, Seen
from alveus.store.log import Log, Moved, truncate_durably
from alveus.store.stream import Torn

NAME: Final = "receipts.jsonl"
DOMAIN: Final = b"alveus.receipt.v1||"
SCOPE_DOMAIN: Final = b"alveus.scope.v1||"
HASHED: Final = "hmac-sha256:"
"""How a scope begins that is stored as a keyed hash."""
_TIMEOUT: Final = 10.0
_TRIES: Final = 20
_COPY_PIECE: Final = 1 << 20
_HEAD_SECONDS: Final = 1.0
_HEAD_LINES: Final = 256
"""How far the head lags at most, while receipts come."""
_SEEN_LINES: Final = 1_000
"""Lines that a writer may have to read at its beginning."""
VARIABLE: Final = "ALVEUS_SCOPES"

_LINE: Final = re.compile(
    rb'\{"kid":"([0-9a-f]{16})","mac":"([0-9a-f]{64})",'
    rb'("prev_line":(?:null|"([0-9a-f]{64})"),"receipt":(\{.*\}),"seq":(0|[1-9]\d{0,15}),"synced":(0|[1-9]\d{0,15})\})',
    re.DOTALL,
).fullmatch
_HASHED_SCOPE: Final = re.compile(rf"{HASHED}[0-9a-f]{{64}}").fullmatch
_TIME: Final = re.compile(rb'"atUtc":"[^"]*",')


def hashes_wanted() -> bool:
    """Whether ALVEUS_SCOPES asks for names as keyed hashes. Raises InputError for a word that is neither."""
    said = os.environ.get(VARIABLE) or "plain"
    if said not in ("plain", "hashed"):
        raise InputError(f"{VARIABLE} is {said!r}", hint="plain or hashed; it counts where a ledger is begun")
    return said == "hashed"


class LedgerState(StrEnum):
    """What a walk over the ledger can end in."""

    WHOLE = "whole"
    EMPTY = "empty"
    TORN = "torn"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerVerdict:
    """What `verify` found. `size` lines are valid; a fault says what is wrong with the next, and where."""

    state: LedgerState
    size: int
    fault: Fault | None = None

    def __bool__(self) -> bool:
        """Whether nothing that is there was changed. A torn end is a crash's, and holds nothing promised."""
        return self.state is not LedgerState.BROKEN


class _Entry(NamedTuple):
    """A line that is valid on its own."""

    receipt: bytes
    prev_line: str | None
    seq: int
    synced: int
    kid: str


class End:
    """The end of the ledger so far: what the next line has to fit; for a writer, also which receipts are known.

    `head` is what the ledger is known to have reached.
    """

    def __init__(self, known: set[bytes] | None = None, head: Place | None = None) -> None:
        self.size = self.offset = self.synced = 0
        self.last_line: str | None = None
        self.first_kid: str | None = None
        self.known = known
        self.head = head

    @property
    def place(self) -> Place | None:
        """Where it is; None before the first line."""
        if self.last_line is None or self.first_kid is None:
            return None
        return Place(self.size, self.offset, self.last_line, self.first_kid)

    def begin_at(self, seen: Seen) -> None:
        """Begin behind lines that were read before."""
        self.size, self.offset, self.last_line, self.first_kid = seen.place
        if self.known is not None:
            self.known |= seen.identities

    def reached(self) -> None:
        """Nothing more comes. Raises Invalid where the ledger had reached further."""
        if self.head is not None and self.size < self.head.size:
            raise Invalid("cut_off", f"it had {self.head.size} lines, and has {self.size}")

    def take(self, entry: _Entry, line: bytes) -> None:
        """Advance over a valid line (no LF). Raises Invalid where it does not follow."""
        if entry.seq != self.size:
            raise Invalid("bad_seq", f"seq is {entry.seq} where {self.size} belongs")
        if entry.prev_line != self.last_line:
            raise Invalid("bad_prev_line", "prev_line is not the hash of the line before")
        if not self.synced <= entry.synced <= self.size:
            raise Invalid("bad_field", "synced does not lie between the line before and this one")
        self.advance(entry, line)
        if self.head is not None and self.size == self.head.size and self.last_line != self.head.last_line:
            raise Invalid("cut_off", f"line {self.size} is another one than it had there")

    def advance(self, entry: _Entry, line: bytes) -> None:
        """Advance over a line that was made to follow."""
        self.first_kid = self.first_kid or entry.kid
        self.last_line = digest(line)
        self.synced = entry.synced
        self.size += 1
        self.offset += len(line) + 1
        if self.known is not None:
            self.known.add(identity(entry.receipt))


class Ledger:
    """The receipts of one agent. Opened at first use; any number of processes and threads may append.

    With `hashed_scopes` (or ALVEUS_SCOPES=hashed) a new ledger stores the names of users and assistants as keyed
    hashes; one that was begun goes on as it was begun. `keys` finds the keys of lines that were written before a
    rotation.
    """

    def __init__(
        self,
        folder: Path,
        files: Files,
        key: Key,
        *,
        hashed_scopes: bool | None = None,
        keys: KeyRing | None = None,
        timeout: float = _TIMEOUT,
    ) -> None:
        self.path = folder / NAME
        self.files = files
        self.torn: list[Torn] = []
        self.key = key
        self._keys = keys
        self._hashed = hashes_wanted() if hashed_scopes is None else hashed_scopes
        self._timeout = timeout
        self._scopes: Key | None = None
        self._guard = threading.Lock()
        self._told = (0.0, 0)
        self._as_begun = False
        self._writer: _Writer | None = None
        self._retired: list[_Writer] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go; what was appended is on disk."""
        with self._guard:
            current, writers = self._writer, [*self._retired, *([] if self._writer is None else [self._writer])]
            self._writer, self._retired = None, []
        if current is not None:
            current.leave()
        for writer in writers:
            writer.log.close()

    # Appending

    def append(self, receipts: Iterable[Receipt]) -> int:
        """Have the receipts on disk when this returns; the number of those that were not there before.

        Raises StoreError with nothing written, StoreUncertain where that cannot be told, JournalError for a ledger that
        is damaged.
        """
        given = [_given(receipt) for receipt in receipts]
        if not given:
            return 0
        for _ in range(_TRIES):
            writer = self._writing()
            try:
                with writer.log.locked():
                    written, count = writer.write([self._as_stored(receipt) for receipt in given]), writer.log.count
                    place = writer.end.place
            except Moved:
                self._retire(writer)  # the file under the name is another one now: begin at its beginning
                continue
            writer.log.wait(count)  # the promise; also for receipts that were there, but perhaps not yet on disk
            if place is not None:
                self.tell(place)
            return written
        raise StoreError(f"{self.path} is replaced again and again", code="write_failed", hint="see who replaces it")

    def tell(self, place: Place, *, at_once: bool = False) -> None:
        """Have the head say so, now and then: what is at `place` is on disk."""
        at, size = self._told
        now = time.monotonic()
        if place.size > size and (at_once or now - at >= _HEAD_SECONDS or place.size - size >= _HEAD_LINES):
            self._told = (now, place.size)
            ledger_head.save(self.files, self.path.with_name(ledger_head.HEAD), self.key, place)

    def end(self) -> Place | None:
        """Where this writer last saw the end; None before it appended anything, and of an empty ledger."""
        writer = self._writer
        return None if writer is None else writer.end.place

    def head(self) -> Place | None:
        """What the ledger is known to have reached."""
        found = ledger_head.load(self.files, self.path.with_name(ledger_head.HEAD), self.key_named)
        return None if found is None else found.place

    def seen(self) -> Seen | None:
        """What a writer saved of the lines that it had read."""
        return ledger_head.load(self.files, self.path.with_name(ledger_head.SEEN), self.key_named)

    def since(self, place: Place) -> Iterator[Receipt] | None:
        """The receipts after a place, each line checked; None where the ledger is another one there, or shorter."""
        end = End()
        end.begin_at(Seen(place, set()))
        before = self._line_before(place.offset)
        if before is None or digest(before) != place.last_line:
            return None
        return (parse(entry.receipt) for entry in self._entries(strict=False, end=end))

    def _line_before(self, offset: int) -> bytes | None:
        try:
            with opened(self.files, self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK) as fd:
                return None if self.files.status(fd).st_size < offset else lines.last_line(self.files, fd, offset)
        except FileNotFoundError:
            return None

    def _hashes(self) -> bool:
        """A ledger whose first line hides its names hides them all, and one that does not, none."""
        if not self._as_begun:
            first = _LINE(next(self._raw(0), b"").removesuffix(b"\n"))
            if first is not None:
                self._hashed, self._as_begun = _HASHED_SCOPE(parse(first[5]).user_scope) is not None, True
        return self._hashed

    def _writing(self) -> _Writer:
        with self._guard:
            if self._writer is None:
                self._create()
                self._writer = _Writer(self, self._timeout)
            return self._writer

    def _retire(self, writer: _Writer) -> None:
        """Leave a writer; its file stays open until `close`, since another thread may be waiting for it."""
        with self._guard:
            if self._writer is writer:
                self._writer = None
                self._retired.append(writer)

    def _create(self) -> None:
        if exists(self.files, self.path):
            return
        make_folders(self.files, self.path.parent)
        for name in (ledger_head.HEAD, ledger_head.SEEN):  # they speak of a ledger that is lost
            with contextlib.suppress(FileNotFoundError):
                self.files.unlink(self.path.with_name(name))
        with (
            contextlib.suppress(FileExistsError),
            opened(self.files, self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW),
        ):
            pass
        sync_folder(self.files, self.path.parent)

    # Judging a line

    def check(self, raw: bytes) -> _Entry:
        """What a line with its LF says, its form and its MAC checked. Raises Invalid."""
        if not raw.endswith(b"\n"):
            raise Invalid("torn_tail", "the last line has no end")
        found = _LINE(raw, 0, len(raw) - 1)
        if found is None or len(raw) > MAX_LINE + 1:
            raise Invalid("bad_field", "the line is not what the format allows")
        kid, mac, signed, prev_line, receipt, seq, synced = found.groups()
        key = self.key_named(kid.decode())
        if not hmac.compare_digest(key.mac(DOMAIN, _signed(kid, signed)).hex().encode(), mac):
            raise Invalid("bad_signature", "the signature does not fit the line")
        return _Entry(receipt, None if prev_line is None else prev_line.decode(), int(seq), int(synced), kid.decode())

    def key_named(self, kid: str) -> Key:
        """The key of that name. Raises Invalid where it is not here."""
        key = self.key if kid == self.key.kid else None if self._keys is None else self._keys.named(kid)
        if key is None:
            raise Invalid("wrong_key", f"signed with key {kid}, not {self.key.kid}")
        return key

    def was_on_disk(self, after: Iterable[bytes], size: int) -> bool:
        """Whether a valid line after the damage says that more than `size` lines had been on disk."""
        for raw in after:
            with contextlib.suppress(Invalid):
                if self.check(raw).synced > size:
                    return True
        return False

    def damage(self, end: End, invalid: Invalid, *, lost: bool) -> JournalError:
        """The error for a line that is not valid; `lost` where no crash could have left it so."""
        return JournalError(
            f"the ledger {self.path} is damaged at line {end.size + 1} (byte {end.offset}): {invalid.detail}",
            code="ledger_broken",
            hint="nothing was changed; restore the file from a backup, or move it away: another is begun, and the past "
            "is uncertain"
            if lost
            else "if a crash left that, the next command that writes sets it aside; else restore a backup",
        )

    # Reading, without the lock

    def receipts(
        self,
        scope: tuple[str | None, str | None] | None = None,
        *,
        known: Collection[str] = (),
        strict: bool = False,
        end: End | None = None,
    ) -> Iterator[Receipt]:
        """The receipts in the order they were appended, each line checked; those of one (user, assistant) if given.

        A dimension that is None is not asked about. A keyed hash of a name in `known`, or in `scope`, comes out as that
        name. What a crash may have left at the end is passed over, for the next writer sets it aside; with `strict`
        nothing is, but a line without its end. `end` goes along with what is read. Raises JournalError at any other
        line that is not valid.
        """
        asked = scope or (None, None)
        names = {self._hash(name): name for name in (*known, *asked) if name is not None}
        stored = [None if name is None else self._stored_forms(name) for name in asked]
        for entry in self._entries(strict=strict, end=end):
            receipt = parse(entry.receipt)
            if all(forms is None or has in forms for forms, has in zip(stored, receipt.scope, strict=True)):
                yield _named(receipt, names)

    def _entries(self, *, strict: bool, end: End | None = None) -> Iterator[_Entry]:
        end = end or End()
        end.head = self.head()  # before the lines: what is appended meanwhile is no less
        if end.head is not None and not strict and not exists(self.files, self.path):
            return  # a ledger that is lost is begun anew; one that was cut is not
        try:
            for raw in self._raw(end.offset):
                entry = self.check(raw)
                end.take(entry, raw[:-1])
                yield entry
            end.reached()
        except Invalid as invalid:
            if invalid.code == "torn_tail" and self._has_all(end):
                return
            lost = self.is_lost(invalid, end, self._raw(end.offset))
            if strict or lost:
                raise self.damage(end, invalid, lost=lost) from invalid

    def _has_all(self, end: End) -> bool:
        return end.head is None or end.size >= end.head.size

    def is_lost(self, invalid: Invalid, end: End, after: Iterable[bytes]) -> bool:
        """Whether no crash can have left it so: what was known to be on disk is not there."""
        return invalid.code in ("wrong_key", "cut_off") or not self._has_all(end) or self.was_on_disk(after, end.size)

    def _raw(self, start: int) -> Iterator[bytes]:
        try:
            with opened(self.files, self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK) as fd:
                yield from lines.forwards(self.files, fd, start, self.files.status(fd).st_size)
        except FileNotFoundError:
            return

    def verify(self) -> LedgerVerdict:
        """Walk every line: form, signature, place and receipt. Changes nothing."""
        end = End(head=self.head())
        try:
            for raw in self._raw(0):
                entry = self.check(raw)
                _parsed(entry.receipt)
                end.take(entry, raw[:-1])
            end.reached()
        except Invalid as invalid:
            fault = Fault(code=invalid.code, detail=invalid.detail, line=end.size + 1, offset=end.offset, seq=end.size)
            torn = invalid.code == "torn_tail" and self._has_all(end)
            state = LedgerState.TORN if torn else LedgerState.BROKEN
            return LedgerVerdict(state=state, size=end.size, fault=fault)
        return LedgerVerdict(state=LedgerState.WHOLE if end.size else LedgerState.EMPTY, size=end.size)

    # Scopes

    def unlike_asked(self) -> str:
        """Where names are stored otherwise than ALVEUS_SCOPES asks for, a sentence that says so."""
        asked = self._hashed
        if asked and not self._hashes():
            return "ALVEUS_SCOPES asks for hashed names, and this ledger was begun with plain ones, and goes on so"
        return ""

    def name_of(self, receipt: Receipt) -> bytes:
        """What makes a receipt the same one again, as it would lie here."""
        return identity(serialise(self._as_stored(receipt)))

    def _as_stored(self, receipt: Receipt) -> Receipt:
        user, assistant = (self._stored_name(name) for name in receipt.scope)
        if (user, assistant) == receipt.scope:
            return receipt
        return replace(receipt, user_scope=user, assistant_scope=assistant)

    def _stored_forms(self, name: str) -> set[str]:
        """How a name may stand there, whichever way it was stored."""
        return {self._hash(name)} if _HASHED_SCOPE(name) else {self._hash(name), name}

    def _stored_name(self, name: str) -> str:
        """The name, or its hash; a name that looks like a hash is always hashed, so that nobody can pose as another."""
        return self._hash(name) if self._hashes() or _HASHED_SCOPE(name) else name

    def _hash(self, name: str) -> str:
        """Under the key of the ledger's first line, so that a rotation does not part a lane from its past."""
        return HASHED + self._scope_key().mac(SCOPE_DOMAIN, name.encode()).hex()

    def _scope_key(self) -> Key:
        if self._scopes is not None:
            return self._scopes
        kid = self._first_kid()
        if kid is None:
            return self.key  # the first line will be under this one
        try:
            self._scopes = self.key_named(kid)
        except Invalid as invalid:
            raise StoreError(
                f"the ledger {self.path} began under key {kid}, which is not here",
                code="key_missing",
                hint="restore that key from a backup",
            ) from invalid
        return self._scopes

    def _first_kid(self) -> str | None:
        first = next(self._raw(0), b"")
        found = _LINE(first.removesuffix(b"\n"))
        return None if found is None else found[1].decode()


class _Writer:
    """The ledger while it is written: the open log, and what is known of it. All of it happens under the log's lock."""

    def __init__(self, ledger: Ledger, timeout: float) -> None:
        self._ledger = ledger
        self._known: set[bytes] = set()
        self._begun = False
        self._saved = 0
        self.end = End(self._known)
        self.log = Log(ledger.path, ledger.files, read_only=False, timeout=timeout, follow=self._follow)
        self._generation = self.log.generation

    def write(self, given: Iterable[Receipt]) -> int:
        """Append what is new, in one write, under the lock; the number of receipts that were new."""
        fresh: dict[bytes, bytes] = {}
        for receipt in given:
            data = serialise(receipt)
            fresh.setdefault(identity(data), data)
        made = list(self._lines(data for identity, data in fresh.items() if identity not in self._known))
        if made:
            self.log.append(b"".join([line + b"\n" for _, line in made]), len(made))
        # The commit point. Before the line above nothing happened; after it every reader sees the receipts, and a crash
        # leaves all of them or an end that the next writer sets aside.
        for entry, line in made:
            self.end.advance(entry, line)
        return len(made)

    def _lines(self, wanted: Iterable[bytes]) -> Iterator[tuple[_Entry, bytes]]:
        key, prev_line = self._ledger.key, self.end.last_line
        synced = max(self.log.synced, self.end.synced)  # another process may know of more
        for seq, receipt in enumerate(wanted, self.end.size):
            entry = _Entry(receipt, prev_line, seq, synced, key.kid)
            line = _sign(key, entry)
            if len(line) > MAX_LINE:
                raise BadReceipt(f"the receipt's line is longer than {MAX_LINE} bytes", hint="name fewer sources")
            prev_line = digest(line)
            yield entry, line

    def _follow(self) -> None:
        """See what others appended, under the lock, before anything else."""
        log, end, first = self.log, self.end, not self._begun
        if log.generation != self._generation or log.size < end.offset:
            raise Moved
        if first:
            end.head = self._ledger.head()
            self._begin(self._ledger.seen())
        try:
            for raw in lines.forwards(log.files, log.fd, end.offset, log.size):
                entry = self._ledger.check(raw)
                end.take(entry, raw[:-1])
                if not first:
                    log.adopt(raw, 1)
            end.reached()
        except Invalid as invalid:
            self._set_aside(invalid)
        if first:
            log.start_at(end.offset, end.size, end.synced)
            self._begun = True

    def _begin(self, seen: Seen | None) -> None:
        """Spare the lines that were read before, where the ledger still is what it was there."""
        log = self.log
        if seen is None or seen.place.offset > log.size:
            return
        line = lines.last_line(log.files, log.fd, seen.place.offset)
        if line is not None and digest(line) == seen.place.last_line:
            self.end.begin_at(seen)
            self._saved = seen.place.size

    def leave(self) -> None:
        """Save what was read and is on disk, for the next writer."""
        end, place = self.end, self.end.place
        if place is None or self.log.synced < end.size or self.log.poison:
            return
        self._ledger.tell(place, at_once=True)
        if place.size - self._saved >= _SEEN_LINES:
            path = self._ledger.path.with_name(ledger_head.SEEN)
            ledger_head.save(self._ledger.files, path, self._ledger.key, place, self._known)

    def _set_aside(self, invalid: Invalid) -> None:
        """From the first invalid byte on, into a file of its own; refused where that would hide a loss."""
        log, start = self.log, self.end.offset
        after = lines.forwards(log.files, log.fd, start, log.size)
        if self._ledger.is_lost(invalid, self.end, after):
            raise self._ledger.damage(self.end, invalid, lost=True) from invalid
        self._ledger.torn.append(self._copy_aside(start))
        truncate_durably(log.files, log.path, start)

    def _copy_aside(self, start: int) -> Torn:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + f"{time.time_ns() % 10**9:09d}Z"
        log = self.log
        aside = log.path.with_name(f"{log.path.name}.torn-{stamp}")
        state = hashlib.sha256()
        with opened(log.files, aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW) as fd:
            for at in range(start, log.size, _COPY_PIECE):
                piece = log.files.read(log.fd, min(_COPY_PIECE, log.size - at), at)
                state.update(piece)
                write_all(log.files, fd, piece)
            log.files.sync(fd)
        sync_folder(log.files, aside.parent)
        return Torn(name=aside.name, size=log.size - start, sha256=state.hexdigest())


def _given(receipt: object) -> Receipt:
    if not isinstance(receipt, Receipt):
        raise BadReceipt("what was given is no receipt", hint="alveus.audit.receipt.Receipt")
    return receipt


def _named(receipt: Receipt, names: dict[str, str]) -> Receipt:
    user, assistant = (names.get(name, name) for name in receipt.scope) if names else receipt.scope
    if (user, assistant) == receipt.scope:
        return receipt
    return replace(receipt, user_scope=user, assistant_scope=assistant)


def _parsed(receipt: bytes) -> Receipt:
    try:
        return parse(receipt)
    except (NotCanonical, BadReceipt) as error:
        raise Invalid(error.code, error.message) from None


def identity(receipt: bytes) -> bytes:
    """What makes a receipt the same one again: everything but its time, which is never the last field."""
    return hashlib.sha256(_TIME.sub(b"", receipt, count=1)).digest()[:16]


def _sign(key: Key, entry: _Entry) -> bytes:
    previous = b"null" if entry.prev_line is None else b'"%b"' % entry.prev_line.encode()
    signed = b'"prev_line":%b,"receipt":%b,"seq":%d,"synced":%d}' % (previous, entry.receipt, entry.seq, entry.synced)
    kid = entry.kid.encode()
    mac = key.mac(DOMAIN, _signed(kid, signed)).hex().encode()
    return b'{"kid":"%b","mac":"%b",%b' % (kid, mac, signed)


def _signed(kid: bytes, rest: bytes) -> bytes:
    """The line without its `mac`: canonical too."""
    return b'{"kid":"%b",%b' % (kid, rest)
