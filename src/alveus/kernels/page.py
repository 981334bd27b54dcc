"""A kernel as Markdown, there and back: spec/kernels.md, section 4. Pure.

A file is what a person wrote before, a region that the program writes, and what a person wrote behind. What is outside
the region stays byte for byte. Inside it, a line that the program did not write is a person's: it moves behind the
region, as it is, and stands for the bullet whose records it cites. A bullet that a person deleted stays out, and a
comment in the region says so, by its records alone; without the comment it comes back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final

from alveus.kernels.bullet import Bullet, KernelName

BEGIN: Final = "<!-- alveus: rule [records] first–last, times/sessions, score -->"
END: Final = "<!-- /alveus -->"
SHOWN: Final = 3
"""Sources that a line names; all of them are in `sources.json`."""
SHORTEST: Final = 8
"""Hex digits of a record id that a line names it by; more where these are not enough to tell records apart."""

TITLES: Final[Mapping[KernelName, str]] = {
    KernelName.IDENTITY: "# Identity kernel\n\n",
    KernelName.DECISION: "# Decision kernel\n\n",
    KernelName.ANTI: "# Anti-kernel\n\n",
}

Short = Callable[[str], str]
"""A record id as a line names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """What of a file is a person's: the text before and behind the region, and the bullets that were deleted from it.

    `withheld` names the records of each of these, and nothing of what it said. `moved` are the lines among `after` that
    stood inside the region until now.
    """

    before: str
    after: str = ""
    withheld: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()

    def text(self, name: KernelName) -> str:
        """A person's words, without the title that the program gave."""
        before = self.before.removeprefix("\ufeff").replace("\r\n", "\n").replace(TITLES[name], "", 1)
        return "\n".join(part for part in (before.strip(), self.after.strip()) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A kernel's file. `lines` are the bullets' lines by bullet id; the `replaced` ones a person's line stands for."""

    text: str
    lines: Mapping[str, str]
    replaced: tuple[str, ...]
    withheld: tuple[str, ...]


# There


def write(
    name: KernelName, bullets: Iterable[Bullet], short: Short, *, hand: Hand | None, explain: str = ""
) -> Written:
    """The file of one kernel: `hand` is what a person wrote in the last one, `explain` why there is no bullet."""
    hand = hand or Hand(before=TITLES[name])
    mine = [bullet for bullet in bullets if bullet.name is name]
    replaced = _matched(mine, _bullets(f"{hand.before}\n{hand.after}"))
    kept_out = {line: _matched([one for one in mine if _is_meant(line, one)], [line]) for line in hand.withheld}
    withheld = {found for matched in kept_out.values() for found in matched}
    lines = {
        bullet.id: line_of(bullet, short) for bullet in mine if bullet.id not in replaced and bullet.id not in withheld
    }
    region = [*lines.values(), *(f"<!-- withheld: {line} -->" for line in kept_out)]
    if not lines:
        region.insert(0, f"*Empty: {explain or _WHY_EMPTY[bool(mine)]}*")
    text = "".join([hand.before, BEGIN, "\n", *(f"{line}\n" for line in region), END, "\n", hand.after])
    return Written(text=text, lines=lines, replaced=tuple(sorted(replaced)), withheld=tuple(sorted(withheld)))


_WHY_EMPTY: Final = {
    False: "nothing of this kind was said consistently.",
    True: "a person's lines stand for all that was found.",
}


def line_of(bullet: Bullet, short: Short) -> str:
    """A bullet's line; what it replaced stands on a line of its own below it, and is part of it."""
    times = f"{day_of(bullet.first)}–{day_of(bullet.last)}"
    if day_of(bullet.first) == day_of(bullet.last):
        times = day_of(bullet.first)
    support = f"{bullet.count}/{bullet.sessions}, {bullet.score:.2f}"
    line = f"- {one_line(bullet.text)} {_named(bullet.sources, short)} {times}, {support}"
    return f"{line}\n  {note_of(bullet, short)}" if bullet.supersedes else line


def note_of(bullet: Bullet, short: Short) -> str:
    """What a bullet replaced, and when."""
    named = ", ".join(map(short, shown(bullet.supersedes)))
    return f"(supersedes [{named}], {day_of(bullet.superseded_on or bullet.last)})"


def shown(sources: Sequence[str]) -> Sequence[str]:
    """The sources that a line names: all, or the first, the middle one and the last."""
    if len(sources) <= SHOWN:
        return sources
    return [sources[at * (len(sources) - 1) // (SHOWN - 1)] for at in range(SHOWN)]


def _named(sources: Sequence[str], short: Short) -> str:
    rest = [f"+{len(sources) - SHOWN}"] if len(sources) > SHOWN else []
    return f"[{', '.join([*map(short, shown(sources)), *rest])}]"


def day_of(seconds: float) -> str:
    """The UTC day of a time."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def one_line(text: str) -> str:
    """A text on one line that ends no comment and opens none."""
    return " ".join(text.replace("<!--", "<! --").replace("-->", "-- >").split())


def shortened(ids: Iterable[str], everyone: Iterable[str]) -> dict[str, str]:
    """Each of `ids` by its first 8 hex digits, or as many more as tell it apart from `everyone`."""
    wanted = set(ids)
    starts: dict[str, list[str]] = {one[:SHORTEST]: [] for one in wanted}
    for one in everyone:
        near = starts.get(one[:SHORTEST])
        if near is not None:
            near.append(one)
    return {one: one[: _needed(one, starts[one[:SHORTEST]])] for one in wanted}


def _needed(one: str, near: Iterable[str]) -> int:
    length = SHORTEST
    for other in near:
        while other != one and length < len(one) and other[:length] == one[:length]:
            length += 1
    return length


# And back


def read(text: str, written: str | None, name: KernelName) -> Hand:
    """What of a file is a person's. `written` is the region as the program left it; None where nobody knows.

    A file without its region takes no bullet back: that is an accident, or an editor's crash.
    """
    split = _split(text)
    ours = _units(written) if written is not None else None
    if split is None:  # the marks are gone: every line that is not ours is a person's
        known = {line for unit in ours or () for line in unit.split("\n")} | {BEGIN, END}
        lines = text.splitlines(keepends=True)
        left = "".join(line for line in lines if line.rstrip("\r\n") not in known)
        return Hand(before=(left if left.strip() else TITLES[name]) + ("\n" if left and left[-1] != "\n" else ""))
    before, region, after = split
    there = _units(region) if ours is None else _without_strays(_units(region), ours)
    moved = [unit for unit in there if not _is_ours(unit, ours)]
    withheld = [found[1] for unit in there if (found := _WITHHELD(unit))]
    gone = [unit for unit in ours or () if unit.startswith("- ") and unit not in there]
    edited = {_nearest(line, {unit: cited(unit) for unit in gone}) for line in moved}
    withheld += [_withholding(unit, ours or ()) for unit in gone if unit not in edited]
    return Hand(
        before=before,
        after="".join(f"{unit}\n" for unit in moved) + after,
        withheld=tuple(dict.fromkeys(withheld)),
        moved=tuple(moved),
    )


def _without_strays(units: Sequence[str], ours: Sequence[str]) -> list[str]:
    """A bullet was deleted and the note below it was left: then that is no line of the bullet above, nor of its own."""
    notes = {line for unit in ours for line in unit.split("\n")[1:]}
    kept: list[str] = []
    for unit in units:
        whole = next((one for one in ours if unit.startswith(f"{one}\n")), None)
        rest = unit if whole is None else unit.removeprefix(f"{whole}\n")
        stray = all(line in notes for line in rest.split("\n"))
        if not stray:
            kept.append(unit)
        elif whole is not None:
            kept.append(whole)
    return kept


def _withholding(unit: str, ours: Sequence[str]) -> str:
    """What keeps a bullet out: its records; where another one has the same, also four digits of its words' hash."""
    ids = cited(unit)
    mark = f" {_mark(_said(unit))}" if sum(cited(one) == ids for one in ours) > 1 else ""
    return f"[{', '.join(ids)}]{mark}"


def _is_meant(withheld: str, bullet: Bullet) -> bool:
    """Whether it may be this bullet that was deleted: no other, which has some of its records, goes in its place."""
    mark, ids = _MARKED(withheld), cited(withheld)
    return 2 * _overlap(ids, bullet.sources) > len(ids) and (mark is None or mark[1] == _mark(one_line(bullet.text)))


def _said(unit: str) -> str:
    """The words of a bullet's line."""
    return _GROUP.split(unit.removeprefix("- "))[0].strip()


def _mark(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=2).hexdigest()


def cited(line: str) -> tuple[str, ...]:
    """The record ids, whole or short, that a line names as its sources."""
    own = _HISTORY.sub(" ", line)
    return tuple(found for group in _GROUP.findall(own) for found in _ID.findall(group))


def _is_ours(unit: str, ours: Sequence[str] | None) -> bool:
    if _WITHHELD(unit) or _EMPTY(unit):
        return True
    return unit in ours if ours is not None else _GENERATED(unit) is not None


def _split(text: str) -> tuple[str, str, str] | None:
    """What stands before, in and behind the region; None unless there is exactly one."""
    begins, ends = list(_BEGINS(text)), list(_ENDS(text))
    if len(begins) != 1 or len(ends) != 1 or begins[0].end() > ends[0].start():
        return None
    return text[: begins[0].start()], text[begins[0].end() : ends[0].start()], text[ends[0].end() :]


def region_of(text: str) -> str:
    """What stands between the program's marks."""
    split = _split(text)
    return split[1] if split is not None else ""


def _units(region: str) -> list[str]:
    """The lines of a region that are not blank, each with the indented ones below it."""
    units: list[str] = []
    for line in region.replace("\r\n", "\n").split("\n"):
        if units and line.startswith("  ") and line.strip():
            units[-1] += f"\n{line}"
        elif line.strip():
            units.append(line)
    return units


def _bullets(text: str) -> list[str]:
    return [line for line in text.split("\n") if _BULLET(line)]


def _matched(bullets: Sequence[Bullet], lines: Iterable[str]) -> set[str]:
    """For each line the id of the bullet that it stands for."""
    resting = {one.id: one.sources for one in bullets}
    words = {one.id: one_line(one.text) for one in bullets}
    return {found for line in lines if (found := _nearest(line, resting, words)) is not None}


def _nearest(line: str, resting: Mapping[str, Sequence[str]], words: Mapping[str, str] | None = None) -> str | None:
    """Of what rests on records the one that rests on most of those that `line` cites.

    Of several it is the one whose words are most in the line, then the one that rests on fewest others. Without `words`
    a name is a line itself.
    """
    ids = cited(line)
    said = set(_WORDS(_GROUP.sub(" ", _HISTORY.sub(" ", line)).casefold()))

    def rank(name: str) -> tuple[int, int, int, str]:
        text = words[name] if words is not None else _said(name)
        shared = said & set(_WORDS(text.casefold()))
        return _overlap(ids, resting[name]), len(shared), -len(resting[name]), name

    best = max(map(rank, resting), default=None)
    return best[-1] if best is not None and best[0] else None


def _overlap(ids: Iterable[str], sources: Sequence[str]) -> int:
    """How many of these ids, whole or short, are among the sources."""
    return sum(any(one.startswith(two) or two.startswith(one) for one in sources) for two in ids)


_DAY: Final = r"\d{4}-\d\d-\d\d"
_HEX: Final = rf"[0-9a-f]{{{SHORTEST},32}}"
_ID: Final = re.compile(rf"\b{_HEX}\b")
_GROUP: Final = re.compile(rf"\[({_HEX}(?:, {_HEX})*(?:, \+\d+)?)\]")
_WORDS: Final = re.compile(r"\w+").findall
_HISTORY: Final = re.compile(r"\(supersedes\b[^)]*\)")
_BULLET: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\S").match
_GENERATED: Final = re.compile(
    rf"- .* \[{_HEX}(?:, {_HEX})*(?:, \+\d+)?\] {_DAY}(?:–{_DAY})?, \d+/\d+, \d\.\d\d"
    rf"(?:\n  \(supersedes \[{_HEX}(?:, {_HEX})*\], {_DAY}\))?"
).fullmatch
_WITHHELD: Final = re.compile(r"<!-- withheld: (.*) -->").fullmatch
_MARKED: Final = re.compile(r"\] ([0-9a-f]{4})$").search
_EMPTY: Final = re.compile(r"\*Empty: .*\*").fullmatch
_BEGINS: Final = re.compile(rf"^{re.escape(BEGIN)}[ \t]*\r?\n", re.MULTILINE).finditer
_ENDS: Final = re.compile(rf"^{re.escape(END)}[ \t]*(?:\r?\n|\Z)", re.MULTILINE).finditer
