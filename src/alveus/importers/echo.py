"""What of a transcript is our own memory speaking: fenced injections, our MCP tools, our commands in an agent's shell.

The tools are known by their names: by the whole of one, where the server's name says that it is ours; else by the last
part, and then the text has to be one of ours as well, since other memories have tools of these names. A call goes too:
what it has recorded is a record already. Of a shell, what one of our commands printed that shows what is remembered is
known by the command line, and only where nothing else could have printed. Errors stay: they are news, and hold nothing
remembered. So does what a user said in place of an answer: not every program marks a refusal as an error. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
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
_FILTERS: Final[Mapping[str, tuple[str, int]]] = {
    "cat": ("", 0),
    "cut": ("bcdf", 0),
    "fold": ("w", 0),
    "grep": ("ABCm", 1),
    "head": ("cn", 0),
    "jq": ("", 1),
    "less": ("", 0),
    "more": ("", 0),
    "rg": ("ABCm", 1),
    "sed": ("", 1),
    "sort": ("kt", 0),
    "tail": ("cn", 0),
    "tr": ("", 2),
}
"""What selects or sorts its input: its options that a word follows, and how many words it takes before files."""
_SELECTS: Final = re.compile(r"[\d,$]*[pdq]|s(?P<by>[/|#,])(?:(?!(?P=by)).)*(?P=by)(?:(?!(?P=by)).)*(?P=by)[gIip\d]*")
"""A script of sed that reads and runs nothing."""
_SUBSTITUTED: Final = ("`", "$(")
_ELSEWHERE: Final = frozenset({"/dev/null", "1", "2"})
_INSTALLED: Final = 3
"""Parts of a path to an installed program, at least: `venv/bin/alveus`; `./alveus` is a file of the project."""
_RECORD: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_REFUSED: Final = re.compile(
    r"\b(?:reject|den(?:y|ied)|declin|refus|cancel|abort|interrupt|(?:doesn|didn|don|did not|does not).{0,3} want)",
    re.IGNORECASE,
)
_BEGINNING: Final = 300
_ASSIGNED: Final = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)


def without(draft: Draft) -> Draft | None:
    """The draft without what we said ourselves; None where nothing is left of it. As it is, where there is none."""
    content, dropped = strip(draft.content)
    if dropped and not content.strip():
        return None
    if draft.kind is not Kind.ERROR and (
        (draft.src is Source.TOOL and draft.metadata.get(SHOWN) and not _is_refusal(draft))
        or is_ours(draft.src, draft.metadata.get("tool"), draft.content)
    ):
        return None
    return draft._replace(content=content) if dropped else draft


def _is_refusal(draft: Draft) -> bool:
    """Whether the command may not have been run, so that the text may be what the user said to it."""
    if draft.metadata.get("denied"):
        return True
    return _REFUSED.search(draft.content[:_BEGINNING]) is not None and _RECORD.search(draft.content) is None


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
    if (
        not isinstance(line, str)
        or _OURS not in line
        or "\n" in line.strip()
        or any(one in line for one in _SUBSTITUTED)
    ):
        return ""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return ""
    while words[:1] == ["cd"] and words[2:3] == ["&&"]:
        words = words[3:]
    first, *others = [list(stage) for is_pipe, stage in groupby(words, "|".__eq__) if not is_pipe] or [[]]
    alone = not any(set(word) <= set(";&|()") for word in words if word != "|")
    return _named(first) if alone and all(map(_only_filters, others)) else ""


def _only_filters(words: list[str]) -> bool:
    """Whether these words of a shell print of their input and of nothing else: the names of files are words as well."""
    words = _without_redirections(words)
    program = words[0] if words else ""
    valued, room = _FILTERS.get(program, ("", 0))
    taken: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word.startswith("--") or set(word) <= set("<>") or (program == "grep" and re.match("-[a-zA-Z]*[rR]", word)):
            return False
        if not word.startswith("-"):
            taken.append(word)
        elif len(word) == len("-n") and word[1] in valued:
            next(rest, None)
    known = program in _FILTERS and len(taken) <= room
    return known and (program != "sed" or all(map(_SELECTS.fullmatch, taken)))


def _without_redirections(words: list[str]) -> list[str]:
    """The words without `2>&1` and `2>/dev/null`."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in (">", ">&") and (target := next(rest, "")) in _ELSEWHERE:
            kept = kept[:-1] if kept[1:] and kept[-1].isdigit() else kept
        elif word in (">", ">&"):
            kept += [word, target]
        else:
            kept.append(word)
    return kept


def _named(words: list[str]) -> str:
    """The command of ours that these words of a shell run."""
    while words and (words[0] in _BEFORE or _ASSIGNED.fullmatch(words[0])):
        words = words[1:]
    path = PurePosixPath(words[0] if words else "").parts
    if words[:1] != [_OURS] and not (len(path) >= _INSTALLED and path[-2:] == ("bin", _OURS)):
        return ""
    words = words[1:]
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in _VALUED else 1 :]
    return words[0] if words and words[0] in COMMANDS else ""
