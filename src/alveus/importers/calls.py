"""What a tool call means: most are observations, a few are events in the life of the agent.

An agent that writes to the file it is told who it is by changes its identity; one that starts another, or hands over
to it, transfers. The names and arguments are those of Claude Code, of the OpenAI Agents SDK (`transfer_to_…`) and of
the common editing tools.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Final

from alveus.importers import echo
from alveus.importers.facts import Facts, json_text, list_at, text_at
from alveus.journal.record import Kind

IDENTITY_FILES: Final = frozenset({"soul.md", "identity.md", "claude.md", "agents.md"})
SPAWNING: Final = frozenset({"Task", "Agent"})
HANDING_OVER: Final = "transfer_to_"

_PATHS: Final = ("file_path", "path", "filename", "file", "target_file")
_WRITTEN: Final = ("content", "contents", "new_string", "new_str", "file_text", "insert_text", "text")
_REMOVED: Final = ("old_string", "old_str")
_MAX_CALLS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call, understood."""

    kind: Kind
    content: str
    tool: str
    facts: Facts = field(default_factory=dict)
    plan: str = ""


def call(name: str, given: object) -> Call:
    """The call of the tool `name` with the arguments `given`, an object or whatever else the source has there."""
    arguments = given if isinstance(given, Mapping) else {}
    path = next((found for key in _PATHS if (found := text_at(arguments, key))), "")
    written = _written(arguments) if PurePosixPath(path.replace("\\", "/")).name.casefold() in IDENTITY_FILES else ""
    if written:
        return Call(kind=Kind.IDENTITY_CHANGE, content=written, tool=name, facts={"path": path})
    if name in SPAWNING or name.startswith(HANDING_OVER):
        return _transfer(name, arguments)
    content = f"{name} {given if isinstance(given, str) else json_text(given)}"
    plan = text_at(arguments, "plan") if name == "ExitPlanMode" else ""
    facts = {"path": path, echo.SHOWN: echo.command(given)}
    return Call(kind=Kind.OBSERVATION, content=content, tool=name, facts=facts, plan=plan)


def _transfer(name: str, arguments: Facts) -> Call:
    said = [text for key in ("description", "prompt") if (text := text_at(arguments, key))]
    return Call(
        kind=Kind.TRANSFER,
        content="\n\n".join(said) or f"{name} {json_text(arguments)}",
        tool=name,
        facts={"to": text_at(arguments, "subagent_type") or name.removeprefix(HANDING_OVER)},
    )


def _written(arguments: Facts) -> str:
    """What a call writes into its file; what it takes out, marked so, when it only takes out."""
    changes = list_at(arguments, "edits") or [arguments]
    new = [text for change in changes for key in _WRITTEN if (text := text_at(change, key)).strip()]
    old = [text for change in changes for key in _REMOVED if (text := text_at(change, key)).strip()]
    return "\n".join(new) or "\n".join(f"[removed] {text}" for text in old)


class Calls:
    """The calls seen so far, by the id that their results name; the oldest is forgotten first.

    A call is kept after its result: histories are appended again, and the result must mean the same each time.
    """

    def __init__(self) -> None:
        self._calls: OrderedDict[str, Call] = OrderedDict()

    def made(self, name: str, one: Call) -> None:
        """Remember what the result will need."""
        if name:
            self._calls[name] = replace(one, content="")
        if len(self._calls) > _MAX_CALLS:
            self._calls.popitem(last=False)

    def of(self, name: str) -> Call | None:
        """The call this result belongs to, when it was in the file."""
        return self._calls.get(name)
