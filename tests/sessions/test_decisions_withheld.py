"""What speaks against carrying a drug on is looked at before a lab clears it: kidney, illness, bleeding."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import pytest
from session_moves import TYPES

from wardround.patients import ChartBuilder, Interview, knowledge, parse_instant
from wardround.sessions.common import common
from wardround.sessions.decisions import drug_lab
from wardround.sessions.decisions.withheld import kidney_injured, withheld, withheld_rules
from wardround.sessions.moves.move import Case
from wardround.sessions.record import view_record

NOW = parse_instant("2030-03-08T12:00:00Z")


def case_of(drug: str, creatinine: Mapping[str, str], *, egfr: str | None = None, diagnosis: str | None = None) -> Case:
    """Return a stay with one drug, creatinines by the time they were drawn, and what may speak against the drug."""
    chart = ChartBuilder("p-1", sex="female", birth_date="1958-05-02")
    chart.encounter("stay-1", "IMP", "2030-03-04T08:00:00Z", "2030-03-08T15:00:00Z")
    for at, value in creatinine.items():
        chart.lab("Creatinine", value, "mg/dL", at=at, low="0.5", high="1.1", encounter="stay-1")
    if egfr is not None:
        at = "2030-03-08T06:00:00Z"
        chart.lab("eGFR", egfr, "mL/min/1.73 m2", at=at, low="60", high="120", encounter="stay-1")
    if diagnosis is not None:
        chart.condition(diagnosis, onset="2030-03-04", encounter="stay-1")
    start = "2030-03-04T10:00:00Z"
    chart.medication(drug, dose="25 mg", route="oral", frequency="once daily", start=start, encounter="stay-1")
    snapshot = chart.chart().at(NOW)
    return Case(
        snapshot, "stay-1", NOW, view_record(snapshot, "stay-1", TYPES), Interview(), common(), "medication-safety"
    )


def acts(case: Case) -> list[str]:
    return [one.act for one in drug_lab.decisions(case)]


STEADY = {"2030-03-05T06:00:00Z": "1.2", "2030-03-08T06:00:00Z": "1.2"}
INJURED = {"2030-03-05T06:00:00Z": "1.4", "2030-03-06T06:00:00Z": "1.8", "2030-03-08T06:00:00Z": "1.6"}


@pytest.mark.parametrize("drug", ["Spironolactone", "Methotrexate"])
def test_a_steady_creatinine_clears_the_drug(drug: str) -> None:
    assert acts(case_of(drug, STEADY)) == ["continue"]


@pytest.mark.parametrize(
    "case",
    [
        case_of("Spironolactone", INJURED),
        case_of("Spironolactone", STEADY, diagnosis="Acute kidney injury"),
        case_of("Spironolactone", STEADY, diagnosis="Spontaneous bacterial peritonitis"),
        case_of("Methotrexate", STEADY, egfr="42"),
        case_of("Methotrexate", STEADY, diagnosis="Pneumonia"),
    ],
    ids=["rose in the stay", "kidney injury", "peritonitis", "eGFR below 60", "infection"],
)
def test_no_creatinine_clears_what_else_speaks_against(case: Case) -> None:
    assert acts(case) == []


def test_what_is_stopped_is_stopped_all_the_same() -> None:
    assert acts(case_of("Spironolactone", {**STEADY, "2030-03-08T06:00:00Z": "2.9"})) == ["stop"]
    assert acts(case_of("Ibuprofen", {"2030-03-08T06:00:00Z": "2.4"}, diagnosis="Heart failure")) == ["stop"]


def test_another_value_is_judged_in_the_chart_as_it_would_be() -> None:
    case = case_of("Methotrexate", STEADY)
    assert not withheld(case, "methotrexate")
    assert withheld(case, "methotrexate", {"creatinine": Decimal("1.9")})
    assert withheld(case, "methotrexate", {"egfr": Decimal(40)})


@pytest.mark.parametrize(
    ("values", "injured"),
    [
        (STEADY, False),
        (INJURED, True),
        ({"2030-03-05T06:00:00Z": "1.0", "2030-03-08T06:00:00Z": "1.5"}, True),
        ({"2030-03-05T06:00:00Z": "1.4", "2030-03-08T06:00:00Z": "1.7"}, False),
        ({"2030-03-05T06:00:00Z": "2.4", "2030-03-08T06:00:00Z": "1.2"}, True),
        ({"2030-03-05T06:00:00Z": "1.1", "2030-03-06T06:00:00Z": "1.4", "2030-03-08T06:00:00Z": "1.1"}, False),
    ],
    ids=["steady", "0.3 in two days", "half as much again in a week", "0.3 in three days", "just down", "down again"],
)
def test_kidney_injury_by_kdigo_2012(values: Mapping[str, str], injured: bool) -> None:
    assert kidney_injured(case_of("Methotrexate", values)) is injured


def test_a_diuretic_is_needed_in_overload_all_the_same() -> None:
    assert withheld(case_of("Furosemide", INJURED), "furosemide")
    assert not withheld(case_of("Furosemide", INJURED, diagnosis="Heart failure"), "furosemide")


def test_rules_name_what_exists_and_say_something() -> None:
    """An id that no table holds would silently do nothing."""
    known = {*knowledge.lexicon().concepts(), *knowledge.drug_classes()}
    for rule in withheld_rules():
        assert {*rule.drugs, *rule.conditions, *rule.unless} <= known, rule.id
        assert rule.conditions or rule.egfr_below or rule.kidney_injury, rule.id
        assert rule.egfr_below is None or Decimal(15) < rule.egfr_below <= Decimal(60), rule.id
