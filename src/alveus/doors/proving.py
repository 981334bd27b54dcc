"""Commands that prove: verify and anchor.

`verify` works on a journal too damaged to be opened, changes nothing and recovers nothing. Green means what it says and
no more, so the verdict for people ends with what it does not show.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.text import Text

from alveus.doors import output
from alveus.doors.exits import Exit
from alveus.doors.options import LOCK_TIMEOUT, Form, Settings, settings_of
from alveus.doors.saving import Force, save
from alveus.doors.streams import text
from alveus.errors import InputError, NotFound
from alveus.journal.chain import ChainState, ChainSummary, ChainVerdict, Fault

if TYPE_CHECKING:
    from alveus.anchoring import AnchoredDay, MontanaExport
    from alveus.store.layout import Layout

MOST_JOBS: Final = 8
PATIENCE: Final = 64 << 20
"""Bytes of journal from which a person is told that it takes a while."""

FIELDS: Final = ("code", "detail", "chain", "line", "offset", "seq", "record_id")
"""The first fault's fields in `verify --json`; null where nothing is broken."""

STATES: Final[dict[ChainState, tuple[str, str, str]]] = {
    ChainState.OK_TO_HEAD: (
        "bold green",
        "WHOLE",
        "every record is signed, unchanged and in its place, up to the head",
    ),
    ChainState.OK_OPEN_END: ("bold green", "WHOLE", "every record is signed, unchanged and in its place"),
    ChainState.EMPTY: ("bold green", "EMPTY", "nothing is recorded yet"),
    ChainState.BROKEN: ("bold red", "BROKEN", ""),
}
PARTIAL: Final = ("bold yellow", "PARTIAL", "what follows the head is whole; what is before it was not looked at")

CAUSES: Final[dict[str, str]] = {
    "stream_missing": "deleted, moved, not copied; a change of key cut short, which the next writer finishes",
    "stream_unreadable": "permissions, a failing disk, a link in its place",
    "not_canonical": "an editor or a converter rewrote the file, or its line ends",
    "bad_field": "an edit, or another program",
    "wrong_key": "the wrong key file, or a line of another journal",
    "bad_signature": "an edit",
    "bad_record_id": "an edit of the id",
    "novelty_mismatch": "an edit of the class",
    "after_closing": "an old copy of the program or of the key wrote after the key was rotated",
    "wrong_chain": "files of two journals were mixed up",
    "chain_break": "lines were deleted, inserted or moved",
    "bad_seq": "lines were deleted, inserted or moved",
    "bad_prev_line": "the line before it was rewritten",
    "time_not_rising": "a rewrite",
    "torn_tail": "a crash",
    "head_missing": "the head was deleted, or not copied with the journal",
    "bad_head": "an edit of the head, or files of two journals mixed up",
    "short_of_head": "the end was cut off",
    "fork_of_head": "two copies of the journal were written to, or its past was rewritten with the key",
    "anchor_mismatch": "records of a closed day, or its folder, were changed",
    "against_mismatch": "the disk was rolled back, or the past was rewritten with the key",
}
"""What usually lies behind each code."""

REMEDY: Final = "nothing was changed; copy the agent's folder and keys before anything else, then restore a backup"
REMEDIES: Final[dict[str, str]] = {
    "wrong_key": "use the key it was signed with: ALVEUS_KEY_FILE, --agent, or a backup of the key",
    "torn_tail": "nothing: the next command that writes sets the torn end aside and records that it did",
    "head_missing": "restore stream.head.0 and stream.head.1 from a backup; without a head a cut end cannot be seen",
}
"""What to do, where that is something else than `REMEDY`."""


def verify(
    call: typer.Context,
    *,
    since_head: Annotated[
        bool, typer.Option("--since-head", help="Only what follows the last head; says what it skipped.")
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="Compare with a checkpoint that was kept elsewhere."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, metavar="N", show_default=False, help="Processes; as many as processors."),
    ] = None,
) -> None:
    """Prove that nothing was changed, or name the line that was.

    Walks every chain of the agent from its first byte. Exit status 0: whole; 4: broken.
    """
    settings = settings_of(call)
    layout = settings.layout()
    if since_head and against is not None:
        raise InputError(
            "--since-head does not look at the past that a checkpoint speaks of", hint="give --against alone"
        )
    _require_journal(layout)
    with _patience(layout, settings):
        verdict = _verdict(layout, since_head=since_head, against=against, jobs=jobs or _processors())
    if settings.form is Form.TEXT:
        output.facts([*_told(verdict, layout), *_outside(verdict, against)])
    else:
        output.document(as_json(verdict), settings)
    if not verdict:
        raise typer.Exit(Exit.BROKEN)


def _require_journal(layout: Layout) -> None:
    from alveus.store.creation import is_begun
    from alveus.store.files import DISK

    if not is_begun(DISK, layout):
        raise NotFound(
            f"there is no journal for agent {layout.agent_id!r} in {layout.home}",
            hint="`alveus init` begins one; check --home and --agent",
        )


def _verdict(layout: Layout, *, since_head: bool, against: Path | None, jobs: int) -> ChainVerdict:
    from alveus.hippocampus import verify_layout
    from alveus.store.files import DISK

    return verify_layout(layout, DISK, since_head=since_head, against=against, jobs=jobs, timeout=LOCK_TIMEOUT)


def _processors() -> int:
    usable = getattr(os, "sched_getaffinity", None)
    return min(len(usable(0)) if usable else os.cpu_count() or 1, MOST_JOBS)


@contextlib.contextmanager
def _patience(layout: Layout, settings: Settings) -> Iterator[None]:
    """Say that it takes a while, where it does and somebody looks on."""
    size = 0
    with contextlib.suppress(OSError):
        size = layout.stream.stat().st_size
    if size < PATIENCE or settings.form is not Form.TEXT or not sys.stderr.isatty():
        yield
        return
    with output.talker().status(f"verifying {size >> 20:,} MiB …"):
        yield


def as_json(verdict: ChainVerdict) -> dict[str, Any]:
    """The verdict as a document: the fault's fields stand beside the state."""
    told: dict[str, Any] = output.plain(verdict)
    fault = told.pop("fault") or {}
    return {**told, **{name: fault.get(name) for name in FIELDS}}


# The verdict for people


def _told(verdict: ChainVerdict, layout: Layout) -> Iterator[output.Row]:
    style, word, meaning = PARTIAL if verdict and verdict.skipped else STATES[verdict.state]
    if verdict.fault is not None:
        yield (
            "verdict",
            Text.assemble((word, style), f", {verdict.fault.code}: {output.printable(verdict.fault.detail)}"),
        )
        yield from _where(verdict.fault, layout)
        yield from _what_now(verdict.fault)
    else:
        yield "verdict", Text.assemble((word, style), f": {meaning}")
    yield "agent", verdict.agent_id
    yield "records", _size(verdict)
    for chain in verdict.chains:
        if len(verdict.chains) > 1:
            yield "chain", _chain(chain)
    if verdict.fault is None:
        yield from _end(verdict)


def _where(fault: Fault, layout: Layout) -> Iterator[output.Row]:
    if fault.line is not None:
        closed = layout.stream.with_name(f"stream-{fault.chain}.jsonl")
        yield "file", str(closed if closed.exists() else layout.stream)
        yield "line", f"{fault.line:,}, from byte {fault.offset}"
    named = {"seq": fault.seq, "record": fault.record_id, "chain": fault.chain}
    yield from ((name, str(value)) for name, value in named.items() if value is not None)


def _what_now(fault: Fault) -> Iterator[output.Row]:
    if fault.code in CAUSES:
        yield "usually", CAUSES[fault.code]
    yield "to do", REMEDIES.get(fault.code, REMEDY)


def _size(verdict: ChainVerdict) -> str:
    if verdict.fault is not None:
        return f"{verdict.size:,} valid before that"
    skipped = f"; the first {verdict.skipped:,} were not looked at" if verdict.skipped else ""
    return f"{verdict.size:,}{skipped}"


def _chain(chain: ChainSummary) -> str:
    return f"{chain.chain}: {output.plural(chain.size, 'record')}, key {chain.kid}{', closed' if chain.closed else ''}"


def _end(verdict: ChainVerdict) -> Iterator[output.Row]:
    last = verdict.chains[-1]
    if verdict.head_size is not None:
        yield "head", f"at record {verdict.head_size:,}" + (" of the last chain" if len(verdict.chains) > 1 else "")
    if verdict.state is ChainState.OK_OPEN_END and verdict.open_end:
        yield "open end", f"{verdict.open_end:,} after the head: a cut among them cannot be seen"
    if verdict.root:
        yield "root", f"{last.root} over {output.plural(last.size, 'record')}"
    if verdict.days:
        span = " to ".join(dict.fromkeys((verdict.days[0], verdict.days[-1])))
        yield "days", f"{output.plural(len(verdict.days), 'closed day')} recomputed: {span}"
    if verdict.gaps:
        yield "no promise", ", ".join(name.replace("_", " ") for name in verdict.gaps) + " (no signed profile)"
    yield from (("note", note) for note in verdict.notes)


def _outside(verdict: ChainVerdict, against: Path | None) -> Iterator[output.Row]:
    """What only evidence from outside can tell."""
    if verdict.fault is not None:
        return
    if against is not None:
        yield "checkpoint", f"agrees with {against}: up to it nothing was cut or rewritten"
    else:
        yield (
            "not shown",
            (
                "whether the whole disk was put back to an earlier day, or the key's holder wrote another history: "
                "`alveus export --checkpoint FILE`, keep FILE elsewhere, later `alveus verify --against FILE`"
            ),
        )


# Anchors


def anchor(
    call: typer.Context,
    *,
    day: Annotated[str, typer.Argument(metavar="DAY", help="YYYY-MM-DD (UTC), or `yesterday`.")],
    export: Annotated[
        str | None, typer.Option("--export", metavar="montana", help="Make the day's Montana operation too.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the operation, or else the payload, to FILE.")
    ] = None,
    force: Force = False,
) -> None:
    """Close a day: 32 bytes to publish, a checkpoint to keep.

    The day must be over, and a record of a later day must be there. A closed day accepts no more records; closed again,
    it is compared with the journal.
    """
    if export not in (None, "montana"):
        raise InputError(f"there is no export {export!r}", hint="`--export montana`")
    settings = settings_of(call)
    with settings.open(write=True) as memory:
        closed = memory.daily_anchor(_day(text(day)))
        montana = memory.export_montana(closed.anchor.date) if export else None
    if out is not None:
        save(out, [bytes(montana.operation) if montana else closed.anchor.payload_bytes()], force=force)
    if settings.form is not Form.TEXT:
        output.document(_anchor_json(closed, montana), settings)
        return
    output.facts([*_day_rows(closed), *(_montana_rows(montana) if montana else ())])
    output.talk("closed now" if closed.new else "this day was closed before; it agrees with the journal")
    if out is not None:
        output.talk(f"written to {out}")


def _day(day: str) -> str:
    return (datetime.now(UTC).date() - timedelta(days=1)).isoformat() if day == "yesterday" else day


def _day_rows(closed: AnchoredDay) -> Iterator[output.Row]:
    payload = closed.payload
    novelty = ", ".join(f"{count:,} {name}" for name, count in payload["novelty_distribution"].items())
    yield "day", closed.anchor.date
    yield "records", f"{payload['count']:,} ({novelty})"
    yield "ids", f"{payload['first_id']} to {payload['last_id']}"
    yield "dna_hash", payload["dna_hash"]
    yield "to publish", closed.payload_hash
    yield "folder", str(closed.folder)


def _montana_rows(export: MontanaExport) -> Iterator[output.Row]:
    yield "montana", f"{export.path} ({len(bytes(export.operation)):,} bytes)"
    yield "account", export.account
    yield "operation", export.operation.op_id.hex()


def _anchor_json(closed: AnchoredDay, export: MontanaExport | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "day": closed.anchor.date,
        "folder": closed.folder,
        "montana": None,
        "new": closed.new,
        "payload": closed.payload,
        "payload_hash": closed.payload_hash,
    }
    if export is not None:
        told["montana"] = {
            "account": export.account,
            "op_id": export.operation.op_id.hex(),
            "path": export.path,
            "prev_hash": export.operation.prev_hash.hex(),
            "public_key": export.public_key,
            "size": len(bytes(export.operation)),
        }
    return told
