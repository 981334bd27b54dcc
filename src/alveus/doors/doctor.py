"""What may be wrong around a journal, one check after the other; each says how it is mended. Changes nothing.

A check is a function from the place looked at to findings; the table at the end is their order. One that cannot be
made says so: no evidence is not green.
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from alveus import __version__
from alveus.doors.options import Settings
from alveus.doors.output import plural
from alveus.errors import AlveusError
from alveus.journal.chain import ChainState, ChainVerdict
from alveus.store.files import DISK, opened

if TYPE_CHECKING:
    from alveus.store.layout import Layout


class Health(StrEnum):
    """How a thing is."""

    OK = "ok"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at, what was found, and how to mend it."""

    name: str
    health: Health
    found: str
    mend: str = ""


NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "gpfs", "beegfs", "davfs"}
    | {"fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs2", "fuse.glusterfs", "virtiofs", "vboxsf", "prl_fs"}
)
"""File systems that do not keep the promises of flock and fsync, or leave them to another machine."""

FLEETING: Final = frozenset({"tmpfs", "ramfs"})
LOW: Final = 256 << 20
LOWEST: Final = 16 << 20
AHEAD: Final = timedelta(minutes=1)


class Place:
    """What is looked at: one agent in one home."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.layout: Layout = settings.layout()

    @property
    def home(self) -> Path:
        return self.layout.home

    @cached_property
    def nearest(self) -> Path:
        """The home, or the nearest folder above it that exists."""
        return next(path for path in (self.home, *self.home.parents) if path.exists())

    @cached_property
    def begun(self) -> bool:
        """Whether there is a journal, or anything left of one."""
        from alveus.store.creation import is_begun

        return is_begun(DISK, self.layout)

    @cached_property
    def verdict(self) -> ChainVerdict:
        """What a look from the head onwards says."""
        from alveus.hippocampus import verify_layout

        return verify_layout(self.layout, DISK, since_head=True)


Check = Callable[[Place, str], Iterator[Finding]]


def examine(settings: Settings) -> Iterator[Finding]:
    """Every check, in order; what keeps one from being made is its finding."""
    try:
        place = Place(settings)
    except AlveusError as error:
        yield _bad("home", error.message, error.hint)
        return
    told: set[str] = set()
    for name, check in CHECKS:
        for finding in _made(check, place, name):
            yield replace(finding, found="the same", mend="") if finding.found in told else finding
            told |= {finding.found} if finding.health is Health.BAD else set()


def _made(check: Check, place: Place, name: str) -> Iterator[Finding]:
    try:
        yield from check(place, name)
    except AlveusError as error:
        yield _bad(name, error.message, error.hint)
    except OSError as error:
        yield _bad(name, f"{error.filename or place.home}: {error.strerror}", "check the path and its permissions")


def _ok(name: str, found: str) -> Finding:
    return Finding(name=name, health=Health.OK, found=found)


def _warn(name: str, found: str, mend: str) -> Finding:
    return Finding(name=name, health=Health.WARN, found=found, mend=mend)


def _bad(name: str, found: str, mend: str) -> Finding:
    return Finding(name=name, health=Health.BAD, found=found, mend=mend)


# The machine


def _program(_place: Place, name: str) -> Iterator[Finding]:
    yield _ok(name, f"alveus {__version__}, Python {platform.python_version()} on {platform.system()}")


def _encoder(_place: Place, name: str) -> Iterator[Finding]:
    from alveus.journal import canonical

    if canonical.NATIVE:
        yield _ok(name, f"{canonical.NATIVE}, where it cannot differ from the reference")
    else:
        yield _warn(name, "the standard library's: right, but slower", "pip install orjson")


def _embedder(_place: Place, name: str) -> Iterator[Finding]:
    """Which one is in use. Its weights are not loaded, and no endpoint is asked."""
    from alveus.store.embedders import VARIABLE, choose, missing

    chosen = choose()
    if chosen is not None:
        judges = "for novelty and for recall" if os.environ.get(VARIABLE) else "for recall; words judge novelty"
        yield _ok(name, f"{chosen.id}@{chosen.revision}, {judges}")
    elif os.environ.get(VARIABLE):
        yield _ok(name, f"none, as {VARIABLE} says: words judge and recall")
    else:
        found = f"none, as {' and '.join(missing())} cannot be imported: words judge and recall"
        yield _warn(name, found, "install alveus again with what it depends on")


def _clock(place: Place, name: str) -> Iterator[Finding]:
    now = datetime.now(UTC)
    last = _last_time(place)
    if last is not None and last - now > AHEAD:
        mend = "set the clock; records meanwhile follow the last one by a microsecond"
        yield _warn(name, f"{now:%Y-%m-%d %H:%M} UTC, but the last record is of {last:%Y-%m-%d %H:%M}", mend)
    else:
        yield _ok(name, f"{now:%Y-%m-%d %H:%M} UTC")


def _last_time(place: Place) -> datetime | None:
    """When the newest record was made; None where that cannot be told, which another check tells."""
    if not place.begun:
        return None
    try:
        with place.settings.open() as memory:
            newest = next(memory.iter_records(newest_first=True), None)
    except AlveusError:
        return None
    return datetime.fromisoformat(newest.timestamp) if newest else None


# The disk


def _home(place: Place, name: str) -> Iterator[Finding]:
    home = place.home
    if not home.exists():
        yield _warn(name, f"{home} is not there yet", "`alveus init` makes it")
    elif not os.access(home, os.R_OK | os.X_OK):
        yield _bad(name, f"{home} cannot be read", f"chmod u+rwx '{home}', or choose another --home")
    elif not os.access(home, os.W_OK):
        yield _warn(name, f"{home} cannot be written; it can be read", f"chmod u+wx '{home}', or choose another --home")
    else:
        yield _ok(name, str(home))


def _disk(place: Place, name: str) -> Iterator[Finding]:
    kind = _file_system(place.nearest)
    if kind is None:
        yield _ok(name, "its type is not known on this system; it has to be local")
    elif kind in NETWORK:
        mend = "put the home on a local disk: this one does not keep the promises of flock and fsync"
        yield _warn(name, f"{kind}, a network file system", mend)
    elif kind in FLEETING:
        yield _warn(name, f"{kind}: gone after a restart", "put the home on a disk")
    else:
        yield _ok(name, kind)


def _file_system(path: Path) -> str | None:
    """The type of the file system a path lies on, by Linux's table of mounts."""
    table = Path("/proc/self/mountinfo")
    if not table.exists():
        return None
    wanted = path.resolve()
    best: tuple[int, str] | None = None
    for line in table.read_text("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        mount = Path(left.split()[4].replace("\\040", " "))
        if wanted.is_relative_to(mount) and (best is None or len(mount.parts) >= best[0]):
            best = (len(mount.parts), right.split()[0])
    return best[1] if best else None


def _space(place: Place, name: str) -> Iterator[Finding]:
    free = shutil.disk_usage(place.nearest).free
    found = f"{free / (1 << 30):,.1f} GiB free"
    if free < LOWEST:
        yield _bad(name, found, "make room: a full disk refuses records")
    elif free < LOW:
        yield _warn(name, found, "make room soon")
    else:
        yield _ok(name, found)


# The agent


def _key(place: Place, name: str) -> Iterator[Finding]:
    from alveus.store.keys import read_secret

    path = place.layout.key_file
    if not place.begun:
        yield _warn(name, f"there is none at {path} yet", "`alveus init` makes it")
        return
    read_secret(DISK, path)
    mode = stat.S_IMODE(path.parent.stat().st_mode)
    if mode & 0o077:
        yield _warn(name, f"the folder {path.parent} is open to others (mode {mode:04o})", f"chmod 700 '{path.parent}'")
    else:
        yield _ok(name, str(path))


def _journal(place: Place, name: str) -> Iterator[Finding]:
    if not place.begun:
        mend = "`alveus init` begins one; check --agent"
        if any(place.home.glob("agents/*/stream.jsonl")):
            mend = "--agent names another: `alveus agents` lists those that are here; `alveus init` begins this one"
        yield _warn(name, f"agent {place.layout.agent_id!r} has none here", mend)
        return
    with place.settings.open() as memory:
        size, marks = memory.size(), memory.marks()
    yield _ok(name, f"opens, {plural(size, 'record')} of agent {place.layout.agent_id!r}")
    for mark in marks:
        yield _warn(name, mark, "look at the reason it names")


def _head(place: Place, name: str) -> Iterator[Finding]:
    if not place.begun:
        return
    verdict = place.verdict
    if verdict.fault is not None and verdict.fault.code == "torn_tail":
        yield _warn(name, f"a torn end: {verdict.fault.detail}", "the next command that writes sets it aside")
    elif verdict.fault is not None:
        yield _bad(
            name, f"{verdict.fault.code}: {verdict.fault.detail}", "`alveus verify` says more; change nothing first"
        )
    elif verdict.state is ChainState.OK_OPEN_END:
        yield _ok(
            name, f"{plural(verdict.open_end, 'record')} behind the end; the next command that writes brings it up"
        )
    else:
        yield _ok(name, "at the end of the journal")


def _lock(place: Place, name: str) -> Iterator[Finding]:
    if not place.begun:
        return
    with opened(DISK, place.layout.stream, os.O_RDONLY | os.O_NOFOLLOW) as fd:
        free = DISK.try_lock(fd)
    yield _ok(name, "free" if free else "another process is writing at this moment")


def _aside(place: Place, name: str) -> Iterator[Finding]:
    """What recoveries and imports put beside the journal for a person to look at."""
    folder = place.layout.folder
    torn = sorted(path.name for path in folder.glob("stream.jsonl.torn-*"))
    rejected = sorted(folder.glob("imports/*.rejected"))
    if torn:
        mend = f"look at {folder / torn[-1]}, record again what you need, then move it away"
        yield _warn(name, f"{plural(len(torn), 'torn end')} set aside by a recovery", mend)
    if rejected:
        yield _ok(
            name, f"{plural(len(rejected), 'file')} of lines that imports could not read, in {folder / 'imports'}"
        )
    if not torn and not rejected:
        yield _ok(name, "nothing was set aside")


def _ledger(place: Place, name: str) -> Iterator[Finding]:
    """Whether every receipt is whole, and the names in them are stored as they are asked to be."""
    from alveus.doors.health import ledger_of
    from alveus.store.ledger import LedgerState

    if not place.begun:
        return
    with ledger_of(place.settings) as ledger:
        verdict, note = ledger.verify(), ledger.unlike_asked()
    fault = verdict.fault
    if verdict.state is LedgerState.BROKEN and fault is not None:
        mend = "restore receipts.jsonl from a backup, or move it away: another is begun, and the past is uncertain"
        yield _bad(name, f"{fault.code} at line {fault.line}: {fault.detail}", mend)
    elif verdict.state is LedgerState.TORN:
        yield _warn(name, "a crash left half a line at its end", "the next command that writes sets it aside")
    elif note:
        yield _warn(name, note, "move receipts.jsonl away and run `alveus rebuild`, or unset ALVEUS_SCOPES")
    else:
        yield _ok(name, f"{plural(verdict.size, 'receipt')}, all whole" if verdict.size else "no receipts yet")


def _tiers(place: Place, name: str) -> Iterator[Finding]:
    """Whether the tiers' file can be read through."""
    from contextlib import closing

    from alveus.promoting import DATABASE
    from alveus.store.database import Database

    path = place.layout.folder / DATABASE
    if not path.exists():
        return
    with closing(Database(path, read_only=True)) as tiers:
        problem = tiers.problem()
    if problem:
        yield _bad(name, problem, "`alveus rebuild` makes it again from the journal")
    else:
        yield _ok(name, "whole")


def _derived(place: Place, name: str) -> Iterator[Finding]:
    if not place.begun:
        return
    there = (place.layout.folder / "stream.idx").exists()
    yield _ok(name, "the index is there" if there else "no index yet; it is made by itself")


# The agents around it


def _agents(_place: Place, name: str) -> Iterator[Finding]:
    from alveus.doors.hook.around import agents

    found = [one.title if one.program else f"{one.title} (its folder only)" for one in agents()]
    yield _ok(name, ", ".join(found) if found else "none that is known here")


def _hooks(place: Place, name: str) -> Iterator[Finding]:
    """Which hooks are at work in the agents that are here, and what failed in them."""
    from alveus.doors.hook import place as places
    from alveus.doors.hook import trouble
    from alveus.doors.hook.around import agents
    from alveus.doors.hook.settings import HARNESSES
    from alveus.doors.hooks import looked_at, waiting

    here = {one.title for one in agents()}
    for one in looked_at(place.settings):
        title = HARNESSES[one.harness].title
        if one.active:
            yield _ok(name, f"{title}: at work, {plural(len(one.events), 'event')} in {one.settings}")
        elif one.events and one.trouble:
            yield _warn(name, f"{title}: {one.trouble} ({one.settings})", one.mend)
        elif one.events:
            yield _warn(name, f"{title}: {', '.join(one.missing)} not hooked in {one.settings}", one.mend)
        elif title in here:
            found = one.trouble or f"{title} is here and remembers nothing: no hooks of ours in {one.settings}"
            yield _warn(name, found, one.mend)
    home = str(place.home)
    failed = trouble.sentence(places.hooks_of(home))
    if failed:
        yield _warn(name, failed, f"look at {Path(places.hooks_of(home)) / trouble.LOG}")
    if waits := waiting(home):
        mend = "the next event of a session takes them in, or `alveus hooks backfill`"
        yield _ok(name, f"{waits:,} bytes of events are not in the journal yet; {mend}")


def _transcripts(place: Place, name: str) -> Iterator[Finding]:
    """What Claude Code is going to delete, and what of it is in no journal."""
    from alveus.doors.hook.around import cleanup_days, days_left, not_imported, transcripts

    found = transcripts()
    if not found:
        return
    days, where = cleanup_days()
    said = f"cleanupPeriodDays in {where}" if where else "its default; cleanupPeriodDays is not set"
    rule = f"Claude Code deletes a transcript {plural(days, 'day')} after its last change ({said})"
    missing = not_imported(place.home, found)
    if not missing:
        yield _ok(name, f"{plural(len(found), 'transcript')}, all imported; {rule}")
        return
    size = sum(one.size for one in missing) / (1 << 20)
    soonest = days_left(missing[0], days)
    when = "at its next start" if soonest <= 0 else f"in {plural(int(soonest) + 1, 'day')}"
    count = f"{len(missing):,} of {plural(len(found), 'transcript')} ({size:,.1f} MiB)"
    yield _warn(
        name,
        f"{count} not imported; the oldest goes {when}. {rule}",
        "`alveus hooks backfill` imports each into its project's memory; to keep them longer, set cleanupPeriodDays",
    )


def _kernels(place: Place, name: str) -> Iterator[Finding]:
    """Whether the kernels serve, and are what was recorded of them."""
    if not place.begun:
        return
    if not os.path.lexists(place.layout.folder / "kernels"):
        if (place.layout.folder / "kernels.d").is_dir() and any((place.layout.folder / "kernels.d").iterdir()):
            yield _bad(name, "they were compiled, and are not in place", "`alveus compile`")
            return
        yield _ok(name, "none yet; `alveus compile` makes them")
        return
    with place.settings.open() as memory:
        try:
            kernels = memory.kernels()
        except AlveusError as error:
            yield _bad(name, error.message, error.hint)
            return
        changed = [one for one in memory.check_identity().files if one.state.value != "recorded"]
        due = memory.digest_status().due
    for one in changed:
        yield _warn(name, f"{one.path} is {one.state}, not what was recorded", "`alveus identity check` says more")
    if due:
        yield _warn(name, "the journal outgrew them", "`alveus digest`; `alveus digest --watch` does it by itself")
    if not changed and not due:
        yield _ok(name, f"version {kernels.version}, {plural(len(kernels.standing()), 'rule')}, as recorded")


CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("program", _program),
    ("encoder", _encoder),
    ("embedder", _embedder),
    ("home", _home),
    ("disk", _disk),
    ("space", _space),
    ("key", _key),
    ("journal", _journal),
    ("head", _head),
    ("lock", _lock),
    ("set aside", _aside),
    ("ledger", _ledger),
    ("tiers", _tiers),
    ("derived", _derived),
    ("kernels", _kernels),
    ("clock", _clock),
    ("agents", _agents),
    ("hooks", _hooks),
    ("transcripts", _transcripts),
)


def worst(findings: list[Finding]) -> Health:
    """The health of all together."""
    return max((finding.health for finding in findings), key=list(Health).index, default=Health.BAD)
