"""A journal for frameworks to keep their memory in, opened as often as a test likes."""

import pytest

from alveus import Hippocampus


@pytest.fixture
def journals(home):
    """Open the journal of `river` once more, as another process would."""
    opened = []

    def open_one(agent="river"):
        opened.append(Hippocampus.open(home=home, agent_id=agent))
        return opened[-1]

    yield open_one
    for one in opened:
        assert one.verify_chain()
        one.close()


@pytest.fixture
def memory(journals):
    """The journal of `river`."""
    return journals()


@pytest.fixture
def said(memory):
    """What is in the journal: who said it, and the words."""
    return lambda: [(record.hc.src.value, record.content) for record in memory.iter_records()]
