"""The machine that cuts a stream into elements, against a parser that may see everything."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alveus.importers.cutter import Closing, Keys, Opening, Piece, cut
from alveus.importers.source import Span

LISTS, MAPS, NESTED = frozenset({"messages", "agents"}), frozenset({"mapping"}), frozenset({"agents"})
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(['"', "\\", '\\"', "]", "},{", "\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


def pieces(data: bytes, step: int, limit: int = 1 << 20, wide: int | None = None):
    """What is cut from the data in chunks of this size; each piece is where it says it is."""
    at = Span(line=1, start=0, size=len(data))
    chunks = [data[start : start + step] for start in range(0, len(data), step)]
    found = list(cut(chunks, Keys(lists=LISTS, maps=MAPS, nested=NESTED, limit=limit, wide=wide or limit), at))
    for one in found:
        if isinstance(one, Piece) and one.data is not None:
            assert data[one.at.start : one.at.start + one.at.size] == one.data
            assert one.at.line == 1 + data.count(b"\n", 0, one.at.start)
    return found


def texts(data: bytes, step: int):
    """The elements alone, without white space around them."""
    return [one.data.strip() for one in pieces(data, step) if isinstance(one, Piece)]


@given(st.lists(VALUES, max_size=5), st.integers(1, 9), st.sampled_from([None, 1]), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_elements_are_those_of_the_parser(values, step, indent, ascii_only, in_object):
    """Whatever the values, the layout and the chunks: the elements are the parser's, in order."""
    made = {"id": "x, [y]", "messages": values, "tools": [1, {"a": 2}]} if in_object else values
    data = json.dumps(made, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = [json.loads(text.decode("utf-8", "surrogatepass")) for text in texts(data, step)]
    assert found == values


SIGNS = st.sampled_from(
    [b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\n", b'"messages":[', b'"mapping" : {', b"a", b" "]
)


@given(st.binary(max_size=80) | st.lists(SIGNS, max_size=40).map(b"".join), st.integers(1, 7))
@settings(max_examples=400, deadline=None)
def test_chunks_change_nothing(data, step):
    """Any bytes are cut the same way, however they arrive."""
    assert texts(data, step) == texts(data, 1000)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[{"a":1},{bad},{"b":2}]', [b'{"a":1}', b"{bad}", b'{"b":2}']),
        (b'[{"a":1, {"c":2}]\n{"d":3}', [b'{"a":1, {"c":2}', b'{"d":3}']),
        (b'[{"a":"x\n},{"b":2}]', [b'{"a":"x\n}', b'{"b":2}']),
        (b'["a\\\n,1]', [b'"a\\', b"1"]),
        (b"[1,,2,]", [b"1", b"2"]),
        (b'{"a":1}{"b":2} 42 [3,4]', [b'{"a":1}', b'{"b":2}', b"42", b"3", b"4"]),
        (b'{"x":{"messages":[1]},"y":[2]}', [b'{"x":{"messages":[1]},"y":[2]}']),
        (b"]]}}[1]", [b"]]}}", b"1"]),
        (b"[]", []),
        (b'{"messages":[]}', []),
    ],
)
def test_damage_ends_where_it_can_be_seen_to_end(data, expected):
    """A broken element does not take the next ones with it, as far as brackets and line feeds can tell."""
    for step in (1, 2, 5, 100):
        assert texts(data, step) == expected


def test_what_stands_around_the_list_comes_with_it():
    """The members before the list come with its opening, those behind it with its closing."""
    opening, piece, closing = pieces(b'{"id": "x", "messages": [1], "after": 2}', 3)
    assert (type(closing), closing.rest) == (Closing, b', "after": 2}')
    assert (type(opening), opening.name, opening.before) == (Opening, "messages", b'{"id": "x", "messages": ')
    assert piece.data == b"1"


def test_an_object_may_hold_many_lists():
    """Each list of an object is cut, and what stands between them comes with the next; members of a map likewise."""
    data = b'{"a": 1, "agents": [1, 2], "b": [3], "mapping": {"x": {}, "y": 5}, "messages": [], "c": 2} 7'
    for step in (1, 4, 200):
        assert [
            one.data if isinstance(one, Piece) else one.before if isinstance(one, Opening) else one.rest
            for one in pieces(data, step)
        ] == [
            b'{"a": 1, "agents": ',
            b"1",
            b"2",
            b', "b": [3], "mapping": ',
            b'"x": {}',
            b'"y": 5',
            b', "messages": ',
            b', "c": 2}',
            b"7",
        ]


def test_what_may_be_cut_again_is_held_less():
    """Of elements that may hold many themselves only so much is held as is soon read again."""
    data = b'{"agents": ["' + b"x" * 50 + b'"], "messages": ["' + b"y" * 50 + b'"]}'
    first, second = [one for one in pieces(data, 9, limit=100, wide=20) if isinstance(one, Piece)]
    assert (first.data, first.at.size, len(second.data)) == (None, 52, 52)


def test_element_over_the_limit_is_not_held():
    """An element over the limit is only measured; those beside it come whole."""
    first, huge, last = [one for one in pieces(b'[1,"' + b"x" * 500 + b'",2]', 7, limit=100) if isinstance(one, Piece)]
    assert (first.data, huge.data, huge.at.size, last.data) == (b"1", None, 502, b"2")


def test_end_inside_an_element_is_told():
    """The last element of a stream that was cut says so."""
    *_, last = pieces(b'[{"a":1},{"b', 4)
    assert (last.data, last.torn) == (b'{"b', True)
