"""What of a transcript is our own memory speaking: fenced injections, our MCP tools, our commands in an agent's shell.

The tools are known by their names: by the whole of one, where the server's name says that it is ours; else by the last
part, and then the text has to be one of ours as well, since other memories have tools of these names. A call goes too:
what it has recorded is a record already. Of a shell, what one of our commands printed that shows what is remembered is
known by the command line, and only where nothing else could have printed. Errors stay: they are news, and hold nothing
remembered. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import PurePosixPath
from typing import Final

from alveus.fence import strip
from alveus.journal.record import Draft, Kind, Source

TOOLS: Final = (
    "memory_record",
    "memory_recall",
    "memory_context",
    "memory_verify",
    "memory_receipts",
    "memory_status",
    "add_memory",
    "search_memories",
    "get_memory",
    "delete_memory",
)
"""The names of our tools: a test holds them equal to the server's table."""
_OURS: Final = "alveus"
_OWN: Final = re.compile(rf"(?P<server>.*[^a-z0-9]|)(?:{'|'.join(TOOLS)})", re.DOTALL)
_SAYS: Final[Mapping[Source, re.Pattern[str]]] = {
    Source.TOOL: re.compile(r'\\*"record_id\\*"\s*:\s*\\*"[0-9a-f]{32}\\*"|<alveus-memory sha256='),
    Source.AGENT: re.compile(rf'"kind"\s*:\s*"(?:{"|".join(Kind)})"'),
}
SHOWN: Final = "alveus"
"""What a shell's output is marked with by a reader: the name of our command that printed it."""
COMMANDS: Final = frozenset({"recall", "context", "load", "show", "log", "export", "facts", "kernel"})
"""Our commands that print what is remembered."""
_VALUED: Final = frozenset({"--home", "--agent"})
_BEFORE: Final = frozenset({"uv", "uvx", "run", "env", "command"})
_FILTERS: Final = frozenset(
    {"cat", "cut", "fold", "grep", "head", "jq", "less", "more", "rg", "sed", "sort", "tail", "tr"}
)
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


def without(draft: Draft) -> Draft | None:
    """The draft without what we said ourselves; None where nothing is left of it. As it is, where there is none."""
    content, dropped = strip(draft.content)
    if dropped and not content.strip():
        return None
    if draft.kind is not Kind.ERROR and (
        (draft.src is Source.TOOL and draft.metadata.get(SHOWN))
        or is_ours(draft.src, draft.metadata.get("tool"), draft.content)
    ):
        return None
    return replace(draft, content=content) if dropped else draft


def is_ours(src: Source, tool: object, text: str) -> bool:
    """Whether a text is what our own server answered (`src` is tool), or a call of it (agent)."""
    own = _OWN.fullmatch(tool) if isinstance(tool, str) else None
    if own is None or src not in _SAYS:
        return False
    return _OURS in own["server"].casefold() or _SAYS[src].search(text) is not None


def command(given: object) -> str:
    """The name of our command that shows what is remembered, where a call's arguments run that alone; else nothing.

    It may come after a change of folder, and go through what only selects or sorts.
    """
    told = given if isinstance(given, Mapping) else {}
    line = next((found for name in ("command", "cmd") if (found := told.get(name))), "")
    if isinstance(line, list):
        words = [one for one in line if isinstance(one, str)]
        line = words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else shlex.join(words)
    if not isinstance(line, str) or _OURS not in line or "\n" in line.strip():
        return ""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return ""
    while words[:1] == ["cd"] and "&&" in words:
        words = words[words.index("&&") + 1 :]
    first, *others = [list(stage) for is_pipe, stage in groupby(words, "|".__eq__) if not is_pipe] or [[]]
    alone = not any(set(word) <= set(";&|()") for word in words if word != "|")
    return _named(first) if alone and all(stage[0] in _FILTERS for stage in others) else ""


def _named(words: list[str]) -> str:
    """The command of ours that these words of a shell run."""
    while words and (words[0] in _BEFORE or _ASSIGNED.fullmatch(words[0])):
        words = words[1:]
    if not words or PurePosixPath(words[0]).name != _OURS:
        return ""
    words = words[1:]
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _VALUED else 1 :]
    return words[0] if words and words[0] in COMMANDS else ""
