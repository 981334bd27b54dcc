"""How the server is reached: over standard streams by the agent that started it, or over HTTP on this machine alone.

It ends by itself: when its input ends, and on SIGTERM, SIGINT or SIGHUP; then everything is on disk and nothing of it
stays behind.
"""

from __future__ import annotations

import errno
import fcntl
import hmac
import json
import os
import re
import select
import signal
import socket
import stat
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.lowlevel
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import jsonrpc_message_adapter

from alveus.doors.mcp.room import Room
from alveus.doors.mcp.server import make_server
from alveus.errors import InputError, StoreError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/mcp"
LONGEST_LINE: Final = 16 << 20
"""Bytes of one message on standard input; a record has at most one MiB."""
_PIECE: Final = 1 << 16
_INVALID: Final = -32600
"""JSON-RPC's code for what is no request."""
_HALF: Final = re.compile("[\ud800-\udfff]")
_ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_GRACE_SECONDS: Final = 2
_PATIENCE_SECONDS: Final = 30
"""How long calls that are under way when the input ends may take to be answered."""


# Standard streams


def serve_stdio(room: Room) -> None:
    """Serve whoever started this process, until it closes our input or sends a signal."""
    try:
        anyio.run(partial(_serve_stdio, room))
    except* BrokenPipeError:  # nobody reads any more
        pass
    finally:
        room.close()


async def _serve_stdio(room: Room) -> None:
    server = make_server(room)
    wire: Any = _Wire(_taken(0, os.open(os.devnull, os.O_RDONLY)), _taken(1, os.dup(2)))
    with anyio.open_signal_receiver(*_ENDING) as signals:
        async with anyio.create_task_group() as group:
            group.start_soon(_stop, signals, group.cancel_scope)
            async with stdio_server(stdin=wire, stdout=wire) as (reading, writing):
                await server.run(reading, writing, server.create_initialization_options())
            group.cancel_scope.cancel()


async def _stop(signals: AsyncIterator[int], scope: anyio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()
        return


def _taken(fd: int, instead: int) -> int:
    """A standard stream as a descriptor of ours. Whatever else uses that stream gets the other one."""
    taken: int = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    os.dup2(instead, fd)
    os.close(instead)
    return taken


class _Wire:
    """Messages in and out, one a line. Waiting for either end can be cancelled, as a thread that waits cannot.

    The end of the input is passed on when every call that came before it is answered: the SDK would drop them.
    """

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._unanswered: set[str] = set()
        self._answered = anyio.Event()
        self._writing = anyio.Lock()

    async def __aiter__(self) -> AsyncIterator[str]:
        line = bytearray()
        while piece := await self._piece():
            *ended, rest = piece.split(b"\n")
            for end in ended:
                line += end
                yield await self._heard(line)
                line.clear()
            line += rest[: max(0, LONGEST_LINE + 1 - len(line))]
        if line.strip():
            yield await self._heard(line)
        with anyio.move_on_after(_PATIENCE_SECONDS):
            while self._unanswered:
                await self._answered.wait()

    async def _piece(self) -> bytes:
        try:
            await anyio.wait_readable(self._incoming)
        except PermissionError:  # a file: it is always ready
            await anyio.lowlevel.checkpoint()
        return os.read(self._incoming, _PIECE)

    async def _heard(self, line: bytearray) -> str:
        """The line as text; of a call, its id is noted. A line that is too long becomes one that is no message.

        The SDK passes over what it cannot parse, and its caller would wait for ever. So half of a surrogate pair, which
        programs send that cut a text within a character, is replaced here, and another such call is refused.
        """
        if len(line) > LONGEST_LINE:
            return ""
        message, text = _object(line), line.decode("utf-8", "replace")
        params, call = message.get("params"), message.get("id")
        if message.get("method") == "notifications/cancelled" and isinstance(params, dict):
            self._drop(params.get("requestId"))
        elif "method" in message and isinstance(call, str | int):
            if not _is_message(text) and not _is_message(text := _with_whole_characters(message)):
                told = {"code": _INVALID, "message": "this call cannot be read: it is nested too deeply, or no request"}
                await self.write(json.dumps({"jsonrpc": "2.0", "id": call, "error": told}) + "\n")
                return ""
            self._unanswered.add(json.dumps(call))
        return text

    def _drop(self, call: object) -> None:
        self._unanswered.discard(json.dumps(call))
        self._answered.set()
        self._answered = anyio.Event()

    async def write(self, text: str) -> None:
        """One message, whole."""
        left = memoryview(text.encode("utf-8", "replace"))
        async with self._writing:
            while left:
                try:
                    await anyio.wait_writable(self._outgoing)
                except PermissionError:
                    await anyio.lowlevel.checkpoint()
                left = left[os.write(self._outgoing, left[: select.PIPE_BUF]) :]  # so much never blocks
        message = _object(text)
        if "method" not in message:
            self._drop(message.get("id"))

    async def flush(self) -> None:
        """Nothing is kept back."""


def _is_message(text: str) -> bool:
    """Whether the SDK can parse the line."""
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return False
    return True


def _with_whole_characters(message: dict[str, Any]) -> str:
    """The message with U+FFFD in the place of halves of surrogate pairs."""
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", json.dumps(message, ensure_ascii=False))


def _object(line: bytes | bytearray | str) -> dict[str, Any]:
    """The object that a line is; an empty one for anything else, which the SDK will refuse."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


# HTTP


def serve_http(room: Room, listening: socket.socket, token: str, ready: Callable[[], None]) -> None:
    """Serve on a socket of this machine, to whoever has the token, until a signal comes. `ready` is called before."""
    import uvicorn

    port = listening.getsockname()[1]
    names = (f"{LOOPBACK}:{port}", f"localhost:{port}")
    app = make_server(room).streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,  # nothing is kept between two calls, so nothing can be left behind
        transport_security=TransportSecuritySettings(
            allowed_hosts=list(names), allowed_origins=[f"http://{name}" for name in names]
        ),
    )
    config = uvicorn.Config(
        _Guarded(app, token),
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = uvicorn.Server(config)

    def end(*_: object) -> None:
        server.should_exit = True

    for number in _ENDING:
        signal.signal(number, end)  # before uvicorn catches them, for SIGHUP, and for what uvicorn raises at its end
    try:
        ready()
        anyio.run(partial(server.serve, sockets=[listening]))
    finally:
        room.close()


def listen(port: int) -> socket.socket:
    """A listening socket of this machine alone; port 0 is any that is free. Raises StoreError where it is taken."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        raise StoreError(
            f"port {port} of {LOOPBACK} cannot be used: {error.strerror}",
            code="port_taken",
            hint="choose another with --port; 0 takes any that is free",
        ) from error
    return listening


class _Guarded:
    """Lets in who has the token, and nobody else to anything."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = b"Bearer " + token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if len(given) == 1 and hmac.compare_digest(given[0], self._expected):
            await self._app(scope, receive, send)
            return
        from starlette.responses import PlainTextResponse

        said = "a bearer token is needed: the server said at its start where it lies\n"
        response = PlainTextResponse(said, status_code=401, headers={"WWW-Authenticate": 'Bearer realm="alveus"'})
        await response(scope, receive, send)


def find_token(home: Path) -> tuple[str, str]:
    """The token, and where it is from: ALVEUS_MCP_TOKEN, else `mcp.token` in the home, made when there is none.

    Raises InputError for a token that is too short to be one, or that others can read.
    """
    if given := os.environ.get("ALVEUS_MCP_TOKEN"):
        return _checked(given, "ALVEUS_MCP_TOKEN"), "ALVEUS_MCP_TOKEN"
    path = home / "mcp.token"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _checked(_read_private(path), str(path)), str(path)
    import secrets

    token = secrets.token_urlsafe(32)
    try:
        os.write(fd, f"{token}\n".encode("ascii"))
    finally:
        os.close(fd)
    return token, str(path)


def _read_private(path: Path) -> str:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_IMODE(os.fstat(fd).st_mode) & 0o077:
            raise InputError(f"{path} can be read by others", code="token_open", hint=f"chmod 600 {path}")
        return os.read(fd, 1024).decode("ascii", "replace").strip()
    finally:
        os.close(fd)


def _checked(token: str, where: str) -> str:
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(
            f"the token in {where} is not usable",
            code="bad_token",
            hint="16 characters of ASCII or more, without spaces; without one, one is made",
        )
    return token
