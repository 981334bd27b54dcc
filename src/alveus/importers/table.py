"""The table of formats. A format that joins later is a module with a `FORMAT`, and one row here.

The order decides where two formats resemble each other: the one with the stricter sign stands first.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Final

from alveus.errors import InputError
from alveus.importers import (
    aider,
    antigravity,
    atif,
    atof,
    chatgpt,
    claude_ai,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini,
    grok,
    hermes,
    inspect_ai,
    kimi,
    langchain,
    langgraph,
    letta,
    mem0,
    openai_chat,
    openclaw,
    opencode,
    pi,
    pydantic_ai,
    qwen,
    sharegpt,
    workspace,
)
from alveus.importers.base import Format
from alveus.importers.opening import is_packed, unpacked
from alveus.importers.source import Source

FORMATS: Final[tuple[Format, ...]] = tuple(
    one.FORMAT
    for one in (
        qwen,
        claude_code,
        codex,
        gemini,
        antigravity,
        copilot,
        kimi,
        openclaw,
        pi,
        workspace,
        opencode,
        hermes,
        atof,
        atif,
        letta,
        inspect_ai,
        chatgpt,
        claude_ai,
        grok,
        mem0,
        langgraph,
        langchain,
        pydantic_ai,
        sharegpt,
        cursor,
        openai_chat,
        aider,
    )
)

_KNOWN: Final = "Known formats: " + "; ".join(f"{one.name} ({one.title})" for one in FORMATS) + "."
_MAGIC: Final = (
    (b"\x1f\x8b", "is compressed with gzip", "Decompress it first."),
    (b"\xff\xfe", "is UTF-16 text", "Convert it to UTF-8 first."),
    (b"\xfe\xff", "is UTF-16 text", "Convert it to UTF-8 first."),
)
_JSON_BEGINS = re.compile(rb'(?:\A|\n)(?:\xef\xbb\xbf)?[ \t\r]*(?:\{\s*["}]|\[\s*[\[{"\]])')


def named(name: str) -> Format:
    """The format of that name. Raises InputError, with the names there are."""
    for one in FORMATS:
        if one.name == name:
            return one
    raise InputError(f"there is no format {name!r}", code="unknown_format", hint=_KNOWN)


def detect(path: Path | str) -> Format:
    """The format of a file, by its beginning. Raises InputError when it is binary, or no format knows it.

    Of a packed file it is the format of the first member that has one.
    """
    with Source(Path(path)) as source:
        if not is_packed(source):
            return recognised(source)
        for member in unpacked(source):
            with contextlib.suppress(InputError):
                return recognised(member)
        raise nothing_known(source)


def recognised(source: Source) -> Format:
    """The same for a source that is open."""
    for one in FORMATS:
        if one.claims(source):
            return one
    refuse_binary(source)
    raise nothing_known(source)


def nothing_known(source: Source) -> InputError:
    """What is to be said of a file that no format knows."""
    return InputError(
        f"{source.path} is in no format that is known here",
        code="unknown_format",
        hint=f"{_KNOWN} Name one with --format when the file is damaged at its beginning.",
    )


def damaged(source: Source, why: str) -> InputError:
    """What is to be said of a packed file of which nothing could be read."""
    return InputError(
        f"{source.path} holds nothing that can be read: {why}",
        code="damaged_file",
        hint="Copy it again from where it came from.",
    )


def refuse_binary(source: Source) -> None:
    """Raises InputError for a file that is not text, whatever format was asked for."""
    for magic, what, hint in _MAGIC:
        if source.head.startswith(magic):
            raise InputError(f"{source.path} {what}, and is not read so", code="other_form", hint=hint)
    if b"\0" in source.head and not _JSON_BEGINS.search(source.head):
        raise InputError(f"{source.path} is a binary file, not a transcript", code="binary_file", hint=_KNOWN)


def is_blank(source: Source) -> bool:
    """Whether there is nothing in the file at all: no byte, or white space alone."""
    return not source.head.strip(b" \t\r\n\xef\xbb\xbf") and source.size <= len(source.head)
