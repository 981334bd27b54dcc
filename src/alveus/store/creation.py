"""Beginning a journal: spec/journal.md, section 7.

The key's name is the last thing to appear. Until then nothing can have been recorded, so that a creation cut short is
begun again; after it, a missing stream is a loss and is never papered over.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from alveus.errors import JournalError
from alveus.journal.head import Head, Tree, make_head
from alveus.journal.seal import Key, format_time
from alveus.store.files import Files, create, exists, folder_locked, make_folders, sync_folder
from alveus.store.heads import head_paths, heads_locked, load_head, save_head
from alveus.store.keys import new_key, publish, read_secret, stage, staged_path
from alveus.store.layout import Layout

_ARCHIVE: Final = re.compile(r"stream-([0-9a-f]{32})\.jsonl").fullmatch


def is_begun(files: Files, layout: Layout) -> bool:
    """Whether this agent has a key, a head or a stream: whether anything may ever have been recorded."""
    if _is_unfinished(files, layout):
        return False
    return any(exists(files, path) for path in (layout.key_file, layout.stream, *head_paths(layout.stream))) or bool(
        archives(files, layout)
    )


def archives(files: Files, layout: Layout) -> list[str]:
    """The chains of this agent that were closed, as their files name them."""
    try:
        names = files.names(layout.folder)
    except FileNotFoundError:
        return []
    return sorted(found[1] for name in names if (found := _ARCHIVE(name)) is not None)


@contextlib.contextmanager
def agents_locked(files: Files, layout: Layout, timeout: float) -> Iterator[None]:
    """Hold the home's lock: for creating a journal and for succession, which move files."""
    make_folders(files, layout.folder.parent)
    with folder_locked(files, layout.folder.parent, timeout, "another process is creating or moving journals here"):
        yield


def create_journal(files: Files, layout: Layout, *, timeout: float, existing_key: bool = False) -> None:
    """Begin a journal, unless one is begun already. Raises JournalError where something of an older one is left.

    `existing_key` is the operator's word that the key at hand never signed anything: it then begins a first journal.
    """
    with agents_locked(files, layout, timeout):
        if existing_key:
            make_folders(files, layout.folder)
            _begin(files, layout, _unused_key(files, layout), timeout)
            return
        if exists(files, layout.stream) and exists(files, layout.key_file):
            return
        _clear_unfinished(files, layout)
        key = new_key()
        staged = stage(files, key, layout.key_file)
        make_folders(files, layout.folder)
        _begin(files, layout, key, timeout)
        # The commit point: from here on there is a journal. A crash before this line leaves no key, and nothing that
        # the next creation would have to keep.
        publish(files, staged, layout.key_file)


def _begin(files: Files, layout: Layout, key: Key, timeout: float) -> None:
    with heads_locked(files, layout.folder, timeout):
        import secrets  # noqa: PLC0415  (it brings other modules: for beginnings alone)

        begin_stream(files, layout, key, secrets.token_hex(16), closed_through=None)


def begin_stream(files: Files, layout: Layout, key: Key, chain: str, *, closed_through: str | None) -> None:
    """A head of size 0, then an empty stream, both durable."""
    head = make_head(
        Tree(),
        chain=chain,
        offset=0,
        last_line_sha256=None,
        last_record_id=None,
        closed_through=closed_through,
        time=format_time(datetime.now(UTC)),
    )
    save_head(files, layout.stream, key, head, {})
    create(files, layout.stream, b"")
    sync_folder(files, layout.folder)


def _clear_unfinished(files: Files, layout: Layout) -> None:
    """Remove what a creation that never finished left. Raises JournalError where it may have been more than that."""
    left = [path for path in (layout.stream, *head_paths(layout.stream)) if exists(files, path)]
    if exists(files, layout.key_file):
        raise JournalError(
            f"there is a key at {layout.key_file} but no journal at {layout.stream}",
            code="stream_missing",
            hint="restore the journal from a backup; if this key never signed anything, `alveus init --existing-key`",
        )
    if archives(files, layout) or (left and not _is_unfinished(files, layout)):
        raise JournalError(
            f"there is a journal in {layout.folder} but no key at {layout.key_file}",
            code="key_missing",
            hint="restore the key from a backup, or set ALVEUS_KEY_FILE to where it lies",
        )
    for path in left:
        files.unlink(path)


def _is_unfinished(files: Files, layout: Layout) -> bool:
    """Whether a creation was cut short before its commit point, or is at work."""
    staged = exists(files, staged_path(layout.key_file)) and not exists(files, layout.key_file)
    return staged and not (exists(files, layout.stream) and files.stat(layout.stream).st_size > 0)


def _unused_key(files: Files, layout: Layout) -> Key:
    key = Key(read_secret(files, layout.key_file))
    head = load_head(files, layout.stream, key)
    recorded = isinstance(head, Head) and head.size > 0
    if archives(files, layout) or exists(files, layout.stream) or recorded:
        raise JournalError(
            f"the key at {layout.key_file} has signed a journal already", code="key_in_use", hint="restore that journal"
        )
    return key
