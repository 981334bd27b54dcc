"""A journal through anything that may happen to it, in any order, against a list of what was promised."""

import contextlib
import shutil
import tempfile
import threading
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from alveus import AlveusError, ChainState, Draft, Hippocampus, InputError, Kind, NotFound, Stored, StoreError
from alveus.journal.record import DURABLE_KINDS
from scenes import AGENT, quicken
from simulator import Clock, Crash, Faulty, SimulatedDisk, images

DAY = timedelta(days=1)


class Journal(RuleBasedStateMachine):
    """One agent's journal on a simulated disk, with up to two writers; the power may go at any moment."""

    def __init__(self):
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        quicken(self.patch)
        self.root = Path(tempfile.mkdtemp(prefix="alveus-machine-"))
        self.folder = self.root / "home" / "agents" / AGENT
        self.folder.mkdir(parents=True)
        self.disk = SimulatedDisk(self.root)
        self.clock = Clock()
        self.writers = []
        self.count = 0
        self.written = []  # contents, in the order of the journal
        self.durable = set()  # of these, what was promised to be on disk
        self.closed = set()
        self.known_tear = False

    @initialize()
    def begin(self):
        """The first day."""
        self.open()

    def open(self):
        """One more writer."""
        writer = Hippocampus.open(
            home=self.root / "home", agent_id=AGENT, clock=self.clock, files=Faulty(self.disk), lock_timeout=0.2
        )
        self.writers.append(writer)
        return writer

    def pick(self, number):
        """One of the writers."""
        return self.writers[number % len(self.writers)]

    def new_content(self):
        """Words that were never said before."""
        self.count += 1
        return f"thing {self.count}"

    def promise(self, contents, *, durable):
        """They were recorded; if durably, so was everything before them."""
        self.written += contents
        if durable:
            self.durable |= set(self.written)

    # What may happen

    @rule(kind=st.sampled_from(Kind), durable=st.booleans(), which=st.integers(0, 1))
    def record(self, kind, durable, which):
        """One record."""
        content = self.new_content()
        record = self.pick(which).record(kind, content, {"n": self.count}, durable=durable)
        assert (record.content, record.kind) == (content, kind)
        self.promise([content], durable=durable or kind in DURABLE_KINDS)

    @rule(size=st.integers(1, 6), durable=st.booleans(), which=st.integers(0, 1))
    def record_many(self, size, durable, which):
        """A batch."""
        contents = [self.new_content() for _ in range(size)]
        self.pick(which).record_many([Draft(kind=Kind.STATE, content=one) for one in contents], durable=durable)
        self.promise(contents, durable=durable)

    @rule(item=st.integers(0, 5), version=st.integers(0, 1), which=st.integers(0, 1))
    def import_item(self, item, version, which):
        """An item of a source, seen before or not, changed or not, lost in a crash or not."""
        content = f"item {item} version {version}"
        draft = Draft(kind=Kind.STATE, content=content, origin=f"test:machine:{item}", part=(1, 1 + version))
        (outcome,) = self.pick(which).record_many([draft])
        others = [one for one in self.written if one.startswith(f"item {item} ")]
        if content in others:
            assert outcome.status is Stored.KNOWN
        else:
            assert outcome.status is (Stored.REVISED if others else Stored.NEW)
            self.promise([content], durable=False)
        assert outcome.record.content == content

    @rule(which=st.integers(0, 1))
    def flush(self, which):
        """Everything written so far is asked to be on disk."""
        writer = self.pick(which)
        writer.size()
        writer.flush()
        self.durable |= set(self.written)

    @rule(which=st.integers(0, 1))
    def reopen(self, which):
        """A writer ends, and another begins."""
        writer = self.pick(which)
        self.writers.remove(writer)
        writer.close()
        self.open()

    @precondition(lambda self: len(self.writers) == 1)
    @rule()
    def a_second_writer_comes(self):
        """From now on two take turns."""
        self.open()

    @precondition(lambda self: len(self.writers) == 2)
    @rule()
    def a_writer_goes(self):
        """It closes in good order."""
        self.writers.pop(0).close()

    @rule(which=st.integers(0, 999))
    def power_cut(self, which):
        """The power goes, and what of the unsynced is there then is a matter of luck."""
        self.disk.die()
        self.writers.clear()
        left = list(images(self.disk, more=6, seed=which))
        self.disk = left[which % len(left)]
        self.after_crash()

    @rule(which=st.integers(0, 1))
    def a_writer_is_killed(self, which):
        """The process ends without a word; what it wrote is seen by the next one, synced or not."""
        self.writers.pop(which % len(self.writers))._agent.files.kill()
        if not self.writers:
            self.open()

    def after_crash(self):
        """What is there now is a prefix of what was, and holds every promise."""
        writer = self.open()
        contents = [record.content for record in writer.iter_records() if record.hc.src != "system"]
        assert contents == self.written[: len(contents)]
        assert self.durable <= set(contents)
        self.written = contents

    @rule(hours=st.integers(0, 60))
    def time_passes(self, hours):
        """The machine runs, sleeps or idles."""
        self.clock.advance(hours=hours, microseconds=7)

    @rule(hours=st.integers(1, 100))
    def clock_set_back(self, hours):
        """Timestamps rise all the same, and say that the clock stood before them."""
        self.clock.jump(hours=-hours)
        record = self.writers[0].record("state", self.new_content())
        self.promise([record.content], durable=False)
        times = [one.timestamp for one in self.writers[0].iter_records() if one.hc.chain == record.hc.chain]
        assert times == sorted(set(times))
        if len(times) > 1 and self.clock.now() < datetime.fromisoformat(times[-2]):
            assert record.hc.clock == "back"
        self.clock.advance(hours=hours)

    @rule(days=st.integers(200, 4000))  # more than all that it was set back, which it may make up for
    def clock_jumps_ahead(self, days):
        """A wall clock that runs away from the steady one is refused, and nothing is recorded."""
        writer = self.writers[0]
        self.clock.jump(days=days)
        with pytest.raises(StoreError) as caught:
            writer.record("decision", "from a wrong future")
        assert caught.value.code == "clock_jump"
        self.clock.jump(days=-days)

    @rule(which=st.integers(0, 1))
    def rotate(self, which):
        """The key changes."""
        writer = self.pick(which)
        rotation = writer.rotate()
        assert rotation.old_kid != rotation.new_kid
        self.durable |= set(self.written)

    @rule(back=st.integers(0, 3), which=st.integers(0, 1))
    def anchor(self, back, which):
        """A day is closed, if it can be."""
        day = (self.clock.now() - back * DAY).date().isoformat()
        try:
            anchored = self.pick(which).daily_anchor(day)
        except (InputError, NotFound) as error:
            assert error.code in {"day_open", "not_found"}
            assert day not in self.closed
        else:
            self.closed.add(day)
            if anchored.new:  # closing syncs everything; looking at a closed day again syncs nothing
                self.durable |= set(self.written)
            assert anchored.payload["count"] > 0

    @rule(place=st.integers(0, 1 << 30), bit=st.integers(0, 7))
    def a_byte_is_edited(self, place, bit):
        """Somebody changes one bit of a stream on disk: verification says so. It is put back."""
        names = [name for name in self.disk.names(self.folder) if name.startswith("stream") and name.endswith(".jsonl")]
        path = self.folder / sorted(names)[place % len(names)]
        inode = self.disk._need(path)
        if not inode.data:
            return
        at = place % len(inode.data)
        inode.data[at] ^= 1 << bit
        verdict = self.writers[0].verify_chain()
        assert verdict.state is ChainState.BROKEN
        assert verdict.fault.code
        inode.data[at] ^= 1 << bit

    @rule(query=st.sampled_from(["thing", "вещь", "thing 1", "item", "нет"]), budget=st.integers(1, 300))
    def read(self, query, budget):
        """Reading returns nothing but what was written, and leaves nothing out."""
        writer = self.writers[0]
        found = writer.pattern_completion(query)
        loaded = writer.selective_load(budget)
        pack = writer.context(query, budget)
        assert not found.left_out
        assert not loaded.left_out
        assert pack.tokens <= budget
        ours = {record.content for record in (*found, *loaded) if record.hc.src != "system"}
        assert ours <= set(self.written)

    @invariant()
    def the_journal_is_whole_and_holds_its_promises(self):
        """At every moment, for every writer: one chain after the other, all contents in order, nothing twice."""
        for writer in self.writers:
            contents = [record.content for record in writer.iter_records() if record.hc.src != "system"]
            assert contents == self.written
        verdict = self.writers[0].verify_chain()
        assert verdict, verdict.fault
        assert self.closed <= set(verdict.days)

    def teardown(self):
        """The end."""
        for writer in self.writers:
            with contextlib.suppress(AlveusError):
                writer.close()
        self.patch.undo()
        shutil.rmtree(self.root)


@pytest.fixture(autouse=True)
def _the_dead_stay_silent(monkeypatch):
    """A syncing thread of a process that the simulated disk has killed ends by Crash, as that would."""
    hook = threading.excepthook

    def quiet(args):
        if not issubclass(args.exc_type, Crash):
            hook(args)

    monkeypatch.setattr(threading, "excepthook", quiet)


TestJournal = Journal.TestCase
TestJournal.settings = settings(max_examples=120, stateful_step_count=40, phases=(Phase.generate,))


class LongJournal(Journal):
    """The same, for longer."""


TestLongJournal = pytest.mark.prove(LongJournal.TestCase)
TestLongJournal.settings = settings(max_examples=400, stateful_step_count=80)
