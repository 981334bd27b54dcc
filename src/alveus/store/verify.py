"""Verification over files: every chain of an agent in succession, in as many processes as are wanted.

The judging is `journal.chain`'s; here bytes are found, cut into pieces at line ends, and handed to it. The head is
read before the stream, so that a writer at work cannot make a whole journal look broken.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from alveus.errors import Locked
from alveus.journal.anchor import make_anchor
from alveus.journal.chain import (
    BASIC_GAPS,
    ChainState,
    ChainSummary,
    ChainVerdict,
    DayTally,
    Fault,
    Link,
    Walked,
    closing_in,
    judge_head,
    link_at,
    opening_of,
    state_of,
    walk,
)
from alveus.journal.head import Head, Tree
from alveus.journal.seal import Invalid, Key, check, digest
from alveus.store import lines
from alveus.store.anchors import closed_days, disagreement, load_anchor
from alveus.store.files import Files, opened
from alveus.store.heads import load_head
from alveus.store.keys import KeyRing
from alveus.store.layout import Layout
from alveus.store.log import Log
from alveus.store.succession import closed_streams
from alveus.store.verify_piece import Task

SMALLEST_PIECE: Final = 4 << 20
WHILE_STARTING: Final = 6 << 20
"""Bytes that are walked here while a child starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A root that was noted elsewhere or earlier: the first `size` records of `chain` hash to `root` (hex).

    A note that cannot be believed has no root, and its `name` says why.
    `unchecked` where there was no key to check its signature with.
    """

    name: str
    code: str
    chain: str
    size: int
    root: str
    unchecked: bool = False


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
    sizes = tuple(sorted({one.size for one in known}))
    walker = _Walker(files, layout.agent_id, sizes, tuple(days), since_head=since_head, jobs=jobs)
    reports: list[Report] = []
    for path, key in _chains(files, layout, ring):
        reports.append(walker.walk_file(path, key))
        fault = _fault_of(files, reports, timeout)
        if fault is not None:
            return _verdict(layout, reports, fault)
    fault = None if since_head else _check_days(files, layout, reports, days)
    verdict = _verdict(layout, reports, fault or _check_known(reports, known), () if since_head else days)
    unchecked = tuple(
        f"the signature of {one.name} was not checked: its key is not here" for one in known if one.unchecked
    )
    return replace(verdict, notes=unchecked)


def _chains(files: Files, layout: Layout, ring: KeyRing) -> Iterator[tuple[Path, Key]]:
    """Every stream of the agent, first to last, whether or not it can be believed; the live one under the live key."""
    for closed in closed_streams(files, layout):
        yield closed.path, ring.named(closed.kid) or ring.current
    yield layout.stream, ring.current


# Walking files, whole, from the head, or in pieces


def _regular_size(files: Files, fd: int) -> int:
    status = files.status(fd)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    return status.st_size


class _Walker:
    """How this verification walks: what roots and days it needs, and in how many processes."""

    def __init__(
        self,
        files: Files,
        agent_id: str,
        sizes: tuple[int, ...],
        days: tuple[str, ...],
        *,
        since_head: bool,
        jobs: int,
    ) -> None:
        self._files = files
        self._agent_id = agent_id
        self._sizes = sizes
        self._days = days
        self._since_head = since_head
        self._jobs = jobs

    def walk_file(self, path: Path, key: Key) -> Report:
        """One chain. The head is read first."""
        head = load_head(self._files, path, key)
        try:
            with opened(self._files, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK) as fd:
                end = _regular_size(self._files, fd)
                if self._since_head and isinstance(head, Head) and 0 < head.bytes <= end:
                    return self._from_head(path, key, fd, end, head=head)
                sizes = {*self._sizes, head.size} if isinstance(head, Head) else {*self._sizes}
                piece = Task(str(path), self._agent_id, 0, end, tuple(sizes), self._days)
                in_pieces = self._jobs > 1 and end >= WHILE_STARTING + 2 * SMALLEST_PIECE
                walked = self._in_pieces(piece, key, fd) if in_pieces else self._whole(piece, key, fd)
        except OSError as error:
            code = "stream_missing" if isinstance(error, FileNotFoundError) else "stream_unreadable"
            link = Link(agent_id=self._agent_id)
            fault = Fault(code=code, detail=f"{path}: {error.strerror}", offset=0)
            walked = Walked(first=link, link=link, tree=Tree(), fault=fault)
        return Report(path=path, key=key, head=head, walked=walked)

    def _from_head(self, path: Path, key: Key, fd: int, end: int, *, head: Head) -> Report:
        """`--since-head`: the last record before the head has to be the head's; nothing before it is looked at."""
        link = link_at(head, self._agent_id, "")
        line = lines.last_line(self._files, fd, head.bytes)
        try:
            if line is None or digest(line) != head.last_line_sha256:
                raise Invalid("fork_of_head", "the record the head ends with is not there")
            last = check(line, key)
            link.last_time, link.closing = last.timestamp, closing_in(last)
        except Invalid as invalid:
            fault = Fault(code=invalid.code, detail=invalid.detail, chain=head.chain, line=head.size, offset=head.bytes)
            walked = Walked(first=link.copy(), link=link, tree=head.tree(), fault=fault)
        else:
            rest = lines.forwards(self._files, fd, head.bytes, end)
            walked = walk(rest, key, link, tree=head.tree(), sizes={head.size, *self._sizes})
            walked.opening = self._opening(fd, key)
        return Report(path=path, key=key, head=head, walked=walked, skipped=head.size)

    def _opening(self, fd: int, key: Key) -> dict[str, object] | None:
        """What the first record says of a chain before; it is not judged, as nothing before the head is."""
        with contextlib.suppress(Invalid):
            return opening_of(check(lines.line_at(self._files, fd, 0), key).object()["metadata"])
        return None

    def _whole(self, piece: Task, key: Key, fd: int) -> Walked:
        every = lines.forwards(self._files, fd, piece.start, piece.stop)
        return walk(every, key, Link(agent_id=self._agent_id), sizes=piece.sizes, days=piece.days)

    def _in_pieces(self, whole: Task, key: Key, fd: int) -> Walked:
        """Pieces are walked apart and joined in order; one that does not join is walked again here, to say why."""
        cuts = self._cuts(fd, whole.stop)
        pieces = [whole._replace(start=start, stop=stop) for start, stop in pairwise(cuts)]
        children = [_Child(piece, key) for piece in pieces[1:]]
        walked = self._whole(pieces[0], key, fd)
        for child, piece in zip(children, pieces[1:], strict=True):
            apart = child.result()
            if walked.fault is not None or (apart is not None and walked.absorb(apart)):
                continue
            rest = lines.forwards(self._files, fd, walked.link.offset, piece.stop)
            walked.go_on(rest, key, sizes=piece.sizes, days=piece.days)
        return walked

    def _cuts(self, fd: int, end: int) -> list[int]:
        """Byte offsets from 0 to `end` where lines begin, for about `jobs` pieces, the first, which is ours, longer."""
        cuts, share = [0], (end - WHILE_STARTING) // self._jobs
        for number in reversed(range(1, self._jobs)):
            at = end - share * number
            cut = at + len(lines.line_at(self._files, fd, at)) + 1
            if cuts[-1] < cut < end:
                cuts.append(cut)
        return [*cuts, end]


class _Child:
    """A process that walks one piece. It is given the key on its standard input, and nothing else secret."""

    def __init__(self, task: Task, key: Key) -> None:
        command = [sys.executable, "-m", "alveus.store.verify_piece", json.dumps(task)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        if self._process.stdin is not None:
            with self._process.stdin as pipe:
                key.hand_over(pipe.write)
            self._process.stdin = None

    def result(self) -> Walked | None:
        """The walk, or None if the child failed: the caller then walks that piece itself."""
        out, _ = self._process.communicate()
        if self._process.returncode != 0:
            return None
        walked: Walked | None = pickle.loads(out)  # noqa: S301  (our own child's; no key is in it)
        return walked


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
        with contextlib.suppress(Locked), log.locked():  # a writer at work: a reader ignores what it has not ended
            line = lines.line_at(files, log.fd, link.offset)
            if files.read(log.fd, 1, link.offset + len(line)) != b"\n":
                return Fault(
                    code="torn_tail",
                    detail=f"{report.walked.tail} bytes at the end are no whole record; a writer will set them aside",
                    chain=link.chain,
                    line=link.size + 1,
                    offset=link.offset,
                )
        return None
    finally:
        log.close()


def _check_succession(reports: list[Report]) -> Fault | None:
    """Section 9: whether a chain begins where the one before it ended, or is the first."""
    report = reports[-1]
    walked, opening = report.walked, None if report.walked.link.basic else report.walked.opening
    if len(reports) == 1:
        missing = opening and _unjoined(walked, f"it continues chain {opening['prev_chain']}, which is not here")
        return missing or None
    before = reports[-2].walked
    closing = before.link.closing
    if closing is None:
        return _unjoined(walked, "a chain before it has no closing record")
    if closing["next_kid"] != report.key.kid:
        return _unjoined(walked, "the chain before was closed for another key", code="wrong_key")
    if closing["next_chain"] != (walked.link.chain or _head_chain(report)):
        return _unjoined(walked, "the chain before was closed for another chain", code="wrong_chain")
    if walked.link.size and not _opens(opening, before):
        return _unjoined(walked, "its opening record does not name the chain before as it is")
    return None


def _opens(opening: dict[str, Any] | None, before: Walked) -> bool:
    link = before.link
    size = None if opening is None else opening["prev_size"]
    return type(size) is int and opening == {  # true equals 1
        "prev_chain": link.chain,
        "prev_root": before.tree.root().hex(),
        "prev_size": link.size,
        "prev_last_id": link.last_id,
    }


def _unjoined(walked: Walked, detail: str, code: str = "chain_break") -> Fault:
    return Fault(code=code, detail=detail, chain=walked.link.chain, line=1, offset=0)


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
    closed = head.closed_through if isinstance(head, Head) else None
    if closed is not None and closed not in days and closed not in closed_days(files, layout.anchors):
        return Fault(code="anchor_mismatch", detail=f"{closed} is closed, but its anchor is missing")
    return None


def _check_known(reports: list[Report], known: Sequence[Known]) -> Fault | None:
    by_chain = {report.walked.link.chain or _head_chain(report): report.walked for report in reports}
    for one in known:
        walked = by_chain.get(one.chain)
        if not one.root:
            return Fault(code=one.code, detail=one.name, chain=one.chain or None)
        if walked is None:
            return Fault(
                code=one.code, detail=f"{one.name} is of chain {one.chain}, which is not here", chain=one.chain
            )
        if one.size < walked.first.size:
            continue  # within what a walk from the head did not look at
        if walked.roots.get(one.size) != one.root:
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
