"""What a process that answers once and ends need not make: most of what it would make for `dataclasses` it never uses.

A dataclass has its methods compiled when it is defined, six or so, of which an answer calls a few of a few; and
`dataclasses` imports `inspect`, for the signature of a class that has no docstring. Here both wait for their first
use. What is made then is what would have been made: only when is another.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

_MAKER: Final = "_create_fn"
"""What compiles a method in Python 3.11 and 3.12. Later ones compile all of a class at once, and have no such name."""

Method = Callable[..., Any]


def spare() -> None:
    """From now on, in this process. To be called before that is imported which is to be spared."""
    if "dataclasses" in sys.modules:
        return
    without_inspect = "inspect" not in sys.modules
    if without_inspect:
        sys.modules["inspect"] = _imported_late("inspect")
    try:
        import dataclasses
    finally:
        if without_inspect:
            del sys.modules["inspect"]  # whoever else imports it gets it
    make = vars(dataclasses).get(_MAKER)
    if make is not None:
        setattr(dataclasses, _MAKER, lambda name, *how, **more: _made_late(lambda: make(name, *how, **more), name))


def _imported_late(name: str) -> ModuleType:
    """What stands in for a module, and imports it when something of it is asked for."""

    def get(asked: str) -> Any:
        from importlib import import_module

        return getattr(import_module(name), asked)

    module = ModuleType(name)
    vars(module)["__getattr__"] = get
    return module


def _made_late(make: Callable[[], Method], name: str) -> Method:
    """A method that is made, and takes its place in the class, when it is called first."""

    def late(*given: Any, **named: Any) -> Any:
        made = make()
        made.__qualname__ = late.__qualname__
        for cls in type(given[0]).__mro__:
            if cls.__dict__.get(name) is late:
                setattr(cls, name, made)
        return made(*given, **named)

    late.__name__ = name
    return late
