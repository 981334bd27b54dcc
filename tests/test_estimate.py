"""The estimate of tokens against a real tokenizer: at or above it in every script, and not far above it for prose.

`o200k.json` holds texts of this project with what o200k_base counts for them; `make prove` counts them again with
gpt-tokenizer, from npm.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.estimate import estimate_tokens

TEXTS = json.loads((Path(__file__).parent / "o200k.json").read_text(encoding="utf-8"))
PROSE = {"English", "Russian", "Chinese", "Japanese", "Korean"}
LEAST = 0.75
"""Of a budget, what prose may use at least: a quarter may be wasted."""


def test_every_script_is_there():
    """Latin, Cyrillic, ideographs, emoji and code."""
    assert {one["kind"] for one in TEXTS} >= {*PROSE, "code", "JSON", "emoji"}


@pytest.mark.parametrize("one", TEXTS, ids=[f"{one['kind']}-{number}" for number, one in enumerate(TEXTS)])
def test_the_estimate_is_on_the_safe_side(one):
    """No text has more tokens than estimated, so a pack made by the estimate fits."""
    assert estimate_tokens(one["text"]) >= one["tokens"]


@pytest.mark.parametrize("kind", sorted(PROSE))
def test_prose_wastes_a_quarter_of_the_budget_at_most(kind):
    """All texts of a kind together."""
    mine = [one for one in TEXTS if one["kind"] == kind]
    assert sum(one["tokens"] for one in mine) >= LEAST * sum(estimate_tokens(one["text"]) for one in mine)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_has_an_estimate(first, second):
    """Surrogates, controls and marks included; a longer text never has a smaller one, but for what grows together."""
    assert estimate_tokens("") == 0
    assert estimate_tokens(first) >= bool(first)
    assert estimate_tokens(f"{first}\n{second}") >= max(estimate_tokens(first), estimate_tokens(second)) - 2
