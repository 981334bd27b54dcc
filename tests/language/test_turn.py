"""What a record is to recall, where the short ways of making it have to give what the long ones do."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from alveus.journal.seal import format_time
from alveus.language.terms import LANGUAGES, detect, index_terms, terms_of
from alveus.language.turn import turn_of

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
TEXTS = st.text(max_size=80) | st.text("aB 10,.'é数Ж\t", max_size=40)
WORDS = st.lists(st.sampled_from(["10", "000", "1", "234", "der", "und", "la", "не", "getName", "HTTPs", "x?"]))


def turn(content, **fields):
    """Of a record that says so."""
    record = {"content": content, "metadata": {}, "kind": "state", "novelty": "novel", "timestamp": "2026-01-01"}
    return turn_of({**record, **fields})


@given(st.integers(0, 2 * 10**11).map(lambda n: timedelta(microseconds=n * 31_337)))
def test_the_journals_form_of_a_time_is_read_as_any_other(since):
    """To the microsecond, before and after 1970 + 2^31 seconds."""
    moment = BEGINNING + since
    spelled, usual = (
        turn("a", timestamp=stamp) for stamp in (moment.isoformat("T", "microseconds"), format_time(moment))
    )
    assert (usual.at, usual.day) == (spelled.at, spelled.day) == (moment.timestamp(), since.days)


@given(TEXTS | WORDS.map(" ".join))
def test_the_terms_stand_behind_a_space_each(text):
    """They are the text's, counted, in the language that is told of it."""
    made = turn(text)
    assert made.terms == "".join(f" {term}" for term in index_terms(text))
    assert made.length == len(index_terms(text))
    assert made.language == detect(text)


@given(TEXTS | WORDS.map(" ".join))
def test_a_language_is_told_alike_of_a_text_and_of_its_words(text):
    """Whoever has the words in lower case gives them along."""
    assert detect(text, text.lower().split()) == detect(text)


def test_numbers_written_with_spaces_stand_together_too():
    """Once each, behind what the rest of the text is found by."""
    assert index_terms("10 000 and 1 234 567 of 5") == [
        *("10", "000", "and", "1", "234", "567", "of", "5"),
        *("10000", "1234567"),
    ]
    assert terms_of("7", ["7"], "en") == " 7"
    assert all(terms_of("7 000", ["7", "000"], code) == " 7 000 7000" for code in LANGUAGES)
