"""Text to index terms, a question to groups of terms. Both go one way, so that what was written is what is asked."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from alveus.language.cutting import Unit, pairs, simple_word, tokens, units
from alveus.language.scripts import bare
from alveus.language.tongues import LANGUAGES, candidates, detect, language_of, stems, stop_words

__all__ = ["LANGUAGES", "Group", "detect", "index_terms", "question_terms"]


class Group(NamedTuple):
    """One word of a question."""

    word: str
    """The word, folded."""
    alternatives: tuple[str, ...]
    """The terms under which a record that holds the word may stand in the index."""
    is_name: bool
    """Whether it is written as a name: capitals inside a sentence, or more of them than a sentence's start needs."""


_REMEMBERED: Final = 1 << 16
_LONG: Final = 64  # a longer stretch will hardly come again
_SPACED_THOUSANDS: Final = re.compile("(?<![0-9.,])[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?![0-9])")
_ENDS_SENTENCE: Final = (".", "!", "?", "…", "。", "？", "！", ":", ";")


class _Known(dict[str, str]):
    """The terms of the stretches of one language that were met, each behind a space, a number behind two.

    Those of one that was not met are found when it is looked up. Looking up in C costs a fifth of a function that
    remembers, and joining what is found a third of going through it.
    """

    __slots__ = ("_language",)

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, stretch: str) -> str:
        found = "".join([f" {term}" for term in _terms(stretch, self._language)])
        if stretch.isdecimal():
            found = f" {found}"
        if len(self) >= _REMEMBERED:
            self.clear()
        if len(stretch) <= _LONG:
            self[stretch] = found
        return found


_KNOWN: Final[dict[str, _Known]] = {}


def index_terms(text: str, language: str | None = None) -> list[str]:
    """The terms that a text is found by, in order, with repetitions. `language` is what `detect` says, unless given."""
    return terms_of(text, text.split(), detect(text) if language is None else language).split(" ")[1:]


def terms_of(text: str, chunks: Iterable[str], language: str) -> str:
    """The terms of a text, as `index_terms`, each behind a space. `chunks` is what stands between its white space."""
    known = _KNOWN.get(language) or _KNOWN.setdefault(language, _Known(language))
    terms = "".join(map(known.__getitem__, chunks))  # all in C
    if "  " not in terms:
        return terms
    return "".join([terms.replace("  ", " "), *(f" {_joined(one)}" for one in _SPACED_THOUSANDS.finditer(text))])


def _joined(number: re.Match[str]) -> str:
    """`10 000` as 10000; in the index its parts stand too."""
    return "".join(number[0].split())


def _terms(chunk: str, language: str) -> tuple[str, ...]:
    if word := simple_word(chunk):
        return stems(word, language_of(word, language))
    found: list[str] = []
    for token in tokens(chunk):
        found += pairs(token) or _of_units(units(token), language)
    return tuple(found)


def _of_units(found: Iterable[Unit], language: str) -> Iterator[str]:
    for unit in found:
        yield from stems(unit.folded, language_of(unit.folded, language) if unit.stemmed else None)


def question_terms(text: str, languages: Collection[str]) -> list[Group]:
    """The words of a question, in order, each once, without function words unless nothing else is left.

    `languages` are those of the stored texts: a group has the stem of its word in each that the word may be of.
    """
    asked_in = detect(text)
    known = [code for code in sorted({*languages, asked_in}) if code in LANGUAGES]
    capitals_tell = not text.isupper() or len(text.split()) == 1
    content: dict[tuple[str, ...], Group] = {}
    function: dict[tuple[str, ...], Group] = {}
    for unit, initial in _asked(text):
        is_name = capitals_tell and _is_name(unit.written, initial=initial)
        group = Group(unit.folded, _alternatives(unit, known), is_name)
        kept = function if _is_stop(unit, asked_in, is_name=is_name) else content
        earlier = kept.setdefault(group.alternatives, group)
        if is_name and not earlier.is_name:
            kept[group.alternatives] = earlier._replace(is_name=True)
    return list((content or function).values())


def _asked(text: str) -> Iterator[tuple[Unit, bool]]:
    """The units of a question, each with whether it begins a sentence."""
    initial = True
    for chunk in _SPACED_THOUSANDS.sub(_joined, text).split():
        for unit in chain.from_iterable(map(units, tokens(chunk))):
            if not unit.inner:
                yield unit, initial
            initial = False
        initial = initial or chunk.rstrip("\"'»”)").endswith(_ENDS_SENTENCE)


def _alternatives(unit: Unit, languages: Iterable[str]) -> tuple[str, ...]:
    if not unit.stemmed:
        return stems(unit.folded, None)
    found = [stem for code in candidates(unit.folded, languages) for stem in stems(unit.folded, code)]
    return tuple(dict.fromkeys((*found, bare(unit.folded))))


def _is_name(written: str, *, initial: bool) -> bool:
    """Whether a word is written as a name: a capital within the sentence, or a second capital anywhere."""
    if not written[0].isalpha() or len(written) == 1 or _is_i(written):
        return False
    return any(map(str.isupper, written[1:])) or (written[0].isupper() and not initial)


def _is_i(written: str) -> bool:
    return written.startswith("I'")


def _is_stop(unit: Unit, asked_in: str, *, is_name: bool) -> bool:
    """Whether a unit is a function word of its language. Will and May within a sentence are people and months."""
    if is_name or not unit.folded[0].isalpha():
        return False
    language = language_of(unit.folded, asked_in)
    return language is not None and bare(unit.folded) in _stops(language)


@lru_cache
def _stops(language: str) -> frozenset[str]:
    """Function words, those in n't without the apostrophe too; of others that would make ill, shed and well."""
    found = stop_words(language)
    return found | {word.replace("'", "") for word in found if word.endswith("'t")}
