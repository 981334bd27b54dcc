"""STM: a window over the journal's tail, with a watermark. spec/tiers.md, section 1.

Leaving STM moves the watermark and deletes nothing. What should have left and has not is still in STM.
"""

from __future__ import annotations

from typing import NamedTuple

from alveus.tiers.policy import Policy


class Watermark(NamedTuple):
    """The newest record that left STM: its chain, its place there, the hash of its line."""

    chain: str
    seq: int
    line: str


class Window(NamedTuple):
    """A scope's pages by ordinals: `left` of `pages` have gone on; the others are in STM."""

    left: int
    pages: int

    def overflow(self, policy: Policy) -> range:
        """The pages that are to go on: the oldest, beyond the capacity."""
        return range(self.left, max(self.left, self.pages - policy.stm_pages))

    def newest(self, policy: Policy) -> range:
        """The pages within the capacity."""
        return range(max(self.left, self.pages - policy.stm_pages), self.pages)

    @property
    def occupancy(self) -> int:
        """How many pages STM holds."""
        return self.pages - self.left
