"""Contradiction is told by rules, each verdict names its signal, and what only looks like one is none."""

import pytest

from alveus.kernels.contradiction import Signal, contradiction, denies


@pytest.mark.parametrize(
    ("one", "other", "signal"),
    [
        ("The shop delivers on Sundays.", "The shop does not deliver on Sundays.", Signal.NEGATION),
        ("Магазин работает по воскресеньям.", "Магазин не работает по воскресеньям.", Signal.NEGATION),
        ("The kitchen door stays open at night.", "The kitchen door stays closed at night.", Signal.ANTONYM),
        ("Свет в теплице ночью включен.", "Свет в теплице ночью выключен.", Signal.ANTONYM),
        ("The seeds are kept for 30 days.", "The seeds are kept for 60 days.", Signal.NUMBER),
        ("Семена храним тридцать дней.", "Семена храним шестьдесят дней.", Signal.NUMBER),
        ("The market is on Monday mornings.", "The market is on Friday mornings.", Signal.DATE),
        ("Рынок открывается во вторник утром.", "Рынок открывается в субботу утром.", Signal.DATE),
        ("At night call Anna first.", "At night call Boris first.", Signal.ENTITY),
        ("Ночью первой звоните Анне.", "Ночью первому звоните Борису.", Signal.ENTITY),
        ("Volunteers may use the big kiln.", "It is forbidden that volunteers use the big kiln.", Signal.MODALITY),
        ("Only Anna opens the safe.", "Both Anna and Boris open the safe.", Signal.QUANTITY),
        ("The market moved from Monday to Friday.", "The market moved from Friday to Monday.", Signal.ORDER),
    ],
)
def test_a_signal_tells(one, other, signal):
    """Each kind of signal alone, in either order."""
    for verdict in (contradiction(one, other), contradiction(other, one)):
        assert verdict.score > 0.3
        assert verdict.signal is signal


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The seeds are kept for 30 days.", "Anna drives 60 kilometres to the market."),
        ("The seeds are kept for 30 days.", "The seeds are kept for a month, in the cellar."),
        ("Orders above 500 need a signature.", "An order of 700 needs a signature."),
        ("Никто никогда не трогает печь.", "Печь не трогаем."),
        ("The alarm is off.", "The alarm is not on."),
        ("We sell on Tuesdays and on no other day.", "We sell on Tuesdays."),
        ("Seeds are kept dry.", "Семена не храним сухими."),
    ],
)
def test_what_only_looks_like_one_is_none(one, other):
    """Other things, a bound that is kept, a double negation, a denied opposite, two languages."""
    assert contradiction(one, other).score < 0.3


def test_russian_double_negation_counts_once():
    """Никто не is one denial; in English two cancel out."""
    assert denies("Никто не открывал окно.")
    assert denies("Nobody opened the window.")
    assert not denies("Nobody did not open the window.")


def test_similarity_is_a_gate():
    """The same words about things that an embedder finds far apart weigh less."""
    pair = ("The door is open.", "The door is not open.")
    assert contradiction(*pair, 0.9).score > contradiction(*pair, 0.0).score
