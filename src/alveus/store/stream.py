"""One chain's file with its head and index: opening, catching up, recovering, appending. spec/journal.md, 6 and 7.

The end of the chain (`link`, `tree`) moves in one place, `_take`, whether a line was written here, by another process,
or before a crash: the normal path runs the recovery code.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self

from alveus.errors import JournalError, Locked, StoreError
from alveus.journal.chain import Fault, Link, closing_in, closing_of, link_at
from alveus.journal.head import Head, Tree, leaf_hash, make_head
from alveus.journal.seal import Checked, Invalid, Key, Sealed, check, digest, format_time
from alveus.store import lines
from alveus.store.files import Files, exists, opened, sync_folder, write_all
from alveus.store.heads import heads_locked, load_head, save_head
from alveus.store.index import Index, IndexDamaged, Wanted, entry_of, every, informative, informative_unsigned
from alveus.store.keys import kid_in
from alveus.store.log import Log, Moved, truncate_durably

HEAD_SECONDS: Final = 1.0
HEAD_RECORDS: Final = 256
_TRIES: Final = 100
_COPY_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Torn:
    """What recovery set aside: the file's name, its length in bytes, its SHA-256."""

    name: str
    size: int
    sha256: str


Follower = Callable[[Checked], None]
"""Told of each record that another writer appended."""


class Stream:
    """An open chain. `refused` says why it cannot be written, or is empty.

    `_whole` is false while `link`, `tree` and the disk may disagree: an interrupt there makes the next call look again.
    """

    def __init__(self, path: Path, files: Files, key: Key, agent_id: str, *, read_only: bool, timeout: float) -> None:
        self.path = path
        self.files = files
        self.key = key
        self.refused = "it was opened for reading" if read_only else ""
        self.torn: list[Torn] = []
        self.followers: list[Follower] = []
        self.closed_through: str | None = None
        self._generation = 0
        self._marked: tuple[Link, Tree] | None = None
        self._due = False
        self._reading = threading.Lock()
        self._whole = True
        self._opening = True
        self._late: list[Sealed] = []
        self._heads: dict[bytes, Head] = {}
        if not exists(files, path):
            raise _missing(path)
        head = load_head(files, path, key)
        try:
            self.log = Log(path, files, read_only=read_only, timeout=timeout, follow=self._follow)
        except FileNotFoundError:
            raise _missing(path) from None
        try:
            self.link, self.tree = self._begin(head, agent_id)
            self._head_size = self.link.size
            self._head_at = time.monotonic()
            self.index = Index(beside(path, ".idx"), files, key, self.link.chain or "", read_only=bool(self.refused))
            self._load_index()
            self.log.after_sync = self._after_sync
            self.refresh()
            self._opening = False
        except BaseException:
            self.log.close()
            raise

    # Opening

    def _begin(self, head: Head | Fault, agent_id: str) -> tuple[Link, Tree]:
        if isinstance(head, Fault):
            return self._begin_basic(head, agent_id)
        self.closed_through = head.closed_through
        size = self.files.status(self.log.fd).st_size
        if size < head.bytes:
            raise self._damage("short_of_head", f"it ends at byte {size}, the head counts {head.bytes}", size)
        link = link_at(head, agent_id, "")
        if head.size:
            self._check_end(link)
        self.log.start_at(head.bytes, head.size, head.size)
        return link, head.tree()

    def _begin_basic(self, fault: Fault, agent_id: str) -> tuple[Link, Tree]:
        first = lines.line_at(self.files, self.log.fd, 0)
        named = kid_in(first)
        if named is not None and named != self.key.kid:
            raise JournalError(
                f"the journal {self.path} was signed with key {named}, this is key {self.key.kid}",
                code="wrong_key",
                hint="use the key it was signed with (ALVEUS_KEY_FILE, or --agent)",
            )
        with contextlib.suppress(Invalid):
            if fault.code == "head_missing" and check(first, self.key).chain is None:
                self.refused = "it was written by another implementation, without the signed profile"
                self.log.start_at(0, 0, 0)
                return Link(agent_id=agent_id), Tree()
        raise JournalError(
            f"the journal {self.path} cannot be opened: {fault.detail}",
            code=fault.code,
            hint="restore stream.head.0 and .1 from a backup, and run `alveus verify`",
        )

    def _check_end(self, link: Link) -> None:
        """The line before `link.offset` has to be the one the link remembers."""
        line = lines.last_line(self.files, self.log.fd, link.offset)
        if line is None or digest(line) != link.last_line:
            raise self._damage("fork_of_head", "the record the head ends with is not there", link.offset)
        last = check(line, self.key)
        link.last_time = last.timestamp
        link.closing = closing_in(last)

    def _damage(self, code: str, detail: str, offset: int) -> JournalError:
        return JournalError(
            f"the journal {self.path} is damaged before what was known to be on disk (byte {offset}): {detail}",
            code=code,
            hint="nothing was changed; run `alveus verify`, then restore the file from a backup",
        )

    def _load_index(self) -> None:
        """Entries up to the head: sealed blocks from the file, the rest, at most, from the stream."""
        try:
            if self.index.sealed > self.link.size:
                raise IndexDamaged("it reaches past the head")
            start = self._indexed_end()
        except IndexDamaged:
            self.index.forget()
            start = 0
        self._index_from(start)

    def _index_from(self, start: int) -> None:
        """Entries for the lines from byte `start` on. Only what is valid is classed: the rest has to be read."""
        for offset, raw in lines.placed(self.files, self.log.fd, start, self.link.offset):
            try:
                self.index.add(entry_of(check(raw[:-1], self.key), offset))
            except Invalid:
                self.index.add_unreadable(offset)

    def _indexed_end(self) -> int:
        view = self.index.view()
        if view.count == 0:
            return 0
        last = view.entry(view.count - 1).offset
        return last + len(lines.line_at(self.files, self.log.fd, last)) + 1

    def rebuild_index(self) -> None:
        """Make the index again from the stream, after it was found damaged."""
        with self._held(), heads_locked(self.files, self.path.parent, self.log.timeout):
            self._digest_late()
            self.index.forget()
            self._index_from(0)

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        if self.log.read_only:
            yield
        else:
            with self.log.locked():
                yield

    # Following

    def refresh(self) -> None:
        """See what others have appended. A writer that finds a torn tail sets it aside."""
        if self.log.read_only or self.log.poison:
            with self._reading:
                self._follow_reading()
        else:
            with self.log.locked():
                self._digest_late()

    def _follow_reading(self) -> None:
        end = self.files.status(self.log.fd).st_size
        self._digest_late()
        if not self._whole or not self._same_file() or end < self.link.offset:
            raise Moved
        try:
            self._take_lines(end)
        except Invalid:
            self._check_prefix()  # what was read may have been a write that was taken back

    def _same_file(self) -> bool:
        try:
            there, mine = self.files.stat(self.path), self.files.status(self.log.fd)
        except FileNotFoundError:
            raise Moved from None
        return (there.st_ino, there.st_dev) == (mine.st_ino, mine.st_dev)

    def _check_prefix(self) -> None:
        if self.link.size and digest(lines.last_line(self.files, self.log.fd, self.link.offset) or b"") != (
            self.link.last_line
        ):
            raise Moved

    def _follow(self) -> None:
        """Under the lock, before anything else."""
        if not self._whole:
            raise Moved  # an interrupt came between the disk and what we know of it
        if self.log.generation != self._generation:
            if self.link.size == 0:
                raise Moved
            self._check_prefix()
            self._generation = self.log.generation
        end = self.log.size
        if len(self._late) >= HEAD_RECORDS or end != self.link.offset:
            self._digest_late()
        if end < self.link.offset:
            raise self._damage("short_of_head", f"it was cut to {end} bytes while it was open", end)
        if end == self.link.offset:
            return
        try:
            self._take_lines(end)
        except Invalid as invalid:
            if self.refused:
                return
            if not self._opening:
                raise Moved from invalid  # recovery begins at the head on disk, not at what is in memory here
            self._set_aside(invalid, end)

    def _take_lines(self, end: int) -> None:
        """Take the lines up to byte `end`; raises Invalid at the first that does not follow."""
        for raw in lines.forwards(self.files, self.log.fd, self.link.offset, end):
            if not raw.endswith(b"\n"):
                raise Invalid("torn_tail", "the last line has no end")
            record, offset = check(raw[:-1], self.key), self.link.offset
            self._whole = False
            try:
                self.link.take(record)
            except Invalid:
                self._whole = True
                raise
            self.tree.append(leaf_hash(record.line))
            self.index.add(entry_of(record, offset))
            self.log.adopt(raw, 1)
            for follower in self.followers:
                follower(record)
            self._whole = True
        if not self.log.read_only and self.log.count - self.log.synced >= HEAD_RECORDS:
            self.log.nudge()

    # Recovering

    def _set_aside(self, invalid: Invalid, end: int) -> None:
        """From the first invalid byte on, into a file of its own; fails closed where that would hide a loss."""
        start, head = self.link.offset, load_head(self.files, self.path, self.key)
        if isinstance(head, Fault) or head.chain != self.link.chain:
            raise Moved  # another chain lies here now: none of this is ours to touch
        for raw in lines.forwards(self.files, self.log.fd, start, end):
            with contextlib.suppress(Invalid):
                later = check(raw[:-1], self.key) if raw.endswith(b"\n") else None
                if later is not None and later.chain == self.link.chain and later.synced >= self.link.size:
                    raise self._damage(
                        invalid.code,
                        f"{invalid.detail}, and record {later.seq} after it shows that it had been on disk",
                        start,
                    )
        try:
            torn = self._copy_aside(start, end)
        except OSError as error:
            self.refused = f"{end - start} damaged bytes at its end could not be set aside: {error.strerror}"
            return
        truncate_durably(self.files, self.path, start)
        self.torn.append(torn)

    def _copy_aside(self, start: int, end: int) -> Torn:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + f"{time.time_ns() % 10**9:09d}Z"
        aside = self.path.with_name(f"{self.path.name}.torn-{stamp}")
        state = hashlib.sha256()
        try:
            with opened(self.files, aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW) as fd:
                for at in range(start, end, _COPY_PIECE):
                    piece = self.files.read(self.log.fd, min(_COPY_PIECE, end - at), at)
                    state.update(piece)
                    write_all(self.files, fd, piece)
                self.files.sync(fd)
            sync_folder(self.files, aside.parent)
        except OSError:
            with contextlib.suppress(OSError):
                self.files.unlink(aside)
            raise
        return Torn(name=aside.name, size=end - start, sha256=state.hexdigest())

    # Appending

    def check_writable(self) -> None:
        """Raises StoreError unless this stream can be written."""
        if self.refused:
            raise StoreError(
                f"the journal cannot be written: {self.refused}",
                code="read_only",
                hint="open it for writing, or mend what the reason names",
            )

    def commit(self, data: bytes, sealed: Sequence[Sealed], link: Link) -> None:
        """Write records, under the lock; `link` lies behind them. They are on disk once `settle` says so."""
        self._whole = False
        try:
            self.log.append(data, len(sealed))
        except StoreError:
            self._whole = True
            raise
        # The commit point. Before the line above nothing happened; after it the records are whole to every reader,
        # and a crash leaves either all of them or a torn tail that the next opening sets aside.
        self.link = link
        self._late += sealed
        self._whole = True
        if link.size - self._head_size >= HEAD_RECORDS or time.monotonic() - self._head_at >= HEAD_SECONDS:
            self._mark()

    def settle(self, count: int, *, durable: bool) -> None:
        """Have the first `count` records on disk, now or soon, and the head not far behind; outside the lock."""
        if durable:
            self.log.wait(count)
        if not durable or self._marked is not None:
            self.log.defer(at_once=self._due)

    def _digest_late(self) -> None:
        """Tree and index of what was appended here, under the lock; neither is needed a record at a time."""
        if self._late:
            late = self._late
            offset = self.link.offset - sum([len(one.line) + 1 for one in late])
            self._whole = False
            self.tree.extend([leaf_hash(line) for _, line in late])
            entries = []
            for record, line in late:
                entries.append(entry_of(record, offset))
                offset += len(line) + 1
            self.index.add(b"".join(entries))
            self._late = []
            self._whole = True

    def _mark(self) -> None:
        """Note the end of the chain, under the lock: the next head will describe it, once it is on disk."""
        self._digest_late()
        self._marked = (self.link.copy(), self.tree.copy())
        self._due = True
        self._head_size, self._head_at = self.link.size, time.monotonic()

    def _after_sync(self, patience: float) -> None:
        mark, self._due = self._marked, False
        if mark is not None and mark[0].size <= self.log.synced:
            self._write_head(*mark, patience)  # where that fails it is still to be written, at the latest by `close`
            if self._marked is mark:
                self._marked = None

    def _write_head(self, link: Link, tree: Tree, patience: float) -> None:
        """A head of what is on disk, and the index blocks it covers."""
        head = make_head(
            tree,
            chain=link.chain or "",
            offset=link.offset,
            last_line_sha256=link.last_line,
            last_record_id=link.last_id,
            closed_through=self.closed_through,
            time=format_time(datetime.now(UTC)),
        )
        with heads_locked(self.files, self.path.parent, patience):
            if not self._same_file():
                return  # a rotation came first: these are not this chain's heads any more
            self.closed_through = save_head(self.files, self.path, self.key, head, self._heads).closed_through
            with contextlib.suppress(OSError):  # derived: what cannot be written stays in memory
                self.index.seal(link.size)

    def save_head(self) -> None:
        """Write a head of everything so far, once it is on disk."""
        with self.log.locked():
            self._mark()
            mark, self._marked = self._marked, None
        self.log.wait(self.link.size)
        if mark is not None:
            self._write_head(*mark, self.log.timeout)

    @contextlib.contextmanager
    def headed(self) -> Iterator[Link]:
        """Hold the lock with the head at the very end of the chain: for closing a day, or the chain."""
        for _ in range(_TRIES):
            self.check_writable()
            self.save_head()
            with self.log.locked():
                self._digest_late()
                if self.log.synced >= self.link.size:
                    self._write_head(self.link, self.tree, self.log.timeout)
                    yield self.link
                    return
        raise Locked("other processes write too fast to close anything now", hint="try again")

    def close_through(self, day: str) -> None:
        """Close the days up to `day` in the head; under `headed`."""
        self.closed_through = day
        self._write_head(self.link, self.tree, self.log.timeout)

    def close(self) -> None:
        """Write the head if it lags, and let the files go."""
        try:
            lags = self.link.size > self._head_size or self._marked is not None
            if lags and self._whole and not self.refused and not self.log.poison:
                with contextlib.suppress(Moved):  # whoever moved the file wrote its head
                    self.save_head()
        finally:
            self.log.close()

    # Reading

    @property
    def every(self) -> Wanted:
        """What of the index is wanted when everything is."""
        return every

    @property
    def informative(self) -> Wanted:
        """What of the index is not routine, as far as that is signed."""
        return informative_unsigned if self.link.basic else informative

    def line_at(self, offset: int) -> bytes:
        """The line that begins at `offset`, without LF."""
        return lines.line_at(self.files, self.log.fd, offset)

    def forwards(self, start: int = 0) -> Iterator[tuple[int, bytes]]:
        """The lines from byte `start` to the end as it is now, without LF, each with its byte offset."""
        placed = lines.placed(self.files, self.log.fd, start, self.link.offset)
        return ((offset, raw.removesuffix(b"\n")) for offset, raw in placed)

    def line_before(self, offset: int) -> bytes | None:
        """The line that ends, with its LF, at byte `offset`, without it; None where no line ends."""
        return lines.last_line(self.files, self.log.fd, offset)

    def make_durable(self) -> None:
        """Return once all that is known of the stream is on disk. Raises StoreUncertain if that cannot be told."""
        if self.log.read_only:
            self.files.datasync(self.log.fd)
        else:
            self.log.wait(self.link.size)

    def backwards(self) -> Iterator[tuple[int, bytes]]:
        """The lines from the end as it is now, last first, without LF, each with its byte offset."""
        return lines.backwards(self.files, self.log.fd, 0, self.link.offset)


class Batch:
    """Records being added, in a `with`: under the journal's lock, caught up. Entering raises StoreError if refused.

    `link` is the end of the chain as it will be, `lines` what is to be written.
    """

    __slots__ = ("_stream", "lines", "link", "sealed")

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __enter__(self) -> Self:
        stream = self._stream
        stream.log.lock()
        try:
            stream.check_writable()
            self.link = stream.link.copy()
        except BaseException:
            stream.log.unlock()
            raise
        self.sealed: list[Sealed] = []
        self.lines: list[bytes] = []
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._stream.log.unlock()

    def is_closed(self) -> bool:
        """Whether the last record closes the chain: nothing may follow it."""
        return self.link.closing is not None

    def add(self, sealed: Sealed) -> None:
        """Put one more at the end: it was made to follow `link`."""
        link, (record, line) = self.link, sealed
        if link.closing is not None:
            raise JournalError("the chain is closed", code="after_closing", hint="open the journal again")
        link.advance(line, record.record_id, record.timestamp)
        if "closing" in record.metadata:
            link.closing = closing_of(dict(record.metadata))
        self.sealed.append(sealed)
        self.lines += (line, b"\n")

    def commit(self) -> int:
        """Write them; returns the count of records that `Stream.settle` waits for."""
        if self.sealed:
            self._stream.commit(b"".join(self.lines), self.sealed, self.link)
        return self.link.size


def _missing(path: Path) -> JournalError:
    return JournalError(
        f"there is no journal at {path}, though its key or its head is there",
        code="stream_missing",
        hint="restore it from a backup; a journal that was lost is never begun anew by itself",
    )


def torn_files(files: Files, folder: Path) -> list[Torn]:
    """What was set aside in this folder, at any time."""
    found = []
    for name in sorted(name for name in files.names(folder) if name.startswith("stream.jsonl.torn-")):
        if not stat.S_ISREG(files.stat(folder / name).st_mode):
            continue
        state, size = hashlib.sha256(), 0
        with opened(files, folder / name, os.O_RDONLY | os.O_NOFOLLOW) as fd:
            while piece := files.read(fd, _COPY_PIECE, size):
                state.update(piece)
                size += len(piece)
        found.append(Torn(name=name, size=size, sha256=state.hexdigest()))
    return found


def beside(stream: Path, suffix: str) -> Path:
    """A file of the same chain: `stream.idx` beside `stream.jsonl`."""
    return stream.with_name(stream.stem + suffix)
