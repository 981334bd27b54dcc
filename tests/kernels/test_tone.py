"""The tone of a fragment is told by the grammar of its language."""

import numpy as np
import pytest

from alveus.kernels.score import likeness
from alveus.kernels.tone import AT, REGISTERS, tone


@pytest.mark.parametrize(
    ("text", "code", "register"),
    [
        ("Water the ferns before noon.", "en", "order"),
        ("Please count the boxes.", "en", "order"),
        ("Don't lend the keys.", "en", "ban"),
        ("Smoking is forbidden here.", "en", "forbid"),
        ("The report must be signed.", "en", "must"),
        ("From now on we meet at nine.", "en", "revise"),
        ("Starting tonight the gate is shut at nine.", "en", "revise"),
        ("Stop watering at noon.", "en", "revise"),
        ("We use the other gate now.", "en", "lately"),
        ("We use the other gate instead.", "en", "lately"),
        ("I swim every morning.", "en", "me"),
        ("Каждое утро бегаю.", "ru", "me"),
        ("Давай лучше в десять.", "ru", "revise"),
        ("Imagine we sold the van.", "en", "hypothetical"),
        ("Just kidding!", "en", "joke"),
        ("He reckons it is fine.", "en", "report_speech"),
        ("Is it open?", "en", "ask"),
        ("Посчитайте коробки.", "ru", "order"),
        ("Ключи никому не отдаем.", "ru", "ban"),
        ("Курить здесь запрещено.", "ru", "forbid"),
        ("Отчёт должен быть подписан.", "ru", "must"),
        ("Теперь встречаемся в девять.", "ru", "revise"),
        ("Представь, что мы продали фургон.", "ru", "hypothetical"),
        ("Шучу, конечно.", "ru", "joke"),
        ("Он говорит, что можно.", "ru", "report_speech"),
        ("Открыто ли?", "ru", "ask"),
    ],
)
def test_a_register_is_told(text, code, register):
    """In both languages."""
    assert tone(text, code)[AT[register]] > 0


def test_now_that_only_leads_over_changes_nothing():
    """At the beginning of a clause, or after a word that makes it something else."""
    for text in ("Now the gate, please, if you can.", "I am at the gate right now.", "It was open until now."):
        assert not tone(text, "en")[AT["lately"]]
    assert not tone("We stop watering at noon, you know.", "ru")[AT["revise"]]


def test_what_i_said_myself_is_no_report_of_others():
    """The first person before a verb of saying."""
    assert not tone("I suggested the blue one.", "en")[AT["report_speech"]]
    assert not tone("Я сказал: коротко.", "ru")[AT["report_speech"]]
    assert tone("I agree, but Anna insists on it.", "en")[AT["report_speech"]]


def test_of_another_language_nothing_is_told():
    """Hungarian has no list: its fragments have no tone, and no rule is made of a guess."""
    assert not any(tone("Mindig zárd be az ajtót!", "hu"))


def test_a_rule_is_more_like_one_than_chatter_is():
    """In both languages, and the user's more than the agent's."""
    rules = ["Never lend the keys without a receipt.", "Как обычно, перед выездом всегда считаем коробки."]
    chatter = ["The van came back at nine with 40 ferns.", "Фургон вернулся в девять, привёз папоротники."]
    codes = ["en", "ru"]
    told = [np.array([tone(text, code) for text, code in zip(some, codes, strict=True)]) for some in (rules, chatter)]
    user, agent = np.ones(2, dtype=bool), np.zeros(2, dtype=bool)
    assert (likeness(told[0], user) > likeness(told[1], user) + 0.2).all()
    assert (likeness(told[0], user) > likeness(told[0], agent)).all()
    assert len(REGISTERS) == told[0].shape[1]
