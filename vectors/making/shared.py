"""The key, the chains and the times of all vectors, and how a vector writes bytes."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from alveus.journal import canonical
from alveus.journal.head import Tree, leaf_hash, make_head, write_head
from alveus.journal.record import Kind, Novelty, Profile, Source
from alveus.journal.seal import Key, seal

Vector = dict[str, Any]

SECRET: Final = bytes(range(32))
OTHER_SECRET: Final = bytes(range(32, 64))
KEY: Final = Key(SECRET)
OTHER_KEY: Final = Key(OTHER_SECRET)
CHAIN: Final = "8d1f0c52b6a94e7f93c04ad6e15b7a20"
OTHER_CHAIN: Final = "1f0e2d3c4b5a69788796a5b4c3d2e1f0"
THIRD_CHAIN: Final = "77777777777777777777777777777777"
AGENT: Final = "river"
DOMAIN: Final = "montana.agent.hippocampus.v1"
BEGIN: Final = datetime(2026, 11, 30, 9, tzinfo=UTC)
PAYLOAD: Final = ("agent_id", "content", "kind", "metadata", "prev_id", "timestamp")
SEED: Final = ("agent_id", "content", "metadata", "timestamp")


def time_at(seconds: float) -> str:
    """The timestamp so many seconds after the first one."""
    return (BEGIN + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


# How a vector writes bytes


def written(data: bytes) -> Vector:
    """Bytes as text and as hex; as hex alone where they are not UTF-8."""
    try:
        return {"text": data.decode(), "hex": data.hex()}
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def recipe(*parts: tuple[bytes, int]) -> Vector:
    """Long bytes, as pieces that are each repeated so many times."""
    whole = b"".join([piece * times for piece, times in parts])
    pieces = [{"hex": piece.hex()} if times == 1 else {"hex": piece.hex(), "times": times} for piece, times in parts]
    return {"recipe": pieces, "length": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}


def vector(name: str, shows: str, check: str, **fields: Any) -> Vector:
    """One vector; `expect` comes last, for whoever reads it."""
    expect = fields.pop("expect")
    return {"name": name, "shows": shows, "check": check, **fields, "expect": expect}


def document(part: str, sections: str, vectors: Sequence[Vector]) -> bytes:
    """A file of vectors."""
    names = [one["name"] for one in vectors]
    if len(names) != len(set(names)):
        raise ValueError(f"{part}: {sorted({name for name in names if names.count(name) > 1})} stand there twice")
    whole = {"part": part, "sections": sections, "key": SECRET.hex(), "vectors": list(vectors)}
    text = json.dumps(whole, ensure_ascii=False, indent=1)
    return "".join(f"\\u{ord(char):04x}" if char in _INVISIBLE else char for char in text).encode() + b"\n"


_INVISIBLE: Final = frozenset(map(chr, (*range(0x7F, 0xA0), 0x300, 0x301, 0x308, 0x2028, 0x2029, 0xFEFF, 0xFFFF)))
"""Escaped in the files, so that an editor neither hides nor mends them."""


# Lines


@dataclass(slots=True, kw_only=True)
class Story:
    """A chain being told, by the library's own `seal`. `lines` are without their LF."""

    key: Key = KEY
    chain: str = CHAIN
    agent_id: str = AGENT
    begins: float = 0
    lines: list[bytes] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def tell(
        self,
        content: str,
        kind: str = "observation",
        metadata: Mapping[str, Any] | None = None,
        *,
        novelty: str = "novel",
        src: str = "agent",
        by: str = "words/1",
        synced: int | None = None,
        time: str | None = None,
        **optional: Any,
    ) -> bytes:
        """Add a record, one second after the one before."""
        seq = len(self.lines)
        hc = Profile(
            chain=self.chain,
            seq=seq,
            prev_line=hashlib.sha256(self.lines[-1]).hexdigest() if self.lines else None,
            kid=self.key.kid,
            novelty=Novelty(novelty),
            by=by,
            synced=-1 if synced is None else synced,
            src=Source(src),
            **optional,
        )
        sealed = seal(
            self.key,
            agent_id=self.agent_id,
            kind=Kind(kind),
            content=content,
            metadata=metadata or {},
            hc=hc,
            prev_id=self.ids[-1] if self.ids else None,
            timestamp=time or time_at(self.begins + seq),
        )
        self.lines.append(sealed.line)
        self.ids.append(sealed.record.record_id)
        return sealed.line

    def stream(self) -> bytes:
        return stream_of(self.lines)

    def head(self, size: int | None = None, **fields: Any) -> bytes:
        """The head after the first `size` lines."""
        return head_of(self.lines[: len(self.lines) if size is None else size], self.chain, key=self.key, **fields)


def stream_of(lines: Iterable[bytes]) -> bytes:
    """The lines as they lie in a file."""
    return b"".join([line + b"\n" for line in lines])


def tree_of(lines: Iterable[bytes]) -> Tree:
    """The Merkle tree over the lines."""
    tree = Tree()
    for line in lines:
        tree.append(leaf_hash(line))
    return tree


def head_of(
    lines: Sequence[bytes],
    chain: str = CHAIN,
    *,
    key: Key = KEY,
    closed_through: str | None = None,
    time: str | None = None,
) -> bytes:
    """A head file's bytes."""
    head = make_head(
        tree_of(lines),
        chain=chain,
        offset=len(stream_of(lines)),
        last_line_sha256=hashlib.sha256(lines[-1]).hexdigest() if lines else None,
        last_record_id=json.loads(lines[-1])["record_id"] if lines else None,
        closed_through=closed_through,
        time=time or time_at(1000 + len(lines)),
    )
    return write_head(head, key)


def five() -> Story:
    """The chain that most journals here are made of: five records of the same agent, two of them twins."""
    story = Story()
    story.tell("Деплой падает: контейнеру PostgreSQL нужно 900 МБ. 🧱", src="user", novelty="prediction_error")
    story.tell("Moved from PostgreSQL to SQLite: one file, no server.", "decision", {"ticket": 41})
    story.tell("The build is green.", "state", novelty="routine")
    story.tell("The build is green.", "state", novelty="routine")
    story.tell('They said "ship it".', src="user", synced=3)
    return story


# Lines by hand


def fields_of(line: bytes) -> dict[str, Any]:
    """The record in a line, to be changed."""
    record: dict[str, Any] = json.loads(line)
    return record


def mac(secret: bytes, domain: str, payload: bytes) -> str:
    """A seal under any domain."""
    return hmac.digest(secret, domain.encode() + b"||" + payload, "sha256").hex()


def signed(record: dict[str, Any], *, secret: bytes = SECRET, domain: str = DOMAIN) -> dict[str, Any]:
    """The record with the id and the signature it would have, whatever its fields hold."""
    payload = canonical.encode({name: record[name] for name in PAYLOAD if name in record})
    seed = canonical.encode({name: record[name] for name in SEED if name in record})
    return {**record, "record_id": hashlib.sha256(seed).hexdigest()[:32], "signature": mac(secret, domain, payload)}


def line_of(record: dict[str, Any]) -> bytes:
    """The line of a record by hand."""
    return canonical.encode(record)


def altered(line: bytes, **fields: Any) -> bytes:
    """The line with fields changed and nothing made good."""
    return line_of({**fields_of(line), **fields})


def resigned(line: bytes, **fields: Any) -> bytes:
    """The line with fields changed and signed again: what only the holder of the key can make."""
    return line_of(signed({**fields_of(line), **fields}))


def with_profile(line: bytes, *, drop: str | None = None, **fields: Any) -> dict[str, Any]:
    """The record with fields of its profile changed or dropped, signed again."""
    record = fields_of(line)
    hc = {**record["metadata"]["hc"], **fields}
    if drop is not None:
        del hc[drop]
    record["metadata"]["hc"] = hc
    return signed(record)


def spelled(line: bytes, old: bytes, new: bytes) -> bytes:
    """The line with the first `old` spelled as `new`."""
    if old not in line:
        raise ValueError(f"{old!r} is not in the line")
    return line.replace(old, new, 1)


def line_vector(
    name: str, shows: str, line: bytes | Vector, code: str | None = None, *, before: Sequence[bytes] = (), **fields: Any
) -> Vector:
    """A line after the lines before it, and the code it gets (None: it is valid)."""
    inputs: Vector = {"before": [written(one) for one in before]} if before else {}
    line = written(line) if isinstance(line, bytes) else line
    expect = {"code": code, **fields.pop("expect", {})}
    return vector(name, shows, "line", **inputs, **fields, line=line, expect=expect)


def journal_vector(name: str, shows: str, files: Mapping[str, bytes], expect: Vector, **fields: Any) -> Vector:
    """A whole folder, and the verdict on it."""
    inputs = {"agent_id": AGENT, **fields, "files": {path: written(data) for path, data in files.items()}}
    return vector(name, shows, "journal", **inputs, expect=expect)


def whole(state: str, records: int, after_head: int = 0) -> Vector:
    """A verdict without a fault."""
    return {"state": state, "code": None, "records": records, "after_head": after_head}


def broken(code: str, lines: Sequence[bytes] | None = None, line: int | None = None) -> Vector:
    """A verdict with a fault; where one line is at fault, its number and the byte it begins at."""
    place = {} if line is None else {"line": line, "offset": len(stream_of((lines or [])[: line - 1]))}
    return {"state": "broken", "code": code, **place}
