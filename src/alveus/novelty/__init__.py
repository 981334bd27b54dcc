"""How surprising is a record, against what came before it? Seed section 6; spec/journal.md, section 4 (`by`).

The law of this room:

- One question, two answers. `judge(content)` gives the class, a similarity between 0 and 1 and the name of what
  judged. By words: the share of a record's words (occurrences, as the seed counts) that the last records did not
  hold. By embedding: the largest calibrated cosine to the last 1,000 vectors.
- Judging changes nothing; `learn` is called once the record is in the journal, in the journal's order.
- A model is never needed. Whatever an embedder does (raise, return too few rows, NaN), the words judge the record
  and `by` says so.
- The state is derived: it is saved to open fast, and can be learnt again from the journal's tail.
- The thresholds are the seed's and are no part of the signature: changing them breaks no record.

Why words age: the seed's vocabulary only grows, so in time it has seen every word and calls everything routine.
Here a word that the last `window` records did not hold is new again.

numpy is imported only when a vector is handled.
"""

from alveus.novelty.embedding import CACHE_SIZE, Embedder, EmbeddingNovelty, parts
from alveus.novelty.judge import NoveltyJudge, Prepared, Trial
from alveus.novelty.judgement import Judge, Judgement, NoveltyUnavailable
from alveus.novelty.vocabulary import MAX_WORDS, WINDOW, WordsNovelty, words

__all__ = [
    "CACHE_SIZE",
    "MAX_WORDS",
    "WINDOW",
    "Embedder",
    "EmbeddingNovelty",
    "Judge",
    "Judgement",
    "NoveltyJudge",
    "NoveltyUnavailable",
    "Prepared",
    "Trial",
    "WordsNovelty",
    "parts",
    "words",
]
