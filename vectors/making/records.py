"""records.json, profile.json, basic.json: sections 1, 3, 4 and 4.1."""
# ruff: noqa: E501  (a vector is one row of a table, as far as it goes)

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from alveus.journal import canonical
from alveus.journal.record import MAX_LINE, Kind
from making.shared import (
    AGENT,
    OTHER_SECRET,
    PAYLOAD,
    SECRET,
    SEED,
    Story,
    Vector,
    broken,
    fields_of,
    head_of,
    journal_vector,
    line_of,
    line_vector,
    recipe,
    resigned,
    signed,
    stream_of,
    vector,
    whole,
    with_profile,
    written,
)

C0: Final = "".join(map(chr, range(0x20)))
NFC, NFD = "Caf\u00e9", "Cafe\u0301"
MIXED_KEYS: Final = {"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "z": 4, "\r": 5, "ö": 6, "1": 7, "\u0080": 8}
"""Sorted by code point U+FB33 comes before the emoji, by UTF-16 unit after it: RFC 8785, section 3.2.3."""


def records() -> list[Vector]:
    """Records that are valid, with everything that is computed on the way to them."""
    return [*_kinds(), *_texts(), *_metadata(), *_places(), _longest()]


def _accepted(name: str, shows: str, story: Story) -> Vector:
    *before, line = story.lines
    record = fields_of(line)
    expect = {
        "seed": written(canonical.encode({name: record[name] for name in SEED})),
        "record_id": record["record_id"],
        "payload": written(canonical.encode({name: record[name] for name in PAYLOAD})),
        "signature": record["signature"],
        "line_sha256": hashlib.sha256(line).hexdigest(),
    }
    return line_vector(name, shows, line, before=before, expect=expect)


def _first(name: str, shows: str, content: str = "x", **fields: Any) -> Vector:
    story = Story(agent_id=fields.pop("agent_id", AGENT))
    story.tell(content, **fields)
    return _accepted(name, shows, story)


def _kinds() -> list[Vector]:
    return [_first(f"kind-{kind}", f"A record of the kind `{kind}`.", kind=kind.value) for kind in Kind]


def _texts() -> list[Vector]:
    return [
        _first("content-empty", "An empty content is a content.", ""),
        _first("content-cyrillic", "Cyrillic stands as itself.", "Деплой на staging падает."),
        _first("content-emoji", "A character beyond the BMP stands as itself, four bytes of UTF-8.", "🧠 👩‍🚀"),
        _first("content-quotes", "A quote and a backslash are escaped by a backslash.", 'say "C:\\temp\\new"'),
        _first("content-c0", "The 32 control characters: five short escapes, the rest \\u00xx in lower case.", C0),
        _first("content-del-c1", "U+007F to U+009F stand as themselves in a content.", "\x7f\x80\x85\x9f"),
        _first("content-line-separators", "U+2028, U+2029 and U+0085 end no line.", "a\u2028b\u2029c\u0085d"),
        _first("content-bom", "U+FEFF inside a string is a character, not a byte order mark.", "\ufeffx"),
        _first("content-noncharacters", "Noncharacters and the last code point are content.", "\uffff\U0010ffff"),
        _first("content-slash", "A slash is not escaped.", "</script>"),
        _first("content-nfc", "Composed é is one code point and stays so.", NFC),
        _first("content-nfd", "Decomposed é is two code points and stays so: another record than content-nfc.", NFD),
        _first("content-looks-like-fields", "Text that looks like the line's own fields.", '","kind":"decision","x":"'),
        _first("agent-emoji", "An agent id is counted in code points: 256 of them, 1,024 bytes.", agent_id="🌊" * 256),
        _first("agent-space", "An agent id may hold spaces and slashes.", agent_id=" a/b ../c "),
        _first("time-zero-microseconds", "A whole second has six zeros.", time="2026-11-30T09:00:00.000000Z"),
        _first("time-leap-day", "The 29th of February of a leap year.", time="2028-02-29T23:59:59.999999Z"),
        _first("time-first-year", "Years begin with 0001.", time="0001-01-01T00:00:00.000000Z"),
        _first("time-last-year", "Years end with 9999.", time="9999-12-31T23:59:59.999999Z"),
    ]


def _metadata() -> list[Vector]:
    nested = {"b": [1, {"y": None, "x": [True, False, []]}, {}], "a": {"z": {"k": "v"}}}
    return [
        _metadata_of("metadata-nested", "Objects inside arrays inside objects.", nested),
        _metadata_of(
            "metadata-shuffled", "Keys in any order come out sorted.", {"z": 1, "B": 2, "a": 3, "_": 4, "": 5}
        ),
        _metadata_of("metadata-around-hc", "Keys on both sides of `hc`.", {"zz": 1, "aa": 2, "hc2": 3, "h": 4}),
        _metadata_of("metadata-proto", "A key named __proto__ is a key.", {"__proto__": {"x": 1}, "constructor": 2}),
        _metadata_of("metadata-utf16", "Keys are sorted by UTF-16 code units, not by code points.", MIXED_KEYS),
        _metadata_of(
            "metadata-integers", "The largest and the smallest integer.", {"max": 2**53 - 1, "min": 1 - 2**53}
        ),
        _metadata_of("metadata-floats", "Floats as ECMAScript spells them.", {"v": [0.1, 1e21, 1e-7, 5e-324, -0.5]}),
        _metadata_of(
            "metadata-whole-float", "A float with an integer's value is spelled as the integer.", {"v": [1.0, -0.0]}
        ),
        _metadata_of("metadata-depth-32", "Nesting of 32 levels: the record is the first.", {"v": _nested(30)}),
        _metadata_of("metadata-control-key", "Keys are escaped as strings are.", {'a"\\\n\u0001': 1}),
        _metadata_of(
            "metadata-novelty", "The caller's own metadata may repeat the record's field names.", {"novelty": "x"}
        ),
    ]


def _metadata_of(name: str, shows: str, metadata: dict[str, Any]) -> Vector:
    return _first(name, shows, metadata=metadata)


def _nested(levels: int) -> dict[str, Any] | None:
    return None if levels == 0 else {"a": _nested(levels - 1)}


def _places() -> list[Vector]:
    second, twins = Story(), Story()
    second.tell("first")
    second.tell("second", "decision")
    for _ in range(3):
        twins.tell("again", "state", novelty="routine")
    return [
        _accepted("second", "A second record names the first by its id and by the hash of its line.", second),
        _accepted("twins", "The same content three times: `seq` and `prev_line` tell the records apart.", twins),
    ]


def _longest() -> Vector:
    story = Story()
    room = MAX_LINE - len(Story().tell(""))
    line = story.tell("a" * room)
    front, back = line.split(b"a" * room)
    pieces = recipe((front, 1), (b"a", room), (back, 1))
    return line_vector("longest", "A line of exactly 1,048,576 bytes, the LF not counted.", pieces)


# The signed profile


def profile() -> list[Vector]:
    """`metadata.hc`: what each field may hold."""
    return [*_allowed(), *_refused(), *_kids(), *_folders()]


def _allowed() -> list[Vector]:
    instants = {
        "zone-z": "2026-11-30T12:00:00Z",
        "offset": "2026-11-30T12:00:00+03:00",
        "nine-digits": "2026-11-30T12:00:00.123456789-00:00",
        "one-digit": "2026-11-30T12:00:00.5+14:00",
        "largest-offset": "2026-11-30T12:00:00+23:59",
        "leap-day": "2024-02-29T00:00:00Z",
        "before-year-1": "0001-01-01T00:00:00+23:59",
        "after-year-9999": "9999-12-31T23:59:59-23:59",
    }
    long, wide = "n" * 1024, "🌊" * 1024
    origin, event_time = "claude-code:s-1:u-2", instants["offset"]
    full = {"user": "ana", "session": "s-1", "event_time": event_time, "origin": origin, "clock": "back"}
    return [
        *[_first(f"event-time-{name}", f"`event_time` {text}.", event_time=text) for name, text in instants.items()],
        *[_first(f"src-{src}", f"`src` {src}.", src=src) for src in ("user", "agent", "tool", "system")],
        _first("all-fields", "Every optional field at once.", part=(2, 3), **full),
        _first("part-one", "A content in one part.", part=(1, 1)),
        _first("part-last", "The last part.", part=(3, 3)),
        _first("name-longest", "A name of 1,024 characters.", user=long, session=long, origin=long),
        _first("name-wide", "A name is counted in code points.", user=wide),
        _first("by-longest", "`by` of 200 characters.", by="é" * 200),
        _synced(),
    ]


def _synced() -> Vector:
    story = Story()
    story.tell("first")
    story.tell("second", synced=0)
    return _accepted("synced-before", "`synced` may be the record before.", story)


def _refused() -> list[Vector]:
    story = Story()
    first = story.tell("first")
    second = story.tell("second")
    return [
        *[_lacking(first, name) for name in ("p", "chain", "seq", "prev_line", "kid", "novelty", "by", "synced", "src")],
        *[_holding(first, *row) for row in _BAD_IN_FIRST],
        *[_holding(second, *row, before=[first]) for row in _BAD_IN_SECOND],
        *[_holding(first, f"event-time-{name}", f"`event_time` {text} is no zoned instant.", {"event_time": text})
          for name, text in _BAD_INSTANTS.items()],
        _profile_of(first, "hc-null", "`hc` that is there and null is not an absent `hc`.", None),
        _profile_of(first, "hc-array", "`hc` is an object.", []),
        _profile_of(first, "hc-empty", "An empty `hc` lacks its fields.", {}),
        line_vector(
            "prev-id-null", "`prev_id` is null only in the first record.", resigned(second, prev_id=None), "bad_field",
            before=[first],
        ),
        line_vector(
            "prev-id-in-first", "`prev_id` is null in the first record.", resigned(first, prev_id="0" * 32), "bad_field"
        ),
    ]  # fmt: skip


def _lacking(line: bytes, name: str) -> Vector:
    record = with_profile(line, drop=name)
    return line_vector(f"lacks-{name.replace('_', '-')}", f"`hc` without `{name}`.", line_of(record), "bad_field")


def _holding(line: bytes, name: str, shows: str, fields: dict[str, Any], before: list[bytes] | None = None) -> Vector:
    record = with_profile(line, **fields)
    return line_vector(f"bad-{name}", shows, line_of(record), "bad_field", before=before or [])


def _profile_of(line: bytes, name: str, shows: str, hc: Any) -> Vector:
    return line_vector(name, shows, resigned(line, metadata={"hc": hc}), "bad_field")


_BAD_IN_FIRST: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("unknown", "There are no other fields.", {"note": "x"}),
    ("p-2", "Another version of the profile.", {"p": 2}),
    ("p-true", "`p` is a number.", {"p": True}),
    ("p-text", "`p` is a number, not its text.", {"p": "1"}),
    ("chain-upper", "`chain` in upper case.", {"chain": "8D1F0C52B6A94E7F93C04AD6E15B7A20"}),
    ("chain-short", "`chain` of 31 digits.", {"chain": "8d1f0c52b6a94e7f93c04ad6e15b7a2"}),
    ("chain-newline", "`chain` with a newline after it.", {"chain": "8d1f0c52b6a94e7f93c04ad6e15b7a20\n"}),
    ("kid-upper", "`kid` in upper case.", {"kid": "36401DFBE4D26A77"}),
    ("kid-long", "`kid` of 17 digits.", {"kid": "36401dfbe4d26a770"}),
    ("seq-negative", "`seq` begins with 0.", {"seq": -1, "synced": -2}),
    ("seq-text", "`seq` is a number, not its text.", {"seq": "0"}),
    ("seq-fraction", "`seq` is an integer.", {"seq": 0.5}),
    ("seq-huge", "`seq` as a float beyond all integers.", {"seq": 1e300}),
    ("seq-null", "`seq` is not null.", {"seq": None}),
    ("prev-line-in-first", "`prev_line` is null where `seq` is 0.", {"prev_line": "0" * 64}),
    ("novelty", "A fourth class.", {"novelty": "strange"}),
    ("by-empty", "`by` is not empty.", {"by": ""}),
    ("by-long", "`by` of 201 characters.", {"by": "b" * 201}),
    ("by-control", "`by` with a control character.", {"by": "words/1\u0085"}),
    ("synced-seq", "`synced` lies before `seq`.", {"synced": 0}),
    ("synced-low", "`synced` is −1 or more.", {"synced": -2}),
    ("synced-null", "`synced` is not null.", {"synced": None}),
    ("src", "A fifth source.", {"src": "assistant"}),
    ("user-null", "Optional fields are absent, never null.", {"user": None}),
    ("user-empty", "A name is not empty.", {"user": ""}),
    ("user-long", "A name of 1,025 characters.", {"user": "u" * 1025}),
    ("user-control", "A name with a control character.", {"user": "a\nb"}),
    ("user-c1", "A name with a C1 control character.", {"user": "a\u009fb"}),
    ("session-number", "A session is a name.", {"session": 7}),
    ("origin-del", "An origin with U+007F.", {"origin": "a\u007f"}),
    ("part-zero", "Parts are counted from 1.", {"part": [0, 1]}),
    ("part-beyond", "A part after the last.", {"part": [3, 2]}),
    ("part-one-number", "A part has two numbers.", {"part": [1]}),
    ("part-three-numbers", "A part has no third number.", {"part": [1, 2, 3]}),
    ("part-text", "A part has numbers.", {"part": ["1", "2"]}),
    ("part-true", "True is not 1.", {"part": [True, 1]}),
    ("part-object", "A part is an array.", {"part": {"i": 1, "n": 2}}),
    ("part-fraction", "A part has integers.", {"part": [1, 1.5]}),
    ("clock-forward", "`clock` says `back` or is absent.", {"clock": "forward"}),
    ("clock-true", "`clock` is a word.", {"clock": True}),
    ("event-time-number", "`event_time` is a string.", {"event_time": 1795000000}),
]

_BAD_IN_SECOND: Final[list[tuple[str, str, dict[str, Any]]]] = [
    ("prev-line-null", "`prev_line` is null only where `seq` is 0.", {"prev_line": None}),
    ("prev-line-upper", "`prev_line` in upper case.", {"prev_line": "A" * 64}),
    ("prev-line-short", "`prev_line` of 63 digits.", {"prev_line": "a" * 63}),
    ("synced-itself", "`synced` is not the record itself.", {"synced": 1}),
]

_BAD_INSTANTS: Final = {
    "no-zone": "2026-11-30T12:00:00",
    "date": "2026-11-30",
    "space": "2026-11-30 12:00:00Z",
    "lower-case": "2026-11-30t12:00:00z",
    "ten-digits": "2026-11-30T12:00:00.1234567890Z",
    "no-digits": "2026-11-30T12:00:00.Z",
    "comma": "2026-11-30T12:00:00,5Z",
    "offset-without-colon": "2026-11-30T12:00:00+0300",
    "offset-hours": "2026-11-30T12:00:00+03",
    "offset-24": "2026-11-30T12:00:00+24:00",
    "offset-60": "2026-11-30T12:00:00+03:60",
    "hour-24": "2026-11-30T24:00:00Z",
    "leap-second": "2016-12-31T23:59:60Z",
    "no-leap-day": "2026-02-29T00:00:00Z",
    "day-zero": "2026-11-00T00:00:00Z",
    "month-13": "2026-13-01T00:00:00Z",
    "year-zero": "0000-01-01T00:00:00Z",
    "five-digit-year": "12026-11-30T12:00:00Z",
    "week-date": "2026-W48-1T12:00:00Z",
    "newline": "2026-11-30T12:00:00Z\n",
    "other-digits": "٢٠٢٦-11-30T12:00:00Z",
}


def _kids() -> list[Vector]:
    secrets = {"kid": SECRET, "kid-other": OTHER_SECRET, "kid-zeros": bytes(32)}
    return [
        vector(name, "The name of a key.", "kid", key=secret.hex(), expect={"kid": _kid(secret)})
        for name, secret in secrets.items()
    ]


def _kid(secret: bytes) -> str:
    return hashlib.sha256(b"alveus.key\x00" + secret).hexdigest()[:16]


def _folders() -> list[Vector]:
    names = {
        "plain": ("river-2_a.b~c", "river-2_a.b~c"),
        "slash": ("a/b", "a%2Fb"),
        "space-percent": ("50 %", "50%20%25"),
        "cyrillic": ("река", "%D1%80%D0%B5%D0%BA%D0%B0"),
        "leading-dot": (".hidden", "%2Ehidden"),
        "dots": ("..", "%2E."),
        "upper": ("River", "River"),
    }
    return [
        vector(f"folder-{name}", f"The folder of agent {agent!r}.", "folder", agent_id=agent, expect={"folder": folder})
        for name, (agent, folder) in names.items()
    ]


# v1-basic


def basic() -> list[Vector]:
    """Records and streams without the signed profile."""
    return [*_basic_lines(), *_basic_journals()]


def basic_line(content: str, prev: bytes | None = None, **fields: Any) -> bytes:
    """A line without the profile, after the line `prev`."""
    record = {
        "agent_id": AGENT,
        "content": content,
        "kind": "observation",
        "metadata": {},
        "novelty": "novel",
        "prev_id": json.loads(prev)["record_id"] if prev is not None else None,
        "timestamp": "2026-11-30T09:00:00Z",
        **fields,
    }
    return line_of(signed(record))


def _basic_lines() -> list[Vector]:
    good = [
        "2026-11-30T09:00:00Z",
        "2026-11-30T09:00:00+00:00",
        "2026-11-30T09:00:00.5Z",
        "2026-11-30T09:00:00.123456789Z",
    ]
    bad = {
        "offset": "2026-11-30T09:00:00+01:00",
        "minus-zero": "2026-11-30T09:00:00-00:00",
        "no-zone": "2026-11-30T09:00:00",
        "ten-digits": "2026-11-30T09:00:00.1234567890Z",
        "no-day": "2026-11-31T09:00:00Z",
    }
    first = basic_line("first")
    profiled = Story()
    profiled.tell("first")
    return [
        *[line_vector(f"time-{number}", f"A timestamp {text}.", basic_line("x", timestamp=text)) for number, text in enumerate(good)],
        *[line_vector(f"bad-time-{name}", f"A timestamp {text}.", basic_line("x", timestamp=text), "bad_field") for name, text in bad.items()],
        line_vector("second", "`prev_id` is all that chains.", basic_line("second", first), before=[first]),
        line_vector("same-time", "Timestamps need not rise.", basic_line("second", first, timestamp="2026-11-30T08:00:00Z"), before=[first]),
        line_vector("prev-id-null", "`prev_id` is null in the first record only.", basic_line("second"), "chain_break", before=[first]),
        line_vector("prev-id-in-first", "`prev_id` is null in the first record.", basic_line("x", first), "chain_break"),
        line_vector("other-agent", "Another agent's record.", basic_line("x", first, agent_id="delta"), "wrong_chain", before=[first]),
        line_vector("edited", "An edited content.", basic_line("first").replace(b"first", b"First"), "bad_signature"),
        line_vector("novelty-edited", "The novelty is unsigned: an edited one shows in nothing.", basic_line("x").replace(b'"novel"', b'"routine"')),
        line_vector("profile-appears", "A record with `hc` after one without.", _profiled_after(first), "bad_field", before=[first]),
        line_vector("profile-vanishes", "A record without `hc` after one with it.", basic_line("x", profiled.lines[0]), "bad_field", before=profiled.lines),
        line_vector("closing-closes-nothing", "Without `hc` nothing closes a chain.", basic_line("x", _closing()), before=[_closing()]),
    ]  # fmt: skip


def _closing() -> bytes:
    closing = {"closing": {"next_chain": "0" * 32, "next_kid": "0" * 16}}
    return basic_line("x", kind="identity_change", metadata=closing)


def _profiled_after(first: bytes) -> bytes:
    story = Story()
    story.tell("zero")
    record = fields_of(story.tell("second"))
    record["prev_id"] = json.loads(first)["record_id"]
    record["metadata"]["hc"]["prev_line"] = hashlib.sha256(first).hexdigest()
    return line_of(signed(record))


def _basic_journals() -> list[Vector]:
    one = basic_line("one")
    two = basic_line("again", one)
    three = basic_line("again", two)
    four = basic_line("four", three)
    told = [one, two, three, four]
    promises = [
        "order_of_twins", "novelty_signed", "gapless_sequence", "previous_line_bound", "one_chain", "time_rising", "head",
        "tail_cut_visible",
    ]  # fmt: skip
    opening = {"prev_chain": "0" * 32, "prev_last_id": "0" * 32, "prev_root": "0" * 64, "prev_size": 1}
    open_end = {**whole("ok_open_end", 4, 4), "promises_missing": promises}
    return [
        journal_vector("journal", "A v1-basic stream.", {"stream.jsonl": stream_of(told)}, open_end),
        journal_vector(
            "twin-deleted",
            "Twins of one instant have one id: a deleted one shows in nothing.",
            {"stream.jsonl": stream_of([one, two, four])},
            whole("ok_open_end", 3, 3),
        ),
        journal_vector(
            "opening-opens-nothing",
            "Without `hc` there is no succession: an `opening` is the writer's own metadata.",
            {"stream.jsonl": stream_of([basic_line("x", metadata={"opening": opening})])},
            whole("ok_open_end", 1, 1),
        ),
        journal_vector(
            "cut",
            "A cut at the end shows in nothing.",
            {"stream.jsonl": stream_of([one, two])},
            whole("ok_open_end", 2, 2),
        ),
        journal_vector(
            "deleted",
            "A deleted record breaks the chain.",
            {"stream.jsonl": stream_of([two, three, four])},
            broken("chain_break", [], 1),
        ),
        journal_vector(
            "head-beside",
            "A head beside a v1-basic stream.",
            {"stream.jsonl": stream_of(told), "stream.head.0": head_of(told)},
            broken("bad_head"),
        ),
        journal_vector(
            "torn-head-beside",
            "A head beside a v1-basic stream, valid or not.",
            {"stream.jsonl": stream_of(told), "stream.head.1": b"{"},
            broken("bad_head"),
        ),
        journal_vector(
            "torn",
            "A torn tail.",
            {"stream.jsonl": stream_of(told)[:-1]},
            broken("torn_tail", told, 4),
            locked=True,
        ),
    ]
