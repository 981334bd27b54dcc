"""A disk that obeys the letter of POSIX and no more, and ways to make any of its calls fail.

`SimulatedDisk` implements the store's port (`alveus.store.files.Files`) in memory and knows, for every file and folder,
what has been synced and what has not. `images` gives the disks a power cut could leave: data up to the last sync is
there; of what was written since, any part may be there, missing, zeros, or torn at any byte; a name that was made,
moved or removed counts only once its folder was synced. A failed sync loses what it should have written, also for
every later sync of that file, as real kernels do.

`Faulty` wraps any `Files` and fails the calls it is told to; `Clock` is a clock in the test's hand.
"""

from __future__ import annotations

import errno
import itertools
import os
import random
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from alveus.store.files import Files


class Crash(SystemExit):
    """The process is gone. No `except Exception` may survive it; a thread it hits ends without a word."""


class Clock:
    """A wall clock and a steady one. `advance` moves both, `jump` only the wall."""

    def __init__(self, now: str = "2026-01-01T12:00:00Z") -> None:
        self.wall = datetime.fromisoformat(now)
        self.uptime = 1000.0

    def now(self) -> datetime:
        """The wall clock."""
        return self.wall

    def steady(self) -> float:
        """Seconds since the machine started."""
        return self.uptime

    def advance(self, **time: float) -> None:
        """Time passes."""
        step = timedelta(**time)
        self.wall += step
        self.uptime += step.total_seconds()

    def jump(self, **time: float) -> None:
        """Somebody sets the wall clock."""
        self.wall += timedelta(**time)

    def set(self, day: str, hour: int = 12) -> None:
        """Time passes until that hour of that UTC day."""
        there = datetime.fromisoformat(day).replace(hour=hour, tzinfo=UTC)
        self.advance(seconds=(there - self.wall).total_seconds())


# The disk


Write = tuple[str, int, bytes]
"""("write", offset, data) or ("cut", size, b"")."""

Names = dict[str, "Inode | None"]
"""What one operation on a folder changes: names with what they stand for then; None for nothing."""


@dataclass(eq=False, slots=True)
class Inode:
    """A file or a folder: what programs see, what is on disk for certain, and what came since, in order."""

    number: int
    mode: int
    data: bytearray = field(default_factory=bytearray)
    kept: bytes = b""
    writes: list[Write] = field(default_factory=list)
    names: dict[str, Inode] = field(default_factory=dict)
    kept_names: dict[str, Inode] = field(default_factory=dict)
    changes: list[Names] = field(default_factory=list)
    holder: int | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it holds names."""
        return stat.S_ISDIR(self.mode)


def _apply(data: bytearray, write: Write) -> None:
    what, at, new = write
    if what == "cut":
        del data[at:]
        data.extend(bytes(at - len(data)))
        return
    data.extend(bytes(max(0, at - len(data))))
    data[at : at + len(new)] = new


class SimulatedDisk:
    """`Files` in memory, under `root`, which exists. Safe from several threads."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.dead = False
        self.trace: list[tuple[str, str]] = []
        self.refused_syncs: set[int] = set()
        self._numbers = itertools.count(1)
        self._fds = itertools.count(1000)
        self._open: dict[int, tuple[Inode, int]] = {}
        self._guard = threading.RLock()
        self.top = self._inode(stat.S_IFDIR | 0o700)

    def _inode(self, mode: int) -> Inode:
        return Inode(next(self._numbers), mode)

    # Finding

    def _parts(self, path: Path) -> tuple[str, ...]:
        return path.relative_to(self.root).parts

    def _find(self, path: Path) -> Inode | None:
        if path == self.root or path in self.root.parents:
            return self.top
        inode: Inode | None = self.top
        for part in self._parts(path):
            inode = inode.names.get(part) if inode is not None else None
        return inode

    def _need(self, path: Path) -> Inode:
        inode = self._find(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        return inode

    def _change(self, folder: Path, changes: Names) -> None:
        inode = self._need(folder)
        inode.changes.append(changes)
        _rename(inode.names, changes)

    def _check_alive(self) -> None:
        if self.dead:
            raise Crash

    # The port

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        """See `Files`."""
        with self._guard:
            self._check_alive()
            inode = self._find(path)
            if inode is None and flags & os.O_CREAT:
                inode = self._inode(stat.S_IFREG | mode)
                self._change(path.parent, {path.name: inode})
            elif inode is None:
                raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
            elif flags & os.O_CREAT and flags & os.O_EXCL:
                raise FileExistsError(errno.EEXIST, "File exists", str(path))
            fd = next(self._fds)
            self._open[fd] = (inode, flags)
            return fd

    def close(self, fd: int) -> None:
        """See `Files`."""
        with self._guard:
            assert fd in self._open, "a descriptor was closed twice: the second time it may be somebody else's"
            inode, _ = self._open.pop(fd)
            if inode.holder == fd:
                inode.holder = None

    def _inode_of(self, fd: int) -> Inode:
        self._check_alive()
        if fd not in self._open:
            raise OSError(errno.EBADF, "Bad file descriptor")
        return self._open[fd][0]

    def read(self, fd: int, size: int, offset: int) -> bytes:
        """See `Files`."""
        with self._guard:
            return bytes(self._inode_of(fd).data[offset : offset + size])

    def write(self, fd: int, data: bytes) -> int:
        """See `Files`. Every file of the store but `stream.vec` is written by appending."""
        with self._guard:
            return self.write_at(fd, data, len(self._inode_of(fd).data))

    def write_at(self, fd: int, data: bytes, offset: int) -> int:
        """See `Files`."""
        with self._guard:
            inode = self._inode_of(fd)
            if data:
                inode.writes.append(("write", offset, bytes(data)))
                _apply(inode.data, inode.writes[-1])
            return len(data)

    def truncate(self, fd: int, size: int) -> None:
        """See `Files`."""
        with self._guard:
            inode = self._inode_of(fd)
            inode.writes.append(("cut", size, b""))
            _apply(inode.data, inode.writes[-1])

    def datasync(self, fd: int) -> None:
        """See `Files`."""
        self.sync(fd)

    def sync(self, fd: int) -> None:
        """See `Files`."""
        with self._guard:
            inode = self._inode_of(fd)
            if fd in self.refused_syncs:
                raise AssertionError("a descriptor whose sync had failed was synced again")
            inode.kept = _settled(inode)
            inode.writes.clear()
            inode.kept_names = dict(inode.names)
            inode.changes.clear()

    def lose_unsynced(self, fd: int) -> None:
        """What a failed sync does: the writes it was asked for will never reach the disk, and nobody tells again."""
        with self._guard:
            inode = self._inode_of(fd)
            if not inode.is_folder:
                self.refused_syncs.add(fd)
                inode.writes = [("write", at, bytes(len(data))) for what, at, data in inode.writes if what == "write"]

    def status(self, fd: int) -> os.stat_result:
        """See `Files`."""
        with self._guard:
            return _status(self._inode_of(fd))

    def stat(self, path: Path) -> os.stat_result:
        """See `Files`."""
        with self._guard:
            self._check_alive()
            return _status(self._need(path))

    def names(self, folder: Path) -> list[str]:
        """See `Files`."""
        with self._guard:
            self._check_alive()
            return list(self._need(folder).names)

    def rename(self, old: Path, new: Path) -> None:
        """See `Files`. Nothing in the store is moved from one folder to another."""
        with self._guard:
            self._check_alive()
            assert old.parent == new.parent
            there = self._find(new)
            if there is not None and there.is_folder and there.names:
                raise OSError(errno.ENOTEMPTY, "Directory not empty", str(new))
            self._change(old.parent, {old.name: None, new.name: self._need(old)})

    def link(self, old: Path, new: Path) -> None:
        """See `Files`."""
        with self._guard:
            self._check_alive()
            if self._find(new) is not None:
                raise FileExistsError(errno.EEXIST, "File exists", str(new))
            self._change(new.parent, {new.name: self._need(old)})

    def unlink(self, path: Path) -> None:
        """See `Files`."""
        with self._guard:
            self._check_alive()
            self._need(path)
            self._change(path.parent, {path.name: None})

    def mkdir(self, path: Path, mode: int) -> None:
        """See `Files`."""
        with self._guard:
            self._check_alive()
            if self._find(path) is not None:
                raise FileExistsError(errno.EEXIST, "File exists", str(path))
            self._change(path.parent, {path.name: self._inode(stat.S_IFDIR | mode)})

    def rmdir(self, path: Path) -> None:
        """See `Files`."""
        self.unlink(path)

    def try_lock(self, fd: int) -> bool:
        """See `Files`."""
        with self._guard:
            inode = self._inode_of(fd)
            if inode.holder not in (None, fd):
                return False
            inode.holder = fd
            return True

    def unlock(self, fd: int) -> None:
        """See `Files`."""
        with self._guard:
            inode = self._inode_of(fd)
            if inode.holder == fd:
                inode.holder = None

    # What tests do to it

    def die(self) -> None:
        """The power goes: every call from now on is one too many, and background threads come to their end."""
        self.dead = True
        for thread in threading.enumerate():
            log = getattr(getattr(thread, "_target", None), "__self__", None)
            if thread.name == "alveus-sync" and _bottom(getattr(log, "files", None)) is self:
                for event in (log._closed, log._dirty):
                    event.set()

    def content(self, path: Path) -> bytes:
        """The bytes programs see under that name."""
        return bytes(self._need(path).data)

    def put(self, path: Path, data: bytes) -> None:
        """Replace a file's bytes, on disk at once: the hand of somebody outside."""
        inode = self._find(path)
        if inode is None:
            inode = self._inode(stat.S_IFREG | 0o600)
            self._change(path.parent, {path.name: inode})
        inode.data, inode.kept = bytearray(data), bytes(data)
        inode.writes.clear()

    def files(self) -> dict[str, bytes]:
        """Every file's path below the root, with its bytes."""
        found: dict[str, bytes] = {}

        def walk(inode: Inode, path: str) -> None:
            for name, one in inode.names.items():
                if one.is_folder:
                    walk(one, f"{path}{name}/")
                else:
                    found[path + name] = bytes(one.data)

        walk(self.top, "")
        return found

    def copy(self, shape: Shape | None = None) -> SimulatedDisk:
        """A disk with this one's files, all of them safely there; or, with a shape, as a power cut leaves them."""
        twin = SimulatedDisk(self.root)
        shape = shape or Shape()
        done: dict[int, Inode] = {}

        def inode_of(old: Inode) -> Inode:
            if old.number in done:
                return done[old.number]
            new = done[old.number] = twin._inode(old.mode)
            if old.is_folder:
                new.names = {name: inode_of(one) for name, one in shape.names(old).items()}
                new.kept_names = dict(new.names)
            else:
                new.data = bytearray(shape.data(old))
                new.kept = bytes(new.data)
            return new

        twin.top = inode_of(self.top)
        return twin

    def unsettled(self) -> tuple[list[Inode], list[Inode]]:
        """The files with unsynced bytes and the folders with unsynced names that could be reached after a crash."""
        files: dict[int, Inode] = {}
        folders: dict[int, Inode] = {}

        def walk(inode: Inode) -> None:
            if not inode.is_folder:
                if inode.writes or inode.data != inode.kept:
                    files[inode.number] = inode
                return
            if inode.changes:
                folders[inode.number] = inode
            reachable = [*inode.kept_names.values()]
            reachable += [one for change in inode.changes for one in change.values() if one is not None]
            for one in reachable:
                walk(one)

        walk(self.top)
        return list(files.values()), list(folders.values())


def _bottom(files: Any) -> Any:
    while hasattr(files, "below"):
        files = files.below
    return files


def _rename(names: dict[str, Inode], changes: Names) -> None:
    for name, inode in changes.items():
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode


def _settled(inode: Inode, writes: Iterable[Write] | None = None) -> bytes:
    data = bytearray(inode.kept)
    for write in inode.writes if writes is None else writes:
        _apply(data, write)
    return bytes(data)


def _status(inode: Inode) -> os.stat_result:
    return os.stat_result((inode.mode, inode.number, 7, 1, os.geteuid(), os.getegid(), len(inode.data), 0, 0, 0))


# Power cuts


@dataclass(slots=True)
class Shape:
    """What of the unsynced is on disk after a crash: contents by inode, names by folder; the rest as it was seen."""

    contents: dict[int, bytes] = field(default_factory=dict)
    folders: dict[int, dict[str, Inode]] = field(default_factory=dict)

    def data(self, inode: Inode) -> bytes:
        """The file's bytes."""
        return self.contents.get(inode.number, bytes(inode.data))

    def names(self, inode: Inode) -> dict[str, Inode]:
        """The folder's names."""
        return self.folders.get(inode.number, inode.names)


def _contents(inode: Inode, *, every_byte: bool) -> list[bytes]:
    """What the file may hold, its certain bytes first and all its bytes second."""
    writes = inode.writes
    found = [inode.kept, _settled(inode)]
    found += [_settled(inode, writes[:count]) for count in range(1, len(writes))]
    found += [_settled(inode, writes[:at] + writes[at + 1 :]) for at in range(len(writes) - 1)]
    for at, (what, offset, data) in enumerate(writes):
        if what != "write":
            continue
        before, after = writes[:at], writes[at + 1 :]
        found.append(_settled(inode, [*before, ("write", offset, bytes(len(data))), *after]))
        if after:
            continue
        cuts = range(1, len(data)) if every_byte else sorted({1, len(data) // 2, len(data) - 1} - {0})
        for cut in cuts:
            found.append(_settled(inode, [*before, ("write", offset, data[:cut])]))
            if not every_byte or cut % 64 == 0:
                found.append(_settled(inode, [*before, ("write", offset, data[:cut] + bytes(len(data) - cut))]))
                found.append(_settled(inode, [*before, ("write", offset, bytes(cut) + data[cut:])]))
    return found


def _foldings(inode: Inode) -> list[dict[str, Inode]]:
    """What names the folder may hold, the certain ones first and all of them second."""
    count = len(inode.changes)
    subsets: list[Sequence[Names]] = [[], inode.changes]
    if count <= 3:
        for size in range(1, count):
            subsets += itertools.combinations(inode.changes, size)
    else:
        subsets += [inode.changes[:at] for at in range(1, count)]
        subsets += [inode.changes[:at] + inode.changes[at + 1 :] for at in range(count)]
    found = []
    for subset in subsets:
        names = dict(inode.kept_names)
        for change in subset:
            _rename(names, change)
        found.append(names)
    return found


def images(disk: SimulatedDisk, *, every_byte: bool = False, more: int = 8, seed: int = 0) -> Iterator[SimulatedDisk]:
    """The disks a power cut at this moment may leave.

    Each file and each folder in every shape it can have, with all others once at their least and once at their most,
    and `more` mixtures. `every_byte` tears the last write of each file at every byte.
    """
    files, folders = disk.unsettled()
    contents = {inode.number: _contents(inode, every_byte=every_byte) for inode in files}
    foldings = {inode.number: _foldings(inode) for inode in folders}
    least = Shape({n: found[0] for n, found in contents.items()}, {n: found[0] for n, found in foldings.items()})
    most = Shape({n: found[1] for n, found in contents.items()}, {n: found[1] for n, found in foldings.items()})
    chosen = [least, most]
    for base in (least, most):
        for number, found in contents.items():
            chosen += [Shape({**base.contents, number: one}, base.folders) for one in found]
        for number, names in foldings.items():
            chosen += [Shape(base.contents, {**base.folders, number: one}) for one in names]
    dice = random.Random(seed)
    for _ in range(more if len(contents) + len(foldings) > 1 else 0):
        chosen.append(
            Shape(
                {number: dice.choice(found) for number, found in contents.items()},
                {number: dice.choice(names) for number, names in foldings.items()},
            )
        )
    seen = set()
    for shape in chosen:
        image = disk.copy(shape)
        looks = tuple(sorted(image.files().items()))
        if looks not in seen:
            seen.add(looks)
            yield image


# Faults

MUTATING = frozenset({"create", "write", "truncate", "datasync", "sync", "rename", "link", "unlink", "mkdir", "rmdir"})
READING = frozenset({"open", "read", "status", "stat", "names"})


@dataclass(frozen=True, slots=True)
class Call:
    """One call to the disk: what it was, and of what file."""

    kind: str
    name: str


class Faulty:
    """A `Files` that notes the calls made to it and lets a `Spoil` have them first.

    `create` is an open that may make a file. `calls` are those of the given kinds, `all_calls` every one.
    """

    def __init__(self, below: Files, kinds: Iterable[str] = MUTATING) -> None:
        self.below = below
        self.kinds = frozenset(kinds)
        self.calls: list[Call] = []
        self.all_calls: list[Call] = []
        self.fault: Callable[[Call, Callable[[], Any], Faulty, tuple[Any, ...]], Any] | None = None
        self._names: dict[int, str] = {}

    def _do(self, kind: str, name: str, *arguments: Any) -> Any:
        method = {"create": "open", "write": "write_at" if len(arguments) > 2 else "write"}.get(kind, kind)
        act = lambda: getattr(self.below, method)(*arguments)  # noqa: E731
        call = Call(kind, name)
        self.all_calls.append(call)
        if kind in self.kinds:
            self.calls.append(call)
        return act() if self.fault is None else self.fault(call, act, self, arguments)

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        """See `Files`."""
        fd: int = self._do("create" if flags & os.O_CREAT else "open", path.name, path, flags, mode)
        self._names[fd] = path.name
        return fd

    def close(self, fd: int) -> None:
        """See `Files`. Not spoiled: Linux lets the descriptor go in any case."""
        self._names.pop(fd, None)
        self.below.close(fd)

    def kill(self) -> None:
        """The process that used these files ends without a word: its descriptors and locks go, nothing is synced."""
        for fd in list(self._names):
            self.close(fd)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        """See `Files`."""
        data: bytes = self._do("read", self._names.get(fd, ""), fd, size, offset)
        return data

    def write(self, fd: int, data: bytes) -> int:
        """See `Files`."""
        count: int = self._do("write", self._names.get(fd, ""), fd, data)
        return count

    def write_at(self, fd: int, data: bytes, offset: int) -> int:
        """See `Files`. For a `Spoil` a write like any other."""
        count: int = self._do("write", self._names.get(fd, ""), fd, data, offset)
        return count

    def truncate(self, fd: int, size: int) -> None:
        """See `Files`."""
        self._do("truncate", self._names.get(fd, ""), fd, size)

    def datasync(self, fd: int) -> None:
        """See `Files`."""
        self._do("datasync", self._names.get(fd, ""), fd)

    def sync(self, fd: int) -> None:
        """See `Files`."""
        self._do("sync", self._names.get(fd, ""), fd)

    def status(self, fd: int) -> os.stat_result:
        """See `Files`."""
        found: os.stat_result = self._do("status", self._names.get(fd, ""), fd)
        return found

    def stat(self, path: Path) -> os.stat_result:
        """See `Files`."""
        found: os.stat_result = self._do("stat", path.name, path)
        return found

    def names(self, folder: Path) -> list[str]:
        """See `Files`."""
        found: list[str] = self._do("names", folder.name, folder)
        return found

    def rename(self, old: Path, new: Path) -> None:
        """See `Files`."""
        self._do("rename", new.name, old, new)

    def link(self, old: Path, new: Path) -> None:
        """See `Files`."""
        self._do("link", new.name, old, new)

    def unlink(self, path: Path) -> None:
        """See `Files`."""
        self._do("unlink", path.name, path)

    def mkdir(self, path: Path, mode: int) -> None:
        """See `Files`."""
        self._do("mkdir", path.name, path, mode)

    def rmdir(self, path: Path) -> None:
        """See `Files`."""
        self._do("rmdir", path.name, path)

    def try_lock(self, fd: int) -> bool:
        """See `Files`."""
        return self.below.try_lock(fd)

    def unlock(self, fd: int) -> None:
        """See `Files`."""
        self.below.unlock(fd)


class Spoil:
    """A fault for `Faulty`: of the calls it is `only` for, from the `first` on, `times` go wrong (None: all).

    `how`: `eio` and `enospc` fail without doing anything, `eio-done` and `enospc-done` do it and fail all the same;
    `short` writes half; `crash` ends the process before the call, `crash-done` after it. A sync that fails without
    doing anything loses what it should have written.
    """

    HOWS = ("eio", "eio-done", "enospc", "enospc-done", "short", "crash", "crash-done")

    def __init__(
        self,
        how: str,
        first: int = 0,
        times: int | None = 1,
        only: Callable[[Call], bool] = lambda call: call.kind in MUTATING,
    ) -> None:
        self.how = how
        self.first = first
        self.times = times
        self.only = only
        self.seen = 0
        self.spoiled: list[Call] = []

    def __call__(self, call: Call, act: Callable[[], Any], files: Faulty, arguments: tuple[Any, ...]) -> Any:
        """Do the call, or spoil it."""
        if not self.only(call):
            return act()
        number = self.seen
        self.seen += 1
        if number < self.first or (self.times is not None and number >= self.first + self.times):
            return act()
        if self.how == "short" and call.kind != "write":
            return act()
        self.spoiled.append(call)
        return self._spoil(call, act, files, arguments)

    def _spoil(self, call: Call, act: Callable[[], Any], files: Faulty, arguments: tuple[Any, ...]) -> Any:
        if self.how.endswith("-done"):
            act()
        elif call.kind in ("sync", "datasync") and hasattr(files.below, "lose_unsynced"):
            files.below.lose_unsynced(arguments[0])
        if self.how == "short":
            fd, data, *place = arguments
            half = data[: len(data) // 2]
            return files.below.write_at(fd, half, *place) if place else files.below.write(fd, half)
        if self.how.startswith("crash"):
            _bottom(files).die()
            raise Crash
        number = errno.EIO if self.how.startswith("eio") else errno.ENOSPC
        raise OSError(number, os.strerror(number))
