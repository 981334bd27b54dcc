"""Promotion that comes by itself, behind whoever records: in a thread, so that no record waits for it.

What becomes of it is never the record's affair: what fails is said by `note`, stays in STM, and is tried again, at ever
longer intervals, while the memory is open. Another opening finds what is due and goes on.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from alveus.errors import AlveusError, InputError

if TYPE_CHECKING:
    from alveus.promoting.moving import Promoted

GATHER: Final = 0.05
"""Seconds that a record's neighbours are waited for, so that they move together."""
FIRST_RETRY: Final = 1.0
LAST_RETRY: Final = 600.0
"""Seconds until a promotion that failed, or made do without its model, is tried again: twice as long each time."""

Promote = Callable[[str | None], "Promoted"]


class Follower:
    """Promotes for the users it is told of, one after another. Not to be used by a forked child (`pid`).

    `overdue` gives the users whose pages should have moved before; it is asked once, with the first user.
    """

    def __init__(self, promote: Promote, overdue: Callable[[], Iterable[str]]) -> None:
        self.pid = os.getpid()
        self._promote = promote
        self._overdue: Callable[[], Iterable[str]] | None = overdue
        self._changed = threading.Condition()
        self._waiting: dict[str | None, None] = {}
        self._again: dict[str | None, tuple[float, float]] = {}
        self._troubles: dict[str | None, str] = {}
        self._thread: threading.Thread | None = None
        self._busy = self._ending = self._ended = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What was not promoted, and why."""
        with self._changed:
            return tuple(dict.fromkeys(self._troubles.values()))

    def follow(self, users: Iterable[str | None]) -> None:
        """Something was recorded of these users: promote for them, soon. Returns at once."""
        with self._changed:
            if self._ending:
                return
            self._waiting.update(dict.fromkeys(users))
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="alveus-promoter", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until nobody's promotion is due or under way; whether that came to be."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._busy, seconds)

    def end(self, seconds: float) -> bool:
        """Take nobody more; wait for what is due, for so long; whether it is done.

        Else the thread ends at its next step, and what it leaves is due at the next opening.
        """
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        done = self.wait(seconds)
        with self._changed:
            self._ended = True
            self._waiting.clear()
            self._changed.notify_all()
        return done

    def join(self) -> None:
        """Wait for the thread, which was told to end."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while self._gathered():
            try:
                for user in self._taken():
                    if self._ended:
                        break
                    self._promote_one(user)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()

    def _gathered(self) -> bool:
        """Wait until somebody's promotion is due; whether there is any more to do."""
        with self._changed:
            while not self._waiting:
                if self._ending:
                    return False
                due = min((at for at, _ in self._again.values()), default=None)
                self._changed.wait(None if due is None else max(0.0, due - time.monotonic()))
                now = time.monotonic()
                self._waiting.update(dict.fromkeys(user for user, (at, _) in self._again.items() if at <= now))
            self._changed.wait_for(lambda: self._ending, GATHER)
            return not self._ended

    def _taken(self) -> list[str | None]:
        with self._changed:
            self._busy, users = True, list(self._waiting)
            self._waiting.clear()
            asked, self._overdue = self._overdue, None
        try:
            users += [] if asked is None else [user for user in asked() if user not in users]
        except (AlveusError, OSError):
            self._overdue = asked  # whoever is promoted for next meets the same, and says it
        return users

    def _promote_one(self, user: str | None) -> None:
        try:
            done = self._promote(user)
        except InputError as error:
            self._settle(user, f"nothing is promoted: {error.message}", again=False)
        except (AlveusError, OSError) as error:
            told = error.message if isinstance(error, AlveusError) else str(error)
            self._settle(user, f"pages wait in STM, since the tiers could not be written: {told}", again=True)
        except Exception as error:  # a fault of our own ends the thread; the next record begins another
            self._settle(user, f"pages wait in STM, since promoting stopped on a {type(error).__name__}", again=True)
            raise
        else:
            told = "pages were moved without the model, and are summarised once it answers" if done.degraded else ""
            self._settle(user, told, again=bool(done.degraded))

    def _settle(self, user: str | None, trouble: str, *, again: bool) -> None:
        with self._changed:
            self._troubles.pop(user, None)
            if trouble:
                self._troubles[user] = trouble
            _, before = self._again.pop(user, (0.0, FIRST_RETRY / 2))
            if again:
                pause = min(2 * before, LAST_RETRY)
                self._again[user] = (time.monotonic() + pause, pause)
