"""A transcript of every format, made to measure: so many turns, and the words of each as the caller likes.

Each turn has one thing that a person said and one that the agent answered, with ids and times of its own where the
format has them. Tests damage these files, and the benchmark makes them large.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SESSION = "5e551011-0000-4000-8000-000000000001"


def moment(number: int) -> str:
    """The time of the turn of that number, in a zone that is not ours."""
    hour, rest = divmod(number, 3600)
    return f"2026-03-{1 + hour // 24 % 28:02d}T{hour % 24:02d}:{rest // 60:02d}:{rest % 60:02d}+03:00"


def said(number: int, text: str) -> tuple[str, str]:
    """What the person and the agent say in this turn."""
    return f"question {number} {text}", f"answer {number} {text}"


@dataclass(frozen=True, kw_only=True)
class Made:
    """How a format's file is made: what stands before the turns, one turn, and how they lie in the file.

    `wrap` is None where every object is a line. `ids` says whether an item is known by an id of its own, and not by
    its place. `zone` says whether the format keeps the zone of a time.
    """

    name: str
    file: str
    turn: Callable[[int, str], list[Any]]
    head: tuple[Any, ...] = ()
    wrap: Callable[[list[Any]], Any] | None = None
    ids: bool = True
    zone: bool = True
    text: bool = False

    def lines(self, turns: int, text: str = "words") -> list[bytes]:
        """The file as lines."""
        found = [*self.head, *(one for number in range(turns) for one in self.turn(number, text))]
        return [one.encode() if self.text else json.dumps(one).encode() for one in found]

    def data(self, turns: int, text: str = "words", *, indent: int | None = None) -> bytes:
        """The file."""
        if self.wrap is None:
            return b"".join(line + b"\n" for line in self.lines(turns, text))
        found = [one for number in range(turns) for one in self.turn(number, text)]
        return json.dumps(self.wrap(found), indent=indent).encode()

    def stream(self, turns: Iterable[int], text: str) -> Iterator[bytes]:
        """The same in pieces, for files that are too large to hold; documents are lists of many conversations."""
        for one in self.head:
            yield (one if self.text else json.dumps(one)).encode() + b"\n"
        for number in turns:
            for one in self.turn(number, text):
                yield (one if self.text else json.dumps(one)).encode() + b"\n"


def _claude(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    common = {"sessionId": SESSION, "timestamp": moment(number), "cwd": "/home/a"}
    before = f"a{number - 1}" if number else None
    return [
        {"type": "user", "uuid": f"u{number}", "parentUuid": before, "message": {"content": asked}, **common},
        {
            "type": "assistant",
            "uuid": f"a{number}",
            "parentUuid": f"u{number}",
            "message": {"model": "m", "content": [{"type": "text", "text": answered}]},
            **common,
        },
    ]


def _codex(number: int, text: str) -> list[Any]:
    def item(role: str, kind: str, words: str, own: str) -> Any:
        content = [{"type": kind, "text": words}]
        payload = {"type": "message", "id": own, "role": role, "content": content}
        return {"timestamp": moment(number), "type": "response_item", "payload": payload}

    asked, answered = said(number, text)
    return [
        item("user", "input_text", asked, f"msg_u{number}"),
        item("assistant", "output_text", answered, f"msg_a{number}"),
    ]


def _gemini(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {"id": f"u{number}", "timestamp": moment(number), "type": "user", "content": [{"text": asked}]},
        {"id": f"g{number}", "timestamp": moment(number), "type": "gemini", "content": answered, "model": "m"},
    ]


def _antigravity(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {
            "step_index": 2 * number,
            "source": "USER_EXPLICIT",
            "type": "USER_INPUT",
            "created_at": moment(number),
            "content": asked,
        },
        {
            "step_index": 2 * number + 1,
            "source": "MODEL",
            "type": "PLANNER_RESPONSE",
            "created_at": moment(number),
            "content": answered,
        },
    ]


def _copilot(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {"type": "user.message", "data": {"content": asked}, "id": f"u{number}", "timestamp": moment(number)},
        {"type": "assistant.message", "data": {"content": answered}, "id": f"a{number}", "timestamp": moment(number)},
    ]


def _kimi(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    message = {"role": "user", "content": [{"type": "text", "text": asked}], "origin": {"kind": "user"}}
    part = {"type": "content.part", "uuid": f"p{number}", "part": {"type": "text", "text": answered}}
    time = 1_785_612_803_281 + 1000 * number
    return [
        {"type": "context.append_message", "message": message, "time": time},
        {"type": "context.append_loop_event", "event": part, "time": time},
    ]


def _pi(number: int, text: str) -> list[Any]:
    def entry(role: str, words: str, own: str, parent: str | None) -> Any:
        message = {"role": role, "content": [{"type": "text", "text": words}]}
        return {"type": "message", "id": own, "parentId": parent, "timestamp": moment(number), "message": message}

    asked, answered = said(number, text)
    before = f"a{number - 1}" if number else None
    return [entry("user", asked, f"u{number}", before), entry("assistant", answered, f"a{number}", f"u{number}")]


def _qwen(number: int, text: str) -> list[Any]:
    def record(role: str, words: str, own: str) -> Any:
        return {
            "uuid": own,
            "sessionId": SESSION,
            "timestamp": moment(number),
            "type": role,
            "message": {"role": role, "parts": [{"text": words}]},
        }

    asked, answered = said(number, text)
    return [record("user", asked, f"u{number}"), record("assistant", answered, f"a{number}")]


def _chat(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    common = {"time": moment(number), "session": "s01"}
    return [
        {"id": f"m{2 * number:04}", "role": "user", "content": asked, **common},
        {"id": f"m{2 * number + 1:04}", "role": "assistant", "content": answered, **common},
    ]


def _cursor(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": answered}]}},
    ]


def _sharegpt(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [{"conversations": [{"from": "human", "value": asked}, {"from": "gpt", "value": answered}]}]


def _langchain(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {"type": "human", "data": {"content": asked, "id": f"h{number}", "type": "human"}},
        {"type": "ai", "data": {"content": answered, "id": f"a{number}", "type": "ai"}},
    ]


def _pydantic(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    common = {"timestamp": moment(number), "run_id": "r", "conversation_id": SESSION}
    return [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": asked}], **common},
        {"kind": "response", "parts": [{"part_kind": "text", "content": answered}], **common},
    ]


def _hermes(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {"message_id": f"u{number}", "role": "user", "state": "active", "timestamp": moment(number), "text": asked},
        {
            "message_id": f"a{number}",
            "role": "assistant",
            "state": "active",
            "timestamp": moment(number),
            "text": answered,
        },
    ]


def _atof(number: int, text: str) -> list[Any]:
    def event(half: str, data: Any) -> Any:
        return {
            "atof_version": "0.1",
            "kind": "scope",
            "category": "llm",
            "scope_category": half,
            "uuid": f"llm-{number}",
            "timestamp": moment(number),
            "name": "local",
            "metadata": {"session_id": SESSION},
            "data": data,
        }

    asked, answered = said(number, text)
    return [event("start", {"content": asked}), event("end", {"assistant_message": answered})]


def _atif(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {"step_id": 2 * number + 1, "timestamp": moment(number), "source": "user", "message": asked},
        {"step_id": 2 * number + 2, "timestamp": moment(number), "source": "agent", "message": answered},
    ]


def _letta(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [
        {"role": "user", "content": [{"type": "text", "text": asked}], "created_at": moment(number)},
        {"role": "assistant", "content": [{"type": "text", "text": answered}], "created_at": moment(number)},
    ]


def _inspect(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    messages = [
        {"id": f"u{number}", "role": "user", "content": asked},
        {"id": f"a{number}", "role": "assistant", "content": answered},
    ]
    return [
        {
            "id": number,
            "epoch": 1,
            "input": "",
            "target": "",
            "uuid": f"sample{number}",
            "messages": messages,
            "started_at": moment(number),
        }
    ]


def _chatgpt(number: int, text: str) -> list[Any]:
    def node(role: str, words: str, own: str, parent: str | None, children: list[str]) -> Any:
        message = {
            "id": f"{own}{number}",
            "author": {"role": role},
            "create_time": 1_785_578_400.5 + number,
            "content": {"content_type": "text", "parts": [words]},
            "recipient": "all",
        }
        return {"id": own, "parent": parent, "children": children, "message": message}

    asked, answered = said(number, text)
    mapping = {"u": node("user", asked, "u", None, ["a"]), "a": node("assistant", answered, "a", "u", [])}
    return [
        {"id": f"c{number}", "conversation_id": f"c{number}", "title": "t", "current_node": "a", "mapping": mapping}
    ]


def _claude_ai(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    messages = [
        {"uuid": f"u{number}", "sender": "human", "text": asked, "created_at": moment(number)},
        {"uuid": f"a{number}", "sender": "assistant", "text": answered, "created_at": moment(number)},
    ]
    return [{"uuid": f"c{number}", "name": "t", "created_at": moment(number), "chat_messages": messages}]


def _grok(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    responses = [
        {"_id": f"u{number}", "sender": "human", "message": asked, "create_time": moment(number)},
        {"_id": f"a{number}", "sender": "assistant", "message": answered, "create_time": moment(number)},
    ]
    return [{"conversation": {"id": f"c{number}", "title": "t"}, "responses": responses}]


def _mem0(number: int, text: str) -> list[Any]:
    return [
        {"id": f"{one}{number}", "memory": words, "hash": "h", "created_at": moment(number)}
        for one, words in zip("ua", said(number, text), strict=True)
    ]


def _aider(number: int, text: str) -> list[Any]:
    asked, answered = said(number, text)
    return [f"#### {asked}", "", answered, ""]


MADE = (
    Made(name="claude-code", file="session.jsonl", turn=_claude),
    Made(
        name="codex",
        file="rollout.jsonl",
        turn=_codex,
        head=({"timestamp": moment(0), "type": "session_meta", "payload": {"id": SESSION, "cwd": "/home/a"}},),
    ),
    Made(
        name="gemini-cli",
        file="session-1.jsonl",
        turn=_gemini,
        head=({"sessionId": SESSION, "projectHash": "p", "startTime": moment(0), "kind": "main"},),
    ),
    Made(name="antigravity", file="transcript.jsonl", turn=_antigravity, ids=False),
    Made(
        name="copilot-cli",
        file="events.jsonl",
        turn=_copilot,
        head=({"type": "session.start", "data": {"sessionId": SESSION}, "id": "e", "timestamp": moment(0)},),
    ),
    Made(
        name="kimi",
        file="kimi.jsonl",
        turn=_kimi,
        head=({"type": "metadata", "protocol_version": "1.4", "created_at": 1_785_612_803_281},),
        ids=False,
        zone=False,
    ),
    Made(
        name="pi",
        file="pi.jsonl",
        turn=_pi,
        head=({"type": "session", "version": 3, "id": SESSION, "timestamp": moment(0), "cwd": "/home/a"},),
    ),
    Made(name="qwen-code", file="qwen.jsonl", turn=_qwen),
    Made(name="openai-chat", file="chat.jsonl", turn=_chat),
    Made(name="cursor", file="cursor.jsonl", turn=_cursor, ids=False, zone=False),
    Made(name="sharegpt", file="sharegpt.jsonl", turn=_sharegpt, ids=False, zone=False),
    Made(name="atof", file="atof.jsonl", turn=_atof),
    Made(name="langchain", file="langchain.json", turn=_langchain, wrap=list, zone=False),
    Made(name="pydantic-ai", file="messages.json", turn=_pydantic, wrap=list, ids=False),
    Made(
        name="hermes",
        file="hermes.json",
        turn=_hermes,
        wrap=lambda found: {"session_id": SESSION, "session_revision_hash": "x", "messages": found, "usage": {}},
    ),
    Made(
        name="atif",
        file="atif.json",
        turn=_atif,
        wrap=lambda found: {"schema_version": "ATIF-v1.7", "session_id": SESSION, "steps": found, "notes": "n"},
    ),
    Made(
        name="letta",
        file="agent.af",
        turn=_letta,
        wrap=lambda found: {"agents": [{"name": "Ann", "agent_type": "x", "messages": found}], "blocks": []},
    ),
    Made(
        name="inspect-ai",
        file="log.json",
        turn=_inspect,
        wrap=lambda found: {"version": 2, "eval": {"task": "t"}, "plan": {}, "samples": found, "reductions": []},
    ),
    Made(name="chatgpt", file="conversations.json", turn=_chatgpt, wrap=list, zone=False),
    Made(name="claude-ai", file="conversations.json", turn=_claude_ai, wrap=list),
    Made(name="grok", file="grok.json", turn=_grok, wrap=lambda found: {"conversations": found}),
    Made(name="mem0", file="mem0.json", turn=_mem0, wrap=lambda found: {"results": found}),
    Made(
        name="aider",
        file=".aider.chat.history.md",
        turn=_aider,
        head=("", "# aider chat started at 2026-03-01 10:00:00", "", "> /usr/bin/aider --model m  ", ""),
        ids=False,
        zone=False,
        text=True,
    ),
)
"""Every format whose files are text. Databases, archives and folders have makers of their own below."""

OWN = {one.name: one for one in MADE}


# ── databases ────────────────────────────────────────────────────────────────────────────────────────────────────────


def database(path: Path, tables: dict[str, tuple[str, list[tuple[Any, ...]]]], *, wal: bool = False) -> Path:
    """A SQLite file with these tables: the columns of each, and its rows."""
    with closing(sqlite3.connect(path)) as base:
        if wal:
            base.execute("PRAGMA journal_mode=wal")
        for name, (columns, rows) in tables.items():
            base.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * len(columns.split(",")))
            base.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        base.commit()
    return path


def agents_database(path: Path, turns: int = 2) -> Path:
    """A session of the OpenAI Agents SDK."""
    rows = [
        (2 * number + place, SESSION, json.dumps({"role": role, "content": words}), "2026-03-01 10:00:00")
        for number in range(turns)
        for place, (role, words) in enumerate(zip(("user", "assistant"), said(number, "words"), strict=True), 1)
    ]
    return database(path, {"agent_messages": ("id INTEGER PRIMARY KEY, session_id, message_data, created_at", rows)})


def opencode_database(path: Path, turns: int = 2) -> Path:
    """A conversation of OpenCode, after it moved into a database."""
    messages, parts = [], []
    for number in range(turns):
        for place, (role, words) in enumerate(zip(("user", "assistant"), said(number, "words"), strict=True)):
            own, time = f"m{number}{place}", 1_730_000_000_000 + 2 * number + place
            messages.append((own, "s", time, json.dumps({"role": role, "time": {"created": time}})))
            parts.append((f"p{number}{place}", own, "s", json.dumps({"type": "text", "text": words})))
    return database(
        path,
        {
            "session": ("id, time_created, data", [("s", 1, json.dumps({"directory": "/home/a", "title": "t"}))]),
            "message": ("id, session_id, time_created, data", messages),
            "part": ("id, message_id, session_id, data", parts),
        },
    )


def opencode_store(folder: Path, turns: int = 2) -> Path:
    """The same as the folder of small files that it was before."""

    def put(where: str, value: Any) -> None:
        path = folder / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    put("session/p/s.json", {"id": "s", "directory": "/home/a", "title": "t"})
    for number in range(turns):
        for place, (role, words) in enumerate(zip(("user", "assistant"), said(number, "words"), strict=True)):
            own, time = f"m{number}{place}", 1_730_000_000_000 + 2 * number + place
            put(f"message/s/{own}.json", {"id": own, "sessionID": "s", "role": role, "time": {"created": time}})
            put(f"part/{own}/p.json", {"id": f"p{number}{place}", "messageID": own, "type": "text", "text": words})
    return folder


def hermes_database(path: Path) -> Path:
    """Hermes' `state.db`, with a message that is active no more."""
    rows = [
        (1, "s", "user", "question", None, 1_785_578_400.5, 1, 0),
        (2, "s", "assistant", "wrong answer", None, 1_785_578_401.5, 0, 0),
        (3, "s", "assistant", "answer", None, 1_785_578_402.5, 1, 0),
    ]
    return database(
        path,
        {
            "sessions": ("id, source", [("s", "cli")]),
            "messages": ("id, session_id, role, content, tool_calls, timestamp, active, compacted", rows),
        },
    )


def openclaw_database(path: Path) -> Path:
    """OpenClaw's `transcript_events`, which are Pi's entries."""
    entries = [
        {"type": "session", "version": 3, "id": "s", "timestamp": moment(0), "cwd": "/home/a"},
        *_pi(0, "words"),
    ]
    rows = [("s", number, json.dumps(one)) for number, one in enumerate(entries)]
    return database(path, {"transcript_events": ("session_id, seq, event_json", rows)})


def mem0_database(path: Path) -> Path:
    """mem0's history: a memory that came, changed and went."""
    rows = [
        ("1", "m", None, "port 8080", "ADD", moment(0), 0),
        ("2", "m", "port 8080", "port 8081", "UPDATE", moment(1), 0),
        ("3", "m", "port 8081", None, "DELETE", moment(2), 1),
    ]
    columns = "id, memory_id, old_memory, new_memory, event, created_at, is_deleted"
    return database(path, {"history": (columns, rows)})


def cursor_database(path: Path) -> Path:
    """Cursor's bubbles in `state.vscdb`."""
    bubbles = [
        {"type": 1, "text": "question", "createdAt": moment(0)},
        {
            "type": 2,
            "text": "answer",
            "toolFormerData": {
                "toolCallId": "c",
                "name": "read_file",
                "rawArgs": '{"path": "a"}',
                "result": "text",
                "status": "completed",
            },
        },
    ]
    rows: list[tuple[Any, ...]] = [(f"bubbleId:conv:b{n}", json.dumps(one)) for n, one in enumerate(bubbles)]
    return database(path, {"cursorDiskKV": ("key, value", [*rows, ("composerData:conv", "{}")])})


def cursor_store(path: Path) -> Path:
    """A session of Cursor's agent in `store.db`: its name in hexadecimal, messages by their hashes, and their tree."""
    messages = [
        {"role": "system", "content": "You are an agent"},
        {"role": "user", "content": "<user_info>\nOS: Linux\n</user_info>"},
        {"role": "user", "content": [{"type": "text", "text": "<user_query>\nquestion\n</user_query>"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "thought"},
                {"type": "redacted-reasoning", "data": "eA=="},
                {"type": "text", "text": "answer"},
                {"type": "tool-call", "toolCallId": "t", "toolName": "Shell", "args": {"command": "ls"}},
            ],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "t", "toolName": "Shell", "result": "a.txt"}],
        },
    ]
    blobs = [json.dumps(one).encode() for one in messages]
    names = [hashlib.sha256(one).digest() for one in blobs]
    blobs.append(b"".join(b"\n\x20" + name for name in names))
    names.append(hashlib.sha256(blobs[-1]).digest())
    meta = {"agentId": SESSION, "latestRootBlobId": names[-1].hex(), "name": "New Agent", "createdAt": 1781256145540}
    tables = {
        "blobs": (
            "id TEXT PRIMARY KEY, data BLOB",
            [(name.hex(), blob) for name, blob in zip(names, blobs, strict=True)],
        ),
        "meta": ("key TEXT PRIMARY KEY, value TEXT", [("0", json.dumps(meta).encode().hex())]),
    }
    return database(path, tables)


def packed(value: Any) -> bytes:
    """MessagePack of plain values; bytes stand for what is packed already."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        data = value.encode()
        return struct.pack(">BI", 0xDB, len(data)) + data
    if isinstance(value, list):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
    if isinstance(value, dict):
        inside = b"".join(packed(name) + packed(inner) for name, inner in value.items())
        return struct.pack(">BI", 0xDF, len(value)) + inside
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    return struct.pack(">Bd", 0xCB, value) if isinstance(value, float) else struct.pack(">Bq", 0xD3, value)


def langgraph_database(path: Path) -> Path:
    """Two checkpoints of one thread, the second with all that the first had."""

    def message(kind: str, name: str, words: str, own: str) -> bytes:
        given = {"content": words, "type": kind, "id": own}
        data = packed([f"langchain_core.messages.{kind}", name, given, "model_validate_json"])
        return struct.pack(">BIB", 0xC9, len(data), 5) + data

    asked, answered = message("human", "HumanMessage", "question", "h"), message("ai", "AIMessage", "answer", "a")
    rows = [
        (
            "t",
            "",
            f"c{number}",
            "msgpack",
            packed({"v": 4, "ts": moment(number), "channel_values": {"messages": found}}),
        )
        for number, found in enumerate(([asked], [asked, answered]))
    ]
    return database(path, {"checkpoints": ("thread_id, checkpoint_ns, checkpoint_id, type, checkpoint BLOB", rows)})


def picture() -> str:
    """A picture of one pixel, as base64."""
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 40).decode()


# ── documents that are one value ─────────────────────────────────────────────────────────────────────────────────────


def _tree(number: int, text: str) -> list[bytes]:
    """Two nodes of one conversation of ChatGPT, each under its name."""
    found = []
    for place, (role, words) in enumerate(zip(("user", "assistant"), said(number, text), strict=True), 2 * number):
        message = {
            "id": f"m{place}",
            "author": {"role": role},
            "create_time": 1_785_578_400.5 + number,
            "content": {"content_type": "text", "parts": [words]},
            "recipient": "all",
        }
        before = f"n{place - 1}" if place else None
        node = {"id": f"n{place}", "parent": before, "children": [f"n{place + 1}"], "message": message}
        found.append(f'"n{place}": {json.dumps(node)}'.encode())
    return found


def _within(name: str, member: str) -> Callable[[int, str], list[bytes]]:
    """The messages of the conversations that a format has one for each turn."""
    return lambda number, text: [json.dumps(one).encode() for one in OWN[name].turn(number, text)[0][member]]


def _turn(name: str) -> Callable[[int, str], list[bytes]]:
    return lambda number, text: [json.dumps(one).encode() for one in OWN[name].turn(number, text)]


LARGE: dict[str, tuple[str, Callable[[int, str], list[bytes]], str]] = {
    "atif": (
        '{"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [',
        _turn("atif"),
        '], "final_metrics": {"total_steps": 2}, "session_id": "at the end"}',
    ),
    "letta": (
        '{"agents": [{"name": "Ann", "agent_type": "x", "messages": [',
        _turn("letta"),
        '], "in_context_message_ids": ["m"]}], "blocks": [{"label": "p", "value": "I am Ann"}], "tools": [{"a": 1}]}',
    ),
    "hermes": (
        '{"platform": "cli", "session_start": "x", "messages": [',
        _turn("hermes"),
        '], "usage": {}, "session_id": "at the end"}',
    ),
    "gemini-cli": (
        '{"projectHash": "p", "startTime": "x", "messages": [',
        _turn("gemini-cli"),
        '], "sessionId": "at the end"}',
    ),
    "chatgpt": (
        '{"title": "t", "mapping": {',
        _tree,
        '}, "current_node": "n1", "conversation_id": "at the end"}',
    ),
    "claude-ai": (
        '{"name": "t", "chat_messages": [',
        _within("claude-ai", "chat_messages"),
        '], "uuid": "at the end"}',
    ),
    "grok": (
        '{"conversations": [{"responses": [',
        _within("grok", "responses"),
        '], "conversation": {"id": "at the end"}}]}',
    ),
    "inspect-ai": (
        '{"eval": {"task": "t"}, "plan": {}, "samples": [{"id": 1, "epoch": 1, "messages": [',
        _within("inspect-ai", "messages"),
        '], "scores": {"s": {"value": 1}}, "uuid": "at the end"}]}',
    ),
    "openai-chat": ('{"messages": [', _turn("openai-chat"), '], "id": "at the end"}'),
    "sharegpt": ('[{"conversations": [', _within("sharegpt", "conversations"), "]}]"),
    "langchain": ('{"messages": [', _turn("langchain"), "]}"),
    "pydantic-ai": ("[", _turn("pydantic-ai"), "]"),
    "mem0": ('{"results": [', _turn("mem0"), "]}"),
}
"""Formats that are one JSON value, as one conversation in one line; most say at its end how it is called."""


def large(name: str, size: int, text: str) -> Iterator[bytes]:
    """Such a file of at least so many bytes."""
    before, turn, after = LARGE[name]
    yield before.encode()
    written = number = 0
    while written < size:
        for one in turn(number, text):
            piece = (b", " if written else b"") + one
            written += len(piece)
            yield piece
        number += 1
    yield after.encode()
