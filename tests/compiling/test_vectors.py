"""What is kept of fragments: only what is new is made; damage, another embedder and other writers cost time at most."""

import threading

import numpy as np
import pytest

from alveus import Hippocampus, StoreError
from alveus.compiling.vectors import VECTORS, VectorCache


class Counting:
    """Vectors of the letters of a text; counts what it was asked."""

    id, revision, dims = "counting", "1", 8

    def __init__(self):
        self.asked = []

    def encode(self, texts):
        """Rows of length 1."""
        self.asked += texts
        rows = np.array([[1 + text.count(letter) for letter in "abcdefgh"] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def calibration(self, cosine):
        """As it is."""
        return cosine


@pytest.fixture
def embedder():
    """One that counts."""
    return Counting()


def test_a_text_is_embedded_once(tmp_path, embedder):
    """Also by the next process, and where it comes twice in one call."""
    first = VectorCache(tmp_path, embedder).encode(["abc", "abd", "abc"])
    again = VectorCache(tmp_path, embedder).encode(["abd", "abc", "new"])
    assert sorted(embedder.asked) == ["abc", "abd", "new"]
    assert np.array_equal(first[0], first[2])
    assert np.array_equal(first[[1, 0]], again[:2])
    assert np.allclose(np.linalg.norm(again, axis=1), 1, atol=1e-6)
    assert again.dtype == np.float32


def test_with_and_without_the_cache_a_vector_is_the_same(tmp_path, embedder):
    """To the bit: what is fresh is rounded as what was kept."""
    cache = VectorCache(tmp_path, embedder)
    fresh = cache.encode(["abc", "hello"])
    assert np.array_equal(fresh, VectorCache(tmp_path, embedder).encode(["abc", "hello"]))
    (tmp_path / VECTORS).unlink()
    assert np.array_equal(fresh, VectorCache(tmp_path, embedder).encode(["abc", "hello"]))


def test_another_embedder_s_vectors_are_not_used(tmp_path, embedder):
    """The file is begun again."""
    VectorCache(tmp_path, embedder).encode(["abc"])
    embedder.revision = "2"
    VectorCache(tmp_path, embedder).encode(["abc"])
    assert embedder.asked == ["abc", "abc"]
    VectorCache(tmp_path, embedder).encode(["abc"])
    assert embedder.asked == ["abc", "abc"]


@pytest.mark.parametrize("cut", [1, 5, 20, 30])
def test_a_torn_end_is_made_again(tmp_path, embedder, cut):
    """And what is written behind it is read."""
    VectorCache(tmp_path, embedder).encode(["abc", "abd"])
    path = tmp_path / VECTORS
    path.write_bytes(path.read_bytes()[:-cut])
    VectorCache(tmp_path, embedder).encode(["abc", "abd", "new"])
    count = len(embedder.asked)
    VectorCache(tmp_path, embedder).encode(["abc", "abd", "new"])
    assert len(embedder.asked) == count == 4


def test_a_damaged_row_is_made_again(tmp_path, embedder):
    """Its checksum says so."""
    expected = VectorCache(tmp_path, embedder).encode(["abc"])
    path = tmp_path / VECTORS
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    assert np.array_equal(VectorCache(tmp_path, embedder).encode(["abc"]), expected)
    assert embedder.asked == ["abc", "abc"]


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path, embedder):
    """A folder lies in its place."""
    (tmp_path / VECTORS).mkdir()
    assert VectorCache(tmp_path, embedder).encode(["abc"]).shape == (1, 8)


def test_several_writers_share_it(tmp_path, embedder):
    """What each embedded is there for all."""
    texts = [[f"text {writer} {number}" for number in range(50)] for writer in range(6)]
    threads = [threading.Thread(target=VectorCache(tmp_path, embedder).encode, args=(some,)) for some in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    embedder.asked.clear()
    VectorCache(tmp_path, embedder).encode([text for some in texts for text in some])
    assert embedder.asked == []


@pytest.mark.parametrize("rows", [np.zeros((1, 3)), np.full((1, 8), np.nan), np.zeros((2, 8))])
def test_rows_of_no_use_are_refused(tmp_path, embedder, rows):
    """And not kept."""
    embedder.encode = lambda _: rows
    with pytest.raises(StoreError):
        VectorCache(tmp_path, embedder).encode(["abc"])
    assert not (tmp_path / VECTORS).exists()


@pytest.mark.usefixtures("plain")
def test_an_embedder_that_fails_leaves_the_old_kernels(home, clock, embedder, rule, files):
    """The run fails with a sentence; the next one goes on."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock, embedder=embedder) as memory:
        rule(memory, "one", "first")
        memory.compile()
        before = files(memory)
        rule(memory, "two", "second")
        works, embedder.encode = embedder.encode, lambda _: 1 / 0
        with pytest.raises(StoreError, match="the embedder counting failed"):
            memory.digest(now=True)
        assert files(memory) == before
        embedder.encode = works
        assert memory.digest(now=True).embedded == 1
