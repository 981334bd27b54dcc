"""Verification over files: every chain of an agent in succession, in as many processes as are wanted.

The judging is `journal.chain`'s; here bytes are found, cut into pieces at line ends, and handed to it. The head is
read before the stream, so that a writer at work cannot make a whole journal look broken.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle  # noqa: S403  (only between this process and the children it started; no key is in it)
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from alveus.journal.chain import (
    BASIC_GAPS,
    ChainState,
    ChainSummary,
    ChainVerdict,
    DayTally,
    Fault,
    Link,
    Walked,
    judge_head,
    link_at,
    state_of,
    walk,
    walk_piece,
)
from alveus.journal.head import Head, Tree
from alveus.journal.seal import Invalid, Key, check, digest
from alveus.store import lines
from alveus.store.anchors import closed_days, disagreement, load_anchor
from alveus.journal.anchor import make_anchor
from alveus.store.files import DISK, Files, opened
from alveus.store.heads import load_head
from alveus.store.keys import KeyRing
from alveus.store.layout import Layout
from alveus.store.log import Log
from alveus.store.succession import Closed, predecessors

SMALLEST_PIECE: Final = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A root that was noted elsewhere or earlier: the first `size` records of `chain` hash to `root` (hex)."""

    name: str
    code: str
    chain: str
    size: int
    root: str


@dataclass(slots=True, kw_only=True)
class Report:
    """One chain as it was walked."""

    path: Path
    key: Key
    head: Head | Fault
    walked: Walked
    skipped: int = 0


def verify_agent(
    files: Files,
    layout: Layout,
    ring: KeyRing,
    *,
    known: Sequence[Known] = (),
    since_head: bool = False,
    jobs: int = 1,
    timeout: float = 10.0,
) -> ChainVerdict:
    """Walk all chains of the agent and compare them with heads, closed days and known roots; never raises for data."""
    days = closed_days(files, layout.anchors)
    reports: list[Report] = []
    for path, key in _chains(files, layout, ring):
        reports.append(_walk_file(files, layout, path, key, known, days, since_head=since_head, jobs=jobs))
        fault = _fault_of(files, reports, timeout)
        if fault is not None:
            return _verdict(layout, reports, fault)
    fault = None if since_head else _check_days(files, layout, reports, days)
    return _verdict(layout, reports, fault or _check_known(reports, known), () if since_head else days)


def _chains(files: Files, layout: Layout, ring: KeyRing) -> Iterator[tuple[Path, Key]]:
    chain, key = _first_chain(files, layout.stream, ring)
    for closed in predecessors(files, layout, ring, chain):
        yield closed.path, ring.get(closed.kid) or ring.current
    yield layout.stream, key


def _first_chain(files: Files, path: Path, ring: KeyRing) -> tuple[str | None, Key]:
    """The chain a stream belongs to, by its first record or, before one is written, by its head."""
    try:
        with opened(files, path, os.O_RDONLY | os.O_NOFOLLOW) as fd:
            line = lines.line_at(files, fd, 0)
    except FileNotFoundError:
        return None, ring.current
    key = ring.current
    with contextlib.suppress(Invalid):
        return check(line, key).chain, key
    head = load_head(files, path, key)
    return (head.chain if isinstance(head, Head) else None), key


def _walk_file(
    files: Files,
    layout: Layout,
    path: Path,
    key: Key,
    known: Sequence[Known],
    days: Sequence[str],
    *,
    since_head: bool,
    jobs: int,
) -> Report:
    head = load_head(files, path, key)
    sizes = {one.size for one in known} | ({head.size} if isinstance(head, Head) else set())
    try:
        with opened(files, path, os.O_RDONLY | os.O_NOFOLLOW) as fd:
            end = files.status(fd).st_size
            if since_head and isinstance(head, Head) and head.size and head.bytes <= end:
                return _walk_from_head(files, layout, path, fd, end, key, head)
            if jobs > 1 and end >= 2 * SMALLEST_PIECE:
                walked = _walk_in_pieces(files, path, fd, end, key, layout.agent_id, sizes, days, jobs)
            else:
                walked = walk(
                    lines.forwards(files, fd, 0, end), key, Link(agent_id=layout.agent_id), sizes=sizes, days=days
                )
    except OSError as error:
        code = "stream_missing" if isinstance(error, FileNotFoundError) else "stream_unreadable"
        link = Link(agent_id=layout.agent_id)
        fault = Fault(code=code, detail=f"{path}: {error.strerror}", offset=0)
        return Report(path=path, key=key, head=head, walked=Walked(first=link, link=link, tree=Tree(), fault=fault))
    return Report(path=path, key=key, head=head, walked=walked)


def _walk_from_head(files: Files, layout: Layout, path: Path, fd: int, end: int, key: Key, head: Head) -> Report:
    """`--since-head`: the last record before the head has to be the head's; nothing before it is looked at."""
    link = link_at(head, layout.agent_id, "")
    line = lines.last_line(files, fd, head.bytes)
    try:
        if line is None or digest(line) != head.last_line_sha256:
            raise Invalid("fork_of_head", "the record the head ends with is not there")
        link.last_time = check(line, key).timestamp
    except Invalid as invalid:
        fault = Fault(code=invalid.code, detail=invalid.detail, chain=head.chain, line=head.size, offset=head.bytes)
        walked = Walked(first=link.copy(), link=link, tree=head.tree(), fault=fault)
    else:
        walked = walk(lines.forwards(files, fd, head.bytes, end), key, link, tree=head.tree(), sizes={head.size})
    return Report(path=path, key=key, head=head, walked=walked, skipped=head.size)


# In pieces


def _walk_in_pieces(
    files: Files,
    path: Path,
    fd: int,
    end: int,
    key: Key,
    agent_id: str,
    sizes: set[int],
    days: Sequence[str],
    jobs: int,
) -> Walked:
    """Pieces are walked apart and joined in order; one that does not join is walked again here, to say why."""
    cuts = _cuts(files, fd, end, jobs)
    children = [
        _Child(path, key, agent_id, start, stop, sizes, days) for start, stop in zip(cuts[1:-1], cuts[2:], strict=True)
    ]
    link = Link(agent_id=agent_id)
    walked = walk(lines.forwards(files, fd, 0, cuts[1]), key, link, sizes=sizes, days=days)
    for child, stop in zip(children, cuts[2:], strict=True):
        piece = child.result()
        if walked.fault is not None:
            continue
        if piece is None or not walked.absorb(piece):
            rest = lines.forwards(files, fd, walked.link.offset, stop)
            again = walk(rest, key, walked.link, tree=walked.tree, sizes=sizes, days=days)
            walked = _continued(walked, again)
    return walked


def _continued(walked: Walked, again: Walked) -> Walked:
    days = walked.days
    for day, tally in again.days.items():
        days.setdefault(day, DayTally()).extend(tally)
    return replace(again, first=walked.first, opening=walked.opening, roots=walked.roots | again.roots, days=days)


def _cuts(files: Files, fd: int, end: int, jobs: int) -> list[int]:
    """Byte offsets from 0 to `end` where lines begin, for about `jobs` pieces."""
    cuts = [0]
    for number in range(1, jobs):
        at = end * number // jobs
        line = lines.line_at(files, fd, at)
        cut = at + len(line) + 1
        if cuts[-1] < cut < end:
            cuts.append(cut)
    return [*cuts, end]


class _Child:
    """A process that walks one piece. It is given the key on its standard input, and nothing else secret."""

    def __init__(
        self, path: Path, key: Key, agent_id: str, start: int, stop: int, sizes: set[int], days: Sequence[str]
    ) -> None:
        task = _Task(str(path), agent_id, start, stop, tuple(sizes), tuple(days))
        command = [sys.executable, "-m", "alveus.store.verify", json.dumps(task)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        assert self._process.stdin is not None
        with self._process.stdin as pipe:
            key.hand_over(pipe.write)

    def result(self) -> Walked | None:
        """The walk, or None if the child failed: the caller then walks that piece itself."""
        out, _ = self._process.communicate()
        if self._process.returncode != 0:
            return None
        walked: Walked | None = pickle.loads(out)  # noqa: S301  (our own child's)
        return walked


class _Task(NamedTuple):
    path: str
    agent_id: str
    start: int
    stop: int
    sizes: tuple[int, ...]
    days: tuple[str, ...]


def walk_in_child(argument: str) -> None:
    """The child's side: walk bytes start..stop of a stream and write the result to standard output."""
    task = _Task(*json.loads(argument))
    key = Key(sys.stdin.buffer.read())
    with opened(DISK, Path(task.path), os.O_RDONLY | os.O_NOFOLLOW) as fd:
        pieces = lines.forwards(DISK, fd, task.start, task.stop)
        walked = walk_piece(pieces, key, task.agent_id, offset=task.start, sizes=task.sizes, days=task.days)
        sys.stdout.buffer.write(pickle.dumps(walked))


# Judging


def _fault_of(files: Files, reports: list[Report], timeout: float) -> Fault | None:
    report = reports[-1]
    fault = report.walked.fault
    if fault is None and report.walked.tail:
        fault = _torn_tail(files, report, timeout)
    return fault or judge_head(report.walked, report.head) or _check_succession(reports)


def _torn_tail(files: Files, report: Report, timeout: float) -> Fault | None:
    """An unended last line is a writer at work, unless it is still there under the lock."""
    link = report.walked.link
    log = Log(report.path, files, read_only=True, timeout=timeout, follow=lambda: None)
    try:
        with log.locked():
            line = lines.line_at(files, log.fd, link.offset)
            if files.read(log.fd, 1, link.offset + len(line)) == b"\n":
                return None
    finally:
        log.close()
    return Fault(
        code="torn_tail",
        detail=f"{report.walked.tail} bytes at the end are no whole record; the next writer sets them aside",
        chain=link.chain,
        line=link.size + 1,
        offset=link.offset,
    )


def _check_succession(reports: list[Report]) -> Fault | None:
    walked = reports[-1].walked
    before = reports[-2].walked if len(reports) > 1 else None
    opening = walked.opening
    if opening is None:
        return None if before is None or walked.link.size == 0 else _unjoined(walked, "its opening record is missing")
    if before is None:
        return _unjoined(walked, f"it continues chain {opening['prev_chain']}, which is not here")
    link = before.link
    expected = {
        "prev_chain": link.chain,
        "prev_root": before.tree.root().hex(),
        "prev_size": link.size,
        "prev_last_id": link.last_id,
    }
    if link.closing is None:
        return _unjoined(before, "it is continued by another chain but has no closing record")
    if opening != expected or link.closing["next_chain"] != walked.link.chain:
        return _unjoined(walked, "its opening record does not name the chain before as it is")
    if link.closing["next_kid"] != reports[-1].key.kid:
        return Fault(code="wrong_key", detail="the chain before was closed for another key", chain=walked.link.chain)
    return None


def _unjoined(walked: Walked, detail: str) -> Fault:
    return Fault(code="chain_break", detail=detail, chain=walked.link.chain, line=1, offset=0)


def _check_days(files: Files, layout: Layout, reports: list[Report], days: Sequence[str]) -> Fault | None:
    tallies: dict[str, DayTally] = {}
    for report in reports:
        for day, tally in report.walked.days.items():
            tallies.setdefault(day, DayTally()).extend(tally)
    for day in days:
        anchor = make_anchor(layout.agent_id, day, tallies.get(day, DayTally()))
        detail = disagreement(load_anchor(files, layout.anchors, day), anchor)
        if detail is not None:
            return Fault(code="anchor_mismatch", detail=detail)
    head = reports[-1].head
    if isinstance(head, Head) and head.closed_through is not None and head.closed_through not in days:
        return Fault(code="anchor_mismatch", detail=f"{head.closed_through} is closed, but its anchor is missing")
    return None


def _check_known(reports: list[Report], known: Sequence[Known]) -> Fault | None:
    by_chain = {report.walked.link.chain or _head_chain(report): report.walked for report in reports}
    for one in known:
        walked = by_chain.get(one.chain)
        if walked is None:
            return Fault(
                code=one.code, detail=f"{one.name} is of chain {one.chain}, which is not here", chain=one.chain
            )
        root = walked.roots.get(one.size)
        if root is None and walked.first.size < one.size <= walked.link.size:
            continue  # within what a walk from the head did not look at
        if root != one.root:
            why = "there are fewer" if one.size > walked.link.size else "their root is another"
            return Fault(code=one.code, detail=f"{one.name} counts {one.size} records: {why}", chain=one.chain)
    return None


def _head_chain(report: Report) -> str | None:
    return report.head.chain if isinstance(report.head, Head) else None


def _verdict(layout: Layout, reports: list[Report], fault: Fault | None, days: Sequence[str] = ()) -> ChainVerdict:
    last = reports[-1]
    head_size = last.head.size if isinstance(last.head, Head) else None
    return ChainVerdict(
        state=ChainState.BROKEN if fault is not None else _joint_state(reports),
        agent_id=layout.agent_id,
        size=sum(report.walked.link.size for report in reports),
        chains=tuple(_summary(report) for report in reports),
        head_size=head_size,
        open_end=max(0, last.walked.link.size - (head_size or 0)) if fault is None else 0,
        skipped=sum(report.skipped for report in reports),
        root=last.walked.tree.root().hex() if last.walked.tree.begin == 0 else None,
        gaps=BASIC_GAPS if last.walked.link.basic else (),
        days=tuple(days) if fault is None else (),
        fault=fault,
    )


def _joint_state(reports: list[Report]) -> ChainState:
    state = state_of(reports[-1].walked, reports[-1].head)
    return ChainState.OK_TO_HEAD if state is ChainState.EMPTY and len(reports) > 1 else state


def _summary(report: Report) -> ChainSummary:
    link = report.walked.link
    return ChainSummary(
        chain=link.chain or _head_chain(report),
        kid=report.key.kid,
        size=link.size,
        root=report.walked.tree.root().hex(),
        head_size=report.head.size if isinstance(report.head, Head) else None,
        closed=link.closing is not None,
    )


if __name__ == "__main__":
    walk_in_child(sys.argv[1])
