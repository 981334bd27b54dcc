"""What pins an implementation: the version or the source of a package, and the limits that matter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import ModuleType
from typing import Any


def pinned(name: str, module: ModuleType, limits: Mapping[str, Any]) -> str | None:
    """`name/version+hash of the limits`; where no version is known, a hash of the source; None without either."""
    what = _version_of(module) or _source_of(module)
    told = json.dumps(limits, sort_keys=True, default=str).encode()
    return None if what is None else f"{name}/{what}+{sha256(told).hexdigest()[:16]}"


def _version_of(module: ModuleType) -> str | None:
    name = module.__name__.partition(".")[0]
    for distribution in (name, *packages_distributions().get(name, ())):  # memoryos comes in memoryos-pro
        with suppress(PackageNotFoundError):
            return version(distribution)
    found = getattr(module, "__version__", None)
    return found if isinstance(found, str) else None


def _source_of(module: ModuleType) -> str | None:
    if module.__file__ is None:
        return None
    here = Path(module.__file__)
    files = sorted(here.parent.rglob("*.py")) if here.name == "__init__.py" else [here]
    state = sha256()
    for path in files:
        state.update(path.read_bytes())
    return f"source-{state.hexdigest()[:16]}"
