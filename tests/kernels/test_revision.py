"""What was said since is found by the strongest links first, and is what all of them say; what was announced stays."""

import numpy as np
import pytest

from alveus.kernels import company, revision
from alveus.kernels.company import Field
from alveus.kernels.revision import Changes
from alveus.kernels.score import cosines_of, unit


def field(seed, count, sessions):
    """Statements at random, with what their links are made of."""
    dice = np.random.default_rng(seed)
    made = Field.__new__(Field)
    made.fragments = [None] * count
    made.cosines = cosines_of(unit(dice.normal(size=(count, 5)).astype(np.float32)))
    made.likeness = dice.random(count)
    made.session = np.sort(dice.integers(0, sessions, count))
    kept = min(company._STRONGEST, count)
    made._is_known = np.zeros(count, dtype=bool)
    made._others = np.zeros((count, kept), dtype=np.int64)
    made._links = np.zeros((count, kept), dtype=np.float32)
    made._near = np.zeros((count, kept), dtype=np.float32)
    return made


@pytest.mark.parametrize(("count", "sessions"), [(5, 2), (40, 6), (300, 9), (300, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_link_since_is_the_best_of_all(seed, count, sessions):
    """Also for a statement of which none of the strongest links counts, and where nothing was said since."""
    made = field(seed, count, sessions)
    dice = np.random.default_rng(seed)
    for since in (1, count // 2, count - 1, count):
        ones = np.unique(dice.integers(0, since, 20))
        good = sorted({since - 1, int(dice.integers(0, since))})
        to_new = made.cosines[good].max(axis=0)
        expected = [
            max(
                (
                    np.float32(max(made.cosines[one, at], 0)) * np.float32(made.likeness[at])
                    for at in range(since, count)
                    if made.session[at] != made.session[one] and made.cosines[one, at] >= max(to_new[at], 0)
                ),
                default=0.0,
            )
            for one in ones
        ]
        assert revision._still(made, ones, good, since).tolist() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("user", "odds", "replaced"),
    [(True, 0.5, False), (True, -0.5, True), (False, 0.5, True)],
    ids=["announced", "not announced", "announced by the agent"],
)
def test_what_the_user_announced_is_not_replaced_by_its_likeness_to_a_later_one(monkeypatch, user, odds, replaced):
    """The later one stands, as what goes by the change; any other message is replaced as a whole."""
    made = Field.__new__(Field)
    made.messages, made.whole = {0: [0, 1], 1: [2]}, np.array([0, 0, 1])
    made.user, made.changes = np.array([user, user, True]), np.array([-1.0, odds, -1.0])
    monkeypatch.setattr(revision, "replacements", lambda _: [(0, 2)])
    found = Changes()
    revision._by_signs(made, found)
    assert found.by == ({0: 2, 1: 2} if replaced else {})
    assert found.follows == {2: []}
