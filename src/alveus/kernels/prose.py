"""What may be heard of an archive, as columns: a row is one fragment of prose that the user or the agent said.

What a row holds follows from its utterance alone, so that it can be kept; only the order of the rows, and what was said
before each, follow from the others. A fragment itself is made when it is asked for: of a long archive few are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from alveus.journal.record import Kind, Source
from alveus.kernels.fragment import Fragment, Utterance, What, cut, pieces
from alveus.kernels.lexicon import Lexicon
from alveus.kernels.tone import REGISTERS, tone
from alveus.language.terms import detect

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPEAKERS: Final = (Source.USER, Source.AGENT)
"""Who is heard; what others say only counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """The rows, in order: their registers [n, registers], whether the user spoke, the record's kind and its number.

    `words` are those of what is said without quotations. `made` makes the fragments of some rows, and `cut` is how many
    fragments of any sort the archive has. `lexicon` tells what texts say by their words.
    """

    tones: NDArray[np.int64]
    user: NDArray[np.bool_]
    kinds: NDArray[np.int64]
    whole: NDArray[np.int64]
    words: NDArray[np.int64]
    made: Callable[[Sequence[int]], list[Fragment]]
    cut: int
    lexicon: Lexicon = field(default_factory=Lexicon)

    def __len__(self) -> int:
        return len(self.user)

    @staticmethod
    def of(utterances: Iterable[Utterance]) -> Prose:
        """The prose of some utterances, in whatever order they come."""
        fragments = cut(utterances)
        prose = [one for one in fragments if one.what is What.PROSE and one.src in SPEAKERS]
        codes: dict[int, str] = {}
        for one in prose:
            if one.whole not in codes:
                codes[one.whole] = detect(one.text)
        tones = [tone(one.said, codes[one.whole]) for one in prose]
        return Prose(
            tones=np.array(tones, dtype=np.int64).reshape(len(prose), len(REGISTERS)),
            user=np.array([one.src is Source.USER for one in prose], dtype=bool),
            kinds=np.array([CODE_OF_KIND[one.kind] for one in prose], dtype=np.int64),
            whole=np.array([one.whole for one in prose], dtype=np.int64),
            words=np.array([len(one.said.split()) for one in prose], dtype=np.int64),
            made=lambda rows: [prose[at] for at in rows],
            cut=len(fragments),
        )


KINDS: Final = tuple(Kind)
CODE_OF_KIND: Final = {kind: code for code, kind in enumerate(KINDS)}
"""The numbers of kinds in a column."""


class Archive(Iterable[Utterance]):
    """Utterances that keep what was found in them before."""

    @abstractmethod
    def prose(self) -> Prose:
        """What `Prose.of` makes of them."""


class Spoken(NamedTuple):
    """One fragment of prose of an utterance: its place among all fragments, and what its row holds."""

    place: int
    text: str
    said: str
    words: int
    tone: tuple[int, ...]


def spoken(one: Utterance) -> tuple[int, list[Spoken]]:
    """How many fragments an utterance is cut into, and what of it is heard; a message is of one language."""
    found = list(pieces(one))
    if one.src not in SPEAKERS:
        return len(found), []
    prose = [(place, text, said) for place, (what, text, said) in enumerate(found) if what is What.PROSE]
    code = detect(prose[0][1]) if prose else ""
    return len(found), [Spoken(place, text, said, len(said.split()), tone(said, code)) for place, text, said in prose]
