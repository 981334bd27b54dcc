"""What formats other than the first two mean by their records: branches, compactions, decisions, echoes, who spoke."""

from __future__ import annotations

import json

import pytest

import transcripts
from alveus import fence
from alveus.importers import run
from alveus.importers.branches import Node, abandoned
from alveus.importers.intake import ECHO
from alveus.importers.msgpack import unpack
from transcripts import OWN, moment


@pytest.fixture
def bring(write, hippocampus):
    """The drafts of an import of these records."""

    def done(*records, name="session.jsonl", **how):
        hippocampus.report = run(hippocampus, write(*records, name=name), **how)
        return hippocampus.drafts

    return done


def told(drafts):
    """Kind, source and words of each."""
    return [(draft.kind.value, draft.src.value, draft.content) for draft in drafts]


# ── branches ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_branch_is_left_when_another_was_written_on_last():
    """At a fork the branch with the newest record is active; parents that are not there fork nothing."""
    tree = [("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "c"), ("x", "nowhere"), ("y", "nowhere")]
    nodes = [Node.of(own, parent) for own, parent in tree]
    assert abandoned(nodes) == {Node.name("d")}
    assert abandoned([*nodes, Node.of("f", "d")]) == {Node.name(one) for one in "bce"}
    assert abandoned([]) == set()


def test_circles_and_duplicates_end():
    """A tree that is none is walked once."""
    nodes = [Node.of("a", "b"), Node.of("b", "a"), Node.of("a", "b"), Node.of("c", "c")]
    assert abandoned(nodes) <= {Node.name(one) for one in "abc"}


def user(own, parent, text, **more):
    """A Claude Code record of a person."""
    return {"type": "user", "uuid": own, "parentUuid": parent, "sessionId": "s", "message": {"content": text}, **more}


def answer(own, parent, *blocks):
    """A Claude Code record of the agent."""
    return {"type": "assistant", "uuid": own, "parentUuid": parent, "sessionId": "s", "message": {"content": [*blocks]}}


def test_claude_code_marks_what_a_person_went_back_from(bring):
    """Typing again at an earlier record leaves the branch; answers of calls made at once are no branches."""
    calls = [{"type": "tool_use", "id": one, "name": "Bash", "input": {}} for one in "xy"]
    results = [
        user(f"r{one}", "a1", [{"type": "tool_result", "tool_use_id": one, "content": f"result {one}"}]) for one in "xy"
    ]
    drafts = bring(
        user("u1", None, "first"),
        answer("a1", "u1", *calls),
        *results,
        answer("a2", "ry", {"type": "text", "text": "done"}),
        user("u2", "a2", "wrong way"),
        answer("a3", "u2", {"type": "text", "text": "lost"}),
        user("u3", "a2", "right way"),
        answer("a4", "u3", {"type": "text", "text": "found"}),
    )
    assert [draft.content for draft in drafts if draft.metadata.get("inactive")] == ["wrong way", "lost"]
    assert len(drafts) == 10


def test_pi_and_qwen_mark_what_was_left(bring, hippocampus):
    """So do the trees of other agents."""
    head, *entries = (json.loads(line) for line in OWN["pi"].lines(2))
    left = {**entries[1], "id": "left", "message": {"role": "assistant", "content": [{"type": "text", "text": "left"}]}}
    bring(head, entries[0], left, *entries[1:])
    assert [draft.content for draft in hippocampus.drafts if draft.metadata.get("inactive")] == ["left"]


# ── compaction ───────────────────────────────────────────────────────────────────────────────────────────────────────


def codex(kind, **payload):
    """A Codex record."""
    return {"timestamp": moment(0), "type": kind, "payload": payload}


def item(role, text, kinds=None, own="msg"):
    """A Codex message."""
    passed = {"content_item_kinds": [kinds]} if kinds else {}
    return codex(
        "response_item",
        type="message",
        role=role,
        id=own,
        content=[{"type": "input_text", "text": text}],
        internal_chat_message_metadata_passthrough=passed,
    )


def test_codex_compaction_is_an_event_and_its_history_is_none(bring):
    """A compaction is the agent's summary; the messages it carries were said before."""
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}] * 50
    drafts = bring(
        codex("session_meta", id="s"),
        codex("compacted", message="we did this", replacement_history=history, window_number=2),
        item("user", "Another language model started to solve this problem and produced a summary of it", own="1"),
    )
    assert told(drafts) == [("state", "agent", "we did this")]
    assert drafts[0].metadata["compaction"] == {"window_number": 2, "kept": 50}


def test_codex_words_of_the_program_are_nobodys(bring, hippocampus):
    """Environment, hooks, instructions and aborts under the user's role are left out; what was typed stays."""
    drafts = bring(
        codex("session_meta", id="s"),
        item("user", "typed", "user.text", "1"),
        item("user", "<environment_context>x", own="2"),
        item("user", "anything", "environments.environment_context", "3"),
        item("developer", "MEMORY: port", "hooks.additional_context", "4"),
        item("user", "# AGENTS.md instructions for /home/a", own="5"),
        codex("event_msg", type="user_message", message="typed"),
    )
    assert told(drafts) == [("observation", "user", "typed")]
    assert hippocampus.report.skipped["echo of a hook"] == 1


def test_codex_fork_keeps_whose_words_they_were(bring, hippocampus):
    """What a fork copied is known where its parent was imported; what it adds is its own, in its own session."""
    own = "msg_01a22bc7-8e9c-7210-907d-3e2ded5ec834"
    bring(codex("session_meta", id="parent"), item("user", "said once", own=own), name="parent.jsonl")
    bring(
        codex("session_meta", id="fork", forked_from_id="parent"),
        codex("session_meta", id="parent"),
        item("user", "said once", own=own),
        item("user", "said in the fork", own="msg_1"),
        name="fork.jsonl",
    )
    assert hippocampus.report.known == 1
    assert told(hippocampus.drafts)[1:] == [
        ("transfer", "system", "session fork was forked from parent"),
        ("observation", "user", "said in the fork"),
    ]
    assert hippocampus.drafts[-1].session == "fork"


def test_codex_failure_is_an_error(bring):
    """A command that failed says so by its status."""
    drafts = bring(
        codex("session_meta", id="s"),
        codex("response_item", type="function_call", name="exec", arguments="{}", call_id="c"),
        codex("response_item", type="function_call_output", call_id="c", output="Process exited with code 2\nno file"),
        codex("event_msg", type="turn_aborted", reason="interrupted"),
    )
    assert [draft.kind.value for draft in drafts] == ["observation", "error", "error"]
    assert drafts[1].metadata["tool"] == "exec"


def test_kimi_plan_that_was_accepted_is_a_decision(bring):
    """A plan becomes a decision when the user lets it be; what the program adds to the context is nobody's words."""
    loop = "context.append_loop_event"
    call = {"type": "tool.call", "uuid": "p", "toolCallId": "p", "name": "ExitPlanMode", "args": {"plan": "first A"}}
    message = {"role": "user", "content": [{"type": "text", "text": "reminder"}], "origin": {"kind": "injection"}}
    drafts = bring(
        {"type": "metadata", "protocol_version": "1.4"},
        {"type": loop, "event": call, "time": 1785612803281},
        {"type": "permission.record_approval_result", "toolCallId": "p", "result": {"decision": "approved"}},
        {"type": "context.append_message", "message": message},
    )
    assert told(drafts)[1:] == [("decision", "agent", "first A")]


def test_gemini_changes_are_no_messages_and_a_rewind_is_an_event(bring):
    """`$set` brings messages that are known by their ids; going back is a decision."""
    first = {"id": "1", "timestamp": moment(0), "type": "user", "content": "hello"}
    drafts = bring(
        {"sessionId": "s", "projectHash": "p", "startTime": moment(0)},
        first,
        {"$set": {"messages": [first, {"id": "2", "timestamp": moment(1), "type": "gemini", "content": "hi"}]}},
        {"$rewindTo": "1"},
    )
    assert told(drafts) == [
        ("observation", "user", "hello"),
        ("state", "agent", "hi"),
        ("decision", "system", "rewound to 1"),
    ]


def test_chatgpt_leaves_what_is_not_to_be_remembered(bring, hippocampus):
    """A conversation that says so is left out, and a hidden message too; a branch that was left is marked."""
    made = OWN["chatgpt"].turn(0, "words")[0]
    secret = {**OWN["chatgpt"].turn(1, "words")[0], "is_do_not_remember": True}
    hidden = json.loads(json.dumps(made["mapping"]["a"]))
    hidden["id"], hidden["message"]["id"] = "h", "h"
    hidden["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}
    left = json.loads(json.dumps(made["mapping"]["a"]))
    left["id"], left["message"]["id"] = "l", "l"
    made["mapping"] |= {"h": hidden, "l": left}
    drafts = bring([made, secret], name="conversations.json")
    assert [draft.metadata.get("inactive") for draft in drafts] == [None, None, True]
    assert hippocampus.report.skipped == {"not to be remembered": 1, "hidden from the conversation": 1}


def test_openclaw_housekeeping_is_noise(bring):
    """Heartbeats and silent answers are left out; extensions speak to the model, not to people."""
    head, asked, said = (json.loads(line) for line in OWN["pi"].lines(1))
    beat = {**asked, "id": "b", "message": {"role": "user", "content": "Read HEARTBEAT.md if it exists"}}
    silent = {**said, "id": "n", "message": {"role": "assistant", "content": [{"type": "text", "text": "NO_REPLY"}]}}
    custom = {"type": "custom_message", "id": "c", "display": False, "content": "memory"}
    drafts = bring(head, asked, said, beat, silent, custom, name=".openclaw/agents/a/sessions/s.jsonl")
    assert [draft.content for draft in drafts] == ["question 0 words", "answer 0 words"]


def test_opencode_synthetic_text_is_not_the_users(hippocampus, tmp_path):
    """What the program wrote under the user's message is the program's."""
    folder = transcripts.opencode_store(tmp_path / "h" / "storage", turns=1)
    part = {"id": "x", "messageID": "m00", "type": "text", "text": "continue if you can", "synthetic": True}
    (folder / "part" / "m00" / "z.json").write_text(json.dumps(part))
    (folder / "part" / "m00" / "zz.json").write_text("{oops")
    report = run(hippocampus, tmp_path / "h")
    assert ("observation", "system", "continue if you can") in told(hippocampus.drafts)
    assert report.rejected_count == 1


def test_letta_packets_and_messages(bring):
    """A user's words come out of their packet, another packet is the program's, and sending is speaking."""
    say = {"id": "c", "function": {"name": "send_message", "arguments": '{"message": "hello"}'}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": '{"type": "user_message", "message": "hi"}'}]},
        {"role": "user", "content": [{"type": "text", "text": '{"type": "heartbeat", "reason": "beat"}'}]},
        {"role": "assistant", "content": [], "tool_calls": [say]},
    ]
    blocks = [{"label": "persona", "value": "I am Ann"}]
    agent = {"name": "Ann", "agent_type": "x", "messages": messages, "secrets": {"KEY": "hidden"}}
    drafts = bring(json.dumps({"agents": [agent], "blocks": blocks}), name="ann.af")
    assert told(drafts) == [
        ("observation", "user", "hi"),
        ("observation", "system", '{"type": "heartbeat", "reason": "beat"}'),
        ("state", "agent", "hello"),
        ("identity_change", "agent", "I am Ann"),
    ]
    assert "hidden" not in repr(drafts)


def test_workspace_is_who_the_agent_is(hippocampus, tmp_path):
    """A file of identity is one item and its change a revision; notes are cut at headings; a lone AGENTS.md is none."""
    home = tmp_path / "workspace"
    (home / "memory").mkdir(parents=True)
    (home / "SOUL.md").write_text("I am calm.\n\n# Boundaries\nnone\n")
    (home / "memory" / "2026-03-01.md").write_text("# Morning\nmet Ann\n\n```\n# not a heading\n```\n# Noon\nate\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "AGENTS.md").write_text("rules of a repository")
    report = run(hippocampus, tmp_path)
    assert [draft.kind.value for draft in hippocampus.drafts].count("identity_change") == 1
    assert report.stored == 3
    assert [unread.file for unread in report.unread] == ["other/AGENTS.md"]
    (home / "SOUL.md").write_text("I am fierce.\n")
    again = run(hippocampus, tmp_path)
    assert (again.stored, again.revised, again.known) == (0, 1, 2)
    assert all(draft.src.value != "user" for draft in hippocampus.drafts)


def test_aider_headings_and_rules_in_answers_stay(bring):
    """A heading in an answer begins no chat, a merge mark is no tool's line, and blank lines are kept."""
    drafts = bring(
        b"\n# aider chat started at 2026-03-01 10:00:00\n\n#### fix it  \n####   \n#### please  \n\n"
        b"# A heading\n\ntext\n>>>>>>> REPLACE\n\n> Applied edit to a.py  \n",
        name=".aider.chat.history.md",
    )
    assert told(drafts) == [
        ("observation", "user", "fix it\n\nplease"),
        ("state", "agent", "# A heading\n\ntext\n>>>>>>> REPLACE"),
        ("observation", "tool", "Applied edit to a.py"),
    ]
    assert drafts[0].event_time is None
    assert drafts[0].metadata["source_time"] == "2026-03-01 10:00:00"


def test_mem0_markdown_has_rules_in_its_texts(bring):
    """A rule in a memory's text does not end it."""
    text = "---\nid: a\ntype: x\n---\none\n\n---\n\ntwo\n\n---\nid: b\n---\nthree\n"
    drafts = bring(text.encode(), name="export.md")
    assert [draft.content for draft in drafts] == ["one\n\n---\n\ntwo", "three"]
    assert [draft.origin for draft in drafts] == ["mem0:memories:a", "mem0:memories:b"]


# ── echoes, pictures, hostile values ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("made", transcripts.MADE, ids=lambda one: one.name)
def test_what_this_memory_injected_is_dropped(made, write, hippocampus):
    """A message that is nothing but a fence is an echo; one with words around it keeps the words."""
    if made.text:
        pytest.skip("aider takes no injection: its lines would break the fence")
    echo = fence.fenced("MEMORY: the port is 8081")
    report = run(hippocampus, write(made.data(1, f"words\n{echo}"), name=made.file))
    assert report.stored == 2 + (made.name == "atif")
    assert not any("8081" in draft.content or "alveus-memory" in draft.content for draft in hippocampus.drafts)
    assert any(draft.content.startswith("question 0 words") for draft in hippocampus.drafts)


def test_a_message_that_is_an_echo_is_counted_as_one(bring, hippocampus):
    """It is skipped under its reason, so the numbers add up."""
    bring({"role": "user", "content": fence.fenced("what was remembered")}, {"role": "user", "content": "hi"})
    assert hippocampus.report.skipped == {ECHO: 1}
    assert len(hippocampus.drafts) == 1


def test_pictures_in_any_text_become_their_hash(bring):
    """Base64 inside words or a tool's output is named by its hash, the same picture by the same one."""
    data = f"data:image/png;base64,{transcripts.picture() * 20}"
    drafts = bring(
        {"role": "user", "content": f"see {data} and {data}"},
        {"role": "tool", "tool_call_id": "c", "content": json.dumps({"screenshot": data})},
    )
    assert all("base64" not in draft.content and "sha256:" in draft.content for draft in drafts)
    assert len({blob["sha256"] for draft in drafts for blob in draft.metadata["blob"]}) == 1


def test_messagepack_promises_are_not_believed():
    """A length that the bytes do not hold, and nesting without end, are errors and cost no memory."""
    for data in (
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff\x01",
        b"\xc6\xff\xff\xff\xff",
        b"\x91" * 10_000,
        b"",
        b"\xc1",
    ):
        with pytest.raises(ValueError, match=r"MessagePack|cut short|deeply"):
            unpack(data)
    value = {"a": [1.5, True, None, "я"], "b": {"c": []}}
    assert unpack(transcripts.packed(value)) == value


def test_unknown_types_are_told_by_their_keys_alone(write, hippocampus):
    """A report of the unknown shows where it is and not a word of what it says; data that are keys are hidden."""
    strange = {
        "type": "brand_new",
        "uuid": "u",
        "sessionId": "s",
        "payload": {"kind": "secret", "/home/ann/x": [{"token": 1}]},
    }
    report = run(hippocampus, write(*OWN["claude-code"].turn(0, "x"), strange), report_unknown=True)
    assert report.unknown == dict.fromkeys(
        [
            f"claude-code: {path}"
            for path in ("payload", "payload.*", "payload.*[].token", "payload.kind", "sessionId", "type", "uuid")
        ],
        1,
    )
    assert "secret" not in json.dumps(report.unknown)
    assert run(hippocampus, write(strange, name="b.jsonl"), format="claude-code").unknown == {}


def test_kernel_archive_keeps_ids_times_and_sessions(bring):
    """Lines of `id`, `role`, `time`, `session`, `content` keep all five: the id ends the origin."""
    drafts = bring(
        {"id": "m0001", "role": "user", "time": "2025-02-03T09:12:38Z", "session": "s01", "content": "Morning."},
        {
            "id": "m0002",
            "role": "assistant",
            "time": "2025-02-03T12:13:25+03:00",
            "session": "s01",
            "content": "Ready.",
        },
        name="archive.jsonl",
    )
    assert [(draft.origin, draft.session, draft.event_time, draft.src.value) for draft in drafts] == [
        ("openai-chat:s01:m0001", "s01", "2025-02-03T09:12:38Z", "user"),
        ("openai-chat:s01:m0002", "s01", "2025-02-03T12:13:25+03:00", "agent"),
    ]
