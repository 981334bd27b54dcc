"""ATIF both ways: a trajectory loses nothing by being imported, written again, and imported elsewhere."""

from __future__ import annotations

import json

import pytest

from alveus import Hippocampus
from alveus.importers import run
from alveus.importers.atif_writer import own_fields, trajectories

FULL = {
    "schema_version": "ATIF-v1.7",
    "session_id": "session-1",
    "trajectory_id": "trajectory-1",
    "agent": {
        "name": "ann",
        "version": "1.2",
        "model_name": "m",
        "tool_definitions": [{"name": "ls"}],
        "extra": {"a": 1},
    },
    "notes": "notes",
    "final_metrics": {
        "total_prompt_tokens": 10,
        "total_cost_usd": 0.25,
        "extra": {"x": {"y": {"z": [1, {"deep": {"er": 2}}]}}},
    },
    "continued_trajectory_ref": "next.json",
    "extra": {"who": "me"},
    "steps": [
        {"step_id": 1, "timestamp": "2026-03-01T10:00:00+03:00", "source": "system", "message": "be short"},
        {
            "step_id": 2,
            "timestamp": "2026-03-01T10:00:01.250+03:00",
            "source": "user",
            "message": "list\nthe files",
            "extra": {"channel": "cli"},
        },
        {
            "step_id": 3,
            "timestamp": "2026-03-01T07:00:02Z",
            "source": "agent",
            "model_name": "m",
            "reasoning_effort": "high",
            "message": "I look.",
            "reasoning_content": "where?",
            "llm_call_count": 1,
            "tool_calls": [
                {"tool_call_id": "c1", "function_name": "ls", "arguments": {"path": "/tmp", "n": 1.5}},
                {
                    "tool_call_id": "c2",
                    "function_name": "Write",
                    "arguments": {"file_path": "SOUL.md", "content": "I am Ann."},
                },
                {"tool_call_id": "c3", "function_name": "Task", "arguments": {"prompt": "go", "subagent_type": "x"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "c1", "content": "a.txt"},
                    {"source_call_id": "c2", "content": "written", "extra": {"ms": 4}},
                    {"source_call_id": "c3", "subagent_trajectory_ref": [{"session_id": "session-1-sub"}]},
                ]
            },
            "metrics": {"prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.001, "logprobs": [-0.1, -0.2]},
        },
        {
            "step_id": 4,
            "timestamp": "2026-03-01T07:00:03Z",
            "source": "user",
            "message": [
                {"type": "text", "text": "and this?"},
                {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
            ],
        },
        {"step_id": 5, "source": "agent", "message": "", "is_copied_context": True},
        {"step_id": 6, "timestamp": "yesterday", "source": "agent", "message": "done"},
    ],
    "subagent_trajectories": [
        {
            "schema_version": "ATIF-v1.7",
            "session_id": "session-1-sub",
            "agent": {"name": "sub", "version": "1"},
            "steps": [
                {"step_id": 1, "source": "user", "message": "go"},
                {"step_id": 2, "source": "agent", "message": "went"},
            ],
        },
    ],
}


def bare(trajectory):
    """A trajectory without what this program adds."""
    whole = own_fields(trajectory)
    whole["steps"] = [own_fields(step) for step in trajectory["steps"]]
    if inside := trajectory.get("subagent_trajectories"):
        whole["subagent_trajectories"] = [bare(one) for one in inside]
    return whole


def records(memory):
    """What an import stored, but for what only this journal gives it."""
    return [(one.kind, one.content, dict(one.metadata), *one.hc[7:13]) for one in memory.iter_records()]


@pytest.fixture
def two(tmp_path, clock):
    """Two journals, which have nothing in common."""
    with (
        Hippocampus.open(home=tmp_path / "here", agent_id="ann", clock=clock) as here,
        Hippocampus.open(home=tmp_path / "there", agent_id="ann", clock=clock) as there,
    ):
        yield here, there


@pytest.fixture
def moved(two, tmp_path):
    """Write what one journal holds, and import it into the other; the trajectories that were written."""

    def done():
        here, there = two
        path = tmp_path / "out.jsonl"
        path.write_bytes(b"".join(trajectories(here.iter_records(), program="alveus 1", agent="ann")))
        report = run(there, path)
        assert report.formats == {"atif": 1}
        assert (report.rejected_count, report.known) == (0, 0)
        return [json.loads(one) for one in path.read_bytes().splitlines()]

    return done


def test_a_trajectory_comes_back_whole(two, write, moved):
    """Every field that ATIF has is there after an import and an export, and the second journal is like the first."""
    here, there = two
    run(here, write(FULL, name="t.json"))
    (written,) = moved()
    assert bare(written) == FULL
    assert records(here) == records(there)


def test_what_was_recorded_otherwise_comes_back_as_it_was(two, moved, samples, write):
    """Any journal goes through ATIF: kinds, sources, metadata, origins, sessions, times, parts."""
    here, there = two
    run(here, samples / "claude-code")
    run(here, samples / "codex")
    run(here, samples / "openclaw")
    here.record("decision", "without any session", {"why": {"deep": [1, 2]}})
    run(here, write({"role": "user", "content": "привет " * 200_000, "id": "long"}, name="chat.jsonl"))
    written = moved()
    assert all(one["schema_version"] == "ATIF-v1.7" and one["agent"]["name"] for one in written)
    assert all([step["step_id"] for step in one["steps"]] == [*range(1, len(one["steps"]) + 1)] for one in written)
    assert sorted(map(repr, records(here))) == sorted(map(repr, records(there)))


def test_an_export_is_known_where_its_source_was_imported(two, moved, samples):
    """An export keeps whose items they are: a journal that has them already stores nothing."""
    here, there = two
    sample = samples / "claude-code" / "simonw_sample_session.jsonl"
    run(here, sample)
    moved()
    again = run(there, sample)
    assert (again.stored, again.revised) == (0, 0)


def test_steps_are_read_by_others(two, write, moved):
    """Calls are calls with their arguments, results name their call, and thoughts are reasoning."""
    here, _ = two
    run(
        here,
        write(
            {"role": "user", "content": "list", "id": "1", "session": "s"},
            {
                "role": "assistant",
                "id": "2",
                "session": "s",
                "reasoning_content": "how?",
                "content": "so",
                "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": '{"p": 1}'}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": "a.txt", "id": "3", "session": "s"},
            name="chat.jsonl",
        ),
    )
    (written,) = moved()
    user, agent, result = written["steps"]
    assert (user["source"], user["message"]) == ("user", "list")
    assert (agent["source"], agent["message"], agent["reasoning_content"]) == ("agent", "so", "how?")
    assert agent["tool_calls"] == [{"tool_call_id": "c", "function_name": "ls", "arguments": {"p": 1}}]
    assert result["observation"]["results"] == [{"source_call_id": "c", "content": "a.txt"}]


@pytest.mark.parametrize(
    "item",
    [
        {"at": ["message"], "kind": "nonsense", "src": "agent"},
        {"at": ["message"], "kind": "state", "src": "user"},
        {"at": ["result", 7], "kind": "state", "src": "tool"},
        {"at": ["call", "x"], "kind": "state", "src": "tool"},
        {"at": ["message"], "kind": "state", "src": "agent", "event_time": "never"},
        "text",
    ],
)
def test_what_pretends_to_be_ours_is_rejected_or_plain(item, write, hippocampus):
    """No file can make words a user's that no user said, or an item that the journal would refuse."""
    step = {"step_id": 1, "source": "agent", "message": "I", "extra": {"alveus": {"items": [item]}}}
    report = run(hippocampus, write({"schema_version": "ATIF-v1.7", "session_id": "s", "steps": [step]}, name="t.json"))
    assert all(draft.src.value != "user" for draft in hippocampus.drafts)
    assert report.read == report.stored + report.rejected_count


def test_metadata_that_is_reserved_stays_out(write, hippocampus):
    """An item cannot bring what only the journal writes."""
    item = {"at": ["message"], "kind": "state", "src": "agent", "metadata": {"hc": {}, "opening": {}, "a": 1}}
    step = {"step_id": 1, "source": "agent", "message": "I", "extra": {"alveus": {"items": [item]}}}
    run(hippocampus, write({"schema_version": "ATIF-v1.7", "session_id": "s", "steps": [step]}, name="t.json"))
    assert hippocampus.drafts[-1].metadata == {"a": 1}
