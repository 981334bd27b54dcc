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
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

from alveus.errors import InputError, NotFound
from alveus.importers import echo, secrets, stores
from alveus.importers.aside import Aside
from alveus.importers.base import Event, Format, Item, Paused, Rejected, Skipped
from alveus.importers.opening import gathered, is_archive, is_packed, is_store, unpacked
from alveus.importers.parts import split
from alveus.importers.report import ImportReport, Tally
from alveus.importers.source import Source
from alveus.importers.table import damaged, is_blank, named, nothing_known, recognised, refuse_binary
from alveus.importers.unknown import UNKNOWN, paths
from alveus.journal.record import Draft
from alveus.journal.seal import refused_field

MAX_DRAFTS: Final = 256
MAX_BYTES: Final = 1 << 20

ECHO: Final = "echo of what this memory said"

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
    report_unknown: bool = False,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> ImportReport:
    """Import one transcript, or every transcript under a folder.

    `format` is a name of the table; without it each file is recognised by its beginning. `user` scopes every record;
    nothing in a transcript can. Secrets are masked unless `keep_secrets`. `progress` gets the bytes read since its last
    call, which add up to `total_bytes(path)`. `rejects` names the file for what could not be read; by default it lies
    in the agent's folder, under `imports/`. With `report_unknown` the report has the key paths of what no table knows.

    Raises NotFound, InputError (a binary file, an unknown format), StoreError; run it again after either.
    """
    check_user(user)
    path = Path(path)
    wanted = named(format) if format else None
    aside = rejects or hippocampus.folder / "imports" / f"{now():%Y%m%dT%H%M%S.%fZ}-{_plain(path)}.rejected"
    tally = Tally()
    with Aside(Path(aside)) as kept:
        intake = Intake(hippocampus, tally, kept, keep_secrets=keep_secrets, user=user, progress=progress)
        intake.report_unknown = report_unknown
        if path.is_dir():
            _folder(intake, path, wanted, tally)
        else:
            intake.file(path, wanted)
        hippocampus.flush()
        return tally.report(kept.path)


def total_bytes(path: Path | str) -> int:
    """The bytes an import of this path would read: what a progress bar ends at. Raises NotFound."""
    path = Path(path)
    if not path.exists():
        raise NotFound(f"there is no file {path}")
    return sum(size for _, _, size in files(path, Tally())) if path.is_dir() else path.stat().st_size


def check_user(user: str | None) -> None:
    """Raises InputError for a name that the journal would refuse."""
    if user is not None and refused_field({"user": user}):
        raise InputError("a user is named by 1 to 1,024 characters, none of them a control character")


def _folder(intake: Intake, path: Path, wanted: Format | None, tally: Tally) -> None:
    """Every transcript under the folder; what is none is reported and does not stop the others."""
    intake.root = path
    for _, file, _ in files(path, tally):
        try:
            intake.member(file, wanted)
        except InputError as error:
            tally.refuse(str(file.relative_to(path)), file, error)


def files(path: Path, tally: Tally) -> list[tuple[int, Path, int]]:
    """What is to be read under a folder, as (changed, path, size), the oldest first, as the sessions ended.

    These are regular files, and folders that are one store. A `.zst` or `.gz` beside its plain file is its copy, and
    the files beside a database that its own program keeps there are none of ours. A link to a folder is not followed,
    because it may lead anywhere, and back here; it is told.
    """

    def unreadable(error: OSError) -> None:
        where = Path(error.filename)
        name = str(where.relative_to(path)) if where.is_relative_to(path) else str(where)
        tally.leave(name, f"the folder cannot be read: {error.strerror}")

    found: list[tuple[int, Path, int]] = []
    for folder, inside, names in os.walk(path, onerror=unreadable):
        here = Path(folder)
        if is_store(here):
            found.append((here.stat().st_mtime_ns, here, stores.size(here)))
            inside.clear()
            continue
        for name in inside:
            if (here / name).is_symlink():
                tally.leave(str((here / name).relative_to(path)), "a link to a folder: import that by its own name")
        there = set(names)
        own = [name for name in names if not _is_companion(name, there)]
        found += [(told.st_mtime_ns, one, told.st_size) for name in own if (told := _regular(one := here / name))]
    return sorted(found)


def _is_companion(name: str, there: set[str]) -> bool:
    return any(
        name.endswith(end) and name.removesuffix(end) in there for end in (".zst", ".gz", "-wal", "-shm", "-journal")
    )


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
    if wanted and not wanted.claims(source):
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


class Intake:
    """From events to the hippocampus, in batches."""

    report_unknown = False
    root: Path | None = None
    """The folder that is imported, below which a file is named: many programs call all their files the same."""

    def __init__(
        self,
        hippocampus: Recorder,
        tally: Tally,
        aside: Aside,
        *,
        keep_secrets: bool,
        user: str | None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._hippocampus, self._tally, self._aside = hippocampus, tally, aside
        self._keep_secrets, self._user, self._progress = keep_secrets, user, progress
        self._batch: list[tuple[Item, list[Draft]]] = []
        self._drafts = self._bytes = 0
        self._format = ""
        self._packed: Path | None = None

    def file(self, path: Path, wanted: Format | None) -> None:
        """One file that was named, to its end; what is packed with all its members."""
        self._open(path, lambda source: _chosen(source, wanted), wanted)

    def member(self, path: Path, wanted: Format | None) -> None:
        """One file, or store, of a folder."""
        if path.is_dir():
            for source in gathered(path):
                self._read(_sifted(source, wanted), source)
            if self._progress:
                self._progress(stores.size(path))
        else:
            self._open(path, lambda source: _sifted(source, wanted), wanted)

    def take(self, events: Iterator[Event], chosen: Format, source: Source) -> bool:
        """What a reader has for now; whether there may be more of it later."""
        self._format = chosen.name
        try:
            for event in events:
                if isinstance(event, Paused):
                    return True
                self._event(event, source)
        finally:
            # A file that cannot be read to its end has still brought what came before.
            self._store(source)
        if source.cut_short:
            self._tally.leave(self._name(source), f"{source.cut_short}; what came before is imported")
        return False

    def counted(self, chosen: Format) -> None:
        """One more file of this format."""
        self._tally.files += 1
        self._tally.formats[chosen.name] += 1

    def _open(self, path: Path, choose: Callable[[Source], Format], wanted: Format | None) -> None:
        with Source(path, progress=self._progress) as source:
            chosen = None
            try:
                if is_blank(source):
                    self._tally.notes.append(f"{self._name(source)} is empty: nothing to import")
                elif not is_packed(source):
                    chosen = choose(source)
                else:
                    self._packed = path
                    self._members(source, (lambda one: _sifted(one, wanted)) if is_archive(source) else choose)
            finally:
                self._packed = None
                if chosen is None:
                    source.pass_over()
            if chosen:
                self._read(chosen, source)

    def _members(self, source: Source, choose: Callable[[Source], Format]) -> None:
        """Every transcript of a packed file. Raises InputError when there is none in it."""
        before = self._tally.files
        damage = ""
        for member in unpacked(source):
            if is_blank(member):
                damage = damage or member.cut_short
                if member.path.is_relative_to(source.path):
                    self._tally.leave(self._name(member), member.cut_short or "it is empty")
                continue
            try:
                chosen = choose(member)
            except InputError as error:
                self._tally.refuse(self._name(member), member.path, error)
                continue
            self._read(chosen, member)
        damage = source.cut_short or damage
        if self._tally.files == before:
            raise damaged(source, damage) if damage else nothing_known(source)
        if source.cut_short:
            self._tally.leave(self._name(source), f"{source.cut_short}; what came before is imported")

    def _name(self, source: Source) -> str:
        """What a file is called in the report: by its place in the folder, a member after its archive."""
        if self._packed is None:
            return self._below(source.path)
        inside = source.path.is_relative_to(self._packed) and source.path != self._packed
        return self._below(self._packed) + (f": {source.path.relative_to(self._packed)}" if inside else "")

    def _below(self, path: Path) -> str:
        below = self.root is not None and path != self.root and path.is_relative_to(self.root)
        return str(path.relative_to(self.root)) if self.root and below else path.name

    def _read(self, chosen: Format, source: Source) -> None:
        self.counted(chosen)
        self.take(chosen.read(source), chosen, source)

    def _event(self, event: Event, source: Source) -> None:
        self._tally.read += 1
        if isinstance(event, Skipped):
            self._skip(event, source)
        elif isinstance(event, Rejected):
            self._reject(event, source)
        elif isinstance(event, Item):
            self._item(event, source)

    def _skip(self, event: Skipped, source: Source) -> None:
        self._tally.skip(event.reason)
        if self.report_unknown and event.reason.startswith(UNKNOWN):
            self._tally.unknown.update(f"{self._format}: {path}" for path in paths(source, event.at))

    def _reject(self, event: Rejected, source: Source) -> None:
        self._aside.put(event, source)
        self._tally.reject(event.at.line, event.reason, self._name(source))

    def _item(self, item: Item, source: Source) -> None:
        own = echo.without(item.draft)
        if own is None:
            self._tally.skip(ECHO)
            return
        draft = self._masked(own)
        drafts = split(draft if self._user is None else draft._replace(user=self._user))
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
        return draft._replace(content=content, metadata=metadata) if counts or more else draft

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
