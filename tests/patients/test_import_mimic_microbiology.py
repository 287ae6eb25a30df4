"""Cultures: test, organism, susceptibility, each known at its own store time. Invented rows."""

from __future__ import annotations

from typing import Any

HEAD = (
    "microevent_id,subject_id,hadm_id,micro_specimen_id,order_provider_id,chartdate,charttime,spec_itemid,"
    "spec_type_desc,test_seq,storedate,storetime,test_itemid,test_name,org_itemid,org_name,isolate_num,quantity,"
    "ab_itemid,ab_name,dilution_text,dilution_comparison,dilution_value,interpretation,comments\n"
)
TAKEN = "2150-03-02 00:00:00,2150-03-02 08:00:00,70079,URINE,1"
CULTURE = (
    f"1,1,10,77,,{TAKEN},2150-03-03 00:00:00,2150-03-03 09:00:00,90039,URINE CULTURE,,,,,,,,,,,PRESUMPTIVE.\n"
    f"2,1,10,77,,{TAKEN},2150-03-05 00:00:00,2150-03-05 09:00:00,90039,URINE CULTURE,80002,ESCHERICHIA COLI,1,,"
    "90004,AMPICILLIN,=>32,=>        ,32,R,\n"
    f"3,1,10,77,,{TAKEN},2150-03-04 00:00:00,2150-03-04 09:00:00,90039,URINE CULTURE,80002,ESCHERICHIA COLI,1,,"
    "90005,GENTAMICIN,<=1,<=        ,1,S,\n"
)


def test_a_growing_culture_is_preliminary_and_shows_only_what_was_stored(invented: Any) -> None:
    chart = invented(microbiologyevents=HEAD + CULTURE)
    assert chart.all("Observation", "2150-03-03T08:59:59Z") == {}
    first = chart.all("Observation", "2150-03-03T09:00:00Z")
    assert set(first) == {"micro-77-90039"}
    assert first["micro-77-90039"]["status"] == "preliminary"
    assert "hasMember" not in first["micro-77-90039"]
    second = chart.all("Observation", "2150-03-04T09:00:00Z")
    assert set(second) == {"micro-77-90039", "micro-77-90039-org-1", "micro-susc-3"}
    assert second["micro-77-90039"]["status"] == "preliminary"
    assert second["micro-77-90039-org-1"]["hasMember"] == [{"reference": "Observation/micro-susc-3"}]
    last = chart.all("Observation")
    assert last["micro-77-90039"]["status"] == "final"
    assert last["micro-77-90039"]["hasMember"] == [{"reference": "Observation/micro-77-90039-org-1"}]
    assert {one.get("text") for one in last["micro-77-90039"]["category"]} >= {"microbiology"}
    assert last["micro-77-90039-org-1"]["valueCodeableConcept"]["text"] == "ESCHERICHIA COLI"
    resistant = last["micro-susc-2"]
    assert resistant["valueQuantity"]["comparator"] == ">="
    assert resistant["interpretation"][0]["coding"][0]["code"] == "R"
    assert resistant["effectiveDateTime"] == "2150-03-02T08:00:00Z"


def test_a_later_comment_does_not_show_before_it_was_stored(invented: Any) -> None:
    later = (
        f"1,1,10,77,,{TAKEN},2150-03-03 00:00:00,2150-03-03 09:00:00,9,CULTURE,,,,,,,,,,,GRAM NEGATIVE RODS.\n"
        f"2,1,10,77,,{TAKEN},2150-03-06 00:00:00,2150-03-06 09:00:00,9,CULTURE,,,,,,,,,,,MIXED FLORA.\n"
    )
    chart = invented(microbiologyevents=HEAD + later)
    assert chart.all("Observation", "2150-03-04")["micro-77-9"]["valueString"] == "GRAM NEGATIVE RODS."
    assert chart.all("Observation")["micro-77-9"]["valueString"] == "GRAM NEGATIVE RODS.\nMIXED FLORA."


def test_no_charttime_is_a_day_and_damage_is_refused(invented: Any) -> None:
    rows = (
        "1,1,,5,,2150-03-02 00:00:00,,1,SWAB,1,2150-03-04 00:00:00,,9,MRSA SCREEN,,,,,,,,,,,___\n"
        "2,1,10,6,,2150-03-02 00:00:00,,1,SWAB,1,,,9,MRSA SCREEN,1,CANCELLED,,,,,,,,,TEST CANCELLED.\n"
        "3,1,10,7,,3/2/2150 1:54,,1,SWAB,1,,,9,MRSA SCREEN,,,,,,,,,,,x\n"
        "x,1,10,7,,2150-03-02 00:00:00,,1,SWAB,1,,,9,MRSA SCREEN,,,,,,,,,,,x\n"
    )
    chart = invented(microbiologyevents=HEAD + rows)
    assert chart.refused("microbiologyevents") == {
        "chartdate is not a time": 1,
        "microevent_id is not a whole number": 1,
    }
    screen = chart.all("Observation", "2150-03-04T23:59:59Z")["micro-5-9"]
    assert screen["effectiveDateTime"] == "2150-03-02"
    assert screen["dataAbsentReason"]["coding"][0]["code"] == "masked"
    assert chart.all("Observation", "2150-03-04T23:59:58Z") == {}
    assert set(chart.all("Observation")) == {"micro-5-9"}  # the other was never stored
