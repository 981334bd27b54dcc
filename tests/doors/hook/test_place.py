"""Whose memory an event belongs to: projects, worktrees and sub-agents do not mix (complaints 42, 46, 49, 51)."""

import subprocess
import unicodedata
from pathlib import Path

import pytest

from alveus.doors.hook import place
from alveus.store.layout import encode_name, make_layout


def scope(tmp_path, cwd, session="s", harness="claude-code", agent=None, **more):
    """The scope of an event of a session in a folder."""
    event = {"session_id": session, "cwd": str(cwd), **more}
    return place.scope_of(str(tmp_path / "hooks"), harness, event, agent)


@pytest.fixture(autouse=True)
def _no_agent_around(monkeypatch):
    """The test may itself run inside an agent."""
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)


def test_cyrillic_names_of_one_length_stay_apart(tmp_path):
    """Two folders whose names Claude Code writes alike (`-------`) have two memories."""
    one, two = tmp_path / "проект", tmp_path / "сервер"
    for path in (one, two):
        path.mkdir()
    first, second = scope(tmp_path, one, "a"), scope(tmp_path, two, "b")
    assert first.agent_id.startswith("проект~")
    assert second.agent_id.startswith("сервер~")
    assert first.name != second.name


def test_folders_of_one_name_stay_apart(tmp_path):
    """The whole path counts, not the last name in it; nor is one name the beginning of another's."""
    paths = [tmp_path / "a" / "app", tmp_path / "b" / "app", tmp_path / "a" / "app-2", tmp_path / "a" / "app_"]
    for path in paths:
        path.mkdir(parents=True)
    assert len({scope(tmp_path, path, str(n)).agent_id for n, path in enumerate(paths)}) == len(paths)


def test_two_worktrees_stay_apart(tmp_path):
    """What is tried on one branch is not remembered on another."""
    main = tmp_path / "main"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(main)]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tmp_path / "side")], check=True, capture_output=True)
    assert scope(tmp_path, main, "a").agent_id != scope(tmp_path, tmp_path / "side", "b").agent_id


def test_a_link_to_a_folder_is_the_folder(tmp_path):
    """One folder under two names is one project."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert place.agent_of(str(tmp_path / "link")) == place.agent_of(str(tmp_path / "real"))


def test_a_session_keeps_the_memory_it_began_with(tmp_path):
    """An agent that goes elsewhere, or sends a sub-agent there, is still the same session."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    begun = scope(tmp_path, tmp_path / "here")
    assert scope(tmp_path, tmp_path / "there", agent_id="sub-1") == begun
    assert scope(tmp_path, tmp_path / "there", session="other") != begun
    assert scope(tmp_path, tmp_path / "there", harness="codex") != begun, "sessions of two programs are two sessions"


def test_where_a_session_was_started_counts_above_where_it_is(tmp_path, monkeypatch):
    """Claude Code says so in the environment, and only Claude Code: another agent inside it has its own project."""
    for name in ("start", "now"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "start"))
    assert scope(tmp_path, tmp_path / "now", "a").agent_id == place.agent_of(str(tmp_path / "start"))
    assert scope(tmp_path, tmp_path / "now", "b", "codex").agent_id == place.agent_of(str(tmp_path / "now"))


def test_a_named_agent_takes_every_project(tmp_path, monkeypatch):
    """By --agent, else by ALVEUS_AGENT: then nothing in an event decides."""
    assert scope(tmp_path, "/a", agent="river").agent_id == "river"
    monkeypatch.setenv("ALVEUS_AGENT", "sea")
    assert scope(tmp_path, "/b").agent_id == "sea"
    assert scope(tmp_path, "/b", agent="river").agent_id == "river"


def test_nothing_in_an_event_names_an_agent(tmp_path):
    """Words that a model wrote, or an event's own fields, cannot choose another memory."""
    event = {"session_id": "two", "cwd": "/a", "agent": "river", "agent_id": "river", "user_id": "river"}
    assert place.scope_of(str(tmp_path / "hooks"), "claude-code", event, None) == scope(tmp_path, "/a", "one")


@pytest.mark.parametrize(
    "name",
    ["plain", "про ект", "..", ".hidden", "a/b", "%2e", "雲", "е\u0308", "x" * 300, "ж" * 300, "\ud800", "\0", "a\nb"],
)
def test_every_folder_has_a_name_that_the_store_takes(name):
    """The agent of any path is acceptable to the journal, and its name on disk is the store's."""
    agent_id = place.agent_of(f"/srv/{name}")
    assert make_layout(Path("/home"), agent_id).folder.name == place.encode(agent_id)
    assert place.encode(agent_id) == encode_name(agent_id)


def test_forms_of_one_letter_are_two_folders():
    """As they are to the file system."""
    composed, apart = (unicodedata.normalize(form, "/srv/йод") for form in ("NFC", "NFD"))
    assert place.agent_of(composed) != place.agent_of(apart)


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "ж" * 500, "x" * 5000, "\0", "\ud800"])
def test_a_session_cannot_name_a_file_elsewhere(tmp_path, session):
    """A session's name is never a path (complaint 111)."""
    root = tmp_path / "hooks"
    scope(tmp_path, tmp_path, session)
    assert [path.parent for path in root.rglob("*.json")] == [root / "sessions"]
    assert {path.name for path in tmp_path.iterdir()} == {"hooks"}


def test_two_first_events_at_once_agree(tmp_path):
    """Whoever notes the scope of a session first is right for both."""
    root = str(tmp_path / "hooks")
    path = place.session_file(root, "claude-code", "s")
    first = place.Scope("one", "one", "/one")
    assert place._begin(path, first) == first
    assert place._begin(path, place.Scope("two", "two", "/two")) == first
    Path(path).write_text("{")
    assert place._begin(path, place.Scope("two", "two", "/two")).agent_id == "two", "what cannot be read says nothing"
