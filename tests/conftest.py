"""What all tests share: a home that is thrown away, a clock in hand, and repeatable random tests."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # for the helpers `simulator` and `forge`: tests are not a package

from simulator import Clock, SimulatedDisk

settings.register_profile(
    "alveus",
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("alveus")


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch):
    """No test meets the home, the agent or the key of whoever runs it; by meaning recalls only who says so."""
    for name in ("HOME", "AGENT", "KEY_FILE", "MODEL", "TOKENIZER", "TIERS", "SCOPES"):
        monkeypatch.delenv(f"ALVEUS_{name}", raising=False)
    monkeypatch.setenv("ALVEUS_EMBEDDER", "none")


@pytest.fixture
def home(tmp_path):
    """A home on the real disk."""
    return tmp_path / "home"


@pytest.fixture
def clock():
    """Noon of 1 January 2026, until the test moves it."""
    return Clock()


@pytest.fixture
def disk(tmp_path):
    """A simulated disk. Only derived SQLite files, which are not simulated, lie under the real folder."""
    return SimulatedDisk(tmp_path)
