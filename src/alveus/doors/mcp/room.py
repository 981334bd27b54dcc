"""What the server was configured with, and the memory behind it: opened at the first call that needs it.

A journal that cannot be opened is told to whoever asks, call by call, and is tried again: a server that had left at the
start would leave an agent without its memory and without a word about it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from alveus.doors.options import Settings
from alveus.errors import InputError, NotFound, StoreError, StoreUncertain

if TYPE_CHECKING:
    from alveus.hippocampus import Hippocampus
    from alveus.journal.record import SignedRecord
    from alveus.store.layout import Layout

T = TypeVar("T")

NAMES_OF_SCOPE: Final[Mapping[str, str]] = {
    "agent": "agent",
    "agent_id": "agent",
    "user": "user",
    "user_id": "user",
}
"""Arguments that other memories take for whose it is. Here they may only repeat what the server was started with."""


class Room:
    """One agent's memory, as this server may see it: all of it, or what is of one user."""

    def __init__(self, settings: Settings, *, user: str | None = None, session: str | None = None) -> None:
        from alveus.completion import scope_of

        scope_of(user=user, session=session)  # raises InputError for a name that names nobody
        self.settings = settings
        self.user = user
        self.session = session
        self._guard = threading.Lock()
        self._memory: Hippocampus | None = None
        self._opened: list[Hippocampus] = []

    @property
    def layout(self) -> Layout:
        """Where the agent's files lie."""
        return self.settings.layout()

    @property
    def agent(self) -> str:
        """Whose memory it is."""
        return self.layout.agent_id

    def ask(self, act: Callable[[Hippocampus], T], *, write: bool = False) -> T:
        """Do something with the memory, open. What was left unsure is opened anew for the next who asks.

        Where the disk refuses to be written, whoever does not `write` is served all the same.
        """
        memory = self._open(write=write)
        try:
            return act(memory)
        except StoreUncertain:
            with self._guard:
                if self._memory is memory:
                    self._memory = None
            raise

    def _open(self, *, write: bool) -> Hippocampus:
        with self._guard:
            if self._memory is None or self._memory.read_only:
                self._memory = self._opened_for(self._memory, write=write)
                if self._memory not in self._opened:
                    self._opened.append(self._memory)
            return self._memory

    def _opened_for(self, reading: Hippocampus | None, *, write: bool) -> Hippocampus:
        try:
            return self.settings.open(write=True)
        except StoreError as error:
            if write or error.code != "disk_refused":
                raise
            return reading or self.settings.open()

    def close(self) -> None:
        """Have everything on disk, and let the files go."""
        with self._guard:
            opened, self._opened, self._memory = self._opened, [], None
        for memory in opened:
            memory.close()

    def without_scope(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without those that name a scope. Raises InputError for another one than the server's own.

        Names are compared whole.
        """
        own = {"agent": self.agent, "user": self.user}
        rest = dict(arguments)
        for name, what in NAMES_OF_SCOPE.items():
            if name not in rest:
                continue
            given = rest.pop(name)
            if given is not None and given != own[what]:
                raise InputError(
                    f"{tool} cannot be asked about another {what}: whose memory this is was settled at the start",
                    code="scope",
                    hint=f"leave {name!r} out; the user can start a server for another {what}",
                )
        return rest

    def own(self, record: SignedRecord) -> SignedRecord:
        """The record, if this server may show it. Raises NotFound, as for one that does not exist."""
        if self.user is not None and (record.hc is None or record.hc.user != self.user):
            raise NotFound(f"there is no record {record.record_id}", hint="memory_recall finds records and their ids")
        return record
