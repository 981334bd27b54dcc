"""How surprising is a record, against what came before it? Seed section 6; spec/journal.md, section 4 (`by`).

The law of this room:

- One question, two answers. `judge(content)` gives the class, a similarity between 0 and 1 and the name of what
  judged. By words: the share of a record's words (occurrences, as the seed counts) that the last records did not
  hold. By embedding: the largest calibrated cosine to the last 1,000 vectors.
- Judging changes nothing; `learn` is called once the record is in the journal, in the journal's order.
- A model is never needed. Whatever an embedder does (raise, return too few rows, NaN), the words judge the record
  and `by` says so.
- The state is derived: it is saved to open fast, and can be learnt again from the journal's tail.
- The thresholds are the seed's and are no part of the signature: changing them breaks no record.

Why words age: the seed's vocabulary only grows, so in time it has seen every word and calls everything routine.
Here a word that the last `window` records did not hold is new again.

numpy is imported only when a vector is handled.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from alveus.errors import InputError, StoreError
from alveus.journal.record import Novelty

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

T = TypeVar("T")

WINDOW: Final = 10_000
"""Records after which an unused word is new again; the window that `words/1` names."""

MAX_WORDS: Final = 500_000
"""Distinct words held, whatever the window. Beyond it the quarter unused for longest goes."""

CACHE_SIZE: Final = 1_000
"""Vectors a record is compared with: the seed's `cache_size`."""

PART: Final = 2_000
"""Characters of one text given to an embedder: beyond it models cut silently or take seconds."""

MAX_PARTS: Final = 8
"""Parts of a long content that are embedded, evenly spread, first and last among them."""

_NEW_SURPRISE: Final = 0.5
_NEW_NOVEL: Final = 0.2
_COSINE_SURPRISE: Final = 0.50
_COSINE_ROUTINE: Final = 0.85
_FALLBACK: Final = ";embed-failed:"


class NoveltyUnavailable(StoreError):
    """This strategy cannot judge, or its saved state cannot be read; the journal is untouched."""

    default_code = "novelty_unavailable"


class Judgement(NamedTuple):
    """`(novelty, similarity, by)`. `similarity` runs from 0 (nothing like it) to 1 (seen); `by` goes into `hc.by`."""

    novelty: Novelty
    similarity: float
    by: str

    @property
    def fallback(self) -> str:
        """The id of the embedder that failed and was replaced by the words; '' when nothing failed."""
        return self.by.partition(_FALLBACK)[2]


class Judge(Protocol):
    """What every strategy offers."""

    def judge(self, content: str) -> Judgement:
        """Judge a content as if it were the next record; changes nothing."""
        ...


# --- words -----------------------------------------------------------------------------------------------------------

# Written without spaces between words: a run would be one "word", new every time. Han, kana, Thai, Lao, Myanmar, Khmer.
_RUN_ON: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# `\w` leaves out combining marks, and so cuts a Hindi or a vocalised Arabic word at every vowel sign.
_MARKS: Final = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"

_WORD: Final = re.compile(rf"[\w{_MARKS}{_RUN_ON}]+")
_RUN: Final = re.compile(f"[{_RUN_ON}]+")
_MAY_RUN_ON: Final = re.compile("[\u0e00-\u17ff\u3005-\U0003ffff]")  # cheaper than _RUN on text that has none


def _fold(code: int) -> int:
    """One byte of cp1251 as a word shows it: a letter in lower case with ё as е, anything between words as a space."""
    letter = bytes([code]).decode("cp1251", "replace")
    return letter.lower().replace("ё", "е").encode("cp1251")[0] if letter.isalnum() or letter == "_" else ord(" ")


_FOLD: Final = bytes(map(_fold, range(256)))


def words(content: str) -> list[str]:
    r"""The words of a content, in order, with repetitions.

    Runs of `\w` in the NFC form, case-folded, ё = е (composed or not), combining marks kept with their letter; scripts
    written without spaces give their overlapping character pairs. Equal to the seed's split for NFC text without ё,
    combining marks and such scripts, where lower case and case folding agree.
    """
    # One table look-up a byte is a third of the regular expression's cost, and most text is ASCII or Cyrillic.
    if content.isascii():
        return content.encode("ascii").translate(_FOLD).decode("ascii").split()
    try:
        cyrillic = content.encode("cp1251")
    except UnicodeEncodeError:
        return _words_of_any_script(content)
    folded = cyrillic.translate(_FOLD).decode("cp1251")
    return folded.replace("\u00b5", "\u03bc").split()  # the one letter that folds to what cp1251 does not have: µ to μ


def _words_of_any_script(content: str) -> list[str]:
    text = unicodedata.normalize("NFC", content).casefold().replace("ё", "е")
    if _MAY_RUN_ON.search(text):
        text = _RUN.sub(_pairs, text)
    return _WORD.findall(text)


def _pairs(run: re.Match[str]) -> str:
    text = run[0]
    return f" {' '.join(map(add, text, text[1:])) or text} "


def _by_words(window: int | None) -> str:
    """`words/1` is the window of 10,000, `words/1:w=<n>` another one, `words/0` the seed's unbounded vocabulary."""
    if window is None:
        return "words/0"
    return "words/1" if window == WINDOW else f"words/1:w={window}"


def _class_by_share(new: float) -> Novelty:
    if new > _NEW_SURPRISE:
        return Novelty.PREDICTION_ERROR
    return Novelty.NOVEL if new > _NEW_NOVEL else Novelty.ROUTINE


_NO_WORDS: Final[Mapping[str, int]] = MappingProxyType({})


class WordsNovelty:
    """The words strategy: a map of each word to the number of the last record that held it.

    A word is known to record n when record m held it and n - m <= `window`; with `window=None` it is known for ever,
    as in the seed. A content without words is routine. Not thread-safe: the caller holds its lock.
    """

    __slots__ = ("_content", "_next", "_oldest", "_prune_at", "_seen", "_words", "by", "window")

    _FLOOR: Final = 4_096  # below this many words pruning is not worth its while

    def __init__(self, window: int | None = WINDOW) -> None:
        """Start empty. Raises `InputError` for a window below 1."""
        if window is not None and window < 1:
            raise InputError(f"a novelty window of {window} records holds nothing.", hint="use 1 or more, or None")
        self.window = window
        self.by = _by_words(window)
        self._adopt({}, 0)

    def _adopt(self, seen: dict[str, int], following: int) -> None:
        self._seen = seen
        self._next = following
        self._oldest = self._horizon(following)
        self._prune_at = min(MAX_WORDS, max(self._FLOOR, 2 * len(seen)))
        self._content: str | None = None
        self._words: list[str] = []

    def _horizon(self, seq: int) -> int:
        """The oldest record whose words record `seq` still knows."""
        return 0 if self.window is None else max(0, seq - self.window)

    @property
    def next_seq(self) -> int:
        """The number of the record that will be judged next: what was learnt ends before it."""
        return self._next

    def __len__(self) -> int:
        return len(self._seen)

    def judge(self, content: str) -> Judgement:
        """Judge a content as if it were record `next_seq`; changes nothing. `similarity` = 1 - share of new words."""
        return self.judge_words(self._split(content))

    def judge_words(self, found: list[str], fresh: Mapping[str, int] = _NO_WORDS, ahead: int = 0) -> Judgement:
        """As `judge`, of words already split, `ahead` records on, whose words are in `fresh` and not yet in the map."""
        if not found:
            return Judgement(Novelty.ROUTINE, 1.0, self.by)
        seen, oldest = self._seen.get, self._oldest if ahead == 0 else self._horizon(self._next + ahead)
        unknown = [word for word in found if seen(word, -1) < oldest]
        if fresh:
            unknown = [word for word in unknown if fresh.get(word, -1) < oldest]
        share = len(unknown) / len(found)
        return Judgement(_class_by_share(share), 1.0 - share, self.by)

    def learn(self, seq: int, content: str) -> None:
        """Take in record `seq`, which is in the journal. `seq` counts records and only rises (`InputError` if not)."""
        self.learn_words(seq, self._split(content))

    def learn_words(self, seq: int, found: list[str]) -> None:
        """As `learn`, of words already split."""
        if seq < self._next:
            raise InputError(f"record {seq} was already learnt.", hint=f"learn on from record {self._next}")
        seen = self._seen
        for word in found:
            seen[word] = seq
        self._content, self._words = None, []
        self._next = seq + 1
        self._oldest = self._horizon(seq + 1)
        if len(seen) > self._prune_at:
            self._prune()

    def _split(self, content: str) -> list[str]:
        # `learn` follows `judge` with the same content: splitting is half of the cost, so it is done once.
        if content != self._content:
            self._content, self._words = content, words(content)
        return self._words

    def _prune(self) -> None:
        # Reached only when the map has doubled or is full, so that the cost per word learnt stays constant.
        live = self._live()
        kept = MAX_WORDS * 3 // 4
        self._adopt(_newest(live, kept) if len(live) > kept else live, self._next)

    def _live(self) -> dict[str, int]:
        oldest = self._oldest
        return {word: seq for word, seq in self._seen.items() if seq >= oldest}

    def copy(self) -> WordsNovelty:
        """An independent copy: judge and learn a batch on it, and keep it only if the batch reached the journal."""
        twin = WordsNovelty(self.window)
        twin._adopt(self._seen.copy(), self._next)
        return twin

    def dump(self) -> bytes:
        """The state as bytes, without what has aged out; the same calls give the same bytes."""
        live = self._live()
        form = f"<{len(live)}{'I' if self._next < 1 << 32 else 'Q'}"
        body = struct.pack(form, *live.values()) + "\n".join(live).encode()
        return _pack({"format": "words/1", "window": self.window, "next": self._next, "seqs": form}, body)

    @classmethod
    def load(cls, blob: bytes) -> WordsNovelty:
        """The state that `dump` wrote. Raises `NoveltyUnavailable` for anything else."""
        head, body = _unpack(blob, "words/1")
        try:
            seqs = struct.unpack_from(head["seqs"], body)
            names = body[struct.calcsize(head["seqs"]) :].decode().split("\n") if seqs else []
            state = cls(head["window"])
            state._adopt(dict(zip(names, seqs, strict=True)), head["next"])
        except (KeyError, TypeError, ValueError, struct.error, InputError) as error:
            raise _unreadable("its parts do not fit together") from error
        return state


def _newest(seen: Mapping[str, int], count: int) -> dict[str, int]:
    """The `count` most recently used words or fewer: whole records, and the last one in any case."""
    last_used = sorted(seen.values())
    floor, newest = last_used[-count], last_used[-1]
    return {word: seq for word, seq in seen.items() if seq > floor or seq == newest}


# --- vectors ---------------------------------------------------------------------------------------------------------


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

    def judge(self, content: str) -> Judgement:
        """Embed and judge in one step; raises as `embed` and `judge_vector` do."""
        return self.judge_vector(self.embed(content))

    def judge_vector(self, vector: Vector, also: Sequence[Vector] = ()) -> Judgement:
        """Judge a vector [dims] against the ring and `also`; changes nothing. `similarity` = calibrated largest cosine.

        The first record is a prediction error. Raises `NoveltyUnavailable` for a vector or calibration of no use.
        """
        unit = self._unit(vector)
        cosines = [float(self._unit(other) @ unit) for other in also]
        if self._ring is not None:
            cosines.append(float((self._ring[: len(self)] @ unit).max()))
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
        return _pack(head, body)

    @classmethod
    def load(cls, blob: bytes, embedder: Embedder, cache_size: int = CACHE_SIZE) -> EmbeddingNovelty:
        """The state that `dump` wrote. Vectors of another embedder, revision or width are left out: see `note`.

        Raises `NoveltyUnavailable` for bytes that are no such state.
        """
        head, body = _unpack(blob, "embed/1")
        state = cls(embedder, cache_size)
        try:
            if (head["by"], head["dims"]) != (state.by, embedder.dims):
                state.note = f"saved vectors are of {head['by']} ({head['dims']}), not of {state.by} ({embedder.dims})"
                return state
            state._restore(body, head["count"], head["next"])
        except (KeyError, TypeError, ValueError) as error:
            raise _unreadable("its parts do not fit together") from error
        return state

    def _restore(self, body: bytes, count: int, following: int) -> None:
        if count:
            for row in _numpy().frombuffer(body, dtype="<f4").reshape(count, self.embedder.dims)[-self.cache_size :]:
                self._append(row)
        self._next = following


def _class_by_cosine(similarity: float) -> Novelty:
    if similarity < _COSINE_SURPRISE:
        return Novelty.PREDICTION_ERROR
    return Novelty.NOVEL if similarity < _COSINE_ROUTINE else Novelty.ROUTINE


def _numpy() -> Any:
    try:
        import numpy as np  # noqa: PLC0415  # the words strategy must work, and open fast, without it
    except ImportError as error:
        hint = "pip install 'alveus[embeddings]', or run without an embedder"
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


# --- both ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prepared:
    """What the model call gave: a unit vector [dims], or why there is none. Both empty: nothing was attempted."""

    vector: Vector | None = None
    failure: str = ""


_NOTHING: Final = Prepared()


class NoveltyJudge:
    """Both strategies behind one interface: the embedding judges where it can, the words everywhere else.

    `prepare` outside the lock, `judge` under it, `learn` once the record is in the journal. `notes` says what of a
    saved state was not used, and why.
    """

    __slots__ = ("embedding", "notes", "words")

    def __init__(
        self,
        words: WordsNovelty | None = None,
        embedding: EmbeddingNovelty | None = None,
        *,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.words = WordsNovelty() if words is None else words
        self.embedding = embedding
        self.notes = notes

    @property
    def next_seq(self) -> int:
        """The record to learn next: what the words have learnt ends before it."""
        return self.words.next_seq

    def prepare(self, content: str) -> Prepared:
        """The model call. Takes no lock, changes nothing, and raises nothing an embedder's `Exception` could cause."""
        if self.embedding is None or not content.strip():
            return _NOTHING
        embedding = self.embedding
        vector, failure = _attempt(lambda: embedding.embed(content))
        return Prepared(vector=vector, failure=failure)

    def judge(self, content: str, prepared: Prepared | None = None) -> Judgement:
        """Judge by the prepared vector, or by words. After a failure `by` reads `words/1;embed-failed:<id>`."""
        return self.trial().judge(content, prepared)

    def trial(self) -> Trial:
        """This judge with a batch on top of it that may not reach the journal."""
        return Trial(self)

    def learn(self, seq: int, content: str, prepared: Prepared | None = None) -> None:
        """Take in record `seq`, which is in the journal. The words always learn, so that they can step in."""
        self.words.learn(seq, content)
        if self.embedding is not None and prepared is not None and prepared.vector is not None:
            self.embedding.learn(seq, prepared.vector)

    def copy(self) -> NoveltyJudge:
        """An independent copy, for a batch that may not reach the journal."""
        embedding = None if self.embedding is None else self.embedding.copy()
        return NoveltyJudge(self.words.copy(), embedding, notes=self.notes)

    def dump(self) -> bytes:
        """Both states as bytes, for `load`."""
        return self.words.dump() + (b"" if self.embedding is None else self.embedding.dump())

    @classmethod
    def load(
        cls,
        blob: bytes,
        *,
        window: int | None = WINDOW,
        embedder: Embedder | None = None,
        cache_size: int = CACHE_SIZE,
    ) -> NoveltyJudge:
        """The state that `dump` wrote, as far as it can be used; what cannot starts empty and is named in `notes`.

        Never raises for bad bytes: the state is derived. `next_seq` tells from where the journal is to be learnt again.
        """
        first, rest = _split_blob(blob)
        known, notes = _load_words(first, window)
        embedding, more = _load_embedding(rest, embedder, cache_size)
        return cls(known, embedding, notes=notes + more)


class Trial:
    """A batch being judged: each content as if those before it were in the journal already; `accept` makes it so."""

    __slots__ = ("_found", "_fresh", "_judge", "_learned", "_settled")

    def __init__(self, judge: NoveltyJudge) -> None:
        self._judge = judge
        self._fresh: dict[str, int] = {}
        self._learned: list[tuple[list[str], Vector | None]] = []
        self._found: list[str] = []
        self._settled = 0

    def judge(self, content: str, prepared: Prepared | None = None) -> Judgement:
        """As `NoveltyJudge.judge`."""
        embedding, failure, self._found = self._judge.embedding, "", words(content)
        if embedding is not None and prepared is not None:
            failure, vector = prepared.failure, prepared.vector
            if vector is not None:
                also = [unit for _, unit in self._learned if unit is not None]
                judgement, failure = _attempt(lambda: embedding.judge_vector(vector, also))
                if judgement is not None:
                    return judgement
        self._settle_fresh()
        by_words = self._judge.words.judge_words(self._found, self._fresh, len(self._learned))
        if failure and embedding is not None:
            return by_words._replace(by=f"{by_words.by}{_FALLBACK}{embedding.embedder.id}")
        return by_words

    def learn(self, prepared: Prepared | None = None) -> None:
        """Take in the content that was judged last, for the rest of the batch."""
        self._learned.append((self._found, prepared.vector if prepared is not None else None))

    def _settle_fresh(self) -> None:
        """The words of what was learnt, with the records they were last in; made when a second content is judged."""
        seq = self._judge.next_seq
        for found, _ in self._learned[self._settled :]:
            self._fresh.update(dict.fromkeys(found, seq + self._settled))
            self._settled += 1

    def accept(self) -> None:
        """The batch is in the journal: the judge learns it."""
        state, embedding = self._judge.words, self._judge.embedding
        for found, vector in self._learned:
            if embedding is not None and vector is not None:
                embedding.learn(state.next_seq, vector)
            state.learn_words(state.next_seq, found)


def _load_words(blob: bytes, window: int | None) -> tuple[WordsNovelty, tuple[str, ...]]:
    try:
        known = WordsNovelty.load(blob)
    except NoveltyUnavailable as error:
        return WordsNovelty(window), (error.message,)
    if known.window != window:
        return WordsNovelty(window), (f"saved words are of {known.by}, not of {_by_words(window)}",)
    return known, ()


def _load_embedding(
    blob: bytes, embedder: Embedder | None, cache_size: int
) -> tuple[EmbeddingNovelty | None, tuple[str, ...]]:
    if embedder is None:
        return None, ()
    if not blob:
        return EmbeddingNovelty(embedder, cache_size), ("no vectors were saved",)
    try:
        embedding = EmbeddingNovelty.load(blob, embedder, cache_size)
    except NoveltyUnavailable as error:
        return EmbeddingNovelty(embedder, cache_size), (error.message,)
    return embedding, (embedding.note,) if embedding.note else ()


def _attempt(call: Callable[[], T]) -> tuple[T | None, str]:
    """The call's value, or None and why."""
    try:
        return call(), ""
    except Exception as error:  # noqa: BLE001
        # The one broad handler here, and on purpose: an embedder is someone else's code and may raise anything, and a
        # record must not be lost to it. The failure becomes a value that `hc.by` carries. Only the type's name is
        # kept, as a message may quote the content. KeyboardInterrupt and SystemExit are no `Exception` and go through.
        return None, f"embedder failed: {type(error).__name__}"


# --- saved state: the hash of the rest, one line of JSON that says what follows, that many bytes ---------------------


def _pack(head: Mapping[str, object], body: bytes) -> bytes:
    line = json.dumps({**head, "bytes": len(body)}, sort_keys=True, separators=(",", ":")).encode()
    return b"%s %s\n%s" % (_digest(line, body), line, body)


def _digest(line: bytes, body: bytes) -> bytes:
    return hashlib.sha256(line + b"\n" + body).hexdigest().encode()


def _unpack(blob: bytes, form: str) -> tuple[dict[str, Any], bytes]:
    """The head and the body of what `_pack` wrote, of this form and whole."""
    start, _, body = blob.partition(b"\n")
    digest, _, line = start.partition(b" ")
    if digest != _digest(line, body):
        raise _unreadable("it is not whole")
    head: dict[str, Any] = json.loads(line)
    if head["format"] != form:
        raise _unreadable(f"it is {head['format']}, not {form}")
    return head, body


def _split_blob(blob: bytes) -> tuple[bytes, bytes]:
    """The first packed state and what follows it; all of it is the first one when that cannot be told."""
    start, _, _ = blob.partition(b"\n")
    try:
        end = len(start) + 1 + int(json.loads(start.partition(b" ")[2])["bytes"])
    except (KeyError, TypeError, ValueError):
        return blob, b""
    return blob[:end], blob[end:]


def _unreadable(why: str) -> NoveltyUnavailable:
    return NoveltyUnavailable(
        f"the saved novelty state cannot be used: {why}.",
        code="novelty_state",
        hint="delete it: it is learnt again from the journal",
    )
