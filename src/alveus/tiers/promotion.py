"""Plan, then act: which pages go where. spec/tiers.md, section 2. Pure.

A plan is made of values and promises nothing: whoever acts on it looks again whether it still holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from alveus.tiers import mtm
from alveus.tiers.lpm import Fact, Shelf, Subject
from alveus.tiers.mtm import Segment
from alveus.tiers.page import Page
from alveus.tiers.policy import Policy, Scope, ident
from alveus.tiers.summary import Said, Stated

if TYPE_CHECKING:
    from alveus.tiers.mtm import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A page that leaves STM for a segment. `run_id` is the page's, from storage on."""

    run_id: str
    page: Page
    segment: str
    vector: Vector | None = None


@dataclass(slots=True, kw_only=True)
class Planner:
    """A scope's segments while a plan is made: each page is judged after those before it, as if they had moved."""

    policy: Policy
    scope: Scope
    segments: dict[str, Segment]
    now: float
    by: str = ""
    next_ordinal: int = 0

    def place(self, page: Page, vector: Vector | None = None) -> Move:
        """Where one more page goes."""
        self.now = max(self.now, page.until)
        segments = list(self.segments.values())
        chosen = mtm.choose(segments, page, self.policy, vector, self.by) or self._opened(page.id)
        self.segments[chosen.id] = mtm.joined(chosen, page, vector, self.by)
        if chosen.pages == 0:
            evict(self.segments, self.now, self.policy, newest=chosen.id)
        run_id = run_of(self.policy, self.scope, "page", [page.id])
        return Move(run_id=run_id, page=page, segment=chosen.id, vector=vector)

    def _opened(self, page_id: str) -> Segment:
        segment = Segment(
            id=ident(self.policy, self.scope, "segment", [page_id]), ordinal=self.next_ordinal, at=self.now
        )
        self.next_ordinal += 1
        return segment


def evict(segments: dict[str, Segment], now: float, policy: Policy, *, newest: str) -> Segment | None:
    """Past the capacity the coldest leaves; never the one that was opened just now."""
    if len(segments) <= policy.segments:
        return None
    return segments.pop(mtm.coldest((s for s in segments.values() if s.id != newest), now, policy).id)


def run_of(policy: Policy, scope: Scope, boundary: str, sources: Iterable[str]) -> str:
    """The id of a move: the same sources, by the same policy, are the same run."""
    return ident(policy, scope, f"run:{boundary}", sources)


def request_of(policy: Policy, scope: Scope, what: str, sources: Iterable[str]) -> str:
    """The id of what a summariser is asked: an answer in the journal is found by it."""
    return ident(policy, scope, f"request:{what}", sources)


def facts_of(stated: Sequence[Stated], said: Mapping[str, Said], policy: Policy, scope: Scope) -> list[Fact]:
    """Facts with their ids and times: true since the newest of their sources was said."""
    found = []
    for one in stated:
        newest = max((said[source] for source in one.sources), key=lambda each: (each.at, each.place))
        key = sha256(one.key.encode()).hexdigest()  # only within the hash below
        fact_id = ident(policy, scope, "fact", [one.subject, one.shelf, key, *one.sources])
        found.append(
            Fact(
                id=fact_id,
                subject=Subject(one.subject),
                shelf=Shelf(one.shelf),
                key=one.key,
                value=one.value,
                sources=one.sources,
                since=newest.at,
                place=newest.place,
            )
        )
    return found
