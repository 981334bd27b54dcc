"""Languages: what Snowball stems, by which script and function words each is told, and how its words are stemmed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final, cast

import Stemmer  # type: ignore[import-not-found]

from alveus.language.scripts import bare, fold, script
from alveus.language.stopwords import LISTS

_TABLE: Final = (
    ("en", "english", "Latin"),
    ("ru", "russian", "Cyrillic"),
    ("ar", "arabic", "Arabic"),
    ("ca", "catalan", "Latin"),
    ("cs", "czech", "Latin"),
    ("da", "danish", "Latin"),
    ("de", "german", "Latin"),
    ("el", "greek", "Greek"),
    ("eo", "esperanto", "Latin"),
    ("es", "spanish", "Latin"),
    ("et", "estonian", "Latin"),
    ("eu", "basque", "Latin"),
    ("fa", "persian", "Arabic"),
    ("fi", "finnish", "Latin"),
    ("fr", "french", "Latin"),
    ("ga", "irish", "Latin"),
    ("hi", "hindi", "Devanagari"),
    ("hu", "hungarian", "Latin"),
    ("hy", "armenian", "Armenian"),
    ("id", "indonesian", "Latin"),
    ("it", "italian", "Latin"),
    ("lt", "lithuanian", "Latin"),
    ("ne", "nepali", "Devanagari"),
    ("nl", "dutch", "Latin"),
    ("no", "norwegian", "Latin"),
    ("pl", "polish", "Latin"),
    ("pt", "portuguese", "Latin"),
    ("ro", "romanian", "Latin"),
    ("sr", "serbian", "Latin Cyrillic"),
    ("st", "sesotho", "Latin"),
    ("sv", "swedish", "Latin"),
    ("ta", "tamil", "Tamil"),
    ("tr", "turkish", "Latin"),
    ("yi", "yiddish", "Hebrew"),
)
LANGUAGES: Final = tuple(code for code, _, _ in _TABLE)
"""The codes of all languages that are stemmed."""

_ALGORITHM: Final = {code: algorithm for code, algorithm, _ in _TABLE}
_SCRIPTS: Final = {code: frozenset(scripts.split()) for code, _, scripts in _TABLE}
# Of a script without an entry no word is stemmed unless its text's language is known: Hebrew is rarely Yiddish.
_OF_SCRIPT: Final = {
    "Latin": "en",
    "Cyrillic": "ru",
    "Arabic": "ar",
    "Greek": "el",
    "Armenian": "hy",
    "Devanagari": "hi",
    "Tamil": "ta",
}
# Letters that only one of a script's languages has. Where there are none, function words decide.
_TELLING: Final = (
    ("Cyrillic", "sr", "ђјљњћџ"),
    ("Hebrew", "yi", "װױײ\ufb1d\ufb1f\ufb2e\ufb2f"),
)

_SAMPLE: Final = 320
_ENOUGH: Final = 2
_LANE: Final = 8  # bits: a sample has fewer than 256 words
_NO_LETTERS: Final = bytes(code for code in range(128) if not chr(code).isalpha())
_CYRILLIC: Final = b"\x04"
_LATIN: Final = b"\x00\x01\x02\x1e\x20"  # and the punctuation of every script
_HIGH_BYTES: Final = (
    ("Latin", b"\x01\x02\x1e"),
    ("Cyrillic", b"\x04"),
    ("Greek", b"\x03\x1f"),
    ("Arabic", b"\x06\x07\xfb\xfc\xfd"),
    ("Devanagari", b"\x09"),
    ("Tamil", b"\x0b"),
    ("Hebrew", b"\x05"),  # and Armenian
)


@cache
def stop_words(language: str) -> frozenset[str]:
    """The function words of a language, folded and without diacritics; empty where no list is known."""
    return frozenset(bare(fold(word)) for word in LISTS.get(language, "").split())


@cache
def _votes(alphabet: str) -> Callable[[str], int | None]:
    """For a word the languages it is a function word of, each as a one in a byte of its own of a number."""
    votes: dict[str, int] = {}
    for place, code in enumerate(LANGUAGES):
        if alphabet in _SCRIPTS[code]:
            for word in LISTS.get(code, "").split():
                votes[word] = votes.get(word, 0) + (1 << (_LANE * place))
    return votes.get


def detect(text: str, lowered: Sequence[str] | None = None) -> str:
    """The language that a text is stemmed by. By script, then by function words; undecided Latin is `en`.

    `lowered` is what stands between the white space of the text in lower case, for whoever has it already.
    """
    sample = text[:_SAMPLE]
    alphabet = "Latin" if sample.isascii() else _alphabet(sample)
    if alphabet not in ("Latin", "Arabic"):
        return _by_letters(alphabet, sample)
    default = _OF_SCRIPT[alphabet]
    words = sample.lower().split() if lowered is None or len(text) > _SAMPLE else lowered
    found = sum(filter(None, map(_votes(alphabet), words)))
    if not found:
        return default
    counts = found.to_bytes(len(LANGUAGES), "little")
    most = max(counts)
    if most < _ENOUGH or most == counts[LANGUAGES.index(default)]:
        return default
    return LANGUAGES[counts.index(most)]


def _alphabet(sample: str) -> str:
    """The script of most letters, told by the high bytes of their codes."""
    high = sample.encode("utf-16-le", "surrogatepass")[1::2]
    if 2 * high.count(_CYRILLIC) > len(high):
        return "Cyrillic"
    if not high.translate(None, _LATIN):
        return "Latin"
    counts = {alphabet: sum(map(high.count, codes)) for alphabet, codes in _HIGH_BYTES}
    counts["Latin"] += len(sample.encode("ascii", "ignore").translate(None, _NO_LETTERS))
    alphabet = max(counts, key=counts.__getitem__)
    if alphabet == "Hebrew":
        return next(filter(None, (script(letter) for letter in sample if "\u0530" <= letter < "\u0600")), "Latin")
    return alphabet


def _by_letters(alphabet: str, sample: str) -> str:
    lowered = sample.lower()
    for of, code, telling in _TELLING:
        if of == alphabet and any(map(lowered.__contains__, telling)):
            return code
    return _OF_SCRIPT.get(alphabet, "en")


def candidates(word: str, languages: Iterable[str]) -> list[str]:
    """Of some languages those that a word may be stemmed by, after the one that its script is stemmed by anyway."""
    alphabet = script(word[0])
    usual = _OF_SCRIPT.get(alphabet)
    fitting = [code for code in languages if alphabet in _SCRIPTS.get(code, ()) and code != usual]
    return [usual, *fitting] if usual else fitting


def language_of(word: str, language: str) -> str | None:
    """The language that one word of a text is stemmed by: the text's, if it is written in the word's script."""
    alphabet = script(word[0])
    return language if alphabet in _SCRIPTS.get(language, ()) else _OF_SCRIPT.get(alphabet)


def stems(word: str, language: str | None) -> tuple[str, ...]:
    """The stem of a folded word without diacritics; two, if the word typed without them has another stem."""
    if language is None or not word.isalpha():
        return (bare(word),)
    stem = _stemmer(language)
    plain = bare(word)
    kept = bare(stem(word)) or plain
    return (kept,) if plain == word else tuple(dict.fromkeys((kept, bare(stem(plain)) or plain)))


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    # Without a cache of its own a stemmer keeps no state between two calls; the callers remember whole words.
    return cast("Callable[[str], str]", Stemmer.Stemmer(_ALGORITHM[language], 0).stemWord)
