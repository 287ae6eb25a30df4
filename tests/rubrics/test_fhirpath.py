"""The FHIRPath subset: what is refused and why, and what is true of a resource."""

from __future__ import annotations

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.rubrics.fhirpath import holds, lint

ORDER = {
    "resourceType": "MedicationRequest", "id": "new-1", "status": "active", "intent": "order",
    "medicationCodeableConcept": {
        "text": "Metformin",
        "coding": [{"system": "s1", "code": "a"}, {"system": "s2", "code": "b"}],
    },
    "subject": {"reference": "Patient/1"}, "authoredOn": "2180-05-07T09:30:00Z",
    "dosageInstruction": [
        {"route": {"text": "oral"}, "doseAndRate": [{"doseQuantity": {"value": 0.3, "unit": "mg"}}]},
        {"doseAndRate": [{"doseQuantity": {"value": 250, "unit": "mg"}}]},
    ],
}  # fmt: skip
BODY = orjson.dumps(ORDER)
DOSE = "dosageInstruction.doseAndRate.dose.ofType(Quantity)"


@pytest.mark.parametrize(
    ("expression", "true"),
    [
        ("status = 'active'", True),
        ("MedicationRequest.status = 'draft'", False),
        ("status in ('active' | 'draft')", True),
        ("medication.ofType(CodeableConcept).text.lower() = 'metformin'", True),
        ("medication.ofType(Reference).exists()", False),
        ("medication.ofType(CodeableConcept).coding.where(system = 's2' and code = 'b').exists()", True),
        ("medication.ofType(CodeableConcept).coding.where(system = 's1' and code = 'b').exists()", False),
        (f"{DOSE}.where(value = 0.3).exists()", True),
        (f"{DOSE}.all(value < 500 and unit = 'mg')", True),
        (f"{DOSE}.all(value < 250)", False),
        (f"{DOSE}.value.aggregate($this + $total, 0) = 250.3", True),
        (f"{DOSE}.count() = 2", True),
        ("dosageInstruction.first().route.text = 'oral'", True),
        ("authoredOn >= @2180-05-07T09:30:00Z", True),
        ("authoredOn > @2180-05-07T05:30:00-04:00", False),
        ("note.empty() and reasonCode.exists().not()", True),
        ("iif(status = 'active', intent = 'order', false)", True),
    ],
)
def test_truth_of_a_resource(expression, true):
    assert lint(expression, "MedicationRequest") == ()
    assert holds(expression, BODY) is true


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("medicationCodeableConcept.text = 'x'", "write medication.ofType(CodeableConcept)"),
        ("medicaton.exists()", "`medicaton` is no element of MedicationRequest"),
        ("subject.status = 'x'", "`status` is no element of Reference"),
        (f"{DOSE}.value < 500", "several values and is then never true"),
        ("medication.ofType(CodeableConcept).coding.code = 'a'", "use .where("),
        (f"{DOSE}.where(value < 5 'mg').exists()", "compare `.value` and `.code`"),
        ("authoredOn >= @2180-05-07", "write a full instant with its zone"),
        ("authoredOn >= @2180-05-07T09:30:00", "write a full instant with its zone"),
        ("authoredOn < now()", "reads the machine's clock"),
        ("status.matches('a+')", "unbounded time"),
        ("status.replaceMatches('a', 'b') = 'x'", "unbounded time"),
        ("repeat(extension).exists()", "walks without a bound"),
        ("status.trace('x') = 'active'", "prints"),
        ("subject.resolve().exists()", "sees one resource"),
        ("medication.ofType(CodeableConcept).memberOf('x')", "terminology server"),
        (f"{DOSE}.value.sum() < 3", "use aggregate"),
        ("%resource.status = 'active'", "a %variable"),
        ("status is code", "use .is("),
        ("status", "gives no yes or no"),
        ("status.frobnicate()", "`frobnicate()` is not in the subset"),
        ("status.where()", "`where()` takes 1 to 1 arguments"),
        ("medication.ofType(Quantity).exists()", "holds CodeableConcept, Reference"),
        ("status = 'active' and", "is not FHIRPath: at character"),
        ("status = 'active' status", "is not FHIRPath: at character"),
        ("", "is not FHIRPath"),
        ("(" * 20 + "status = 'a'" + ")" * 20, "nested deeper"),
        ("status = '" + "a" * 600 + "'", "longer than 500 characters"),
    ],
)
def test_what_an_author_would_trip_over_is_refused(expression, told):
    assert any(told in problem for problem in lint(expression, "MedicationRequest")), lint(
        expression, "MedicationRequest"
    )


def test_a_type_that_no_chart_holds_is_refused():
    assert "no resource type" in lint("status = 'x'", "Frobnication")[0]


@given(st.text(max_size=200) | st.text(alphabet="status.(where)'=<and @0123[]{}|`%$\\\"/* \n", max_size=200))
def test_any_text_is_linted_and_never_raises(text):
    if not lint(text, "Flag"):
        holds(text, b'{"resourceType": "Flag", "status": "active"}')


@pytest.mark.parametrize(
    "text", ["(" * 500, "a." * 250, "a=" * 250, "'" * 500, "a|" * 250, "-" * 500, "`" * 499, "{" * 16 + "}" * 16]
)
def test_hostile_expressions_end_at_once(text):
    began = time.process_time()
    lint(text, "Flag")
    assert time.process_time() - began < 2.0  # a bound on hanging, not a benchmark
