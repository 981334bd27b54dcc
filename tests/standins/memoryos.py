"""Behaves on disk as BAI-LAB's MemoryOS does, and no further: spec/audit.md, section 5.

Promotion takes pages out of short_term.json and saves it before any model is called; mid_term.json is saved at the end.
The page before a batch is remembered in memory only. Pages lie by user, the assistant's knowledge by assistant.
"""
# ruff: noqa: ARG002, PLR0917  (the signatures are MemoryOS's)

import json
import os
import time
import uuid
from collections import deque
from pathlib import Path

__version__ = "0.0.standin"


class Client:
    """Where a model would be called."""

    def chat_completion(self, model, messages, temperature=0.7, max_tokens=2000):
        """There is no network here."""
        if "STANDIN_HANGS" in os.environ:
            time.sleep(600)
        raise ConnectionError(model)


class Retriever:
    """Finds pages that share a word with the question."""

    def __init__(self, memory):
        self.memory = memory

    def retrieve_context(self, user_query, user_id, **_):
        """The pages of mid_term.json that the question hits."""
        words = set(user_query.split())
        pages = [page for session in self.memory.mid["sessions"].values() for page in session["details"]]
        found = [page for page in pages if words & set(page["user_input"].split())]
        return {"retrieved_pages": found, "retrieved_user_knowledge": [], "retrieved_assistant_knowledge": []}


class Memoryos:
    """The public face: `add_memory` and `retriever`."""

    def __init__(
        self,
        user_id,
        openai_api_key,
        data_storage_path,
        assistant_id="default_assistant_profile",
        short_term_capacity=10,
        mid_term_capacity=2000,
        mid_term_heat_threshold=5.0,
    ):
        user, assistant = (
            Path(data_storage_path) / "users" / user_id,
            Path(data_storage_path) / "assistants" / assistant_id,
        )
        user.mkdir(parents=True, exist_ok=True)
        assistant.mkdir(parents=True, exist_ok=True)
        self.short_path, self.mid_path = user / "short_term.json", user / "mid_term.json"
        for path in (user / "long_term_user.json", assistant / "long_term_assistant.json"):
            if not path.exists():
                path.write_text("{}", "utf-8")
        self.capacity = short_term_capacity
        self.client = Client()
        self.retriever = Retriever(self)
        self.last_evicted_page_for_continuity = None
        self.short = deque(load(self.short_path, []), maxlen=short_term_capacity)
        self.mid = load(self.mid_path, {"sessions": {}})

    def add_memory(self, user_input, agent_response, timestamp=None, meta_data=None):
        """Promote if STM is full, then add."""
        if len(self.short) >= self.capacity:
            self.promote()
        self.short.append({"user_input": user_input, "agent_response": agent_response, "timestamp": timestamp or ""})
        save(self.short_path, list(self.short))

    def promote(self):
        """The interval at risk lies between the first save and the last."""
        evicted = []
        while len(self.short) >= self.capacity:
            evicted.append(self.short.popleft())
            save(self.short_path, list(self.short))
        pages = []
        for old in evicted:
            before = self.last_evicted_page_for_continuity
            page = {"page_id": f"page_{uuid.uuid4().hex[:12]}", "pre_page": None, "next_page": None, **old}
            if before is not None and self.ask("Is this a continuation? true or false") == "true":
                page["pre_page"], before["next_page"] = before["page_id"], page["page_id"]
            pages.append(page)
            self.last_evicted_page_for_continuity = page
        try:
            theme = json.loads(self.ask("Summarise by themes. Answer in JSON."))[0]["theme"]
        except ValueError:
            theme = "General conversation segment"
        session = {"summary": theme, "details": pages}
        self.mid["sessions"][f"session_{uuid.uuid4().hex[:12]}"] = session
        save(self.mid_path, self.mid)

    def ask(self, prompt):
        """One call of the model."""
        return self.client.chat_completion(model="none", messages=[{"role": "user", "content": prompt}])


def load(path, otherwise):
    """A JSON file, if it is there."""
    return json.loads(path.read_text("utf-8")) if path.exists() else otherwise


def save(path, value):
    """In place, as it is done there."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2), "utf-8")
