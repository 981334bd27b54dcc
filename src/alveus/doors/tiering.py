"""Commands about the tiers: moving up, and looking after a run."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from alveus.doors import output
from alveus.doors.exits import Exit
from alveus.doors.options import Form, settings_of
from alveus.doors.streams import text

ABSENT: Final = "absent"


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
    for problem in done.problems:
        output.talk(problem, "yellow")


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
