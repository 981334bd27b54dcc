"""`make bench`, the MCP server: how long it takes to start, and what a call costs over the protocol.

Beside each call the same call in this process, in turns, so that a machine that slows down slows both. The start is in
seconds of processor time, of the server's process alone; a wall clock would measure who else is running here.
"""

# Not named after the protocol: a script's folder comes first on the path, and the SDK is called `mcp`.

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
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from run import contents

from alveus import Draft, Hippocampus, Kind

AGENT = "bench"
BATCH = 256
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}},
}


def command(home: Path) -> list[str]:
    """The command that starts the server."""
    return [sys.executable, "-m", "alveus.doors.cli", "--home", str(home), "--agent", AGENT, "mcp", "serve"]


def build(home: Path, count: int) -> list[str]:
    """A journal of so many records; the questions that are asked of it: three words from the middle of a record."""
    texts = list(contents(count))
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for start in range(0, count, BATCH):
            memory.record_many([Draft(kind=Kind.OBSERVATION, content=text) for text in texts[start : start + BATCH]])
        memory.prepare_recall()
    return [" ".join(text.split()[10:13]) for text in texts[:: max(1, count // 400)]]


def start(home: Path) -> tuple[float, float]:
    """Seconds of processor time, and by the clock, from the start of the process to its first answer and its end."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(command(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    answered = time.perf_counter() - began
    process.stdin.close()
    process.wait()
    process.stdout.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, answered


async def took(act: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of one call."""
    began = time.perf_counter()
    await act()
    return (time.perf_counter() - began) * 1000


async def calls(home: Path, questions: list[str]) -> dict[str, list[float]]:
    """Milliseconds of calls over the protocol and in this process, in turns."""
    words = command(home)
    server = StdioServerParameters(command=words[0], args=words[1:], env=dict(os.environ))
    times: dict[str, list[float]] = {"recall, MCP": [], "recall, library": [], "record, MCP": [], "record, library": []}
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        async with Client(server) as client:
            await client.call_tool("memory_recall", {"query": questions[0]})
            memory.pattern_completion(questions[0])
            for number, question in enumerate(questions):
                asked = partial(client.call_tool, "memory_recall", {"query": question})
                times["recall, MCP"].append(await took(asked))
                began = time.perf_counter()
                memory.pattern_completion(question)
                times["recall, library"].append((time.perf_counter() - began) * 1000)
                if number % 4 == 0:
                    told = {"kind": "decision", "content": f"Decision {number}: {question}."}
                    times["record, MCP"].append(await took(partial(client.call_tool, "memory_record", told)))
                    began = time.perf_counter()
                    memory.record("decision", f"Choice {number}: {question}.")
                    times["record, library"].append((time.perf_counter() - began) * 1000)
    return times


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=20_000)
    options.add_argument("--questions", type=int, default=200)
    given = options.parse_args()
    os.environ.setdefault("ALVEUS_EMBEDDER", "none")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        questions = build(home, given.records)[: given.questions]
        starts = [start(home) for _ in range(5)]
        times = anyio.run(calls, home, questions)
    embedder = os.environ["ALVEUS_EMBEDDER"]
    print(f"MCP server over stdio, a journal of {given.records:,} records, ALVEUS_EMBEDDER={embedder}")
    processor, clock = (statistics.median(column) for column in zip(*starts, strict=True))
    row = f"{clock * 1000:8.0f} ms by the clock, {processor * 1000:.0f} ms of processor time"
    print(f"  {'start to first answer':<22} {row}")
    for name, values in times.items():
        middle, slow = statistics.median(values), statistics.quantiles(values, n=20)[-1]
        print(f"  {name:<22} {middle:8.1f} ms p50, {slow:8.1f} ms p95")


if __name__ == "__main__":
    main()
