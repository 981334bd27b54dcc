"""import: what is stored, what is told, and what bad files do."""

import json
import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import alveus as package
from alveus.doors import importing

try:
    from compression import zstd
except ImportError:
    from backports import zstd

SECRET = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


def message(number, text="hello", role="user"):
    """One OpenAI chat message."""
    return {"role": role, "id": f"m{number}", "content": f"{text} {number}"}


def chat(*messages):
    """Messages as JSONL."""
    return b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in messages)


@pytest.fixture
def file(tmp_path):
    """A file with these bytes."""

    def make(data, name="chat.jsonl"):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return make


def report(ended):
    """The report of the one path in the document."""
    (one,) = ended.document["imports"]
    return one


def test_an_import_balances(begun, file):
    """The last line says what became of everything that was read."""
    ended = begun("import", file(chat(message(1), message(2, role="assistant"))))
    assert ended.status == 0
    assert ended.lines[-1].split(maxsplit=1)[1] == "read 2 = 2 stored + 0 already there + 0 revised + 0 skipped"


def test_importing_again_stores_nothing_twice(begun, file):
    """What is there already is counted as such; what has grown is added."""
    begun("import", file(chat(message(1))))
    again = report(begun("import", file(chat(message(1), message(2))), "--json"))
    assert (again["stored"], again["known"]) == (1, 1)


def test_a_bad_line_is_named_and_kept_aside(begun, file):
    """A line that cannot be read is named with its number and kept; the rest is imported; the status is 7."""
    path = file(chat(message(1)) + b"{broken\n" + chat(message(2)))
    ended = begun("import", path)
    assert ended.status == 7
    assert "chat.jsonl, line 2: " in ended.out
    again = report(begun("import", path, "--json"))
    assert (again["known"], again["rejected_count"], again["rejected"][0]["line"]) == (2, 1, 2)
    with open(again["rejects_file"], "rb") as kept:  # noqa: PTH123
        assert json.loads(kept.readline())["line"] == 2


def test_what_is_skipped_on_purpose_is_no_failure(begun, file):
    """Bookkeeping of the source is skipped, counted by reason, and leaves the status 0."""
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "hello"}},
        {"type": "last-prompt", "sessionId": "s", "lastPrompt": "hello"},
        {"type": "mode", "sessionId": "s", "mode": "plan"},
    ]
    ended = begun("import", "--format", "claude-code", file(chat(*lines)))
    assert ended.status == 0
    assert "2 skipped (2 bookkeeping)" in ended.lines[-1]


@pytest.mark.parametrize(
    ("data", "stored", "rejected"),
    [
        pytest.param(b"", 0, 0, id="empty"),
        pytest.param(b"\xef\xbb\xbf" + chat(message(1)), 1, 0, id="BOM"),
        pytest.param(chat(message(1), message(2)).replace(b"\n", b"\r\n"), 2, 0, id="CRLF"),
        pytest.param(chat(message(1), message(2))[:-9], 1, 1, id="cut last line"),
        pytest.param(chat(message(1)) + b'{"role":"user","content":"\xff\xfe"}\n', 1, 1, id="not UTF-8"),
        pytest.param(chat(message(1, text="a\0b")), 1, 0, id="NUL"),
        pytest.param(
            b'{"role":"user","id":"m1","content":"a\\ud800b"}\n' + chat(message(2)), 2, 0, id="lone surrogate"
        ),
    ],
)
def test_bad_files_lose_nothing(begun, file, data, stored, rejected):
    """Whatever a file holds, what can be read is stored and the rest is named."""
    ended = begun("import", "-f", "openai-chat", file(data), "--json")
    assert ended.status == (7 if rejected else 0)
    assert report(ended)["rejected_count"] == rejected
    assert report(ended)["stored"] == stored
    assert begun("verify").status == 0


def test_an_empty_file_says_so(begun, file):
    """Nothing to import is told."""
    assert "empty" in begun("import", file(b"")).out


@pytest.mark.parametrize("data", [b"\x7fELF\0\0\0\1" * 9, b"SQLite format 3\0", b"just words\n"])
def test_what_is_no_transcript_is_refused(begun, file, data):
    """A binary file, or one in no known format, is a wrong call; nothing is stored."""
    ended = begun("import", file(data))
    assert ended.status == 2
    assert begun("log", "--json").document["records"] == []


def test_one_bad_path_keeps_no_other_out(begun, file):
    """Of several paths each is imported that can be; the status is the failure's."""
    ended = begun("import", file(b"\0\0\0", "a.bin"), file(chat(message(1))), "--json")
    assert ended.status == 2
    bad, good = ended.document["imports"]
    assert (bad["error"]["code"], good["error"], good["stored"]) == ("binary_file", None, 1)


def test_a_missing_path_is_told_before_anything_is_stored(begun, file):
    """A mistyped path stops the import before it begins."""
    assert begun("import", file(chat(message(1))), "nowhere.jsonl").status == 3
    assert begun("log", "--json").document["records"] == []


def test_stdin_is_no_transcript(begun):
    """An import needs a file it can go back in."""
    assert "save it to a file" in begun("import", "-").err


def test_a_folder(begun, file, tmp_path):
    """Every transcript under a folder is imported; what is none is named and is no failure."""
    for number in (1, 2):
        file(chat(message(number)), f"{number}.jsonl")
    file(b"# notes\n", "notes.md")
    ended = begun("import", str(tmp_path))
    assert ended.status == 0
    assert "2 files of openai-chat" in ended.out
    assert "in no format that is known here: " in ended.out
    assert "notes.md" in ended.out


def test_a_file_that_could_not_be_read_to_its_end_is_a_failure(begun, file, tmp_path):
    """A session that came in part makes the status 7, so that nobody deletes it; the others of its folder are there."""
    file(chat(message(1)), "whole.jsonl")
    file(zstd.compress(chat(message(2))) + zstd.compress(chat(message(3)))[:8], "cut.jsonl.zst")
    ended = begun("import", str(tmp_path))
    assert ended.status == 7
    assert "cut.jsonl.zst: the compressed bytes end too early; what came before is imported" in ended.out


def test_a_dry_run_counts_what_the_import_then_does(begun, file):
    """A rehearsal stores nothing and tells what the import will tell."""
    begun("import", file(chat(message(1), message(2))))
    path = file(chat(message(1), message(2, text="revised"), message(3)) + b"{broken\n")
    rehearsed = report(begun("import", path, "--dry-run", "--json"))
    assert len(begun("log", "--json").document["records"]) == 2
    done = report(begun("import", path, "--json"))
    assert rehearsed.pop("rejects_file") != done.pop("rejects_file")
    assert rehearsed == done
    assert (done["stored"], done["known"], done["revised"], done["rejected_count"]) == (1, 1, 1, 1)


def test_the_format_can_be_named(begun, file):
    """--format auto recognises; a name that is none is told with the names there are."""
    path = file(chat(message(1)))
    assert begun("import", "--format", "auto", path).status == 0
    ended = begun("import", "--format", "word", path)
    assert ended.status == 2
    assert "openai-chat" in ended.err


def test_secrets_are_masked(begun, file, folder):
    """Keys in a transcript are masked before signing, and counted by kind."""
    ended = begun("import", file(chat(message(1, text=SECRET))))
    assert "masked  1 github_token, before signing" in ended.out
    assert SECRET.encode() not in (folder / "stream.jsonl").read_bytes()


def test_secrets_can_be_kept(begun, file, folder):
    """Who wants them signed has to say so."""
    begun("import", "--keep-secrets", file(chat(message(1, text=SECRET))))
    assert SECRET.encode() in (folder / "stream.jsonl").read_bytes()


def test_the_user_is_the_callers(begun, file):
    """--user scopes every record; a transcript cannot."""
    begun("import", "--user", "аня", file(chat({**message(1), "user": "root"})))
    assert begun("log", "--json").document["records"][0]["metadata"]["hc"]["user"] == "аня"


def test_lines_are_one_a_path(begun, file):
    """--jsonl gives a report a line."""
    ended = begun("import", file(chat(message(1)), "a.jsonl"), file(chat(message(2)), "b.jsonl"), "--jsonl")
    assert [json.loads(line)["stored"] for line in ended.lines] == [1, 1]


def test_without_a_journal_nothing_is_imported(call, file, home):
    """A mistyped agent is told, not created."""
    assert call("import", file(chat(message(1)))).status == 3
    assert not home.exists()


def test_an_interrupted_import_keeps_what_it_stored(begun, file, monkeypatch):
    """After Ctrl-C the journal is whole, the person knows that nothing is lost, and the next import finishes."""
    path = file(chat(*map(message, range(600))))
    importer = import_module("alveus.importers.intake")
    store, calls = importer.Intake._store, []

    def stop(self, source):
        store(self, source)
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(importer.Intake, "_store", stop)
        ended = begun("import", path)
    assert ended.status == 130
    assert "nothing is stored twice" in ended.err
    assert begun("verify").status == 0
    assert report(begun("import", path, "--json"))["known"] == 256


def test_long_lists_are_counted(begun, file):
    """Of many bad lines some are named and all are counted."""
    ended = begun("import", file(chat(message(1)) + b"{broken\n" * 25))
    assert ended.out.count("bad line ") == importing.SHOWN + 1
    assert "and 15 more" in ended.out
    assert "+ 25 bad lines" in ended.lines[-1]


def test_the_word_auto_may_stand_first(begun, file, tmp_path, monkeypatch):
    """`import auto PATH` finds the format, as the plain call does; a format's name chooses it; a file is a file."""
    path = file(chat(message(1)))
    assert report(begun("import", "auto", path, "--json"))["formats"] == {"openai-chat": 1}
    assert report(begun("import", "openai-chat", path, "--json"))["known"] == 1
    assert begun("import", "claude-code", str(tmp_path), "--json").document["imports"][0]["files"] == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "auto").write_bytes(chat(message(2)))
    documents = begun("import", "auto", path, "--json").document["imports"]
    assert [one["stored"] for one in documents] == [1, 0]
    assert begun("import", "auto").status == 0


def test_what_is_unknown_is_told_by_its_keys(begun, file):
    """--report-unknown lists where the unknown stands, and not a word of it."""
    path = file(
        chat(
            {"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "hi"}},
            {"type": "brandnew", "uuid": "v", "sessionId": "s", "payload": {"inner": "SECRET WORDS"}},
        )
    )
    ended = begun("import", path, "--report-unknown")
    assert "1 × claude-code: payload.inner" in ended.out
    assert "SECRET" not in ended.out
    assert "payload" not in begun("import", path).out


def test_a_watch_brings_what_is_added_until_it_is_stopped(begun, file, home):
    """--watch imports, goes on importing what is added, and ends by Ctrl-C with what it stored in a whole journal."""
    path = Path(file(chat(message(1))))
    command = [sys.executable, "-m", "alveus.doors.cli", "--home", str(home), "--agent", "river", "import", str(path)]
    env = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    with subprocess.Popen(
        [*command, "--watch", "--jsonl"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        first = json.loads(child.stdout.readline())
        with path.open("ab") as end:
            end.write(chat(message(2)))
        second = json.loads(child.stdout.readline())
        child.send_signal(signal.SIGINT)
        _, talk = child.communicate(timeout=60)
    assert (first["stored"], second["stored"], second["known"]) == (1, 1, 0)
    assert child.returncode == 0
    assert "what was stored stays" in talk
    assert begun("verify").status == 0


def test_a_watch_stores_and_tells_as_it_goes(begun, file):
    """What contradicts a watch is refused."""
    path = file(chat(message(1)))
    assert begun("import", path, "--watch", "--dry-run").status == 2
    assert begun("import", path, "--watch", "--json").status == 2


def test_trajectories_go_out_and_come_in_again(begun, file, tmp_path, call):
    """`export --format atif` writes a trajectory a session, from which an import elsewhere makes the same items."""
    begun("import", file(chat({**message(1), "session": "a"}, {**message(2, role="assistant"), "session": "b"})))
    ended = begun("export", "--format", "atif")
    assert [json.loads(line)["session_id"] for line in ended.lines] == ["a", "b"]
    (only,) = begun("export", "--format", "atif", "--session", "b").lines
    assert json.loads(only)["steps"][0]["message"] == "hello 2"
    out = tmp_path / "out.jsonl"
    begun("export", "--format", "atif", "--out", str(out))
    there = tmp_path / "there"
    assert call("init", home=there).status == 0
    assert report(call("import", "auto", str(out), "--json", home=there))["stored"] == 2
    assert report(begun("import", str(out), "--json"))["known"] == 2


def test_an_export_can_be_of_one_session(begun, file):
    """--session leaves the records of the others out, in every form."""
    begun("import", file(chat({**message(1), "session": "a"}, {**message(2), "session": "b"})))
    (line,) = begun("export", "--session", "a").lines
    assert json.loads(line)["content"] == "hello 1"
    assert "hello 2" not in begun("export", "--format", "markdown", "--session", "a").out
