"""Measurements read from observations."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from wardround.patients import ChartBuilder, Measurement, measurements, parse_instant
from wardround.patients.facts import MIMIC_ITEMS

AT = "2180-05-06 07:00"
NOW = parse_instant("2180-06-01")


def measured(*args: Any, **more: Any) -> tuple[Measurement, ...]:
    build = ChartBuilder("p")
    build.lab(*args, at=AT, id="x", **more)
    [resource] = build.chart().at(NOW).resources("Observation")
    return measurements(resource)


def test_a_plain_lab() -> None:
    [one] = measured("Creatinine", "0.30", "mg/dL", low="0.50", high="1.1", loinc="2160-0")
    assert (one.concept, one.name, one.text, one.value, one.unit) == (
        "creatinine", "Creatinine", "0.30", Decimal("0.30"), "mg/dL",
    )  # fmt: skip
    assert (one.low, one.high, one.flag, one.key) == (Decimal("0.50"), Decimal("1.1"), "L", "Observation/x")
    assert one.instant == parse_instant(AT)


def test_words_and_bounds() -> None:
    [bounded] = measured("Troponin T", ">300", "ng/L")
    assert (bounded.text, bounded.value, bounded.comparator, bounded.bound) == (">300", None, ">", Decimal(300))
    [words] = measured("Urine culture", "NO GROWTH")
    assert (words.text, words.value, words.unit, words.flag) == ("NO GROWTH", None, None, None)


def test_the_sources_flag_where_a_bound_is_missing() -> None:
    assert measured("Creatinine", "9", "mg/dL", flag="A")[0].flag == "A"
    assert measured("Creatinine", "9", "mg/dL", high="1.1", flag="H")[0].flag == "H"
    assert measured("Creatinine", "1", "mg/dL", low="0.5", high="1.1", flag="A")[0].flag is None
    assert measured("Creatinine", "1", "mg/dL", flag="N")[0].flag is None


def test_by_code_before_name() -> None:
    assert measured("Krea", "1", "mg/dL", loinc="2160-0")[0].concept == "creatinine"
    assert measured("creat", "1", "mg/dL")[0].concept == "creatinine"
    assert measured("Zorblax index", "1")[0].concept == "zorblax index"


def test_an_unknown_mimic_item_does_not_pass_for_the_lab_of_its_name() -> None:
    def item(code: str) -> str:
        coding = [{"system": MIMIC_ITEMS[0], "code": code, "display": "Creatinine"}]
        resource = {"resourceType": "Observation", "id": "x", "code": {"coding": coding}, "valueInteger": 1}
        return measurements(resource)[0].concept

    assert item("50912") == "creatinine"
    assert item("99999999") == "creatinine (99999999)"


def test_a_pressure_is_two_measurements() -> None:
    build = ChartBuilder("p")
    build.vital("Blood pressure", "120/80", "mmHg", at=AT)
    [resource] = build.chart().at(NOW).resources("Observation")
    found = measurements(resource)
    assert [(one.text, one.unit) for one in found] == [("120", "mmHg"), ("80", "mmHg")]
    assert len({one.concept for one in found}) == 2


def test_nothing_to_measure() -> None:
    assert measurements({"resourceType": "Condition", "id": "c"}) == ()
    absent = {"resourceType": "Observation", "id": "o", "code": {"text": "x"}, "dataAbsentReason": {"text": "lost"}}
    assert measurements(absent) == ()
