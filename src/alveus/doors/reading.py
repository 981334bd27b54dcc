"""Commands that read: log, show, load, recall, context. They take no lock and write nothing, but for `context --run`.

Every record that comes out was checked against its signature on the way; what failed is named on stderr.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, Final

import typer
from rich.text import Text

from alveus.doors import output
from alveus.doors.options import Form, Settings, settings_of
from alveus.doors.streams import text
from alveus.journal.chain import Fault
from alveus.journal.record import Kind, Novelty, SignedRecord
from alveus.recall import DayOfNovelty, Recalled, Why

KIND_STYLES: Final = {
    Kind.DECISION: "green",
    Kind.IDENTITY_CHANGE: "magenta",
    Kind.TRANSFER: "blue",
    Kind.ERROR: "red",
}
NOVELTY_STYLES: Final = {Novelty.PREDICTION_ERROR: "yellow", Novelty.ROUTINE: "dim"}
EXCERPT_LINES: Final = 12
_KIND_CELLS: Final = max(map(len, Kind))
_SOURCE_CELLS: Final = 6

Budget = Annotated[int, typer.Option("--budget", "-b", min=1, metavar="N", help="How many tokens it may take.")]
Query = Annotated[str, typer.Argument(metavar="QUERY", help="A question, or words.")]
User = Annotated[str | None, typer.Option("--user", metavar="ID", help="Only records of this user.")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only records of this session.")]
Kinds = Annotated[
    list[Kind] | None,
    typer.Option("--kind", case_sensitive=False, metavar="KIND", help="Only this kind; may be repeated."),
]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="From this day (or instant) on.")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Up to the end of this day (or instant).")]
Explain = Annotated[bool, typer.Option("--explain", help="Say of each record why it is here.")]


def log(
    call: typer.Context,
    *,
    count: Annotated[int, typer.Option("-n", min=1, metavar="N", help="How many records.")] = 20,
    everything: Annotated[bool, typer.Option("--all", help="Every record.")] = False,
    reverse: Annotated[bool, typer.Option("--reverse", help="Of those, the oldest first.")] = False,
    kind: Kinds = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="A picture instead: how novel each day was.")] = False,
) -> None:
    """List the newest records, newest first.

    On a terminal two lines each: when (UTC), kind, source and novelty; then the id and the beginning of the text. In a
    pipe one line each, its parts separated by tabs: time, kind, source, novelty, id, text.
    """
    settings = settings_of(call)
    if timeline:
        _timeline(settings, count if not everything else None, kind)
        return
    with settings.open() as memory:
        found = _newest(memory.iter_records(newest_first=True), None if everything else count, kind)
        if reverse and everything:
            found = (one for one in memory.iter_records() if not kind or one.kind in kind)
        elif reverse:
            found = reversed(list(found))
        if output.records(found, settings):
            return
        shown = 0
        for shown, one in enumerate(found, 1):  # noqa: B007
            _list(one)
        _tell_log(shown, memory.size(), filtered=bool(kind))


def _newest(records: Iterator[SignedRecord], count: int | None, kinds: list[Kind] | None) -> Iterator[SignedRecord]:
    return islice((one for one in records if not kinds or one.kind in kinds), count)


def _tell_log(shown: int, size: int, *, filtered: bool) -> None:
    if not size:
        output.talk("nothing is recorded yet: `alveus record`, or `alveus import`")
    elif not shown:
        output.talk(f"none of {output.plural(size, 'record')} is of that kind")
    elif shown < size and not filtered:
        output.talk(f"{shown:,} of {output.plural(size, 'record')}, times in UTC; `--all` lists every one")
    else:
        output.talk(f"{output.plural(shown, 'record')}, times in UTC")


def _list(record: SignedRecord) -> None:
    source = _source_of(record)
    if not output.screen().is_terminal:
        parts = (record.timestamp, record.kind, source, record.novelty, record.record_id)
        output.show("\t".join([*parts, output.one_line(record.content)]))
        return
    output.show(
        Text.assemble(
            (f"{_minute(record.timestamp)}  ", "bold"),
            (record.kind.ljust(_KIND_CELLS + 2), KIND_STYLES.get(record.kind, "")),
            (source.ljust(_SOURCE_CELLS + 2), ""),
            (record.novelty, NOVELTY_STYLES.get(record.novelty, "")),
        )
    )
    width = output.screen().width - len(record.record_id) - 4
    output.show(Text.assemble(("  " + record.record_id + "  ", "dim"), output.cut(record.content, width)))


def _source_of(record: SignedRecord) -> str:
    return record.hc.src.value if record.hc else "-"


def _minute(timestamp: str) -> str:
    return timestamp[:16].replace("T", " ")


def _timeline(settings: Settings, count: int | None, kinds: list[Kind] | None) -> None:
    """A row a day, the newest last: how many records of each novelty."""
    with settings.open() as memory:
        days = memory.timeline(kinds or None)
    shown = days if count is None else days[-count:]
    if settings.form is not Form.TEXT:
        output.document({"days": [{**output.plain(one), "day": one.day.isoformat()} for one in shown]}, settings)
        return
    _draw(shown)
    left = f"; {len(days) - len(shown)} earlier days: `--all`" if len(shown) < len(days) else ""
    output.talk("; ".join(f"{block} {name}" for name, block in _BLOCKS.items()) + f"; by the day it happened{left}")


def _draw(days: Sequence[DayOfNovelty]) -> None:
    totals = [sum(getattr(one, name) for name in _BLOCKS) for one in days]
    widest = max(totals, default=0)
    cells = (output.screen().width if output.screen().is_terminal else _PIPE_WIDTH) - _DAY_CELLS - len(f" {widest:,}")
    for one, total in zip(days, totals, strict=True):
        line = Text(f"{one.day}  ")
        for name, block in _BLOCKS.items():
            drawn = -(-getattr(one, name) * cells // (widest + len(_BLOCKS)))  # rounded up: what is there is seen
            line.append(block * drawn, NOVELTY_STYLES.get(Novelty(name), "green"))
        line.append(f" {total:,}")
        output.show(line)


_BLOCKS: Final = {"prediction_error": "█", "novel": "▓", "routine": "░"}
_DAY_CELLS: Final = len("2026-11-30  ")
_PIPE_WIDTH: Final = 80


def show(
    call: typer.Context,
    record_id: Annotated[str, typer.Argument(metavar="RECORD_ID", help="Its id: 32 hex digits, or its first 8.")],
) -> None:
    """Show one record, whole, with its place in the chain."""
    settings = settings_of(call)
    with settings.open() as memory:
        wanted = record_id.strip().lower()
        record = memory.cited(wanted) if _SHORTEST <= len(wanted) < _WHOLE else memory.get(wanted)
    if settings.form is not Form.TEXT:
        output.document({"record": record, "signature_valid": True}, settings)
        return
    output.facts(list(_facts_of(record)))
    output.show()
    output.prose(record.content)


_SHORTEST: Final = 8
_WHOLE: Final = 32
"""Digits of an id as a kernel names it, and of a whole one."""


def _facts_of(record: SignedRecord) -> Iterator[output.Row]:
    hc = record.hc
    yield "record", record.record_id
    yield "kind", Text(record.kind, KIND_STYLES.get(record.kind, ""))
    yield "source", hc.src.value if hc else "unknown: written without the signed profile"
    yield "novelty", f"{record.novelty}, judged by {hc.by}" if hc else f"{record.novelty}, unsigned"
    yield "recorded", record.timestamp + (" (the clock stood before the last record)" if hc and hc.clock else "")
    if hc:
        fields = {"happened": hc.event_time, "user": hc.user, "session": hc.session, "origin": hc.origin}
        yield from ((name, value) for name, value in fields.items() if value is not None)
        if hc.part:
            yield "part", f"{hc.part[0]} of {hc.part[1]}"
    if record.metadata:
        yield "metadata", output.compact(record.metadata)
    yield "before it", record.prev_id or "nothing: it is the first"
    if hc:
        yield "place", f"seq {hc.seq} of chain {hc.chain}"
    yield "signature", f"valid{f', key {hc.kid}' if hc else ''}: {record.signature}"


def load(
    call: typer.Context,
    *,
    budget: Budget,
    chars_per_token: Annotated[int, typer.Option(min=1, metavar="N", help="Characters counted as one token.")] = 4,
    include_routine: Annotated[bool, typer.Option("--include-routine", help="Routine records too.")] = False,
    explain: Explain = False,
) -> None:
    """Load the latest informative records that fit a budget."""
    settings = settings_of(call)
    with settings.open() as memory:
        found = memory.selective_load(budget, chars_per_token, include_routine)
    reasons = [_why_loaded(record) for record in found] if explain else []
    _tell_found(found, reasons, settings, budget=budget)


def _why_loaded(record: SignedRecord) -> str:
    judged = f"judged by {record.hc.by}" if record.hc else "unsigned"
    return f"{record.novelty}, {judged}; {output.plural(len(record.content), 'character')}"


def recall(
    call: typer.Context,
    query: Query,
    *,
    top_k: Annotated[int, typer.Option("-k", min=1, metavar="K", help="How many records at most.")] = 5,
    user: User = None,
    session: Session = None,
    kind: Kinds = None,
    since: Since = None,
    until: Until = None,
    explain: Explain = False,
) -> None:
    """Find the records most like a query, best first."""
    settings = settings_of(call)
    with settings.open() as memory:
        found = memory.pattern_completion(
            text(query), top_k, user=user, session=session, kinds=kind, since=since, until=until, explain=explain
        )
        marks = memory.marks()
    _tell_found(found, [_why(one) for one in found.why], settings, query=text(query))
    _tell_marks(marks, settings)


def _why(why: Why) -> str:
    """Why a record was recalled, on one line."""
    parts = " ".join(f"{value:+.2f} {name}" for name, value in why.parts.items() if value)
    said = [f"score {why.score:.2f} = {parts or '0'}"]
    said += [f"holds {', '.join(why.words)}"] if why.words else []
    said += [f"beside it {', '.join(why.beside)}"] if why.beside else []
    said += [f"cosine {why.cosine:.2f}"] if why.cosine is not None else []
    return "; ".join(said)


def _tell_found(found: Recalled, reasons: Sequence[str], settings: Settings, **asked: object) -> None:
    if found.why:
        asked["why"] = found.why
    told = output.records(found, settings, **asked, left_out=found.left_out, reason=found.reason, code=found.code)
    if not told:
        _entries(found, reasons)
        output.talk(found.reason or f"{output.plural(len(found), 'record')}, times in UTC")
    _warn_left_out(found.left_out)


def _tell_marks(marks: Sequence[str], settings: Settings) -> None:
    if settings.form is Form.TEXT:
        for mark in marks:
            output.talk(mark, "yellow")


def _entries(found: Iterable[SignedRecord], reasons: Sequence[str] = ()) -> None:
    for number, record in enumerate(found):
        if number:
            output.show()
        _entry(record, reasons[number] if reasons else "")


def _entry(record: SignedRecord, reason: str) -> None:
    """A record as the context pack cites it; on a terminal a long one is cut, and says so."""
    from alveus.context import render

    head, _, body = render(record).partition("\n")
    output.prose(head, "bold")
    if reason:
        output.prose(f"  {reason}", "dim")
    lines = body.split("\n")
    if output.screen().is_terminal and len(lines) > EXCERPT_LINES:
        output.prose("\n".join(lines[:EXCERPT_LINES]))
        output.show(f"… {len(lines) - EXCERPT_LINES} more lines: alveus show {record.record_id}", "dim")
    else:
        output.prose(body)


def _warn_left_out(left_out: Sequence[Fault]) -> None:
    for fault in left_out:
        output.talk(f"left out, it failed its check ({fault.code}): {fault.detail}, byte {fault.offset}", "yellow")


def context(
    call: typer.Context,
    query: Query,
    *,
    budget: Budget,
    user: User = None,
    session: Session = None,
    explain: Explain = False,
    run: Annotated[
        bool, typer.Option("--run", help="Note the question in the ledger, for `alveus settle`; needs tiers.")
    ] = False,
) -> None:
    """Fit what bears on a question into a budget, with its sources.

    As text for a model: what was recalled for the question, then what was most informative of late, then the newest
    exchange, each record cited by its id.
    """
    settings = settings_of(call)
    with settings.open(write=run) as memory:
        pack = memory.context(text(query), budget, user=user, session=session, explain=explain)
    if settings.form is not Form.TEXT:
        output.document(pack, settings)
        return
    output.block(pack.text)
    output.talk(_summary(len(pack.sources), pack.tokens, budget, len(pack.skipped)))
    if run:
        noted = f"run {pack.run_id}: say what came of it with `alveus settle`"
        output.talk(noted if pack.run_id else "no run: there are no tiers here, or a session was asked for")
    for record_id, why in pack.why.items():
        output.talk(f"{record_id}  {_why(why)}")
    if explain and pack.skipped:
        output.talk(f"did not fit: {', '.join(pack.skipped)}")
    _warn_left_out(pack.left_out)
    _tell_marks(pack.health, settings)


def _summary(sources: int, tokens: int, budget: int, skipped: int) -> str:
    more = f"; {skipped:,} more did not fit" if skipped else ""
    if not sources:
        return f"nothing in the memory bears on this, or fits {output.plural(budget, 'token')}{more}"
    return f"{output.plural(sources, 'record')}, about {tokens:,} of {budget:,} tokens{more}"
