"""Who changed what of an agent's self-description, and when: the canon, the kernels, files about identity.

The journal is the answer; files are compared with what it says of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from alveus.agent import Agent
from alveus.compiling.reading import CANON, EDIT, KERNELS, Canon, canon_of, identity_changes, note_of
from alveus.compiling.shelf import Shelf, sha256
from alveus.errors import InputError, NotFound, StoreError
from alveus.journal.record import Draft, Kind, SignedRecord, Source
from alveus.journal.seal import format_time
from alveus.kernels.bullet import FILES

LARGEST_CANON: Final = 500_000
"""Characters of a canon: it has to fit into a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change: when (UTC), who (`src` as signed), what, and the record that says so."""

    at: str
    who: str
    what: str
    file: str
    record_id: str
    details: Mapping[str, Any]


class State(StrEnum):
    """How a file in use stands to what is recorded."""

    RECORDED = "recorded"
    CHANGED = "changed"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One file. `record_id` says by which record it is known, and `written` when it was last written, as the disk says.

    `lines` are those added (`+ `) and removed (`- `) since then: None where what it said is not kept, none where only
    line ends differ.
    """

    path: Path
    state: State
    sha256: str | None
    recorded: str | None
    record_id: str | None
    at: str | None
    written: str | None = None
    added: int = 0
    removed: int = 0
    lines: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a check found: the files, and what changed them, newest first."""

    files: tuple[Standing, ...]
    steps: tuple[Step, ...]

    def __bool__(self) -> bool:
        """Whether every file in use is the recorded one; where there is no file there is no evidence."""
        return bool(self.files) and all(one.state is State.RECORDED for one in self.files)


# The canon


def set_canon(agent: Agent, data: bytes, path: Path) -> SignedRecord:
    """Record a file as the canon. The same text again changes nothing, and gives the record that is there."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: byte {error.start}", hint="convert it: iconv -t utf-8") from error
    if not text.strip():
        raise InputError(f"{path} is empty", hint="a canon has at least one statement")
    if len(text) > LARGEST_CANON:
        raise InputError(f"{path} has more than {LARGEST_CANON:,} characters", hint="a canon is a page, not a book")
    told = {"file": str(path), "lines": text.count("\n") + 1, "sha256": sha256(data)}
    before = next((one for one in _steps_of(agent, CANON) if canon_of(one) is not None), None)
    if before is not None and dict(note_of(before, CANON) or {}).items() >= told.items() and before.content == text:
        return before
    draft = Draft(kind=Kind.IDENTITY_CHANGE, content=text, metadata={CANON: told}, src=Source.USER)
    return agent.append([draft], durable=True)[0].record


def _steps_of(agent: Agent, name: str) -> Iterator[SignedRecord]:
    for record in identity_changes(agent):
        if isinstance(record, SignedRecord) and note_of(record, name) is not None:
            yield record


# What changed


def steps(agent: Agent) -> Iterator[Step]:
    """Every change of identity that the journal has, newest first."""
    for record in identity_changes(agent):
        if not isinstance(record, SignedRecord):
            yield Step(at="", who="unknown", what="damaged", file="", record_id="", details={"fault": record.detail})
        elif (step := _step(record)) is not None:
            yield step


def _step(record: SignedRecord) -> Step | None:
    for name, what in _KINDS.items():
        told = note_of(record, name)
        if told is not None:
            return _made(record, what, str(told.get("file", "")), told)
    if any(name in record.metadata for name in _CHAIN):
        return None
    return _made(record, "recorded", _file_of(record), record.metadata)


_KINDS: Final = {CANON: "canon set", KERNELS: "kernels compiled", EDIT: "edited by hand"}
_CHAIN: Final = ("closing", "opening")
_FILES: Final = ("file", "path", "file_path")


def _made(record: SignedRecord, what: str, file: str, details: Mapping[str, Any]) -> Step:
    who = record.hc.src.value if record.hc is not None else "unknown"
    return Step(at=record.timestamp, who=who, what=what, file=file, record_id=record.record_id, details=dict(details))


def _file_of(record: SignedRecord) -> str:
    """The file that an imported identity change was about."""
    return next((str(record.metadata[name]) for name in _FILES if isinstance(record.metadata.get(name), str)), "")


# Checking


def check(agent: Agent, path: Path | None) -> Identity:
    """Compare a file, or the three kernels and the canon's file, with what is recorded. Raises NotFound."""
    found = [one for one in steps(agent) if one.what != "damaged"]
    shelf = Shelf(agent.layout.folder)
    if path is None:
        files = [*_kernels(shelf, found), *_canon(agent, None)]
        return Identity(files=tuple(files), steps=tuple(one for one in found if one.what != "recorded"))
    if not path.is_file():
        raise NotFound(f"there is no file {path}", hint="check the path")
    about = [one for one in found if _is_about(one, path, shelf)]
    standing = next(iter([*_kernels(shelf, found, path), *_canon(agent, path)]), None)
    if standing is None:
        standing = Standing(
            path=path, state=State.UNKNOWN, sha256=sha256(path.read_bytes()), recorded=None, record_id=None, at=None
        )
    return Identity(files=(standing,), steps=tuple(about))


def _is_about(step: Step, path: Path, shelf: Shelf) -> bool:
    if step.what == _KINDS[KERNELS]:
        return path.name in FILES.values() and _is_in(path, shelf)
    if step.what == _KINDS[EDIT]:
        return step.file == path.name and _is_in(path, shelf)
    return bool(step.file) and (Path(step.file).absolute() == path.absolute() or Path(step.file).name == path.name)


def _is_in(path: Path, shelf: Shelf) -> bool:
    parent = path.absolute().parent
    return parent == shelf.link or shelf.folder in parent.parents


def _kernels(shelf: Shelf, found: list[Step], only: Path | None = None) -> Iterator[Standing]:
    """The kernel files, as the newest record has them."""
    newest = next((one for one in found if one.what == _KINDS[KERNELS]), None)
    if newest is None:
        return
    recorded = newest.details.get("files")
    hashes: Mapping[str, str] = recorded if isinstance(recorded, Mapping) else {}
    version = newest.details.get("version")
    for file in FILES.values():
        path = shelf.link / file
        if only is None or (only.name == file and _is_in(only, shelf)):
            there = path if only is None else only
            yield _compared(there, hashes.get(file), newest.record_id, newest.at, _text(shelf, version, file))


def _text(shelf: Shelf, version: object, file: str) -> str | None:
    """The text of a kernel as it was written; None where that version is not kept."""
    try:
        return shelf.load(version).pages.get(file) if isinstance(version, int) else None
    except StoreError:
        return None


def _canon(agent: Agent, only: Path | None) -> Iterator[Standing]:
    """The file that the canon was set from, as it was then."""
    canon = next((canon_of(one) for one in _steps_of(agent, CANON)), None)
    if canon is None or not canon.file:
        return
    path = Path(canon.file)
    if only is None or only.absolute() == path.absolute() or _same_name(only, path, canon):
        yield _compared(only or path, canon.sha256, canon.record_id, canon.at, canon.text)


def _same_name(only: Path, path: Path, canon: Canon) -> bool:
    """Whether a copy elsewhere is meant: it has the canon's name, or its very bytes."""
    return only.name == path.name or sha256(only.read_bytes()) == canon.sha256


def _compared(path: Path, recorded: str | None, record_id: str, at: str, text: str | None) -> Standing:
    try:
        data, written = path.read_bytes(), format_time(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    except OSError:
        return Standing(path=path, state=State.MISSING, sha256=None, recorded=recorded, record_id=record_id, at=at)
    found = sha256(data)
    state = State.RECORDED if found == recorded else State.CHANGED
    lines: tuple[str, ...] | None = ()
    if state is State.CHANGED:
        lines = _lines(text, data.decode("utf-8", "replace")) if text is not None else None
    return Standing(
        path=path,
        state=state,
        sha256=found,
        recorded=recorded,
        record_id=record_id,
        at=at,
        written=written,
        added=sum(one.startswith("+ ") for one in lines or ()),
        removed=sum(one.startswith("- ") for one in lines or ()),
        lines=lines,
    )


def _lines(before: str, after: str) -> tuple[str, ...]:
    """The lines that differ; in time that grows with the files, whatever they hold."""
    found = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))
    return tuple(f"{line[0]} {line[1:]}" for line in found[2:] if not line.startswith("@@"))
