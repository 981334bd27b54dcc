"""The real mem0ai, with its models replaced: an extractor that keeps what it was told, an embedder of words.

For `--target mem0:mem0_local:Memory`. Everything else is mem0's own: its pipeline, its store on disk, its history.
"""

import hashlib
import json
import os
import re
from pathlib import Path

os.environ["MEM0_TELEMETRY"] = "False"  # nothing leaves the machine
os.environ["OPENAI_API_KEY"] = os.environ.get("OPENAI_API_KEY", "none")  # it is asked for, and never used

import mem0

DIMS = 256


class Words:
    """Texts with words in common are near one another."""

    def embed(self, text, _action=None):
        """One row."""
        row = [0.0] * DIMS
        for word in re.findall(r"\w+", text):
            row[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4]) % DIMS] += 1.0
        return row

    def embed_batch(self, texts, _action=None):
        """A row each."""
        return [self.embed(text) for text in texts]


class Extractor:
    """Keeps the newest message, word for word."""

    def generate_response(self, messages, **_):
        """What mem0's additive extraction asks for."""
        canaries = re.findall(r"canary \S+ version \d+", messages[-1]["content"].partition("## New Messages")[2])
        return json.dumps({"memory": [{"text": one} for one in dict.fromkeys(canaries[:1])]})


def Memory():  # noqa: N802  (it stands for the class)
    """mem0's `Memory` in the folder that MEM0_DIR names."""
    folder = Path(os.environ["MEM0_DIR"])
    made = mem0.Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": DIMS},
            },
            "history_db_path": str(folder / "history.db"),
        }
    )
    made.embedding_model, made.llm = Words(), Extractor()
    return made
