"""The Russian talk that recall is measured on is whole: what its questions name is there, and was said before them."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

TALK = json.loads(Path(__file__).with_name("russian.json").read_text(encoding="utf-8"))


def test_every_turn_has_an_id_of_its_own_and_a_later_time_than_the_one_before():
    """In the order it was said."""
    ids = [turn["id"] for turn in TALK["turns"]]
    times = [datetime.fromisoformat(turn["time"]) for turn in TALK["turns"]]
    assert len(set(ids)) == len(ids) >= 150
    assert times == sorted(times)
    assert len({turn["session"] for turn in TALK["turns"]}) >= 12


def test_every_question_is_asked_after_what_answers_it():
    """Evidence from the future could not be recalled."""
    times = {turn["id"]: datetime.fromisoformat(turn["time"]) for turn in TALK["turns"]}
    assert len(TALK["questions"]) >= 70
    for question in TALK["questions"]:
        assert question["evidence"]
        asked_at = datetime.fromisoformat(question["asked_at"])
        assert all(times[turn] < asked_at for turn in question["evidence"])
