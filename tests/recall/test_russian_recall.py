"""Recall in Russian: inflected forms, ё and е, names in oblique cases, «вчера»; and two characters of other scripts."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from alveus import Draft, Hippocampus, Kind
from scenes import AGENT

DATA = json.loads((Path(__file__).parent / "russian.json").read_text(encoding="utf-8"))
LEAST = 0.85
"""Of the questions, how many have evidence among the first five."""


@pytest.mark.parametrize("embedder", ["none", "default"])
def test_the_evidence_is_among_the_first_five(embedder, home):
    """By words alone, though about fifteen questions need a synonym; and with the default embedder."""
    with Hippocampus.open(home=home, agent_id=AGENT, embedder=embedder) as memory:
        memory.record_many(
            [
                Draft(
                    kind=Kind.OBSERVATION,
                    content=turn["text"],
                    session=turn["session"],
                    event_time=turn["time"],
                    metadata={"speaker": turn["speaker"]},
                )
                for turn in DATA["turns"]
            ]
        )
        named = {turn["text"]: turn["id"] for turn in DATA["turns"]}
        missed = []
        for one in DATA["questions"]:
            found = memory.pattern_completion(one["question"], 5, asked_at=datetime.fromisoformat(one["asked_at"]))
            if not {named[record.content] for record in found} & set(one["evidence"]):
                missed.append(one["question"])
    assert len(DATA["questions"]) >= 60
    assert 1 - len(missed) / len(DATA["questions"]) >= LEAST, missed


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("数据库已经迁移到喀山的服务器", "迁移"),
        ("数据库已经迁移到喀山的服务器", "喀山"),
        ("设置文件在共享目录里", "目录"),
        ("設定ファイルを更新しました", "設定"),
        ("サーバーの引っ越しは来週です", "来週"),
        ("サーバーの引っ越しは来週です", "サーバー"),
    ],
)
def test_two_characters_of_chinese_and_japanese_are_found(content, query, home):
    """A substring of two characters and more finds its record among others of the same script."""
    with Hippocampus.open(home=home, agent_id=AGENT) as memory:
        for other in ("天气很好，我们去散步", "今日は天気がいいです", "会議は金曜日です", content):
            memory.record("observation", other)
        assert memory.pattern_completion(query, 1)[0].content == content
