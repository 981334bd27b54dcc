"""Claude Code's types that hold nothing to remember, each with its reason; and what a record is named by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)

_BOOKKEEPING: Final = (
    "agent-name ai-title atis-latch attribution-snapshot bridge-session content-replacement cost-state custom-title"
    " file-history-snapshot frame-link last-prompt mode permission-mode pr-link progress relocated result started tag"
    " worktree-state"
)
_REQUESTS: Final = "api-request api-request-blob api-request-shape"
_ECHOES: Final = "hook_additional_context hook_success hook_stopped_continuation async_hook_response"
_CONTEXT: Final = (
    "agent_listing_delta agent_mention already_read_file auto_mode auto_mode_exit batching_reminder_sent budget_usd"
    " command_permissions compact_file_reference compaction_reminder critical_system_reminder date date_change"
    " deferred_tools_delta diagnostics directory dynamic_skill edited_image_file edited_text_file environment file"
    " invoked_skills mcp_instructions_delta mcp_resource model nested_memory opened_file_in_ide output_style"
    " output_token_usage pdf_reference plan_file_reference plan_mode plan_mode_exit plan_mode_reentry prompt_snapshot"
    " read_truncation_notice relevant_memories remote_session_change selected_lines_in_ide session_context"
    " silent_turn_reminder skill_discovery skill_listing task_reminder task_status team_context teammate_mailbox"
    " todo_reminder token_usage total_tokens_reminder ultra_effort_enter ultra_effort_exit ultrathink_effort"
    " verify_plan_reminder"
)
_NOTES: Final = (
    "agents_killed api_metrics bridge_status init memory_saved microcompact_boundary permission_retry"
    " scheduled_task_fire session_start stop_hook_summary turn_duration"
)

SKIPPED: Final[Mapping[str, str]] = {
    **dict.fromkeys(_BOOKKEEPING.split(), "bookkeeping"),
    # They carry `message.role`: taken for messages, every turn is counted twice.
    **dict.fromkeys(_REQUESTS.split(), "copy of a request"),
}
"""Types of records."""

SKIPPED_ATTACHMENTS: Final[Mapping[str, str]] = {
    # What a memory injected comes back here; without this row a journal eats its own output.
    **dict.fromkeys(_ECHOES.split(), "echo of a hook"),
    **dict.fromkeys(_CONTEXT.split(), "harness context"),
}
"""Types of attachments."""

SKIPPED_SYSTEM: Final[Mapping[str, str]] = dict.fromkeys(_NOTES.split(), "bookkeeping")
"""Subtypes of system records."""


def container_of(ident: str, session: str) -> str:
    """What a record's id is unique in: nothing less than everything, for a UUID; else its session.

    A session that is resumed begins with a copy of the one before it, under its own name and with the same UUIDs.
    """
    return "uuid" if _UUID.fullmatch(ident) else session
