"""Numbers, times and names are the same value however they are written."""

import pytest

from alveus.kernels.values import values


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("We keep seven hundred of them.", {"700"}),
        ("We keep six hundred and twenty a week.", {"620"}),
        ("We keep 1,200 of them.", {"1200"}),
        ("We meet at 09:15.", {"9:15"}),
        ("We call Nadia Fenn first.", {"nadia", "fenn"}),
        ("Храним двадцать пять дней.", {"25"}),
        ("Храним сто двадцать записей.", {"120"}),
        ("Звони теперь Марату.", {"марат"}),
    ],
)
def test_what_a_text_sets(text, sets):
    """In digits or in letters; a name's stem, whatever its case."""
    assert values(text).sets == sets


def test_small_numbers_days_and_the_beginning_of_a_sentence_set_nothing():
    """They are everywhere, or are capitalised for another reason; a name at the beginning is mentioned all the same."""
    assert not values("Three ferns came on Monday.").sets
    assert not values("Nadia came.").sets
    assert "nadia" in values("Nadia came.").mentions
