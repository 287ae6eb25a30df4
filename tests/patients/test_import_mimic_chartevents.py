"""The ICU's charted values: vital signs, scores, assessments, copies of laboratory results. Invented rows."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import knowledge
from wardround.patients.facts import measurements
from wardround.patients.importers import _vocabulary as words
from wardround.patients.importers._mapper import PatientContext, Stay
from wardround.patients.importers._templates import Shelf
from wardround.patients.importers._values import Moment
from wardround.patients.importers.chartevents import CHART, Charted
from wardround.patients.importers.report import Tally
from wardround.patients.overlay import Overlay
from wardround.patients.resource import dump, load, stamp
from wardround.patients.slotted import Sheaf
from wardround.patients.times import parse_instant
from wardround.patients.tools.matching import choose

HEAD = "subject_id,hadm_id,stay_id,caregiver_id,charttime,storetime,itemid,value,valuenum,valueuom,warning\n"
ITEMS = (
    "itemid,label,abbreviation,linksto,category,unitname,param_type\n"
    "220045,Heart Rate,HR,chartevents,Routine Vital Signs,bpm,Numeric\n"
    "220277,O2 saturation pulseoxymetry,SpO2,chartevents,Respiratory,%,Numeric\n"
    "220179,Non Invasive Blood Pressure systolic,NBPs,chartevents,Routine Vital Signs,mmHg,Numeric\n"
    "220180,Non Invasive Blood Pressure diastolic,NBPd,chartevents,Routine Vital Signs,mmHg,Numeric\n"
    "220047,Heart Rate Alarm - Low,HR Alarm - Low,chartevents,Alarms,bpm,Numeric\n"
    "223761,Temperature Fahrenheit,Temperature F,chartevents,Routine Vital Signs,°F,Numeric\n"
    "223762,Temperature Celsius,Temperature C,chartevents,Routine Vital Signs,°C,Numeric\n"
    "223835,Inspired O2 Fraction,FiO2,chartevents,Respiratory,None,Numeric\n"
    "223849,Ventilator Mode,Ventilator Mode,chartevents,Respiratory,,Text\n"
    "220739,GCS - Eye Opening,Eye Opening,chartevents,Neurological,,Text\n"
    "223900,GCS - Verbal Response,Verbal Response,chartevents,Neurological,,Text\n"
    "223791,Pain Level,Pain Level,chartevents,Pain/Sedation,,Text\n"
    "228096,Richmond-RAS Scale,Richmond-RAS Scale,chartevents,Pain/Sedation,,Text\n"
    "226732,O2 Delivery Device(s),O2 Delivery Device(s),chartevents,Respiratory,,Text\n"
    "220615,Creatinine (serum),Creatinine (serum),chartevents,Labs,None,Numeric\n"
    "225664,Glucose finger stick (range 70-100),Glucose FS,chartevents,Labs,None,Numeric\n"
    "227429,Troponin-T,Troponin-T,chartevents,Labs,None,Numeric with tag\n"
)


def row(
    item: int, value: str, figure: str = "", unit: str = "", *, at: str = "08:00", stored: str = "08:10", **more: str
) -> str:
    store = f"2150-03-02 {stored}:00" if stored else ""
    hadm, warning = more.get("hadm", "10"), more.get("warning", "0")
    return f"1,{hadm},30,7,2150-03-02 {at}:00,{store},{item},{value},{figure},{unit},{warning}\n"


def one(chart: Any, item: int, at: str = "0800", suffix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = chart.all("Observation")[f"chart-30-{item}-21500302{at}00{suffix}"]
    return found


def test_a_vital_sign_has_loinc_ucum_and_its_own_item(invented: Any) -> None:
    chart = invented(chartevents=HEAD + row(220045, "88", "88", "bpm"), d_items=ITEMS)
    pulse = one(chart, 220045)
    assert pulse["category"] == [
        {
            "coding": [{"system": words.OBSERVATION_CATEGORY, "code": "vital-signs", "display": "Vital Signs"}],
            "text": "Routine Vital Signs",
        }
    ]
    assert [(code["system"], code["code"]) for code in pulse["code"]["coding"]] == [
        ("http://loinc.org", "8867-4"),
        ("http://mimic.mit.edu/fhir/mimic/CodeSystem/mimic-chartevents-d-items", "220045"),
    ]
    assert pulse["code"]["text"] == "Heart Rate"
    assert pulse["valueQuantity"] == {"value": 88, "unit": "bpm", "system": words.UCUM, "code": "/min"}
    assert (pulse["effectiveDateTime"], pulse["issued"]) == ("2150-03-02T08:00:00Z", "2150-03-02T08:10:00Z")
    assert pulse["encounter"] == {"reference": "Encounter/10"}
    assert "note" not in pulse


def test_known_when_stored_else_at_the_end_of_the_chart_day(invented: Any) -> None:
    rows = row(220045, "88", "88", "bpm") + row(220045, "90", "90", "bpm", at="09:00", stored="")
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    assert chart.all("Observation", "2150-03-02T08:09:59Z") == {}
    assert set(chart.all("Observation", "2150-03-02T08:10:00Z")) == {"chart-30-220045-21500302080000"}
    assert len(chart.all("Observation", "2150-03-02T23:59:58Z")) == 1
    assert len(chart.all("Observation", "2150-03-02T23:59:59Z")) == 2
    assert chart.table("chartevents").notes == {"storetime is empty; known at the end of the chart day": 1}


def test_pressures_stay_one_row_each_and_carry_the_general_code_first(invented: Any) -> None:
    rows = row(220179, "120", "120", "mmHg") + row(220180, "80", "80", "mmHg")
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    codes = [[code["code"] for code in one(chart, item)["code"]["coding"]][:2] for item in (220179, 220180)]
    assert codes == [["8480-6", "76534-7"], ["8462-4", "76535-4"]]
    assert [measurements(one(chart, item))[0].concept for item in (220179, 220180)] == ["systolic_bp", "diastolic_bp"]


@pytest.mark.parametrize(
    ("item", "value", "unit", "read_as", "noted"),
    [
        (223761, "98.6", "°F", "[degF]", False),
        (223761, "37.0", "°F", "Cel", True),
        (223761, "29.9", "°F", "[degF]", False),
        (223761, "29.9", "None", "[degF]", False),
        (223761, "45.1", "°F", "[degF]", False),
        (223762, "37", "°C", "Cel", False),
        (223762, "98.6", "°C", "[degF]", True),
        (223762, "86", "°C", "[degF]", True),
        (223762, "85.9", "°C", "Cel", False),
        (223762, "113.1", "°C", "Cel", False),
        (223762, "36.6", "", "Cel", False),
        (223835, "50", "", "%", False),
        (223835, "0.5", "", "{fraction}", True),
        (223835, "1", "", "{fraction}", True),
        (223835, "0", "", None, False),
        (223835, "5", "", None, False),
    ],
)
def test_the_other_unit_only_where_the_number_leaves_no_doubt(
    invented: Any, item: int, value: str, unit: str, read_as: str | None, noted: bool
) -> None:
    chart = invented(chartevents=HEAD + row(item, value, value, unit), d_items=ITEMS)
    found = one(chart, item)
    assert str(found["valueQuantity"]["value"]) == value
    assert found["valueQuantity"].get("code") == read_as
    assert ("note" in found) is noted
    assert bool(chart.table("chartevents").notes) is noted


def test_a_unit_damaged_in_an_older_release_is_the_item_s_own(invented: Any) -> None:
    chart = invented(chartevents=HEAD + row(223761, "98.6", "98.6", "?F") + row(220045, "88", "88", "?"), d_items=ITEMS)
    assert one(chart, 223761)["valueQuantity"]["code"] == "[degF]"
    assert one(chart, 220045)["valueQuantity"] == {"value": 88, "unit": "?"}
    assert chart.table("chartevents").notes == {"a unit without a code (?F); the item's own unit stands in for it": 1}


def test_implausible_numbers_are_kept_as_charted(invented: Any) -> None:
    rows = row(220045, "0", "0", "bpm") + row(220277, "29", "29", "%")
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    assert one(chart, 220045)["valueQuantity"]["value"] == 0
    assert one(chart, 220277)["valueQuantity"]["value"] == 29


def test_scores_keep_the_number_and_the_words(invented: Any) -> None:
    rows = (
        row(220739, "Spontaneously", "4")
        + row(223900, "No Response-ETT", "1")
        + row(228096, " 0  Alert and calm", "0")
        + row(223791, "7-Mod to Severe", "7")
    )
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    eye = one(chart, 220739)
    assert eye["valueQuantity"] == {"value": 4, "unit": "points", "system": words.UCUM, "code": "{score}"}
    assert eye["note"] == [{"text": "Charted as: Spontaneously"}]
    assert one(chart, 223900)["note"] == [{"text": "Charted as: No Response-ETT"}]
    assert one(chart, 228096)["note"] == [{"text": "Charted as: 0  Alert and calm"}]
    assert measurements(one(chart, 223791))[0].concept == "pain_score"
    assert {one(chart, item)["category"][0]["coding"][0]["code"] for item in (220739, 223900, 228096, 223791)} == {
        "survey"
    }
    assert chart.table("chartevents").notes == {}


def test_words_are_words_and_nothing_is_said_to_be_missing(invented: Any) -> None:
    rows = row(223849, "CMV/ASSIST/AutoFlow") + row(226732, "___") + row(220045, "", "", "bpm")
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    assert one(chart, 223849)["valueString"] == "CMV/ASSIST/AutoFlow"
    assert one(chart, 223849)["category"][0]["coding"][0]["code"] == "therapy"
    assert one(chart, 226732)["dataAbsentReason"]["coding"][0]["code"] == "masked"
    assert one(chart, 220045)["dataAbsentReason"]["coding"][0]["code"] == "unknown"


def test_numbers_that_differ_are_noted(invented: Any) -> None:
    rows = row(220045, "188", "88", "bpm") + row(227429, "<0.01", "0.01", "ng/mL") + row(220615, ">25")
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    assert one(chart, 220045)["valueQuantity"]["value"] == 88
    assert one(chart, 220045)["note"] == [{"text": "Charted as: 188"}]
    assert one(chart, 227429)["valueQuantity"]["comparator"] == "<"
    assert str(one(chart, 227429)["valueQuantity"]["value"]) == "0.01"
    assert (one(chart, 220615)["valueQuantity"]["comparator"], one(chart, 220615)["valueQuantity"]["value"]) == (
        ">",
        25,
    )
    assert chart.table("chartevents").notes == {"value and valuenum differ; valuenum is the result, value is noted": 1}


def test_a_laboratory_result_in_the_icu_chart_says_that_it_is_a_copy(invented: Any) -> None:
    rows = row(220615, "1.2", "1.2", "mg/dL", warning="1") + row(225664, "180", "180")
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    copy, own = one(chart, 220615), one(chart, 225664)
    assert copy["code"]["text"] == "Creatinine (serum) (ICU chart)"
    assert [note["text"] for note in copy["note"]] == [
        "Marked with a warning by the one who charted it.",
        "Charted in the ICU (chartevents); the laboratory's own result, where there is one, is in labevents.",
    ]
    # a series of creatinine holds the laboratory's results only; the bedside test has no other record
    assert [code["code"] for code in copy["code"]["coding"]] == ["creatinine", "220615"]
    assert measurements(copy)[0].concept not in knowledge.labs()
    assert measurements(own)[0].concept == "glucose"
    assert copy["category"][0]["coding"][0]["code"] == own["category"][0]["coding"][0]["code"] == "laboratory"
    assert copy["valueQuantity"]["code"] == "mg/dL"
    assert "note" not in own


def test_several_values_of_one_time_are_all_kept_in_the_order_they_were_stored(invented: Any) -> None:
    rows = (
        row(226732, "Nasal cannula", stored="08:30")
        + row(226732, "Face tent", stored="08:10")
        + row(226732, "Face tent", stored="08:10")
    )
    for text in (rows, "".join(reversed(rows.splitlines(keepends=True)))):
        chart = invented(chartevents=HEAD + text, d_items=ITEMS)
        assert one(chart, 226732)["valueString"] == "Face tent"
        assert one(chart, 226732, suffix="-2")["valueString"] == "Nasal cannula"
        assert set(chart.all("Observation", "2150-03-02T08:29:59Z")) == {"chart-30-226732-21500302080000"}
        assert chart.refused("chartevents") == {"the row stands twice; the first is kept": 1}


def test_what_cannot_be_placed_is_refused_with_its_reason(invented: Any) -> None:
    good = row(220045, "88", "88", "bpm")
    rows = (
        good
        + good.replace("2150-03-02 08:00:00", "3/2/2150 8:00")
        + good.replace("2150-03-02 08:00:00", "")
        + good.replace(",30,", ",,")
        + good.replace("220045", "x")
        + good.replace("1,10", "2,10", 1)
    )
    chart = invented(chartevents=HEAD + rows, d_items=ITEMS)
    assert chart.refused("chartevents") == {
        "charttime is empty": 1,
        "charttime or storetime is not a time": 1,
        "itemid is not a whole number": 1,
        "stay_id or itemid is not a whole number": 1,
        "subject_id is not in patients": 1,
    }


def test_an_item_without_a_dictionary_row_and_a_foreign_stay_are_noted(invented: Any) -> None:
    chart = invented(chartevents=HEAD + row(999999, "5", "5", hadm="77"), d_items=ITEMS)
    found = one(chart, 999999)
    assert found["code"]["text"] == "Item 999999"
    assert found["category"] == [{"text": "ICU"}]
    assert "encounter" not in found
    assert chart.table("chartevents").notes == {
        "hadm_id is not an admission of this patient; kept without encounter": 1,
        "itemid without a label in d_items": 1,
    }


def test_a_value_stored_before_the_admission_began_hides_the_stay_till_then(invented: Any) -> None:
    early = "1,10,30,7,2150-03-01 09:00:00,2150-03-01 09:05:00,220045,88,88,bpm,0\n"
    chart = invented(chartevents=HEAD + early, d_items=ITEMS)
    (before,) = chart.all("Observation", "2150-03-01T09:30:00Z").values()
    (after,) = chart.all("Observation", "2150-03-01T10:00:00Z").values()
    assert "encounter" not in before and after["encounter"] == {"reference": "Encounter/10"}


def test_a_later_row_changes_nothing_before_it_was_stored(invented: Any) -> None:
    first = row(220045, "88", "88", "bpm") + row(226732, "Nasal cannula")
    later = (
        row(220045, "140", "140", "bpm", at="08:30", stored="09:30")
        + row(226732, "Face tent", stored="09:30")
        + row(220739, "To Pain", "2", at="07:00", stored="11:00")
    )
    anchor = "2150-03-02T09:00:00Z"
    without = invented(chartevents=HEAD + first, d_items=ITEMS).all("Observation", anchor)
    assert len(without) == 2
    assert invented(chartevents=HEAD + later + first, d_items=ITEMS).all("Observation", anchor) == without


def mixed_rows() -> str:
    """Write rows of every kind: numbers, words, both; with and without stay, store time, unit; repeated; odd."""
    made = []
    for turn in range(12):
        at, stored = f"{8 + turn:02d}:00", f"{8 + turn:02d}:{10 + turn}"
        made += [
            row(220045, str(60 + turn), str(60 + turn), "bpm", at=at, stored=stored),
            row(220045, str(70 + turn), str(70 + turn), "bpm", at=at, stored="", hadm=""),
            row(220277, "97.50", "97.5", "%", at=at, stored=stored, hadm="" if turn % 2 else "10"),
            row(223761, "98.6" if turn % 3 else "37", "98.6" if turn % 3 else "37", "°F", at=at, stored=stored),
            row(223835, "0.5" if turn % 2 else "50", "0.5" if turn % 2 else "50", at=at, stored=stored),
            row(220739, "Spontaneously", "4", at=at, stored=stored, warning=str(turn % 2)),
            row(223849, "CMV 50% {name}", at=at, stored=stored),
            row(226732, f"Device {turn % 4}", at="08:00", stored=stored),
            row(227429, "<0.01", "0.01", "ng/mL", at=at, stored=stored),
            row(220615, "1e2", "100", "mg/dL", at=at, stored=stored, hadm="77"),
            row(228096, "", at=at, stored=stored),
        ]
    early = "1,10,30,7,2150-03-01 09:00:00,2150-03-01 09:05:00,220045,88,88,bpm,0\n"
    by_day = "1,10,30,7,2150-03-03,2150-03-03,220045,88,88,bpm,0\n"
    return HEAD + "".join(made) + early + by_day


def test_templates_make_the_same_bytes_as_the_long_way(invented: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = mixed_rows()
    by_template = invented(chartevents=rows, d_items=ITEMS).report
    backwards = HEAD + "".join(reversed(rows.removeprefix(HEAD).splitlines(keepends=True)))
    assert invented(chartevents=backwards, d_items=ITEMS).report.store_hash == by_template.store_hash
    monkeypatch.setattr(Shelf, "learn", lambda *_: None)
    one_by_one = invented(chartevents=rows, d_items=ITEMS).report
    assert one_by_one.store_hash == by_template.store_hash
    assert one_by_one.resources == by_template.resources
    assert [table.as_dict() for table in one_by_one.tables] == [table.as_dict() for table in by_template.tables]


def test_most_rows_go_by_template() -> None:
    mapper, stay = Charted(), Stay("10", Moment("2150-03-01T10:00:00Z", 0, 0), None)
    lines = csv.DictReader(mixed_rows().splitlines())
    rows = [(n, 1, *(line[name] or None for name in CHART.columns)) for n, line in enumerate(lines, 1)]
    tally = Tally("chartevents")
    *alone, sheaf = mapper.map(PatientContext("1", {"10": stay}), {"chartevents": rows}, {"chartevents": tally})
    assert isinstance(sheaf, Sheaf)
    assert len(sheaf) + len(alone) == len(rows)
    assert len(sheaf) > len(rows) / 2  # the first two of a shape, those of a foreign stay and the odd ones do not


@st.composite
def charted_futures(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, int, str]], list[tuple[int, int, int, str]]]:
    """Return a minute and two lists of (item, charted, stored, value) that agree in what was stored by then."""
    now = draw(st.integers(10, 50))
    minute, item = st.integers(0, 59), st.sampled_from([220045, 226732])
    stored = st.tuples(item, st.sampled_from([5, 20]), minute, st.sampled_from(["1", "2", "a b"]))
    rows = draw(st.lists(stored, min_size=1, max_size=14))
    known = [one for one in rows if one[2] <= now]
    later = [one for one in draw(st.lists(stored, max_size=6)) if one[2] > now]
    return now, rows, draw(st.permutations(known + later))


def seen_at(rows: list[tuple[int, int, int, str]], now: int) -> dict[str, Any]:
    """Map rows and return what is visible at a minute, by id."""
    line = {"subject_id": "1", "stay_id": "30", "valuenum": None, "hadm_id": None, "valueuom": None, "warning": "0"}
    table = []
    for n, (item, charted, stored, value) in enumerate(rows, 1):
        times = {"charttime": f"2150-03-02 08:{charted:02d}:00", "storetime": f"2150-03-02 08:{stored:02d}:00"}
        cells = line | times | {"itemid": str(item), "value": value}
        table.append((n, 1, *(cells[name] for name in CHART.columns)))
    *alone, sheaf = Charted().map(PatientContext("1"), {"chartevents": table}, {"chartevents": Tally("chartevents")})
    assert isinstance(sheaf, Sheaf)
    anchor = parse_instant(f"2150-03-02T08:{now:02d}:00Z")
    found = [load(dump(stamp(one.resource, one.known))) for one in alone if one.known <= anchor]
    found += [load(row[0].body(row[5])) for row in sheaf.rows if row[1] <= anchor]
    return {one["id"]: one for one in found}


@settings(max_examples=150, deadline=None)
@given(charted_futures())
def test_another_future_changes_nothing_that_was_seen(
    case: tuple[int, list[tuple[int, int, int, str]], list[tuple[int, int, int, str]]],
) -> None:
    now, one, other = case
    assert seen_at(one, now) == seen_at(other, now)


def test_the_item_table_agrees_with_the_knowledge_base() -> None:
    labs = knowledge.labs()
    table = words.chart_items()
    for item, entry in table["items"].items():
        concept = labs.get(entry.get("concept", ""))
        assert ("concept" in entry) <= (concept is not None), item
        if concept is not None and "loinc" in entry and concept.loinc:
            assert set(entry["loinc"]) & set(concept.loinc), item
            assert entry["loinc"][0] in concept.loinc, item
        if "unit" in entry:
            assert entry["unit"] in words.units()["chart"], item
        for one_range in entry.get("ranges", ()):
            assert one_range["unit"] in words.units()["chart"], item
    assert set(table["categories"].values()) <= set(table["category_names"])


def test_loinc_codes_agree_with_the_public_map(shared: Path) -> None:
    mapped: dict[str, str] = {}
    with (shared / "data" / "mimic-loinc" / "chartevents_to_loinc.csv").open(encoding="utf-8", newline="") as rows:
        for line in csv.DictReader(rows):
            if line["subject_id"].startswith("mimic:") and (line["object_id"] or "").startswith("loinc:"):
                mapped[line["subject_id"].removeprefix("mimic:")] = line["object_id"].removeprefix("loinc:")
    items = words.chart_items()["items"]
    assert len(mapped) == 40
    assert {item: code for item, code in mapped.items() if code not in items.get(item, {}).get("loinc", ())} == {}
    others = {code for item, entry in items.items() if item not in mapped for code in entry.get("loinc", ())}
    assert others <= {code for lab in knowledge.labs().values() for code in lab.loinc}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("heart rate", {"Heart Rate"}),
        ("HR", {"Heart Rate"}),
        ("脉搏", {"Heart Rate"}),
        ("8867-4", {"Heart Rate"}),
        ("220045", {"Heart Rate"}),
        ("SpO2", {"O2 saturation pulseoxymetry"}),
        ("血氧饱和度", {"O2 saturation pulseoxymetry"}),
        ("SBP", {"Non Invasive Blood Pressure systolic"}),
        ("收缩压", {"Non Invasive Blood Pressure systolic"}),
        ("blood pressure", {"Non Invasive Blood Pressure systolic", "Non Invasive Blood Pressure diastolic"}),
        ("temp", {"Temperature Fahrenheit", "Temperature Celsius"}),
        ("体温", {"Temperature Fahrenheit", "Temperature Celsius"}),
        ("FiO2", {"Inspired O2 Fraction"}),
        ("GCS", {"GCS - Eye Opening", "GCS - Verbal Response"}),
        ("格拉斯哥昏迷评分", {"GCS - Eye Opening", "GCS - Verbal Response"}),
        ("GCS motor", set()),
        ("RASS", {"Richmond-RAS Scale"}),
        ("躁动镇静评分", {"Richmond-RAS Scale"}),
        ("疼痛评分", {"Pain Level"}),
        ("ventilator mode", {"Ventilator Mode"}),
        ("creatinine", {"Creatinine (serum) (ICU chart)"}),
        ("肌酐", {"Creatinine (serum) (ICU chart)"}),
        ("troponin", {"Troponin-T (ICU chart)"}),
        ("glucose", {"Glucose finger stick (range 70-100)"}),
        ("alarm", {"Heart Rate Alarm - Low"}),
    ],
)
def test_agents_find_charted_values_by_the_words_of_either_language(
    every_item: Overlay, text: str, found: set[str]
) -> None:
    chosen = choose(every_item, "Observation", text)
    assert set(chosen.matched) == found
    assert bool(chosen.nearest) is not bool(found)


@pytest.fixture
def every_item(invented: Any) -> Overlay:
    """Return the record of a patient with one number for every item of `ITEMS`."""
    items = [line.partition(",")[0] for line in ITEMS.splitlines()[1:]]
    chart = invented(chartevents=HEAD + "".join(row(int(item), "4", "4") for item in items), d_items=ITEMS)
    return Overlay(chart.store.chart("1").at(parse_instant("2150-03-03")))


def test_every_item_of_the_public_dictionary_can_be_charted(invented: Any, mimic_demo: Path) -> None:
    with gzip.open(mimic_demo / "icu" / "d_items.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        text = stream.read()
    items = [item for item in csv.DictReader(text.splitlines()) if item["linksto"] == "chartevents"]
    rows = "".join(
        row(int(item["itemid"]), *(("words",) if item["param_type"] == "Text" else ("7", "7", item["unitname"])))
        for item in items
    )
    chart = invented(chartevents=HEAD + rows, d_items=text)
    made = chart.all("Observation")
    assert len(made) == len(items) == chart.table("chartevents").kept
    assert chart.table("chartevents").notes == {}
    without = {
        one["valueQuantity"]["unit"]
        for one in made.values()
        if "unit" in one.get("valueQuantity", {}) and "code" not in one["valueQuantity"]
    }
    assert without == {
        "RPM", "cmH2O/L/seconds", "dynes*sec/cm5/m2", "dynes.sec.cm-5/m2", "mL SC", "mL/beat", "units",
    }  # fmt: skip
    # what the knowledge base knows by name alone is what its name says, and the item table does not deny it
    table = words.chart_items()["items"]
    by_name = {}
    for one in made.values():
        (concept,) = {found.concept for found in measurements(one)}
        item = one["code"]["coding"][-1]["code"]
        if one["category"][0]["text"] == "Labs" and item != "225664":
            assert concept not in knowledge.labs()
        elif "concept" in table.get(item, {}):
            assert concept == table[item]["concept"], item
        elif concept in knowledge.labs():
            by_name[one["code"]["text"]] = concept
    assert by_name == {
        "APACHE II": "apache_score", "Ejection Fraction": "lvef", "SOFA Score": "sofa_score",
        "Stool Guaiac": "stool_occult_blood", "Urine Appearance": "urine_appearance", "Urine Color": "ua_panel_color",
    }  # fmt: skip
