"""A receipt: one spelling, nothing unknown, no room for content."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.audit.receipt import (
    FIELDS,
    MAX_SOURCES,
    BadReceipt,
    Boundary,
    Outcome,
    OutcomeReceipt,
    Receipt,
    Status,
    as_json,
    from_json,
    parse,
    serialise,
)
from alveus.journal.canonical import NotCanonical

LEAST = {
    "run_id": "run-1",
    "user_scope": "Анна Ж.",
    "assistant_scope": "river",
    "boundary": Boundary.STM_MTM,
    "version": 22,
    "status": Status.COMMITTED,
    "at_utc": "2026-11-30T09:00:00.000000Z",
}
WHOLE = LEAST | {
    "source_version": "example/1.0+a1b2c3d4",
    "source_ids": ("a" * 32, "b" * 64),
    "destination_id": "c" * 32,
    "source_durable": True,
    "source_present": False,
    "destination_present": True,
    "declared_wait_until": "2026-11-30T10:00:00.000000Z",
    "capacity": 7,
    "occupancy": 0,
    "depends_on_version": "v.22",
    "outcome_receipt": OutcomeReceipt(type=Outcome.FILE_HASH, value="d" * 64),
    "previous_version": 21,
    "adapter": "example",
}
SENTENCE = "Anna's password is hunter2"


def test_a_whole_receipt_comes_back():
    """Every field survives being written and read, in camelCase, and absent ones are absent."""
    assert set(WHOLE) == set(FIELDS)
    for fields in (LEAST, WHOLE):
        receipt = Receipt(**fields)
        assert parse(serialise(receipt)) == receipt
    assert set(as_json(Receipt(**LEAST))) == {FIELDS[name][0] for name in LEAST}
    assert set(as_json(Receipt(**WHOLE))) == {key for key, _, _ in FIELDS.values()}


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in ("user_scope", "assistant_scope")])
def test_no_field_has_room_for_a_sentence(name):
    """Only the names of scopes may hold a blank; the refusal does not repeat what it refuses."""
    with pytest.raises(BadReceipt) as caught:
        Receipt(**WHOLE | {name: SENTENCE})
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("run_id", ""), ("run_id", "x" * 129), ("run_id", 1), ("run_id", "-x"), ("run_id", "x\n"),
        ("user_scope", ""), ("user_scope", "a\x00"), ("user_scope", "a\n"), ("user_scope", "\ud800"),
        ("user_scope", "x" * 1025), ("user_scope", None), ("assistant_scope", b"river"),
        ("boundary", "stm_mtm"), ("status", "committed"), ("version", -1), ("version", True), ("version", 2**53),
        ("version", 1.0), ("at_utc", "2026-11-30T09:00:00Z"), ("at_utc", "2026-02-30T09:00:00.000000Z"),
        ("source_ids", ["a" * 32]), ("source_ids", ("A" * 32,)), ("source_ids", ("a" * 32,) * (MAX_SOURCES + 1)),
        ("destination_id", "short"), ("source_durable", 1), ("capacity", -1), ("capacity", True), ("occupancy", "7"),
        ("outcome_receipt", {"type": "file_hash", "value": "d" * 64}), ("adapter", "a b"),
    ],
)  # fmt: skip
def test_an_ill_typed_field_is_refused(name, value):
    """What a field may be is one rule, and nothing near it passes."""
    with pytest.raises(BadReceipt, match=FIELDS[name][0]):
        Receipt(**WHOLE | {name: value})


@pytest.mark.parametrize(
    "change",
    [
        {"content": "x"}, {"metadata": {}}, {"run_id": "x"}, {"runId": None}, {"adapter": None}, {"sourceIds": []},
        {"sourceIds": "a" * 32}, {"boundary": "stm"}, {"status": 1}, {"outcomeReceipt": {}},
        {"outcomeReceipt": {"type": "file_hash", "value": "d" * 64, "note": "x"}},
        {"outcomeReceipt": {"type": "opinion", "value": "x"}}, {"outcomeReceipt": {"type": [], "value": "x"}},
    ],
)  # fmt: skip
def test_a_line_with_anything_else_is_refused(change):
    """Unknown fields, null for absent, and words that are not of the vocabulary."""
    with pytest.raises(BadReceipt):
        from_json(as_json(Receipt(**WHOLE)) | change)


@pytest.mark.parametrize("value", [None, [], "x", 1, {}])
def test_what_is_no_receipt_is_refused(value):
    """A receipt is an object with all the required fields."""
    with pytest.raises(BadReceipt):
        from_json(value)


def test_another_spelling_is_refused():
    """A blank, another order or an escape makes other bytes of it."""
    data = serialise(Receipt(**WHOLE))
    for other in (
        data.replace(b":", b": ", 1),
        data + b"\n",
        b"\xef\xbb\xbf" + data,
        data.replace(b"river", b"r\\u0069ver"),
    ):
        with pytest.raises(NotCanonical):
            parse(other)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Outcome.FILE_HASH, "d" * 64, "not a hash"),
        (Outcome.ROW_ID, "orders:41", "row forty-one of the orders"),
        (Outcome.TEST_RESULT, "passed", "passed, I think"),
        (Outcome.DESTINATION_LOOKUP, "found", "there"),
    ],
)
def test_an_outcome_is_a_hash_an_identifier_or_a_verdict(kind, good, bad):
    """A check of an outcome says nothing in its own words."""
    assert OutcomeReceipt(type=kind, value=good).passed
    for value in (bad, "", None, 1):
        with pytest.raises(BadReceipt):
            OutcomeReceipt(type=kind, value=value)


def test_a_check_that_found_nothing_did_not_pass():
    """`failed` and `missing` are outcomes too."""
    assert not OutcomeReceipt(type=Outcome.TEST_RESULT, value="failed").passed
    assert not OutcomeReceipt(type=Outcome.DESTINATION_LOOKUP, value="missing").passed


@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_any_name_comes_back_or_is_refused(user, assistant):
    """Names in any script; no two of them become one."""
    try:
        receipt = Receipt(**LEAST | {"user_scope": user, "assistant_scope": assistant})
    except BadReceipt:
        return
    assert parse(serialise(receipt)).scope == (user, assistant)
