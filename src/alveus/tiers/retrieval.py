"""What of the tiers answers a question, and why nothing does: spec/tiers.md, section 3. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from alveus.journal.chain import Fault
from alveus.tiers.lpm import Fact, Shelf, Subject
from alveus.tiers.mtm import jaccard, words_cosine
from alveus.tiers.page import Page
from alveus.tiers.policy import Policy
from alveus.tiers.summary import content_terms


class Tier(StrEnum):
    """Where an item lies."""

    STM = "stm"
    MTM = "mtm"
    LPM = "lpm"


class Why(StrEnum):
    """Why an answer is empty, or not all that it could be."""

    UNKNOWN_SCOPE = "unknown_scope"
    NOTHING_STORED = "nothing_stored"
    FILTERED_OUT = "filtered_out"
    OVER_BUDGET = "over_budget"
    INDEX_NOT_BUILT = "index_not_built"
    EMBEDDER_CHANGED = "embedder_changed"
    CHECK_FAILED = "check_failed"


class Reason(NamedTuple):
    """A reason, and the sentence that says it."""

    code: Why
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing that was retrieved. `kind` is `page`, `profile`, `knowledge` or `traits`; `sources` are record ids.

    `version` is the memory's when it was last changed; `segment` the segment that an MTM page is of; `subject` whose
    fact it is; `since` when it was said, or became true, in seconds since 1970.
    """

    id: str
    tier: Tier
    kind: str
    version: int
    score: float
    sources: tuple[str, ...]
    text: str
    since: float
    segment: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What the tiers hold for a question: STM oldest first, then MTM and LPM best first. `run_id` is for `settle`.

    `version` is the scope's memory version it was taken from. `reasons` say why it is empty, or what it lacks;
    `left_out` what failed its check, `skipped` the ids of items that did not fit into the budget.
    """

    run_id: str
    version: int
    items: tuple[Item, ...] = ()
    reasons: tuple[Reason, ...] = ()
    left_out: tuple[Fault, ...] = field(default=())
    skipped: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at: int) -> Item:
        return self.items[at]


class Within(NamedTuple):
    """What a question is narrowed to: a session, and times in seconds since 1970, both ends included."""

    session: str | None = None
    since: float | None = None
    until: float | None = None

    def is_everything(self) -> bool:
        """Whether nothing is filtered out."""
        return self == Within()

    def has_page(self, page: Page) -> bool:
        """Whether a page is of the session, and some of it of the time."""
        return self.session in (None, page.session) and self._has(page.at, page.until)

    def has_fact(self, fact: Fact) -> bool:
        """Whether a fact became true in the time; a fact is of every session, and so of none alone."""
        return self.session is None and self._has(fact.since, fact.since)

    def _has(self, first: float, last: float) -> bool:
        return (self.since is None or last >= self.since) and (self.until is None or first <= self.until)


def fit(items: Sequence[Item], budget: int, count: Callable[[str], int]) -> tuple[list[Item], list[str]]:
    """The items that fit into so many tokens, in their order, and the ids of those that did not.

    Profiles have the first turn, then STM, the newest first, then what answers best. One that does not fit stops no
    other.
    """
    turn = sorted(range(len(items)), key=lambda at: (_TURN.get(items[at].kind, 2), *_within_turn(items[at], at)))
    kept, skipped, used = set[int](), list[str](), 0
    for at in turn:
        cost = count(f"{items[at].text}\n\n")
        if used + cost <= budget:
            used += cost
            kept.add(at)
        else:
            skipped.append(items[at].id)
    return [one for at, one in enumerate(items) if at in kept], skipped


_TURN: Final = {Shelf.PROFILE.value: 0, "page": 1}


def _within_turn(item: Item, at: int) -> tuple[int, int]:
    return (0, -at) if item.tier is Tier.STM else (1, at)


class Question(NamedTuple):
    """A question as the tiers see it: its terms, counted."""

    words: Mapping[str, int]

    @property
    def keywords(self) -> tuple[str, ...]:
        return tuple(self.words)


def question_of(text: str) -> Question:
    """The terms of a question."""
    words: dict[str, int] = {}
    for term in content_terms(text):
        words[term] = words.get(term, 0) + 1
    return Question(words)


def page_score(question: Question, words: Mapping[str, int], cosine: float | None) -> float:
    """How well a page of these words answers: by meaning, where that is known, and by the words both hold."""
    near = words_cosine(question.words, words) if cosine is None else cosine
    held = sum([term in words for term in question.words]) / max(1, len(question.words))
    return round(near + held, 6)


def best_pages(scored: Iterable[tuple[float, Page]], count: int) -> list[tuple[float, Page]]:
    """The first of those that have something of the question; `scored` has the best first, of equals the newest.

    Pages of the same words have one place, so that what was said again and again does not crowd out the rest.
    """
    found: dict[tuple[object, ...], tuple[float, Page]] = {}
    for one in scored:
        score, page = one
        if score <= 0:
            break
        found.setdefault((page.query, page.response, *sorted(page.words.items())), one)
        if len(found) == count:
            break
    return list(found.values())


def best_facts(question: Question, facts: Sequence[Fact], policy: Policy) -> list[tuple[float, Fact]]:
    """The profiles whole, and for user and assistant each the facts that answer best; the newest fill the rest."""
    found: list[tuple[float, Fact]] = []
    for subject in Subject:
        mine = [fact for fact in facts if fact.subject is subject and fact.stands]
        scored = [(_fact_score(question, fact), fact) for fact in mine]
        profile = [one for one in scored if one[1].shelf is Shelf.PROFILE]
        others = [one for one in scored if one[1].shelf is not Shelf.PROFILE]
        found += sorted(profile, key=lambda one: one[1].key)
        found += sorted(others, key=lambda one: (-one[0], -one[1].since, one[1].id))[: policy.top_facts]
    return found


def _fact_score(question: Question, fact: Fact) -> float:
    return round(jaccard(question.keywords, content_terms(fact.text)), 6)
