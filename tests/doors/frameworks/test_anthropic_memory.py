"""Anthropic's memory tool: its own implementation on disk as the model, word for word."""

import asyncio
import re

import pytest

pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
pytest.importorskip("anthropic.lib.tools", reason="this Anthropic SDK has no memory tool")

from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

from alveus.doors.frameworks.anthropic_memory import AlveusAsyncMemoryTool, AlveusMemoryTool

COMMANDS = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "one\ntwo\nthree\nfour\nfive\nsix\n"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "again"},
    {"command": "create", "path": "/memories/лодка/где.txt", "file_text": "у причала"},
    {"command": "create", "path": "/memories/a/b/c/deep.txt", "file_text": "x" * 2000},
    {"command": "create", "path": "/memories/.hidden", "file_text": "h"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "view", "path": "/memories/notes.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [5, -1]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [90, 99]},
    {"command": "view", "path": "/memories/missing.md"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "three", "new_str": "3\n3.5"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "o", "new_str": "0"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "seven", "new_str": "7"},
    {"command": "str_replace", "path": "/memories/missing.md", "old_str": "a", "new_str": "b"},
    {"command": "str_replace", "path": "/memories/a", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "zero\n"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 2, "insert_text": "between"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 99, "insert_text": "far"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": -1, "insert_text": "far"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/new/notes.md"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/other.md"},
    {"command": "rename", "old_path": "/memories/new/notes.md", "new_path": "/memories/a"},
    {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/moved"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories/moved/b/c/deep.txt"},
    {"command": "delete", "path": "/memories/лодка"},
    {"command": "delete", "path": "/memories/лодка"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/moved"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "delete", "path": "/memories/../x"},
]


def told(tool, command):
    """What the model would read: the result, or the error's words."""
    try:
        return tool.call(command)
    except ToolError as error:
        return f"error: {error}"


def listed(text):
    """A listing without the sizes of folders, which are a disk's own; a name that is a folder, in any order."""
    if not text.startswith("Here're the files"):
        return text
    first, *rest = text.splitlines()
    return first, sorted(re.sub(r"^[^\t]+\t", "", line) if line.endswith("/") else line for line in rest[1:])


def test_every_text_is_the_one_of_anthropics_own_implementation(memory, tmp_path):
    """Command by command, refusals too: the wording matters to the model."""
    model, tool = BetaLocalFilesystemMemoryTool(str(tmp_path / "disk")), AlveusMemoryTool(memory)
    for command in COMMANDS:
        assert listed(told(tool, dict(command))) == listed(told(model, dict(command))), command


def test_only_commands_that_were_carried_out_are_records(memory, said):
    """Each one; a refusal leaves nothing."""
    tool = AlveusMemoryTool(memory)
    ended = [told(tool, dict(command)) for command in COMMANDS if command["command"] != "view"]
    assert memory.size() == sum(not text.startswith("error: ") for text in ended)
    assert said()[0] == ("agent", "create /memories/notes.md\none\ntwo\nthree\nfour\nfive\nsix\n")


def test_files_are_there_for_another_process_and_for_one_user_alone(memory, journals):
    """And a folder whose name begins alike is another folder."""
    AlveusMemoryTool(memory, user="ann").call({"command": "create", "path": "/memories/a.md", "file_text": "mine"})
    assert "mine" in AlveusMemoryTool(journals(), user="ann").call({"command": "view", "path": "/memories/a.md"})
    for other in ("anna", None, "an"):
        assert "does not exist" in told(
            AlveusMemoryTool(memory, user=other), {"command": "view", "path": "/memories/a.md"}
        )
    assert "must start with" in told(AlveusMemoryTool(memory), {"command": "view", "path": "/memory"})
    assert "would escape" in told(AlveusMemoryTool(memory), {"command": "view", "path": "/memoriesX/a.md"})


def test_two_who_create_one_file_are_told_apart(memory, journals):
    """The second is refused, and the first one's text stands (H 87)."""
    tools = [AlveusMemoryTool(memory), AlveusMemoryTool(journals())]
    ended = [
        told(tool, {"command": "create", "path": "/memories/a.md", "file_text": f"by {number}"})
        for number, tool in enumerate(tools)
    ]
    assert ended == ["File created successfully at: /memories/a.md", "error: File /memories/a.md already exists"]
    assert "by 0" in tools[1].call({"command": "view", "path": "/memories/a.md"})


def test_deleted_files_and_a_cleared_memory_stay_in_the_past(memory, said):
    """Gone for the model, there for an audit."""
    tool = AlveusMemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "The code is 12."})
    assert tool.clear_all_memory() == "All memory cleared"
    assert "a.md" not in tool.call({"command": "view", "path": "/memories"})
    assert [words for _, words in said()] == ["create /memories/a.md\nThe code is 12.", "clear"]


def test_the_asynchronous_tool_does_the_same(memory):
    """Every command."""
    tool, plain = AlveusAsyncMemoryTool(memory, user="one"), AlveusMemoryTool(memory, user="two")

    async def act():
        ended = []
        for command in COMMANDS:
            try:
                ended.append(await tool.call(dict(command)))
            except ToolError as error:
                ended.append(f"error: {error}")
        return ended

    assert asyncio.run(act()) == [told(plain, dict(command)) for command in COMMANDS]
