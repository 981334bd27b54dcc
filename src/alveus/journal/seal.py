"""Identifier, signature, key: spec/journal.md, section 3.

`seal` makes a line from a record's parts; `check` is its inverse and the only judge of a line on its own (its place in
a chain is `chain`'s to judge). Both work on slices of the same bytes: the canonical form orders the nine keys so that
what is hashed and what is signed are the line itself with fields left out.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring as quote
from typing import Any, Final, NamedTuple, NoReturn

from alveus.errors import InputError
from alveus.journal import canonical
from alveus.journal.record import (
    DOMAIN,
    MAX_LINE,
    OPTIONAL_FIELDS,
    PROFILE,
    Kind,
    Novelty,
    Profile,
    SignedRecord,
    Source,
    is_agent_id,
)

KEY_BYTES: Final = 32
_DOMAIN: Final = DOMAIN.encode() + b"||"
_KEY_NAME: Final = b"alveus.key\x00"


class Key:
    """The 32 secret bytes of a journal. It signs and names itself; it cannot be printed, copied or pickled."""

    __slots__ = ("_inner", "_outer", "_secret", "kid")

    def __init__(self, secret: bytes) -> None:
        if len(secret) != KEY_BYTES:
            raise InputError(f"a journal key is {KEY_BYTES} bytes, this one has {len(secret)}", code="bad_key")
        self._secret = bytes(secret)
        self._inner = sha256(bytes(byte ^ 0x36 for byte in secret.ljust(64, b"\0")) + _DOMAIN)
        self._outer = sha256(bytes(byte ^ 0x5C for byte in secret.ljust(64, b"\0")))
        self.kid = sha256(_KEY_NAME + self._secret).hexdigest()[:16]

    def sign(self, payload: bytes) -> str:
        """The signature of a canonical payload: 64 hex digits. HMAC with both key blocks hashed once, beforehand."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(payload)
        outer.update(inner.digest())
        return outer.hexdigest()

    def states(self) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """Copies of the two half-done hashes of `sign`, for the one loop that cannot afford its call."""
        return self._inner.copy, self._outer.copy

    def mac(self, domain: bytes, data: bytes) -> bytes:
        """HMAC-SHA-256 over `domain || data`, for everything that is not a record. 32 bytes."""
        return hmac.digest(self._secret, domain + data, "sha256")

    def hand_over(self, write: Callable[[bytes], object]) -> None:
        """Give the secret to `write`: for the key file and a verifying child process, and for nothing else."""
        write(self._secret)

    def __repr__(self) -> str:
        return f"<Key {self.kid}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")


class Sealed(NamedTuple):
    """A record with the line that holds it (no LF)."""

    record: SignedRecord
    line: bytes


class Invalid(Exception):
    """A line is not valid; `code` is one of spec/journal.md, section 5. Only `chain` and readers meet it."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail


def seal(
    key: Key,
    *,
    agent_id: str,
    kind: Kind,
    content: str,
    metadata: Mapping[str, Any],
    hc: Profile,
    prev_id: str | None,
    timestamp: str,
) -> Sealed:
    """Sign one record. Raises NotCanonical, or InputError for a line over 1 MiB or a reserved metadata key."""
    if "hc" in metadata:
        raise InputError("the metadata key 'hc' is reserved for the signed profile", hint="use another key")
    opening = _named(agent_id) + canonical.encode_text(content)
    meta_part, time_part = _metadata(metadata, hc), f',"timestamp":"{timestamp}"}}'.encode()
    prev_part = b',"prev_id":null' if prev_id is None else b',"prev_id":"' + prev_id.encode() + b'"'
    record_id = digest(opening + meta_part + time_part)[:32]
    signed = opening + b',"kind":"' + kind.encode() + b'"' + meta_part
    signature = key.sign(signed + prev_part + time_part)
    novelty = f',"novelty":"{hc.novelty._value_}"'.encode()
    names = f',"record_id":"{record_id}","signature":"{signature}"'.encode()
    line = signed + novelty + prev_part + names + time_part
    if len(line) > MAX_LINE:
        raise InputError(
            f"the record is {len(line)} bytes long, more than {MAX_LINE}",
            code="line_too_long",
            hint="split the content and give each piece its `part`",
        )
    record = SignedRecord(
        agent_id, content, kind, metadata, hc.novelty, prev_id, record_id, signature, timestamp, hc
    )  # by place, in the order of the fields: half the time of naming them
    return Sealed(record, line)


@lru_cache(maxsize=64)
def _named(agent_id: str) -> bytes:
    return b'{"agent_id":' + canonical.encode(agent_id) + b',"content":'


def _metadata(metadata: Mapping[str, Any], hc: Profile) -> bytes:
    """`,"metadata":{…}`; without rare fields and metadata of the caller's, spelled by hand, which is faster."""
    chain, seq, prev_line, kid, novelty, by, synced, src, user, session, event_time, origin, part, clock = hc
    quoted = _judge(by)
    if metadata or prev_line is None or (event_time, origin, part, clock) != _NOTHING_RARE:
        return b',"metadata":' + canonical.encode_merged(metadata, {"hc": hc.as_json()}, depth=2)
    of_session = "" if session is None else f'"session":{_name(session)},'
    of_user = "" if user is None else f',"user":{_name(user)}'
    return (
        f',"metadata":{{"hc":{{"by":{quoted},"chain":"{chain}","kid":"{kid}","novelty":"{novelty._value_}",'
        f'"p":{PROFILE},"prev_line":"{prev_line}","seq":{seq},{of_session}"src":"{src._value_}","synced":{synced}'
        f"{of_user}}}}}"
    ).encode()


@lru_cache(maxsize=64)
def _judge(by: str) -> str:
    """The name of what judged, as JSON spells it."""
    if _BY(by) is None:
        raise InputError(f"{by!r} cannot name what judged the novelty: 1 to 200 characters, no controls")
    return quote(by)


@lru_cache(maxsize=256)
def _name(of: str) -> str:
    """The name of a user or a session, as JSON spells it."""
    return canonical.encode_text(of).decode()


_NOTHING_RARE: Final = (None,) * (len(OPTIONAL_FIELDS) - 2)


# A line's own validity: spec/journal.md, section 5, steps 1 to 6


class Checked(NamedTuple):
    """What a line says of itself, once it is known to be valid. `chain`, `seq` and `prev_line` are None in v1-basic."""

    line: bytes
    agent_id: str
    kind: str
    novelty: str
    prev_id: str | None
    record_id: str
    timestamp: str
    chain: str | None
    seq: int | None
    prev_line: str | None
    synced: int

    def record(self) -> SignedRecord:
        """The whole record, typed."""
        return _to_record(self.object())

    def object(self) -> dict[str, Any]:
        """The line's JSON object."""
        value: dict[str, Any] = canonical.decode(self.line)
        return value


def check(line: bytes, key: Key) -> Checked:
    """What the line says, if it is valid on its own; raises Invalid with the first code that applies."""
    if len(line) > MAX_LINE:
        raise Invalid("not_canonical", f"the line is longer than {MAX_LINE} bytes")
    record = _well_formed(line)
    hc = record["metadata"].get("hc") or {}
    if hc and hc["kid"] != key.kid:
        raise Invalid("wrong_key", f"signed with key {hc['kid']}, not {key.kid}")
    payload, seed = _slices(line, record)
    if not hmac.compare_digest(key.sign(payload), record["signature"]):
        raise Invalid("bad_signature", "the signature does not fit the record")
    if not hmac.compare_digest(digest(seed)[:32], record["record_id"]):
        raise Invalid("bad_record_id", "record_id is not the hash of the record")
    if hc and hc["novelty"] != record["novelty"]:
        raise Invalid("novelty_mismatch", f"novelty says {record['novelty']}, the signed copy {hc['novelty']}")
    return Checked(
        line,
        record["agent_id"],
        record["kind"],
        record["novelty"],
        record["prev_id"],
        record["record_id"],
        record["timestamp"],
        hc.get("chain"),
        hc.get("seq"),
        hc.get("prev_line"),
        hc.get("synced", -1),
    )


def _slices(line: bytes, record: dict[str, Any]) -> tuple[bytes, bytes]:
    """The signed payload and the id's seed, cut out of a canonical line: it is they, with fields left out.

    `","kind":"` cannot occur before the field itself: inside a canonical string every quote is escaped, so no
    `,"` stands there.
    """
    kind_at = line.index(b'","kind":"') + 1
    meta_at = kind_at + len(',"kind":""') + len(record["kind"])
    time_at = len(line) - len(',"timestamp":""}') - len(record["timestamp"])
    prev_end = time_at - len(',"record_id":""') - 32 - len(',"signature":""') - 64
    prev_at = prev_end - len(',"prev_id":') - (4 if record["prev_id"] is None else 34)
    meta_end = prev_at - len(',"novelty":""') - len(record["novelty"])
    timestamp = line[time_at:]
    return line[:meta_end] + line[prev_at:prev_end] + timestamp, line[:kind_at] + line[meta_at:meta_end] + timestamp


def digest(data: bytes) -> str:
    """SHA-256, 64 hex digits."""
    state = _SHA256.copy()  # the copy spares the library's look-up of the algorithm
    state.update(data)
    return state.hexdigest()


def _to_record(record: dict[str, Any]) -> SignedRecord:
    metadata = record["metadata"]
    hc = metadata.pop("hc", None)
    return SignedRecord(
        agent_id=record["agent_id"],
        content=record["content"],
        kind=Kind(record["kind"]),
        metadata=metadata,
        novelty=Novelty(record["novelty"]),
        prev_id=record["prev_id"],
        record_id=record["record_id"],
        signature=record["signature"],
        timestamp=record["timestamp"],
        hc=None if hc is None else _profile(hc),
    )


def _profile(hc: dict[str, Any]) -> Profile:
    part = hc.get("part")
    return Profile(
        chain=hc["chain"],
        seq=hc["seq"],
        prev_line=hc["prev_line"],
        kid=hc["kid"],
        novelty=Novelty(hc["novelty"]),
        by=hc["by"],
        synced=hc["synced"],
        src=Source(hc["src"]),
        user=hc.get("user"),
        session=hc.get("session"),
        event_time=hc.get("event_time"),
        origin=hc.get("origin"),
        part=(part[0], part[1]) if part else None,
        clock=hc.get("clock"),
    )


# The rules, one field at a time

_SHA256: Final = sha256()
_FIELDS: Final = (
    "agent_id",
    "content",
    "kind",
    "metadata",
    "novelty",
    "prev_id",
    "record_id",
    "signature",
    "timestamp",
)
_KINDS: Final = frozenset(Kind)
_NOVELTIES: Final = frozenset(Novelty)
_SOURCES: Final = frozenset(Source)
_ABSENT: Final = object()
_ID: Final = re.compile(r"[0-9a-f]{32}").fullmatch
_HEX64: Final = re.compile(r"[0-9a-f]{64}").fullmatch
_KID: Final = re.compile(r"[0-9a-f]{16}").fullmatch
_CLOCK: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"
_SECOND: Final = rf"\d{{4}}-\d\d-\d\dT{_CLOCK}:[0-5]\d"
_TIME: Final = re.compile(rf"{_SECOND}\.\d{{6}}Z", re.ASCII).fullmatch
_BASIC_TIME: Final = re.compile(rf"{_SECOND}(?:\.\d{{1,9}})?(?:Z|\+00:00)", re.ASCII).fullmatch
_ZONED_TIME: Final = re.compile(rf"{_SECOND}(?:\.\d{{1,9}})?(?:Z|[+-]{_CLOCK})", re.ASCII).fullmatch
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,1024}").fullmatch
_BY: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,200}").fullmatch


def _well_formed(line: bytes) -> dict[str, Any]:
    record = _canonical_object(line)
    if tuple(record) != _FIELDS:
        raise Invalid("bad_field", _named_fields(record))
    for name, accepts in _RULES:
        if not accepts(record[name]):
            raise Invalid("bad_field", f"{name} is not what the format allows")
    hc = record["metadata"].get("hc", _ABSENT)
    if hc is _ABSENT:
        if not is_instant(record["timestamp"], _BASIC_TIME):
            raise Invalid("bad_field", "timestamp is not a UTC instant")
        return record
    _check_profile(hc)
    if not is_timestamp(record["timestamp"]):
        raise Invalid("bad_field", "timestamp is not a UTC instant with six decimals")
    if (record["prev_id"] is None) != (hc["seq"] == 0):
        raise Invalid("bad_field", "prev_id is null in the first record and only there")
    return record


def _canonical_object(line: bytes) -> dict[str, Any]:
    try:
        record = canonical.parse_quickly(line)
        if record is None or not canonical.is_plain(record, 1):
            record = canonical.parse(line)
    except canonical.NotCanonical as error:
        raise Invalid(error.code, error.message) from None
    if type(record) is not dict:
        raise Invalid("not_canonical", "the line is not a JSON object")
    return record


def _named_fields(record: dict[str, Any]) -> str:
    unknown = sorted(set(record) - set(_FIELDS))
    missing = sorted(set(_FIELDS) - set(record))
    return f"the fields differ from the nine: unknown {unknown}, missing {missing}"


def _is_str(value: object) -> bool:
    return type(value) is str


def _is_int(value: object) -> bool:
    return type(value) is int


def _is_id(value: object) -> bool:
    return type(value) is str and _ID(value) is not None


def _is_hex64(value: object) -> bool:
    return type(value) is str and _HEX64(value) is not None


def _is_novelty(value: object) -> bool:
    return type(value) is str and value in _NOVELTIES


def _is_name(value: object) -> bool:
    return type(value) is str and _NAME(value) is not None


def _is_part(value: object) -> bool:
    if type(value) is not list or len(value) != 2:
        return False
    index, count = value
    return type(index) is int and type(count) is int and 1 <= index <= count


def is_event_time(value: object) -> bool:
    """ISO 8601 with a zone, a real instant: `2026-11-30T12:00:00+03:00`."""
    return type(value) is str and is_instant(value, _ZONED_TIME)


def format_time(moment: datetime) -> str:
    """The journal's form of a UTC instant: six decimals, `Z`."""
    return moment.isoformat(timespec="microseconds")[:26] + "Z"


def is_timestamp(value: object) -> bool:
    """A UTC instant in the journal's form: `2026-11-30T12:00:00.000000Z`."""
    return type(value) is str and is_instant(value, _TIME)


def is_instant(text: str, pattern: Callable[[str], re.Match[str] | None]) -> bool:
    """Whether `text` has the pattern's form and names an instant that exists."""
    if pattern(text) is None:
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


_RULES: Final[tuple[tuple[str, Callable[[Any], bool]], ...]] = (
    ("agent_id", is_agent_id),
    ("content", _is_str),
    ("kind", lambda value: type(value) is str and value in _KINDS),
    ("metadata", lambda value: type(value) is dict),
    ("novelty", _is_novelty),
    ("prev_id", lambda value: value is None or _is_id(value)),
    ("record_id", _is_id),
    ("signature", _is_hex64),
    ("timestamp", _is_str),
)

# The signed profile: spec/journal.md, section 4

_REQUIRED: Final[dict[str, Callable[[Any], bool]]] = {
    "p": lambda value: type(value) is int and value == PROFILE,
    "chain": _is_id,
    "seq": lambda value: type(value) is int and value >= 0,
    "prev_line": lambda value: value is None or _is_hex64(value),
    "kid": lambda value: type(value) is str and _KID(value) is not None,
    "novelty": _is_novelty,
    "by": lambda value: type(value) is str and _BY(value) is not None,
    "synced": _is_int,
    "src": lambda value: type(value) is str and value in _SOURCES,
}
_OPTIONAL: Final[dict[str, Callable[[Any], bool]]] = {
    "user": _is_name,
    "session": _is_name,
    "event_time": is_event_time,
    "origin": _is_name,
    "part": _is_part,
    "clock": lambda value: value == "back",
}


def _check_profile(hc: Any) -> None:
    if type(hc) is not dict:
        raise Invalid("bad_field", "metadata.hc is not an object")
    if not hc.keys() >= _REQUIRED.keys():
        raise Invalid("bad_field", f"metadata.hc lacks {sorted(_REQUIRED.keys() - hc.keys())}")
    for name, value in hc.items():
        accepts = _REQUIRED.get(name) or _OPTIONAL.get(name)
        if accepts is None or not accepts(value):
            raise Invalid("bad_field", f"metadata.hc.{name} is not what the format allows")
    seq = hc["seq"]
    if not -1 <= hc["synced"] < max(seq, 0):
        raise Invalid("bad_field", "metadata.hc.synced does not lie before the record")
    if (hc["prev_line"] is None) != (seq == 0):
        raise Invalid("bad_field", "metadata.hc.prev_line is null in the first record and only there")


def refused_field(hc: Mapping[str, Any]) -> str | None:
    """The name of the first optional profile field whose value the format does not allow, or None."""
    return next((name for name, value in hc.items() if not _OPTIONAL[name](value)), None)
