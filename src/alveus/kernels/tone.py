"""The tone of a fragment: in which registers it speaks. Spec/kernels.md, section 1, point 2.

Surface style does not tell a rule from chatter; register does. A register is told by the grammar of the language:
its cues are data (`words_en`, `words_ru`), matched by stems in one pass. Of another language nothing is told.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import Final, NamedTuple

from alveus.kernels import words_en, words_ru
from alveus.kernels.phrases import ANY, Phrases
from alveus.language.tongues import stems

REGISTERS: Final = (
    "order",
    "ban",
    "must",
    "forbid",
    "habit",
    "rule",
    "when",
    "want",
    "why",
    "decide",
    "revise",
    "shift",
    "recall",
    "self",
    "once",
    "report",
    "hypothetical",
    "joke",
    "report_speech",
    "ask",
    "negated",
    "long",
    "me",
    "lately",
)
"""What a tone is made of, in the order of its vector."""

AT: Final = {name: number for number, name in enumerate(REGISTERS)}
"""The place of each register."""

EXACT: Final = frozenset({"hypothetical", "joke", "report_speech", "revise"})
"""Registers whose cues are forms, not stems: a person or a mood is what tells them."""

WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_MODULES: Final = {"en": words_en, "ru": words_ru}


class _Grammar(NamedTuple):
    """The cues of one language. `stemmed` are by stems, `exactly` by forms; `ours` are endings of what we do."""

    stemmed: Phrases
    exactly: Phrases
    negators: frozenset[str]
    orders: frozenset[str]
    openers: frozenset[str]
    refusals: tuple[tuple[str, ...], ...]
    endings: tuple[str, ...]
    ours: tuple[str, ...]
    first: frozenset[str]
    ceasing: frozenset[str]
    gerund: str
    lately: frozenset[str]
    not_lately: frozenset[str]
    instead: frozenset[str]
    oneself: frozenset[str]
    mine: tuple[str, ...]
    shared: frozenset[str]


def folded(word: str) -> str:
    """A word as it is looked up: in lower case, with one apostrophe and without ё."""
    return word.lower().replace("’", "'").replace("ё", "е")


@lru_cache(1 << 16)
def stem(word: str, code: str) -> str:
    """The stem of a folded word."""
    return stems(word, code)[0]


@cache
def _grammar(code: str) -> _Grammar:
    data = _MODULES[code]
    cues = [(name, folded(phrase).split()) for name, text in data.REGISTERS.items() for phrase in text.split(",")]
    return _Grammar(
        stemmed=Phrases(
            (name, [one if one == ANY else stem(one, code) for one in words])
            for name, words in cues
            if name not in EXACT
        ),
        exactly=Phrases((name, words) for name, words in cues if name in EXACT),
        negators=frozenset(data.NEGATORS.split()),
        orders=frozenset(data.IMPERATIVES.split()),
        openers=frozenset(data.OPENERS.split()),
        refusals=tuple(tuple(phrase.split()) for phrase in data.REFUSALS.split(",")),
        endings=tuple(data.IMPERATIVE_ENDINGS.split()),
        ours=tuple(data.WE_ENDINGS.split()),
        first=frozenset(data.FIRST_PERSON.split()),
        ceasing=frozenset(data.CEASING.split()),
        gerund=data.GERUND,
        lately=frozenset(data.LATELY.split()),
        not_lately=frozenset(data.NOT_LATELY.split()),
        instead=frozenset(data.INSTEAD.split()),
        oneself=frozenset(data.ONESELF.split()),
        mine=tuple(data.I_ENDINGS.split()),
        shared=frozenset(data.SHARED.split()),
    )


def tone(text: str, code: str) -> tuple[int, ...]:
    """How often each register is marked in a text of that language, in the order of `REGISTERS`."""
    counts = [0] * len(REGISTERS)
    if code not in _MODULES:
        return tuple(counts)
    grammar = _grammar(code)
    clauses = [WORD.findall(clause) for clause in _CLAUSE.split(folded(text))]
    words = list(chain.from_iterable(clauses))
    for name in grammar.stemmed.names([stem(one, code) for one in words]):
        counts[AT[name]] += 1
    for found in grammar.exactly.found(words):
        # What I said myself is no report of what others say.
        if found.name != "report_speech" or not grammar.first & set(words[max(0, found.at - 2) : found.at]):
            counts[AT[found.name]] += 1
    counts[AT["negated"]] = len(list(filter(grammar.negators.__contains__, words)))
    for clause in clauses:
        if register := _order(clause, grammar):
            counts[AT[register]] += 1
        counts[AT["revise"]] += _ceases(clause, grammar)
        counts[AT["lately"]] += _lately(clause, grammar)
    if grammar.ours:
        counts[AT["ban"]] += sum(one == "не" and _is_ours(two, grammar) for one, two in pairwise(words))
    counts[AT["me"]] = _of_oneself(words, grammar)
    counts[AT["long"]] = int(len(words) > _LONG)
    counts[AT["ask"]] = int(text.rstrip(_CLOSING).endswith("?"))
    return tuple(counts)


_CLAUSE: Final = re.compile(r"[,;:—–(]\s*|\s-\s")
_CLOSING: Final = "\"'»”) "
_SHORT: Final = 4
_LONG: Final = 25
"""Words that a rule seldom needs: a longer sentence tells a story."""


def _of_oneself(words: list[str], grammar: _Grammar) -> bool:
    """Whether somebody speaks of himself, and of nobody else."""
    if not grammar.shared.isdisjoint(words):
        return False
    return not grammar.oneself.isdisjoint(words) or (
        bool(grammar.mine) and any(one.endswith(grammar.mine) for one in words)
    )


def _opening(words: list[str], grammar: _Grammar) -> int:
    """Where a clause begins, after what may stand before an order."""
    at = 0
    while at < len(words) and words[at] in grammar.openers:
        at += 1
    return at


def _ceases(words: list[str], grammar: _Grammar) -> bool:
    """Whether a clause orders to end what is done: stop talking. What cannot be told by words stands in the cues."""
    at = _opening(words, grammar)
    at += at < len(words) and words[at] in grammar.first
    two = words[at : at + 2]
    return bool(grammar.gerund) and len(two) > 1 and two[0] in grammar.ceasing and two[1].endswith(grammar.gerund)


def _lately(words: list[str], grammar: _Grammar) -> bool:
    """Whether a clause says that something is so now; now at the beginning only leads over to the next matter."""
    if len(words) > 1 and words[-1] in grammar.instead:
        return True
    return len(words) >= _SHORT and any(
        two in grammar.lately and one not in grammar.not_lately for one, two in pairwise(words)
    )


def _order(words: list[str], grammar: _Grammar) -> str:
    """Whether a clause orders or bans something: an imperative where it begins, after what may stand before one."""
    at = _opening(words, grammar)
    refused = next((phrase for phrase in grammar.refusals if tuple(words[at : at + len(phrase)]) == phrase), ())
    at += len(refused)
    if at >= len(words):
        return ""
    ordered = words[at] in grammar.orders or (bool(grammar.endings) and words[at].endswith(grammar.endings))
    if refused:
        # In English whatever follows "don't" at the beginning is an imperative; in Russian "не" denies all sorts.
        return "ban" if ordered or not grammar.ours else ""
    return "order" if ordered else ""


def _is_ours(word: str, grammar: _Grammar) -> bool:
    return len(word) > _SHORT and word.endswith(grammar.ours)
