"""The 18 tools: names, schemas, mistakes, reads."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import (
    TOOLS,
    Dialogue,
    Fact,
    Interview,
    ToolCall,
    ToolContext,
    find_tool,
    parse_instant,
    run_tool,
)
from wardround.patients.builder import ChartBuilder
from wardround.patients.chart import Chart
from wardround.patients.overlay import Overlay

PUBLISHED = [
    "Patient.read",
    "Encounter.search",
    "Condition.search",
    "Observation.search",
    "MedicationRequest.search",
    "MedicationAdministration.search",
    "DiagnosticReport.search",
    "DocumentReference.search",
    "CarePlan.search",
    "MedicationRequest.create",
    "ServiceRequest.create",
    "Flag.create",
    "patient.get_symptom_history",
    "patient.get_medication_adherence",
    "patient.get_social_history",
    "patient.get_functional_status",
    "patient.get_pain_assessment",
    "prepare_to_answer",
]
ANCHOR = parse_instant("2180-05-07T12:00:00Z")


def build() -> ChartBuilder:
    """Return an invented patient with two stays, labs, orders and diagnoses."""
    builder = ChartBuilder("10000032", sex="female", birth_date="2120-02-01")
    builder.encounter("200", "IMP", "2180-05-01 10:00", "2180-05-09 10:00")
    builder.encounter("100", "EMER", "2179-01-01 10:00", "2179-01-02 10:00")
    builder.condition("Chronic kidney disease, stage 3", code="N18.3", known_at="2179-01-02", encounter="100", rank=2)
    builder.condition("Essential (primary) hypertension", code="I10", known_at="2179-01-02", encounter="100", rank=1)
    for day in range(1, 8):
        at = f"2180-05-0{day} 06:00"
        builder.lab("Creatinine", f"1.{day}0", "mg/dL", at=at, low="0.5", high="1.1", loinc="2160-0", encounter="200")
        builder.lab("Potassium", f"4.{day}", "mmol/L", at=at, loinc="2823-3", encounter="200", id=f"k-{day}")
    builder.lab("Creatinine, Urine", "80", "mg/dL", at="2180-05-02 06:00", loinc="2161-8", encounter="200")
    builder.lab("Chromium", "0.4", "ug/L", at="2180-05-02 06:00", encounter="200")
    builder.lab("Blasts", "0", "%", at="2180-05-02 06:00", encounter="200")
    builder.vital("Heart rate", "88", "/min", at="2180-05-02 06:00", encounter="200")
    builder.medication(
        "Metformin 500 mg tablet", dose="500 mg", route="oral", frequency="twice daily", start="2180-05-01 12:00",
        encounter="200", id="m-metformin",
    )  # fmt: skip
    builder.medication(
        "Coumadin", dose="5 mg", route="oral", frequency="daily", start="2180-05-02 12:00", encounter="200",
        id="m-warfarin",
    )  # fmt: skip
    builder.medication(
        "Ibuprofen", dose="400 mg", route="oral", frequency="daily", start="2179-01-01 12:00", stop="2179-01-02 09:00",
        encounter="100", id="m-ibuprofen",
    )  # fmt: skip
    return builder


@pytest.fixture(scope="module")
def chart() -> Chart:
    return build().chart()


@pytest.fixture
def context(chart: Chart) -> ToolContext:
    facts = (
        Fact(id="pain", kind="symptom", concept="abdominal_pain", source="simulated"),
        Fact(id="stop", kind="adherence", concept="metformin", drug="metformin", state="stopped", source="simulated"),
    )
    record = Overlay(chart.at(ANCHOR))
    return ToolContext(record, Dialogue(Interview(facts=facts)), "10000032", "s-1", encounter="200")


def ask(context: ToolContext, name: str, **arguments: Any) -> Any:
    if name != "prepare_to_answer":
        arguments.setdefault("subject_id", "10000032")
    if "count" in arguments:
        arguments["_count"] = arguments.pop("count")
    return run_tool(context, ToolCall(name, arguments))


def table(context: ToolContext, name: str, **arguments: Any) -> Any:
    result = ask(context, name, **arguments)
    assert result.ok, result.text
    return orjson.loads(result.text)


# -- names and schemas -------------------------------------------------------------------------------------------------


def test_the_published_names_in_order() -> None:
    assert list(TOOLS) == PUBLISHED
    assert [spec.effect for spec in TOOLS.values()] == ["read"] * 9 + ["write"] * 3 + ["ask"] * 5 + ["control"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_alias_finds_the_tool_and_suits_every_provider(name: str) -> None:
    spec = TOOLS[name]
    assert find_tool(spec.alias) is spec is find_tool(name)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", spec.alias)
    assert spec.openai()["function"]["name"] == spec.alias == spec.anthropic()["name"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_schema_is_flat(name: str) -> None:
    schema = TOOLS[name].schema
    assert set(schema) == {"type", "properties", "required"}
    assert set(schema["required"]) <= set(schema["properties"])
    for key, field in schema["properties"].items():
        assert re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", key)
        assert {"type", "description"} <= set(field) <= {"type", "description", "enum"}
        assert field["type"] in ("string", "integer")
    if name != "prepare_to_answer":
        assert "subject_id" in schema["required"]
    if name.startswith("patient."):
        assert "session_id" in schema["required"]
    orjson.dumps(schema)


def test_schema_is_the_callers_copy() -> None:
    TOOLS["Observation.search"].schema["properties"]["category"]["enum"].append("x")
    assert "x" not in TOOLS["Observation.search"].schema["properties"]["category"]["enum"]


def test_optional_arguments_of_writes() -> None:
    schema = TOOLS["MedicationRequest.create"].schema
    assert set(schema["required"]) == {"subject_id", "medication", "dose", "route", "frequency"}
    assert set(schema["properties"]) - set(schema["required"]) == {"indication", "duration_days", "note"}
    schema = TOOLS["ServiceRequest.create"].schema
    assert schema["properties"]["priority"]["enum"] == ["routine", "urgent", "asap"]
    assert set(schema["properties"]) - set(schema["required"]) == {"target_date", "note"}
    assert TOOLS["Flag.create"].schema["properties"]["category"]["enum"] == [
        "safety", "allergy", "administrative", "clinical",
    ]  # fmt: skip


# -- mistakes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "error", "said"),
    [
        ("Observation.serch", {}, "unknown_tool", "`Observation.search`"),
        ("zzz", {}, "unknown_tool", "prepare_to_answer"),
        ("Observation.search", "{", "bad_json", "JSON"),
        ("Observation.search", "[1]", "bad_json", "an array"),
        ("Observation.search", '{"code":"K","code":"Na"}', "bad_json", "`code` stands twice"),
        ("Observation.search", '{"code":NaN}', "bad_json", "JSON"),
        ("Observation.search", "[" * 500_000, "bad_json", "JSON"),
        ("Observation.search", {}, "bad_arguments", "`subject_id` is missing"),
        ("Observation.search", {"codes": "K"}, "bad_arguments", "did you mean `code`"),
        ("Observation.search", {"_count": "many"}, "bad_arguments", "`_count` = `many`: expected an integer"),
        ("Observation.search", {"_count": True}, "bad_arguments", "expected an integer"),
        ("Observation.search", {"_count": -1}, "bad_arguments", "at least 0"),
        ("Observation.search", {"code": ["K"]}, "bad_arguments", "`code`: expected text"),
        ("Observation.search", {"code": "x" * 201}, "bad_arguments", "at most 200 characters"),
        ("Observation.search", {"code": "\ud800"}, "bad_arguments", "broken characters"),
        ("Observation.search", {"category": "urine"}, "bad_arguments", "'laboratory'"),
        ("Observation.search", {"date_from": "2180-02-30"}, "bad_arguments", "not a date that exists"),
        ("Observation.search", {"date_from": "yesterday"}, "bad_arguments", "YYYY-MM-DD"),
        ("Observation.search", {"date_from": "2181", "date_to": "2180"}, "bad_arguments", "lies after"),
        ("Observation.search", {"subject_id": "10000033"}, "wrong_patient", "`10000032`"),
        ("Observation.search", {"subject_id": 10**5000}, "bad_arguments", "expected text"),
        ("Observation.search", {"hadm_id": "999"}, "unknown_encounter", "`200`, `100`"),
        ("MedicationRequest.create", {"medication": "x", "dose": 250, "route": "oral", "frequency": "daily"},
         "bad_arguments", "`dose` = 250: expected text"),
        ("ServiceRequest.create", {"service_type": "INR", "priority": "stat"}, "bad_arguments", "'asap'"),
        ("ServiceRequest.create", {"service_type": "INR", "priority": "asap", "target_date": "2180-05-06"},
         "bad_arguments", "is past"),
        ("patient.get_social_history", {"session_id": "other"}, "wrong_session", "`s-1`"),
    ],
)  # fmt: skip
def test_mistakes_are_observations(context: ToolContext, name: str, arguments: Any, error: str, said: str) -> None:
    if isinstance(arguments, dict) and arguments != {}:
        arguments = {"subject_id": "10000032", **arguments}
    result = run_tool(context, ToolCall(name, arguments))
    assert (result.ok, result.error) == (False, error), result.text
    assert said in result.text
    assert len(result.text) < 600
    assert result.text.isprintable()
    result.text.encode()
    orjson.dumps([dict(result.arguments), dict(result.notes)])
    assert context.record.writes == ()
    assert not context.dialogue.told


def test_only_offered_tools_exist(context: ToolContext) -> None:
    result = run_tool(context, ToolCall("Flag_create", {}), allowed=("Patient.read", "prepare_to_answer"))
    assert result.error == "unknown_tool"
    assert "Patient.read" in result.text
    assert "Observation" not in result.text


def test_kind_readings(context: ToolContext) -> None:
    plain = ask(context, "Observation.search", code="K", count=2, category="laboratory", hadm_id="200")
    kind = run_tool(
        context,
        ToolCall(
            "Observation_search",
            '{"subject_id": 10000032, "code": " K ", "_count": "2", "category": "Laboratory", "hadm_id": 200, '
            '"date_from": null, "date_to": ""}',
        ),
    )
    assert kind.ok
    assert kind.text == plain.text
    assert kind.arguments == plain.arguments
    assert kind.tool == "Observation.search"
    assert ask(context, "Patient.read", subject_id="Patient/10000032").ok


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["subject_id", "session_id", "code", "_count", "hadm_id", "drug", "query", "priority", "dose", ""]
)


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(PUBLISHED) | st.text(max_size=30),
    arguments=st.dictionaries(KEYS | st.text(max_size=10), JSON, max_size=5) | st.text(max_size=60),
    mine=st.booleans(),
)
def test_no_call_ever_raises(chart: Chart, name: str, arguments: Any, mine: bool) -> None:
    context = ToolContext(Overlay(chart.at(ANCHOR)), Dialogue(Interview()), "10000032", "s-1")
    if mine and isinstance(arguments, dict):
        arguments |= {"subject_id": "10000032", "session_id": "s-1"}
    result = run_tool(context, ToolCall(name, arguments))
    assert result.ok == (result.error is None)
    assert result.text
    result.text.encode()
    spec = find_tool(name)
    if result.ok and spec is not None and isinstance(arguments, dict):
        assert result.arguments == spec.model.model_validate(arguments).model_dump(by_alias=True, exclude_none=True)


# -- reads -------------------------------------------------------------------------------------------------------------


def test_compact_shape_newest_first_and_bounded(context: ToolContext) -> None:
    page = table(context, "Observation.search", code="creatinine", count=3)
    assert list(page) == ["total", "matched", "columns", "rows", "more", "note"]
    assert (page["total"], page["more"], page["matched"]) == (7, 4, ["Creatinine"])
    at = page["columns"].index("value")
    assert [row[at] for row in page["rows"]] == [1.7, 1.6, 1.5]
    assert "1.70" in ask(context, "Observation.search", code="creatinine").text
    assert "raise _count" in page["note"]
    assert table(context, "Observation.search", count=0)["rows"] == []
    assert table(context, "Observation.search", count=5000)["more"] == 0


@pytest.mark.parametrize(
    ("code", "matched"),
    [
        ("Cr", ["Creatinine"]),
        ("CREATININE", ["Creatinine"]),
        ("SCr", ["Creatinine"]),
        ("latest creatinine level", ["Creatinine"]),
        ("肌酐", ["Creatinine"]),
        ("2160-0", ["Creatinine"]),
        ("K", ["Potassium"]),
        ("K, Cr", ["Creatinine", "Potassium"]),
        ("potassium and creatinine", ["Creatinine", "Potassium"]),
        ("blasts", ["Blasts"]),
        ("Creatinine, Urine", ["Creatinine, Urine"]),
        ("Chromium", ["Chromium"]),
    ],
)
def test_free_text_finds_the_lab_that_is_meant(context: ToolContext, code: str, matched: list[str]) -> None:
    assert table(context, "Observation.search", code=code)["matched"] == matched


def test_narrower_tests_answer_only_where_the_test_itself_is_absent() -> None:
    builder = build()
    builder.lab("Troponin T", "0.02", "ng/mL", at="2180-05-07 06:00", loinc="6598-7", encounter="200")
    builder.lab("eAG", "120", "mg/dL", at="2180-05-07 06:00", encounter="200")
    builder.lab("Glucose", "110", "mg/dL", at="2180-05-07 06:00", loinc="2345-7", encounter="200")
    context = ToolContext(Overlay(builder.chart().at(ANCHOR)), Dialogue(Interview()), "10000032", "s-1")
    assert table(context, "Observation.search", code="troponin")["matched"] == ["Troponin T"]
    assert table(context, "Observation.search", code="glucose")["matched"] == ["Glucose"]


def test_what_is_matched_is_what_is_found_when_labs_share_a_code() -> None:
    builder = build()
    builder.lab("Creatinine, Whole Blood", "9.9", "mg/dL", at="2180-05-07 06:00", loinc="2160-0", encounter="200")
    context = ToolContext(Overlay(builder.chart().at(ANCHOR)), Dialogue(Interview()), "10000032", "s-1")
    page = table(context, "Observation.search", code="creatinine")
    assert page["matched"] == ["Creatinine", "Creatinine, Whole Blood"]
    assert page["total"] == 8
    page = table(context, "Observation.search", code="2161-8")
    assert page["matched"] == ["Creatinine, Urine"]
    assert page["total"] == 1


@pytest.mark.parametrize("code", ["creatinin", "romium", "reat", "2345-7", "ferritin", "asdf", "%", "*", "C.*"])
def test_unmatched_code_gives_nothing_but_names(context: ToolContext, code: str) -> None:
    page = table(context, "Observation.search", code=code)
    assert page["total"] == 0
    assert page["rows"] == []
    assert page["nearest"]
    assert code in page["note"]


def test_typing_error_is_named_not_corrected(context: ToolContext) -> None:
    assert table(context, "Observation.search", code="creatinin")["nearest"][0] == "Creatinine"


def test_partial_dates_bound_inclusively(context: ToolContext) -> None:
    def days(**dates: str) -> int:
        return int(table(context, "Observation.search", code="K", **dates)["total"])

    assert days(date_from="2180-05-03") == 5
    assert days(date_to="2180-05-03") == 3
    assert days(date_from="2180-05-03", date_to="2180-05-03") == 1
    assert days(date_from="2180", date_to="2180-05") == 7
    assert days(date_from="2180-05-03T06:00:00Z", date_to="2180-05-03 06:00:00") == 1


def test_empty_by_filter_says_so(context: ToolContext) -> None:
    page = table(context, "Observation.search", code="K", date_to="2179")
    assert page["total"] == 0
    assert "7 without them" in page["note"]
    assert "2180-05-07T06:00:00Z" in page["note"]


def test_categories(context: ToolContext) -> None:
    assert table(context, "Observation.search", category="vital-signs")["total"] == 1
    assert table(context, "Observation.search", category="laboratory")["total"] == 17
    empty = table(context, "Observation.search", category="vital-signs", code="creatinine")
    assert empty["nearest"] == ["Heart rate"]


def test_the_principal_diagnosis_of_a_stay_stands_first_whatever_the_dates() -> None:
    builder = ChartBuilder("10000032", sex="female", birth_date="2120-02-01")
    builder.encounter("100", "IMP", "2180-05-01 10:00", "2180-05-05 10:00")
    for place, (name, day) in enumerate((("Sepsis", "01"), ("Pneumonia", "02"), ("Delirium", "04")), 1):
        builder.condition(name, onset=f"2180-05-{day}", rank=place, encounter="100", id=f"c{place}")
    builder.condition("Hypertension", onset="2180-05-03", encounter="100", id="c4")
    record = Overlay(builder.chart().at(parse_instant("2180-05-07T12:00:00Z")))
    context = ToolContext(record, Dialogue(Interview()), "10000032", "s-1")
    page = table(context, "Condition.search", hadm_id="100")
    names = [row[page["columns"].index("name")] for row in page["rows"]]
    assert names == ["Sepsis", "Pneumonia", "Delirium", "Hypertension"]
    short = table(context, "Condition.search", hadm_id="100", _count=1)
    assert [row[short["columns"].index("name")] for row in short["rows"]] == ["Sepsis"]
    assert short["total"] == 4
    everywhere = table(context, "Condition.search")  # over stays: newest first
    assert everywhere["rows"][0][everywhere["columns"].index("name")] == "Delirium"


def test_diagnoses_by_code_prefix_name_and_abbreviation(context: ToolContext) -> None:
    every = table(context, "Condition.search")
    rank = every["columns"].index("rank")
    assert [row[rank] for row in every["rows"]] == [1, 2]
    for code in ("N18", "N183", "n18.3", "CKD", "chronic kidney disease", "慢性肾脏病"):
        assert table(context, "Condition.search", code=code)["matched"] == ["Chronic kidney disease, stage 3"], code
    assert table(context, "Condition.search", code="N19")["total"] == 0
    assert table(context, "Condition.search", clinical_status="resolved")["total"] == 0


def test_medications_by_brand_class_and_part(context: ToolContext) -> None:
    def names(medication: str, **more: str) -> list[str]:
        return list(table(context, "MedicationRequest.search", medication=medication, **more)["matched"])

    assert (
        names("Glucophage") == names("metformin") == names("metf") == names("二甲双胍") == ["Metformin 500 mg tablet"]
    )
    assert names("warfarin") == names("anticoagulant") == ["Coumadin"]
    assert table(context, "MedicationRequest.search", medication="etform")["total"] == 0
    assert table(context, "MedicationRequest.search", status="active")["total"] == 2
    assert table(context, "MedicationRequest.search", medication="NSAID", status="active")["total"] == 0
    assert table(context, "MedicationRequest.search", medication="NSAID", status="completed")["total"] == 1


def test_stay_filter(context: ToolContext) -> None:
    assert table(context, "Encounter.search")["total"] == 2
    assert table(context, "Encounter.search", hadm_id="100")["rows"][0][0] == "100"
    assert table(context, "MedicationRequest.search", hadm_id="100")["total"] == 1


def test_types_never_imported_say_so(chart: Chart) -> None:
    from wardround.patients.chart import memory_chart

    bare = memory_chart(build().packed(), frozenset({"Patient", "Encounter", "Observation"}))
    context = ToolContext(Overlay(bare.at(ANCHOR)), Dialogue(Interview()), "10000032", "s-1")
    for name in PUBLISHED[5:9]:
        page = table(context, name)
        assert page["total"] == 0
        assert "was imported" in page["note"]
    assert "was imported" in table(context, "DiagnosticReport.search", report_type="CT")["note"]


def test_reports_and_notes_by_type_and_words() -> None:
    builder = build()
    builder.report("CT CHEST W/CONTRAST", "No embolus.", at="2180-05-03 10:00", encounter="200")
    builder.report("CHEST (PORTABLE AP)", "Clear lungs.", at="2180-05-04 10:00", encounter="200")
    builder.note("Discharge summary", "Take warfarin daily.", at="2180-05-05 10:00", encounter="200")
    context = ToolContext(Overlay(builder.chart().at(ANCHOR)), Dialogue(Interview()), "10000032", "s-1")
    assert table(context, "DiagnosticReport.search")["total"] == 2
    assert table(context, "DiagnosticReport.search", report_type="ct")["total"] == 1
    assert table(context, "DiagnosticReport.search", report_type="X ray")["total"] == 1
    assert table(context, "DiagnosticReport.search", report_type="MRI")["total"] == 0
    assert table(context, "DocumentReference.search", type_code="discharge summary", keyword="WARFARIN")["total"] == 1
    assert table(context, "DocumentReference.search", keyword="digoxin")["total"] == 0


def test_fhir_view_is_a_searchset(context: ToolContext) -> None:
    context.view = "fhir"
    result = ask(context, "Observation.search", code="K", count=2)
    bundle = orjson.loads(result.text)
    assert (bundle["resourceType"], bundle["type"], bundle["total"]) == ("Bundle", "searchset", 7)
    assert bundle["link"][0]["relation"] == "self"
    assert bundle["link"][0]["url"].endswith("Observation?patient=10000032&code=K&_count=2")
    matches = [entry for entry in bundle["entry"] if entry["search"]["mode"] == "match"]
    assert [entry["resource"]["id"] for entry in matches] == ["k-7", "k-6"]
    assert all(entry["fullUrl"].endswith("Observation/" + entry["resource"]["id"]) for entry in matches)
    assert result.resources == ("Observation/k-7", "Observation/k-6")
    whole = orjson.loads(ask(context, "Condition.search").text)
    assert [entry["search"]["mode"] for entry in whole["entry"]] == ["match", "match"]
    assert "entry" not in orjson.loads(ask(context, "Observation.search", code="K", count=0).text)
    nothing = orjson.loads(ask(context, "Observation.search", code="asdf").text)
    assert nothing["total"] == 0
    assert nothing["entry"][0]["search"]["mode"] == "outcome"


def test_same_read_same_result_and_nobody_shares_arguments(context: ToolContext) -> None:
    first = ask(context, "Observation.search", code="K")
    second = ask(context, "Observation.search", code="K")
    assert first == second
    assert isinstance(second.arguments, dict)
    second.arguments["code"] = "changed"
    assert ask(context, "Observation.search", code="K").arguments["code"] == "K"


def test_later_facts_change_nothing_that_a_read_returns() -> None:
    builder = build()
    early = Overlay(builder.chart().at(ANCHOR))
    builder.lab("Ferritin", "9", "ng/mL", at="2180-05-07 13:00", loinc="2276-4", encounter="200")
    builder.lab("Potassium", "9.9", "mmol/L", at="2180-05-07 13:00", loinc="2823-3", encounter="200")
    builder.medication("Digoxin", dose="0.125 mg", route="oral", start="2180-05-08 12:00", encounter="200")
    late = Overlay(builder.chart().at(ANCHOR))
    for name, arguments in (
        ("Observation.search", {}),
        ("Observation.search", {"code": "ferritin"}),
        ("Observation.search", {"code": "K"}),
        ("MedicationRequest.search", {"medication": "digoxin"}),
        ("Encounter.search", {}),
    ):
        texts = [
            ask(ToolContext(record, Dialogue(Interview()), "10000032", "s-1"), name, **arguments).text
            for record in (early, late)
        ]
        assert texts[0] == texts[1]
