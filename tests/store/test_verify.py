"""Verification over files: from the head, and in several processes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alveus import ChainState, Draft, Hippocampus, Kind
from alveus.store import verify


class Days:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 20, 12, tzinfo=UTC)

    def now(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at

    def steady(self) -> float:
        return self.at.timestamp()


def test_from_the_head_a_closed_day_before_it_is_not_looked_at(tmp_path: Path) -> None:
    """A whole journal with a closed day is whole from its head on, too, and says what was skipped."""
    clock = Days()
    with Hippocampus.open(home=tmp_path, clock=clock) as memory:
        memory.record(Kind.STATE, "the day to close")
        clock.at += timedelta(days=1)
        memory.record(Kind.STATE, "the day after")
        memory.daily_anchor("2026-11-20")
        memory.record(Kind.DECISION, "more")
    with Hippocampus.open(home=tmp_path, clock=clock) as memory:
        verdict = memory.verify_chain(since_head=True)
        assert (verdict.state, verdict.skipped) == (ChainState.OK_TO_HEAD, 3)
        assert memory.verify_chain().days == ("2026-11-20",)


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hippocampus:
    """A journal that is walked in pieces, however small."""
    monkeypatch.setattr(verify, "SMALLEST_PIECE", 1)
    monkeypatch.setattr(verify, "WHILE_STARTING", 0)
    with Hippocampus.open(home=tmp_path) as memory:
        for start in range(0, 900, 300):
            memory.record_many(
                [
                    Draft(kind=Kind.OBSERVATION, content=f"record {n}", metadata={"n": n})
                    for n in range(start, start + 300)
                ]
            )
    return Hippocampus.open(home=tmp_path, read_only=True)


@pytest.mark.parametrize("jobs", [2, 3])
def test_pieces_walked_apart_give_the_verdict_of_one_walk(large: Hippocampus, jobs: int) -> None:
    """Size, root and state are the same in one process and in several."""
    with large:
        assert large.verify_chain(jobs=jobs) == large.verify_chain()


@pytest.mark.parametrize("line", [0, 1, 299, 450, 600, 898, 899])
def test_pieces_walked_apart_name_the_fault_of_one_walk(large: Hippocampus, line: int) -> None:
    """Wherever a record was changed, several processes give the code, the line and the offset that one gives."""
    stream = large.folder / "stream.jsonl"
    lines = stream.read_bytes().splitlines(keepends=True)
    lines[line] = lines[line].replace(b'"content":"record', b'"content":"Record')
    stream.write_bytes(b"".join(lines))
    with large:
        verdict = large.verify_chain(jobs=3)
        assert verdict == large.verify_chain()
        assert verdict.fault is not None
        assert (verdict.fault.code, verdict.fault.line) == ("bad_signature", line + 1)


def test_a_piece_that_was_cut_out_between_two_is_missed(large: Hippocampus) -> None:
    """Lines gone from where two pieces meet break the chain, though each piece is whole."""
    stream = large.folder / "stream.jsonl"
    lines = stream.read_bytes().splitlines(keepends=True)
    stream.write_bytes(b"".join(lines[:440] + lines[460:]))
    with large:
        verdict = large.verify_chain(jobs=2)
        assert verdict.fault is not None
        assert (verdict.fault.code, verdict.fault.line) == ("chain_break", 441)
