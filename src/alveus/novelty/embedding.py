"""The embedding strategy: the largest calibrated cosine to the last vectors. numpy comes with the first vector."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Protocol

from alveus.errors import InputError
from alveus.journal.record import Novelty
from alveus.novelty.judgement import Judgement, NoveltyUnavailable, pack, unpack, unreadable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

CACHE_SIZE: Final = 1_000
"""Vectors a record is compared with: the seed's `cache_size`."""

PART: Final = 2_000
"""Characters of one text given to an embedder: beyond it models cut silently or take seconds."""

MAX_PARTS: Final = 8
"""Parts of a long content that are embedded, evenly spread, first and last among them."""

_DOWN: Final = 3
_COSINE_SURPRISE: Final = 0.50
_COSINE_ROUTINE: Final = 0.85


class Embedder(Protocol):
    """Texts to unit vectors. `id` and `revision` name the weights: printable ASCII without `@` and `;`."""

    @property
    def id(self) -> str:
        """The model's name."""
        ...

    @property
    def revision(self) -> str:
        """Which weights of that name: other weights, other revision."""
        ...

    @property
    def dims(self) -> int:
        """The length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts (n, at most 2,000 characters each, no lone surrogates) to float32 [n, dims], rows of length 1."""
        ...

    def calibration(self, cosine: float) -> float:
        """This model's cosine on the seed's scale, rising; identity unless the embedder knows better."""
        return cosine


_NAME: Final = re.compile(r"[!-:<-?A-~]{1,200}")  # printable ASCII but '@' and ';', which `by` uses itself
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def parts(content: str) -> list[str]:
    """What of a content an embedder is given: 1 to 8 texts of at most 2,000 characters, lone surrogates replaced."""
    text = _SURROGATE.sub("\ufffd", content)
    count = math.ceil(len(text) / PART) or 1
    size = math.ceil(len(text) / count)
    last = min(count, MAX_PARTS) - 1
    chosen = [at * (count - 1) // last for at in range(last + 1)] if last else [0]
    return [text[at * size : (at + 1) * size] for at in chosen]


_LONGEST_NAME: Final = 160


class EmbeddingNovelty:
    """The embedding strategy: a ring of the last `cache_size` unit vectors, float32 [cache_size, dims].

    `embed` is the model call and needs no lock; the rest does. `note` says why a saved state was not used.
    """

    __slots__ = ("_count", "_next", "_ring", "by", "cache_size", "embedder", "note")

    def __init__(self, embedder: Embedder, cache_size: int = CACHE_SIZE, *, note: str = "") -> None:
        """Start empty. Raises `InputError` for an embedder whose id, revision or dims cannot be recorded."""
        for name in (embedder.id, embedder.revision):
            if not _NAME.fullmatch(name):
                raise InputError(f"an embedder cannot be named {name!r}.", hint="printable ASCII without '@' and ';'")
        if len(embedder.id) + len(embedder.revision) > _LONGEST_NAME:
            raise InputError(
                f"an embedder's id and revision have {_LONGEST_NAME} characters at most together",
                hint="shorten them: hc.by has to hold both",
            )
        if embedder.dims < 1 or cache_size < 1:
            raise InputError("an embedder needs at least 1 dimension and a cache of 1.", hint="check its dims")
        self.embedder = embedder
        self.cache_size = cache_size
        self.by = f"embed:{embedder.id}@{embedder.revision}"
        self.note = note
        self._ring: Vector | None = None
        self._count = 0  # vectors ever learnt: the next one's slot is _count % cache_size
        self._next = 0

    @property
    def next_seq(self) -> int:
        """One past the last record whose vector was learnt; records without a vector leave no trace here."""
        return self._next

    def __len__(self) -> int:
        return min(self._count, self.cache_size)

    def embed(self, content: str) -> Vector:
        """The content's unit vector, float32 [dims]; of a long content the mean over its parts.

        Raises `NoveltyUnavailable` when the rows cannot be used, and whatever the embedder raises.
        """
        texts = parts(content)
        rows = _unit_rows(self.embedder.encode(texts), (len(texts), self.embedder.dims))
        return self._unit(rows.mean(axis=0))

    def embed_many(self, contents: Sequence[str]) -> list[Vector | None]:
        """As `embed`, many at once; None for what is blank or could not be embedded. Raises nothing of the embedder's.

        Where the whole cannot be embedded each is tried alone, so that one content does not cost the others theirs;
        after three failures in a row the embedder is taken to be down.
        """
        made: dict[int, Vector] = {}
        full = [number for number, content in enumerate(contents) if content.strip()]
        try:
            made = dict(zip(full, self._embed_whole([contents[number] for number in full]), strict=True))
        except Exception:  # noqa: BLE001  (someone else's code, as in the judge: what is missing says that it failed)
            failures = 0
            for number in full:
                vector = self._attempt(contents[number]) if failures < _DOWN else None
                failures = 0 if vector is not None else failures + 1
                if vector is not None:
                    made[number] = vector
        return [made.get(number) for number in range(len(contents))]

    def _embed_whole(self, contents: Sequence[str]) -> list[Vector]:
        split = [parts(content) for content in contents]
        texts = [text for some in split for text in some]
        if not texts:
            return []
        rows = _unit_rows(self.embedder.encode(texts), (len(texts), self.embedder.dims))
        ends = list(accumulate(len(some) for some in split))
        means = [rows[end - len(some) : end].mean(axis=0) for end, some in zip(ends, split, strict=True)]
        return list(_unit_rows(means, (len(means), self.embedder.dims)))

    def _attempt(self, content: str) -> Vector | None:
        try:
            return self.embed(content)
        except Exception:  # noqa: BLE001  (see `embed_many`)
            return None

    def judge(self, content: str) -> Judgement:
        """Embed and judge in one step; raises as `embed` and `judge_vector` do."""
        return self.judge_vector(self.embed(content))

    def judge_vector(self, vector: Vector, also: Vector | None = None) -> Judgement:
        """Judge a vector [dims] against the ring and `also` [n, dims]; changes nothing. `similarity` is of the nearest.

        The first record is a prediction error. Raises `NoveltyUnavailable` for a vector or calibration of no use.
        """
        unit = self._unit(vector)
        known = [] if self._ring is None else [self._ring[: len(self)]]
        if also is not None:
            known.append(also)
        # Row by row: for the product of a matrix BLAS would wake its threads, at every record, for 0.1 ms of work.
        cosines = [float(_numpy().vecdot(rows, unit).max()) for rows in known]
        if not cosines:
            return Judgement(Novelty.PREDICTION_ERROR, 0.0, self.by)
        cosine = max(cosines)
        similarity = float(self.embedder.calibration(max(-1.0, min(1.0, cosine))))
        if not math.isfinite(similarity):
            raise NoveltyUnavailable(f"{self.by} calibrates to {similarity}.", hint="mend the embedder's calibration")
        return Judgement(_class_by_cosine(similarity), similarity, self.by)

    def learn(self, seq: int, vector: Vector) -> None:
        """Take in the vector [dims] of record `seq`, which is in the journal; `seq` only rises (else `InputError`)."""
        if seq < self._next:
            raise InputError(f"record {seq} was already learnt.", hint=f"learn on from record {self._next}")
        self._append(self._unit(vector))
        self._next = seq + 1

    def _unit(self, vector: Vector) -> Vector:
        unit: Vector = _unit_rows([vector], (1, self.embedder.dims))[0]
        return unit

    def _append(self, unit: Vector) -> None:
        if self._ring is None:
            self._ring = _numpy().zeros((self.cache_size, self.embedder.dims), dtype="float32")
        self._ring[self._count % self.cache_size] = unit
        self._count += 1

    def _rows(self) -> list[Vector]:
        """The ring's rows, oldest first."""
        if self._ring is None:
            return []
        return [self._ring[at % self.cache_size] for at in range(self._count - len(self), self._count)]

    def copy(self) -> EmbeddingNovelty:
        """An independent copy over the same embedder."""
        twin = EmbeddingNovelty(self.embedder, self.cache_size, note=self.note)
        twin._ring = None if self._ring is None else self._ring.copy()
        twin._count, twin._next = self._count, self._next
        return twin

    def dump(self) -> bytes:
        """The vectors with the embedder's name as bytes; the same calls give the same bytes."""
        body = b"".join(row.astype("<f4").tobytes() for row in self._rows())
        head = {"format": "embed/1", "by": self.by, "dims": self.embedder.dims, "next": self._next, "count": len(self)}
        return pack(head, body)

    @classmethod
    def load(cls, blob: bytes, embedder: Embedder, cache_size: int = CACHE_SIZE) -> EmbeddingNovelty:
        """The state that `dump` wrote. Vectors of another embedder, revision or width are left out: see `note`.

        Raises `NoveltyUnavailable` for bytes that are no such state.
        """
        head, body = unpack(blob, "embed/1")
        state = cls(embedder, cache_size)
        try:
            if (head["by"], head["dims"]) != (state.by, embedder.dims):
                state.note = f"saved vectors are of {head['by']} ({head['dims']}), not of {state.by} ({embedder.dims})"
                return state
            state._restore(body, head["count"], head["next"])
        except (KeyError, TypeError, ValueError) as error:
            raise unreadable("its parts do not fit together") from error
        return state

    def _restore(self, body: bytes, count: int, following: int) -> None:
        if count:
            for row in _numpy().frombuffer(body, dtype="<f4").reshape(count, self.embedder.dims)[-self.cache_size :]:
                self._append(row)
        self._next = following


class Stack:
    """Vectors that come one by one, as one array; what `rows` gave is not changed by those that come later."""

    __slots__ = ("_count", "_room")

    def __init__(self) -> None:
        self._room: Vector | None = None
        self._count = 0

    @property
    def rows(self) -> Vector | None:
        """The vectors so far, [n, dims]; None before the first."""
        return None if self._room is None else self._room[: self._count]

    def add(self, vector: Vector) -> None:
        """One more, of the first one's length."""
        if self._room is None:
            self._room = _numpy().empty((_FIRST_ROOM, len(vector)), dtype="float32")
        elif self._count == len(self._room):
            self._room = _numpy().concatenate([self._room, _numpy().empty_like(self._room)])
        self._room[self._count] = vector
        self._count += 1


_FIRST_ROOM: Final = 16


def _class_by_cosine(similarity: float) -> Novelty:
    if similarity < _COSINE_SURPRISE:
        return Novelty.PREDICTION_ERROR
    return Novelty.NOVEL if similarity < _COSINE_ROUTINE else Novelty.ROUTINE


def _numpy() -> Any:
    try:
        import numpy as np  # noqa: PLC0415  # the words strategy must work, and open fast, without it
    except ImportError as error:
        hint = "pip install numpy, or run without an embedder"
        raise NoveltyUnavailable("vectors need numpy.", hint=hint) from error
    return np


def _unit_rows(rows: object, shape: tuple[int, int]) -> Vector:
    """Rows as float32 [n, dims] of length 1, whatever length they came in; refuses what has no direction."""
    np = _numpy()
    try:
        given = np.asarray(rows, dtype="float64")
    except (TypeError, ValueError) as error:
        raise _bad_rows("are no table of numbers") from error
    if given.shape != shape:
        raise _bad_rows(f"have the shape {given.shape}, not {shape}")
    lengths = np.linalg.norm(given, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or lengths.min() < 1e-6:
        raise _bad_rows("have no direction: not finite, or of length 0")
    unit: Vector = (given / lengths).astype("float32")
    return unit


def _bad_rows(why: str) -> NoveltyUnavailable:
    return NoveltyUnavailable(
        f"the embedder's rows {why}.", hint="check the embedder; the words strategy judges without"
    )
