"""Closing a chain and opening the next: spec/journal.md, section 9.

Whoever opens a journal whose last record closes it finishes the change of key, from wherever it stopped. Every step
can be done twice.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alveus.errors import JournalError, NotFound
from alveus.journal.chain import Fault, closing_in
from alveus.journal.seal import Checked, Invalid, Key, check
from alveus.store import lines
from alveus.store.creation import agents_locked, archives, begin_stream
from alveus.store.files import Files, exists, opened, sync_folder
from alveus.store.heads import head_paths, heads_locked, load_head
from alveus.store.keys import KeyRing, read_secret
from alveus.store.layout import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A chain that ended with a closing record."""

    path: Path
    chain: str
    kid: str
    next_kid: str
    next_chain: str
    last: Checked


def archive_path(layout: Layout, chain: str) -> Path:
    """Where a closed chain's stream lies."""
    return layout.folder / f"stream-{chain}.jsonl"


def load_keys(files: Files, layout: Layout) -> KeyRing:
    """The agent's keys. Raises NotFound or StoreError."""
    return KeyRing(layout, files, Key(read_secret(files, layout.key_file)))


def closed_chain(files: Files, ring: KeyRing, path: Path) -> Closed | None:
    """What the closing record at the end of `path` says, or None if it does not end with one."""
    with opened(files, path, os.O_RDONLY | os.O_NOFOLLOW) as fd:
        line = lines.last_line(files, fd, files.status(fd).st_size)
    if line is None:
        return None
    with contextlib.suppress(Invalid):
        last = check(line, ring.for_line(line))
        closing = closing_in(last)
        if closing is not None and last.chain is not None:
            return Closed(path=path, chain=last.chain, kid=ring.for_line(line).kid, last=last, **closing)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the first and the last record of a closed stream say of its place among the others; nothing is checked."""

    path: Path
    kid: object
    chain: object
    before: object
    after: object

    def follows(self, other: Seen) -> bool:
        """Whether either of the two says that this one continues the other."""
        named = other.chain is not None and other.chain == self.before
        return named or (other.after is not None and other.after == self.chain)


def closed_streams(files: Files, layout: Layout) -> list[Seen]:
    """Every closed stream of the folder, first to last as far as their records tell."""
    seen = [_glance(files, archive_path(layout, name)) for name in archives(files, layout)]
    return sorted(seen, key=lambda one: _place(one, seen))


def _place(one: Seen, seen: list[Seen]) -> int:
    place, at = 0, _before(one, seen)
    while at is not None and place <= len(seen):  # records that are not believed may name one another in a circle
        place, at = place + 1, _before(at, seen)
    return place


def _before(one: Seen, seen: list[Seen]) -> Seen | None:
    return next((other for other in seen if other is not one and one.follows(other)), None)


def _glance(files: Files, path: Path) -> Seen:
    first, last = b"", b""
    with (
        contextlib.suppress(OSError),  # the walk says what is wrong with it
        opened(files, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK) as fd,
    ):
        first = lines.line_at(files, fd, 0)
        last = lines.last_whole_line(files, fd, files.status(fd).st_size) or b""
    begins, ends = _metadata_in(first), _metadata_in(last)
    return Seen(
        path=path,
        kid=_member(begins, "hc", "kid"),
        chain=_member(begins, "hc", "chain"),
        before=_member(begins, "opening", "prev_chain"),
        after=_member(ends, "closing", "next_chain"),
    )


def _metadata_in(line: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError, RecursionError):
        record: dict[str, Any] = json.loads(line)
        metadata: dict[str, Any] = record["metadata"] if type(record) is dict and "metadata" in record else {}
        return metadata if type(metadata) is dict else {}
    return {}


def _member(metadata: dict[str, Any], name: str, field: str) -> object:
    value = metadata.get(name)
    return value.get(field) if type(value) is dict else None


def predecessors(files: Files, layout: Layout, ring: KeyRing, chain: str | None) -> list[Closed]:
    """The chains before `chain`, oldest first, as far as closing records name one another."""
    by_next = {}
    for name in archives(files, layout):
        closed = closed_chain(files, ring, archive_path(layout, name))
        if closed is not None:
            by_next[closed.next_chain] = closed
    found: list[Closed] = []
    while chain is not None and (before := by_next.pop(chain, None)) is not None:
        found.append(before)
        chain = before.chain
    return found[::-1]


def finish_succession(files: Files, layout: Layout, ring: KeyRing, timeout: float) -> KeyRing:
    """Move a closed stream aside and begin its successor; returns the keys as they are then."""
    with agents_locked(files, layout, timeout):
        ring = load_keys(files, layout)
        closed = _unfinished(files, layout, ring)
        if closed is None:
            return ring
        with heads_locked(files, layout.folder, timeout):
            _move_files(files, layout, closed)
            head = load_head(files, archive_path(layout, closed.chain), ring.get_required(closed.kid))
            closed_through = None if isinstance(head, Fault) else head.closed_through
            _swap_keys(files, layout, ring, closed)
            ring = load_keys(files, layout)
            begin_stream(files, layout, ring.current, closed.next_chain, closed_through=closed_through)
        return ring


def _unfinished(files: Files, layout: Layout, ring: KeyRing) -> Closed | None:
    if exists(files, layout.stream):
        return closed_chain(files, ring, layout.stream)
    chains = [closed_chain(files, ring, archive_path(layout, name)) for name in archives(files, layout)]
    begun = set(archives(files, layout))
    last = [closed for closed in chains if closed is not None and closed.next_chain not in begun]
    if len(last) == 1:
        return last[0]
    raise JournalError(
        f"there is no journal at {layout.stream}, though its key or its head is there",
        code="stream_missing",
        hint="restore it from a backup; a journal that was lost is never begun anew by itself",
    )


def _move_files(files: Files, layout: Layout, closed: Closed) -> None:
    """The stream first: from then on its new name shows what is to be finished."""
    archive = archive_path(layout, closed.chain)
    live = layout.stream
    pairs = [(live, archive), *zip(head_paths(live), head_paths(archive), strict=True)]
    pairs.append((live.with_suffix(".idx"), archive.with_suffix(".idx")))
    for old, new in pairs:
        if exists(files, old) and not exists(files, new):
            files.rename(old, new)
            sync_folder(files, layout.folder)  # each on its own: no crash keeps a later rename without this one


def _swap_keys(files: Files, layout: Layout, ring: KeyRing, closed: Closed) -> None:
    """The old key stays under its name, the new one becomes the current."""
    if ring.current.kid == closed.next_kid:
        sync_folder(files, layout.key_file.parent)  # whoever swapped them may have failed before this
        return
    staged = layout.old_key(closed.next_kid)
    if not exists(files, staged):
        raise NotFound(
            f"the journal was closed for key {closed.next_kid}, which is not at {staged}",
            code="key_missing",
            hint="restore that key; the closed journal can be read with the old one",
        )
    with contextlib.suppress(FileExistsError):
        files.link(layout.key_file, layout.old_key(ring.current.kid))
    sync_folder(files, layout.key_file.parent)
    files.rename(staged, layout.key_file)
    sync_folder(files, layout.key_file.parent)
