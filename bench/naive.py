"""The seed's Hippocampus to the letter and nothing more: the baseline that `make bench` measures against.

Standard library only: no index, no head, one lock-free writer; every read goes through the whole file, and novelty is
the seed's word-frequency fallback with its ever-growing vocabulary.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DOMAIN = b"montana.agent.hippocampus.v1"
SIGNED = ("agent_id", "kind", "timestamp", "content", "metadata", "prev_id")
Record = dict[str, Any]


def canonical(value: object) -> bytes:
    """Stable JSON, as the standard library gives it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class NaiveHippocampus:
    """Seed sections 3 to 7."""

    def __init__(self, folder: Path, agent_id: str, key: bytes, *, fsync: bool = False) -> None:
        self.path = folder / "stream.jsonl"
        self.agent_id = agent_id
        self.key = key
        self.fsync = fsync
        self.words: Counter[str] = Counter()
        self.tail: str | None = None
        if self.path.exists():
            for record in self.iter_records():
                self.words.update(self._split(record["content"]))
                self.tail = record["record_id"]
        self.file = self.path.open("ab")

    def close(self) -> None:
        self.file.close()

    def iter_records(self) -> Iterator[Record]:
        with self.path.open("rb") as lines:
            for line in lines:
                yield json.loads(line)

    def record(self, kind: str, content: str, metadata: Record | None = None) -> Record:
        record: Record = {
            "agent_id": self.agent_id,
            "kind": kind,
            "content": content,
            "metadata": metadata or {},
            "timestamp": datetime.now(UTC).isoformat(),
            "prev_id": self.tail,
        }
        seed = {name: record[name] for name in ("agent_id", "timestamp", "content", "metadata")}
        record["record_id"] = hashlib.sha256(canonical(seed)).digest()[:16].hex()
        record["novelty"] = self._novelty(content)
        record["signature"] = self._sign(record)
        self.file.write(canonical(record) + b"\n")
        self.file.flush()
        if self.fsync:
            os.fsync(self.file.fileno())
        self.tail = record["record_id"]
        return record

    def _sign(self, record: Record) -> str:
        payload = canonical({name: record[name] for name in SIGNED})
        return hmac.new(self.key, DOMAIN + b"||" + payload, hashlib.sha256).hexdigest()

    def verify_chain(self) -> str:
        prev = None
        for record in self.iter_records():
            if not hmac.compare_digest(self._sign(record), record["signature"]):
                return f"bad signature in {record['record_id']}"
            if record["prev_id"] != prev:
                return f"broken chain at {record['record_id']}"
            prev = record["record_id"]
        return "ok"

    @staticmethod
    def _split(content: str) -> list[str]:
        return re.findall(r"\w+", content.lower())

    def _novelty(self, content: str) -> str:
        words = self._split(content)
        new = sum(word not in self.words for word in words) / len(words) if words else 0.0
        self.words.update(words)
        return "prediction_error" if new > 0.5 else "novel" if new > 0.2 else "routine"

    def selective_load(self, budget: int, chars_per_token: int = 4, *, include_routine: bool = False) -> list[Record]:
        records = [record for record in self.iter_records() if include_routine or record["novelty"] != "routine"]
        chars, chosen = 0, []
        for record in reversed(records):
            chars += len(record["content"])
            if chars > budget * chars_per_token:
                break
            chosen.append(record)
        return chosen[::-1]
