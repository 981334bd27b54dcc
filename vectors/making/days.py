"""anchor.json and montana.json: section 8."""
# ruff: noqa: E501  (a vector is one row of a table, as far as it goes)

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

from alveus.journal.anchor import make_anchor
from alveus.journal.chain import DayTally
from alveus.store.layout import encode_name
from alveus.witness import checkpoint, montana, note
from making.journals import two_chains
from making.shared import (
    AGENT,
    CHAIN,
    OTHER_SECRET,
    SECRET,
    Story,
    Vector,
    broken,
    fields_of,
    head_of,
    journal_vector,
    tree_of,
    vector,
    whole,
    written,
)

NOTE_SEED: Final = bytes(range(64, 96))
ANCHOR_SEED: Final = bytes(range(96, 128))
DAY: Final = "2026-11-30"
HOUR: Final = 3600


def anchors() -> list[Vector]:
    """A day's payload, the checkpoint beside it, and journals with closed days."""
    return [*_days(), *_checkpoints(), *_notes(), *_closed_days(), *_against()]


def day_story() -> Story:
    """Three records on the 30th, the last of them in its last microsecond, and two on the 1st."""
    story = Story()
    times = ("2026-11-30T00:00:00.000000Z", "2026-11-30T12:00:00.000000Z", "2026-11-30T23:59:59.999999Z",
             "2026-12-01T00:00:00.000000Z", "2026-12-01T09:00:00.000000Z")  # fmt: skip
    classes = ("novel", "prediction_error", "novel", "routine", "routine")
    for number, (time, novelty) in enumerate(zip(times, classes, strict=True)):
        story.tell(f"record {number}", novelty=novelty, time=time)
    return story


def _payload(story: Story, day: str, agent_id: str = AGENT) -> tuple[bytes | None, str | None]:
    tally = DayTally()
    for line in story.lines:
        record = fields_of(line)
        if record["timestamp"].startswith(day):
            tally.add(record["novelty"], record["record_id"])
    anchor = make_anchor(agent_id, day, tally)
    return (None, None) if anchor is None else (anchor.payload_bytes(), anchor.payload_hash)


def _days() -> list[Vector]:
    rows = {
        "day": ("A day of three records.", DAY),
        "next-day": ("A day with one class of novelty.", "2026-12-01"),
        "no-records": ("A day without records has no anchor.", "2026-12-02"),
    }
    return [_day(name, shows, day) for name, (shows, day) in rows.items()]


def _day(name: str, shows: str, day: str) -> Vector:
    story = day_story()
    payload, digest = _payload(story, day)
    expect = {"payload": None if payload is None else written(payload)}
    if digest is not None:
        expect["anchor_payload_hash"] = digest
    return vector(
        name, shows, "day", agent_id=AGENT, date=day, lines=[written(line) for line in story.lines], expect=expect
    )


def _signed(agent_id: str, chain: str, size: int, root: bytes) -> str:
    origin = f"alveus/{encode_name(agent_id)}/{chain}"
    return checkpoint.sign(checkpoint.Checkpoint(origin=origin, size=size, root=root), NOTE_SEED)


def _checkpoints() -> list[Vector]:
    story = day_story()
    rows = [("checkpoint-0", "A checkpoint of nothing.", AGENT, 0), ("checkpoint-5", "A checkpoint of five records.", AGENT, 5),
            ("checkpoint-agent", "The agent is percent-encoded in the origin.", "агент / 1", 5),
            ("checkpoint-agent-dot", "So is a leading dot, as in the folder's name.", ".hidden", 5)]  # fmt: skip
    return [
        _checkpoint(name, shows, agent, tree_of(story.lines[:size]).root(), size) for name, shows, agent, size in rows
    ]


def _checkpoint(name: str, shows: str, agent_id: str, root: bytes, size: int) -> Vector:
    origin = f"alveus/{encode_name(agent_id)}/{CHAIN}"
    verifier = checkpoint.verifier_key(origin, note.public_key(NOTE_SEED))
    expect = {
        "public_key": verifier.public_key.hex(),
        "key_id": verifier.key_id.hex(),
        "text": written(checkpoint.Checkpoint(origin=origin, size=size, root=root).text().encode()),
        "note": written(_signed(agent_id, CHAIN, size, root).encode()),
    }
    inputs = {"agent_id": agent_id, "chain": CHAIN, "size": size, "root": root.hex(), "ed25519_seed": NOTE_SEED.hex()}
    return vector(name, shows, "checkpoint", **inputs, expect=expect)


def _notes() -> list[Vector]:
    story = day_story()
    good = _signed(AGENT, CHAIN, 5, tree_of(story.lines).root())
    text, signature = good.split("\n\n")
    body, encoded = signature.rstrip("\n").rsplit(" ", 1)
    flipped = encoded[:20] + ("A" if encoded[20] != "A" else "B") + encoded[21:]
    root = text.split("\n")[2]
    witness = "\u2014 witness.example/w AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    extended, apart = _extended("x 1"), _extended("a\u2028b", "c")
    stranger = checkpoint.sign(checkpoint.parse(good).checkpoint, ANCHOR_SEED).split("\n\n")[1]
    rows: list[tuple[str, str, str, Vector]] = [
        ("note-whole", "A checkpoint as it was written.", good, {"checkpoint": True, "signed": True}),
        ("note-extension", "A line after the root is an extension: signed, and ignored.", extended, {"checkpoint": True, "signed": True}),
        ("note-extensions", "There may be several, and only LF ends one.", apart, {"checkpoint": True, "signed": True}),
        ("note-extension-edited", "An extension is part of what is signed.", extended.replace("x 1", "x 2"), {"checkpoint": True, "signed": False}),
        ("note-extension-empty", "An extension line is not empty.", extended.replace("x 1\n", "\nx 1\n"), {"checkpoint": False}),
        ("note-extension-control", "Nor does it hold a control character.", extended.replace("x 1", "x\t1"), {"checkpoint": False}),
        ("note-forged-beside", "One bad signature by the key condemns the note, beside a good one.",
         f"{good}{body} {flipped}\n", {"checkpoint": True, "signed": False}),
        ("note-other-key", "A signature by another key under the same name is ignored.", good + stranger, {"checkpoint": True, "signed": True}),
        ("note-only-other-key", "It does not stand for the key's own.", f"{text}\n\n{stranger}", {"checkpoint": True, "signed": False}),
        ("note-witnessed", "Further signatures may follow.", good + witness, {"checkpoint": True, "signed": True}),
        (
            "note-forged",
            "A signature with a bit changed.",
            f"{text}\n\n{body} {flipped}\n",
            {"checkpoint": True, "signed": False},
        ),
        ("note-edited", "A size edited.", good.replace("\n5\n", "\n4\n"), {"checkpoint": True, "signed": False}),
        ("note-unsigned", "No signature.", f"{text}\n\n", {"checkpoint": False}),
        ("note-no-blank", "No blank line.", good.replace("\n\n", "\n"), {"checkpoint": False}),
        ("note-no-end", "The last line does not end.", good[:-1], {"checkpoint": False}),
        ("note-leading-zero", "A size with a leading zero.", good.replace("\n5\n", "\n05\n"), {"checkpoint": False}),
        ("note-no-size", "A size that is no number.", good.replace("\n5\n", "\nfive\n"), {"checkpoint": False}),
        (
            "note-root-padding",
            "A root without its padding.",
            good.replace(root, root.rstrip("=")),
            {"checkpoint": False},
        ),
        ("note-crlf", "Line ends made CRLF.", good.replace("\n", "\r\n"), {"checkpoint": False}),
        ("note-two-lines", "A text of two lines.", good.replace(f"{root}\n", ""), {"checkpoint": False}),
        ("note-hyphen", "A hyphen for the em dash.", good.replace("\u2014", "-"), {"checkpoint": False}),
    ]  # fmt: skip
    inputs = {"ed25519_seed": NOTE_SEED.hex()}
    return [
        vector(name, shows, "note", note=written(data.encode()), **inputs, expect=expect)
        for name, shows, data, expect in rows
    ]


def _extended(*lines: str) -> str:
    """The checkpoint of five records with further lines, which other programs may write."""
    root = tree_of(day_story().lines).root()
    claim = checkpoint.Checkpoint(origin=f"alveus/{AGENT}/{CHAIN}", size=5, root=root, extensions=lines)
    return checkpoint.sign(claim, NOTE_SEED)


def closed_folder(story: Story, *, closed: str | None = DAY, **replaced: bytes | None) -> dict[str, bytes]:
    """A journal with the 30th closed after four records; `replaced` files of the day are others, or missing."""
    payload, digest = _payload(story, DAY)
    signed = _signed(AGENT, CHAIN, 4, tree_of(story.lines[:4]).root())
    day = {
        "payload.json": payload,
        "payload.sha256": f"{digest}\n".encode(),
        "checkpoint.note": signed.encode(),
        "status.json": b"{}",
    }
    day |= {name.replace("_", "."): data for name, data in replaced.items()}
    files = {f"anchors/{DAY}/{name}": data for name, data in day.items() if data is not None}
    return {"stream.jsonl": story.stream(), "stream.head.0": story.head(closed_through=closed), **files}


def _closed_days() -> list[Vector]:
    story = day_story()
    payload, digest = _payload(story, DAY)
    other = json.dumps(json.loads(payload or b"") | {"count": 4}, sort_keys=True, separators=(",", ":")).encode()
    other_hash = hashlib.sha256(other).hexdigest()
    wrong_root = _signed(AGENT, CHAIN, 4, tree_of(story.lines[:3]).root()).encode()
    too_long = _signed(AGENT, CHAIN, 6, tree_of(story.lines).root()).encode()
    elsewhere = _signed(AGENT, CHAIN[::-1], 4, tree_of(story.lines[:4]).root()).encode()
    unclosed = {name: data for name, data in closed_folder(story).items() if not name.startswith("anchors/")}
    no_records = {
        name.replace(DAY, "2026-11-29"): data for name, data in closed_folder(story, closed="2026-11-29").items()
    }
    left_out = {
        name.replace(DAY, "2026-12-01"): data
        for name, data in closed_folder(story, closed="2026-12-01", **_december()).items()
    }
    mismatch = broken("anchor_mismatch")
    good = whole("ok_to_head", 5)
    rows: list[tuple[str, str, dict[str, bytes], Vector]] = [
        ("closed-day", "A closed day that is what the journal says.", closed_folder(story), good),
        ("closed-day-in-no-head", "A day's folder counts before the head names it.", closed_folder(story, closed=None), good),
        ("closed-day-left-out", "A day before the last closed one may have been left out.", left_out, good),
        ("unfinished-folder", "A folder that is no day is no closed day.", {**closed_folder(story), f"anchors/.{DAY}.new/payload.json": b"{"}, good),
        ("payload-edited", "A payload edited, and its hash with it.",
         closed_folder(story, payload_json=other, payload_sha256=f"{other_hash}\n".encode()), mismatch),
        ("payload-spaces", "A payload that says the same in other bytes.", closed_folder(story, payload_json=(payload or b"") + b"\n"), mismatch),
        ("payload-missing", "A closed day without its payload.", closed_folder(story, payload_json=None), mismatch),
        ("hash-edited", "The hash of another payload.", closed_folder(story, payload_sha256=f"{other_hash}\n".encode()), mismatch),
        ("hash-without-lf", "The hash is written with an LF.", closed_folder(story, payload_sha256=(digest or "").encode()), mismatch),
        ("checkpoint-root", "A checkpoint of another root.", closed_folder(story, checkpoint_note=wrong_root), mismatch),
        ("checkpoint-size", "A checkpoint of more records than there are.", closed_folder(story, checkpoint_note=too_long), mismatch),
        ("checkpoint-chain", "A checkpoint of another chain.", closed_folder(story, checkpoint_note=elsewhere), mismatch),
        ("checkpoint-missing", "A closed day without its checkpoint.", closed_folder(story, checkpoint_note=None), mismatch),
        ("folder-missing", "A day that the head calls closed, without its folder.", unclosed, mismatch),
        ("day-without-records", "A closed day of which there is no record.", no_records, mismatch),
        ("folder-bare", "A folder alone makes a closed day, which then lacks its files.", {**closed_folder(story), "anchors/2026-12-01/status.json": b"{}"}, mismatch),
    ]  # fmt: skip
    return [
        *[journal_vector(name, shows, files, expect, ed25519_seed=NOTE_SEED.hex()) for name, shows, files, expect in rows],
        journal_vector("closed-day-two-chains", "A day's records are those of all chains.", _day_of_two_chains(),
                       whole("ok_to_head", 5), keys=[OTHER_SECRET.hex(), SECRET.hex()], ed25519_seed=NOTE_SEED.hex()),
    ]  # fmt: skip


def _day_of_two_chains() -> dict[str, bytes]:
    """A chain closed and continued on the 30th; the 30th closed on the 1st, its checkpoint that of the successor."""
    first, second = two_chains()
    payload, digest = _payload(Story(lines=[*first.lines, *second.lines]), DAY)
    signed = _signed(AGENT, second.chain, 2, tree_of(second.lines).root())
    second.tell("The next day.", time="2026-12-01T09:00:00.000000Z")
    day = {"payload.json": payload or b"", "payload.sha256": f"{digest}\n".encode(), "checkpoint.note": signed.encode()}
    closed = f"stream-{first.chain}"
    return {
        f"{closed}.jsonl": first.stream(),
        f"{closed}.head.0": first.head(),
        "stream.jsonl": second.stream(),
        "stream.head.0": second.head(closed_through=DAY),
        **{f"anchors/{DAY}/{name}": data for name, data in day.items()},
    }


def _december() -> dict[str, bytes]:
    payload, digest = _payload(day_story(), "2026-12-01")
    return {"payload_json": payload or b"", "payload_sha256": f"{digest}\n".encode()}


def _against() -> list[Vector]:
    """A checkpoint that left the machine, and what became of the journal."""
    story = day_story()
    three = _signed(AGENT, CHAIN, 3, tree_of(story.lines[:3]).root()).encode()
    five = _signed(AGENT, CHAIN, 5, tree_of(story.lines).root()).encode()
    other = _signed("delta", CHAIN, 3, tree_of(story.lines[:3]).root()).encode()
    fork = _signed(AGENT, CHAIN, 3, tree_of(story.lines[1:4]).root()).encode()
    files = {"stream.jsonl": story.stream(), "stream.head.0": story.head()}
    back = {
        "stream.jsonl": story.stream()[: len(b"".join(story.lines[:4])) + 4],
        "stream.head.0": head_of(story.lines[:4]),
    }
    other_name = three.replace(b"\xe2\x80\x94 alveus/", b"\xe2\x80\x94 witness/")
    extended = _extended("x 1").encode()
    mismatch = broken("against_mismatch")
    rows: list[tuple[str, str, dict[str, bytes], bytes, Vector]] = [
        ("against-earlier", "The journal went on after the checkpoint.", files, three, whole("ok_to_head", 5)),
        ("against-now", "The checkpoint is of this very moment.", files, five, whole("ok_to_head", 5)),
        (
            "against-rolled-back",
            "Stream and head rolled back together: only the checkpoint tells.",
            back,
            five,
            mismatch,
        ),
        ("against-fork", "The first three records are others.", files, fork, mismatch),
        ("against-other-agent", "A checkpoint of another agent.", files, other, mismatch),
        ("against-nothing", "What is no checkpoint witnesses nothing.", files, b"x\n", mismatch),
        ("against-extension", "A checkpoint with an extension line is one.", files, extended, whole("ok_to_head", 5)),
    ]
    unknown: list[tuple[str, str, bytes, Vector]] = [
        ("unchecked-signed", "Without the public key the root still has to be the journal's: it is.", three, whole("ok_to_head", 5)),
        ("unchecked-fork", "Without the public key the root still has to be the journal's: it is not.", fork, mismatch),
        ("unchecked-other-name", "A signature line under another name than the origin's makes no checkpoint.", other_name, mismatch),
    ]  # fmt: skip
    return [
        *[
            journal_vector(name, shows, folder, expect, ed25519_seed=NOTE_SEED.hex(), against=written(data))
            for name, shows, folder, data, expect in rows
        ],
        *[journal_vector(name, shows, files, expect, against=written(data)) for name, shows, data, expect in unknown],
    ]


# Montana


def montana_operations(kept: Path) -> list[Vector]:
    """The bytes of an anchor operation. `kept` is the file as it is: a hedged signature that holds is kept."""
    public = montana.public_key(ANCHOR_SEED)
    _, digest = _payload(day_story(), DAY)
    anchored, other = bytes.fromhex(digest or ""), hashlib.sha256(b"x").digest()
    first = _operation("operation-first", "An account's first anchor.", anchored, public=public, kept=kept)
    before = bytes.fromhex(first["expect"]["op_id"])
    second = _operation("operation-second", "The next one names it.", other, public=public, prev=before)
    return [
        vector("app", "The application of this program.", "app", app_name=montana.APP_NAME, expect={"app_id": montana.app_id().hex()}),
        vector("app-cyrillic", "A name is hashed as UTF-8.", "app", app_name="память", expect={"app_id": montana.app_id("память").hex()}),
        vector("account", "The account of an ML-DSA-65 key.", "account", suite=1, ml_dsa_65_seed=ANCHOR_SEED.hex(),
               public_key=written(public), expect={"account_id": montana.account_id(public).hex()}),
        first,
        second,
    ]  # fmt: skip


def _operation(
    name: str, shows: str, data: bytes, *, public: bytes, prev: bytes = bytes(32), kept: Path | None = None
) -> Vector:
    operation = _signed_operation(data, prev, public, kept)
    inputs: dict[str, Any] = {
        "prev_hash": prev.hex(),
        "sender": operation.sender.hex(),
        "app_id": operation.app_id.hex(),
        "data_hash": data.hex(),
    }
    expect: dict[str, Any] = {"scope": written(operation.scope), "op_id": operation.op_id.hex()}
    if kept is not None:
        inputs |= {"public_key": written(public), "signature": written(operation.signature)}
        expect |= {"operation": written(bytes(operation)), "signature_valid": True}
    return vector(name, shows, "operation", **inputs, expect=expect)


def _signed_operation(data: bytes, prev: bytes, public: bytes, kept: Path | None) -> montana.AnchorOperation:
    fresh = montana.sign(ANCHOR_SEED, data, prev_hash=prev)
    if kept is None or not kept.exists():
        return fresh
    found = [one for one in json.loads(kept.read_bytes())["vectors"] if "signature" in one]
    old = montana.AnchorOperation(
        prev_hash=prev, sender=fresh.sender, app_id=fresh.app_id, data_hash=data, signature=bytes.fromhex(found[0]["signature"]["hex"])
    )  # fmt: skip
    return old if montana.verify(old, public) else fresh
