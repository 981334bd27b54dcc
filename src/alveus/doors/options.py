"""The options every command has, before its name and after it: implemented once, for all commands.

They are declared on the root command. `Everywhere` lends them to every other command, and whatever a command line gave
is gathered in one `Settings`; where an option is given twice, the later one counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from alveus.doors.exits import Exit
from alveus.doors.streams import hush, text
from alveus.errors import InputError

if TYPE_CHECKING:
    from alveus.hippocampus import Hippocampus
    from alveus.store.layout import Layout

LOCK_TIMEOUT: Final = 10.0
_PANEL: Final = "Options of every command, before or after its name"


class Form(StrEnum):
    """In what form data is wanted."""

    TEXT = "text"
    JSON = "json"
    LINES = "jsonl"


@dataclass(slots=True, kw_only=True)
class Settings:
    """What the shared options said."""

    home: str | None = None
    agent: str | None = None
    form: Form = Form.TEXT

    def take(self, name: str, value: Any) -> None:
        """Note what was given for a shared option; None and False mean that it was not given."""
        if value is None or value is False:
            return
        if name in ("home", "agent"):
            if not value:
                raise InputError(f"--{name} is empty", hint="name one, or leave the option away")
            setattr(self, name, value)
            return
        form = Form(name)
        if self.form not in (Form.TEXT, form):
            raise InputError("--json and --jsonl exclude each other", hint="give one of them")
        self.form = form

    def find_home(self) -> Path:
        """The home. Raises InputError where there is none, or where something else has its name."""
        from alveus.hippocampus import find_home

        home = find_home(self.home)
        if home.exists() and not home.is_dir():
            raise InputError(f"the home {home} is not a folder", hint="name a folder with --home or ALVEUS_HOME")
        return home

    def layout(self) -> Layout:
        """Where the agent's files lie."""
        from alveus.hippocampus import find_agent
        from alveus.store.layout import make_layout

        return make_layout(self.find_home(), text(find_agent(self.agent)))

    def open(self, *, write: bool = False, create: bool = False, existing_key: bool = False) -> Hippocampus:
        """The agent's memory. Raises NotFound where there is none and `create` is false."""
        from alveus.hippocampus import Hippocampus

        layout = self.layout()
        return Hippocampus.open(
            home=layout.home,
            agent_id=layout.agent_id,
            create=create,
            existing_key=existing_key,
            read_only=not write,
            lock_timeout=LOCK_TIMEOUT,
        )


def settings_of(context: typer.Context) -> Settings:
    """The settings of this call."""
    return context.ensure_object(Settings)


Home = Annotated[
    str | None,
    typer.Option(
        "--home",
        metavar="DIR",
        show_default=False,
        rich_help_panel=_PANEL,
        help="Where agents and keys lie (ALVEUS_HOME, else the user's data folder).",
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="ID",
        show_default=False,
        rich_help_panel=_PANEL,
        help="Whose memory (ALVEUS_AGENT, else `default`).",
    ),
]
Json = Annotated[bool, typer.Option("--json", rich_help_panel=_PANEL, help="One JSON document on stdout.")]
Jsonl = Annotated[bool, typer.Option("--jsonl", rich_help_panel=_PANEL, help="One JSON document a line, as it comes.")]

SHARED: Final = ("home", "agent", "json", "jsonl")
"""The names of the options above, as the root command declares them."""

if TYPE_CHECKING:
    _Base = TyperCommand
else:
    _Base = object


def _shown_type(param: Any) -> Callable[..., str | None]:
    """What the help says a value is: our word for it, not Python's, and nothing for what takes none."""
    return lambda ctx: param.metavar if param.param_type_name == "option" else None  # noqa: ARG005


class Everywhere(_Base):
    """Lends the root's shared options to a command, and ends it quietly when nobody reads its output."""

    def get_params(self, ctx: Any) -> list[Any]:
        own: list[Any] = super().get_params(ctx)
        for param in own:
            param.display_type_rich = _shown_type(param)
        if ctx.parent is None:
            return own
        return own + [param for param in ctx.find_root().command.params if param.name in SHARED]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        for name in SHARED:
            ctx.ensure_object(Settings).take(name, ctx.params.pop(name, None))
        return rest

    def invoke(self, ctx: Any) -> Any:
        try:
            value = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            hush()
            raise typer.Exit(Exit.READER_GONE) from None
        return value


class Command(Everywhere, TyperCommand):
    """A command."""


class Group(Everywhere, TyperGroup):
    """A command with commands of its own."""
