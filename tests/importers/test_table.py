"""How a file's format is recognised, and what is refused."""

from __future__ import annotations

import gzip
import json
import os

import pytest

from alveus.errors import InputError, NotFound
from alveus.importers import FORMATS, detect, run
from alveus.importers.table import named

CLAUDE = json.dumps({"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "x"}}).encode()
CHAT = json.dumps({"role": "user", "content": "x"}).encode()
LONG = "y" * 600_000


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (CLAUDE, "claude-code"),
        (b"{oops}\n" + CLAUDE, "claude-code"),
        (b"\xef\xbb\xbf\r\n" + CLAUDE, "claude-code"),
        (b'{"type":"summary","summary":"x","leafUuid":"y"}', "claude-code"),
        (b'{"type":"user","uuid":"u","message":{"content":"' + LONG.encode(), "claude-code"),
        (b'{"loglines": [\n' + CLAUDE + b"]}", "claude-code"),
        (CHAT, "openai-chat"),
        (b"[" + CHAT, "openai-chat"),
        (b'[{"role": "user", "content": "' + LONG.encode() + b'"}]', "openai-chat"),
        (b'{"model":"m","messages":[{"role":"user","content":"' + LONG.encode() + b'"}]}', "openai-chat"),
        (json.dumps({"messages": [json.loads(CHAT)]}, indent=2).encode(), "openai-chat"),
        (b'{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[]}}', "codex"),
        (b'{"uuid":"u","sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"x"}]}}', "qwen-code"),
        (b'{"conversations":[{"from":"human","value":"hi"}]}', "sharegpt"),
    ],
)
def test_format_is_seen_at_the_beginning(data, name, write):
    """A file is recognised by its first objects, damaged, long and indented ones included."""
    assert detect(write(data)).name == name


@pytest.mark.parametrize(
    "data",
    [
        b"just text\n",
        b'{"role":"user","message":{"content":[]}}',
        b'{"hook_event_name":"Stop","session_id":"s"}',
        b"[1, 2, 3]",
    ],
)
def test_another_format_is_not_taken_for_one_of_these(data, write):
    """Formats that resemble these, and plain data, are refused with the names of those that are known."""
    with pytest.raises(InputError) as refused:
        detect(write(data))
    assert refused.value.code == "unknown_format"
    assert all(one.name in refused.value.hint for one in FORMATS)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "binary_file"),
        (bytes(100), "binary_file"),
        (gzip.compress(b"\x1f\x8b" + CLAUDE), "unknown_format"),
        (CLAUDE.decode().encode("utf-16"), "other_form"),
        (b"PK\x03\x04zip", "damaged_file"),
        (b"SQLite format 3\0", "damaged_file"),
    ],
)
@pytest.mark.parametrize("format_", [None, "claude-code"])
def test_binary_file_is_refused_in_one_sentence(data, code, format_, write, hippocampus):
    """A binary file is refused whether or not a format was named, and nothing is recorded."""
    with pytest.raises(InputError) as refused:
        run(hippocampus, write(data), format=format_)
    assert refused.value.code == code
    assert "\n" not in refused.value.message
    assert not hippocampus.drafts


def test_what_cannot_be_opened_is_named(tmp_path, hippocampus):
    """A missing file is not found; a pipe is no file, and is not waited for."""
    with pytest.raises(NotFound, match=r"there is no file .*nowhere"):
        run(hippocampus, tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        run(hippocampus, tmp_path / "pipe")


def test_unknown_name_of_a_format_is_refused():
    """A format that is not in the table is refused with those that are."""
    with pytest.raises(InputError) as refused:
        named("claude")
    assert "claude-code" in refused.value.hint
