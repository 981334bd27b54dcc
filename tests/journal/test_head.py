"""The tree of RFC 6962, grown one line at a time, in blocks, or put together from pieces."""

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.errors import JournalError
from alveus.journal.head import EMPTY_ROOT, Tree, is_day, leaf_hash, read_head, write_head
from alveus.journal.seal import Key
from forge import frontier_of, head_bytes, leaf, profile_lines, root_of

LINES = [b"line %d" % number for number in range(1100)]
KEY = Key(bytes(range(32)))


def grown(count, tree=None, first=0):
    """A tree of these lines, one at a time."""
    tree = tree if tree is not None else Tree()
    for line in LINES[first:count]:
        tree.append(leaf_hash(line))
    return tree


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 511, 600])
def test_the_root_is_that_of_the_definition(count):
    """Grown leaf by leaf, the root and the frontier are the recursive definition's."""
    tree = grown(count)
    assert tree.root() == root_of(LINES[:count])
    assert [node.hex() for node in tree.frontier] == frontier_of(LINES[:count])
    assert leaf_hash(LINES[0]) == leaf(LINES[0])


def test_the_empty_root():
    """A tree of nothing hashes to the hash of nothing."""
    assert Tree().root() == EMPTY_ROOT == hashlib.sha256(b"").digest()


@given(st.lists(st.integers(0, 600), max_size=4))
def test_leaves_in_runs_make_the_same_tree(runs):
    """Adding leaves in runs of any length gives the tree that adding them one by one gives."""
    tree, end = Tree(), 0
    for run in runs:
        end = min(end + run, len(LINES))
        tree.extend([leaf_hash(line) for line in LINES[tree.end : end]])
    assert (tree.end, tree.root(), tree.frontier) == (end, grown(end).root(), grown(end).frontier)


@given(st.lists(st.integers(0, 700), min_size=1, max_size=4))
def test_pieces_merge_into_the_whole(cuts):
    """Ranges hashed apart, wherever they are cut, merge into the tree of the whole."""
    bounds = [0, *sorted(cuts), 700]
    tree = Tree()
    for start, stop in pairwise(bounds):
        piece = Tree(start)
        piece.extend([leaf_hash(line) for line in LINES[start:stop]])
        tree.merge(piece)
    assert (tree.end, tree.root(), tree.frontier) == (700, grown(700).root(), grown(700).frontier)
    with pytest.raises(ValueError, match="meet"):
        tree.merge(Tree(1))


@given(st.integers(0, 900), st.integers(0, 200))
def test_a_tree_goes_on_from_its_frontier(size, more):
    """A head's frontier is all that is needed to go on."""
    tree = Tree.from_frontier(size, grown(size).frontier)
    assert tree.root() == grown(size).root()
    assert grown(size + more, tree, size).root() == grown(size + more).root()


@pytest.mark.parametrize(("size", "count"), [(0, 1), (1, 0), (3, 1), (3, 3), (4, 2)])
def test_a_frontier_that_does_not_fit(size, count):
    """As many hashes as the size has bits set, or it is no frontier."""
    with pytest.raises(ValueError):  # noqa: PT011 - zip's own words
        Tree.from_frontier(size, [bytes(32)] * count)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8])
def test_a_head_made_by_hand_is_read_and_written_alike(count):
    """What the specification gives is what the program reads, and writes again byte for byte."""
    data = head_bytes(profile_lines([("state", f"s{number}", "novel") for number in range(count)]))
    head = read_head(data, KEY)
    assert head.size == count
    assert write_head(head, KEY) == data
    assert head.tree().root().hex() == head.root


@given(st.integers(0, 1 << 14), st.integers(0, 7))
def test_no_bit_of_a_head_can_be_flipped(place, bit):
    """Any bit of a head file that changes makes it no head."""
    data = bytearray(head_bytes(profile_lines([("state", "one", "novel")])))
    data[place % len(data)] ^= 1 << bit
    with pytest.raises(JournalError) as caught:
        read_head(bytes(data), KEY)
    assert caught.value.code == "bad_head"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_head_or_our_error(data):
    """Reading a head never fails otherwise than by saying that it is none."""
    with pytest.raises(JournalError):
        read_head(data, KEY)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        ("2026-01-31", True),
        ("2024-02-29", True),
        ("2026-02-29", False),
        ("2026-1-31", False),
        ("20260131", False),
        ("2026-W05-6", False),
        ("٢٠٢٦-01-31", False),
        ("2026-01-31\n", False),
        ("../2026-01-31", False),
        ("", False),
        (None, False),
        (2026, False),
    ],
)
def test_what_is_a_day(value, is_one):
    """A day is a real one, in one spelling."""
    assert is_day(value) is is_one
