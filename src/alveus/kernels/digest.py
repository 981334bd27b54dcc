"""When a digest is due, what it says, and the memory cache that it feeds: spec/kernels.md, section 6. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from alveus.kernels.bullet import Bullet
from alveus.kernels.page import Short, day_of, line_of, note_of, one_line, shown

THRESHOLD: Final = 1_572_864
"""Bytes of new raw log, 1.5 MiB: with one more a digest is due."""
WINDOW: Final = 12 * 3600.0
"""Seconds, by record time, within which they came in."""
DELTA_SHARE: Final = 0.25
"""Of the prefix's characters, what deltas may have before they are folded into it."""
LEAST_DELTA: Final = 600
"""Characters that deltas may have beside however short a prefix."""


# Telemetry


class Growth:
    """Bytes appended since the last digest, each once, in a window that slides with the records' own time.

    It is due once any 12 hours held more than the threshold, and stays so until a digest was made: whoever looks rarely
    misses no burst. A time below one that was seen counts as that one.
    """

    def __init__(self) -> None:
        self._window: deque[tuple[float, int]] = deque()
        self._newest = float("-inf")
        self.within = 0
        self.total = 0
        self.most = 0

    @property
    def due(self) -> bool:
        """Whether more than the threshold came within some 12 hours."""
        return self.most > THRESHOLD

    def add(self, time: float, size: int) -> None:
        """A record of that time (seconds since 1970), of so many bytes."""
        self._newest = max(self._newest, time)
        self._window.append((self._newest, size))
        self.within += size
        self.total += size
        while self._window[0][0] <= self._newest - WINDOW:
            self.within -= self._window.popleft()[1]
        self.most = max(self.most, self.within)

    def as_json(self) -> dict[str, Any]:
        """The state, to go on from after a restart. Once due, the window no longer matters."""
        window = [] if self.due else [list(entry) for entry in self._window]
        return {"most": self.most, "total": self.total, "window": window}

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Growth:
        """The state that `as_json` gave. Raises KeyError, TypeError or ValueError for what is none."""
        growth = cls()
        growth._window.extend((float(time), int(size)) for time, size in state["window"])
        growth.within = sum(size for _, size in growth._window)
        growth._newest = growth._window[-1][0] if growth._window else growth._newest
        growth.total, growth.most = int(state["total"]), int(state["most"])
        return growth


# What changed


class What(StrEnum):
    """What became of a bullet."""

    ADDED = "added"
    CHANGED = "changed"
    CONFIRMED = "confirmed"
    SUPERSEDED = "superseded"
    GONE = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One bullet's fate: `new` is None for one that is gone, `old` for one that was added."""

    what: What
    old: Bullet | None = None
    new: Bullet | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What a digest found: the changes, in the order of the kernels."""

    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.changes)

    def counts(self) -> dict[str, int]:
        """How many bullets of each fate."""
        return {what.value: sum(one.what is what for one in self.changes) for what in What}

    def named(self) -> Iterator[str]:
        """The record ids that the changes name."""
        for one in self.changes:
            for bullet in (one.old, one.new):
                if bullet is not None:
                    yield from bullet.sources
                    yield from bullet.supersedes

    def takes_back(self) -> bool:
        """Whether something that was said before does not stand any more: then the old prefix must not be kept."""
        return any(one.what in _TAKING_BACK for one in self.changes)

    def stated(self) -> tuple[Bullet, ...]:
        """The bullets that a context has to be told: those that say something new."""
        return tuple(one.new for one in self.changes if one.new is not None and one.what in _TELLING)


_TAKING_BACK: Final = frozenset({What.SUPERSEDED, What.GONE})
_TELLING: Final = frozenset({What.ADDED, What.CHANGED, What.SUPERSEDED})


def changes(old: Sequence[Bullet], new: Sequence[Bullet]) -> Delta:
    """From the old bullets to the new ones.

    A bullet is the same one if its id is, or if it shares the most sources with it; its text may have changed. One that
    rests on what a new one supersedes was superseded.
    """
    before = _pairs(old, new)
    found: list[Change] = []
    taken: set[str] = set()
    for bullet in new:
        past = before.get(bullet.id)
        replaced = [one for one in old if set(one.sources) & set(bullet.supersedes) and one.id not in taken]
        gone = [one for one in replaced if past is None or one.id != past.id]
        if past is not None:
            taken.add(past.id)
        if past is not None and set(past.supersedes) != set(bullet.supersedes):
            found.append(Change(what=What.SUPERSEDED, old=past, new=bullet))
        elif past is not None and (past.name, one_line(past.text)) != (bullet.name, one_line(bullet.text)):
            found.append(Change(what=What.CHANGED, old=past, new=bullet))
        elif past is not None and past.sources != bullet.sources:
            found.append(Change(what=What.CONFIRMED, old=past, new=bullet))
        elif past is None and not gone:
            found.append(Change(what=What.ADDED, new=bullet))
        for one in gone:
            taken.add(one.id)
            found.append(Change(what=What.SUPERSEDED, old=one, new=bullet))
    found += [Change(what=What.GONE, old=one) for one in old if one.id not in taken]
    return Delta(changes=tuple(found))


def _pairs(old: Sequence[Bullet], new: Sequence[Bullet]) -> dict[str, Bullet]:
    """By the id of a new bullet the old one that it was."""
    known = {one.id: one for one in old}
    paired = {one.id: known[one.id] for one in new if one.id in known}
    left = {one.id for one in old} - set(paired)
    resting: dict[str, list[Bullet]] = {}
    for one in old:
        for source in one.sources if one.id in left else ():
            resting.setdefault(source, []).append(one)
    shared: dict[tuple[str, str], int] = {}
    for one in new:
        for source in one.sources if one.id not in paired else ():
            for past in resting.get(source, ()):
                if past.name is one.name or one_line(past.text) == one_line(one.text):
                    shared[one.id, past.id] = shared.get((one.id, past.id), 0) + 1
    used: set[str] = set()
    for (fresh, past_id), _ in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        if fresh not in paired and past_id not in used:
            paired[fresh] = known[past_id]
            used.add(past_id)
    return paired


def as_markdown(number: int, delta: Delta, short: Short, *, at: str, version: int) -> str:
    """A digest for people: what was added, changed, superseded, with sources."""
    lines = [f"# Digest {number}", "", f"{at}, kernels {version}: {_summary(delta)}.", ""]
    for what, title in _TITLES.items():
        some = [one for one in delta.changes if one.what is what]
        if some:
            lines += [f"## {title}", ""]
            lines += [line for one in some for line in _told(one, short)]
            lines.append("")
    return "\n".join(lines)


_TITLES: Final = {
    What.SUPERSEDED: "Superseded",
    What.CHANGED: "Changed",
    What.ADDED: "Added",
    What.GONE: "No longer there",
    What.CONFIRMED: "Said again",
}


def _summary(delta: Delta) -> str:
    counts = [f"{count} {name}" for name, count in delta.counts().items() if count]
    return ", ".join(counts) or "nothing changed"


def _told(one: Change, short: Short) -> list[str]:
    lines: list[str] = []
    if one.new is not None:
        lines.append(line_of(one.new, short).replace("- ", f"- {one.new.name}: ", 1))
    if one.old is not None and one.what is not What.CONFIRMED:
        named = ", ".join(map(short, shown(one.old.sources)))
        text = f"{one_line(one.old.text)} [{named}] {day_of(one.old.last)}"
        lines.append(f"  before: {text}" if lines else f"- {one.old.name}: {text}")
    return lines


def as_json(delta: Delta) -> list[dict[str, Any]]:
    """A digest for programs: record ids are whole."""
    return [
        {
            "what": one.what.value,
            "old": None if one.old is None else bullet_json(one.old),
            "new": None if one.new is None else bullet_json(one.new),
        }
        for one in delta.changes
    ]


def bullet_json(bullet: Bullet) -> dict[str, Any]:
    """A bullet for programs."""
    return {
        "id": bullet.id,
        "kernel": bullet.name.value,
        "text": bullet.text,
        "sources": list(bullet.sources),
        "first": bullet.first,
        "last": bullet.last,
        "sessions": bullet.sessions,
        "count": bullet.count,
        "score": bullet.score,
        "supersedes": list(bullet.supersedes),
        "superseded_on": bullet.superseded_on,
    }


# The memory cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """A context's memory: the kernels of version `prefix`, then what these later versions brought, in order."""

    prefix: int
    deltas: tuple[int, ...] = ()

    def advanced(self, version: int, delta: Delta, *, prefix: int, deltas: int) -> Cache:
        """Once `delta` made kernels `version`: `prefix` and `deltas` are characters, those of the new delta included.

        A delta goes to the end. Once deltas outgrow their share, or one takes back what the prefix says, a new prefix
        begins with these kernels.
        """
        if not delta.stated() and not delta.takes_back():
            return self
        if delta.takes_back() or deltas > max(LEAST_DELTA, prefix * DELTA_SHARE):
            return Cache(prefix=version)
        return replace(self, deltas=(*self.deltas, version))


def pack_line(bullet: Bullet, short: Short) -> str:
    """A bullet as a context says it: the rule, its records, and what it replaced."""
    named = ", ".join(map(short, shown(bullet.sources)))
    note = f" {note_of(bullet, short)}" if bullet.supersedes else ""
    return f"- {one_line(bullet.text)} [{named}]{note}"


def characters(bullets: Iterable[Bullet], short: Short) -> int:
    """What these bullets take in a context."""
    return sum(len(pack_line(bullet, short)) + 1 for bullet in bullets)
