"""Decisions, trends, writes: what is right to do, and when the record is too ambiguous to ask."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.patients import Fact, parse_instant
from wardround.sessions.planner import (
    adherence_fact,
    coherent,
    decide,
    interviewable,
    outranked,
    trend_of,
    write_for,
)
from wardround.sessions.record import Reading, view_record
from wardround.sessions.scenario import load_scenario

SCENARIO = load_scenario("medication-safety")
ANCHOR = parse_instant("2030-03-08T15:00:00Z")


def pair_of(chart, drug, lab):
    view = view_record(chart.at(ANCHOR), "stay-1", SCENARIO.resource_types, SCENARIO.casual)
    (found,) = [one for one in view.pairs if one.order.drug == drug and one.reading.lab == lab]
    return view, found


def fact(state, reason=None):
    return Fact(
        id="a", kind="adherence", concept="warfarin", drug="warfarin", state=state, reason=reason, source="simulated"
    )


def series(*values):
    return tuple(
        Reading("sodium", "sodium", Decimal(value), value, "mmol/L", place, "normal", (f"Observation/{place}",))
        for place, value in enumerate(values)
    )


@pytest.mark.parametrize(
    ("values", "direction"),
    [
        (("100", "112"), "rising"),
        (("100", "112", "112"), "rising"),
        (("4.6", "4.0", "3.1"), "falling"),
        (("140", "141", "139"), "stable"),
        (("140", "140"), "stable"),
        (("100", "130", "112"), None),  # up and down again: "rising" and "falling now" could both be argued
        (("100", "106"), None),  # between stable and rising
        (("100",), None),
        (("1",) * 21, None),
    ],
)
def test_trend(values, direction):
    found = trend_of(series(*values), SCENARIO)
    assert (found.direction if found else None) == direction


@given(st.lists(st.integers(1, 500), min_size=2, max_size=20))
def test_a_trend_never_contradicts_its_end_points(values):
    found = trend_of(series(*map(str, values)), SCENARIO)
    if found is not None:
        change = values[-1] - values[0]
        assert {"rising": change > 0, "falling": change < 0, "stable": abs(change) * 100 <= 3 * values[0]}[
            found.direction
        ]


def test_a_low_level_that_is_not_taken_is_no_dose_problem(make_chart):
    _, pair = pair_of(make_chart(), "warfarin", "inr")
    assert decide(pair, fact("taking"), SCENARIO).act == "increase"
    turned = decide(pair, fact("stopped", "fear of bleeding"), SCENARIO)
    assert (turned.act, turned.turned) == ("restart", True)
    assert "increase" not in SCENARIO.acts[turned.act].accepted
    assert SCENARIO.acts[turned.act].avoid == "increase"
    assert turned.rules[0] == pair.rule.id
    assert decide(pair, fact("missed_doses"), SCENARIO).act == "same-dose"


def test_a_drug_not_tolerated_is_eased(make_chart):
    _, pair = pair_of(make_chart(), "lisinopril", "potassium")
    assert decide(pair, fact("taking"), SCENARIO).act == "continue"
    assert decide(pair, fact("stopped", "cough"), SCENARIO).act == "ease"
    assert decide(pair, fact("stopped", "cost"), SCENARIO).act == "restart"


def test_a_dangerous_value_stays_dangerous_whatever_is_taken(make_chart):
    _, pair = pair_of(make_chart(labs={"Potassium": [("03-08", "6.4")]}), "lisinopril", "potassium")
    kept = decide(pair, fact("stopped", "cost"), SCENARIO)
    assert not kept.turned
    assert kept.act == pair.rule.act
    assert kept.act in {"stop", "hold"}


def test_in_range_though_not_taken_is_incoherent_for_a_level(make_chart):
    _, low = pair_of(make_chart(), "warfarin", "inr")
    _, good = pair_of(make_chart(labs={"INR": [("03-08", "2.4")]}), "warfarin", "inr")
    assert coherent(low, fact("stopped"), SCENARIO)
    assert not coherent(good, fact("stopped"), SCENARIO)
    assert coherent(good, fact("taking"), SCENARIO)


def test_a_graver_rule_of_the_same_drug_outranks(make_chart):
    view, pair = pair_of(make_chart(labs={"Creatinine": [("03-08", "3.1")]}), "lisinopril", "potassium")
    assert outranked(pair, view, SCENARIO)
    view, pair = pair_of(make_chart(), "lisinopril", "potassium")
    assert not outranked(pair, view, SCENARIO)


def test_adherence_fact(make_interview_of):
    talk = make_interview_of(warfarin="stopped: cost", lisinopril="taking: likes it", digoxin="unsure")
    assert adherence_fact(talk, "warfarin", SCENARIO).reason == "cost"
    assert adherence_fact(talk, "lisinopril", SCENARIO).reason is None
    assert adherence_fact(talk, "digoxin", SCENARIO) is None
    assert adherence_fact(talk, "metformin", SCENARIO) is None


def test_writes_follow_the_decision(make_chart):
    _, pair = pair_of(make_chart(), "lisinopril", "potassium")
    goes_on = write_for(decide(pair, fact("taking"), SCENARIO), SCENARIO)
    assert (goes_on.kind, goes_on.dose, goes_on.forbidden_dose) == ("prescribe", "10 mg", "20 mg")
    eased = write_for(decide(pair, fact("stopped", "cough"), SCENARIO), SCENARIO)
    assert (eased.kind, eased.dose, eased.forbidden_dose) == ("prescribe", "5 mg", "10 mg")
    _, high = pair_of(make_chart(labs={"Potassium": [("03-08", "6.4")]}), "lisinopril", "potassium")
    assert write_for(decide(high, fact("taking"), SCENARIO), SCENARIO).kind == "flag"
    _, low = pair_of(make_chart(), "warfarin", "inr")
    recheck = write_for(decide(low, fact("taking"), SCENARIO), SCENARIO)
    assert (recheck.kind, recheck.priority) == ("recheck", "routine")


def test_only_drugs_that_patients_take_themselves_are_asked_about(stay):
    stay.medication("Digoxin", dose="0.25 mg", route="IV", frequency="once daily", start="2030-03-05T10:00:00Z")
    stay.medication("Heparin", dose="5000 UNIT", route="SC", frequency="BID", start="2030-03-05T10:00:00Z")
    view = view_record(stay.chart().at(ANCHOR), "stay-1", SCENARIO.resource_types)
    asked = {drug for drug, order in view.orders.items() if interviewable(order, SCENARIO)}
    assert asked == {"lisinopril", "warfarin"}
