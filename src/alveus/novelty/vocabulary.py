"""The words strategy: the share of a record's words that the last records did not hold."""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Mapping
from functools import cache
from itertools import filterfalse
from operator import add
from types import MappingProxyType
from typing import Final

from alveus.errors import InputError
from alveus.journal.record import Novelty
from alveus.novelty.judgement import Judgement, pack, unpack, unreadable

WINDOW: Final = 10_000
"""Records after which an unused word is new again; the window that `words/1` names."""

MAX_WORDS: Final = 500_000
"""Distinct words held, whatever the window. Beyond it the quarter unused for longest goes."""

_NEW_SURPRISE: Final = 0.5
_NEW_NOVEL: Final = 0.2

# Written without spaces between words: a run would be one "word", new every time. Han, kana, Thai, Lao, Myanmar, Khmer.
_RUN_ON: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# `\w` leaves out combining marks, and so cuts a Hindi or a vocalised Arabic word at every vowel sign.
_MARKS: Final = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"

_RUNS_ON_FROM: Final = "\u0e00"


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
    if text and max(text) >= _RUNS_ON_FROM:
        text = _run().sub(_pairs, text)
    return _word().findall(text)


# Compiling whole scripts takes as long as opening a journal does; a journal of other scripts does without.


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"[\w{_MARKS}{_RUN_ON}]+")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(f"[{_RUN_ON}]+")


def _pairs(run: re.Match[str]) -> str:
    text = run[0]
    return f" {' '.join(map(add, text, text[1:])) or text} "


def by_words(window: int | None) -> str:
    """`words/1` is the window of 10,000, `words/1:w=<n>` another one, `words/0` the seed's unbounded vocabulary."""
    if window is None:
        return "words/0"
    return "words/1" if window == WINDOW else f"words/1:w={window}"


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
        if window is not None and (type(window) is not int or window < 1):
            raise InputError(f"a novelty window of {window} records holds nothing.", hint="use 1 or more, or None")
        self.window = window
        self.by = by_words(window)
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
        seen, oldest = self._seen, self._oldest if ahead == 0 else self._horizon(self._next + ahead)
        if oldest == 0:  # nothing has aged yet
            new = list(filterfalse(seen.__contains__, found))
        else:
            new = [word for word in found if seen.get(word, -1) < oldest]
        if fresh:
            new = [word for word in new if fresh.get(word, -1) < oldest]
        share = len(new) / len(found)
        if share > _NEW_SURPRISE:
            novelty = Novelty.PREDICTION_ERROR
        else:
            novelty = Novelty.NOVEL if share > _NEW_NOVEL else Novelty.ROUTINE
        return Judgement(novelty, 1.0 - share, self.by)

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
        self._content = None
        self._next = following = seq + 1
        self._oldest = 0 if self.window is None else max(0, following - self.window)
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
        if oldest == 0:
            return self._seen.copy()
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
        return pack({"format": "words/1", "window": self.window, "next": self._next, "seqs": form}, body)

    @classmethod
    def load(cls, blob: bytes) -> WordsNovelty:
        """The state that `dump` wrote. Raises `NoveltyUnavailable` for anything else."""
        head, body = unpack(blob, "words/1")
        try:
            seqs = struct.unpack_from(head["seqs"], body)
            names = body[struct.calcsize(head["seqs"]) :].decode().split("\n") if seqs else []
            state = cls(head["window"])
            state._adopt(dict(zip(names, seqs, strict=True)), head["next"])
        except (KeyError, TypeError, ValueError, struct.error, InputError) as error:
            raise unreadable("its parts do not fit together") from error
        return state


def _newest(seen: Mapping[str, int], count: int) -> dict[str, int]:
    """The `count` most recently used words or fewer: whole records, and the last one in any case."""
    last_used = sorted(seen.values())
    floor, newest = last_used[-count], last_used[-1]
    return {word: seq for word, seq in seen.items() if seq > floor or seq == newest}
