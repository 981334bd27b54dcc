"""Our own tiers under the gate: a home that is thrown away, the program as it is. spec/audit.md, section 5.

Each assistant is an agent with a journal of its own. The summariser is the adapter's: no lock is held while a model is
called, so that it can look where every page is, and then answer or fail.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import alveus
from alveus.audit.receipt import Boundary, Outcome, OutcomeReceipt, Receipt, Status
from alveus.doors.adapters.base import Answer, Glimpse, Pin, Seen
from alveus.doors.adapters.pins import pinned
from alveus.hippocampus import Hippocampus
from alveus.tiers.policy import Policy


class Ours:
    """One agent an assistant, all in one home under the gate's own folder."""

    def __init__(self, scratch: Path) -> None:
        self._home = scratch / "home"
        self._open: dict[str, Any] = {}
        self._stored: list[tuple[str, str, str]] = []
        self._glimpses: list[Glimpse] = []
        self._broken = False

    def pin(self) -> Pin:
        policy = Policy()
        return {
            "source_version": pinned("alveus", alveus, {"tiers": policy.version}),
            "capacity": policy.stm_pages,
        }

    def store(self, user: str, assistant: str, text: str) -> None:
        self._stored.append((user, assistant, text))
        self._memory(assistant).record("observation", text, src="user", user=user, session="gate", durable=True)

    def promote(self, user: str, assistant: str) -> None:
        self._memory(assistant).promote(user=user)

    def observe(self, user: str, assistant: str, text: str) -> Seen:
        seen: Seen = {"source_present": False, "destination_present": False}
        moved: set[str] = set()
        for item in self._memory(assistant).retrieve(text, user=user):
            if text in item.text and item.tier == "stm":
                seen["source_present"] = True
            elif text in item.text and item.tier == "mtm":
                seen["destination_present"] = True
                moved |= {item.id, *item.sources}
        if any(moved & set(receipt.source_ids) for receipt in self._degraded(user, assistant)):
            seen["degraded"] = True
        return seen

    def glimpses(self) -> list[Glimpse] | None:
        found, self._glimpses = self._glimpses, []
        return found

    def break_model(self) -> bool:
        """From now on the summariser answers nothing."""
        self._broken = True
        return True

    def retrieve(self, user: str, assistant: str, query: str) -> Answer:
        found = self._memory(assistant).retrieve(query, user=user)
        texts = [item.text for item in found]
        return {"texts": texts, "run_id": found.run_id, "depends_on_version": found.version}

    def follows(self, user: str, assistant: str, earlier: str, later: str) -> bool | None:
        """Whether the journal, which is where a page comes from, has the later one next, and is whole."""
        memory = self._memory(assistant)
        mine = [record.content for record in memory.iter_records() if record.hc is not None and record.hc.user == user]
        if earlier not in mine or later not in mine:
            return None
        return bool(memory.verify_chain()) and mine.index(later) == mine.index(earlier) + 1

    def settle(self, user: str, assistant: str, run_id: str, file_hash: str) -> bool | None:
        """Whether the ledger has the answer's check afterwards."""
        memory = self._memory(assistant)
        memory.settle(run_id, OutcomeReceipt(type=Outcome.FILE_HASH, value=file_hash))
        answers = [one for one in self._receipts(user, assistant) if one.boundary is Boundary.GENERATE]
        return any(one.run_id == run_id and one.outcome_receipt is not None for one in answers)

    def close(self) -> None:
        for memory in self._open.values():
            memory.close()
        self._open.clear()

    # The summariser

    @property
    def id(self) -> str:
        return "gate"

    def answer(self, request: Any) -> str | None:  # noqa: ARG002  (what is asked does not matter here)
        """Look where every page is, then answer with something that holds for any page, or with nothing."""
        for user, assistant, text in self._stored:
            seen = self.observe(user, assistant, text)
            self._glimpses.append({"text": text, "moment": "while a model is called", "seen": seen})
        return None if self._broken else json.dumps({"summary": "canary", "keywords": ["canary"], "facts": []})

    # Steps

    def _memory(self, assistant: str) -> Any:
        if assistant not in self._open:
            opening: Any = Hippocampus.open
            self._open[assistant] = opening(home=self._home, agent_id=assistant, summarizer=self, tiers=False)
        return self._open[assistant]

    def _receipts(self, user: str, assistant: str) -> Iterator[Receipt]:
        from alveus.doors.health import ledger_of
        from alveus.doors.options import Settings

        with ledger_of(Settings(home=str(self._home), agent=assistant)) as ledger:
            yield from ledger.receipts((user, assistant))

    def _degraded(self, user: str, assistant: str) -> Iterator[Receipt]:
        return (one for one in self._receipts(user, assistant) if one.status is Status.DEGRADED)
