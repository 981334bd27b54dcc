"""Reading the past: what is worth loading, and what is like a question. Seed sections 7 and 8.

`ranking` and `words` are imported with the first question, `arrays` and `meaning` with what needs numpy.
"""

from alveus.recall.loading import DayOfNovelty, Found, Reason, Recalled, Why, newest, newest_exchange, selective_load

__all__ = ["DayOfNovelty", "Found", "Reason", "Recalled", "Why", "newest", "newest_exchange", "selective_load"]
