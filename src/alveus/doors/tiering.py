"""Commands about the tiers: moving up, what is known, and looking after a run."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from alveus.audit.receipt import Outcome
from alveus.doors import output
from alveus.doors.exits import Exit
from alveus.doors.options import Form, settings_of
from alveus.doors.streams import text

if TYPE_CHECKING:
    from alveus.tiers.lpm import Fact

ABSENT: Final = "absent"
_NOTHING_KNOWN: Final = "nothing is known of them yet: facts are learnt of what moved up, by `alveus promote`"
User = Annotated[
    str | None, typer.Option("--user", metavar="ID", show_default=False, help="Whose; else of nobody in particular.")
]


def facts(
    call: typer.Context,
    *,
    user: User = None,
    history: Annotated[
        bool, typer.Option("--history", help="Also what was replaced, only repeats, or had no more room.")
    ] = False,
) -> None:
    """List what is known of a user and of the assistant with them: since when, and by which records.

    A fact that was replaced says by which one; nothing is forgotten, since each rests on records of the journal.
    """
    settings = settings_of(call)
    with settings.open() as memory:
        found = memory.facts(None if user is None else text(user), history=history)
    if settings.form is Form.JSON:
        told = {"facts": [*map(_fact, found.facts)], "left_out": list(found.left_out), "reasons": list(found.reasons)}
        output.document(told, settings)
        return
    for fact in found.facts:
        if settings.form is Form.LINES:
            output.document(_fact(fact), settings)
        else:
            day = datetime.fromtimestamp(fact.since, UTC).date()
            columns = (str(day), fact.subject, fact.shelf, _standing(fact), fact.text, ", ".join(fact.sources))
            output.show(output.printable("\t".join(columns)))
    for fault in found.left_out:
        output.talk(f"left out: {fault.detail}", "yellow")
    if not (found.facts or found.left_out):
        for sentence in [reason.text for reason in found.reasons] or [_NOTHING_KNOWN]:
            output.talk(sentence, "yellow")


def _fact(fact: Fact) -> dict[str, Any]:
    return {**asdict(fact), "stands": fact.stands}


def _standing(fact: Fact) -> str:
    """Whether it is held to be true now, and if not, why not."""
    if fact.restates is not None:
        return "repeats"
    if fact.superseded_by is not None:
        return "replaced"
    return "stands" if fact.kept else "no room"


def promote(
    call: typer.Context,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="ID", show_default=False, help="Whose pages; else of nobody in particular."),
    ] = None,
) -> None:
    """Move what is due from STM to MTM, and what is hot there to LPM.

    Nothing is moved twice or deleted. A model that fails costs its summary only; the next call asks it again.
    """
    settings = settings_of(call)
    with settings.open(write=True) as memory:
        done = memory.promote(None if user is None else text(user))
    if settings.form is not Form.TEXT:
        output.document(done, settings)
        return
    output.facts(
        [
            ("moved", f"{output.plural(done.pages, 'page')} to {output.plural(done.segments, 'segment')}"),
            ("learnt", output.plural(done.facts, "fact")),
            ("waiting", f"{output.plural(done.waiting, 'page')} in STM"),
        ]
    )
    if done.mended:
        output.talk(f"{output.plural(done.mended, 'page')} summarised that had been moved without the model")
    if done.degraded:
        output.talk(f"{output.plural(done.degraded, 'page')} moved without the model: promote again", "yellow")
    for problem in (*done.problems, *(reason.text for reason in done.reasons)):
        output.talk(problem, "yellow")


def settle(
    call: typer.Context,
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run of a question, as `context --run` or `receipts ls` names it.")
    ],
    kind: Annotated[
        Outcome, typer.Argument(metavar="CHECK", case_sensitive=False, help="What was checked: " + ", ".join(Outcome))
    ],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A hash, an id; passed, failed; found, missing.")],
) -> None:
    """Say what came of an answer, by something that a machine can check again.

    Until then the audit calls the answer unverified. A run is settled once.
    """
    settings = settings_of(call)
    with settings.open(write=True) as memory:
        made = memory.settle(text(run), {"type": kind, "value": text(value)})
    if settings.form is not Form.TEXT:
        output.document({"passed": made.passed, "run_id": text(run), "type": made.type, "value": made.value}, settings)
    else:
        output.talk("settled: the check passed" if made.passed else "settled: the check did not pass")


def reconcile(
    call: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, as receipts name it.")],
) -> None:
    """Look for a run at its destination, and write the receipts it lacks.

    Nothing is done again: what is not there is planned anew by `promote`.
    """
    settings = settings_of(call)
    with settings.open(write=True) as memory:
        done = memory.reconcile(text(run))
    if settings.form is not Form.TEXT:
        output.document(done._asdict(), settings)
    else:
        output.facts(
            [("run", done.run_id), ("boundary", done.boundary), ("version", str(done.version)), ("state", done.state)]
        )
        for status in done.written:
            output.talk(f"the receipt {status} was missing, and is written")
        if done.state == ABSENT:
            output.talk("it is not at its destination: `alveus promote` plans it again", "yellow")
    if done.state == ABSENT:
        raise typer.Exit(Exit.ERROR)
