"""Reading the past: what is worth loading, and what is like a question. Seed sections 7 and 8.

`ranking` and `words` need numpy and are imported with the first question.
"""

from alveus.recall.loading import DayOfNovelty, Found, Reason, Recalled, Why, newest, newest_exchange, selective_load

__all__ = ["DayOfNovelty", "Found", "Reason", "Recalled", "Why", "newest", "newest_exchange", "selective_load"]
