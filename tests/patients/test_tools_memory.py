"""Remembered reads: the same answers, bounded, never across snapshots or writes."""

from __future__ import annotations

import gc
import inspect
from typing import Any

import pytest

from wardround.patients import (
    ALL_TOOLS,
    Dialogue,
    Interview,
    Overlay,
    ToolCall,
    ToolContext,
    ToolResult,
    parse_instant,
    run_tool,
)
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


def order(of: ToolContext, **changes: Any) -> ToolResult:
    wanted = {"subject_id": "p-1", "medication": "warfarin", "dose": "2.50 mg", "route": "oral", "frequency": "daily"}
    return run_tool(of, ToolCall("MedicationRequest.create", {**wanted, **changes}))


def test_what_was_written_leaves_reads_of_other_types_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    one = context()
    labs, drugs = read(one, code="Na"), run_tool(one, ToolCall("MedicationRequest.search", {"subject_id": "p-1"}))
    order(one)
    assert read(one, code="Na").text is labs.text
    assert run_tool(one, ToolCall("MedicationRequest.search", {"subject_id": "p-1"})).total == (drugs.total or 0) + 1
    memory.forget()
    assert read(one, code="Na") == labs and read(one, code="Na").text is not labs.text


READERS = {name: spec for name, spec in ALL_TOOLS.items() if name.endswith((".search", ".read")) and name[0].isupper()}


@pytest.mark.parametrize("name", READERS)
def test_reads_look_at_nothing_but_what_they_are_said_to_rest_on(name: str) -> None:
    one = context()
    looked: set[str] = set()

    class Watched(Overlay):
        def own(self, kind: str) -> Any:
            looked.add(kind)
            return super().own(kind)

        def read(self, kind: str, identity: str) -> Any:
            looked.add(kind)
            return super().read(kind, identity)

    one.record = Watched(one.record.snapshot)
    fields = READERS[name].schema["properties"]
    for field in ({}, *({key: value.get("enum", ["x"])[0]} for key, value in fields.items() if key != "subject_id")):
        for view in ("compact", "fhir"):
            one.view = view  # type: ignore[assignment]
            assert run_tool(one, ToolCall(name, {"subject_id": "p-1", **field})).text
    rests_on = inspect.getclosurevars(READERS[name].handler).nonlocals["rests_on"]
    assert looked <= rests_on and name.partition(".")[0] in rests_on


def test_an_order_written_again_is_the_same_version() -> None:
    one = context()
    other = one.fork()
    first, second = order(one), order(other)
    assert first == second and first.arguments is not second.arguments
    assert one.record.writes[0] is other.record.writes[0]
    assert one.record.state_hash == other.record.state_hash and other.record.log == one.record.log
    again = order(one)
    assert again.created == "MedicationRequest/new-2" and one.record.writes[1].body != one.record.writes[0].body
    memory.forget()
    anew = context()
    assert [order(anew), order(anew)] == [first, again] and anew.record.state_hash == one.record.state_hash


def test_orders_that_differ_in_anything_are_written_anew() -> None:
    one = context()
    bodies = set()
    for changes in ({}, {"dose": "2.5 mg"}, {"note": "INR first"}, {"indication": "INR first"}):
        fork = one.fork()
        order(fork, **changes)
        bodies.add(fork.record.writes[0].body)
    for encounter, different in (("e-1", 5), (None, 5)):
        fork = one.fork()
        fork.encounter, fork.view = encounter, "fhir"
        text = order(fork).text
        bodies.add(fork.record.writes[0].body)
        assert text.encode() == fork.record.writes[0].body and len(bodies) == different
    refused = order(one, dose="")
    assert not refused.ok and order(one, dose="") == refused and not one.record.writes


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 20_000)
    one = context()
    first = read(one, code="Na").text
    for number in range(200):
        read(one, code=f"test {number}")
        assert memory._memory.size <= 20_000
        assert sum(len(answers) for answers in memory._memory.answers.values()) <= 20
    assert read(one, code="Na").text == first


def test_what_was_written_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 30_000)
    one = context()
    for number in range(100):
        order(one.fork(), note=f"note {number}")
        assert memory._memory.size <= 30_000
    assert sum(len(answers) for answers in memory._memory.answers.values()) <= 15


def test_answers_go_with_their_snapshot() -> None:
    one = context()
    read(one, code="Na")
    assert len(memory._memory.answers) == 1
    del one
    gc.collect()
    assert len(memory._memory.answers) == 0
