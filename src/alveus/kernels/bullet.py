"""The three kernels, and what a line of one is. Types only; `compiler` makes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class KernelName(StrEnum):
    """The three kernels."""

    IDENTITY = "identity"
    DECISION = "decision"
    ANTI = "anti"


FILES: Final[Mapping[KernelName, str]] = {
    KernelName.IDENTITY: "identity_kernel.md",
    KernelName.DECISION: "decision_kernel.md",
    KernelName.ANTI: "anti-kernel.md",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One line of a kernel: an invariant, with everything that it rests on.

    `id` is stable: made of the keys of its fragments. `sources` and `supersedes` are record ids, ordered by event time
    and origin; `first`, `last` and `superseded_on` are seconds since 1970.
    """

    id: str
    name: KernelName
    text: str
    sources: tuple[str, ...]
    first: float
    last: float
    sessions: int
    count: int
    score: float
    supersedes: tuple[str, ...] = ()
    superseded_on: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """The kernels of one archive. `canon` is given, bootstrapped or none."""

    bullets: tuple[Bullet, ...]
    canon: str
    explains: Mapping[KernelName, str] = field(default_factory=dict)
    """Why a kernel is empty, one sentence each."""
    considered: Mapping[str, int] = field(default_factory=dict)
    """How many fragments were left after each stage."""
