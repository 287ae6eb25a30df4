"""What was measured: names, vital signs, and stays with parts."""

from __future__ import annotations

import pytest

from wardround.patients import parse_instant
from wardround.sessions.common import common
from wardround.sessions.record import casual, view_record

ANCHOR = parse_instant("2030-03-08T15:00:00Z")
AT = "2030-03-08T06:00:00Z"
SHORT = {concept: tuple(name.en for name in names) for concept, names in common().casual.items()}


def view(chart, flawed=frozenset()):
    return view_record(chart.at(ANCHOR), "stay-1", ("Observation",), SHORT, flawed)


def test_vital_signs(stay):
    stay.vital("Heart Rate", "88", "/min", at="2030-03-07T06:00:00Z", low="60", high="100", encounter="stay-1")
    stay.vital("Heart Rate", "112", "/min", at=AT, low="60", high="100", encounter="stay-1")
    stay.vital("Blood Pressure", "132/84", "mmHg", at=AT, encounter="stay-1")
    seen = view(stay.chart())
    assert (seen.vitals["heart_rate"].text, seen.vitals["heart_rate"].level) == ("112", "high")
    upper, lower = seen.vitals["systolic_bp"], seen.vitals["diastolic_bp"]
    assert (upper.text, lower.text, upper.level) == ("132", "84", None)
    assert upper.at == lower.at
    assert upper.keys == lower.keys
    assert "heart_rate" not in seen.latest
    assert "potassium" not in seen.vitals


def test_a_vital_sign_that_is_a_tie_or_of_another_stay_is_left_out(stay):
    stay.vital("Heart Rate", "88", "/min", at=AT, encounter="stay-1")
    stay.vital("Heart Rate", "91", "/min", at=AT, encounter="stay-1")
    stay.vital("Temperature", "37.1", "Cel", at=AT)
    seen = view(stay.chart())
    assert not {"heart_rate", "temperature"} & set(seen.vitals)
    assert seen.left_out["latest value is a tie"] == 1
    assert seen.left_out["latest value is of another encounter"] == 1


def test_a_value_that_is_charted_wrongly_is_left_out(stay):
    key = stay.vital("Heart Rate", "888", "/min", at=AT, encounter="stay-1")
    chart = stay.chart()
    assert "heart_rate" in view(chart).vitals
    seen = view(chart, frozenset({f"Observation/{key}"}))
    assert "heart_rate" not in seen.vitals
    assert seen.left_out["vital sign with a value that is charted wrongly"] == 1


def test_what_the_emergency_department_charted_belongs_to_the_stay(stay):
    stay.encounter("ed-1", "EMER", "2030-03-04T05:00:00Z", "2030-03-04T08:00:00Z")
    resources = [resource for resource, *_ in stay._resources if resource["id"] == "ed-1"]
    resources[0]["partOf"] = {"reference": "Encounter/stay-1"}
    stay.lab("Potassium", "5.9", "mmol/L", at="2030-03-04T05:30:00Z", low="3.5", high="5.0", encounter="ed-1")
    seen = view(stay.chart())
    assert [one.text for one in seen.series["potassium"]] == ["5.9", "4.1", "4.4", "4.6"]


def test_names_are_those_of_rounds_in_both_languages(stay):
    seen = view(stay.chart())
    assert (seen.latest["platelets"].name, seen.latest["platelets"].zh) == ("platelet count", "血小板")
    assert seen.latest["inr"].names.zh == "INR"
    assert seen.latest["potassium"].names.en == "potassium"


@pytest.mark.parametrize(("name", "said"), [("Vitamin D", "vitamin D"), ("Troponin T", "troponin T"), ("LDL", "LDL")])
def test_casual(name, said):
    assert casual(name) == said


def test_a_temperature_of_a_blood_gas_is_no_vital_sign(stay):
    stay.vital("Temperature", "38.4", "Cel", at="2030-03-07T06:00:00Z", encounter="stay-1")
    stay.lab("Temperature", "37.0", None, at=AT, encounter="stay-1")
    seen = view(stay.chart())
    assert seen.vitals["temperature"].text == "38.4"
    assert seen.left_out["vital sign that is charted as a laboratory's"] == 1


def test_a_unit_that_says_that_there_is_none_is_none(stay):
    stay.lab("Arterial pH", "7.41", "units", at=AT, low="7.35", high="7.45", encounter="stay-1")
    stay.lab("Hematocrit", "34.6", "%", at=AT, low="36", high="46", encounter="stay-1")
    seen = view(stay.chart())
    assert seen.latest["arterial_ph"].quantity == "7.41"
    assert seen.latest["hematocrit"].quantity == "34.6%"
