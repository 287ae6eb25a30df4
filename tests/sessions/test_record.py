"""What the planner sees: latest values, series, orders and pairs, and what is left out with its reason."""

from __future__ import annotations

from decimal import Decimal

import pytest

from wardround.patients import Measurement, knowledge, parse_instant
from wardround.patients.knowledge import Monitoring
from wardround.sessions.record import Reading, casual, drug_of, plain, rule_for, view_record

ANCHOR = parse_instant("2030-03-08T15:00:00Z")
TYPES = ("Observation", "MedicationRequest", "Condition", "DiagnosticReport")


def view(builder, at=ANCHOR):
    return view_record(builder.chart().at(at), "stay-1", TYPES)


def test_latest_series_and_orders(stay):
    seen = view(stay)
    potassium = seen.latest["potassium"]
    assert (potassium.text, potassium.unit, potassium.level) == ("4.6", "mmol/L", "normal")
    assert len(potassium.keys) == 1
    assert [one.text for one in seen.series["inr"]] == ["1.2", "1.3", "1.6"]
    assert seen.latest["inr"].level == "high"
    warfarin = seen.orders["warfarin"]
    assert (warfarin.dose, warfarin.route, warfarin.frequency) == ("5 mg", "oral", "once daily")
    assert seen.types == {"Observation", "MedicationRequest", "Condition"}


def test_only_what_is_known_at_the_anchor_counts(stay):
    # The last panel is taken at 06:00 and filed at 07:30: at 07:00 nobody knows it.
    seen = view(stay, parse_instant("2030-03-08T07:00:00Z"))
    assert seen.latest["potassium"].text == "4.4"
    assert "magnesium" not in seen.latest


def test_a_tie_is_left_out_and_counted(stay):
    again = {"at": "2030-03-08T06:00:00Z", "low": "3.5", "high": "5.0", "encounter": "stay-1"}
    stay.lab("Potassium", "4.9", "mmol/L", **again)
    seen = view(stay)
    assert "potassium" not in seen.latest
    assert seen.left_out["latest value is a tie"] == 1


def test_the_same_value_twice_is_no_tie(stay):
    again = {"at": "2030-03-08T06:00:00Z", "low": "3.5", "high": "5.0", "encounter": "stay-1"}
    stay.lab("Potassium", "4.6", "mmol/L", **again)
    assert len(view(stay).latest["potassium"].keys) == 2


def test_a_bounded_last_result_is_no_latest_value(stay):
    stay.lab("Potassium", "<2.0", "mmol/L", at="2030-03-08T09:00:00Z", low="3.5", high="5.0", encounter="stay-1")
    assert "potassium" not in view(stay).latest


def test_without_a_range_of_the_chart_there_is_no_level(stay):
    stay.lab("Chloride", "101", "mmol/L", at="2030-03-08T06:00:00Z", encounter="stay-1")
    seen = view(stay)
    assert "chloride" not in seen.latest
    assert seen.left_out["latest value without a reference range"] == 1


def test_a_value_of_another_encounter_is_left_out(stay):
    stay.lab("Chloride", "101", "mmol/L", at="2030-03-08T06:00:00Z", low="98", high="107")
    seen = view(stay)
    assert "chloride" not in seen.latest
    assert seen.left_out["latest value is of another encounter"] == 1


def test_two_active_orders_of_a_drug_are_ambiguous(stay):
    stay.medication("Warfarin", dose="2.5 mg", route="oral", frequency="once daily", start="2030-03-06T10:00:00Z")
    seen = view(stay)
    assert "warfarin" not in seen.orders
    assert seen.left_out["drug with several active orders"] == 1


def test_an_order_that_ended_is_no_order(stay):
    start, stop = "2030-03-04T10:00:00Z", "2030-03-05T10:00:00Z"
    stay.medication("Digoxin", dose="0.125 mg", route="oral", frequency="once daily", start=start, stop=stop)
    assert "digoxin" not in view(stay).orders


def monitoring(*rules):
    made = [
        {
            "id": f"r{number}",
            "at_least": low,
            "below": high,
            "unit": "mmol/L",
            "act": act,
            "finding": {"en": act},
            "advice": {"en": act},
            "assumption": True,
        }
        for number, (low, high, act) in enumerate(rules)
    ]
    fields = {"id": "x", "drugs": ["lisinopril"], "lab": "potassium", "rules": made, "assumption": True}
    return Monitoring.model_validate(fields)


def reading(value, unit="mmol/L"):
    return Reading("potassium", "potassium", Decimal(value), value, unit, 0, "normal", ("Observation/x",))


RULES = monitoring((None, "3.5", "recheck"), ("3.5", "5.5", "continue"), ("5.5", None, "hold"))


@pytest.mark.parametrize(
    ("value", "act"), [("3.4", "recheck"), ("3.51", "continue"), ("5.4", "continue"), ("5.6", "hold")]
)
def test_rule_for(value, act):
    found = rule_for(RULES, reading(value))
    assert found is not None
    assert found.act == act


@pytest.mark.parametrize("value", ["3.5", "5.5", "5.50"])
def test_a_value_on_a_bound_meets_no_rule(value):
    assert rule_for(RULES, reading(value)) is None


def test_a_unit_that_does_not_convert_meets_no_rule():
    assert rule_for(RULES, reading("4.2", "mg/dL")) is None
    equal = rule_for(RULES, reading("4.2", "mEq/L"))
    assert equal is not None
    assert equal.act == "continue"


def test_names():
    assert casual("Creatinine") == "creatinine"
    assert casual("INR") == "INR"
    assert casual("Free T4") == "free T4"
    assert plain(Decimal("2.50")) == "2.5"
    assert plain(Decimal("1E+2")) == "100"
    assert plain(Decimal(10)) == "10"


def test_drug_of():
    assert drug_of("Lisinopril") == "lisinopril"
    assert drug_of("MetFORMIN (Glucophage)") == "metformin"
    assert drug_of("Bag") is None


def test_every_pair_of_the_knowledge_base_is_readable():
    labs = knowledge.labs()
    assert knowledge.monitoring()
    assert all(one.lab in labs for one in knowledge.monitoring().values())


def test_pairs_come_in_a_fixed_order(stay):
    pairs = view(stay).pairs
    assert [pair.monitoring for pair in pairs] == sorted(pair.monitoring for pair in pairs)
    assert {(pair.order.drug, pair.reading.lab) for pair in pairs} >= {("lisinopril", "potassium"), ("warfarin", "inr")}


def test_measurement_contract():
    # What this part relies on; a renamed field shows here and not deep in a run.
    assert {"concept", "value", "text", "unit", "instant", "low", "high", "key"} <= set(Measurement.__slots__)
