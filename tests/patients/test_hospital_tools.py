"""The 18 tools over charts of the hospital: every answer is there, says what a physician needs, and knows no future."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients import (
    TOOLS,
    ChartBuilder,
    ChartStore,
    Dialogue,
    Instant,
    Interview,
    Overlay,
    Snapshot,
    ToolCall,
    ToolContext,
    build_hospital,
    run_tool,
)
from wardround.patients.chart import Chart, memory_chart
from wardround.patients.hospital.charting import chart_record
from wardround.patients.hospital.life import Life, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.writing import write_record
from wardround.patients.packing import pack

SEED, PATIENTS = 11, 10
LATIN = re.compile(r"[A-Za-z]")

Visit = tuple[Life, Stay]


def _last_stay(life: Life) -> Stay:
    """The last hospital stay, else the last visit of any kind."""
    wards = [stay for stay in life.stays if stay.kind == "ward"]
    return max(wards or life.stays, key=lambda stay: stay.end)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChartStore]:
    path = Path(tmp_path_factory.mktemp("tools")) / "charts.sqlite"
    build_hospital(path, SEED, range(PATIENTS), flaws="clean")
    with ChartStore.open(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def visits() -> list[Visit]:
    lives = [make_life(SEED, index) for index in range(PATIENTS)]
    return [(life, _last_stay(life)) for life in lives]


def context_of(store: ChartStore, life: Life, stay: Stay, at: Instant) -> ToolContext:
    snapshot = store.chart(life.patient_id).at(at)
    encounter = f"{life.patient_id}-{stay.id}"
    interview = store.interviews(life.patient_id)[encounter]
    return ToolContext(Overlay(snapshot), Dialogue(interview), life.patient_id, "s-1", encounter=encounter)


def rows(context: ToolContext, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """Every row of a search, as column → value; pages are cut at 100 rows."""
    count = arguments.pop("count", 100)
    call = ToolCall(tool, {"subject_id": context.subject_id, "_count": count, **arguments})
    result = run_tool(context, call)
    assert result.ok, result.text
    table = orjson.loads(result.text)
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def ask(context: ToolContext, tool: str, **arguments: Any) -> Any:
    return run_tool(context, ToolCall(tool, arguments))


READS: list[tuple[str, dict[str, Any], int]] = [
    ("Encounter.search", {}, 10), ("Condition.search", {}, 10), ("Observation.search", {"category": "laboratory"}, 9),
    ("Observation.search", {"category": "vital-signs"}, 10), ("Observation.search", {"category": "microbiology"}, 3),
    ("Observation.search", {"code": "potassium"}, 9), ("Observation.search", {"code": "blood pressure"}, 10),
    ("MedicationRequest.search", {}, 10), ("MedicationRequest.search", {"status": "active"}, 7),
    ("MedicationAdministration.search", {}, 8), ("DiagnosticReport.search", {}, 8),
    ("DiagnosticReport.search", {"report_type": "X-ray"}, 5), ("DiagnosticReport.search", {"report_type": "CT"}, 2),
    ("DiagnosticReport.search", {"report_type": "Echo"}, 1), ("DocumentReference.search", {}, 10),
    ("DocumentReference.search", {"type_code": "discharge-summary"}, 7),
    ("DocumentReference.search", {"type_code": "discharge-summary", "keyword": "allergies"}, 7),
    ("CarePlan.search", {}, 9), ("CarePlan.search", {"category": "followup"}, 7),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "least"), READS)
def test_every_search_finds_something_in_most_charts(
    store: ChartStore, visits: list[Visit], tool: str, arguments: dict[str, Any], least: int
) -> None:
    found = sum(bool(rows(context_of(store, *visit, visit[1].end), tool, **arguments)) for visit in visits)
    assert found >= least


def test_the_patient_is_who_they_are(store: ChartStore, visits: list[Visit]) -> None:
    for life, stay in visits:
        read = ask(context_of(store, life, stay, stay.end), "Patient.read", subject_id=life.patient_id)
        table = orjson.loads(read.text)
        (row,) = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        assert life.person.sex in row.values() and life.person.birth_date in row.values()


def test_orders_say_drug_dose_route_frequency_and_status(store: ChartStore, visits: list[Visit]) -> None:
    for life, stay in visits:
        known = {f"{life.patient_id}-{one.id}": one for one in life.prescriptions if one.known_at <= stay.end}
        found = rows(context_of(store, life, stay, stay.end), "MedicationRequest.search")
        assert {row["id"] for row in found} == set(known) or len(found) == 100
        for row in found:
            order = known[row["id"]]
            assert (row["medication"], row["route"]) == (order.name, order.route)
            assert row["dose"].replace(",", "") == order.dose.replace(",", "")
            assert row["frequency"].startswith(order.frequency)
            running = order.stop is None or order.stop > stay.end
            assert (row["status"] == "active") is running, row
            assert (row["end"] is None) is running


def test_results_are_shown_as_they_were_reported(store: ChartStore, visits: list[Visit]) -> None:
    flagged = 0
    for life, stay in visits:
        known = {f"{life.patient_id}-{one.id}": one for one in life.results if one.known_at <= stay.end}
        context = context_of(store, life, stay, stay.end)
        for row in rows(context, "Observation.search", category="laboratory"):
            if row["id"] not in known:
                continue
            result = known[row["id"]]
            assert row["name"] == result.name
            value = row["value"]
            shown = value if isinstance(value, str) else str(Decimal(orjson.dumps(value).decode()))
            same = shown == result.text
            assert same or Decimal(shown) == Decimal(result.text), row
            if result.low is not None and result.high is not None and not isinstance(value, str):
                number = Decimal(result.text)
                low, high = Decimal(result.low), Decimal(result.high)
                assert row["flag"] == ("H" if number > high else "L" if number < low else None), row
                flagged += row["flag"] is not None
        for row in rows(context, "Observation.search", code="blood pressure"):
            upper, lower = map(int, row["value"].split("/"))
            assert 20 <= lower < upper <= 300 and row["unit"] == "mmHg"
    assert flagged >= 20


def test_doses_not_given_say_why(store: ChartStore, visits: list[Visit]) -> None:
    given, why = 0, set()
    for life, stay in visits:
        known = {f"{life.patient_id}-{one.id}": one for one in life.doses if one.at <= stay.end}
        for row in rows(context_of(store, life, stay, stay.end), "MedicationAdministration.search"):
            dose = known[row["id"]]
            if dose.status == "given":
                assert row["status"] == "completed" and row["reason"] is None and row["dose"]
                given += 1
            else:
                assert row["status"] == "not-done" and row["reason"].startswith(dose.status)
                why.add(dose.status)
    assert given >= 100 and why


def test_cultures_show_organism_and_susceptibilities(store: ChartStore, visits: list[Visit]) -> None:
    tested = 0
    for life, stay in visits:
        found = rows(context_of(store, life, stay, stay.end), "Observation.search", category="microbiology")
        names = {row["id"]: row for row in found}
        for culture in life.cultures:
            if not culture.stages or culture.stages[-1].at > stay.end or culture.organism is None:
                continue
            root = f"{life.patient_id}-{culture.id}"
            assert names[f"{root}-org"]["value"]
            for drug, reading in culture.susceptibilities:
                row = names[f"{root}-s-{drug.replace('_', '-')}"]
                assert row["value"] == row["flag"] == reading
                tested += 1
    assert tested >= 5


def test_reports_are_found_by_their_kind_of_imaging(store: ChartStore, visits: list[Visit]) -> None:
    kinds = {"CT": "CT", "MRI": "MRI", "X-ray": "X-ray", "Echo": "Echo", "US": "Ultrasound"}
    found = 0
    for life, stay in visits:
        context = context_of(store, life, stay, stay.end)
        for modality, kind in kinds.items():
            made = {
                f"{life.patient_id}-{study.id}"
                for study in life.studies
                if study.modality == modality and study.known_at <= stay.end
            }
            assert made <= {row["id"] for row in rows(context, "DiagnosticReport.search", report_type=kind)}
            found += len(made)
    assert found >= 10


def test_the_principal_diagnosis_of_a_stay_has_the_first_rank(store: ChartStore, visits: list[Visit]) -> None:
    checked = 0
    for life, stay in visits:
        if not stay.diagnoses:
            continue
        context = context_of(store, life, stay, stay.end)
        found = rows(context, "Condition.search", hadm_id=f"{life.patient_id}-{stay.id}")
        first = [row for row in found if row["rank"] == 1]
        code = next(one.code for one in life.illnesses if one.id == stay.diagnoses[0])
        assert [row["code"] for row in first] == [code]
        checked += 1
    assert checked >= 8


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            "MedicationRequest.create",
            {"medication": "acetaminophen", "dose": "650 mg", "route": "oral", "frequency": "every 6 hours"},
        ),
        ("ServiceRequest.create", {"service_type": "basic metabolic panel", "priority": "routine"}),
        ("Flag.create", {"category": "safety", "code": "fall risk", "detail": "Fell at home last week."}),
    ],
)
def test_writes_are_valid_and_on_the_record(
    store: ChartStore, visits: list[Visit], tool: str, arguments: dict[str, Any]
) -> None:
    for life, stay in visits:
        context = context_of(store, life, stay, stay.end)
        result = ask(context, tool, subject_id=life.patient_id, **arguments)
        assert result.ok and result.created, result.text
        (entry,) = context.record.writes
        written = entry.resource()
        assert written["subject"] == {"reference": f"Patient/{life.patient_id}"}
        assert written["encounter"] == {"reference": f"Encounter/{context.encounter}"}


def test_the_patient_answers_every_question(store: ChartStore, visits: list[Visit]) -> None:
    asked = 0
    for life, stay in visits:
        for language in ("en", "zh"):
            context = context_of(store, life, stay, stay.end)
            context = ToolContext(context.record, context.dialogue, life.patient_id, "s-1", language=language)
            who = {"subject_id": life.patient_id, "session_id": "s-1"}
            for tool in (
                "symptom_history", "social_history", "functional_status", "pain_assessment",
            ):  # fmt: skip
                result = ask(context, f"patient.get_{tool}", **who)
                assert result.ok and len(result.text) > 5, (tool, result.text)
                assert (LATIN.search(re.sub(r"[A-Z]{2,}", "", _words(result.text))) is None) is (language == "zh"), (
                    result
                )
            for drug in {one.drug for one in life.adherence if one.encounter == stay.id}:
                result = ask(context, "patient.get_medication_adherence", **who, drug=drug.replace("_", " "))
                assert result.ok, result.text
                asked += 1
    assert asked >= 20


def _words(text: str) -> str:
    """What was said, without the frame that a tool puts around it."""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return str(said.get("reply", said)) if isinstance(said, dict) else str(said)


# -- the clock ---------------------------------------------------------------------------------------------------------


def _without_future(builder: ChartBuilder, whole: Chart, at: Instant) -> Chart:
    """A chart that holds nothing but what is known at an instant, in the form in which it is known."""
    known = {f"{one['resourceType']}/{one['id']}": since for one, since in builder.resources()}
    snapshot = whole.at(at)
    kinds = sorted({key.partition("/")[0] for key in known})
    kept = [(one, known[f"{kind}/{one['id']}"]) for kind in kinds for one in snapshot.resources(kind)]
    return memory_chart(pack(whole.patient_id, kept, whole.licence))


def _questions(snapshot: Snapshot) -> Iterator[tuple[str, dict[str, Any]]]:
    stays = [one["id"] for one in snapshot.resources("Encounter")]
    for name, tool in TOOLS.items():
        if tool.effect != "read":
            continue
        yield name, {}
        for stay in stays if name != "Patient.read" else ():
            yield name, {"hadm_id": stay, "_count": 100}
        for argument in {"code", "medication"} & set(tool.schema["properties"]):
            for word in ("creatinine", "insulin", "blood culture", "heart failure", "pain", "zzz"):
                yield name, {argument: word}
        for argument in {"keyword"} & set(tool.schema["properties"]):
            yield name, {argument: "discharge"}
        if name == "Observation.search":
            for category in ("laboratory", "microbiology", "vital-signs"):
                yield name, {"category": category, "_count": 100}
        if name == "MedicationRequest.search":
            yield from ((name, {"status": status}) for status in ("active", "completed", "stopped"))


@pytest.mark.parametrize("index", range(5))
def test_what_comes_later_changes_no_answer(index: int) -> None:
    """Anchors within the stays: with the rest of the life taken out of the chart, every tool says the same."""
    life = make_life(SEED, index)
    builder = chart_record(write_record(life)).builder
    whole = builder.chart()
    anchors = [stay.start + (stay.end - stay.start) * 2 // 5 for stay in life.stays if stay.kind in ("ward", "icu")]
    for at in (*anchors[-2:], life.stays[0].end):
        short = _without_future(builder, whole, at)
        answers = []
        for chart in (whole, short):
            for view in ("compact", "fhir"):
                record = Overlay(chart.at(at))
                context = ToolContext(record, Dialogue(Interview()), life.patient_id, "s", view=view)
                for name, arguments in _questions(whole.at(at)):
                    call = ToolCall(name, {"subject_id": life.patient_id, **arguments})
                    answers.append((name, arguments, view, run_tool(context, call).text))
        half = len(answers) // 2
        for mine, other in zip(answers[:half], answers[half:], strict=True):
            assert mine == other
        assert half > 60
