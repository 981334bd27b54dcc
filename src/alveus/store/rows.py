"""The file of `stream.vec`: its layout, mapped for reading, written in place, swapped when it is made anew.

A header of 4,096 bytes, canonical JSON padded with spaces: the format, the embedder (`by`), the chain, the dimensions.
Then blocks of 4,096 records, little-endian, the last one with holes where nothing is yet:

    ids    u64 [4096]             first 8 bytes of record_id; 0 where there is no row
    signs  u64 [words, 4096]      a bit for each dimension, 1 where it is not negative; padded to words of 64
    rows   f32 [4096, dims]       unit vectors; zeros for a text that is none

An id is written last, and only once its row is on disk: it says that the row is there, and whose it is. The file is
never cut or made shorter: others have it mapped.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from alveus.journal import canonical
from alveus.store.arrays import numpy
from alveus.store.files import Files, exists, opened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]
    Ids = NDArray[np.uint64]
    Seqs = NDArray[np.int64]

HEADER: Final = 4096
BLOCK: Final = 4096
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_WRITE: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK


def words_of(dims: int) -> int:
    """How many words of 64 bits the signs of a row take."""
    return -(-dims // 64)


def layout(dims: int) -> Any:
    """The numpy type of a block."""
    np, words = numpy(), words_of(dims)
    return np.dtype([("ids", "<u8", BLOCK), ("signs", "<u8", (words, BLOCK)), ("rows", "<f4", (BLOCK, dims))])


def signs_of(rows: Rows) -> NDArray[np.uint64]:
    """The signs of rows [n, dims], u64 [words, n]."""
    np = numpy()
    bits = np.packbits(rows >= 0, axis=1, bitorder="little")
    padded = np.zeros((len(rows), 8 * words_of(rows.shape[1])), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(padded.view("<u8").T)  # type: ignore[no-any-return]


class Mapped:
    """The whole blocks of a file as they are now: mapped, to go through them; and open, to read here and there.

    A row read from the mapping brings up to 2 MiB of the file into this process's memory: a few thousand, all of it.
    `inode` tells one file of that name from another.
    """

    def __init__(self, fd: int, inode: tuple[int, int], dims: int, count: int) -> None:
        np, self._layout = numpy(), layout(dims)
        length = HEADER + count * self._layout.itemsize
        self._mapping = mmap.mmap(fd, length, mmap.MAP_SHARED, mmap.PROT_READ)
        self._fd = os.dup(fd)
        self._dims = dims
        self._large = length > _LARGE
        self.inode = inode
        self.count = count
        self._blocks = np.frombuffer(self._mapping, dtype=self._layout, count=count, offset=HEADER)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):
            os.close(self._fd)

    def whole(self) -> bool:
        """Whether the file is still as long as what is mapped: to touch what is cut off would end the process."""
        return os.fstat(self._fd).st_size >= len(self._mapping)

    def ids(self, size: int) -> Ids:
        """The ids of the first `size` records, u64, 0 where there is no row."""
        np = numpy()
        found = np.zeros(max(size, 1), dtype="<u8")
        for block in range(min(self.count, -(-size // BLOCK))):
            self._read(found[block * BLOCK : (block + 1) * BLOCK], block, "ids", 0)
        return found[:size]  # type: ignore[no-any-return]

    def signs(self, block: int, into: NDArray[np.uint64]) -> None:
        """The signs of a block, into u64 [words, 4096]."""
        self._read(into, block, "signs", 0)

    def rows(self, block: int, count: int) -> Rows:
        """The first `count` rows of a block, [count, dims], as they lie in the file."""
        if block % _BLOCKS_HELD == 0 and self._large and hasattr(mmap, "MADV_DONTNEED"):
            self._mapping.madvise(mmap.MADV_DONTNEED)  # the system keeps the pages, and brings them when asked
        rows: Rows = self._blocks["rows"][block, :count]
        return rows

    def scattered(self, seqs: Seqs) -> Rows:
        """The rows of these records, [n, dims]."""
        rows: Rows = numpy().zeros((len(seqs), self._dims), dtype="<f4")
        for row, seq in zip(rows, seqs.tolist(), strict=True):
            self._read(row, seq // BLOCK, "rows", seq % BLOCK * 4 * self._dims)
        return rows

    def _read(self, into: NDArray[Any], block: int, part: str, offset: int) -> None:
        """Into an array; what is not there any more leaves it as it is."""
        at = HEADER + block * int(self._layout.itemsize) + int(self._layout.fields[part][1]) + offset
        os.preadv(self._fd, [into.data], at)


_BLOCKS_HELD: Final = 8
"""Blocks gone through before the memory that they took is given back."""

_LARGE: Final = 128 << 20


class RowsFile:
    """One chain's rows of one embedder (`by`) on disk. Methods that write are called under the folder's lock.

    Where the file is another embedder's or none, rows are gathered in `stream.vec.new`, and `publish` swaps the two.
    Whoever gathers holds a lock on that file: one that nobody holds is left from a process that is no more.
    """

    def __init__(self, path: Path, files: Files, *, chain: str, by: str, dims: int) -> None:
        self.path = path
        self.new = path.with_name(path.name + ".new")
        self.found = ""  # what is in the file's place instead, for people
        self._files = files
        self._dims = dims
        head = {"block": BLOCK, "by": by, "chain": chain, "dims": dims, "format": "alveus.vec/2"}
        self._header = canonical.encode(head).ljust(HEADER, b" ")
        self._gathering: int | None = None
        self._ours = False
        self._was_ours = False

    def __del__(self) -> None:
        self._stop_gathering()

    # Reading

    def map(self, known: Mapped | None) -> Mapped | None:
        """The rows there are, mapped anew where the file grew or was replaced; None where none are of this embedder.

        A file that was replaced by another embedder's goes on serving who knows it. Raises OSError.
        """
        path = self.new if self._gathering is not None else self.path
        self.found = ""
        try:
            with opened(self._files, path, _READ) as fd:
                status = self._files.status(fd)
                inode = (status.st_dev, status.st_ino)
                if not self._is_ours(fd, status):
                    self._ours = False
                    return known
                self._ours = self._gathering is None
                self._was_ours = True
                if known is None or known.inode != inode or known.count != self._count(status):
                    known = self._mapped(fd, inode, self._count(status))
                return known
        except FileNotFoundError:
            self._ours = False
            return known

    @property
    def _size(self) -> int:
        return int(layout(self._dims).itemsize)

    def _count(self, status: os.stat_result) -> int:
        """The whole blocks of a file."""
        return (status.st_size - HEADER) // self._size

    def _is_ours(self, fd: int, status: os.stat_result) -> bool:
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(self.path))
        header = self._files.read(fd, HEADER, 0)
        if header == self._header:
            return True
        self.found = _described(header)
        return False

    def _mapped(self, fd: int, inode: tuple[int, int], count: int) -> Mapped | None:
        there = os.fstat(fd)
        if (there.st_dev, there.st_ino) != inode:
            raise OSError(errno.ENODEV, "it is no file of the system", str(self.path))  # a disk that is simulated
        if count == 0:
            return None
        return Mapped(fd, inode, self._dims, count)

    # Writing

    def write(self, seqs: Seqs, ids: Ids, rows: Rows) -> None:
        """Rows [n, dims] for the records `seqs` [n], rising, with their ids; after `begin`. Raises OSError."""
        if self._gathering is not None:
            self._write(self._gathering, seqs, ids, rows)
            return
        with opened(self._files, self.path, _WRITE) as fd:
            if not self._is_ours(fd, self._files.status(fd)):
                raise OSError(errno.EBUSY, "another embedder's took its place", str(self.path))
            self._write(fd, seqs, ids, rows)

    def _write(self, fd: int, seqs: Seqs, ids: Ids, rows: Rows) -> None:
        np = numpy()
        fresh = self._ids_at(fd, seqs) != ids  # another process may have been first
        seqs, ids, rows = seqs[fresh], ids[fresh], rows[fresh]
        if len(seqs) == 0:
            return
        end = HEADER + (int(seqs[-1]) // BLOCK + 1) * self._size
        if self._files.status(fd).st_size < end:
            self._files.truncate(fd, end)
        cuts = _cuts(seqs)
        runs = list(zip(np.split(seqs, cuts), np.split(ids, cuts), np.split(rows, cuts), strict=True))
        for some, _, _ in runs:
            self._put(fd, self._place(some, "ids", 8), bytes(8 * len(some)))  # for now they are nobody's
        for some, _, part in runs:
            self._put(fd, self._place(some, "rows", 4 * self._dims), part.astype("<f4").tobytes())
            for word, signs in enumerate(signs_of(part)):
                self._put(fd, self._place(some, "signs", 8) + word * 8 * BLOCK, signs.astype("<u8").tobytes())
        self._files.datasync(fd)
        for some, named, _ in runs:
            self._put(fd, self._place(some, "ids", 8), named.astype("<u8").tobytes())

    def _ids_at(self, fd: int, seqs: Seqs) -> Ids:
        """The ids that the file has for these records, 0 beyond its end."""
        np = numpy()
        read = b""
        for some in np.split(seqs, _cuts(seqs)):
            read += self._files.read(fd, 8 * len(some), self._place(some, "ids", 8)).ljust(8 * len(some), b"\0")
        return np.frombuffer(read, dtype="<u8")  # type: ignore[no-any-return]

    def _place(self, seqs: Seqs, part: str, width: int) -> int:
        """The byte at which this part of the first of these records lies."""
        block, row = divmod(int(seqs[0]), BLOCK)
        return HEADER + block * self._size + int(layout(self._dims).fields[part][1]) + row * width

    def _put(self, fd: int, place: int, data: bytes) -> None:
        if self._files.write_at(fd, data, place) != len(data):
            raise OSError(errno.ENOSPC, "only a part could be written", str(self.path))

    # Making it anew

    def begin(self) -> None:
        """Get ready to write: where the file is not this embedder's, begin or go on with `stream.vec.new`.

        Raises OSError where another process is at it, or has put its own in place of what was ours.
        """
        if self.ready:
            return
        if self._was_ours:
            raise OSError(errno.EBUSY, "it was replaced meanwhile", str(self.path))  # two that differ do not take turns
        self._gather()

    def _gather(self) -> None:
        fd = self._files.open(self.new, _WRITE | os.O_CREAT)
        try:
            if not self._files.try_lock(fd):
                raise OSError(errno.EBUSY, "another process is making it", str(self.new))
            if not self._is_ours(fd, self._files.status(fd)):
                self._files.truncate(fd, 0)
                self._put(fd, 0, self._header)
        except BaseException:
            self._files.close(fd)
            raise
        self._gathering = fd

    @property
    def ready(self) -> bool:
        """Whether rows can be written without `begin`."""
        return self._ours or self._gathering is not None

    @property
    def gathering(self) -> bool:
        """Whether rows go to `stream.vec.new`."""
        return self._gathering is not None

    def publish(self) -> None:
        """What was gathered takes the file's place. **The swap is the rename**: before it, the old file stands.

        Raises OSError; then the gathered file stays for the next writer.
        """
        fd = self._gathering
        if fd is None:
            return
        if exists(self._files, self.path) and not stat.S_ISREG(self._files.stat(self.path).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(self.path))
        self._files.sync(fd)
        self._files.rename(self.new, self.path)
        self._stop_gathering()
        self._ours = True

    def tidy(self) -> None:
        """Remove a `stream.vec.new` that nobody works at any more, where the file itself is in order."""
        if not self._ours or self._gathering is not None or not exists(self._files, self.new):
            return
        with opened(self._files, self.new, _READ) as fd:
            if stat.S_ISREG(self._files.status(fd).st_mode) and self._files.try_lock(fd):
                self._files.unlink(self.new)

    def _stop_gathering(self) -> None:
        fd, self._gathering = self._gathering, None
        if fd is not None:
            with contextlib.suppress(OSError):
                self._files.close(fd)


def _cuts(seqs: Seqs) -> Seqs:
    """Where runs of records that lie side by side in one block end."""
    np = numpy()
    return np.flatnonzero((np.diff(seqs) != 1) | (seqs[1:] % BLOCK == 0)) + 1  # type: ignore[no-any-return]


def _described(header: bytes) -> str:
    """What a header that is not ours names, for people."""
    try:
        named = canonical.decode(header.rstrip(b" "))
        return f"vectors of {named['by']} ({named['dims']} dimensions)"
    except (ValueError, KeyError, TypeError, RecursionError):
        return "something else"
