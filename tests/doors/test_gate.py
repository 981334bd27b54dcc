"""The gate: green on ours, red on a memory that lets go before it has hold, and never green by default."""

import importlib.util
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alveus.doors.adapters.base import METHODS, AdapterError
from alveus.doors.adapters.worker import Worker
from alveus.doors.gate import STEPS, Gate

STANDINS = Path(__file__).resolve().parents[1] / "standins"


@pytest.fixture
def gate(call, monkeypatch):
    """Run the gate with the stand-ins importable, as if they were installed."""

    def run(*arguments, standins=STANDINS):
        monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).resolve().parents[2] / 'src'}:{standins}")
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        return call("gate", *arguments)

    return run


@pytest.fixture
def worker():
    """Make the parent's end of a target; its process is ended with the test."""
    made = []

    def make(*arguments, **options):
        made.append(Worker(*arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.kill()


def verdicts(ended):
    """The verdict of each step, by its number."""
    return {step["number"]: step["verdict"] for step in ended.document["steps"]}


def evidence(ended, number):
    """The evidence of a step, as one text."""
    return "\n".join(ended.document["steps"][number - 1]["evidence"])


def test_ours_passes(gate):
    """Seven steps hold, in a home that is thrown away, and the agent's own journal is not touched."""
    ended = gate("--json")
    assert verdicts(ended) == dict.fromkeys(range(1, 8), "holds"), ended.out
    assert (ended.status, ended.document["holds"]) == (0, True)


def test_memoryos_is_stopped_where_it_lets_go(gate, tmp_path):
    """Red at 3 (a page in neither file while the model is called) and 5 (the hint is lost), and the scopes at 2."""
    ended = gate("--target", f"memoryos:{tmp_path}", "--json")
    assert ended.status == 5
    assert verdicts(ended) == {
        1: "holds",
        2: "fails",
        3: "fails",
        4: "holds",
        5: "fails",
        6: "holds",
        7: "holds",
    }
    assert "while a model is called: source_at_risk, neither in STM nor in MTM" in evidence(ended, 3)
    assert "does not follow" in evidence(ended, 5)
    assert "another assistant's lane" in evidence(ended, 2)
    assert "another user" not in evidence(ended, 2)


def test_a_mem0_shaped_object_shows_what_it_can(gate, tmp_path):
    """What cannot be shown does not hold: no fallback to be asked for, so the gate stays closed."""
    (tmp_path / "shaped.py").write_text(MEM0.format(path=str(tmp_path / "memories.json")), "utf-8")
    ended = gate("--target", "mem0:shaped:Memory", "--json", standins=tmp_path)
    assert verdicts(ended) == {1: "holds", 2: "holds", 3: "holds", 4: "not_shown", 5: "holds", 6: "holds", 7: "holds"}
    assert ended.status == 5


@pytest.mark.parametrize(
    ("spoil", "number"),
    [
        ("rows = rows[-1:]", 3),  # it forgets all but the newest
        ("rows = [[*row[:1], 'all', row[2]] for row in rows]; agent_id = 'all'", 2),  # one assistant's is everybody's
        ("rows = [[user_id, agent_id, row[2]] for row in rows[:-4]] + rows[-4:]", 2),  # what is older is everybody's
    ],
)
def test_a_mem0_shaped_object_that_loses_or_mixes_is_seen(gate, tmp_path, spoil, number):
    """The step that is to see it does."""
    program = MEM0.format(path=str(tmp_path / "memories.json")).replace("# SPOIL", spoil)
    (tmp_path / "spoiled.py").write_text(program, "utf-8")
    ended = gate("--target", "mem0:spoiled:Memory", "--json", standins=tmp_path)
    assert (ended.status, verdicts(ended)[number]) == (5, "fails")


MEM0 = """
import json, pathlib

class Memory:
    path = pathlib.Path({path!r})

    def rows(self, user_id, agent_id):
        rows = json.loads(self.path.read_text()) if self.path.exists() else []
        # SPOIL
        return [text for user, agent, text in rows if (user, agent) == (user_id, agent_id)]

    def add(self, text, *, user_id, agent_id):
        rows = json.loads(self.path.read_text()) if self.path.exists() else []
        self.path.write_text(json.dumps([*rows, [user_id, agent_id, text]]))
        print("a library that prints")

    def get_all(self, *, user_id, agent_id):
        return {{"results": [{{"id": "1", "memory": text}} for text in self.rows(user_id, agent_id)]}}

    def search(self, query, *, user_id, agent_id):
        found = [text for text in self.rows(user_id, agent_id) if set(text.split()) & set(query.split())]
        return {{"results": [{{"memory": text, "score": 1}} for text in found]}}
"""


# The real packages, where they are installed


def package_folder(name):
    """The folder that a package is in; without it the test is skipped, and says so."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        pytest.skip(f"the package {name} is not installed: its stand-in was tested, the package itself was not")
    return Path(spec.origin).parents[1]


def test_the_real_memoryos_is_stopped_where_its_stand_in_is(gate, tmp_path):
    """BAI-LAB's package (memoryos-pro, faiss), with a local answer for its model: red at 3 and 5, pinned by version."""
    ended = gate("--target", f"memoryos:{tmp_path}", "--json", standins=package_folder("memoryos"))
    assert ended.status == 5
    found = verdicts(ended)
    assert (found[1], found[2], found[3], found[5]) == ("holds", "fails", "fails", "fails"), ended.out
    assert "while a model is called: source_at_risk, neither in STM nor in MTM" in evidence(ended, 3)
    assert "another user" not in evidence(ended, 2)
    assert re.fullmatch(r"memoryos/\d[\w.]*\+[0-9a-f]{16}", ended.document["source_version"])


def test_the_real_mem0_shows_what_it_can(gate, tmp_path, monkeypatch):
    """mem0ai with its models replaced and all else its own: only the fallback cannot be shown."""
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("HOME", str(tmp_path))
    places = f"{STANDINS}:{package_folder('mem0')}"
    ended = gate("--target", "mem0:mem0_local:Memory", "--json", standins=places)
    assert verdicts(ended) == {1: "holds", 2: "holds", 3: "holds", 4: "not_shown", 5: "holds", 6: "holds", 7: "holds"}
    assert re.fullmatch(r"mem0/\d[\w.]*\+[0-9a-f]{16}", ended.document["source_version"])


@pytest.mark.parametrize("shape", ["filters", "names"])
def test_both_ways_of_naming_a_lane_are_taken(gate, tmp_path, shape):
    """`user_id=…` as mem0 took it first, `filters={…}` as it takes it since; a list is asked for whole."""
    program = MEM0.format(path=str(tmp_path / "memories.json"))
    if shape == "filters":
        program = program.replace("def get_all(self, *, user_id, agent_id):", "def get_all(self, *, filters, top_k=2):")
        program = program.replace(
            "def search(self, query, *, user_id, agent_id):", "def search(self, query, *, filters, top_k=20):"
        )
        program = program.replace("in self.rows(user_id, agent_id)]}", "in self.rows(**filters)][:top_k]}")
        program = program.replace("in self.rows(user_id, agent_id) if", "in self.rows(**filters) if")
    (tmp_path / "shaped.py").write_text(program, "utf-8")
    ended = gate("--target", "mem0:shaped:Memory", "--json", standins=tmp_path)
    assert verdicts(ended) == {1: "holds", 2: "holds", 3: "holds", 4: "not_shown", 5: "holds", 6: "holds", 7: "holds"}


def test_a_package_that_is_not_there_is_said_to_be_missing(gate, tmp_path):
    """Each step fails with the reason; nothing is green."""
    ended = gate("--target", f"memoryos:{tmp_path}", "--json", standins=tmp_path)
    assert ended.status == 5
    assert set(verdicts(ended).values()) <= {"fails", "not_shown"}
    assert "not installed" in evidence(ended, 1)


@pytest.mark.parametrize("target", ["nothing", "self:x", "memoryos", "memoryos:", "mem0", ""])
def test_a_target_that_there_is_not_is_a_wrong_call(gate, target):
    """Status 2, before anything is started."""
    ended = gate("--target", target)
    assert (ended.status, "memoryos:PATH" in ended.err) == (2, True)


def test_a_person_sees_a_table(gate, tmp_path):
    """A row for each step, in order; one document a step under --jsonl."""
    ended = gate("--target", f"memoryos:{tmp_path}")
    assert "CLOSED: 4 of 7 steps hold" in ended.lines[0]
    assert [line.split()[0] for line in ended.lines if line[2:3].isdigit()] == [*"1234567"]
    lines = gate("--target", f"memoryos:{tmp_path}", "--jsonl").lines
    assert [json.loads(line)["number"] for line in lines] == [*range(1, 8)]


def test_a_restart_is_another_process(tmp_path, monkeypatch, worker):
    """The target's process ends, and another one answers the next question."""
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).resolve().parents[2] / 'src'}:{STANDINS}")
    worker = worker(f"memoryos:{tmp_path}", tmp_path)
    worker.ask("store", "u", "a", "first")
    first = worker.pid
    worker.restart()
    assert worker.pid is None
    assert worker.ask("observe", "u", "a", "first") == {"source_present": True, "destination_present": False}
    assert worker.pid not in (None, first)


def test_a_target_that_keeps_silent_or_ends_is_an_error(tmp_path, monkeypatch, worker):
    """No gate hangs on a memory that does."""
    (tmp_path / "strange.py").write_text(
        "import os, time\nclass Memory:\n    def add(self, *a, **k): time.sleep(60)\n"
        "    def search(self, *a, **k): os._exit(3)\n    def get_all(self, **k): raise ValueError('PLANTED')\n",
        "utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).resolve().parents[2] / 'src'}:{tmp_path}")
    worker = worker("mem0:strange:Memory", tmp_path, patience=3)
    for method, arguments, code in (
        ("store", ["u", "a", "x"], "target_silent"),
        ("retrieve", ["u", "a", "x"], "target_ended"),
        ("observe", ["u", "a", "x"], "target_failed"),
        ("secrets", [], "target_unusable"),
    ):
        with pytest.raises(AdapterError) as caught:
            worker.ask(method, *arguments)
        assert caught.value.code == code
        assert "PLANTED" not in caught.value.message


def test_the_steps_and_the_questions_are_those_there_are():
    """Seven steps, each once; a target is asked nothing but what the protocol names."""
    assert sorted(number for number, _, _ in STEPS) == [*range(1, 8)]
    assert {"store", "observe", "retrieve", "pin", "close"} <= METHODS


@pytest.mark.parametrize("patience", [120.0, 2.0], ids=["the model fails", "killed while the model is called"])
def test_a_page_that_memoryos_lost_is_at_risk_and_stays_so(tmp_path, monkeypatch, worker, patience):
    """A promotion is cut off, another process looks: in neither file, and the judge says so."""
    if patience < 120:
        monkeypatch.setenv("STANDIN_HANGS", "yes")
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).resolve().parents[2] / 'src'}:{STANDINS}")
    monkeypatch.setenv("OPENAI_API_KEY", "none")  # so that the stand-in's own model is called, which has no network
    target = worker(f"memoryos:{tmp_path}", tmp_path)
    gate = Gate(target, tmp_path, lambda: datetime.now(UTC))
    gate.capacity, gate.source_version = target.ask("pin")["capacity"], "example/1"
    target._patience = patience  # once it is there: a worker that keeps silent is killed
    canaries = [gate.store(gate.lanes[0]) for _ in range(gate.capacity)]
    with pytest.raises(AdapterError):
        gate.store(gate.lanes[0])
    target.kill()
    states = [gate.judged(canary, gate.see(canary)).state for canary in canaries]
    assert states == ["source_at_risk", "waiting", "waiting"]
