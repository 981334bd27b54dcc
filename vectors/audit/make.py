"""Makes the test vectors of spec/audit.md, section 3, beside this file or in the folder that is named.

    python vectors/audit/make.py [FOLDER]

The states are those that the specification asks for, written down by hand; no judge is asked.
"""
# ruff: noqa: INP001, T201  (a program beside its output, no module of the package)

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from making.audit import FILES, document  # noqa: E402


def main(folder: Path) -> None:
    """Write every file into `folder`."""
    for name, make in FILES.items():
        vectors = make()
        (folder / f"{name}.json").write_bytes(document(name, vectors))
        print(f"{len(vectors):4} {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
