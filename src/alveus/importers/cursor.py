"""Cursor's conversations: `agent-transcripts/<id>.jsonl`, which know no times and no results, and its database.

In a prompt the program wraps the user's words in `<user_query>` and puts files and rules around them. In `state.vscdb`
every bubble of a conversation is a row, and says more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Source
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.pieces import parsed
from alveus.importers.reading import first

NAME: Final = "cursor"

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_ENDS: Final = frozenset({"turn_ended"})
_SPEAKERS: Final[Mapping[object, str]] = {1: "user", 2: "assistant"}


def _line(line: Facts) -> Facts:
    if "message" not in line:
        return chat.NOTHING if text_at(line, "type") in _ENDS else line
    role = text_at(line, "role")
    content = facts_at(line, "message").get("content")
    parts = content if isinstance(content, list) else [content]
    return {"role": role, "content": [_asked(part) for part in parts] if role == "user" else content}


def _asked(part: object) -> object:
    """The user's words of a part, and the rest of it as the program's."""
    found = _QUERY.search(text_at(part, "text"))
    return {"type": "text", "text": found[1]} if found else part


def _bubble(line: Facts) -> Facts:
    """A row of the database: `bubbleId:<conversation>:<bubble>`."""
    key = text_at(line, "row", "key").split(":")
    told = facts_at(parsed(facts_at(line, "row").get("value")))
    role = _SPEAKERS.get(told.get("type"))
    if len(key) != 3 or role is None:
        return chat.NOTHING
    made = facts_at(told, "toolFormerData")
    use = text_at(made, "toolCallId")
    content: list[object] = [{"type": "thinking", "text": text_at(told, "thinking", "text")}] * ("thinking" in told)
    if text := text_at(told, "text"):
        content.append({"type": "text", "text": text})
    if made:
        arguments = parsed(made.get("rawArgs") or made.get("params"))
        content.append({"type": "tool_use", "name": text_at(made, "name"), "input": arguments, "id": use})
        if result := made.get("result"):
            bad = text_at(made, "status") == "error"
            content.append({"type": "tool_result", "tool_use_id": use, "content": result, "is_error": bad})
    return {
        "role": role,
        "id": ident(key[2]),
        "session": ident(key[1]),
        "time": told.get("createdAt"),
        "content": content,
    }


_LINES: Final = chat.Dialect(name=NAME, common=_line, stem_is_session=True)
_BUBBLES: Final = chat.Dialect(name=NAME, common=_bubble)


def _is_database(head: bytes) -> bool:
    return any(text_at(one, "database") == NAME for one in first(head)[:1])


def sniff(head: bytes) -> bool:
    """Whether there are a role and a message beside it and nothing that names them; or the rows of the database."""
    return _is_database(head) or any(
        text_at(one, "role") in ("user", "assistant")
        and bool(list_at(one, "message", "content") or text_at(one, "message", "content"))
        and "content" not in one
        for one in first(head)[:1]
    )


def read(source: Source) -> Iterator[Event]:
    """The events of one conversation, or of all in one database."""
    return chat.read(_BUBBLES if _is_database(source.head) else _LINES, source)


FORMAT: Final = Format(name=NAME, title="Cursor transcript (JSONL, SQLite)", sniff=sniff, read=read)
