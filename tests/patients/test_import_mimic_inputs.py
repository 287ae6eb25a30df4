"""What ran into ICU patients, and what was in it: invented rows, and the official FHIR turned back into rows."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients.clock import forms
from wardround.patients.facts import measurements
from wardround.patients.importers import _vocabulary as words
from wardround.patients.importers import import_mimic
from wardround.patients.importers._mapper import PatientContext
from wardround.patients.importers.inputs import INPUT, Inputs
from wardround.patients.importers.report import Tally
from wardround.patients.resource import dump, load
from wardround.patients.store import ChartStore
from wardround.patients.times import parse_instant

COLUMNS = (
    "subject_id", "hadm_id", "stay_id", "caregiver_id", "starttime", "endtime", "storetime", "itemid", "amount",
    "amountuom", "rate", "rateuom", "orderid", "linkorderid", "ordercategoryname", "secondaryordercategoryname",
    "ordercomponenttypedescription", "ordercategorydescription", "patientweight", "totalamount", "totalamountuom",
    "isopenbag", "continueinnextdept", "statusdescription", "originalamount", "originalrate",
)  # fmt: skip
HEAD = ",".join(COLUMNS) + "\n"
ITEMS = (
    "itemid,label,abbreviation,linksto,category\n"
    "221906,Norepinephrine,Norepinephrine,inputevents,Medications\n"
    "225158,NaCl 0.9%,NaCl 0.9%,inputevents,Fluids/Intake\n"
    "225154,Morphine Sulfate,Morphine Sulfate,inputevents,Medications\n"
    "225910,Pantoprazole (Protonix),Pantoprazole,inputevents,Medications\n"
    "225168,Packed Red Blood Cells,PRBC,inputevents,Blood Products/Colloids\n"
    "220490,Water,Water,ingredientevents,Ingredients\n"
    "226060,Calories,Calories,ingredientevents,Ingredients\n"
)
DAY = "2150-03-02 "


def row(**cells: str) -> str:
    """Write a row of a norepinephrine infusion, with `cells` in place of its own."""
    default = {
        "subject_id": "1", "hadm_id": "10", "stay_id": "30", "starttime": "08:00", "endtime": "09:30",
        "storetime": "08:05", "itemid": "221906", "amount": "0.45", "amountuom": "mg", "rate": "0.1000001",
        "rateuom": "mcg/kg/min", "orderid": "500", "linkorderid": "500", "ordercategoryname": "01-Drips",
        "secondaryordercategoryname": "02-Fluids (Crystalloids)",
        "ordercomponenttypedescription": "Main order parameter", "ordercategorydescription": "Continuous Med",
        "patientweight": "80", "totalamount": "250", "totalamountuom": "ml", "statusdescription": "ChangeDose/Rate",
    } | cells  # fmt: skip
    for name in ("starttime", "endtime", "storetime"):
        default[name] = f"{DAY}{default[name]}:00" if len(default[name]) == 5 else default[name]
    return ",".join(default.get(name, "") for name in COLUMNS) + "\n"


def bolus(**cells: str) -> str:
    return row(
        **{
            "endtime": "08:01", "rate": "", "rateuom": "", "itemid": "225154", "amount": "4", "orderid": "600",
            "ordercategorydescription": "Drug Push", "statusdescription": "FinishedRunning",
        } | cells
    )  # fmt: skip


def running(chart: Any, at: str, name: str = "icuin-500-221906") -> dict[str, Any] | None:
    found: dict[str, Any] | None = chart.all("MedicationAdministration", f"2150-03-02T{at}Z").get(name)
    return found


def test_an_infusion_runs_until_its_end_and_then_has_an_amount(invented: Any) -> None:
    chart = invented(inputevents=HEAD + row(), d_items=ITEMS)
    assert running(chart, "08:04:59") is None
    open_, closed = running(chart, "08:05:00"), running(chart, "09:30:00")
    assert open_ is not None and closed is not None
    assert open_ == running(chart, "09:29:59")
    assert open_["status"] == "in-progress"
    assert open_["effectivePeriod"] == {"start": "2150-03-02T08:00:00Z"}
    assert "statusReason" not in open_
    assert set(open_["dosage"]) == {"text", "method", "rateQuantity"}
    assert open_["dosage"]["text"] == "0.1000001 mcg/kg/min"
    assert str(open_["dosage"]["rateQuantity"]["value"]) == "0.1000001"
    assert open_["dosage"]["rateQuantity"]["code"] == "ug/kg/min"
    assert closed["status"] == "stopped"
    assert closed["statusReason"] == [{"text": "ChangeDose/Rate"}]
    assert closed["effectivePeriod"]["end"] == "2150-03-02T09:30:00Z"
    assert closed["dosage"]["dose"] == {"value": Decimal("0.45"), "unit": "mg", "system": words.UCUM, "code": "mg"}
    assert closed["category"]["text"] == "01-Drips"
    assert closed["context"] == {"reference": "Encounter/10"}
    assert [note["text"] for note in closed["note"]] == [
        "Component of the order: 02-Fluids (Crystalloids); Main order parameter",
        "Bag: 250 ml",
        "Patient weight: 80 kg",
    ]


def test_the_row_that_agents_see_has_amount_and_rate(invented: Any) -> None:
    chart = invented(inputevents=HEAD + row(rate="0.1"), d_items=ITEMS).store.chart("1")
    doses = [
        orjson.loads(chart.at(parse_instant(f"2150-03-02T{at}Z")).read("MedicationAdministration", name).row)[3]
        for at, name in (("09:00:00", "icuin-500-221906"), ("09:30:00", "icuin-500-221906"))
    ]
    assert doses == ["0.1 mcg/kg/min", "0.45 mg at 0.1 mcg/kg/min"]


def test_a_change_of_rate_does_not_show_before_it_was_made(invented: Any) -> None:
    later = row(
        starttime="09:30", endtime="12:00", storetime="09:31", rate="0.25", amount="3", orderid="501",
        statusdescription="Stopped",
    )  # fmt: skip
    chart = invented(inputevents=HEAD + later + row(), d_items=ITEMS)
    alone = invented(inputevents=HEAD + row(), d_items=ITEMS)
    for at in ("09:29:59", "09:30:00", "09:30:59"):
        assert running(chart, at) == running(alone, at)
        assert running(chart, at, "icuin-501-221906") is None
    now = running(chart, "09:31:00", "icuin-501-221906")
    assert now is not None and now["dosage"]["text"] == "0.25 mcg/kg/min"
    assert now["request"] == running(chart, "09:31:00")["request"]  # type: ignore[index]
    assert now["request"]["identifier"]["value"] == "500"


@pytest.mark.parametrize(
    "cells",
    [
        {"statusdescription": "Paused"},
        {"statusdescription": "FinishedRunning"},
        {"statusdescription": "Rewritten"},
        {"statusdescription": "Something"},
        {"statusdescription": ""},
        {"endtime": "23:00", "amount": "9.9", "statusdescription": "Stopped"},
    ],
)
def test_while_it_runs_the_future_is_nowhere_to_be_seen(invented: Any, cells: dict[str, str]) -> None:
    one = invented(inputevents=HEAD + row(), d_items=ITEMS)
    other = invented(inputevents=HEAD + row(**cells), d_items=ITEMS)
    for at in ("08:05:00", "09:29:59"):
        assert running(one, at) == running(other, at)
    assert running(one, "23:00:00") != running(other, "23:00:00")


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("FinishedRunning", "completed"), ("Bolus", "completed"), ("Flushed", "completed"), ("Stopped", "stopped"),
        ("ChangeDose/Rate", "stopped"), ("Rewritten", "stopped"), ("Paused", "on-hold"), ("Else", "unknown"),
    ],
)  # fmt: skip
def test_how_it_ended(invented: Any, word: str, status: str) -> None:
    chart = invented(inputevents=HEAD + row(statusdescription=word), d_items=ITEMS)
    ended = running(chart, "09:30:00")
    assert ended is not None and ended["status"] == status
    assert ("statusReason" in ended) is (status != "completed")
    assert bool(chart.table("inputevents").notes) is (status == "unknown")


def test_a_bolus_is_given_when_it_starts_and_known_when_stored(invented: Any) -> None:
    chart = invented(inputevents=HEAD + bolus(storetime="08:20"), d_items=ITEMS)
    assert running(chart, "08:19:59", "icuin-600-225154") is None
    given = running(chart, "08:20:00", "icuin-600-225154")
    assert given is not None
    assert given["effectiveDateTime"] == "2150-03-02T08:00:00Z"
    assert (given["status"], given["dosage"]["dose"]["value"]) == ("completed", 4)
    assert "text" not in given["dosage"]
    assert given["dosage"]["method"]["text"] == "Drug Push"


def test_what_was_stored_before_it_began_is_not_known_before(invented: Any) -> None:
    chart = invented(inputevents=HEAD + row(storetime="06:00") + bolus(storetime="06:00"), d_items=ITEMS)
    assert chart.all("MedicationAdministration", "2150-03-02T07:59:59Z") == {}
    assert len(chart.all("MedicationAdministration", "2150-03-02T08:00:00Z")) == 2


def test_without_a_rate_what_lasted_longer_is_a_period_and_its_amount_is_known_at_the_end(invented: Any) -> None:
    rows = bolus(endtime="10:00", itemid="225168", amount="350", amountuom="ml")
    chart = invented(inputevents=HEAD + rows, d_items=ITEMS)
    before, after = (running(chart, at, "icuin-600-225168") for at in ("09:00:00", "10:00:00"))
    assert before is not None and after is not None
    assert "dosage" not in before and before["effectivePeriod"] == {"start": "2150-03-02T08:00:00Z"}
    assert after["dosage"]["dose"]["value"] == 350


def test_an_order_stored_after_its_end_is_known_whole(invented: Any) -> None:
    chart = invented(inputevents=HEAD + row(storetime="10:00"), d_items=ITEMS)
    assert running(chart, "09:59:59") is None
    whole = running(chart, "10:00:00")
    assert whole is not None and whole["status"] == "stopped" and "dose" in whole["dosage"]


def test_rxnorm_only_where_the_name_resolves_exactly(invented: Any) -> None:
    rows = bolus() + bolus(itemid="225910", orderid="601") + row()
    chart = invented(inputevents=HEAD + rows, d_items=ITEMS)
    codes = {
        one["medicationCodeableConcept"]["text"]: [
            (coding["system"].rpartition("/")[2], coding["code"])
            for coding in one["medicationCodeableConcept"]["coding"]
        ]
        for one in chart.all("MedicationAdministration").values()
    }
    assert codes == {
        "Morphine Sulfate": [("rxnorm", "7052"), ("mimic-medication-icu", "225154")],
        "Pantoprazole (Protonix)": [("rxnorm", "40790"), ("mimic-medication-icu", "225910")],
        "Norepinephrine": [("mimic-medication-icu", "221906")],
    }


def test_what_cannot_be_placed_is_refused_and_what_is_odd_is_noted(invented: Any) -> None:
    rows = (
        row()
        + row(amount="1")
        + row(orderid="x")
        + row(orderid="502", starttime="")
        + row(orderid="503", endtime="3/2/2150 9:30")
        + row(orderid="504", endtime="07:00", amount="", rate="")
        + row(orderid="505", rate="wide open", amount="")
        + row(orderid="506", itemid="999", hadm_id="77", storetime="")
    )
    chart = invented(inputevents=HEAD + rows, d_items=ITEMS)
    assert chart.refused("inputevents") == {
        "endtime is not a time": 1,
        "orderid is not a whole number": 1,
        "starttime is empty": 1,
    }
    assert chart.table("inputevents").notes == {
        "amount or rate is not a number; not carried": 1,
        "hadm_id is not an admission of this patient; kept without encounter": 1,
        "itemid without a label in d_items": 1,
        "neither amount nor rate; kept without a dose": 2,
        "storetime is empty; known at the end of the chart day": 1,
        "the end of the infusion precedes its start; it ends when it starts": 1,
    }


def test_ingredients_are_known_when_all_of_it_has_run_in(invented: Any) -> None:
    head = (
        "subject_id,hadm_id,stay_id,caregiver_id,starttime,endtime,storetime,itemid,amount,amountuom,rate,rateuom,"
        "orderid,linkorderid,statusdescription,originalamount,originalrate\n"
    )
    rows = (
        f"1,10,30,7,{DAY}08:00:00,{DAY}09:30:00,{DAY}08:05:00,220490,90.5,mL,60,mL/hour,500,500,Stopped,1,1\n"
        f"1,10,30,7,{DAY}08:00:00,{DAY}08:01:00,{DAY}08:05:00,226060,250,Kcal,,,600,600,FinishedRunning,1,1\n"
        f"1,10,30,7,,{DAY}08:01:00,{DAY}08:05:00,226060,250,Kcal,,,601,601,FinishedRunning,1,1\n"
    )
    chart = invented(ingredientevents=head + rows, d_items=ITEMS)
    assert chart.refused("ingredientevents") == {
        "orderid or itemid is not a whole number, or starttime is empty": 1,
    }
    assert set(chart.all("Observation", "2150-03-02T09:29:59Z")) == {"icuing-600-226060-21500302080000"}
    water = chart.all("Observation", "2150-03-02T09:30:00Z")["icuing-500-220490-21500302080000"]
    assert water["code"]["text"] == "Water (ingredient)"
    assert measurements(water)[0].concept == "water (ingredient)"
    assert water["valueQuantity"] == {"value": Decimal("90.5"), "unit": "mL", "system": words.UCUM, "code": "mL"}
    assert water["effectivePeriod"] == {"start": "2150-03-02T08:00:00Z", "end": "2150-03-02T09:30:00Z"}
    assert water["note"] == [{"text": "Rate: 60 mL/hour"}]
    assert water["partOf"][0]["identifier"]["value"] == "500"
    calories = chart.all("Observation")["icuing-600-226060-21500302080000"]
    assert calories["effectiveDateTime"] == "2150-03-02T08:00:00Z"
    assert calories["valueQuantity"]["code"] == "kcal"


# -- another future ---------------------------------------------------------------------------------------------------

_T0 = datetime(2150, 3, 2, 8)
_WORDS = ("FinishedRunning", "Stopped", "ChangeDose/Rate", "Paused", "Rewritten", "Else", "")


def at(minutes: int) -> str:
    return str(_T0 + timedelta(minutes=minutes))


@st.composite
def futures(draw: st.DrawFn) -> tuple[int, list[dict[str, str]], list[dict[str, str]]]:
    """Return an anchor in minutes and two lists of rows that agree in all that was known by then."""
    now = draw(st.integers(0, 240))
    one, other = [], []
    for order in range(draw(st.integers(1, 5))):
        start, length, stored = (draw(st.integers(*span)) for span in ((0, 240), (0, 240), (-30, 300)))
        cells = {
            "orderid": str(order), "starttime": at(start), "endtime": at(start + length), "storetime": at(stored),
            "rate": draw(st.sampled_from(["", "1.5"])), "amount": str(length), "statusdescription": _WORDS[0],
        }  # fmt: skip
        late = {
            "endtime": at(max(now, start) + draw(st.integers(2, 60))),
            "amount": str(draw(st.integers(1, 9))),
            "statusdescription": draw(st.sampled_from(_WORDS)),
        }
        if max(start, stored) > now:
            one.append(cells)
            if draw(st.booleans()):
                other.append(cells | late | {"rate": "9"})
        else:
            one.append(cells)
            # a bolus says by lasting a minute that it is one: it and what has ended are known whole
            lasts = start + length > now and (cells["rate"] or length > 1)
            other.append(cells | late if lasts else cells)
    return now, one, other


def as_of(rows: list[dict[str, str]], now: int) -> dict[str, Any]:
    """Map rows and return the forms that hold at an anchor, by id."""
    table = [(n, 1, *(cells.get(name) or None for name in INPUT.columns)) for n, cells in enumerate(rows, 1)]
    anchor = parse_instant(at(now).replace(" ", "T") + "Z")
    found = {}
    for made in Inputs().map(PatientContext("1"), {"inputevents": table}, {"inputevents": Tally("inputevents")}):
        resource = load(dump(made.resource))
        seen = [form for since, form in forms(resource, made.known) if since <= anchor]
        if seen:
            found[resource["id"]] = seen[-1]
    return found


@settings(max_examples=150, deadline=None)
@given(futures())
def test_another_future_changes_nothing_that_was_seen(
    case: tuple[int, list[dict[str, str]], list[dict[str, str]]],
) -> None:
    now, one, other = case
    base = {"subject_id": "1", "itemid": "221906", "amountuom": "mg"}
    assert as_of([base | cells for cells in one], now) == as_of([base | cells for cells in other], now)


# -- the official MedicationAdministrationICU as an oracle -------------------------------------------------------------

_MINUTE = timedelta(minutes=1)


def lines_of(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Read an official file; decimals keep their digits."""
    with gzip.open(folder / f"{name}.ndjson.gz", "rb") as stream:
        yield from map(load, stream)


def wall_clock(text: str) -> datetime:
    """Return the time as it stood in the source; the published offset comes from the session that wrote the file."""
    return datetime.fromisoformat(text).replace(tzinfo=None)


def official(folder: Path) -> list[dict[str, Any]]:
    """Read the administrations with the source's own patient and admission numbers."""
    people = {one["id"]: one["identifier"][0]["value"] for one in lines_of(folder, "MimicPatient")}
    stays = {one["id"]: one["identifier"][0]["value"] for one in lines_of(folder, "MimicEncounter")}
    units = {one["id"]: stays[one["partOf"]["reference"][10:]] for one in lines_of(folder, "MimicEncounterICU")}
    found = []
    for one in lines_of(folder, "MimicMedicationAdministrationICU"):
        period = one.get("effectivePeriod")
        end = wall_clock(period["end"] if period else one["effectiveDateTime"])
        found.append(
            {
                "subject": people[one["subject"]["reference"][8:]],
                "stay": units[one["context"]["reference"][10:]],
                "start": wall_clock(period["start"]) if period else end - _MINUTE,
                "end": end,
                "item": one["medicationCodeableConcept"]["coding"][0],
                "category": one["category"]["coding"][0]["code"],
                "method": one["dosage"]["method"]["coding"][0]["code"],
                "dose": one["dosage"]["dose"],
                "rate": one["dosage"].get("rateQuantity"),
            }
        )
    return found


def write_rows(path: Path, given: list[dict[str, Any]]) -> None:
    """Write administrations as the `inputevents` they came from; what FHIR dropped is invented here."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, restval="")
        writer.writeheader()
        for order, one in enumerate(given, 1):
            writer.writerow(
                {
                    "subject_id": one["subject"], "hadm_id": one["stay"], "stay_id": "1", "starttime": one["start"],
                    "endtime": one["end"], "storetime": one["start"], "itemid": one["item"]["code"],
                    "amount": one["dose"]["value"], "amountuom": one["dose"]["unit"],
                    "rate": one["rate"]["value"] if one["rate"] else "",
                    "rateuom": one["rate"]["unit"] if one["rate"] else "", "orderid": order,
                    "ordercategoryname": one["category"], "ordercategorydescription": one["method"],
                    "statusdescription": "FinishedRunning",
                }
            )  # fmt: skip


@pytest.fixture(scope="module")
def oracle(
    mimic_demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, int]]]:
    """Return the official administrations, ours made of the same facts, and the notes of the import."""
    fhir = mimic_demo.parent / "mimic-iv-fhir-demo"
    if not fhir.is_dir():
        pytest.skip("no MIMIC-IV on FHIR demo in shared/data")
    given = official(fhir)
    folder = tmp_path_factory.mktemp("inputs")
    for table in ("hosp/patients", "hosp/admissions", "icu/d_items"):
        (folder / f"{Path(table).name}.csv.gz").symlink_to(mimic_demo / f"{table}.csv.gz")
    write_rows(folder / "inputevents.csv", given)
    report = import_mimic(folder, folder / "charts.sqlite")
    table = next(table for table in report.tables if table.table == "inputevents")
    assert (report.invalid, table.read, table.kept) == (0, len(given), len(given))
    end = parse_instant("2300-01-01")
    with ChartStore.open(folder / "charts.sqlite") as store:
        made = [
            one
            for patient in store.patients()
            for one in store.chart(patient).at(end).resources("MedicationAdministration")
        ]
    yield given, made, dict(table.notes)


def test_the_official_administrations_are_found_again(oracle: Any) -> None:
    given, made, notes = oracle
    assert notes == {}

    def amount(quantity: dict[str, Any] | None) -> tuple[Decimal, str] | None:
        return None if quantity is None else (Decimal(str(quantity["value"])), quantity["unit"])

    wanted = Counter(
        (
            one["subject"], one["stay"], one["start"], one["end"] if one["rate"] else one["start"],
            one["item"]["code"], one["item"]["display"], amount(one["dose"]), amount(one["rate"]), one["category"],
            one["method"], "completed",
        )
        for one in given
    )  # fmt: skip
    found = Counter()
    for one in made:
        period = one.get("effectivePeriod")
        start, end = (period["start"], period["end"]) if period else [one["effectiveDateTime"]] * 2
        coding = one["medicationCodeableConcept"]["coding"][-1]
        found[
            one["subject"]["reference"][8:], one["context"]["reference"][10:], wall_clock(start), wall_clock(end),
            coding["code"], coding["display"], amount(one["dosage"]["dose"]), amount(one["dosage"].get("rateQuantity")),
            one["category"]["coding"][0]["code"], one["dosage"]["method"]["coding"][0]["code"], one["status"],
        ] += 1  # fmt: skip
    assert found == wanted
    assert found.total() == 15_189
    assert sum(count for key, count in found.items() if key[7]) == 8_223


def test_the_units_without_ucum_are_those_that_no_code_is_certain_for(oracle: Any) -> None:
    _, made, _ = oracle
    without = {
        quantity["unit"]
        for one in made
        for quantity in (one["dosage"]["dose"], one["dosage"].get("rateQuantity", one["dosage"]["dose"]))
        if "code" not in quantity
    }
    assert without == {"dose", "units", "units/hour"}
