"""Whose memory, by which numbers, and the ids that follow from both: spec/tiers.md, section 1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Final

from alveus.errors import InputError
from alveus.journal import canonical

DEFAULT_USER: Final = "default"
"""The user of records that name none."""
_RULES: Final = 2
"""Raised when the same records would give other pages, segments or facts by the same numbers."""
_ID: Final = 32
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,1024}").fullmatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The pair that no read or write crosses. Compared whole, never by prefix or pattern."""

    user: str
    assistant: str


def scope_of(user: object, assistant: str) -> Scope:
    """The scope of a user, None for the default one. Raises InputError for a name that names nobody."""
    if user is None:
        return Scope(user=DEFAULT_USER, assistant=assistant)
    if not isinstance(user, str) or not user.strip():
        raise InputError(f"user is {user!r}, which names nobody", hint="leave it out for the default user")
    if _NAME(user) is None:
        raise InputError(
            "the user is not acceptable: it is too long, or holds a control character or a lone surrogate",
            code="bad_field",
            hint="1 to 1024 characters, no control characters",
        )
    return Scope(user=user, assistant=assistant)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The numbers of the tiers: those of the paper, unless configured. Another policy is another memory: rebuild."""

    stm_pages: int = 7
    page_records: int = 64
    keywords: int = 10
    join_above: float = 0.6
    segments: int = 200
    hot: float = 5.0
    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    mu: float = 1e7
    knowledge: int = 100
    top_segments: int = 5
    top_pages: int = 10
    top_facts: int = 10
    batch: int = field(default=64, metadata={"unhashed": True})

    @cached_property
    def version(self) -> str:
        """A name for these rules and numbers, as receipts carry it."""
        numbers = {name: repr(value) for name, value in asdict(self).items() if name != "batch"}
        return f"tiers.{_RULES}.{sha256(canonical.encode(numbers)).hexdigest()[:12]}"


def ident(policy: Policy, scope: Scope, what: str, parts: Iterable[str]) -> str:
    """The id of a derived thing: a hash of what it is made of. The same sources give the same id."""
    made = canonical.encode([policy.version, scope.user, scope.assistant, what, *parts])
    return sha256(made).hexdigest()[:_ID]
