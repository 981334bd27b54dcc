"""What went wrong in hooks: a line each in `hooks/hook.log`, because a hook may neither fail nor say so.

`alveus doctor`, `alveus hooks status` and the next context pack tell of what stands here. No words are written here.
"""

from __future__ import annotations

import os
import time
from typing import Final

LOG: Final = "hook.log"
LARGEST: Final = 1 << 20
DAYS: Final = 7
_TELLS: Final = 65_536


def note(root: str, what: str, error: BaseException | str) -> None:
    """One line. Where even that fails there is nobody left to tell."""
    said = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {what}: {said}"
    data = " ".join(line.split())[:1000].encode("utf-8", "replace") + b"\n"
    path = os.path.join(root, LOG)
    try:
        os.makedirs(root, 0o700, exist_ok=True)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(fd, data)
            full = os.fstat(fd).st_size > LARGEST
        finally:
            os.close(fd)
        if full:
            os.replace(path, f"{path}.1")
    except OSError:
        return


def recent(root: str) -> tuple[int, str]:
    """How many lines the last days brought, as far as the end of the log tells, and the newest of them."""
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - DAYS * 86_400))
    try:
        with open(os.path.join(root, LOG), "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TELLS))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return 0, ""
    late = [line for line in lines if line[:20] >= since]
    return len(late), late[-1] if late else ""


def sentence(root: str) -> str:
    """The same for people and agents; empty where nothing went wrong."""
    count, last = recent(root)
    if not count:
        return ""
    times = "once" if count == 1 else f"{count} times"
    return f"hooks failed {times} in {DAYS} days, last: {last}"
