"""Kernels: how good they are on labelled archives, and what compiling costs.

`python bench/kernels.py [FOLDER ...]`. A FOLDER holds `archive.jsonl` (a line is `{"id", "role", "time", "session",
"content"}`), `labels.json` and `canon.md`, or folders that do; without one, all under `bench/kernels/`.
`nli_pairs.jsonl` in or beside a folder is judged too. Seconds are of the processor, one thread. `--only NAME` runs one
table; `--curve` writes the picture of the threshold.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alveus.journal.record import Kind, Source
from alveus.kernels import page, score
from alveus.kernels.cluster import dbscan
from alveus.kernels.company import Field
from alveus.kernels.compiler import Bullet, Encode, KernelName, compile_kernels
from alveus.kernels.contradiction import contradiction
from alveus.kernels.examples import BY_KIND
from alveus.kernels.fragment import Fragment, Utterance, cut
from alveus.kernels.hearing import canon_lines, heard
from alveus.kernels.prose import Prose
from alveus.store.arrays import ONE_THREAD
from alveus.store.embedders import choose

ROOT = Path(__file__).resolve().parents[1]
CURVE = ROOT / "docs" / "explanation" / "kernels-threshold.svg"
SOURCES = {"user": Source.USER, "assistant": Source.AGENT, "tool": Source.TOOL, "system": Source.SYSTEM}
EMBEDDER = choose("default")
assert EMBEDDER is not None
EMBEDDER_ID = f"{EMBEDDER.id}@{EMBEDDER.revision}"
_VECTORS: dict[str, NDArray[np.float32]] = {}


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """The default embedder, remembering what it was asked."""
    new = [text for text in dict.fromkeys(texts) if text not in _VECTORS]
    for at in range(0, len(new), 64):
        some = new[at : at + 64]
        _VECTORS.update(zip(some, EMBEDDER.encode([text[:2_000] for text in some]), strict=True))
    return np.vstack([_VECTORS[text] for text in texts])


class Archive:
    """One labelled archive."""

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.labels: dict[str, Any] = json.loads((folder / "labels.json").read_text("utf-8"))
        self.messages = [json.loads(line) for line in (folder / "archive.jsonl").read_text("utf-8").splitlines()]
        canon = folder / "canon.md"
        self.canon = canon.read_text("utf-8") if canon.exists() else None
        self.utterances = [
            Utterance(
                record_id=one["id"],
                origin=one["id"],
                src=SOURCES[one["role"]],
                kind=Kind.STATE,
                session=one["session"],
                time=datetime.fromisoformat(one["time"]).timestamp(),
                text=one["content"],
            )
            for one in self.messages
        ]

    def evidence(self, *, current: bool = True) -> set[str]:
        """The messages that state what holds, or with `current=False` what was replaced too."""
        found = {one for item in self.items() for one in item["evidence"]}
        if not current:
            found |= {one for item in self.labels["revised"] for one in item["old"]["evidence"]}
        return found

    def items(self) -> list[dict[str, Any]]:
        """What holds: the invariants and what the revised ones became."""
        return [*self.labels["invariants"], *({"kind": one["kind"], **one["new"]} for one in self.labels["revised"])]


def archives(folders: Sequence[Path]) -> list[Archive]:
    """All archives under some folders, by name."""
    found = {path.parent for folder in folders for path in folder.rglob("labels.json")}
    return [Archive(folder) for folder in sorted(found)]


COLUMNS = (
    ("recall", 6), ("any", 5), ("kind", 5), ("prec", 5), ("rev", 5), ("contr", 5), ("distr", 5), ("noise", 5),
    ("bullets", 7), ("ratio", 6),
)  # fmt: skip


def measures(archive: Archive, bullets: Sequence[Bullet]) -> tuple[float, ...]:
    """The figures of one archive, in the order of `COLUMNS`."""
    labels, items = archive.labels, archive.items()
    cited = {one for bullet in bullets for one in bullet.sources}
    pairs = [
        (bullet.name == item["kind"])
        for item in items
        for bullet in bullets
        if set(bullet.sources) & set(item["evidence"])
    ]

    def found(item: dict[str, Any], *, right: bool) -> bool:
        return any(
            set(one.sources) & set(item["evidence"]) and (not right or one.name == item["kind"]) for one in bullets
        )

    useful = [
        any(set(one.sources) & set(item["evidence"]) and one.name == item["kind"] for item in items) for one in bullets
    ]
    contradictions = {one["message"] for one in labels["contradictions"]}
    distractors = {one["message"] for one in labels["distractors"]}
    named = archive.evidence(current=False) | contradictions | distractors | set(labels.get("related", []))
    revised = [
        bool(cited & set(one["new"]["evidence"])) and not cited & set(one["old"]["evidence"])
        for one in labels["revised"]
    ]
    size = sum(len(text) for text in pages(bullets))
    invariants = labels["invariants"]
    return (
        _share([found(one, right=True) for one in invariants]),
        _share([found(one, right=False) for one in invariants]),
        _share(pairs),
        _share(useful),
        _share(revised),
        float(len(cited & contradictions)),
        float(len(cited & distractors)),
        len(cited - named) / max(1, len(cited)),
        float(len(bullets)),
        sum(len(one["content"]) for one in archive.messages) / size,
    )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / max(1, len(flags))


def pages(bullets: Sequence[Bullet]) -> list[str]:
    """The three files; a record is named by eight characters, as in a journal."""
    return [page.write(name, bullets, lambda one: one.rjust(8, "0")[-8:], hand=None).text for name in KernelName]


def table(found: Sequence[Archive]) -> None:
    """Each archive with the canon, without it, and by words alone; the means below."""
    modes: dict[str, tuple[Encode | None, bool]] = {
        "as a user has it": (encode, True),
        "without a canon": (encode, False),
        "without an embedder": (None, True),
    }
    for mode, (embed, with_canon) in modes.items():
        print(f"\n{mode}")
        print(f"{'':24}", " ".join(f"{name:>{width}}" for name, width in COLUMNS))
        rows = []
        for archive in found:
            compiled = compile_kernels(
                archive.utterances,
                encode=embed,
                embedder_id=EMBEDDER_ID,
                canon=archive.canon if with_canon else None,
            )
            rows.append(measures(archive, compiled.bullets))
            print(f"{archive.name:24}", formatted(rows[-1]))
        if len(rows) > 1:
            print(f"{'mean':24}", formatted(tuple(np.mean(rows, axis=0))))


def formatted(values: Sequence[float]) -> str:
    """A row of the table."""
    return " ".join(f"{value:>{width}.2f}" for value, (_, width) in zip(values, COLUMNS, strict=True))


def scored(archive: Archive) -> tuple[list[Fragment], NDArray[np.float64], NDArray[np.float64]]:
    """The fragments that were heard, their products, and their calibrated scores."""
    listened = heard(Prose.of(archive.utterances))
    field = Field.of(listened, canon_lines(archive.canon), encode, EMBEDDER_ID)
    return field.fragments, field.raw, field.score


def curve(found: Sequence[Archive], *, write: bool) -> None:
    """How many of the chosen messages are evidence, and of the rules have any, by threshold; the literal product."""
    grid = [round(0.80 + step / 100, 2) for step in range(20)]
    lines: dict[str, list[float]] = {}
    print("\nthreshold on the calibrated score: share of the chosen messages that are evidence / of the rules with any")
    for archive in found:
        fragments, raw, scores = scored(archive)
        evidence, items = archive.evidence(current=False) | set(archive.labels.get("related", [])), archive.items()
        right, covered = [], []
        for least in grid:
            chosen = {one.record_id for one, value in zip(fragments, scores, strict=True) if value >= least}
            right.append(len(chosen & evidence) / max(1, len(chosen)))
            covered.append(_share([bool(chosen & set(item["evidence"])) for item in items]))
        lines[f"{archive.name}: evidence among the chosen"] = right
        lines[f"{archive.name}: rules with evidence"] = covered
        shown = ", ".join(
            f"{least}: {a:.2f} / {b:.2f}" for least, a, b in zip(grid, right, covered, strict=True) if least in SHOWN
        )
        print(f"{archive.name:24} {shown}")
        print(
            f"{'':24} the literal product: largest {raw.max():.2f}, its 0.92 quantile {np.quantile(raw, 0.92):.2f}; "
            f"{int((raw >= score.THRESHOLD).sum())} of {len(raw)} fragments reach {score.THRESHOLD}"
        )
    if write:
        CURVE.write_text(drawn(grid, lines), "utf-8")
        print(f"drawn: {CURVE.relative_to(ROOT)}")


SHOWN = (0.80, 0.86, 0.90, 0.92, 0.94, 0.98)
COLOURS = ("#1b6ca8", "#1b6ca8", "#c25b12", "#c25b12", "#3d7a3d", "#3d7a3d", "#7a3d6f", "#7a3d6f")


def drawn(grid: Sequence[float], lines: dict[str, list[float]]) -> str:
    """The curves as a picture: SVG, by hand."""
    width, height, left, top = 720, 360, 46, 14
    low, high = grid[0], grid[-1]

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (width - left - 14)

    def y(value: float) -> float:
        return top + (1 - value) * (height - top - 34)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 18 * len(lines)}" '
            'font-family="sans-serif" font-size="12">'
        ),
        "<title>Evidence among the chosen messages, and rules with evidence, by the threshold of the score</title>",
        f'<rect width="{width}" height="{height + 18 * len(lines)}" fill="white"/>',
    ]
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<line x1="{left}" x2="{width - 14}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    parts += [f'<text x="{x(at):.1f}" y="{height - 14}" text-anchor="middle">{at:.2f}</text>' for at in grid[::2]]
    chosen = x(score.THRESHOLD)
    parts.append(f'<line x1="{chosen:.1f}" x2="{chosen:.1f}" y1="{top}" y2="{y(0):.1f}" stroke="black"/>')
    for number, (name, values) in enumerate(lines.items()):
        points = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in zip(grid, values, strict=True))
        style = f'fill="none" stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2"'
        dash = ' stroke-dasharray="6 4"' if number % 2 else ""
        parts.append(f'<polyline points="{points}" {style}{dash}/>')
        level = height + 18 * number
        parts.append(f'<line x1="{left}" x2="{left + 30}" y1="{level}" y2="{level}" {style}{dash}/>')
        parts.append(f'<text x="{left + 38}" y="{level + 4}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def pairs(paths: Sequence[Path]) -> None:
    """Contradiction told by rules, against entailment and neither: the area under the curve, by language."""
    for path in paths:
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        print(f"\ncontradiction without a model, {path.parent.name}/{path.name}: area under the curve")
        for language in sorted({one["lang"] for one in found}):
            some = [one for one in found if one["lang"] == language]
            left, right = (encode([one[side] for one in some]) for side in "ab")
            cosines = (left * right).sum(axis=1)
            told = [contradiction(one["a"], one["b"], float(near)) for one, near in zip(some, cosines, strict=True)]
            is_one = np.array([one["label"] == "contradiction" for one in some])
            signals = Counter(one.signal.value for one, yes in zip(told, is_one, strict=True) if yes)
            print(
                f"{language}: {area(np.array([one.score for one in told]), is_one):.3f} with the cosine, "
                f"{area(np.array([contradiction(one['a'], one['b']).score for one in some]), is_one):.3f} without, "
                f"{area(cosines, is_one):.3f} by the cosine alone; told by {dict(signals)}"
            )


def area(values: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """How often a positive value is above another one, ties half."""
    above = (values[positive][:, None] > values[~positive][None, :]).mean()
    level = (values[positive][:, None] == values[~positive][None, :]).mean()
    return float(above + level / 2)


def clustering(count: int) -> None:
    """DBSCAN beside scikit-learn's, where that is installed."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((count // 20, 128)).astype(np.float32)
    rows = score.unit(np.repeat(centres, 20, axis=0) + 0.6 * rng.standard_normal((count, 128)).astype(np.float32))
    seconds, labels = spent(lambda: dbscan(rows, 0.3, 4))
    print(f"\nDBSCAN, {count} x 128: {seconds:.1f} s, {labels.max() + 1} clusters")
    try:
        from sklearn.cluster import DBSCAN  # noqa: PLC0415  (a test's oracle, and no dependency)
    except ImportError:
        print("scikit-learn is not installed: nothing to compare with")
        return
    theirs = DBSCAN(eps=0.3, min_samples=4, metric="cosine", algorithm="brute", n_jobs=1)
    others, expected = spent(lambda: theirs.fit_predict(rows))
    same = len(set(zip(labels.tolist(), expected.tolist(), strict=True))) == len(set(expected.tolist()))
    print(f"scikit-learn: {others:.1f} s, {others / seconds:.1f} times as long; the same partition: {same}")


def spent(act: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor that an act took, in one thread, and what it gave."""
    with ONE_THREAD:
        start = time.process_time()
        given = act()
        return time.process_time() - start, given


def generated(megabytes: float) -> Iterator[Utterance]:
    """A long archive: sentences of the project's own documentation as chatter, and rules of many trades among them."""
    rng = random.Random(11)
    texts = [path.read_text("utf-8") for folder in ("docs", "spec") for path in sorted((ROOT / folder).rglob("*.md"))]
    chatter = sorted({" ".join(one.split()) for text in texts for one in re.split(r"[.|\n]+\s", text)})
    chatter = [one for one in chatter if 60 < len(one) < 400 and "`" not in one]
    rules = [one for some in BY_KIND for one in some]
    size, number = 0, 0
    while size < megabytes * 1_000_000:
        words = [rng.choice(chatter).rstrip(".") + "." for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.1:
            words[rng.randrange(len(words))] = rng.choice(rules)
        text = f"{' '.join(words)} Number {rng.randrange(10**6)}."
        size += len(text.encode())
        yield Utterance(
            record_id=f"r{number}",
            origin=f"o{number:08}",
            src=Source.USER if number % 2 == 0 else Source.AGENT,
            kind=Kind.STATE,
            session=f"s{number // 60}",
            time=1.7e9 + 40.0 * number,
            text=text,
        )
        number += 1


def speed(megabytes: float) -> None:
    """A long archive, without and with the embedder."""
    given = list(generated(megabytes))
    count = len(cut(given))
    words, _ = spent(lambda: compile_kernels(given, encode=None, embedder_id="none"))
    print(f"\n{megabytes} MB, {len(given)} messages, {count} fragments: {words:.1f} s without an embedder")
    whole, compiled = spent(lambda: compile_kernels(given, encode=encode, embedder_id=EMBEDDER_ID))
    again, _ = spent(lambda: compile_kernels(given, encode=encode, embedder_id=EMBEDDER_ID))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"with it {whole:.1f} s, {again:.1f} s with the vectors at hand; {len(compiled.bullets)} bullets; {peak:.1f} GB"
    )


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[Path(__file__).resolve().parent / "kernels"])
    parser.add_argument("--only", choices=("table", "curve", "pairs", "dbscan", "speed"))
    parser.add_argument("--curve", action="store_true", help="write the picture of the documentation")
    parser.add_argument("--rows", type=int, default=20_000, help="rows for DBSCAN")
    parser.add_argument("--megabytes", type=float, default=20.0)
    asked = parser.parse_args()
    found = archives(asked.folders)
    told = sorted(
        {path for folder in asked.folders for where in (folder, folder.parent) for path in where.glob("nli*.jsonl")}
    )
    acts: dict[str, Callable[[], None]] = {
        "table": lambda: table(found),
        "curve": lambda: curve(found, write=asked.curve),
        "pairs": lambda: pairs(told),
        "dbscan": lambda: clustering(asked.rows),
        "speed": lambda: speed(asked.megabytes),
    }
    for name, act in acts.items():
        if asked.only in (None, name):
            act()


if __name__ == "__main__":
    main()
