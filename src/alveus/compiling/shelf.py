"""The kernels on disk: every version a folder, the one that serves behind a link; replaced whole or not at all.

    kernels -> kernels.d/7                    what serves: a person reads and edits the three files here
    kernels.d/7/identity_kernel.md, decision_kernel.md, anti-kernel.md
    kernels.d/7/sources.json                  every source of every line
    kernels.d/7/kernels.json                  the same for programs
    kernels.d/7/record                        the journal's record of this version

A version is written beside the others and synced, then recorded in the journal, then the link is put over the old one:
that is the commit point. A crash before it leaves the old version serving; one between record and link is finished by
the next run. The record holds the hash of every file: `kernels.json` serves only where it is what was recorded.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from alveus.compiling.reading import Place, Through
from alveus.errors import StoreError
from alveus.kernels.bullet import FILES, Bullet, KernelName
from alveus.kernels.digest import Cache, bullet_json
from alveus.store.files import DISK, create, exists, make_folders, sync_folder

LINK: Final = "kernels"
FOLDER: Final = "kernels.d"
MACHINE: Final = "kernels.json"
SOURCES: Final = "sources.json"
RECORD: Final = "record"
FORMAT: Final = "alveus.kernels/1"
KEPT: Final = 20
"""Versions that stay, beside those that a context still needs."""
_NEW: Final = ".new"
_VERSION: Final = re.compile(r"[1-9]\d{0,8}").fullmatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """One version of the kernels. `digest` is the number of the digest that made it, and `at` when that was.

    `users` are those whose records a bullet rests on, `shorts` the ids as the files name them, `pages` the files as the
    program wrote them, `hand` a person's words by file, with the record that holds them, `stated` the ids of bullets
    that said something new, `known` the facts that stood then, by user.
    """

    version: int
    digest: int
    at: str
    by: str
    bullets: tuple[Bullet, ...]
    through: Through
    cache: Cache
    canon: str
    embedder: str
    since: float | None = None
    explains: Mapping[str, str] = field(default_factory=dict)
    considered: Mapping[str, int] = field(default_factory=dict)
    users: Mapping[str, Sequence[str]] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    shorts: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    hand: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    stated: tuple[str, ...] = ()
    out: tuple[str, ...] = ()
    """Bullets that are in no file: deleted by a person, or replaced by a person's line."""
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def short(self, record_id: str) -> str:
        """A record id as the files name it."""
        return self.shorts.get(record_id, record_id)

    def standing(self) -> tuple[Bullet, ...]:
        """The bullets that are in the files."""
        return tuple(one for one in self.bullets if one.id not in self.out)

    def encode(self) -> bytes:
        """As `kernels.json` holds it."""
        told = {name: getattr(self, name) for name in self.__dataclass_fields__}
        told["bullets"] = [bullet_json(one) for one in self.bullets]
        told["cache"] = {"prefix": self.cache.prefix, "deltas": self.cache.deltas}
        told["through"] = self.through._asdict()
        told["places"] = {name: list(place) for name, place in self.places.items()}
        told["format"] = FORMAT
        return orjson.dumps(told, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2) + b"\n"


def decode(data: bytes) -> Kernels:
    """The version in a `kernels.json`. Raises StoreError for what is none."""
    try:
        told = orjson.loads(data)
        if told.pop("format") != FORMAT:
            raise ValueError(FORMAT)
        told["bullets"] = tuple(map(_bullet, told["bullets"]))
        told["cache"] = Cache(prefix=told["cache"]["prefix"], deltas=tuple(told["cache"]["deltas"]))
        told["through"] = Through(**told["through"])
        told["places"] = {name: Place(*place) for name, place in told["places"].items()}
        told["hand"] = {name: (text, record) for name, (text, record) in told["hand"].items()}
        told["stated"], told["out"] = tuple(told["stated"]), tuple(told["out"])
        return Kernels(**told)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{MACHINE} cannot be read: {type(error).__name__}", hint="`alveus compile`") from error


def _bullet(told: dict[str, Any]) -> Bullet:
    told["name"] = KernelName(told.pop("kernel"))
    told["sources"], told["supersedes"] = tuple(told["sources"]), tuple(told["supersedes"])
    return Bullet(**told)


def sha256(data: bytes) -> str:
    """The hash by which files are recorded."""
    return hashlib.sha256(data).hexdigest()


class Shelf:
    """The versions of one agent's kernels."""

    def __init__(self, folder: Path) -> None:
        self.link = folder / LINK
        self.folder = folder / FOLDER

    def make(self) -> None:
        """Make the folder that versions lie in."""
        make_folders(DISK, self.folder)

    def current(self) -> int | None:
        """The version that serves; None where there is none."""
        try:
            name = Path(os.readlink(self.link)).name  # noqa: PTH115  (of what is no link it raises)
        except OSError:
            return None
        return int(name) if _VERSION(name) else None

    def is_copied(self) -> bool:
        """Whether a folder lies where the link belongs: a copy followed it."""
        return self.link.is_dir() and not self.link.is_symlink()

    def versions(self) -> list[int]:
        """The versions that are kept, oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(int(path.name) for path in self.folder.iterdir() if _VERSION(path.name))

    def path(self, version: int) -> Path:
        """The folder of a version."""
        return self.folder / str(version)

    def load(self, version: int) -> Kernels:
        """A version, as it lies there. Raises StoreError."""
        return decode(self.machine(version))

    def machine(self, version: int) -> bytes:
        """The bytes of a version's `kernels.json`. Raises StoreError where there are none."""
        try:
            return (self.path(version) / MACHINE).read_bytes()
        except OSError as error:
            raise StoreError(f"kernels {version} are not there: {error.strerror}", hint="`alveus compile`") from error

    def pages(self) -> dict[KernelName, str]:
        """The three files as they are now, where they are: also where the link became a folder in a copy."""
        found: dict[KernelName, str] = {}
        for name, file in FILES.items():
            with contextlib.suppress(OSError):
                found[name] = (self.link / file).read_bytes().decode("utf-8", "surrogateescape")
        return found

    def record_of(self, version: int) -> tuple[str, Place] | None:
        """The id of the record of a version, and its place."""
        try:
            record_id, chain, offset = (self.path(version) / RECORD).read_text("ascii").split()
            return record_id, Place(chain, int(offset))
        except (OSError, ValueError):
            return None

    def put(self, version: int, files: Mapping[str, bytes]) -> None:
        """Write a version beside the others, on disk when this returns. It does not serve yet."""
        import shutil  # noqa: PLC0415  (with its compressors, for whoever writes)

        new = self.folder / f"{version}{_NEW}"
        shutil.rmtree(new, ignore_errors=True)
        DISK.mkdir(new, 0o700)
        for name, data in files.items():
            create(DISK, new / name, data)
        sync_folder(DISK, new)
        if exists(DISK, self.path(version)):  # a run that did not come to its end left it
            shutil.rmtree(self.path(version))
        DISK.rename(new, self.path(version))
        sync_folder(DISK, self.folder)

    def note(self, version: int, record_id: str, place: Place) -> None:
        """Say which record of the journal a version has."""
        path = self.path(version) / RECORD
        path.unlink(missing_ok=True)
        create(DISK, path, f"{record_id} {place.chain} {place.offset}\n".encode("ascii"))
        sync_folder(DISK, path.parent)

    def serve(self, version: int) -> None:
        """Put a version in the place of the one that serves: all of its files, or none."""
        new = self.link.with_name(f"{LINK}{_NEW}")
        new.unlink(missing_ok=True)
        new.symlink_to(f"{FOLDER}/{version}", target_is_directory=True)
        if self.is_copied():  # a copy followed the link: what it holds is kept
            DISK.rename(self.link, self.folder / f"copy-before-{version}")
        DISK.rename(new, self.link)
        sync_folder(DISK, self.link.parent)

    def tidy(self, needed: Sequence[int]) -> None:
        """Remove what a crash left, and versions that nobody needs."""
        import shutil  # noqa: PLC0415  (as in `put`)

        for path in list(self._unfinished()):
            shutil.rmtree(path, ignore_errors=True)
        for version in self.versions()[:-KEPT]:
            if version not in needed:
                shutil.rmtree(self.path(version), ignore_errors=True)

    def _unfinished(self) -> Iterator[Path]:
        if self.folder.is_dir():
            yield from (path for path in self.folder.iterdir() if path.name.endswith(_NEW))
