"""The summariser behind an endpoint: choosing it, what it may cost, what it makes of answers. store/models.py."""

import json
import sys
import types
from types import SimpleNamespace

import pytest

from alveus import InputError, StoreError
from alveus.store import models
from alveus.store.database import Database
from alveus.store.models import Endpoint, Settings, choose

REQUEST = SimpleNamespace(instructions="summarise", prompt="x" * 100)


@pytest.fixture
def db():
    """A database in memory."""
    made = Database(None)
    yield made
    made.close()


@pytest.fixture
def server(monkeypatch):
    """A stand-in for the package openai: answers by script, and notes how it was called."""
    state = SimpleNamespace(opened=[], asked=[], answer=lambda: "{}", tokens=50)

    class OpenAIError(Exception):
        pass

    class Client:
        def __init__(self, **options):
            state.opened.append(options)
            self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))

        def create(self, **call):
            state.asked.append(call)
            message = SimpleNamespace(message=SimpleNamespace(content=state.answer()))
            return SimpleNamespace(choices=[message], usage=SimpleNamespace(total_tokens=state.tokens))

    package = types.ModuleType("openai")
    package.OpenAI, package.OpenAIError = Client, OpenAIError
    monkeypatch.setitem(sys.modules, "openai", package)
    monkeypatch.setattr(models, "find_spec", lambda _: True)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    state.error = OpenAIError
    return state


def test_without_a_name_there_is_no_model(db, clock, monkeypatch):
    """It is chosen, never found: neither a key nor a package makes one."""
    monkeypatch.delenv("ALVEUS_MODEL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    assert choose(None, db, clock) is None
    assert choose("none", db, clock) is None


@pytest.mark.parametrize("name", ["gpt", "openai:", "openai", "ollama:x", ""])
def test_a_name_that_is_none_is_refused(db, clock, name):
    """With what may be chosen as the hint."""
    with pytest.raises(InputError):
        choose(name, db, clock)


def test_the_environment_says_which_where_and_how_patiently(db, clock, server, monkeypatch):
    """Base URL, model, timeout and retries are as set."""
    for name, value in {"": "openai:m", "_BASE_URL": "http://localhost:1/v1", "_TIMEOUT": "3", "_RETRIES": "2"}.items():
        monkeypatch.setenv(f"ALVEUS_MODEL{name}", value)
    endpoint = choose(None, db, clock)
    assert endpoint.answer(REQUEST) == "{}"
    assert server.opened == [{"base_url": "http://localhost:1/v1", "timeout": 3.0, "max_retries": 2}]
    assert server.asked[0]["model"] == "m"
    assert endpoint.id == "openai:m"


@pytest.mark.parametrize(
    ("what", "value"), [("RETRIES", "6"), ("RETRIES", "-1"), ("TIMEOUT", "soon"), ("CALLS", "1e3")]
)
def test_a_number_that_is_none_is_refused(db, clock, server, *, monkeypatch, what, value):
    """Retries have a bound; nothing is guessed."""
    monkeypatch.setenv(f"ALVEUS_MODEL_{what}", value)
    with pytest.raises(InputError):
        choose("openai:m", db, clock)
    assert not server.opened


def test_the_days_limit_is_kept(db, clock, server):
    """Calls and tokens are counted before a question is asked; a new day begins at nothing."""
    endpoint = Endpoint(Settings(model="m", calls=2), db, clock)
    for _ in range(2):
        endpoint.answer(REQUEST)
    with pytest.raises(StoreError) as refused:
        endpoint.answer(REQUEST)
    assert refused.value.code == "cost_cap"
    assert len(server.asked) == 2
    assert db.spent("2026-01-01") == (2, 100)
    clock.advance(days=1)
    endpoint.answer(REQUEST)


def test_the_limit_of_tokens_is_kept(db, clock, server):
    """A question that could pass it is not asked."""
    with pytest.raises(StoreError):
        Endpoint(Settings(model="m", tokens=100), db, clock).answer(REQUEST)
    assert not server.asked


def test_what_failed_is_told_without_its_words(db, clock, server):
    """An error of the endpoint becomes ours, and its text is not repeated; what was asked was spent."""

    def refuse():
        raise server.error("the key sk-secret is wrong")

    server.answer = refuse
    with pytest.raises(StoreError) as refused:
        Endpoint(Settings(model="m"), db, clock).answer(REQUEST)
    assert "secret" not in refused.value.message
    assert db.spent("2026-01-01")[0] == 1


@pytest.mark.parametrize("content", [None, 7, ["x"]])
def test_an_answer_that_is_no_text_is_none(db, clock, server, content):
    """Whoever asked sees that there is no answer."""
    server.answer = lambda: content
    assert Endpoint(Settings(model="m"), db, clock).answer(REQUEST) is None
    assert json.dumps(server.asked[0]["messages"])
