"""Every published sample, by its numbers: a change of what a record means shows here first."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from alveus.importers import FORMATS, run

# The format, and the numbers of `_numbers`: read, stored, known, revised, skipped, rejected. In the files that show
# every type of record nearly every scalar is the same word, ids and contents alike: hence their known and revised.
COUNTS = {
    "aider/aider_chat-history_excerpt_redacted.md": ("aider", (18, 18, 0, 0, 0, 0)),
    "atif/polylogue_nemo_relay_atif_v1.7_real_redacted.json": ("atif", (20, 20, 0, 0, 0, 0)),
    "chatgpt-export/polylogue_minimal.json": ("chatgpt", (1, 1, 0, 0, 0, 0)),
    "chatgpt-export/polylogue_native-conversation-v1.json": ("chatgpt", (8, 8, 0, 0, 0, 0)),
    "chatgpt-export/polylogue_representative_sample-00.json": ("chatgpt", (3, 3, 0, 0, 0, 0)),
    "claude-ai-export/polylogue_minimal.json": ("claude-ai", (1, 1, 0, 0, 0, 0)),
    "claude-ai-export/polylogue_representative_sample-00.json": ("claude-ai", (15, 15, 0, 0, 0, 0)),
    "claude-code/agent-sessions_schema_drift.jsonl": ("claude-code", (10, 5, 0, 0, 5, 0)),
    "claude-code/agent-sessions_small_all_record_types.jsonl": ("claude-code", (97, 21, 16, 7, 53, 0)),
    "claude-code/agentsview_valid_session.jsonl": ("claude-code", (5, 5, 0, 0, 0, 0)),
    "claude-code/claude-code-log_edge_cases.jsonl": ("claude-code", (20, 13, 0, 0, 2, 5)),
    "claude-code/claude-code-log_representative_messages.jsonl": ("claude-code", (12, 12, 0, 0, 0, 0)),
    "claude-code/claude-code-log_session_b.jsonl": ("claude-code", (3, 3, 0, 0, 0, 0)),
    "claude-code/claude-code-log_todowrite_examples.jsonl": ("claude-code", (12, 12, 0, 0, 0, 0)),
    "claude-code/generated_cc-2.1.332_hooks_resume_compact_trimmed.jsonl": ("claude-code", (84, 9, 0, 0, 75, 0)),
    "claude-code/polylogue_minimal.jsonl": ("claude-code", (2, 2, 0, 0, 0, 0)),
    "claude-code/simonw_sample_session.json": ("claude-code", (39, 39, 0, 0, 0, 0)),
    "claude-code/simonw_sample_session.jsonl": ("claude-code", (9, 9, 0, 0, 0, 0)),
    "claude-code/with_subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl": ("claude-code", (4, 3, 0, 0, 1, 0)),
    "claude-code/with_subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f/subagents/agent-a0ad4f44468bdf20d.jsonl": (
        "claude-code",
        (5, 4, 0, 0, 1, 0),
    ),
    "codex/agent-sessions_codex_050_legacy.jsonl": ("codex", (5, 0, 0, 0, 5, 0)),
    "codex/agent-sessions_codex_052_raw.jsonl": ("codex", (6, 0, 0, 0, 6, 0)),
    "codex/agent-sessions_schema_drift.jsonl": ("codex", (5, 4, 0, 0, 1, 0)),
    "codex/agent-sessions_session_branch.jsonl": ("codex", (5, 5, 0, 0, 0, 0)),
    "codex/agent-sessions_session_simple.jsonl": ("codex", (2, 2, 0, 0, 0, 0)),
    "codex/agent-sessions_session_toolcall.jsonl": ("codex", (4, 4, 0, 0, 0, 0)),
    "codex/agent-sessions_small_all_record_types.jsonl": ("codex", (126, 33, 2, 7, 84, 0)),
    "codex/polylogue_minimal.jsonl": ("codex", (3, 2, 0, 0, 1, 0)),
    "codex/rollout-2026-11-30T09-27-08-01a22bc7-8e22-7472-b0e8-aa9072cb3140.jsonl": ("codex", (73, 18, 0, 0, 55, 0)),
    "copilot-cli/agent-sessions_events_v1.jsonl": ("copilot-cli", (8, 4, 0, 0, 4, 0)),
    "copilot-cli/agent-sessions_small.jsonl": ("copilot-cli", (37, 11, 10, 3, 13, 0)),
    "cursor/agent-sessions_small.jsonl": ("cursor", (6, 5, 0, 0, 1, 0)),
    "gemini-cli/agent-sessions_antigravity_cli_small.jsonl": ("antigravity", (22, 20, 0, 0, 2, 0)),
    "gemini-cli/agent-sessions_jsonl_v040.jsonl": ("gemini-cli", (6, 4, 0, 0, 2, 0)),
    "gemini-cli/agent-sessions_small_legacy.json": ("gemini-cli", (3, 3, 0, 0, 0, 0)),
    "gemini-cli/agentsview_standard_session.json": ("gemini-cli", (4, 4, 0, 0, 0, 0)),
    "gemini-cli/agentsview_system_messages.json": ("gemini-cli", (3, 3, 0, 0, 0, 0)),
    "gemini-cli/agentsview_thinking_only.json": ("gemini-cli", (4, 4, 0, 0, 0, 0)),
    "gemini-cli/agentsview_tool_calls.json": ("gemini-cli", (4, 4, 0, 0, 0, 0)),
    "gemini-cli/polylogue_minimal.json": ("gemini-cli", (2, 2, 0, 0, 0, 0)),
    "grok/polylogue_minimal.json": ("grok", (2, 2, 0, 0, 0, 0)),
    "hermes/agent-sessions_small.json": ("hermes", (2, 2, 0, 0, 0, 0)),
    "hermes/polylogue_archival_export_v1.json": ("hermes", (8, 8, 0, 0, 0, 0)),
    "hermes/polylogue_atof_real_redacted.jsonl": ("atof", (11, 7, 0, 0, 4, 0)),
    "hermes/polylogue_minimal.jsonl": ("atof", (3, 2, 0, 0, 1, 0)),
    "inspect-ai/2026-11-30T09-40-13-00-00_task_8V8Wn4YuuN3VPmdkG7S8t3.eval": ("inspect-ai", (11, 6, 0, 0, 5, 0)),
    "inspect-ai/2026-11-30T09-40-14-00-00_task_AbqE6dRxyQyLgppMFCEhei.json": ("inspect-ai", (6, 6, 0, 0, 0, 0)),
    "kimi/agent-sessions_assistant_tools.jsonl": ("kimi", (200, 75, 0, 0, 125, 0)),
    "kimi/agent-sessions_small.jsonl": ("kimi", (36, 5, 0, 0, 31, 0)),
    "langchain/dumpd_lc_serializable.json": ("langchain", (5, 5, 0, 0, 0, 0)),
    "langchain/langgraph_checkpoints.sqlite": ("langgraph", (11, 6, 0, 0, 5, 0)),
    "langchain/messages_to_dict.json": ("langchain", (5, 5, 0, 0, 0, 0)),
    "letta-af/customer_service.af": ("letta", (10, 3, 0, 0, 7, 0)),
    "letta-af/loop.af": ("letta", (21, 12, 0, 0, 9, 0)),
    "mem0/handmade_get_all_results.json": ("mem0", (2, 2, 0, 0, 0, 0)),
    "mem0/handmade_mem0-export-2026-03-01.md": ("mem0", (2, 2, 0, 0, 0, 0)),
    "openai-chat/handmade_bare_messages_with_tools.json": ("openai-chat", (4, 4, 0, 0, 0, 0)),
    "openai-chat/llamafactory_reason_tool_use_first6.jsonl": ("openai-chat", (48, 48, 0, 0, 0, 0)),
    "openai-chat/llamafactory_v1_sft_first10.jsonl": ("openai-chat", (20, 20, 0, 0, 0, 0)),
    "openai-chat/openai-cookbook_toy_chat_fine_tuning_first4.jsonl": ("openai-chat", (16, 16, 0, 0, 0, 0)),
    "openai-chat/openai_agents_sqlite_session.db": ("openai-chat", (5, 4, 0, 0, 1, 0)),
    "openclaw/agent-sessions_schema_drift.jsonl": ("openclaw", (8, 5, 0, 0, 3, 0)),
    "openclaw/agent-sessions_small.jsonl": ("openclaw", (6, 4, 0, 0, 2, 0)),
    "openclaw/workspace_templates/AGENTS.md": ("openclaw-workspace", (20, 20, 0, 0, 0, 0)),
    "openclaw/workspace_templates/BOOT.md": ("openclaw-workspace", (3, 3, 0, 0, 0, 0)),
    "openclaw/workspace_templates/BOOTSTRAP.md": ("openclaw-workspace", (9, 9, 0, 0, 0, 0)),
    "openclaw/workspace_templates/HEARTBEAT.md": ("openclaw-workspace", (3, 3, 0, 0, 0, 0)),
    "openclaw/workspace_templates/IDENTITY.md": ("openclaw-workspace", (1, 1, 0, 0, 0, 0)),
    "openclaw/workspace_templates/SOUL.md": ("openclaw-workspace", (1, 1, 0, 0, 0, 0)),
    "openclaw/workspace_templates/TOOLS.md": ("openclaw-workspace", (2, 2, 0, 0, 0, 0)),
    "openclaw/workspace_templates/USER.md": ("openclaw-workspace", (1, 1, 0, 0, 0, 0)),
    "opencode/storage_v2": ("opencode", (25, 15, 0, 0, 10, 0)),
    "pi/agent-sessions_small_with_compaction.jsonl": ("pi", (9, 6, 0, 0, 3, 0)),
    "pydantic-ai/model_messages.json": ("pydantic-ai", (4, 4, 0, 0, 0, 0)),
    "qwen-code/agent-sessions_1.jsonl": ("qwen-code", (8, 6, 0, 0, 2, 0)),
    "qwen-code/agent-sessions_2.jsonl": ("qwen-code", (1, 1, 0, 0, 0, 0)),
    "qwen-code/agent-sessions_4.jsonl": ("qwen-code", (10, 7, 0, 0, 3, 0)),
    "sharegpt/llamafactory_glaive_toolcall_en_first12.json": ("sharegpt", (82, 82, 0, 0, 0, 0)),
    "sharegpt/llamafactory_mllm_demo.json": ("openai-chat", (24, 24, 0, 0, 0, 0)),
}
ALL = [(name, format_, numbers) for name, (format_, numbers) in COUNTS.items()]
OTHERS = {"SOURCES.md", "agent-a0ad4f44468bdf20d.meta.json", "migration"}
"""Files among the samples that are no transcripts."""
ELSEWHERE = "ALVEUS_SAMPLES"


def _numbers(report):
    skipped = sum(report.skipped.values())
    return (report.read, report.stored, report.known, report.revised, skipped, report.rejected_count)


@pytest.mark.parametrize(("name", "format_", "numbers"), ALL, ids=COUNTS)
def test_sample_is_recognised_and_counted(name, format_, numbers, samples: Path, hippocampus):
    """Each sample is recognised as its format and gives the same numbers; a second import brings nothing new."""
    report = _imported(hippocampus, samples / name)
    assert set(report.formats) == {format_}
    assert _numbers(report) == numbers
    before = len(hippocampus.drafts)
    again = _imported(hippocampus, samples / name)
    assert (again.stored, again.revised, len(hippocampus.drafts)) == (0, 0, before)
    assert again.known == sum(numbers[1:4])
    assert again.skipped == report.skipped


def _imported(hippocampus, path: Path):
    """The report of one file; a store of many files is imported as its folder."""
    return run(hippocampus, path.parent if path.name == "storage_v2" else path)


def test_every_format_has_a_sample():
    """No format is claimed that no sample shows."""
    assert {one.name for one in FORMATS} == {format_ for format_, _ in COUNTS.values()}


def test_folder_of_samples_is_imported_and_the_rest_is_named(samples: Path, hippocampus):
    """A folder brings every transcript under it, and names each file that is none, with the reason."""
    report = run(hippocampus, samples)
    expected = Counter(format_ for format_, _ in COUNTS.values())
    # The archive has a member for each sample, and five that repeat it.
    assert {**report.formats, "inspect-ai": 2} == expected
    assert {unread.file.rpartition("/")[2] for unread in report.unread} <= OTHERS
    assert all("no format" in unread.reason for unread in report.unread)
    again = run(hippocampus, samples)
    assert (again.stored, again.revised) == (0, 0)


def test_format_asked_for_chooses_in_a_folder(samples: Path, hippocampus):
    """With a format, the files of a folder that are of another are left, not torn into rejected lines."""
    report = run(hippocampus, samples, format="openai-chat")
    assert set(report.formats) == {"openai-chat"}
    assert report.rejected_count == 0


def test_the_samples_of_another_folder(hippocampus):
    """The same table over a larger folder of samples, where somebody has one."""
    folder = os.environ.get(ELSEWHERE)
    if not folder:
        pytest.skip(f"{ELSEWHERE} names no folder of samples: those in the repository were read alone")
    wrong = {}
    for name, (_, numbers) in COUNTS.items():
        path = Path(folder, name)
        if path.exists():
            fresh = type(hippocampus)(hippocampus.folder)
            found = _numbers(_imported(fresh, path))
            if found != numbers and path.name != "storage_v2":
                wrong[name] = found
    assert not wrong


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
