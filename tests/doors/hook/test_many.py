"""Many hooks at once, beside writers, and many sessions one after the other: one valid chain, no process left."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from alveus import Hippocampus
from alveus.doors.hook import spool
from hooked import environment

PARALLEL, WRITES = 20, 20


def draining(home):
    """The processes that take in for this home."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"alveus.doors.hook.draining" in command and os.fsencode(home) in command:
            found.append(int(path.parent.name))
    return found


needs_proc = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="processes are counted in /proc, which is not here"
)


def test_twenty_hooks_at_once_beside_writers(hooks):
    """20 sessions' hooks at one moment, two processes that write beside them: one valid chain, each word once."""
    sessions = [hooks.beside(hooks.project, f"session-{n}") for n in range(PARALLEL)]
    for n, one in enumerate(sessions):
        one.transcript.user(f"question {n}", promptId=f"p{n}")
        one.transcript.tool(f"c{n}", f"ls {n}", f"output {n}")
        one.transcript.agent(f"answer {n}")
    script = (
        "import sys; from alveus import Hippocampus\n"
        f"for n in range({WRITES}):\n"
        "    with Hippocampus.open(home=sys.argv[1], agent_id=sys.argv[2]) as memory:\n"
        "        memory.record('observation', f'{sys.argv[3]} {n}')\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(hooks.home), hooks.agent_id, f"writer {n}"],
            env=environment(hooks.home, ALVEUS_EMBEDDER="none"),
        )
        for n in range(2)
    ]
    with ThreadPoolExecutor(PARALLEL) as pool:
        for name, more in (
            ("UserPromptSubmit", {"prompt": "question"}),
            ("PostToolUse", {"tool_name": "Bash", "tool_response": "x"}),
            ("Stop", {}),
        ):
            list(pool.map(lambda one, name=name, more=more: one.call(name, **more), sessions))
    assert [one.wait() for one in writers] == [0, 0]
    hooks.drain()
    contents = [content for _, content in hooks.said()]
    assert len(contents) == len(set(contents)) == PARALLEL * 4 + 2 * WRITES
    with hooks.open() as memory:
        assert memory.verify_chain()


@needs_proc
def test_a_hundred_sessions_leave_no_process(hooks):
    """100 sessions begin, speak and end: when they are taken in, no process is left (complaints 80, 82, 120)."""
    for n in range(100):
        one = hooks.beside(hooks.project, f"session-{n}")
        one.transcript.user(f"question {n}")
        one.call("SessionEnd", reason="other")
        assert len(draining(hooks.home)) <= 2, "one that takes in, and one that has done so"
    hooks.drain()
    deadline = time.monotonic() + 60
    while draining(hooks.home):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert len(hooks.records()) == 100


@needs_proc
def test_killed_at_any_moment_it_loses_and_doubles_nothing(hooks):
    """`kill -9` of whoever takes in, again and again, at whatever it is doing."""
    total = 0
    for n in range(12):
        for _ in range(30):
            hooks.transcript.user(f"question {total}")
            total += 1
        hooks.call("Stop")
        time.sleep(0.05 + 0.04 * n)
        for process in draining(hooks.home):
            os.kill(process, signal.SIGKILL)
    hooks.drain()
    assert [content for _, content in hooks.said()] == [f"question {n}" for n in range(total)]


def test_a_hook_that_is_killed_leaves_a_whole_spool(hooks):
    """Hooks that die at once, whatever they hold: what was acknowledged is there, and the next one is kept too."""
    command = [sys.executable, "-P", "-m", "alveus.doors.hook.entry", "claude-code", "--home", str(hooks.home)]
    for n in range(10):
        data = json.dumps(hooks.event("PostToolUse", tool_use_id=f"c{n}", tool_response="x" * 100_000)).encode()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment(hooks.home))
        process.stdin.write(data)
        process.stdin.close()
        time.sleep(0.01 * n)
        process.kill()
        process.wait()
    hooks.call("PostToolUse", tool_use_id="last", tool_response="y")
    lines = (hooks.folder / spool.EVENTS).read_bytes().splitlines()
    whole = [json.loads(line) for line in lines if line.startswith(b'{"at"') and line.endswith(b"}}")]
    assert whole[-1]["event"]["tool_use_id"] == "last"
    with Hippocampus.open(home=hooks.home, agent_id="other"):
        hooks.drain()
