"""Canonical JSON: one value, one spelling, whichever encoder is at hand."""

import importlib.util
import json
import struct
import sys
from collections import OrderedDict
from enum import StrEnum
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alveus.journal import canonical
from alveus.journal.canonical import NotCanonical
from shapes import TEXTS, VALUES, forty

MAX = 2**53 - 1


@pytest.fixture(scope="module")
def plain():
    """The module as it is on a machine without orjson."""
    spec = importlib.util.spec_from_file_location("canonical_without_orjson", canonical.__file__)
    module = importlib.util.module_from_spec(spec)
    saved = sys.modules.get("orjson")
    sys.modules["orjson"] = None
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["orjson"]
        if saved is not None:
            sys.modules["orjson"] = saved
    assert module.NATIVE == "json"
    return module


def outcome(call, *arguments):
    """What a call gives, or the code it refuses with."""
    try:
        return call(*arguments)
    except Exception as error:  # noqa: BLE001 - another module's class of the same error
        assert type(error).__name__ == "NotCanonical", error
        return "refused"


@settings(max_examples=1000)
@given(VALUES)
def test_the_native_encoder_spells_as_the_reference_does(plain, value):
    """Fast path, reference and standard library give the same bytes, and these read back as the value."""
    data = canonical.encode(value)
    assert data == canonical._reference(value).encode()
    assert data == plain.encode(value)
    again = canonical.parse(data)
    assert canonical.encode(again) == data
    assert plain.parse(data) == again == json.loads(data)
    assert canonical.decode(data) == plain.decode(data) == again


def read_quickly(module, data):
    """What the quick way of reading is sure of: None where the reference has to be asked."""
    value = module.parse_quickly(data)
    return value if module.is_plain(value, 1) else None


ODD = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(),
        st.text(st.characters(categories=["Cs"]), max_size=2),
        st.binary(max_size=2),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner, max_size=3),
    ),
    max_leaves=6,
)


@settings(max_examples=1000)
@given(ODD)
def test_both_encoders_refuse_the_same(plain, value):
    """What lies outside the domain is refused with and without the native encoder, by an error of ours."""
    assert outcome(canonical.encode, value) == outcome(plain.encode, value)


@settings(max_examples=1000)
@given(st.sampled_from(forty()), st.data())
def test_both_parsers_accept_the_same(plain, line, data):
    """A line with a few bytes changed is read, or not, alike with and without the native parser."""
    changed = bytearray(line)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    assert outcome(canonical.parse, bytes(changed)) == outcome(plain.parse, bytes(changed))
    assert read_quickly(canonical, bytes(changed)) == read_quickly(plain, bytes(changed))


@settings(max_examples=500)
@given(st.binary(max_size=40))
def test_parsing_any_bytes_gives_a_value_or_our_error(data):
    """No bytes bring the parser down; what it accepts has exactly these bytes as its spelling."""
    found = outcome(canonical.parse, data)
    assert found == "refused" or canonical.encode(found) == data


@pytest.mark.parametrize(
    ("bits", "text"),
    [  # RFC 8785, appendix B
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_floats_are_spelled_as_ecmascript_spells_them(bits, text):
    """The samples of RFC 8785."""
    value = struct.unpack(">d", bytes.fromhex(bits))[0]
    assert canonical.encode(value) == text.encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_reads_back_as_itself_or_is_refused(value):
    """A float is written only where its spelling says that float again, or the integer it equals."""
    found = outcome(canonical.encode, value)
    if found == "refused":
        assert value == int(value)
        assert abs(value) > MAX
    else:
        assert canonical.parse(found) == value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        1e20,
        -1e20,
        2.0**53,
        2**53,
        -(2**53),
        10**400,
        "\ud800",
        "a\udfffb",
        {"\ud800": 1},
        {1: 2},
        {None: 1},
        {b"a": 1},
        b"bytes",
        {1, 2},
        object(),
        1j,
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "wrap", [lambda one: one, lambda one: [one], lambda one: {"a": {"b": (one,)}}], ids=["", "list", "map"]
)
def test_what_has_no_canonical_form_is_refused_with_a_sentence(value, wrap):
    """Outside the domain there is an error that says what it was, and what to do."""
    with pytest.raises(NotCanonical) as caught:
        canonical.encode(wrap(value))
    assert caught.value.code == "not_canonical"
    assert caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("value", [MAX, -MAX, 0, -0.0, 1e15, 0.1, "", "\x7f", {}, [], {"__proto__": {}}, True])
def test_the_edges_of_the_domain_are_inside(value):
    """The largest integers, both zeros, empty things and any key are written and read back."""
    assert canonical.parse(canonical.encode(value)) == value


def test_keys_are_ordered_by_utf_16_units():
    """A key beyond the basic plane sorts before U+E000 and after, as UTF-16 has it and code points have not."""
    data = canonical.encode({"\ue000": 1, "\U0001f600": 2, "a": 3, "я": 4})
    assert data == '{"a":3,"я":4,"\U0001f600":2,"\ue000":1}'.encode()


def test_depth_is_counted_from_the_record():
    """32 levels are held, 33 refused, and thousands do not bring the encoder down."""

    def nested(levels):
        value = 1
        for _ in range(levels):
            value = [value]
        return value

    assert canonical.parse(canonical.encode(nested(32))) == nested(32)
    for levels in (33, 5000, 100_000):
        with pytest.raises(NotCanonical, match="32 levels"):
            canonical.encode(nested(levels))
        with pytest.raises(NotCanonical):
            canonical.parse(b"[" * levels + b"1" + b"]" * levels)


class Colour(StrEnum):
    """A string that is more than a string."""

    RED = "red"


def test_relatives_of_plain_types_are_spelled_as_their_values():
    """Enumerations, read-only and ordered mappings and tuples are what they say."""
    value = MappingProxyType({"b": Colour.RED, "a": OrderedDict(z=1, y=(1, 2))})
    assert canonical.encode(value) == b'{"a":{"y":[1,2],"z":1},"b":"red"}'
    assert canonical.encode({"a": True, "b": Colour.RED}) == b'{"a":true,"b":"red"}'


@given(TEXTS)
def test_strings_have_one_spelling(text):
    """Quotes, backslashes and controls are escaped the one way, and nothing else is."""
    data = canonical.encode(text)
    assert json.loads(data) == text
    assert all(byte >= 0x20 for byte in data)
    assert data.count(b"\\u") == sum(ord(one) < 0x20 and one not in "\b\t\n\f\r" for one in text) + text.count("\\u")
