"""Rows that share a key: their order in the file decides nothing, and what comes later changes nothing before it."""

from __future__ import annotations

from typing import Any

import pytest

ICU = "subject_id,hadm_id,stay_id,caregiver_id,charttime,storetime,itemid,value,valueuom\n"
ED = (
    "subject_id,hadm_id,stay_id,intime,outtime,gender,race,arrival_transport,disposition\n"
    "1,10,7,2150-03-01 06:00:00,2150-03-01 11:00:00,F,WHITE,AMBULANCE,ADMITTED\n"
)
TABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "outputevents": (
        ICU,
        (
            "1,10,30,5,2150-03-02 18:00:00,2150-03-02 18:42:00,226559,600,ml\n",
            "1,10,30,5,2150-03-02 18:00:00,2150-03-02 19:00:00,226559,100,ml\n",
            "1,10,30,5,2150-03-02T18:00:00,2150-03-02 18:50:00,226559,50,ml\n",
            "1,10,30,6,2150-03-02 18:00:00,2150-03-02 19:00:00,226559,100,ml\n",
        ),
    ),
    "datetimeevents": (
        ICU,
        (
            "1,10,30,5,2150-03-02 18:00:00,2150-03-02 18:43:00,225343,2150-03-01 00:00:00,Date\n",
            "1,10,30,5,2150-03-02 18:00:00,2150-03-02 18:43:00,225343,2150-02-01 00:00:00,Date\n",
        ),
    ),
    "vitalsign": (
        "subject_id,stay_id,charttime,temperature,heartrate,resprate,o2sat,sbp,dbp,rhythm,pain\n",
        ("1,7,2150-03-01 06:10:00,,124,,,93,65,,\n", "1,7,2150-03-01 06:10:00,,90,,,,,,\n"),
    ),
    "omr": (
        "subject_id,chartdate,seq_num,result_name,result_value\n",
        ("1,2150-02-01,1,Weight (Lbs),127\n", "1,2150-02-01,1,Weight (Lbs),126\n"),
    ),
    "procedures_icd": (
        "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version\n",
        ("1,10,1,2150-03-03,0066,9\n", "1,10,1,2150-03-02,00.66,9\n"),
    ),
    "procedureevents": (
        "subject_id,hadm_id,stay_id,starttime,endtime,storetime,itemid,value,orderid,statusdescription\n",
        (
            "1,10,30,2150-03-02 08:00:00,2150-03-02 09:00:00,2150-03-02 09:00:00,225402,1,900,FinishedRunning\n",
            "1,10,30,2150-03-02 08:00:00,2150-03-02 09:00:00,2150-03-02 08:30:00,225402,1,900,Paused\n",
        ),
    ),
    "drgcodes": (
        "subject_id,hadm_id,drg_type,drg_code,description,drg_severity,drg_mortality\n",
        ("1,10,APR,194,HEART FAILURE,2,1\n", "1,10,APR,194,HEART FAILURE,1,1\n"),
    ),
    "diagnoses_icd": (
        "subject_id,hadm_id,seq_num,icd_code,icd_version\n",
        ("1,10,1,V1000,9\n", "1,10,1,V1000,10\n", "1,10,2,I10,10\n", "1,10,2,I10,10\n"),
    ),
    "diagnosis": (
        "subject_id,stay_id,seq_num,icd_code,icd_version,icd_title\n",
        ("1,7,1,V1000,9,A\n", "1,7,1,V1000,10,B\n", "1,7,2,I10,10,C\n", "1,7,2,I10,10,D\n"),
    ),
    "edstays": (ED, ("1,10,7,2150-03-01 05:00:00,2150-03-01 12:00:00,F,WHITE,WALK IN,ADMITTED\n",)),
    "transfers": (
        "subject_id,hadm_id,transfer_id,eventtype,careunit,intime,outtime\n",
        (
            "1,10,5,admit,Medicine,2150-03-01 10:00:00,2150-03-02 10:00:00\n",
            "1,10,5,admit,Surgery,2150-03-01 09:00:00,2150-03-02 10:00:00\n",
        ),
    ),
    "pharmacy": (
        "subject_id,hadm_id,pharmacy_id,poe_id,status,entertime,frequency\n",
        ("1,10,500,1-1,Expired,2150-03-02 08:00:00,BID\n", "1,10,500,1-1,Expired,2150-03-01 08:00:00,TID\n"),
    ),
}
ORDER = (
    "subject_id,hadm_id,pharmacy_id,starttime,stoptime,drug_type,drug,gsn,ndc,prod_strength,form_rx,dose_val_rx,"
    "dose_unit_rx,form_val_disp,form_unit_disp,doses_per_24_hrs,route\n"
    "1,10,500,2150-03-02 09:00:00,2150-03-03 09:00:00,MAIN,Aspirin,,0,81mg,,81,mg,1,TAB,2,PO\n"
)


def tables_with(table: str, rows: tuple[str, ...]) -> dict[str, str]:
    return {"edstays": ED, "prescriptions": ORDER} | {table: TABLES[table][0] + "".join(rows)}


@pytest.mark.parametrize("table", sorted(TABLES))
def test_the_order_of_rows_in_the_file_decides_nothing(invented: Any, table: str) -> None:
    rows = TABLES[table][1]
    if table == "edstays":
        head, first = ED.splitlines(keepends=True)
        one, other = invented(edstays=head + first + rows[0]), invented(edstays=head + rows[0] + first)
    else:
        one, other = (invented(**tables_with(table, some)) for some in (rows, rows[::-1]))
    assert one.report.store_hash == other.report.store_hash
    assert one.refused(table) == other.refused(table)
    assert one.table(table).notes == other.table(table).notes


@pytest.mark.parametrize("table", ["outputevents", "procedureevents"])
def test_a_later_row_of_the_same_key_leaves_the_earlier_one_as_it_was(invented: Any, table: str) -> None:
    rows = TABLES[table][1]
    first = rows[0] if table == "outputevents" else rows[1]
    at = "2150-03-02T18:45:00Z" if table == "outputevents" else "2150-03-02T08:30:00Z"
    kind = "Observation" if table == "outputevents" else "Procedure"
    alone, all_of_them = invented(**tables_with(table, (first,))), invented(**tables_with(table, rows))
    before = alone.all(kind, at)
    assert len(before) == 1
    assert all_of_them.all(kind, at) == before


def test_rows_of_one_key_that_say_other_things_are_facts_of_their_own(invented: Any) -> None:
    names = ("outputevents", "datetimeevents", "vitalsign", "omr")
    made = invented(edstays=ED, **{name: TABLES[name][0] + "".join(TABLES[name][1]) for name in names})
    found = made.all("Observation")
    outputs = [
        str(found[f"icuout-30-226559-21500302180000{end}"]["valueQuantity"]["value"]) for end in ("", "-2", "-3")
    ]
    assert outputs == ["600", "50", "100"]
    assert made.refused("outputevents") == {"the row stands twice; one is kept": 1}
    dates = [found[f"icudate-30-225343-21500302180000{end}"]["valueDateTime"] for end in ("", "-2")]
    assert dates == ["2150-02-01", "2150-03-01"]
    assert {"edvs-7-21500301061000-heartrate", "edvs-7-21500301061000-heartrate-2"} <= set(found)
    assert {"omr-1-2150-02-01-weight-lbs-1", "omr-1-2150-02-01-weight-lbs-1-2"} <= set(found)
    assert all(made.refused(name) == {} for name in names[1:])


def test_a_code_under_both_versions_is_nobodys(invented: Any) -> None:
    made = invented(**tables_with("diagnoses_icd", TABLES["diagnoses_icd"][1]))
    assert set(made.all("Condition")) == {"dx-10-2-I10"}
    assert made.refused("diagnoses_icd") == {
        "icd_code stands with both ICD versions: nobody can say which is right": 2,
        "the row stands twice; one is kept": 1,
    }
    made = invented(**tables_with("diagnosis", TABLES["diagnosis"][1]))
    assert set(made.all("Condition")) == {"eddx-7-2-I10"}
