"""Checkpoints: how long a journal is and what its Merkle root is, signed. C2SP tlog-checkpoint; spec section 8.

    alveus/agent%2Fone/0f1e2d3c4b5a69788796a5b4c3d2e1f0
    20852163
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

    — alveus/agent%2Fone/0f1e2d3c4b5a69788796a5b4c3d2e1f0 uwNmYqTWO56o6hDiJlFNTQqV...

The lines are the origin, the number of records and the base64 of the RFC 6962 root over them (see head, section 6).
Unlike a day's set of ids, a checkpoint binds the order. The key's name is the origin, so that a signature for one
journal can never stand for another, even under the same key.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from alveus.errors import WitnessError
from alveus.journal.record import is_agent_id
from alveus.witness import note as notes
from alveus.witness.note import Note, VerifierKey

ROOT: Final = 32
MAX_SIZE: Final = (1 << 64) - 1

_CHAIN: Final = re.compile(r"[0-9a-f]{32}")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,19}")
_CONTROL: Final = re.compile("[\x00-\x1f]")


def origin(agent_id: str, chain: str) -> str:
    """`alveus/<agent_id>/<chain>`: the agent percent-encoded but for unreserved ASCII, the chain its 32 hex digits.

    Fit to name a key: no space, no plus. Raises `WitnessError`.
    """
    if not is_agent_id(agent_id) or not _CHAIN.fullmatch(chain):
        raise _bad("an origin needs an agent's id and a chain of 32 lower-case hex digits")
    try:
        name = quote(agent_id, safe="")
    except UnicodeEncodeError as error:
        raise _bad("this agent's id holds a lone surrogate") from error
    return f"alveus/{'%2E' + name[1:] if name.startswith('.') else name}/{chain}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """`size` records under the 32-byte Merkle `root`, in the log named `origin`.

    `extensions` are further lines that other logs may have; this program writes none. Raises `WitnessError` for values
    that are no checkpoint.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(line and not _CONTROL.search(line) for line in (self.origin, *self.extensions)):
            raise _bad("its lines are not empty and hold no control characters")
        if not 0 <= self.size <= MAX_SIZE:
            raise _bad(f"{self.size} is no size")
        if len(self.root) != ROOT:
            raise _bad(f"a root has {ROOT} bytes, not {len(self.root)}")

    def text(self) -> str:
        """The signed text, each line ended by a newline."""
        root = base64.b64encode(self.root).decode()
        return "".join(f"{line}\n" for line in (self.origin, str(self.size), root, *self.extensions))


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedCheckpoint:
    """A checkpoint and the note it was read from; the signatures are unverified: `verify` does that."""

    checkpoint: Checkpoint
    note: Note


def verifier_key(origin: str, public_key: bytes) -> VerifierKey:
    """The key that verifies an origin's checkpoints (Ed25519, 32 bytes); `.vkey` is its line to hand out."""
    return VerifierKey(name=origin, public_key=public_key)


def sign(checkpoint: Checkpoint, private_key: bytes) -> str:
    """The checkpoint as a note, signed by the 32-byte Ed25519 private key under the origin's name.

    The caller never signs two checkpoints of one origin that are not prefixes of each other. Raises `WitnessError`.
    """
    return notes.sign(checkpoint.text(), checkpoint.origin, private_key).whole()


def parse(note: str | bytes) -> SignedCheckpoint:
    """The checkpoint in a note, unverified. Raises `WitnessError` unless its text is exactly what `text()` writes."""
    read = notes.parse(note)
    lines = read.text[:-1].split("\n")
    if len(lines) < 3:
        raise _bad("its text has fewer than three lines")
    root = notes.decode_base64(lines[2])
    if root is None:
        raise _bad("its third line is not base64")
    if not _SIZE.fullmatch(lines[1]):
        raise _bad("its second line is not a decimal number without leading zeros")
    checkpoint = Checkpoint(origin=lines[0], size=int(lines[1]), root=root, extensions=tuple(lines[3:]))
    return SignedCheckpoint(checkpoint=checkpoint, note=read)


def verify(note: str | bytes, key: VerifierKey | str) -> Checkpoint:
    """The checkpoint in a note that this key (or vkey) signed as the log itself.

    Raises `WitnessError`: `bad_note`, `bad_checkpoint`, `bad_key` for what is malformed, `wrong_origin` when the
    checkpoint is another log's, `unknown_key` or `bad_signature` when this key did not sign it.
    """
    known = notes.parse_vkey(key) if isinstance(key, str) else key
    signed = parse(note)
    if signed.checkpoint.origin != known.name:
        raise WitnessError(
            f"this checkpoint is of {signed.checkpoint.origin}, not of {known.name}.",
            code="wrong_origin",
            hint="use the checkpoint, or the key, of the same agent and chain",
        )
    notes.verify(signed.note, known)
    return signed.checkpoint


def _bad(why: str) -> WitnessError:
    return WitnessError(
        f"this is no checkpoint: {why}.", code="bad_checkpoint", hint="read the file as bytes, unchanged"
    )
