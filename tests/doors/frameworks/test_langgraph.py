"""LangGraph `BaseStore` and checkpointer: its conformance tests, its own store as the model, and what it got wrong."""

import asyncio
import itertools
import random

import pytest

pytest.importorskip("langgraph.store.base", reason="the extra `langgraph` is not installed")

from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from alveus.doors.frameworks.langgraph import AlveusSaver, AlveusStore


def plain(result):
    """A result without its times."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    return (result.namespace, result.key, result.value) if hasattr(result, "key") else result


def holding(model):
    """Its items alone: it lists namespaces that were emptied, or only asked for, too."""
    fresh = InMemoryStore()
    fresh.batch([PutOp(item.namespace, item.key, item.value) for item in model.search((), limit=1000)])
    return fresh


def test_it_answers_as_langgraphs_own_store_does(memory, journals):
    """Two hundred random operations, read by the writer and by another process."""
    chosen = random.Random(7)
    model, store = InMemoryStore(), AlveusStore(memory)
    spaces = [("a",), ("a", "b"), ("a", "bc"), ("ab",), ("a", "b", "c"), ("Анна", "%"), ("Анна", "_")]
    keys = ["k", "k1", "K", "%"]
    for _ in range(200):
        op = chosen.choice(
            [
                PutOp(chosen.choice(spaces), chosen.choice(keys), {"n": chosen.randrange(4), "t": "x"}),
                PutOp(chosen.choice(spaces), chosen.choice(keys), None),
                GetOp(chosen.choice(spaces), chosen.choice(keys)),
                SearchOp(chosen.choice([*spaces, ()]), filter=chosen.choice([None, {"n": 1}, {"n": {"$gte": 2}}])),
                SearchOp(chosen.choice([*spaces, ()]), limit=2, offset=1),
                ListNamespacesOp(max_depth=chosen.choice([None, 1, 2])),
                ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("a", "*")),)),
            ]
        )
        expected = holding(model).batch([op]) if isinstance(op, ListNamespacesOp) else model.batch([op])
        found = store.batch([op])
        if isinstance(op, SearchOp) and op.offset:  # which ones come first without a query is not laid down
            assert len(found[0]) == len(expected[0])
        else:
            assert sorted(plain(found[0] or []), key=repr) == sorted(plain(expected[0] or []), key=repr)
    everything = SearchOp((), limit=1000)
    expected = sorted(plain(model.batch([everything])[0]), key=repr)
    assert sorted(plain(AlveusStore(journals()).batch([everything])[0]), key=repr) == expected


def test_a_namespace_is_a_prefix_by_labels_and_not_by_letters(memory):
    """`("tenant", "acme")` does not return `("tenant", "acme-corp")`, `john_doe` not `john-doe` (C 41, 42)."""
    store = AlveusStore(memory)
    for name in ("acme", "acme-corp", "acme_corp", "acmeXcorp", "%", "_"):
        store.put(("tenant", name), "k", {"of": name, "text": "secret plan"})
    for name in ("acme", "acme_corp", "%", "_"):
        assert [item.value["of"] for item in store.search(("tenant", name))] == [name]
        assert [item.value["of"] for item in store.search(("tenant", name), query="secret plan")] == [name]
    assert len(store.search(("tenant",))) == 6
    assert store.search(("ten",)) == []


def test_times_say_when_an_item_was_made_and_changed(memory, journals):
    """By the journal, so that every process says the same."""
    store = AlveusStore(memory)
    store.put(("n",), "k", {"v": 1})
    first = store.get(("n",), "k")
    store.put(("n",), "k", {"v": 2})
    second = store.get(("n",), "k")
    assert first.created_at == first.updated_at == second.created_at < second.updated_at
    assert AlveusStore(journals()).get(("n",), "k") == second


def test_what_is_overwritten_or_deleted_stays_in_the_past(memory, said):
    """And cannot be found through the store any more, with or without a query."""
    store = AlveusStore(memory)
    store.put(("boats",), "k", {"text": "The boat is blue."})
    store.put(("boats",), "k", {"text": "The boat is red."})
    assert [item.value["text"] for item in store.search(("boats",), query="boat blue")] == ["The boat is red."]
    store.delete(("boats",), "k")
    store.delete(("boats",), "never")
    assert store.get(("boats",), "k") is None
    assert store.search(("boats",), query="boat") == []
    assert [words for _, words in said()] == [
        "boats: k\ntext: The boat is blue.",
        "boats: k\ntext: The boat is red.",
        "(boats: k was deleted from the store)",
    ]


def test_a_query_ranks_by_recall_and_loses_nothing(memory):
    """What recall finds comes first, the rest of what fits after it; pages do not overlap."""
    store = AlveusStore(memory)
    for number in range(5):
        store.put(("n",), f"k{number}", {"text": f"Nothing about it, {number}."})
    store.put(("n",), "lighthouse", {"text": "Маяк починили."})
    found = store.search(("n",), query="маяка", limit=10)
    assert (found[0].key, len({item.key for item in found})) == ("lighthouse", 6)
    assert found[0].score == 1
    pages = [item.key for offset in (0, 2, 4) for item in store.search(("n",), query="маяка", limit=2, offset=offset)]
    assert sorted(pages) == sorted(item.key for item in found)


def test_a_value_that_was_handed_out_is_the_callers_own(memory):
    """Changing it changes nothing in the store."""
    store = AlveusStore(memory)
    store.put(("n",), "k", {"list": [1]})
    store.get(("n",), "k").value["list"].append(2)
    store.search(("n",))[0].value["list"].append(3)
    assert store.get(("n",), "k").value == {"list": [1]}


def test_the_asynchronous_calls_do_the_same(memory):
    """In threads."""
    store = AlveusStore(memory)

    async def act():
        await asyncio.gather(*(store.aput(("n",), f"k{number}", {"v": number}) for number in range(20)))
        await store.adelete(("n",), "k0")
        return await store.asearch(("n",), limit=50), await store.alist_namespaces()

    found, spaces = asyncio.run(act())
    assert (len(found), spaces) == (19, [("n",)])


def test_users_do_not_see_one_another(memory):
    """One journal, a store each."""
    AlveusStore(memory, user="ann").put(("n",), "k", {"text": "Ann's secret"})
    assert AlveusStore(memory, user="anna").search((), query="secret") == []
    assert AlveusStore(memory).search(()) == []


# Threads


def test_langgraphs_conformance_tests_of_checkpointers_pass(journals):
    """Every capability that this one has."""
    conformance = pytest.importorskip(
        "langgraph.checkpoint.conformance", reason="langgraph-checkpoint-conformance is not installed"
    )
    numbers = itertools.count()

    @conformance.checkpointer_test(name="alveus")
    async def saver():
        yield AlveusSaver(journals(f"agent-{next(numbers)}"))

    report = asyncio.run(conformance.validate(saver))
    report.print_report()
    assert report.passed_all_base(), report


def checkpoint(number):
    """A checkpoint of that many steps."""
    return {
        "v": 4,
        "id": f"1ef4f797-8335-6428-8001-8a1503f9b87{number}",
        "ts": "2026-01-01T00:00:00+00:00",
        "channel_values": {"text": "т" * number, "set": {2}},
        "channel_versions": {"text": f"{number}", "set": f"{number}"},
        "versions_seen": {},
        "updated_channels": None,
    }


def test_a_thread_goes_on_in_another_process(memory, journals):
    """Checkpoints, their writes and their parents; a deleted thread is gone, and stays in the journal."""
    saver = AlveusSaver(memory)
    config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
    for number in (1, 2):
        made = checkpoint(number)
        config = saver.put(config, made, {"source": "loop", "step": number}, made["channel_versions"])
    saver.put_writes(config, [("text", "more")], "task")
    other = AlveusSaver(journals())
    found = other.get_tuple({"configurable": {"thread_id": "t"}})
    assert found.checkpoint["channel_values"] == {"text": "тт", "set": {2}}
    assert found.pending_writes == [("task", "text", "more")]
    assert [one.metadata["step"] for one in other.list({"configurable": {"thread_id": "t"}})] == [2, 1]
    other.delete_thread("t")
    assert saver.get_tuple({"configurable": {"thread_id": "t"}}) is None
    assert memory.size() == 4
