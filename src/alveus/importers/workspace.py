"""The workspace of an OpenClaw agent: the Markdown that says who it is, and what it has written down.

`SOUL.md`, `IDENTITY.md` and `USER.md` are who the agent is and whom it serves: each is one item, and a file that has
changed since is its revision, with the hash of what it was. Other files are cut at their headings. Nobody knows who
wrote a line of them, so none is taken for a person's words. A lone `AGENTS.md` is no workspace.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from alveus.importers.base import Event, Format, Rejected, Source
from alveus.importers.mould import Mould, Piece
from alveus.importers.texts import TextLine, joined, text_lines
from alveus.journal.record import Kind
from alveus.journal.record import Source as Src

NAME: Final = "openclaw-workspace"

_IDENTITY: Final = frozenset({"SOUL.md", "IDENTITY.md", "USER.md"})
_RULES: Final = frozenset({"AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md"})
_MEMORY: Final = frozenset({"MEMORY.md", "DREAMS.md"})
_SIGNS: Final = ("SOUL.md", "IDENTITY.md")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)[\w-]*\.md")
_HEADING = re.compile(r"#{1,3} ")
_FENCE: Final = "```"


def owns(path: Path) -> bool:
    """Whether the file is a part of a workspace, by its name and by what lies beside it."""
    home = _home(path)
    known = path.name in (_IDENTITY | _RULES | _MEMORY) or (path.parent.name == "memory" and path.suffix == ".md")
    return known and any((home / sign).is_file() for sign in _SIGNS)


def _home(path: Path) -> Path:
    return path.parent.parent if path.parent.name == "memory" else path.parent


def sniff(head: bytes) -> bool:
    """Nothing in the text of a workspace tells it from any other text."""
    return not head


def read(source: Source) -> Iterator[Event]:
    """The events of one file."""
    name = source.path.name
    sections: list[list[TextLine]] = [[]]
    fenced = False
    for line in text_lines(source):
        if isinstance(line, Rejected):
            yield line
            continue
        fenced ^= line.text.startswith(_FENCE)
        if not fenced and name not in _IDENTITY and _HEADING.match(line.text):
            sections.append([])
        sections[-1].append(line)
    for place, lines in enumerate(one for one in sections if any(line.text.strip() for line in one)):
        text = "\n".join(line.text for line in lines).strip("\n")
        yield _mould(source.path, place, lines).cast(_piece(name, text))


def _piece(name: str, text: str) -> Piece:
    if name in _IDENTITY:
        sha256 = hashlib.sha256(text.encode(errors="replace")).hexdigest()
        return Piece(kind=Kind.IDENTITY_CHANGE, content=text, facts={"path": name, "sha256": sha256})
    rules = name in _RULES
    kind, src = (Kind.OBSERVATION, Src.SYSTEM) if rules else (Kind.STATE, Src.AGENT)
    return Piece(kind=kind, src=src, content=text, facts={"path": name})


def _mould(path: Path, place: int, lines: list[TextLine]) -> Mould:
    home = _home(path)
    day = _DAY.fullmatch(path.name)
    heading = lines[0].text.strip("# ").casefold() if _HEADING.match(lines[0].text) else ""
    # A section keeps its name when others come before it; only namesakes need their place.
    section = heading[:100] or str(place)
    where = str(path.relative_to(home)) if path.is_relative_to(home) else path.name
    return Mould(
        format=NAME,
        container=home.resolve().name or "workspace",
        id=where if path.name in _IDENTITY else f"{where}#{section}",
        session=None,
        time=None,
        facts={"day": day[1] if day else ""},
        at=joined(lines[0].at, lines[-1].at),
    )


FORMAT: Final = Format(name=NAME, title="OpenClaw workspace (Markdown)", sniff=sniff, read=read, owns=owns)
