"""The quick recognition of usual lines accepts nothing that the rules would not, and finds in it what they find."""

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from alveus.journal import canonical, chain
from shapes import AGENT, CHAIN, KEY, drafts, forty, linked, looks, plain_draft, walk, walk_by_the_rules


def both(monkeypatch, lines):
    """What a walk finds, the same both ways."""
    options = {"sizes": set(range(len(lines) + 1)), "days": {"2026-01-01", "2026-01-02"}}
    quick = looks(walk(lines, **options))
    assert quick == looks(walk_by_the_rules(monkeypatch, lines, **options))
    return quick


@settings(max_examples=300)
@given(st.lists(drafts(), min_size=2, max_size=5))
def test_records_of_every_shape_are_judged_alike(monkeypatch, many):
    """Whatever a writer may write is accepted both ways, with the same links, roots and days."""
    lines = [line + b"\n" for line in linked(many)]
    found = both(monkeypatch, lines)
    assert found[-1] is None
    assert found[0].size == len(lines)


def test_most_lines_of_a_usual_journal_are_recognised(monkeypatch):
    """The shortcut is taken: for lines without odd shapes the rules are asked once, for the first."""
    asked = []
    check = chain.check
    monkeypatch.setattr(chain, "check", lambda line, key: (asked.append(line), check(line, key))[1])
    usual = {**plain_draft(1), "user": "anna"}
    many = [{**usual, "kind": plain_draft(number)["kind"], "content": f"text {number}"} for number in range(30)]
    lines = [line + b"\n" for line in linked(many)]
    assert walk(lines).fault is None
    closing = sum(draft["kind"] == "identity_change" for draft in many)
    assert len(asked) <= 1 + closing


def test_roots_at_every_size_are_those_of_the_rules(monkeypatch):
    """Roots are noted at the sizes asked for, wherever the shortcut stops."""
    assert len(both(monkeypatch, [line + b"\n" for line in forty()])[3]) == 41


# Lines that carry a right signature over wrong bytes: what only the rules stand against

TEXT = [
    b"plain",
    "кириллица 😀".encode(),
    b"",
    b'\\" \\\\ \\n \\u0000 \\u001f',
    b"\\u0041",
    b"\\u001F",
    b"\\u000a",
    b"\\u0008",
    b"\\/",
    b"\\x",
    b"\\",
    b"raw \x01 control",
    b"raw \n feed",
    b"raw \r return",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\\ud800",
    b"\x7f",
    "\u0085\u2028".encode(),
    b'","kind":"state","metadata":{',
    b'"',
]
KINDS = [b"state", b"decision", b"identity_change", b"rumour", b"State", b"", b'state" ']
NOVELTIES = [b"routine", b"novel", b"prediction_error", b"boring", b"", b"Novel"]
TIMES = [
    b"2026-01-03T00:00:00.000000Z",
    b"2026-01-01T00:00:00.000000Z",
    b"2026-01-01T00:00:00.000001Z",
    b"2025-12-31T23:59:59.999999Z",
    b"2026-02-30T00:00:00.000000Z",
    b"2028-02-29T23:59:59.999999Z",
    b"2026-13-01T00:00:00.000000Z",
    b"2026-01-03T24:00:00.000000Z",
    b"2026-01-03T00:60:00.000000Z",
    b"2026-01-03T00:00:60.000000Z",
    b"9999-12-31T23:59:59.999999Z",
    b"0000-01-01T00:00:00.000000Z",
    b"2026-01-03T00:00:00.00000Z",
    b"2026-01-03T00:00:00.0000000Z",
    b"2026-01-03 00:00:00.000000Z",
    b"2026-01-03T00:00:00.000000z",
    "٢٠٢٦-01-03T00:00:00.000000Z".encode(),
]
BEFORE = [
    b"",
    b'"a":1,',
    b'"a":1,"b":"x",',
    b'"b":1,"a":2,',
    b'"a":1,"a":2,',
    b'"gz":null,',
    b'"hd":1,',
    b'"z":1,',
    b'"a":1.0,',
    b'"a":1.5,',
    b'"a":1e5,',
    b'"a":-0,',
    b'"a":01,',
    b'"a":9007199254740991,',
    b'"a":9007199254740992,',
    b'"a":{"hc":{}},',
    b'"a":[],',
    b'"a" :1,',
    '"ключ":1,'.encode(),
    b'"hc":{},',
    b'"a":"\\u0061",',
    b'"\\u0061":1,',
    b'"a":nul,',
]
AFTER = [
    b"",
    b',"i":1',
    b',"i":"x","z":false',
    b',"z":1,"i":2',
    b',"z":1,"z":1',
    b',"a":1',
    b',"hb":1',
    b',"hc":1',
    b',"hd":1',
    b',"hd":1,"z":2',
    b',"I":1',
    b',"i":1.0',
    b',"i":999999999999999',
    b',"i":9007199254740993',
    b',"i":-1',
    b',"i":-0',
    b',"i":"\\n\\u001f"',
    b',"i":"\\u000A"',
    b',"i":"\xff"',
    ',"i":"я"'.encode(),
    ',"я":1'.encode(),
    b',"i":{"a":1}',
    b',"i":tru',
    b',"i": 1',
    b",",
    b',"i":1,',
    b'},"x":{"y":1',
]
PROFILE = {
    b"by": [
        b'"words/1"',
        b'"w"',
        b'""',
        b'"' + b"x" * 200 + b'"',
        b'"' + b"x" * 201 + b'"',
        '"ё"'.encode(),
        b'"\\n"',
        b"1",
    ],
    b"clock": [None, b'"back"', b'"forward"', b"null", b'""'],
    b"event_time": [
        None,
        b'"2026-01-01T00:00:00Z"',
        b'"2026-02-30T00:00:00Z"',
        b'"2026-01-01T00:00:00"',
        b'"T"',
        b"null",
    ],
    b"origin": [
        None,
        b'"a:b:c"',
        b'""',
        b'"' + b"x" * 1024 + b'"',
        b'"' + b"x" * 1025 + b'"',
        b'"\\t"',
        '"\u0085"'.encode(),
    ],
    b"p": [b"1", b"2", b"1.0", b'"1"', b"true"],
    b"part": [None, b"[1,2]", b"[2,1]", b"[1]", b"[1,2,3]", b"1"],
    b"seq": [b"1", b"2", b"01", b"1.0", b'"1"', b"-1"],
    b"session": [None, b'"s"', '"сессия"'.encode(), b'"\\u0000"', b'""'],
    b"src": [b'"agent"', b'"user"', b'"tool"', b'"root"', b'""'],
    b"synced": [b"0", b"-1", b"1", b"-2", b"00", b"-0", b'"0"', b"null", b"0.0"],
    b"user": [None, b'"u"', b'""', b'"' + b"x" * 1024 + b'"', b'"' + b"x" * 1025 + b'"'],
    b"extra": [None, b"1"],
}
FIRST = linked([plain_draft(1)])[0]


@st.composite
def signed_lines(draw):
    """A second line made of pieces, most of them as they should be, signed with the right key over what it says."""

    def pick(choices):
        return draw(st.sampled_from(choices)) if draw(st.integers(0, 5)) == 0 else choices[0]

    novelty = pick(NOVELTIES)
    chosen = {
        **{name: pick(choices) for name, choices in PROFILE.items()},
        b"chain": b'"' + CHAIN.encode() + b'"',
        b"kid": b'"' + KEY.kid.encode() + b'"',
        b"novelty": b'"' + pick([novelty, *NOVELTIES]) + b'"',
        b"prev_line": b'"' + hashlib.sha256(FIRST).hexdigest().encode() + b'"',
    }
    fields = [b'"' + name + b'":' + value for name, value in sorted(chosen.items()) if value is not None]
    if draw(st.integers(0, 9)) == 0:
        fields = draw(st.permutations(fields))
    metadata = b"{" + pick(BEFORE) + b'"hc":{' + b",".join(fields) + b"}" + pick(AFTER) + b"}"
    return sign_pieces(pick(TEXT), pick(KINDS), metadata, novelty, pick(TIMES))


def sign_pieces(text, kind, metadata, novelty, timestamp):
    """The line these pieces make, with the id and the signature of exactly these bytes."""
    opening = b'{"agent_id":' + canonical.encode(AGENT) + b',"content":"' + text + b'"'
    kind_part, meta_part = b',"kind":"' + kind + b'"', b',"metadata":' + metadata
    prev_part = b',"prev_id":"' + first_id() + b'"'
    time_part = b',"timestamp":"' + timestamp + b'"}'
    record_id = hashlib.sha256(opening + meta_part + time_part).hexdigest()[:32].encode()
    signature = KEY.sign(opening + kind_part + meta_part + prev_part + time_part).encode()
    proof = b',"record_id":"' + record_id + b'","signature":"' + signature + b'"'
    return opening + kind_part + meta_part + b',"novelty":"' + novelty + b'"' + prev_part + proof + time_part


def first_id():
    """The id of the first line."""
    at = FIRST.index(b'"record_id":"') + 13
    return FIRST[at : at + 32]


@settings(max_examples=4000)
@given(signed_lines())
def test_a_right_signature_over_wrong_bytes_is_judged_alike(monkeypatch, line):
    """What the holder of the key could write and no writer may is refused by the shortcut as by the rules."""
    both(monkeypatch, [FIRST + b"\n", line + b"\n"])


def test_each_piece_alone_is_judged_alike(monkeypatch):
    """Each odd piece in an otherwise usual line: the shortcut never accepts what the rules refuse."""
    usual = {name: choices[0] for name, choices in PROFILE.items()}
    accepted = 0
    for name, choices in [*PROFILE.items(), (b"", [None])]:
        for value in choices:
            for before in BEFORE if name == b"" else BEFORE[:2]:
                for after in AFTER if name == b"" else AFTER[:2]:
                    chosen = {**usual, name: value} if name else usual
                    accepted += self_made(monkeypatch, chosen, before, after)
    for text in TEXT:
        accepted += self_made(monkeypatch, usual, b"", b"", text=text)
    for kind in KINDS:
        accepted += self_made(monkeypatch, usual, b"", b"", kind=kind)
    for novelty in NOVELTIES:
        accepted += self_made(monkeypatch, usual, b"", b"", novelty=novelty)
    for timestamp in TIMES:
        accepted += self_made(monkeypatch, usual, b"", b"", timestamp=timestamp)
    assert accepted > 100


def self_made(monkeypatch, chosen, before, after, *, text=b"x", kind=b"state", novelty=b"novel", timestamp=TIMES[0]):
    """Judge one line both ways; whether it was accepted."""
    named = {
        **chosen,
        b"chain": b'"' + CHAIN.encode() + b'"',
        b"kid": b'"' + KEY.kid.encode() + b'"',
        b"novelty": b'"' + novelty + b'"',
        b"prev_line": b'"' + hashlib.sha256(FIRST).hexdigest().encode() + b'"',
    }
    fields = b",".join(b'"' + name + b'":' + value for name, value in sorted(named.items()) if value is not None)
    metadata = b"{" + before + b'"hc":{' + fields + b"}" + after + b"}"
    line = sign_pieces(text, kind, metadata, novelty, timestamp)
    return both(monkeypatch, [FIRST + b"\n", line + b"\n"])[-1] is None
