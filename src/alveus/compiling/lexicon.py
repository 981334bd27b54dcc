"""`kernels.words`: the terms and values of what was compared before, by the hash of its text.

A sealed file whose parts are JSON, `{"terms": {hash: words}}` or `{"values": {hash: words}}`: words with a space
between them, and those that a text sets in a line before those that it mentions. A digest finds what is new; deleted,
the file is made again. When it has become large it is begun anew, so that what is compared no more does not stay for
ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import orjson
import Stemmer  # type: ignore[import-not-found]

from alveus.compiling.rows import key_of
from alveus.compiling.sealed import SealedFile
from alveus.journal.seal import Key
from alveus.kernels import lexicon, opposites_en, opposites_ru, tone, values
from alveus.kernels.lexicon import Lexicon, terms_of
from alveus.kernels.values import Values
from alveus.language import cutting, scripts, stopwords, terms, tongues

NAME: Final = "kernels.words"
LARGEST: Final = 32 << 20
"""Bytes: some ten times what 6,000 long sentences take."""
_TERMS: Final = "terms"
_VALUES: Final = "values"


@cache
def version() -> str:
    """What the words are found by: the modules that cut, stem and tell values."""
    state = sha256(str(Stemmer.version()).encode())
    for module in (lexicon, values, tone, opposites_en, opposites_ru, terms, cutting, scripts, stopwords, tongues):
        state.update(Path(module.__file__ or "").read_bytes())
    state.update(Path(__file__).read_bytes())
    return state.hexdigest()[:16]


class KeptLexicon(Lexicon):
    """What texts say, found once; with `keep` for the next one who asks, too."""

    def __init__(self, folder: Path, key: Key, keep: bool) -> None:  # noqa: FBT001  (as `read_journal` has it)
        self._file = SealedFile(folder / NAME, f"alveus.kernels.words.v1 {version()}", key, LARGEST)
        self._keep = keep
        self._known: dict[str, dict[str, str]] | None = None

    def terms(self, texts: Sequence[str]) -> list[Sequence[str]]:
        """As `Lexicon.terms`."""
        return [words.split() for words in self._found(_TERMS, texts, _terms)]

    def values(self, texts: Sequence[str]) -> list[Values]:
        """As `Lexicon.values`."""
        told = (lines.split("\n") for lines in self._found(_VALUES, texts, _values))
        return [Values(frozenset(sets.split()), frozenset(mentions.split())) for sets, mentions in told]

    def _found(self, what: str, texts: Sequence[str], find: Callable[[str], str]) -> list[str]:
        known = self._load()[what]
        keys = lexicon.once(lambda text: key_of(text).hex(), texts)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        made = {key: find(text) for key, text in new.items()}
        known.update(made)
        if made and self._keep:
            self._file.put(self._file.count, [orjson.dumps({what: made})])
        return [known[key] for key in keys]

    def _load(self) -> dict[str, dict[str, str]]:
        if self._known is None:
            self._known = {_TERMS: {}, _VALUES: {}}
            for part in self._file.read():
                for what, found in orjson.loads(part).items():
                    self._known[what].update(found)
        return self._known


def _terms(text: str) -> str:
    return " ".join(terms_of(text))


def _values(text: str) -> str:
    return "\n".join(" ".join(sorted(some)) for some in values.values(text))
