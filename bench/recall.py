"""`make bench`, second part: how well and how fast recall finds, beside plain BM25 over the same turns in the same run.

LoCoMo (snap-research/locomo, CC BY-NC 4.0) is for measuring only and is not shipped: the tables are printed where a
`locomo*.json` lies in ALVEUS_BENCH_DATA, in bench/data, or in shared/data beside the checkout. Every turn is one record
`[session date] speaker: text (shares a photo: caption)`, every question is asked in its own conversation's scope.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from run import contents, measure, peak_memory

from alveus import Draft, Hippocampus, Kind
from alveus.recall import ranking
from alveus.store.embedders import choose

AGENT = "bench"
DEPTH = 200
BATCH = 256
SOME = 40 * BATCH
CATEGORIES = {1: "several turns", 2: "time", 3: "common sense", 4: "one turn", 5: "adversarial"}
COLUMNS = ("R@10", "R@50", "R@1,000", "R@2,000")


@dataclass(frozen=True)
class Asked:
    """A question with the places of its evidence among the conversation's turns."""

    text: str
    evidence: tuple[int, ...]
    category: int


@dataclass(frozen=True)
class Conversation:
    """Turns in order as they are stored, and what is asked about them."""

    name: str
    turns: tuple[str, ...]
    questions: tuple[Asked, ...]


def find_locomo() -> Path | None:
    """The data, where somebody put it."""
    here = Path(__file__).resolve().parent
    places = [Path(os.environ.get("ALVEUS_BENCH_DATA", here / "data")), here / "data", here.parents[1] / "shared/data"]
    return next((path for place in places for path in sorted(place.glob("locomo*.json"))), None)


def read_locomo(path: Path) -> list[Conversation]:
    """The conversations of a file in LoCoMo's own format."""
    return [_conversation(one) for one in json.loads(path.read_text(encoding="utf-8"))]


def _conversation(one: dict[str, Any]) -> Conversation:
    talk = one["conversation"]
    numbers = sorted(int(name[8:]) for name in talk if re.fullmatch(r"session_\d+", name))
    turns: dict[str, str] = {}
    for number in numbers:
        for turn in talk[f"session_{number}"]:
            caption = turn.get("blip_caption")
            photo = f" (shares a photo: {caption})" if caption else ""
            said = f"[{talk[f'session_{number}_date_time']}] {turn['speaker']}: {turn['text']}{photo}"
            turns[turn["dia_id"]] = said
    place = {name: number for number, name in enumerate(turns)}
    questions = []
    for question in one["qa"]:
        named = [
            f"D{int(day)}:{int(turn)}" for day, turn in re.findall(r"D(\d+):(\d+)", " ".join(question["evidence"]))
        ]
        evidence = tuple(sorted({place[name] for name in named if name in place}))
        if evidence:
            questions.append(Asked(question["question"], evidence, question["category"]))
    return Conversation(one["sample_id"], tuple(turns.values()), tuple(questions))


def scores(ranked: Sequence[int], turns: Sequence[str], evidence: Sequence[int]) -> list[float]:
    """Share of the evidence in the first 10, 50, and within 1,000 and 2,000 tokens of four characters."""
    found = {place: rank for rank, place in enumerate(ranked)}
    spent, within = 0, {}
    for place in ranked:
        spent += len(turns[place])
        within[place] = spent
    shares = [sum(found.get(one, DEPTH) < k for one in evidence) for k in (10, 50)]
    shares += [sum(within.get(one, math.inf) <= 4 * tokens for one in evidence) for tokens in (1000, 2000)]
    return [share / len(evidence) for share in shares]


class PlainBm25:
    """The baseline: lower-case words, k1 = 1.2, b = 0.75."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [Counter(re.findall(r"\w+", text.lower())) for text in texts]
        self._lengths = [sum(words.values()) for words in self._texts]
        self._mean = statistics.mean(self._lengths)
        self._held = Counter(word for words in self._texts for word in words)

    def rank(self, question: str) -> list[int]:
        """All places, best first."""
        values = [0.0] * len(self._texts)
        for word in set(re.findall(r"\w+", question.lower())):
            held = self._held[word]
            weight = math.log(1 + (len(values) - held + 0.5) / (held + 0.5))
            for place, words in enumerate(self._texts):
                times = words[word]
                if times:
                    norm = 1.2 * (0.25 + 0.75 * self._lengths[place] / self._mean)
                    values[place] += weight * times * 2.2 / (times + norm)
        return sorted(range(len(values)), key=lambda place: -values[place])


Rank = Callable[[str], Sequence[int]]


def ours(folder: Path, conversations: Sequence[Conversation], embedder: str) -> Iterator[tuple[Conversation, Rank]]:
    """Our recall over all conversations in one memory, each a user of its own."""
    with Hippocampus.open(home=folder / embedder, agent_id=AGENT, embedder=embedder) as memory:
        for one in conversations:
            drafts = [Draft(kind=Kind.OBSERVATION, content=turn, user=one.name) for turn in one.turns]
            memory.record_many(drafts)
        memory.prepare_recall()
        for one in conversations:
            places: dict[str, int] = {}
            for place, turn in enumerate(one.turns):
                places.setdefault(turn, place)

            def rank(question: str, one: Conversation = one, places: dict[str, int] = places) -> list[int]:
                found = memory.pattern_completion(question, DEPTH, user=one.name)
                return [places[record.content] for record in found]

            yield one, rank


def bench_locomo(folder: Path) -> None:
    """Recall of the evidence, per category of question."""
    path = find_locomo()
    if path is None:
        print("LoCoMo: skipped, there is no locomo*.json in ALVEUS_BENCH_DATA or bench/data (it is not shipped)")
        return
    conversations = read_locomo(path)
    asked = sum(len(one.questions) for one in conversations)
    print(f"\nLoCoMo, {path.name}: {len(conversations)} conversations, {asked} questions")
    print(f"{'':<16}{'n':>5}" + "".join(f"{name:>10}" for name in COLUMNS) + "   recall of the evidence")
    ways: dict[str, Iterator[tuple[Conversation, Rank]]] = {
        "BM25": ((one, PlainBm25(one.turns).rank) for one in conversations),
        "words": ours(folder, conversations, "none"),
        "words, meaning": ours(folder, conversations, "default"),
    }
    for name, way in ways.items():
        rows: dict[int, list[list[float]]] = defaultdict(list)
        for one, rank in way:
            for question in one.questions:
                rows[question.category].append(scores(rank(question.text), one.turns, question.evidence))
        everything = [row for found in rows.values() for row in found]
        _row(name, everything)
        for category, found in sorted(rows.items()):
            _row(f"  {CATEGORIES[category]}", found)


LEFT_OUT: dict[str, dict[str, Any]] = {
    "all": {},
    "no turns beside": {"BESIDE": dict.fromkeys(ranking.BESIDE, 0.0), "ANSWERS": 0.0},
    "no questions": {"ANSWERS": 0.0, "ASKING": 0.0},
    "no session": {"SESSION": 0.0},
    "no speaker": {"SAID_BY": 0.0},
    "no limit": {"ENOUGH": 1e9},
}
"""Parts of the ranking, by what takes them out."""


def bench_ablation(folder: Path) -> None:
    """By words, with one part of the ranking left out."""
    path = find_locomo()
    if path is None:
        return
    conversations = read_locomo(path)
    for name, without in LEFT_OUT.items():
        kept = {constant: getattr(ranking, constant) for constant in without}
        for constant, value in without.items():
            setattr(ranking, constant, value)
        rows = [
            scores(rank(question.text), one.turns, question.evidence)
            for one, rank in ours(folder / name, conversations, "none")
            for question in one.questions
        ]
        _row(name, rows)
        for constant, value in kept.items():
            setattr(ranking, constant, value)


def _row(name: str, rows: Sequence[Sequence[float]]) -> None:
    means = [statistics.mean(column) for column in zip(*rows, strict=True)]
    print(f"{name:<16}{len(rows):>5}" + "".join(f"{mean:>10.3f}" for mean in means), flush=True)


class _Spent:
    """Seconds spent within, of processors and by the clock."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def __enter__(self) -> None:
        self._start = time.process_time(), time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.cpu += time.process_time() - self._start[0]
        self.wall += time.perf_counter() - self._start[1]


def bench_speed(folder: Path, records: int, embedder: str) -> None:
    """Ingest with the index made, then questions of two to eight words out of records like those stored."""
    with Hippocampus.open(home=folder / f"{embedder}{records}", agent_id=AGENT, embedder=embedder) as memory:
        texts, spent = contents(records, seed=3), _Spent()
        for first in range(0, records, SOME):
            said = list(islice(texts, min(SOME, records - first)))  # making it up is no part of recording it
            with spent:
                for at in range(0, len(said), BATCH):
                    memory.record_many(
                        Draft(kind=Kind.OBSERVATION, content=text, session=f"s{number // 50}")
                        for number, text in enumerate(said[at : at + BATCH], first + at)
                    )
        with spent:
            memory.prepare_recall()
        cpu, wall = spent.cpu, spent.wall
        name = f"ingest {records:,}, embedder {embedder}"
        demand = "≥ 10,000/s" if embedder == "none" else "≥ 250/s"
        print(
            f"{name:<44}{records / cpu:,.0f}/s of one core, {records / wall:,.0f}/s by the clock   {demand}", flush=True
        )
        _ask(memory, f"pattern_completion over {records:,}, {embedder}", embedder)


def _ask(memory: Hippocampus, name: str, embedder: str) -> None:
    rng = random.Random(5)
    questions = [" ".join(rng.sample(text.split(), rng.randint(2, 8))) for text in contents(100, seed=9)]
    beyond = []
    memory.pattern_completion(questions[0])
    for question in questions:
        start = time.perf_counter()
        memory.pattern_completion(question, 10)
        beyond.append((time.perf_counter() - start) * 1e3)
    embedding = _embedding_time(embedder, questions)
    ordered = sorted(value - embedding for value in beyond)
    p50, p95 = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
    note = f"; besides {embedding:.1f} ms for the question's vector" if embedding else ""
    print(f"{name:<44}p50 {p50:.1f} ms, p95 {p95:.1f} ms{note}", flush=True)


def _embedding_time(embedder: str, questions: Sequence[str]) -> float:
    chosen = choose(embedder)
    if chosen is None:
        return 0.0
    chosen.encode([questions[0]])
    times = []
    for question in questions[:30]:
        start = time.perf_counter()
        chosen.encode([question])
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def bench_large(folder: Path, records: int, embedder: str) -> None:
    """A large memory, opened by a process of its own."""
    print(f"building a memory of {records:,} records …", file=sys.stderr)
    bench_speed(folder, records, embedder)
    home = folder / f"{embedder}{records}"
    seconds, memory = measure([sys.executable, __file__, "--child", str(home), embedder])
    print(
        f"{f'open {records:,}, ask once':<44}open {seconds * 1e3:.0f} ms (≤ 300); peak {memory:.0f} MB (≤ 600)",
        flush=True,
    )


def child(home: str, embedder: str) -> None:
    """In a process of its own, so that the peak memory is that of opening and asking."""
    start = time.perf_counter()
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=embedder) as memory:
        seconds = time.perf_counter() - start
        for text in contents(20, seed=11):
            memory.pattern_completion(" ".join(text.split()[:5]), 10)
        print(seconds, max(peak_memory(), resource.getpagesize() / 2**20))


def main() -> None:
    """Run the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--embedded", type=int, default=10_000, help="records in the table with the default embedder")
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--only", choices=["locomo", "ablation", "speed", "large"])
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return
    with tempfile.TemporaryDirectory(prefix="alveus-bench-", dir=os.environ.get("ALVEUS_BENCH_DIR")) as name:
        folder = Path(name)
        if args.only in (None, "locomo"):
            bench_locomo(folder)
        if args.only == "ablation":
            bench_ablation(folder)
        if args.only in (None, "speed"):
            bench_speed(folder, args.records, "none")
            bench_speed(folder, args.embedded, "default")
        if args.only in (None, "large"):
            bench_large(folder, args.large, "none")


if __name__ == "__main__":
    main()
