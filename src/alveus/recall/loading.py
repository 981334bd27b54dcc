"""What was recalled, and what is worth loading: seed section 7. Pure.

Loading takes records newest first, as a stream, and stops as soon as it can. A record that failed its check arrives as
a `Fault` and stays named in the answer: nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import islice
from typing import Final, overload

from alveus.journal.chain import Fault
from alveus.journal.record import SignedRecord, Source


class Reason(StrEnum):
    """Why an answer is empty."""

    EMPTY_QUERY = "empty_query"
    NOTHING_STORED = "nothing_stored"
    UNKNOWN_SCOPE = "unknown_scope"
    FILTERED_OUT = "filtered_out"
    NO_MATCH = "no_match"
    ALL_ROUTINE = "all_routine"
    OVER_BUDGET = "over_budget"
    CHECK_FAILED = "check_failed"
    INDEX_BEHIND = "index_behind"


@dataclass(frozen=True, slots=True)
class Why:
    """Why a record was recalled. The parts of its score add up to `score`; their unit is the standard deviation.

    `words` are those of the question that it holds, `beside` those that only the turns around it hold; `cosine` is how
    near its meaning is, None without vectors.
    """

    score: float
    words: tuple[str, ...]
    beside: tuple[str, ...]
    cosine: float | None
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Recalled(Sequence[SignedRecord]):
    """Records that were recalled, each checked against its id and signature.

    `left_out` names what failed that check; `reason` says why there are no records (`code` says it in one word), and is
    empty when there are some. `why` has an entry a record where that was asked for.
    """

    records: tuple[SignedRecord, ...]
    left_out: tuple[Fault, ...] = ()
    reason: str = ""
    code: Reason | None = None
    why: tuple[Why, ...] = ()

    @overload
    def __getitem__(self, index: int) -> SignedRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SignedRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> SignedRecord | tuple[SignedRecord, ...]:
        return self.records[index]

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOfNovelty:
    """How many records of each novelty happened on a day."""

    day: date
    routine: int = 0
    novel: int = 0
    prediction_error: int = 0


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
    if chosen:
        return Recalled(tuple(reversed(chosen)), tuple(left_out))
    code = Reason.OVER_BUDGET if too_long else Reason.CHECK_FAILED if left_out else Reason.ALL_ROUTINE
    return Recalled((), tuple(left_out), _SENTENCES[code], code)


_SENTENCES: Final = {
    Reason.OVER_BUDGET: "the newest record is larger than the budget",
    Reason.CHECK_FAILED: "every record failed its check",
    Reason.ALL_ROUTINE: "nothing is stored that is not routine",
}


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
    if chosen:
        return Recalled(tuple(reversed(chosen)), tuple(left_out))
    return Recalled((), tuple(left_out), _SENTENCES[Reason.ALL_ROUTINE], Reason.ALL_ROUTINE)


def newest_exchange(newest_first: Iterable[Found]) -> Recalled:
    """The last thing a user said and what followed it, oldest first: at most eight records, or else the last two."""
    chosen: list[SignedRecord] = []
    left_out: list[Fault] = []
    for record in islice(newest_first, _EXCHANGE):
        if isinstance(record, Fault):
            left_out.append(record)
            continue
        chosen.append(record)
        if record.hc is not None and record.hc.src is Source.USER:
            break
    else:
        del chosen[2:]
    return Recalled(tuple(reversed(chosen)), tuple(left_out))


_EXCHANGE: Final = 8
_AMPLE: Final = 6
"""Characters a token, of which no text has more on average."""
_MOST: Final = 1000
