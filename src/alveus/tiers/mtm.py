"""MTM: segments of one topic each; which page joins which, and how hot each is. spec/tiers.md, section 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from alveus.tiers.page import Page
from alveus.tiers.policy import Policy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

_WORDS: Final = 96
_NAMES: Final = 64
_SUMMARY_LINES: Final = 3
_LINE: Final = 200


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One topic. `total` is the sum of its pages' unit vectors by the embedder `by`, float32, little-endian.

    `names` counts their keywords.
    """

    id: str
    ordinal: int
    pages: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, int] = field(default_factory=dict)
    total: bytes | None = None
    by: str = ""
    visits: int = 0
    interaction: int = 0
    at: float = 0.0
    summary: str = ""
    version: int = 0
    degraded: bool = False
    request: str = ""

    @cached_property
    def vector(self) -> Vector | None:
        """`total` as a vector [dims]: where nobody embeds, nobody asks for it."""
        import numpy as np  # noqa: PLC0415  (only where there is an embedder)

        return None if self.total is None else np.frombuffer(self.total, dtype="<f4")

    @cached_property
    def norm(self) -> float:
        """The length of `words`, as a vector."""
        return norm_of(self.words)

    def keywords(self, policy: Policy) -> frozenset[str]:
        """The words that most of its pages are about."""
        known: frozenset[str] | None = self.__dict__.get("_keywords")
        if known is None:  # a segment is asked by every page, and by one policy
            known = self.__dict__["_keywords"] = frozenset(most(self.names, policy.keywords))
        return known


def most(counts: Mapping[str, int], count: int) -> tuple[str, ...]:
    """The most frequent terms; of equals the first by alphabet."""
    return tuple(term for term, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:count])


def jaccard(one: Collection[str], other: Collection[str]) -> float:
    """How much of two sets is in both."""
    first, second = frozenset(one), frozenset(other)
    both = len(first & second)
    return both / (len(first) + len(second) - both) if both else 0.0


def words_cosine(one: Mapping[str, int], other: Mapping[str, int], *norms: float) -> float:
    """The cosine of two texts by their terms: what stands for meaning where there is no embedder."""
    less, more = (one, other) if len(one) < len(other) else (other, one)
    dot = sum([count * more[term] for term, count in less.items() if term in more])
    if not dot:
        return 0.0
    lengths = norms or (norm_of(one), norm_of(other))
    return dot / (lengths[0] * lengths[1])


def norm_of(words: Mapping[str, int]) -> float:
    """The length of a text's terms, as a vector."""
    return math.sqrt(sum([count * count for count in words.values()]))


def cosines(segments: Sequence[Segment], vector: Vector | None, by: str, words: Mapping[str, int]) -> list[float]:
    """The cosine of each segment to a text, by meaning where both have it by one embedder, else by terms."""
    norm = norm_of(words)
    if vector is None:
        return [words_cosine(segment.words, words, segment.norm, norm) for segment in segments]
    import numpy as np  # noqa: PLC0415  (only where there is an embedder)

    found = []
    for segment in segments:
        total = segment.vector if segment.by == by else None
        if total is None or len(total) != len(vector):
            found.append(words_cosine(segment.words, words, segment.norm, norm))
        else:
            length = float(np.linalg.norm(total))
            found.append(round(float(total @ vector) / length, 6) if length else 0.0)
    return found


def likeness(
    segments: Sequence[Segment],
    policy: Policy,
    *,
    keywords: Collection[str],
    words: Mapping[str, int],
    vector: Vector | None,
    by: str,
) -> list[float]:
    """F of each segment: the cosine of meanings plus the Jaccard index of keywords."""
    near, asked = cosines(segments, vector, by, words), frozenset(keywords)
    return [cosine + jaccard(segment.keywords(policy), asked) for cosine, segment in zip(near, segments, strict=True)]


def choose(
    segments: Sequence[Segment], page: Page, policy: Policy, vector: Vector | None = None, by: str = ""
) -> Segment | None:
    """The segment that the page joins: the one with the best F, if that is enough. Of equals the oldest."""
    scores = likeness(segments, policy, keywords=page.keywords, words=page.words, vector=vector, by=by)
    best = max(range(len(segments)), key=lambda at: (scores[at], -segments[at].ordinal), default=None)
    if best is None or scores[best] <= policy.join_above:
        return None
    return segments[best]


def joined(segment: Segment, page: Page, vector: Vector | None = None, by: str = "") -> Segment:
    """The segment with one more page."""
    names = dict(segment.names)
    for name in page.keywords:
        names[name] = names.get(name, 0) + 1
    words = dict(segment.words)
    for term, count in page.words.items():
        words[term] = words.get(term, 0) + count
    total, kept_by = segment.total, segment.by
    if vector is not None:
        before = segment.vector if segment.by == by else None
        total = (vector if before is None else before + vector).astype("<f4").tobytes()
        kept_by = by
    return replace(
        segment,
        pages=segment.pages + 1,
        interaction=segment.interaction + 1,
        names=_topped(names, _NAMES),
        words=_topped(words, _WORDS),
        total=total,
        by=kept_by,
        at=max(segment.at, page.until),
        version=max(segment.version, page.version),
    )


def _topped(counts: Mapping[str, int], count: int) -> dict[str, int]:
    return {term: counts[term] for term in most(counts, count)}


def visited(segment: Segment, at: float) -> Segment:
    """The segment, read once more."""
    return replace(segment, visits=segment.visits + 1, at=max(segment.at, at))


def heat(segment: Segment, now: float, policy: Policy) -> float:
    """α·N_visit + β·L_interaction + γ·exp(−Δt/μ), at an event's time."""
    fresh = math.exp(-max(0.0, now - segment.at) / policy.mu)
    return policy.alpha * segment.visits + policy.beta * segment.interaction + policy.gamma * fresh


def is_hot(segment: Segment, now: float, policy: Policy) -> bool:
    """Whether it goes to LPM: hot, and with something that LPM has not had."""
    return segment.interaction > 0 and heat(segment, now, policy) >= policy.hot


def coldest(segments: Iterable[Segment], now: float, policy: Policy) -> Segment:
    """The segment that leaves when there are too many; of equals the oldest."""
    return min(segments, key=lambda segment: (heat(segment, now, policy), segment.ordinal))


def gist(metas: Sequence[str], keywords: Collection[str]) -> str:
    """What a segment is about, out of its pages' gists (oldest first): those that hold most keywords, newest first."""
    from alveus.tiers.summary import content_terms  # noqa: PLC0415

    wanted = set(keywords)
    scored = [(len(wanted.intersection(content_terms(meta))), at) for at, meta in enumerate(metas) if meta]
    best = sorted(sorted(scored, reverse=True)[:_SUMMARY_LINES], key=lambda one: one[1])
    return "\n".join(metas[at][:_LINE] for _, at in best)
