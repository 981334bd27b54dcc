"""OpenAI's chat messages: a JSON list, lines, or `{"messages": [...]}`, alone or one a line; and Responses items.

A message may carry `id`, `time` or `created_at`, and `session`; they become its origin, event time and session. Its
`metadata` is kept as what the source said and moves nothing: user, agent and source are set by the door. The session
databases of the OpenAI Agents SDK hold the same items, one a row.

**Kinds.** User, system and tool messages are observations, the assistant's are state, a refusal or a failed tool is an
error, a tool call is an observation unless `calls` knows better. Every part, refusal and call is an item of its own.
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

NAME: Final = "openai-chat"
LAYOUT: Final = Layout(lists=frozenset({"messages"}))

_SPOKEN: Final = ("content", "tool_calls", "function_call", "refusal")
_DIALECT: Final = chat.Dialect(name=NAME, layout=LAYOUT)
_DATABASE: Final = "openai-agents"


def read(source: Source) -> Iterator[Event]:
    """The events of one file, streamed."""
    return chat.read(_ROWS if _is_database(source.head) else _DIALECT, source)


def sniff(head: bytes) -> bool:
    """Whether the first object is a message, or an object with a list of messages."""
    found = first(head, *LAYOUT.lists)[:1]
    return _is_database(head) or any(
        _is_message(one) or any(map(_is_message, list_at(one, "messages"))) for one in found
    )


def _is_message(value: object) -> bool:
    return text_at(value, "role") in ROLES and isinstance(value, Mapping) and any(name in value for name in _SPOKEN)


def _is_database(head: bytes) -> bool:
    return any(one.get("database") == _DATABASE for one in first(head)[:1])


def _row(line: Facts) -> Facts:
    """A row of `agent_messages`: its number is its id, and SQLite's CURRENT_TIMESTAMP is UTC by definition."""
    row = facts_at(line, "row")
    if not row:
        return chat.NOTHING
    written = text_at(row, "created_at")
    return {
        **facts_at(parsed(row.get("message_data"))),
        "id": ident(row.get("id")),
        "session": ident(row.get("session_id")),
        "time": f"{written.replace(' ', 'T')}Z" if written else None,
    }


_ROWS: Final = chat.Dialect(name=NAME, common=_row)

FORMAT: Final = Format(name=NAME, title="OpenAI chat messages (JSON or JSONL)", sniff=sniff, read=read)
