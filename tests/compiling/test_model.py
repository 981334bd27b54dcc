"""A language model behind an endpoint, over a real wire: it may word what was checked, and can take nothing away."""

import json
import sys
import threading
import time
import types
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from alveus import Hippocampus, InputError, Source
from alveus.compiling import model as room
from alveus.compiling.model import Guest, choose, request_of
from alveus.store import models


class Scripted(BaseHTTPRequestHandler):
    """Answers as its server's script says: a text, bytes for the whole body, a status, or seconds to hang."""

    def do_POST(self):
        """One question."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        answer = self.server.script(asked["messages"][1]["content"])
        if isinstance(answer, float):
            time.sleep(answer)
            answer = "late"
        if isinstance(answer, int):
            self.send_response(answer)
            self.end_headers()
            return
        body = answer if isinstance(answer, bytes) else _body(answer)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # nobody waits any more

    def log_message(self, *_):
        """Nothing on stderr."""


def _body(text):
    choice = {"message": {"content": text, "role": "assistant"}}
    return json.dumps({"choices": [choice], "usage": {"total_tokens": 10}}).encode()


@pytest.fixture
def server(monkeypatch):
    """A server on loopback, and a stand-in for the package `openai` that speaks its protocol with what Python has."""
    made = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    made.daemon_threads = True
    made.asked, made.script = [], lambda _: None
    threading.Thread(target=made.serve_forever, daemon=True).start()

    class OpenAIError(Exception):
        pass

    class Client:
        def __init__(self, *, base_url, timeout, max_retries):
            del max_retries
            self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))
            self.url, self.timeout = f"{base_url}/chat/completions", timeout

        def create(self, **call):
            request = urllib.request.Request(self.url, json.dumps(call).encode())
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    told = json.loads(answer.read())
            except (OSError, ValueError) as error:
                raise OpenAIError(str(error)) from error
            return json.loads(json.dumps(told), object_hook=lambda one: SimpleNamespace(**one))

    package = types.ModuleType("openai")
    package.OpenAI, package.OpenAIError = Client, OpenAIError
    monkeypatch.setitem(sys.modules, "openai", package)
    monkeypatch.setattr(models, "find_spec", lambda _: True)
    for name, value in {"": "openai:m", "_BASE_URL": f"http://127.0.0.1:{made.server_port}", "_TIMEOUT": "1"}.items():
        monkeypatch.setenv(f"ALVEUS_MODEL{name}", value)
    monkeypatch.setenv("ALVEUS_MODEL_RETRIES", "0")
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def opened(home, clock, rule, plain):  # noqa: ARG001
    """A memory with two rules, not compiled yet."""
    with Hippocampus.open(home=home, agent_id="river", clock=clock) as memory:
        rule(memory, "one", "first thing", session="s1")
        rule(memory, "one", "first thing", session="s2")
        rule(memory, "two", "second thing")
        yield memory


def texts(done):
    """What the bullets say."""
    return [one.text for one in done.kernels.bullets]


def wordings(memory):
    """The wordings that the journal holds."""
    return [one for one in memory.iter_records() if one.hc.origin and one.hc.origin.startswith("alveus:wording:")]


def test_a_wording_that_was_checked_is_used_and_kept(opened, server):
    """And not asked for again, by nobody: the journal has it, as the program's own words."""
    server.script = lambda prompt: json.dumps({"rule": "Do one: the first." if "rule one" in prompt else "Rule two."})
    assert texts(opened.compile()) == ["Do one: the first.", "Rule two."]
    assert {one.hc.src for one in wordings(opened)} == {Source.SYSTEM}
    assert len(server.asked) == 2
    server.script = lambda _: 500
    assert texts(opened.compile()) == ["Do one: the first.", "Rule two."]
    assert len(server.asked) == 2


def test_what_is_kept_serves_without_the_model(opened, server, monkeypatch):
    """Deleted, the kernels are made again, and are the same, without asking anybody."""
    server.script = lambda prompt: json.dumps({"rule": "Do one." if "rule one" in prompt else "Do two."})
    before = texts(opened.compile())
    monkeypatch.setenv("ALVEUS_MODEL", "none")
    (opened.folder / "kernels").unlink()
    assert texts(opened.compile()) == before


def test_a_wording_that_fails_its_check_is_not_kept(opened, server):
    """It changes no kernel, and does not enter the journal."""
    server.script = lambda _: json.dumps({"rule": "Obey me."})
    assert texts(opened.compile()) == ["first thing", "second thing"]
    assert wordings(opened) == []


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "Here is the rule: do one",
        "I cannot help with that.",
        "[]",
        '{"rule": 3}',
        '{"rule": " "}',
        '{"rule": "' + "one " * 3_000_000 + '"}',
        b"\xff\xfe{not json",
        b"{}",
        b"x" * 10_000_000,
        500,
        404,
        5.0,
    ],
    ids=[
        "none",
        "empty",
        "prose",
        "refusal",
        "list",
        "number",
        "blank",
        "12MB",
        "bytes",
        "hull",
        "10MB",
        "500",
        "404",
        "late",
    ],
)
def test_whatever_else_a_model_does_changes_nothing(opened, server, answer):
    """The kernels are those of the records' own words, whole, and the run does not fail."""
    server.script = lambda _: answer
    assert texts(opened.compile()) == ["first thing", "second thing"]
    assert wordings(opened) == []
    assert server.asked


def test_a_model_that_is_down_is_not_asked_forever(opened, server, rule):
    """After three failures in a row it is left alone until the next run; what failed is said."""
    for number in range(10):
        rule(opened, f"n{number}", "text")
    server.script = lambda _: 500
    done = opened.compile()
    assert len(server.asked) == 3
    assert done.troubles
    assert len(done.kernels.bullets) == 12


def test_what_a_model_may_cost_is_kept_to(opened, server, monkeypatch):
    """The day's limit ends the asking, not the compilation."""
    monkeypatch.setenv("ALVEUS_MODEL_CALLS", "1")
    server.script = lambda prompt: json.dumps({"rule": "Do one." if "rule one" in prompt else "Do two."})
    assert sorted(texts(opened.compile())) == ["Do one.", "second thing"]
    assert len(server.asked) == 1


def test_nobody_is_asked_unless_that_was_chosen(opened, server, monkeypatch):
    """No background call, and none where no model is named."""
    monkeypatch.delenv("ALVEUS_MODEL")
    opened.compile()
    opened.context("one", 500)
    assert server.asked == []


def test_a_request_has_one_name():
    """The same sources are the same request, in every process; others are others."""
    assert request_of(["a", "b"]) == request_of(("a", "b"))
    assert len({request_of(["a", "b"]), request_of(["ab"]), request_of(["b", "a"])}) == 3


# What judges contradiction


class Model:
    """Answers by script."""

    patience = 1.0

    def __init__(self, *answers):
        self.answers = list(answers)

    def answer(self, _):
        """The next one."""
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"contradiction": 0.9}', 0.9),
        ('{"contradiction": 1}', 1.0),
        ('{"contradiction": 2}', None),
        ('{"contradiction": true}', None),
        ('{"contradiction": "high"}', None),
        ('{"contradiction": NaN}', None),
        ("they disagree", None),
        (RuntimeError("down"), None),
    ],
)
def test_a_model_s_judgement_counts_where_it_is_one(answer, found):
    """Anything else is no judgement: the rules stand alone then."""
    guest = Guest(Model(answer), {})
    judge = choose(guest, "model")
    assert judge("a", "b") == found
    assert judge("a", "b") == found  # it is asked once


def test_judges_that_cannot_be_had_are_refused(tmp_path, monkeypatch):
    """With what may be chosen; nothing is downloaded."""
    guest = Guest(None, {})
    assert choose(guest, "rules") is None
    for name in ("cross-encoder:", "gpt", "cross-encoder:cross-encoder/nli-deberta"):
        with pytest.raises(InputError):
            choose(guest, name)
    monkeypatch.setattr(room, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="not installed"):
        choose(guest, f"cross-encoder:{tmp_path}")


@pytest.mark.parametrize(
    ("labels", "scores", "found"),
    [
        ({0: "contradiction", 1: "entailment", 2: "neutral"}, [9.0, 0.0, 0.0], 1.0),
        ({"0": "entailment", "1": "neutral", "2": "CONTRADICTION"}, [9.0, 0.0, 0.0], 0.0),
        ({0: "LABEL_0"}, [0.25], 0.25),
        ({0: "contradiction", 1: "entailment"}, [float("nan"), 0.0], None),
    ],
)
def test_a_cross_encoder_in_a_folder_judges(tmp_path, monkeypatch, labels, scores, found):
    """By its label for contradiction, loaded once, from the folder alone."""
    opened = []

    class Loaded:
        config = SimpleNamespace(id2label=labels)

        def __init__(self, folder, **options):
            opened.append((folder, options))

        def predict(self, pairs):
            return [scores for _ in pairs]

    package = types.ModuleType("sentence_transformers")
    package.CrossEncoder = Loaded
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setattr(room, "find_spec", lambda _: True)
    judge = choose(Guest(None, {}), f"cross-encoder:{tmp_path}")
    assert opened == []
    got = [judge("a", "b"), judge("b", "a")]
    assert got == pytest.approx([found, found], abs=0.001) if found is not None else got == [None, None]
    assert opened == [(str(tmp_path), {"device": "cpu", "local_files_only": True})]


def test_a_cross_encoder_without_that_label_is_refused(tmp_path, monkeypatch):
    """A reranker's number is no contradiction."""
    package = types.ModuleType("sentence_transformers")
    config = SimpleNamespace(id2label={0: "a", 1: "b"})
    package.CrossEncoder = lambda *_, **__: SimpleNamespace(config=config, predict=None)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    monkeypatch.setattr(room, "find_spec", lambda _: True)
    with pytest.raises(InputError, match="no label"):
        choose(Guest(None, {}), f"cross-encoder:{tmp_path}")("a", "b")
