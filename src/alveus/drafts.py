"""What may be recorded, and the drafts that the journal writes of itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from alveus.errors import InputError
from alveus.journal.record import Draft, Kind, Profile, Source
from alveus.journal.seal import refused_field
from alveus.store.origins import Item
from alveus.store.stream import Stream, Torn

RESERVED: Final = ("hc", "closing", "opening")
_OPTIONAL: Final = ("user", "session", "event_time", "origin", "part")


def item_of(of: Draft | Profile) -> Item:
    """What makes two drafts the same item of a source, to the same user: spec/journal.md, section 4."""
    return Item(of.origin or "", of.part[0] if of.part else 0, of.user or "")


def check_draft(draft: Draft) -> None:
    """Raises InputError unless the draft can be recorded as it is."""
    if not isinstance(draft.content, str):
        raise InputError("the content is not text", hint="pass a string")
    if type(draft.kind) is not Kind or type(draft.src) is not Source:
        name, members = ("src", Source) if type(draft.kind) is Kind else ("kind", Kind)
        known = ", ".join(members)
        raise InputError(f"{getattr(draft, name)!r} is not a {name}", hint=f"one of {members.__name__}: {known}")
    if type(draft.metadata) is not dict and not isinstance(draft.metadata, Mapping):
        raise InputError("the metadata is not an object", hint="pass a mapping with string keys")
    if draft.metadata:
        for name in RESERVED:
            if name in draft.metadata:
                raise InputError(f"the metadata key {name!r} is reserved", code="reserved_key", hint="use another key")
    if (
        draft.origin is None
        and draft.session is None
        and draft.user is None
        and draft.event_time is None
        and draft.part is None
    ):
        return
    given: dict[str, object] = {name: value for name in _OPTIONAL if (value := getattr(draft, name)) is not None}
    if draft.part is not None:
        given["part"] = list(draft.part)
    refused = refused_field(given) or _blank_user(draft.user)
    if refused is not None:
        raise InputError(
            f"{refused} {given[refused]!r} is not acceptable", code="bad_field", hint=_FIELD_HINTS[refused]
        )


def _blank_user(user: str | None) -> str | None:
    """`user` where it is blank: the format allows that, and nobody could ask for what is recorded so."""
    return "user" if user is not None and not user.strip() else None


_NAME_HINT: Final = "1 to 1024 characters, no control characters"
_FIELD_HINTS: Final = {
    "user": f"{_NAME_HINT}, not all of them blank",
    "session": _NAME_HINT,
    "origin": _NAME_HINT,
    "event_time": "an ISO 8601 instant with its zone, such as 2026-11-30T12:00:00+03:00",
    "part": "two whole numbers (i, n) with 1 <= i <= n",
}


def opening_of_chain(before: Stream) -> Draft:
    """The first record of the chain that continues `before`: spec/journal.md, section 9."""
    link = before.link
    opening = {
        "prev_chain": link.chain,
        "prev_root": before.tree.root().hex(),
        "prev_size": link.size,
        "prev_last_id": link.last_id,
    }
    return Draft(
        kind=Kind.IDENTITY_CHANGE,
        content=f"The journal opens here; it continues chain {link.chain}.",
        metadata={"opening": opening},
        src=Source.SYSTEM,
    )


def account_of(torn: Torn) -> Draft:
    """What recovery says of the bytes it set aside: spec/journal.md, section 7.5."""
    return Draft(
        kind=Kind.ERROR,
        content=f"{torn.size} bytes at the end of the journal were no whole record and were set aside in {torn.name}.",
        metadata={"torn": {"bytes": torn.size, "file": torn.name, "sha256": torn.sha256}},
        src=Source.SYSTEM,
        origin=f"alveus:torn:{torn.name}",
    )
