"""Signed notes: text, a blank line, signatures. C2SP signed-note (c2sp.org/signed-note), Ed25519 only.

    If you think cryptography is the answer to your problem,
    then you don't know what your problem is.

    — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=

A signature line is em dash, space, key name, space, base64(key id 4 || signature). A verifier key travels as
`name+hex(key id)+base64(0x01 || public key)`. A signature whose name and id are not the known key's is ignored,
whatever it is; one whose name and id match and which does not verify condemns the note.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from alveus.errors import WitnessError

ED25519: Final = 0x01
KEY: Final = 32
MAX_NOTE: Final = 1_000_000
"""Characters of a note; with MAX_SIGNATURES the bound the specification asks for."""
MAX_SIGNATURES: Final = 100

_DASH: Final = "\u2014 "
_CONTROL: Final = re.compile("[\x00-\x09\x0b-\x1f]")
_VKEY: Final = re.compile(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierKey:
    """A name and an Ed25519 public key of 32 bytes.

    Raises `WitnessError` for a name that is empty or holds a space or a plus, and for a key of another length.
    """

    name: str
    public_key: bytes

    def __post_init__(self) -> None:
        if not is_key_name(self.name):
            raise _bad_key(f"{self.name!r} cannot name a key: it is empty or holds a space or a plus")
        if len(self.public_key) != KEY:
            raise _bad_key(f"an Ed25519 key has {KEY} bytes, not {len(self.public_key)}")

    @property
    def key_id(self) -> bytes:
        """SHA-256(name || 0x0A || 0x01 || public key)[:4]: a label, no proof."""
        return hashlib.sha256(self.name.encode() + b"\n" + self._typed()).digest()[:4]

    def _typed(self) -> bytes:
        return bytes([ED25519]) + self.public_key

    @property
    def vkey(self) -> str:
        """The key as one line to hand out, `name+hex+base64`; `parse_vkey` reads it."""
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(self._typed()).decode()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSignature:
    """One signature line: who says to have signed (`name`, 4-byte `key_id`), and the raw signature, unverified."""

    name: str
    key_id: bytes
    signature: bytes

    def line(self) -> str:
        """The line as it stands in the note, with its newline."""
        return f"{_DASH}{self.name} {base64.b64encode(self.key_id + self.signature).decode()}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text ending in a newline and its signatures, unverified."""

    text: str
    signatures: tuple[NoteSignature, ...]

    def whole(self) -> str:
        """The note as it was read, or is to be written: text, blank line, signature lines."""
        return f"{self.text}\n{''.join(signature.line() for signature in self.signatures)}"


def is_key_name(name: str) -> bool:
    """Not empty, no Unicode space, no plus, nothing that cannot be a line of UTF-8."""
    return bool(name) and "+" not in name and not any(map(str.isspace, name)) and _is_plain(name)


def _is_plain(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return not _CONTROL.search(text)


def parse_vkey(vkey: str) -> VerifierKey:
    """The key in `name+hex+base64`. Raises `WitnessError` when it is malformed, of another type, or the id is wrong."""
    match = _VKEY.fullmatch(vkey)
    typed = decode_base64(match[3]) if match else None
    if match is None or typed is None or len(typed) != 1 + KEY:
        raise _bad_key("this is no verifier key: name+hex+base64 of an Ed25519 key was expected")
    if typed[0] != ED25519:
        raise _bad_key(f"a verifier key of type 0x{typed[0]:02x} cannot be used: only Ed25519 (0x01)")
    key = VerifierKey(name=match[1], public_key=typed[1:])
    if key.key_id.hex() != match[2]:
        raise _bad_key("the verifier key's id does not belong to its name and key")
    return key


def public_key(private_key: bytes) -> bytes:
    """The 32-byte Ed25519 public key of a 32-byte private key (its RFC 8032 seed). Raises `WitnessError`."""
    return _private(private_key).public_key().public_bytes_raw()


def sign(text: str, name: str, private_key: bytes) -> Note:
    """The note of this text with one signature, by the 32-byte private key under this name. Raises `WitnessError`."""
    if not text.endswith("\n") or not _is_plain(text):
        raise _bad_note("a note's text ends in a newline and holds no control characters")
    key = _private(private_key)
    verifier = VerifierKey(name=name, public_key=key.public_key().public_bytes_raw())
    signature = NoteSignature(name=name, key_id=verifier.key_id, signature=key.sign(text.encode()))
    return Note(text=text, signatures=(signature,))


def parse(note: str | bytes) -> Note:
    """The note's text and signatures, unverified. Bytes must be UTF-8. Raises `WitnessError` for anything malformed."""
    whole = _as_text(note)
    text, blank, lines = whole.rpartition("\n\n")
    if not blank or not lines.endswith("\n"):
        raise _bad_note("it is no text, blank line and signature lines, each ended by a newline")
    signatures = lines[:-1].split("\n")
    if len(signatures) > MAX_SIGNATURES:
        raise _bad_note(f"it has more than {MAX_SIGNATURES} signatures")
    return Note(text=text + "\n", signatures=tuple(map(_signature, signatures)))


def _as_text(note: str | bytes) -> str:
    if len(note) > MAX_NOTE:
        raise _bad_note(f"it is longer than {MAX_NOTE:,}")
    try:
        text = note.decode() if isinstance(note, bytes) else note
    except UnicodeDecodeError as error:
        raise _bad_note("it is not UTF-8") from error
    if not _is_plain(text):
        raise _bad_note("it holds control characters, or is not UTF-8")
    return text


def _signature(line: str) -> NoteSignature:
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    data = decode_base64(encoded)
    if not line.startswith(_DASH) or not space or not is_key_name(name) or data is None or len(data) <= 4:
        raise _bad_note("a signature line is em dash, space, key name, space, base64")
    return NoteSignature(name=name, key_id=data[:4], signature=data[4:])


def verify(note: Note, key: VerifierKey) -> None:
    """Return if this key signed the note's text.

    Raises `WitnessError`: `unknown_key` when no signature names this key, `bad_signature` when one does and is not
    its signature, though another be good.
    """
    claimed = [each for each in note.signatures if (each.name, each.key_id) == (key.name, key.key_id)]
    if not claimed:
        hint = "check that the key is the one this note was made with"
        raise WitnessError(f"the note is not signed by {key.name}+{key.key_id.hex()}.", code="unknown_key", hint=hint)
    for each in claimed:
        _check(each.signature, note.text, key)


def _check(signature: bytes, text: str, key: VerifierKey) -> None:
    try:
        Ed25519PublicKey.from_public_bytes(key.public_key).verify(signature, text.encode())
    except (InvalidSignature, ValueError) as error:
        raise WitnessError(
            f"the signature named {key.name}+{key.key_id.hex()} does not hold for this text.",
            code="bad_signature",
            hint="the note was altered, or signed by another key: trust nothing in it",
        ) from error


def _private(private_key: bytes) -> Ed25519PrivateKey:
    if len(private_key) != KEY:
        raise _bad_key(f"an Ed25519 private key has {KEY} bytes, not {len(private_key)}")
    return Ed25519PrivateKey.from_private_bytes(private_key)


def decode_base64(text: str) -> bytes | None:
    """RFC 4648 section 4, padded, in the one form that encodes to the same text; None for anything else."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if base64.b64encode(data).decode() == text else None


def _bad_note(why: str) -> WitnessError:
    return WitnessError(f"this is no signed note: {why}.", code="bad_note", hint="read the file as bytes, unchanged")


def _bad_key(why: str) -> WitnessError:
    return WitnessError(f"{why}.", code="bad_key", hint="a verifier key is one line: name+hex+base64")
