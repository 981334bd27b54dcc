"""What was replaced: the newest authoritative statement of a rule stands. Spec/kernels.md, section 1.

Only the user changes a rule. A change says so (from now on, no longer, we are moving to …), is about what was said
before, and what it replaced is not said any more afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.kernels.company import SAME, Field
from alveus.kernels.contradiction import contradiction
from alveus.kernels.fragment import Fragment
from alveus.kernels.tone import AT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Vectors

ESTABLISHED: Final = 0.80
"""A statement can be replaced from this score."""

_HEARD: Final = 0.70
"""A revision is heard from this score."""

_RULE: Final = 0.50
"""… and from this likeness of its tone to that of a rule."""

_FAMILY: Final = 0.50
"""What goes with a replaced statement does so from this score."""

_TOPIC: Final = 0.30
"""A statement is of the topic that a revision changes from this cosine."""

_SAME_TOPIC: Final = 0.25
"""A statement is of the topic of one that was replaced from this cosine."""

_ALIVE: Final = 0.05
"""A statement that later ones support, less than this below its cosine to the revision, is not replaced by it."""


def replaced(field: Field) -> dict[int, int]:
    """Which fragments were replaced, and by which: of a message that was replaced, all."""
    by: dict[int, int] = {}
    for rows in field.messages.values():
        good = _revising(field, rows)
        if good:
            _replace(field, good, rows, by)
    _family(field, by)
    for old, new in list(by.items()):
        for at in field.messages[int(field.whole[old])]:
            by.setdefault(at, new)
    return by


def mask(by: dict[int, int], count: int) -> NDArray[np.bool_]:
    """The replaced ones among so many fragments."""
    found = np.zeros(count, dtype=bool)
    found[list(by)] = True
    return found


def _revising(field: Field, rows: list[int]) -> list[int]:
    """The fragments of a message of the user's that changes something; none if it does not."""
    good = [at for at in rows if field.user[at] and not field.tones[at, AT["ask"]]]
    if not good or not field.tones[good, AT["revise"]].any():
        return []
    return good if field.likeness[good].max() >= _RULE and field.score[good].max() >= _HEARD else []


def _replace(field: Field, good: list[int], rows: list[int], by: dict[int, int]) -> None:
    earlier = np.flatnonzero(field.score[: rows[0]] >= ESTABLISHED)
    earlier = earlier[field.session[earlier] != field.session[rows[0]]]
    near = field.rows[earlier] @ field.rows[good].T
    fitting = near.max(axis=1, initial=0.0) >= _TOPIC * field.scale
    earlier, near = earlier[fitting], near[fitting]
    if not len(earlier):
        return
    later = _still(field, earlier, good, rows[-1] + 1)
    for old, cosines, after in zip(map(int, earlier), near, later, strict=True):
        new, best = good[int(cosines.argmax())], float(cosines.max())
        if best < after + _ALIVE:
            continue
        if best < SAME * field.scale or _excludes(field.fragments[old], field.fragments[new], best):
            by.setdefault(old, new)


def _still(field: Field, earlier: NDArray[np.int64], good: list[int], since: int) -> Vectors:
    """The best link of each earlier statement to what was said since, and is nearer to it than to the revision."""
    links = field.links(earlier)[:, since:]
    to_new = (field.rows[since:] @ field.rows[good].T).max(axis=1, initial=0.0)
    links[field.rows[earlier] @ field.rows[since:].T < to_new] = 0.0
    given: Vectors = links.max(axis=1, initial=0.0)
    return given


def _excludes(old: Fragment, new: Fragment, cosine: float) -> bool:
    """Whether a statement that is nearly another one says something else: if not, it says it again."""
    return contradiction(old.said, new.said, cosine).score > 0.0


def _family(field: Field, by: dict[int, int]) -> None:
    """What says the same as a replaced statement, and is not said any more, was replaced with it."""
    for old, new in list(by.items()):
        near = field.rows[:new] @ field.rows[old]
        fitting = np.flatnonzero(
            (near >= _SAME_TOPIC * field.scale)
            & (field.session[:new] != field.session[new])
            & (field.score[:new] >= _FAMILY)
        )
        if not len(fitting):
            continue
        later = _still(field, fitting, [new], new + 1)
        for at, after in zip(map(int, fitting), later, strict=True):
            if near[at] > after:
                by.setdefault(at, new)
