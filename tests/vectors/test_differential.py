"""Two implementations of one specification, over journals that were damaged in thousands of ways.

A mutant is a small journal with one thing changed: a byte, a line, a field that was signed again by the holder of the
key, a token that no encoder writes, a head, a file. Whatever it is, both must come to one state and one code, and name
one place. A part of the mutants is retold: the records after the changed one are chained and signed anew, so that only
the change itself is left to be found.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from making.days import NOTE_SEED, closed_folder, day_story
from making.journals import three_chains, two_chains
from making.records import basic_line
from making.shared import (
    CHAIN,
    OTHER_CHAIN,
    OTHER_SECRET,
    SECRET,
    fields_of,
    five,
    head_of,
    line_of,
    mac,
    signed,
    stream_of,
)
from making.spelling import signed_bytes

from alveus.journal import canonical
from alveus.witness import note

Files = dict[str, bytes]
Journal = dict[str, Any]
Dice = random.Random

SEED: Final = 20_261_130
PLACE: Final = ("line", "offset")

TEXTS: Final = (
    "", "a", "x" * 1025, "\x00", "\x7f", "\x85", "\u2028", "é", "e\u0301", "🌊", '"', "\\", "hc", "-1", "0",
    "1", "null", "0" * 16, "0" * 31, "0" * 32, "A" * 32, "0" * 64, "a" * 63, CHAIN, OTHER_CHAIN, "river",
    "delta", "decision", "identity_change", "routine", "novel", "words/1", "user", "back", "36401dfbe4d26a77",
    "36401dfbe4d26a77\n", "2026-11-30T09:00:01.000000Z", "2026-11-30T09:00:01Z", "2026-11-30T09:00:01.500000+00:00",
    "2026-11-30", "2026-02-30T09:00:01.000000Z", "9999-12-31T23:59:59.999999Z", "2026-11-30T24:00:00.000000Z",
    "٢٠٢٦-11-30T09:00:00.000000Z",
)  # fmt: skip
NUMBERS: Final = (0, 1, -1, 2, 3, 4, 5, 2**53 - 1, 1 - 2**53, 0.5, 1e21, -1e300, 5e-324)
TOKENS: Final = (
    b"1.0", b"-0", b"1e1", b"01", b"9007199254740992", b"18446744073709551616", b"1e20", b"NaN", b"1e400", b"tRue",
    b"+1", b"0x1", b'"\\u0061"', b'"\\/"', b'"\\ud800"', b'"\\uD83D\\uDE00"', b'"\xed\xa0\x80"', b'"\xc0\x80"',
    b'"\xff"', b'"\x01"', b'"\\x"', b'"\\u000A"', b'"\\b\\f"', b'"\\u007f"', b'"\x7f"', b"[]", b"[1,]", b"[ 1]", b"{}",
    b'{"b":1,"a":2}', b'{"a":1,"a":2}', b'{"__proto__":1}', b'{"__proto__":1,"__proto__":2}',
    '{"\ufb33":1,"\U0001f600":2}'.encode(), '{"\U0001f600":2,"\ufb33":1}'.encode(),
    b"[" * 29 + b"]" * 29, b"[" * 30 + b"]" * 30, b"[" * 31 + b"]" * 31, b"",
)  # fmt: skip
BYTES: Final = (
    b"\n", b"\r", b"\r\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b" ", b'"', b"\\", b"{", b"}", b",", b"\xe2\x80\xa8",
    b"0", b"A",
)  # fmt: skip


# The journals that are damaged


def _plain(dice: Dice) -> Journal:
    story = five()
    for number in range(dice.randrange(4)):
        story.tell(f"more {number}", dice.choice(["state", "decision"]), {"n": number, "k": [1.5, {"a": None}]})
    size = dice.randrange(len(story.lines) + 1)
    files = {
        "stream.jsonl": story.stream(),
        "stream.head.0": story.head(size),
        "stream.head.1": story.head(max(0, size - 2)),
    }
    return {"files": files, "keys": [SECRET], "agent_id": "river"}


def _succeeded(_: Dice) -> Journal:
    first, second = two_chains()
    closed = f"stream-{CHAIN}"
    files = {f"{closed}.jsonl": first.stream(), f"{closed}.head.0": first.head()}
    files |= {"stream.jsonl": second.stream(), "stream.head.0": second.head(), "stream.head.1": second.head(1)}
    return {"files": files, "keys": [OTHER_SECRET, SECRET], "agent_id": "river"}


def _thrice(_: Dice) -> Journal:
    return {"files": dict(three_chains()), "keys": [SECRET, OTHER_SECRET], "agent_id": "river"}


def _basic_journal(_: Dice) -> Journal:
    lines = [basic_line("one", metadata={"n": 1})]
    for content in ("again", "again", "four"):
        lines.append(basic_line(content, lines[-1], kind="decision"))
    return {"files": {"stream.jsonl": stream_of(lines)}, "keys": [SECRET], "agent_id": "river"}


def _empty(dice: Dice) -> Journal:
    files = {"stream.jsonl": b"", "stream.head.0": head_of([], dice.choice([CHAIN, OTHER_CHAIN]))}
    return {"files": files, "keys": [SECRET], "agent_id": "river"}


def _anchored(dice: Dice) -> Journal:
    folder = closed_folder(day_story(), closed=dice.choice([None, "2026-11-30"]))
    public = note.public_key(NOTE_SEED).hex()
    return {"files": folder, "keys": [SECRET], "agent_id": "river", "checkpoint_key": public}


# What is done to them. Each takes the dice and the bytes of one file.


def _change_byte(dice: Dice, data: bytes) -> bytes:
    at = dice.randrange(len(data) + 1)
    piece = dice.choice([*BYTES, bytes([dice.randrange(256)])])
    cut = dice.choice([0, 0, 1, 1, len(piece), dice.randrange(40)])
    if dice.random() < 0.3 and at < len(data):
        return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]
    return data[:at] + (b"" if dice.random() < 0.2 else piece) + data[at + cut :]


def _cut(dice: Dice, data: bytes) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _move_lines(dice: Dice, data: bytes) -> bytes:
    lines = data.split(b"\n")[:-1]
    one, two = dice.randrange(len(lines)), dice.randrange(len(lines))
    act = dice.randrange(5)
    if act == 0:
        del lines[one]
    elif act == 1:
        lines.insert(two, lines[one])
    elif act == 2:
        lines[one], lines[two] = lines[two], lines[one]
    elif act == 3:
        lines.insert(one, dice.choice([b"", b"{}", b"[]", b"null", b"0", lines[two] + b"\r", b" " + lines[two]]))
    else:
        lines[one : one + 2] = [b"".join(lines[one : one + 2])]
    return stream_of(lines)


def _change_field(dice: Dice, data: bytes) -> bytes:
    """One field of one record, perhaps signed again, perhaps with all that follows."""
    lines = data.split(b"\n")[:-1]
    at = dice.randrange(len(lines))
    record = fields_of(lines[at])
    _change_somewhere(dice, record)
    sealed = dice.random() < 0.85
    try:
        lines[at] = line_of(signed(record, secret=_secret_of(lines[at])) if sealed else record)
    except canonical.NotCanonical:
        return data
    return stream_of(_retold(lines, at) if sealed and dice.random() < 0.6 else lines)


def _misplace(dice: Dice, data: bytes) -> bytes:
    """A record that is valid by itself, signed again for another place in the chain."""
    lines = data.split(b"\n")[:-1]
    at = dice.randrange(len(lines))
    record = fields_of(lines[at])
    hc = record["metadata"].get("hc", {})
    name, value = dice.choice(MISPLACED)
    place = hc if name in {"seq", "prev_line", "chain", "kid"} else record
    place[name] = value + place.get(name, 0) if name == "seq" else value
    if name == "kind":
        record["metadata"]["closing"] = {"next_chain": OTHER_CHAIN, "next_kid": "0" * 16}
    line = line_of(signed(record, secret=_secret_of(lines[at])))
    if name == "novelty" and hc:
        line = line_of({**fields_of(line), "novelty": "routine" if hc["novelty"] != "routine" else "novel"})
    lines[at] = line
    return stream_of(_retold(lines, at) if dice.random() < 0.7 else lines)


MISPLACED: Final[list[tuple[str, Any]]] = [
    ("seq", 1), ("seq", -1), ("prev_line", "0" * 64), ("prev_id", "0" * 32), ("chain", OTHER_CHAIN), ("kid", "0" * 16),
    ("timestamp", "2026-11-30T08:00:00.000000Z"), ("timestamp", "2026-11-30T09:00:00.000000Z"), ("agent_id", "delta"),
    ("timestamp", "2027-01-01T00:00:00.000000Z"), ("kind", "identity_change"), ("novelty", "routine"),
]  # fmt: skip


def _change_somewhere(dice: Dice, record: dict[str, Any]) -> None:
    """Change, add or drop a value of the record, of its metadata or of its profile."""
    metadata = record["metadata"]
    places = [record, metadata, *([metadata["hc"]] * 3 if "hc" in metadata else [])]
    places += [
        value for name in ("closing", "opening") for value in [metadata.get(name)] if isinstance(value, dict)
    ] * 3
    place = dice.choice(places)
    name = dice.choice([*place, "user", "part", "event_time", "clock", "origin", "hc", "closing"])
    if dice.random() < 0.15:
        place.pop(name, None)
    else:
        place[name] = _value(dice, place.get(name))


def _value(dice: Dice, old: Any) -> Any:
    if isinstance(old, int) and dice.random() < 0.5:
        return old + dice.choice([-1, 1])
    if isinstance(old, str) and old and dice.random() < 0.4:
        at = dice.randrange(len(old))
        return dice.choice([old.upper(), old + "\n", old[:-1], old[:at] + dice.choice("0aZ") + old[at + 1 :]])
    odd: list[Any] = [
        None,
        True,
        False,
        [],
        {},
        [1, 1],
        [1, 2],
        [2, 1],
        [0, 1],
        [1.5, 2],
        {"next_kid": "a", "next_chain": "b"},
    ]
    return dice.choice([dice.choice(TEXTS), dice.choice(TEXTS), dice.choice(NUMBERS), dice.choice(odd)])


def _secret_of(line: bytes) -> bytes:
    return OTHER_SECRET if _kid(OTHER_SECRET) in line else SECRET


def _kid(secret: bytes) -> bytes:
    return hashlib.sha256(b"alveus.key\0" + secret).hexdigest()[:16].encode()


def _retold(lines: list[bytes], at: int) -> list[bytes]:
    """The records after `at` chained to it and signed again."""
    told = lines[: at + 1]
    for line in lines[at + 1 :]:
        record = fields_of(line)
        record["prev_id"] = fields_of(told[-1])["record_id"] if isinstance(fields_of(told[-1]), dict) else None
        if "hc" in record["metadata"]:
            record["metadata"]["hc"]["prev_line"] = hashlib.sha256(told[-1]).hexdigest()
        told.append(line_of(signed(record, secret=_secret_of(line))))
    return told


def _change_token(dice: Dice, data: bytes) -> bytes:
    """A token that no encoder writes, or one that only looks odd, signed over its own bytes."""
    lines = data.split(b"\n")[:-1]
    at = dice.randrange(len(lines))
    record = fields_of(lines[at])
    if record["novelty"] != "novel":
        return _change_byte(dice, data)
    name = dice.choice(["k", "z", "aa", "hc2"])
    record["metadata"][name] = "@"
    line = line_of(signed(record)).replace(b'"@"', dice.choice(TOKENS), 1)
    lines[at] = signed_bytes(line) if dice.random() < 0.8 else line
    return stream_of(lines)


def _change_head(dice: Dice, data: bytes) -> bytes:
    head = json.loads(data)
    name = dice.choice([*head, "note"])
    if dice.random() < 0.1:
        head.pop(name, None)
    else:
        head[name] = _value(dice, head.get(name))
    head.pop("mac", None) if name != "mac" else None
    try:
        fields = {key: value for key, value in head.items() if key != "mac"}
        secret = dice.choice([SECRET, SECRET, OTHER_SECRET])
        return canonical.encode({"mac": mac(secret, "alveus.head.v1", canonical.encode(fields)), **head})
    except canonical.NotCanonical:
        return data


STREAMS: Final[list[Callable[[Dice, bytes], bytes]]] = [
    _change_byte, _cut, _move_lines, _change_field, _change_field, _change_field, _change_token, _misplace, _misplace,
]  # fmt: skip
OTHERS: Final[list[Callable[[Dice, bytes], bytes]]] = [_change_byte, _cut]
HEADS: Final[list[Callable[[Dice, bytes], bytes]]] = [_change_byte, _cut, _change_head, _change_head]


ONE_CHAIN: Final = (_plain, _plain, _plain, _plain, _empty, _anchored, _basic_journal)
SUCCESSIONS: Final = (_succeeded, _thrice)
COUNT: Final = {ONE_CHAIN: 2_000, SUCCESSIONS: 500}


def _mutant(number: int, journals: Sequence[Callable[[Dice], Journal]]) -> Journal:
    dice = random.Random(SEED + number)
    journal = dice.choice(journals)(dice)
    files: Files = journal["files"]
    name = dice.choice(sorted(files) + [one for one in sorted(files) if one.endswith(".jsonl")] * 3)
    act = dice.random()
    if act < 0.03:
        del files[name]
    elif act < 0.06:
        chain = dice.choice([CHAIN, OTHER_CHAIN])
        files[f"stream.head.{dice.randrange(2)}"] = head_of(five().lines[: dice.randrange(6)], chain)
    elif act < 0.08:
        journal["keys"] = dice.choice([[OTHER_SECRET], [SECRET], [SECRET, OTHER_SECRET], [OTHER_SECRET, SECRET]])
    else:
        files[name] = dice.choice(_acts(name) if files[name] else OTHERS)(dice, files[name])
    return journal


def _acts(name: str) -> list[Callable[[Dice, bytes], bytes]]:
    if name.endswith(".jsonl"):
        return STREAMS
    return OTHERS if name.startswith("anchors/") else HEADS


def _ours(library: Any, journal: Journal) -> dict[str, Any]:
    seed = NOTE_SEED if "checkpoint_key" in journal else b""
    verdict: dict[str, Any] = library.verdict(journal["agent_id"], journal["files"], journal["keys"], note_seed=seed)
    return verdict


def _differs(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    names = ["state", "code"] if ours["code"] else ["state", "code", "records", "after_head"]
    if any(ours[name] != theirs[name] for name in names):
        return True
    # A head's fault has no line of its own: what is told beside it is not compared.
    return any(ours[name] != theirs[name] for name in PLACE if ours.get(name) is not None and name in theirs)


@pytest.mark.parametrize("journals", [
    pytest.param(ONE_CHAIN, id="one-chain"),
    pytest.param(SUCCESSIONS, id="successions"),
])  # fmt: skip
def test_both_implementations_judge_every_mutant_alike(
    library: Any, node: Any, tmp_path: Path, journals: Sequence[Callable[[Dice], Journal]]
) -> None:
    """Over thousands of seeded mutants both give one state, one code and one place."""
    mutants = [_mutant(number, journals) for number in range(COUNT[journals])]
    theirs = node.batch(mutants, tmp_path / "mutants")
    ours = [_ours(library, one) for one in mutants]
    pairs = zip(ours, theirs, strict=True)
    assert [(number, *pair) for number, pair in enumerate(pairs) if _differs(*pair)] == []


def test_the_mutants_reach_every_code(node: Any, tmp_path: Path) -> None:
    """Agreement means something: among the mutants there is every code that a journal of one chain can get."""
    mutants = [_mutant(number, ONE_CHAIN) for number in range(COUNT[ONE_CHAIN])]
    found = node.batch(mutants, tmp_path / "mutants")
    assert {verdict["code"] for verdict in found} - {None} == CODES
    assert {verdict["state"] for verdict in found} == {"ok_to_head", "ok_open_end", "empty", "broken"}


CODES: Final = {
    "not_canonical", "bad_field", "wrong_key", "bad_signature", "bad_record_id", "novelty_mismatch", "after_closing",
    "wrong_chain", "chain_break", "bad_seq", "bad_prev_line", "time_not_rising", "torn_tail", "head_missing",
    "bad_head", "short_of_head", "fork_of_head", "stream_missing", "anchor_mismatch",
}  # fmt: skip
