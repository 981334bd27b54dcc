"""Steps over an agent that compile its kernels: read, compile, write beside, record, put in place. spec/kernels.md.

One run at a time across processes, under an operating system's lock. A run that fails leaves the kernels that serve as
they are, and says so where health is asked for. Nothing here deletes anything from the journal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import orjson

from alveus.agent import Agent
from alveus.compiling.growth import Telemetry
from alveus.compiling.reading import BEGINNING, Place, Read, Through
from alveus.compiling.serving import checked
from alveus.compiling.shelf import Kernels, Shelf
from alveus.errors import AlveusError, InputError, KernelError, Locked, StoreError
from alveus.journal.record import Draft
from alveus.journal.seal import format_time
from alveus.kernels.bullet import FILES, KernelName
from alveus.kernels.digest import THRESHOLD
from alveus.store.arrays import ONE_THREAD
from alveus.store.files import DISK, folder_locked, make_folders, replace
from alveus.store.log import Moved

if TYPE_CHECKING:
    from alveus.compiling.model import Model
    from alveus.compiling.vectors import VectorCache
    from alveus.kernels.digest import Delta, Growth
    from alveus.kernels.drift import Drift
    from alveus.kernels.page import Hand

DIGESTS: Final = "digests"
LAST: Final = "last.json"
FAILED: Final = "failed.json"
MOST_BY_HAND: Final = 200_000
"""Characters that a person's part of one kernel file may have: it has to fit into a record."""
Told = Callable[[str, int, int], None]
Facts = Callable[[], Mapping[str, Sequence[str]]]
"""The ids of the facts that stand, by user."""


class By(StrEnum):
    """What a compilation was asked for by."""

    COMPILE = "compile"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """What a run came to. Without `changed` the kernels that served are the ones that were found again.

    `embedded` texts had no vector yet; `left_out` records failed their check; `troubles` are what a guest failed at.
    """

    kernels: Kernels
    delta: Delta
    changed: bool
    digest: int
    edited: tuple[str, ...] = ()
    embedded: int = 0
    left_out: int = 0
    troubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How the digest is. Bytes are of the journal since the last digest; `within` those of the newest 12 hours."""

    version: int | None
    digest: int
    at: str
    bytes_since: int
    bytes_within: int
    threshold: int
    due: bool
    running: bool
    prefix: int | None
    deltas: tuple[int, ...]
    failed: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Last:
    """The digest that was made last, and how far it read."""

    digest: int = 0
    at: str = ""
    through: Through = BEGINNING


class Compiling:
    """The kernels of one agent, kept."""

    def __init__(self, agent: Agent, *, model: Callable[[], Model | None] = lambda: None, facts: Facts = dict) -> None:
        self._agent = agent
        self._model = model
        self._facts = facts
        self._folder = agent.layout.folder / DIGESTS
        self.shelf = Shelf(agent.layout.folder)

    # Looking

    def due(self) -> bool:
        """Whether the journal grew so that a digest is to be made."""
        return self._growth().due

    def status(self) -> Status:
        """How the digest is."""
        last, growth = self._last(), self._growth()
        version = self.shelf.current()
        kernels = None
        with contextlib.suppress(StoreError):
            kernels = self.shelf.load(version) if version is not None else None
        return Status(
            version=version,
            digest=last.digest,
            at=last.at,
            bytes_since=growth.total,
            bytes_within=growth.within,
            threshold=THRESHOLD,
            due=growth.due,
            running=self._is_running(),
            prefix=kernels.cache.prefix if kernels is not None else None,
            deltas=kernels.cache.deltas if kernels is not None else (),
            failed=self.failure(),
        )

    def failure(self) -> Mapping[str, Any] | None:
        """Why the last run failed; None where it did not."""
        with contextlib.suppress(OSError, ValueError):
            told = orjson.loads((self._folder / FAILED).read_bytes())
            return told if isinstance(told, dict) else None
        return None

    def notes(self) -> tuple[str, ...]:
        """What is not as it should be, one sentence each, as far as files of a few bytes say."""
        notes: list[str] = []
        if (failed := self.failure()) is not None:
            times = f", {failed.get('times')} times in a row" if failed.get("times") != 1 else ""
            notes.append(
                f"the last compilation of the kernels failed ({failed.get('at')}{times}): {failed.get('message')}; "
                "the old ones serve, and the next digest tries again"
            )
        growth = Telemetry(self._folder, self._last().through, read_only=True).growth
        if growth.due:
            notes.append("the journal outgrew the kernels: `alveus digest` makes the digest that is due")
        if self.shelf.is_copied():
            notes.append(f"{self.shelf.link} is a folder where a link belongs, and does not serve: `alveus compile`")
        elif (waiting := self._recorded()) is not None:
            notes.append(f"kernels {waiting} were recorded and do not serve: `alveus compile` puts them in place")
        return tuple(notes)

    def _growth(self) -> Growth:
        last = self._last()
        telemetry = Telemetry(self._folder, last.through, read_only=self._agent.options.read_only)
        if not self._agent.options.read_only:
            make_folders(DISK, self._folder)
        return telemetry.catch_up(self._agent.streams())

    def _last(self) -> _Last:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            told = orjson.loads((self._folder / LAST).read_bytes())
            return _Last(digest=int(told["digest"]), at=str(told["at"]), through=Through(*told["through"]))
        with contextlib.suppress(StoreError):  # it is derived: the kernels that serve know it too
            version = self.shelf.current()
            kernels = self.shelf.load(version) if version is not None else None
            if kernels is not None:
                return _Last(digest=kernels.digest, at=kernels.at, through=kernels.through)
        return _Last()

    def _is_running(self) -> bool:
        if not self.shelf.folder.is_dir():
            return False
        try:
            with self._lock(0.0):
                return False
        except Locked:
            return True

    # Running

    def run(
        self, by: By, *, since: float | None = None, if_due: bool = False, told: Told | None = None
    ) -> Compilation | None:
        """Compile everything, and put it in place. None where a digest was to be made only if due, and is not.

        Raises Locked where another process is at it, KernelError for a fault of our own or of a guest's, and what the
        disk raises: the old kernels serve on then.
        """
        if self._agent.options.read_only:
            raise StoreError("the memory was opened for reading", code="read_only", hint="open it for writing")
        if if_due and not self.due():
            return None
        self.shelf.make()
        make_folders(DISK, self._folder)
        with self._lock(self._agent.options.timeout):
            if if_due and not self.due():  # another process made it meanwhile
                return None
            try:
                done = self._run(by, since, told or (lambda *_: None))
            except (AlveusError, OSError, Moved) as error:
                self._note_failure(by, error)
                raise
            except Exception as error:
                self._note_failure(by, error)
                raise KernelError(
                    f"the kernels could not be compiled: {type(error).__name__}: {error}",
                    hint="the old ones serve; please report this",
                ) from error
        (self._folder / FAILED).unlink(missing_ok=True)
        return done

    def _lock(self, timeout: float) -> contextlib.AbstractContextManager[None]:
        return folder_locked(DISK, self.shelf.folder, timeout, "another process is compiling the kernels")

    def _note_failure(self, by: By, error: BaseException) -> None:
        before = self.failure() or {}
        told = {
            "at": format_time(self._agent.options.clock.now()),
            "by": by.value,
            "code": getattr(error, "code", type(error).__name__),
            "message": getattr(error, "message", "") or f"{type(error).__name__}: {error}",
            "times": int(before.get("times", 0)) + 1,
        }
        with contextlib.suppress(OSError):
            replace(DISK, self._folder / FAILED, orjson.dumps(told), durable=False)

    def _run(self, by: By, since: float | None, told: Told) -> Compilation:
        # What compiles needs numpy, and comes with the first run: who only looks at kernels does not wait for it.
        from alveus.compiling import model as guests  # noqa: PLC0415
        from alveus.compiling.kept import read_journal  # noqa: PLC0415
        from alveus.compiling.making import Making  # noqa: PLC0415
        from alveus.kernels.compiler import compile_kernels  # noqa: PLC0415

        self._finish()
        old = self._serving()
        if by is By.DIGEST and old is not None:
            since = old.since
        read = read_journal(self._agent, since, keep=True)
        told("reading", read.through.size, read.through.size)
        hands = self._by_hand(old, read)
        guest, cache = guests.Guest(self._model(), read.wordings), self._vectors(told)
        with ONE_THREAD:  # the sums of a product may differ by how many share it
            compiled = compile_kernels(
                read.utterances,
                encode=cache.encode if cache is not None else None,
                embedder_id=self.embedder_id,
                canon=read.canon.text if read.canon is not None else None,
                contradicts=guests.choose(guest),
                word=guest.word,
            )
        wordings = guest.used(compiled.bullets)
        if wordings:
            self._agent.append(wordings, durable=True)
        digest = max(self._last().digest, old.digest if old is not None else 0) + 1
        making = Making(
            self,
            by=by.value,
            at=format_time(self._agent.options.clock.now()),
            digest=digest,
            since=since,
            old=old,
            read=read,
            hands=hands,
            compiled=compiled,
        )
        made = making.put(fresh_prefix=by is By.COMPILE)
        return Compilation(
            kernels=made,
            delta=making.delta,
            changed=making.changed,
            digest=digest,
            edited=making.edited,
            embedded=cache.made if cache is not None else 0,
            left_out=len(read.left_out),
            troubles=(guest.trouble,) if guest.trouble else (),
        )

    def _finish(self) -> None:
        """What a run that was interrupted left: a version that is recorded is put in place."""
        waiting = self._recorded()
        if waiting is not None and not self.shelf.is_copied():  # what a person wrote in a copy is read first
            self.shelf.serve(waiting)

    def _recorded(self) -> int | None:
        """The newest version that is recorded and newer than the one that serves."""
        current = self.shelf.current() or 0
        newer = [one for one in self.shelf.versions() if one > current and self.shelf.record_of(one) is not None]
        return newer[-1] if newer else None

    def _serving(self) -> Kernels | None:
        version = self.shelf.current()
        with contextlib.suppress(StoreError):  # what cannot be read, or is not what was recorded, is made again
            return checked(self._agent, self.shelf, version) if version is not None else None
        return None

    @property
    def embedder_id(self) -> str:
        """Who embeds, or `words`."""
        meaning = self._agent.meaning
        return meaning.by.removeprefix("embed:") if meaning is not None else "words"

    def _vectors(self, told: Told) -> VectorCache | None:
        meaning = self._agent.meaning
        if meaning is None:
            return None
        from alveus.compiling.vectors import VectorCache  # noqa: PLC0415  (as in `_run`)

        folder = self._agent.layout.folder
        return VectorCache(folder, meaning.embedder, lambda done, of: told("embedding", done, of))

    def drift(self, days: Sequence[int]) -> Drift:
        """How far the agent's own words have moved from the canon, in epochs of so many days."""
        from alveus.compiling.kept import read_journal  # noqa: PLC0415  (as in `_run`)
        from alveus.kernels.drift import drift  # noqa: PLC0415

        read, cache = read_journal(self._agent), self._vectors(lambda *_: None)
        canon = read.canon.text if read.canon is not None else None
        return drift(read.utterances, encode=cache.encode if cache is not None else None, canon=canon, days=days)

    # A person's words

    def _by_hand(self, old: Kernels | None, read: Read) -> dict[KernelName, Hand]:
        """What of each file is a person's. Where a file is gone, as the journal has it."""
        from alveus.compiling.making import recorded_hand  # noqa: PLC0415  (as in `_run`)
        from alveus.kernels import page  # noqa: PLC0415

        there = self.shelf.pages()
        hands: dict[KernelName, Hand] = {}
        for name, file in FILES.items():
            written = page.region_of(old.pages.get(file, "")) if old is not None else None
            if name in there:
                hands[name] = page.read(there[name], written, name)
            else:
                edit = read.edits.get(file)
                hands[name] = recorded_hand(edit, name)
            if len(hands[name].before) + len(hands[name].after) > MOST_BY_HAND:
                raise InputError(
                    f"{file} has more than {MOST_BY_HAND:,} characters that a person wrote",
                    code="too_long",
                    hint="move some of it into a file of its own; the old kernels serve meanwhile",
                )
        return hands

    # What a version is made with

    def record(self, draft: Draft) -> tuple[str, Place]:
        """Record one thing, on disk when this returns; its id, and where it lies."""
        record = self._agent.append([draft], durable=True)[0].record
        self._agent.refresh()  # the index has it once it was looked at
        return record.record_id, Place(*self._agent.past.place(record.record_id))

    def known(self) -> dict[str, list[str]]:
        """The facts that stand, by user."""
        return {user: sorted(ids) for user, ids in self._facts().items()}

    def note_digest(self, number: int, at: str, through: Through) -> None:
        """Say which digest was the last, and how far it read."""
        told = {"at": at, "digest": number, "through": list(through)}
        replace(DISK, self._folder / LAST, orjson.dumps(told))

    def write_digest(self, number: int, markdown: str, told: Mapping[str, Any]) -> None:
        """Write a digest for people and for programs."""
        replace(DISK, self._folder / f"{number}.json", orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")
        replace(DISK, self._folder / f"{number}.md", markdown.encode("utf-8"))
