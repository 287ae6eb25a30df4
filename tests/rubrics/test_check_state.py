"""`state`: judged over what the turn wrote, alone and within a turn's rules."""

from __future__ import annotations

import orjson
import pytest

from wardround.rubrics import (
    Item,
    StateCheck,
    Text,
    TurnSpec,
    TurnTrace,
    WriteRecord,
    check_answer,
    score,
    validate_spec,
)

ORAL = "dosageInstruction.all(route.text = 'oral')"


def order(number=1, route="oral", kind="create", version="1", **more):
    body = {
        "resourceType": "MedicationRequest", "id": f"new-{number}", "meta": {"versionId": version}, "status": "active",
        "medicationCodeableConcept": {"text": "warfarin"}, "dosageInstruction": [{"route": {"text": route}}], **more,
    }  # fmt: skip
    tool = "MedicationRequest.create" if kind == "create" else "MedicationRequest.update_status"
    return WriteRecord(
        tool=tool, arguments={}, resource=f"MedicationRequest/new-{number}", kind=kind, body=orjson.dumps(body).decode()
    )


def flag():
    body = '{"resourceType": "Flag", "status": "active"}'
    return WriteRecord(tool="Flag.create", arguments={}, resource="Flag/new-9", body=body)


def judged(check, *writes, files=()):
    trace = TurnTrace(writes=writes, files=tuple(files))
    return check_answer(StateCheck.model_validate({"kind": "state", **check}), "", language="en", trace=trace)


@pytest.mark.parametrize(
    ("count", "routes", "passes"),
    [
        ("one", ["oral"], True),
        ("one", ["intravenous"], False),
        ("one", ["oral", "oral"], False),
        ("one", [], False),
        ("any", ["intravenous", "oral"], True),
        ("any", [], False),
        ("all", ["oral", "oral"], True),
        ("all", ["oral", "rectal"], False),
        ("all", [], False),
        ("none", ["rectal"], True),
        ("none", ["oral"], False),
        ("none", [], True),
    ],
)
def test_how_many_must_satisfy_it(count, routes, passes):
    writes = [order(number, route) for number, route in enumerate(routes, 1)]
    verdict = judged({"type": "MedicationRequest", "expression": ORAL, "count": count}, *writes, flag())
    assert verdict.passed is passes, verdict.reason


def test_without_a_body_nothing_holds():
    bare = WriteRecord(tool="MedicationRequest.create", arguments={}, resource="MedicationRequest/new-1")
    verdict = judged({"type": "MedicationRequest", "expression": ORAL}, bare)
    assert not verdict.passed and "keeps no resource" in verdict.reason


@pytest.mark.parametrize(
    ("check", "passes"),
    [
        ({"type": "MedicationRequest", "predicate": "mentions", "arguments": {"concept": "Coumadin"}}, True),
        ({"type": "MedicationRequest", "predicate": "mentions", "arguments": {"concept": "apixaban"}}, False),
        ({"type": "MedicationRequest", "predicate": "version", "arguments": {"version": "1"}}, True),
        ({"type": "MedicationRequest", "predicate": "version", "arguments": {"version": "2"}}, False),
        ({"predicate": "file_written", "arguments": {"path": "notes/plan.md"}}, True),
        ({"predicate": "file_written", "arguments": {"path": "notes/other.md"}}, False),
        ({"predicate": "file_mentions", "arguments": {"path": "notes/plan.md", "concept": "INR"}}, True),
        ({"predicate": "file_mentions", "arguments": {"path": "notes/plan.md", "concept": "potassium"}}, False),
    ],
)
def test_named_predicates(check, passes):
    file = WriteRecord(tool="files.write", arguments={}, resource="notes/plan.md", kind="file", body="Recheck the INR.")
    assert judged(check, order(), files=[file]).passed is passes


def spec(**check):
    item = Item(id="state", text=Text(en="Orders it by mouth."), check=StateCheck.model_validate(check))
    return TurnSpec(task="WU", rubric=(item,))


def test_a_turn_pays_for_the_state_and_for_nothing_else_written():
    sound = spec(type="MedicationRequest", expression=ORAL)
    assert validate_spec(sound) == []
    assert score(sound, "Done.", TurnTrace(writes=(order(),))).reward == 1.0
    assert score(sound, "Done.", TurnTrace(writes=(order(route="rectal"),))).reward == 0.0
    assert score(sound, "Done.", TurnTrace(writes=(order(), flag()))).reward == 0.0  # an unrequested write
    assert score(sound, "Done.", TurnTrace(writes=(order(1), order(2)))).reward == 0.0  # a second one
    assert score(sound, "Done.", TurnTrace()).reward == 0.0


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ({"type": "MedicationRequest", "expression": "medicationCodeableConcept.exists()"}, "write medication.ofType"),
        ({"type": "MedicationRequest"}, "either an `expression` or a `predicate`"),
        ({"expression": "status = 'active'"}, "give `type`"),
        ({"type": "Flag", "predicate": "no_such"}, "no predicate `no_such`"),
        ({"type": "Flag", "predicate": "mentions"}, "takes concept"),
        ({"type": "Flag", "predicate": "file_written", "arguments": {"path": "x"}}, "is about a file"),
        ({"type": "MedicationRequest", "expression": ORAL, "count": "none"}, "an empty answer passes it"),
    ],
)
def test_a_rubric_that_cannot_be_judged_is_refused(check, told):
    assert any(told in problem for problem in validate_spec(spec(**check))), validate_spec(spec(**check))
