"""What was given and what was not: emar and emar_detail. Invented rows."""

from __future__ import annotations

from typing import Any

import pytest

from wardround.patients.importers.emar import emar_status

EMAR = (
    "subject_id,hadm_id,emar_id,emar_seq,poe_id,pharmacy_id,enter_provider_id,charttime,medication,event_txt,"
    "scheduletime,storetime\n"
    "1,10,1-1,1,1-5,500,,2150-03-02 08:00:00,Metoprolol Tartrate,Administered,2150-03-02 08:00:00,2150-03-02 08:03:00\n"
    "1,10,1-2,2,1-5,500,,2150-03-02 20:00:00,Metoprolol Tartrate,Not Given,2150-03-02 20:00:00,2150-03-02 20:05:00\n"
    "1,10,1-3,3,1-6,,,2150-03-03 08:00:00,,Hold Dose,,\n"
    "1,10,1-4,4,1-6,,,2150-03-03 09:00:00,,Administered,,2150-03-03 09:00:00\n"
    "1,10,1-5,5,1-6,,,3/3/2150 9:00,Aspirin,Administered,,\n"
    "1,10,1-1,1,1-5,500,,2150-03-02 08:00:00,Metoprolol Tartrate,Administered,,2150-03-02 08:03:00\n"
)
DETAIL = (
    "subject_id,emar_id,emar_seq,parent_field_ordinal,administration_type,dose_due,dose_due_unit,dose_given,"
    "dose_given_unit,product_code,product_description,route,complete_dose_not_given\n"
    "1,1-1,1,,IV,25,mg,,,,,PO,\n"
    "1,1-1,1,1.1,,,,12.5,mg,METO25,Metoprolol 12.5mg,,\n"
    "1,1-1,1,1.2,,,,12.5,mg,METO25,Metoprolol 12.5mg,,\n"
    "1,1-3,3,1.1,,,,,,HEPA5I,Heparin 5000 Units,SC,No\n"
    "1,1-9,9,1.1,,,,1,mg,X,X,,\n"
)


def test_doses_given_and_not_given(invented: Any) -> None:
    chart = invented(emar=EMAR, emar_detail=DETAIL)
    assert chart.refused("emar") == {
        "charttime is not a time": 1,
        "no medication in emar and no product in emar_detail": 1,
        "the row's key stands twice with other cells; the row that was known first is kept": 1,
    }
    assert chart.refused("emar_detail") == {"no row of emar for the emar_id": 1}
    given = chart.all("MedicationAdministration")
    assert set(given) == {"emar-1-1", "emar-1-2", "emar-1-3"}
    first = given["emar-1-1"]
    assert first["status"] == "completed"
    assert str(first["dosage"]["dose"]["value"]) == "25.0"
    assert first["dosage"]["text"] == "12.5 mg; 12.5 mg"
    assert first["request"]["identifier"]["value"] == "500"
    assert first["medicationCodeableConcept"]["coding"][0]["code"] == "METO25"
    assert given["emar-1-2"]["status"] == "not-done"
    assert given["emar-1-2"]["statusReason"][0]["text"] == "Not Given"
    assert given["emar-1-3"]["medicationCodeableConcept"]["text"] == "Heparin 5000 Units"
    assert given["emar-1-3"]["status"] == "not-done"


def test_a_dose_is_known_when_stored_else_at_the_days_end(invented: Any) -> None:
    chart = invented(emar=EMAR, emar_detail=DETAIL)
    assert chart.all("MedicationAdministration", "2150-03-02T08:02:59Z") == {}
    assert set(chart.all("MedicationAdministration", "2150-03-02T08:03:00Z")) == {"emar-1-1"}
    assert "emar-1-3" not in chart.all("MedicationAdministration", "2150-03-03T23:59:58Z")
    assert "emar-1-3" in chart.all("MedicationAdministration", "2150-03-03T23:59:59Z")


@pytest.mark.parametrize(
    ("event", "status"),
    [
        ("Administered", "completed"),
        ("Delayed Administered", "completed"),
        ("Not Given per Sliding Scale", "not-done"),
        ("Hold Dose", "not-done"),
        ("Not Flushed", "not-done"),
        ("Stopped", "stopped"),
        ("Assessed", "unknown"),
        (None, "unknown"),
    ],
)
def test_event_words(event: str | None, status: str) -> None:
    assert emar_status(event) == status
