"""The score is a place within an archive, its threshold the seed's."""

import numpy as np

from alveus.kernels import score
from alveus.kernels.score import REFERENCES, THRESHOLD, WORDS, calibrated, centred, company, unit, words_of


def test_the_threshold_is_a_place_and_not_a_product():
    """Of a large archive 10 in 100 fragments reach it, whatever its products are."""
    raw = np.random.default_rng(3).random(20_000)
    for scaled in (raw, raw / 10, raw**3):
        share = (calibrated(scaled, WORDS) >= THRESHOLD).mean()
        assert abs(share - 0.10) < 0.01


def test_a_small_archive_is_measured_by_the_reference():
    """Of two fragments one is not among the best for being the better."""
    low, high = calibrated(np.array([0.01, 0.9]), WORDS)
    assert low < 0.2
    assert high >= THRESHOLD
    assert (calibrated(np.array([0.01, 0.02]), WORDS) < THRESHOLD).all()


def test_an_unknown_embedder_has_the_default_scale():
    """And its revision does not matter."""
    raw = np.linspace(0, 0.5, 50)
    assert calibrated(raw, "some-model@1").tolist() == calibrated(raw, "use-multilingual-3@2").tolist()
    assert all(list(curve) == sorted(curve) for curve in REFERENCES.values())


def test_company_is_in_other_sessions():
    """A hundred echoes in one's own session support nothing."""
    rows = unit(np.ones((4, 3), dtype=np.float32))
    tone = np.ones(4)
    alone, _ = company(rows @ rows.T, tone, np.zeros(4, dtype=np.int64))
    assert not alone.any()
    two, nearest = company(rows @ rows.T, tone, np.array([0, 0, 0, 1]))
    assert np.allclose(two, 0.5)
    assert np.allclose(nearest, 1.0)
    three, _ = company(rows @ rows.T, tone, np.array([0, 0, 1, 2]))
    assert np.allclose(three, 1.0)


def test_opposed_intents_support_nothing():
    """Cosines are clamped: double opposition never scores."""
    rows = unit(np.array([[1, 0], [-1, 0], [-1, 0]], dtype=np.float32))
    found, _ = company(rows @ rows.T, np.ones(3), np.array([0, 1, 2]))
    assert np.allclose(found, [0.0, 0.5, 0.5])


def test_what_all_texts_have_in_common_is_taken_out():
    """An embedder whose unrelated texts have a cosine of 0.9 is on the scale of one where they have 0."""
    rng = np.random.default_rng(5)
    plain = unit(rng.standard_normal((200, 64)).astype(np.float32))
    shifted = unit(plain + 3.0 * unit(np.ones((1, 64), dtype=np.float32)))
    assert np.median(shifted @ shifted.T) > 0.8
    back = centred(shifted, shifted.mean(axis=0))
    assert abs(np.median(back @ back.T)) < 0.05


def test_cosines_are_the_product_of_all_rows(monkeypatch):
    """In tiles as in one; symmetric to the bit, whatever is left for the last tile."""
    rows = unit(np.random.default_rng(3).normal(size=(50, 24)).astype(np.float32))
    for tile in (7, 25, 50, 1_000):
        monkeypatch.setattr(score, "_TILE", tile)
        found = score.cosines_of(rows)
        assert np.allclose(found, rows @ rows.T, atol=1e-6)
        assert np.array_equal(found, found.T)


def test_terms_are_stems_and_function_words_are_none():
    """The forms of a word are one term; the idf is of the first texts."""
    rows = words_of(["boxes", "box", "the", "ящики", "ящиком"], 5)
    assert rows[0] @ rows[1] > 0.99
    assert not rows[2].any()
    assert rows[3] @ rows[4] > 0.99
