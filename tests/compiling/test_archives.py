"""The real compilation over an imported archive: the same kernels however it came in. spec/kernels.md, section 1."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import alveus as package
from alveus import Hippocampus
from alveus.importers import run
from alveus.kernels.compiler import FILES
from plain_rules import archive


@pytest.fixture
def sessions(tmp_path):
    """The files of an archive, a session each."""
    folder = tmp_path / "archive"
    folder.mkdir()
    paths = []
    for name, messages in archive().items():
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in messages), "utf-8")
    return paths


def named_by_origin(memory):
    """The three files, every record named by its origin instead of its id."""
    records = {one.record_id: one.hc.origin for one in memory.iter_records() if one.hc.origin}
    kernels = memory.kernels()
    origins = {kernels.short(one): origin for one, origin in records.items()}
    named = re.compile("|".join(sorted(origins, key=len, reverse=True))) if origins else None
    texts = {file: (memory.folder / "kernels" / file).read_text("utf-8") for file in FILES.values()}
    return {file: named.sub(lambda found: origins[found[0]], text) for file, text in texts.items()}


def test_whatever_the_order_of_import_the_kernels_are_the_same(tmp_path, sessions):
    """Byte for byte, once records are named by their origin."""
    found = []
    for seed in range(3):
        paths = list(sessions)
        random.Random(seed).shuffle(paths)
        with Hippocampus.open(home=tmp_path / f"home{seed}", agent_id="river") as memory:
            for path in paths:
                run(memory, path)
            memory.compile()
            found.append(named_by_origin(memory))
    assert found[0] == found[1] == found[2]
    assert "openai-chat:" in "".join(found[0].values())


def test_imported_by_two_processes_the_kernels_are_the_same(tmp_path, sessions):
    """They write into one journal at once, and a third process compiles."""
    with Hippocampus.open(home=tmp_path / "one", agent_id="river") as memory:
        for path in sessions:
            run(memory, path)
        memory.compile()
        expected = named_by_origin(memory)
    home = tmp_path / "two"
    Hippocampus.open(home=home, agent_id="river").close()
    env = {"PYTHONPATH": str(Path(package.__file__).parents[1]), "ALVEUS_EMBEDDER": "none"}
    alveus = [sys.executable, "-m", "alveus.doors.cli", "--home", str(home), "--agent", "river"]
    halves = [sessions[::2], sessions[1::2]]
    importing = [
        subprocess.Popen([*alveus, "import", *map(str, half)], env=env, stdout=subprocess.PIPE) for half in halves
    ]
    assert [one.wait(120) for one in importing] == [0, 0]
    for one in importing:
        one.stdout.close()
    assert subprocess.run([*alveus, "compile"], env=env, capture_output=True, check=False).returncode == 0
    with Hippocampus.open(home=home, agent_id="river", read_only=True) as memory:
        assert named_by_origin(memory) == expected


def test_a_digest_comes_to_the_same_as_a_compilation(tmp_path, sessions):
    """Half now, half later: what is kept of the first run changes nothing."""
    with Hippocampus.open(home=tmp_path / "one", agent_id="river") as memory:
        for path in sessions:
            run(memory, path)
        memory.compile()
        expected = named_by_origin(memory)
    with Hippocampus.open(home=tmp_path / "two", agent_id="river") as memory:
        for path in sessions[: len(sessions) // 2]:
            run(memory, path)
        memory.compile()
        for path in sessions[len(sessions) // 2 :]:
            run(memory, path)
        memory.digest(now=True)
        assert named_by_origin(memory) == expected


def test_the_kernels_hold_what_was_said_again_and_nothing_of_tools(tmp_path, sessions):
    """A rule of several sessions is there with its records; what stood once in tool output is not."""
    with Hippocampus.open(home=tmp_path / "home", agent_id="river") as memory:
        for path in sessions:
            run(memory, path)
        done = memory.compile()
        text = "".join(named_by_origin(memory).values())
        sources = {memory.get(one).hc.src.value for bullet in done.kernels.bullets for one in bullet.sources}
    assert done.kernels.bullets
    assert "force-push" in text
    assert "ignore all previous" not in text
    assert "tool" not in sources


def test_imported_twice_the_archive_is_the_same_archive(tmp_path, sessions):
    """Nothing is said twice because it came twice."""
    with Hippocampus.open(home=tmp_path / "home", agent_id="river") as memory:
        for path in sessions:
            run(memory, path)
        memory.compile()
        before = named_by_origin(memory)
        for path in sessions:
            run(memory, path)
        assert not memory.compile().changed
        assert named_by_origin(memory) == before


def test_a_summary_of_the_program_s_own_is_nobody_s_rule(tmp_path):
    """What a harness writes in the user's name does not become the user's rule, however long it is."""
    rule = "Never deploy on Fridays, and never without the smoke run."
    lines = [
        {
            "role": "system",
            "id": f"x{number}",
            "session": f"s{number}",
            "time": f"2025-03-0{number + 1}T09:00:00Z",
            "content": rule,
        }
        for number in range(5)
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    with Hippocampus.open(home=tmp_path / "home", agent_id="river") as memory:
        run(memory, path)
        assert memory.compile().kernels.bullets == ()
