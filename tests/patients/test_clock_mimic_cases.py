"""Three promises of the clock, each by name: dates, orders and cultures. Invented rows, then the demo."""

from __future__ import annotations

from typing import Any

from wardround.patients import DAY, SECOND, Search, parse_instant
from wardround.patients.importers import ImportReport
from wardround.patients.resource import known_at
from wardround.patients.store import ChartStore

OMR = "subject_id,chartdate,seq_num,result_name,result_value\n1,2150-03-02,1,Weight (Lbs),127\n"
PROCEDURES = "subject_id,hadm_id,seq_num,chartdate,icd_code,icd_version\n1,10,1,2150-03-09,5491,9\n"
LABS = (
    "labevent_id,subject_id,hadm_id,specimen_id,itemid,order_provider_id,charttime,storetime,value,valuenum,valueuom,"
    "ref_range_lower,ref_range_upper,flag,priority,comments\n"
    "1,1,10,5,50912,,2150-03-02 08:00:00,,1.2,1.2,mg/dL,0.4,1.1,,,\n"
)
D_LABITEMS = "itemid,label,fluid,category\n50912,Creatinine,Blood,Chemistry\n"
PRESCRIPTIONS = (
    "subject_id,hadm_id,pharmacy_id,starttime,stoptime,drug_type,drug,formulary_drug_cd,gsn,ndc,prod_strength,form_rx,"
    "dose_val_rx,dose_unit_rx,form_val_disp,form_unit_disp,doses_per_24_hrs,route\n"
    "1,10,500,2150-03-02 12:00:00,2150-03-05 12:00:00,MAIN,Warfarin,,,0,,,5,mg,,,1,PO\n"
)
MICRO = (
    "microevent_id,subject_id,hadm_id,micro_specimen_id,order_provider_id,chartdate,charttime,spec_itemid,"
    "spec_type_desc,test_seq,storedate,storetime,test_itemid,test_name,org_itemid,org_name,isolate_num,quantity,"
    "ab_itemid,ab_name,dilution_text,dilution_comparison,dilution_value,interpretation,comments\n"
)
TAKEN = "2150-03-02 00:00:00,2150-03-02 08:00:00,70012,BLOOD CULTURE,1"
FIRST = f"1,1,10,7,,{TAKEN},2150-03-03 00:00:00,2150-03-03 09:00:00,90201,Blood Culture,,,,,,,,,,,NO GROWTH TO DATE.\n"
GROWN = "80002,ESCHERICHIA COLI,1,,90004,AMPICILLIN,,,,R,\n"
CLEAN = ",,,,,,,,,,NO GROWTH.\n"
LATER = f"2,1,10,7,,{TAKEN},2150-03-05 00:00:00,2150-03-05 09:00:00,90201,Blood Culture,"


def test_a_fact_with_a_date_only_is_known_at_the_end_of_its_day(invented: Any) -> None:
    chart = invented(omr=OMR, procedures_icd=PROCEDURES, labevents=LABS, d_labitems=D_LABITEMS)
    for kind, name, day in (
        ("Observation", "omr-1-2150-03-02-weight-lbs-1", "2150-03-02"),
        ("Observation", "lab-1", "2150-03-02"),  # charted at eight, its store time not recorded
        ("Procedure", "px-10-1-5491", "2150-03-09"),  # done on the day of discharge, at noon
    ):
        end = parse_instant(day) + DAY - SECOND
        record = chart.store.chart("1")
        assert record.at(end - SECOND).read(kind, name) is None
        assert record.at(end).read(kind, name) is not None


def test_an_order_active_at_the_anchor_has_no_end(invented: Any) -> None:
    chart = invented(prescriptions=PRESCRIPTIONS)
    (order,) = chart.all("MedicationRequest", "2150-03-05T11:59:59Z").values()
    assert order["status"] == "active"
    assert order["dispenseRequest"]["validityPeriod"] == {"start": "2150-03-02T12:00:00Z"}
    assert "statusReason" not in order
    (order,) = chart.all("MedicationRequest", "2150-03-05T12:00:00Z").values()
    assert order["status"] == "completed"
    assert order["dispenseRequest"]["validityPeriod"]["end"] == "2150-03-05T12:00:00Z"


def test_a_culture_growing_at_the_anchor_is_preliminary_and_does_not_tell_what_grows(invented: Any) -> None:
    grown, clean = (invented(microbiologyevents=MICRO + FIRST + LATER + end) for end in (GROWN, CLEAN))
    during = [chart.all("Observation", "2150-03-04") for chart in (grown, clean)]
    assert during[0] == during[1]
    (culture,) = during[0].values()
    assert culture["status"] == "preliminary"
    assert culture["valueString"] == "NO GROWTH TO DATE."
    assert "hasMember" not in culture
    ends = [chart.all("Observation")["micro-7-90201"] for chart in (grown, clean)]
    assert [end["status"] for end in ends] == ["final", "final"]
    assert ends[0]["hasMember"] == [{"reference": "Observation/micro-7-90201-org-1"}]
    assert ends[1]["valueString"] == "NO GROWTH TO DATE.\nNO GROWTH."


def test_the_demo_keeps_these_promises_in_every_chart(demo_import: tuple[ImportReport, ChartStore]) -> None:
    store = demo_import[1]
    seen = 0
    for patient in store.patients()[:10]:
        chart = store.chart(patient)
        for stay in list(chart.at(parse_instant("2300-01-01")).resources("Encounter")):
            anchor = parse_instant(stay["period"]["start"]) + DAY
            snapshot = chart.at(anchor)
            for order in snapshot.search(Search("MedicationRequest", status="active")).entries():
                assert "end" not in order.resource()["dispenseRequest"]["validityPeriod"]
                seen += 1
            for other in snapshot.resources("Encounter"):
                if other["status"] == "in-progress":
                    assert "end" not in other["period"]
                    assert "dischargeDisposition" not in other.get("hospitalization", {})
                for place in other.get("location", ()):
                    assert parse_instant(place["period"].get("start", "1900-01-01")) <= anchor
            for dated in snapshot.search(Search("Observation", text="Body weight")).entries():
                known = known_at(dated.resource())
                assert known is not None and known <= anchor
    assert seen > 100
