"""Where an agent's files lie: one folder for each agent, whatever it is called, and no name that leads elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus import AlveusError, Hippocampus, InputError
from alveus.hippocampus import find_agent, find_home
from alveus.store.layout import decode_name, encode_name, make_layout

IDS = st.text(min_size=1, max_size=40).filter(lambda text: text.isprintable())


@given(IDS, IDS)
def test_no_two_agents_share_a_folder(one, two):
    """Different ids have different names on disk, and each name leads back to its id."""
    assert decode_name(encode_name(one)) == one
    assert (encode_name(one) == encode_name(two)) == (one == two)


@pytest.mark.parametrize(
    ("agent_id", "name"),
    [
        ("river", "river"),
        ("Река", "%D0%A0%D0%B5%D0%BA%D0%B0"),
        ("a/b", "a%2Fb"),
        ("..", "%2E."),
        (".", "%2E"),
        (".hidden", "%2Ehidden"),
        ("a b%c", "a%20b%25c"),
        ("a-b_c~d.e", "a-b_c~d.e"),
        ("a:b\\c*", "a%3Ab%5Cc%2A"),
        ("😀", "%F0%9F%98%80"),
    ],
)
def test_names_on_disk(agent_id, name):
    """Percent-encoded UTF-8, upper-case digits, a leading dot too: spec/journal.md, section 7.6."""
    assert encode_name(agent_id) == name


@pytest.mark.parametrize(
    "pair",
    [
        ("а", "a"),
        ("проект", "отчёты"),
        ("é", "e\u0301"),
        ("ё", "е"),
        ("john_doe", "john-doe"),
        ("john%", "john"),
        ("acme", "acme-corp"),
        ("a/b", "a%2Fb"),
        ("A", "a"),
        ("..", "."),
    ],
)
def test_twins_are_told_apart(home, pair):
    """Look-alikes, prefixes and wildcards are other agents: neither sees the other's records."""
    for agent_id in pair:
        with Hippocampus.open(home=home, agent_id=agent_id) as memory:
            assert memory.size() == 0
            memory.record("decision", f"only {agent_id}")
    for agent_id in pair:
        with Hippocampus.open(home=home, agent_id=agent_id) as memory:
            assert [record.content for record in memory.iter_records()] == [f"only {agent_id}"]
            assert memory.agent_id == agent_id


@pytest.mark.parametrize(
    "agent_id", ["../../etc", "..", "/etc/passwd", "a/../b", "a\\..\\b", "~root", "%2E%2E", "C:\\x"]
)
def test_no_id_leads_out_of_the_home(home, agent_id):
    """Everything that an agent leaves lies under its home, and directly under `agents` and `keys`."""
    with Hippocampus.open(home=home, agent_id=agent_id) as memory:
        memory.record("decision", "here")
        assert memory.folder.resolve().parent == (home / "agents").resolve()
    assert {path.parent for path in home.rglob("*.key")} == {home / "keys"}


@pytest.mark.parametrize(
    "agent_id", ["", "\x00", "a\x00b", "a\nb", "\x7f", "a\x85b", "x" * 257, "я" * 40, "\ud800", "a\udfff"]
)
def test_an_id_that_cannot_be(home, agent_id):
    """Empty, too long, with controls or without UTF-8: refused with a sentence, and nothing is made."""
    with pytest.raises(InputError) as caught:
        Hippocampus.open(home=home, agent_id=agent_id)
    assert caught.value.hint
    assert not home.exists()


@pytest.mark.parametrize("agent_id", ["x" * 200, "я" * 33, "😀" * 16])
def test_the_longest_ids(home, agent_id):
    """An id whose file names the disk can hold is accepted, with every suffix there is."""
    with Hippocampus.open(home=home, agent_id=agent_id) as memory:
        memory.record("decision", "one")
        memory.rotate()
        assert memory.verify_chain()


def test_the_home_is_looked_for_in_order(tmp_path, monkeypatch):
    """The argument, then ALVEUS_HOME, then the user's data folder; never a place that is wiped at a restart."""
    monkeypatch.setenv("ALVEUS_HOME", str(tmp_path / "configured"))
    assert find_home(tmp_path / "given") == tmp_path / "given"
    assert find_home(None) == tmp_path / "configured"
    monkeypatch.delenv("ALVEUS_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    found = find_home(None)
    assert found.is_relative_to(tmp_path / "me")
    assert "tmp" not in found.relative_to(tmp_path).parts
    assert find_home("~/x") == tmp_path / "me" / "x"
    monkeypatch.chdir(tmp_path)
    assert find_home("relative") == tmp_path / "relative"


def test_the_agent_is_looked_for_in_order(monkeypatch):
    """The argument, then ALVEUS_AGENT, then `default`."""
    assert find_agent(None) == "default"
    monkeypatch.setenv("ALVEUS_AGENT", "river")
    assert find_agent(None) == "river"
    assert find_agent("brook") == "brook"


def test_a_service_user_without_a_home_is_told(monkeypatch):
    """Where no home can be found the error says what to set; nothing lands in the current folder."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(InputError) as caught:
        find_home(None)
    assert caught.value.code == "no_home"
    assert "ALVEUS_HOME" in caught.value.hint


def test_layout_paths(home):
    """The places of spec/journal.md, section 7.6."""
    layout = make_layout(home, "река")
    assert layout.stream == home / "agents" / "%D1%80%D0%B5%D0%BA%D0%B0" / "stream.jsonl"
    assert layout.key_file == home / "keys" / "%D1%80%D0%B5%D0%BA%D0%B0.journal.key"
    assert layout.old_key("ab" * 8).name == "%D1%80%D0%B5%D0%BA%D0%B0.journal.key." + "ab" * 8
    with pytest.raises(AlveusError):
        make_layout(home, "")
