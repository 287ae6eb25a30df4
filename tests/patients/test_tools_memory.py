"""Remembered reads: the same answers, bounded, never across snapshots or writes."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from wardround.patients import Dialogue, Interview, Overlay, ToolCall, ToolContext, ToolResult, parse_instant, run_tool
from wardround.patients.builder import ChartBuilder
from wardround.patients.tools import memory

NOW = parse_instant("2180-05-07T12:00:00Z")


def context() -> ToolContext:
    builder = ChartBuilder("p-1")
    for day in range(1, 7):
        builder.lab("Sodium", str(130 + day), "mmol/L", at=f"2180-05-0{day} 08:00")
    return ToolContext(Overlay(builder.chart().at(NOW)), Dialogue(Interview()), "p-1", "s-1")


def read(of: ToolContext, **arguments: Any) -> ToolResult:
    return run_tool(of, ToolCall("Observation.search", {"subject_id": "p-1", **arguments}))


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_memory", memory._Memory())


def test_the_second_answer_is_the_first() -> None:
    one = context()
    first, second = read(one, code="Na"), read(one, code="Na")
    assert first == second and first.text is second.text and first.arguments is not second.arguments
    first.arguments["code"] = "changed"  # type: ignore[index]
    assert read(one, code="Na").arguments["code"] == "Na"
    assert read(one, code="K").text != first.text
    one.view = "fhir"
    assert read(one, code="Na").text != first.text


def test_an_episode_that_wrote_reads_anew() -> None:
    one = context()
    before = read(one.fork(), code="Na")
    one.record.update(before.resources[0], {"status": "corrected"})
    assert read(one, code="Na").resources == before.resources[1:]
    assert read(context(), code="Na").resources == before.resources


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 20_000)
    one = context()
    first = read(one, code="Na").text
    for number in range(200):
        read(one, code=f"test {number}")
        assert memory._memory.size <= 20_000
        assert sum(len(answers) for answers in memory._memory.answers.values()) <= 20
    assert read(one, code="Na").text == first


def test_answers_go_with_their_snapshot() -> None:
    one = context()
    read(one, code="Na")
    assert len(memory._memory.answers) == 1
    del one
    gc.collect()
    assert len(memory._memory.answers) == 0
