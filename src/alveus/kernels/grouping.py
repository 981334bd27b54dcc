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
from alveus.kernels.revision import mask

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RADIUS: Final = 0.40
"""DBSCAN's reach, as a cosine distance of intents."""

_JOIN: Final = 0.35
"""A fragment and its best company are one rule from this cosine."""

_BESIDE: Final = 0.10
"""Two fragments of one message are one rule from this cosine; below it, it speaks of two things."""

_SUPPORT: Final = 0.10
"""A link (cosine times tone) is support from here."""

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


def rules(company: Field, by: Mapping[int, int]) -> list[Rule]:
    """The rules that may stand, in the order of their first fragments; `by` says what was replaced."""
    old = mask(dict(by), len(company))
    chosen = _chosen(company, by, old)
    if not len(chosen):
        return []
    joined = _Joined()
    _by_reach(company, chosen, joined)
    beside = _by_company(company, chosen, old, joined)
    groups: dict[int, list[int]] = defaultdict(list)
    for at in map(int, chosen):
        groups[joined.root(at)].append(at)
    return [rule for rows in groups.values() if (rule := _standing(company, rows, beside))]


def _chosen(company: Field, by: Mapping[int, int], old: NDArray[np.bool_]) -> NDArray[np.int64]:
    """What agrees with its company, what was recorded, and what replaced something; not what was replaced."""
    chosen = (company.score >= score.THRESHOLD) | company.recorded
    chosen[list(set(by.values()))] = True
    return np.flatnonzero(chosen & ~old)


def _by_reach(company: Field, chosen: NDArray[np.int64], joined: _Joined) -> None:
    """One rule: a cluster, a message, what stands by one line of the canon."""
    reach = 1.0 - min(_CLOSEST, (1.0 - _RADIUS) * company.scale)
    labels = dbscan(company.rows[chosen], reach, 2)
    first: dict[tuple[str, int], int] = {}
    for at, label in zip(map(int, chosen), map(int, labels), strict=True):
        names: list[tuple[str, int]] = []
        neighbour = first.setdefault(("message", int(company.whole[at])), at)
        if float(company.rows[at] @ company.rows[neighbour]) >= _BESIDE * company.scale:
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
    best = dict(zip(map(int, chosen), map(int, links.argmax(axis=1)), strict=True))
    beside: dict[int, tuple[float, int]] = {}
    for (at, other), strength in zip(best.items(), map(float, links.max(axis=1)), strict=True):
        if strength < _SUPPORT:
            continue
        if company.recorded[at] or company.recorded[other]:
            continue  # what stands for itself is no part of another rule for being near it
        near = float(company.rows[at] @ company.rows[other]) >= _JOIN * company.scale
        if best.get(other) == at or (other in best and near):
            joined.unite(at, other)
        else:
            beside[at] = (strength, other)
    return beside


def _standing(company: Field, rows: list[int], beside: Mapping[int, tuple[float, int]]) -> Rule | None:
    """A rule that may stand: recorded as such, or said in two sessions or in the canon, and not by the agent alone."""
    if company.recorded[rows].any():
        return Rule(rows, [])
    extra: list[int] = []
    if len(set(company.session[rows])) < 2:
        support = max((beside[at] for at in rows if at in beside), default=None)
        extra = [support[1]] if support else []
    everything = rows + extra
    stands = len(set(company.session[everything])) > 1 and company.user[everything].any()
    return Rule(rows, extra) if stands or any(map(company.by_canon, rows)) else None
