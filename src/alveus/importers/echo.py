"""What of a transcript is our own memory speaking: fenced injections, calls of our MCP tools and what they answered.

These are known by the tool's name: by the whole of it, where the server's name says that it is ours; else by the last
part, and then the text has to be one of ours as well, since other memories have tools of these names. A call goes too:
what it has recorded is a record already. Errors of our tools stay: they are news, and hold nothing remembered. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
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


def without(draft: Draft) -> Draft | None:
    """The draft without what we said ourselves; None where nothing is left of it. As it is, where there is none."""
    content, dropped = strip(draft.content)
    if dropped and not content.strip():
        return None
    if draft.kind is not Kind.ERROR and is_ours(draft.src, draft.metadata.get("tool"), draft.content):
        return None
    return replace(draft, content=content) if dropped else draft


def is_ours(src: Source, tool: object, text: str) -> bool:
    """Whether a text is what our own server answered (`src` is tool), or a call of it (agent)."""
    own = _OWN.fullmatch(tool) if isinstance(tool, str) else None
    if own is None or src not in _SAYS:
        return False
    return _OURS in own["server"].casefold() or _SAYS[src].search(text) is not None
