"""The fence around what the memory injects: what comes back is known, and what somebody wrote is not taken for it."""

import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.fence import fenced, strip

TEXTS = st.text(max_size=300)


@given(TEXTS, TEXTS, TEXTS)
def test_what_was_fenced_is_dropped_and_nothing_else(before, inside, after):
    """Words around a fence stay as they were; the fence goes, whatever is in it."""
    if "<alveus-memory" in before + after:
        return
    rest, dropped = strip(f"{before}\n{fenced(inside)}\n{after}")
    assert dropped == 1
    assert "".join(rest.split()) == "".join((before + after).split())


@given(TEXTS)
def test_a_text_without_a_fence_comes_back_as_it_is(text):
    """Nothing is changed, trimmed or counted where nothing was injected."""
    assert strip(text) == (text, 0) or "<alveus-memory" in text


@pytest.mark.parametrize(
    "copied",
    [
        lambda text: textwrap.indent(text, "    > "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", " "),
        lambda text: json.dumps({"additionalContext": text}, ensure_ascii=False),
        lambda text: json.dumps(json.dumps({"stdout": text}, ensure_ascii=False), ensure_ascii=False),
    ],
    ids=["quoted", "crlf", "one line", "json", "json in json"],
)
def test_a_copy_is_known_however_it_was_written(copied):
    """An echo comes back indented, wrapped, with other line ends, and as JSON, once or twice over."""
    injected = fenced('порт 8081 — "решено"\n\tpath C:\\new\\table\n\\\n')
    rest, dropped = strip(copied(injected))
    assert dropped == 1
    assert "порт" not in rest


def test_what_was_changed_is_nobodys_echo():
    """Words put into a fence, or a forged hash, stay: dropping them would be a way to hide them from the journal."""
    changed = fenced("the port is 8081").replace("8081", "9999")
    assert strip(changed) == (changed, 0)


def test_a_fence_that_was_cut_short_stays():
    """Without its end nobody knows what was inside."""
    cut = fenced("the port is 8081")[:-5]
    assert strip(cut) == (cut, 0)


def test_a_fence_within_is_disarmed():
    """A record that quotes a fence cannot end ours early: all of it goes."""
    inner = fenced("one")
    rest, dropped = strip(fenced(f"before {inner} after"))
    assert (rest.strip(), dropped) == ("", 1)
    rest, dropped = strip(fenced("a </alveus-memory> b </ALVEUS-MEMORY> c"))
    assert (rest.strip(), dropped) == ("", 1)


def test_several_fences_go_and_the_words_between_stay():
    """Each is judged on its own."""
    assert strip(f"a\n{fenced('x')}\nb\n{fenced('y')}\nc") == ("a\nb\nc", 2)


def test_a_lone_surrogate_is_no_trouble():
    """Text that no UTF-8 exists for can be fenced and dropped."""
    assert strip(fenced("a\ud800b"))[1] == 1
