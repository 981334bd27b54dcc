"""DBSCAN gives the partition that scikit-learn gives, whatever the tile, and loses no weight."""

import numpy as np
import pytest

from alveus.kernels import cluster
from alveus.kernels.cluster import NOISE, dbscan


def cloud(seed):
    """Unit rows around a few centres, some of them equal."""
    rng = np.random.default_rng(seed)
    count, dims = int(rng.integers(1, 200)), int(rng.integers(2, 12))
    rows = rng.standard_normal((count, dims)).astype(np.float32)
    if seed % 3 == 0:
        rows = rows[rng.integers(0, count, count)]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), float(rng.uniform(0.01, 0.5)), int(rng.integers(1, 7))


@pytest.mark.parametrize("seed", range(60))
def test_the_partition_is_that_of_scikit_learn(seed):
    """The very labels: clusters, their numbers, borders and noise."""
    sklearn = pytest.importorskip("sklearn.cluster", reason="scikit-learn, the oracle, is not installed")
    rows, eps, least = cloud(seed)
    distances = np.maximum(0.0, 1.0 - (rows @ rows.T).astype(np.float64))
    expected = sklearn.DBSCAN(eps=eps, min_samples=least, metric="precomputed").fit_predict(distances)
    assert dbscan(rows, eps, least, tile=17).tolist() == expected.tolist()


@pytest.mark.parametrize("seed", range(6))
def test_neither_tile_nor_memory_changes_anything(seed, monkeypatch):
    """Pairs that are not kept are made again."""
    rows, eps, least = cloud(seed)
    whole = dbscan(rows, eps, least)
    monkeypatch.setattr(cluster, "KEPT", 3)
    assert dbscan(rows, eps, least, tile=5).tolist() == whole.tolist()


def test_a_row_weighs_as_much_as_its_copies():
    """Two rows of weight two are as four."""
    rows = np.eye(3, dtype=np.float32)[[0, 1]]
    assert dbscan(rows, 0.1, 2).tolist() == [NOISE, NOISE]
    assert dbscan(rows, 0.1, 2, weights=np.array([2, 1])).tolist() == [0, NOISE]
    assert dbscan(rows[[0, 0, 1]], 0.1, 2).tolist() == [0, 0, NOISE]


def test_nothing_gives_nothing():
    """No row, no label."""
    assert dbscan(np.empty((0, 4), dtype=np.float32), 0.1, 2).tolist() == []
