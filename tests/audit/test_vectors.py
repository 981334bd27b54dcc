"""Every published vector of the audit, and the vectors themselves, made again."""

import json
import random
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from alveus.audit.judge import PRECEDENCE, Contract, State, judge
from alveus.audit.receipt import from_json

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "audit"
VECTORS = [
    pytest.param(vector, id=f"{path.stem}:{vector['name']}")
    for path in sorted(FOLDER.glob("*.json"))
    for vector in json.loads(path.read_bytes())["vectors"]
]
NAMES = {
    "userScope": "user_scope",
    "assistantScope": "assistant_scope",
    "sourceVersion": "source_version",
    "runId": "run_id",
    "freshFor": "fresh_for",
}


def contract_of(vector):
    """The contract of a vector, as the judge takes it."""
    told = {NAMES.get(name, name): value for name, value in vector["contract"].items()}
    if "fresh_for" in told:
        told["fresh_for"] = timedelta(seconds=told["fresh_for"])
    return Contract(**told)


def judged(vector, receipts):
    """What the judge makes of a vector's receipts."""
    return judge(receipts, contract_of(vector), datetime.fromisoformat(vector["now"]))


@pytest.mark.parametrize("vector", VECTORS)
def test_the_judge_agrees_with_a_vector(vector):
    """The state, the rules that name it and the flags are those published, in whatever order the receipts come."""
    receipts = [from_json(one) for one in vector["receipts"]]
    shuffled = random.Random(vector["name"]).sample(receipts, len(receipts))
    for order in (receipts, shuffled):
        health = judged(vector, order)
        told = {"state": health.state, "rules": sorted({one.rule for one in health.decided}), "flags": [*health.flags]}
        assert told == vector["expect"], [one.sentence for one in health.evidence]


def test_making_the_vectors_again_gives_the_same_bytes(tmp_path):
    """The published files are what the program makes, byte for byte, and there is no other file."""
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True, capture_output=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in FOLDER.glob("*.json")}


def test_every_state_and_every_pair_of_states_has_a_vector():
    """The eight cases have a state each, and no pair is left out."""
    eight = json.loads((FOLDER / "eight.json").read_bytes())["vectors"]
    assert {vector["expect"]["state"] for vector in eight} == set(State)
    names = {vector["name"] for vector in json.loads((FOLDER / "pairs.json").read_bytes())["vectors"]}
    for at, first in enumerate(PRECEDENCE):
        for second in PRECEDENCE[at + 1 :]:
            assert {f"{first} then {second}", f"{first} after {second}"} <= names
