"""Closing days and noting roots: spec/journal.md, section 8. Steps over the journal, the store and the witnesses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from alveus.agent import Agent
from alveus.errors import InputError, JournalError, NotFound, WitnessError
from alveus.journal.anchor import Anchor, make_anchor
from alveus.journal.head import Tree
from alveus.store import anchors
from alveus.store.files import Files, exists, read_whole
from alveus.store.keys import ensure_secret, read_secret
from alveus.store.layout import Layout
from alveus.store.verify import Known
from alveus.witness import checkpoint, montana, note

NOTE_KEY: Final = "note"
MONTANA_KEY: Final = "montana"
_LARGEST_NOTE: Final = 64 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredDay:
    """A closed day: its anchor and the folder that holds it. `new` when this call closed it."""

    anchor: Anchor
    folder: Path
    new: bool

    @property
    def payload(self) -> dict[str, Any]:
        """The JSON object that was hashed."""
        return self.anchor.payload()

    @property
    def payload_hash(self) -> str:
        """`anchor_payload_hash`, 64 hex digits."""
        return self.anchor.payload_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class MontanaExport:
    """A day's Montana operation (3,438 bytes) in its file, and the account that signed it (hex)."""

    day: str
    path: Path
    operation: montana.AnchorOperation
    account: str
    public_key: str


def make_checkpoint(agent: Agent) -> str:
    """A signed note of the live chain, all of it on disk."""
    with agent.stream.headed() as link:
        return _note(agent, link.chain or "", link.size, agent.stream.tree)


def _note(agent: Agent, chain: str, size: int, tree: Tree) -> str:
    path = agent.layout.other_key(NOTE_KEY)
    if not exists(agent.files, path) and anchors.closed_days(agent.files, agent.layout.anchors):
        raise WitnessError(
            f"the key that signed the checkpoints of closed days is not at {path}",
            code="key_missing",
            hint="restore it from a backup: under another key those checkpoints would not be believed",
        )
    secret = ensure_secret(agent.files, path)
    origin = checkpoint.origin(agent.layout.agent_id, chain)
    return checkpoint.sign(checkpoint.Checkpoint(origin=origin, size=size, root=tree.root()), secret)


def anchor_day(agent: Agent, day: str) -> AnchoredDay:
    """Close `day`, or compare it with the journal if it is closed."""
    folder = agent.layout.anchors / day
    if not exists(agent.files, folder):
        _check_closable(agent, day)
    anchor = make_anchor(agent.layout.agent_id, day, agent.past.day(day))
    if exists(agent.files, folder):
        detail = anchors.disagreement(anchors.load_anchor(agent.files, agent.layout.anchors, day), anchor)
        if detail is not None or anchor is None:
            raise JournalError(detail or day, code="anchor_mismatch", hint="run `alveus verify`")
        _close_in_head(agent, day)
        return AnchoredDay(anchor=anchor, folder=folder, new=False)
    if anchor is None:
        raise NotFound(f"there is no record of {day}", hint="a day without records has no anchor")
    with agent.stream.headed() as link:
        signed = _note(agent, link.chain or "", link.size, agent.stream.tree)
        anchors.save_anchor(agent.files, agent.layout.anchors, anchor, signed)
        agent.stream.close_through(max(day, agent.stream.closed_through or day))
    return AnchoredDay(anchor=anchor, folder=folder, new=True)


def _close_in_head(agent: Agent, day: str) -> None:
    """A crash may have come between the folder and the head."""
    if not agent.stream.refused and day > (agent.stream.closed_through or ""):
        with agent.stream.headed():
            agent.stream.close_through(max(day, agent.stream.closed_through or day))


def _check_closable(agent: Agent, day: str) -> None:
    if day >= agent.ticker.today().isoformat():
        raise InputError(f"{day} is not over yet (UTC)", code="day_open", hint="close it tomorrow")
    last = agent.stream.link.last_time[:10]
    if day >= last:
        why = "is the last day with records: one more could still belong to it" if day == last else "has no record yet"
        raise InputError(f"{day} {why}", code="day_open", hint="close it once a record of a later day is there")


def export_montana(agent: Agent, anchor: Anchor) -> MontanaExport:
    """The day's operation, made once and kept; each names the one before it."""
    files, folder = agent.files, agent.layout.anchors
    if not exists(files, agent.layout.other_key(MONTANA_KEY)):
        agent.stream.check_writable()
    seed = ensure_secret(files, agent.layout.other_key(MONTANA_KEY))
    public = montana.public_key(seed)
    kept = {day: montana.parse(data) for day, data in anchors.witness_files(files, folder, anchors.MONTANA).items()}
    operation = kept.get(anchor.date)
    if operation is None:
        agent.stream.check_writable()
        previous = _tip(list(kept.values()))
        operation = montana.sign(seed, bytes.fromhex(anchor.payload_hash), prev_hash=previous)
        state = {"attempts": 0, "last_error": None, "state": "pending"}
        anchors.save_witness(files, folder, anchor.date, name=anchors.MONTANA, data=bytes(operation), state=state)
    elif operation.data_hash.hex() != anchor.payload_hash or not montana.verify(operation, public):
        raise WitnessError(
            f"the Montana operation kept for {anchor.date} is not this account's for that anchor",
            hint="look at anchors/<day>/montana.op; move it away to sign the day again",
        )
    return MontanaExport(
        day=anchor.date,
        path=folder / anchor.date / anchors.MONTANA,
        operation=operation,
        account=montana.account_id(public).hex(),
        public_key=public.hex(),
    )


def _tip(operations: list[montana.AnchorOperation]) -> bytes:
    """The id of the operation that none names as the one before it; zeros for the first."""
    named = {operation.prev_hash for operation in operations}
    tips = [operation.op_id for operation in operations if operation.op_id not in named]
    return tips[0] if tips else montana.FIRST


def known_roots(files: Files, layout: Layout, against: Path | None) -> list[Known]:
    """The roots noted with closed days, and the one in a checkpoint kept elsewhere. Raises WitnessError, NotFound."""
    found = [
        _known(files, layout, data, name=f"the checkpoint of {day}", code="anchor_mismatch")
        for day, data in anchors.witness_files(files, layout.anchors, anchors.CHECKPOINT).items()
    ]
    if against is not None:
        data = read_whole(files, against, _LARGEST_NOTE)
        if data is None:
            raise NotFound(
                f"there is no checkpoint at {against}", hint="make one with `alveus export --checkpoint FILE`"
            )
        found.append(_known(files, layout, data, name=f"the checkpoint {against}", code="against_mismatch"))
    return found


def _known(files: Files, layout: Layout, data: bytes, *, name: str, code: str) -> Known:
    """A note's claim. One that our key did not sign claims a root that no journal has."""
    try:
        note_read = checkpoint.parse(data)
        signed = note_read.checkpoint
    except WitnessError as error:
        return Known(name=f"{name} is not valid: {error.message}", code=code, chain="", size=0, root="")
    prefix, _, chain = signed.origin.rpartition("/")
    claim = Known(name=name, code=code, chain=chain, size=signed.size, root=signed.root.hex())
    if prefix != checkpoint.origin(layout.agent_id, "0" * 32).rpartition("/")[0]:
        return replace(claim, name=f"{name} is of another agent ({signed.origin})", root="")
    if signed.origin not in {signature.name for signature in note_read.note.signatures}:
        return replace(claim, name=f"{name} is not signed by its origin", root="")
    if not exists(files, layout.other_key(NOTE_KEY)):
        return replace(claim, unchecked=True)  # its root still has to be ours
    public = note.public_key(read_secret(files, layout.other_key(NOTE_KEY)))
    try:
        checkpoint.verify(data, checkpoint.verifier_key(signed.origin, public))
    except WitnessError as error:
        return replace(claim, name=f"{name} is not valid: {error.message}", root="")
    return claim
