"""What of the tiers answers a question, and why nothing does: spec/tiers.md, section 3. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

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
    NO_MATCH = "no_match"


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

    `version` is the scope's memory version it was taken from. `reasons` say why it is empty, or what it lacks.
    """

    run_id: str
    version: int
    items: tuple[Item, ...] = ()
    reasons: tuple[Reason, ...] = ()
    left_out: tuple[Fault, ...] = field(default=())

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, at: int) -> Item:
        return self.items[at]


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


def page_score(question: Question, page: Page, cosine: float | None) -> float:
    """How well a page answers: by meaning, where that is known, and by the words both hold."""
    near = words_cosine(question.words, page.words) if cosine is None else cosine
    held = sum(term in page.words for term in question.words) / max(1, len(question.words))
    return round(near + held, 6)


def best_pages(scored: Sequence[tuple[float, Page]], count: int) -> list[tuple[float, Page]]:
    """The best, best first; of equals the newest. What has nothing of the question is left out."""
    found = [one for one in scored if one[0] > 0]
    return sorted(found, key=lambda one: (-one[0], -one[1].ordinal))[:count]


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
