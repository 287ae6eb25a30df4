"""Right answers in other words keep their reward: every item of every session, five ways, in both languages."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import orjson
import pytest

from wardround.patients import knowledge, load_charts
from wardround.rubrics import GUARD_KINDS, TurnTrace, score
from wardround.sessions import load_sessions
from wardround.sessions.gold import play_gold

WORDS = orjson.loads((Path(__file__).parent / "data/rewordings.json").read_bytes())
WAYS = 5
STEMS = {
    "taking less ": "less",
    "taking ": "taking",
    "stopped ": "stopped",
    "missed doses of ": "missed",
    "never started ": "never",
}
"""Beginning of a reported concept → its words in the data file."""


class UntoldError(Exception):
    """The data file has no words for something (an invented reason in Chinese): counted, at most a few."""


def name(concept: str, language: str) -> str:
    found = knowledge.lexicon().resolve(concept)
    return concept if language == "en" or found is None else found.name.zh


def told(check, language: str, way: int) -> str:
    words = WORDS[language]
    found = [(one, check.concept.removeprefix(one)) for one in STEMS if check.concept.startswith(one)]
    if not found:
        if check.polarity != "present" or check.reason:
            raise UntoldError(check.concept)
        return words["symptom"][way].format(symptom=name(check.concept, language))
    stem, drug = found[0]
    state = STEMS[stem] if check.polarity == "present" else "not_taking"
    because = ""
    if check.reason:
        reason = check.reason if language == "en" else WORDS["reasons_zh"].get(check.reason)
        if reason is None:
            raise UntoldError(check.reason)
        because = words["because"][way].format(reason=reason)
    return words[state][way].format(drug=name(drug, language), because=because)


def plain(check):
    """Return the first check that is no composition."""
    while check.kind in {"any_of", "all_of"}:
        check = check.checks[0]
    return check


def said(turn, language: str, way: int) -> str:
    """Say everything that a turn's affirmative items ask for, in one of the ways."""
    words = WORDS[language]
    by_id = {item.id: item.check for item in turn.rubric}
    out = []
    for item_id, check in by_id.items():
        kind, _, lab = item_id.partition("-")
        first = plain(check)
        if kind == "value":
            level = by_id.get(f"status-{lab}") or by_id.get(f"finding-{lab}")
            if level is None:  # no reading is asked of it
                named = "{lab} is {value} {unit}." if language == "en" else "{lab}{value}{unit}。"
                out.append(named.format(lab=name(check.concept, language), value=check.value, unit=check.unit))
                continue
            level = plain(level)
            fields = {"lab": name(check.concept, language), "value": check.value, "unit": check.unit}
            out.append(words["lab"][way].format(status=words["status"][level.status][way], **fields))
        elif kind == "trend":
            fields = {"lab": name(check.concept, language), "from": check.start, "to": check.end, "unit": check.unit}
            out.append(words["trend"][check.direction][way].format(**fields))
            level = by_id[f"status-{lab}"]
            named = "{lab} is {status}." if language == "en" else "{lab}{status}。"
            status = words["status"][level.status][way]
            out.append(named.format(lab=name(check.concept, language), status=status))
        elif kind == "dose" and check.kind == "value":
            drug = check.concept.removesuffix(" dose")
            dose = f"{check.value} {check.unit}" if language == "en" else f"{check.value}{check.unit}"
            out.append(words["dose"][way].format(drug=name(drug, language), dose=dose))
        elif (kind == "says" and "reason" not in by_id) or kind == "reason":
            out.append(told(first, language, way))
        elif kind == "advice":
            out.append(words["act"][first.act][way].format(target=name(first.target, language)))
        elif kind == "confirms":
            target = first.target if first.kind == "advice" else first.concept
            which = (
                "confirm" if first.kind == "mention" else f"confirm_{'flag' if first.act != 'recheck' else 'recheck'}"
            )
            out.append(words[which][way].format(target=name(target, language)))
    return ("" if language == "zh" else " ").join(out)


SAID = {"value", "status", "finding", "trend", "dose", "drug", "says", "reason", "advice", "confirms"}
"""Beginnings of the ids of items that `said` has words for; turns with others are judged by their own tests."""


def sayable(turn) -> bool:
    """Tell whether `said` has words for everything that a turn's affirmative items ask for."""
    affirmative = [item for item in turn.rubric if item.check.kind not in GUARD_KINDS]
    if any(item.id == "advice" and plain(item.check).act not in WORDS["en"]["act"] for item in affirmative):
        return False
    return all(item.id.partition("-")[0] in SAID and item.check.kind != "all_of" for item in affirmative)


def rewarded(session, chart, language: str):
    for number, played in enumerate(play_gold(session, chart)):
        if not sayable(played.turn):
            continue
        trace = played.trace
        mine = TurnTrace(
            language=language, calls=trace.calls, writes=trace.writes, evidence=trace.evidence, planned=trace.planned
        )
        for way in range(WAYS):
            answer = said(played.turn, language, way)
            result = score(played.turn.spec(session.family), answer, mine)
            yield number, way, answer, result


@pytest.mark.parametrize("language", ["en", "zh"])
def test_reworded_answers_keep_their_reward(language):
    rewards, wrong, untold = [], Counter(), 0
    with load_charts("ward") as store:
        for session in load_sessions("ward"):
            try:
                for _, _, answer, result in rewarded(session, store.chart(session.chart.patient), language):
                    rewards.append(result.reward)
                    wrong.update((one.item, one.reason, answer) for one in result.verdicts if not one.passed)
            except UntoldError:
                untold += 1
    assert untold <= 12
    assert len(rewards) >= 250
    assert sum(rewards) / len(rewards) >= 0.985, wrong.most_common(10)


def changed(number: str) -> str:
    """A value some 25 % off, with as many decimals."""
    value = Decimal(number)
    step = Decimal(1).scaleb(value.as_tuple().exponent)
    return str(max((value * Decimal("1.25")).quantize(step), value + step))


def test_a_gold_answer_with_one_value_changed_loses_it_and_what_requires_it():
    tried = 0
    with load_charts("ward") as store:
        for session in load_sessions("ward"):
            for played in play_gold(session, store.chart(session.chart.patient)):
                for item in played.turn.rubric:
                    if item.check.kind != "value":
                        continue
                    gold, number = played.turn.gold.answers[0].en, str(item.check.value)
                    wrong = re.sub(rf"(?<![0-9.]){re.escape(number)}0*(?![0-9]|[.][0-9])", changed(number), gold)
                    assert wrong != gold, (item, gold)
                    result = score(played.turn.spec(session.family), wrong, played.trace)
                    lost = {one.item for one in result.verdicts if not one.passed}
                    needing = {item.id}
                    while more := {
                        one.id for one in played.turn.rubric if needing & set(one.requires) and one.id not in needing
                    }:
                        needing |= more
                    assert needing <= lost, (wrong, needing - lost)
                    assert result.reward < 1.0
                    tried += 1
    assert tried >= 100
