"""`stream.vec`: the unit vectors of one chain's records, for recall by meaning; row number is the record's `seq`.

Derived: made by the embedder it names, at that revision. A row counts only for the record whose id it bears; others are
made again. What cannot be written stays in memory, and `notes` says why; recall goes on. Rows only rank: nothing seals
them, so one changed by hand can move its record up or down the ranking, or out of it. What is recalled by them is read
from its line and checked like everything else.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from alveus.errors import Locked
from alveus.store.arrays import ONE_THREAD, numpy
from alveus.store.files import Files
from alveus.store.heads import heads_locked
from alveus.store.index import IndexDamaged
from alveus.store.past import content_of, place_of
from alveus.store.rows import BLOCK, Mapped, RowsFile, signs_of
from alveus.store.stream import Stream, beside

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]
    Ids = NDArray[np.uint64]
    Seqs = NDArray[np.int64]
    Mask = NDArray[np.bool_]

EXACT: Final = 200_000
"""Rows up to which every one is compared; beyond, those whose signs are most like the query's."""

_AT_ONCE: Final = 256
_CHARACTERS_AT_ONCE: Final = 1 << 19
_FEWEST: Final = 3
"""Contents, characters of them, and yet so many, that go through the embedder together: one that fails alone says
nothing of the others."""
_LATER: Final = 60.0
"""Seconds after which what failed is tried again."""

_SAMPLE: Final = 1_024
_UNREADABLE: Final = 0xFFFF_FFFF_FFFF_FFFF
"""Stands for the id of a line that is not valid: the index has zeros, which in the file mean that no row is there."""

Embed = Callable[[list[str]], Sequence["Rows | None"]]
"""Contents (n) to unit vectors [dims]; None for one that could not be embedded."""


class Similar(NamedTuple):
    """Records by likeness to a query: `seqs` rising, each once, and the `cosines` to them, in the same order.

    `mean` and `deviation` are of the cosine over all allowed rows; above `EXACT` rows over an even sample of 1,024.
    """

    seqs: Seqs
    cosines: Rows
    mean: float
    deviation: float


class _State(NamedTuple):
    """What is searched: replaced as a whole, never changed, so that a search needs no lock."""

    mapped: Mapped | None
    filed: Mask  # [size] whether the file has the row of this record
    seqs: Seqs  # the records whose rows are in memory, in no order, each once
    rows: Rows  # and the rows, [n, dims]


class Vectors:
    """The vectors of one chain by one embedder (`by`, float32 [size, dims]). Safe from several threads.

    `left` records were left without a row the last time, because only so many were to be embedded.
    """

    def __init__(
        self, path: Path, files: Files, *, chain: str, by: str, dims: int, read_only: bool, timeout: float
    ) -> None:
        np = numpy()
        self.by = by
        self.dims = dims
        self.left = 0
        self._file = RowsFile(path, files, chain=chain, by=by, dims=dims)
        self._files = files
        self._timeout = timeout
        self._read_only = read_only
        self._guard = threading.RLock()
        self._ids: Ids = np.zeros(0, dtype=np.uint64)
        self._notes: dict[str, str] = {}
        self._state = _State(None, np.zeros(0, bool), np.zeros(0, np.int64), np.zeros((0, dims), np.float32))
        self._tidied = read_only
        self._unwritten_until = 0.0
        self._lost: Seqs = np.zeros(0, dtype=np.int64)
        self._lost_until = 0.0

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not as it should be, one sentence each."""
        return tuple(self._notes.values())

    @property
    def ids(self) -> Ids:
        """The ids of all records, as last looked at."""
        return self._ids

    def size(self) -> int:
        """How many records have a row: all before the first that has none."""
        there = self._there(self._state)
        return len(there) if there.all() else int(there.argmin())

    def _there(self, state: _State) -> Mask:
        there = state.filed.copy()
        there[state.seqs] = True
        return there

    # Catching up

    def look(self, ids: Ids) -> Seqs:
        """The records that have no row yet, rising; `ids` are those of all records, u64 [size], from the journal."""
        np = numpy()
        with self._guard:
            self._ids = np.where(ids == 0, np.uint64(_UNREADABLE), ids)
            if len(self._lost) and time.monotonic() >= self._lost_until:
                self._forget_lost()
            self._remap()
            return np.flatnonzero(~self._there(self._state))  # type: ignore[no-any-return]

    def _remap(self) -> None:
        np, state, size = numpy(), self._state, len(self._ids)
        try:
            mapped = self._file.map(state.mapped)
            self._notes.pop("unreadable", None)
        except (OSError, ValueError) as error:
            mapped = state.mapped
            self._note("unreadable", f"cannot be used ({_why(error)}); move it away, and it is made anew")
        if mapped is not None and not mapped.whole():
            mapped = None
        if self._file.found:
            self._note(
                "changed", f"has {self._file.found}, not vectors of {self.by} ({self.dims}): they are made again"
            )
        filed = mapped.ids(size) == self._ids if mapped is not None else np.zeros(size, bool)
        kept = state.seqs < size
        self._state = _State(mapped, filed, state.seqs[kept], state.rows[kept])

    def _note(self, about: str, what: str) -> None:
        self._notes[about] = f"{self._file.path.name} {what}"

    def begin(self) -> None:
        """Get ready to write, unless it was opened for reading; clean up what a process that was killed left."""
        with self._guard:
            if not self._read_only and not self._file.ready:
                self._try(self._file.begin)
                self._remap()

    def append(self, seqs: Seqs, rows: Rows, *, lasting: bool = True) -> None:
        """Rows [n, dims] for the records `seqs` [n], rising; of `look`. On disk where that can be, else in memory.

        Rows that are not `lasting` stand in for what could not be embedded: they are not written, and for a minute no
        other is made.
        """
        with self._guard:
            if len(seqs) == 0:
                return
            if not lasting:
                self._lost = numpy().union1d(self._lost, seqs)
                self._lost_until = time.monotonic() + _LATER
                self._note("lost", f"has no vectors of {len(self._lost)} records: {self.by} failed for them")
            elif not self._read_only:
                self._try(lambda: self._file.write(seqs, self._ids[seqs], rows))
                self._remap()
            self._keep(seqs, rows)

    def _forget_lost(self) -> None:
        """Let what could not be embedded be tried again."""
        np, state = numpy(), self._state
        kept = ~np.isin(state.seqs, self._lost)
        self._state = state._replace(seqs=state.seqs[kept], rows=state.rows[kept])
        self._lost = self._lost[:0]
        self._notes.pop("lost", None)

    def finish(self) -> None:
        """Every record has its row: a file that was made anew takes its place."""
        with self._guard:
            if self._file.gathering and "unwritten" not in self._notes:
                self._try(self._file.publish)
            elif self._file.ready and not self._tidied:
                self._tidied = True
                self._try(self._file.tidy)

    def _try(self, write: Callable[[], None]) -> bool:
        """Whether it could be written; after a failure not tried for a minute, so that nobody waits for each piece."""
        if time.monotonic() < self._unwritten_until:
            return False
        try:
            with heads_locked(self._files, self._file.path.parent, self._timeout):
                write()
        except (OSError, Locked) as error:
            self._note("unwritten", f"could not be written ({_why(error)}): its rows stay in memory")
            self._unwritten_until = time.monotonic() + _LATER
            return False
        self._notes.pop("unwritten", None)
        return True

    def _keep(self, seqs: Seqs, rows: Rows) -> None:
        """In memory, what the file has not got."""
        np, state = numpy(), self._state
        fresh = ~self._there(state)[seqs]
        self._state = state._replace(
            seqs=np.concatenate([state.seqs, seqs[fresh]]), rows=np.concatenate([state.rows, rows[fresh]])
        )

    # Searching

    def search(self, query: Rows, wanted: int, *, allowed: Mask | None = None, also: Seqs | None = None) -> Similar:
        """The `wanted` records most like a unit vector [dims] among those `allowed` (bool [size]), and those of `also`.

        Of equals the newer come first. A record of `also` without a row has the cosine 0. Up to 200,000 rows exact;
        beyond, the best are looked for among the rows whose signs are most like the query's.
        """
        with self._searching(query) as search:
            return search.run(wanted, _eligible(self._there(self._state), allowed), also)

    def cosines(self, query: Rows, seqs: Seqs) -> Rows:
        """The cosine to a unit vector [dims] of each of these records [n]; 0 where there is no row."""
        with self._searching(query) as search:
            return search.cosines(seqs)

    @contextlib.contextmanager
    def _searching(self, query: Rows) -> Iterator[_Search]:
        np, state = numpy(), self._state
        if state.mapped is not None and not state.mapped.whole():
            state = state._replace(mapped=None, filed=np.zeros_like(state.filed))
        with ONE_THREAD, np.errstate(all="ignore"):  # rows changed by hand may hold any number
            yield _Search(state, np.asarray(query, dtype=np.float32))


def _eligible(there: Mask, allowed: Mask | None) -> Mask:
    if allowed is None:
        return there
    eligible: Mask = numpy().zeros_like(there)
    count = min(len(there), len(allowed))
    eligible[:count] = there[:count] & allowed[:count]
    return eligible


class _Search:
    """One query against one state."""

    def __init__(self, state: _State, query: Rows) -> None:
        self._np = numpy()
        self._state = state
        self._query = query

    def run(self, wanted: int, eligible: Mask, also: Seqs | None) -> Similar:
        """See `Vectors.search`."""
        np = self._np
        among = np.flatnonzero(eligible)
        if len(among) > EXACT:
            measured = self.cosines(among[:: -(-len(among) // _SAMPLE)])
            among = self._promising(eligible, candidates(len(among), wanted))
            cosines = self.cosines(among)
        else:
            measured = cosines = self._all(eligible)[among]
        best = _best(cosines, wanted)
        seqs, cosines = among[best], cosines[best]
        if also is not None and len(also):
            more = np.setdiff1d(also, seqs)
            seqs, cosines = np.concatenate([seqs, more]), np.concatenate([cosines, self.cosines(more)])
            order = np.argsort(seqs)
            seqs, cosines = seqs[order], cosines[order]
        mean, deviation = (float(measured.mean()), float(measured.std())) if len(measured) else (0.0, 0.0)
        return Similar(seqs.astype(np.int64), cosines, mean, deviation)

    def _all(self, eligible: Mask) -> Rows:
        """The cosines of all rows, [size], block by block; 0 where none is needed."""
        np, mapped = self._np, self._state.mapped
        cosines = np.zeros(len(eligible), dtype=np.float32)
        for block in range(mapped.count if mapped is not None else 0):
            part = slice(block * BLOCK, min((block + 1) * BLOCK, len(eligible)))
            if mapped is not None and eligible[part].any():
                cosines[part] = mapped.rows(block, part.stop - part.start) @ self._query
        return self._with_memory(_bounded(cosines))

    def _with_memory(self, cosines: Rows) -> Rows:
        """What is in memory stands in for what the file does not have; rows of nobody are like nothing."""
        cosines[~self._state.filed] = 0.0
        if len(self._state.seqs):
            cosines[self._state.seqs] = _bounded(self._state.rows @ self._query)
        return cosines

    def cosines(self, seqs: Seqs) -> Rows:
        """The cosines of these records, in their order."""
        np, state = self._np, self._state
        cosines = np.zeros(len(seqs), dtype=np.float32)
        valid = (seqs >= 0) & (seqs < len(state.filed))
        filed = np.flatnonzero(valid)[state.filed[seqs[valid]]]
        if state.mapped is not None:
            for at in range(0, len(filed), BLOCK):
                some = filed[at : at + BLOCK]
                cosines[some] = state.mapped.scattered(seqs[some]) @ self._query
        if len(state.seqs):
            order = np.argsort(state.seqs)
            place = np.minimum(np.searchsorted(state.seqs, seqs, sorter=order), len(order) - 1)
            held = state.seqs[order[place]] == seqs
            cosines[held] = state.rows[order[place[held]]] @ self._query
        return _bounded(cosines)

    def _promising(self, eligible: Mask, count: int) -> Seqs:
        """The `count` records whose signs differ from the query's in the fewest places, newest of equals first."""
        np = self._np
        distances = np.full(len(eligible), _FAR, dtype=np.uint16)
        signs = signs_of(self._query[None, :])
        if self._state.mapped is not None:
            self._compare(signs, distances)
            distances[~self._state.filed] = _FAR
        if len(self._state.seqs):
            held = np.bitwise_count(signs_of(self._state.rows) ^ signs)
            distances[self._state.seqs] = np.add.reduce(held, axis=0, dtype=np.uint16)
        distances[~eligible] = _FAR
        limit = np.partition(distances, count - 1)[count - 1]
        nearer, equal = np.flatnonzero(distances < limit), np.flatnonzero(distances == limit)
        return np.sort(np.concatenate([nearer, equal[len(equal) - (count - len(nearer)) :]]))  # type: ignore[no-any-return]

    def _compare(self, signs: Ids, distances: NDArray[np.uint16]) -> None:
        """In how many signs each row of the file differs from the query's, u64 [words, 1]."""
        np, mapped = self._np, self._state.mapped
        apart = np.empty((len(signs), BLOCK), dtype="<u8")
        counts = np.empty((len(signs), BLOCK), dtype=np.uint8)
        for block in range(min(mapped.count, -(-len(distances) // BLOCK)) if mapped is not None else 0):
            if mapped is not None:
                mapped.signs(block, apart)
            np.bitwise_xor(apart, signs, out=apart)
            np.bitwise_count(apart, out=counts)
            part = distances[block * BLOCK : (block + 1) * BLOCK]
            part[:] = np.add.reduce(counts, axis=0, dtype=np.uint16)[: len(part)]


_FAR: Final = 0xFFFF


def candidates(rows: int, wanted: int) -> int:
    """How many rows are compared after the first pass: measured for 0.99 of the true hundred best, see ADR 0010."""
    return min(rows, max(2_000, rows // 200, 20 * wanted))


def _bounded(cosines: Rows) -> Rows:
    """Cosines as they can be: what a row changed by hand gives is cut, and what is no number is 0."""
    np = numpy()
    bounded: Rows = np.clip(np.nan_to_num(cosines, copy=False, nan=0.0), -1.0, 1.0)
    return bounded


def _best(cosines: Rows, wanted: int) -> Seqs:
    """The places of the `wanted` largest, rising; of equals the later ones."""
    np = numpy()
    if wanted <= 0:
        return np.zeros(0, dtype=np.int64)  # type: ignore[no-any-return]
    if len(cosines) <= wanted:
        return np.arange(len(cosines))  # type: ignore[no-any-return]
    limit = np.partition(cosines, len(cosines) - wanted)[len(cosines) - wanted]
    above, equal = np.flatnonzero(cosines > limit), np.flatnonzero(cosines == limit)
    return np.sort(np.concatenate([above, equal[len(equal) - (wanted - len(above)) :]]))  # type: ignore[no-any-return]


def _why(error: Exception) -> str:
    return getattr(error, "message", "") or getattr(error, "strerror", "") or type(error).__name__


# The vectors of a stream

_OPEN: Final[WeakKeyDictionary[Stream, Vectors]] = WeakKeyDictionary()
"""The vectors of each open stream: what is mapped and in memory lasts as long as the stream is open."""


def caught_up(
    stream: Stream,
    embed: Embed,
    *,
    by: str,
    dims: int,
    read_only: bool,
    most: int | None = None,
    told: Callable[[int], None] | None = None,
) -> Vectors:
    """The vectors of an open stream, with a row for every record as it is now, or for `most` more of them.

    Contents go through `embed` without any lock, up to 256 at a time; `told` hears how many. Where it fails for all of
    them, the rest is left.
    """
    vectors = _vectors_of(stream, by, dims, read_only=read_only)
    missing = vectors.look(_ids_of(stream, vectors.ids))
    if len(missing):
        vectors.begin()
        missing = vectors.look(vectors.ids)
    left = len(missing) if most is None else most
    while len(missing) and left > 0:
        done = _fill(stream, vectors, embed, missing[: min(_AT_ONCE, left)])
        if not done:
            return vectors
        left -= done
        if told is not None:
            told(done)
        missing = vectors.look(vectors.ids)
    vectors.left = len(missing)
    if not len(missing):
        vectors.finish()
    return vectors


def notes_of(streams: Sequence[Stream]) -> tuple[str, ...]:
    """What the vectors of these streams have to say, as far as any were asked for."""
    known = [vectors for vectors in map(_OPEN.get, streams) if vectors is not None]
    notes = [note for vectors in known for note in vectors.notes]
    left = sum(vectors.left for vectors in known)
    if left:
        notes.append(f"{left} records have no vector yet and are recalled by their words alone: `alveus rebuild`")
    return tuple(notes)


def _vectors_of(stream: Stream, by: str, dims: int, *, read_only: bool) -> Vectors:
    vectors = _OPEN.get(stream)
    if vectors is None or (vectors.by, vectors.dims) != (by, dims):
        vectors = _OPEN[stream] = Vectors(
            beside(stream.path, ".vec"),
            stream.files,
            chain=stream.link.chain or "",
            by=by,
            dims=dims,
            read_only=read_only,
            timeout=stream.log.timeout,
        )
    return vectors


def _ids_of(stream: Stream, known: Ids) -> Ids:
    """The ids of all records of a stream, u64 [size]; `known` are the first of them."""
    np = numpy()
    while True:
        try:
            starts = stream.index.view().id_starts(len(known))
        except IndexDamaged:
            stream.rebuild_index()
            continue
        fresh = np.frombuffer(starts, dtype="<u8")
        return np.concatenate([known, fresh])[: stream.link.size]  # type: ignore[no-any-return]


def _fill(stream: Stream, vectors: Vectors, embed: Embed, missing: Seqs) -> int:
    """Make the rows of these records, or of the first of them; how many, 0 where not one could be embedded."""
    np = numpy()
    contents = list[str]()
    room = _CHARACTERS_AT_ONCE
    for content in _contents_of(stream, missing):
        contents.append(content)
        room -= len(content)
        if room < 0 and len(contents) >= _FEWEST:
            break
    missing = missing[: len(contents)]
    made = embed(contents)
    failed = [row is None and bool(text.strip()) for text, row in zip(contents, made, strict=True)]
    zeros = np.zeros(vectors.dims, dtype=np.float32)
    rows = np.stack([zeros if row is None else row for row in made])
    lost = np.array(failed)
    vectors.append(missing[~lost], rows[~lost])
    vectors.append(missing[lost], rows[lost], lasting=False)
    return 0 if all(failed) else len(contents)


def _contents_of(stream: Stream, seqs: Seqs) -> Iterator[str]:
    """The contents of these records, rising; read in runs."""
    np = numpy()
    for run in np.split(seqs, np.flatnonzero(np.diff(seqs) != 1) + 1):
        for _, line in islice(stream.forwards(place_of(stream, int(run[0]))), len(run)):
            yield content_of(line)
