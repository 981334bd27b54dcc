"""Drift: how far what an agent says has moved from its canon, epoch by epoch. Spec/kernels.md, section 1.

Epochs are counted from 1970 in UTC, so that they are the same however much of the archive is at hand: fine ones tell
when, coarse ones tell whether. A change point is where the epochs before and after differ most, and by more than
chance would give; the records that moved it are named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.journal.record import Source
from alveus.kernels import examples, score
from alveus.kernels.company import Encode
from alveus.kernels.contradiction import contradiction
from alveus.kernels.fragment import Fragment, Utterance, What, cut
from alveus.kernels.hearing import canon_lines
from alveus.kernels.tone import REGISTERS, tone
from alveus.language.terms import detect

if TYPE_CHECKING:
    from alveus.kernels.score import Scores, Vectors

DAY: Final = 86_400.0
FINE: Final = (7, 14)
COARSE: Final = (30, 60)
"""Lengths of an epoch in days."""

_LEAST: Final = 5
"""Fragments of an epoch from which its centroid says something."""
_NAMED: Final = 5
"""Records that are named at a change point."""
_CERTAIN: Final = 3.0
"""A change point is a step of so many usual steps between neighbouring epochs."""
_SMALLEST: Final = 0.05
"""A step that is no change however quiet the epochs were."""
_NEAR: Final = 0.50


class Measure(StrEnum):
    """What is compared with the canon."""

    TONE = "tone"
    INTENT = "intent"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """One epoch: `first` is its beginning in seconds since 1970. Distances are 1 − cosine, the rate is 0 to 1."""

    first: float
    days: int
    count: int
    tone: float
    intent: float
    contradiction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Where a measure moved: the epoch from which it is another, by how much, and the records that moved it."""

    measure: Measure
    days: int
    at: float
    before: float
    after: float
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The epochs of each length that were asked for, and what changed. `canon` is given, or bootstrapped."""

    epochs: tuple[Epoch, ...]
    changes: tuple[Change, ...]
    canon: str


def drift(
    utterances: Iterable[Utterance],
    *,
    encode: Encode | None,
    canon: str | None = None,
    days: Sequence[int] = (FINE[0], COARSE[0]),
) -> Drift:
    """How the agent's own words moved. Without a canon its first epoch of the longest length stands for one."""
    said = [one for one in cut(utterances) if one.what is What.PROSE and one.src is Source.AGENT and one.said]
    if not said:
        return Drift(epochs=(), changes=(), canon="given" if canon else "none")
    lines = canon_lines(canon)
    times = np.array([one.time for one in said])
    first = times < (np.floor(times.min() / (max(days) * DAY)) + 1) * max(days) * DAY
    meant, lined = _meanings([one.text for one in said], lines, encode)
    told = _tones([one.said for one in said])
    base_tone = score.unit(_tones(lines).mean(axis=0, keepdims=True))[0] if lines else _centre(told[first])
    base = lined if lines else meant[first]
    denied = _denied(said, meant, lines, lined)
    measures = {
        Measure.TONE: 1.0 - (told @ base_tone).astype(np.float64),
        Measure.INTENT: 1.0 - (meant @ _centre(base)).astype(np.float64),
        Measure.CONTRADICTION: denied,
    }
    epochs: list[Epoch] = []
    changes: list[Change] = []
    for length in days:
        some = _epochs(times, told, meant, denied, bases=(base_tone, _centre(base)), length=length)
        epochs += some
        changes += _changes(some, said, times, measures, length)
    return Drift(epochs=tuple(epochs), changes=tuple(changes), canon="given" if lines else "bootstrapped")


def _meanings(texts: Sequence[str], lines: Sequence[str], encode: Encode | None) -> tuple[Vectors, Vectors]:
    """Intent vectors of the texts and of the canon's lines, on the scale on which unrelated texts are at 0."""
    if encode is None:
        words = score.words_of([*texts, *lines], len(texts))
        return words[: len(texts)], words[len(texts) :]
    shown = [text for some in examples.BY_KIND for text in some]
    rows = np.asarray(encode([*shown, *texts, *lines]), dtype=np.float32)
    rows = score.centred(rows[len(shown) :], rows[: len(shown)].mean(axis=0))
    return rows[: len(texts)], rows[len(texts) :]


def _tones(texts: Sequence[str]) -> Vectors:
    """Unit tone vectors; a text without any mark of a register points nowhere."""
    rows = np.array([tone(text, detect(text)) for text in texts], dtype=np.float32).reshape(len(texts), len(REGISTERS))
    return score.unit(np.sqrt(rows))


def _centre(rows: Vectors) -> Vectors:
    given: Vectors = score.unit(rows.mean(axis=0, keepdims=True))[0]
    return given


def _denied(said: Sequence[Fragment], meant: Vectors, lines: Sequence[str], lined: Vectors) -> Scores:
    """How far each fragment contradicts the line of the canon that it is nearest to."""
    found = np.zeros(len(said))
    if not lines:
        return found
    near = meant @ lined.T
    for at in map(int, np.flatnonzero(near.max(axis=1) >= _NEAR)):
        line = int(near[at].argmax())
        found[at] = contradiction(lines[line], said[at].said, float(near[at, line])).score
    return found


def _epochs(
    times: Scores, told: Vectors, meant: Vectors, denied: Scores, *, bases: tuple[Vectors, Vectors], length: int
) -> list[Epoch]:
    of = np.floor(times / (length * DAY)).astype(np.int64)
    found = []
    for number in np.unique(of):
        rows = of == number
        if rows.sum() < _LEAST:
            continue
        found.append(
            Epoch(
                first=float(number) * length * DAY,
                days=length,
                count=int(rows.sum()),
                tone=round(1.0 - float(_centre(told[rows]) @ bases[0]), 4),
                intent=round(1.0 - float(_centre(meant[rows]) @ bases[1]), 4),
                contradiction=round(float(denied[rows].mean()), 4),
            )
        )
    return found


def _changes(
    epochs: Sequence[Epoch], said: Sequence[Fragment], times: Scores, measures: Mapping[Measure, Scores], length: int
) -> list[Change]:
    """For each measure the split of the epochs whose two sides differ most, where they differ by more than chance."""
    if len(epochs) < 3:
        return []
    found = []
    for measure, moved in measures.items():
        values = np.array([getattr(epoch, measure.value) for epoch in epochs])
        gaps = [abs(values[at:].mean() - values[:at].mean()) for at in range(1, len(values))]
        at = int(np.argmax(gaps)) + 1
        inside = np.r_[np.diff(values[:at]), np.diff(values[at:])]
        usual = float(np.abs(inside).mean()) if len(inside) else 0.0
        if gaps[at - 1] < max(_SMALLEST, _CERTAIN * usual):
            continue
        before, after = float(values[:at].mean()), float(values[at:].mean())
        found.append(
            Change(
                measure=measure,
                days=length,
                at=epochs[at].first,
                before=round(before, 4),
                after=round(after, 4),
                records=_moved(said, times, moved, epochs[at], rising=after > before),
            )
        )
    return found


def _moved(said: Sequence[Fragment], times: Scores, moved: Scores, epoch: Epoch, *, rising: bool) -> tuple[str, ...]:
    """The records of the first epoch after the change that are farthest in its direction."""
    rows = np.flatnonzero((times >= epoch.first) & (times < epoch.first + epoch.days * DAY))
    best: dict[str, float] = defaultdict(lambda: -np.inf)
    for at in map(int, rows):
        best[said[at].record_id] = max(best[said[at].record_id], float(moved[at] if rising else -moved[at]))
    order = {said[at].record_id: at for at in map(int, rows[::-1])}
    return tuple(sorted(best, key=lambda one: (-best[one], order[one]))[:_NAMED])
