"""A line is sealed the short way or the long way: the bytes are the same, and the rules accept them."""

from hypothesis import given
from hypothesis import strategies as st

from alveus.journal import canonical
from alveus.journal.record import Kind, Novelty, Profile, Source
from alveus.journal.seal import Key, check, seal

NAMES = st.none() | st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=20)
KEY = Key(bytes(range(32)))
CHAIN, LINE = "c" * 32, "d" * 64
PLACE = (CHAIN, 1, LINE, KEY.kid, Novelty.NOVEL, "words/1", 0, Source.AGENT)


@given(NAMES, NAMES, st.none() | st.just("format:container:1"))
def test_names_are_spelled_as_the_canonical_form_spells_them(user, session, origin):
    """Quotes, backslashes, letters of any script; with a rarer field beside them, and without."""
    hc = Profile(*PLACE, user=user, session=session, origin=origin)
    record, line = seal(
        KEY,
        agent_id="a",
        kind=Kind.STATE,
        content="said",
        metadata={},
        hc=hc,
        prev_id="b" * 32,
        timestamp="2026-01-01T00:00:00.000000Z",
    )
    assert b',"metadata":' + canonical.encode({"hc": hc.as_json()}) + b"," in line
    assert check(line, KEY).record() == record
