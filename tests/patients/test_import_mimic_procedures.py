"""Procedures coded at discharge and charted in the ICU. Invented rows."""

from __future__ import annotations

from typing import Any

CODED = "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version\n"
TITLES = (
    "icd_code,icd_version,long_title\n0066,9,PTCA\n3961,9,Extracorporeal circulation\n"
    "02HV33Z,10,Insertion of infusion device\n"
)
EVENTS = (
    "subject_id,hadm_id,stay_id,caregiver_id,starttime,endtime,storetime,itemid,value,valueuom,location,orderid,"
    "ordercategoryname,statusdescription,ORIGINALAMOUNT\n"
)
ITEMS = (
    "itemid,label,abbreviation,linksto,category\n"
    "225459,Chest X-Ray,Chest X-Ray,procedureevents,5-Imaging\n"
    "225792,Invasive Ventilation,Vent,procedureevents,2-Ventilation\n"
)


def test_coded_procedures_are_dated_by_day_and_known_at_discharge(invented: Any) -> None:
    rows = "1,10,1,2150-03-02,3961,9\n1,10,2,2150-03-02,02HV33Z,10\n"
    chart = invented(procedures_icd=CODED + rows, d_icd_procedures=TITLES)
    assert chart.all("Procedure", "2150-03-09T11:59:59Z") == {}
    found = chart.all("Procedure", "2150-03-09T12:00:00Z")
    assert set(found) == {"px-10-1-3961", "px-10-2-02HV33Z"}
    bypass = found["px-10-1-3961"]
    assert bypass["performedDateTime"] == "2150-03-02"
    assert [one["code"] for one in bypass["code"]["coding"]] == ["39.61", "3961"]
    assert found["px-10-2-02HV33Z"]["code"]["coding"][0]["code"] == "02HV33Z"


def test_lost_zeros_and_spreadsheet_dates_are_refused(invented: Any) -> None:
    rows = "1,10,1,2150-03-02,0066,9\n1,10,2,2150-03-02,66,9\n1,10,3,2150-03-02,066,9\n1,10,4,3/2/2150,3961,9\n"
    titles = TITLES + "066,9,Another\n"
    chart = invented(procedures_icd=CODED + rows, d_icd_procedures=titles)
    assert chart.refused("procedures_icd") == {
        "chartdate is not a time": 1,
        "icd_code is not a procedure code of its version (a lost zero?)": 1,
    }
    without = invented(
        procedures_icd=CODED + "1,10,3,2150-03-02,066,9\n1,10,4,2150-03-02,3961,9\n", d_icd_procedures=TITLES
    )
    assert without.refused("procedures_icd") == {"icd_code has lost its leading zero": 1}


def test_a_diagnosis_that_lost_its_zero_is_refused(invented: Any) -> None:
    head = "subject_id,hadm_id,seq_num,icd_code,icd_version\n"
    titles = "icd_code,icd_version,long_title\n0389,9,Septicemia\n4280,9,Congestive heart failure\n"
    chart = invented(diagnoses_icd=head + "1,10,1,389,9\n1,10,2,4280,9\n", d_icd_diagnoses=titles)
    assert chart.refused("diagnoses_icd") == {"icd_code has lost its leading zero": 1}
    assert [one["code"]["text"] for one in chart.all("Condition", "2150-03-09T12:00:00Z").values()] == [
        "Congestive heart failure"
    ]


def test_icu_imaging_can_be_found_as_imaging(invented: Any) -> None:
    rows = (
        "1,10,30,5,2150-03-02 01:54:00,2150-03-02 01:55:00,2150-03-02 02:10:00,225459,1,None,,900,Imaging,"
        "FinishedRunning,1\n"
        "1,10,30,5,2150-03-02 02:00:00,2150-03-04 02:00:00,2150-03-02 03:00:00,225792,2880,min,,901,Ventilation,"
        "Stopped,1\n"
        "1,10,30,5,3/2/2150 1:54,,,225792,1,min,,902,Ventilation,Stopped,1\n"
    )
    chart = invented(procedureevents=EVENTS + rows, d_items=ITEMS)
    assert chart.refused("procedureevents") == {"starttime is not a time": 1}
    assert chart.all("Procedure", "2150-03-02T02:09:59Z") == {}
    film = chart.all("Procedure")["icupx-900-225459"]
    assert film["category"]["text"] == "imaging"
    assert film["code"]["text"] == "Chest X-Ray"
    running = chart.all("Procedure", "2150-03-03")["icupx-901-225792"]
    assert running["status"] == "in-progress"
    assert "end" not in running["performedPeriod"]
    assert chart.all("Procedure")["icupx-901-225792"]["status"] == "stopped"


def test_a_pause_is_not_known_before_it_was_made(invented: Any) -> None:
    times = "2150-03-02 02:00:00,2150-03-04 02:00:00,2150-03-02 03:00:00"
    rows = f"1,10,30,5,{times},225792,2880,min,,901,Ventilation,Paused,1\n"
    chart = invented(procedureevents=EVENTS + rows, d_items=ITEMS)
    assert chart.all("Procedure", "2150-03-04T01:59:59Z")["icupx-901-225792"]["status"] == "in-progress"
    assert chart.all("Procedure", "2150-03-04T02:00:00Z")["icupx-901-225792"]["status"] == "on-hold"
