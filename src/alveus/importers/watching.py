"""Following transcripts that are being written: each look imports what was added since the one before.

A file of lines stays open, and its reader goes on where it stopped, with all that it remembers; a line without its end
is left until it has one. A file that was replaced, shortened, or is no file of lines is read again from its beginning,
which stores nothing twice. So a watch that was stopped, or killed, is simply begun again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from alveus.errors import InputError
from alveus.importers.aside import Aside
from alveus.importers.base import Event, Format
from alveus.importers.intake import Intake, Recorder, check_user, files
from alveus.importers.opening import is_packed
from alveus.importers.report import ImportReport, Tally, Unread
from alveus.importers.source import Source
from alveus.importers.table import is_blank, named, recognised

MAX_OPEN: Final = 64
"""Files that are held open between two looks; one that was not written to for longest is closed first."""


@dataclass(slots=True, kw_only=True)
class _Followed:
    """A file whose reader waits for more."""

    source: Source
    chosen: Format
    events: Iterator[Event]
    inode: int
    read_to: int


class Watch:
    """The files and folders that are followed."""

    def __init__(
        self,
        hippocampus: Recorder,
        paths: list[Path],
        format: str | None = None,  # noqa: A002 - the word users know it by
        *,
        keep_secrets: bool = False,
        user: str | None = None,
        rejects: Path | str | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        check_user(user)
        self._hippocampus, self._paths = hippocampus, paths
        self._wanted = named(format) if format else None
        self._keep_secrets, self._user = keep_secrets, user
        name = f"{now():%Y%m%dT%H%M%S.%fZ}-watch.rejected"
        self._aside = Path(rejects) if rejects else hippocampus.folder / "imports" / name
        self._followed: OrderedDict[Path, _Followed] = OrderedDict()
        self._seen: dict[Path, tuple[int, int, int]] = {}
        self._told: set[Unread] = set()

    def look(self) -> ImportReport:
        """Import what was added since the last look. Raises StoreError; what cannot be read is in the report."""
        tally = Tally()
        with Aside(self._aside) as kept:
            intake = Intake(self._hippocampus, tally, kept, keep_secrets=self._keep_secrets, user=self._user)
            for path in self._found(tally):
                try:
                    self._one(path, intake)
                except InputError as error:
                    tally.refuse(str(path), path, error)
            if tally.read:
                self._hippocampus.flush()
            return tally.report(kept.path)

    def close(self) -> None:
        """Let go of all files."""
        while self._followed:
            self._let_go(next(iter(self._followed)))

    def _found(self, tally: Tally) -> list[Path]:
        """The files that changed since they were last looked at. What cannot be looked into is told once."""
        found, here = [], Tally()
        for path in self._paths:
            found += [one for _, one, _ in files(path, here)] if path.is_dir() else [path]
        for unread in here.report(None).unread:
            if unread not in self._told:
                self._told.add(unread)
                tally.leave(*unread)
        changed = []
        for path in found:
            with suppress(OSError):
                told = path.stat()
                state = (told.st_ino, told.st_size, told.st_mtime_ns)
                if self._seen.get(path) != state:
                    self._seen[path] = state
                    changed.append(path)
        return changed

    def _one(self, path: Path, intake: Intake) -> None:
        inode, size, _ = self._seen[path]
        followed = self._followed.get(path)
        if followed and (followed.inode != inode or size < followed.read_to):
            self._let_go(path)
            followed = None
        if followed is None:
            followed = self._begin(path, inode, intake)
        if followed is None:
            return
        followed.read_to = size
        self._followed[path] = followed
        self._followed.move_to_end(path)
        more = False
        try:
            more = intake.take(followed.events, followed.chosen, followed.source)
        finally:
            if not more:
                self._let_go(path)
        if len(self._followed) > MAX_OPEN:
            self._let_go(next(iter(self._followed)))

    def _begin(self, path: Path, inode: int, intake: Intake) -> _Followed | None:
        """A reader for the file; None for one that is packed or a store, which is imported as a whole."""
        if path.is_dir():
            intake.member(path, self._wanted)
            return None
        source = Source(path, follow=True)
        # A list in one line is written at once, and often has no line end.
        source.follow = b"\n" in source.head or not source.head.lstrip(b"\xef\xbb\xbf \t").startswith(b"[")
        try:
            if is_packed(source):
                intake.member(path, self._wanted)
            elif not is_blank(source):
                chosen = self._wanted or recognised(source)
                intake.counted(chosen)
                return _Followed(
                    source=source, chosen=chosen, events=chosen.read(source), inode=inode, read_to=source.size
                )
        except BaseException:
            source.close()
            raise
        source.close()
        return None

    def _let_go(self, path: Path) -> None:
        self._followed.pop(path).source.close()
