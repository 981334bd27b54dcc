"""The Montana anchor operation: its bytes, its names, its signature."""

import base64
import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.errors import WitnessError
from alveus.witness import montana

SEED = bytes(range(32))
DATA_HASH = hashlib.sha256(b"a day").digest()
PUBLIC_KEY = montana.public_key(SEED)
OPERATION = montana.sign(SEED, DATA_HASH)

# RFC 9881, appendix C: the ML-DSA-65 example key pair is of this seed. The first 118 bytes of the public key, behind
# the 22 bytes of its SubjectPublicKeyInfo.
RFC_9881 = (
    "MIIHsjALBglghkgBZQMEAxIDggehAEhoPZGXjjHrPd24sEc0gtK4il9iWUn9j1il"
    "YeaWvUwn0Fs427Lt8B5mTv2Bvh6ok2iM5oqi1RxZWPi7xutOie5n0sAyCVTVchLK"
    "xyKf8dbq8DkovVFRH42I2EdzbH3icw1ZeOVBBxMWCXiGdxG/VTmgv8TDUMK+Vyuv"
)


def test_the_application_is_named_as_the_specification_says():
    """app_id("agent-hippocampus") is the constant of spec/journal.md, section 8."""
    assert montana.app_id("agent-hippocampus").hex() == (
        "ba4f36a00630a26cc5869a43ebdcdaa50ba5fb090090e37a80954736f0475569"
    )
    assert montana.app_id() == montana.app_id("agent-hippocampus")


def test_a_seed_gives_the_public_key_of_the_rfc():
    """The key of seed 00..1f is RFC 9881's example: another implementation derives the same account."""
    expected = base64.b64decode(RFC_9881)[22:]
    assert montana.public_key(SEED)[: len(expected)] == expected


def test_names_are_hashes_under_their_own_domains():
    """Account, application and operation ids are SHA-256 over domain, zero byte, parts."""
    assert montana.account_id(PUBLIC_KEY) == hashlib.sha256(b"mt-account\x00\x01\x00" + PUBLIC_KEY).digest()
    assert montana.app_id("x") == hashlib.sha256(b"mt-app\x00x").digest()
    assert OPERATION.op_id == hashlib.sha256(b"mt-op\x00" + OPERATION.scope).digest()
    assert montana.op_id(OPERATION.scope) == OPERATION.op_id


def test_ids_are_pinned():
    """The account of seed 00..1f and the id of its first anchor never change between releases."""
    assert montana.account_id(PUBLIC_KEY).hex() == "b3836eb83c3a25399886b18297359f7f0e50c550fd8650041c76cf0ee0cff541"
    first = montana.scope(montana.FIRST, montana.account_id(PUBLIC_KEY), montana.app_id(), b"\x11" * 32)
    assert montana.op_id(first).hex() == "0d0ab6426178349235d2cb44f7db631e2120004bc0c3b935afeb43410f4edda4"


def test_the_layout():
    """0x04, four hashes in their order, the signature: 3,438 bytes, of which the first 129 are signed."""
    data = bytes(OPERATION)
    assert len(data) == 3_438
    assert data[:129] == OPERATION.scope
    assert data[:1] == b"\x04"
    assert data[1:33] == bytes(32)
    assert data[33:65] == montana.account_id(PUBLIC_KEY)
    assert data[65:97] == montana.app_id()
    assert data[97:129] == DATA_HASH
    assert data[129:] == OPERATION.signature


def test_a_signed_operation_verifies_and_reads_back():
    """What is exported is read back equal and verified by the public key."""
    read = montana.parse(bytes(OPERATION))
    assert read == OPERATION
    assert montana.verify(read, PUBLIC_KEY)


def test_a_second_operation_names_the_first():
    """The chain of an account's operations goes through `prev_hash`."""
    second = montana.sign(SEED, DATA_HASH, prev_hash=OPERATION.op_id, app=montana.app_id("other"))
    assert second.prev_hash == OPERATION.op_id
    assert second.app_id == montana.app_id("other")
    assert montana.verify(second, PUBLIC_KEY)


def test_signing_twice_keeps_the_name():
    """Signatures are hedged and differ; the operation's id covers the scope alone."""
    again = montana.sign(SEED, DATA_HASH)
    assert again.signature != OPERATION.signature
    assert again.op_id == OPERATION.op_id
    assert montana.verify(again, PUBLIC_KEY)


@given(st.integers(0, 3_437), st.integers(1, 255))
def test_no_byte_can_be_changed(at, change):
    """Any changed byte is refused at reading (the type) or does not verify (all others)."""
    data = bytearray(bytes(OPERATION))
    data[at] ^= change
    if at == 0:
        with pytest.raises(WitnessError, match="not an anchor"):
            montana.parse(bytes(data))
    else:
        assert not montana.verify(montana.parse(bytes(data)), PUBLIC_KEY)


def test_another_key_does_not_verify():
    """The operation is its sender's, under the sender's key."""
    assert not montana.verify(OPERATION, montana.public_key(bytes(32)))


def test_a_key_cannot_sign_for_another_account():
    """A good signature under a foreign sender is not valid: the sender must be the key's account."""
    stranger = bytes(32)
    account = montana.account_id(PUBLIC_KEY)
    forged_scope = montana.scope(montana.FIRST, account, montana.app_id(), DATA_HASH)
    signature = montana._private(stranger).sign(forged_scope)
    forged = replace(OPERATION, signature=signature)
    assert not montana.verify(forged, montana.public_key(stranger))
    # An account that changed its key keeps its id; who knows that says so.
    assert montana.verify(forged, montana.public_key(stranger), account=account)
    assert not montana.verify(forged, montana.public_key(stranger), account=bytes(32))


def test_the_context_string_is_empty():
    """A signature under a context is not valid, as the network signs without one."""
    signature = montana._private(SEED).sign(OPERATION.scope, b"alveus")
    assert not montana.verify(replace(OPERATION, signature=signature), PUBLIC_KEY)


@pytest.mark.parametrize("length", [0, 129, 3_437, 3_439])
def test_another_length_is_no_operation(length):
    """An operation has one length."""
    with pytest.raises(WitnessError, match=f"has {length} bytes, not 3438") as caught:
        montana.parse(bytes(length))
    assert caught.value.code == "bad_anchor"
    assert caught.value.hint


WRONG_LENGTHS = {
    "short seed": lambda: montana.sign(SEED[:-1], DATA_HASH),
    "short data hash": lambda: montana.sign(SEED, DATA_HASH[:-1]),
    "data hash in hex": lambda: montana.sign(SEED, DATA_HASH.hex().encode()),
    "no previous hash": lambda: montana.sign(SEED, DATA_HASH, prev_hash=b""),
    "application's name for its id": lambda: montana.sign(SEED, DATA_HASH, app=b"agent-hippocampus"),
    "short public key": lambda: montana.verify(OPERATION, PUBLIC_KEY[:-1]),
    "no public key beside an account": lambda: montana.verify(OPERATION, b"", account=OPERATION.sender),
    "seed for a public key": lambda: montana.account_id(SEED),
    "operation for its scope": lambda: montana.op_id(bytes(OPERATION)),
    "no signature": lambda: replace(OPERATION, signature=b""),
    "no sender": lambda: replace(OPERATION, sender=b""),
}


@pytest.mark.parametrize("call", WRONG_LENGTHS.values(), ids=WRONG_LENGTHS.keys())
def test_fields_of_another_length_are_refused(call):
    """Hex where bytes are due, or a field cut short, is caught before anything is signed or compared."""
    with pytest.raises(WitnessError, match="bytes, not"):
        call()


def test_no_error_shows_a_key():
    """A seed of the wrong length is refused by its length alone."""
    with pytest.raises(WitnessError) as caught:
        montana.public_key(b"secretsecret")
    assert "secret" not in str(caught.value) + caught.value.hint


def test_an_unknown_suite_is_refused():
    """Only ML-DSA-65 accounts are known."""
    with pytest.raises(WitnessError, match="suite 2"):
        montana.account_id(PUBLIC_KEY, suite=2)


def test_a_build_without_ml_dsa_says_so(monkeypatch):
    """Where the cryptography wheel lacks ML-DSA, the error names that and not the key."""
    from cryptography.exceptions import UnsupportedAlgorithm

    class Without:
        @staticmethod
        def from_seed_bytes(_):
            raise UnsupportedAlgorithm("no")

        from_public_bytes = from_seed_bytes

    monkeypatch.setattr(montana, "MLDSA65PrivateKey", Without)
    monkeypatch.setattr(montana, "MLDSA65PublicKey", Without)
    for call in (lambda: montana.sign(SEED, DATA_HASH), lambda: montana.verify(OPERATION, PUBLIC_KEY)):
        with pytest.raises(WitnessError) as caught:
            call()
        assert caught.value.code == "mldsa_unsupported"
