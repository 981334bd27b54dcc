"""The one table of targets: what stands before the colon of `--target`, and who makes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from alveus.doors.adapters.base import Target
from alveus.errors import InputError


def _ours(_: str, scratch: Path) -> Target:
    from alveus.doors.adapters.ours import Ours

    return Ours(scratch)


def _memoryos(path: str, _: Path) -> Target:
    from alveus.doors.adapters.memoryos import MemoryOS

    return MemoryOS(Path(path))


def _mem0(named: str, _: Path) -> Target:
    from alveus.doors.adapters.mem0 import Mem0

    return Mem0(named)


TARGETS: Final[dict[str, tuple[str, Callable[[str, Path], Target]]]] = {
    "self": ("", _ours),
    "memoryos": ("PATH", _memoryos),
    "mem0": ("IMPORT", _mem0),
}
"""Each target: what follows its colon, and its maker."""


def check_target(target: str) -> tuple[str, str]:
    """The kind and what follows the colon. Raises InputError for a target that there is not."""
    kind, _, rest = target.partition(":")
    if kind not in TARGETS or bool(TARGETS[kind][0]) != bool(rest):
        known = ", ".join(f"{name}:{rest}" if rest else name for name, (rest, _) in TARGETS.items())
        raise InputError(f"there is no target {target!r}", hint=f"one of {known}")
    return kind, rest


def make_target(target: str, scratch: Path) -> Target:
    """The adapter of a target. `scratch` is a folder that is the gate's own."""
    kind, rest = check_target(target)
    return TARGETS[kind][1](rest, scratch)
