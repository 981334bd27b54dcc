"""Pydantic-AI `ConversationStore`: the store in memory as the model, and two writers at once."""

import asyncio
from copy import deepcopy

import pytest

pytest.importorskip("pydantic_ai", reason="the extra `pydantic-ai` is not installed")
pytest.importorskip("pydantic_ai.conversation_store", reason="this Pydantic-AI has no conversation store")

from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, InMemoryConversationStore
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from alveus.doors.frameworks.pydantic_ai import AlveusConversationStore


def asked(text):
    """What a user says."""
    return ModelRequest(parts=[UserPromptPart(content=text)])


def answered(text):
    """What a model says."""
    return ModelResponse(parts=[TextPart(content=text)])


MESSAGES = [asked("Where is the boat?"), answered("At the pier."), asked("And the oar?"), answered("In it.")]
LAST = asked("And the sail?")


async def story(store):
    """A conversation that is saved, continued, branched, forked, listed and deleted; what could be seen."""
    seen = []
    first = Conversation(messages=deepcopy(MESSAGES[:2]), conversation_id="c")
    seen.append(len(await store.save(first, scope="ann")))
    loaded = await store.load("c", scope="ann")
    seen += [[*loaded.messages], await store.load("c", scope="anna"), await store.load("other")]
    loaded.messages += deepcopy(MESSAGES[2:])
    await store.save(loaded)
    branched = await store.branch("c", at=2, expected_revision=loaded.revision)
    branched.messages += [deepcopy(LAST)]
    await store.save(branched)
    seen += [(await store.load("c")).messages, len((await store.read_record("c")).branches)]
    fork = await store.fork("c", new_conversation_id="d")
    seen += [fork.messages, [one.conversation_id for one in await store.read_records(scope="ann")].count("d")]
    seen.append((await store.load("c", limit=1)).messages)
    await store.delete("c", scope="anna")
    seen.append((await store.load("c")) is not None)
    await store.delete("c", scope="ann")
    seen += [await store.load("c"), (await store.load("d")).messages]
    return seen


def test_it_does_what_the_store_in_memory_does(memory):
    """The same story ends the same way, step by step."""
    assert asyncio.run(story(AlveusConversationStore(memory))) == asyncio.run(story(InMemoryConversationStore()))


def test_another_process_goes_on_where_one_stopped(memory, journals):
    """With tool calls, usage and revisions."""
    messages = [
        asked("Look."),
        ModelResponse(parts=[ToolCallPart(tool_name="look", args={"at": "pier"}, tool_call_id="c1")]),
        ModelRequest(parts=[ToolReturnPart(tool_name="look", content={"seen": ["boat"]}, tool_call_id="c1")]),
    ]
    saved = Conversation(messages=messages, conversation_id="c")
    asyncio.run(AlveusConversationStore(memory).save(saved))
    loaded = asyncio.run(AlveusConversationStore(journals()).load("c"))
    assert (loaded.messages, loaded.revision) == (messages, saved.revision)


def test_of_two_who_save_on_one_revision_the_second_is_told(memory, journals):
    """Nothing is overwritten unnoticed; the void save stays visible in the journal (H 87)."""
    stores = [AlveusConversationStore(memory), AlveusConversationStore(journals())]
    asyncio.run(stores[0].save(Conversation(messages=[asked("Begin.")], conversation_id="c")))
    copies = [asyncio.run(store.load("c")) for store in stores]
    for number, copy in enumerate(copies):
        copy.messages.append(answered(f"By {number}."))

    async def both():
        return await asyncio.gather(
            *(store.save(copy) for store, copy in zip(stores, copies, strict=True)), return_exceptions=True
        )

    ended = asyncio.run(both())
    assert sum(isinstance(one, ConversationConflict) for one in ended) == 1
    left = [asyncio.run(store.load("c")).messages for store in stores]
    assert left[0] == left[1]
    assert len(left[0]) == 2


def test_words_are_kept_as_those_of_whoever_said_them(memory, said):
    """Of one speaker alone; a batch of several is the agent's."""
    store = AlveusConversationStore(memory)
    asyncio.run(store.save(Conversation(messages=[asked("Where is the boat?")], conversation_id="c")))
    assert said() == [("user", "Where is the boat?")]
