"""Vital signs, outpatient measurements, ICU output and dates. Invented rows."""

from __future__ import annotations

from typing import Any

SIGNS = "subject_id,stay_id,charttime,temperature,heartrate,resprate,o2sat,sbp,dbp,rhythm,pain\n"
OMR = "subject_id,chartdate,seq_num,result_name,result_value\n"
ICU = "subject_id,hadm_id,stay_id,caregiver_id,charttime,storetime,itemid,value,valueuom\n"
ITEMS = (
    "itemid,label,linksto,category\n226559,Foley,outputevents,Output\n225343,Line Insertion Date,datetimeevents,Lines\n"
)


def test_ed_signs_have_loinc_ucum_and_pressures_as_components(invented: Any) -> None:
    rows = (
        "1,7,2150-03-01 06:10:00,98.60,124,24,100,93,65,Sinus,unable\n"
        "1,7,2150-03-01 07:10:00,36.8,,,,120,,,\n"
        "1,7,3/1/2150 8:10,98.6,80,,,,,,\n"
    )
    chart = invented(vitalsign=SIGNS + rows)
    assert chart.refused("vitalsign") == {"charttime is not a time": 1}
    assert chart.all("Observation", "2150-03-01T06:09:59Z") == {}
    found = chart.all("Observation")
    warm = found["edvs-7-21500301061000-temperature"]["valueQuantity"]
    assert (str(warm["value"]), warm["code"]) == ("98.60", "[degF]")
    rate = found["edvs-7-21500301061000-heartrate"]
    assert (rate["code"]["coding"][0]["code"], rate["valueQuantity"]["code"]) == ("8867-4", "/min")
    pressure = found["edvs-7-21500301061000-bp"]["component"]
    assert [str(part["valueQuantity"]["value"]) for part in pressure] == ["93", "65"]
    assert found["edvs-7-21500301061000-pain"]["valueString"] == "unable"
    assert "dataAbsentReason" in found["edvs-7-21500301071000-bp"]["component"][1]


def test_celsius_typed_into_a_fahrenheit_column_is_read_and_counted(invented: Any) -> None:
    rows = "1,7,2150-03-01 06:10:00,36.8,,,,,,,\n1,7,2150-03-01 07:10:00,96.8,,,,,,,\n"
    chart = invented(vitalsign=SIGNS + rows)
    found = chart.all("Observation")
    assert found["edvs-7-21500301061000-temperature"]["valueQuantity"]["code"] == "Cel"
    assert found["edvs-7-21500301071000-temperature"]["valueQuantity"]["code"] == "[degF]"
    assert chart.table("vitalsign").notes == {
        "temperature between 30 and 45 in a Fahrenheit column; read as Celsius": 1,
        "stay_id is not an ED stay of this patient; kept without encounter": 2,
    }


def test_outpatient_measurements_are_known_at_the_days_end(invented: Any) -> None:
    rows = (
        "1,2150-02-01,1,Blood Pressure,110/70\n1,2150-02-01,1,Weight (Lbs),127\n1,2150-02-01,1,BMI (kg/m2),4649.4\n"
        "1,2150-02-01,2,eGFR,60\n1,2/1/2150,1,Weight (Lbs),127\n"
    )
    chart = invented(omr=OMR + rows)
    assert chart.refused("omr") == {"chartdate is not a time": 1}
    assert chart.all("Observation", "2150-02-01T23:59:58Z") == {}
    found = chart.all("Observation", "2150-02-01T23:59:59Z")
    parts = found["omr-1-2150-02-01-blood-pressure-1"]["component"]
    assert [str(part["valueQuantity"]["value"]) for part in parts] == ["110", "70"]
    assert found["omr-1-2150-02-01-weight-lbs-1"]["valueQuantity"]["code"] == "[lb_av]"
    assert str(found["omr-1-2150-02-01-bmi-kg-m2-1"]["valueQuantity"]["value"]) == "4649.4"
    (egfr,) = (one for name, one in found.items() if name.startswith("omr-1-2150-02-01-egfr-"))
    assert egfr["code"] == {"text": "eGFR"}


def test_names_that_differ_in_their_marks_only_are_two_measurements(invented: Any) -> None:
    names = ("Weight [Lbs]", "Weight (Lbs)", "eGFR", "EGFR", "e-GFR")
    chart = invented(omr=OMR + "".join(f"1,2150-02-01,1,{name},127\n" for name in names))
    assert chart.refused("omr") == {}
    assert len(chart.all("Observation")) == len(names)


def test_icu_output_and_dates_share_one_dictionary(invented: Any) -> None:
    chart = invented(
        d_items=ITEMS,
        outputevents=ICU + "1,10,30,5,2150-03-02 18:00:00,2150-03-02 18:42:00,226559,600,ml\n",
        datetimeevents=ICU
        + "1,10,30,5,2150-03-02 18:00:00,2150-03-02 18:43:00,225343,2150-03-01 00:00:00,Date\n"
        + "1,10,30,5,2150-03-02 19:00:00,2150-03-02 19:43:00,225343,3/1/2150,Date\n",
    )
    assert chart.table("d_items").read == 2
    assert chart.refused("datetimeevents") == {"value is not a time": 1}
    assert chart.all("Observation", "2150-03-02T18:41:59Z") == {}
    found = chart.all("Observation")
    urine = found["icuout-30-226559-21500302180000"]
    assert (urine["code"]["text"], urine["valueQuantity"]["code"]) == ("Foley", "mL")
    assert found["icudate-30-225343-21500302180000"]["valueDateTime"] == "2150-03-01"
    assert found["icudate-30-225343-21500302180000"]["code"]["text"] == "Line Insertion Date"
