"""numpy, imported when the first vector needs it, and its matrix products on one thread.

BLAS takes every processor for a product of any size; where others use them too, its threads wait for one another, and a
text of one millisecond takes a hundred. `threads=1` of a library does nothing where `threadpoolctl` is not installed.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from alveus.errors import InputError


def numpy() -> Any:
    """The module. Raises InputError where it is not installed."""
    try:
        import numpy as np  # noqa: PLC0415  (whoever has no embedder need not have it)
    except ImportError as error:
        raise InputError("vectors need numpy.", hint="pip install numpy, or ALVEUS_EMBEDDER=none") from error
    return np


class _OneThread:
    """A context in which BLAS has one thread. Threads may be in it together: the last one out restores the number."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """As at the beginning: in a forked child no other thread is inside."""
        self._guard = threading.Lock()
        self._inside = 0
        self._limits: Any = None
        self._controller: Any = None
        self._modules = 0

    def __enter__(self) -> None:
        with self._guard:
            if self._inside == 0:
                self._limits = self._limit()
            self._inside += 1

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with self._guard:
            self._inside -= 1
            if self._inside == 0 and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None

    def _limit(self) -> Any:
        if self._modules != len(sys.modules):  # another module may have brought a BLAS of its own
            numpy()  # its libraries have to be loaded to be found
            try:
                from threadpoolctl import ThreadpoolController  # noqa: PLC0415  (it comes with the first vector)
            except ImportError:
                return None
            self._controller, self._modules = ThreadpoolController(), len(sys.modules)
        return self._controller.limit(limits=1, user_api="blas")


ONE_THREAD = _OneThread()
os.register_at_fork(after_in_child=ONE_THREAD.renew)
