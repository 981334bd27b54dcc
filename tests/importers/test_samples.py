"""Every published sample, by its numbers: a change of what a record means shows here first."""

from __future__ import annotations

from pathlib import Path

import pytest

from alveus.importers import run
from alveus.importers.table import detect

# The numbers are those of `_numbers`: read, stored, known, revised, skipped, rejected.
CLAUDE = {
    "agent-sessions_schema_drift.jsonl": (10, 5, 0, 0, 5, 0),
    # Nearly every scalar of this file is the same word, ids and contents alike: hence the known and the revised.
    "agent-sessions_small_all_record_types.jsonl": (97, 21, 16, 7, 53, 0),
    "agentsview_valid_session.jsonl": (5, 5, 0, 0, 0, 0),
    "claude-code-log_edge_cases.jsonl": (20, 13, 0, 0, 2, 5),
    "claude-code-log_representative_messages.jsonl": (12, 12, 0, 0, 0, 0),
    "claude-code-log_session_b.jsonl": (3, 3, 0, 0, 0, 0),
    "claude-code-log_todowrite_examples.jsonl": (12, 12, 0, 0, 0, 0),
    "generated_cc-2.1.332_hooks_resume_compact_trimmed.jsonl": (84, 10, 0, 0, 74, 0),
    "polylogue_minimal.jsonl": (2, 2, 0, 0, 0, 0),
    "simonw_sample_session.json": (39, 39, 0, 0, 0, 0),
    "simonw_sample_session.jsonl": (9, 9, 0, 0, 0, 0),
    "with_subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl": (4, 3, 0, 0, 1, 0),
    "with_subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f/subagents/agent-a0ad4f44468bdf20d.jsonl": (5, 4, 0, 0, 1, 0),
}
CHAT = {
    "handmade_bare_messages_with_tools.json": (4, 4, 0, 0, 0, 0),
    "llamafactory_reason_tool_use_first6.jsonl": (48, 48, 0, 0, 0, 0),
    "llamafactory_v1_sft_first10.jsonl": (20, 20, 0, 0, 0, 0),
    "openai-cookbook_toy_chat_fine_tuning_first4.jsonl": (16, 16, 0, 0, 0, 0),
}
ALL = [("claude-code", name, numbers) for name, numbers in CLAUDE.items()]
ALL += [("openai-chat", name, numbers) for name, numbers in CHAT.items()]


def _numbers(report):
    skipped = sum(report.skipped.values())
    return (report.read, report.stored, report.known, report.revised, skipped, report.rejected_count)


@pytest.mark.parametrize(("folder", "name", "numbers"), ALL, ids=[name for _, name, _ in ALL])
def test_sample_is_recognised_and_counted(folder, name, numbers, samples: Path, hippocampus):
    """Each sample is recognised as its format and gives the same numbers every time."""
    path = samples / folder / name
    assert detect(path).name == folder
    assert _numbers(run(hippocampus, path)) == numbers


@pytest.mark.parametrize(("folder", "name", "numbers"), ALL, ids=[name for _, name, _ in ALL])
def test_second_import_stores_nothing(folder, name, numbers, samples: Path, hippocampus):
    """What was stored, known or revised the first time is known the second time."""
    path = samples / folder / name
    run(hippocampus, path)
    before = len(hippocampus.drafts)
    again = run(hippocampus, path)
    assert (again.stored, again.revised, len(hippocampus.drafts)) == (0, 0, before)
    assert again.known == sum(numbers[1:4])


def test_folder_of_samples_is_imported_and_the_rest_is_named(samples: Path, hippocampus):
    """A folder brings every transcript under it, and names each file that is none, with the reason."""
    report = run(hippocampus, samples)
    assert report.formats == {"claude-code": len(CLAUDE), "openai-chat": len(CHAT)}
    assert {unread.file.rpartition("/")[2] for unread in report.unread} == {
        "SOURCES.md",
        "agent-a0ad4f44468bdf20d.meta.json",
    }
    assert all("no format" in unread.reason for unread in report.unread)
    assert run(hippocampus, samples).stored == 0


def test_format_asked_for_chooses_in_a_folder(samples: Path, hippocampus):
    """With a format, the files of a folder that are of another are left, not torn into rejected lines."""
    report = run(hippocampus, samples, format="openai-chat")
    assert report.formats == {"openai-chat": len(CHAT)}
    assert report.rejected_count == 0


def test_example_is_a_whole_session(hippocampus):
    """The session that is shipped as an example has every kind, one secret, and nothing that is not understood."""
    example = Path(__file__).parents[2] / "examples" / "claude-code-session.jsonl"
    report = run(hippocampus, example)
    assert {str(draft.kind) for draft in hippocampus.drafts} == {
        "observation",
        "state",
        "decision",
        "error",
        "transfer",
        "identity_change",
    }
    assert report.masked == {"github_token": 1}
    assert report.rejected_count == 0
    assert not [reason for reason in report.skipped if reason.startswith("unknown")]
