"""Which fragments make one rule: DBSCAN on their intents, joined where they are one for another reason.

Spec/kernels.md, section 1, points 4 and 5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.kernels import score
from alveus.kernels.cluster import NOISE, dbscan
from alveus.kernels.company import Field
from alveus.kernels.revision import ESTABLISHED, LIKE_A_RULE, Changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RADIUS: Final = 0.40
"""DBSCAN's reach, as a cosine distance of intents."""

_JOIN: Final = 0.35
"""A fragment and its best company are one rule from this cosine."""

_BESIDE: Final = 0.10
"""Two fragments of one message are one rule from this cosine; below it, it speaks of two things."""

_SUPPORT: Final = 0.15
"""A link (cosine times tone) is support from here."""

_ABOUT: Final = 0.20
"""What supports a fragment is about the same from this cosine: below it they only share a tone, or a word."""

_IN_FULL: Final = 6
"""A sentence of so many words says something by itself."""

_RESTATED: Final = 0.60
"""Two short sentences of two sessions are one rule from this cosine."""

_SESSIONS: Final = 2
"""Sessions in which a rule is said."""

_CLOSEST: Final = 0.95


@dataclass(frozen=True, slots=True)
class Rule:
    """The fragments of one rule, and those that support it from below the threshold."""

    rows: list[int]
    beside: list[int]


@dataclass(slots=True)
class _Joined:
    """Which rows belong together: a union-find whose roots are the first of each."""

    parents: dict[int, int] = field(default_factory=dict)

    def root(self, at: int) -> int:
        while (up := self.parents.setdefault(at, at)) != at:
            at = up
        return at

    def unite(self, one: int, other: int) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self.parents[high] = low


def rules(company: Field, changed: Changes) -> list[Rule]:
    """The rules that may stand, in the order of their first fragments, after what was changed."""
    old = changed.mask(len(company))
    chosen = _chosen(company, changed, old)
    if not len(chosen):
        return []
    joined = _Joined()
    _by_reach(company, chosen, joined)
    beside = _by_company(company, chosen, old, joined)
    groups: dict[int, list[int]] = defaultdict(list)
    for at in map(int, chosen):
        groups[joined.root(at)].append(at)
    return [rule for rows in groups.values() if (rule := _standing(company, rows, beside, changed))]


def _chosen(company: Field, changed: Changes, old: NDArray[np.bool_]) -> NDArray[np.int64]:
    """What agrees with its company, what was recorded, and what replaced something; not what was replaced.

    Beside a line of the canon less is enough: the line is what agrees, and the statement supports it.
    """
    chosen = (company.score >= score.THRESHOLD) | company.recorded
    chosen |= company.beside_canon & (company.score >= ESTABLISHED) & (company.likeness >= LIKE_A_RULE)
    chosen[list(changed.follows)] = True
    return np.flatnonzero(chosen & ~old)


def _by_reach(company: Field, chosen: NDArray[np.int64], joined: _Joined) -> None:
    """One rule: a cluster, a message, what stands by one line of the canon."""
    reach = 1.0 - min(_CLOSEST, (1.0 - _RADIUS) * company.scale)
    labels = dbscan(company.rows[chosen], reach, 2)
    first: dict[tuple[str, int], int] = {}
    for at, label in zip(map(int, chosen), map(int, labels), strict=True):
        names: list[tuple[str, int]] = []
        neighbour = first.setdefault(("message", int(company.whole[at])), at)
        if float(company.cosines[at, neighbour]) >= _BESIDE * company.scale:
            joined.unite(neighbour, at)
        if label != NOISE:
            names.append(("cluster", label))
        if company.by_canon(at):
            names.append(("canon", int(company.canon[at].argmax())))
        for name in names:
            joined.unite(first.setdefault(name, at), at)


def _by_company(
    company: Field, chosen: NDArray[np.int64], old: NDArray[np.bool_], joined: _Joined
) -> dict[int, tuple[float, int]]:
    """The best company of each: one rule with it where it was chosen too, else kept beside it."""
    links = company.links(chosen)
    links[:, old] = 0.0
    links[company.cosines[chosen] < _ABOUT * company.scale] = 0.0
    best = dict(zip(map(int, chosen), map(int, links.argmax(axis=1)), strict=True))
    beside: dict[int, tuple[float, int]] = {}
    for (at, other), strength in zip(best.items(), map(float, links.max(axis=1)), strict=True):
        if strength < _SUPPORT:
            continue
        if company.recorded[at] or company.recorded[other]:
            continue  # what stands for itself is no part of another rule for being near it
        near = float(company.cosines[at, other]) >= _JOIN * company.scale
        if best.get(other) == at or (other in best and near):
            joined.unite(at, other)
        else:
            beside[at] = (strength, other)
    return beside


def _standing(
    company: Field, rows: list[int], beside: Mapping[int, tuple[float, int]], changed: Changes
) -> Rule | None:
    """A rule that may stand: recorded as such, said in two sessions and not by the agent alone, in the canon, changed.

    A changed rule has the support of what it replaced.
    """
    if company.recorded[rows].any():
        return Rule(rows, [])
    extra = {one for at in rows for one in changed.follows.get(at, ())} - set(rows)
    revised = any(at in changed.follows for at in rows)
    if not revised and len(set(company.session[rows])) < _SESSIONS:
        support = max((beside[at] for at in rows if at in beside), default=None)
        extra |= {support[1]} if support else set()
    everything = [*rows, *sorted(extra)]
    stands = (
        (_is_said_again(company, rows, everything) and company.user[everything].any())
        or (revised and (bool(extra) or float(company.score[rows].max()) >= ESTABLISHED))
        or any(company.by_canon(at) and company.likeness[at] >= LIKE_A_RULE for at in rows)
    )
    return Rule(rows, sorted(extra)) if stands else None


def _is_said_again(company: Field, rows: list[int], everything: list[int]) -> bool:
    """Whether several sessions say a rule: two that speak in full or say the same, or more of them.

    Two short sentences are near each other by a word or two (say yes; it's Friday).
    """
    sessions = len(set(company.session[everything]))
    if sessions < _SESSIONS or sessions > _SESSIONS or any(company.words[at] >= _IN_FULL for at in rows):
        return sessions >= _SESSIONS
    near = company.cosines[np.ix_(everything, everything)]
    near[company.session[everything][:, None] == company.session[everything][None, :]] = 0.0
    return bool(near.max() >= _RESTATED * company.scale)
