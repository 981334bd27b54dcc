"""What a context gets of the kernels: the stable prefix and the deltas, each line checked against the journal.

The version that serves was recorded, with the hash of `kernels.json`; one that is not what was recorded does not serve.
A line goes out only if every record that it names was read and is valid, and, where a user is asked for, if it rests on
that user's records alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from alveus.agent import Agent
from alveus.compiling.reading import EDIT, KERNELS, Place, note_of
from alveus.compiling.shelf import MACHINE, Kernels, Shelf, decode, sha256
from alveus.context import Line, Stated
from alveus.errors import StoreError
from alveus.journal.chain import Fault
from alveus.journal.record import SignedRecord
from alveus.kernels.bullet import FILES, Bullet, KernelName
from alveus.kernels.digest import pack_line
from alveus.kernels.page import shown
from alveus.store.past import read
from alveus.tiers.policy import DEFAULT_USER

ORDER: Final = (KernelName.ANTI, KernelName.IDENTITY, KernelName.DECISION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the kernels give to a context. `known` are the facts that stood when the prefix began, by user."""

    stated: Stated = field(default_factory=Stated)
    known: Mapping[str, Sequence[str]] | None = None
    left_out: tuple[Fault, ...] = ()
    marks: tuple[str, ...] = ()

    def known_of(self, user: str | None) -> frozenset[str] | None:
        """The facts of a user that belong to the prefix; None where that is not known."""
        return None if self.known is None else frozenset(self.known.get(user or DEFAULT_USER, ()))


def serve(agent: Agent, user: str | None) -> Served:
    """The kernels for a context of that user, or of everybody."""
    shelf = Shelf(agent.layout.folder)
    version = shelf.current()
    if version is None:
        return Served()
    serving = _Serving(agent, shelf, user)
    try:
        now = serving.checked(version)
        prefix = serving.checked(now.cache.prefix)
        deltas = [serving.checked(one) for one in now.cache.deltas]
    except StoreError as error:
        return Served(marks=(f"the kernels do not serve: {error.message}; {error.hint}",))
    kernels = {name: tuple(serving.lines(prefix, name)) for name in ORDER}
    since = [line for one in deltas for line in serving.news(one)]
    stated = Stated(anti=kernels[ORDER[0]], identity=kernels[ORDER[1]], decision=kernels[ORDER[2]], since=tuple(since))
    marks = tuple(serving.edited(version))
    return Served(stated=stated, known=prefix.known, left_out=tuple(serving.left_out), marks=marks)


def checked(agent: Agent, shelf: Shelf, version: int) -> Kernels:
    """A version that is what was recorded of it. Raises StoreError for any other."""
    return _Serving(agent, shelf, None).checked(version)


def _blocks(text: str) -> Iterator[str]:
    """A person's words in pieces between blank lines, each heading with what follows it.

    A pack leaves out what does not fit: that is to be the end of them, and not the whole.
    """
    heading = ""
    for block in _BLANK(text.replace("\r\n", "\n")):
        if block.strip() and all(line.startswith("#") for line in block.strip().split("\n")):
            heading += f"{block}\n\n"
        elif block.strip():
            yield f"{heading}{block}"
            heading = ""
    if heading:
        yield heading.rstrip("\n")


_BLANK: Final = re.compile(r"\n(?:[ \t]*\n)+").split


class _Serving:
    """One question for the kernels."""

    def __init__(self, agent: Agent, shelf: Shelf, user: str | None) -> None:
        self._streams = {stream.link.chain or "": stream for stream in agent.streams()}
        self._shelf = shelf
        self._user = user
        self._found: dict[str, SignedRecord | Fault] = {}
        self.left_out: list[Fault] = []

    def checked(self, version: int) -> Kernels:
        """A version, as it was recorded. Raises StoreError."""
        data, noted = self._shelf.machine(version), self._shelf.record_of(version)
        record = self._record(*noted) if noted is not None else None
        if not isinstance(record, SignedRecord):
            raise StoreError(f"kernels {version} have no valid record in the journal", hint="`alveus compile`")
        told = note_of(record, KERNELS) or {}
        files = told.get("files")
        if told.get("version") != version or not isinstance(files, Mapping) or files.get(MACHINE) != sha256(data):
            raise StoreError(f"kernels {version} are not what was recorded", hint="`alveus identity check`")
        return decode(data)

    def edited(self, version: int) -> Iterator[str]:
        """The files of a version that are not what was recorded: a person edits them there, or somebody else did."""
        record = self._found[(self._shelf.record_of(version) or ("",))[0]]
        told = note_of(record, KERNELS) if isinstance(record, SignedRecord) else None
        hashes: Mapping[str, str] = (told or {}).get("files", {})
        for file in FILES.values():
            try:
                found = sha256((self._shelf.path(version) / file).read_bytes())
            except OSError:
                found = ""
            if found != hashes.get(file):
                yield f"{file} is not what was recorded (`alveus identity check`); `alveus compile` takes an edit in"

    def lines(self, kernels: Kernels, name: KernelName) -> Iterator[Line]:
        """The lines of one kernel: a person's words first, then the bullets."""
        text, record_id = kernels.hand.get(FILES[name], ("", ""))
        if text and self._stands([record_id], kernels.places):
            record = self._found[record_id]
            if isinstance(record, SignedRecord) and note_of(record, EDIT) is not None:
                for number, block in enumerate(_blocks(text)):
                    yield Line(f"hand:{record_id}:{number}", f"{block}\n[{record_id}]", (record_id,))
        yield from self._bullets(kernels, (one for one in kernels.standing() if one.name is name))

    def news(self, kernels: Kernels) -> Iterator[Line]:
        """What a version brought."""
        yield from self._bullets(kernels, (one for one in kernels.standing() if one.id in kernels.stated))

    def _bullets(self, kernels: Kernels, bullets: Iterable[Bullet]) -> Iterator[Line]:
        for one in bullets:
            if self._user is not None and list(kernels.users.get(one.id, ())) != [self._user]:
                continue
            ids = [*shown(one.sources), *shown(one.supersedes)]
            if self._stands(ids, kernels.places):
                yield Line(f"{kernels.version}:{one.id}", pack_line(one, kernels.short), tuple(dict.fromkeys(ids)))

    def _stands(self, ids: Sequence[str], places: Mapping[str, Place]) -> bool:
        """Whether each of these records was read from its line and is valid."""
        found = [self._record(one, places.get(one)) for one in ids]
        faults = [one for one in found if isinstance(one, Fault)]
        self.left_out += [one for one in faults if one not in self.left_out]
        return not faults

    def _record(self, record_id: str, place: Place | None) -> SignedRecord | Fault:
        if record_id not in self._found:
            self._found[record_id] = self._read(record_id, place)
        return self._found[record_id]

    def _read(self, record_id: str, place: Place | None) -> SignedRecord | Fault:
        stream = self._streams.get(place.chain) if place is not None else None
        if place is None or stream is None:
            return Fault(code="missing", detail=f"record {record_id} of the kernels is not here")
        found: SignedRecord | Fault | None = None
        with contextlib.suppress(OSError, ValueError):
            found = read(stream, stream.line_at(place.offset), place.offset)
        if isinstance(found, SignedRecord) and found.record_id != record_id:
            return Fault(code="missing", detail="another record lies there", chain=place.chain, offset=place.offset)
        return found or Fault(code="missing", detail="nothing lies there", chain=place.chain, offset=place.offset)
