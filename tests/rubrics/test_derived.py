"""Computed values: by hand-worked numbers, per instant and from the latest of each."""

from __future__ import annotations

from decimal import Decimal

import orjson
import pytest

from wardround.patients import knowledge
from wardround.rubrics import Evidence, TurnTrace, check_answer
from wardround.rubrics.derived import formulas
from wardround.rubrics.rubric import GroundedCheck


def lab(number, loinc, name, value, unit, hour=8):
    body = {
        "resourceType": "Observation",
        "id": f"lab-{number}",
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": loinc}], "text": name},
        "subject": {"reference": "Patient/1"},
        "effectiveDateTime": f"2024-03-09T{hour:02d}:00:00Z",
        "valueQuantity": {"value": value, "unit": unit},
    }
    return f"Observation/lab-{number}", orjson.dumps(body)


SODIUM = lab(1, "2951-2", "Sodium", 140, "mmol/L")
CHLORIDE = lab(2, "2075-0", "Chloride", 100, "mEq/L")
BICARBONATE = lab(3, "1963-8", "Bicarbonate", 24, "mmol/L")


def values(*resources):
    return {(found.concept, found.instant is None): found for found in Evidence(resources=dict(resources)).derived}


def test_an_anion_gap_of_one_draw():
    found = values(SODIUM, CHLORIDE, BICARBONATE)
    assert found["anion_gap", False].value == 16
    assert found["anion_gap", False].text == "16"
    assert found["anion_gap", False].keys == ("Observation/lab-1", "Observation/lab-2", "Observation/lab-3")


def test_the_latest_of_each_where_no_draw_has_all():
    late = lab(4, "1963-8", "Bicarbonate", 20, "mmol/L", hour=12)
    found = values(SODIUM, CHLORIDE, late)
    assert ("anion_gap", False) not in found
    assert found["anion_gap", True].value == 20


def test_a_missing_input_gives_nothing():
    assert values(SODIUM, CHLORIDE) == {}


def test_corrected_calcium():
    found = values(lab(1, "17861-6", "Calcium", 8.0, "mg/dL"), lab(2, "1751-7", "Albumin", 2.0, "g/dL"))
    assert found["corrected_calcium", False].value == Decimal("9.6")


@pytest.mark.parametrize("formula", formulas(), ids=lambda formula: formula.concept)
def test_every_formula_names_known_concepts_and_units(formula):
    labs = knowledge.labs()
    for concept, unit in [(formula.concept, formula.unit), *((part.concept, part.unit) for part in formula.inputs)]:
        assert concept in labs
        assert knowledge.convert(Decimal(1), unit, labs[concept].unit, concept) == 1


def test_a_computed_value_is_grounded_and_an_invented_one_is_not():
    trace = TurnTrace(evidence=Evidence(resources=dict([SODIUM, CHLORIDE, BICARBONATE])))
    for answer, passes in (("Anion gap is 16 mEq/L.", True), ("Anion gap is 22 mEq/L.", False)):
        assert check_answer(GroundedCheck(), answer, language="en", trace=trace).passed == passes
