"""The Montana network's `Anchor` operation, as bytes: spec/journal.md, section 8.

    0x04 || prev_hash 32 || sender 32 || app_id 32 || data_hash 32 || signature 3309       3,438 bytes

The signature is ML-DSA-65 (FIPS 204) over the first 129 bytes, with the empty context string, as the network's own
code signs. Signing here is hedged (FIPS 204's default), so that two signatures of one operation differ and both hold;
the operation's id covers the scope alone and stays the same.

This is an export format: the public node takes no operations from users, so the owner keeps the proof. The window in
which the network seals an operation is no field of it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey, MLDSA65PublicKey

from alveus.errors import WitnessError

TYPE_ANCHOR: Final = 0x04
HASH: Final = 32
SCOPE: Final = 1 + 4 * HASH
SIGNATURE: Final = 3_309
OPERATION: Final = SCOPE + SIGNATURE
PUBLIC_KEY: Final = 1_952
SEED: Final = 32
SUITE_ML_DSA_65: Final = 1

APP_NAME: Final = "agent-hippocampus"
FIRST: Final = bytes(HASH)
"""`prev_hash` of an account's first operation."""

_CONTEXT: Final = b""  # ML-DSA's context string: the network uses none


def _hash(domain: str, *parts: bytes) -> bytes:
    return hashlib.sha256(b"\x00".join((domain.encode(), b"".join(parts)))).digest()


def app_id(app_name: str = APP_NAME) -> bytes:
    """The 32 bytes that name an application: SHA-256("mt-app" 0x00 app_name)."""
    return _hash("mt-app", app_name.encode())


def account_id(public_key: bytes, suite: int = SUITE_ML_DSA_65) -> bytes:
    """The 32 bytes that name an account: SHA-256("mt-account" 0x00 suite as u16 little-endian || public key 1952)."""
    _length("a public key", public_key, PUBLIC_KEY)
    if suite != SUITE_ML_DSA_65:
        raise WitnessError(f"signature suite {suite} is not known.", code="bad_anchor", hint="1 is ML-DSA-65")
    return _hash("mt-account", suite.to_bytes(2, "little"), public_key)


def scope(prev_hash: bytes, sender: bytes, app_id: bytes, data_hash: bytes) -> bytes:
    """The 129 bytes an anchor's signature covers."""
    fields = (("prev_hash", prev_hash), ("sender", sender), ("app_id", app_id), ("data_hash", data_hash))
    for name, value in fields:
        _length(name, value, HASH)
    return bytes([TYPE_ANCHOR]) + b"".join(value for _, value in fields)


def op_id(scope: bytes) -> bytes:
    """The 32 bytes that name an operation: SHA-256("mt-op" 0x00 scope). The next operation's `prev_hash`."""
    _length("a signed scope", scope, SCOPE)
    return _hash("mt-op", scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorOperation:
    """One operation: four hashes of 32 bytes and a signature of 3,309. `bytes(op)` is its 3,438 bytes.

    Holding one says nothing of its signature: `verify` does. Raises `WitnessError` for fields of other lengths.
    """

    prev_hash: bytes
    sender: bytes
    app_id: bytes
    data_hash: bytes
    signature: bytes

    def __post_init__(self) -> None:
        scope(self.prev_hash, self.sender, self.app_id, self.data_hash)
        _length("a signature", self.signature, SIGNATURE)

    @property
    def scope(self) -> bytes:
        """The 129 signed bytes."""
        return scope(self.prev_hash, self.sender, self.app_id, self.data_hash)

    @property
    def op_id(self) -> bytes:
        """The operation's 32-byte name, whatever its signature."""
        return op_id(self.scope)

    def __bytes__(self) -> bytes:
        return self.scope + self.signature


def public_key(seed: bytes) -> bytes:
    """The 1,952-byte public key of a 32-byte seed. Raises `WitnessError`."""
    return _private(seed).public_key().public_bytes_raw()


def sign(seed: bytes, data_hash: bytes, *, prev_hash: bytes = FIRST, app: bytes | None = None) -> AnchorOperation:
    """Sign an anchor of `data_hash` (a day's `anchor_payload_hash`, 32 bytes) with the account key of this seed.

    The sender is the key's own account. `prev_hash` is the id of the account's operation before, zeros for the first.
    `app` is an `app_id`, by default this program's. Raises `WitnessError`.
    """
    key = _private(seed)
    sender = account_id(key.public_key().public_bytes_raw())
    chosen = app_id() if app is None else app
    signature = key.sign(scope(prev_hash, sender, chosen, data_hash), _CONTEXT)
    return AnchorOperation(prev_hash=prev_hash, sender=sender, app_id=chosen, data_hash=data_hash, signature=signature)


def parse(data: bytes) -> AnchorOperation:
    """The operation in these bytes, unverified. Raises `WitnessError` for another length or type byte."""
    _length("an anchor operation", data, OPERATION)
    if data[0] != TYPE_ANCHOR:
        raise WitnessError(
            f"this operation is of type 0x{data[0]:02x}, not an anchor (0x04).",
            code="bad_anchor",
            hint="give the file that an anchor was exported to",
        )
    prev_hash, sender, app, data_hash = (data[at : at + HASH] for at in range(1, SCOPE, HASH))
    return AnchorOperation(prev_hash=prev_hash, sender=sender, app_id=app, data_hash=data_hash, signature=data[SCOPE:])


def verify(op: AnchorOperation, public_key: bytes, *, account: bytes | None = None) -> bool:
    """Whether this key (1,952 bytes) signed the operation for its own account.

    An account that changed its key keeps its id: pass it as `account`, and the sender is compared with that instead.
    True says nothing about the network having sealed the operation. Raises `WitnessError` for a key of another length.
    """
    if op.sender != (account_id(public_key) if account is None else account):
        return False
    try:
        _public(public_key).verify(op.signature, op.scope, _CONTEXT)
    except InvalidSignature:
        return False
    return True


def _private(seed: bytes) -> MLDSA65PrivateKey:
    _length("an anchor key's seed", seed, SEED)
    try:
        return MLDSA65PrivateKey.from_seed_bytes(seed)
    except UnsupportedAlgorithm as error:
        raise _unsupported() from error


def _public(public_key: bytes) -> MLDSA65PublicKey:
    _length("a public key", public_key, PUBLIC_KEY)
    try:
        return MLDSA65PublicKey.from_public_bytes(public_key)
    except UnsupportedAlgorithm as error:
        raise _unsupported() from error


def _unsupported() -> WitnessError:
    return WitnessError(
        "this build of `cryptography` has no ML-DSA-65.",
        code="mldsa_unsupported",
        hint="install the wheel from PyPI; everything but Montana anchors works without",
    )


def _length(what: str, value: bytes, expected: int) -> None:
    # The value is never shown: it may be a key.
    if len(value) != expected:
        raise WitnessError(
            f"{what} has {len(value)} bytes, not {expected}.",
            code="bad_anchor",
            hint="pass raw bytes, not hex or text",
        )
