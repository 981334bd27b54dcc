"""Codex CLI's rollouts: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, plain or `.zst`.

Everything said stands there twice, as an item of the model's interface and as an event of the program; the items are
taken and the events are its copies. The program speaks under the roles `user` and `developer` too: newer versions mark
each content with its kind, of older ones the beginning tells. A compaction is an event; the history that it carries
is made of copies. Before the envelope `{"timestamp", "type", "payload"}` there were bare messages.

A fork begins with the records of the session it was forked from. Their ids are unique in the world where they hold a
UUID, and then they keep the origin that they have in that session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source
from alveus.importers.facts import Facts, facts_at, ident, json_text, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import (
    called,
    changed_model,
    compacted,
    failed,
    moved,
    returned,
    thought,
    words,
)
from alveus.importers.reading import PLAIN, Pieces, Records, Row, first, many, walk
from alveus.importers.render import render
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "codex"

_ENVELOPES: Final = frozenset(
    {
        "session_meta",
        "turn_context",
        "world_state",
        "response_item",
        "event_msg",
        "compacted",
        "token_usage_record",
    }
)
_COPIES: Final = (
    "user_message agent_message agent_reasoning agent_reasoning_raw_content exec_command_end patch_apply_end"
    " mcp_tool_call_end image_generation_end view_image_tool_call context_compacted dynamic_tool_call_request"
    " dynamic_tool_call_response collab_agent_spawn_end collab_agent_interaction_end collab_waiting_end"
    " collab_close_end collab_resume_end codex/event/raw_item item_completed item_completed/UserMessage"
    " item_completed/AgentMessage item_completed/Reasoning item_completed/CommandExecution item_completed/McpToolCall"
    " item_completed/FileChange item_completed/Extension item_completed/Plan item_completed/ContextCompaction"
    " item_completed/WebSearch item_completed/ImageView"
)
_NOTES: Final = (
    "task_started token_count thread_settings_applied thread_name_updated sub_agent_activity guardian_assessment"
    " entered_review_mode turn.completed turn_diff plan_update"
)
_ITEM: Final = "response_item/"
_EVENT: Final = "event_msg/"
_UNIQUE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_EXIT = re.compile(r'(?:Process exited with code |"exit_code": ?)(\d+)')
_NEAR: Final = 400
_PICTURE_FENCE = re.compile(r"</?image\b[^>]*>")
_HARNESS: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<skill>",
    "<collaboration_mode>",
    "<subagent_notification>",
    "<user_shell_command>",
    "# AGENTS.md instructions",
)
_SUMMARY: Final = "Another language model started to solve this problem and produced a summary"
_TIMED: Final = frozenset({"timestamp", "created_at"})
_BOOKKEEPING: Final = "bookkeeping"
_COPY: Final = "copy of an item"


class _Reader(Records):
    name = NAME
    time_at = ("timestamp", "created_at")

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        # The file is named after its session, which is known so even where its first line is lost.
        named = _UNIQUE.search(self.stem)
        self.session = named[0] if named and self.stem.startswith("rollout-") else None

    def kind(self, value: Facts) -> str:
        kind = text_at(value, "type")
        if kind in ("response_item", "event_msg"):
            inner = text_at(value, "payload", "type")
            item = text_at(value, "payload", "item", "type")
            return f"{kind}/{inner}" + (f"/{item}" if item and inner == "item_completed" else "")
        return kind or ("message" if text_at(value, "role") else "")

    def id_of(self, value: Facts) -> str | None:
        payload = facts_at(value, "payload")
        own = ident(payload.get("id")) if text_at(value, "type") == "response_item" else None
        call = ident(payload.get("call_id"))
        if own or not call:
            ordinal = ident(value.get("ordinal"))
            return own or (f"ordinal-{ordinal}" if ordinal else None)
        return f"{call}/output" if "output" in payload else call

    def time_of(self, value: Facts) -> object:
        return super().time_of(value) or text_at(value, "payload", "timestamp") or None

    def container(self, value: Facts) -> str:
        parent = str(self.facts.get("forked_from") or "")
        copied = parent and _UNIQUE.search(self.id_of(value) or "")
        return parent if copied else super().container(value)

    def facts_of(self, value: Facts) -> Facts:
        return {"turn": text_at(value, "payload", "internal_chat_message_metadata_passthrough", "turn_id")}

    # ── the session ──

    def session_meta(self, value: Facts) -> Pieces:
        """The first names the session. One that follows is that of the session which this one was forked from."""
        told = facts_at(value, "payload")
        own = ident(told.get("id")) or ident(told.get("session_id"))
        if self.session in (None, own):
            self.session = own
            self.facts |= {"cwd": text_at(told, "cwd"), "git_branch": text_at(told, "git", "branch")}
            source = facts_at(told, "source", "subagent", "thread_spawn")
            parent = text_at(told, "forked_from_id")
            if parent or source:
                before = parent or text_at(source, "parent_thread_id")
                what = "forked from" if parent else "started by"
                yield moved(f"session {own} was {what} {before}", {"forked_from": parent, "parent_session": before})
                return
        else:
            self.facts["forked_from"] = own
        yield Piece.skipped(f"{_BOOKKEEPING}: session_meta")

    def turn_context(self, value: Facts) -> Pieces:
        """What a turn runs under; only a change of the model is remembered."""
        model, before = text_at(value, "payload", "model"), str(self.facts.get("model") or "")
        self.facts |= {"model": model or before, "cwd": text_at(value, "payload", "cwd") or self.facts.get("cwd")}
        changed = model and before and model != before
        yield changed_model(model, before) if changed else Piece.skipped(f"{_BOOKKEEPING}: turn_context")

    def compacted(self, value: Facts) -> Pieces:
        """The event of a compaction. What replaced the history is made of copies."""
        told = facts_at(value, "payload")
        facts = {name: told.get(name) for name in ("window_number", "window_id", "previous_window_id")}
        yield compacted(text_at(told, "message"), {**facts, "kept": len(list_at(told, "replacement_history"))})

    # ── items ──

    def message(self, value: Facts) -> Pieces:
        """What somebody said: each content is judged by its kind."""
        told = facts_at(value, "payload")
        kinds = list_at(told, "internal_chat_message_metadata_passthrough", "content_item_kinds")
        content = told.get("content")
        parts = content if isinstance(content, list) else [content]
        for place, part in enumerate(parts):
            kind = kinds[place] if place < len(kinds) else None
            yield _said(text_at(told, "role"), part, kind if isinstance(kind, str) else "")

    def reasoning(self, value: Facts) -> Pieces:
        """The summary of a thought; the thought itself is opaque."""
        told = facts_at(value, "payload")
        yield thought("\n".join(t for t in (render(told.get("summary")).text, render(told.get("content")).text) if t))

    def call(self, value: Facts) -> Pieces:
        """A call of any kind of tool."""
        told = facts_at(value, "payload")
        kind = text_at(told, "type").removesuffix("_call")
        given = next((told[name] for name in ("arguments", "input", "action") if told.get(name) is not None), {})
        use = text_at(told, "call_id") or text_at(told, "id")
        yield called(text_at(told, "name") or kind, given, use, self.calls)

    def output(self, value: Facts) -> Pieces:
        """A tool's result."""
        told = facts_at(value, "payload")
        out = told.get("output") if "output" in told else told.get("tools")
        piece = returned(out, text_at(told, "call_id"), self.calls)
        code = _EXIT.search(piece.content[:_NEAR])
        bad = text_at(told, "status") == "failed" or (code is not None and code[1] != "0")
        yield replace(piece, kind=Kind.ERROR) if bad else piece

    def picture(self, value: Facts) -> Pieces:
        """A picture that the model made, by its hash."""
        told = facts_at(value, "payload")
        done = render({"type": "image_url", "url": f"data:image/png;base64,{text_at(told, 'result')}"})
        asked = text_at(told, "revised_prompt")
        yield Piece(
            src=Src.TOOL,
            content="\n".join(part for part in (asked, done.text) if part),
            blobs=done.blobs,
            facts={"tool": "image_generation"},
        )

    def between_agents(self, value: Facts) -> Pieces:
        """A message from one agent to another."""
        told = facts_at(value, "payload")
        seen = [one for one in list_at(told, "content") if text_at(one, "type") != "encrypted_content"]
        facts = {"from": text_at(told, "author"), "to": text_at(told, "recipient")}
        yield moved(render(seen).text, facts, Src.AGENT)

    # ── events that no item tells ──

    def aborted(self, value: Facts) -> Pieces:
        """A turn that was stopped."""
        yield failed(text_at(value, "payload", "reason"), "turn_aborted")

    def error(self, value: Facts) -> Pieces:
        """What went wrong in the program."""
        told = facts_at(value, "payload")
        yield failed(text_at(told, "message"), "error", {"code": told.get("codex_error_info")})

    def completed(self, value: Facts) -> Pieces:
        """The end of a turn, which is something only when it failed."""
        text = text_at(value, "payload", "error", "message")
        yield failed(text, "task_failed") if text else Piece.skipped(f"{_BOOKKEEPING}: task_complete")

    def searched(self, value: Facts) -> Pieces:
        """What a search of the web found; its item says only what was asked."""
        told = facts_at(value, "payload")
        found = told.get("results")
        yield Piece(
            src=Src.TOOL,
            content=f"{text_at(told, 'query')}\n{json_text(found)}" if found else "",
            facts={"tool": "web_search", "tool_use_id": text_at(told, "call_id")},
        )

    def reviewed(self, value: Facts) -> Pieces:
        """What a review came to."""
        told = facts_at(value, "payload", "review_output")
        lines = [text_at(told, "overall_explanation")]
        lines += [f"{text_at(one, 'title')}\n{text_at(one, 'body')}" for one in list_at(told, "findings")]
        yield Piece(kind=Kind.STATE, src=Src.AGENT, content="\n\n".join(filter(None, lines)), facts={"review": True})

    def undone(self, value: Facts) -> Pieces:
        """The user took back what the agent had changed."""
        told = facts_at(value, "payload")
        text = text_at(told, "message") or "undo"
        yield Piece(kind=Kind.DECISION, content=text, facts={"undo": told.get("success") is True})

    def goal(self, value: Facts) -> Pieces:
        """The aim that a thread was given."""
        yield Piece(kind=Kind.DECISION, content=text_at(value, "payload", "goal", "objective"), facts={"goal": True})

    # ── before the envelope ──

    def bare_message(self, value: Facts) -> Pieces:
        """A message that is a line."""
        content = value.get("content") if value.get("content") is not None else value.get("message")
        yield _said(text_at(value, "role"), content, "")

    def bare_call(self, value: Facts) -> Pieces:
        """A call that is a line; it has no id, so its name stands for it."""
        name = text_at(value, "function", "name") or text_at(value, "name")
        yield called(name, value.get("arguments"), text_at(value, "call_id") or name, self.calls)

    def bare_result(self, value: Facts) -> Pieces:
        """A result that is a line."""
        name = text_at(value, "name")
        out = value.get("result") if value.get("result") is not None else value.get("output")
        yield returned(out, text_at(value, "call_id") or name, self.calls, name=name)

    def bare_error(self, value: Facts) -> Pieces:
        """An error that is a line."""
        yield failed(text_at(value, "text") or text_at(value, "message"))

    table: ClassVar[Mapping[str, Row]] = {
        "session_meta": session_meta,
        "turn_context": turn_context,
        "compacted": compacted,
        "world_state": "harness context",
        "token_usage_record": _BOOKKEEPING,
        "inter_agent_communication_metadata": _BOOKKEEPING,
        "message": bare_message,
        "tool_call": bare_call,
        "function_call": bare_call,
        "tool_result": bare_result,
        "function_result": bare_result,
        "function_call_output": bare_result,
        "error": bare_error,
        "response_item/message": message,
        "response_item/reasoning": reasoning,
        "response_item/agent_message": between_agents,
        "response_item/image_generation_call": picture,
        "response_item/ghost_snapshot": _BOOKKEEPING,
        **many("function_call custom_tool_call web_search_call tool_search_call local_shell_call", call, _ITEM),
        **many("function_call_output custom_tool_call_output tool_search_output", output, _ITEM),
        "event_msg/turn_aborted": aborted,
        "event_msg/error": error,
        "event_msg/stream_error": error,
        "event_msg/task_complete": completed,
        "event_msg/web_search_end": searched,
        "event_msg/exited_review_mode": reviewed,
        "event_msg/undo_completed": undone,
        "event_msg/thread_goal_updated": goal,
        **many(_COPIES, _COPY, _EVENT),
        **many(_NOTES, _BOOKKEEPING, _EVENT),
    }


def _said(role: str, part: object, kind: str) -> Piece:
    if text_at(part, "type") in ("input_image", "input_audio") and not any(
        text_at(part, name) for name in ("image_url", "file_id", "audio_url")
    ):
        return Piece.skipped("empty picture")
    text = part if isinstance(part, str) else text_at(part, "text")
    own = text.strip()
    if kind.startswith("hooks."):
        return Piece.skipped("echo of a hook")
    if role == "user" and (kind == "compaction.summary" or own.startswith(_SUMMARY)):
        return Piece.skipped("copy of a compaction")
    if role == "user" and own.startswith("<turn_aborted>"):
        return Piece.skipped("copy of an interruption")
    if role == "developer" or (kind and not kind.startswith(("user.", "unknown"))) or own.startswith(_HARNESS):
        return Piece.skipped(f"harness context: {kind.partition('.')[0] or 'text'}")
    if _PICTURE_FENCE.fullmatch(own):
        return Piece.skipped("fence of a picture")
    if role not in ("user", "assistant", "system", "tool"):
        return Piece.skipped(f"unknown type: role {ident(role) or 'none'}")
    return words(role, [part])


def sniff(head: bytes) -> bool:
    """Whether there is an envelope; or lines of before: a model beside the user's words, a call that is a line."""
    found = first(head)
    if any(text_at(one, "type") in _ENVELOPES and "payload" in one for one in found):
        return True
    return any(text_at(one, "role") == "user" and "model" in one and _TIMED & one.keys() for one in found[:1]) or any(
        text_at(one, "type") in ("tool_call", "function_call") and _TIMED & one.keys() and "function" in one
        for one in found
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one rollout, streamed."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="Codex CLI rollout (JSONL, .zst)", sniff=sniff, read=read)
