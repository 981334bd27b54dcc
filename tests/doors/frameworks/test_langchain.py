"""LangChain `BaseChatMessageHistory`: what the base class promises, in a journal that forgets nothing."""

import asyncio

import pytest

pytest.importorskip("langchain_core", reason="the extra `langchain` is not installed")

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from alveus.doors.frameworks.langchain import AlveusChatMessageHistory

MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage("Где лодка?", id="h1"),
    AIMessage("", tool_calls=[{"name": "look", "args": {"at": "pier"}, "id": "c1"}]),
    ToolMessage("No such pier", tool_call_id="c1", status="error"),
    AIMessage([{"type": "text", "text": "У причала."}]),
]


def test_messages_come_back_equal_also_for_another_process(memory, journals):
    """With ids, tool calls and parts, added one by one, many, by convenience or asynchronously."""
    history = AlveusChatMessageHistory("s", memory)
    assert isinstance(history, BaseChatMessageHistory)
    assert history.messages == []
    history.add_message(MESSAGES[0])
    history.add_messages(MESSAGES[1:3])
    asyncio.run(history.aadd_messages(MESSAGES[3:]))
    assert history.messages == AlveusChatMessageHistory("s", journals()).messages == MESSAGES
    assert asyncio.run(history.aget_messages()) == MESSAGES
    history.add_user_message("Спасибо")
    assert history.messages[-1] == HumanMessage("Спасибо")
    assert str(history).startswith("System: Be brief.")


def test_words_are_kept_as_those_of_whoever_said_them(memory):
    """And a tool that failed is an error."""
    AlveusChatMessageHistory("s", memory).add_messages(MESSAGES)
    kept = [(record.hc.src.value, record.kind.value) for record in memory.iter_records()]
    assert kept == [
        ("system", "observation"),
        ("user", "observation"),
        ("agent", "state"),
        ("tool", "error"),
        ("agent", "state"),
    ]
    assert "Где лодка?" in [record.content for record in memory.pattern_completion("лодку")]


def test_clear_empties_the_session_and_not_the_journal(memory, said):
    """What was said is still there to be recalled and verified."""
    history = AlveusChatMessageHistory("s", memory)
    history.add_messages(MESSAGES)
    other = AlveusChatMessageHistory("s-2", memory)
    other.add_messages(MESSAGES[:1])
    history.clear()
    asyncio.run(history.aclear())
    assert (history.messages, other.messages) == ([], MESSAGES[:1])
    assert ("user", "Где лодка?") in said()
    assert len(said()) == len(MESSAGES) + 2
