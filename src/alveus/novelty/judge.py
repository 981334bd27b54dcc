"""Both strategies behind one interface: the embedding judges where it can, the words everywhere else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from alveus.novelty.embedding import CACHE_SIZE, Embedder, EmbeddingNovelty, Stack
from alveus.novelty.judgement import FALLBACK, Judgement, NoveltyUnavailable, split_blob
from alveus.novelty.vocabulary import WINDOW, WordsNovelty, by_words, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

T = TypeVar("T")


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
        first, rest = split_blob(blob)
        known, notes = _load_words(first, window)
        embedding, more = _load_embedding(rest, embedder, cache_size)
        return cls(known, embedding, notes=notes + more)


class Trial:
    """A batch being judged: each content as if those before it were in the journal already; `accept` makes it so."""

    __slots__ = ("_embedding", "_found", "_fresh", "_learned", "_settled", "_units", "_words")

    def __init__(self, judge: NoveltyJudge) -> None:
        self._words = judge.words
        self._embedding = judge.embedding
        self._fresh: dict[str, int] = {}
        self._learned: list[tuple[list[str], Vector | None]] = []
        self._units = Stack()
        self._found: list[str] = []
        self._settled = 0

    def judge(self, content: str, prepared: Prepared | None = None) -> Judgement:
        """As `NoveltyJudge.judge`."""
        self._found = found = words(content)
        if self._embedding is None or prepared is None:
            if not self._learned:
                return self._words.judge_words(found)
            return self._judge_words()
        embedding, failure, vector = self._embedding, prepared.failure, prepared.vector
        if vector is not None:
            judgement, failure = _attempt(lambda: embedding.judge_vector(vector, self._units.rows))
            if judgement is not None:
                return judgement
        worded = self._judge_words()
        return worded._replace(by=f"{worded.by}{FALLBACK}{embedding.embedder.id}") if failure else worded

    def _judge_words(self) -> Judgement:
        if self._learned:
            self._settle_fresh()
        return self._words.judge_words(self._found, self._fresh, len(self._learned))

    def learn(self, prepared: Prepared | None = None) -> None:
        """Take in the content that was judged last, for the rest of the batch."""
        vector = prepared.vector if prepared is not None else None
        self._learned.append((self._found, vector))
        if vector is not None:
            self._units.add(vector)

    def _settle_fresh(self) -> None:
        """The words of what was learnt, with the records they were last in; made when a second content is judged."""
        seq, fresh = self._words.next_seq, self._fresh
        for found, _ in self._learned[self._settled :]:
            last = seq + self._settled
            for word in found:
                fresh[word] = last
            self._settled += 1

    def accept(self) -> None:
        """The batch is in the journal: the judge learns it."""
        state, embedding = self._words, self._embedding
        seq = state.next_seq
        for found, vector in self._learned:
            if embedding is not None and vector is not None:
                embedding.learn(seq, vector)
            state.learn_words(seq, found)
            seq += 1


def _load_words(blob: bytes, window: int | None) -> tuple[WordsNovelty, tuple[str, ...]]:
    try:
        known = WordsNovelty.load(blob)
    except NoveltyUnavailable as error:
        return WordsNovelty(window), (error.message,)
    if known.window != window:
        return WordsNovelty(window), (f"saved words are of {known.by}, not of {by_words(window)}",)
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
