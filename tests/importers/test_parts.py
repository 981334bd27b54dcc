"""Contents that do not fit a line."""

from __future__ import annotations

import json

import pytest

from alveus.importers.parts import MAX_PART, split, written_size
from alveus.journal import canonical
from alveus.journal.record import Draft, Kind


def draft(content: str) -> Draft:
    """A draft with this content."""
    return Draft(kind=Kind.OBSERVATION, content=content, origin="f:c:i", session="s", metadata={"tool": "Bash"})


def test_what_fits_is_left_alone():
    """A content that fits is the same draft, without a part."""
    one = draft("x" * MAX_PART)
    assert split(one) == [one]


@pytest.mark.parametrize("unit", ["x", "ы", "\U0001f600", "\0", '"', "\\", "e\u0301", "a\n", "\u2028", "\x7f"])
@pytest.mark.parametrize("size", [MAX_PART + 1, 2_500_000])
def test_parts_fit_and_join_to_the_content(unit, size):
    """Every part fits as it is written, none is broken inside a character, and together they are the content."""
    content = unit * (size // written_size(unit) + 1)
    parts = split(draft(content))
    assert "".join(part.content for part in parts) == content
    assert all(0 < written_size(part.content) <= MAX_PART for part in parts)
    assert [part.part for part in parts] == [(n, len(parts)) for n in range(1, len(parts) + 1)]
    assert {(part.origin, part.session) for part in parts} == {("f:c:i", "s")}
    assert all(part.content.encode() for part in parts)


def test_parts_are_full():
    """Parts are filled to within a seventh, so a long content has few of them."""
    assert len(split(draft("x" * 7_000_000))) <= 12


def test_size_is_the_journals_own():
    """The size that is measured is the size that the canonical form has."""
    text = "".join(map(chr, range(0x300))) + "\u2028\ufffd\U0001f600" + '"\\/'
    assert written_size(text) == len(canonical.encode(text)) - 2
    assert json.loads(canonical.encode(text)) == text
