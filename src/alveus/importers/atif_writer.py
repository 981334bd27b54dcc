"""ATIF trajectories of what the journal holds: what `alveus export --format atif` writes, one trajectory a line.

The records of one session are a trajectory, in the journal's order; those that came from one record of their source
are one step. What ATIF has no place for stands under `extra.alveus`, so that an import elsewhere makes the same items
of it. Steps wait in a file without a name until their trajectory is whole: sessions are written across one another.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, Final

from alveus.importers.facts import Facts, facts_at, json_text, list_at, text_at
from alveus.journal.record import Draft, SignedRecord
from alveus.journal.record import Source as Src

NAME: Final = "atif"
VERSION: Final = "ATIF-v1.7"
WHOLE: Final = "atif_trajectory"
REST: Final = "atif_step"
RAW: Final = "atif_raw"
"""Where an item holds what ATIF says beside its words: of the trajectory, of the step, and the whole as it was."""

_SOURCES: Final[Mapping[Src, str]] = {Src.USER: "user", Src.AGENT: "agent", Src.SYSTEM: "system", Src.TOOL: "system"}
_PLACE = re.compile(r"(?<=:)\d+/(?=[^:]*\Z)")
_HEAD: Final = ":trajectory"

Step = dict[str, Any]


def own_fields(value: Facts) -> dict[str, Any]:
    """A step or trajectory without what this program added to it."""
    extra = {name: inner for name, inner in facts_at(value, "extra").items() if name != "alveus"}
    whole = {name: inner for name, inner in value.items() if name != "extra"}
    return {**whole, "extra": extra} if extra else whole


# ── one step ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def built(drafts: Sequence[Draft]) -> Step | None:
    """The step that these items of one source are; None for no items."""
    return _Step(drafts).whole() if drafts else None


class _Step:
    """A step while it is put together, and where in it each item went."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self.drafts = drafts
        self.places: list[list[object]] = []
        self._thoughts: list[str] = []
        self._words: list[str] = []
        self._calls: list[Step] = []
        self._results: list[Step] = []
        self._raw: Facts = {}
        for draft in drafts:
            self.places.append(self._take(draft))

    def _take(self, draft: Draft) -> list[object]:
        told = draft.metadata
        if told.get(RAW) is True:
            self._raw = facts_at(_parsed(draft.content))
            return ["raw"]
        if told.get("thinking") is True:
            self._thoughts.append(draft.content)
            return ["reasoning"]
        if draft.src is Src.TOOL:
            self._results.append({"source_call_id": told.get("tool_use_id"), "content": draft.content})
            return ["result", len(self._results) - 1]
        if draft.src is Src.AGENT and told.get("tool"):
            self._calls.append(_call(draft))
            return ["call", len(self._calls) - 1]
        self._words.append(draft.content)
        return ["message"]

    def whole(self) -> Step:
        """The step with all that ATIF has a place for."""
        if self._raw:
            return {"step_id": 1, **self._raw}
        first = self.drafts[0]
        step: Step = {"step_id": 1}
        if moment := first.event_time or first.metadata.get("source_time"):
            step["timestamp"] = moment
        step |= {"source": self._source(), "message": "\n".join(self._words)}
        if self._thoughts:
            step["reasoning_content"] = "\n".join(self._thoughts)
        if self._calls:
            step["tool_calls"] = self._calls
        if self._results:
            results = [{name: inner for name, inner in one.items() if inner is not None} for one in self._results]
            step["observation"] = {"results": results}
        for draft in self.drafts:
            step |= facts_at(draft.metadata, REST)
        if "model_name" not in step and step["source"] == "agent" and (model := text_at(first.metadata, "model")):
            step["model_name"] = model
        return step

    def _source(self) -> str:
        if self._calls or self._thoughts:
            return "agent"
        spoken = next((one.src for one in self.drafts if one.src is not Src.TOOL), Src.TOOL)
        return _SOURCES[spoken]


def _call(draft: Draft) -> Step:
    name = str(draft.metadata.get("tool"))
    given = _parsed(draft.content.removeprefix(f"{name} ")) if draft.content.startswith(f"{name} ") else None
    return {
        "tool_call_id": draft.metadata.get("tool_use_id") or "",
        "function_name": name,
        "arguments": given if given is not None else {"text": draft.content},
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# ── trajectories ─────────────────────────────────────────────────────────────────────────────────────────────────────


def trajectories(records: Iterable[SignedRecord], *, program: str, agent: str) -> Iterator[bytes]:
    """Every trajectory of these records as one line of JSON, in pieces. `program` and `agent` name who wrote it."""
    with tempfile.TemporaryFile(prefix="alveus-") as file:
        shelf = _Shelf(file)
        for group in _groups(_drafts(records)):
            shelf.put(group)
        yield from shelf.all(program, agent)


def _drafts(records: Iterable[SignedRecord]) -> Iterator[Draft]:
    """The items that the records are, each whole again where it was split."""
    waiting: list[Draft] = []
    for record in records:
        draft = _draft(record)
        if draft.part and draft.part[0] > 1 and waiting and waiting[-1].origin == draft.origin:
            waiting.append(draft)
            continue
        yield from _joined(waiting)
        waiting = [draft]
    yield from _joined(waiting)


def _draft(record: SignedRecord) -> Draft:
    told = record.hc
    return Draft(
        kind=record.kind,
        content=record.content,
        metadata={**record.metadata, "\0at": record.timestamp},
        src=told.src if told else Src.SYSTEM,
        session=told.session if told else None,
        event_time=told.event_time if told else None,
        origin=told.origin if told else None,
        part=told.part if told else None,
    )


def _joined(parts: Sequence[Draft]) -> Iterator[Draft]:
    if parts:
        yield parts[0]._replace(content="".join(one.content for one in parts), part=None)


def _groups(drafts: Iterable[Draft]) -> Iterator[list[Draft]]:
    """Items that follow one another and came from one record of their source, by one speaker and his tools."""
    group: list[Draft] = []
    for draft in drafts:
        if group and not (_base(draft) and _base(draft) == _base(group[-1]) and _go_together(group, draft)):
            yield group
            group = []
        group.append(draft)
    if group:
        yield group


def _base(draft: Draft) -> str:
    """The origin of the record that the item was of, without its place in it."""
    return _PLACE.sub("", (draft.origin or "").removesuffix("/raw"))


def _go_together(group: Sequence[Draft], draft: Draft) -> bool:
    if draft.metadata.get(RAW) is True:
        return draft.session == group[0].session
    spoken = {one.src for one in (*group, draft) if one.src is not Src.TOOL}
    said = sum(1 for one in (*group, draft) if _Step([one]).places == [["message"]])
    thoughts = sum(1 for one in (*group, draft) if one.metadata.get("thinking") is True)
    same = draft.event_time == group[0].event_time and draft.session == group[0].session
    return same and len(spoken) <= 1 and said <= 1 and thoughts <= 1


class _Shelf:
    """The steps of all trajectories in one file, and where each lies in it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._steps: dict[str, list[tuple[int, int]]] = {}
        self._heads: dict[str, Step] = {}
        self._sessions: dict[str, str | None] = {}
        self._parents: dict[str, str] = {}

    def put(self, group: list[Draft]) -> None:
        """One step, or what a trajectory says of itself."""
        first = group[0]
        name = _trajectory(first)
        self._steps.setdefault(name, [])
        self._sessions.setdefault(name, first.session)
        if (first.origin or "").startswith(f"{NAME}:") and (first.origin or "").endswith(_HEAD):
            told = facts_at(first.metadata, WHOLE) or facts_at(_parsed(first.content))
            self._heads[name] = dict(told)
            if parent := text_at(first.metadata, "parent"):
                self._parents[name] = parent
            return
        data = json.dumps(_finished(group), ensure_ascii=False).encode("utf-8", "replace")
        self._steps[name].append((self._file.seek(0, 2), len(data)))
        self._file.write(data)

    def all(self, program: str, agent: str) -> Iterator[bytes]:
        """Every trajectory that is not inside another."""
        for name in self._steps:
            if self._parents.get(name) not in self._steps:
                yield from self._one(name, program, agent)
                yield b"\n"

    def _one(self, name: str, program: str, agent: str) -> Iterator[bytes]:
        told = self._heads.get(name)
        head = dict(told) if told is not None else _own_head(name, self._sessions[name], program, agent)
        yield json.dumps(head, ensure_ascii=False)[:-1].encode("utf-8", "replace") + b', "steps": ['
        for number, (start, size) in enumerate(self._steps[name], 1):
            self._file.seek(start)
            data = self._file.read(size)
            # Steps are numbered from 1 in the format; one that had another number keeps it in its origin.
            numbered = b'{"step_id": %d,' % number + data.partition(b",")[2]
            yield (b", " if number > 1 else b"") + numbered
        yield b"]"
        inside = [one for one, parent in self._parents.items() if parent == name and one != name]
        for place, one in enumerate(inside):
            yield b', "subagent_trajectories": [' if place == 0 else b", "
            yield from self._one(one, program, agent)
        yield b"]}" if inside else b"}"


def _own_head(name: str, session: str | None, program: str, agent: str) -> Step:
    """What is said of a trajectory that did not come from one."""
    version = program.partition(" ")[2]
    return {
        "schema_version": VERSION,
        "session_id": session or agent,
        "trajectory_id": name,
        "agent": {"name": agent, "version": version or "0"},
        "extra": {"alveus": {"head": "none"}},
    }


def _trajectory(draft: Draft) -> str:
    """The trajectory an item belongs to: the one it came from, or that of its session."""
    origin = draft.origin or ""
    if origin.startswith(f"{NAME}:"):
        return origin.split(":")[1].replace("%3A", ":").replace("%25", "%")
    return draft.session or "no session"


def _finished(group: list[Draft]) -> Step:
    """The step of a group, and under `extra.alveus` what each of its items was."""
    plain = [one._replace(metadata=_shown(one)) for one in group]
    step = _Step(plain)
    whole = {"step_id": 1, **step.whole()}
    if not (group[0].origin or "").startswith(f"{NAME}:"):
        # A step that never was one happened, for all that is known, when it was recorded.
        whole.setdefault("timestamp", group[0].metadata.get("\0at"))
    items = [_item(draft, place, whole) for draft, place in zip(plain, step.places, strict=True)]
    extra = facts_at(whole, "extra")
    return {**whole, "extra": {**extra, "alveus": {"items": items}}}


def _shown(draft: Draft) -> dict[str, Any]:
    return {name: inner for name, inner in draft.metadata.items() if name != "\0at"}


def _item(draft: Draft, place: list[object], step: Facts) -> Step:
    item: Step = {
        "at": place,
        "kind": draft.kind.value,
        "src": draft.src.value,
        "metadata": dict(draft.metadata),
        "event_time": draft.event_time,
        "session": draft.session,
        "origin": draft.origin,
    }
    if _content(step, place) != draft.content:
        item["content"] = draft.content
    return item


def _content(step: Facts, place: list[object]) -> str | None:
    """What an import would take the item's words for."""
    what, number = (*place, 0)[:2]
    if what == "call" and isinstance(number, int):
        one = list_at(step, "tool_calls")[number : number + 1]
        return f"{text_at(one[0], 'function_name')} {json_text(facts_at(one[0]).get('arguments'))}" if one else None
    if what == "result" and isinstance(number, int):
        one = list_at(step, "observation", "results")[number : number + 1]
        return text_at(one[0], "content") if one else None
    if what == "raw":
        return json_text(own_fields(step))
    return text_at(step, "reasoning_content" if what == "reasoning" else "message")
