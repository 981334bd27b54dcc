"""What a source says, made fit to be signed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alveus.importers.base import Item, Span
from alveus.importers.facts import MAX_ID, blob, ident, small
from alveus.importers.mould import Mould, Piece
from alveus.journal import canonical

ANY_TEXT = st.text(st.characters(codec=None), max_size=40)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(ANY_TEXT, ANYTHING, max_size=5))
@settings(max_examples=200, deadline=None)
def test_metadata_can_always_be_signed(facts):
    """Whatever a source holds, what becomes metadata is inside the canonical domain."""
    canonical.encode(small(facts))


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (2**53 - 1, 2**53 - 1),
        (2**53, "0x20000000000000"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (1e20, "1e+20"),
        (0.1, 0.1),
        (False, False),
        (0, 0),
        ("\ud800", "\ufffd"),
        ("x" * 3000, "x" * 2000 + "…"),
        ([[[[[1]]]]], [[[["[1]"]]]]),
    ],
)
def test_values_outside_the_domain_become_text(value, kept):
    """A number that cannot be signed, a text that is too long, a nesting too deep, is kept as text."""
    assert small({"v": value})["v"] == kept


def test_what_says_nothing_is_left_out():
    """Absent and empty members take no room."""
    assert small({"a": None, "b": "", "c": [], "d": {}, "e": ()}) == {}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("m1", "m1"),
        (7, "7"),
        (" x ", "x"),
        ("", None),
        (" ", None),
        (None, None),
        (True, None),
        (1.5, None),
        ([], None),
        ("a\nb", "a\ufffdb"),
    ],
)
def test_ids_are_names(value, name):
    """Strings and whole numbers are ids; nothing else is, and no id has a control character."""
    assert ident(value) == name


def test_long_ids_stay_different():
    """An id that is too long is shortened, and two of them stay two."""
    first, second = ident("x" * 500 + "1"), ident("x" * 500 + "2")
    assert first != second
    assert max(len(first), len(second)) <= MAX_ID


def test_origin_has_three_parts():
    """A colon in a container does not move the border to the item's id, and the id is left as it is."""
    mould = Mould(format="f", container="a:b%", id="x:y", session=None, time=None, at=Span(line=1, start=0, size=1))
    item = mould.cast(Piece(content="c"))
    assert isinstance(item, Item)
    assert item.draft.origin == "f:a%3Ab%25:x:y"


def test_blob_that_is_no_base64_is_named_too():
    """A redacted or damaged picture still has a hash and a size."""
    assert blob("image", "", "[trimmed]").size == len("[trimmed]")
    assert str(blob("image", "image/png\n", "aGVsbG8=")).endswith(" image/png 5 bytes]")
