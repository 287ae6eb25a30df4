"""ChartBuilder: everything it makes is valid R4 and known when it should be."""

from __future__ import annotations

import orjson
import pytest

from wardround.patients import Chart, ChartBuilder, DataError, Search, ViewFilter, parse_instant, validate
from wardround.patients.fhir import check_model


def build() -> ChartBuilder:
    chart = ChartBuilder(
        "p", sex="female", birth_date="2100-02-03", name="Ann Lee", language="English", marital_status="Married",
        race="White", deceased="2180-07-01",
    )  # fmt: skip
    chart.encounter("e1", "IMP", "2180-05-01 07:00", "2180-05-09", type="Medicine", reason="fever", disposition="Home")
    chart.condition("Sepsis", code="A41.9", onset="2180-05-01", encounter="e1", rank=1)
    chart.condition("Appendicitis", onset="2160", known_at="2180-05-01 08:00", clinical_status="resolved")
    chart.condition("Delirium", onset="2180-05-02", abatement="2180-05-04", clinical_status="resolved")
    chart.lab(
        "Sodium", "140.0", "mmol/L", at="2180-05-02 06:00", stored="2180-05-02 07:30", low="133", high="145",
        loinc="2951-2", encounter="e1", note="slightly hemolyzed",
    )  # fmt: skip
    chart.lab("Platelets", 90, "K/uL", at="2180-05-02 06:00", flag="L")
    chart.vital("Blood pressure", "110/70", "mmHg", at="2180-05-02 08:00")
    chart.vital("Heart rate", "88", "/min", at="2180-05-02 08:00", loinc="8867-4")
    chart.medication(
        "Vancomycin", dose="1000 mg", route="IV", frequency="q12h", start="2180-05-01 09:00", stop="2180-05-04 09:00",
        stopped=True, status_reason="creatinine rising", encounter="e1", category="inpatient", reason="sepsis",
    )  # fmt: skip
    chart.medication("Heparin", dose="per protocol", start="2180-05-01 10:00", status="on-hold")
    chart.administration(
        "Vancomycin", at="2180-05-01 10:00", dose="1000 mg", route="IV", request="rx-1", encounter="e1"
    )
    chart.administration("Vancomycin", at="2180-05-01 22:00", status="not-done", reason="refused")
    chart.allergy("Penicillin", recorded="2170", reaction="rash", criticality="high")
    chart.procedure("Central line", at="2180-05-01 11:00", end="2180-05-01 12:00", outcome="well", encounter="e1")
    chart.procedure("Appendectomy", at="2160-03")
    chart.report("CT chest", "No embolus.", at="2180-05-01 13:00", issued="2180-05-01 15:00", conclusion="clear")
    chart.note("Progress note", {"Course": "better", "Plan": "stop"}, at="2180-05-02 10:00", encounter="e1", code="pn")
    chart.note("Letter", "Dear doctor", at="2180-05-02 10:00")
    chart.care_plan("Home", "with help", at="2180-05-03 10:00", end="2180-05-09")
    return chart


@pytest.fixture(scope="module")
def chart() -> Chart:
    return build().chart()


def shown(chart: Chart, at: str, kind: str) -> list[str]:
    return [entry.id for entry in chart.at(parse_instant(at)).search(Search(kind)).entries()]


def test_everything_is_valid_at_any_time() -> None:
    chart = build().chart()
    for at in ("2180-05-01T12:00:00Z", "2180-05-03T12:00:00Z", "2190"):
        snapshot = chart.at(parse_instant(at))
        for kind in chart.index.spans:
            for entry in snapshot.search(Search(kind)).entries():
                assert validate(entry.body) == [], entry
                assert check_model(orjson.loads(entry.body)) == [], entry


@pytest.mark.parametrize(
    ("kind", "identity", "before", "since"),
    [
        ("Observation", "lab-1", "2180-05-02T07:29:59Z", "2180-05-02T07:30:00Z"),
        ("Observation", "lab-2", "2180-05-02T05:59:59Z", "2180-05-02T06:00:00Z"),
        ("Encounter", "e1", "2180-05-01T06:59:59Z", "2180-05-01T07:00:00Z"),
        ("Condition", "condition-1", "2180-05-01T23:59:58Z", "2180-05-01T23:59:59Z"),
        ("Condition", "condition-2", "2180-05-01T07:59:59Z", "2180-05-01T08:00:00Z"),
        ("MedicationRequest", "rx-1", "2180-05-01T08:59:59Z", "2180-05-01T09:00:00Z"),
        ("DiagnosticReport", "report-1", "2180-05-01T14:59:59Z", "2180-05-01T15:00:00Z"),
        ("AllergyIntolerance", "allergy-1", "2170-12-31T23:59:58Z", "2170-12-31T23:59:59Z"),
        ("Procedure", "procedure-2", "2160-03-31T23:59:58Z", "2160-03-31T23:59:59Z"),
    ],
)
def test_known_when_it_should_be(chart: Chart, kind: str, identity: str, before: str, since: str) -> None:
    assert identity not in shown(chart, before, kind)
    assert identity in shown(chart, since, kind)


def test_statuses_follow_the_clock(chart: Chart) -> None:
    def status(kind: str, identity: str, at: str) -> str:
        entry = chart.at(parse_instant(at)).read(kind, identity)
        assert entry is not None
        resource = entry.resource()
        return str(resource["clinicalStatus"]["coding"][0]["code"] if kind == "Condition" else resource["status"])

    assert status("MedicationRequest", "rx-1", "2180-05-04T08:59:59Z") == "active"
    assert status("MedicationRequest", "rx-1", "2180-05-04T09:00:00Z") == "stopped"
    assert status("MedicationRequest", "rx-2", "2190") == "on-hold"
    assert status("Encounter", "e1", "2180-05-09T12:00:00Z") == "in-progress"
    assert status("Encounter", "e1", "2180-05-09T23:59:59Z") == "finished"
    assert status("Condition", "condition-2", "2180-05-02") == "resolved"
    assert status("Condition", "condition-3", "2180-05-03") == "active"
    assert status("Condition", "condition-3", "2180-05-05") == "resolved"


def test_death_is_not_known_before(chart: Chart) -> None:
    before, after = (chart.at(parse_instant(at)).read("Patient", "p") for at in ("2180-06-30", "2180-07-02"))
    assert before is not None and b"deceased" not in before.body
    assert after is not None and b"2180-07-01" in after.body and b"2180-07-01" in after.row


def test_units_get_ucum_codes_where_they_are_known(chart: Chart) -> None:
    snapshot = chart.at(parse_instant("2190"))
    quantities = {
        resource["id"]: resource["valueQuantity"]
        for resource in snapshot.resources("Observation") if "valueQuantity" in resource
    }  # fmt: skip
    assert quantities["lab-1"]["code"] == "mmol/L"
    assert quantities["lab-2"]["unit"] == "K/uL" and quantities["lab-2"]["code"] == "10*3/uL"


def test_views_hide_sections_types_and_stays(chart: Chart) -> None:
    now = parse_instant("2180-05-03")
    plain = chart.at(now)
    cut = chart.at(now, ViewFilter(sections=("PLAN",)))
    note, whole = cut.read("DocumentReference", "note-1"), plain.read("DocumentReference", "note-1")
    assert note is not None and whole is not None
    assert b"stop" not in note.row and b"better" in note.row and b"stop" in whole.row
    assert b'"Plan"' not in note.body and validate(note.body) == []
    assert chart.at(now, ViewFilter(sections=("plan", "course"))).read("DocumentReference", "note-1") is None
    assert cut.search(Search("DocumentReference", keyword="stop")).total == 0
    hidden = chart.at(now, ViewFilter(types=("Observation",), encounters=("e1",)))
    assert hidden.count("Observation") == 0 and hidden.read("Observation", "lab-1") is None
    assert hidden.count("Encounter") == 0
    assert [entry.id for entry in hidden.search(Search("Condition")).entries()] == ["condition-3", "condition-2"]
    assert hidden.names("MedicationRequest") == ("Heparin",)


def test_faults_are_named() -> None:
    chart = ChartBuilder("p")
    with pytest.raises(DataError, match="class `INP`"):
        chart.encounter("e", "INP", "2180")
    with pytest.raises(DataError, match="never visible"):
        chart.condition("Gout")
    chart.lab("Sodium", "1", at="2180-02-30", known_at=0)
    with pytest.raises(DataError, match=r"Observation/lab-1.*effectiveDateTime.*real date"):
        chart.chart()


def test_a_field_may_be_marked_as_later() -> None:
    chart = ChartBuilder("p")
    chart.lab("Culture", "E. coli", at="2180-05-01 06:00")
    chart.later("valueString", "2180-05-03 06:00")
    rows = [
        [orjson.loads(row)[3] for row in chart.chart().at(parse_instant(at)).search(Search("Observation")).rows()]
        for at in ("2180-05-02", "2180-05-04")
    ]
    assert rows == [[None], ["E. coli"]]
