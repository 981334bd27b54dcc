"""The hooks in an agent's settings file: what is installed, and how it is put in and taken out.

Only elements whose command is ours are touched. A file that is no JSON, or whose hooks are not of the form that the
agent reads, is left as it is and said so.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alveus.doors.hook import splice
from alveus.errors import InputError

PROGRAM: Final = "alveus-hook"
MODULE: Final = "alveus.doors.hook.entry"
_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """One agent program: where its settings lie, and which of its events are hooked, each with seconds it may take."""

    name: str
    title: str
    variable: str
    folder: str
    file: str
    events: Mapping[str, int]
    matched: frozenset[str]
    """Events whose entries have a matcher."""
    after: str = ""
    """What its user has to do once."""

    def settings(self) -> Path:
        """The user's settings file."""
        return self.home() / self.file

    def home(self) -> Path:
        """Where the program keeps its files."""
        chosen = os.environ.get(self.variable)
        return Path(chosen).expanduser() if chosen else user_folder() / self.folder


def user_folder() -> Path:
    """Where the user's programs keep their files. Raises InputError where there is none."""
    try:
        return Path.home()
    except RuntimeError:
        raise InputError("there is no home folder to look for agents in", code="no_home", hint="set HOME") from None


_EVENTS: Final[Mapping[str, int]] = {
    "SessionStart": 15,
    "UserPromptSubmit": 15,
    "PostToolUse": 15,
    "PreCompact": 15,
    "Stop": 15,
    "SubagentStop": 15,
}
HARNESSES: Final[Mapping[str, Harness]] = {
    one.name: one
    for one in (
        Harness(
            name="claude-code",
            title="Claude Code",
            variable="CLAUDE_CONFIG_DIR",
            folder=".claude",
            file="settings.json",
            events={**_EVENTS, "SessionEnd": 15},
            matched=frozenset({"PostToolUse"}),
        ),
        Harness(
            name="codex",
            title="Codex",
            variable="CODEX_HOME",
            folder=".codex",
            file="hooks.json",
            events=_EVENTS,
            matched=frozenset({"PostToolUse"}),
            after="Codex runs a new hook only once you trust it: type /hooks in Codex.",
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A settings file before and after. `before` is None where there was no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after


def install(harness: Harness, path: Path, command: str) -> Change:
    """The file with our hook at every event, and nothing of ours beside it. Raises InputError; nothing is written."""
    before = read(path)
    text = before if before is not None and before.strip(f" \t\r\n{_BOM}") else "{}\n"
    check(path, text)
    if _is_whole(harness, text, command):
        return Change(path=path, before=before, after=before)
    text = _without(text)
    text = _with_member(text, (), "hooks", {})
    for event, seconds in harness.events.items():
        text = _with_member(text, ("hooks",), event, [])
        entry: dict[str, Any] = {"matcher": "*"} if event in harness.matched else {}
        entry["hooks"] = [{"type": "command", "command": command, "timeout": seconds}]
        text = splice.put(text, _at(text, "hooks", event), entry)
    check(path, text)
    return Change(path=path, before=before, after=text)


def uninstall(path: Path) -> Change:
    """The file without our hooks; lists and objects that only they needed go as well. Raises InputError."""
    before = read(path)
    if before is None or not before.strip(f" \t\r\n{_BOM}"):
        return Change(path=path, before=before, after=before)
    check(path, before)
    after = _without(before)
    check(path, after)
    return Change(path=path, before=before, after=after)


def installed(path: Path) -> dict[str, list[str]]:
    """Our commands by event. Raises InputError for a file that cannot be understood."""
    text = read(path)
    if text is None or not text.strip(f" \t\r\n{_BOM}"):
        return {}
    check(path, text)
    found: dict[str, list[str]] = {}
    for event, entry in _entries(json.loads(text.removeprefix(_BOM))):
        for one in entry["hooks"]:
            if is_ours(one):
                found.setdefault(event, []).append(str(one["command"]))
    return found


def is_ours(hook: Any) -> bool:
    """Whether a hook's command is our program, wherever it lies."""
    command = hook.get("command") if isinstance(hook, Mapping) else None
    if not isinstance(command, str):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    program = os.path.basename(words[0]).removesuffix(".exe") if words else ""
    return program == PROGRAM or (MODULE in words and "-m" in words)


def read(path: Path) -> str | None:
    """The file's text; None where there is none. Raises InputError where it is not UTF-8, or cannot be read."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise InputError(
            f"{path} is not UTF-8; nothing was changed", code="bad_settings", hint="mend it first"
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}", code="bad_settings") from error


def check(path: Path, text: str) -> None:
    """Raises InputError unless the text is an object whose hooks, if any, are of the form that agents read."""
    try:
        document = json.loads(text.removeprefix(_BOM))
    except RecursionError:
        raise _refused(path, "is nested too deeply") from None
    except ValueError as error:
        line = getattr(error, "lineno", 0)
        raise _refused(path, f"is not JSON: {getattr(error, 'msg', error)} in line {line}") from None
    if not isinstance(document, dict):
        raise _refused(path, "is no JSON object")
    hooks = document.get("hooks", {})
    whole = isinstance(hooks, dict) and all(isinstance(entries, list) for entries in hooks.values())
    if not whole:
        raise _refused(path, "has a member `hooks` of a form that is not known here")


def _refused(path: Path, why: str) -> InputError:
    return InputError(f"{path} {why}; nothing was changed", code="bad_settings", hint="mend it, then try again")


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for event, entries in document.get("hooks", {}).items():
        for entry in entries:
            if isinstance(entry, Mapping) and isinstance(entry.get("hooks"), list):
                yield event, entry


def _is_whole(harness: Harness, text: str, command: str) -> bool:
    """Whether exactly this command stands at every event, once."""
    ours: dict[str, list[str]] = {}
    for event, entry in _entries(json.loads(text.removeprefix(_BOM))):
        for one in entry["hooks"]:
            if is_ours(one):
                ours.setdefault(event, []).append(one["command"])
    return ours == {event: [command] for event in harness.events}


def _with_member(text: str, path: tuple[str, ...], name: str, empty: Any) -> str:
    if _find(text, *path, name) is not None:
        return text
    return splice.put(text, _at(text, *path), empty, name)


def _without(text: str) -> str:
    """The text without our hooks, without entries that had no other, and without what is empty then."""
    while (found := _ours_in(text)) is not None:
        event, entry, hook = found
        opening = _at(text, "hooks", event)
        whole = splice.parts(text, opening)[entry]
        inside = _hooks_in(text, whole)
        ours = splice.parts(text, inside)
        if len(ours) > 1:
            text = splice.drop(text, inside, ours[hook])
            continue
        text = splice.drop(text, opening, whole)
        for path, name in ((("hooks",), event), ((), "hooks")):
            opening = _at(text, *path, name)
            if splice.parts(text, opening):
                break
            parent = _at(text, *path)
            gone = [one for one in splice.parts(text, parent) if one.name == name][-1]
            text = splice.drop(text, parent, gone)
    return text


def _ours_in(text: str) -> tuple[str, int, int] | None:
    """The first hook that is ours: its event, the number of its entry and its own."""
    hooks = _find(text, "hooks")
    for event in splice.parts(text, hooks) if hooks is not None else ():
        opening = _at(text, "hooks", event.name)
        for number, (_, entry) in enumerate(splice.elements(text, opening)):
            listed = entry.get("hooks") if isinstance(entry, dict) else None
            for place, hook in enumerate(listed if isinstance(listed, list) else ()):
                if is_ours(hook):
                    return event.name, number, place
    return None


def _hooks_in(text: str, entry: splice.Part) -> int:
    return next(one.value for one in reversed(splice.parts(text, entry.value)) if one.name == "hooks")


def _find(text: str, *path: str) -> int | None:
    return splice.find(text, path) if not text.startswith(_BOM) else _after_bom(text, path)


def _after_bom(text: str, path: tuple[str, ...]) -> int | None:
    found = splice.find(text[1:], path)
    return None if found is None else found + 1


def _at(text: str, *path: str) -> int:
    found = _find(text, *path)
    if found is None:
        raise LookupError(path)
    return found
