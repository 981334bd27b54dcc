"""Cursor's conversations: `agent-transcripts/<id>.jsonl`, which know no times and no results, and its databases.

In a prompt the program wraps the user's words in `<user_query>` and puts files and rules around them. In `state.vscdb`
every bubble of a conversation is a row, and says more. The agent on the command line keeps a `store.db` a session:
`meta` says in hexadecimal JSON how it is called, and `blobs` holds its messages as JSON, each under the hash of its
bytes, beside the trees that point to them. They are read as they were written, so that what a compaction or an edit
left behind comes too; the same words said twice are one blob, and come once.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from alveus.importers import chat
from alveus.importers.base import Event, Format, Source
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.pieces import parsed
from alveus.importers.reading import first

NAME: Final = "cursor"

_DATABASES: Final = (NAME, "cursor-agent")
_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_CONTEXT = re.compile(
    r"\s*<(?:user_info|project_layout|git_status|rules|attached_files|system_reminder|additional_data)>"
)
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
    """The user's words of a part; one in which the program says where the agent is, is the program's."""
    text = text_at(part, "text") or (part if isinstance(part, str) else "")
    if found := _QUERY.search(text):
        return {"type": "text", "text": found[1]}
    return {"type": "text", "text": text, "role": "system"} if _CONTEXT.match(text) else part


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


def _blob(named: dict[str, str | None], line: Facts) -> Facts:
    """A row of a session's `store.db`. `named` holds what the session is called, once its row has said so."""
    row = facts_at(line, "row")
    if text_at(line, "table") == "meta":
        named["session"] = ident(facts_at(parsed(_unhexed(text_at(row, "value")))).get("agentId")) or named["session"]
        return chat.NOTHING
    told = facts_at(parsed(_unpacked(row.get("data"))))
    role, content = text_at(told, "role"), told.get("content")
    if not role:
        return chat.NOTHING
    parts = content if isinstance(content, list) else [content]
    return {
        # A message of results says in each part which call it answers, as an agent's message may.
        "role": "assistant" if role == "tool" else role,
        "id": ident(row.get("id")),
        "session": named["session"],
        "content": [_asked(part) if role == "user" else _part(part) for part in parts],
    }


def _part(part: object) -> object:
    """A part in the words of Vercel's interface, in the common ones."""
    what, use = text_at(part, "type"), text_at(part, "toolCallId")
    told = facts_at(part)
    if what == "tool-call":
        return {
            "type": "tool_use",
            "name": text_at(part, "toolName"),
            "input": _one_of(told, "args", "input"),
            "id": use,
        }
    if what == "tool-result":
        given = _one_of(told, "result", "output")
        return {"type": "tool_result", "tool_use_id": use, "content": given, "is_error": told.get("isError")}
    return {"type": "thinking", "text": ""} if what == "redacted-reasoning" else part


def _one_of(told: Facts, *names: str) -> object:
    return next((told[name] for name in names if name in told), None)


def _unhexed(text: str) -> str:
    try:
        return bytes.fromhex(text).decode()
    except ValueError:
        return text


def _unpacked(data: object) -> object:
    """The text of a blob; nothing of one that is no text, as the trees are."""
    if packed := text_at(data, "base64"):
        try:
            return base64.b64decode(packed).decode()
        except ValueError:
            return ""
    return data


_LINES: Final = chat.Dialect(name=NAME, common=_line, stem_is_session=True)
_BUBBLES: Final = chat.Dialect(name=NAME, common=_bubble)


def _is_database(head: bytes) -> bool:
    return _database(head) in _DATABASES


def _database(head: bytes) -> str:
    return next((text_at(one, "database") for one in first(head)[:1]), "")


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
    base = _database(source.head)
    if base == "cursor-agent":
        # The folder of a store is called as its session is, where the store itself does not say.
        named = {"session": ident(source.path.parent.name)}
        return chat.read(chat.Dialect(name=NAME, common=partial(_blob, named)), source)
    return chat.read(_BUBBLES if base == NAME else _LINES, source)


FORMAT: Final = Format(name=NAME, title="Cursor transcript (JSONL, SQLite)", sniff=sniff, read=read)
