"""Fit the weights of `alveus.kernels.weights`: what a sentence is, and whether it replaces another.

`python bench/fit_kernels.py` fits on the archives and the corpus under `bench/kernels/`, and writes the module.
`--check [FOLDER ...]` writes nothing: it compiles each archive with weights that were fitted without it, and those of
the FOLDERs, which are never fitted on, with the weights of all. So one sees what to expect of an unseen archive.

scikit-learn is needed here and nowhere else. Same data, same weights: nothing is drawn at random.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import kernels as bench
from alveus.journal.record import Source
from alveus.kernels import examples, learnt, replacing, score, weights
from alveus.kernels.bullet import KernelName
from alveus.kernels.company import Field
from alveus.kernels.compiler import compile_kernels
from alveus.kernels.contradiction import contradiction
from alveus.kernels.fragment import Fragment
from alveus.kernels.hearing import canon_lines, guarded, heard
from alveus.kernels.prose import Prose
from alveus.kernels.tone import tone
from alveus.language.terms import detect

HERE: Final = Path(__file__).resolve().parent
ARCHIVES: Final = HERE / "kernels"
CORPUS: Final = ARCHIVES / "corpus"
MODULE: Final = HERE.parent / "src" / "alveus" / "kernels" / "weights.py"
KINDS: Final = [str(one) for one in KernelName]

STRENGTH: Final = 0.05
"""Inverse of the regularisation, of the sentences' regressions; of the pairs' below."""
PAIRS_STRENGTH: Final = 0.03
LOUD: Final = 3.0
"""A sentence's vector counts so much beside its manner."""

BY_CORPUS: Final = 0.3
"""What the corpus weighs in telling a rule, beside one archive: alone it tells rules of an archive badly."""
CHANGES_BY_CORPUS: Final = 0.25
"""What the corpus weighs in telling a change, for each archive."""

CHANGING: Final = 0.04
"""Of what users say so much announces a change."""
REPLACING: Final = 0.04
"""A pair of this probability is a replacement: most others that are as likely say the old one again."""

MEAN: Final = bench.encode([text for some in examples.BY_KIND for text in some]).round(4).mean(axis=0)


@dataclass
class Sentences:
    """Sentences with what the regressions know of them, and what they are taught."""

    vectors: NDArray[Any]
    manner: NDArray[Any]
    rule: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    """1, 0, or -1 where it is not said."""
    kind: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    change: NDArray[Any] = field(default_factory=lambda: np.zeros(0))


def sentences(texts: Sequence[str], said: Sequence[str], user: NDArray[Any], tones: NDArray[Any]) -> Sentences:
    """Sentences without labels."""
    words = np.array([len(one.split()) for one in said])
    vectors = score.centred(np.round(bench.encode(texts), 4), MEAN)
    none = np.full(len(texts), -1)
    return Sentences(vectors, learnt.manner(tones, user, words), none.copy(), none.copy(), none.copy())


class Labelled:
    """An archive with labelled fragments: of each message that is evidence, the sentence nearest to what it states."""

    def __init__(self, archive: bench.Archive) -> None:
        self.archive = archive
        prose = Prose.of(archive.utterances)
        self.prose = prose.made(range(len(prose)))
        texts, said = [one.text for one in self.prose], [one.said for one in self.prose]
        self.given = sentences(texts, said, prose.user, prose.tones)
        self.likeness = score.likeness(prose.tones, prose.user)
        self.heard = ~guarded(prose) & (prose.words > 2)
        self._label(archive.labels)

    def _label(self, labels: dict[str, Any]) -> None:
        items = [(one["statement"], one["kind"], one["evidence"]) for one in self.archive.items()]
        items += [(one["old"]["statement"], one["kind"], one["old"]["evidence"]) for one in labels["revised"]]
        self.current = len(labels["invariants"]) + len(labels["revised"])
        gold = score.centred(np.round(bench.encode([one[0] for one in items]), 4), MEAN)
        raw = self.given.vectors @ gold.T
        self.item: dict[str, int] = {}
        best: dict[str, tuple[float, int, int]] = {}
        for at, one in enumerate(self.prose):
            for number, (_, _, evidence) in enumerate(items):
                if one.record_id in evidence:
                    known = best.get(one.record_id)
                    if known is None or raw[at, number] > known[0]:
                        best[one.record_id] = (float(raw[at, number]), at, number)
        self.given.rule[[one.record_id not in labels.get("related", []) for one in self.prose]] = 0
        self.given.rule[[one.record_id in best for one in self.prose]] = -1
        announcing = {one["new"]["evidence"][0] for one in labels["revised"]}
        told = [one.src is Source.USER and one.record_id not in announcing for one in self.prose]
        self.given.change[told] = 0
        for _, at, number in best.values():
            self.given.rule[at] = 1
            self.given.kind[at] = KINDS.index(items[number][1])
            self.item[self.prose[at].key] = number
            if self.prose[at].record_id in announcing and self.prose[at].src is Source.USER:
                self.given.change[at] = 1
        self.stated = set(best)

    def pair(self, old: Fragment, new: Fragment) -> bool | None:
        """Whether one replaces the other; None where its message does and it need not."""
        for one in (old, new):
            if one.record_id in self.stated and one.key not in self.item:
                return None
        was, then = self.item.get(old.key, -1), self.item.get(new.key, -1)
        changed = len(self.archive.labels["revised"])
        return was >= self.current and then == was - changed


def corpus() -> Sentences:
    """Sentences of many trades: rules and what is none; changes and what is none; the examples of the kernels."""

    def read(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (CORPUS / name).read_text("utf-8").splitlines()]

    rows: list[tuple[str, bool, int, int, int]] = []
    for one in read("statements.jsonl"):
        kind = KINDS.index(one["label"]) if one["label"] in KINDS else -1
        rows.append((one["text"], one["role"] == "user", int(kind >= 0), kind, -1))
    rows += [(one["text"], True, -1, -1, int(one["label"] == "change")) for one in read("changes.jsonl")]
    rows += [(one["b"], True, -1, -1, int(one["label"] == "replaces")) for one in read("pairs_revision.jsonl")]
    rows += [(text, True, 1, kind, -1) for kind, some in enumerate(examples.BY_KIND) for text in some]
    texts = [row[0] for row in rows]
    tones = np.array([tone(text, detect(text)) for text in texts])
    given = sentences(texts, texts, np.array([row[1] for row in rows]), tones)
    given.rule, given.kind, given.change = (np.array([row[at] for row in rows]) for at in (2, 3, 4))
    return given


def balanced(taught: NDArray[Any]) -> NDArray[Any]:
    """Weights by which both classes weigh the same, one a sentence on the mean."""
    yes = taught == 1
    return np.where(yes, len(taught) / (2 * max(1, yes.sum())), len(taught) / (2 * max(1, (~yes).sum())))


def regression(
    parts: Sequence[tuple[Sentences, NDArray[Any], float]], columns: Sequence[str], *, even: bool = True
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Weights by manner [MANNER, k] and by meaning [dims, k], and the bias [k]; only some columns of manner count."""
    counts = np.array([name in columns for name in learnt.MANNER], dtype=float)
    rows, taught, weighing = [], [], []
    for given, labels, weight in parts:
        use = labels >= 0
        rows.append(np.hstack([given.manner[use] * counts, given.vectors[use] * LOUD]))
        taught.append(labels[use])
        weighing.append(weight * (balanced(labels[use]) if even else np.ones(use.sum())))
    model = LogisticRegression(C=STRENGTH, max_iter=5_000, tol=1e-6)
    model.fit(np.vstack(rows), np.concatenate(taught), sample_weight=np.concatenate(weighing))
    by = model.coef_.T
    return by[: len(counts)] * counts[:, None], by[len(counts) :] * LOUD, model.intercept_


def fit(found: Sequence[Labelled], beside: Sentences) -> dict[str, Any]:
    """All weights, as the module has them."""
    registers = learnt.MANNER[: learnt.MANNER.index("user")]
    rule = regression(
        [*((one.given, one.given.rule, 1.0) for one in found), (beside, beside.rule, BY_CORPUS)], learnt.MANNER
    )
    kind = regression(
        [*((one.given, one.given.kind, 1.0) for one in found), (beside, beside.kind, 1.0)], registers, even=False
    )
    change = regression(
        [
            *((one.given, one.given.change, 1.0) for one in found),
            (beside, beside.change, CHANGES_BY_CORPUS * len(found)),
        ],
        [*registers, "log_words"],
    )
    # Their scale is that of the registers' likeness, whose thresholds hold for both.
    told = np.concatenate([_applied(one.given, rule)[one.heard, 0] for one in found])
    like = np.concatenate([one.likeness[one.heard] for one in found]).clip(1e-4, 1 - 1e-4)
    like = np.log(like / (1 - like))
    stretch = float(like.std() / told.std())
    rule = (rule[0] * stretch, rule[1] * stretch, rule[2] * stretch + like.mean() - stretch * told.mean())
    told = np.concatenate([_applied(one.given, change)[one.given.manner[:, _USER] > 0, 0] for one in found])
    change = (*change[:2], change[2] - np.quantile(told, 1 - CHANGING))
    both = [np.hstack([one[at] for one in (rule, kind, change)]) for at in range(3)]
    install({"MANNER": _table(both[0], both[2]), "MEANING": _numbers(both[1])})
    return {"MANNER": weights.MANNER, "MEANING": weights.MEANING, "REPLACES": _replacing(found)}


_USER: Final = learnt.MANNER.index("user")


def _applied(given: Sentences, model: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]) -> NDArray[Any]:
    result: NDArray[Any] = given.manner @ model[0] + given.vectors @ model[1] + model[2]
    return result


def _replacing(found: Sequence[Labelled]) -> dict[str, float]:
    """The weights of pairs, fitted on what compiling with the others finds."""
    rows: list[NDArray[Any]] = []
    taught: list[bool] = []
    for one in found:
        company = field_of(one.archive)
        signs, pairs = replacing.pairs(company)
        for at, (old, new) in enumerate(pairs):
            label = one.pair(company.fragments[old], company.fragments[new])
            if label is not None:
                rows.append(signs[at])
                taught.append(label)
    given = np.array(rows)
    mean, spread = given.mean(axis=0), given.std(axis=0) + 1e-9
    model = LogisticRegression(C=PAIRS_STRENGTH, max_iter=5_000, tol=1e-6).fit((given - mean) / spread, taught)
    by = (model.coef_[0] / spread).round(2)
    bias = float(model.intercept_[0] - (mean * model.coef_[0] / spread).sum()) - float(
        np.log(REPLACING / (1 - REPLACING))
    )
    return {**dict(zip(replacing.SIGNS, map(float, by), strict=True)), "bias": round(bias, 2)}


def field_of(archive: bench.Archive) -> Field:
    """The fragments of an archive with their company, as compiling finds them."""
    listened = heard(Prose.of(archive.utterances))
    company = Field.of(listened, canon_lines(archive.canon), bench.encode, bench.EMBEDDER_ID)
    company.contradict(lambda earlier, later, cosine: contradiction(earlier, later, cosine).score)
    return company


def install(given: dict[str, Any]) -> None:
    """Let the kernels use some weights."""
    for name, value in given.items():
        setattr(weights, name, value)
    learnt.forget()


def _table(by_manner: NDArray[Any], bias: NDArray[Any]) -> str:
    rows = [*zip(learnt.MANNER, by_manner, strict=True), ("bias", bias)]
    lines = (f"{name} {' '.join(str(round(float(one) * 100)) for one in row)}" for name, row in rows)
    return "\n" + "\n".join(lines) + "\n"


def _numbers(by_meaning: NDArray[Any]) -> str:
    lines: list[str] = []
    for column in by_meaning.T:
        line = ""
        for number in (str(round(float(one) * 100)) for one in column):
            if len(line) + len(number) > 118:
                lines.append(line)
                line = ""
            line = f"{line} {number}".strip()
        lines.append(line)
    return "\n" + "\n".join(lines) + "\n"


def written(given: dict[str, Any]) -> str:
    """The module."""
    pairs = "\n".join(f'    "{name}": {value},' for name, value in given["REPLACES"].items())
    return f'''"""Weights of `learnt` and `replacing`. Data, made by `bench/fit_kernels.py`; do not edit."""

from typing import Final

EMBEDDER: Final = "{bench.EMBEDDER.id}"
"""The embedder whose vectors they are for."""

MANNER = """{given["MANNER"]}"""
"""By manner, in hundredths: how like a rule, of which kernel (identity, decision, anti), how like a change."""

MEANING = """{given["MEANING"]}"""
"""By the dimensions of the vector, in hundredths: all for one outcome, then all for the next."""

REPLACES = {{
{pairs}
}}
"""By the signs of a pair."""
'''


def check(found: Sequence[Labelled], others: Sequence[Labelled], beside: Sentences) -> None:
    """What an archive gives with weights that were fitted without it."""
    rows = []
    print(f"{'':24}", " ".join(f"{name:>{width}}" for name, width in bench.COLUMNS))
    for one in (*found, *others):
        install(fit([other for other in found if other is not one], beside))
        rows.append(measured(one.archive))
        print(f"{one.archive.name:24}", bench.formatted(rows[-1]), flush=True)
    print(f"{'mean':24}", bench.formatted(tuple(np.mean(rows, axis=0))))


def measured(archive: bench.Archive, encode: Callable[..., Any] | None = bench.encode) -> tuple[float, ...]:
    """The figures of one archive."""
    compiled = compile_kernels(archive.utterances, encode=encode, embedder_id=bench.EMBEDDER_ID, canon=archive.canon)
    return bench.measures(archive, compiled.bullets)


def main() -> None:
    """Fit and write, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", nargs="*", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    found = [Labelled(one) for one in bench.archives([ARCHIVES])]
    if asked.check is not None:
        check(found, [Labelled(one) for one in bench.archives(asked.check)], corpus())
        return
    MODULE.write_text(written(fit(found, corpus())), "utf-8")
    print(f"written: {MODULE.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
