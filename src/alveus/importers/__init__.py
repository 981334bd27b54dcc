"""The door in: what other programs remembered, as signed records.

A transcript becomes events (`base`) through one row of a table of formats (`table`); `run` masks secrets, splits what
is too long, and hands batches to the hippocampus. Everything streams, nothing is imported twice, and every byte that
could not be understood is kept aside and counted.
"""

from alveus.importers.report import BadLine, ImportReport, Unread
from alveus.importers.run import run, total_bytes
from alveus.importers.table import FORMATS, detect

__all__ = ["FORMATS", "BadLine", "ImportReport", "Unread", "detect", "run", "total_bytes"]
