"""`stream.vec`: the unit vectors of one chain's records, one row a record, for recall by meaning.

Derived: made by the embedder it names, at that revision; another one begins it anew. A record whose text could not be
embedded has a row of zeros and is like nothing. It only ranks: what is recalled by it is checked like everything else.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from alveus.journal import canonical
from alveus.store.files import Files, opened, write_all
from alveus.store.heads import heads_locked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

_HEADER: Final = 1024
_BLOCK_ROWS: Final = 65_536
_TIMEOUT: Final = 10.0


class Vectors:
    """Rows float32 [size, dims] of one chain; `name` is the embedder's id and revision."""

    def __init__(self, path: Path, files: Files, *, chain: str, name: str, dims: int) -> None:
        self._path = path
        self._files = files
        self._dims = dims
        self._row = 4 * dims
        self._header = canonical.encode({"by": name, "chain": chain, "dims": dims}).ljust(_HEADER, b" ")

    def size(self) -> int:
        """How many records have a row; 0 where another embedder made them."""
        try:
            with opened(self._files, self._path, os.O_RDONLY | os.O_NOFOLLOW) as fd:
                if self._files.read(fd, _HEADER, 0) != self._header:
                    return 0
                return (self._files.status(fd).st_size - _HEADER) // self._row
        except FileNotFoundError:
            return 0

    def append(self, size: int, rows: Sequence[Rows | None]) -> None:
        """Rows for the records from `size` on, unless another process was first."""
        zeros = bytes(self._row)
        data = b"".join(zeros if row is None else row.astype("<f4").tobytes() for row in rows)
        with heads_locked(self._files, self._path.parent, _TIMEOUT):
            there = self.size()
            if there > size:
                return
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            with opened(self._files, self._path, flags) as fd:
                end = _HEADER + size * self._row
                if there < size or self._files.status(fd).st_size != end:
                    self._files.truncate(fd, end if there == size and size else 0)
                if size == 0:
                    write_all(self._files, fd, self._header)
                write_all(self._files, fd, data)

    def nearest(self, vector: Rows, top_k: int) -> list[tuple[float, int]]:
        """The `top_k` records most like a unit vector [dims], as (cosine, seq), best first; exact, block by block."""
        np, size = _numpy(), self.size()
        if size == 0:
            return []
        rows = np.memmap(self._path, dtype="<f4", mode="r", offset=_HEADER, shape=(size, self._dims))
        cosines = np.empty(size, dtype=np.float32)
        for start in range(0, size, _BLOCK_ROWS):
            cosines[start : start + _BLOCK_ROWS] = rows[start : start + _BLOCK_ROWS] @ vector
        order = np.lexsort((-np.arange(size), -cosines))[:top_k]  # the newer of equals first
        return [(float(cosines[seq]), int(seq)) for seq in order]


def _numpy() -> Any:
    import numpy as np  # noqa: PLC0415  (only who has an embedder has it)

    return np
