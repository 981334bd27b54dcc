"""`alveus`, the command line: the commands by name, and how a call begins and ends.

For people an error is a sentence and what to try, on stderr. Under `--json` it is the one document on stdout, with
`code`, `message` and `hint`, so that a program that asked for a document always gets one; under `--jsonl` the same as a
line on stderr, because the lines of a stream are all of one type.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any, Final

import typer

from alveus import __version__
from alveus.doors import (
    auditing,
    caring,
    compiling,
    exporting,
    hooks,
    importing,
    output,
    proving,
    reading,
    tiering,
    writing,
)
from alveus.doors.exits import Exit, of_system, status_of
from alveus.doors.mcp import commands as mcp_commands
from alveus.doors.options import Agent, Command, Form, Group, Home, Json, Jsonl, Settings
from alveus.doors.streams import hush, prepare
from alveus.errors import AlveusError, InputError
from alveus.journal.record import DOMAIN

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

COMMANDS: Final[tuple[tuple[str, Callable[..., Any]], ...]] = (
    ("init", writing.init),
    ("record", writing.record),
    ("import", importing.import_),
    ("log", reading.log),
    ("show", reading.show),
    ("load", reading.load),
    ("recall", reading.recall),
    ("context", reading.context),
    ("verify", proving.verify),
    ("anchor", proving.anchor),
    ("export", exporting.export),
    ("rebuild", caring.rebuild),
    ("doctor", caring.doctor),
    ("agents", caring.agents),
    ("compile", compiling.compile_),
    ("digest", compiling.digest),
    ("drift", compiling.drift),
    ("promote", tiering.promote),
    ("reconcile", tiering.reconcile),
    ("facts", tiering.facts),
    ("settle", tiering.settle),
    ("audit", auditing.audit),
    ("gate", auditing.gate),
    ("metrics", auditing.metrics),
)
for _name, _function in COMMANDS:
    app.command(_name, cls=Command)(_function)
app.add_typer(caring.keys, name="keys", cls=Group)
app.add_typer(compiling.canon, name="canon", cls=Group)
app.add_typer(compiling.kernel, name="kernel", cls=Group)
app.add_typer(compiling.identity, name="identity", cls=Group)
app.add_typer(auditing.receipts, name="receipts", cls=Group)
app.add_typer(hooks.hooks, name="hooks", cls=Group)
app.add_typer(mcp_commands.mcp, name="mcp", cls=Group)


def _version(wanted: bool) -> None:  # noqa: FBT001  (Typer calls it so)
    if wanted:
        output.show(f"alveus {__version__}, journal format 1 ({DOMAIN})")
        raise typer.Exit


@app.callback()
def alveus(
    *,
    home: Home = None,
    agent: Agent = None,
    json: Json = False,
    jsonl: Jsonl = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """A signed journal for AI agents: a memory that can prove what it remembers.

    Data goes to stdout, talk to stderr. Begin with **alveus init**, then record something or import a
    transcript; ask with **recall** or **context**; **verify** proves that nothing was
    changed.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    prepare()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    settings = Settings()
    try:
        status = _run(arguments, settings)
        sys.stdout.flush()
    except BrokenPipeError:
        status = Exit.READER_GONE
    except AlveusError as error:
        status = status_of(error)
        _tell(error, settings)
    except OSError as error:
        status = Exit.ERROR
        _tell(of_system(error), settings)
    except KeyboardInterrupt:
        status = Exit.INTERRUPTED
    return _closed(status)


@cache
def _command() -> Any:
    return typer.main.get_command(app)


def _run(arguments: list[str], settings: Settings) -> int:
    try:
        return _command().main(arguments, prog_name="alveus", standalone_mode=False, obj=settings) or Exit.OK
    except typer.TyperException as error:
        if not error.format_message():  # no command: the help was shown
            return Exit.USAGE
        # What was wrong with the call may have kept --json from being seen.
        asked = next((form for form in (Form.JSON, Form.LINES) if f"--{form}" in arguments), settings.form)
        settings.form = asked
        raise _usage(error) from error


def _usage(error: typer.TyperException) -> AlveusError:
    context = getattr(error, "ctx", None)
    path = "alveus" if context is None else context.command_path
    message = " ".join(error.format_message().replace("Value error, ", "").split())  # Pydantic says so
    dashed = "; a text that begins with - goes after --" if message.startswith("No such option") else ""
    return InputError(message, code="usage", hint=f"`{path} --help`{dashed}")


def _tell(error: AlveusError, settings: Settings) -> None:
    told = {"code": error.code, "hint": error.hint, "message": error.message}
    try:
        if settings.form is Form.JSON:
            output.document(told, settings)
        elif settings.form is Form.LINES:
            sys.stderr.write(output.compact(told) + "\n")
        else:
            output.complain(error)
    except OSError:
        hush()
        output.complain(error)


def _closed(status: int) -> int:
    """Whatever is still buffered goes out now, where a failure can be kept quiet."""
    try:
        sys.stdout.flush()
    except OSError:
        hush()
        return status or Exit.ERROR
    return status


if __name__ == "__main__":
    sys.exit(main())
