"""Every published vector, checked by the library; the vectors themselves, made again; and Node's word on them."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from alveus.drafts import check_draft
from alveus.errors import InputError, JournalError, WitnessError
from alveus.journal import canonical
from alveus.journal.anchor import make_anchor
from alveus.journal.chain import DayTally, Link
from alveus.journal.head import MAC_DOMAIN, Tree, leaf_hash, read_head, write_head
from alveus.journal.record import Draft, Kind, Novelty, Profile, Source
from alveus.journal.seal import Invalid, Key, check, seal
from alveus.store.layout import encode_name, make_layout
from alveus.witness import checkpoint, montana, note

Vector = dict[str, Any]

FOLDER: Final = Path(__file__).resolve().parents[2] / "vectors"


def _vectors() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*.json")):
        for vector in json.loads(path.read_bytes())["vectors"]:
            name = f"{path.stem}:{vector['name']}"
            yield pytest.param(vector, id=name)


@pytest.mark.parametrize("vector", [*_vectors()])
def test_the_library_agrees_with_a_vector(vector: Vector, library: Any) -> None:
    """What the vector shows holds for the library: the bytes, the code, the verdict."""
    CHECKS[vector["check"]](vector, library)


def test_making_the_vectors_again_gives_the_same_bytes(tmp_path: Path) -> None:
    """The published files are what `make.py` makes of this library, byte for byte, and there is no other file."""
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True, capture_output=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    published = {path.name: path.read_bytes() for path in FOLDER.glob("*.json")}
    assert made.keys() == published.keys()
    assert [name for name in made if made[name] != published[name]] == []


def test_the_second_implementation_agrees_with_every_vector(node: Any) -> None:
    """`node vectors/verify.mjs` passes every vector that is published."""
    done = node.run()
    count = sum(len(json.loads(path.read_bytes())["vectors"]) for path in FOLDER.glob("*.json"))
    assert done.stdout.splitlines()[-1] == f"{count} passed, 0 failed", done.stdout + done.stderr
    assert done.returncode == 0


# One function for each `check` of a vector


def _bytes(written: Vector) -> bytes:
    if "recipe" in written:
        data = b"".join(bytes.fromhex(piece["hex"]) * piece.get("times", 1) for piece in written["recipe"])
        assert (len(data), hashlib.sha256(data).hexdigest()) == (written["length"], written["sha256"])
        return data
    data = bytes.fromhex(written["hex"])
    assert "text" not in written or written["text"].encode() == data
    return data


def _secret() -> bytes:
    return bytes(range(32))


def _check_line(vector: Vector, _: Any) -> None:
    key, line = Key(_secret()), _bytes(vector["line"])
    before = [_bytes(one) for one in vector.get("before", [])]
    first = json.loads(before[0] if before else b"{}")
    link = Link(agent_id=first.get("agent_id") or _agent_in(line))
    for one in before:
        link.take(check(one, key))
    code = None
    try:
        link.take(check(line, key))
    except Invalid as invalid:
        code = invalid.code
    assert code == vector["expect"]["code"]
    if "seed" in vector["expect"]:
        _check_computed(vector["expect"], key, line)


def _agent_in(line: bytes) -> str:
    try:
        record = json.loads(line)
    except ValueError:
        return "nobody"
    return str(record.get("agent_id")) if isinstance(record, dict) else "nobody"


def _check_computed(expect: Vector, key: Key, line: bytes) -> None:
    record = json.loads(line)
    seed = canonical.encode({name: record[name] for name in ("agent_id", "content", "metadata", "timestamp")})
    payload = canonical.encode({name: record[name] for name in record if name not in _UNSIGNED})
    assert (seed, payload) == (_bytes(expect["seed"]), _bytes(expect["payload"]))
    assert (check(line, key).record_id, key.sign(payload)) == (expect["record_id"], expect["signature"])
    assert hashlib.sha256(line).hexdigest() == expect["line_sha256"]
    assert canonical.encode(check(line, key).record().as_json()) == line


_UNSIGNED: Final = {"novelty", "record_id", "signature"}


def _check_canonical(vector: Vector, _: Any) -> None:
    data, expect = _bytes(vector["input"]), vector["expect"]
    code = None
    try:
        canonical.parse(data)
    except canonical.NotCanonical as error:
        code = error.code
    assert code == expect["code"]
    if expect["canonical"] is not None:
        assert canonical.encode(json.loads(data)) == _bytes(expect["canonical"])


def _check_number(vector: Vector, _: Any) -> None:
    value = struct.unpack(">d", bytes.fromhex(vector["binary64"]))[0]
    if vector["expect"]["text"] is None:
        with pytest.raises(canonical.NotCanonical):
            canonical.encode(value)
    else:
        assert canonical.encode(value).decode() == vector["expect"]["text"]


def _check_write(vector: Vector, _: Any) -> None:
    record, refused = _described(vector["record"]), vector["expect"]["refused"]
    if refused is None:
        _write(record)
    else:
        with pytest.raises(InputError) as raised:
            _write(record)
        assert raised.value.code == _WRITER_CODES[refused]
    if "careless_line" in vector:
        with pytest.raises(Invalid) as invalid:
            check(_bytes(vector["careless_line"]), Key(_secret()))
        assert invalid.value.code == vector["expect"]["code"]


_WRITER_CODES: Final = {
    "not_canonical": "not_canonical",
    "reserved_key": "reserved_key",
    "unknown_kind": "bad_input",
    "bad_agent_id": "bad_input",
    "line_too_long": "line_too_long",
}


def _write(record: Any) -> None:
    """What a door goes through, without a disk: the agent's name, the draft, the seal."""
    make_layout(Path(), record["agent_id"])
    try:
        kind = Kind(record["kind"])
    except ValueError as error:
        raise InputError(str(error)) from error
    check_draft(Draft(kind=kind, content=record["content"], metadata=record["metadata"]))
    nothing = {"chain": "0" * 32, "kid": "0" * 16, "prev_line": None, "seq": 0, "synced": -1}
    hc = Profile(**nothing, novelty=Novelty.NOVEL, by="words/1", src=Source.USER)
    given = {name: record[name] for name in ("agent_id", "content", "metadata")}
    seal(Key(_secret()), **given, kind=kind, hc=hc, prev_id=None, timestamp="2026-11-30T09:00:00.000000Z")


def _described(value: Any) -> Any:
    if isinstance(value, list):
        return [_described(one) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        [(tag, argument)] = value.items()
        if tag in _TAGS:
            return _TAGS[tag](argument)
    return {name: _described(one) for name, one in value.items()}


def _nested(levels: int) -> Any:
    return None if levels == 0 else {"a": _nested(levels - 1)}


_TAGS: Final[dict[str, Callable[[Any], Any]]] = {
    "$binary64": lambda bits: struct.unpack(">d", bytes.fromhex(bits))[0],
    "$integer": int,
    "$utf16": lambda units: bytes.fromhex(units).decode("utf-16-be", "surrogatepass"),
    "$repeat": lambda pair: pair[0] * pair[1],
    "$nest": _nested,
}


def _check_journal(vector: Vector, library: Any) -> None:
    files = {name: _bytes(data) for name, data in vector["files"].items()}
    keys = [bytes.fromhex(key) for key in vector.get("keys", [_secret().hex()])]
    if not vector.get("locked", True):
        _agrees(library.unlocked(vector["agent_id"], files, keys[0]), vector["expect"])
        return
    against = _bytes(vector["against"]) if "against" in vector else None
    seed = bytes.fromhex(vector.get("ed25519_seed", ""))
    _agrees(library.verdict(vector["agent_id"], files, keys, against=against, note_seed=seed), vector["expect"])


def _agrees(verdict: Vector, expect: Vector) -> None:
    """The verdict states every fact that the vector does."""
    expected = {name: sorted(value) if isinstance(value, list) else value for name, value in expect.items()}
    assert {name: verdict.get(name) for name in expected} == expected


def _check_torn(vector: Vector, library: Any) -> None:
    whole = {name: _bytes(data) for name, data in vector["files"].items()}
    for run in vector["expect"]["cuts"]:
        for at in range(run["from"], run["to"] + 1):
            cut = {**whole, "stream.jsonl": whole["stream.jsonl"][:at]}
            _agrees(library.verdict(vector["agent_id"], cut, [_secret()]), run["locked"])
            _agrees(library.unlocked(vector["agent_id"], cut, _secret()), run["unlocked"])


def _check_tree(vector: Vector, _: Any) -> None:
    tree = Tree()
    leaves = [leaf_hash(_bytes(line)) for line in vector["lines"]]
    tree.extend(leaves)
    expect = vector["expect"]
    assert [leaf.hex() for leaf in leaves] == expect["leaves"]
    assert [node.hex() for node in tree.frontier] == expect["frontier"]
    assert tree.root().hex() == expect["root"]


def _check_head(vector: Vector, _: Any) -> None:
    data, key, expect = _bytes(vector["head"]), Key(_secret()), vector["expect"]
    if not expect["valid"]:
        with pytest.raises(JournalError) as raised:
            read_head(data, key)
        assert raised.value.code == "bad_head"
        return
    assert write_head(read_head(data, key), key) == data
    sealed = _bytes(expect["mac_input"])
    assert sealed.startswith(MAC_DOMAIN)
    assert key.mac(b"", sealed).hex() == expect["mac"] == json.loads(data)["mac"]


def _check_kid(vector: Vector, _: Any) -> None:
    assert Key(bytes.fromhex(vector["key"])).kid == vector["expect"]["kid"]


def _check_folder(vector: Vector, _: Any) -> None:
    assert encode_name(vector["agent_id"]) == vector["expect"]["folder"]


def _check_day(vector: Vector, _: Any) -> None:
    tally, key = DayTally(), Key(_secret())
    for line in vector["lines"]:
        record = check(_bytes(line), key)
        if record.timestamp[:10] == vector["date"]:
            tally.add(record.novelty, record.record_id)
    anchor = make_anchor(vector["agent_id"], vector["date"], tally)
    expect = vector["expect"]
    if expect["payload"] is None:
        assert anchor is None
    else:
        assert anchor is not None
        assert anchor.payload_bytes() == _bytes(expect["payload"])
        assert anchor.payload_hash == expect["anchor_payload_hash"]


def _check_checkpoint(vector: Vector, _: Any) -> None:
    seed, expect = bytes.fromhex(vector["ed25519_seed"]), vector["expect"]
    origin = checkpoint.origin(vector["agent_id"], vector["chain"])
    made = checkpoint.Checkpoint(origin=origin, size=vector["size"], root=bytes.fromhex(vector["root"]))
    key = checkpoint.verifier_key(origin, note.public_key(seed))
    assert (key.public_key.hex(), key.key_id.hex()) == (expect["public_key"], expect["key_id"])
    assert made.text().encode() == _bytes(expect["text"])
    assert checkpoint.sign(made, seed).encode() == _bytes(expect["note"])
    assert checkpoint.verify(_bytes(expect["note"]), key) == made


def _check_note(vector: Vector, _: Any) -> None:
    data, expect = _bytes(vector["note"]), vector["expect"]
    if not expect["checkpoint"]:
        with pytest.raises(WitnessError):
            checkpoint.parse(data)
        return
    origin = checkpoint.parse(data).checkpoint.origin
    key = checkpoint.verifier_key(origin, note.public_key(bytes.fromhex(vector["ed25519_seed"])))
    if expect["signed"]:
        checkpoint.verify(data, key)
    else:
        with pytest.raises(WitnessError):
            checkpoint.verify(data, key)


def _check_app(vector: Vector, _: Any) -> None:
    assert montana.app_id(vector["app_name"]).hex() == vector["expect"]["app_id"]


def _check_account(vector: Vector, _: Any) -> None:
    assert montana.public_key(bytes.fromhex(vector["ml_dsa_65_seed"])) == _bytes(vector["public_key"])
    assert montana.account_id(_bytes(vector["public_key"]), vector["suite"]).hex() == vector["expect"]["account_id"]


def _check_operation(vector: Vector, _: Any) -> None:
    expect = vector["expect"]
    fields = (bytes.fromhex(vector[name]) for name in ("prev_hash", "sender", "app_id", "data_hash"))
    scope = montana.scope(*fields)
    assert scope == _bytes(expect["scope"])
    assert montana.op_id(scope).hex() == expect["op_id"]
    if "signature" in vector:
        operation = montana.parse(_bytes(expect["operation"]))
        assert (operation.scope, operation.signature) == (scope, _bytes(vector["signature"]))
        assert montana.verify(operation, _bytes(vector["public_key"])) is expect["signature_valid"]


CHECKS: Final[dict[str, Callable[[Vector, Any], None]]] = {
    "line": _check_line,
    "canonical": _check_canonical,
    "number": _check_number,
    "write": _check_write,
    "journal": _check_journal,
    "torn": _check_torn,
    "tree": _check_tree,
    "head": _check_head,
    "kid": _check_kid,
    "folder": _check_folder,
    "day": _check_day,
    "checkpoint": _check_checkpoint,
    "note": _check_note,
    "app": _check_app,
    "account": _check_account,
    "operation": _check_operation,
}
