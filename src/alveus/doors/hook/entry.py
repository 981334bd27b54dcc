"""The entry point: `alveus-hook claude-code|codex --home DIR [--agent ID]`, the event on stdin.

Whatever happens, the exit status is 0 and stdout holds one JSON document or nothing. A failure is a line in the log.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from alveus.doors.hook import place, spool, trouble

HARNESSES: Final = ("claude-code", "codex")
ANSWERED: Final = frozenset({"SessionStart", "UserPromptSubmit"})
DRAINED_AFTER: Final = frozenset(
    {"SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SubagentStop", "SessionEnd"}
)
"""Events after which the words are taken in. A tool's call does not: many come at once, and a Stop follows."""
CAPTURED: Final = DRAINED_AFTER | {"PostToolUse"}
PATIENCE: Final = 10
"""Seconds after which a hook gives up: whatever it waits for, the agent does not."""
_KEPT: Final = 100


def main() -> NoReturn:
    """One event. Never fails; the process ends here, with 0."""
    _attend()
    os._exit(0)  # all is written and closed: taking the interpreter apart would only keep the agent waiting


def _attend() -> None:
    try:
        out = _own_stdout()
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(PATIENCE)
        harness, home, agent = _arguments(sys.argv[1:])
        root = place.hooks_of(home)
        try:
            if harness not in HARNESSES:
                raise ValueError(f"usage: alveus-hook {'|'.join(HARNESSES)} [--home DIR] [--agent ID]")
            answer = _handle(home, root, harness, agent)
            if answer:
                _say(out, answer)
        except Exception as error:  # noqa: BLE001  (an agent must not break, whatever does: the log tells)
            signal.alarm(0)
            trouble.note(root, f"hook {harness}", error)
        finally:
            signal.alarm(0)  # an interpreter that shuts down is killed by what it handled before
    except BaseException:  # noqa: BLE001, S110  (there is not even a home to keep a log in)
        pass


def _handle(home: str, root: str, harness: str, agent: str | None) -> dict[str, Any] | None:
    """Put the event down, have it taken in, answer it."""
    event = _event(root, harness)
    if event is None:
        return None
    name = place.text(event, "hook_event_name")
    if name not in CAPTURED:
        return None
    scope = place.scope_of(root, harness, event, agent)
    folder = os.path.join(root, "agents", scope.name)
    failed: Exception | None = None
    try:
        spool.put(folder, _line(harness, event))
    except OSError as error:
        trouble.note(root, f"hook {harness} {name}", error)
        failed = error
    try:
        if name not in ANSWERED:
            return None
        gc.disable()  # this process ends before there is anything to collect
        from alveus.doors.hook import haste

        haste.spare()
        from alveus.doors.hook import answer

        return answer.make(answer.Asked(home, root, harness, event, scope), failed)
    finally:
        if name in DRAINED_AFTER and failed is None:
            _drain(home, root, folder, scope)


def _event(root: str, harness: str) -> dict[str, Any] | None:
    """The event on stdin; what is none is kept aside and noted."""
    with open(0, "rb", closefd=False) as stdin:
        data = stdin.read()
    try:
        event = json.loads(data.decode("utf-8", "replace").removeprefix("\ufeff"))
        problem = "" if isinstance(event, dict) else "the event is no object"
    except (ValueError, RecursionError) as error:
        event, problem = None, f"the event is no JSON: {type(error).__name__}"
    if problem:
        _keep(root, data)
        trouble.note(root, f"hook {harness}", f"{problem} ({len(data)} bytes)")
        return None
    found: dict[str, Any] = event
    return found


def _keep(root: str, data: bytes) -> None:
    folder = os.path.join(root, "rejected")
    os.makedirs(folder, 0o700, exist_ok=True)
    if data and len(os.listdir(folder)) < _KEPT:
        place.write_whole(os.path.join(folder, f"{time.time_ns()}-{os.getpid()}"), data)


def _line(harness: str, event: dict[str, Any]) -> bytes:
    told = {"at": time.time(), "from": harness, "event": event}
    return json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode()


def _drain(home: str, root: str, folder: str, scope: place.Scope) -> None:
    """Start the one that takes in what waits, unless it is at work: it looks once more before it ends.

    It is handed the right to take in, so that there is never a second one on its way. It has a session of its own, so
    that it outlives the agent, and ends when nothing waits.
    """
    right = spool.alone(folder)
    if right is None:
        return
    try:
        os.set_inheritable(right, True)  # noqa: FBT003  (its only argument)
        # -P: the agent's folder is no place to import from.
        arguments = [sys.executable, "-P", "-m", "alveus.doors.hook.draining"]
        arguments += [home, scope.agent_id, scope.name, str(right)]
        _spawn(arguments, [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in range(3)])
    except OSError as error:
        trouble.note(root, "hook draining", error)
    finally:
        os.close(right)


def _spawn(arguments: list[str], actions: list[tuple[int, int, str, int, int]]) -> None:
    try:
        os.posix_spawn(sys.executable, arguments, os.environ, file_actions=actions, setsid=True)
    except NotImplementedError:  # this system can only leave the process group
        os.posix_spawn(sys.executable, arguments, os.environ, file_actions=actions, setpgroup=0)


def _arguments(given: Sequence[str]) -> tuple[str, str, str | None]:
    """(harness, home, agent). By hand: argparse takes longer than all the rest."""
    options: dict[str, str] = {}
    names: list[str] = []
    rest = iter(given)
    for one in rest:
        if one in ("--home", "--agent"):
            options[one] = next(rest, "")
        else:
            names.append(one)
    return " ".join(names), place.find_home(options.get("--home")), options.get("--agent")


def _own_stdout() -> int:
    """The real stdout, kept for the one document: what any library prints goes nowhere."""
    out = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)
    return out


def _say(out: int, document: dict[str, Any]) -> None:
    data = memoryview(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    while data:
        data = data[os.write(out, data) :]


def _late(_number: int, _frame: object) -> NoReturn:
    raise TimeoutError(f"it took more than {PATIENCE} s")


if __name__ == "__main__":
    main()
