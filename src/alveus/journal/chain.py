"""The chain: each record in its place. spec/journal.md, sections 4, 5 and 9.

`Link` is the end of a chain so far, and `take` the only judge of what may follow it: the writer catching up, the
verifier and the recovery all go through it. `walk` runs it over lines; a verdict is a value, whatever the bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from alveus.journal.head import Head, Tree, leaf_hash
from alveus.journal.record import MAX_LINE, Novelty
from alveus.journal.seal import Checked, Invalid, Key, check, digest

if TYPE_CHECKING:
    from alveus.journal import usual


class ChainState(StrEnum):
    """What a walk over an agent's chains can end in."""

    OK_TO_HEAD = "ok_to_head"
    OK_OPEN_END = "ok_open_end"
    EMPTY = "empty"
    BROKEN = "broken"


BASIC_GAPS: Final = (
    "gapless_sequence",
    "head",
    "novelty_signed",
    "one_chain",
    "order_of_twins",
    "previous_line_bound",
    "tail_cut_visible",
    "time_rising",
)
"""What a file without the signed profile (v1-basic) cannot promise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """The first thing that is wrong: a stable code and where it lies (line from 1, offset in bytes)."""

    code: str
    detail: str
    chain: str | None = None
    line: int | None = None
    offset: int | None = None
    seq: int | None = None
    record_id: str | None = None


@dataclass(slots=True, kw_only=True)
class Link:
    """The end of a chain: what the next record has to fit. `size` records in `offset` bytes have been taken.

    `chain` is None until a first record or a head names it, `basic` until the first record shows whether the file has
    the signed profile. `closing` is the closing record's `{next_kid, next_chain}` once one was taken.
    """

    agent_id: str
    chain: str | None = None
    size: int = 0
    offset: int = 0
    last_id: str | None = None
    last_line: str | None = None
    last_time: str = ""
    basic: bool | None = None
    closing: dict[str, str] | None = None

    def take(self, record: Checked) -> None:
        """Advance over a record that `check` accepted; raises Invalid and stays where it is if it does not follow."""
        if self.basic is None:
            self._begin(record)
        if self.basic:
            self._fits_basic(record)
        else:
            self._fits(record)
        self.advance(record.line, record.record_id, record.timestamp)
        self.closing = closing_in(record)

    def advance(self, line: bytes, record_id: str, timestamp: str) -> None:
        """Advance over a line that was made to follow."""
        self.last_id = record_id
        self.last_line = digest(line)
        self.last_time = timestamp
        self.size += 1
        self.offset += len(line) + 1

    def _begin(self, record: Checked) -> None:
        self.basic = record.chain is None and self.chain is None
        if self.chain is None:
            self.chain = record.chain

    def _fits_basic(self, record: Checked) -> None:
        if record.chain is not None:
            raise Invalid("bad_field", "metadata.hc appears in a journal that began without it")
        if record.agent_id != self.agent_id:
            raise Invalid("wrong_chain", f"the record belongs to agent {record.agent_id!r}")
        if record.prev_id != self.last_id:
            raise Invalid("chain_break", "prev_id does not name the record before")

    def _fits(self, record: Checked) -> None:
        if record.chain is None:
            raise Invalid("bad_field", "metadata.hc is missing in a journal that has it")
        if self.closing is not None:
            raise Invalid("after_closing", "the record stands after the closing record")
        if record.chain != self.chain or record.agent_id != self.agent_id:
            raise Invalid("wrong_chain", f"the record belongs to chain {record.chain} of agent {record.agent_id!r}")
        if record.prev_id != self.last_id:
            raise Invalid("chain_break", "prev_id does not name the record before")
        if record.seq != self.size:
            raise Invalid("bad_seq", f"seq is {record.seq} where {self.size} belongs")
        if record.prev_line != self.last_line:
            raise Invalid("bad_prev_line", "prev_line is not the hash of the line before")
        if record.timestamp <= self.last_time:
            raise Invalid("time_not_rising", f"{record.timestamp} does not come after {self.last_time}")

    def copy(self) -> Link:
        """A link that advances on its own."""
        return Link(
            agent_id=self.agent_id,
            chain=self.chain,
            size=self.size,
            offset=self.offset,
            last_id=self.last_id,
            last_line=self.last_line,
            last_time=self.last_time,
            basic=self.basic,
            closing=self.closing,
        )


def link_at(head: Head, agent_id: str, last_time: str) -> Link:
    """The link at a head; `last_time` is the timestamp of the head's last record ("" at size 0)."""
    return Link(
        agent_id=agent_id,
        chain=head.chain,
        size=head.size,
        offset=head.bytes,
        last_id=head.last_record_id,
        last_line=head.last_line_sha256,
        last_time=last_time,
        basic=False,
    )


def closing_of(metadata: dict[str, Any]) -> dict[str, str] | None:
    """`{next_kid, next_chain}` if that metadata closes a journal: spec/journal.md, section 9."""
    closing = metadata.get("closing")
    if type(closing) is not dict or closing.keys() != {"next_kid", "next_chain"}:
        return None
    return closing if all(type(value) is str for value in closing.values()) else None


def closing_in(record: Checked) -> dict[str, str] | None:
    """What a valid record says of closing its journal."""
    if record.kind != "identity_change" or record.chain is None:
        return None
    return closing_of(record.object()["metadata"])


def opening_of(metadata: dict[str, Any]) -> dict[str, Any] | None:
    """`{prev_chain, prev_root, prev_size, prev_last_id}` if that metadata opens a successor."""
    opening = metadata.get("opening")
    if type(opening) is not dict or opening.keys() != {"prev_chain", "prev_root", "prev_size", "prev_last_id"}:
        return None
    return opening


# Walking: spec/journal.md, section 5


@dataclass(slots=True, kw_only=True)
class DayTally:
    """One UTC day's records: what the daily anchor is made of. Ids in file order."""

    ids: list[str] = field(default_factory=list)
    novelty: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Novelty, 0))

    def add(self, novelty: str, record_id: str) -> None:
        self.ids.append(record_id)
        self.novelty[novelty] += 1

    def extend(self, later: DayTally) -> None:
        """Add the records of a later piece of the same day."""
        self.ids += later.ids
        for name, count in later.novelty.items():
            self.novelty[name] += count


@dataclass(slots=True, kw_only=True)
class Walked:
    """Where a walk came to: the link and tree at its end, roots at the sizes asked for, tallies of the days asked for.

    `first` is the link before the first record (a piece's is what that record claims). A piece has `marks`, trees at
    the sizes asked for, where a whole has `roots`. `tail` counts the bytes of an
    unterminated last line, which is not a record yet.
    """

    first: Link
    link: Link
    tree: Tree
    roots: dict[int, str] = field(default_factory=dict)
    marks: dict[int, Tree] = field(default_factory=dict)
    days: dict[str, DayTally] = field(default_factory=dict)
    first_time: str = ""
    opening: dict[str, Any] | None = None
    tail: int = 0
    fault: Fault | None = None

    def absorb(self, piece: Walked) -> bool:
        """Add the piece that was walked apart from here on; False, and nothing added, if it does not join."""
        if piece.fault is not None or not _joins(self.link, piece):
            return False
        offset = self.link.offset + piece.link.offset - piece.first.offset
        for size, tree in piece.marks.items():
            whole = self.tree.copy()
            whole.merge(tree)
            self.roots[size] = whole.root().hex()
        self.tree.merge(piece.tree)
        self.link = replace(piece.link, offset=offset)
        self.tail = piece.tail
        for day, tally in piece.days.items():
            self.days.setdefault(day, DayTally()).extend(tally)
        return True

    def go_on(self, lines: Iterable[bytes], key: Key, *, sizes: Collection[int], days: Collection[str]) -> None:
        """Walk `lines`, which begin at `link.offset`, from here on."""
        _walk_on(self, lines, key, frozenset(sizes), frozenset(days))


def walk(
    lines: Iterable[bytes],
    key: Key,
    link: Link,
    *,
    tree: Tree | None = None,
    sizes: Collection[int] = (),
    days: Collection[str] = (),
) -> Walked:
    """Judge `lines` (each with its LF, read in order from `link.offset`) and stop at the first fault.

    `sizes` are record counts whose root the caller needs, `days` UTC days whose tally it needs. Never raises for bad
    data; memory follows `days`, not the journal.
    """
    walked = Walked(first=link.copy(), link=link, tree=tree if tree is not None else Tree(link.size))
    wanted = frozenset(sizes)
    _note_root(walked, wanted)
    return _walk_on(walked, lines, key, wanted, frozenset(days))


def walk_piece(
    lines: Iterable[bytes],
    key: Key,
    agent_id: str,
    *,
    offset: int,
    sizes: Collection[int] = (),
    days: Collection[str] = (),
) -> Walked | None:
    """As `walk`, from the middle: the first line's own claims stand for what came before, until `absorb` joins them.

    None if the first line cannot say where it stands.
    """
    lines = iter(lines)
    first = next(lines, None)
    try:
        record = None if first is None or not first.endswith(b"\n") else check(first[:-1], key)
    except Invalid:
        return None
    if first is None or record is None or record.chain is None or record.seq is None:
        return None
    claimed = Link(
        agent_id=agent_id,
        chain=record.chain,
        size=record.seq,
        offset=offset,
        last_id=record.prev_id,
        last_line=record.prev_line,
        basic=False,
    )
    walked = Walked(first=claimed.copy(), link=claimed, tree=Tree(claimed.size), first_time=record.timestamp)
    return _walk_on(walked, _again(first, lines), key, frozenset(sizes), frozenset(days))


def _walk_on(walked: Walked, lines: Iterable[bytes], key: Key, sizes: frozenset[int], days: frozenset[str]) -> Walked:
    from alveus.journal import usual  # noqa: PLC0415  (its patterns are compiled for whoever walks, not to open)

    link, tree, lines = walked.link, walked.tree, iter(lines)
    record: Checked | None = None
    try:
        while True:
            record, raw = None, None
            if link.basic is False and link.last_id is not None and link.closing is None:
                until = min((size for size in sizes if size > link.size), default=_NEVER)
                raw = usual.run(lines, link, key, tree, until=until, tally=_tally(walked, days))
                _note_root(walked, sizes)
                if raw is None and link.size == until:
                    continue
            raw = raw if raw is not None else next(lines, None)
            if raw is None:
                break
            if not raw.endswith(b"\n"):
                if len(raw) > MAX_LINE:
                    raise Invalid("not_canonical", f"the line is longer than {MAX_LINE} bytes")
                walked.tail = len(raw)
                break
            record = check(raw[:-1], key)
            link.take(record)
            tree.append(leaf_hash(record.line))
            if link.size == 1:
                walked.opening = opening_of(record.object()["metadata"])
            _note_root(walked, sizes)
            if record.timestamp[:10] in days:
                walked.days.setdefault(record.timestamp[:10], DayTally()).add(record.novelty, record.record_id)
    except Invalid as invalid:
        walked.fault = _fault(invalid, link, record)
    return walked


_NEVER: Final = 1 << 62


def _note_root(walked: Walked, sizes: frozenset[int]) -> None:
    size = walked.link.size
    if size in sizes and walked.tree.begin == 0:
        walked.roots[size] = walked.tree.root().hex()
    elif size in sizes:
        walked.marks[size] = walked.tree.copy()


def _tally(walked: Walked, days: frozenset[str]) -> usual.Tally | None:
    if not days:
        return None

    def tally(day: str, novelty: str, record_id: str) -> None:
        if day in days:
            walked.days.setdefault(day, DayTally()).add(novelty, record_id)

    return tally


def _fault(invalid: Invalid, link: Link, record: Checked | None) -> Fault:
    return Fault(
        code=invalid.code,
        detail=invalid.detail,
        chain=link.chain,
        line=link.size + 1,
        offset=link.offset,
        seq=None if record is None else record.seq,
        record_id=None if record is None else record.record_id,
    )


def _joins(link: Link, piece: Walked) -> bool:
    first = piece.first
    return (
        link.closing is None
        and (link.chain, link.size, link.last_id, link.last_line)
        == (first.chain, first.size, first.last_id, first.last_line)
        and link.last_time < piece.first_time
    )


def _again(first: bytes, rest: Iterable[bytes]) -> Iterable[bytes]:
    yield first
    yield from rest


# The verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSummary:
    """One chain of an agent, as far as it was walked."""

    chain: str | None
    kid: str
    size: int
    root: str
    head_size: int | None
    closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainVerdict:
    """What a verification found: spec/journal.md, section 5. Only `broken` has a `fault`.

    `size` counts the records found valid, all chains together; `open_end` those that follow the head, among which a
    cut cannot be seen; `skipped` those a walk from the head did not look at. `gaps` names promises a v1-basic file
    cannot keep. `days` are the closed days and checkpoints that were recomputed.
    """

    state: ChainState
    agent_id: str
    size: int
    chains: tuple[ChainSummary, ...]
    head_size: int | None = None
    open_end: int = 0
    skipped: int = 0
    root: str | None = None
    gaps: tuple[str, ...] = ()
    days: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: Fault | None = None

    def __bool__(self) -> bool:
        """Whether the chain is whole."""
        return self.state is not ChainState.BROKEN


def judge_head(walked: Walked, head: Head | Fault) -> Fault | None:
    """What the head says against a walk from the beginning or from that head; None if they agree."""
    link = walked.link
    if link.basic:
        return None if _is_missing(head) else _bad("bad_head", "a head stands beside a file without the profile", link)
    if isinstance(head, Fault):
        return replace(head, chain=link.chain)
    if link.chain is not None and head.chain != link.chain:
        return _bad("bad_head", f"the head belongs to chain {head.chain}", link)
    if link.size < head.size:
        return _bad("short_of_head", f"{link.size} records where the head counts {head.size}", link)
    if walked.roots.get(head.size) != head.root:
        return _bad("fork_of_head", f"the first {head.size} records are not those of the head", link)
    return None


def state_of(walked: Walked, head: Head | Fault) -> ChainState:
    """The state of a chain that has no fault."""
    if isinstance(head, Fault):
        return ChainState.OK_OPEN_END
    if walked.link.size > head.size:
        return ChainState.OK_OPEN_END
    return ChainState.OK_TO_HEAD if head.size else ChainState.EMPTY


def _is_missing(head: Head | Fault) -> bool:
    return isinstance(head, Fault) and head.code == "head_missing"


def _bad(code: str, detail: str, link: Link) -> Fault:
    return Fault(code=code, detail=detail, chain=link.chain, line=link.size, offset=link.offset)
