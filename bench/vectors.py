"""The vector search in two passes beside comparing everything: how much of the true hundred it finds, and how fast.

Rows are mixtures of two embedded sentences with noise, as many as asked for; the sentences are the project's own
documentation, cut at full stops, by the default embedder. `--rows 1000000` needs 2 GB of disk.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from alveus.store import vectors
from alveus.store.embedders import choose
from alveus.store.files import DISK

Rows = NDArray[np.float32]
DIMS = 512
WANTED = 100


def sentences() -> list[str]:
    """Sentences of the documentation, in a fixed order."""
    root = Path(__file__).resolve().parents[1]
    texts = [
        path.read_text(encoding="utf-8")
        for folder in ("docs", "spec")
        for path in sorted((root / folder).rglob("*.md"))
    ]
    found = {" ".join(part.split()) for text in texts for part in re.split(r"[.|\n]{1,}\s", text)}
    return sorted(part for part in found if 30 < len(part) < 300)


def mixtures(base: Rows, count: int, rng: np.random.Generator) -> Rows:
    """Unit rows [count, dims] between two of `base`, with noise."""
    first, second = base[rng.integers(0, len(base), count)], base[rng.integers(0, len(base), count)]
    share = rng.uniform(0.0, 0.5, count).astype(np.float32)[:, None]
    mixed = first * (1 - share) + second * share + rng.normal(0, 0.012, (count, DIMS)).astype(np.float32)
    rows: Rows = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return rows


def main() -> None:
    """Build, ask both ways, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--questions", type=int, default=40)
    args = parser.parse_args()
    embedder = choose("default")
    if embedder is None:
        raise SystemExit("the default embedder is not installed")
    base, rng = np.asarray(embedder.encode(sentences()), dtype=np.float32), np.random.default_rng(3)
    with tempfile.TemporaryDirectory(prefix="alveus-bench-", dir=os.environ.get("ALVEUS_BENCH_DIR")) as folder:
        made = vectors.Vectors(
            Path(folder) / "stream.vec", DISK, chain="c", by="embed:bench@1", dims=DIMS, read_only=False, timeout=5
        )
        made.look(np.arange(1, args.rows + 1, dtype=np.uint64))
        made.begin()
        for start in range(0, args.rows, 8192):
            count = min(8192, args.rows - start)
            made.append(np.arange(start, start + count), mixtures(base, count, rng))
        made.finish()
        questions = mixtures(base, args.questions, rng)
        with patch.object(vectors, "EXACT", args.rows):
            exact, everything = _ask(made, questions)
        two_passes, found = _ask(made, questions)
    shares = [len(true & near) / WANTED for true, near in zip(everything, found, strict=True)]
    print(f"{args.rows:,} × {DIMS}, {vectors.candidates(args.rows, WANTED):,} compared exactly")
    found_share = statistics.mean(shares)
    print(f"two passes {two_passes:.1f} ms, everything {exact:.1f} ms (medians); found {found_share:.4f} of {WANTED}")


def _ask(made: vectors.Vectors, questions: Rows) -> tuple[float, list[set[int]]]:
    """The median milliseconds of a question, and the best of each."""
    times, best = [], []
    for question in questions:
        start = time.perf_counter()
        best.append(set(made.search(question, WANTED).seqs.tolist()))
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times), best


if __name__ == "__main__":
    main()
