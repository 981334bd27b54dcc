"""One version of the kernels being made of what was compiled: written beside, with its digest; recorded; put in place.

The order is the law of this module. The files are on disk before the journal says that they are, and they serve only
once it says so: whoever finds kernels that serve finds who made them, when, and what their files' hashes were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from alveus.compiling.reading import EDIT, KERNELS, Place, Read, Through, note_of
from alveus.compiling.shelf import MACHINE, SOURCES, Kernels, Shelf, sha256
from alveus.errors import StoreError
from alveus.journal.record import Draft, Kind, SignedRecord, Source
from alveus.kernels import page
from alveus.kernels.bullet import FILES, Bullet, Compiled, KernelName
from alveus.kernels.digest import Cache, Delta, as_json, as_markdown, changes, characters, pack_line
from alveus.kernels.page import Hand, Written

if TYPE_CHECKING:
    Noted = tuple[str, Place]
    """A record's id, and where it lies."""


class Keeper(Protocol):
    """What a version is made with."""

    shelf: Shelf

    @property
    def embedder_id(self) -> str: ...
    def record(self, draft: Draft) -> Noted: ...
    def known(self) -> dict[str, list[str]]: ...
    def write_digest(self, number: int, markdown: str, told: Mapping[str, Any]) -> None: ...
    def note_digest(self, number: int, at: str, through: Through) -> None: ...


class Making:
    """One version. After `put`, `delta` says what became of the bullets, and `changed` whether there is a version."""

    def __init__(
        self,
        keeper: Keeper,
        *,
        by: str,
        at: str,
        digest: int,
        since: float | None,
        old: Kernels | None,
        read: Read,
        hands: Mapping[KernelName, Hand],
        compiled: Compiled,
    ) -> None:
        self._keeper = keeper
        self._by = by
        self._at = at
        self._digest = digest
        self._since = since
        self._old = old
        self._read = read
        self._hands = hands
        self._compiled = replace(
            compiled, bullets=tuple({one.id: one for one in reversed(compiled.bullets)}.values())[::-1]
        )
        self.edited = tuple(file for name, file in FILES.items() if self._is_news(name))
        self.delta = Delta(changes=())
        self.changed = False

    def put(self, *, fresh_prefix: bool) -> Kernels:
        """Write the version and its digest, record it, put it in place. Without a change only the digest says so."""
        shorts = page.shortened(_named(self._compiled), self._read.places)
        written = self._written(shorts)
        out = {one for each in written.values() for one in (*each.replaced, *each.withheld)}
        standing = [one for one in self._compiled.bullets if one.id not in out]
        self.delta = changes(self._old.standing() if self._old is not None else (), standing)
        pages = {FILES[name]: each.text for name, each in written.items()}
        self.changed = self._differs(pages)
        made = self._old
        if made is None or self.changed:
            made = self._version(shorts, pages, sorted(out), standing, fresh_prefix=fresh_prefix)
            self._put_in_place(made, pages, _sources(written, self._compiled.bullets))
        else:
            self._write_digest(made)
        self._keeper.note_digest(self._digest, self._at, self._read.through)
        self._keeper.shelf.tidy([made.version, made.cache.prefix, *made.cache.deltas])
        return made

    def _written(self, shorts: Mapping[str, str]) -> dict[KernelName, Written]:
        explains = self._compiled.explains
        return {
            name: page.write(
                name,
                self._compiled.bullets,
                shorts.__getitem__,
                hand=self._hands[name],
                explain=explains.get(name, ""),
            )
            for name in FILES
        }

    def _differs(self, pages: Mapping[str, str]) -> bool:
        """Whether there is anything that the version that serves does not have."""
        old = self._old
        if old is None or self.edited or (old.bullets, old.canon) != (self._compiled.bullets, self._compiled.canon):
            return True
        there = self._keeper.shelf.pages()
        return {FILES[name]: text for name, text in there.items()} != dict(pages)

    # The version

    def _version(
        self,
        shorts: Mapping[str, str],
        pages: Mapping[str, str],
        out: Sequence[str],
        standing: Sequence[Bullet],
        *,
        fresh_prefix: bool,
    ) -> Kernels:
        version = max([0, *self._keeper.shelf.versions()]) + 1
        hand = {FILES[name]: noted for name in FILES if (noted := self._noted(name)) is not None}
        places = {one: self._read.places[one] for one in shorts if one in self._read.places}
        places |= {record_id: place for _, (record_id, place) in hand.items()}
        cache = Cache(prefix=version)
        if not (fresh_prefix or self.edited):
            cache = self._cache(version, shorts)
        return Kernels(
            version=version,
            digest=self._digest,
            at=self._at,
            by=self._by,
            bullets=self._compiled.bullets,
            through=self._read.through,
            cache=cache,
            canon=self._compiled.canon,
            embedder=self._keeper.embedder_id,
            since=self._since,
            explains={name.value: sentence for name, sentence in self._compiled.explains.items()},
            considered=dict(self._compiled.considered),
            users=self._users(standing),
            places=places,
            shorts=dict(shorts),
            pages={file: clean(text) for file, text in pages.items()},
            hand={
                FILES[name]: (clean(self._hands[name].text(name)), hand[FILES[name]][0])
                for name in FILES
                if FILES[name] in hand and self._hands[name].text(name)
            },
            stated=tuple(one.id for one in self.delta.stated()),
            out=tuple(out),
            known=self._keeper.known(),
        )

    def _cache(self, version: int, shorts: Mapping[str, str]) -> Cache:
        """The memory cache that goes on: the old prefix with one more delta, or a new one."""
        old, shelf = self._old, self._keeper.shelf
        if old is None:
            return Cache(prefix=version)
        try:
            prefix = shelf.load(old.cache.prefix)
            deltas = sum(len(_stated_lines(shelf.load(one))) for one in old.cache.deltas)
        except StoreError:  # a version that is needed is gone
            return Cache(prefix=version)
        deltas += characters(self.delta.stated(), lambda one: shorts.get(one, one))
        size = characters(prefix.standing(), prefix.short)
        return old.cache.advanced(version, self.delta, prefix=size, deltas=deltas)

    def _users(self, standing: Sequence[Bullet]) -> dict[str, list[str]]:
        """By bullet those whose records it rests on; an empty name for records that name nobody."""
        users = self._read.users
        return {one.id: sorted({users.get(source, "") for source in one.sources}) for one in standing}

    # A person's words

    def _is_news(self, name: KernelName) -> bool:
        """Whether a person's part of a file is not what the journal has."""
        return _part(self._hands[name]) != _part(recorded_hand(self._read.edits.get(FILES[name]), name))

    def _noted(self, name: KernelName) -> Noted | None:
        """The record that holds a person's part of a file; made now, where it is news."""
        file, hand = FILES[name], self._hands[name]
        if file not in self.edited:
            edit = self._read.edits.get(file)
            return (edit.record_id, self._read.places[edit.record_id]) if edit is not None else None
        text = clean(hand.text(name))
        told = {
            "after": clean(hand.after),
            "before": clean(hand.before),
            "file": file,
            "moved": len(hand.moved),
            "withheld": [clean(one) for one in hand.withheld],
        }
        said = f"{file} was edited by hand" + (f":\n{text}" if text else ".")
        return self._keeper.record(
            Draft(kind=Kind.IDENTITY_CHANGE, content=said, metadata={EDIT: told}, src=Source.SYSTEM)
        )

    # In place

    def _put_in_place(self, made: Kernels, pages: Mapping[str, str], sources: Mapping[str, Sequence[str]]) -> None:
        shelf = self._keeper.shelf
        files = {file: text.encode("utf-8", "surrogateescape") for file, text in pages.items()}
        files[SOURCES] = orjson.dumps(sources, option=orjson.OPT_INDENT_2) + b"\n"
        files[MACHINE] = made.encode()
        shelf.put(made.version, files)
        self._write_digest(made)
        record_id, place = self._keeper.record(
            self._account(made, {name: sha256(data) for name, data in files.items()})
        )
        shelf.note(made.version, record_id, place)
        shelf.serve(made.version)  # from here on the new version serves

    def _account(self, made: Kernels, hashes: Mapping[str, str]) -> Draft:
        """What the journal says of a version: numbers and hashes."""
        old, counts = self._old, self.delta.counts()
        said = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "no rule changed"
        told = {
            "before": self._before(old),
            "bullets": len(made.standing()),
            "by": self._by,
            "canon": made.canon,
            "canon_record": self._read.canon.record_id if self._read.canon is not None else None,
            "changes": counts,
            "digest": self._digest,
            "edited": list(self.edited),
            "embedder": made.embedder,
            "files": dict(hashes),
            "left_out": len(self._read.left_out),
            "previous": old.version if old is not None else None,
            "records": made.through.size,
            "version": made.version,
        }
        content = f"Kernels {made.version}, by {self._by}: {len(made.standing())} rules; {said}."
        return Draft(kind=Kind.IDENTITY_CHANGE, content=content, metadata={KERNELS: told}, src=Source.SYSTEM)

    def _before(self, old: Kernels | None) -> dict[str, str]:
        """The hashes of the three files as they were found: a person may have changed them."""
        if old is None:
            return {}
        there = self._keeper.shelf.pages()
        return {FILES[name]: sha256(text.encode("utf-8", "surrogateescape")) for name, text in there.items()}

    def _write_digest(self, made: Kernels) -> None:
        told = {
            "at": self._at,
            "by": self._by,
            "changes": as_json(self.delta),
            "counts": self.delta.counts(),
            "digest": self._digest,
            "through": self._read.through._asdict(),
            "version": made.version,
        }
        shorts = page.shortened(self.delta.named(), self._read.places)
        markdown = as_markdown(self._digest, self.delta, shorts.__getitem__, at=self._at, version=made.version)
        self._keeper.write_digest(self._digest, markdown, told)


def recorded_hand(edit: SignedRecord | None, name: KernelName) -> Hand:
    """A person's part of a file, as the journal has it."""
    told = note_of(edit, EDIT) if edit is not None else None
    if told is None:
        return Hand(before=page.TITLES[name])
    withheld = tuple(str(one) for one in told.get("withheld") or ())
    return Hand(before=str(told.get("before", "")), after=str(told.get("after", "")), withheld=withheld)


def clean(text: str) -> str:
    """Text that a record can hold: what was no UTF-8 in a file is marked."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _part(hand: Hand) -> tuple[str, str, tuple[str, ...]]:
    return clean(hand.before), clean(hand.after), tuple(map(clean, hand.withheld))


def _named(compiled: Compiled) -> Iterator[str]:
    for bullet in compiled.bullets:
        yield from bullet.sources
        yield from bullet.supersedes


def _sources(written: Mapping[KernelName, Written], bullets: Sequence[Bullet]) -> dict[str, Sequence[str]]:
    """Every source of every line, by the line's own words."""
    known = {one.id: one.sources for one in bullets}
    return {
        line.split("\n")[0].removeprefix("- ").rstrip(): known[bullet_id]
        for each in written.values()
        for bullet_id, line in each.lines.items()
    }


def _stated_lines(kernels: Kernels) -> str:
    """What a version's delta takes in a context."""
    return "".join(f"{pack_line(one, kernels.short)}\n" for one in kernels.bullets if one.id in kernels.stated)
