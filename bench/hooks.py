"""`make bench`: what a hook costs beside a bare interpreter, median and 95th percentile.

    python bench/hooks.py [--runs 30] [--records 5000 100000]

Processor time of the hook's own process (user and system), and the time the agent waits. Each kind in turn with the
bare interpreter, so that a busy machine slows both. The limits are of processor time above the bare interpreter.

Capturing does not depend on what is remembered, and is measured once. What is answered is measured for each number of
records, and for the first of them also with kernels and tiers, of which a session's start shows what they hold.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import alveus
from alveus import Draft, Hippocampus, Kind
from alveus.doors.hook import place, spool
from alveus.journal.record import Source

CAPTURE, ANSWER = 50.0, 300.0
TOPICS = ["build", "server", "port", "deploy", "review", "queue", "index", "backup", "release", "branch"]


class Cost(NamedTuple):
    """Milliseconds of the processor, and of the clock."""

    cpu: float
    wall: float


CAPTURED = (
    ("PostToolUse", CAPTURE, {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "a.txt\n"}),
    ("PreCompact", CAPTURE, {"trigger": "auto"}),
    ("Stop", CAPTURE, {"last_assistant_message": "Noted: the build uses port 8081."}),
    ("SubagentStop", CAPTURE, {"last_assistant_message": "Found it."}),
    ("SessionEnd", CAPTURE, {"reason": "other"}),
)
ANSWERED = (
    ("SessionStart", ANSWER, {"source": "startup"}),
    ("UserPromptSubmit", ANSWER, {"prompt": "Which port does the build server listen on?"}),
)
RULES = [f"Always run the {tool} before you commit, never skip it." for tool in ("linter", "type checker", "tests")]


def cost(command: list[str], data: bytes, env: dict[str, str]) -> Cost:
    """One run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=data, stdout=subprocess.DEVNULL, env=env, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu * 1000, wall * 1000)


def fill(home: Path, agent_id: str, records: int, *, kept: bool = False) -> None:
    """A project's memory of so many records; with kernels and tiers, where they are `kept`."""
    with Hippocampus.open(home=home, agent_id=agent_id, embedder="none") as memory:
        for first in range(0, records, 500):
            memory.record_many(
                [
                    Draft(
                        kind=Kind.OBSERVATION,
                        content=f"{TOPICS[n % 10]} {TOPICS[n // 10 % 10]}: note {n} about the {TOPICS[n // 100 % 10]}",
                        src=Source.USER if n % 2 else Source.AGENT,
                        session=f"s{n // 50}",
                    )
                    for n in range(first, min(records, first + 500))
                ]
            )
        if kept:
            for n, rule in enumerate(RULES * 4):
                memory.record(Kind.OBSERVATION, rule, src=Source.USER, session=f"r{n}")
            memory.compile()
            memory.promote()
        memory.prepare_recall(embed=0)


def settle(folder: Path) -> None:
    """Wait for whoever takes in: its work is not the hook's."""
    while folder.exists() and spool.is_busy(str(folder)):
        time.sleep(0.02)


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return sorted(values)[min(len(values) - 1, round(len(values) * 0.95))]


def table(events: Sequence[tuple[str, float, dict[str, object]]], home: Path, project: Path, runs: int) -> None:
    """A row for each event, in the memory of that project."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "ALVEUS_EMBEDDER": "none",
        "PYTHONPATH": str(Path(alveus.__file__).parents[1]),
    }
    waits = home / "hooks" / "agents" / place.encode(place.agent_of(str(project)))
    bare_command = [sys.executable, "-P", "-c", "pass"]
    command = [sys.executable, "-P", "-m", "alveus.doors.hook.entry", "claude-code", "--home", str(home)]
    for name, limit, more in events:
        bare: list[Cost] = []
        hook: list[Cost] = []
        for n in range(-1, runs):  # the first one writes the bytecode, and is not counted
            event = {"hook_event_name": name, "session_id": f"bench-{n}", "cwd": str(project), **more}
            bare.append(cost(bare_command, b"", env))
            hook.append(cost(command, json.dumps(event).encode(), env))
            settle(waits)
        floor = statistics.median(one.cpu for one in bare[1:])
        above, wall = [one.cpu - floor for one in hook[1:]], [one.wall for one in hook[1:]]
        print(
            f"{name:18s} {statistics.median(above):13.1f} {p95(above):10.1f} {limit:14.0f}"
            f" {statistics.median(wall):15.1f} {p95(wall):10.1f} {floor:14.1f}",
            flush=True,
        )


def main() -> None:
    """Print the tables."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=30)
    arguments.add_argument("--records", type=int, nargs="+", default=[5_000, 100_000])
    given = arguments.parse_args()
    print(f"{given.runs} runs each, in turns with the bare interpreter")
    print("event               cpu ms above bare (median, p95)  limit   agent waits ms (median, p95)   bare cpu")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # whoever takes in may be at it
        home = Path(folder, "home")
        memories = [(given.records[0], True), *((records, False) for records in given.records)]
        for at, (records, kept) in enumerate(memories):
            project = Path(folder, f"{records}{'-kept' * kept}")
            project.mkdir()
            fill(home, place.agent_of(str(project)), records, kept=kept)
            load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
            print(f"a memory of {records:,} records{', kernels and tiers' * kept} (load {load})")
            table((*CAPTURED, *ANSWERED) if at == 0 else ANSWERED, home, project, given.runs)


if __name__ == "__main__":
    main()
