"""The words an event carries itself, for where its transcript does not hold them: a row each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from alveus.doors.hook.place import Event, text
from alveus.journal.record import Kind, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """Something said or done. `prompt` and `call` are ids that the transcript knows it by."""

    kind: Kind
    src: Source
    content: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""
    call: str = ""


def words_of(event: Event) -> list[Word]:
    """What was said or done, by an event's own account; nothing for one that is blank."""
    row = _ROWS.get(text(event, "hook_event_name"))
    word = row(event) if row else None
    return [word] if word is not None and word.content.strip() and not _is_ours(word) else []


def _is_ours(word: Word) -> bool:
    """Whether it is what our own MCP server answered, or our own command printed."""
    from alveus.importers.echo import command, is_ours

    shown = word.src is Source.TOOL and command(word.facts.get("input"))
    return bool(shown) or is_ours(word.src, word.facts.get("tool"), word.content)


def _prompt(event: Event) -> Word:
    return Word(
        kind=Kind.OBSERVATION,
        src=Source.USER if text(event, "source") in ("", "user", "sdk") else Source.SYSTEM,
        content=text(event, "prompt"),
        prompt=text(event, "prompt_id"),
    )


def _answer(event: Event) -> Word:
    facts = {"subagent": text(event, "agent_id"), "model": text(event, "model")}
    return Word(kind=Kind.STATE, src=Source.AGENT, content=text(event, "last_assistant_message"), facts=facts)


def _result(event: Event) -> Word:
    from alveus.importers.facts import json_text
    from alveus.importers.render import render

    response = event.get("tool_response")
    given = event.get("tool_input")
    call = text(event, "tool_use_id")
    return Word(
        kind=Kind.OBSERVATION,
        src=Source.TOOL,
        content=render(response).text if isinstance(response, str | list) else json_text(response),
        facts={"tool": text(event, "tool_name"), "tool_use_id": call, "input": given},
        call=call,
    )


_ROWS: Final[Mapping[str, Callable[[Event], Word]]] = {
    "UserPromptSubmit": _prompt,
    "Stop": _answer,
    "SubagentStop": _answer,
    "PostToolUse": _result,
}
