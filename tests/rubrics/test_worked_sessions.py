"""Every item of the two worked sessions of the paper as a typed check: right answers pass, near misses fail."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from pydantic import TypeAdapter

from wardround.rubrics import Check, TurnTrace, WriteRecord, check_answer

TURNS = orjson.loads((Path(__file__).parent / "data/worked_sessions.json").read_bytes())["turns"]
CHECK = TypeAdapter(Check)


def rows(which):
    """Yield (id, check, language, answer) of the right or wrong answers."""
    for turn in TURNS:
        for number, item in enumerate(turn["items"]):
            answers = turn["right"] if which == "right" else item.get("wrong", {})
            if item["check"]["kind"] in ("order", "only_write"):
                continue
            for language, texts in answers.items():
                for n, text in enumerate(texts):
                    yield pytest.param(item["check"], language, text, id=f"{turn['id']}-{number}-{language}-{n}")


def calls(which):
    """Yield (id, check, tool, arguments) of right or wrong writes."""
    for turn in TURNS:
        if "call" not in turn:
            continue
        tool, gold = turn["call"]["tool"], turn["call"]["arguments"]
        for number, item in enumerate(turn["items"]):
            if item["check"]["kind"] != "order":
                continue
            changes = [{}, *turn["right_calls"]] if which == "right" else item["wrong_calls"]
            for n, change in enumerate(changes):
                yield pytest.param(item["check"], tool, gold | change, id=f"{turn['id']}-{number}-{n}")


def trace(language, *written):
    numbered = enumerate(written)
    writes = tuple(WriteRecord(tool=tool, arguments=given, resource=f"R/{n}") for n, (tool, given) in numbered)
    return TurnTrace(language=language, writes=writes)


def test_the_table_is_whole():
    assert [turn["id"] for turn in TURNS] == [f"{name}-{n}" for name in ("hypertension", "discharge") for n in range(4)]
    for turn in TURNS:
        assert "judge" not in str(turn)
        for item in turn["items"]:
            if item["check"]["kind"] == "order":
                assert len(turn["right_calls"]) >= 5 and len(item["wrong_calls"]) >= 3
            elif item["check"]["kind"] != "only_write":
                for language in ("en", "zh"):
                    assert len(turn["right"][language]) >= 5 and len(item["wrong"][language]) >= 3


@pytest.mark.parametrize(("check", "language", "answer"), list(rows("right")))
def test_right_answers_pass(check, language, answer):
    verdict = check_answer(CHECK.validate_python(check), answer, language=language)
    assert verdict.passed, verdict.reason


@pytest.mark.parametrize(("check", "language", "answer"), list(rows("wrong")))
def test_near_misses_fail(check, language, answer):
    assert not check_answer(CHECK.validate_python(check), answer, language=language).passed


@pytest.mark.parametrize(("check", "tool", "arguments"), list(calls("right")))
def test_right_orders_pass(check, tool, arguments):
    verdict = check_answer(CHECK.validate_python(check), "", language="en", trace=trace("en", (tool, arguments)))
    assert verdict.passed, verdict.reason


@pytest.mark.parametrize(("check", "tool", "arguments"), list(calls("wrong")))
def test_wrong_orders_fail(check, tool, arguments):
    assert not check_answer(
        CHECK.validate_python(check), "", language="en", trace=trace("en", (tool, arguments))
    ).passed
