"""Where an agent's files lie: spec/journal.md, section 7.

A name on disk is the percent-encoded agent id, injective for every script, so that no two agents share a folder.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote

from alveus.errors import InputError
from alveus.journal.record import is_agent_id

_LONGEST_NAME = 200
"""Room for the suffixes within the 255 bytes a file name may have."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The paths of one agent under one home."""

    home: Path
    agent_id: str
    key_file: Path

    @cached_property
    def folder(self) -> Path:
        return self.home / "agents" / encode_name(self.agent_id)

    @cached_property
    def stream(self) -> Path:
        return self.folder / "stream.jsonl"

    @cached_property
    def anchors(self) -> Path:
        return self.folder / "anchors"

    def old_key(self, kid: str) -> Path:
        """Where the key named `kid` is kept when it is not the current one."""
        return self.key_file.with_name(f"{self.key_file.name}.{kid}")

    def other_key(self, purpose: str) -> Path:
        """The file of a key that is not the journal's: `note` or `montana`."""
        return self.key_file.with_name(f"{encode_name(self.agent_id)}.{purpose}.key")


def make_layout(home: Path, agent_id: str, key_file: Path | None = None) -> Layout:
    """The layout of `agent_id`. Raises InputError for an id that is not acceptable."""
    if not is_agent_id(agent_id):
        raise InputError("an agent id has 1 to 256 characters and no control characters", hint="choose another --agent")
    name = encode_name(agent_id)
    if len(name) > _LONGEST_NAME:
        raise InputError(
            f"the agent id is too long for a file name: {len(name)} bytes once encoded, at most {_LONGEST_NAME}",
            hint="choose a shorter --agent",
        )
    if key_file is None:
        configured = os.environ.get("ALVEUS_KEY_FILE")
        key_file = Path(configured) if configured else home / "keys" / f"{name}.journal.key"
    return Layout(home=home, agent_id=agent_id, key_file=key_file)


def encode_name(agent_id: str) -> str:
    """Percent-encoded UTF-8; unreserved ASCII stays, a leading dot does not (`..` is not a folder)."""
    try:
        name = quote(agent_id, safe="")
    except UnicodeEncodeError:
        raise InputError("the agent id holds a lone surrogate", hint="choose another --agent") from None
    return "%2E" + name[1:] if name.startswith(".") else name


def decode_name(name: str) -> str:
    """The agent id of a folder's name."""
    return unquote(name)
