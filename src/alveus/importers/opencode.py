"""OpenCode's conversations: rows of `opencode.db`, or the files of the `storage` folder that came before it.

A session has messages and a message has parts; only the message says who speaks, so what was said is known by both. A
part that the program made up (`synthetic`) is nobody's words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from alveus.importers.base import Event, Format, Source, Span
from alveus.importers.facts import Facts, facts_at, ident, list_at, text_at
from alveus.importers.mould import Piece
from alveus.importers.pieces import called, compacted, failed, moved, parsed, returned, thought, words
from alveus.importers.reading import PLAIN, Pieces, Records, Row, first, many, walk
from alveus.journal.record import Source as Src

NAME: Final = "opencode"

_COLUMNS: Final = {"session_id": "sessionID", "message_id": "messageID", "parent_id": "parentID"}


class _Reader(Records):
    name = NAME

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._messages: dict[str, Facts] = {}
        self._sessions: dict[str, Facts] = {}

    def events(self, value: object, at: Span) -> Iterator[Event]:
        """The events of one row, as the object that it is."""
        table = text_at(value, "table")
        row = _whole(facts_at(value, "row"), text_at(value, "folder") if table == "part" else "")
        yield from super().events({**row, "\0table": table} if table else value, at)

    def kind(self, value: Facts) -> str:
        table = text_at(value, "\0table")
        return f"part/{text_at(value, 'type')}" if table == "part" else table or ("database" * ("database" in value))

    def session_of(self, value: Facts) -> str | None:
        told = ident(value.get("sessionID")) or ident(self._message(value).get("sessionID"))
        return told or (ident(value.get("id")) if text_at(value, "\0table") == "session" else None)

    def time_of(self, value: Facts) -> object:
        for where in (value, facts_at(value, "state"), self._message(value)):
            told = facts_at(where, "time")
            if moment := told.get("start") or told.get("created") or where.get("time_created"):
                return moment
        return None

    def facts_of(self, value: Facts) -> Facts:
        message = self._message(value)
        session = self._sessions.get(self.session_of(value) or "", {})
        return {
            "parent": text_at(message, "parentID"),
            "model": text_at(message, "modelID") or text_at(message, "model", "modelID"),
            "cwd": text_at(session, "directory"),
            "title": text_at(session, "title"),
        }

    def _message(self, value: Facts) -> Facts:
        return self._messages.get(text_at(value, "messageID"), {})

    def begun(self, value: Facts) -> Pieces:
        """What its messages will need; a session under another is a sub-agent's."""
        own, parent = text_at(value, "id"), text_at(value, "parentID")
        self._sessions[own] = {name: text_at(value, name) for name in ("directory", "title")}
        if parent:
            yield moved(f"session {own} was started by {parent}", {"parent_session": parent}, Src.AGENT)
        else:
            yield Piece.skipped("bookkeeping: session")

    def message(self, value: Facts) -> Pieces:
        """Who speaks in its parts; an error that ended it."""
        kept = ("role", "sessionID", "parentID", "modelID", "model", "time", "time_created")
        self._messages[text_at(value, "id")] = {name: value[name] for name in kept if name in value}
        if error := facts_at(value, "error"):
            yield failed(text_at(error, "data", "message") or text_at(error, "message"), text_at(error, "name"))
        else:
            yield Piece.skipped("bookkeeping: message")

    def text(self, value: Facts) -> Pieces:
        """Words, of whoever the message says."""
        role = text_at(self._message(value), "role")
        made_up = value.get("synthetic") is True or role not in ("user", "assistant")
        facts = {"synthetic": value.get("synthetic"), "ignored": value.get("ignored")}
        yield words("system" if made_up else role, text_at(value, "text"), facts)

    def reasoning(self, value: Facts) -> Pieces:
        """What the agent thought."""
        yield thought(text_at(value, "text"))

    def tool(self, value: Facts) -> Pieces:
        """A call and what came of it, in one part."""
        state, use = facts_at(value, "state"), text_at(value, "callID")
        yield called(text_at(value, "tool"), state.get("input"), use, self.calls)
        bad = text_at(state, "status") == "error"
        if bad or state.get("output"):
            yield returned(text_at(state, "error") if bad else state.get("output"), use, self.calls, bad=bad)

    def file(self, value: Facts) -> Pieces:
        """A file by its name; its bytes by their hash."""
        url = text_at(value, "url")
        role = text_at(self._message(value), "role")
        who = role if role in ("user", "assistant") else "system"
        inside = url.startswith("data:")
        part = {"type": "image_url", "url": url} if inside else f"[file {text_at(value, 'filename') or url}]"
        yield words(who, part, {"file": text_at(value, "filename"), "media_type": text_at(value, "mime")})

    def compaction(self, value: Facts) -> Pieces:
        """What was said before is summed up; the summary is a message of its own."""
        yield compacted("", {"auto": value.get("auto"), "kept_from": text_at(value, "tail_start_id")})

    def patch(self, value: Facts) -> Pieces:
        """The files that a step changed."""
        names = "\n".join(one for one in list_at(value, "files") if isinstance(one, str))
        yield Piece(src=Src.TOOL, content=f"changed {names}" if names else "", facts={"patch": text_at(value, "hash")})

    def started(self, value: Facts) -> Pieces:
        """Work goes to another agent."""
        yield moved(text_at(value, "prompt") or text_at(value, "name"), {"to": text_at(value, "agent")}, Src.AGENT)

    def retried(self, value: Facts) -> Pieces:
        """A request that failed and was made again."""
        yield failed(text_at(value, "error", "data", "message") or text_at(value, "error", "message"), "retry")

    table: ClassVar[Mapping[str, Row]] = {
        "session": begun,
        "message": message,
        "part/text": text,
        "part/reasoning": reasoning,
        "part/tool": tool,
        "part/file": file,
        "part/compaction": compaction,
        "part/patch": patch,
        "part/subtask": started,
        "part/retry": retried,
        **many("part/step-start part/step-finish part/snapshot part/agent database", "bookkeeping"),
    }


def _whole(row: Facts, folder: str) -> Facts:
    """A row as the object that was taken apart for it: its columns, and what stands in its `data`."""
    named = {_COLUMNS.get(name, name): inner for name, inner in row.items() if name != "data"}
    whole = {**facts_at(parsed(row.get("data"))), **named} if "data" in row else named
    return {**whole, "messageID": whole.get("messageID") or folder} if folder else whole


def sniff(head: bytes) -> bool:
    """Whether these are the rows of its database, or of its folder."""
    return any(text_at(one, "database") == NAME for one in first(head)[:1])


def read(source: Source) -> Iterator[Event]:
    """The events of one database or folder."""
    yield from walk(source, PLAIN, _Reader(source))


FORMAT: Final = Format(name=NAME, title="OpenCode database or storage folder", sniff=sniff, read=read)
