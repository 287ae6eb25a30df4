"""Orders other than drugs, and the groups a stay was billed under. Invented rows."""

from __future__ import annotations

from typing import Any

from wardround.patients import COLUMNS, Search, parse_instant

POE = (
    "poe_id,poe_seq,subject_id,hadm_id,ordertime,order_type,order_subtype,transaction_type,discontinue_of_poe_id,"
    "discontinued_by_poe_id,order_provider_id,order_status\n"
)
DETAIL = "poe_id,poe_seq,subject_id,field_name,field_value\n"
DRG = "subject_id,hadm_id,drg_type,drg_code,description,drg_severity,drg_mortality\n"
PHARMACY = (
    "subject_id,hadm_id,pharmacy_id,poe_id,starttime,stoptime,medication,status,entertime,frequency\n"
    "1,10,500,1-4,2150-03-02 12:00:00,2150-03-03 12:00:00,Aspirin,Discontinued,2150-03-02 12:00:00,DAILY\n"
)
PRESCRIPTIONS = (
    "subject_id,hadm_id,pharmacy_id,starttime,stoptime,drug_type,drug,formulary_drug_cd,gsn,ndc,prod_strength,form_rx,"
    "dose_val_rx,dose_unit_rx,form_val_disp,form_unit_disp,doses_per_24_hrs,route\n"
    "1,10,500,2150-03-02 12:00:00,2150-03-03 12:00:00,MAIN,Aspirin,,,0,,,81,mg,,,1,PO\n"
)


def order(number: int, at: str, kind: str, action: str = "New", of: str = "", by: str = "", hadm: str = "10") -> str:
    return f"1-{number},{number},1,{hadm},{at},{kind},{action},{of},{by},P1,Inactive\n"


def test_an_order_runs_until_the_row_that_ends_it_was_written(invented: Any) -> None:
    rows = (
        order(1, "2150-03-02 08:00:00", "Radiology,CT Scan", by="1-3")
        + order(2, "2150-03-02 09:00:00", "Nutrition,Diet")
        + order(3, "2150-03-03 08:00:00", "Radiology,CT Scan", "D/C", of="1-1")
    )
    chart = invented(poe=POE + rows)
    assert chart.refused("poe") == {}
    assert chart.all("ServiceRequest", "2150-03-02T07:59:59Z") == {}
    before = chart.all("ServiceRequest", "2150-03-03T07:59:59Z")
    assert {name: one["status"] for name, one in before.items()} == {"poe-1-1": "active", "poe-1-2": "active"}
    assert before["poe-1-1"]["code"]["text"] == "Radiology: CT Scan"
    assert before["poe-1-1"]["category"][0]["coding"][0]["code"] == "363679005"
    assert before["poe-1-1"]["encounter"] == {"reference": "Encounter/10"}
    assert before["poe-1-1"]["meta"]["tag"][0]["code"] == "derived-status"
    after = chart.all("ServiceRequest", "2150-03-03T08:00:00Z")
    assert {name: one["status"] for name, one in after.items()} == {"poe-1-1": "revoked", "poe-1-2": "active"}
    home = chart.all("ServiceRequest", "2150-03-09T12:00:00Z")
    assert {name: one["status"] for name, one in home.items()} == {"poe-1-1": "revoked", "poe-1-2": "unknown"}
    snapshot = chart.store.chart("1").at(parse_instant("2150-03-03T07:00:00Z"))
    assert snapshot.search(Search("ServiceRequest", status="active", category="imaging")).total == 1


def test_a_change_replaces_the_order_it_changes(invented: Any) -> None:
    rows = order(1, "2150-03-02 08:00:00", "Respiratory,Oxygen") + order(
        2, "2150-03-02 18:00:00", "Respiratory,Oxygen", "Change", of="1-1"
    )
    chart = invented(poe=POE + rows)
    assert set(chart.all("ServiceRequest", "2150-03-02T17:00:00Z")) == {"poe-1-1"}
    found = chart.all("ServiceRequest", "2150-03-02T18:00:00Z")
    assert (found["poe-1-1"]["status"], found["poe-1-2"]["status"]) == ("revoked", "active")
    assert found["poe-1-2"]["replaces"] == [{"reference": "ServiceRequest/poe-1-1"}]


def test_orders_of_drugs_are_left_to_pharmacy(invented: Any) -> None:
    rows = (
        order(4, "2150-03-02 11:00:00", "Medications,")
        + order(5, "2150-03-02 11:00:00", "Medications,")
        + order(6, "2150-03-02 11:00:00", "IV therapy,IV fluids")
    )
    chart = invented(poe=POE + rows, pharmacy=PHARMACY, prescriptions=PRESCRIPTIONS)
    assert set(chart.all("ServiceRequest")) == {"poe-1-6"}
    assert chart.table("poe").notes == {
        "an order of a drug; pharmacy has it, as a MedicationRequest": 1,
        "an order of a drug that pharmacy does not have; poe does not name the drug, nothing to carry": 1,
    }


def test_an_order_before_its_stay_does_not_tell_of_it(invented: Any) -> None:
    chart = invented(
        poe=POE
        + order(1, "2150-03-01 08:00:00", "Lab,")
        + order(2, "2150-03-01 08:00:00", "Lab,", hadm="")
        + order(3, "2150-03-02 08:00:00", "Lab,", "H")
    )
    early = chart.all("ServiceRequest", "2150-03-01T09:00:00Z")
    assert {one["status"] for one in early.values()} == {"unknown"}
    assert all("encounter" not in one for one in early.values())
    later = chart.all("ServiceRequest", "2150-03-02T09:00:00Z")
    assert later["poe-1-1"]["status"] == "active" and later["poe-1-2"]["status"] == "unknown"
    assert later["poe-1-3"]["note"] == [{"text": "Transaction: H"}]


def test_fields_of_an_order_are_known_with_it_or_at_their_own_time(invented: Any) -> None:
    details = (
        "1-1,1,1,Level of Urgency,Routine (within 24 hours)\n"
        "1-1,1,1,Consult Status,Accepted\n"
        "1-1,1,1,Consult Status Time,2150-03-03 10:00:00\n"
        "1-2,2,1,Consult Status,Accepted\n"
        "1-3,3,1,Discharge When,Discharge Now\n"
        "1-9,9,1,Admit to,Surgery\n"
        "1-1,1,1,Reason,\n"
    )
    rows = (
        order(1, "2150-03-02 08:00:00", "Consults,Cardiology")
        + order(2, "2150-03-02 08:00:00", "Consults,Renal")
        + order(3, "2150-03-02 08:00:00", "Consults,Renal", "D/C", of="1-8")
    )
    chart = invented(poe=POE + rows, poe_detail=DETAIL + details)
    assert chart.refused("poe_detail") == {
        "field_name or field_value is empty": 1,
        "no row of poe for the poe_id": 1,
    }
    assert chart.table("poe_detail").notes == {
        "a field of an order that is no ServiceRequest": 1,
        "a field without its time, or a time without its field; left out": 1,
    }
    assert chart.table("poe").notes == {"discontinues an order that is not here; nothing to carry": 1}

    def said(at: str) -> list[str]:
        return [one["text"] for one in chart.all("ServiceRequest", at)["poe-1-1"]["orderDetail"]]

    assert said("2150-03-03T09:59:59Z") == ["Level of Urgency: Routine (within 24 hours)"]
    assert said("2150-03-03T10:00:00Z")[1:] == ["Consult Status: Accepted (2150-03-03T10:00:00Z)"]
    assert "orderDetail" not in chart.all("ServiceRequest")["poe-1-2"]


def test_orders_that_cannot_be_placed_are_refused(invented: Any) -> None:
    rows = (
        order(1, "2150-03-02 08:00:00", "Lab,")
        + order(1, "2150-03-02 08:00:00", "Lab,")
        + order(2, "3/2/2150 8:00", "Lab,")
        + order(3, "", "Lab,")
        + order(4, "2150-03-02 08:00:00", ",")
        + order(5, "2150-03-02 08:00:00", "Lab,").replace("1-5", "one")
    )
    chart = invented(poe=POE + rows)
    assert chart.refused("poe") == {
        "order_type is empty": 1,
        "ordertime is empty: nobody can say when it was": 1,
        "ordertime is not a time": 1,
        "poe_id is not <subject>-<number>": 1,
        "the row stands twice; one is kept": 1,
    }


def test_billing_groups_are_known_at_discharge(invented: Any) -> None:
    rows = (
        "1,10,HCFA,054,NERVOUS SYSTEM NEOPLASMS W MCC,,\n"
        "1,10,APR,143,OTHER RESPIRATORY DIAGNOSES,2,1\n"
        "1,10,XYZ,143,OTHER,x,\n"
        "1,10,HCFA,39,EXTRACRANIAL PROCEDURES,,\n"
        "1,99,HCFA,039,EXTRACRANIAL PROCEDURES,,\n"
        "1,10,HCFA,,NOTHING,,\n"
    )
    chart = invented(drgcodes=DRG + rows)
    assert chart.refused("drgcodes") == {
        "drg_code has lost its leading zero": 1,
        "hadm_id is not an admission of this patient": 1,
        "hadm_id or drg_code is not a whole number, or drg_type is empty": 1,
    }
    assert chart.table("drgcodes").notes == {
        "drg_severity is not a whole number; left out": 1,
        "drg_type without a code system of its own; its code is kept under the general one": 1,
    }
    assert chart.all("ChargeItem", "2150-03-09T11:59:59Z") == {}
    found = chart.all("ChargeItem", "2150-03-09T12:00:00Z")
    assert found["drg-10-hcfa-054"]["code"]["text"] == "NERVOUS SYSTEM NEOPLASMS W MCC"
    assert found["drg-10-hcfa-054"]["code"]["coding"][0]["code"] == "054"
    assert [one["valueInteger"] for one in found["drg-10-apr-143"]["extension"]] == [2, 1]
    assert found["drg-10-xyz-143"]["code"]["coding"][0]["code"] == "XYZ-143"
    snapshot = chart.store.chart("1").at(parse_instant("2150-03-10"))
    (entry,) = snapshot.search(Search("ChargeItem", codes=("054",), encounter="10")).entries()
    assert b'"054","NERVOUS SYSTEM NEOPLASMS W MCC"' in entry.row
    assert COLUMNS["ChargeItem"][:2] == ("id", "time")


def test_the_table_of_cpt_codes_stays_out_and_says_why(invented: Any) -> None:
    chart = invented(
        hcpcsevents="subject_id,hadm_id,chartdate,hcpcs_cd,seq_num,short_description\n1,10,2150-03-01,99218,1,x\n"
    )
    assert chart.report.unread_tables == ("hcpcsevents",)
    (message,) = [one for one in chart.report.messages if "hcpcsevents" in one]
    assert "CPT" in message
