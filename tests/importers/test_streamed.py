"""What is too large to be held gives the same as what is held: items, names and order, also where it is cut."""

from __future__ import annotations

import json
import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alveus.importers import entries, run
from alveus.importers import source as source_module
from alveus.importers.base import Item, Rejected, Skipped
from alveus.importers.inflating import CutShort
from alveus.importers.quoted import is_quoted, unquoted
from alveus.importers.source import Source
from alveus.importers.table import named
from alveus.journal.record import Draft
from transcripts import LARGE, MADE, OWN, large

HELD = 1 << 20
NARROW = (60, 300, 2000)
NAME = "at the end"


def nested(depth, words="went"):
    """A trajectory in a trajectory, so many times; none has a name of its own but the outermost."""
    inner = {"agent": {"name": "sub"}, "steps": [{"step_id": 1, "source": "agent", "message": words}]}
    for _ in range(depth):
        inner = {"agent": {"name": "sub"}, "steps": [], "subagent_trajectories": [inner, inner], "notes": "n"}
    return {"session_id": "s", "agent": {"name": "ann"}, "subagent_trajectories": [inner], "steps": []}


DOCUMENTS = {
    **{f"{name}, named at its end": (name, b"".join(large(name, 1500, "words "))) for name in LARGE},
    **{one.name: (one.name, one.data(5)) for one in MADE if one.wrap},
    **{f"{one.name}, over lines": (one.name, one.data(5, indent=2)) for one in MADE if one.wrap},
    "atif, without a name": ("atif", json.dumps({**nested(0), "session_id": None}).encode()),
    "atif, nested": ("atif", json.dumps(nested(3)).encode()),
    "chatgpt, in an object": ("chatgpt", b'{"conversations": ' + OWN["chatgpt"].data(4) + b"}"),
    "claude-ai, in an object": ("claude-ai", b'{"conversations": ' + OWN["claude-ai"].data(4) + b"}"),
    "chatgpt, twice": ("chatgpt", b"[" + b",".join([b"".join(large("chatgpt", 900, "words "))] * 2) + b"]"),
}
every = pytest.mark.parametrize(("name", "data"), DOCUMENTS.values(), ids=DOCUMENTS)


@pytest.fixture
def events(write, monkeypatch):
    """What a reader makes of these bytes where it holds no more than so much at once; items as what makes them up."""

    def found(name, data, held=HELD):
        monkeypatch.setattr(entries, "WIDE", held)
        monkeypatch.setattr(source_module, "WIDE", held)
        with Source(write(data, name=OWN[name].file)) as source:
            return [one.draft if isinstance(one, Item) else (type(one), one.reason) for one in named(name).read(source)]

    return found


def items(found):
    """The items alone."""
    return [one for one in found if isinstance(one, Draft)]


@every
def test_streamed_is_as_held(name, data, events):
    """However little is held, the events are the same: their words, metadata, origins and order."""
    whole = events(name, data)
    assert len(items(whole)) >= 2
    assert not [one for one in whole if not isinstance(one, Draft) and one[0] is Rejected]
    for held in NARROW:
        assert events(name, data, held) == whole


@every
def test_a_cut_is_the_same_either_way(name, data, events):
    """Cut anywhere: what came before is there or waits for its name, one thing is rejected, and both ways agree."""
    known = {repr((one.content, one.origin)) for one in items(events(name, data))}
    for end in sorted(random.Random(5).sample(range(2, len(data) - 1), 40)):
        held = events(name, data[:end])
        assert events(name, data[:end], 100) == held
        assert [one[0] for one in held if not isinstance(one, Draft)].count(Rejected) == 1
        assert {repr((one.content, one.origin)) for one in items(held)} <= known


@pytest.mark.parametrize("name", ["chatgpt", "claude-ai", "grok", "inspect-ai"])
def test_whole_conversations_before_a_cut_are_there(name, events):
    """A wrapper around conversations need not be whole for those in it that are."""
    data = OWN[name].data(4)
    wrapped = data if data.startswith(b"{") else b'{"conversations": ' + data + b"}"
    for held in (HELD, 100):
        assert len(items(events(name, wrapped[: len(wrapped) * 3 // 4], held))) >= 4


@pytest.mark.parametrize("name", ["atif", "hermes", "letta", "gemini-cli", "claude-ai"])
def test_a_broken_element_costs_itself(name, events):
    """A message that is no JSON is rejected; those around it are the same as before."""
    data = b"".join(large(name, 1500, "words "))
    whole = items(events(name, data))
    broken = data.replace(b'"question 1 ', b'oops"question 1 ', 1)
    for held in (HELD, 100):
        found = events(name, broken, held)
        assert [one[0] for one in found if not isinstance(one, Draft)].count(Rejected) == 1
        contents = [one.content for one in items(found)]
        assert contents == [one.content for one in whole if not one.content.startswith("question 1 ")]


@pytest.mark.parametrize("held", [HELD, 100])
def test_broken_around_the_list(held, events):
    """Where what names a conversation is no JSON, it waits whole; where nothing need name it, only that is lost."""
    data = (
        b'{"platform" oops, "session_start": "x", "messages": [{"role": "user", "content": "hi"}], "session_id": "s"}'
    )
    assert events("hermes", data, held) == [(Rejected, "not JSON: what stands around the list")]
    told = events("openai-chat", data, held)
    assert [one.content for one in items(told)] == ["hi"]
    assert [one[0] for one in told if not isinstance(one, Draft)] == [Rejected]


@pytest.mark.parametrize("order", [("session_id", "notes", "steps"), ("session_id", "steps", "notes")])
def test_a_member_that_is_too_large_is_told(order, events, monkeypatch):
    """What stands around a list and is over the limit is set aside, and says so; the list is read."""
    monkeypatch.setattr(entries, "MAX_HEADER", 500)
    made = {"session_id": "s", "notes": "n" * 600, "steps": OWN["atif"].turn(0, "words")}
    found = events("atif", json.dumps({name: made[name] for name in order}).encode(), 100)
    assert [one for one in found if not isinstance(one, Draft)] == [(Rejected, "longer than 500 bytes around the list")]
    assert [one.content for one in items(found)][-2:] == ["question 0 words", "answer 0 words"]


@pytest.mark.parametrize("held", [HELD, 20])
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 3000,
        b'{"subagent_trajectories":[' * 3000,
        json.dumps(nested(9)).encode()[:-1],
        b'{"steps":' * 500 + b"1",
        b'{"session_id":"s","steps":[' + b"[" * 500 + b"]" * 500 + b"]}",
    ],
    ids=["lists", "trajectories", "cut", "objects", "in a list"],
)
def test_what_is_nested_deeply_ends(data, held, events):
    """No depth stops the reading, and none makes it read the file once for every level."""
    assert any(not isinstance(one, Draft) and one[0] in (Rejected, Skipped) for one in events("atif", data, held))


def test_a_large_document_is_never_in_memory(write):
    """A trajectory of 16 MB in one line is read in little more than one of its steps."""
    path = write(*large("atif", 16_000_000, "word " * 1000), name="t.json")
    with Source(path) as source:
        tracemalloc.start()
        count = sum(1 for _ in named("atif").read(source))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert count > 3000
    assert peak < 4 << 20


# ── trees and what is looked up ──────────────────────────────────────────────────────────────────────────────────────


def node(own, parent, children, words):
    """A node of ChatGPT's tree."""
    message = {"id": own, "author": {"role": "user"}, "content": {"content_type": "text", "parts": [words]}}
    return {"id": own, "parent": parent, "children": children, "message": message}


@pytest.mark.parametrize("held", [HELD, 100])
def test_a_tree_is_told_from_its_root(held, events):
    """Children that stand before their parent are told after it, and a branch that was left says so."""
    mapping = {
        "c": node("c", "a", [], "left"),
        "b": node("b", "a", ["d"], "second"),
        "d": node("d", "b", [], "third"),
        "a": node("a", None, ["b", "c"], "first"),
    }
    data = json.dumps({"mapping": mapping, "current_node": "d", "id": "x"}).encode()
    found = events("chatgpt", data, held)
    assert [(one.content, one.metadata.get("inactive")) for one in found] == [
        ("first", None),
        ("second", None),
        ("third", None),
        ("left", True),
    ]


@pytest.mark.parametrize("held", [HELD, 100])
def test_attachments_are_looked_up_where_they_stand(held, events):
    """A text that lies beside its sample, and behind it, is put back; what else the log holds is passed over."""
    sample = {
        "id": 1,
        "epoch": 1,
        "messages": [{"role": "user", "content": f"see attachment://{'a' * 32} and attachment://{'b' * 32}"}],
        "events": [{"messages": [{"role": "user", "content": "again"}]}] * 3,
        "attachments": {"a" * 32: "the text " * 30, "c" * 32: [1]},
        "scores": {"s": {"value": 1}},
        "uuid": NAME,
    }
    found = events("inspect-ai", json.dumps({"eval": {"task": "t"}, "plan": {}, "samples": [sample]}).encode(), held)
    assert [one.content for one in found] == [f"see {'the text ' * 30} and attachment://{'b' * 32}", "score s: 1"]
    assert {one.session for one in found} == {NAME}


# ── JSON in a JSON string ────────────────────────────────────────────────────────────────────────────────────────────

TEXTS = st.lists(
    st.sampled_from([*'a"\\/{}\n\t\bé', "\U0001f600", "\ud800", "\udc00", "\\u", "\\ud83d", " "]), max_size=20
)


@given(
    st.lists(TEXTS, max_size=3), st.integers(1, 9), st.booleans(), st.booleans(), st.sampled_from([b"", b"\n", b" "])
)
@settings(max_examples=200, deadline=None)
def test_a_string_is_unescaped_as_a_parser_would(texts, step, inner, outer, end):
    """Whatever stands in it and wherever the chunks end, what comes out means the same."""
    text = json.dumps({"k": ["".join(one) for one in texts]}, ensure_ascii=inner)
    data = json.dumps(text, ensure_ascii=outer).encode("utf-8", "backslashreplace") + end
    if not outer and any("\ud800" <= char <= "\udfff" for char in text):
        return
    assert is_quoted(data)
    out = b"".join(unquoted([data[start : start + step] for start in range(0, len(data), step)]))
    assert json.loads(out) == json.loads(json.loads(data))


def test_what_follows_the_string_is_told():
    """A string that ends early gives what it held; what follows it is not lost in silence."""
    assert b"".join(unquoted([b'"{\\"a', b'\\": 1'])) == b'{"a": 1'
    with pytest.raises(CutShort, match="follows"):
        list(unquoted([b'"{}" {}']))


def test_an_agent_file_in_a_string_is_the_same(write, hippocampus):
    """Letta's double JSON brings what the plain file brings, is known after it, and may be cut."""
    plain = b"".join(large("letta", 1500, "words "))
    first = run(hippocampus, write(plain, name="a.af"))
    quoted = json.dumps(plain.decode()).encode()
    again = run(hippocampus, write(quoted, name="a.af"))
    assert (again.formats, again.stored, again.known) == ({"letta": 1}, 0, first.stored)
    cut = run(hippocampus, write(quoted[: len(quoted) // 2], name="a.af"), format="letta")
    assert (cut.stored, cut.revised, cut.rejected_count) == (0, 0, 1)
    assert cut.known > 1
