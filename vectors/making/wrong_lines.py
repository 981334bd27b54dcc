"""not_valid.json: section 5.2, a line for each way of being wrong, and the code it gets."""
# ruff: noqa: E501  (a vector is one row of a table, as far as it goes)

from __future__ import annotations

import json
from typing import Any, Final

from alveus.journal import canonical
from alveus.journal.record import MAX_LINE
from making.records import MIXED_KEYS
from making.shared import (
    AGENT,
    CHAIN,
    OTHER_CHAIN,
    OTHER_KEY,
    OTHER_SECRET,
    Story,
    Vector,
    altered,
    fields_of,
    five,
    line_of,
    line_vector,
    recipe,
    resigned,
    signed,
    spelled,
    time_at,
    with_profile,
)
from making.spelling import content_line, line_with, signed_bytes

_FIRST: Final = Story().tell("a cab", metadata={"k": 1})
_STORY: Final = five()


def not_valid() -> list[Vector]:
    """Lines that are not valid, in the order of the steps that find it."""
    return [*_spelled_wrong(), *_fields(), *_seals(), *_edits(), *_places(), *_precedence()]


def _spelled_wrong() -> list[Vector]:
    rows = {
        "surrogate-escaped": ("A lone surrogate escaped as \\ud800.", content_line(b"\\ud800")),
        "surrogate-escaped-low": ("A lone low surrogate, escaped.", content_line(b"\\udc00")),
        "surrogate-bytes": ("A lone surrogate as bytes.", content_line(b"\xed\xa0\x80")),
        "overlong": ("An overlong form.", content_line(b"\xc0\xaf")),
        "cut-sequence": ("A cut UTF-8 sequence.", content_line(b"\xf0\x9f\x98")),
        "duplicate-key": ("A key twice.", spelled(_FIRST, b'"content":', b'"content":"a cab","content":')),
        "duplicate-key-escaped": ("A key twice, once escaped.", spelled(_FIRST, b'"content":', b'"\\u0063ontent":"a cab","content":')),
        "duplicate-in-metadata": ("A key twice in the metadata.", signed_bytes(spelled(_FIRST, b'"k":1', b'"k":1,"k":1'))),
        "extra-space": ("A space after a colon.", spelled(_FIRST, b'"kind":', b'"kind": ')),
        "trailing-space": ("A space at the end.", _FIRST + b" "),
        "leading-space": ("A space at the beginning.", b" " + _FIRST),
        "crlf": ("A line that ended in CRLF.", _FIRST + b"\r"),
        "bom": ("A byte order mark.", b"\xef\xbb\xbf" + _FIRST),
        "escaped-letter": ("`a` as \\u0061.", signed_bytes(spelled(_FIRST, b"a cab", b"\\u0061 cab"))),
        "escaped-slash": ("A slash as \\/.", content_line(b"\\/")),
        "escaped-upper-case": ("A control character with upper-case digits.", content_line(b"\\u001F")),
        "escaped-long": ("A line feed as \\u000a.", content_line(b"\\u000a")),
        "raw-control": ("A raw control character.", content_line(b"\x01")),
        "float-with-zero": ("1.0.", line_with(b"1.0")),
        "minus-zero": ("−0.", line_with(b"-0")),
        "exponent": ("1e2.", line_with(b"1e2")),
        "2-to-53": ("2^53.", line_with(b"9007199254740992")),
        "2-to-64": ("2^64.", line_with(b"18446744073709551616")),
        "1e20": ("1e20 as a float.", line_with(b"1e20")),
        "nan": ("NaN.", line_with(b"NaN")),
        "infinity": ("Infinity.", line_with(b"Infinity")),
        "1e400": ("A number beyond binary64.", line_with(b"1e400")),
        "depth-33": ("33 levels.", line_with(b"[" * 31 + b"]" * 31)),
        "unsorted": ("Fields in another order.", _reordered()),
        "code-point-order": ("Keys sorted by code point.", _by_code_point()),
        "array": ("An array is no record.", b"[]"),
        "string": ("A string is no record.", b'"x"'),
        "null": ("null is no record.", b"null"),
        "empty": ("An empty line.", b""),
        "two-objects": ("Two objects on a line.", b"{}{}"),
        "half": ("Half a record.", _FIRST[: len(_FIRST) // 2]),
        "not-json": ("Anything else.", b"# a comment"),
    }  # fmt: skip
    found = [line_vector(name, shows, line, "not_canonical") for name, (shows, line) in rows.items()]
    return [*found, line_vector("too-long", "A line of 1,048,577 bytes.", _too_long(), "not_canonical")]


def _too_long() -> Vector:
    room = MAX_LINE + 1 - len(Story().tell(""))
    front, back = Story().tell("x").split(b'"x"')
    return recipe((front + b'"', 1), (b"a", room), (b'"' + back, 1))


def _reordered() -> bytes:
    record = fields_of(_FIRST)
    return json.dumps({"timestamp": record.pop("timestamp"), **record}, separators=(",", ":")).encode()


def _by_code_point() -> bytes:
    line = Story().tell("x", metadata={"v": MIXED_KEYS})
    pairs = [f"{json.dumps(key, ensure_ascii=False)}:{MIXED_KEYS[key]}" for key in sorted(MIXED_KEYS)]
    return signed_bytes(spelled(line, canonical.encode(MIXED_KEYS), ("{" + ",".join(pairs) + "}").encode()))


# Step 2


def _fields() -> list[Vector]:
    lacking = [_lacking(name) for name in fields_of(_FIRST)]
    holding = [_holding(*row) for row in _BAD_FIELDS]
    instants = [_holding(f"timestamp-{name}", shows, {"timestamp": text}) for name, shows, text in _BAD_TIMES]
    unknown = line_vector("unknown-field", "A tenth field.", altered(_FIRST, note="x"), "bad_field")
    return [*lacking, unknown, *holding, *instants]


def _lacking(name: str) -> Vector:
    record = signed({key: value for key, value in fields_of(_FIRST).items() if key != name})
    record.pop(name, None)  # signing puts id and signature back
    return line_vector(f"lacks-{name.replace('_', '-')}", f"A record without `{name}`.", line_of(record), "bad_field")


def _holding(name: str, shows: str, fields: dict[str, Any]) -> Vector:
    sealed = {"record_id", "signature"} & fields.keys()
    line = altered(_FIRST, **fields) if sealed else resigned(_FIRST, **fields)
    return line_vector(f"bad-{name}", shows, line, "bad_field")


_ID: Final[str] = fields_of(_FIRST)["record_id"]
_SIGNATURE: Final[str] = fields_of(_FIRST)["signature"]
_BAD_FIELDS: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("agent-id-number", "An agent id is a string.", {"agent_id": 7}),
    ("agent-id-empty", "An agent id is not empty.", {"agent_id": ""}),
    ("agent-id-long", "An agent id of 257 characters.", {"agent_id": "🌊" * 257}),
    ("agent-id-control", "An agent id with U+0000.", {"agent_id": "a\x00"}),
    ("agent-id-c1", "An agent id with U+0085.", {"agent_id": "a\x85"}),
    ("content-null", "A content is a string.", {"content": None}),
    ("content-number", "A content is no number.", {"content": 1}),
    ("kind-unknown", "A seventh kind.", {"kind": "thought"}),
    ("kind-upper", "A kind is lower-case.", {"kind": "Decision"}),
    ("kind-array", "A kind is a string.", {"kind": ["decision"]}),
    ("metadata-array", "Metadata is an object.", {"metadata": []}),
    ("metadata-null", "Metadata is not null.", {"metadata": None}),
    ("metadata-text", "Metadata is no text.", {"metadata": "{}"}),
    ("novelty-unknown", "A fourth class.", {"novelty": "strange"}),
    ("novelty-null", "A novelty is a string.", {"novelty": None}),
    ("prev-id-upper", "`prev_id` in upper case.", {"prev_id": "A" * 32}),
    ("prev-id-short", "`prev_id` of 31 digits.", {"prev_id": "a" * 31}),
    ("prev-id-empty", "`prev_id` is null, not empty.", {"prev_id": ""}),
    ("prev-id-false", "`prev_id` is null, not false.", {"prev_id": False}),
    ("record-id-upper", "`record_id` in upper case.", {"record_id": _ID.upper()}),
    ("record-id-short", "`record_id` of 31 digits.", {"record_id": _ID[:31]}),
    ("record-id-long", "`record_id` of 64 digits.", {"record_id": _ID * 2}),
    ("record-id-newline", "`record_id` with a newline after it.", {"record_id": _ID + "\n"}),
    ("record-id-null", "`record_id` is not null.", {"record_id": None}),
    ("signature-upper", "A signature in upper case.", {"signature": _SIGNATURE.upper()}),
    ("signature-short", "A signature of 63 digits.", {"signature": _SIGNATURE[:63]}),
    ("signature-newline", "A signature with a newline after it.", {"signature": _SIGNATURE + "\n"}),
    ("signature-empty", "An empty signature.", {"signature": ""}),
    ("signature-other-digits", "A signature with digits of another script.", {"signature": "٣" + _SIGNATURE[1:]}),
    ("timestamp-null", "A timestamp is a string.", {"timestamp": None}),
    ("timestamp-number", "A timestamp is no number.", {"timestamp": 1795000000}),
]
_BAD_TIMES: Final = [
    ("seconds", "No decimals.", "2026-11-30T09:00:00Z"),
    ("milliseconds", "Three decimals.", "2026-11-30T09:00:00.000Z"),
    ("nanoseconds", "Nine decimals.", "2026-11-30T09:00:00.000000000Z"),
    ("offset", "An offset for Z.", "2026-11-30T09:00:00.000000+00:00"),
    ("no-zone", "No zone.", "2026-11-30T09:00:00.000000"),
    ("lower-case", "Lower-case letters.", "2026-11-30t09:00:00.000000z"),
    ("comma", "A comma for the point.", "2026-11-30T09:00:00,000000Z"),
    ("space", "A space for the T.", "2026-11-30 09:00:00.000000Z"),
    ("no-leap-day", "The 29th of February of a common year.", "2026-02-29T09:00:00.000000Z"),
    ("century", "1900 was no leap year.", "1900-02-29T09:00:00.000000Z"),
    ("day-31", "The 31st of November.", "2026-11-31T09:00:00.000000Z"),
    ("day-zero", "Day 0.", "2026-11-00T09:00:00.000000Z"),
    ("month-zero", "Month 0.", "2026-00-30T09:00:00.000000Z"),
    ("hour-24", "Hour 24.", "2026-11-30T24:00:00.000000Z"),
    ("minute-60", "Minute 60.", "2026-11-30T09:60:00.000000Z"),
    ("leap-second", "A leap second.", "2016-12-31T23:59:60.000000Z"),
    ("year-zero", "Year 0.", "0000-11-30T09:00:00.000000Z"),
    ("five-digit-year", "A year of five digits.", "12026-11-30T09:00:00.000000Z"),
    ("other-digits", "Digits of another script.", "٢٠٢٦-11-30T09:00:00.000000Z"),
    ("newline", "A newline after it.", "2026-11-30T09:00:00.000000Z\n"),
]


# Steps 3 to 6


def _seals() -> list[Vector]:
    other_domains = ("alveus.head.v1", "montana.agent.hippocampus.v2", "montana.agent.hippocampus", "")
    flipped = f"{int(_SIGNATURE[0], 16) ^ 1:x}" + _SIGNATURE[1:]
    return [
        line_vector(
            "another-key", "A record of another key, by its name.", Story(key=OTHER_KEY).tell("x"), "wrong_key"
        ),
        line_vector(
            "another-key-unnamed",
            "A record signed with another key under this key's name.",
            line_of(signed(fields_of(_FIRST), secret=OTHER_SECRET)),
            "bad_signature",
        ),
        *[
            line_vector(
                f"another-domain-{number}",
                f"A signature under the domain {domain!r}.",
                line_of(signed(fields_of(_FIRST), domain=domain)),
                "bad_signature",
            )
            for number, domain in enumerate(other_domains)
        ],
        line_vector(
            "signature-flipped", "One bit of the signature.", altered(_FIRST, signature=flipped), "bad_signature"
        ),
        line_vector("signature-zeros", "A signature of zeros.", altered(_FIRST, signature="0" * 64), "bad_signature"),
        line_vector(
            "novelty-differs",
            "`novelty` differs from its signed copy.",
            line_of({**with_profile(_FIRST, novelty="routine")}),
            "novelty_mismatch",
        ),
    ]


def _edits() -> list[Vector]:
    """Each field of a valid record, edited and nothing else."""
    second = _STORY.lines[1]
    hc = fields_of(second)["metadata"]["hc"]
    rows: list[tuple[str, dict[str, Any], str]] = [
        ("agent-id", {"agent_id": "delta"}, "bad_signature"),
        ("content", {"content": "Moved from SQLite to PostgreSQL."}, "bad_signature"),
        ("kind", {"kind": "observation"}, "bad_signature"),
        ("metadata", {"metadata": {"hc": hc, "ticket": 42}}, "bad_signature"),
        ("metadata-added", {"metadata": {"hc": hc, "ticket": 41, "x": 1}}, "bad_signature"),
        ("metadata-removed", {"metadata": {"hc": hc}}, "bad_signature"),
        ("hc-seq", {"metadata": {"hc": {**hc, "seq": 2}, "ticket": 41}}, "bad_signature"),
        ("hc-src", {"metadata": {"hc": {**hc, "src": "user"}, "ticket": 41}}, "bad_signature"),
        ("hc-novelty", {"metadata": {"hc": {**hc, "novelty": "routine"}, "ticket": 41}}, "bad_signature"),
        ("hc-removed", {"metadata": {"ticket": 41}, "timestamp": time_at(1)}, "bad_signature"),
        ("novelty", {"novelty": "routine"}, "novelty_mismatch"),
        ("prev-id", {"prev_id": "0" * 32}, "bad_signature"),
        ("record-id", {"record_id": "0" * 32}, "bad_record_id"),
        ("signature", {"signature": "f" * 64}, "bad_signature"),
        ("timestamp", {"timestamp": time_at(1.000001)}, "bad_signature"),
    ]
    return [
        line_vector(
            f"edited-{name}", f"A valid second record with `{name.replace('-', '_')}` edited.", altered(second, **fields),
            code, before=_STORY.lines[:1],
        )
        for name, fields, code in rows
    ]  # fmt: skip


# Steps 7 to 13: the line is valid by itself, the place is not


def _places() -> list[Vector]:
    one, two, three, *_ = _STORY.lines
    closed = _closed()
    bare = {name: value for name, value in fields_of(two)["metadata"].items() if name != "hc"}
    rows: list[tuple[str, str, bytes, str, list[bytes]]] = [
        ("no-profile", "A record without `hc` after one with it.", resigned(two, metadata=bare), "bad_field", [one]),
        (
            "after-closing",
            "A record after the one that closed the chain.",
            _next_of(closed),
            "after_closing",
            closed.lines,
        ),
        ("other-chain", "A record of another chain.", _moved(two, chain=OTHER_CHAIN), "wrong_chain", [one]),
        ("other-agent", "A record of another agent.", resigned(two, agent_id="delta"), "wrong_chain", [one]),
        ("prev-id-other", "`prev_id` of no record.", resigned(two, prev_id="0" * 32), "chain_break", [one]),
        ("replayed", "The record before, once more.", two, "chain_break", [one, two]),
        ("first-replayed", "The first record, once more.", one, "chain_break", [one, two]),
        ("left-out", "A record whose predecessor was left out.", three, "chain_break", [one]),
        ("not-first", "A second record at the beginning.", two, "chain_break", []),
        ("seq-ahead", "A gap in `seq`.", _moved(two, seq=2), "bad_seq", [one]),
        ("seq-behind", "`seq` repeated.", _moved(three, seq=1), "bad_seq", [one, two]),
        ("prev-line-other", "`prev_line` of another line.", _moved(two, prev_line="0" * 64), "bad_prev_line", [one]),
        (
            "time-equal",
            "The timestamp of the record before.",
            resigned(two, timestamp=time_at(0)),
            "time_not_rising",
            [one],
        ),
        ("time-before", "A timestamp before that.", resigned(two, timestamp=time_at(-1)), "time_not_rising", [one]),
    ]
    return [line_vector(name, shows, line, code, before=before) for name, shows, line, code, before in rows]


def _moved(line: bytes, **fields: Any) -> bytes:
    return line_of(with_profile(line, **fields))


def _closed() -> Story:
    story = Story()
    story.tell("x")
    story.tell("closing", "identity_change", {"closing": {"next_chain": OTHER_CHAIN, "next_kid": OTHER_KEY.kid}})
    return story


def _next_of(story: Story) -> bytes:
    longer = Story(lines=list(story.lines), ids=list(story.ids))
    return longer.tell("one more")


def _precedence() -> list[Vector]:
    """Two faults in one line: the earlier step names it."""
    one, two, *_ = _STORY.lines
    closed = _closed()
    after = _next_of(closed)
    mixed = fields_of(_moved(two, chain=OTHER_CHAIN))
    rows: list[tuple[str, str, bytes, str, list[bytes]]] = [
        ("1-before-2", "Not canonical, and a field missing.", b'{"b":1,"a":2}', "not_canonical", []),
        ("2-before-3", "A bad field, and another key.", _moved(two, kid="0" * 16, p=2), "bad_field", [one]),
        ("3-before-4", "Another key, and a bad signature.", altered(two, metadata=_kid_edited(two)), "wrong_key", [one]),
        ("4-before-5", "A bad signature, and a bad id.", altered(two, signature="0" * 64, record_id="0" * 32), "bad_signature", [one]),
        ("5-before-6", "A bad id, and another novelty.", altered(two, record_id="0" * 32, novelty="routine"), "bad_record_id", [one]),
        ("6-before-9", "Another novelty, and another chain.", line_of({**mixed, "novelty": "routine"}), "novelty_mismatch", [one]),
        ("8-before-9", "After the closing, and another chain.", _moved(after, chain=CHAIN[::-1]), "after_closing", closed.lines),
        ("9-before-10", "Another chain, and a broken one.", line_of(signed({**mixed, "prev_id": "0" * 32})), "wrong_chain", [one]),
        ("10-before-11", "A broken chain, and a gap.", line_of(signed({**fields_of(_moved(two, seq=7)), "prev_id": "0" * 32})), "chain_break", [one]),
        ("11-before-12", "A gap, and another line.", _moved(two, seq=7, prev_line="0" * 64), "bad_seq", [one]),
        ("12-before-13", "Another line, and an earlier time.",
         line_of(signed({**fields_of(_moved(two, prev_line="0" * 64)), "timestamp": time_at(-1)})), "bad_prev_line", [one]),
    ]  # fmt: skip
    found = [line_vector(f"step-{name}", shows, line, code, before=before) for name, shows, line, code, before in rows]
    return [*found, *_not_closing()]


def _kid_edited(line: bytes) -> dict[str, Any]:
    metadata: dict[str, Any] = fields_of(line)["metadata"]
    return {**metadata, "hc": {**metadata["hc"], "kid": "0" * 16}}


def _not_closing() -> list[Vector]:
    """What looks like a closing record and is none: the next record is valid."""
    good = {"next_chain": OTHER_CHAIN, "next_kid": OTHER_KEY.kid}
    rows: dict[str, tuple[str, str, Any]] = {
        "kind": ("Only an identity change closes.", "decision", good),
        "third-key": ("A closing has exactly two keys.", "identity_change", {**good, "note": "x"}),
        "one-key": ("A closing has both keys.", "identity_change", {"next_kid": OTHER_KEY.kid}),
        "number": ("Both are strings.", "identity_change", {**good, "next_kid": 7}),
        "array": ("A closing is an object.", "identity_change", [good]),
    }
    found = []
    for name, (shows, kind, closing) in rows.items():
        story = Story(agent_id=AGENT)
        story.tell("x", kind, {"closing": closing})
        line = _next_of(story)
        found.append(line_vector(f"no-closing-{name}", shows, line, before=story.lines))
    return found
