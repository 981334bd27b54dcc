"""Records made by hand from the specification alone, so that a test does not ask the code under test what is right."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

KEY = bytes(range(32))
DOMAIN = b"montana.agent.hippocampus.v1"
SIGNED = ("agent_id", "content", "kind", "metadata", "prev_id", "timestamp")
SEED = ("agent_id", "content", "metadata", "timestamp")


def canonical(value: Any) -> bytes:
    """Canonical JSON, for values without floats whose keys sort alike by code point and by UTF-16 unit."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sign(record: dict[str, Any], key: bytes = KEY, domain: bytes = DOMAIN) -> str:
    """The signature of a record: spec/journal.md, section 3."""
    payload = canonical({name: record[name] for name in SIGNED})
    return hmac.new(key, domain + b"||" + payload, hashlib.sha256).hexdigest()


def identify(record: dict[str, Any]) -> str:
    """The record_id of a record."""
    return hashlib.sha256(canonical({name: record[name] for name in SEED})).digest()[:16].hex()


def sealed(record: dict[str, Any], key: bytes = KEY, domain: bytes = DOMAIN) -> dict[str, Any]:
    """The record with the id and the signature it has to have."""
    record = {**record, "record_id": identify(record)}
    return {**record, "signature": sign(record, key, domain)}


def kid_of(key: bytes = KEY) -> str:
    """A key's name."""
    return hashlib.sha256(b"alveus.key\0" + key).hexdigest()[:16]


def basic_lines(contents: list[tuple[str, str, str]], agent_id: str = "river", key: bytes = KEY) -> list[bytes]:
    """A v1-basic stream: (kind, content, novelty) each, one second apart, as the seed's document has it."""
    found: list[bytes] = []
    prev_id = None
    for number, (kind, content, novelty) in enumerate(contents):
        record = sealed(
            {
                "agent_id": agent_id,
                "content": content,
                "kind": kind,
                "metadata": {},
                "novelty": novelty,
                "prev_id": prev_id,
                "timestamp": f"2026-01-01T12:{number // 60:02}:{number % 60:02}.000000+00:00",
            },
            key,
        )
        prev_id = record["record_id"]
        found.append(canonical(record))
    return found


def profile_lines(
    contents: list[tuple[str, str, str]],
    *,
    agent_id: str = "river",
    key: bytes = KEY,
    chain: str = "c0" * 16,
    domain: bytes = DOMAIN,
) -> list[bytes]:
    """A stream with the signed profile: (kind, content, novelty) each, one second apart."""
    found: list[bytes] = []
    prev_id = prev_line = None
    for number, (kind, content, novelty) in enumerate(contents):
        hc = {
            "by": "words/1",
            "chain": chain,
            "kid": kid_of(key),
            "novelty": novelty,
            "p": 1,
            "prev_line": prev_line,
            "seq": number,
            "src": "agent",
            "synced": -1,
        }
        record = sealed(
            {
                "agent_id": agent_id,
                "content": content,
                "kind": kind,
                "metadata": {"hc": hc},
                "novelty": novelty,
                "prev_id": prev_id,
                "timestamp": f"2026-01-01T12:{number // 60:02}:{number % 60:02}.000000Z",
            },
            key,
            domain,
        )
        prev_id = record["record_id"]
        found.append(canonical(record))
        prev_line = hashlib.sha256(found[-1]).hexdigest()
    return found


def leaf(line: bytes) -> bytes:
    """RFC 6962: the hash of a leaf."""
    return hashlib.sha256(b"\0" + line).digest()


def root_of(lines: list[bytes]) -> bytes:
    """RFC 6962: the Merkle tree hash, as its definition has it."""
    if not lines:
        return hashlib.sha256(b"").digest()
    if len(lines) == 1:
        return leaf(lines[0])
    split = 1 << (len(lines) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root_of(lines[:split]) + root_of(lines[split:])).digest()


def frontier_of(lines: list[bytes]) -> list[str]:
    """The roots of the full subtrees, largest first."""
    found, at = [], 0
    for level in reversed(range(len(lines).bit_length())):
        if len(lines) >> level & 1:
            found.append(root_of(lines[at : at + (1 << level)]).hex())
            at += 1 << level
    return found


def head_bytes(lines: list[bytes], *, chain: str = "c0" * 16, key: bytes = KEY, **changes: Any) -> bytes:
    """A head file over these lines: spec/journal.md, section 6."""
    fields = {
        "bytes": sum(len(line) + 1 for line in lines),
        "chain": chain,
        "closed_through": None,
        "frontier": frontier_of(lines),
        "last_line_sha256": hashlib.sha256(lines[-1]).hexdigest() if lines else None,
        "last_record_id": json.loads(lines[-1])["record_id"] if lines else None,
        "root": root_of(lines).hex(),
        "size": len(lines),
        "time": "2026-01-02T00:00:00.000000Z",
        **changes,
    }
    mac = hmac.new(key, b"alveus.head.v1||" + canonical(fields), hashlib.sha256).hexdigest()
    return canonical({**fields, "mac": mac})


class Bench:
    """One agent's files in a home, laid out by hand."""

    def __init__(self, home: Path, agent_id: str = "river", key: bytes = KEY) -> None:
        self.home = home
        self.agent_id = agent_id
        self.key = key
        self.folder = home / "agents" / agent_id
        self.stream = self.folder / "stream.jsonl"
        self.heads = [self.folder / "stream.head.0", self.folder / "stream.head.1"]
        self.folder.mkdir(parents=True, exist_ok=True)
        keys = home / "keys"
        keys.mkdir(mode=0o700, exist_ok=True)
        self.key_file = keys / f"{agent_id}.journal.key"
        if not self.key_file.exists():
            self.key_file.touch(mode=0o600)
            self.key_file.write_bytes(key)

    @classmethod
    def of(cls, home: Path, agent_id: str = "river") -> Bench:
        """The files of a journal that is there."""
        key = (home / "keys" / f"{agent_id}.journal.key").read_bytes()
        return cls(home, agent_id, key)

    @property
    def lines(self) -> list[bytes]:
        """The stream's lines, without LF."""
        return self.stream.read_bytes().split(b"\n")[:-1]

    @lines.setter
    def lines(self, lines: list[bytes]) -> None:
        self.stream.write_bytes(b"".join(line + b"\n" for line in lines))

    def record(self, number: int) -> dict[str, Any]:
        """The JSON object of one line."""
        found: dict[str, Any] = json.loads(self.lines[number])
        return found

    def replace(self, number: int, line: bytes) -> None:
        """Put other bytes in a line's place."""
        lines = self.lines
        lines[number] = line
        self.lines = lines

    def edit(self, number: int, **fields: Any) -> None:
        """Change fields of a record and leave its signature as it is."""
        self.replace(number, canonical({**self.record(number), **fields}))

    def edit_hc(self, number: int, **fields: Any) -> None:
        """Change fields of a record's signed profile; a field that is `...` goes."""
        record = self.record(number)
        hc = {name: value for name, value in {**record["metadata"]["hc"], **fields}.items() if value is not ...}
        self.edit(number, metadata={**record["metadata"], "hc": hc})

    def without(self, number: int, name: str) -> None:
        """Take a field out of a record."""
        record = self.record(number)
        del record[name]
        self.replace(number, canonical(record))

    def forge(self, number: int, **fields: Any) -> None:
        """Change a record and sign it again, as only the holder of the key can; `hc` is merged."""
        record = self.record(number)
        hc = {**record["metadata"].get("hc", {}), **fields.pop("hc", {})}
        record = {**record, **fields}
        record["metadata"] = {**record["metadata"], "hc": hc} if hc else record["metadata"]
        self.replace(number, canonical(sealed(record, self.key)))
