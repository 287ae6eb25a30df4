"""Measurements and drugs that a check names and the knowledge base does not know: found by their own words."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.rubrics.checks.matching import ids_for
from wardround.rubrics.grade import grade_row
from wardround.rubrics.reading import read
from wardround.rubrics.reading.unlisted import own_id


def passes(check: dict[str, Any], answer: str) -> bool:
    return grade_row({"id": "x", "language": "en", "check": check, "answer": answer, "passes": True}).passed


@pytest.mark.parametrize(
    ("name", "answer", "value", "passed"),
    [
        ("nerve conduction velocity", "NCV 41 on the left.", 41, True),
        ("nerve conduction velocity", "The nerve conduction velocity is 41.", 41, True),
        ("nerve conduction velocity", "The nerve conduction velocity is 41; ESR 90.", 90, False),
        ("left eye pressure", "Left eye pressure 31 mmHg, right 16 mmHg.", 16, False),
        ("左眼泪液分泌量", "左眼泪液分泌量4mm，右眼9mm。", 9, False),
        ("左眼泪液分泌量", "左眼泪液分泌4mm，偏低。", 4, True),
    ],
)
def test_a_value_belongs_to_the_name_a_check_gives(name: str, answer: str, value: float, passed: bool) -> None:
    assert not ids_for(name, ("lab", "vital"))
    unit = "" if "velocity" in name else "mm" if "泪" in name else "mmHg"
    assert passes({"kind": "value", "concept": name, "value": value, "unit": unit}, answer) is passed


def test_states_and_movements_are_its_own() -> None:
    trend = {"kind": "trend", "concept": "引流量", "direction": "falling"}
    assert passes(trend, "引流量周一200mL，今天60mL。")
    assert not passes(trend, "引流量周一60mL，今天200mL。")
    status = {"kind": "status", "concept": "rapid strep antigen", "status": "positive"}
    assert passes(status, "The rapid strep antigen is positive.")
    assert not passes(status, "The rapid strep antigen is negative; flu is positive.")


def test_what_the_evidence_has_under_another_name_is_known_by_its_words() -> None:
    known = [{"concept": "Cockcroft-Gault clearance", "value": 132.1, "unit": "mL/min"}]
    assert passes({"kind": "grounded", "known": known}, "Creatinine clearance 132.1 mL/min by Cockcroft-Gault.")
    assert not passes({"kind": "grounded", "known": known}, "Creatinine clearance 98 mL/min by Cockcroft-Gault.")


def test_an_answer_that_does_not_name_it_reads_as_before() -> None:
    reading = read("Potassium 5.9 mmol/L.")
    named = reading.naming("nerve conduction velocity")
    assert [v.value for v in named.values] == [v.value for v in reading.values]
    assert not list(named.values_of((own_id("nerve conduction velocity"),)))


@pytest.mark.parametrize(
    ("act", "answer", "passed"),
    [
        ("continue", "Please continue sparsentan 400 mg daily.", True),
        ("continue", "Sparsentan must go on; recheck the UPCR in a month.", True),
        ("stop", "Sparsentan must go on; recheck the UPCR in a month.", False),
        ("stop", "Stop losartan before sparsentan is begun.", False),
        ("start", "Increase losartan, not sparsentan.", False),
        ("start", "- Losartan 50 mg daily\n- Sparsentan 200 mg daily", True),
    ],
)
def test_an_act_on_a_drug_that_only_the_check_names(act: str, answer: str, passed: bool) -> None:
    assert not ids_for("sparsentan")
    assert passes({"kind": "advice", "act": act, "target": "sparsentan"}, answer) is passed


def test_a_switch_to_a_drug_that_only_the_check_names() -> None:
    check = {"kind": "advice", "act": "switch", "target": "losartan to sparsentan"}
    assert passes(check, "Switch losartan to sparsentan 200 mg daily.")
    assert not passes(check, "Switch sparsentan to losartan 50 mg daily.")
