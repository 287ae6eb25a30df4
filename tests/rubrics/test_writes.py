"""Writes as rubrics see them: new resources, changes of status, files."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.patients import ToolResult
from wardround.rubrics import OnlyWriteCheck, OrderCheck, TurnTrace, Verdict, WriteRecord, check_answer, write_record
from wardround.rubrics.rubric import Forbid
from wardround.rubrics.writes import write_faults

TOOL = "MedicationRequest.update_status"
STOP = WriteRecord(
    tool=TOOL,
    arguments={"subject_id": "p", "id": "rx-1", "action": "stop", "reason": "rash"},
    resource="MedicationRequest/rx-1",
    kind="update",
    target={"medication": "Amoxicillin 500 mg capsule", "status": "stopped"},
)
START = WriteRecord(
    tool="MedicationRequest.create",
    arguments={"medication": "doxycycline", "dose": "100 mg", "route": "oral", "frequency": "twice daily"},
    resource="MedicationRequest/new-1",
)
FILE = WriteRecord(tool="files.write", arguments={"path": "a", "text": "x" * 999}, resource="a", kind="file")


def judged(check: OrderCheck, *writes: WriteRecord) -> Verdict:
    return check_answer(check, "", language="en", trace=TurnTrace(writes=writes))


def test_what_a_call_wrote() -> None:
    plain = ToolResult("T.create", {"a": 1}, True, "", "write", created="T/1")
    assert write_record(plain) == WriteRecord(tool="T.create", arguments={"a": 1}, resource="T/1")
    target = {"medication": "x", "status": "stopped"}
    changed = write_record(ToolResult("T.update_status", {}, True, "", "write", updated="T/1", target=target))
    assert changed is not None and (changed.kind, changed.type, changed.target) == ("update", "T", target)
    file = write_record(ToolResult("files.write", {}, True, "", "write", file="a/b"))
    assert file is not None and (file.kind, file.type, file.resource) == ("file", "", "a/b")
    assert write_record(ToolResult("T.search", {}, True, "")) is None


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ({"medication": "amoxicillin"}, True),
        ({"medication": "doxycycline"}, False),
        ({"action": "stop"}, True),
        ({"action": "hold"}, False),
        ({"status": "stopped"}, True),
        ({"status": "on-hold"}, False),
        ({"id": "MedicationRequest/rx-1"}, True),
        ({"id": "rx-2"}, False),
        ({"reason": "rash"}, True),
        ({"medication": "amoxicillin", "reason": "nausea"}, False),
    ],
)
def test_fields_of_a_change(fields: dict[str, str], passes: bool) -> None:
    assert judged(OrderCheck(tool=TOOL, fields=fields), STOP).passed is passes


def test_what_an_update_is_about_is_no_new_order() -> None:
    safe = OrderCheck(tool="MedicationRequest.create", forbid=Forbid(medication_class="penicillin_class"))
    assert judged(safe, STOP, START).passed  # stopping a penicillin is not ordering one
    assert not judged(OrderCheck(tool=TOOL, forbid=Forbid(medication_class="penicillin_class")), STOP).passed
    assert not judged(OrderCheck(tool="MedicationRequest.create", fields={"medication": "amoxicillin"}), STOP).passed


def test_unrequested_and_second_changes_are_faults() -> None:
    def faults(*writes: WriteRecord, **more: Any) -> list[str]:
        return write_faults(TurnTrace(writes=writes, **more), frozenset({TOOL}), 200, ())

    assert faults(STOP) == []
    assert faults(STOP, STOP) == [f"second write `{TOOL}`"]
    assert faults(STOP, START) == ["unrequested write `MedicationRequest.create`"]
    assert faults(STOP, files=(FILE,)) == []


def test_only_write_sees_changes_and_no_files() -> None:
    assert check_answer(OnlyWriteCheck(), "", language="en", trace=TurnTrace(writes=(STOP,), files=(FILE, FILE))).passed
    assert not check_answer(OnlyWriteCheck(), "", language="en", trace=TurnTrace(writes=(STOP, START))).passed
