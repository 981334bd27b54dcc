"""A file of lines that is only appended to, by any number of processes and threads: spec/journal.md, section 7.

The log knows bytes, a lock and the disk; what a line means is its owner's affair. `locked` is the only way in: inside
it the owner has caught up with every other writer. `append` writes; `wait` returns once that is on disk, and one
sync serves everybody who waits. Lines not yet synced are kept in memory, so that a disk that fails a sync cannot take
them: the valid stream is then copied to a new file, never trusting the old descriptor again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NoReturn
from weakref import WeakSet

from alveus.errors import AlveusError, JournalError, Locked, StoreError, StoreUncertain
from alveus.store.files import Files, opened, sync_folder, write_all

SHARED_SYNC_SECONDS: Final = 0.05
SHARED_SYNC_LINES: Final = 256
SHARED_SYNC_BYTES: Final = 8 << 20
_COPY_PIECE: Final = 1 << 20
_NOBODY: Final = 0
_NOT_WRITTEN: Final = 1 << 62
_PATIENCE: Final = 1.0
"""Seconds that a thread counts on another before it looks for itself."""
_FIRST_PAUSE: Final = 0.0002
_LONGEST_PAUSE: Final = 0.02
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Moved(Exception):
    """The file under the path is another one now; the owner has to look again. Never leaves the store."""


class Turn:
    """A thread's wait until `count` lines are on disk, or until it is next."""

    __slots__ = ("_lock", "count", "thread")

    def __init__(self, count: int) -> None:
        self.count = count
        self.thread = threading.get_ident()
        self._lock = threading.Lock()
        self._lock.acquire()

    def wait(self) -> bool:
        """Whether another thread ended the wait; else an interrupt may have hit the one that was to do it."""
        return self._lock.acquire(timeout=_PATIENCE)

    def let_go(self) -> None:
        """End the wait; a second time, after an interrupt, does nothing."""
        if self._lock.locked():
            self._lock.release()


class Log:
    """One open log. `end` and `count` are the bytes and lines its owner knows, `synced` the lines known on disk.

    `follow` is called under the lock before anything else: it reads what others appended and `adopt`s it.
    `generation` grows when the file under the path was replaced and opened anew.
    """

    def __init__(
        self, path: Path, files: Files, *, read_only: bool, timeout: float, follow: Callable[[], None]
    ) -> None:
        self.path = path
        self.files = files
        self.follow = follow
        self.after_sync: Callable[[float], None] = _nothing
        self.generation = 0
        self.read_only = read_only
        self.timeout = timeout
        self.end = 0
        self.count = 0
        self.synced = 0
        self.size = 0
        self._synced_end = 0
        self._pending: deque[tuple[int, int, bytes]] = deque()
        self._retired: list[int] = []
        self._poison: str | None = None
        self.fd = self._open()
        self._start_anew()
        _open_logs.add(self)

    def _open(self) -> int:
        flags = os.O_RDONLY if self.read_only else os.O_RDWR | os.O_APPEND
        return self._identified(self.files.open(self.path, flags | os.O_NOFOLLOW | os.O_NONBLOCK))

    def _identified(self, fd: int) -> int:
        """The descriptor, having noted which file it is."""
        status = self.files.status(fd)
        self._file = (status.st_ino, status.st_dev)
        return fd

    def _start_anew(self) -> None:
        self._forked = False
        self._mutex = threading.RLock()  # not to be taken twice, but because it knows who has it
        self._state = threading.RLock()  # whoever is interrupted just before letting it go can take it again
        self._leader = self._next = _NOBODY
        self._turns: list[Turn] = []
        self.company = 1
        self._dirty = threading.Event()
        self._clean_at = 0.0
        self._closed = threading.Event()
        self._shut = False
        self._syncer: threading.Thread | None = None

    def start_at(self, end: int, count: int, synced: int) -> None:
        """Where the owner begins to follow; `synced` of the `count` lines are known to be on disk."""
        self.end, self.count, self.synced, self._synced_end = end, count, synced, end
        self._pending.clear()

    # The lock

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, the owner having caught up. Raises as `lock`."""
        self.lock()
        try:
            yield
        finally:
            self.unlock()

    def lock(self) -> None:
        """Take the lock and let the owner catch up; every `lock` needs its `unlock`.

        Raises Locked after `timeout` seconds, or at once where this very thread has it (a signal handler that records),
        Moved after a rotation, StoreUncertain when poisoned. It is not held then, nor after an interrupt.
        """
        if self._forked:
            self._renew()
        if self._is_mine():
            raise self._is_locked()
        try:
            if not self._mutex.acquire(timeout=self.timeout):
                raise self._is_locked()
            if self._shut or self._poison is not None:
                self._refuse()
            while True:
                if not self.files.try_lock(self.fd):
                    self._wait_for_lock()
                if self._is_current():
                    break
                self._reopen()
            self.follow()
        except BaseException:  # an interrupt can come as soon as it is taken
            if self._is_mine():
                self.unlock()
            raise

    def _is_mine(self) -> bool:
        mine: bool = self._mutex._is_owned()  # type: ignore[attr-defined]  # noqa: SLF001  (as `Condition` asks it)
        return mine

    def unlock(self) -> None:
        """Let the lock go."""
        try:
            self.files.unlock(self.fd)
        except OSError:
            pass  # closing the descriptor releases it all the same
        except BaseException:
            self._unlock_file()  # an interrupt may have come first
            raise
        finally:
            self._mutex.release()

    def _wait_for_lock(self) -> None:
        deadline, pause = time.monotonic() + self.timeout, _FIRST_PAUSE
        while not self.files.try_lock(self.fd):
            if time.monotonic() > deadline:
                raise self._is_locked()
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def _is_current(self) -> bool:
        try:
            there = self.files.stat(self.path)
        except FileNotFoundError:
            self._unlock_file()
            raise Moved from None
        self.size = there.st_size
        return self._file == (there.st_ino, there.st_dev)

    def _reopen(self) -> None:
        try:
            fd = self._open()
        except FileNotFoundError:
            raise Moved from None  # a change of key is between its two renames
        self._retire(self.fd)
        self.fd = fd
        self.generation += 1

    def _retire(self, fd: int) -> None:
        """Let go of a descriptor's lock. It stays open until `close`: another thread may be reading or syncing it."""
        with contextlib.suppress(OSError):
            self.files.unlock(fd)
        self._retired.append(fd)

    def _unlock_file(self) -> None:
        with contextlib.suppress(OSError):  # closing the descriptor releases it all the same
            self.files.unlock(self.fd)

    def _is_locked(self) -> Locked:
        return Locked(
            f"another process has held {self.path.name} for more than {self.timeout:g} s",
            hint="wait for it to finish, or find it with `lsof`",
        )

    def _renew(self) -> None:
        """A forked child shares its parent's lock; it needs a descriptor, a mutex and a syncing thread of its own."""
        self.files.close(self.fd)
        self.fd = self._open()
        self._start_anew()

    @property
    def poison(self) -> str:
        """Why this log writes no more, or an empty string."""
        return self._poison or ""

    def _refuse(self) -> None:
        if self._shut:
            raise StoreError("the journal is closed", code="closed", hint="open it again")
        if self._poison is not None:
            raise StoreUncertain(self._poison, code="poisoned", hint="close the journal and open it again")

    # Appending, under the lock

    def append(self, data: bytes, lines: int) -> None:
        """Write whole lines at the end. Raises StoreError with nothing written, or StoreUncertain and is poisoned."""
        try:
            written = self.files.write(self.fd, data)
        except OSError as error:
            self._take_back(error)
        if written != len(data):
            self._take_back(OSError(errno.ENOSPC, "the disk took only a part of the record"))
        count, end = self.count + lines, self.end + written
        self._pending.append((count, end, data))  # first: whoever syncs takes how far it got from here
        self.end, self.count = end, count

    def adopt(self, data: bytes, lines: int) -> None:
        """Count lines that lie at the end already: another process wrote them."""
        count, end = self.count + lines, self.end + len(data)
        if not self.read_only:
            self._pending.append((count, end, data))  # first, as in `append`
        self.end, self.count = end, count

    def _take_back(self, error: OSError) -> NoReturn:
        try:
            self.files.truncate(self.fd, self.end)
        except OSError as worse:
            self._poison = (
                f"writing failed ({error.strerror}) and could not be undone ({worse.strerror}): the first {self.count} "
                f"records are whole and {self.synced} of them known to be on disk; a torn line may follow them"
            )
            raise StoreUncertain(
                self._poison, code="poisoned", hint="free space, then open the journal again"
            ) from error
        full = error.errno in _FULL
        raise StoreError(
            f"nothing was recorded: {error.strerror}",
            code="disk_full" if full else "write_failed",
            hint="free some space and record it again" if full else "check the disk and record it again",
        ) from error

    # Durability, outside the lock

    def wait(self, count: int) -> None:
        """Return once the first `count` lines are on disk. Raises StoreUncertain if that cannot be told."""
        if self._forked:
            self._renew()
        me, turn, queued = threading.get_ident(), None, False
        try:
            while self.synced < count:
                with self._state:
                    # A leader that was interrupted between these lines finds its own mark here and takes over.
                    if self._leader in (_NOBODY, me):
                        self._lead(me)
                        turn = None
                    elif turn is None:
                        turn, queued = self._queue(count), True
                if turn is None:
                    lines, end, _ = self._pending[-1] if self._pending else (self.count, self.end, b"")
                    self._sync(self.fd, lines, end)
                    self._step_down()
                elif turn.wait():
                    turn = None
            if queued:
                self.pass_on()
        except BaseException:
            self._step_down(everybody=True)  # whoever counts on this thread has to help itself
            raise

    def _lead(self, me: int) -> None:
        if self._shut or self._poison is not None:
            self._refuse()
        self._leader = me
        self._be_next_no_more(me)

    # Who led a sync lets those go whose lines it brought to disk, and one of the others: that one is next, and writes
    # and syncs for all that wait by then. So each thread wakes once. `wait` waits for a leader, who holds no lock, but
    # never for the next one, who may have to wait for locks.

    def is_idle(self) -> bool:
        """Whether nobody syncs or waits for a sync, nor did when the last one ended: a thread that records alone."""
        return self._leader == self._next == _NOBODY and self.company == 1

    def queue(self) -> Turn | None:
        """A place behind the sync that is under way; where there is none, None, and this thread is next."""
        if self._forked:
            self._renew()
        me = threading.get_ident()
        with self._state:
            if self._leader in (_NOBODY, me) and self._next in (_NOBODY, me):
                self._next = me
                return None
            return self._queue(_NOT_WRITTEN)

    def take_over(self) -> None:
        """Be next in place of a thread that was waited for in vain."""
        with self._state:
            self._next = threading.get_ident()

    def pass_on(self) -> None:
        """Be next no more: whoever called `queue` calls this in the end."""
        if self._next != _NOBODY or self._turns:
            self._step_down()

    def _queue(self, count: int) -> Turn:
        turn = Turn(count)
        self._turns.append(turn)
        self._be_next_no_more(turn.thread)
        return turn

    def _be_next_no_more(self, me: int) -> None:
        if self._next == me:
            self._next = _NOBODY

    def _step_down(self, *, everybody: bool = False) -> None:
        me = threading.get_ident()
        with self._state:
            if self._leader == me:
                self._leader, self.company = _NOBODY, 1 + len(self._turns)
            self._be_next_no_more(me)
            if not self._turns:
                return
            waiting: list[Turn] = []
            for turn in self._turns:
                if turn.count > self.synced and not everybody:
                    waiting.append(turn)
                else:
                    turn.let_go()
            if waiting and self._leader == _NOBODY == self._next:
                first = waiting.pop(0)
                self._next = first.thread
                first.let_go()
            self._turns = waiting

    def _sync(self, fd: int, lines: int, end: int) -> None:
        try:
            self.files.datasync(fd)
        except OSError as error:
            self._rescue(error)
        else:
            self._note_synced(lines, end)

    def _note_synced(self, lines: int, end: int) -> None:
        with self._state:
            if lines > self.synced:
                self.synced, self._synced_end = lines, end
            while self._pending and self._pending[0][0] <= self.synced:
                self._pending.popleft()

    def _rescue(self, error: OSError) -> None:
        """After a failed sync: under the lock, what is on disk and what is in memory go to a new file."""
        try:
            with self.locked():
                self._copy_to_new_file()
        except (OSError, JournalError, Locked, Moved) as worse:
            self._poison = (
                f"syncing failed ({error.strerror}) and so did copying the journal ({worse}): the first {self.synced} "
                f"records are known to be on disk, the {self.count - self.synced} after them are not"
            )
            raise StoreUncertain(self._poison, hint="check the disk, then open the journal again") from worse
        self._note_synced(self.count, self.end)

    def _copy_to_new_file(self) -> None:
        new = self.path.with_name(self.path.name + ".rescue")
        with contextlib.suppress(FileNotFoundError):
            self.files.unlink(new)
        fd = self.files.open(new, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW)
        try:
            if not self.files.try_lock(fd):  # others find the new file locked until it is whole
                raise OSError(errno.EBUSY, "the new file is locked")
            self._copy(fd)
            self.files.sync(fd)
            self.files.rename(new, self.path)
        except BaseException:
            self.files.close(fd)
            raise
        old, self.fd = self.fd, self._identified(fd)
        self._retire(old)
        sync_folder(self.files, self.path.parent)

    def _copy(self, fd: int) -> None:
        at = 0
        while at < self._synced_end:
            piece = self.files.read(self.fd, min(_COPY_PIECE, self._synced_end - at), at)
            if not piece:
                raise OSError(errno.EIO, f"the journal could not be read past byte {at}")
            write_all(self.files, fd, piece)
            at += len(piece)
        for count, _, data in list(self._pending):
            if count > self.synced:
                write_all(self.files, fd, data)

    # Shared syncs

    def defer(self, *, at_once: bool = False) -> None:
        """Have the lines so far synced, and `after_sync` called: within 50 ms, or now where 256 lines or 8 MiB wait.

        What comes thick and fast is synced by whoever appends: a second thread that wakes for each sync makes every
        system call of the first hand over the interpreter, which costs a third of an append. Nobody who appends waits
        for another process, though: `after_sync` hears how many seconds it may.
        """
        lines, size = self.count - self.synced, self.end - self._synced_end
        if at_once or lines >= SHARED_SYNC_LINES or size >= SHARED_SYNC_BYTES:
            self._clean_at = time.monotonic()
            if self._sync_all(0):
                return
        self.nudge()

    def nudge(self) -> None:
        """Have the syncing thread look; for whoever holds the lock, since it waits for nothing."""
        if not self._dirty.is_set():
            self._clean_at = time.monotonic()
            self._dirty.set()
            self._ensure_syncer()

    def _ensure_syncer(self) -> None:
        if self._syncer is None:
            self._syncer = threading.Thread(target=self._sync_soon, name="alveus-sync", daemon=True)
            self._syncer.start()

    def _sync_soon(self) -> None:
        dirty, closed = self._dirty, self._closed
        while not closed.is_set():
            dirty.wait()
            while (rest := self._clean_at + SHARED_SYNC_SECONDS - time.monotonic()) > 0 and not closed.wait(rest):
                pass  # somebody synced meanwhile: what came after that is younger
            dirty.clear()
            if not closed.is_set():  # asked after `clear`, which may have undone the signal of `close`
                self._sync_all(self.timeout)

    def _sync_all(self, patience: float) -> bool:
        """Whether that was done. A failure poisoned the log, or left the head behind: who needs either next says so."""
        with contextlib.suppress(AlveusError, OSError, Moved):
            self.wait(self.count)
            self.after_sync(patience)
            return True
        return False

    def close(self) -> None:
        """Stop the syncing thread and let the file go; syncs nothing. A second time does nothing."""
        if self._shut:
            return
        self._shut = True
        self._closed.set()
        self._dirty.set()
        if self._syncer is not None and not self._forked:
            self._syncer.join()
        for fd in (*self._retired, self.fd):
            self.files.close(fd)


_open_logs: WeakSet[Log] = WeakSet()


def _note_fork() -> None:
    """In a forked child: every open log has to open its file again before it does anything."""
    for log in _open_logs:
        log._forked = True  # noqa: SLF001  (its own module)


os.register_at_fork(after_in_child=_note_fork)


def _nothing(_: float) -> None:
    """What there is to do after a sync, until the owner says."""


def truncate_durably(files: Files, path: Path, size: int) -> None:
    """Cut the file to `size` bytes and sync it."""
    with opened(files, path, os.O_RDWR | os.O_NOFOLLOW) as fd:
        files.truncate(fd, size)
        files.sync(fd)
