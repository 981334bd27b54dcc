"""What may make a rule: what has the tone of one, and is not said in jest, by others, or of what is not so.

Spec/kernels.md, section 1: text inside tool output, quotations and hypotheticals never enters a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.journal.record import Kind, Source
from alveus.kernels import score
from alveus.kernels.bullet import KernelName
from alveus.kernels.fragment import Fragment, Utterance, What, cut
from alveus.kernels.tone import AT, REGISTERS, tone
from alveus.language.terms import detect

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Scores

CANDIDATES: Final = 8_000
"""Fragments that are embedded and compared: those whose tone is most that of a rule."""

RECORDED: Final = 10
"""Recorded errors and decisions that may stand on a single mention: the newest."""

ONE_MENTION: Final = {Kind.ERROR: KernelName.ANTI, Kind.DECISION: KernelName.DECISION}
"""What was recorded as such is no chatter: the kernels they go to."""

_LEAST_WORDS: Final = 3


def canon_lines(canon: str | None) -> list[str]:
    """The statements of a canon: its sentences, without headings, code and quotations."""
    text = "\n".join(line for line in (canon or "").splitlines() if not line.lstrip().startswith("#"))
    said = Utterance(
        record_id="", origin="", src=Source.SYSTEM, kind=Kind.IDENTITY_CHANGE, session="", time=0.0, text=text
    )
    return [one.text for one in cut([said]) if one.what is What.PROSE and len(one.text.split()) >= _LEAST_WORDS]


@dataclass(frozen=True, slots=True)
class Heard:
    """Fragments with their tones; `recorded` are errors and decisions that were recorded as such."""

    fragments: list[Fragment]
    tones: NDArray[np.int64]
    likeness: Scores
    recorded: NDArray[np.bool_]


_GUARDS: Final = ("hypothetical", "report_speech")


Tones = Callable[[Sequence[str], Sequence[str]], "NDArray[np.int64]"]
"""Texts and their languages (n) to how often each register is marked, [n, registers]."""


def counted(texts: Sequence[str], codes: Sequence[str]) -> NDArray[np.int64]:
    """How often each register is marked in each text of its language."""
    counts = [tone(text, code) for text, code in zip(texts, codes, strict=True)]
    return np.array(counts, dtype=np.int64).reshape(len(texts), len(REGISTERS))


def heard(prose: Sequence[Fragment], tones_of: Tones = counted) -> Heard:
    """The fragments that may make a rule: those whose tone is most that of one, without what is guarded."""
    wholes: dict[int, str] = {}
    for one in prose:
        wholes.setdefault(one.whole, detect(one.text))
    codes = [wholes[one.whole] for one in prose]
    tones = tones_of([one.said for one in prose], codes)
    user = np.array([one.src is Source.USER for one in prose], dtype=bool)
    like = score.likeness(tones, user)
    like[guarded(prose, tones)] = 0.0
    like[[len(one.said.split()) < _LEAST_WORDS for one in prose]] = 0.0
    recorded = np.zeros(len(prose), dtype=bool)
    recorded[_recorded(prose, like)] = True
    kept = np.lexsort((-like, ~recorded))[:CANDIDATES]
    kept = np.sort(kept[like[kept] > 0.0])
    return Heard([prose[at] for at in kept], tones[kept], like[kept], recorded[kept])


def _recorded(prose: Sequence[Fragment], like: Scores) -> list[int]:
    """The newest recorded errors and decisions, by the first fragment of each: they need no second mention."""
    first: dict[int, int] = {}
    for at, one in enumerate(prose):
        if one.kind in ONE_MENTION and like[at] > 0.0:
            first.setdefault(one.whole, at)
    return list(first.values())[-RECORDED:]


def guarded(prose: Sequence[Fragment], tones: NDArray[np.int64]) -> NDArray[np.bool_]:
    """A joke takes its whole message with it; a hypothesis or somebody's words take their neighbours in it."""
    found = np.zeros(len(prose), dtype=bool)
    joking = tones[:, AT["joke"]] > 0
    marked = joking | (tones[:, [AT[name] for name in _GUARDS]] > 0).any(axis=1)
    for at in map(int, np.flatnonzero(marked)):
        whole, src = prose[at].whole, prose[at].src
        if src is not Source.USER:
            continue
        reach = len(prose) if joking[at] else 1
        for step in (-1, 1):
            near = at
            for _ in range(reach + 1):
                if not 0 <= near < len(prose) or prose[near].whole != whole:
                    break
                found[near] = True
                near += step
    return found
