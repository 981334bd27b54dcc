"""Every fragment that was heard, with its company: what says the like in other sessions, and in the canon."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.journal.record import Source
from alveus.kernels import examples, learnt, score
from alveus.kernels.fragment import Fragment
from alveus.kernels.hearing import Heard
from alveus.kernels.kinds import by_grammar, by_meaning, odds
from alveus.kernels.tone import AT
from alveus.kernels.values import Values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Scores, Vectors

Encode = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""Texts (n, at most 2,000 characters each) to float32 [n, dims], rows of length 1."""

Judge = Callable[[str, str, float], float]
"""Earlier and later text, and the cosine of their meanings, to how far they contradict each other, 0 to 1."""

CANON: Final = 0.45
"""A line of the canon supports a fragment from this cosine of intents, where unrelated ones are at 0."""

SAME: Final = 0.60
"""Two statements are nearly one from this cosine: they deny each other, or the later one says the earlier again."""

_USUAL: Final = 0.32
"""The median of the best links in the development archives: in a denser archive all such cosines grow with it."""

_AGAIN: Final = 0.90
"""What is as near as this is the same line again, and says nothing of how dense an archive is."""

_DENSEST: Final = 1.5
"""The most by which the cosines grow."""

_LEAN: Final = 0.5
"""What the terms of the message before weigh in it."""

_TILE: Final = 256

_NO_CUE: Final = -9.0
"""The odds of a change that neither a cue nor the weights tell."""

_STRONGEST: Final = 32
"""Links of a row that are kept: a question about its links hardly ever needs more of them."""

_DECIMALS: Final = 4
"""Of a vector: the same text in another batch differs behind them."""


class Field:
    """Candidates as arrays, in order; the canon's lines behind them."""

    def __init__(
        self,
        heard: Heard,
        lines: Sequence[str],
        rows: Vectors,
        canon: Vectors,
        *,
        values: Sequence[Values],
        kinds: Scores,
        changes: Scores,
        meaning: Vectors | None,
        scale: str,
    ) -> None:
        self.fragments = heard.fragments
        self._of = scale
        self.tones = heard.tones
        self.likeness = heard.likeness
        self.recorded = heard.recorded
        self.rows = rows
        self.values = values
        self.words = np.array([len(one.said.split()) for one in heard.fragments], dtype=np.int64)
        self.kinds = kinds
        self.changes = changes
        self.meaning = meaning
        names = {name: at for at, name in enumerate(dict.fromkeys(_session(one) for one in heard.fragments))}
        self.session = np.array([names[_session(one)] for one in heard.fragments], dtype=np.int64)
        self.user = np.array([one.src is Source.USER for one in heard.fragments], dtype=bool)
        self.whole = np.array([one.whole for one in heard.fragments], dtype=np.int64)
        everything = np.vstack([rows, canon]) if len(canon) else rows
        like = np.r_[self.likeness, np.ones(len(canon))]
        session = np.r_[self.session, np.full(len(canon), len(names), dtype=np.int64)]
        near = score.cosines_of(everything)
        support, nearest = score.company(near, like, session)
        if not len(canon) and len(rows):
            # The best-supported statements are the canon: what agrees with them has all of their weight.
            best = score.calibrated(self.likeness * support, scale) >= score.THRESHOLD
            support, nearest = score.company(near, np.where(best, 1.0, self.likeness), session)
        self.raw = self.likeness * support[: len(rows)]
        self.score = score.calibrated(self.raw, self._of)
        self.lines = list(lines)
        apart = nearest[: len(rows)][nearest[: len(rows)] < _AGAIN]
        usual = float(np.median(apart)) if len(apart) else 0.0
        self.scale = min(max(1.0, usual / _USUAL), _DENSEST)
        self.cosines = near[: len(rows), : len(rows)]
        self.canon = near[: len(rows), len(rows) :]
        self.beside_canon = self.canon.max(axis=1, initial=0.0) >= CANON * self.scale
        self._is_known = np.zeros(len(rows), dtype=bool)
        self._others = np.zeros((len(rows), min(_STRONGEST, len(rows))), dtype=np.int64)
        self._links = np.zeros(self._others.shape, dtype=np.float32)
        self._near = np.zeros(self._others.shape, dtype=np.float32)
        self.messages: dict[int, list[int]] = defaultdict(list)
        for at, whole in enumerate(self.whole):
            self.messages[int(whole)].append(at)

    def __len__(self) -> int:
        return len(self.fragments)

    @staticmethod
    def of(heard: Heard, lines: Sequence[str], encode: Encode | None, embedder_id: str) -> Field:
        """Embed what was heard, the canon and the examples, and find the company of each."""
        texts = [one.text for one in heard.fragments]
        lean = [one.before for one in heard.fragments]
        said = heard.lexicon.values([one.said for one in heard.fragments])
        names = Counter(name for one in said for name in one.sets)
        terms = heard.lexicon.terms([*(one.said for one in heard.fragments), *lines, *lean])
        words = score.weighed(terms, len(texts), names)
        words, before = words[: len(texts) + len(lines)], words[len(texts) + len(lines) :]
        words[: len(texts)] = score.unit(words[: len(texts)] + _LEAN * before)
        meaning = None
        nearest = None
        told = None
        if encode is not None:
            shown = [text for some in examples.BY_KIND for text in some]
            vectors = np.asarray(encode([*shown, *texts, *lines]), dtype=np.float32)
            vectors = score.centred(np.round(vectors, _DECIMALS), vectors[: len(shown)].mean(axis=0))
            meaning = vectors[len(shown) :]
            if learnt.knows(embedder_id):
                told = learnt.told(meaning[: len(texts)], _manner(heard))
                heard = replace(heard, likeness=told.likeness)
            else:
                nearest = by_meaning(vectors[: len(shown)], meaning[: len(texts)])
        rows = score.intents(meaning, words)
        cues = heard.tones[:, [AT["revise"], AT["lately"]]].max(axis=1, initial=0)
        grammar = by_grammar(heard.tones)
        return Field(
            heard,
            lines,
            rows[: len(texts)],
            rows[len(texts) :],
            values=said,
            kinds=told.kinds if told is not None else odds(grammar + (nearest if nearest is not None else 0.0)),
            changes=np.maximum(np.where(cues > 0, 0.0, _NO_CUE), told.changes if told is not None else _NO_CUE),
            meaning=meaning[: len(texts)] if told is not None and meaning is not None else None,
            scale=embedder_id if encode is not None else score.WORDS,
        )

    def contradict(self, judge: Judge) -> None:
        """Weigh what agrees by how far the canon, and what was said later and is as well supported, deny it."""
        denied = np.zeros(len(self))
        revising = self.user & (self.tones[:, AT["revise"]] > 0)
        for at in map(int, np.flatnonzero(self.score >= score.THRESHOLD)):
            text = self.fragments[at].said
            if self.canon.shape[1] and not revising[at]:
                line = int(self.canon[at].argmax())
                if self.canon[at, line] >= SAME * self.scale:
                    denied[at] = judge(self.lines[line], text, float(self.canon[at, line]))
            weighty = self.user[at + 1 :] & (self.raw[at + 1 :] >= self.raw[at])
            later = np.where(weighty, self.cosines[at, at + 1 :], np.float32(0.0))
            other = int(later.argmax()) if len(later) else 0
            if len(later) and later[other] >= SAME * self.scale:
                denied[at] = max(denied[at], judge(text, self.fragments[at + 1 + other].said, float(later[other])))
        self.raw = self.raw * (1.0 - denied)
        self.score = score.calibrated(self.raw, self._of)

    def by_canon(self, at: int) -> bool:
        """Whether a line of the canon supports a fragment."""
        return bool(self.beside_canon[at])

    def links(self, ones: NDArray[np.int64], since: int = 0) -> Vectors:
        """The links of some rows to all from one on: clamped cosine times tone, 0 within a session."""
        found: Vectors = self.cosines[ones, since:]  # a copy
        np.maximum(found, 0.0, out=found)
        found *= self.likeness[since:].astype(np.float32)
        found[self.session[ones][:, None] == self.session[None, since:]] = 0.0
        return found

    def strongest(self, ones: NDArray[np.int64], low: int, high: int) -> tuple[NDArray[np.int64], Vectors, Vectors]:
        """Of some rows the strongest links from one place up to another: to which rows, their strengths, the cosines.

        The strongest is first; there are 32 of each row, or all.
        """
        new = np.unique(ones[~self._is_known[ones]])
        kept = self._others.shape[1]
        for at in range(0, len(new), _TILE):
            some = new[at : at + _TILE]
            links = self.links(some)
            others = np.argpartition(links, len(self) - kept, axis=1)[:, len(self) - kept :]
            found = np.take_along_axis(links, others, axis=1)
            order = np.argsort(-found, axis=1)
            self._others[some] = others = np.take_along_axis(others, order, axis=1)
            self._links[some] = np.take_along_axis(found, order, axis=1)
            self._near[some] = self.cosines[some[:, None], others]
        self._is_known[new] = True
        return self._others[ones, low:high], self._links[ones, low:high], self._near[ones, low:high]


def _manner(heard: Heard) -> Scores:
    user = np.array([one.src is Source.USER for one in heard.fragments], dtype=bool)
    return learnt.manner(
        heard.tones, user, np.array([len(one.said.split()) for one in heard.fragments], dtype=np.int64)
    )


def _session(one: Fragment) -> str:
    """The session of a fragment; what has none stands for its day."""
    return one.session or f"\0{int(one.time // 86_400)}"
