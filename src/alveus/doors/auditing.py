"""Commands about receipts: audit, receipts, metrics; spec/audit.md. They read the ledger and take no lock.

Green means lineage, scope, freshness and a checked outcome, and no more: the verdict says so where it is green.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from alveus.doors import output
from alveus.doors.exits import Exit
from alveus.doors.options import Command, Form, Group, settings_of
from alveus.doors.streams import text
from alveus.doors.telemetry import To
from alveus.errors import JournalError, NotFound

if TYPE_CHECKING:
    from alveus.audit.receipt import Receipt

receipts = typer.Typer(
    cls=Group, no_args_is_help=True, rich_markup_mode="markdown", help="Show what the ledger of receipts holds."
)


User = Annotated[str | None, typer.Option("--user", metavar="ID", show_default=False, help="Only this user.")]
Run = Annotated[str | None, typer.Option("--run", metavar="RUN", show_default=False, help="Only this run.")]


def audit(
    call: typer.Context,
    *,
    user: User = None,
    run: Run = None,
    waiting_ok: Annotated[
        bool, typer.Option("--waiting-ok", help="Exit status 0 too where pages only wait for their turn.")
    ] = False,
) -> None:
    """Say how the memory of each user is, with the evidence.

    Judges the receipts of storing, moving, retrieving and answering. Exit status 0: every lane is healthy; 5: one is
    not. Pages that wait in STM are not green.
    """
    from alveus.doors import health

    settings = settings_of(call)
    agent = settings.layout().agent_id
    asked = None if user is None else text(user)
    found = list(health.of_ledger(settings, agent, asked))
    lanes = list(health.judged(found, agent, asked, run, datetime.now(UTC)))
    if settings.form is Form.JSON:
        output.document(
            {"agent_id": agent, "healthy": health.all_green(lanes), "lanes": [*map(health.lane_json, lanes)]}, settings
        )
    elif settings.form is Form.LINES:
        for lane in lanes:
            output.document(health.lane_json(lane), settings)
    else:
        for lane in lanes:
            output.facts(health.lane_rows(lane))
    if not health.passes(lanes, waiting_ok=waiting_ok):
        raise typer.Exit(Exit.GATE)


# Receipts


@receipts.command("ls", cls=Command)
def ls(call: typer.Context, *, user: User = None) -> None:
    """List the receipts, oldest first: time, run, boundary, status, version, user."""
    from alveus.doors import health

    settings = settings_of(call)
    health.list_receipts(health.asked_for(settings, user), settings)


@receipts.command("show", cls=Command)
def show(call: typer.Context, *, run: Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]) -> None:
    """Show the receipts of one run, whole."""
    from alveus.audit.receipt import as_json
    from alveus.doors import health

    settings = settings_of(call)
    wanted = text(run)
    found = [receipt for receipt in health.of_ledger(settings, settings.layout().agent_id) if receipt.run_id == wanted]
    if not found:
        raise NotFound(f"there is no receipt of run {wanted!r}", hint="`alveus receipts ls` lists the runs")
    if settings.form is not Form.TEXT:
        health.list_receipts(found, settings)
        return
    for number, receipt in enumerate(found):
        if number:
            output.show()
        output.facts([(name, health.plainly(value)) for name, value in as_json(receipt).items()])


@receipts.command("export", cls=Command)
def export(call: typer.Context, *, user: User = None) -> None:
    """Give the receipts as CloudEvents, one JSON a line; under --json as one batch."""
    from alveus.doors import health

    settings = settings_of(call)
    source = health.source_of(settings.layout().agent_id)
    events = (health.cloud_event(receipt, source) for receipt in health.asked_for(settings, user))
    if settings.form is Form.JSON:
        output.document(list(events), settings)
        return
    for event in events:
        output.raw(output.compact(event).encode() + b"\n")


@receipts.command("otel", cls=Command)
def otel(
    call: typer.Context,
    *,
    user: User = None,
    to: Annotated[
        To, typer.Option("--to", metavar="WHERE", show_default=True, help="`otlp`, a collector; or `console`.")
    ] = To.OTLP,
) -> None:
    """Send the receipts to OpenTelemetry: a span a run, an event a receipt, counts.

    The variables OTEL_… say where to; no name of a user leaves the machine. What is sent again is the same spans. Needs
    the extra `otel`.
    """
    from alveus.doors import health, telemetry

    settings = settings_of(call)
    sent = telemetry.send(health.asked_for(settings, user), to)
    if to is To.CONSOLE:
        return
    if settings.form is Form.TEXT:
        output.show(f"{output.plural(sent, 'run')} sent")
    else:
        output.document({"runs": sent}, settings)


def metrics(call: typer.Context) -> None:
    """Give counts and states in Prometheus's text format.

    No label names a user, a run or a version. Where the ledger is damaged, `alveus_ledger_whole` is 0 and nothing else
    is said; exit status 4.
    """
    from alveus.doors import health

    settings = settings_of(call)
    agent = settings.layout().agent_id
    found: list[Receipt] | None = None
    with suppress(JournalError):
        found = list(health.of_ledger(settings, agent))
    now = datetime.now(UTC)
    samples = [] if found is None else list(health.measured(found, list(health.judged(found, agent, None, None, now))))
    samples.append(
        health.Sample("alveus_ledger_whole", "gauge", "Whether every line of the ledger is valid.", {}, bool(samples))
    )
    if settings.form is Form.TEXT:
        output.raw(health.prometheus(samples).encode())
    else:
        output.document([{"labels": one.labels, "name": one.name, "value": one.value} for one in samples], settings)
    if found is None:
        raise typer.Exit(Exit.BROKEN)


# The gate


def gate(
    call: typer.Context,
    *,
    target: Annotated[
        str,
        typer.Option("--target", metavar="TARGET", help="`self`, `memoryos:PATH` or `mem0:MODULE:NAME`."),
    ] = "self",
) -> None:
    """Put a memory system through seven steps with a fresh canary.

    Each target runs in a process of its own. Exit status 0: every step holds; 5: one does not.
    """
    from alveus.doors.adapters.table import check_target
    from alveus.doors.gate import pass_through, rows

    settings = settings_of(call)
    wanted = text(target)
    check_target(wanted)
    passed = pass_through(wanted, lambda: datetime.now(UTC))
    if settings.form is Form.TEXT:
        output.facts(rows(passed))
    elif settings.form is Form.JSON:
        output.document(passed, settings)
    else:
        for step in passed.steps:
            output.document(step, settings)
    if not passed.holds:
        raise typer.Exit(Exit.GATE)
