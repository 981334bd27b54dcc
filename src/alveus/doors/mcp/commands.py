"""The command that starts the server: `alveus mcp serve`. Talk goes to stderr; stdout belongs to the protocol."""

from __future__ import annotations

import gc
from importlib.util import find_spec
from typing import Annotated, Final

import typer

from alveus.doors import output
from alveus.doors.options import Command, Group, settings_of
from alveus.doors.streams import text
from alveus.errors import InputError, NotFound

PORT: Final = 8377

mcp = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Serve the memory to agents over the Model Context Protocol.",
)

User = Annotated[
    str | None,
    typer.Option("--user", metavar="ID", show_default=False, help="Show and record only what is of this user."),
]
Session = Annotated[
    str | None, typer.Option("--session", metavar="ID", show_default=False, help="The session of what is recorded.")
]
Http = Annotated[bool, typer.Option("--http", help="Over HTTP on this machine, with a token, instead of stdio.")]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, metavar="N", help="The port for --http; 0: any free one.")
]


@mcp.callback()
def group() -> None:
    """Serve the memory to agents over the Model Context Protocol."""


@mcp.command("serve", cls=Command)
def serve(
    call: typer.Context, *, user: User = None, session: Session = None, http: Http = False, port: Port = PORT
) -> None:
    """Serve one agent's memory until the client leaves, or a signal comes.

    Whose memory it is, is settled here: no call can name another agent or user. Over stdio for the program that starts
    this; with --http on 127.0.0.1 for whoever has the token (ALVEUS_MCP_TOKEN, else `mcp.token` in the home).
    """
    settings = settings_of(call)
    if find_spec("mcp") is None:
        raise InputError("the extra `mcp` is not installed", code="no_extra", hint="pip install 'alveus[mcp]'")
    from alveus.doors.mcp.room import Room

    room = Room(settings, user=None if user is None else text(user), session=None if session is None else text(session))
    layout = room.layout  # a name that cannot be is told before anything is served
    gc.disable()  # importing the SDK makes what stays: looking for garbage in it takes a fifth of the start
    from alveus.doors.mcp import transports

    gc.enable()
    gc.freeze()
    if not http:
        transports.serve_stdio(room)
        return
    if not layout.home.is_dir():
        raise NotFound(f"there is no home {layout.home}", hint="`alveus init` makes one; check --home")
    token, where = transports.find_token(layout.home)
    listening = transports.listen(port)
    host, taken = listening.getsockname()
    said = f"serving agent {layout.agent_id} on http://{host}:{taken}{transports.PATH}; the bearer token: {where}"
    transports.serve_http(room, listening, token, lambda: output.talk(said))
