"""`alveus hooks` and what `alveus doctor` says of agents: what is here, what is at work, what goes, and the mending."""

import json
import os
import stat
import time
from pathlib import Path

import pytest

from alveus import Hippocampus
from alveus.doors.cli import main
from alveus.doors.hook import place, spool, trouble
from alveus.doors.hook.settings import HARNESSES
from hooked import Hooks, Transcript


@pytest.fixture
def somebody(tmp_path, monkeypatch):
    """A person's home folder, with nothing in it; no agent program is on the PATH."""
    monkeypatch.setenv("HOME", str(tmp_path / "somebody"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CLAUDE_PROJECT_DIR", "OPENCLAW_STATE_DIR", "HERMES_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (tmp_path / "somebody").mkdir()
    return tmp_path / "somebody"


@pytest.fixture
def alveus(home, capfdbinary, somebody):  # noqa: ARG001  (its HOME is the person's)
    """Run one command; its exit status, what it printed, what it said."""

    def run(*arguments):
        capfdbinary.readouterr()
        status = main(["--home", str(home), *arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run


@pytest.fixture
def claude(somebody):
    """Claude Code's folder."""
    (somebody / ".claude").mkdir()
    return somebody / ".claude"


def finding(alveus, name):
    """What doctor says under a name."""
    _, out, _ = alveus("doctor", "--json")
    return [one for one in json.loads(out)["checks"] if one["name"] == name]


def test_each_change_has_a_backup_of_its_own(alveus):
    """Two within a second as well: the second would have been all that is left of what was there before both."""
    path = HARNESSES["claude-code"].settings()
    path.parent.mkdir()
    told = ['{"mine": 1}\n', '{"mine": 2}\n', '{"mine": 3}\n']
    for text in told:
        path.write_text(text)
        assert alveus("hooks", "install", "claude-code")[0] == 0
    assert sorted(one.read_text() for one in path.parent.glob(f"{path.name}.before-alveus-*")) == told


@pytest.mark.parametrize("name", HARNESSES)
def test_installed_shown_uninstalled(alveus, name):
    """The difference is printed, the file backed up with its mode, and out again it is what it was."""
    path = HARNESSES[name].settings()
    path.parent.mkdir()
    path.write_text('{"mine": "значение"}\n')
    path.chmod(0o640)
    status, out, err = alveus("hooks", "install", name)
    assert status == 0
    assert "alveus-hook" in out or "alveus.doors.hook.entry" in out
    assert all(f'+    "{event}"' in out or f'"{event}"' in out for event in HARNESSES[name].events)
    (backup,) = path.parent.glob(f"{path.name}.before-alveus-*")
    assert backup.read_text() == '{"mine": "значение"}\n'
    assert str(backup) in err
    assert [stat.S_IMODE(one.stat().st_mode) for one in (path, backup)] == [0o640, 0o640]
    again = path.read_bytes()
    assert alveus("hooks", "install", name)[0] == 0
    assert path.read_bytes() == again
    assert len(list(path.parent.glob("*before-alveus*"))) == 1, "nothing changed: nothing is backed up"
    assert "at work" in alveus("hooks", "status")[1]
    assert alveus("hooks", "uninstall", name)[0] == 0
    assert path.read_text() == '{"mine": "значение"}\n'
    assert "at work" not in alveus("hooks", "status")[1]


def test_broken_settings_are_not_touched(alveus, claude):
    """One sentence that says what to do, and the usage status."""
    path = claude / "settings.json"
    path.write_text('{"a": 1,}')
    status, out, err = alveus("hooks", "install", "claude-code")
    assert (status, out) == (2, "")
    assert "is not JSON" in err
    assert [one.name for one in claude.iterdir()] == ["settings.json"]
    assert path.read_text() == '{"a": 1,}'
    (said,) = finding(alveus, "hooks")
    assert (said["health"], "is not JSON" in said["found"]) == ("warn", True)


def test_a_link_to_the_settings_stays_one(alveus, claude, tmp_path):
    """Who keeps the file elsewhere keeps it there."""
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    (claude / "settings.json").symlink_to(real)
    assert alveus("hooks", "install", "claude-code")[0] == 0
    assert (claude / "settings.json").is_symlink()
    assert "hooks" in json.loads(real.read_text())


def test_another_file_can_be_named(alveus, tmp_path):
    """A project's own settings, for example; the user's stay as they are."""
    path = tmp_path / "project" / ".claude" / "settings.local.json"
    status, out, _ = alveus("--json", "hooks", "install", "claude-code", "--settings", str(path))
    assert status == 0
    assert json.loads(out)["changed"] is True
    assert set(json.loads(path.read_text())["hooks"]) == set(HARNESSES["claude-code"].events)


def test_the_agent_that_was_named_is_in_the_command(alveus, claude, home):
    """--agent makes one memory of all projects, and is nothing out of date to who does not name it."""
    alveus("--agent", "river", "hooks", "install", "claude-code")
    commands = {
        hook["command"]
        for entries in json.loads((claude / "settings.json").read_text())["hooks"].values()
        for entry in entries
        for hook in entry["hooks"]
    }
    (command,) = commands
    assert command.endswith(f"--home {home} --agent river")
    assert "at work" in alveus("hooks", "status")[1]


STALE = {
    "another home": (lambda text, home: text.replace(str(home), "/elsewhere"), "another alveus or another home"),
    "the program is gone": (
        lambda text, _: text.replace("/python", "/no-python").replace("/alveus-hook", "/no/alveus-hook"),
        "is gone",
    ),
    "an event is missing": (lambda text, _: text.replace('"Stop"', '"Notification"'), "Stop not hooked"),
    "switched off": (lambda text, _: text.replace("{", '{"disableAllHooks": true,', 1), "disableAllHooks"),
}


@pytest.mark.parametrize(("change", "says"), STALE.values(), ids=STALE)
def test_doctor_says_what_is_out_of_date(alveus, claude, home, change, says):
    """And how to mend it."""
    alveus("hooks", "install", "claude-code")
    path = claude / "settings.json"
    path.write_text(change(path.read_text(), home))
    (said,) = finding(alveus, "hooks")
    assert said["health"] == "warn"
    assert says in said["found"]
    assert "alveus hooks install claude-code" in said["mend"] or "change that setting" in said["mend"]


@pytest.mark.usefixtures("claude")
def test_doctor_names_the_agents_that_are_here(alveus, somebody, monkeypatch):
    """By their program or by their folder; one without our hooks remembers nothing, which is said."""
    programs = somebody / "bin"
    programs.mkdir()
    (programs / "codex").write_text("#!/bin/sh\n")
    (programs / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    (said,) = finding(alveus, "agents")
    assert said["found"] == "Claude Code (its folder only), Codex"
    told = [one["found"] for one in finding(alveus, "hooks")]
    assert any("Claude Code is here and remembers nothing" in one for one in told)
    assert any("Codex is here and remembers nothing" in one for one in told)


def test_doctor_points_to_the_memories_that_are_there(alveus, home):
    """Whoever only installed hooks has no agent `default`: nothing is to be begun, another is to be named."""
    assert "`alveus init` begins one" in finding(alveus, "journal")[0]["mend"]
    with Hippocampus.open(home=home, agent_id="river~0123456789ab"):
        pass
    assert "`alveus agents` lists those that are here" in finding(alveus, "journal")[0]["mend"]


def test_doctor_says_what_failed_and_what_waits(alveus, home):
    """A hook that failed is a mark in the health, though it told nobody when it did."""
    root = place.hooks_of(str(home))
    trouble.note(root, "hook claude-code Stop", OSError("no space"))
    spool.put(str(Path(root, "agents", "river")), b"{}")
    told = [one["found"] for one in finding(alveus, "hooks")]
    assert any("hooks failed once" in one and "no space" in one for one in told)
    assert any("3 bytes of events" in one for one in told)
    assert "no space" in alveus("hooks", "status")[1]


# ── transcripts that are going to be deleted ─────────────────────────────────────────────────────────────────────────


def session(claude, folder, name, cwd, *, days=0.0, words="what was said"):
    """A transcript that was last changed so many days ago."""
    found = Transcript(claude / "projects" / folder / f"{name}.jsonl", str(cwd))
    found.user(words)
    found.agent(f"an answer to {words}")
    then = time.time() - days * 86_400
    os.utime(found.path, (then, then))
    return found


def test_doctor_warns_before_claude_code_deletes(alveus, claude, tmp_path):
    """30 days by default; what is in no journal is counted, with the day that it goes (complaint 105)."""
    session(claude, "-a", "one", tmp_path, days=28.5)
    session(claude, "-a", "two", tmp_path)
    (said,) = finding(alveus, "transcripts")
    assert said["health"] == "warn"
    assert said["found"].startswith("2 of 2 transcripts (0.0 MiB) not imported; the oldest goes in 2 days.")
    assert "30 days after its last change (its default; cleanupPeriodDays is not set)" in said["found"]
    assert "alveus hooks backfill" in said["mend"]


def test_the_setting_is_read(alveus, claude, tmp_path):
    """What the user set counts, and the file that says it is named."""
    (claude / "settings.json").write_text('{"cleanupPeriodDays": 9}')
    session(claude, "-a", "one", tmp_path, days=10)
    (said,) = finding(alveus, "transcripts")
    assert "the oldest goes at its next start" in said["found"]
    assert f"9 days after its last change (cleanupPeriodDays in {claude / 'settings.json'})" in said["found"]


def test_backfill_imports_each_into_its_projects_memory(alveus, claude, home, tmp_path):
    """Two projects that share a folder of transcripts stay apart; again, nothing is imported twice."""
    projects = [tmp_path / "проект", tmp_path / "сервер"]
    for number, project in enumerate(projects):
        project.mkdir()
        session(claude, "-------", f"s{number}", project, words=f"words of {project.name}")
    status, out, _ = alveus("--json", "hooks", "backfill")
    assert status == 0
    assert [row["stored"] for row in json.loads(out)["projects"]] == [2, 2]
    for number, project in enumerate(projects):
        hooks = Hooks(home, project, Transcript(claude / "projects" / "-------" / f"s{number}.jsonl"))
        assert hooks.said() == [
            ("user", f"words of {project.name}"),
            ("agent", f"an answer to words of {project.name}"),
        ]
    (said,) = finding(alveus, "transcripts")
    assert (said["health"], said["found"].startswith("2 transcripts, all imported")) == ("ok", True)
    assert json.loads(alveus("--json", "hooks", "backfill")[1])["projects"] == []


def test_what_was_said_since_is_not_imported_yet(alveus, claude, tmp_path):
    """A transcript that went on after its import is counted again, and goes in without what is known."""
    found = session(claude, "-a", "one", tmp_path)
    alveus("hooks", "backfill")
    found.user("and one thing more")
    assert finding(alveus, "transcripts")[0]["health"] == "warn"
    (row,) = json.loads(alveus("--json", "hooks", "backfill")[1])["projects"]
    assert (row["stored"], row["known"]) == (1, 2)


def test_backfill_takes_in_what_waits(alveus, home, tmp_path):
    """What hooks put down and nobody took in is recorded."""
    project = tmp_path / "river"
    project.mkdir()
    hooks = Hooks(home, project, Transcript(tmp_path / "s.jsonl", str(project)))
    hooks.transcript.user("question")
    hooks.put("Stop")
    assert json.loads(alveus("--json", "hooks", "backfill")[1])["taken"] == 1
    assert hooks.said() == [("user", "question")]


def test_a_transcript_that_cannot_be_read_stops_no_other(alveus, claude, tmp_path):
    """It is named, and the rest is imported."""
    session(claude, "-a", "one", tmp_path)
    broken = session(claude, "-a", "two", tmp_path)
    broken.path.write_bytes(b"\x1f\x8b" + broken.path.read_bytes())
    (row,) = json.loads(alveus("--json", "hooks", "backfill")[1])["projects"]
    assert row["stored"] + len(row["failed"]) >= 2
    assert row["stored"] >= 2


def test_without_a_home_folder_there_is_a_sentence(alveus, monkeypatch):
    """A service user may have none: doctor says so and goes on, install refuses (complaint 2)."""

    def none():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", none)
    (said,) = finding(alveus, "agents")
    assert (said["health"], "no home folder" in said["found"]) == ("bad", True)
    status, out, err = alveus("hooks", "install", "claude-code")
    assert (status, out) == (2, "")
    assert "no home folder" in err


def test_a_project_whose_name_begins_another_is_another(alveus, claude, home, tmp_path):
    """`acme` is not `acme-corp`, nor `a_b` `a-b` (complaints 41, 42): backfill and recall keep them apart."""
    names = ["acme", "acme-corp", "a_b", "a-b", "a%b"]
    for number, name in enumerate(names):
        (tmp_path / name).mkdir()
        session(claude, "-x", f"s{number}", tmp_path / name, words=f"only {number}")
    assert len(json.loads(alveus("--json", "hooks", "backfill")[1])["projects"]) == len(names)
    for number, name in enumerate(names):
        hooks = Hooks(home, tmp_path / name, Transcript(tmp_path / "none.jsonl"))
        assert {content for _, content in hooks.said()} == {f"only {number}", f"an answer to only {number}"}


def test_what_waits_for_its_transcript_waits(alveus, home):
    """A prompt that was heard and is in no journal yet is not nothing: it is counted with what nobody took in."""
    folder = Path(place.hooks_of(str(home)), "agents", "river")
    folder.mkdir(parents=True)
    (folder / spool.EVENTS).write_bytes(b"1234\n")
    (folder / spool.PENDING).write_bytes(b"12345678\n")
    _, out, _ = alveus("hooks", "status", "--json")
    assert json.loads(out)["waiting_bytes"] == len(b"1234\n12345678\n")
