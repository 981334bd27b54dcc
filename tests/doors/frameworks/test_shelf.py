"""Events of a framework: any JSON comes back, long ones too, and each reader sees the same order."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus import Hippocampus
from alveus.doors.frameworks.shelf import Note, Shelf


class Seen:
    """A fold that keeps every event."""

    def __init__(self, memory, framework="test", **options):
        self.events = []
        self.shelf = Shelf(memory, framework, self._take, **options)

    def _take(self, event):
        self.events.append(event)
        return len(self.events)

    def data(self):
        self.shelf.read()
        return [event.data for event in self.events]

    def write(self, *data):
        return self.shelf.write([Note(act="put", data=one, says="") for one in data])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One journal for many examples."""
    with Hippocampus.open(home=tmp_path_factory.mktemp("shelf"), agent_id="river") as memory:
        yield memory


@given(JSON)
def test_any_json_comes_back_as_it_was(shared, data):
    """Integers of any size, lone surrogates, floats: what the canonical form refuses is text inside it."""
    seen = Seen(shared, keep_secrets=True)
    seen.write(data)
    assert Seen(shared, keep_secrets=True).data()[-1] == data


@pytest.mark.parametrize("data", ["x" * 500_000, "ы" * 400_000, '"\\\n' * 200_000, "😀" * 300_000, ["\x00" * 150_000]])
def test_what_is_too_long_for_a_line_comes_back_whole(memory, journals, data):
    """In pieces of one batch; a reader that comes later puts them together."""
    assert Seen(memory).write({"a": data}, {"b": 1}) == [1, 2]
    assert Seen(journals()).data() == [{"a": data}, {"b": 1}]


def test_depth_beyond_the_journals_own_comes_back(memory, journals):
    """A tree of a hundred levels."""
    tree = json.loads("[" * 100 + "]" * 100)
    Seen(memory).write(tree)
    assert Seen(journals()).data() == [tree]


def test_a_reader_sees_what_others_write_while_it_is_open(memory, journals):
    """By both, in one order, each event once."""
    first, second = Seen(memory), Seen(journals())
    first.write(1)
    second.write(2)
    first.write(3)
    assert first.data() == second.data() == [1, 2, 3]


def test_writers_at_once_fold_in_the_order_of_the_chain(memory, journals):
    """Two processes and eight threads: nothing is lost or doubled, and all see one order."""
    sides = [Seen(memory), Seen(journals())]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: sides[number % 2].write(number), range(40)))
    assert sorted(sides[0].data()) == list(range(40))
    assert sides[0].data() == sides[1].data()


def test_frameworks_and_users_do_not_see_one_another(memory):
    """A name is compared whole, and no user is no other's."""
    for user in (None, "john_doe", "john-doe", "john_doe2", "%"):
        Seen(memory, user=user).write(user)
        Seen(memory, "test2", user=user).write("other framework")
    for user in (None, "john_doe", "john-doe", "john_doe2", "%"):
        assert Seen(memory, user=user).data() == [user]
    assert Seen(memory, user="_").data() == []


def test_events_survive_a_change_of_key(memory, journals):
    """The chain that is closed is read before the one that continues it."""
    seen = Seen(memory)
    seen.write(1)
    memory.rotate()
    seen.write(2)
    assert seen.data() == Seen(journals()).data() == [1, 2]


def test_secrets_are_masked_unless_they_are_to_be_kept(memory, home):
    """In the words and in the data, before anything is signed."""
    key = "sk_live_" + "a1B2c3D4e5F6g7H8"
    Shelf(memory, "test", lambda _: None).write([Note(act="put", data={"note": key}, says=f"ключ{key}")])
    memory.flush()
    assert key.encode() not in (home / "agents" / "river" / "stream.jsonl").read_bytes()
    kept = Seen(memory, keep_secrets=True)
    kept.write(key)
    assert kept.data()[-1] == key
