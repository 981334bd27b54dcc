"""What the gate asks of a memory system, and what it is told: spec/audit.md, section 5.

Every answer is plain JSON, since the target lives in a process of its own. What an adapter cannot see is None, never a
guess: the gate is green only where something was shown.
"""

from __future__ import annotations

from typing import Any, NotRequired, Protocol, TypedDict

from alveus.errors import AlveusError


class AdapterError(AlveusError):
    """The target cannot be used: it is not installed, not shaped as expected, or did not answer."""

    default_code = "target_unusable"


class Pin(TypedDict):
    """Step 1: the implementation, with a hash of the limits that matter, and how many pages the first tier holds."""

    source_version: str | None
    capacity: int | None


class Seen(TypedDict):
    """Where a text is, by what lies on disk; `degraded` where it came there by a fallback that is marked so."""

    source_present: bool | None
    destination_present: bool | None
    degraded: NotRequired[bool]


class Glimpse(TypedDict):
    """Where a text was at a moment in the midst of a move, and which moment that was."""

    text: str
    moment: str
    seen: Seen


class Answer(TypedDict):
    """What came back for a question: texts, and where the target says so, the run and the version they depend on."""

    texts: list[str]
    run_id: NotRequired[str | None]
    depends_on_version: NotRequired[int | str | None]


class Target(Protocol):
    """A memory system under the gate. `user` and `assistant` are whole names; a text is a canary's."""

    def pin(self) -> Pin: ...
    def store(self, user: str, assistant: str, text: str) -> None: ...
    def promote(self, user: str, assistant: str) -> None: ...
    def observe(self, user: str, assistant: str, text: str) -> Seen: ...
    def glimpses(self) -> list[Glimpse] | None: ...
    def break_model(self) -> bool: ...
    def retrieve(self, user: str, assistant: str, query: str) -> Answer: ...
    def follows(self, user: str, assistant: str, earlier: str, later: str) -> bool | None: ...
    def settle(self, user: str, assistant: str, run_id: str, file_hash: str) -> bool | None: ...
    def close(self) -> None: ...


METHODS = frozenset(name for name in vars(Target) if not name.startswith("_"))
"""What may be asked over the wire."""

Reply = dict[str, Any]
