"""What an agent does to its disk, as short scenes that can be interrupted anywhere, and what has to be true afterwards.

A `Run` plays one scene and keeps account of what was promised: what returned as durable, what was refused. `examine`
opens what is left and holds it against that account.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alveus import AlveusError, ChainState, Draft, Hippocampus, Kind, SignedRecord, StoreError, StoreUncertain
from alveus import agent as agent_module
from alveus.journal.record import DURABLE_KINDS
from alveus.store import index, stream
from alveus.store.files import Files
from alveus.store.log import Log
from simulator import Clock, Crash, Faulty, SimulatedDisk

AGENT = "river"
DAY = "2026-01-01"


@dataclass
class Told:
    """What callers were told: contents on disk for certain, written, and refused with nothing recorded; closed days."""

    durable: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    days: list[str] = field(default_factory=list)
    errors: list[AlveusError] = field(default_factory=list)

    def all_durable(self) -> None:
        """Everything written so far is on disk."""
        self.durable = list(self.written)


class Run:
    """One scene being played on a disk. An AlveusError ends a step, not the scene; anything else ends the test."""

    def __init__(self, root: Path, files: Files, told: Told | None = None, clock: Clock | None = None) -> None:
        self.home = root / "home"
        self.files = files
        self.told = told or Told()
        self.clock = clock or Clock()
        self.memory: Hippocampus | None = None
        for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
            (self.home / "agents" / AGENT / name).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _step(self) -> Iterator[None]:
        try:
            yield
        except AlveusError as error:
            assert error.message
            self.told.errors.append(error)

    def open(self, **options: Any) -> None:
        """Open the journal, if it can be opened."""
        self.memory = None
        with self._step():
            self.memory = Hippocampus.open(
                home=self.home, agent_id=AGENT, clock=self.clock, files=self.files, **options
            )

    def record(self, kind: str, content: str, **options: Any) -> SignedRecord | None:
        """Record one thing."""
        return (self.record_many([content], kind=kind, **options) or [None])[0]

    def record_many(self, contents: list[str], kind: str = "state", **options: Any) -> list[SignedRecord]:
        """Record several things in one batch."""
        if self.memory is None:
            return []
        drafts = [Draft(kind=Kind(kind), content=content) for content in contents]
        with self._step():
            try:
                outcomes = self.memory.record_many(drafts, **options)
            except StoreUncertain:
                raise
            except StoreError:
                self.told.refused += contents
                raise
            self.told.written += contents
            if Kind(kind) in DURABLE_KINDS or options.get("durable"):
                self.told.all_durable()
            return [outcome.record for outcome in outcomes]
        return []

    def flush(self) -> None:
        """Have it all on disk."""
        if self.memory is not None:
            with self._step():
                self.memory.flush()
                self.told.all_durable()

    def anchor(self, day: str) -> None:
        """Close a day."""
        if self.memory is not None:
            with self._step():
                self.memory.daily_anchor(day)
                self.told.days.append(day)

    def rotate(self) -> None:
        """Change the key."""
        if self.memory is not None:
            with self._step():
                self.memory.rotate()

    def close(self) -> None:
        """Let the journal go."""
        if self.memory is not None:
            memory, self.memory = self.memory, None
            with self._step():
                memory.close()
                self.told.all_durable()


Scene = Callable[[Run], None]


def prepare(root: Path, build: Callable[[Run], None]) -> tuple[SimulatedDisk, Told]:
    """A disk on which `build` was played without a fault."""
    (root / "home" / "agents" / AGENT).mkdir(parents=True, exist_ok=True)  # for SQLite, which is not simulated
    disk = SimulatedDisk(root)
    run = Run(root, disk)
    build(run)
    run.close()
    assert not run.told.errors
    return disk, run.told


def play(scene: Scene, root: Path, disk: SimulatedDisk, before: Told, fault: Any = None) -> tuple[Run, Faulty]:
    """Play a scene on a copy of `disk` until its end or the end of the process."""
    files = Faulty(disk.copy())
    files.fault = fault
    told = Told(durable=list(before.durable), written=list(before.written), days=list(before.days))
    run = Run(root, files, told)
    with contextlib.suppress(Crash):
        scene(run)
    return run, files


def examine(root: Path, disk: SimulatedDisk, told: Told) -> Hippocampus:
    """The journal on `disk` opens, keeps what was promised, verifies, and goes on. Returns it, closed."""
    run = Run(root, disk, clock=_later())
    memory = Hippocampus.open(home=run.home, agent_id=AGENT, clock=run.clock, files=disk)
    try:
        contents = [record.content for record in memory.iter_records()]
        missing = [content for content in told.durable if content not in contents]
        assert not missing, f"lost though acknowledged: {missing}"
        ours = [content for content in contents if content in set(told.written)]
        assert ours == [content for content in told.written if content in set(ours)]
        assert ours == told.written[: len(ours)], "a gap: something is missing before what is there"
        assert not set(told.refused) & set(contents), "it was refused, and is there"
        verdict = memory.verify_chain()
        assert verdict, verdict.fault
        for day in told.days:
            assert day in verdict.days
        memory.record("decision", "life goes on")
        verdict = memory.verify_chain()
        assert verdict, verdict.fault
        assert verdict.size == memory.size() == len(contents) + 1
    finally:
        memory.close()
    verdict = memory.verify_chain()
    assert verdict.state is ChainState.OK_TO_HEAD, verdict
    return memory


def _later() -> Clock:
    return Clock("2026-01-05T12:00:00Z")


# The scenes


def create(run: Run) -> None:
    """A first day: everything is new."""
    run.open()
    run.record("decision", "the first decision")
    run.close()


def append(run: Run) -> None:
    """Durable and grouped records, single ones and batches."""
    run.open()
    run.record("decision", "a decision")
    run.record("state", "a state")
    run.record_many(["one", "two", "three"], kind="observation")
    run.flush()
    run.record_many(["four", "five"], kind="transfer")
    run.record("state", "the last state")
    run.close()


def head(run: Run) -> None:
    """The record that makes the next head and an index block due; and the snapshot at the end."""
    run.open()
    run.record("decision", "makes the block full")
    run.record("observation", "after the head")
    run.close()


def recover(run: Run) -> None:
    """There is a torn tail: it is set aside and accounted for."""
    run.open()
    run.record("decision", "after the recovery")
    run.close()


def anchor(run: Run) -> None:
    """The day before yesterday is closed."""
    run.clock.set("2026-01-03")
    run.open()
    run.anchor(DAY)
    run.record("decision", "after the closing")
    run.close()


def rotate(run: Run) -> None:
    """The key is changed."""
    run.open()
    run.record("decision", "under the old key")
    run.rotate()
    run.record("decision", "under the new key")
    run.close()


# The disks they begin with


def nothing(run: Run) -> None:
    """An empty disk."""


def a_short_past(run: Run) -> None:
    """Three records, with their head."""
    run.open()
    for number in range(3):
        run.record("decision", f"old {number}")


def a_full_block(run: Run) -> None:
    """All but one of the records that make a block of the index and a new head due."""
    run.open()
    run.record_many([f"old {number}" for number in range(BLOCK - 1)], kind="observation", durable=True)


def two_days(run: Run) -> None:
    """Records of two days."""
    run.open()
    for number in range(3):
        run.record("decision", f"new year {number}")
    run.clock.set("2026-01-02")
    run.record("decision", "the day after")


def a_torn_tail(disk: SimulatedDisk, root: Path) -> None:
    """A crash left a part of a line."""
    stream = root / "home" / "agents" / AGENT / "stream.jsonl"
    data = disk.content(stream)
    disk.put(stream, data + data[: data.index(b"\n") - 20])


SCENES: dict[str, tuple[Callable[[Run], None], Scene]] = {
    "create": (nothing, create),
    "append": (a_short_past, append),
    "head": (a_full_block, head),
    "recover": (a_short_past, recover),
    "anchor": (two_days, anchor),
    "rotate": (a_short_past, rotate),
}


def stage(name: str, root: Path) -> tuple[SimulatedDisk, Told, Scene]:
    """The disk a scene begins with, what was promised before, and the scene."""
    build, scene = SCENES[name]
    disk, told = prepare(root, build)
    if name == "recover":
        a_torn_tail(disk, root)
    return disk, told, scene


BLOCK = 4


def quicken(monkeypatch: Any) -> None:
    """Nothing happens behind the scene; heads, index blocks and the snapshot are due early."""
    monkeypatch.setattr(Log, "nudge", lambda _log: None)
    monkeypatch.setattr(index, "BLOCK", BLOCK)
    monkeypatch.setattr(index, "_SIZE", BLOCK * index._ENTRY.size + index._MAC)
    monkeypatch.setattr(stream, "HEAD_RECORDS", BLOCK)
    monkeypatch.setattr(agent_module, "SNAPSHOT_AT_CLOSE", 1)
