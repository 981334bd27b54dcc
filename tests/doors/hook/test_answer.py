"""What is injected: fenced, within the size that agents take whole, of this project alone, and nothing twice."""

import json
import sqlite3
from pathlib import Path

import pytest

from alveus import Draft, Hippocampus, Kind, Source, StoreError
from alveus.doors.hook import answer, place, trouble
from alveus.fence import strip
from hooked import context_of

PORT = "Decision: the build server listens on port 8081."


def remember(hooks, *contents, session="earlier", kind=Kind.DECISION, src=Source.USER):
    """Put records into the project's memory."""
    with Hippocampus.open(home=hooks.home, agent_id=hooks.agent_id) as memory:
        drafts = [Draft(kind=kind, content=content, src=src, session=session) for content in contents]
        return [one.record.record_id for one in memory.record_many(drafts)]


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_the_pack_is_there_when_a_session_starts(hooks, source):
    """At each kind of start: what was decided, with its id, in one fence and nothing outside it."""
    (record,) = remember(hooks, PORT)
    said = hooks.call("SessionStart", source=source)
    assert said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    text = context_of(said)
    assert PORT in text
    assert record in text
    assert strip(text) == ("", 1)
    assert set(said) == {"hookSpecificOutput"}


def test_a_project_without_memory_hears_nothing(hooks):
    """No empty pack, no apology: nothing was ever recorded here."""
    assert hooks.call("SessionStart", source="startup") is None
    assert hooks.call("UserPromptSubmit", prompt="which port?") is None


def test_a_prompt_brings_what_bears_on_it(hooks):
    """And not what has only a word in common with it, however much there is."""
    remember(hooks, PORT, "The cat is called Pushok.", *[f"server note {n} about lunch" for n in range(30)])
    text = context_of(hooks.call("UserPromptSubmit", prompt="On which port does the build server listen?"))
    assert PORT in text
    assert "Pushok" not in text
    assert "lunch" not in text
    assert hooks.call("UserPromptSubmit", prompt="Привет!") is None


def test_near_duplicates_do_not_crowd_out_the_rest(hooks):
    """Forty of nearly one wording, another twenty times: what bears on it is there, nothing twice (D 61)."""
    remember(hooks, PORT, *["Retry: the build server did not listen."] * 20)
    remember(hooks, *[f"Retry {n}: the build server did not listen." for n in range(40)])
    text = context_of(hooks.call("UserPromptSubmit", prompt="On which port does the build server listen?"))
    assert PORT in text
    assert text.count("Retry: the build server") <= 1


@pytest.mark.parametrize("prompt", ["", "   ", "???", "\ud800", "/compact"])
def test_a_prompt_that_asks_nothing_brings_nothing(hooks, prompt):
    """Nothing is injected for its own sake."""
    remember(hooks, PORT)
    assert hooks.call("UserPromptSubmit", prompt=prompt) is None


def test_a_session_is_told_a_thing_once(hooks):
    """Until its context is made anew: then what was in it is gone, and is told again."""
    remember(hooks, PORT)
    ask = {"prompt": "On which port does the build server listen?"}
    assert PORT in context_of(hooks.call("UserPromptSubmit", **ask))
    assert hooks.call("UserPromptSubmit", **ask) is None
    assert PORT in context_of(hooks.call("SessionStart", source="compact"))
    assert hooks.call("UserPromptSubmit", **ask) is None, "the pack has it"
    other = hooks.beside(hooks.project, "another-session")
    assert PORT in context_of(other.call("UserPromptSubmit", **ask))


def test_what_stands_in_the_conversation_is_not_repeated(hooks):
    """A session's own words are in front of the agent; after a compaction they are not."""
    remember(hooks, PORT, session=hooks.transcript.session)
    ask = {"prompt": "On which port does the build server listen?"}
    assert hooks.call("UserPromptSubmit", **ask) is None
    remember(hooks, *[f"about something else entirely, number {n}" for n in range(300)])
    hooks.call("SessionStart", source="compact")
    recalled = hooks.call("UserPromptSubmit", **ask)
    assert recalled is None or PORT in context_of(recalled)


def test_two_projects_do_not_mix(hooks, tmp_path):
    """Cyrillic names of one length, which Claude Code's own folders do not tell apart (complaints 46, 49, 51)."""
    first = hooks.beside(tmp_path / "проект", "first")
    second = hooks.beside(tmp_path / "сервер", "second")
    remember(first, "The secret word of the first is mandarin.")
    remember(second, "The secret word of the second is tangerine.")
    for one, mine, other in ((first, "mandarin", "tangerine"), (second, "tangerine", "mandarin")):
        told = [
            one.call("SessionStart", source="startup"),
            one.call("UserPromptSubmit", prompt="what is the secret word?"),
        ]
        text = "".join(context_of(said) for said in told if said)
        assert mine in text
        assert other not in text


def test_an_injection_is_never_so_long_that_it_is_cut(hooks):
    """Both agents cut at 10,000 characters, and half a fence would come back as somebody's words."""
    remember(hooks, *[f"Decision {n}: " + "слово и дело " * 150 for n in range(40)])
    for said in (
        hooks.call("SessionStart", source="startup"),
        hooks.beside(hooks.project, "b").call("UserPromptSubmit", prompt="слово и дело, decision"),
    ):
        text = context_of(said)
        assert 200 < len(text) < 10_000
        assert strip(text) == ("", 1)


def test_a_record_that_fails_its_check_is_not_injected(hooks):
    """Words that somebody changed on disk are left out, and the rest comes (complaint 112)."""
    remember(hooks, PORT, "Decision: the second server listens on port 9091.")
    stream = next((hooks.home / "agents").glob("*/stream.jsonl"))
    stream.write_bytes(stream.read_bytes().replace(b"port 9091", b"port 6666"))
    said = hooks.call("UserPromptSubmit", prompt="On which port does the second server listen?")
    assert "6666" not in json.dumps(said)


def test_a_memory_that_cannot_be_asked_says_so(hooks):
    """The agent and its user hear it: silence would be taken for having nothing to remember (complaints 25, 30, 37)."""
    remember(hooks, PORT)
    key = next((hooks.home / "keys").glob("*.key"))
    key.write_bytes(b"broken")
    for event in ({"name": "SessionStart", "source": "startup"}, {"name": "UserPromptSubmit", "prompt": "which port?"}):
        said = hooks.call(event.pop("name"), **event)
        assert "not at work" in said["systemMessage"]
        assert "Do not take what is missing here for what never was" in context_of(said)
        assert strip(context_of(said)) == ("", 1)
    log = Path(hooks.root, trouble.LOG).read_text()
    assert "hook claude-code SessionStart" in log
    assert "hook claude-code UserPromptSubmit" in log


def asked(hooks, name, **more):
    """The event, to be answered in this process."""
    event = hooks.event(name, **more)
    scope = place.scope_of(hooks.root, hooks.harness, event, None)
    return answer.Asked(str(hooks.home), hooks.root, hooks.harness, event, scope)


def test_what_cannot_be_written_can_be_remembered(hooks, monkeypatch):
    """A disk that is mounted to be read, or is full: the pack is there, with what is wrong (complaint 30)."""
    remember(hooks, PORT)
    really = Hippocampus.open

    def opening(*, read_only=False, **more):
        if not read_only:
            raise StoreError("stream.jsonl: Read-only file system", code="disk_refused")
        return really(read_only=read_only, **more)

    def full(*_, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Hippocampus, "open", opening)
    monkeypatch.setattr(place, "write_whole", full)
    for name, more in (("SessionStart", {"source": "compact"}), ("UserPromptSubmit", {"prompt": "which build port?"})):
        said = answer.make(asked(hooks, name, **more), OSError(28, "No space left on device"))
        assert PORT in context_of(said)
        assert "this event could not be kept" in said["systemMessage"]


def test_a_broken_index_is_made_again(hooks):
    """It is derived: a start is answered all the same (complaint 86)."""
    remember(hooks, PORT)
    hooks.call("UserPromptSubmit", prompt="port")
    for path in (hooks.home / "agents").glob("*/recall.db*"):
        path.write_bytes(b"rubbish" * 1000)
    assert PORT in context_of(hooks.call("SessionStart", source="startup"))


def test_a_locked_journal_does_not_keep_the_agent_waiting(hooks):
    """Another process writes at this moment, or holds the index: what is there is told (complaints 85, 88)."""
    remember(hooks, PORT)
    folder = next((hooks.home / "agents").glob("*"))
    db = sqlite3.connect(folder / "recall.db")
    try:
        db.execute("BEGIN EXCLUSIVE")
        said = hooks.call("SessionStart", source="startup")
        assert said is not None
        assert strip(context_of(said)) == ("", 1)
    finally:
        db.close()


def test_failures_of_hooks_are_told_at_the_next_start(hooks):
    """A mark in the health of the pack, until it is a week old."""
    remember(hooks, PORT)
    trouble.note(hooks.root, "hook claude-code Stop", "no space left")
    assert "hooks failed once" in context_of(hooks.call("SessionStart", source="startup"))


def test_the_log_does_not_grow_without_end(tmp_path):
    """A hook that fails at every call costs two megabytes at most."""
    for _ in range(3):
        trouble.note(str(tmp_path), "x", "y" * 1000)
    log = tmp_path / trouble.LOG
    log.write_bytes(log.read_bytes() * (trouble.LARGEST // 3000 + 1))
    trouble.note(str(tmp_path), "x", "last")
    assert not log.exists()
    trouble.note(str(tmp_path), "x", "first of the next\nin one line")
    assert len(log.read_bytes().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hook.log", "hook.log.1"]


def test_what_is_asked_is_bounded():
    """A prompt of a megabyte is asked for by its beginning."""
    assert answer.ASKED < 10_000


def test_what_a_digest_brought_is_told_at_the_next_prompt(hooks):
    """Once, and not again where a pack had it: the kernels' deltas reach a session that began before them."""
    rules = [f"Always run the {tool} before you commit, never skip it." for tool in ("linter", "type checker")]
    remember(hooks, *[rule for rule in rules for _ in range(4)], kind=Kind.OBSERVATION)
    with Hippocampus.open(home=hooks.home, agent_id=hooks.agent_id) as memory:
        memory.compile()
    hooks.call("SessionStart", source="startup")
    news = "From now on always deploy with the blue script, never by hand."
    for session in ("a", "b", "c", "d"):
        remember(hooks, news, news, session=session, kind=Kind.OBSERVATION)
    with Hippocampus.open(home=hooks.home, agent_id=hooks.agent_id) as memory:
        memory.digest(now=True)
        deltas = memory.kernels().cache.deltas
    if not deltas:
        pytest.fail("the digest brought nothing: this test has to bring more")
    text = context_of(hooks.call("UserPromptSubmit", prompt="Привет!"))
    assert "blue script" in text
    assert strip(text) == ("", 1)
    assert hooks.call("UserPromptSubmit", prompt="Привет!") is None
    hooks.call("SessionStart", source="compact")
    assert hooks.call("UserPromptSubmit", prompt="Привет!") is None
