"""From utterances to the bullets of three kernels: spec/kernels.md, section 1.

What is said once is no invariant, what a tool or a quotation says changes no rule, and the newest authoritative
statement of a rule stands. Every step is a function of the fragments in order, so that any order of import gives the
same kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from math import isfinite
from typing import Final

import numpy as np

from alveus.kernels import score
from alveus.kernels.bullet import FILES, Bullet, Compiled, KernelName
from alveus.kernels.company import Encode, Field, Judge
from alveus.kernels.contradiction import contradiction
from alveus.kernels.fragment import Fragment, Utterance
from alveus.kernels.grouping import Rule, rules
from alveus.kernels.hearing import ONE_MENTION, canon_lines, heard
from alveus.kernels.prose import Archive, Prose
from alveus.kernels.revision import ESTABLISHED, changes
from alveus.kernels.wording import grounded

__all__ = ["FILES", "Bullet", "Compiled", "Contradicts", "Encode", "KernelName", "Word", "compile_kernels"]

Contradicts = Callable[[str, str], "float | None"]
"""Earlier and later text to how far they contradict each other, 0 to 1; None where it does not say."""

Word = Callable[[Sequence[str]], "str | None"]
"""The sources of one bullet to a model's sentence for it; None where it has none."""

MOST: Final = 40
"""Bullets of the three kernels together: what fits at the head of a context."""

LONGEST: Final = 160
"""Characters of a bullet's text."""

_READABLE: Final = 5
"""A sentence of fewer words is a rule's own words only if it has no longer one: it leans on what was said before."""

_AROUND: Final = 4
_AROUND_WEIGHT: Final = 1.0
"""What the best company of a rule says about its kernel, beside what the rule itself says."""


def compile_kernels(
    utterances: Iterable[Utterance],
    *,
    encode: Encode | None,
    embedder_id: str,
    canon: str | None = None,
    contradicts: Contradicts | None = None,
    word: Word | None = None,
) -> Compiled:
    """The kernels of some utterances, in whatever order they come.

    Without `encode` meaning is compared by stemmed terms alone; `embedder_id` names the scale of what it gives.
    `contradicts` judges instead of the rules, and `word` may word a bullet.
    """
    prose = utterances.prose() if isinstance(utterances, Archive) else Prose.of(utterances)
    listened = heard(prose)
    considered = {"fragments": prose.cut, "prose": len(prose), "compared": len(listened.fragments)}
    if not listened.fragments:
        return Compiled(
            bullets=(), canon="given" if canon else "none", explains=_explained((), len(prose)), considered=considered
        )
    field = Field.of(listened, canon_lines(canon), encode, embedder_id)
    field.contradict(_judge(contradicts))
    changed = changes(field)
    by = changed.by
    found = rules(field, changed)
    considered |= {
        "agreeing": int((field.score >= score.THRESHOLD).sum()),
        "replaced": len({int(field.whole[at]) for at in by}),
        "rules": len(found),
    }
    bullets = _bullets(field, found, by, word)
    state = "given" if canon else "bootstrapped" if bullets else "none"
    return Compiled(bullets=bullets, canon=state, explains=_explained(bullets, len(prose)), considered=considered)


def _judge(model: Contradicts | None) -> Judge:
    """The user's model where there is one, else the rules; of what a model cannot say the rules judge too."""

    def judged(earlier: str, later: str, cosine: float) -> float:
        ruled = contradiction(earlier, later, cosine).score
        told = model(earlier, later) if model is not None else None
        return min(1.0, max(0.0, told)) if told is not None and isfinite(told) else ruled

    return judged


def _bullets(field: Field, found: Sequence[Rule], by: Mapping[int, int], word: Word | None) -> tuple[Bullet, ...]:
    ranked = sorted(found, key=lambda rule: (-field.raw[rule.rows].max(), rule.rows[0]))[:MOST]
    order = list(KernelName)
    made = [_bullet(field, rule, by, word) for rule in ranked]
    return tuple(sorted(made, key=lambda one: (order.index(one.name), -one.score, one.first, one.id)))


def _bullet(field: Field, rule: Rule, by: Mapping[int, int], word: Word | None) -> Bullet:
    everything = sorted(rule.rows + rule.beside)
    fragments = [field.fragments[at] for at in everything]
    said = next(filter(None, ([at for at in some if field.user[at]] for some in (rule.rows, everything))), rule.rows)
    best = max(said, key=lambda at: (field.words[at] >= _READABLE, field.raw[at], -at))
    messages = set(field.whole[everything])
    old = sorted(at for at, new in by.items() if field.whole[new] in messages and field.score[at] >= ESTABLISHED)
    sources = _records(fragments)
    return Bullet(
        id=blake2b("\0".join(one.key for one in fragments).encode(), digest_size=8).hexdigest(),
        name=_kernel(field, rule.rows),
        text=_worded(field.fragments[best], fragments, word),
        sources=sources,
        first=min(one.time for one in fragments),
        last=max(one.time for one in fragments),
        sessions=len(set(field.session[everything])),
        count=len(messages),
        score=round(float(field.score[rule.rows].max()), 2),
        supersedes=tuple(one for one in _records(field.fragments[at] for at in old) if one not in sources),
        superseded_on=max((field.fragments[by[at]].time for at in old), default=None),
    )


def _kernel(field: Field, rows: Sequence[int]) -> KernelName:
    """The kernel of a rule: what its fragments are, by their weight, and what is around them, by their links.

    What was only recorded, as an error or a decision, goes where such records go.
    """
    kinds = {field.fragments[at].kind for at in rows}
    if len(kinds) == 1 and field.recorded[list(rows)].all() and (name := ONE_MENTION.get(min(kinds))):
        return name
    weights = field.raw[list(rows)] + _LITTLE
    links = field.links(np.asarray(rows)).max(axis=0)
    around = np.argsort(-links, kind="stable")[:_AROUND]
    beside = links[around] / (float(links[around].sum()) or 1.0)
    told = weights / weights.sum() @ field.kinds[list(rows)] + _AROUND_WEIGHT * beside @ field.kinds[around]
    return list(KernelName)[int(told.argmax())]


_LITTLE: Final = 1e-9


def _records(fragments: Iterable[Fragment]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.record_id for one in fragments))


def _worded(best: Fragment, fragments: Sequence[Fragment], word: Word | None) -> str:
    """A model's sentence that holds nothing but what its sources say, else the best of them as it was said."""
    said = [one.text for one in fragments]
    told = word(said) if word is not None else None
    if told is not None and len(told) <= LONGEST and grounded(told, said, best.text):
        return " ".join(told.split())
    return _short(best.text)


def _short(text: str) -> str:
    """A text on one line of at most 160 characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    return line[:LONGEST].rsplit(" ", 1)[0].rstrip(",;:—–-") + "…"


def _explained(bullets: Sequence[Bullet], prose: int) -> dict[KernelName, str]:
    return {
        name: f"Nothing of this kind was said consistently in {prose} fragments of prose. A rule enters once a user "
        "has said it again, in another session, or has recorded it as a decision or an error."
        for name in KernelName
        if not any(one.name is name for one in bullets)
    }
