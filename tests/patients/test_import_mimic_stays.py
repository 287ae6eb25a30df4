"""Stays: ICU and ED Encounters, places and services over time, what triage found. Invented rows."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.patients import Search, parse_instant

TRANSFERS = "subject_id,hadm_id,transfer_id,eventtype,careunit,intime,outtime\n"
SERVICES = "subject_id,hadm_id,transfertime,prev_service,curr_service\n"
ICU = "subject_id,hadm_id,stay_id,first_careunit,last_careunit,intime,outtime,los\n"
ED = "subject_id,hadm_id,stay_id,intime,outtime,gender,race,arrival_transport,disposition\n"
TRIAGE = "subject_id,stay_id,temperature,heartrate,resprate,o2sat,sbp,dbp,pain,acuity,chiefcomplaint\n"
SIGNS = "subject_id,stay_id,charttime,temperature,heartrate,resprate,o2sat,sbp,dbp,rhythm,pain\n"

ED_ROW = "1,10,7,2150-03-01 06:00:00,2150-03-01 11:00:00,F,WHITE,AMBULANCE,ADMITTED\n"
ICU_ROW = "1,10,30,MICU,Medicine,2150-03-02 08:00:00,2150-03-04 09:00:00,2.04\n"


def test_an_icu_stay_is_part_of_its_admission_and_ends_when_it_ends(invented: Any) -> None:
    chart = invented(icustays=ICU + ICU_ROW)
    assert set(chart.all("Encounter", "2150-03-02T07:59:59Z")) == {"10"}
    during = chart.all("Encounter", "2150-03-03")["icu-30"]
    assert during["class"]["code"] == "ACUTE"
    assert during["partOf"] == {"reference": "Encounter/10"}
    assert (during["status"], during["period"]) == ("in-progress", {"start": "2150-03-02T08:00:00Z"})
    assert during["location"] == [{"location": {"display": "MICU"}, "period": {"start": "2150-03-02T08:00:00Z"}}]
    after = chart.all("Encounter", "2150-03-04T09:00:00Z")["icu-30"]
    assert (after["status"], after["period"]["end"]) == ("finished", "2150-03-04T09:00:00Z")
    assert [place["location"]["display"] for place in after["location"]] == ["MICU", "Medicine"]


def test_an_icu_stay_in_one_unit_has_one_place_that_ends_with_it(invented: Any) -> None:
    chart = invented(icustays=ICU + ICU_ROW.replace("Medicine", "MICU"))
    assert "end" not in chart.all("Encounter", "2150-03-03")["icu-30"]["location"][0]["period"]
    (place,) = chart.all("Encounter")["icu-30"]["location"]
    assert place["period"]["end"] == "2150-03-04T09:00:00Z"


def test_an_icu_stay_that_began_before_admission_names_it_from_admission_on(invented: Any) -> None:
    chart = invented(icustays=ICU + ICU_ROW.replace("2150-03-02 08", "2150-03-01 08"))
    early = chart.all("Encounter", "2150-03-01T09:00:00Z")
    assert set(early) == {"icu-30"} and "partOf" not in early["icu-30"]
    assert chart.all("Encounter", "2150-03-01T10:00:00Z")["icu-30"]["partOf"] == {"reference": "Encounter/10"}


def test_an_ed_stay_tells_its_admission_and_disposition_when_they_are_known(invented: Any) -> None:
    chart = invented(edstays=ED + ED_ROW, triage=TRIAGE + "1,7,98.6,80,16,99,120,80,3,2,Chest pain\n")
    first = chart.all("Encounter", "2150-03-01T06:00:00Z")
    assert set(first) == {"ed-7"}
    stay = first["ed-7"]
    assert stay["class"]["code"] == "EMER" and "partOf" not in stay
    assert stay["hospitalization"]["admitSource"]["text"] == "AMBULANCE"
    assert "dischargeDisposition" not in stay["hospitalization"]
    assert stay["reasonCode"] == [{"text": "Chest pain"}]
    admitted = chart.all("Encounter", "2150-03-01T10:30:00Z")["ed-7"]
    assert admitted["partOf"] == {"reference": "Encounter/10"} and admitted["status"] == "in-progress"
    left = chart.all("Encounter", "2150-03-01T11:00:00Z")["ed-7"]
    assert left["hospitalization"]["dischargeDisposition"]["text"] == "ADMITTED"
    assert left["period"]["end"] == "2150-03-01T11:00:00Z"


def test_an_ed_stay_without_admission_stands_alone(invented: Any) -> None:
    chart = invented(edstays=ED + ED_ROW.replace("1,10,7", "1,,7").replace("ADMITTED", "HOME"))
    stay = chart.all("Encounter")["ed-7"]
    assert "partOf" not in stay
    codes = [one["code"] for one in stay["hospitalization"]["dischargeDisposition"]["coding"]]
    assert codes == ["home", "HOME"]


def test_triage_is_known_when_the_patient_came(invented: Any) -> None:
    chart = invented(
        edstays=ED + ED_ROW + ED_ROW.replace("1,10,7", "1,,8"),
        triage=TRIAGE
        + "1,7,36.5,80,,99,120,80,unable,2,Chest pain\n"
        + "1,8,,,,,,,13,,UNKNOWN-CC\n"
        + "1,99,98,,,,,,,,Cough\n",
    )
    assert chart.refused("triage") == {"stay_id is not an ED stay of this patient: nobody can say when it was": 1}
    assert chart.all("Observation", "2150-03-01T05:59:59Z") == {}
    found = chart.all("Observation", "2150-03-01T06:00:00Z")
    assert found["edtriage-7-heartrate"]["code"]["coding"][0]["code"] == "8867-4"
    assert found["edtriage-7-temperature"]["valueQuantity"]["code"] == "Cel"
    assert [str(part["valueQuantity"]["value"]) for part in found["edtriage-7-bp"]["component"]] == ["120", "80"]
    assert found["edtriage-7-acuity"]["valueQuantity"]["value"] == 2
    assert found["edtriage-7-pain"]["valueString"] == "unable"
    assert found["edtriage-8-pain"]["valueQuantity"]["value"] == 13
    assert found["edtriage-7-chiefcomplaint"]["valueString"] == "Chest pain"
    assert "dataAbsentReason" in found["edtriage-8-chiefcomplaint"]
    assert "reasonCode" not in chart.all("Encounter")["ed-8"]
    assert all(one["effectiveDateTime"] == "2150-03-01T06:00:00Z" for one in found.values())
    assert {one["encounter"]["reference"] for one in found.values()} == {"Encounter/ed-7", "Encounter/ed-8"}


def test_ed_facts_name_their_stay_and_are_found_under_the_admission(invented: Any) -> None:
    chart = invented(
        edstays=ED + ED_ROW,
        vitalsign=SIGNS + "1,7,2150-03-01 05:00:00,98.6,,,,,,,\n1,8,2150-03-01 07:00:00,99.6,,,,,,,\n",
        medrecon="subject_id,stay_id,charttime,name,gsn,ndc,etc_rn,etccode,etcdescription\n"
        "1,7,2150-03-01 06:30:00,aspirin,0,0,1,,\n",
    )
    assert chart.table("vitalsign").notes == {"stay_id is not an ED stay of this patient; kept without encounter": 1}
    signs = chart.all("Observation", "2150-03-01T05:30:00Z")
    assert "encounter" not in signs["edvs-7-21500301050000-temperature"]  # charted before the stay began
    signs = chart.all("Observation")
    assert signs["edvs-7-21500301050000-temperature"]["encounter"] == {"reference": "Encounter/ed-7"}
    (taken,) = chart.all("MedicationStatement").values()
    assert taken["context"] == {"reference": "Encounter/ed-7"}
    snapshot = chart.store.chart("1").at(parse_instant("2150-03-02"))
    assert snapshot.search(Search("MedicationStatement", encounter="10")).total == 1
    before = chart.store.chart("1").at(parse_instant("2150-03-01T09:00:00Z"))
    assert before.search(Search("MedicationStatement", encounter="10")).total == 0


def test_places_are_known_when_reached_and_end_when_left(invented: Any) -> None:
    rows = (
        "1,10,100,admit,Medicine,2150-03-01 10:00:00,2150-03-02 08:00:00\n"
        "1,10,101,transfer,MICU,2150-03-02 08:00:00,2150-03-04 09:00:00\n"
        "1,10,102,discharge,,2150-03-09 12:00:00,\n"
        "1,,103,ED,Emergency Department,2150-05-01 10:00:00,2150-05-01 12:00:00\n"
        "1,10,7,ED,Emergency Department,2150-03-01 06:00:00,2150-03-01 11:00:00\n"
        "1,99,104,transfer,Surgery,2150-06-01 06:00:00,2150-06-01 11:00:00\n"
        "1,10,105,transfer,Surgery,,2150-06-01 11:00:00\n"
        "1,10,106,transfer,Surgery,3/5/2150,\n"
    )
    chart = invented(transfers=TRANSFERS + rows, edstays=ED + ED_ROW)
    assert chart.refused("transfers") == {
        "intime is empty: nobody can say when it was": 1,
        "intime is not a time": 1,
    }
    assert chart.table("transfers").notes == {
        "a row that names no care unit (the discharge); nothing to carry": 1,
        "an ED stay that edstays does not have; an Encounter with place and times only": 1,
        "neither an admission nor an ED stay of this patient; no encounter to carry the place": 1,
    }
    first = chart.all("Encounter", "2150-03-01T23:00:00Z")
    assert first["10"]["location"] == [
        {"location": {"display": "Medicine"}, "period": {"start": "2150-03-01T10:00:00Z"}}
    ]
    later = chart.all("Encounter", "2150-03-03")["10"]["location"]
    assert [place["location"]["display"] for place in later] == ["Medicine", "MICU"]
    assert later[0]["period"]["end"] == "2150-03-02T08:00:00Z" and "end" not in later[1]["period"]
    end = chart.all("Encounter")
    assert end["ed-7"]["location"][0]["location"]["display"] == "Emergency Department"
    assert end["ed-103"]["period"] == {"start": "2150-05-01T10:00:00Z", "end": "2150-05-01T12:00:00Z"}
    assert len(end["10"]["location"]) == 2


def test_an_ed_event_without_edstays_is_an_ed_stay_whether_it_led_to_an_admission_or_not(invented: Any) -> None:
    row = "1,10,7,ED,Emergency Department,2150-03-01 06:00:00,2150-03-01 11:00:00\n"
    chart = invented(transfers=TRANSFERS + row)
    assert set(chart.all("Encounter", "2150-03-01T07:00:00Z")) == {"ed-7"}
    found = chart.all("Encounter")
    assert "location" not in found["10"]
    assert found["ed-7"]["partOf"] == {"reference": "Encounter/10"}
    assert found["ed-7"]["location"][0]["location"]["display"] == "Emergency Department"


def test_the_service_is_the_one_of_the_anchor(invented: Any) -> None:
    rows = (
        "1,10,2150-03-01 10:00:00,,MED\n"
        "1,10,2150-03-03 08:00:00,MED,CMED\n"
        "1,10,2150-03-05 08:00:00,CMED,XYZ\n"
        "1,99,2150-03-05 08:00:00,,MED\n"
    )
    chart = invented(services=SERVICES + rows)
    assert chart.refused("services") == {"hadm_id is not an admission of this patient": 1}
    assert chart.table("services").notes == {"curr_service without a name; kept as its code": 1}
    seen = [chart.all("Encounter", at)["10"] for at in ("2150-03-01T10:00:00Z", "2150-03-03T08:00:00Z", "2150-03-06")]
    assert [stay["serviceType"]["text"] for stay in seen] == ["Medical", "Cardiac Medical", "XYZ"]
    assert "extension" not in seen[0]
    assert [part["extension"][0]["valueCoding"]["code"] for part in seen[1]["extension"]] == ["MED", "CMED"]
    assert len(seen[2]["extension"]) == 3


@pytest.mark.parametrize("table", ["icustays", "edstays"])
def test_a_stay_that_cannot_be_placed_is_refused(invented: Any, table: str) -> None:
    head, tail = (ICU, "A,A,{},{},1\n") if table == "icustays" else (ED, "{},{},F,WHITE,WALK IN,HOME\n")
    rows = [
        f"1,10,{stay}," + tail.format(came, left)
        for stay, came, left in (
            ("30", "2150-03-02 08:00:00", "2150-03-01 08:00:00"),
            ("x", "2150-03-02 08:00:00", ""),
            ("31", "", ""),
            ("32", "3/2/2150 8:00", ""),
            ("33", "2150-03-02 08:00:00", ""),
            ("33", "2150-03-02 09:00:00", ""),
        )
    ]
    chart = invented(**{table: head + "".join(rows)})
    assert chart.refused(table) == {
        "intime is empty: nobody can say when it was": 1,
        "intime is not a time": 1,
        "stay_id is not a whole number": 1,
        "the row's key stands twice with other cells; the row that was known first is kept": 1,
    }
    assert chart.table(table).notes == {
        "outtime is empty; status unknown": 1,
        "the end of the stay precedes its start; it ends when it starts": 1,
    }
    prefix = "icu" if table == "icustays" else "ed"
    found = chart.all("Encounter")
    assert found[f"{prefix}-33"]["status"] == "unknown"
    assert found[f"{prefix}-30"]["period"]["end"] == found[f"{prefix}-30"]["period"]["start"]


def test_rows_of_a_refused_patient_are_refused_in_every_table_of_stays(invented: Any) -> None:
    patients = (
        "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,60,2150,2011 - 2013,\n2,F,x,2150,,\n"
    )
    chart = invented(
        patients=patients,
        edstays=ED + ED_ROW + ED_ROW.replace("1,10,7", "2,,8"),
        services=SERVICES + "1,10,2150-03-01 10:00:00,,MED\n2,20,2150-03-01 10:00:00,,MED\n",
    )
    assert chart.refused("edstays") == {"the patient's own row was refused": 1}
    assert chart.refused("services") == {"the patient's own row was refused": 1}
