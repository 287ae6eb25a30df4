"""From a record to R4: every fact is there, valid, known when it was known, findable by the tools, and traced."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import hospital_fixture as fixture
import pytest

from wardround.patients import DataError, Dialogue, Interview, Overlay, ToolCall, ToolContext, run_tool, validate
from wardround.patients.chart import Chart
from wardround.patients.elements import document_text
from wardround.patients.hospital.charting import Charted, chart_record
from wardround.patients.hospital.provenance import Provenance
from wardround.patients.resource import instant_text
from wardround.patients.times import NEVER, Instant

when = fixture.when


@cache
def charted() -> Charted:
    return chart_record(fixture.make_record())


@cache
def chart() -> Chart:
    return charted().chart()


def at(text: str) -> dict[str, dict[str, Any]]:
    """Return every resource as known at an hour, by `Type/id` without the patient."""
    snapshot = chart().at(when(text))
    return {
        f"{kind}/{one['id'].removeprefix(fixture.PATIENT).removeprefix('-')}": one
        for kind in snapshot.chart.index.spans
        for one in snapshot.resources(kind)
    }


def call(hour: str, tool: str, **arguments: Any) -> str:
    overlay = Overlay(chart().at(when(hour)))
    context = ToolContext(overlay, Dialogue(Interview()), fixture.PATIENT, "s", "en", "compact", None)
    result = run_tool(context, ToolCall(tool, {"subject_id": fixture.PATIENT, **arguments}))
    assert result.ok, result.text
    return result.text


def test_every_resource_is_valid_and_every_reference_leads_somewhere() -> None:
    resources = {f"{one['resourceType']}/{one['id']}": one for one, _ in charted().builder.resources()}
    text = str(list(resources.values()))
    for key, resource in resources.items():
        assert validate(resource) == [], key
    for reference in re.findall(r"'reference': '([^']+)'", text):
        assert reference in resources


def test_every_charted_fact_has_a_resource_named_after_it() -> None:
    life = fixture.make_life()
    there = at("12-31 00:00")
    for kind, facts in {
        "Encounter": life.stays, "Condition": life.illnesses, "Observation": (*life.results, *life.cultures),
        "MedicationRequest": life.prescriptions, "MedicationAdministration": life.doses,
        "AllergyIntolerance": life.allergies, "Procedure": life.treated, "DiagnosticReport": life.studies,
        "Immunization": life.vaccines, "FamilyMemberHistory": life.relatives, "CarePlan": life.plans,
    }.items():  # fmt: skip
        for fact in facts:
            assert f"{kind}/{fact.id}" in there
    assert there["Observation/e2-smoking"]["code"]["coding"][0]["code"] == "72166-2"


def test_nothing_is_known_before_its_facts() -> None:
    life = fixture.make_life()
    known = {one["id"]: instant for one, instant in charted().builder.resources()}
    facts = [*life.illnesses, *life.results, *life.prescriptions, *life.allergies, *life.studies, *life.relatives]
    for fact in facts:
        assert known[f"{fixture.PATIENT}-{fact.id}"] == fact.known_at
    for note in fixture.make_record().notes:
        assert known[f"{fixture.PATIENT}-{note.id}-{note.parts[0].slug}"] == note.stored


def test_the_admission_grows_with_the_clock() -> None:
    early = at("06-02 06:30")
    assert "Observation/l1" not in early, "drawn at 06:00, reported at 06:50"
    assert "Condition/d2" not in early
    assert "reasonCode" not in early["MedicationRequest/rx2"], "given on suspicion: no diagnosis named yet"
    assert early["Encounter/e3"]["status"] == "in-progress"
    assert "partOf" not in early["Encounter/e3"], "the admission has not begun"
    middle = at("06-03 12:00")
    assert middle["MedicationRequest/rx2"]["status"] == "active"
    assert middle["MedicationRequest/rx2"]["reasonCode"][0]["text"].startswith("Pneumonia")
    assert "statusReason" not in middle["MedicationRequest/rx2"]
    assert middle["Observation/c1"]["valueString"] == "Gram-positive cocci in pairs and chains"
    assert middle["Observation/c1"]["status"] == "preliminary"
    assert "hasMember" not in middle["Observation/c1"]
    assert "Observation/c1-org" not in middle
    assert "extension" not in middle["Condition/d2"], "coded at discharge"
    assert "hospitalization" not in middle["Encounter/e2"]
    late = at("06-05 14:00")
    assert late["MedicationRequest/rx2"]["status"] == "stopped"
    assert late["MedicationRequest/rx2"]["statusReason"]["text"] == "changed to oral therapy"
    assert late["Observation/c1"]["status"] == "final"
    assert late["Observation/c1-org"]["valueCodeableConcept"]["text"]
    assert late["Condition/d2"]["extension"][0]["valuePositiveInt"] == 1
    assert late["Condition/d1-e2"]["extension"][0]["valuePositiveInt"] == 2
    assert late["Encounter/e2"]["hospitalization"]["dischargeDisposition"]["text"] == "home"
    assert late["Condition/d2"]["clinicalStatus"]["coding"][0]["code"] == "active"
    assert at("06-10 00:00")["Condition/d2"]["clinicalStatus"]["coding"][0]["code"] == "resolved"


def test_results_keep_their_words_flags_and_parts() -> None:
    there = at("06-30 00:00")
    assert str(there["Observation/l1"]["valueQuantity"]["value"]) == "1.90"
    assert there["Observation/l1"]["interpretation"][0]["coding"][0]["code"] == "H"
    assert there["Observation/l2"]["interpretation"][0]["coding"][0]["code"] == "L"
    assert there["Observation/l29"]["valueQuantity"]["comparator"] == "<"
    pressure = there["Observation/l28"]["component"]
    assert [str(part["valueQuantity"]["value"]) for part in pressure] == ["92", "58"]
    assert there["Observation/l28"]["category"][0]["coding"][0]["code"] == "vital-signs"


def test_the_tools_find_what_the_hospital_charts() -> None:
    assert "Creatinine" in call("06-05 12:00", "Observation.search", code="Cr")
    assert "92/58" in call("06-05 12:00", "Observation.search", code="blood pressure")
    assert "ceftriaxone" in call("06-05 12:00", "Observation.search", category="microbiology")
    assert "smoker" in call("06-05 12:00", "Observation.search", code="tobacco smoking status")
    assert "consolidation" in call("06-05 12:00", "DiagnosticReport.search", report_type="X-ray")
    assert "Hospital Course" in call("06-05 13:30", "DocumentReference.search", type_code="discharge-summary")
    assert "two weeks" in call("06-05 12:00", "CarePlan.search", category="discharge-planning")
    assert "refused" in call("06-05 12:00", "MedicationAdministration.search", medication="azithromycin")
    assert "J18.9" in call("06-05 12:00", "Condition.search", code="pneumonia")
    stay = call("06-05 12:00", "Observation.search", code="sodium", hadm_id=f"{fixture.PATIENT}-e2")
    assert stay.count("Sodium") >= 3


def test_provenance_is_asked_both_ways() -> None:
    table = Provenance(charted().provenance)
    keys = {f"{one['resourceType']}/{one['id']}" for one, _ in charted().builder.resources()}
    assert set(table.keys()) == keys, "every resource has a trace, and no trace is of nothing"
    key = f"DocumentReference/{fixture.PATIENT}-n1-history-of-present-illness"
    resource = next(one for one, _ in charted().builder.resources() if key.endswith(one["id"]))
    text = document_text(resource)
    assert text is not None
    text = text.partition(":\n")[2]  # the title that reading puts before the text
    said = {text[trace.start : trace.end]: trace.facts for trace in table.sentences(key)}
    assert said["He denies chest pain."] == ("s3",)
    assert table.facts(key, at=text.index("denies")) == ("s3",)
    assert f"DiagnosticReport/{fixture.PATIENT}-im1" in {trace.key for trace in table.traces("s2")}
    for one, _ in charted().builder.resources():
        report = f"DiagnosticReport/{one['id']}"
        for trace in table.sentences(report):
            assert (document_text(one) or "")[trace.start : trace.end].endswith(".")


def test_templates_give_the_same_chart() -> None:
    plain = charted().packed()
    for _ in range(3):  # the first rounds make the templates
        swift = chart_record(fixture.make_record(), swift=True)
        assert swift.packed() == plain
    assert sum(map(len, swift.sheaves)) > 5


def test_a_study_without_report_and_a_foreign_stay_are_refused() -> None:
    record = fixture.make_record()
    with pytest.raises(DataError, match="study im1 has no report"):
        chart_record(replace(record, reports=()))
    first, *rest = record.life.results
    wrong = replace(record.life, results=(replace(first, encounter="e9"), *rest))
    with pytest.raises(DataError, match="`e9`"):
        chart_record(replace(record, life=wrong))


def _tampered(life: Any, cut: Instant) -> Any:
    """Return the life with everything known only after `cut` changed."""
    results = tuple(
        replace(one, text="777" if "/" not in one.text else "77/7") if one.known_at > cut else one
        for one in life.results
    )
    prescriptions = tuple(
        replace(one, stop=NEVER // 8, ended="completed", stop_reason=None)
        if one.stop is not None and one.known_at <= cut < one.stop
        else replace(one, name="other", dose="9 g") if one.known_at > cut else one
        for one in life.prescriptions
    )  # fmt: skip
    illnesses = tuple(
        replace(one, title="Other", code="R69") if one.known_at > cut
        else replace(one, resolved=None) if one.resolved is not None and one.resolved > cut else one
        for one in life.illnesses
    )  # fmt: skip
    stays = tuple(
        replace(one, end=one.end + 1_000_000, disposition="hospice") if one.end > cut else one for one in life.stays
    )
    cultures = tuple(
        replace(one, stages=tuple(replace(s, text="changed") if s.at > cut else s for s in one.stages),
                susceptibilities=() if one.stages[-1].at > cut else one.susceptibilities)
        for one in life.cultures
    )  # fmt: skip
    doses = tuple(replace(one, status="held") if one.at > cut else one for one in life.doses)
    return replace(
        life, results=results, prescriptions=prescriptions, illnesses=illnesses, stays=stays, cultures=cultures,
        doses=doses,
    )  # fmt: skip


@pytest.mark.parametrize(
    "hour", ["03-01 09:15", "06-02 05:45", "06-02 06:55", "06-02 12:00", "06-03 07:00", "06-04 09:00", "06-05 13:59"]
)
def test_no_later_fact_shows(hour: str) -> None:
    cut = when(hour)
    record = fixture.make_record()
    notes = tuple(
        replace(note, title="changed", parts=tuple(replace(part, header="changed") for part in note.parts))
        if note.stored > cut
        else note
        for note in record.notes
    )
    changed = chart_record(replace(record, life=_tampered(record.life, cut), notes=notes)).chart()
    assert changed.hash != chart().hash
    for kind in chart().index.spans:
        mine, other = (one.at(cut) for one in (chart(), changed))
        assert list(mine.resources(kind)) == list(other.resources(kind)), f"{kind} as of {instant_text(cut)}"
