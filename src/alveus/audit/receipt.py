"""The receipt: what happened at one boundary, without a word of what was remembered. spec/audit.md, section 1.

A receipt holds hashes, bounded identifiers, names of scopes, numbers and times; no field has room for a sentence. The
rules stand in one table, which building a receipt and reading one go through alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from alveus.errors import InputError
from alveus.journal import canonical
from alveus.journal.seal import is_timestamp

Version = int | str
"""A memory version: a whole number or a bounded identifier. One system uses one of the two."""


class Boundary(StrEnum):
    """Where a memory passes from one tier or step to the next."""

    STORE = "store"
    STM_MTM = "stm_mtm"
    MTM_LPM = "mtm_lpm"
    RETRIEVE = "retrieve"
    GENERATE = "generate"


class Status(StrEnum):
    """How far the work at a boundary has come."""

    STARTED = "started"
    WAITING = "waiting"
    COMMITTED = "committed"
    VERIFIED = "verified"
    FAILED = "failed"
    DEGRADED = "degraded"


class Outcome(StrEnum):
    """What a deterministic check of the outcome looked at."""

    FILE_HASH = "file_hash"
    ROW_ID = "row_id"
    TEST_RESULT = "test_result"
    DESTINATION_LOOKUP = "destination_lookup"


class BadReceipt(InputError):
    """What was given is no receipt; the message names the field and never its value."""

    default_code = "bad_receipt"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeReceipt:
    """A check that the intended work exists: its kind, and a hash, an identifier or a verdict."""

    type: Outcome
    value: str

    def __post_init__(self) -> None:
        _demand(type(self.type) is Outcome, "outcomeReceipt.type")
        _demand(type(self.value) is str, "outcomeReceipt.value")
        _demand(_OUTCOME_VALUES[self.type](self.value) is not None, "outcomeReceipt.value")

    @property
    def passed(self) -> bool:
        """Whether the check found what it looked for."""
        return self.value not in _NOT_PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """One event at one boundary. Times are in the journal's form; raises BadReceipt for a field that is not allowed."""

    run_id: str
    user_scope: str
    assistant_scope: str
    boundary: Boundary
    version: Version
    status: Status
    at_utc: str
    source_version: str | None = None
    source_ids: tuple[str, ...] = ()
    destination_id: str | None = None
    source_durable: bool | None = None
    source_present: bool | None = None
    destination_present: bool | None = None
    declared_wait_until: str | None = None
    capacity: int | None = None
    occupancy: int | None = None
    depends_on_version: Version | None = None
    outcome_receipt: OutcomeReceipt | None = None
    previous_version: Version | None = None
    adapter: str | None = None

    def __post_init__(self) -> None:
        for name, key, required, accepts in _CHECKS:
            value = getattr(self, name)
            if (value is not None or required) and not accepts(value):
                raise _bad(key)

    @property
    def key(self) -> tuple[str, Boundary, Status, Version]:
        """Which event of which attempt this is."""
        return self.run_id, self.boundary, self.status, self.version

    @property
    def scope(self) -> tuple[str, str]:
        """The lane: user and assistant, compared whole."""
        return self.user_scope, self.assistant_scope


def as_json(receipt: Receipt) -> dict[str, Any]:
    """The receipt as it lies on disk: camelCase, absent fields left out."""
    told: dict[str, Any] = {}
    for name, (key, _, _) in FIELDS.items():
        value = getattr(receipt, name)
        if value is not None and value != ():
            told[key] = _PLAIN.get(name, _as_is)(value)
    return told


def serialise(receipt: Receipt) -> bytes:
    """The receipt's canonical bytes."""
    return canonical.encode(as_json(receipt))


def parse(data: bytes) -> Receipt:
    """The receipt whose canonical bytes are `data`. Raises NotCanonical or BadReceipt."""
    value = canonical.parse_quickly(data)
    if value is None or not canonical.is_plain(value, 1):
        value = canonical.parse(data)
    return from_json(value)


def from_json(value: Any) -> Receipt:
    """The receipt of a parsed object. Raises BadReceipt for an unknown, missing or ill-typed field."""
    _demand(isinstance(value, Mapping), "the receipt")
    _demand(value.keys() <= _NAMES.keys(), "an unknown field")
    _demand(value.keys() >= _REQUIRED, "a missing field")
    _demand(None not in value.values(), "null, which is no way to leave a field out")
    typed = {_NAMES[key]: inner for key, inner in value.items()}
    for name in _TYPED.keys() & typed.keys():
        typed[name] = _TYPED[name](typed[name])
    return Receipt(**typed)


# The rules, one field at a time

MAX_SOURCES: Final = 4096
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+@/=~-]{0,127}").fullmatch
_HASH: Final = re.compile(r"[0-9a-f]{16,64}").fullmatch
_SCOPE: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}").fullmatch
_NOT_PASSED: Final = frozenset({"failed", "missing"})

_OUTCOME_VALUES: Final[dict[Outcome, Callable[[str], object]]] = {
    Outcome.FILE_HASH: _HASH,
    Outcome.ROW_ID: _IDENTIFIER,
    Outcome.TEST_RESULT: re.compile(r"passed|failed").fullmatch,
    Outcome.DESTINATION_LOOKUP: re.compile(r"found|missing").fullmatch,
}


def is_identifier(value: object) -> bool:
    """1 to 128 letters, digits and `. _ : + @ / = ~ -`, beginning with a letter or digit: no room for a sentence."""
    return type(value) is str and _IDENTIFIER(value) is not None


def is_hash(value: object) -> bool:
    """16 to 64 lower-case hex digits."""
    return type(value) is str and _HASH(value) is not None


def is_scope(value: object) -> bool:
    """1 to 1,024 characters, no control character, no lone surrogate."""
    return type(value) is str and _SCOPE(value) is not None


def is_version(value: object) -> bool:
    """A whole number from 0 to 2^53−1, or an identifier."""
    return is_count(value) or is_identifier(value)


def is_count(value: object) -> bool:
    """A whole number from 0 to 2^53−1."""
    return type(value) is int and 0 <= value <= canonical.MAX_INTEGER


def _is_bool(value: object) -> bool:
    return type(value) is bool


def _are_hashes(value: object) -> bool:
    return type(value) is tuple and len(value) <= MAX_SOURCES and all(map(is_hash, value))


def _is_one(kind: type) -> Callable[[object], bool]:
    return lambda value: type(value) is kind


FIELDS: Final[dict[str, tuple[str, bool, Callable[[Any], bool]]]] = {
    "run_id": ("runId", True, is_identifier),
    "user_scope": ("userScope", True, is_scope),
    "assistant_scope": ("assistantScope", True, is_scope),
    "boundary": ("boundary", True, _is_one(Boundary)),
    "version": ("version", True, is_version),
    "status": ("status", True, _is_one(Status)),
    "at_utc": ("atUtc", True, is_timestamp),
    "source_version": ("sourceVersion", False, is_identifier),
    "source_ids": ("sourceIds", False, _are_hashes),
    "destination_id": ("destinationId", False, is_hash),
    "source_durable": ("sourceDurable", False, _is_bool),
    "source_present": ("sourcePresent", False, _is_bool),
    "destination_present": ("destinationPresent", False, _is_bool),
    "declared_wait_until": ("declaredWaitUntil", False, is_timestamp),
    "capacity": ("capacity", False, is_count),
    "occupancy": ("occupancy", False, is_count),
    "depends_on_version": ("dependsOnVersion", False, is_version),
    "outcome_receipt": ("outcomeReceipt", False, _is_one(OutcomeReceipt)),
    "previous_version": ("previousVersion", False, is_version),
    "adapter": ("adapter", False, is_identifier),
}
"""Each field: its name on disk, whether it must be there, and what it may be."""

_CHECKS: Final = tuple((name, *rule) for name, rule in FIELDS.items())
_NAMES: Final = {key: name for name, (key, _, _) in FIELDS.items()}
_REQUIRED: Final = {key for key, required, _ in FIELDS.values() if required}


def _as_is(value: Any) -> Any:
    return value


def _member(kind: Callable[[str], Any], key: str) -> Callable[[Any], Any]:
    def typed(value: Any) -> Any:
        try:
            return kind(value)
        except (ValueError, TypeError):
            raise _bad(key) from None

    return typed


def _outcome(value: Any) -> OutcomeReceipt:
    _demand(isinstance(value, Mapping) and value.keys() == {"type", "value"}, "outcomeReceipt")
    return OutcomeReceipt(type=_member(Outcome, "outcomeReceipt.type")(value["type"]), value=value["value"])


def _hashes(value: Any) -> tuple[Any, ...]:
    _demand(isinstance(value, list) and len(value) > 0, "sourceIds")
    return tuple(value)


_TYPED: Final[dict[str, Callable[[Any], Any]]] = {
    "boundary": _member(Boundary, "boundary"),
    "status": _member(Status, "status"),
    "outcome_receipt": _outcome,
    "source_ids": _hashes,
}
_PLAIN: Final[dict[str, Callable[[Any], Any]]] = {
    "boundary": str,
    "status": str,
    "source_ids": list,
    "outcome_receipt": lambda outcome: {"type": str(outcome.type), "value": outcome.value},
}


def _demand(holds: bool, key: str) -> None:  # noqa: FBT001  (a condition is what it demands)
    if not holds:
        raise _bad(key)


def _bad(key: str) -> BadReceipt:
    return BadReceipt(
        f"{key} is not what a receipt allows",
        hint="spec/audit.md, section 1: hashes, bounded identifiers and scopes; never content",
    )
