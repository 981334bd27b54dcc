"""The hooks of one project of one home, called as an agent calls them."""

import time
from pathlib import Path

import pytest

from alveus.doors.hook import spool
from hooked import Hooks, Transcript


@pytest.fixture
def hooks(home, tmp_path):
    """The hooks of the project `river`."""
    project = tmp_path / "river"
    project.mkdir()
    transcript = Transcript(tmp_path / "transcripts" / "0a1b2c3d-session.jsonl", str(project))
    found = Hooks(home, project, transcript)
    yield found
    for one in Path(found.root, "agents").glob("*"):  # whatever was started in the background ends with its test
        while spool.is_busy(str(one)):
            time.sleep(0.05)
