"""Hermes' sessions: `sessions/session_*.json`, the archival export, and `state.db`.

A message of the archive or the database may be active, or no more: compacted away, or rewound. It stays, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Source
from alveus.importers.entries import Layout
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.pieces import ROLES, parsed
from alveus.importers.reading import first

NAME: Final = "hermes"
LAYOUT: Final = Layout(lists=frozenset({"messages"}), names=frozenset({"session_id"}))

_ABOUT: Final = ("platform", "cwd", "repository_cwd", "git_branch", "parent_session_id", "producer")
_LEFT: Final = frozenset({"compacted", "rewound"})


def _message(message: Facts) -> Facts:
    if "text" not in message and "message_id" not in message:
        return message
    content: list[object] = []
    if thought := text_at(message, "reasoning"):
        content.append({"type": "thinking", "text": thought})
    role = text_at(message, "role")
    if text := text_at(message, "text"):
        content.append({"type": "text", "role": role, "text": text})
    content += [
        {
            "type": "tool_use",
            "name": text_at(one, "tool_name"),
            "input": parsed(facts_at(one).get("arguments_json")),
            "id": text_at(one, "action_id"),
        }
        for one in list_at(message, "tool_calls")
    ]
    content += [
        {
            "type": "tool_result",
            "tool_use_id": text_at(one, "action_id"),
            "content": text_at(one, "output_preview") or text_at(one, "output"),
            "is_error": facts_at(one).get("is_error"),
        }
        for one in list_at(message, "tool_results")
    ]
    state = text_at(message, "state")
    return {
        # A tool's message is nothing but its results, which say themselves what they are.
        "role": "assistant" if role == "tool" else role,
        "content": content,
        "id": ident(message.get("message_id")),
        "time": message.get("timestamp"),
        chat.FACTS: {"state": state, "inactive": state in _LEFT or None},
    }


def _row(line: Facts) -> Facts:
    """A row of `messages`; the rows of `sessions` say nothing that is to be remembered."""
    row = facts_at(line, "row")
    if text_at(row, "role") not in ROLES:
        return chat.NOTHING
    calls = parsed(row.get("tool_calls"))
    return {
        "role": text_at(row, "role"),
        "content": row.get("content"),
        "reasoning": row.get("reasoning"),
        "tool_calls": calls if isinstance(calls, list) else None,
        "tool_call_id": row.get("tool_call_id"),
        "name": row.get("tool_name"),
        "id": ident(row.get("id")),
        "session": ident(row.get("session_id")),
        "time": row.get("timestamp"),
        chat.FACTS: {
            "inactive": row.get("active") == 0 or None,
            "compacted": row.get("compacted") == 1 or None,
        },
    }


def _about(header: Facts) -> Facts:
    return {name: header.get(name) for name in _ABOUT}


_DIALECT: Final = chat.Dialect(name=NAME, layout=LAYOUT, common=_message, about=_about)
_ROWS: Final = chat.Dialect(name=NAME, common=_row)


def _is_database(head: bytes) -> bool:
    return any(text_at(one, "database") == NAME for one in first(head)[:1])


def sniff(head: bytes) -> bool:
    """Whether the first object is a session with its platform or producer; or these are the database's rows."""
    return _is_database(head) or any(
        isinstance(one.get("messages"), list | Mapping)
        and "session_id" in one
        and ("session_start" in one or "session_revision_hash" in one or text_at(one, "producer").startswith(NAME))
        for one in first(head)[:1]
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one session, or of all in one database."""
    return chat.read(_ROWS if _is_database(source.head) else _DIALECT, source)


FORMAT: Final = Format(name=NAME, title="Hermes session (JSON, SQLite)", sniff=sniff, read=read)
