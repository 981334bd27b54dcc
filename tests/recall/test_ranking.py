"""The arithmetic on lists and that on numpy's arrays are one: no answer depends on which of them a process used."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus import Draft, Hippocampus, Kind
from alveus.recall import arrays, ranking
from alveus.recall.ranking import Evidence, Sessions

COLUMN = st.integers(0, 6)
ROWS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 3), COLUMN, st.integers(0, 60), st.integers(0, 1), COLUMN, COLUMN),
    max_size=20,
    unique_by=(lambda row: row[0], lambda row: row[1:3]),
)
"""Records with a number and a place of their own, as the index has them."""
WORDS = st.lists(
    st.tuples(st.floats(0.001, 12), st.lists(st.integers(0, 45), unique=True, max_size=30).map(sorted)), max_size=4
)


def told(how, rows, words, similar, named):
    """All that is reckoned from a pool, by one arithmetic, as plain values."""
    evidence = [Evidence(f"w{at}", weight, how.column(held)) for at, (weight, held) in enumerate(words)]
    pool = how.pool_of(rows)
    ids = sorted({row[1] for row in rows})
    sessions = Sessions(ids, [7 * one + 3 for one in ids], len(ids), 9.5)
    scores = how.score(pool, evidence, sessions, mean_length=11.3, named=named, similar=similar)
    return {
        "around": how.places_around(pool, evidence, 3),
        "among": [list(map(int, one.rows)) for one in how.among(evidence, {3, 5, 8, 13, 21, 34})],
        "brought": how.brought_in(evidence),
        "order": how.order(pool, scores),
        "pool": [list(map(int, column)) for column in pool],
        "scores": [list(map(float, part)) for part in scores],
    }


@given(ROWS, WORDS, st.booleans(), st.integers(0, 3), st.data())
def test_both_agree_to_the_last_bit(rows, words, by_meaning, named, data):
    """Every score of every candidate, and each order that follows; with vectors and without, and for nothing at all."""
    similar = None
    if by_meaning:
        similar = data.draw(st.lists(st.floats(-4, 4), min_size=len(rows), max_size=len(rows)))
    by_arrays = told(arrays, rows, words, None if similar is None else np.array(similar, dtype=float), named)
    assert told(ranking, rows, words, similar, named) == by_arrays


ASK = """
import json, sys
from alveus import Hippocampus
with Hippocampus.open(home=sys.argv[1], agent_id="river", embedder="none") as memory:
    for _ in range(2):
        found = memory.pattern_completion("which port has the build server", 50, explain=True)
        why = [[one.score, one.words, one.beside, one.parts] for one in found.why]
        print(json.dumps([[one.record_id for one in found], why]))
        print(json.dumps("numpy" in sys.modules))
"""


def test_a_processs_first_question_is_answered_as_its_second(home):
    """The first one without numpy, the others with it: record by record the same, and why."""
    topics = ["build", "server", "port", "deploy", "review"]
    with Hippocampus.open(home=home, agent_id="river", embedder="none") as memory:
        contents = [
            f"{topics[n % 5]} {topics[n // 5 % 5]}: note {n} of the {topics[n // 25 % 5]}" for n in range(4_000)
        ]
        memory.record_many(
            [Draft(kind=Kind.STATE, content=one, session=f"s{n // 40}") for n, one in enumerate(contents)]
        )
        memory.prepare_recall()
    asked = subprocess.run([sys.executable, "-c", ASK, home], check=True, capture_output=True, text=True, timeout=120)
    first, bare, second, with_numpy = map(json.loads, asked.stdout.splitlines())
    assert (bare, with_numpy) == (False, True)
    assert first == second
    assert len(first[0]) == 50


@pytest.mark.parametrize("values", [[], [0.0], [2.5] * 7, [1e-13, 0.0], [1.0, 2.0, 4.0]])
def test_what_is_as_good_as_equal_scores_nothing(values):
    """A spread that rounding made is none."""
    expected = arrays.standard(np.array(values)).tolist()
    assert ranking.standard(values) == expected
    assert any(expected) == (values == [1.0, 2.0, 4.0])
