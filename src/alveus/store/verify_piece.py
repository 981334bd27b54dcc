"""`python -m alveus.store.verify_piece TASK`: the child process of a verification in pieces."""

from __future__ import annotations

import sys

from alveus.store.verify import walk_in_child

if __name__ == "__main__":
    walk_in_child(sys.argv[1])
