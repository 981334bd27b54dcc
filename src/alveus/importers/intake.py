"""The import itself: a file or a folder, through a reader, a mask and a split, into the hippocampus.

Streaming: a batch is at most 256 drafts or about a megabyte, and one item. Idempotent: every draft has an origin, and
the hippocampus says under its lock whether it is new, known or revised; so an import that was interrupted is simply
made again. What is written is on disk when `run` returns.

A file with nothing in it is no error: the report says so in a note, and its numbers are zero.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

from alveus.errors import InputError, NotFound
from alveus.importers import secrets
from alveus.importers.aside import Aside
from alveus.importers.base import Event, Format, Item, Rejected, Skipped
from alveus.importers.parts import split
from alveus.importers.report import ImportReport, Tally
from alveus.importers.source import Source
from alveus.importers.table import is_blank, named, recognised, refuse_binary
from alveus.journal.record import Draft
from alveus.journal.seal import refused_field

MAX_DRAFTS: Final = 256
MAX_BYTES: Final = 1 << 20

# An item in parts is what the strongest of its parts is.
_RANK: Final = ("known", "new", "revised")


class Outcome(Protocol):
    """What became of one draft: `new`, `known` or `revised`."""

    @property
    def status(self) -> str: ...


class Recorder(Protocol):
    """What an import asks of the hippocampus."""

    @property
    def folder(self) -> Path: ...

    def record_many(self, drafts: Sequence[Draft], /) -> Sequence[Outcome]: ...

    def flush(self) -> None: ...


def run(
    hippocampus: Recorder,
    path: Path | str,
    format: str | None = None,  # noqa: A002 - the word users know it by
    *,
    keep_secrets: bool = False,
    user: str | None = None,
    progress: Callable[[int], None] | None = None,
    rejects: Path | str | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> ImportReport:
    """Import one transcript, or every transcript under a folder.

    `format` is a name of the table; without it each file is recognised by its beginning. `user` scopes every record;
    nothing in a transcript can. Secrets are masked unless `keep_secrets`. `progress` gets the bytes read since its last
    call, which add up to `total_bytes(path)`. `rejects` names the file for what could not be read; by default it lies
    in the agent's folder, under `imports/`.

    Raises NotFound, InputError (a binary file, an unknown format), StoreError; run it again after either.
    """
    if user is not None and refused_field({"user": user}):
        raise InputError("a user is named by 1 to 1,024 characters, none of them a control character")
    path = Path(path)
    wanted = named(format) if format else None
    aside = rejects or hippocampus.folder / "imports" / f"{now():%Y%m%dT%H%M%S.%fZ}-{_plain(path)}.rejected"
    tally = Tally()
    with Aside(Path(aside)) as kept:
        intake = _Intake(hippocampus, tally, kept, keep_secrets=keep_secrets, user=user, progress=progress)
        if path.is_dir():
            _folder(intake, path, wanted, tally)
        else:
            intake.file(path, lambda source: _chosen(source, wanted))
        hippocampus.flush()
        return tally.report(kept.path)


def total_bytes(path: Path | str) -> int:
    """The bytes an import of this path would read: what a progress bar ends at. Raises NotFound."""
    path = Path(path)
    if not path.exists():
        raise NotFound(f"there is no file {path}")
    return sum(size for _, _, size in _files(path, Tally())) if path.is_dir() else path.stat().st_size


def _folder(intake: _Intake, path: Path, wanted: Format | None, tally: Tally) -> None:
    """Every transcript under the folder; what is none is reported and does not stop the others."""
    for _, file, _ in _files(path, tally):
        try:
            intake.file(file, lambda source: _sifted(source, wanted))
        except InputError as error:
            tally.leave(str(file.relative_to(path)), error.message)


def _files(path: Path, tally: Tally) -> list[tuple[int, Path, int]]:
    """The regular files under a folder, as (changed, path, size); the oldest first, as the sessions ended."""

    def unreadable(error: OSError) -> None:
        tally.leave(str(error.filename), f"the folder cannot be read: {error.strerror}")

    found = [Path(folder, name) for folder, _, names in os.walk(path, onerror=unreadable) for name in names]
    return sorted((told.st_mtime_ns, one, told.st_size) for one in found if (told := _regular(one)))


def _regular(path: Path) -> os.stat_result | None:
    # Programs delete their transcripts while we look: what has gone is no file any more.
    try:
        told = path.stat()
    except OSError:
        return None
    return told if stat.S_ISREG(told.st_mode) else None


def _chosen(source: Source, wanted: Format | None) -> Format:
    """The format asked for, or recognised; a binary file is refused either way."""
    if wanted is None:
        return recognised(source)
    refuse_binary(source)
    return wanted


def _sifted(source: Source, wanted: Format | None) -> Format:
    """In a folder a format that was asked for chooses among the files."""
    if wanted and not wanted.sniff(source.head):
        raise InputError(f"{source.path} is not in the format {wanted.name}", code="unknown_format")
    return wanted or recognised(source)


def _plain(path: Path) -> str:
    """The source's name as a part of a file name."""
    return re.sub(r"[^\w.-]+", "_", path.resolve().name)[:60] or "import"


def _slices(drafts: list[Draft]) -> Iterator[list[Draft]]:
    """The drafts in the portions that one write takes."""
    portion: list[Draft] = []
    size = 0
    for draft in drafts:
        if portion and (len(portion) >= MAX_DRAFTS or size + len(draft.content) > MAX_BYTES):
            yield portion
            portion, size = [], 0
        portion.append(draft)
        size += len(draft.content)
    yield portion


def _strongest(statuses: list[str]) -> str:
    return max(statuses, key=_RANK.index)


class _Intake:
    """From events to the hippocampus, in batches."""

    def __init__(
        self,
        hippocampus: Recorder,
        tally: Tally,
        aside: Aside,
        *,
        keep_secrets: bool,
        user: str | None,
        progress: Callable[[int], None] | None,
    ) -> None:
        self._hippocampus, self._tally, self._aside = hippocampus, tally, aside
        self._keep_secrets, self._user, self._progress = keep_secrets, user, progress
        self._batch: list[tuple[Item, list[Draft]]] = []
        self._drafts = self._bytes = 0

    def file(self, path: Path, choose: Callable[[Source], Format]) -> None:
        """One transcript, to its end."""
        with Source(path, progress=self._progress) as source:
            if is_blank(source):
                self._tally.notes.append(f"{path.name} is empty: nothing to import")
                source.pass_over()
                return
            try:
                chosen = choose(source)
            except InputError:
                source.pass_over()
                raise
            self._tally.files += 1
            self._tally.formats[chosen.name] += 1
            self._read(chosen, source)

    def _read(self, chosen: Format, source: Source) -> None:
        try:
            for event in chosen.read(source):
                self._event(event, source)
        except InputError:
            # A file that cannot be read to its end has still brought what came before.
            self._store(source)
            raise
        self._store(source)

    def _event(self, event: Event, source: Source) -> None:
        self._tally.read += 1
        if isinstance(event, Skipped):
            self._tally.skip(event.reason)
        elif isinstance(event, Rejected):
            self._reject(event, source)
        else:
            self._item(event, source)

    def _reject(self, event: Rejected, source: Source) -> None:
        self._aside.put(event, source)
        self._tally.reject(event.at.line, event.reason, source.name)

    def _item(self, item: Item, source: Source) -> None:
        drafts = split(replace(self._masked(item.draft), user=self._user))
        size = sum(len(draft.content) for draft in drafts)
        if self._batch and (self._drafts + len(drafts) > MAX_DRAFTS or self._bytes + size > MAX_BYTES):
            self._store(source)
        self._batch.append((item, drafts))
        self._drafts += len(drafts)
        self._bytes += size

    def _masked(self, draft: Draft) -> Draft:
        if self._keep_secrets:
            return draft
        content, counts = secrets.mask(draft.content)
        metadata, more = secrets.mask_json(draft.metadata)
        self._tally.masked += counts + more
        return replace(draft, content=content, metadata=metadata) if counts or more else draft

    def _store(self, source: Source) -> None:
        batch, self._batch, self._drafts, self._bytes = self._batch, [], 0, 0
        if not batch:
            return
        try:
            statuses = self._record([draft for _, drafts in batch for draft in drafts])
        except InputError:
            # One draft that the journal refuses must not take the others with it.
            for item, drafts in batch:
                self._alone(item, drafts, source)
            return
        place = iter(statuses)
        for _, drafts in batch:
            self._tally.outcomes[_strongest([next(place) for _ in drafts])] += 1

    def _alone(self, item: Item, drafts: list[Draft], source: Source) -> None:
        try:
            self._tally.outcomes[_strongest(self._record(drafts))] += 1
        except InputError as error:
            self._reject(Rejected(reason=f"refused by the journal: {error.message}", at=item.at), source)

    def _record(self, drafts: list[Draft]) -> list[str]:
        return [str(one.status) for portion in _slices(drafts) for one in self._hippocampus.record_many(portion)]
