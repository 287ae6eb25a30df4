"""Diagnoses coded in the emergency department and drugs its cabinet handed out. Invented rows."""

from __future__ import annotations

from typing import Any

from wardround.patients import COLUMNS, Search, parse_instant

ED = (
    "subject_id,hadm_id,stay_id,intime,outtime,gender,race,arrival_transport,disposition\n"
    "1,10,7,2150-03-01 06:00:00,2150-03-01 11:00:00,F,WHITE,AMBULANCE,ADMITTED\n"
    "1,,8,2150-05-01 06:00:00,,F,WHITE,AMBULANCE,\n"
)
DIAGNOSIS = "subject_id,stay_id,seq_num,icd_code,icd_version,icd_title\n"
TITLES = 'icd_code,icd_version,long_title\nI509,10,"Heart failure, unspecified"\n0389,9,Unspecified septicemia\n'
PYXIS = "subject_id,stay_id,charttime,med_rn,name,gsn_rn,gsn\n"


def test_an_ed_diagnosis_is_known_when_the_patient_left(invented: Any) -> None:
    rows = (
        "1,7,1,I509,10,HEART FAILURE UNSPECIFIED\n"
        "1,7,2,R0602,10,SHORTNESS OF BREATH\n"
        "1,7,3,Z8673,10,PRSNL HX OF TIA\n"
        "1,8,1,I509,10,HEART FAILURE UNSPECIFIED\n"
        "1,7,4,389,9,SEPTICEMIA NOS\n"
        "1,7,5,I509,11,HEART FAILURE\n"
        "1,7,0,I509,10,HEART FAILURE\n"
        "1,9,1,I509,10,HEART FAILURE\n"
        "1,7,6,I,10,HEART FAILURE\n"
        "1,7,1,I509,10,SAME HEART FAILURE\n"
    )
    chart = invented(edstays=ED, diagnosis=DIAGNOSIS + rows, d_icd_diagnoses=TITLES)
    assert chart.refused("diagnosis") == {
        "icd_code has lost its leading zero": 1,
        "icd_version is neither 9 nor 10": 1,
        "seq_num is not a whole number from 1": 1,
        "stay_id is not an ED stay of this patient: nobody can say when it was": 1,
        "stay_id or seq_num is not a whole number, or icd_code is not an ICD code of 3 to 8 characters": 1,
        "the row's key stands twice with other cells; the row that was known first is kept": 1,
    }
    assert chart.table("diagnosis").notes == {"the ED stay has no outtime; kept, never visible": 1}
    assert chart.all("Condition", "2150-03-01T10:59:59Z") == {}
    found = chart.all("Condition", "2150-03-01T11:00:00Z")
    assert set(found) == {"eddx-7-1-I509", "eddx-7-2-R0602", "eddx-7-3-Z8673"}
    failure = found["eddx-7-1-I509"]
    assert failure["code"]["text"] == "Heart failure, unspecified"
    assert [one["code"] for one in failure["code"]["coding"]] == ["I50.9", "I509"]
    assert failure["code"]["coding"][1]["display"] == "HEART FAILURE UNSPECIFIED"
    assert failure["encounter"] == {"reference": "Encounter/ed-7"}
    assert failure["recordedDate"] == "2150-03-01T11:00:00Z"
    assert found["eddx-7-2-R0602"]["code"]["text"] == "SHORTNESS OF BREATH"
    assert "clinicalStatus" not in found["eddx-7-3-Z8673"]


def test_drug_codes_of_one_dispense_are_one_dispense(invented: Any) -> None:
    rows = (
        "1,7,2150-03-01 07:00:00,2,Fentanyl,2,004123\n"
        "1,7,2150-03-01 07:00:00,2,Fentanyl,1,048287\n"
        "1,7,2150-03-01 07:00:00,3,Aspirin,1,\n"
        "1,9,2150-03-01 07:00:00,1,Aspirin,1,004380\n"
        "1,7,3/1/2150 7:00,4,Aspirin,1,004380\n"
        "1,7,2150-03-01 07:00:00,5,,1,004380\n"
    )
    chart = invented(edstays=ED, pyxis=PYXIS + rows)
    assert chart.refused("pyxis") == {
        "charttime is not a time": 1,
        "stay_id or med_rn is not a whole number, or charttime or name is empty": 1,
    }
    assert chart.table("pyxis").notes == {
        "stay_id is not an ED stay of this patient; kept without encounter": 1,
        "the drug again with another code (gsn); one dispense with all codes": 1,
    }
    assert chart.all("MedicationDispense", "2150-03-01T06:59:59Z") == {}
    found = chart.all("MedicationDispense")
    assert len(found) == 3
    (fentanyl,) = [one for one in found.values() if one["medicationCodeableConcept"]["text"] == "Fentanyl"]
    assert [one["code"] for one in fentanyl["medicationCodeableConcept"]["coding"]] == ["048287", "004123"]
    assert fentanyl["status"] == "unknown" and fentanyl["whenHandedOver"] == "2150-03-01T07:00:00Z"
    assert fentanyl["id"].startswith("pyxis-7-21500301070000-2-")
    snapshot = chart.store.chart("1").at(parse_instant("2150-03-02"))
    assert snapshot.search(Search("MedicationDispense", encounter="10", text="fentanyl")).total == 1
    assert "medication" in COLUMNS["MedicationDispense"]
    (entry,) = snapshot.search(Search("MedicationDispense", text="fentanyl")).entries()
    assert b'"Fentanyl","unknown","ed-7"' in entry.row
