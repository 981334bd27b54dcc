"""Anthropic's memory tool (`memory_20250818`): files under /memories, each command a record.

    client.beta.messages.run_tools(..., tools=[AlveusMemoryTool(memory)])

The texts that the model reads are those of Anthropic's own implementation on disk, whose wording matters to it. Nothing
touches the disk but the journal: a path is a name, so there is nothing to escape into. A deleted file is gone for the
model; the journal keeps every version.
"""

from __future__ import annotations

import asyncio
import posixpath
from dataclasses import dataclass, field
from typing import Any, Final

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ImportError as error:
    raise ImportError("Anthropic's SDK is not installed: pip install 'alveus[anthropic]'") from error

from alveus.doors.frameworks.shelf import Event, Note, Shelf
from alveus.hippocampus import Hippocampus
from alveus.journal.record import Kind

ROOT: Final = "/memories"
_WIDTH: Final = 6
_DEPTH: Final = 2


@dataclass(slots=True)
class _Files:
    """Files by their path, and folders; commands change them, or say in a ToolError why not."""

    files: dict[str, str] = field(default_factory=dict)
    folders: set[str] = field(default_factory=lambda: {ROOT})

    def copy(self) -> _Files:
        return _Files(dict(self.files), set(self.folders))

    def do(self, command: dict[str, Any]) -> str:
        """Carry out a command that changes something."""
        said: str = getattr(self, f"_{command['command']}")(**{k: v for k, v in command.items() if k != "command"})
        return said

    def view(self, path: str, view_range: list[int] | None) -> str:
        place = _place(path)
        if place in self.folders:
            return self._listing(place, path)
        if place not in self.files:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        lines = self.files[place].split("\n")
        first, last = 1, len(lines)
        if view_range and len(view_range) == 2:
            first = max(1, view_range[0])
            last = len(lines) if view_range[1] == -1 else view_range[1]
        return f"Here's the content of {path} with line numbers:\n" + _numbered(lines[first - 1 : last], first)

    def _listing(self, place: str, path: str) -> str:
        header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        found = [f"{_size(self._bytes(place))}\t{path}"]
        for one in sorted([*self.files, *self.folders], key=lambda name: name.split("/")):
            below = one.removeprefix(f"{place}/").split("/")
            if not one.startswith(f"{place}/") or len(below) > _DEPTH or any(part.startswith(".") for part in below):
                continue
            found.append(f"{_size(self._bytes(one))}\t{path}/{'/'.join(below)}{'/' if one in self.folders else ''}")
        return header + "\n" + "\n".join(found)

    def _bytes(self, place: str) -> int:
        inside = [text for name, text in self.files.items() if name == place or name.startswith(f"{place}/")]
        return sum(len(text.encode()) for text in inside)

    def _create(self, path: str, file_text: str) -> str:
        place = _place(path)
        if place in self.files or place in self.folders:
            raise ToolError(f"File {path} already exists")
        self._make_folders(posixpath.dirname(place))
        self.files[place] = file_text
        return f"File created successfully at: {path}"

    def _str_replace(self, path: str, old_str: str, new_str: str) -> str:
        place, text = self._text(path)
        count = text.count(old_str)
        if count == 0:
            raise ToolError(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
        if count > 1:
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: "
                f"{', '.join(map(str, _lines_with(text, old_str)))}. Please ensure it is unique"
            )
        changed = text[: text.find(old_str)].count("\n")
        self.files[place] = text.replace(old_str, new_str)
        lines = self.files[place].split("\n")
        first = max(0, changed - 2)
        snippet = _numbered(lines[first : changed + 3], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def _insert(self, path: str, insert_line: int, insert_text: str) -> str:
        place, text = self._text(path)
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(insert_line, insert_text.rstrip("\n"))
        self.files[place] = "\n".join(lines).removesuffix("\n") + "\n"
        return f"The file {path} has been edited."

    def _delete(self, path: str) -> str:
        place = _place(path)
        if place == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        if place not in self.files and place not in self.folders:
            raise ToolError(f"The path {path} does not exist")
        for one in self._within(place):
            self.files.pop(one, None)
            self.folders.discard(one)
        return f"Successfully deleted {path}"

    def _rename(self, old_path: str, new_path: str) -> str:
        old, new = _place(old_path), _place(new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        if new in self.files or new in self.folders:
            raise ToolError(f"The destination {new_path} already exists")
        if (old not in self.files and old not in self.folders) or new.startswith(f"{old}/"):
            raise ToolError(f"The path {old_path} does not exist")
        self._make_folders(posixpath.dirname(new))
        for one in self._within(old):
            moved = new + one.removeprefix(old)
            if one in self.files:
                self.files[moved] = self.files.pop(one)
            else:
                self.folders.remove(one)
                self.folders.add(moved)
        return f"Successfully renamed {old_path} to {new_path}"

    def _clear(self) -> str:
        self.files.clear()
        self.folders.intersection_update({ROOT})
        return "All memory cleared"

    def _within(self, place: str) -> list[str]:
        return [one for one in [*self.files, *self.folders] if one == place or one.startswith(f"{place}/")]

    def _make_folders(self, place: str) -> None:
        while place not in self.folders:
            if place in self.files:
                raise ToolError(f"The path {place} is not a directory.")
            self.folders.add(place)
            place = posixpath.dirname(place)

    def _text(self, path: str) -> tuple[str, str]:
        place = _place(path)
        if place in self.folders:
            raise ToolError(f"The path {path} is not a file.")
        if place not in self.files:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return place, self.files[place]


def _place(path: str) -> str:
    """The path, plain. What would lead out of /memories is refused."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    place = posixpath.normpath(path)
    if place != ROOT and not place.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return place


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _lines_with(text: str, part: str) -> list[int]:
    found, start = [], text.find(part)
    while start != -1:
        found.append(text[:start].count("\n") + 1)
        start = text.find(part, start + 1)
    return found


def _size(count: int) -> str:
    units = "BKMG"
    power = min(max(0, count.bit_length() - 1) // 10, len(units) - 1)
    size = count / 1024**power
    return f"{int(size) if size == int(size) else f'{size:.1f}'}{units[power]}"


class _Store:
    """The files of one user, and the commands that changed them, in the journal."""

    def __init__(self, memory: Hippocampus, user: str | None, *, keep_secrets: bool) -> None:
        self._now = _Files()
        self._shelf = Shelf(memory, "anthropic-memory", self._take, user=user, keep_secrets=keep_secrets)

    def view(self, path: str, view_range: list[int] | None) -> str:
        with self._shelf.lock:
            self._shelf.read()
            return self._now.view(path, view_range)

    def change(self, **command: Any) -> str:
        """Carry out and record a command; one that cannot be carried out is not recorded."""
        with self._shelf.lock:
            self._shelf.read()
            self._now.copy().do(command)
            (said,) = self._shelf.write([_note(command)])
        if isinstance(said, ToolError):  # another process came first
            raise said
        return str(said)

    def _take(self, event: Event) -> Any:
        try:
            return self._now.do(event.data)
        except ToolError as error:
            return error


def _note(command: dict[str, Any]) -> Note:
    named = [command[name] for name in ("path", "old_path", "new_path") if name in command]
    words = [command[name] for name in ("file_text", "new_str", "insert_text") if command.get(name)]
    says = "\n".join([" ".join([command["command"], *named]), *words])
    return Note(act=command["command"], data=command, says=says, kind=Kind.STATE)


class AlveusMemoryTool(BetaAbstractMemoryTool):
    """The memory tool in the journal of `memory`; of `user`, where several share it."""

    def __init__(
        self, memory: Hippocampus, *, user: str | None = None, keep_secrets: bool = False, cache_control: Any = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._store = _Store(memory, user, keep_secrets=keep_secrets)

    def view(self, command: Any) -> str:
        return self._store.view(command.path, command.view_range)

    def create(self, command: Any) -> str:
        return self._store.change(**_create(command))

    def str_replace(self, command: Any) -> str:
        return self._store.change(**_str_replace(command))

    def insert(self, command: Any) -> str:
        return self._store.change(**_insert(command))

    def delete(self, command: Any) -> str:
        return self._store.change(command="delete", path=command.path)

    def rename(self, command: Any) -> str:
        return self._store.change(command="rename", old_path=command.old_path, new_path=command.new_path)

    def clear_all_memory(self) -> str:
        return self._store.change(command="clear")


class AlveusAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the asynchronous client; the journal is written in a thread."""

    def __init__(
        self, memory: Hippocampus, *, user: str | None = None, keep_secrets: bool = False, cache_control: Any = None
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._store = _Store(memory, user, keep_secrets=keep_secrets)

    async def view(self, command: Any) -> str:
        return await asyncio.to_thread(self._store.view, command.path, command.view_range)

    async def create(self, command: Any) -> str:
        return await self._change(_create(command))

    async def str_replace(self, command: Any) -> str:
        return await self._change(_str_replace(command))

    async def insert(self, command: Any) -> str:
        return await self._change(_insert(command))

    async def delete(self, command: Any) -> str:
        return await self._change({"command": "delete", "path": command.path})

    async def rename(self, command: Any) -> str:
        return await self._change({"command": "rename", "old_path": command.old_path, "new_path": command.new_path})

    async def clear_all_memory(self) -> str:
        return await self._change({"command": "clear"})

    async def _change(self, command: dict[str, Any]) -> str:
        return await asyncio.to_thread(lambda: self._store.change(**command))


def _create(command: Any) -> dict[str, Any]:
    return {"command": "create", "path": command.path, "file_text": command.file_text}


def _str_replace(command: Any) -> dict[str, Any]:
    return {"command": "str_replace", "path": command.path, "old_str": command.old_str, "new_str": command.new_str}


def _insert(command: Any) -> dict[str, Any]:
    return {
        "command": "insert",
        "path": command.path,
        "insert_line": command.insert_line,
        "insert_text": command.insert_text,
    }
