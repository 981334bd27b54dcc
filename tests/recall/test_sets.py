"""Sets of whole numbers are what numpy's own functions say, without the modules that those import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from alveus.recall.sets import distinct, first_of_each, is_in

NUMBERS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 3), max_size=30).map(
    lambda values: np.array(values, dtype=np.int64)
)


@given(NUMBERS, NUMBERS)
def test_they_are_numpys(values, others):
    """Empty ones and the ends of the range too."""
    unique, first = np.unique(values, return_index=True)
    assert distinct(values).tolist() == unique.tolist()
    assert first_of_each(values).tolist() == first.tolist()
    assert is_in(values, np.sort(others)).tolist() == np.isin(values, others).tolist()


def test_masked_arrays_are_not_imported():
    """What the room is for."""
    code = (
        "import sys, numpy as np; from alveus.recall.sets import *; a = np.array([3, 1, 3]);"
        "distinct(a), first_of_each(a), is_in(a, distinct(a)); sys.exit('numpy.ma' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
