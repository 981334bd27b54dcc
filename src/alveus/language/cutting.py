"""Text cut into what it may be found by: words, the parts of what is written together, pairs of run-on characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from operator import add
from typing import Final, NamedTuple

from alveus.language.scripts import HANGUL, MARKS, RUN_ON, bare, composed, fold, script


class Unit(NamedTuple):
    """One term before stemming."""

    written: str
    folded: str
    stemmed: bool = False
    """Whether it is a word, which inflection changes, rather than a number, a name in code, or a pair."""
    inner: bool = False
    """Whether it is a part that is indexed, and that a question which names the whole does not ask for."""


LONGEST: Final = 128
"""Characters of a term. What is longer is cut, in a question as in a record."""

# A word as nearly every word is: in one of two scripts, with no capital but the first, and punctuation around it.
_SIMPLE: Final = re.compile(r"""["'(\[«“*]*([A-Za-z][a-z]*|[А-ЯЁа-яё][а-яё]*)[.,;:!?)\]»”"*…]*""")
_MOST_WHOLE: Final = 256
_TOGETHER: Final = r"[A-Za-z](?:\+\+|#)(?!{w})|{w}+(?:(?:://|::|[./\\@:+=&?,'-]){w}+)*"
_ASCII_TOKEN: Final = re.compile(_TOGETHER.format(w=r"\w"), re.ASCII)
_SEPARATOR: Final = re.compile(r"://|::|[/\\@:+=&?,]")
_JOINT: Final = re.compile(r"[.'-]")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:[,']\d{3})+(?:\.\d+)?")
_DIGITS_AT_ONE_END: Final = re.compile(r"([^\W\d_]{2,})(\d+)|(\d+)([^\W\d_]{2,})")
_PLURAL_OF_CAPITALS: Final = re.compile(r"[A-Z]{2,}s")
_SPECIAL_FROM: Final = "\u0e01"
"""The first character that runs on or is Hangul."""
_ORDINAL: Final = frozenset(("st", "nd", "rd", "th"))
_CLITICS: Final = frozenset(("s", "t", "d", "m", "ll", "re", "ve"))


def tokens(chunk: str) -> list[str]:
    """What of a stretch of text is written together, without the punctuation around it."""
    return _ASCII_TOKEN.findall(chunk) if chunk.isascii() else _any_token().findall(composed(chunk))


# What is compiled by whole scripts takes as long as half of a process's first question: only texts of theirs need it.


@cache
def _any_token() -> re.Pattern[str]:
    return re.compile(_TOGETHER.format(w=rf"[\w{MARKS}]"))


@cache
def _run_on() -> re.Pattern[str]:
    return re.compile(f"[{RUN_ON}]+")


@cache
def _hangul() -> re.Pattern[str]:
    return re.compile(f"[{HANGUL}]+")


@cache
def _special() -> re.Pattern[str]:
    return re.compile(f"([{RUN_ON}]+|[{HANGUL}]+)")


def simple_word(chunk: str) -> str:
    """The word, folded, of a stretch of text that is one usual word and punctuation; nothing for any other stretch."""
    simple = _SIMPLE.fullmatch(chunk)
    return simple[1].lower().replace("ё", "е")[:LONGEST] if simple else ""


def pairs(token: str) -> list[str]:
    """The overlapping pairs of a token that is run-on characters and nothing else; none for another one.

    The last character stands alone too, so that a search for terms that begin with a character finds each of it.
    """
    if token[-1:] < _SPECIAL_FROM or not _run_on().fullmatch(token):
        return []
    return [*map(add, token, token[1:]), token[-1]]


def units(token: str) -> Iterator[Unit]:
    """What a token is found by, in order: a whole before its parts."""
    if _SIMPLE.fullmatch(token):
        yield Unit(token, token.lower().replace("ё", "е")[:LONGEST], stemmed=True)
        return
    yield from (unit for unit in _token(token) if bare(unit.folded))


def _token(token: str) -> Iterator[Unit]:
    if token.endswith(("++", "#")):
        yield Unit(token, token.lower())
        return
    if _THOUSANDS.fullmatch(token):
        yield Unit(token, token.replace(",", "").replace("'", "")[:LONGEST])
        return
    segments = _SEPARATOR.split(token)
    if len(segments) > 1 and "," not in token and len(token) <= _MOST_WHOLE:
        yield _whole(token)
    for segment in filter(None, segments):
        yield from _segment(segment)


def _whole(text: str) -> Unit:
    return Unit(text, fold(text)[:LONGEST])


def _segment(segment: str) -> Iterator[Unit]:
    """A run of words joined by dots, hyphens and apostrophes."""
    atoms = [atom for atom in _JOINT.split(segment) if atom]
    if len(atoms) == 1:
        yield from _atom(atoms[0])
        return
    if "'" in segment:
        yield from _contracted(segment, atoms)
        return
    if len(segment) <= _MOST_WHOLE:
        together = segment.replace("-", "")
        yield _plain(together) if together.isalpha() else _whole(segment)
    for atom in atoms:
        yield from _atom(atom)


def _contracted(segment: str, atoms: list[str]) -> Iterator[Unit]:
    """John's is John; didn't is one word; l'homme, O'Brien and п'ять are a whole and its longer parts."""
    if len(atoms) == 2 and fold(atoms[1]) in _CLITICS:
        head = atoms[0]
        yield from (Unit(segment, fold("".join(atoms))),) if fold(atoms[1]) == "t" else _atom(head)
        return
    yield _plain("".join(_JOINT.split(segment)))
    for atom in atoms:
        if len(atom) > 1:
            yield from _atom(atom)


def _plain(word: str) -> Unit:
    return Unit(word, fold(word)[:LONGEST], stemmed=word.isalpha())


def _atom(atom: str) -> Iterator[Unit]:
    r"""A run of `\w`: a word, a number, a name in code, a run of several scripts."""
    if max(atom) >= _SPECIAL_FROM and _special().search(atom):
        for piece in filter(None, _special().split(atom)):
            yield from _run(piece)
    elif "_" in atom:
        yield from _snake(atom)
    elif atom.isdecimal():
        yield Unit(atom, (atom if atom.isascii() else _ascii_digits(atom))[:LONGEST])
    elif (parts := _by_case(atom)) or (parts := _by_script(atom)):
        yield _plain(atom)
        yield from (_inner(part) for part in parts)
    elif ends := _DIGITS_AT_ONE_END.fullmatch(atom):
        yield _whole(atom)
        yield from (_inner(part) for part in ends.groups() if part and part not in _ORDINAL)
    elif _PLURAL_OF_CAPITALS.fullmatch(atom):
        yield Unit(atom, atom[:-1].lower()[:LONGEST], stemmed=True)
    else:
        yield Unit(atom, fold(atom)[:LONGEST], stemmed=True)


def _inner(part: str) -> Unit:
    return _plain(part)._replace(inner=True)


def _ascii_digits(digits: str) -> str:
    return "".join(str(unicodedata.decimal(digit)) for digit in digits)


def _snake(atom: str) -> Iterator[Unit]:
    """`user_id` under the same term as `userId`, `user-id` and `userid`, and under its parts."""
    parts = [part for part in atom.split("_") if part]
    if len(parts) > 1 and len(atom) <= _MOST_WHOLE:
        yield _plain("".join(parts))
    for part in parts:
        yield from _atom(part)


def _run(piece: str) -> Iterator[Unit]:
    if found := pairs(piece):
        yield from (Unit(pair, pair, inner=len(pair) == 1 < len(piece)) for pair in found)
    elif _hangul().match(piece):
        if len(piece) != 2:
            yield Unit(piece, piece[:LONGEST], inner=len(piece) > 2)
        yield from (Unit(first + second, first + second) for first, second in pairwise(piece))
    else:
        yield from _segment(piece)


def _by_case(atom: str) -> list[str]:
    """The parts of a name in camel case; none for a word, an acronym or its plural."""
    tail = atom[1:]
    if tail.islower() or atom.isupper() or tail == tail.lower() or _PLURAL_OF_CAPITALS.fullmatch(atom):
        return []
    if len(atom) > _MOST_WHOLE:
        return []
    starts = [
        at
        for at in range(1, len(atom))
        if atom[at].isupper() and (not atom[at - 1].isupper() or atom[at + 1 : at + 2].islower())
    ]
    return [atom[start:end] for start, end in pairwise([0, *starts, len(atom)])] if starts else []


def _by_script(atom: str) -> list[str]:
    """The parts of a word that begins in one script and goes on in another."""
    if atom.isascii() or len(atom) > _MOST_WHOLE:
        return []
    parts, last = [""], ""
    for letter in atom:
        now = script(letter) or last
        if last and now != last:
            parts.append("")
        parts[-1] += letter
        last = now
    return parts if len(parts) > 1 else []
