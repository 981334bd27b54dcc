"""What an import did not read: told in the order of what it means, so that a lost session is not missed."""

from __future__ import annotations

import json

import pytest

from alveus.importers import Watch, report, run
from transcripts import OWN

try:
    from compression import zstd
except ImportError:
    from backports import zstd

CODEX = OWN["codex"].data(2)
CUT = zstd.compress(CODEX)[:-9]


def test_a_damaged_file_stands_before_files_of_another_kind(write, hippocampus, tmp_path, monkeypatch):
    """Among any number of pictures the session that could not be read to its end is the first that is named."""
    monkeypatch.setattr(report, "SHOWN", 3)
    for number in range(5):
        write(b"\x89PNG\0\0", name=f"logs/{number}.png")
    write(CUT, name="logs/z.jsonl.zst")
    write(b"\x1f\x8b\0\0", name="logs/y.jsonl.gz")
    told = run(hippocampus, tmp_path / "logs")
    assert (told.unread_count, told.foreign_count, told.troubled_count) == (7, 5, 2)
    assert {one.file for one in told.unread[:2]} == {"z.jsonl.zst", "y.jsonl.gz"}
    assert len(told.unread) == 3


def test_a_link_to_a_folder_is_told_and_not_followed(write, hippocampus, tmp_path):
    """A link may lead back here, or to what was never meant; a folder behind one is named instead of passed over."""
    write(CODEX, name="elsewhere/rollout.jsonl")
    write(b"{}\n", name="logs/empty.jsonl")
    (tmp_path / "logs" / "back").symlink_to(tmp_path / "logs")
    (tmp_path / "logs" / "other").symlink_to(tmp_path / "elsewhere")
    told = run(hippocampus, tmp_path / "logs")
    assert {one.file for one in told.unread[:2]} == {"back", "other"}
    assert (told.stored, told.troubled_count) == (0, 2)


def test_what_is_no_file_is_passed_over(write, hippocampus, tmp_path):
    """A link to nothing, or round in a circle, stops nothing."""
    write(CODEX, name="logs/rollout.jsonl")
    (tmp_path / "logs" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "logs" / "round.jsonl").symlink_to(tmp_path / "logs" / "round.jsonl")
    assert run(hippocampus, tmp_path / "logs").stored == 4


def test_files_of_one_name_are_told_apart(write, hippocampus, tmp_path):
    """Where a program calls all its files the same, a bad line is named with the folder that its file lies in."""
    for name in ("a", "b"):
        write(CODEX + b"{oops}\n", name=f"logs/{name}/events.jsonl")
    told = run(hippocampus, tmp_path / "logs")
    assert {bad.file for bad in told.rejected} == {"a/events.jsonl", "b/events.jsonl"}


def test_a_watch_tells_once(write, hippocampus, tmp_path):
    """What cannot be looked into is not told again at every look."""
    write(CODEX, name="logs/rollout.jsonl")
    (tmp_path / "logs" / "back").symlink_to(tmp_path / "logs")
    watch = Watch(hippocampus, [tmp_path / "logs"])
    assert watch.look().unread_count == 1
    assert watch.look().unread_count == 0
    watch.close()


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("own", [True, False])
def test_a_conversation_named_at_its_end_keeps_its_name_as_it_grows(own, indent, write, hippocampus):
    """A file that is held while it is small, and streamed when it is large, is the same conversation."""

    def data(turns: int) -> bytes:
        messages = [
            {"role": ("user", "assistant")[number % 2], "content": f"{number} " + "word " * 200}
            | ({"id": f"m{number}"} if own else {})
            for number in range(turns)
        ]
        return json.dumps({"messages": messages, "id": "conversation"}, indent=indent).encode()

    run(hippocampus, write(data(4), name="chat.json"))
    told = run(hippocampus, write(data(2000), name="chat.json"))
    assert (told.known, told.stored) == (4, 1996)
    assert {draft.session for draft in hippocampus.drafts} == {"conversation"}
