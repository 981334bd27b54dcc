"""The short ways of cutting are the long way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alveus.language import cutting
from alveus.novelty import vocabulary


@given(st.text(st.characters(max_codepoint=127)) | st.text("aZ0_+#.:/\\@=&?,'- ", max_size=40))
def test_ascii_is_cut_by_a_pattern_of_its_own(text):
    """It finds what the pattern of all scripts finds."""
    assert cutting._ASCII_TOKEN.findall(text) == cutting._any_token().findall(text)


def test_no_character_before_the_first_special_one_is_special():
    """So a text of characters before it need not be looked through."""
    before = "".join(map(chr, range(ord(cutting._SPECIAL_FROM))))
    assert not cutting._special().search(before)
    assert not cutting._run_on().search(before)
    assert not vocabulary._run().search("".join(map(chr, range(ord(vocabulary._RUNS_ON_FROM)))))
