"""What the weights tell: of sentences that they were not fitted on, for one embedder, and of nobody else's vectors."""

from __future__ import annotations

import numpy as np
import pytest

from alveus.kernels import learnt, weights
from alveus.kernels.compiler import compile_kernels
from alveus.kernels.examples import BY_KIND
from alveus.kernels.replacing import SIGNS
from alveus.kernels.score import centred
from alveus.kernels.tone import tone
from alveus.language.terms import detect
from alveus.store.embedders import choose
from talk import talk, with_chatter

EMBEDDER = choose("default")
assert EMBEDDER is not None

IDENTITY = ("Talk to me in plain words and keep it under five lines.", "Пиши мне просто и не длиннее пяти строк.")
DECISION = (
    "When the boiler fails, ring the fitter first and then the tenants.",
    "Если котёл встал, сначала звоним мастеру, потом жильцам.",
)
ANTI = ("Never hand out a tenant's phone number to anybody.", "Никогда никому не даём телефоны жильцов.")
CHATTER = ("My train was late and I had a sandwich on the platform.", "Поезд опоздал, и я съел бутерброд на перроне.")
CHANGE = (
    "From next month we send the bills by mail, no more paper.",
    "Со следующего месяца счета шлём почтой, бумаги больше нет.",
)


def told(texts):
    """What the weights say of sentences of a user's."""
    shown = [text for some in BY_KIND for text in some]
    vectors = np.round(EMBEDDER.encode([*shown, *texts]), 4)
    vectors = centred(vectors, vectors[: len(shown)].mean(axis=0))[len(shown) :]
    words = np.array([len(one.split()) for one in texts])
    how = learnt.manner(np.array([tone(one, detect(one)) for one in texts]), np.ones(len(texts), dtype=bool), words)
    return learnt.told(vectors, how)


def test_the_weights_are_whole():
    """A name for each register and sign, a weight for each dimension."""
    lines = [line.split() for line in weights.MANNER.strip().splitlines()]
    assert [line[0] for line in lines] == [*learnt.MANNER, "bias"]
    assert {len(line) for line in lines} == {6}
    assert len(weights.MEANING.split()) == 5 * EMBEDDER.dims
    assert set(weights.REPLACES) == {*SIGNS, "bias"}


@pytest.mark.parametrize("language", [0, 1], ids=["english", "russian"])
def test_a_rule_is_told_from_chatter_and_each_goes_to_its_kernel(language):
    """Identity, decision and anti-kernel, in this order."""
    given = told([some[language] for some in (IDENTITY, DECISION, ANTI, CHATTER)])
    assert given.likeness[:3].min() > given.likeness[3]
    assert given.kinds[:3].argmax(axis=1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(given.kinds.sum(axis=1), 1.0)


@pytest.mark.parametrize("language", [0, 1], ids=["english", "russian"])
def test_a_change_is_told_from_what_holds(language):
    """It is announced from 0."""
    given = told([some[language] for some in (CHANGE, DECISION, ANTI, CHATTER)])
    assert given.changes[0] >= 0.0 > given.changes[1:].max()


def test_the_weights_hold_for_one_embedder_whatever_its_revision():
    """Another one's vectors are judged by examples and cues."""
    assert learnt.knows(f"{EMBEDDER.id}@7")
    assert not learnt.knows("another@7")
    said = talk(
        *with_chatter(("u: Never spray the roses with copper, we burnt them.",), ("u: No copper on the roses, ever.",))
    )
    canon = "Roses are never sprayed with copper."
    found = compile_kernels(said, encode=EMBEDDER.encode, embedder_id="another@1", canon=canon)
    assert any("copper" in one.text for one in found.bullets)


def test_what_only_repeats_a_rule_replaces_nothing():
    """Near, later, by the user: and says nothing else than was said."""
    said = talk(
        *with_chatter(
            ("u: We keep the ladder in the barn, always.",),
            ("u: As usual, the ladder belongs in the barn.",),
            ("u: Put the ladder back into the barn, as agreed.",),
            (),
        )
    )
    found = compile_kernels(said, encode=EMBEDDER.encode, embedder_id=f"{EMBEDDER.id}@1")
    assert not any(one.supersedes for one in found.bullets)
