"""canonical.json and refused_at_writing.json: section 2, and what a writer must not accept."""
# ruff: noqa: E501  (a vector is one row of a table, as far as it goes)

from __future__ import annotations

import json
import math
import struct
from typing import Any, Final

from alveus.journal import canonical
from alveus.journal.record import MAX_LINE
from making.records import MIXED_KEYS
from making.shared import (
    AGENT,
    SECRET,
    Story,
    Vector,
    fields_of,
    line_of,
    mac,
    recipe,
    signed,
    spelled,
    vector,
    written,
)

# Bytes that say a value, and the canonical bytes of that value; None where there are none inside the domain.
_SPELLINGS: Final[list[tuple[str, str, bytes, bytes | None]]] = [
    ("object", "An object as it has to be.", b'{"a":1,"b":[true,false,null]}', b'{"a":1,"b":[true,false,null]}'),
    ("empty-object", "An empty object.", b"{}", b"{}"),
    ("empty-key", "An empty key is a key.", b'{"":[]}', b'{"":[]}'),
    ("shuffled", "Keys are sorted.", b'{"b":1,"a":2,"B":3}', b'{"B":3,"a":2,"b":1}'),
    ("proto", "A key named __proto__ is a key.", b'{"__proto__":{"a":1},"x":2}', b'{"__proto__":{"a":1},"x":2}'),
    ("spaces", "White space is not canonical.", b'{ "a" : [ 1 , 2 ] }\n', b'{"a":[1,2]}'),
    ("tab", "A tab between tokens.", b'{"a":\t1}', b'{"a":1}'),
    ("carriage-return", "A carriage return at the end.", b"{}\r", b"{}"),
    ("slash-escaped", "A slash is not escaped.", b'"a\\/b"', b'"a/b"'),
    ("letter-escaped", "A letter is not escaped.", b'"\\u0061"', b'"a"'),
    ("short-escapes", "Seven short escapes.", b'"\\b\\t\\n\\f\\r\\"\\\\"', b'"\\b\\t\\n\\f\\r\\"\\\\"'),
    ("long-escapes", "What has a short escape has no other.", b'"\\u0008\\u0009\\u000a\\u000c\\u000d\\u0022\\u005c"',
     b'"\\b\\t\\n\\f\\r\\"\\\\"'),
    ("upper-case-escape", "Digits of an escape are lower-case.", b'"\\u001F"', b'"\\u001f"'),
    ("del", "U+007F stands as itself.", b'"\x7f"', b'"\x7f"'),
    ("del-escaped", "U+007F is not escaped.", b'"\\u007f"', b'"\x7f"'),
    ("separator-escaped", "U+2028 is not escaped.", b'"\\u2028"', b'"\xe2\x80\xa8"'),
    ("pair-escaped", "An escaped surrogate pair is one character.", b'"\\ud83d\\ude00"', '"😀"'.encode()),
    ("bom-in-string", "U+FEFF in a string stands as itself.", b'"\xef\xbb\xbfx"', b'"\xef\xbb\xbfx"'),
    ("last-code-point", "U+10FFFF.", b'"\xf4\x8f\xbf\xbf"', b'"\xf4\x8f\xbf\xbf"'),
    ("nfc-key", "Composed and decomposed keys are two keys.", '{"e\u0301":1,"\u00e9":2}'.encode(), '{"e\u0301":1,"\u00e9":2}'.encode()),
    ("largest-integer", "2^53−1.", b"9007199254740991", b"9007199254740991"),
    ("smallest-integer", "−(2^53−1).", b"-9007199254740991", b"-9007199254740991"),
    ("minus-zero", "−0 is spelled 0.", b"-0", b"0"),
    ("minus-zero-float", "−0.0 is spelled 0.", b"-0.0", b"0"),
    ("whole-float", "1.0 is spelled 1.", b"1.0", b"1"),
    ("exponent", "1e2 is spelled 100.", b"1e2", b"100"),
    ("upper-case-exponent", "1E-7 is spelled 1e-7.", b"1E-7", b"1e-7"),
    ("exponent-without-sign", "1e21 is spelled 1e+21.", b"1e21", b"1e+21"),
    ("largest-integer-as-float", "A float token of 2^53−1.", b"9007199254740991.0", b"9007199254740991"),
    ("float-digits", "More digits than needed.", b"333333333.33333329", b"333333333.3333333"),
    ("float-trailing-zero", "No trailing zeros.", b"0.10", b"0.1"),
    ("tiny-float", "What is too small for binary64 is 0.", b"1e-400", b"0"),
    ("depth-32", "32 levels.", b"[" * 32 + b"]" * 32, b"[" * 32 + b"]" * 32),
    ("depth-33", "33 levels.", b"[" * 33 + b"]" * 33, None),
    ("depth-33-objects", "33 levels of objects.", b'{"a":' * 33 + b"1" + b"}" * 33, None),
    ("depth-2000", "A parser must not fall over depth.", b"[" * 2000, None),
    ("duplicate", "A key that stands there twice.", b'{"a":1,"a":2}', None),
    ("duplicate-same", "A key that stands there twice with one value.", b'{"a":1,"a":1}', None),
    ("duplicate-escaped", "Keys are compared after unescaping.", b'{"a":1,"\\u0061":1}', None),
    ("duplicate-proto", "__proto__ twice.", b'{"__proto__":1,"__proto__":1}', None),
    ("surrogate-high", "A lone high surrogate, escaped.", b'"\\ud800"', None),
    ("surrogate-low", "A lone low surrogate, escaped.", b'"\\udfff"', None),
    ("surrogates-reversed", "A pair in the wrong order.", b'"\\ude00\\ud83d"', None),
    ("surrogate-in-key", "A lone surrogate in a key.", b'{"\\ud800":1}', None),
    ("surrogate-bytes", "A surrogate in UTF-8's form.", b'"\xed\xa0\x80"', None),
    ("surrogate-pair-bytes", "A pair in UTF-8's form (CESU-8).", b'"\xed\xa0\xbd\xed\xb8\x80"', None),
    ("overlong", "An overlong slash.", b'"\xc0\xaf"', None),
    ("overlong-nul", "An overlong NUL.", b'"\xc0\x80"', None),
    ("beyond-unicode", "U+110000.", b'"\xf4\x90\x80\x80"', None),
    ("cut-sequence", "A cut UTF-8 sequence.", b'"\xf0\x9f\x98"', None),
    ("lone-continuation", "A lone continuation byte.", b'"\x80"', None),
    ("latin-1", "Latin-1 is not UTF-8.", b'"caf\xe9"', None),
    ("utf-16", "UTF-16 is not UTF-8.", "{}".encode("utf-16"), None),
    ("bom", "A byte order mark.", b"\xef\xbb\xbf{}", None),
    ("raw-control", "A raw control character in a string.", b'"\x01"', None),
    ("raw-newline", "A raw line feed in a string.", b'"\n"', None),
    ("unknown-escape", "An escape that JSON does not have.", b'"\\x41"', None),
    ("short-escape-digits", "An escape with three digits.", b'"\\u041"', None),
    ("next-integer", "2^53.", b"9007199254740992", None),
    ("next-negative-integer", "−2^53.", b"-9007199254740992", None),
    ("2-to-64", "2^64 is not read as a float.", b"18446744073709551616", None),
    ("long-integer", "An integer of 400 digits.", b"1" + b"0" * 400, None),
    ("1e20", "1e20 is spelled as an integer beyond the range.", b"1e20", None),
    ("1e20-spelled", "The same, spelled out.", b"100000000000000000000", None),
    ("2-to-53-float", "A float token of 2^53.", b"9007199254740992.0", None),
    ("1e400", "Too large for binary64.", b"1e400", None),
    ("nan", "NaN.", b"NaN", None),
    ("infinity", "Infinity.", b"-Infinity", None),
    ("leading-zero", "A leading zero.", b"01", None),
    ("plus", "A plus.", b"+1", None),
    ("point-without-digits", "A point without digits.", b"1.", None),
    ("digits-without-zero", "A point without a digit before it.", b".5", None),
    ("hexadecimal", "A hexadecimal number.", b"0x10", None),
    ("underscore", "An underscore between digits.", b"1_000", None),
    ("other-digits", "Digits of another script.", "٣".encode(), None),
    ("upper-case-literal", "Literals are lower-case.", b"True", None),
    ("empty", "Nothing.", b"", None),
    ("only-space", "Nothing but a space.", b" ", None),
    ("two-values", "Two values.", b"1 2", None),
    ("trailing-comma", "A comma before the end.", b"[1,]", None),
    ("trailing-comma-object", "A comma before the end of an object.", b'{"a":1,}', None),
    ("unclosed", "An object without end.", b'{"a":1', None),
    ("unclosed-string", "A string without end.", b'"a', None),
    ("single-quotes", "Single quotes.", b"{'a':1}", None),
    ("comment", "A comment.", b"{}//", None),
    ("nul", "A NUL after the value.", b"{}\x00", None),
    ("no-break-space", "A space that is not JSON's.", b"\xc2\xa0{}", None),
    ("unquoted-key", "A key without quotes.", b"{a:1}", None),
    ("number-key", "A key that is a number.", b"{1:1}", None),
]  # fmt: skip

# binary64, big-endian: most are RFC 8785's own samples (appendix B).
_NUMBERS: Final = (
    "0000000000000000", "8000000000000000", "0000000000000001", "8000000000000001", "7fefffffffffffff",
    "ffefffffffffffff", "4340000000000000", "c340000000000000", "4430000000000000", "44b52d02c7e14af5",
    "44b52d02c7e14af6", "44b52d02c7e14af7", "444b1ae4d6e2ef4e", "444b1ae4d6e2ef4f", "444b1ae4d6e2ef50",
    "3eb0c6f7a0b5ed8c", "3eb0c6f7a0b5ed8d", "41b3de4355555553", "41b3de4355555554", "41b3de4355555555",
    "41b3de4355555556", "41b3de4355555557", "becbf647612f3696", "43143ff3c1cb0959", "7fffffffffffffff",
    "7ff8000000000000", "7ff0000000000000", "fff0000000000000", "433fffffffffffff", "c33fffffffffffff",
    "4415af1d78b58c40", "3fb999999999999a", "3ff0000000000000", "3fd5555555555555", "0010000000000000",
    "000fffffffffffff", "3e7ad7f29abcaf48", "40c3880000000000",
)  # fmt: skip


def canonical_json() -> list[Vector]:
    """JSON bytes and numbers, their canonical form, and whether the bytes are it."""
    rows = [*_SPELLINGS, _utf16_order(), _code_point_order()]
    return [*[_spelling(*row) for row in rows], *[_number(bits) for bits in _NUMBERS]]


def _spelling(name: str, shows: str, data: bytes, form: bytes | None) -> Vector:
    expect = {"canonical": None if form is None else written(form), "code": None if data == form else "not_canonical"}
    return vector(name, shows, "canonical", input=written(data), expect=expect)


def _utf16_order() -> tuple[str, str, bytes, bytes]:
    form = canonical.encode(MIXED_KEYS)
    return "utf16-order", "Keys in the order of their UTF-16 code units.", form, form


def _code_point_order() -> tuple[str, str, bytes, bytes]:
    pairs = [f"{json.dumps(key, ensure_ascii=False)}:{MIXED_KEYS[key]}" for key in sorted(MIXED_KEYS)]
    data = ("{" + ",".join(pairs) + "}").encode()
    return "code-point-order", "The same keys in the order of their code points.", data, canonical.encode(MIXED_KEYS)


def _number(bits: str) -> Vector:
    value: float = struct.unpack(">d", bytes.fromhex(bits))[0]
    try:
        text = canonical.encode(value).decode()
    except canonical.NotCanonical:
        text = None
    what = "is NaN or infinite" if not math.isfinite(value) else f"is about {value:.3g}"
    shows = f"binary64 {bits} {what}: " + ("a writer refuses it." if text is None else f"spelled {text}.")
    return vector(f"binary64-{bits}", shows, "number", binary64=bits, expect={"text": text})


# What a writer must refuse, and what a verifier says of the line that a careless writer would have written


def refused_at_writing() -> list[Vector]:
    """Records that a caller asks for, in a JSON that can say what JSON cannot."""
    return [*_outside_the_domain(), *_not_a_record(), *_just_inside()]


def _outside_the_domain() -> list[Vector]:
    numbers = {
        "nan": ("NaN is not a number in JSON.", {"$binary64": "7ff8000000000000"}, b"NaN"),
        "infinity": ("Nor is infinity.", {"$binary64": "7ff0000000000000"}, b"Infinity"),
        "2-to-53": ("2^53 is beyond the exact integers.", {"$integer": str(2**53)}, b"9007199254740992"),
        "minus-2-to-53": ("So is −2^53.", {"$integer": str(-(2**53))}, b"-9007199254740992"),
        "2-to-53-float": ("A float of 2^53 reads back as that integer.", {"$binary64": "4340000000000000"}, b"9007199254740992"),
        "1e20": ("1e20 reads back as an integer beyond the range.", {"$binary64": "4415af1d78b58c40"}, b"100000000000000000000"),
    }  # fmt: skip
    surrogate = {"$utf16": "0061 d800"}
    return [
        *[_refused(name, shows, "not_canonical", _with("metadata", {"v": tagged}), line_with(token))
          for name, (shows, tagged, token) in numbers.items()],
        _refused("lone-surrogate", "A lone surrogate has no UTF-8.", "not_canonical", _with("content", surrogate),
                 content_line(b"a\xed\xa0\x80")),
        _refused("lone-surrogate-in-metadata", "Nor has one in the metadata.", "not_canonical",
                 _with("metadata", {"v": {"$utf16": "dc00 d800"}}), line_with(b'"\\udc00\\ud800"')),
        _refused("depth-33", "The record is level 1, its metadata 2: 31 more are 33.", "not_canonical",
                 _with("metadata", {"v": {"$nest": 31}}), line_with(b'{"a":' * 31 + b"null" + b"}" * 31)),
    ]  # fmt: skip


def _not_a_record() -> list[Vector]:
    line = Story().tell("x")
    reserved = line_of(signed({**fields_of(line), "metadata": {"hc": {"p": 1}}}))
    unknown = line_of(signed({**fields_of(line), "kind": "thought"}))
    agent = line_of(signed({**fields_of(line), "agent_id": "a\nb"}))
    front, back = line.split(b'"x"')
    long = recipe((front + b'"', 1), (b"a", MAX_LINE), (b'"' + back, 1))
    return [
        _refused("reserved-key", "`hc` is not the caller's.", "reserved_key", _with("metadata", {"hc": {"p": 1}}), reserved, code="bad_field"),
        *[_refused(f"reserved-{name}", f"Nor is `{name}`, whatever it holds.", "reserved_key", _with("metadata", {name: value}))
          for name, value in (("closing", {"next_chain": "0" * 32, "next_kid": "0" * 16}), ("opening", None))],
        _refused("unknown-kind", "The list of kinds is closed.", "unknown_kind", _with("kind", "thought"), unknown, code="bad_field"),
        _refused("agent-control", "An agent id has no control character.", "bad_agent_id", _with("agent_id", "a\nb"), agent, code="bad_field"),
        _refused("agent-empty", "An agent id is not empty.", "bad_agent_id", _with("agent_id", "")),
        _refused("agent-long", "An agent id of 257 characters.", "bad_agent_id", _with("agent_id", "a" * 257)),
        _refused("line-too-long", "A line of more than 1,048,576 bytes.", "line_too_long",
                 _with("content", {"$repeat": ["a", MAX_LINE]}), long),
    ]  # fmt: skip


def _just_inside() -> list[Vector]:
    metadata = {
        "largest-integer": {"$integer": str(2**53 - 1)},
        "smallest-integer": {"$integer": str(1 - 2**53)},
        "1e21": {"$binary64": "444b1ae4d6e2ef50"},
        "whole-float": {"$binary64": "433fffffffffffff"},
        "surrogate-pair": {"$utf16": "d83d de00"},
        "depth-32": {"$nest": 30},
        "reserved-deeper": {"hc": 1, "closing": 2, "opening": 3},
    }
    return [
        _refused(f"accepted-{name}", "The nearest that is accepted.", None, _with("metadata", {"v": tagged}))
        for name, tagged in metadata.items()
    ]


def _with(name: str, value: Any) -> Vector:
    record = {"agent_id": AGENT, "content": "x", "kind": "observation", "metadata": {}}
    return {**record, name: value}


def _refused(
    name: str,
    shows: str,
    why: str | None,
    record: Vector,
    line: bytes | Vector | None = None,
    *,
    code: str = "not_canonical",
) -> Vector:
    """`line` is what a writer without the check would have left, and `code` what a verifier then says."""
    if line is None:
        return vector(name, shows, "write", record=record, expect={"refused": why})
    careless = written(line) if isinstance(line, bytes) else line
    return vector(name, shows, "write", record=record, careless_line=careless, expect={"refused": why, "code": code})


def line_with(token: bytes) -> bytes:
    """A line with any bytes as a value of its metadata, signed over its own bytes."""
    line = Story().tell("x", metadata={"v": 0})
    return signed_bytes(spelled(line, b'"v":0', b'"v":' + token))


def content_line(text: bytes) -> bytes:
    """A line with any bytes inside its content, signed over its own bytes."""
    return signed_bytes(spelled(Story().tell("x"), b'"content":"x"', b'"content":"' + text + b'"'))


def signed_bytes(line: bytes) -> bytes:
    """As `signed`, for bytes that no encoder would write: the payload is the line without its unsigned fields."""
    front, rest = line.split(b',"novelty":"novel","prev_id":')
    prev, after = rest.split(b',"record_id":')
    payload = front + b',"prev_id":' + prev + after[after.index(b',"timestamp":') :]
    old = json.loads(b"{" + after[after.index(b'"signature"') : after.index(b',"timestamp":')] + b"}")["signature"]
    return line.replace(old.encode(), mac(SECRET, "montana.agent.hippocampus.v1", payload).encode())
