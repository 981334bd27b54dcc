"""Commands run in this process, as a person or a program would call them."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import alveus as package
from alveus import Hippocampus
from alveus.doors import output
from alveus.doors.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """The lines of stdout."""
        return self.out.splitlines()


@pytest.fixture
def call(home, capfdbinary):
    """Run one command for agent `river`; its exit status and its output."""

    def run(*arguments: str, home: Path = home) -> Ended:
        capfdbinary.readouterr()
        status = main(["--home", str(home), "--agent", "river", *arguments])
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Ended(status, out.decode(), err.decode())

    return run


@pytest.fixture
def begun(call):
    """The same, the journal being there."""
    assert call("init").status == 0
    return call


@pytest.fixture
def memory(home, clock):
    """The journal of `river`, begun on 1 January 2026; the test closes it."""
    return Hippocampus.open(home=home, agent_id="river", clock=clock)


@pytest.fixture
def folder(home):
    """The folder of `river`."""
    return home / "agents" / "river"


@pytest.fixture
def stdin(monkeypatch):
    """Put bytes on standard input."""

    def put(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put


@pytest.fixture
def terminal(monkeypatch):
    """Make stdout a terminal of so many columns, without colours."""

    def of(width: int) -> None:
        console = Console(force_terminal=True, width=width, color_system=None, highlight=False, markup=False)
        monkeypatch.setattr(output, "screen", lambda: console)

    return of


@pytest.fixture
def alone():
    """Run one command in a process of its own, with nothing in its environment but what is given."""

    def run(
        *arguments: str | bytes, wrapper: tuple[str, ...] = (), **options: Any
    ) -> subprocess.CompletedProcess[bytes]:
        source = str(Path(package.__file__).parents[1])
        env = {"PYTHONPATH": source, "PATH": os.environ["PATH"], **options.pop("env", {})}
        command = [*wrapper, sys.executable, "-m", "alveus.doors.cli", *arguments]
        return subprocess.run(command, env=env, capture_output="stdout" not in options, check=False, **options)

    return run


@pytest.fixture
def edit(folder):
    """Change the journal behind the program's back: replace bytes in the stream."""

    def replace(old: bytes, new: bytes) -> None:
        stream = folder / "stream.jsonl"
        data = stream.read_bytes()
        assert old in data
        stream.write_bytes(data.replace(old, new))

    return replace
