"""A memory whose rules are easy to foresee."""

import pytest

from alveus import Hippocampus
from plain_rules import compile_plainly


@pytest.fixture
def plain(monkeypatch):
    """Kernels are made of what a user says as `rule NAME = TEXT`."""
    monkeypatch.setattr("alveus.kernels.compiler.compile_kernels", compile_plainly)


@pytest.fixture
def memory(home, clock, plain):  # noqa: ARG001
    """The memory of `river`, begun on 1 January 2026."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as opened:
        yield opened


@pytest.fixture
def rule():
    """Say a rule as the user; the record."""

    def say(memory, name, text, *, session="s1", **more):
        return memory.record("observation", f"rule {name} = {text}", src="user", session=session, **more)

    return say


@pytest.fixture
def files():
    """The three files as they are, by name."""

    def read(memory):
        folder = memory.folder / "kernels"
        return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}

    return read
