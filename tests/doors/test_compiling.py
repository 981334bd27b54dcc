"""Commands about the agent's self, as a person or a program calls them. alveus/doors/compiling."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

import alveus as package
from alveus import Hippocampus
from plain_rules import compile_plainly


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    monkeypatch.setattr("alveus.kernels.compiler.compile_kernels", compile_plainly)


@pytest.fixture
def said(begun):
    """A journal with two rules."""
    begun("record", "observation", "rule identity-name = Wren")
    begun("record", "observation", "rule tests = run them")
    return begun


def test_compile_writes_the_kernels_and_says_where(said, folder):
    """Once more, it says that nothing changed."""
    first = said("compile")
    assert first.status == 0
    assert str(folder / "kernels") in first.out
    assert "2 added" in first.out
    assert "run them" in (folder / "kernels" / "decision_kernel.md").read_text()
    assert "they were" in said("compile").out


def test_compile_as_json(said, folder):
    """One document, with the changes and the folder."""
    told = said("compile", "--json").document
    assert (told["version"], told["digest"], told["counts"]["added"], told["changed"]) == (1, 1, 2, True)
    assert told["folder"] == str(folder / "kernels")
    assert {one["new"]["text"] for one in told["changes"]} == {"Wren", "run them"}
    assert told["explain"]["considered"] == {"said": 2}


def test_compile_explains_itself(said):
    """What was considered, and why a kernel is empty."""
    ended = said("compile", "--explain")
    assert "anti: nothing was said twice." in ended.err
    assert "2  said" in ended.err


def test_compile_since(said):
    """What happened before is left out; what is no time is refused."""
    assert said("compile", "--since", "2999-01-01", "--json").document["bullets"] == 0
    assert said("compile", "--since", "soon").status == 2


def test_kernel_show(said):
    """All three, one, as JSON; an unknown one is refused; before there is any, that is said."""
    assert said("kernel", "show").status == 3
    said("compile")
    shown = said("kernel", "show")
    assert "# Identity kernel" in shown.out
    assert "# Anti-kernel" in shown.out
    one = said("kernel", "show", "identity").out
    assert "Wren" in one
    assert "run them" not in one
    told = said("kernel", "show", "identity", "--json").document
    assert [bullet["text"] for bullet in told["bullets"]] == ["Wren"]
    assert len(told["bullets"][0]["sources"][0]) == 32
    assert said("kernel", "show", "soul").status == 2
    assert said("kernel", "show", "--version", "9").status == 3


def test_kernel_diff(said):
    """Between the last two, or any two that are kept."""
    said("compile")
    assert said("kernel", "diff").status == 3
    said("record", "observation", "rule tests = run them twice")
    said("digest", "--now")
    shown = said("kernel", "diff").out
    assert "superseded:" in shown
    assert "+ decision: run them twice" in shown
    told = said("kernel", "diff", "1", "2", "--json").document
    assert (told["from"], told["to"], told["counts"]["superseded"]) == (1, 2, 1)
    assert said("kernel", "diff", "1", "1", "--json").document["changes"] == []


def test_kernel_log_says_who_what_and_when(said, folder, tmp_path):
    """The canon, each version, each edit; newest first."""
    (tmp_path / "SOUL.md").write_text("You are Wren.\n")
    said("canon", "set", str(tmp_path / "SOUL.md"))
    said("compile")
    path = folder / "kernels" / "anti-kernel.md"
    path.write_text(path.read_text() + "mine\n")
    said("digest", "--now")
    rows = [line.split("\t") for line in said("kernel", "log").lines]
    assert [row[2] for row in rows] == ["kernels compiled", "edited by hand", "kernels compiled", "canon set"]
    assert [row[1] for row in rows] == ["system", "system", "system", "user"]
    assert rows[1][4] == "anti-kernel.md"
    steps = said("kernel", "log", "--json").document["steps"]
    assert steps[0]["details"]["edited"] == ["anti-kernel.md"]
    assert len(said("kernel", "log", "-n", "1").lines) == 1
    assert len(said("kernel", "log", "--jsonl").lines) == 4
    assert said("show", rows[0][3]).status == 0


def test_canon(begun, tmp_path):
    """Set, shown, set again; none and no file are said."""
    assert begun("canon", "show").status == 3
    assert begun("canon", "set", str(tmp_path / "none.md")).status == 3
    soul = tmp_path / "SOUL.md"
    soul.write_text("Ты Дозор.\n")
    record = begun("canon", "set", str(soul)).lines[0]
    assert begun("canon", "set", str(soul)).lines[0] == record
    assert begun("canon", "show").out == "Ты Дозор.\n"
    told = begun("canon", "show", "--json").document
    assert (told["text"], told["file"], told["record_id"]) == ("Ты Дозор.\n", str(soul), record)


def test_identity_check(said, folder, tmp_path):
    """0 for the recorded files, 4 for one that was changed, 3 for what nobody recorded."""
    assert said("identity", "check").status == 3
    soul = tmp_path / "SOUL.md"
    soul.write_text("You are Wren.\n")
    assert said("identity", "check", str(soul)).status == 3
    said("canon", "set", str(soul))
    said("compile")
    assert said("identity", "check").status == 0
    assert said("identity", "check", str(soul)).status == 0
    kernel = folder / "kernels" / "identity_kernel.md"
    kernel.write_text(kernel.read_text().replace("Wren", "Jay"))
    ended = said("identity", "check")
    assert ended.status == 4
    assert "NOT the recorded one" in ended.out
    assert "1 line added, 1 removed" in ended.out
    assert any(line.strip().startswith("+ - Jay [") for line in ended.lines)
    assert "kernels compiled" in ended.out
    assert said("identity", "check", str(kernel)).status == 4
    assert said("identity", "check", str(soul)).status == 0
    told = said("identity", "check", "--json").document
    assert told["recorded"] is False
    assert {one["state"] for one in told["files"]} == {"recorded", "changed"}
    soul.write_text("You are Jay.\n")
    assert said("identity", "check", str(soul)).status == 4
    said("digest", "--now")
    said("canon", "set", str(soul))
    assert said("identity", "check").status == 0
    assert said("identity", "check", str(tmp_path / "none.md")).status == 3


def test_digest_forced_looked_at_and_not_due(said):
    """Without an option it does what a hook wants."""
    assert "none yet" in said("digest", "--status").out
    ended = said("digest")
    assert ended.status == 0
    assert "not due" in ended.err
    assert said("digest", "--json").document["made"] is None
    assert "digest 1, kernels 1: 2 added" in said("digest", "--now").out
    told = said("digest", "--status", "--json").document
    assert (told["digest"], told["version"], told["due"], told["threshold"]) == (1, 1, False, 1_572_864)
    assert "nothing changed" in said("digest", "--now").out
    assert said("digest", "--now", "--watch").status == 2


def test_drift_compares_epochs_with_the_canon(begun):
    """What the agent said, by epochs; as text and as JSON; and what is no length is refused."""
    assert "not said enough" in begun("drift").err
    for day in range(1, 29):
        event = f"2025-03-{day:02}T09:00:00Z"
        begun("record", "observation", f"We always run the tests, number {day}.", "--event-time", event)
    assert begun("drift", "--days", "0").status == 2
    told = begun("drift", "--days", "7", "--json").document
    assert told.keys() == {"canon", "changes", "epochs"}


def test_drift_names_the_records_that_moved_it(begun, home):
    """A change point, as a person reads it and as a program does."""
    formal = ["The boxes were counted and the report is attached.", "The delivery left at nine, the list is complete."]
    chummy = ["Haha, just kidding, imagine we sold the van!", "Would you believe it? Who knows? Haha!"]
    moved = set()
    with Hippocampus.open(home=home, agent_id="river") as memory:
        for day in range(84):
            for at, said in enumerate((formal if day < 42 else chummy) * 2):
                when = f"{date(2025, 3, 3) + timedelta(days=day)}T09:0{at}:00Z"
                record = memory.record("state", said, src="agent", session=f"s{day}", event_time=when)
                moved |= {record.record_id} if day >= 42 else set()
    ended = begun("drift", "--days", "7")
    (change,) = [line for line in ended.lines if ", epochs of 7 days: tone moved from " in line]
    named = [line.split() for line in ended.lines if line.startswith("  ") and line.split()[0] in moved]
    assert named
    assert all(" ".join(words[1:]) in chummy for words in named)
    changes = begun("drift", "--days", "7", "--json").document["changes"]
    (tone,) = [one for one in changes if one["measure"] == "tone"]
    assert set(tone["records"]) <= moved
    assert change.startswith(f"{datetime.fromtimestamp(tone['at'], UTC).date()},")


def test_a_kernel_that_is_gone_is_named_with_what_to_do(said, folder):
    """One file of three, or the link to them."""
    said("compile")
    (folder / "kernels" / "anti-kernel.md").unlink()
    ended = said("kernel", "show")
    assert ended.status == 3
    assert "anti-kernel.md is gone" in ended.err
    assert "`alveus compile`" in ended.err
    (folder / "kernels").unlink()
    found = [one for one in said("doctor", "--json").document["checks"] if one["name"] == "kernels"]
    assert [one["health"] for one in found] == ["bad"]
    said("compile")
    assert said("kernel", "show").status == 0


def test_the_first_kernels_are_not_said_to_be_what_they_were(begun):
    """Of nothing there are kernels that say why; and again, that nothing changed."""
    assert "no rule changed" in begun("compile").out
    assert "the kernels are what they were" in begun("compile").out


def test_doctor_tells_of_kernels(said, folder):
    """Those that serve, those that were changed, a run that failed."""
    assert "kernels" in said("doctor").out
    said("compile")
    checks = {one["name"]: one for one in said("doctor", "--json").document["checks"]}
    assert checks["kernels"]["health"] == "ok"
    path = folder / "kernels" / "identity_kernel.md"
    path.write_text(path.read_text() + "mine\n")
    found = [one for one in said("doctor", "--json").document["checks"] if one["name"] == "kernels"]
    assert [one["health"] for one in found] == ["warn"]
    assert "identity_kernel.md" in found[0]["found"]


def test_context_has_the_kernels_first(said):
    """As text and as JSON."""
    said("compile")
    told = said("context", "who", "--budget", "500", "--json").document
    assert told["text"].startswith("## Identity kernel\n\n- Wren [")
    assert told["stable"] > 0


def test_watching_makes_what_is_due_and_ends_with_a_signal(said, home, folder):
    """Beside the agent, in a process of its own; the real compilation runs there."""
    said("digest", "--now")
    source = str(Path(package.__file__).parents[1])
    command = [sys.executable, "-m", "alveus.doors.cli", "--home", str(home), "--agent", "river"]
    env = {"PYTHONPATH": source, "PATH": os.environ["PATH"], "ALVEUS_EMBEDDER": "none"}
    watcher = subprocess.Popen(
        [*command, "digest", "--watch", "--every", "0.2", "--json"],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        for _ in range(4):
            said("record", "observation", "x" * 500_000)
        for _ in range(600):
            if (folder / "digests" / "2.md").exists():
                break
            time.sleep(0.1)
        time.sleep(0.5)
        watcher.send_signal(signal.SIGTERM)
        out, err = watcher.communicate(timeout=60)
    finally:
        watcher.kill()
    assert watcher.returncode == 0, err
    made = json.loads(out)
    assert made["made"]["digest"] == 2
    assert b"watching" in err
    assert not (folder / "digests" / "3.md").exists()


def test_a_second_signal_does_not_wait_for_the_digest(said, monkeypatch):
    """The first says what it waits for; the second ends it at once, as an interrupt, and the old kernels stay."""

    def make(*_args, **_options):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the second signal did not end it")

    said("digest", "--now")
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    monkeypatch.setattr(Hippocampus, "digest", make)
    try:
        ended = said("digest", "--watch")
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    assert ended.status == 130
    assert "Ctrl-C again ends it now" in ended.err
    assert said("kernel", "show").status == 0
