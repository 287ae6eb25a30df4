"""Every reply that a patient of the smallest set gives, quoted word for word, passes the item that asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wardround.envs import Episode
from wardround.patients import load_charts
from wardround.rubrics import Item, TurnSpec, TurnTrace, judge_items, read_answer
from wardround.rubrics.rubric import Language
from wardround.sessions import Session, load_sessions

OPEN = frozenset({"says-pain"})
"""A number out of ten without the word pain is not read yet ("算1分吧，满分10分")."""
QUOTED = {"en": 'The patient says: "{}"', "zh": "患者说：“{}”"}


def replies(session: Session, language: Language) -> Iterator[tuple[TurnSpec, str, tuple[Item, ...]]]:
    """Play the gold calls; yield each turn's spec with what the patient said in it and the items about that."""
    episode = Episode(session, load_charts("hospital-mini").chart(session.chart.patient), language=language)
    while not episode.done:
        turn = session.turns[episode.turn]
        assert turn.gold is not None
        said = []
        for call in turn.gold.calls:
            result = episode.call(call.tool, call.arguments)
            if call.tool.startswith("patient.") and not episode.done:
                said.append(QUOTED[language].format(result.text))
        episode.call("prepare_to_answer", {"answer_type": "chat"})
        episode.answer(turn.gold.answers[0].get(language))
        items = tuple(item for item in turn.rubric if item.id.startswith(("says", "reason")))
        if said and items:
            spec = TurnSpec(task=turn.task, rubric=turn.rubric, gold_answers=turn.gold.answers)
            yield spec, " ".join(said), items


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_the_patient_said_word_for_word_is_what_the_patient_says(language: Language) -> None:
    heard, missed = 0, []
    for session in load_sessions("physassist-hospital-mini"):
        for spec, answer, items in replies(session, language):
            reading = read_answer(spec, answer, language)
            if any(name.kind == "drug_class" for name in reading.names):
                continue  # "the sleeping pill": which drug of that class is meant, only the chart tells
            verdicts = judge_items(spec, reading, TurnTrace(language=language))
            heard += len(items)
            wrong = [item for item in items if not verdicts[item.id].passed and item.id not in OPEN]
            missed += [(session.id, item.id, answer) for item in wrong]
    assert heard > 0
    assert missed == []
