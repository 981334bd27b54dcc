"""Kernels in a context pack: their shares, their order, and a beginning that no question moves. alveus/context."""

import pytest

from alveus.context import Known, Line, Stated, assemble
from alveus.estimate import estimate_tokens
from alveus.recall import Recalled

EMPTY = Recalled(())


def lines(name, count, words=12):
    """So many lines of that many words."""
    return tuple(
        Line(f"{name}{n}", f"- {name} {n} " + "word " * words, (f"{name}{n:032}"[-32:],)) for n in range(count)
    )


def facts(*ids):
    """Facts about the user."""
    return [Known(one, "user", f"fact {one}", 0.0, (one * 32,)) for one in ids]


def pack(budget, **more):
    """A pack of kernels, and whatever else."""
    given = {"recalled": EMPTY, "loaded": EMPTY, "exchange": EMPTY, **more}
    return assemble(budget, **given)


STATED = Stated(anti=lines("anti", 30), identity=lines("who", 30), decision=lines("when", 30), since=lines("new", 30))


@pytest.mark.parametrize("budget", [1, 10, 60, 200, 1_000, 5_000, 50_000])
@pytest.mark.parametrize(
    "count",
    [estimate_tokens, lambda text: len(text) // 3 + 1, lambda text: len(text.split())],
    ids=["estimated", "characters", "words"],
)
def test_a_pack_keeps_its_budget_whatever_the_kernels_hold(budget, count):
    """However the tokens are counted; what did not fit is named."""
    made = pack(budget, stated=STATED, known=facts("a", "b"), estimate=count)
    assert made.tokens <= budget
    assert made.stable <= len(made.text)
    said = [line.id for kernel in STATED for line in kernel if f"{line.text}\n" in made.text]
    assert len(said) + len(set(made.skipped) - {"a", "b"}) == 120


def test_each_kernel_has_its_share_and_what_one_leaves_is_the_next_one_s():
    """Three tenths for kernels and news together, whatever they hold."""
    made = pack(2_000, stated=STATED)
    assert 0.2 * 2_000 < made.tokens <= 0.3 * 2_000
    anti = pack(2_000, stated=Stated(anti=STATED.anti))
    decision = pack(2_000, stated=Stated(decision=STATED.decision))
    assert anti.tokens <= 0.09 * 2_000 < decision.tokens <= 0.25 * 2_000


def test_the_order_is_that_of_how_seldom_it_changes():
    """What must not be done, who, when; the profiles; what is new; what became known since."""
    made = pack(20_000, stated=STATED, known=facts("a", "b"), known_before={"a"})
    places = [made.text.index(one) for one in ("- anti 0", "- who 0", "- when 0", "fact a", "- new 0", "fact b")]
    assert places == sorted(places)
    assert made.text[: made.stable].endswith("]")
    assert "fact a" in made.text[: made.stable]
    assert "- new 0" not in made.text[: made.stable]


def test_what_comes_behind_moves_no_byte_of_the_beginning():
    """Neither news nor newer facts."""
    first = pack(4_000, stated=STATED._replace(since=()), known=facts("a"), known_before={"a"})
    second = pack(4_000, stated=STATED, known=facts("a", "b", "c"), known_before={"a"})
    assert first.text[: first.stable] == second.text[: second.stable]
    assert first.stable == second.stable > 0


def test_without_kernels_nothing_is_promised():
    """The profiles stand first as ever, and no beginning is said to last."""
    made = pack(4_000, known=facts("a", "b"))
    assert made.stable == 0
    assert made == pack(4_000, known=facts("a", "b"), stated=Stated())


def test_sources_are_those_of_the_lines():
    """In the order of the text, each once."""
    both = Line("x", "- x", ("a" * 32, "b" * 32)), Line("y", "- y", ("b" * 32, "c" * 32))
    assert pack(4_000, stated=Stated(anti=both)).sources == ("a" * 32, "b" * 32, "c" * 32)
