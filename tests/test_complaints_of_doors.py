"""What users of other memories have suffered at their doors: hooks, servers, importers, the stores of frameworks.

The account of the kinds that touch these rooms: each number of a report with the test that holds our answer, or the
room whose it is. Another door may have tests of the same number; the one named here is the nearest to the report.
"""

import re
from pathlib import Path

TESTS = Path(__file__).parent

ANSWERS = {
    # Kind B: silent failure
    21: ("doors/mcp/test_tools.py", "test_what_is_recorded_has_an_id_is_on_disk_and_is_found"),
    23: ("doors/mcp/test_tools.py", "test_an_empty_answer_says_why"),
    25: ("doors/mcp/test_tools.py", "test_a_store_that_vanishes_is_an_error_and_not_an_empty_answer"),
    27: ("doors/hook/test_draining.py", "test_a_turn_that_ends_has_the_digest_made_when_it_is_due"),
    28: ("doors/hook/test_hooks_command.py", "test_doctor_says_what_failed_and_what_waits"),
    29: ("doors/hook/test_entry.py", "test_30_megabytes_come_through"),
    30: ("doors/hook/test_answer.py", "test_a_memory_that_cannot_be_asked_says_so"),
    31: ("doors/hook/test_answer.py", "test_a_broken_index_is_made_again"),
    32: ("doors/mcp/test_tools.py", "test_every_kind_that_is_asked_for_is_searched"),
    34: ("doors/mcp/test_serving.py", "test_what_names_the_memory_can_stand_in_the_environment"),
    37: ("doors/hook/test_hooks_command.py", "test_doctor_says_what_is_out_of_date"),
    38: ("doors/mcp/test_tools.py", "test_an_empty_answer_says_why"),
    # Kind C: wrong-scope leaks
    41: ("doors/frameworks/test_langgraph.py", "test_a_namespace_is_a_prefix_by_labels_and_not_by_letters"),
    42: ("doors/mcp/test_tools.py", "test_a_server_for_one_user_shows_nothing_of_another_on_any_path"),
    43: ("test_compat.py", "test_metadata_moves_nothing_into_another_scope"),
    45: ("test_compat.py", "test_a_scope_that_names_nobody_is_refused"),
    46: ("test_compat.py", "test_a_scope_is_required_and_must_agree_with_itself"),
    47: ("doors/mcp/test_tools.py", "test_one_item_name_of_two_users_is_two_items"),
    48: ("test_compat.py", "test_an_agent_is_a_journal_and_a_run_a_session"),
    49: ("doors/hook/test_answer.py", "test_two_projects_do_not_mix"),
    51: ("doors/hook/test_place.py", "test_cyrillic_names_of_one_length_stay_apart"),
    52: ("doors/mcp/test_tools.py", "test_a_server_for_one_user_shows_nothing_of_another_on_any_path"),
    # Kind D: duplicates, junk, feedback loops
    54: ("doors/hook/test_draining.py", "test_an_import_finds_the_words_known"),
    55: ("doors/mcp/test_tools.py", "test_what_was_said_nine_times_is_shown_once"),
    56: ("doors/hook/test_draining.py", "test_a_compaction_is_no_words_of_the_user"),
    57: ("doors/hook/test_draining.py", "test_read_piece_by_piece_is_read_whole"),
    59: ("test_compat.py", "test_nothing_is_made_of_nothing"),
    60: ("doors/frameworks/test_openai_agents.py", "test_words_are_kept_as_those_of_whoever_said_them"),
    61: ("doors/hook/test_answer.py", "test_near_duplicates_do_not_crowd_out_the_rest"),
    # Kind G: slow, costly, leaking processes
    79: ("doors/hook/test_draining.py", "test_a_reading_begins_at_the_newest_turn"),
    80: ("doors/hook/test_draining.py", "test_no_language_model_is_asked_in_the_background"),
    82: ("doors/hook/test_many.py", "test_a_hundred_sessions_leave_no_process"),
    # Kind H: concurrency and locks
    85: ("doors/mcp/test_serving.py", "test_recall_while_others_write_is_never_locked_out"),
    86: ("doors/hook/test_many.py", "test_killed_at_any_moment_it_loses_and_doubles_nothing"),
    87: ("doors/mcp/test_serving.py", "test_two_servers_with_twenty_calls_at_once_each_keep_forty_records"),
    88: ("doors/mcp/test_serving.py", "test_two_servers_and_the_hooks_of_the_agent_keep_one_chain"),
    89: ("doors/hook/test_many.py", "test_twenty_hooks_at_once_beside_writers"),
    90: ("doors/hook/test_answer.py", "test_a_locked_journal_does_not_keep_the_agent_waiting"),
    # Kind K: importers
    105: ("doors/hook/test_hooks_command.py", "test_doctor_warns_before_claude_code_deletes"),
    106: ("doors/hook/test_draining.py", "test_bytes_that_are_no_text_cost_their_line"),
    108: ("doors/hook/test_draining.py", "test_the_sub_agents_words_belong_to_its_session"),
    # Kind L: security
    110: ("doors/mcp/test_serving.py", "test_http_is_closed_to_whoever_has_not_the_token"),
    111: ("doors/hook/test_place.py", "test_a_session_cannot_name_a_file_elsewhere"),
    112: ("doors/hook/test_answer.py", "test_the_pack_is_there_when_a_session_starts"),
    # Kind N: MCP and operations
    117: ("doors/mcp/test_serving.py", "test_nothing_but_the_protocol_is_on_stdout"),
    119: ("doors/mcp/test_serving.py", "test_connections_that_are_left_open_or_refused_exhaust_nothing"),
    120: ("doors/mcp/test_serving.py", "test_a_client_that_vanishes_leaves_no_server"),
}
NOT_OF_THESE_ROOMS = {
    24: "facts drawn by a model: kernels",
    36: "temporary files of an index: recall",
    39: "another embedder: recall",
    83: "what a write touches: the index",
}


def test_every_report_has_its_answer():
    """Each number of these kinds has a test that exists, or is of another room."""
    numbers = {
        *(21, 23, 24, 25, 27, 28, 29, 30, 31, 32, 34, 36, 37, 38, 39),  # B
        *(41, 42, 43, 45, 46, 47, 48, 49, 51, 52),  # C
        *(54, 55, 56, 57, 59, 60, 61),  # D
        *(79, 80, 82, 83),  # G
        *(85, 86, 87, 88, 89, 90),  # H
        *(105, 106, 108),  # K
        *(110, 111, 112),  # L
        *(117, 119, 120),  # N
    }
    assert not ANSWERS.keys() & NOT_OF_THESE_ROOMS.keys()
    assert ANSWERS.keys() | NOT_OF_THESE_ROOMS.keys() == numbers
    for name, test in ANSWERS.values():
        assert re.search(rf"^def {test}\(", (TESTS / name).read_text(encoding="utf-8"), re.MULTILINE), test
