"""Which fragments make one rule: DBSCAN on their intents, joined where they are one for another reason.

Spec/kernels.md, section 1, points 4 and 5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.kernels import score
from alveus.kernels.cluster import NOISE, dbscan
from alveus.kernels.company import Field
from alveus.kernels.revision import ESTABLISHED, LIKE_A_RULE, Changes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Scores

_RADIUS: Final = 0.40
"""DBSCAN's reach, as a cosine distance of intents."""

_JOIN: Final = 0.40
"""Two groups are one rule from this nearness: the mean over their members of cosine …"""

_BY_CANON: Final = 0.7
"""… so many times how near both are to one line of the canon …"""

_BY_WORD: Final = 0.1
_MOST_WORDS: Final = 3
"""… and so much for each word, number or name that both say, three at most."""

_NEVER: Final = 0.99
"""Below the negative of this two groups are kept apart."""

_DECIMALS: Final = 5

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
    _by_nearness(company, chosen, joined)
    beside = _by_company(company, chosen, old)
    groups: dict[int, list[int]] = defaultdict(list)
    for at in map(int, chosen):
        groups[joined.root(at)].append(at)
    return _without_twins(
        company, [rule for rows in groups.values() if (rule := _standing(company, rows, beside, changed))]
    )


def _without_twins(company: Field, found: Sequence[Rule]) -> list[Rule]:
    """What rests on no message of its own goes into a rule that has all of its messages, and does not stand twice."""
    kept: list[Rule] = []
    messages: list[set[int]] = []
    for rule in sorted(found, key=lambda one: (-len(_messages(company, one)), one.rows[0])):
        own = _messages(company, rule)
        place = next((at for at, others in enumerate(messages) if own <= others), None)
        if place is None or company.recorded[rule.rows].any():
            kept.append(rule)
            messages.append(own)
        else:
            rows = sorted({*kept[place].rows, *rule.rows})
            kept[place] = Rule(rows, sorted({*kept[place].beside, *rule.beside} - set(rows)))
    return sorted(kept, key=lambda one: one.rows[0])


def _messages(company: Field, rule: Rule) -> set[int]:
    return {int(company.whole[at]) for at in (*rule.rows, *rule.beside)}


def _chosen(company: Field, changed: Changes, old: NDArray[np.bool_]) -> NDArray[np.int64]:
    """What agrees with its company, what was recorded, and what replaced something; not what was replaced.

    Beside a line of the canon less is enough: the line is what agrees, and the statement supports it.
    """
    chosen = (company.score >= score.THRESHOLD) | company.recorded
    chosen |= company.beside_canon & (company.score >= ESTABLISHED) & (company.likeness >= LIKE_A_RULE)
    chosen[list(changed.follows)] = True
    return np.flatnonzero(chosen & ~old)


def _by_reach(company: Field, chosen: NDArray[np.int64], joined: _Joined) -> None:
    """One rule: a cluster, and what one message says of one thing."""
    reach = 1.0 - min(_CLOSEST, (1.0 - _RADIUS) * company.scale)
    labels = dbscan(company.rows[chosen], reach, 2)
    first: dict[tuple[str, int], int] = {}
    for at, label in zip(map(int, chosen), map(int, labels), strict=True):
        neighbour = first.setdefault(("message", int(company.whole[at])), at)
        if float(company.cosines[at, neighbour]) >= _BESIDE * company.scale:
            joined.unite(neighbour, at)
        if label != NOISE:
            joined.unite(first.setdefault(("cluster", label), at), at)


def _by_nearness(company: Field, chosen: NDArray[np.int64], joined: _Joined) -> None:
    """Join the two groups that are nearest on the mean, again and again, until none are near enough."""
    members: dict[int, list[int]] = defaultdict(list)
    for place, at in enumerate(map(int, chosen)):
        members[joined.root(at)].append(place)
    groups = list(members.values())
    shares = np.zeros((len(groups), len(chosen)))
    for number, places in enumerate(groups):
        shares[number, places] = 1.0 / len(places)
    near = shares @ _nearness(company, chosen) @ shares.T
    apart = company.recorded[[chosen[places[0]] for places in groups]]  # what stands for itself joins nothing
    near[apart] = near[:, apart] = -1.0
    np.fill_diagonal(near, -1.0)
    while near.size:
        one, other = sorted(divmod(int(near.argmax()), len(groups)))
        if near[one, other] < _JOIN:
            return
        left, right = len(groups[one]), len(groups[other])
        both = np.minimum(near[one], near[other])
        mean = (left * near[one] + right * near[other]) / (left + right)
        near[one] = near[:, one] = np.where(both < -_NEVER, -1.0, mean)
        near[one, one] = near[other] = near[:, other] = -1.0
        joined.unite(int(chosen[groups[one][0]]), int(chosen[groups[other][0]]))
        groups[one] = groups[one] + groups[other]


def _nearness(company: Field, chosen: NDArray[np.int64]) -> Scores:
    """How near so many statements are to each other: their cosine, one line of the canon beside both, words of both."""
    near: Scores = company.cosines[np.ix_(chosen, chosen)].astype(np.float64) / company.scale
    if company.canon.shape[1]:
        line, beside = company.canon[chosen].argmax(axis=1), np.maximum(company.canon[chosen].max(axis=1), 0.0)
        near += _BY_CANON * (line[:, None] == line[None, :]) * np.minimum(beside[:, None], beside[None, :])
    said = [company.values[at].mentions for at in chosen]
    words = {word: place for place, word in enumerate(sorted(set().union(*said)))}
    has = np.zeros((len(chosen), len(words)), dtype=np.float32)
    for number, some in enumerate(said):
        has[number, [words[word] for word in some]] = 1.0
    near += _BY_WORD * np.minimum(has @ has.T, _MOST_WORDS)
    return np.round(near, _DECIMALS)


def _by_company(company: Field, chosen: NDArray[np.int64], old: NDArray[np.bool_]) -> dict[int, tuple[float, int]]:
    """The best company of each, and how strong the link to it is, where it is support."""
    links = company.links(chosen)
    links[:, old] = 0.0
    links[company.cosines[chosen] < _ABOUT * company.scale] = 0.0
    links[:, company.recorded] = 0.0  # what stands for itself is no part of another rule for being near it
    best, strength = links.argmax(axis=1), links.max(axis=1)
    return {
        int(at): (float(strong), int(other))
        for at, other, strong in zip(chosen, best, strength, strict=True)
        if strong >= _SUPPORT
    }


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
