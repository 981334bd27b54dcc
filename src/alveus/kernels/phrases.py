"""Phrases found in a text's words, in one pass: those of one word by it, longer ones by their first two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

ANY: Final = "*"
"""Stands for one word of any kind, but not at the beginning."""


class Found(NamedTuple):
    """A phrase of a name, from one word up to another."""

    name: str
    at: int
    end: int


class Phrases:
    """Phrases by name; the words are given as they are looked up, stems or forms."""

    def __init__(self, phrases: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._single: dict[str, list[str]] = {}
        self._longer: dict[tuple[str, str], list[tuple[str, tuple[str, ...]]]] = {}
        self._open: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        for name, words in sorted({(name, tuple(words)) for name, words in phrases}):
            if len(words) == 1:
                self._single.setdefault(words[0], []).append(name)
            elif words[1] == ANY:
                self._open.setdefault(words[0], []).append((name, words[2:]))
            else:
                self._longer.setdefault((words[0], words[1]), []).append((name, words[2:]))

    def names(self, words: Sequence[str]) -> list[str]:
        """The name of each phrase that is found, as often as it is."""
        found: list[str] = []
        for word in words:
            found += self._single.get(word, ())
        found += [one.name for one in self._many(words)]
        return found

    def found(self, words: Sequence[str]) -> Iterator[Found]:
        """Each phrase that is found, and where."""
        for at, word in enumerate(words):
            for name in self._single.get(word, ()):
                yield Found(name, at, at + 1)
        yield from self._many(words)

    def _many(self, words: Sequence[str]) -> Iterator[Found]:
        longer, free = self._longer, self._open
        for at, two in enumerate(pairwise(words)):
            if two in longer or two[0] in free:
                for name, rest in (*longer.get(two, ()), *free.get(two[0], ())):
                    if not rest or _fits(words, at + 2, rest):
                        yield Found(name, at, at + 2 + len(rest))


def _fits(words: Sequence[str], at: int, rest: tuple[str, ...]) -> bool:
    if at + len(rest) > len(words):
        return False
    return all(part in (ANY, words[at + step]) for step, part in enumerate(rest))
