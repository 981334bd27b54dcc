"""Ctrl-C at any moment: the journal on disk stays whole, and so does what the program knows of it."""

import contextlib
import linecache
import sys
from pathlib import Path

import pytest

import alveus
from alveus import AlveusError, Draft, Hippocampus, Kind
from scenes import AGENT, quicken

SOURCE = str(Path(alveus.__file__).parent)


class Interrupt:
    """Raises KeyboardInterrupt before the `number`-th line of the program that is run inside the `with`.

    Not before a line that begins a `with`: it is met again when the `with` ends, before its lock is let go, and there
    Python delivers no signal.
    """

    def __init__(self, number):
        self.left = number

    def __enter__(self):
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_):
        sys.settrace(None)

    def _trace(self, frame, *_):
        return self._line if frame.f_code.co_filename.startswith(SOURCE) else None

    def _line(self, frame, event, _):
        begins = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
        if event == "line" and not begins.startswith("with "):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self._line


def one(memory):
    """Record one thing, durably."""
    memory.record("decision", "interrupted")


def batch(memory):
    """Record several things at once, as an import does, a known one among them."""
    memory.record_many(
        [
            Draft(kind=Kind.DECISION, content="interrupted", origin="a:b:1"),
            Draft(kind=Kind.STATE, content="second", origin="a:b:2"),
            Draft(kind=Kind.STATE, content="before", origin="a:b:0"),
        ]
    )


def follow(memory):
    """See what another writer has appended."""
    memory.size()


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.prove)])
@pytest.mark.parametrize("act", [one, batch, follow])
def test_an_interrupt_at_any_line_leaves_the_journal_whole(act, step, tmp_path, monkeypatch):
    """Wherever Ctrl-C falls while recording or following, later records, the head and the chain are right."""
    quicken(monkeypatch)
    number, finished = 0, False
    while not finished:
        number += step
        home = tmp_path / str(number)
        memory = Hippocampus.open(home=home, agent_id=AGENT, lock_timeout=0.05)
        memory.record("decision", "before", origin="a:b:0")
        with Hippocampus.open(home=home, agent_id=AGENT) as other:
            other.record("decision", "of another writer")
        interrupt = Interrupt(number)
        try:
            with interrupt:
                act(memory)
            finished = True
        except KeyboardInterrupt:
            pass
        acknowledged = ["before", "of another writer"]
        try:
            memory.record("decision", "after")
            acknowledged.append("after")
        except AlveusError:
            pass
        with contextlib.suppress(AlveusError):
            memory.close()
        with Hippocampus.open(home=home, agent_id=AGENT, lock_timeout=1) as memory:
            contents = [record.content for record in memory.iter_records()]
            assert [one for one in contents if one in acknowledged] == acknowledged, number
            assert contents.count("interrupted") <= 1
            assert memory.verify_chain(), (number, memory.verify_chain().fault)
            memory.record("decision", "life goes on")
            assert memory.verify_chain(), (number, memory.verify_chain().fault)
    assert number > 50
