"""Every call to the operating system that can lose data, in one port, so that tests can make each of them fail.

`Disk` is the real one. Whatever the store changes on disk goes through a `Files`; nothing else opens a file to write.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from alveus.errors import Locked


class Files(Protocol):
    """The operating system, as far as the store needs it. Every method raises OSError."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int: ...
    def close(self, fd: int) -> None: ...
    def read(self, fd: int, size: int, offset: int) -> bytes: ...
    def write(self, fd: int, data: bytes) -> int: ...
    def write_at(self, fd: int, data: bytes, offset: int) -> int: ...
    def truncate(self, fd: int, size: int) -> None: ...
    def datasync(self, fd: int) -> None: ...
    def sync(self, fd: int) -> None: ...
    def status(self, fd: int) -> os.stat_result: ...
    def stat(self, path: Path) -> os.stat_result: ...
    def names(self, folder: Path) -> list[str]: ...
    def rename(self, old: Path, new: Path) -> None: ...
    def link(self, old: Path, new: Path) -> None: ...
    def unlink(self, path: Path) -> None: ...
    def mkdir(self, path: Path, mode: int) -> None: ...
    def rmdir(self, path: Path) -> None: ...
    def try_lock(self, fd: int) -> bool: ...
    def unlock(self, fd: int) -> None: ...


class Disk:
    """The local disk."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags | os.O_CLOEXEC, mode)

    def close(self, fd: int) -> None:
        os.close(fd)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        return os.pread(fd, size, offset)

    def write(self, fd: int, data: bytes) -> int:
        return os.write(fd, data)

    def write_at(self, fd: int, data: bytes, offset: int) -> int:
        return os.pwrite(fd, data, offset)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def datasync(self, fd: int) -> None:
        _datasync(fd)

    def sync(self, fd: int) -> None:
        os.fsync(fd)

    def status(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def stat(self, path: Path) -> os.stat_result:
        return os.lstat(path)

    def names(self, folder: Path) -> list[str]:
        return os.listdir(folder)

    def rename(self, old: Path, new: Path) -> None:
        os.rename(old, new)

    def link(self, old: Path, new: Path) -> None:
        os.link(old, new, follow_symlinks=False)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def mkdir(self, path: Path, mode: int) -> None:
        os.mkdir(path, mode)

    def rmdir(self, path: Path) -> None:
        os.rmdir(path)

    def try_lock(self, fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


_datasync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync

DISK = Disk()


@contextlib.contextmanager
def opened(files: Files, path: Path, flags: int, mode: int = 0o600) -> Iterator[int]:
    """An open descriptor, closed at the end."""
    fd = files.open(path, flags, mode)
    try:
        yield fd
    finally:
        files.close(fd)


@contextlib.contextmanager
def folder_locked(files: Files, folder: Path, timeout: float, why: str) -> Iterator[None]:
    """Hold an exclusive lock on a folder. Raises Locked with the sentence `why` after `timeout` seconds.

    It is let go twice, by name and by closing: an interrupt can come between a release and the line that makes it.
    """
    deadline = time.monotonic() + timeout
    with opened(files, folder, os.O_RDONLY | os.O_DIRECTORY) as fd:
        while not files.try_lock(fd):
            if time.monotonic() > deadline:
                raise Locked(why, hint="try again")
            time.sleep(_PAUSE)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                files.unlock(fd)


_PAUSE = 0.001


def sync_folder(files: Files, folder: Path) -> None:
    """Make the folder's entries durable: creations, renames and removals in it."""
    with opened(files, folder, os.O_RDONLY | os.O_DIRECTORY) as fd:
        files.sync(fd)


def write_all(files: Files, fd: int, data: bytes) -> None:
    """Write all of `data`; a short write is an error, as a full disk is."""
    if files.write(fd, data) != len(data):
        raise OSError(errno.ENOSPC, "only a part could be written")


def create(files: Files, path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a new file and make its bytes durable (not yet its name); FileExistsError if it is there."""
    with opened(files, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode) as fd:
        write_all(files, fd, data)
        files.sync(fd)


def replace(files: Files, path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put `data` in place of the file, whole or not at all; by default durable when it returns."""
    new = path.with_name(path.name + ".new")
    with contextlib.suppress(FileNotFoundError):
        files.unlink(new)
    with opened(files, new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW) as fd:
        write_all(files, fd, data)
        if durable:
            files.sync(fd)
    files.rename(new, path)
    if durable:
        sync_folder(files, path.parent)


def read_whole(files: Files, path: Path, limit: int) -> bytes | None:
    """The bytes of a small regular file, at most `limit`; None if there is none."""
    try:
        with opened(files, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK) as fd:
            if not stat.S_ISREG(files.status(fd).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file", str(path))
            return _read_fd(files, fd, limit)
    except FileNotFoundError:
        return None


def _read_fd(files: Files, fd: int, limit: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < limit and (part := files.read(fd, limit - size, size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def exists(files: Files, path: Path) -> bool:
    """Whether something has that name (a link counts as itself)."""
    try:
        files.stat(path)
    except FileNotFoundError:
        return False
    return True


def make_folders(files: Files, folder: Path, mode: int = 0o700) -> None:
    """Make the folder and what is missing above it, each made durable in its parent."""
    if exists(files, folder):
        return
    make_folders(files, folder.parent, mode)
    with contextlib.suppress(FileExistsError):
        files.mkdir(folder, mode)
    sync_folder(files, folder.parent)
