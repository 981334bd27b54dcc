"""`make bench`: what a hook costs beside a bare interpreter, median and 95th percentile.

    python bench/hooks.py [--runs 30] [--records 5000]

Processor time of the hook's own process (user and system), and the time the agent waits. Each kind in turn with the
bare interpreter, so that a busy machine slows both. The limits are of processor time above the bare interpreter.
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


EVENTS = (
    ("PostToolUse", CAPTURE, {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "a.txt\n"}),
    ("PreCompact", CAPTURE, {"trigger": "auto"}),
    ("Stop", CAPTURE, {"last_assistant_message": "Noted: the build uses port 8081."}),
    ("SubagentStop", CAPTURE, {"last_assistant_message": "Found it."}),
    ("SessionEnd", CAPTURE, {"reason": "other"}),
    ("SessionStart", ANSWER, {"source": "startup"}),
    ("UserPromptSubmit", ANSWER, {"prompt": "Which port does the build server listen on?"}),
)


def cost(command: list[str], data: bytes, env: dict[str, str]) -> Cost:
    """One run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=data, stdout=subprocess.DEVNULL, env=env, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu * 1000, wall * 1000)


def fill(home: Path, agent_id: str, records: int) -> None:
    """A project's memory of so many records."""
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
        memory.prepare_recall(embed=0)


def settle(folder: Path) -> None:
    """Wait for whoever takes in: its work is not the hook's."""
    while folder.exists() and spool.is_busy(str(folder)):
        time.sleep(0.02)


def p95(values: list[float]) -> float:
    """The 95th percentile."""
    return sorted(values)[min(len(values) - 1, round(len(values) * 0.95))]


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=30)
    arguments.add_argument("--records", type=int, default=5_000)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        project.mkdir()
        env = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "ALVEUS_EMBEDDER": "none",
            "PYTHONPATH": str(Path(alveus.__file__).parents[1]),
        }
        agent_id = place.agent_of(str(project))
        fill(home, agent_id, given.records)
        waits = home / "hooks" / "agents" / place.encode(agent_id)
        bare_command = [sys.executable, "-P", "-c", "pass"]
        command = [sys.executable, "-P", "-m", "alveus.doors.hook.entry", "claude-code", "--home", str(home)]
        print(f"a memory of {given.records:,} records; {given.runs} runs each, in turns with the bare interpreter")
        print("event               cpu ms above bare (median, p95)  limit   agent waits ms (median, p95)   bare cpu")
        for name, limit, more in EVENTS:
            bare: list[Cost] = []
            hook: list[Cost] = []
            for n in range(given.runs):
                event = {"hook_event_name": name, "session_id": f"bench-{n}", "cwd": str(project), **more}
                bare.append(cost(bare_command, b"", env))
                hook.append(cost(command, json.dumps(event).encode(), env))
                settle(waits)
            floor = statistics.median(one.cpu for one in bare)
            above, wall = [one.cpu - floor for one in hook], [one.wall for one in hook]
            print(
                f"{name:18s} {statistics.median(above):13.1f} {p95(above):10.1f} {limit:14.0f}"
                f" {statistics.median(wall):15.1f} {p95(wall):10.1f} {floor:14.1f}"
            )


if __name__ == "__main__":
    main()
