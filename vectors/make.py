"""Makes the test vectors of spec/journal.md, section 10, beside this file or in the folder that is named.

    python vectors/make.py [FOLDER]

The bytes are the same wherever it runs, but for one: signing with ML-DSA-65 is hedged, so the signature in
montana.json is taken over from the file that is there as long as it holds.
"""
# ruff: noqa: INP001, T201  (a program beside its output, no module of the package)

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from making import days, journals, records, spelling, wrong_lines  # noqa: E402
from making.shared import Vector, document  # noqa: E402


class File(NamedTuple):
    """A file of vectors: the sections it is about and what is in it."""

    name: str
    sections: str
    vectors: Callable[[], list[Vector]]


FILES: Final = (
    File("records", "1, 3, 4", records.records),
    File("canonical", "2", spelling.canonical_json),
    File("refused_at_writing", "1, 2, 4, 9", spelling.refused_at_writing),
    File("not_valid", "5.2, steps 1 to 13", wrong_lines.not_valid),
    File("profile", "3, 4, 7.6", records.profile),
    File("basic", "4.1", records.basic),
    File("chains", "5, 9", journals.chains),
    File("torn", "5.3", journals.torn),
    File("heads", "6", journals.heads),
    File("anchor", "5.5, 8, 8.1", days.anchors),
    File("montana", "8.2", lambda: days.montana_operations(HERE / "montana.json")),
)


def main(folder: Path) -> None:
    """Write every file into `folder`."""
    for file in FILES:
        vectors = file.vectors()
        (folder / f"{file.name}.json").write_bytes(document(file.name, file.sections, vectors))
        print(f"{len(vectors):4} {file.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
