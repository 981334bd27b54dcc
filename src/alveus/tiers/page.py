"""A page: one exchange, {query, response, time}, as the records it is made of. spec/tiers.md, section 1.

Where a page begins and ends follows from the journal alone, so that whoever reads the same records gets the same pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from alveus.journal.record import Kind, Source
from alveus.language.turn import turn_of
from alveus.tiers.policy import DEFAULT_USER, Policy, Scope, ident
from alveus.tiers.summary import ORIGIN, central, content_terms, counted

_WORDS: Final = 512
"""Different terms that a page is found by."""
_TERMS: Final = 2_000
"""Terms of one record that count."""
_GIST: Final = 160


class Ref(NamedTuple):
    """A record of a page: its id, who said it, and where its line lies."""

    record_id: str
    src: str
    chain: str
    seq: int
    offset: int


class Seen(NamedTuple):
    """A record as the tiers see it. `number` counts over all chains, from 1: it is the memory's version."""

    ref: Ref
    user: str
    session: str
    at: float
    later_part: bool
    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One exchange.

    `id` is a hash of the record it begins with, which decides with the journal what else is of it; `version` says how
    far it has grown. `ordinal` is its place among its scope's pages; `meta` its gist, and `before`
    the page it follows.

    `keywords` are there once it has left the window; `words` counts its terms.
    """

    id: str
    ordinal: int
    session: str
    refs: tuple[Ref, ...]
    at: float
    until: float
    version: int
    before: int | None = None
    query: str = ""
    response: str = ""
    words: Mapping[str, int] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()

    @property
    def meta(self) -> str:
        """The page in a line, for the chain of its session."""
        return " → ".join(part for part in (self.query, self.response) if part)


def seen(record: Mapping[str, Any], ref: tuple[str, int, int], number: int) -> Seen | None:
    """The record of a line's JSON object, or None where it is no part of any exchange.

    Raises KeyError, TypeError or ValueError for what is no record. The scope is the signed profile's alone: the
    caller's metadata is not looked at.
    """
    hc = record["metadata"].get("hc") or {}
    src = hc.get("src", Source.AGENT.value)
    text = record["content"]
    if src == Source.SYSTEM or not text.strip() or is_summary(record):
        return None
    turn = turn_of({**record, "content": ""} if len(text) > _LONGEST else record)
    part = hc.get("part")
    return Seen(
        ref=Ref(record["record_id"], src, *ref),
        user=hc.get("user") or DEFAULT_USER,
        session=hc.get("session") or "",
        at=turn.at,
        later_part=bool(part and part[0] > 1),
        number=number,
        text=text,
    )


_LONGEST: Final = 20_000


def is_summary(record: Mapping[str, Any]) -> bool:
    """Whether a record holds a model's summary, as the tiers write it: never a page of its own."""
    hc = record["metadata"].get("hc") or {}
    ours = hc.get("src") == Source.SYSTEM and record["kind"] == Kind.STATE
    return ours and str(hc.get("origin", "")).startswith(ORIGIN)


def opens(record: Seen, last: Page, count: int, policy: Policy) -> bool:
    """Whether the record begins a page, where `last` is the newest of its session and its scope has `count`."""
    if last.ordinal < count - policy.stm_pages:
        return True  # a page that left the window is finished
    if len(last.refs) >= policy.page_records:
        return True
    return record.ref.src == Source.USER and not record.later_part


def begin(record: Seen, last: Page | None, count: int, policy: Policy, scope: Scope) -> Page:
    """A page of that record."""
    empty = Page(
        id=ident(policy, scope, "page", [record.ref.record_id]),
        ordinal=count,
        session=record.session,
        refs=(),
        at=record.at,
        until=record.at,
        version=record.number,
        before=last.ordinal if last is not None else None,
    )
    return grown(empty, record)


def grown(page: Page, record: Seen) -> Page:
    """The page with one more record."""
    words = dict(page.words)
    for term in content_terms(record.text)[:_TERMS]:
        if term in words or len(words) < _WORDS:
            words[term] = words.get(term, 0) + 1
    gist = central([record.text], 1, _GIST)
    asked = record.ref.src == Source.USER
    return replace(
        page,
        refs=(*page.refs, record.ref),
        until=max(page.until, record.at),
        version=record.number,
        query=page.query or (gist if asked else ""),
        response=gist if record.ref.src == Source.AGENT else page.response,
        words=words,
    )


def sealed(page: Page, pages: int, known: Mapping[str, int], policy: Policy) -> Page:
    """The page as it leaves the window, with its keywords: `known` says in how many of `pages` each term stands."""
    return replace(page, keywords=counted(page.words, known, pages, policy.keywords))
