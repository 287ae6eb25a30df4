"""Decisions on a lab or vital sign alone: hand-made charts in every band, and what keeps a question from arising."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

import pytest
from session_moves import case_of, faults, play, rounds

from wardround.patients import Chart, ChartBuilder, ChartStore, Interview, Stream, knowledge, load_charts, parse_instant
from wardround.patients.knowledge import DecisionBand, DecisionTable, Step
from wardround.rubrics import AdviceCheck, AnyOf, Check, MentionCheck, check_answer
from wardround.sessions.common import common
from wardround.sessions.decisions import lab
from wardround.sessions.decisions.decision import Decision
from wardround.sessions.decisions.tables import band_in, table_of
from wardround.sessions.moves.decide_lab import decide_lab
from wardround.sessions.moves.move import Case
from wardround.sessions.record import view_record

NOW = "2030-03-08T10:00:00Z"
STAY = "stay-1"
RANGES = {"potassium": ("3.5", "5.1"), "hemoglobin": ("12", "16")}


def builder(sex: Literal["female", "male"] = "female", birth_date: str = "1958-05-02") -> ChartBuilder:
    chart = ChartBuilder("p-1", sex=sex, birth_date=birth_date)
    chart.encounter(STAY, "IMP", "2030-03-04T08:00:00Z", "2030-03-12T08:00:00Z", type="Inpatient stay")
    return chart


def case_from(chart: Chart) -> Case:
    now = parse_instant(NOW)
    snapshot = chart.at(now)
    return Case(
        snapshot, STAY, now, view_record(snapshot, STAY, ("Observation",)), Interview(), common(), "medication-safety"
    )


def potassium(*values: str, drugs: tuple[str, ...] = (), **more: Any) -> Case:
    chart = builder(**more)
    for day, value in enumerate(values, 8 - len(values) + 1):
        low, high = RANGES["potassium"]
        at = f"2030-03-0{day}T06:00:00Z"
        chart.lab("Potassium", value, "mmol/L", at=at, low=low, high=high, encounter=STAY)
    for drug in drugs:
        chart.medication(drug, dose="40 mg", route="oral", frequency="once daily", start="2030-03-05T08:00:00Z")
    return case_from(chart.chart())


def about(case: Case, table: str) -> Decision | None:
    return next((one for one in lab.decisions(case) if one.subject == table), None)


# -- what is right -----------------------------------------------------------------------------------------------------


def test_a_low_potassium_calls_for_replacement() -> None:
    case = potassium("3.1")
    found = about(case, "potassium_replacement")
    assert found is not None
    assert (found.act, found.unchanged, found.rules) == ("start", False, ("potassium_replacement.low",))
    assert found.avoid == ("start", "potassium binder")
    orders = [move.calls[0].arguments for move in lab.writes(case, found)]
    assert [(one["medication"], one["dose"], one["route"]) for one in orders] == [
        ("potassium chloride", "40 mEq", "oral")
    ]


def test_a_normal_potassium_calls_for_nothing_and_is_asked_of_a_patient_at_risk_only() -> None:
    case = potassium("4.2", drugs=("Furosemide",))
    found = about(case, "potassium_replacement")
    assert found is not None
    assert (found.act, found.unchanged) == ("continue", True)
    assert list(lab.writes(case, found)) == []
    assert about(potassium("4.2"), "potassium_replacement") is None
    assert about(potassium("3.2", "4.2"), "potassium_replacement") is not None


@pytest.mark.parametrize("value", ["4.4", "4.9"])
def test_what_the_value_settles_is_not_asked(value: str) -> None:
    # nobody who hears 4.4 asks whether potassium must be replaced, whatever it was before
    assert about(potassium("3.2", value), "potassium_replacement") is None


@pytest.mark.parametrize("value", ["3.5", "3.7", "5.4"])
def test_values_on_a_bound_or_between_the_bands_are_not_asked(value: str) -> None:
    assert about(potassium("3.2", value), "potassium_replacement") is None


def test_what_is_ordered_already_is_not_asked() -> None:
    assert about(potassium("3.1", drugs=("Potassium chloride",)), "potassium_replacement") is None


def test_bounds_of_adults_say_nothing_of_a_child() -> None:
    assert lab.decisions(potassium("2.8", birth_date="2020-01-01")) == ()


def test_comfort_care_asks_for_nothing() -> None:
    chart = builder()
    chart.lab("Potassium", "2.9", "mmol/L", at="2030-03-08T06:00:00Z", low="3.5", high="5.1", encounter=STAY)
    chart.procedure("Palliative care", at="2030-03-07T06:00:00Z", encounter=STAY)
    assert lab.decisions(case_from(chart.chart())) == ()


def test_renal_failure_leaves_potassium_replacement_open() -> None:
    chart = builder()
    chart.lab("Potassium", "3.2", "mmol/L", at="2030-03-08T06:00:00Z", low="3.5", high="5.1", encounter=STAY)
    assert about(case_from(chart.chart()), "potassium_replacement") is not None
    chart.lab("eGFR", "18", "mL/min/1.73 m2", at="2030-03-08T06:00:00Z", low="60", encounter=STAY)
    assert about(case_from(chart.chart()), "potassium_replacement") is None


def test_hemoglobin_between_seven_and_eight_is_contested() -> None:
    found = {}
    for value in ("6.4", "7.6", "9.4"):
        chart = builder()
        chart.lab("Hemoglobin", value, "g/dL", at="2030-03-08T06:00:00Z", low="12", high="16", encounter=STAY)
        decision = about(case_from(chart.chart()), "hemoglobin_transfusion")
        found[value] = None if decision is None else decision.unchanged
    assert found == {"6.4": False, "7.6": None, "9.4": True}


# -- every table, every band -------------------------------------------------------------------------------------------

_AT, _BEFORE = "2030-03-08T06:00:00Z", "2030-03-07T06:00:00Z"
_SINGLE = tuple(
    (name, band.id)
    for name, table in sorted(knowledge.decisions().items())
    if table.kind != "score"
    for band in table.bands
)


def inside(band: DecisionBand) -> Decimal:
    if band.at_least is not None and band.below is not None:
        return (band.at_least + band.below) / 2
    if band.at_least is not None:
        return band.at_least * Decimal("1.1")
    assert band.below is not None
    return band.below * Decimal("0.9")


def case_in(table: DecisionTable, band: DecisionBand) -> Case:
    """Return a patient whose value lies in a band, and who gives occasion to ask."""
    chart = builder(band.sex or "female")
    known, none = knowledge.labs()[table.subject], next(one for one in table.bands if not one.indicated)
    unit = knowledge.unit(table.unit)
    shown = unit.display if unit is not None else None
    yes = next(one for one in table.bands if one.indicated)
    add = chart.lab if table.kind == "lab" else chart.vital
    values = [(_AT, inside(band))] if table.most_values == 1 else [(_BEFORE, inside(yes)), (_AT, inside(band))]
    for at, value in values:
        text = str(round(value, 3))
        name: str = known.name.en
        if table.subject == "systolic_bp":
            name, text = "Blood Pressure", f"{int(value)}/55"
        bounds = {"low": none.at_least, "high": none.below}
        add(name, text, shown, at=at, encounter=STAY, **({} if name == "Blood Pressure" else bounds))
    occasion = table.occasion
    states = [one for one in (occasion.states if occasion is not None else ()) if one not in none.unless]
    for condition in (*table.needs[:1], *states[:1]):
        chart.condition(knowledge.lexicon().concept(condition).name.en, onset="2030-03-04", encounter=STAY)
    for drug in occasion.drugs[:1] if occasion is not None else ():
        member = next(one for one in sorted(knowledge.drugs()) if knowledge.lexicon().is_a(one, drug))
        name = knowledge.drugs()[member].name.en
        chart.medication(name, dose="10 mg", route="oral", frequency="once daily", start="2030-03-05T08:00:00Z")
    case = case_from(chart.chart())
    return replace(case, scenario=table.scenarios[0], _memo={}) if table.scenarios else case


@pytest.mark.parametrize(("name", "rule"), _SINGLE)
def test_every_band_is_decided_and_its_turns_hold(name: str, rule: str) -> None:
    table = knowledge.decisions()[name]
    band = next(one for one in table.bands if one.id == rule)
    case = case_in(table, band)
    found = about(case, name)
    assert found is not None
    assert band_in(found) == band
    assert table_of(found) == table
    assert found.unchanged is not band.indicated
    play(case, [*lab.openings(case, found), *lab.decides(case, found, False), *lab.writes(case, found)])
    assert list(lab.decides(case, found, True)) == []
    assert list(lab.asks(case, found)) == []


def test_the_hinge_turns_the_decision() -> None:
    for value in ("3.1", "4.2"):
        found = about(potassium("3.0", value), "potassium_replacement")
        assert found is not None
        other = about(potassium("3.0", found.hinge.to), "potassium_replacement")
        assert other is not None
        assert other.unchanged is not found.unchanged
        assert found.hinge.keys == found.reading.keys if found.reading is not None else False


def test_the_wrong_advice_loses_the_advice_and_the_safety_item() -> None:
    case = potassium("3.1")
    found = about(case, "potassium_replacement")
    assert found is not None
    move = decide_lab(case, found)
    right = {item.id: item.check for item in move.rubric}
    wrong = "Potassium 3.1 mmol/L is low. No potassium replacement is needed; start patiromer."
    assert not check_answer(right["advice"], wrong, language="en").passed
    assert not check_answer(right["no-danger"], wrong, language="en").passed


@pytest.mark.parametrize(
    ("words", "passes"),
    [
        ("Potassium 4.8 mmol/L is normal. No early repeat is needed.", True),
        ("Potassium 4.8 mmol/L is normal. No repeat needed.", True),
        ("血钾4.8 mmol/L，正常。没有必要尽早复查。", True),
        ("Potassium 4.8 mmol/L is normal. Get an early repeat.", False),
        ("血钾4.8 mmol/L，正常。建议尽早复查。", False),
    ],
)
def test_a_repeat_is_turned_down_without_naming_the_lab_again(words: str, passes: bool) -> None:
    case = potassium("4.8", drugs=("Furosemide",))
    found = about(case, "potassium_recheck")
    assert found is not None
    move = decide_lab(case, found)
    assert move.slots["step"].names.en == "an early repeat"
    checks = {item.id: item.check for item in move.rubric}
    language: Literal["en", "zh"] = "en" if words.isascii() else "zh"
    assert check_answer(checks["advice"], words, language=language).passed is passes
    assert "no-danger" not in checks  # no repeat of a test is a danger


@pytest.mark.parametrize(("value", "offered"), [("2.6", False), ("5.7", True), ("6.4", False)])
def test_a_critical_value_is_treated_and_not_only_repeated(value: str, offered: bool) -> None:
    assert (about(potassium(value), "potassium_recheck") is not None) is offered


@pytest.mark.parametrize(("words", "passes"), [("below 5.5", False), ("below 3.5", True), ("low", True)])
def test_a_low_value_is_not_read_as_not_too_high(words: str, passes: bool) -> None:
    case = potassium("2.6")
    found = about(case, "potassium_replacement")
    assert found is not None
    check = next(one.check for one in decide_lab(case, found).rubric if one.id == "finding-potassium")
    said = f"Potassium 2.6 mmol/L is {words}{' mmol/L' if words[-1].isdigit() else ''}."
    assert check_answer(check, said, language="en").passed is passes


def test_a_low_sodium_is_placed_on_the_low_side_of_its_band() -> None:
    table = knowledge.decisions()["sodium_recheck"]
    case = case_in(table, table.bands[0])
    found = about(case, "sodium_recheck")
    assert found is not None
    check = next(one.check for one in decide_lab(case, found).rubric if one.id == "finding-sodium")
    assert not check_answer(check, "Sodium 128 mmol/L is above 125 mmol/L.", language="en").passed
    assert check_answer(check, "Sodium 128 mmol/L is below 132 mmol/L.", language="en").passed


@pytest.mark.parametrize(
    ("name", "band", "safety"),
    [
        ("hemoglobin_iron", "low", []),
        ("bmi_dietitian", "high", []),
        ("mcv_b12", "none", []),
        ("potassium_recheck", "high", []),
        ("lactate_icu", "high", ["no-danger"]),
        ("hemoglobin_transfusion", "none", ["no-danger"]),
        ("tsh_levothyroxine", "none", ["no-danger"]),
    ],
)
def test_only_what_does_harm_is_a_danger(name: str, band: str, safety: list[str]) -> None:
    table = knowledge.decisions()[name]
    case = case_in(table, next(one for one in table.bands if one.id.endswith(f".{band}")))
    found = about(case, name)
    assert found is not None
    assert [one.id for one in decide_lab(case, found).rubric if one.safety] == safety


def test_threads_come_in_drawn_order_those_with_a_step_first() -> None:
    case = potassium("3.1", drugs=("Furosemide",))
    order = [one.unchanged for one in lab.threads(case, Stream("t", 1))]
    assert order == sorted(order)
    assert {one.subject for one in lab.threads(case, Stream("t", 2))} == {one.subject for one in lab.decisions(case)}


# -- as people say it --------------------------------------------------------------------------------------------------

_STEPS = {table.step.id: table.step for table in knowledge.decisions().values()}
_YES = {
    "start": ("I would start {step} now.", "I recommend {step}.", "She needs {step}."),
    "order": ("Yes, order {step}.", "I recommend {step}.", "I'd get {step}."),
    "refer": ("Yes, get {step}.", "I recommend {step}.", "She needs {step}."),
    "recheck": ("Yes, get {step}.", "I recommend {step}.", "She needs {step}."),
}
_NO = ("She does not need {step}.", "I would not recommend {step}.", "There is no need for {step}.")
_YES_ZH = ("建议{step}。", "需要{step}。", "应该{step}。")
_NO_ZH = ("不需要{step}。", "目前无需{step}。", "没有必要{step}。")


def accepted(step: Step, indicated: bool) -> Check:
    checks: list[Check]
    if indicated:
        checks = [AdviceCheck(act=step.act, target=step.target)]
        checks.extend(AdviceCheck(act=one.act, target=one.target) for one in step.also)
    else:
        checks = [AdviceCheck(act="avoid", target=step.target), MentionCheck(concept=step.target, polarity="absent")]
    return AnyOf(checks=tuple(checks))


def said(step: Step) -> Iterator[tuple[bool, Literal["en", "zh"], str]]:
    for words in _YES[step.act]:
        yield True, "en", words.format(step=step.names.en)
    for words in _NO:
        yield False, "en", words.format(step=step.names.en)
    for words in _YES_ZH:
        yield True, "zh", words.format(step=step.names.zh)
    for words in _NO_ZH:
        yield False, "zh", words.format(step=step.names.zh)


@pytest.mark.parametrize("name", sorted(_STEPS))
def test_advice_is_read_in_other_words_and_never_as_its_opposite(name: str) -> None:
    step = _STEPS[name]
    for indicated, language, words in said(step):
        assert check_answer(accepted(step, indicated), words, language=language).passed, words
        assert not check_answer(accepted(step, not indicated), words, language=language).passed, words


# -- the hospital ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hospital() -> ChartStore:
    return load_charts("hospital-mini")


def test_decisions_of_the_hospital_hold(hospital: ChartStore) -> None:
    seen = 0
    for patient in sorted(hospital.patients())[:6]:
        encounter, instant = rounds(hospital, patient)[-2]
        case = case_of(hospital, patient, encounter, instant)
        for found in lab.decisions(case)[:4]:
            moves = [*lab.openings(case, found), *lab.decides(case, found, False), *lab.writes(case, found)]
            assert faults(case, moves) == [], found.subject
            seen += 1
    assert seen > 5
