"""A target in a process of its own: lines of JSON in, lines of JSON out.

    python -m alveus.doors.adapters.worker TARGET SCRATCH

Restarting the target is ending this process and beginning another, so that nothing survives in memory. Whatever the
target prints goes to stderr; stdout is the wire's.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any, Final

from alveus.doors.adapters.base import METHODS, AdapterError, Reply
from alveus.doors.adapters.table import make_target
from alveus.errors import AlveusError

PATIENCE: Final = 120.0
_PIECE: Final = 1 << 16


class Worker:
    """The parent's end. Raises AdapterError where the target fails, ends or keeps silent."""

    def __init__(self, target: str, scratch: Path, *, patience: float = PATIENCE) -> None:
        self._command = [sys.executable, "-m", __name__, target, str(scratch)]
        self._patience = patience
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""

    @property
    def pid(self) -> int | None:
        """The process the target lives in at the moment."""
        return None if self._child is None else self._child.pid

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call a method of the target, which is started if it is not there."""
        child = self._started()
        self._rest = b""
        wire_in, wire_out = _wires(child)
        try:
            wire_in.write(json.dumps([method, *arguments]).encode() + b"\n")
            wire_in.flush()
            reply: Reply = json.loads(self._line(wire_out))
        except (OSError, ValueError, EOFError) as error:
            self.kill()
            raise AdapterError(f"the target ended during `{method}`", code="target_ended") from error
        if "error" in reply:
            raise AdapterError(f"`{method}` failed: {reply['error']}", code=reply["code"], hint=reply.get("hint", ""))
        return reply["value"]

    def _line(self, wire: IO[bytes]) -> bytes:
        deadline = time.monotonic() + self._patience
        while b"\n" not in self._rest:
            ready, _, _ = select.select([wire], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self.kill()
                raise AdapterError(f"the target did not answer within {self._patience:g} s", code="target_silent")
            piece = os.read(wire.fileno(), _PIECE)
            if not piece:
                raise EOFError
            self._rest += piece
        return self._rest.partition(b"\n")[0]

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._child = subprocess.Popen(  # noqa: S603  (this program, with words that were checked)
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._child

    def restart(self) -> None:
        """End the process in good order; the next question begins a new one."""
        if self._child is not None:
            self.ask("close")
            self._end()

    def kill(self) -> None:
        """End the process at once, as a crash would."""
        if self._child is not None:
            self._child.kill()
            self._end()

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            for wire in (child.stdin, child.stdout):
                if wire is not None:
                    _close(wire)
            child.wait()


def _wires(child: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if child.stdin is None or child.stdout is None:
        raise AdapterError("the target has no wires", code="target_ended")
    return child.stdin, child.stdout


def _close(wire: IO[bytes]) -> None:
    try:
        wire.close()
    except BrokenPipeError:
        return  # the other end went first


def main(target: str, scratch: str) -> None:
    """The child's end: until stdin ends or it is asked to close."""
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    made = None
    for line in sys.stdin.buffer:
        method, *arguments = json.loads(line)
        try:
            made = made or make_target(target, Path(scratch))
            if method not in METHODS:
                raise AdapterError(f"a target has no method {method!r}")
            reply: Reply = {"value": getattr(made, method)(*arguments)}
        except AlveusError as error:
            reply = _refusal(error)
        except Exception as error:  # noqa: BLE001  (a foreign program: whatever it raises is the parent's to judge)
            reply = _refusal(AdapterError(type(error).__name__, code="target_failed"))
        wire.write(json.dumps(reply).encode() + b"\n")
        wire.flush()
        if method == "close":
            return


def _refusal(error: AlveusError) -> Reply:
    return {"error": error.message, "code": error.code, "hint": error.hint}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
