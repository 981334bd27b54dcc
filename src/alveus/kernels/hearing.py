"""What may make a rule: what has the tone of one, and is not said in jest, by others, or of what is not so.

Spec/kernels.md, section 1: text inside tool output, quotations and hypotheticals never enters a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.journal.record import Kind, Source
from alveus.kernels import score
from alveus.kernels.bullet import KernelName
from alveus.kernels.fragment import Fragment, Utterance, What, cut
from alveus.kernels.lexicon import Lexicon
from alveus.kernels.prose import CODE_OF_KIND, Prose
from alveus.kernels.tone import AT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Scores

CANDIDATES: Final = 6_000
"""Fragments that are embedded and compared: those whose tone is most that of a rule."""

RECORDED: Final = 10
"""Recorded errors and decisions that may stand on a single mention: the newest."""

ONE_MENTION: Final = {Kind.ERROR: KernelName.ANTI, Kind.DECISION: KernelName.DECISION}
"""What was recorded as such is no chatter: the kernels they go to."""

_LEAST_WORDS: Final = 3

_IN_FULL: Final = 6
"""A report of fewer words says only whose words the ones before it are."""


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
    lexicon: Lexicon


def heard(prose: Prose) -> Heard:
    """The fragments that may make a rule: those whose tone is most that of one, without what is guarded."""
    like = score.likeness(prose.tones, prose.user)
    like[guarded(prose)] = 0.0
    like[prose.words < _LEAST_WORDS] = 0.0
    recorded = np.zeros(len(prose), dtype=bool)
    recorded[_recorded(prose, like)] = True
    kept = np.lexsort((-like, ~recorded))[:CANDIDATES]
    kept = np.sort(kept[like[kept] > 0.0])
    return Heard(prose.made(kept.tolist()), prose.tones[kept], like[kept], recorded[kept], prose.lexicon)


def _recorded(prose: Prose, like: Scores) -> list[int]:
    """The newest recorded errors and decisions, by the first fragment of each: they need no second mention."""
    first: dict[int, int] = {}
    alone = np.isin(prose.kinds, [CODE_OF_KIND[kind] for kind in ONE_MENTION])
    for at in map(int, np.flatnonzero(alone & (like > 0.0))):
        first.setdefault(int(prose.whole[at]), at)
    return list(first.values())[-RECORDED:]


def guarded(prose: Prose) -> NDArray[np.bool_]:
    """A joke takes its whole message with it, a hypothesis its neighbours in it, somebody's words what follows them.

    What stands before somebody's words is the user's own, unless these are too few to say anything themselves: *so he
    says*.
    """
    found = np.zeros(len(prose), dtype=bool)
    joking, supposing, reporting = (prose.tones[:, AT[name]] > 0 for name in ("joke", "hypothetical", "report_speech"))
    for at in map(int, np.flatnonzero((joking | supposing | reporting) & prose.user)):
        whole = prose.whole[at]
        reach = len(prose) if joking[at] else 1
        back = joking[at] or supposing[at] or prose.words[at] < _IN_FULL
        for step in (-1, 1) if back else (1,):
            near = at
            for _ in range(reach + 1):
                if not 0 <= near < len(prose) or prose.whole[near] != whole:
                    break
                found[near] = True
                near += step
    return found
