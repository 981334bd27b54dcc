"""The few things that happen in every transcript, each in one way: words, thoughts, refusals, calls and results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from alveus.importers.calls import Calls, call
from alveus.importers.facts import Facts
from alveus.importers.mould import Piece
from alveus.importers.render import render
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

ROLES: Final[Mapping[str, tuple[Kind, Src]]] = {
    "user": (Kind.OBSERVATION, Src.USER),
    "assistant": (Kind.STATE, Src.AGENT),
    "system": (Kind.OBSERVATION, Src.SYSTEM),
    "developer": (Kind.OBSERVATION, Src.SYSTEM),
    "tool": (Kind.OBSERVATION, Src.TOOL),
    "function": (Kind.OBSERVATION, Src.TOOL),
}
"""Who speaks, by the names of the chat interfaces."""

SILENT: Final = "the tool failed without a message"


def words(role: str, content: object, facts: Facts | None = None) -> Piece:
    """What somebody said."""
    kind, src = ROLES[role]
    done = render(content)
    return Piece(kind=kind, src=src, content=done.text, blobs=done.blobs, facts=facts or {})


def thought(text: str) -> Piece:
    """What the agent thought."""
    if not text.strip():
        return Piece.skipped("empty thinking")
    return Piece(kind=Kind.STATE, src=Src.AGENT, content=text, facts={"thinking": True})


def refused(text: str) -> Piece:
    """What the agent would not do."""
    return Piece(kind=Kind.ERROR, src=Src.AGENT, content=text, facts={"refused": True})


def failed(text: str, what: str = "error", facts: Facts | None = None) -> Piece:
    """What went wrong in the program around the agent."""
    return Piece(kind=Kind.ERROR, content=f"{what}: {text or 'no message'}", facts={"error": what, **(facts or {})})


def compacted(text: str, facts: Facts | None = None) -> Piece:
    """The event of a compaction: the agent's summary where there is one, never anybody's words."""
    told = {name: value for name, value in (facts or {}).items() if value not in (None, "", [], {})}
    kind, src = (Kind.STATE, Src.AGENT) if text.strip() else (Kind.OBSERVATION, Src.SYSTEM)
    return Piece(kind=kind, src=src, content=text or "conversation compacted", facts={"compaction": told or True})


def changed_model(model: str, before: str = "") -> Piece:
    """The agent goes on as another model."""
    content = f"model: {before} -> {model}" if before else f"model: {model}"
    return Piece(kind=Kind.IDENTITY_CHANGE, content=content, facts={"model": model})


def moved(text: str, facts: Facts | None = None, src: Src = Src.SYSTEM) -> Piece:
    """Work goes to another session or agent, or comes back."""
    return Piece(kind=Kind.TRANSFER, src=src, content=text, facts=facts or {})


def called(name: str, arguments: object, use: str, calls: Calls) -> Piece:
    """A tool is called; `calls` will know it when the result comes."""
    made = call(name, parsed(arguments))
    calls.made(use, made)
    return Piece(
        kind=made.kind, src=Src.AGENT, content=made.content, facts={**made.facts, "tool": name, "tool_use_id": use}
    )


def returned(
    output: object, use: str, calls: Calls, *, name: str = "", bad: bool = False, back: Src = Src.TOOL
) -> Piece:
    """A tool's result; of a call that handed over it is the hand-back, which `back` tells."""
    known = calls.of(use)
    done = render(output)
    over = known is not None and known.kind is Kind.TRANSFER
    return Piece(
        kind=Kind.ERROR if bad else Kind.TRANSFER if over else Kind.OBSERVATION,
        src=back if over and not bad else Src.TOOL,
        content=done.text or (SILENT if bad else ""),
        facts={**(known.facts if known else {}), "tool": known.tool if known else name, "tool_use_id": use},
        blobs=done.blobs,
    )


def parsed(arguments: object) -> object:
    """Arguments come as JSON in a string; what is not JSON is kept as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
