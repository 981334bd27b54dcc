"""A watch: what is added to files that are being written comes once, with all that its reader had in mind."""

from __future__ import annotations

import json

import pytest

from alveus.importers import Watch, watching
from transcripts import OWN

CALL = {
    "type": "assistant",
    "uuid": "a",
    "sessionId": "s",
    "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]},
}
RESULT = {
    "type": "user",
    "uuid": "r",
    "sessionId": "s",
    "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.txt"}]},
}


@pytest.fixture
def watch(hippocampus, tmp_path):
    """A watch over a folder."""
    (tmp_path / "logs").mkdir()
    found = Watch(hippocampus, [tmp_path / "logs"])
    yield found
    found.close()


@pytest.fixture
def add(tmp_path):
    """Append bytes to a file of the folder."""

    def added(data: bytes, name: str = "session.jsonl") -> None:
        with (tmp_path / "logs" / name).open("ab") as file:
            file.write(data)

    return added


def line(value) -> bytes:
    """An object as a line."""
    return json.dumps(value).encode() + b"\n"


def test_each_look_brings_what_was_added(watch, add):
    """Nothing comes twice, and nothing is read again."""
    lines = [one + b"\n" for one in OWN["claude-code"].lines(4)]
    for number, one in enumerate(lines):
        add(one)
        report = watch.look()
        assert (report.read, report.stored, report.files) == (1, 1, number == 0)
    assert watch.look().read == 0


def test_a_line_without_its_end_is_left_until_it_has_one(watch, add, hippocampus):
    """Half a line is no bad line; what is written of it next makes it whole."""
    first, second, *_ = (one + b"\n" for one in OWN["claude-code"].lines(1))
    add(first + second[:20])
    assert watch.look().stored == 1
    add(second[20:-5])
    assert watch.look().read == 0
    add(second[-5:-1])
    report = watch.look()
    assert (report.stored, report.rejected_count) == (1, 0)
    add(b"\n")
    assert watch.look().read == 0
    assert [draft.content for draft in hippocampus.drafts] == ["question 0 words", "answer 0 words"]


def test_a_wide_line_that_grows_is_left_too(watch, add, hippocampus):
    """The same for a line of some megabytes."""
    (whole, *_) = OWN["claude-code"].turn(0, "word " * 500_000)
    data = line(whole)
    add(data[: 2 << 20])
    assert watch.look().read == 0
    add(data[2 << 20 :])
    assert watch.look().stored == 1
    assert "".join(draft.content for draft in hippocampus.drafts).count("word ") == 500_000


def test_the_reader_remembers(watch, add, hippocampus):
    """A result that comes a look after its call still knows what was called."""
    add(line(CALL))
    watch.look()
    add(line(RESULT))
    watch.look()
    assert hippocampus.drafts[-1].metadata["tool"] == "Bash"


def test_a_file_that_was_replaced_or_cut_is_read_anew(watch, add, hippocampus, tmp_path):
    """What replaced it is imported, what is there already is known."""
    lines = [one + b"\n" for one in OWN["claude-code"].lines(3)]
    add(b"".join(lines[:4]))
    watch.look()
    path = tmp_path / "logs" / "session.jsonl"
    path.with_suffix(".new").write_bytes(b"".join(lines[:5]))
    path.with_suffix(".new").replace(path)
    report = watch.look()
    assert (report.stored, report.known) == (1, 4)
    path.write_bytes(b"".join(lines[:2]))
    assert watch.look().known == 2
    add(b"".join(lines[2:]))
    assert watch.look().stored == 1
    assert len(hippocampus.drafts) == 6


def test_documents_and_new_files_are_seen(watch, add, tmp_path):
    """A file that is no file of lines is read again as a whole; one that appears is taken."""
    made = OWN["claude-ai"]
    path = tmp_path / "logs" / "conversations.json"
    path.write_bytes(made.data(1))
    assert watch.look().stored == 2
    path.write_bytes(made.data(2))
    report = watch.look()
    assert (report.stored, report.known) == (2, 2)
    add(OWN["codex"].data(1), name="rollout.jsonl")
    assert watch.look().stored == 2


def test_what_is_no_transcript_is_told_once(watch, add):
    """A file of another kind does not stop a watch, and is not told again at every look."""
    add(b"just text\n", name="notes.txt")
    assert watch.look().unread_count == 1
    assert watch.look().unread_count == 0


def test_few_files_are_held_open(watch, add, monkeypatch):
    """One that was let go is read again when it grows, and known."""
    monkeypatch.setattr(watching, "MAX_OPEN", 2)
    for number in range(5):
        session = {**RESULT, "sessionId": f"s{number}"}
        add(line(session), name=f"{number}.jsonl")
    assert watch.look().stored == 5
    assert len(watch._followed) == 2
    add(line({**CALL, "sessionId": "s0"}), name="0.jsonl")
    report = watch.look()
    assert (report.stored, report.known) == (1, 1)
