"""What was replaced: the newest authoritative statement of a rule stands. Spec/kernels.md, section 1.

Only the user changes a rule. A change says so (from now on, no longer, we are moving to …), and is about what was said
before, or sets a value (a number, a time, a name) that nobody had said before and others go by later. What it replaced
is not said any more afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from alveus.kernels.company import SAME, Field
from alveus.kernels.contradiction import Signal, contradiction
from alveus.kernels.fragment import Fragment
from alveus.kernels.replacing import replacements
from alveus.kernels.tone import AT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from alveus.kernels.score import Vectors

ESTABLISHED: Final = 0.84
"""A statement can be replaced from this score."""

_HELD: Final = 0.66
"""… and by one that says plainly that something changes, from this one."""

_HEARD: Final = 0.57
"""A revision is heard from this score."""

_RULE: Final = 0.20
"""… and from this likeness of its tone to that of a rule."""

_FAMILY: Final = 0.57
"""What goes with a replaced statement does so from this score."""

_TOPIC: Final = 0.30
"""A statement is of the topic that a revision changes from this cosine."""

_SAME_TOPIC: Final = 0.25
"""A statement is of the topic of one that was replaced from this cosine."""

_TOUCHES: Final = 0.15
"""… and of the topic of what replaced that from this one."""

_ALIVE: Final = 0.05
"""A statement that later ones support, less than this below its cosine to the revision, is not replaced by it."""

_BESIDE: Final = 2
"""Sentences from the one that says that something changes to one that says what."""

_SHARED: Final = 2
"""Words that these share with a statement which they replace …"""

LIKE_A_RULE: Final = 0.50
"""… and how like a rule that must be."""

_SLOT: Final = 0.35
"""Two statements that give different values give them to one thing from this cosine."""

_NEAREST: Final = 3
"""Earlier statements that a rule is compared with."""

_DENIES: Final = 0.30
"""A value is another one from this contradiction …"""

_VALUES: Final = frozenset({Signal.NUMBER, Signal.DATE, Signal.ENTITY, Signal.MODALITY})
"""… and these are what tells it: whether one of two denies is told less surely."""

_KNOWN: Final = 2
"""Sessions before a change that said the value it does away with; afterwards at most so many times fewer."""

_RARE: Final = 5
"""… and no more: a name that is in every session is a person, and no value."""

_NAMED: Final = 0.10
"""Who said such a value spoke of what changes from this cosine."""

_FOLLOWS: Final = 0.15
"""What says a new value again is of its topic from this cosine."""

_STRONGEST: Final = ((0, 8), (8, 32))
"""Of the strongest links of a statement these are looked at, first the one lot, then the other."""

_FOLLOWERS: Final = 1
"""Of what says a new value again so much is cited."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What was changed: `by` says which fragment was replaced by which, `follows` what goes by a change.

    The keys of `follows` are the statements that hold since a change, in order.
    """

    by: dict[int, int] = field(default_factory=dict)
    follows: dict[int, list[int]] = field(default_factory=dict)

    def mask(self, count: int) -> NDArray[np.bool_]:
        """The replaced ones among so many fragments."""
        found = np.zeros(count, dtype=bool)
        found[list(self.by)] = True
        return found


def changes(company: Field) -> Changes:
    """Which fragments were replaced, and by which; of a message that was replaced, all."""
    found = Changes()
    named: set[int] = set()
    said: _Said | None = None
    for rows in company.messages.values():
        marked, beside = _revising(company, rows)
        if marked:
            said = said or _Said(company)
            named |= _change(company, said, marked, beside, found)
    _unsaid(company, found)
    _family(company, found, named)
    for old, at in list(found.by.items()):
        if old not in named:
            for other in company.messages[int(company.whole[old])]:
                found.by.setdefault(other, at)
    _by_signs(company, found)
    return found


def _by_signs(company: Field, found: Changes) -> None:
    """What replaces by all that is known of two statements: with its whole message, unless it was changed itself.

    What the user announced as a change is not replaced so: who speaks of the like later goes by it.
    """
    for old, new in replacements(company):
        if old in found.by or new in found.by or old in found.follows:
            continue
        whole = company.messages[int(company.whole[old])]
        if not (company.user[old] and company.changes[whole].max() >= 0.0):
            for other in whole:
                found.by.setdefault(other, new)
        found.follows.setdefault(new, [])


def _change(company: Field, said: _Said, marked: list[int], beside: list[int], found: Changes) -> set[int]:
    """Note what a message changes; returns what was replaced only because it names a value that is done away with."""
    rows = company.messages[int(company.whole[marked[0]])]
    replaced = _replace(company, said, marked, beside, found)
    found.by.update(replaced)
    named: set[int] = set()
    for old, at in said.vanishing(marked, sorted(marked + beside)):
        if old not in found.follows and old not in found.by:
            found.by[old] = replaced[old] = at
            named.add(old)
    new = sorted(set(replaced.values()))
    setting, following = said.following(marked, rows[-1] + 1)
    if following and setting not in new and (new or not _personal(company, marked)):
        new.append(setting)
    if following:
        for old in said.otherwise(setting):
            found.by.setdefault(old, setting)
    for at in new:
        found.follows[at] = following if at == setting else []
    return named


def _revising(company: Field, rows: list[int]) -> tuple[list[int], list[int]]:
    """Of a message of the user's what says that something changes, and the sentences beside it, which may say what."""
    good = [at for at in rows if company.user[at] and not company.tones[at, AT["ask"]]]
    marked = [at for at in good if company.changes[at] >= 0.0]
    if not marked or company.likeness[good].max() < _RULE:
        return [], []
    near = (at for at in good if at not in marked and any(abs(at - one) <= _BESIDE for one in marked))
    return marked, [at for at in near if not company.tones[at, AT["recall"]]]


def _personal(company: Field, marked: Sequence[int]) -> bool:
    """Whether somebody speaks of himself alone: a resolution changes no rule."""
    return bool((company.tones[marked, AT["me"]] > 0).all())


class _Said:
    """Who says what."""

    def __init__(self, company: Field) -> None:
        self._company = company
        self._values = company.values
        self._by: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(self._values):
            for value in sorted(one.mentions):
                self._by[value].append(at)

    def share(self, one: int, other: int) -> int:
        """How many words two statements share that are no names and no values."""
        left, right = self._values[one], self._values[other]
        return len((left.mentions & right.mentions) - left.sets - right.sets)

    def vanishing(self, marked: Sequence[int], near: Sequence[int]) -> Iterator[tuple[int, int]]:
        """What said a value that is named where something changes, and that hardly anybody says afterwards."""
        company = self._company
        own = company.session[marked[0]]
        olds: set[int] = set()
        for value in sorted({value for at in marked for value in self._values[at].sets}):
            holding = [one for one in self._by[value] if company.session[one] != own]
            earlier = [one for one in holding if one < marked[0]]
            before, after = (len(set(company.session[some])) for some in (earlier, holding[len(earlier) :]))
            if _KNOWN <= before <= _RARE and after * _KNOWN <= before:
                olds.update(earlier)
        order = sorted(olds)
        cosines = company.cosines[np.ix_(order, list(near))]
        new = max(near, key=lambda at: (company.raw[at], -at))
        for old, some in zip(order, cosines, strict=True):
            if some.max() >= _NAMED * company.scale:
                yield old, new

    def otherwise(self, at: int) -> list[int]:
        """What set another number, in an earlier session, for what a statement sets one for."""
        company = self._company
        if not self._numbers(at):
            return []
        near = np.flatnonzero(company.cosines[at, :at] >= _SLOT * company.scale)
        return [
            old
            for old in map(int, near)
            if company.session[old] != company.session[at]
            and self._numbers(old)
            and not self._numbers(old) & self._numbers(at)
        ]

    def _numbers(self, at: int) -> set[str]:
        return {value for value in self._values[at].sets if value[0].isdigit()}

    def following(self, marked: Sequence[int], since: int) -> tuple[int, list[int]]:
        """The statement that sets what was never said before, and what says it again in other sessions."""
        company = self._company
        best: tuple[int, list[int]] = (marked[0], [])
        for at in marked:
            again: set[int] = set()
            for value in self._values[at].sets:
                holding = self._by[value]
                if any(one < marked[0] and company.session[one] != company.session[at] for one in holding):
                    continue
                again |= {one for one in holding if one >= since and company.session[one] != company.session[at]}
            order = sorted(again)
            cosines = company.cosines[at, order] if order else np.zeros(0)
            ranked = sorted(zip(-cosines, order, strict=True))
            kept = [one for cosine, one in ranked if -cosine >= _FOLLOWS * company.scale][:_FOLLOWERS]
            if len(kept) > len(best[1]):
                best = (at, kept)
        return best


def _replace(company: Field, said: _Said, marked: list[int], beside: list[int], known: Changes) -> dict[int, int]:
    """What a message replaces, and by which of its statements."""
    near = sorted(marked + beside)
    if company.score[near].max() < _HEARD:
        return {}
    start = company.messages[int(company.whole[near[0]])][0]
    end = company.messages[int(company.whole[near[0]])][-1] + 1
    plain = bool(company.tones[marked, AT["revise"]].any())
    earlier = np.flatnonzero(company.score[:start] >= (_HELD if plain else ESTABLISHED))
    earlier = earlier[company.session[earlier] != company.session[start]]
    cosine = company.cosines[near][:, earlier]
    nearest = cosine.max(axis=0, initial=0.0)
    fitting = nearest >= _TOPIC * company.scale
    earlier, cosine, nearest = earlier[fitting], cosine[:, fitting], nearest[fitting]
    if not len(earlier):
        return {}
    over = nearest >= _still(company, earlier, near, end) + np.float32(_ALIVE)
    by: dict[int, int] = {}
    again: set[int] = set()
    for old, place, best in zip(
        earlier[over].tolist(), cosine[:, over].argmax(axis=0).tolist(), nearest[over].tolist(), strict=True
    ):
        new = near[place]
        if new in beside and (said.share(old, new) < _SHARED or company.likeness[old] < LIKE_A_RULE):
            continue
        restates = best >= SAME * company.scale
        asked = restates or old in known.follows
        if not asked or _excludes(company.fragments[old], company.fragments[new], best):
            by[old] = new
        elif restates:
            again.add(int(company.whole[old]))
    return {old: new for old, new in by.items() if int(company.whole[old]) not in again}


def _unsaid(company: Field, found: Changes) -> None:
    """What replaces without a word of it: it gives another number, day or name than a rule that is said no more."""
    strong = company.score >= ESTABLISHED
    changing = strong & company.user & (company.likeness >= LIKE_A_RULE) & (company.tones[:, AT["ask"]] == 0)
    standing = np.flatnonzero(strong)
    for new in map(int, np.flatnonzero(changing)):
        if new in found.by or new in found.follows:
            continue
        earlier = standing[: np.searchsorted(standing, new)]
        cosines = np.where(company.session[earlier] != company.session[new], company.cosines[new, earlier], 0.0)
        fitting = np.flatnonzero(cosines >= _SLOT * company.scale)
        for place in fitting[np.argsort(-cosines[fitting], kind="stable")[:_NEAREST]]:
            old, best = int(earlier[place]), float(cosines[place])
            if old in found.by or old in found.follows:
                continue
            verdict = contradiction(company.fragments[old].said, company.fragments[new].said, best)
            if verdict.signal not in _VALUES or verdict.score < _DENIES:
                continue
            if best >= float(_still(company, np.array([old]), [new], new + 1)[0]) + _ALIVE:
                found.by[old] = new
                found.follows[new] = []


def _still(company: Field, earlier: NDArray[np.int64], good: list[int], since: int) -> Vectors:
    """The best link of each earlier statement to what was said since, and is nearer to it than to the revision."""
    to_new = company.cosines[good].max(axis=0, initial=0.0)
    to_new[:since] = np.inf
    best: Vectors = np.zeros(len(earlier), dtype=np.float32)
    left = np.arange(len(earlier)) if since < len(company) else np.zeros(0, dtype=np.int64)
    for low, high in _STRONGEST:
        others, links, cosines = company.strongest(earlier[left], low, high)
        nearer = cosines >= to_new[others]
        best[left] = np.where(nearer, links, np.float32(0.0)).max(axis=1, initial=0.0)
        left = left[~nearer.any(axis=1)]  # of these none of the links so far counts
    if len(left):
        links = company.links(earlier[left], since)
        links[company.cosines[earlier[left], since:] < to_new[since:]] = 0.0
        best[left] = links.max(axis=1, initial=0.0)
    return best


def _excludes(old: Fragment, new: Fragment, cosine: float) -> bool:
    """Whether a statement that is nearly another one says something else: if not, it says it again."""
    return contradiction(old.said, new.said, cosine).score > 0.0


def _family(company: Field, found: Changes, named: Collection[int]) -> None:
    """What says the same as a replaced statement, and is not said any more, was replaced with it.

    But for what the canon says, and for what was changed itself.
    """
    free = (company.score >= _FAMILY) & ~company.beside_canon
    free[list(found.follows)] = False
    free[list(found.by)] = False  # what was replaced is replaced by the first that replaces it
    touching: dict[int, NDArray[np.bool_]] = {}
    later: dict[int, Vectors] = {}
    for old, new in [pair for pair in found.by.items() if pair[0] not in named]:
        if new not in later:
            whole = company.cosines[company.messages[int(company.whole[new])], :new].max(axis=0, initial=0.0)
            touching[new] = (whole >= _TOUCHES * company.scale) & (company.session[:new] != company.session[new])
            later[new] = np.full(new, np.nan, dtype=np.float32)
        near = company.cosines[old, :new]
        fitting = np.flatnonzero((near >= _SAME_TOPIC * company.scale) & free[:new] & touching[new])
        asked = fitting[np.isnan(later[new][fitting])]
        if len(asked):
            later[new][asked] = _still(company, asked, [new], new + 1)
        gone = fitting[near[fitting] > later[new][fitting]]
        found.by.update(dict.fromkeys(gone.tolist(), new))
        free[gone] = False
