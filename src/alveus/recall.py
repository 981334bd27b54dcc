"""Reading the past: what is worth loading, and what is like a question. Seed sections 7 and 8. Pure.

Both take records newest first, as a stream, and stop as soon as they can. A record that failed its check arrives as a
`Fault` and stays named in the answer: nothing is dropped in silence.
"""

from __future__ import annotations

import heapq
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, overload

from alveus.journal.chain import Fault
from alveus.journal.record import SignedRecord
from alveus.novelty import words


@dataclass(frozen=True, slots=True)
class Recalled(Sequence[SignedRecord]):
    """Records that were recalled, each checked against its id and signature.

    `left_out` names what failed that check; `reason` says why there are no records, and is empty when there are some.
    """

    records: tuple[SignedRecord, ...]
    left_out: tuple[Fault, ...] = ()
    reason: str = ""

    @overload
    def __getitem__(self, index: int) -> SignedRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SignedRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> SignedRecord | tuple[SignedRecord, ...]:
        return self.records[index]

    def __len__(self) -> int:
        return len(self.records)


Found = SignedRecord | Fault


def selective_load(newest_first: Iterable[Found], budget: int, chars_per_token: int = 4) -> Recalled:
    """From the tail to the head until the contents pass `budget × chars_per_token` characters; in the order written.

    The seed's pseudocode: the first record that would pass the budget ends the walk.
    """
    chosen: list[SignedRecord] = []
    left_out: list[Fault] = []
    left = budget * chars_per_token
    too_long = False
    for record in newest_first:
        if isinstance(record, Fault):
            left_out.append(record)
            continue
        left -= len(record.content)
        if left < 0:
            too_long = True
            break
        chosen.append(record)
    reason = "" if chosen else _why_nothing_loaded(too_long=too_long, left_out=left_out)
    return Recalled(tuple(reversed(chosen)), tuple(left_out), reason)


def _why_nothing_loaded(*, too_long: bool, left_out: list[Fault]) -> str:
    if too_long:
        return "the newest record is larger than the budget"
    return "every record failed its check" if left_out else "nothing is stored that is not routine"


def newest(newest_first: Iterable[Found], budget: int) -> Recalled:
    """The newest records for a pack of `budget` tokens, oldest first: more than can fit, a giant one among them or not.

    Unlike `selective_load`, one record that is too long does not end the walk.
    """
    chosen: list[SignedRecord] = []
    left_out: list[Fault] = []
    characters = 0
    for record in newest_first:
        if isinstance(record, Fault):
            left_out.append(record)
            continue
        chosen.append(record)
        characters += min(len(record.content), budget)
        if characters > _AMPLE * budget or len(chosen) >= _MOST:
            break
    return Recalled(tuple(reversed(chosen)), tuple(left_out), "" if chosen else "nothing is stored that is not routine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query, folded once: the whole of it, and its words shortened to what inflection leaves alone."""

    whole: str
    stems: tuple[str, ...]


def ask(query: str) -> Question:
    """The question in `query`. Words of fewer than three letters say nothing on their own."""
    whole = fold(query).strip()
    found = dict.fromkeys(word for word in words(query) if len(word) > _SHORTEST or not word.isascii())
    return Question(whole=whole, stems=tuple(_stem(word) for word in found))


def score(question: Question, content: str) -> float:
    """How much of the question stands in `content`: infinity for the whole of it, 0 for nothing.

    Substrings, Unicode case-folded. A long word tells more than a short one.
    """
    folded = fold(content)
    if question.whole and question.whole in folded:
        return float("inf")
    return float(sum(len(stem) ** 2 for stem in question.stems if stem in folded))


def best(scored: Iterable[tuple[float, int]], top_k: int) -> list[int]:
    """The places with the highest scores, best first, the earlier of equals first; stops at `top_k` perfect ones.

    `scored` gives (score, place), newest first.
    """
    heap: list[tuple[float, int, int]] = []
    perfect = 0
    for order, (value, place) in enumerate(scored):
        if value <= 0:
            continue
        item = (value, -order, place)
        if len(heap) < top_k:
            heapq.heappush(heap, item)
        else:
            heapq.heappushpop(heap, item)
        perfect += value == float("inf")
        if perfect >= top_k:
            break
    return [place for _, _, place in sorted(heap, reverse=True)]


def fold(text: str) -> str:
    """Text as it is compared: composed, case-folded, ё as е."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", text).casefold().replace("ё", "е")


def _stem(word: str) -> str:
    """The word without the two letters that inflection mostly takes; at least four stay."""
    return word[: max(_STEM if word.isascii() else _SHORT_STEM, len(word) - 2)]


_AMPLE: Final = 6
"""Characters a token, of which no text has more on average."""
_MOST: Final = 1000
_SHORTEST: Final = 2
_STEM: Final = 4
_SHORT_STEM: Final = 3
