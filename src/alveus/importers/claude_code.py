"""Claude Code's session files: `~/.claude/projects/<folder>/<session>.jsonl` and the sub-agents' beside them.

One record of the file becomes one item for each block in it, in the file's order: after a compaction older times follow
newer ones, and the order is the truth. The origin is `claude-code:uuid:<uuid>`, because a session that is resumed or
forked begins with copies of another's records, which are no new items; the second and later blocks have their place
before the uuid. A record whose id is none has its session, or the one it was copied from, in the place of `uuid`.

What a record means stands in the tables. Copies of requests, echoes of hooks and bookkeeping are skipped, each under
its reason (`claude_types`); a type that no table knows is skipped as `unknown type: …`, so that a new version shows
itself. Thinking is kept where there is any, as the agent's state marked `thinking`; most files hold it empty.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from alveus.importers.base import Event, Format, Item, Rejected, Skipped, Source, Span
from alveus.importers.branches import Node, abandoned_in
from alveus.importers.calls import SPAWNING, Call, Calls, call
from alveus.importers.claude_types import SKIPPED, SKIPPED_ATTACHMENTS, SKIPPED_SYSTEM, container_of
from alveus.importers.entries import Broken, Closed, Layout, Opened, Value
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.harness import said, summary
from alveus.importers.mould import Mould, Piece
from alveus.importers.reading import first, walk
from alveus.importers.render import PICTURES, render
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "claude-code"
LAYOUT: Final = Layout(lists=frozenset({"loglines"}))

_SYSTEM_ERRORS: Final = frozenset({"api_error", "error", "api_refusal", "model_refusal_fallback"})
_HOOK_ERRORS: Final = frozenset({"hook_blocking_error", "hook_non_blocking_error", "hook_error_during_execution"})
_ERROR_TEXTS: Final = (
    ("error", "message"),
    ("error", "formatted"),
    ("error", "error", "error", "message"),
    ("error", "error", "message"),
    ("apiRefusalExplanation",),
    ("blockingError", "blockingError"),
    ("stderr",),
    ("content",),
    ("error",),
)
_COMPACTION: Final = ("trigger", "preTokens", "postTokens", "durationMs", "cumulativeDroppedTokens")


def read(source: Source) -> Iterator[Event]:
    """The events of one session file, streamed."""
    yield from walk(source, LAYOUT, _Reader(ident(source.path.stem) or "file", abandoned_in(source, _node)))


def _node(raw: Facts) -> Node:
    """A record in the tree. Only a person who goes back begins a branch: calls made at once have several answers."""
    message = facts_at(raw, "message")
    typed = text_at(raw, "type") == "user" and raw.get("isMeta") is not True and raw.get("isSidechain") is not True
    answers = any(text_at(one, "type") == "tool_result" for one in list_at(message, "content"))
    forks = typed and not answers and raw.get("isCompactSummary") is not True
    return Node.of(ident(raw.get("uuid")), ident(raw.get("parentUuid")), forks=forks)


def sniff(head: bytes) -> bool:
    """Whether one of the first objects is a record of this format, and none is of one that resembles it."""
    found = first(head, *LAYOUT.lists)
    # Qwen Code writes the same envelope around Gemini's parts.
    return any(_is_record(one) for one in found) and not any("parts" in facts_at(one, "message") for one in found)


def _is_record(facts: Facts) -> bool:
    known = text_at(facts, "type") in _MEANT or text_at(facts, "type") in SKIPPED
    return known and any(name in facts for name in ("sessionId", "uuid", "parentUuid", "leafUuid", "message"))


# ── one record ───────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """A record of the file: its own fields, and what its items share."""

    raw: Facts
    mould: Mould

    def cast(self, piece: Piece, place: int = 0) -> Item | Skipped:
        return self.mould.cast(piece, place)

    def says(self, name: str) -> bool:
        return self.raw.get(name) is True

    def blocks(self) -> list[Facts] | None:
        return _blocks(facts_at(self.raw, "message").get("content"))

    def is_human(self) -> bool:
        """Whether a person typed it: peers, schedulers and background tasks write `user` records as well."""
        typed = text_at(self.raw, "commandMode") in ("", "prompt", "bash")
        return (
            typed
            and text_at(self.raw, "origin", "kind") in ("", "human")
            and text_at(self.raw, "rowSource") != "harness"
        )


def _blocks(content: object) -> list[Facts] | None:
    """A content as blocks: a string is one block of text. None when there is no content at all."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return None
    return [one if isinstance(one, Mapping) else {"type": "text", "text": one} for one in content]


class _Reader:
    """The state of one reading: the calls whose results will come, the queue, the last compaction, the forks."""

    def __init__(self, stem: str, left: set[int]) -> None:
        self._stem, self._left = stem, left
        self._container = ""
        self._count = 0
        self._calls = Calls()
        self._queue: Counter[bytes] = Counter()
        self._compaction: Facts = {}
        self._forks: set[str] = set()

    def opens(self, _: Opened, /) -> Iterator[Event]:
        """The list of a web session says nothing of itself."""
        yield from ()

    def closes(self, _: Closed, /) -> Iterator[Event]:
        """Nor is there anything to be said at its end."""
        yield from ()

    def value(self, one: Value, /) -> Iterator[Event]:
        """The events of one record."""
        yield from self.events(one.value, one.at)

    def broken(self, entry: Broken) -> Iterator[Event]:
        """A broken line costs itself."""
        yield Rejected(reason=entry.reason, at=entry.at)

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """The events of one record."""
        self._count += 1
        if not isinstance(value, Mapping):
            yield Rejected(reason="not an object", at=at)
            return
        kind = text_at(value, "type")
        record = self._record(value, at)
        if kind in _MEANT:
            yield from self._fork(record)
            yield from _MEANT[kind](self, record)
        elif kind in SKIPPED:
            yield Skipped(reason=f"{SKIPPED[kind]}: {kind}", at=at)
        else:
            yield Skipped(reason=f"unknown type: {ident(kind) or 'none'}", at=at)

    def _record(self, raw: Facts, at: Span) -> _Record:
        session = ident(raw.get("sessionId")) or ident(raw.get("session_id"))
        fork = facts_at(raw, "forkedFrom")
        uuid = ident(fork.get("messageUuid")) or ident(raw.get("uuid")) or f"record-{self._count}"
        model = text_at(raw, "message", "model")
        mould = Mould(
            format=NAME,
            container=container_of(uuid, ident(fork.get("sessionId")) or session or self._own_container(raw)),
            id=uuid,
            session=session,
            time=raw.get("timestamp"),
            facts={
                "parent": text_at(raw, "parentUuid"),
                "cwd": text_at(raw, "cwd"),
                "git_branch": text_at(raw, "gitBranch"),
                "model": "" if model == "<synthetic>" else model,
                "subagent": text_at(raw, "agentId"),
                "sidechain": raw.get("isSidechain") is True or None,
                "inactive": (bool(self._left) and Node.name(ident(raw.get("uuid"))) in self._left) or None,
                "forked_from": text_at(fork, "sessionId"),
            },
            at=at,
        )
        return _Record(raw=raw, mould=mould)

    def _own_container(self, first: Facts) -> str:
        """For records without a session: the file's name, and its first such record to tell namesakes apart."""
        if not self._container:
            digest = hashlib.sha256(json_text(first).encode(errors="replace")).hexdigest()[:16]
            self._container = f"{self._stem}~{digest}"
        return self._container

    def _fork(self, record: _Record) -> Iterator[Event]:
        """The first copied record of a fork shows that there was one."""
        parent = text_at(record.raw, "forkedFrom", "sessionId")
        if parent and parent not in self._forks:
            self._forks.add(parent)
            here = record.mould.session or self._stem
            mould = replace(record.mould, container=here, id=f"fork/{parent}")
            yield mould.cast(Piece(kind=Kind.TRANSFER, content=f"session {here} was forked from {parent}"))

    # ── the user's side ──

    def user(self, record: _Record) -> Iterator[Event]:
        """Words, pictures and tool results; a compaction's summary, which the agent wrote."""
        blocks = record.blocks()
        if blocks is None:
            yield Rejected(reason="a message without content", at=record.mould.at)
        elif record.says("isCompactSummary"):
            yield record.cast(self._summed_up(render(blocks).text))
        else:
            for place, block in enumerate(blocks):
                yield record.cast(self._user_block(record, block), place)

    def _user_block(self, record: _Record, block: Facts) -> Piece:
        kind = text_at(block, "type")
        if kind == "text":
            return self._user_text(record, text_at(block, "text"))
        if kind == "tool_result":
            return self._result(record, block)
        if kind in PICTURES:
            done = render([block])
            shown = record.is_human() and not record.says("isMeta")
            return Piece(src=Src.USER if shown else Src.SYSTEM, content=done.text, blobs=done.blobs)
        return Piece.skipped(f"unknown type: block {ident(kind) or 'none'}")

    def _user_text(self, record: _Record, text: str) -> Piece:
        piece = said(text)
        if piece.facts.get("harness") == "compaction":
            return self._summed_up(text)
        if piece.src is not Src.USER:
            return piece
        if record.says("isMeta"):
            return Piece.skipped("harness text: isMeta")
        if not record.is_human():
            return replace(
                piece, src=Src.SYSTEM, facts={"spoken_by": text_at(record.raw, "origin", "kind") or "harness"}
            )
        if record.says("isSidechain") and text_at(record.raw, "origin", "kind") != "human":
            # A sub-agent is spoken to by the agent that started it.
            started = record.raw.get("parentUuid") is None
            return replace(piece, src=Src.AGENT, kind=Kind.TRANSFER if started else Kind.OBSERVATION)
        return piece

    def _summed_up(self, text: str) -> Piece:
        facts = {"compaction": self._compaction or True}
        return Piece(kind=Kind.STATE, src=Src.AGENT, content=summary(text), facts=facts)

    # ── the tools' side ──

    def _result(self, record: _Record, block: Facts) -> Piece:
        use = text_at(block, "tool_use_id")
        known = self._calls.of(use)
        done = render(block.get("output") if block.get("content") is None else block.get("content"))
        detail = facts_at(record.raw, "toolUseResult")
        text = done.text or text_at(record.raw, "toolUseResult") or text_at(detail, "stdout")
        tool = known.tool if known else text_at(block, "name")
        facts = {
            **(known.facts if known else {}),
            "tool": tool,
            "tool_use_id": use,
            "subagent": text_at(detail, "agentId") or text_at(record.raw, "agentId"),
            "denied": text_at(record.raw, "toolDenialKind"),
        }
        if block.get("is_error") is True or detail.get("is_error") is True:
            text = text or "the tool failed without a message"
            return Piece(kind=Kind.ERROR, src=Src.TOOL, content=text, facts=facts, blobs=done.blobs)
        if decided := _decided(detail, tool, text, known):
            return replace(decided, facts={**facts, **decided.facts})
        if tool in SPAWNING:
            return Piece(kind=Kind.TRANSFER, src=Src.AGENT, content=text, facts=facts, blobs=done.blobs)
        return Piece(src=Src.TOOL, content=text, facts=facts, blobs=done.blobs)

    def _call(self, block: Facts) -> Piece:
        made = call(text_at(block, "name"), block.get("input"))
        self._calls.made(text_at(block, "id"), made)
        facts = {**made.facts, "tool": made.tool, "tool_use_id": text_at(block, "id")}
        return Piece(kind=made.kind, src=Src.AGENT, content=made.content, facts=facts)

    def bare_call(self, record: _Record) -> Iterator[Event]:
        """A tool call that is a record of its own, as some versions wrote it."""
        yield record.cast(self._call(record.raw))

    def bare_result(self, record: _Record) -> Iterator[Event]:
        """A tool's result that is a record of its own."""
        yield record.cast(self._result(record, record.raw))

    # ── the agent's side ──

    def assistant(self, record: _Record) -> Iterator[Event]:
        """What the agent said, thought and called; its refusals, and the program's errors in its place."""
        blocks = record.blocks()
        if blocks is None:
            yield Rejected(reason="a message without content", at=record.mould.at)
            return
        voice = _voice(record)
        if voice.content and not blocks:
            yield record.cast(voice)
        for place, block in enumerate(blocks):
            yield record.cast(self._assistant_block(block, voice), place)

    def _assistant_block(self, block: Facts, voice: Piece) -> Piece:
        kind = text_at(block, "type")
        if kind == "text":
            return replace(voice, content=text_at(block, "text"))
        if kind == "thinking":
            thought = text_at(block, "thinking")
            known = {**voice.facts, "thinking": True}
            return replace(voice, content=thought, facts=known) if thought.strip() else Piece.skipped("empty thinking")
        if kind.endswith("tool_use"):
            return self._call(block)
        if kind == "fallback":
            models = [text_at(block, end, "model") or "unknown" for end in ("from", "to")]
            return Piece(content=f"model fallback: {' -> '.join(models)}")
        if kind in PICTURES or kind.endswith("tool_result"):
            done = render([block] if kind in PICTURES else block.get("content"))
            return Piece(src=Src.TOOL, content=done.text, blobs=done.blobs)
        return Piece.skipped(f"unknown type: block {ident(kind) or 'none'}")

    # ── the program's side ──

    def system(self, record: _Record) -> Iterator[Event]:
        """Errors and compactions; notes of the program, by their subtype."""
        kind = text_at(record.raw, "subtype")
        if kind == "compact_boundary":
            yield record.cast(self._boundary(record.raw))
        elif kind in _SYSTEM_ERRORS:
            facts = {"error": kind, "fallback_model": text_at(record.raw, "fallbackModel")}
            yield record.cast(_error(record.raw, kind, facts))
        elif kind in SKIPPED_SYSTEM:
            yield record.cast(Piece.skipped(f"{SKIPPED_SYSTEM[kind]}: system/{kind}"))
        elif kind in ("", "local_command", "informational", "away_summary"):
            piece = said(text_at(record.raw, "content"))
            yield record.cast(replace(piece, src=Src.SYSTEM) if piece.src is Src.USER else piece)
        else:
            yield record.cast(Piece.skipped(f"unknown type: system/{ident(kind)}"))

    def _boundary(self, raw: Facts) -> Piece:
        """The event of a compaction; its numbers are told again with the summary, which follows it."""
        told = facts_at(raw, "compactMetadata")
        self._compaction = {name: told[name] for name in _COMPACTION if name in told}
        text = text_at(raw, "content") or "conversation compacted"
        return Piece(content=text, facts={"compaction": self._compaction or True})

    def summary(self, record: _Record) -> Iterator[Event]:
        """The title-like summary of a branch, named by the record it ends in."""
        leaf = ident(record.raw.get("leafUuid"))
        mould = replace(record.mould, container="summary", id=leaf) if leaf else record.mould
        text = text_at(record.raw, "summary")
        yield mould.cast(Piece(kind=Kind.STATE, src=Src.AGENT, content=text, facts={"summary": True}))

    def attachment(self, record: _Record) -> Iterator[Event]:
        """Words that were queued, failed hooks; the context that the program adds is left out."""
        attached = facts_at(record.raw, "attachment")
        kind = text_at(attached, "type")
        if kind == "queued_command":
            yield from self._queued(record, attached)
        elif kind in _HOOK_ERRORS:
            yield record.cast(_error(attached, kind, {"error": kind, "hook": text_at(attached, "hookName")}))
        elif kind in SKIPPED_ATTACHMENTS:
            yield record.cast(Piece.skipped(f"{SKIPPED_ATTACHMENTS[kind]}: {kind}"))
        else:
            yield record.cast(Piece.skipped(f"unknown type: attachment {ident(kind) or 'none'}"))

    # ── words typed while the agent was at work ──

    def _queued(self, record: _Record, attached: Facts) -> Iterator[Event]:
        """The queued words as they reached the agent, unless the queue's own record has brought them already."""
        own = _Record(raw={**record.raw, **attached}, mould=record.mould)
        for place, block in enumerate(_blocks(attached.get("prompt")) or ()):
            told = text_at(block, "type") == "text" and self._told_already(text_at(block, "text"), by=1)
            piece = Piece.skipped("copy of a queued command") if told else self._user_block(own, block)
            yield record.cast(piece, place)

    def queue(self, record: _Record) -> Iterator[Event]:
        """Queued words come back in a record of their own, but for those that were taken out to steer the agent."""
        text = text_at(record.raw, "content")
        if text.strip() and text_at(record.raw, "operation") == "remove" and not self._told_already(text, by=-1):
            yield record.cast(self._user_text(record, text))
        else:
            yield record.cast(Piece.skipped("copy of a queued command" if text else "bookkeeping: queue-operation"))

    def _told_already(self, text: str, by: int) -> bool:
        """The two records of one command in either order: the second of a pair was told by the first."""
        name = hashlib.sha256(text.encode(errors="replace")).digest()[:8]
        told = self._queue[name] * by < 0
        self._queue[name] += by
        return told


def _error(raw: Facts, what: str, facts: Facts) -> Piece:
    text = next((text for path in _ERROR_TEXTS if (text := text_at(raw, *path).strip())), "no message")
    return Piece(kind=Kind.ERROR, content=f"{what}: {text}", facts=facts)


def _voice(record: _Record) -> Piece:
    """Who speaks in an assistant's record: the agent, the agent refusing, or the program in its place."""
    message = facts_at(record.raw, "message")
    facts = {
        "aborted": record.says("isAbortedMidStream") or None,
        "supersedes": list_at(record.raw, "supersedesUuids"),
        "error": text_at(record.raw, "error"),
    }
    if record.says("isApiErrorMessage") or facts["error"]:
        return Piece(kind=Kind.ERROR, facts=facts)
    if "refusal" in (text_at(message, "stop_reason"), text_at(message, "stop_details", "type")):
        why = text_at(message, "stop_details", "explanation") or "the model refused"
        return Piece(kind=Kind.ERROR, src=Src.AGENT, content=why, facts={**facts, "refused": True})
    src = Src.SYSTEM if text_at(message, "model") == "<synthetic>" else Src.AGENT
    return Piece(kind=Kind.STATE, src=src, facts=facts)


def _decided(detail: Facts, tool: str, text: str, known: Call | None) -> Piece | None:
    """The decision that a result reports: a plan that was accepted, or the user's answers."""
    told = text[:300].lower()
    if tool == "ExitPlanMode" and "approved" in told:
        plan = text_at(detail, "plan") or (known.plan if known else "") or text
        return Piece(kind=Kind.DECISION, src=Src.AGENT, content=plan, facts={"accepted_by": "user"})
    if tool == "AskUserQuestion" and "answered" in told:
        answers, notes = facts_at(detail, "answers"), facts_at(detail, "annotations")
        lines = [f"{question} → {render(answer).text}" for question, answer in answers.items()]
        lines += [f"{question}: {note}" for question in notes if (note := text_at(notes, question, "notes"))]
        return Piece(kind=Kind.DECISION, src=Src.USER, content="\n".join(lines) or text)
    return None


_MEANT: Final = {
    "user": _Reader.user,
    "assistant": _Reader.assistant,
    "system": _Reader.system,
    "attachment": _Reader.attachment,
    "summary": _Reader.summary,
    "queue-operation": _Reader.queue,
    "tool_use": _Reader.bare_call,
    "tool_result": _Reader.bare_result,
}

FORMAT: Final = Format(name=NAME, title="Claude Code session (JSONL)", sniff=sniff, read=read)
