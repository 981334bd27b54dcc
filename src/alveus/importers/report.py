"""What an import did, as numbers that must add up: read = stored + already there + revised + skipped + rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from alveus.errors import InputError
from alveus.importers.facts import clean

SHOWN: Final = 100
REASONS: Final = 200
OTHER: Final = "other reasons"
FOREIGN: Final = ("unknown_format", "binary_file")
"""The codes of errors that say that a file is no transcript."""


class BadLine(NamedTuple):
    """A rejected piece: its line, why, and the file it is in."""

    line: int
    reason: str
    file: str


class Unread(NamedTuple):
    """A file of a folder that was not read, or not to its end, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The end of an import. Items are counted, not their parts: one that was split counts once.

    `rejected` holds the first hundred and `rejected_count` all of them; they lie whole in `rejects_file`. `skipped` is
    by reason, `masked` by kind of secret, `formats` by the files of each. `unread` has the first hundred files of a
    folder that were not read: those with trouble before those that are no transcripts, of which there are
    `foreign_count`, so that a lost session is not hidden among pictures. `notes` are sentences for people, such as that
    a file was empty. `unknown` counts, where it was asked for, the key paths of what no table knows, without a word of
    content. A report cannot be built with numbers that do not add up.
    """

    read: int = 0
    stored: int = 0
    known: int = 0
    revised: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    rejected: tuple[BadLine, ...] = ()
    rejected_count: int = 0
    rejects_file: Path | None = None
    masked: Mapping[str, int] = field(default_factory=dict)
    files: int = 0
    formats: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()
    unread_count: int = 0
    foreign_count: int = 0
    notes: tuple[str, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        told = self.stored + self.known + self.revised + sum(self.skipped.values()) + self.rejected_count
        if self.read != told:
            raise ValueError(f"an import read {self.read} and accounts for {told}")

    @property
    def troubled_count(self) -> int:
        """The files that should have been read, and were not, or not to their end."""
        return self.unread_count - self.foreign_count


class Tally:
    """The same while the import runs."""

    def __init__(self) -> None:
        self.read = self.rejected_count = self.unread_count = self.foreign_count = self.files = 0
        self.outcomes: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.masked: Counter[str] = Counter()
        self.formats: Counter[str] = Counter()
        self.rejected: list[BadLine] = []
        self._troubled: list[Unread] = []
        self._foreign: list[Unread] = []
        self.notes: list[str] = []
        self.unknown: Counter[str] = Counter()

    def skip(self, reason: str) -> None:
        """One item left out. A source that invents a type a line cannot make the table grow without end."""
        known = reason in self.skipped or len(self.skipped) < REASONS
        self.skipped[reason if known else OTHER] += 1

    def reject(self, line: int, reason: str, file: str) -> None:
        """One piece kept aside."""
        self.rejected_count += 1
        if len(self.rejected) < SHOWN:
            self.rejected.append(BadLine(line, reason, clean(file)))

    def leave(self, file: str, reason: str, *, foreign: bool = False) -> None:
        """One file of a folder that was not read; `foreign` where it is no transcript, and nothing is lost."""
        self.unread_count += 1
        self.foreign_count += foreign
        kept = self._foreign if foreign else self._troubled
        if len(kept) < SHOWN:
            kept.append(Unread(clean(file), clean(reason)))

    def refuse(self, file: str, path: Path, error: InputError) -> None:
        """The same for one that was refused with this error; its sentence, without the path that it begins with."""
        self.leave(file, error.message.removeprefix(f"{path} "), foreign=error.code in FOREIGN)

    def report(self, rejects_file: Path | None) -> ImportReport:
        """The end of it. Raises ValueError when the sums do not agree, which is a fault of this program."""
        return ImportReport(
            read=self.read,
            stored=self.outcomes["new"],
            known=self.outcomes["known"],
            revised=self.outcomes["revised"],
            skipped=dict(self.skipped.most_common()),
            rejected=tuple(self.rejected),
            rejected_count=self.rejected_count,
            rejects_file=rejects_file,
            masked=dict(self.masked.most_common()),
            files=self.files,
            formats=dict(self.formats),
            unread=(*self._troubled, *self._foreign)[:SHOWN],
            unread_count=self.unread_count,
            foreign_count=self.foreign_count,
            notes=tuple(self.notes),
            unknown=dict(self.unknown.most_common()),
        )
