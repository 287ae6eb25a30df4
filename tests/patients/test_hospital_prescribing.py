"""What is chosen is safe whatever the patient; every rule holds at its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.patients import UsageError
from wardround.patients.hospital.prescribing import Problem, Situation, cautions, choose, problems
from wardround.patients.knowledge import DrugProfile, dose_amount, drug_profiles, times_a_day
from wardround.patients.rng import Stream

Phase = Literal["home", "ed", "inpatient", "icu", "discharge"]
_PHASES: tuple[Phase, ...] = ("home", "ed", "inpatient", "icu", "discharge")
_DRUGS = sorted(drug_profiles())
_CONDITIONS = sorted({one.condition for p in drug_profiles().values() for one in p.contraindications if one.condition})
_GROUPS = sorted({group for one in drug_profiles().values() for group in one.allergy_groups})


def _person(**changes: Any) -> Situation:
    given: dict[str, Any] = {"age": 60, "sex": "male", "weight_kg": Decimal(80), "crcl": Decimal(100)}
    return Situation(**(given | changes))


def _kinds(found: tuple[Problem, ...]) -> set[str]:
    return {one.kind for one in found}


_LABS: Mapping[str, tuple[int, int]] = {
    "potassium": (2, 7), "sodium": (110, 155), "heart_rate": (35, 130), "systolic_bp": (70, 210), "qtc": (380, 560),
    "platelets": (5, 400), "glucose": (40, 500), "inr": (1, 8), "egfr": (5, 100), "alt": (10, 1500),
    "hemoglobin": (5, 16),
}  # fmt: skip


@st.composite
def _situations(draw: st.DrawFn) -> Situation:
    age = draw(st.integers(0, 100))
    weight = (
        draw(st.integers(3, 12)) if age < 2 else draw(st.integers(10, 60)) if age < 14 else draw(st.integers(38, 180))
    )
    labs = draw(st.sets(st.sampled_from(sorted(_LABS)), max_size=4))
    return Situation(
        age=age,
        sex=draw(st.sampled_from(["male", "female"])),
        weight_kg=Decimal(weight),
        crcl=draw(st.none() | st.integers(3, 150).map(Decimal)),
        child_pugh=draw(st.sampled_from([None, "A", "B", "C"])),
        pregnant=draw(st.booleans()) if 15 <= age <= 45 else False,
        conditions=frozenset(draw(st.sets(st.sampled_from(_CONDITIONS), max_size=3))),
        allergies=frozenset(draw(st.sets(st.sampled_from([*_DRUGS, *_GROUPS]), max_size=1))),
        drugs=tuple(draw(st.lists(st.sampled_from(_DRUGS), max_size=4, unique=True))),
        labs={lab: Decimal(draw(st.integers(*_LABS[lab]))) for lab in sorted(labs)},
        phase=draw(st.sampled_from(_PHASES)),
    )


@settings(max_examples=400, deadline=None)
@given(
    st.data(),
    _situations(),
    st.lists(st.sampled_from(_DRUGS), min_size=1, max_size=4),
    st.integers(0, 9),
    st.booleans(),
)
def test_nothing_is_wrong_with_what_is_chosen(
    data: st.DataObject, situation: Situation, any_of: list[str], seed: int, prn: bool
) -> None:
    keys = sorted({rule.key for drug in any_of for rule in drug_profiles()[drug].doses} - {"usual"})
    key = data.draw(st.sampled_from([None, *keys]))
    chosen = choose(any_of, situation, Stream("t", seed), dose_for=key, prn=prn)
    if chosen is None:
        return
    assert problems(chosen.drug, chosen.dose, chosen.route, chosen.frequency, situation) == ()
    assert chosen.drug not in situation.drugs
    assert {drug for drug, _ in chosen.rejected} <= set(any_of)
    assert dose_amount(chosen.dose) is not None
    assert chosen == choose(any_of, situation, Stream("t", seed), dose_for=key, prn=prn)


@pytest.mark.parametrize("drug", _DRUGS)
def test_every_dose_is_given_to_somebody_well(drug: str) -> None:
    for rule in drug_profiles()[drug].doses:
        age = (rule.from_age + min(rule.below_age, 90)) // 2
        for phase in rule.phases:
            person = _person(age=age, weight_kg=Decimal(70 if age >= 15 else 9 + 3 * age), phase=phase)
            chosen = choose([drug], person, Stream(drug, phase), dose_for=rule.key, prn=rule.prn_for is not None)
            assert chosen is not None, (rule.key, phase)
            own = [one.charted for one in drug_profiles()[drug].doses if one.route == chosen.route and one.charted]
            assert any(chosen.name in names for names in (*own, drug_profiles()[drug].charted))
            assert chosen.prn or rule.prn_for is None


def _bound_cases() -> list[tuple[str, str, Decimal, bool]]:
    """Each contraindicating lab just inside and just outside of its bound."""
    step = Decimal("0.01")
    cases = []
    for one in drug_profiles().values():
        for entry in one.contraindications:
            if entry.lab is None or entry.condition or entry.pregnancy:
                continue
            if entry.at_least is not None:
                cases += [(one.id, entry.lab, entry.at_least, True), (one.id, entry.lab, entry.at_least - step, False)]
            elif entry.below is not None:
                cases += [(one.id, entry.lab, entry.below - step, True), (one.id, entry.lab, entry.below, False)]
    return cases


def test_lab_bounds_hold_to_the_digit() -> None:
    cases = _bound_cases()
    assert len(cases) > 300
    for drug, lab, value, barred in cases:
        profile = drug_profiles()[drug]
        whys = {entry.why.en for entry in profile.contraindications if entry.lab == lab}
        found = problems(drug, profile.doses[0].dose, profile.doses[0].route, "once", _person(labs={lab: value}))
        said = {one.why.en for one in found if one.kind == "contraindication"} & whys
        assert bool(said) is barred, (drug, lab, value)


def _ordered(profile: DrugProfile, key: str) -> tuple[str, str, str]:
    rule = next(rule for rule in profile.doses if rule.key == key)
    return rule.dose, rule.route, rule.frequency[0]


@pytest.mark.parametrize(
    ("drug", "crcl", "dose", "frequency"),
    [
        ("lisinopril", 30, None, "once daily"),
        ("apixaban", 25, "5 mg", "BID"),
        ("apixaban", 24, "2.5 mg", "BID"),
        ("enoxaparin", 30, "40 mg", "once daily"),
        ("enoxaparin", 29, "30 mg", "once daily"),
        ("vancomycin", 50, "1250 mg", "every 12 hours"),
        ("vancomycin", 49, "1250 mg", "every 24 hours"),
        ("vancomycin", 19, "1250 mg", "every 48 hours"),
        ("cefepime", 29, "1 g", "every 24 hours"),
        ("famotidine", 49, "20 mg", "once daily"),
    ],
)
def test_doses_follow_the_kidneys(drug: str, crcl: int, dose: str | None, frequency: str) -> None:
    found = {
        (one.dose, one.frequency)
        for seed in range(30)
        if (one := choose([drug], _person(crcl=Decimal(crcl)), Stream("kidney", seed))) is not None
    }
    rates = {times_a_day(each) for _, each in found}
    assert times_a_day(frequency) in rates
    if dose is not None:
        assert any(each == dose for each, _ in found), found


@pytest.mark.parametrize(
    ("drug", "crcl"),
    [("metformin", 30), ("spironolactone", 30), ("nitrofurantoin", 30), ("morphine", 30), ("ibuprofen", 60)],
)
def test_drugs_that_failing_kidneys_forbid(drug: str, crcl: int) -> None:
    phase: Phase = "inpatient" if drug in ("morphine", "spironolactone") else "discharge"
    assert choose([drug], _person(crcl=Decimal(crcl), phase=phase), Stream(1)) is not None
    assert choose([drug], _person(crcl=Decimal(crcl) - 1, phase=phase), Stream(1)) is None


def test_the_dose_says_why_it_is_not_the_usual_one() -> None:
    chosen = choose(["enoxaparin"], _person(crcl=Decimal(20)), Stream(1))
    assert chosen is not None
    assert chosen.adapted is not None
    assert chosen.adapted.zh is not None
    usual = choose(["enoxaparin"], _person(), Stream(1))
    assert usual is not None
    assert usual.adapted is None


def test_organ_rules_are_told_of_orders_that_break_them() -> None:
    for profile in drug_profiles().values():
        for organ in profile.renal:
            crcl = (organ.at_least or Decimal(0)) + Decimal("0.5")
            keys = organ.keys or tuple(rule.key for rule in profile.doses)
            if organ.act == "avoid" and not organ.route and not organ.keys:
                dose, route, frequency = _ordered(profile, keys[0])
                found = problems(profile.id, dose, route, frequency, _person(crcl=crcl))
                assert "renal" in _kinds(found) or "age" in _kinds(found), (profile.id, crcl)


def test_doses_follow_the_weight_and_stop_at_the_greatest() -> None:
    doses = {
        weight: chosen.dose
        for weight in (50, 80, 120, 200)
        if (chosen := choose(["vancomycin"], _person(weight_kg=Decimal(weight)), Stream(1))) is not None
    }
    assert doses == {50: "750 mg", 80: "1250 mg", 120: "1750 mg", 200: "2000 mg"}
    child = choose(["acetaminophen"], _person(age=4, weight_kg=Decimal(16)), Stream(1), prn=True)
    assert child is not None
    assert (child.dose, child.prn) == ("240 mg", True)


@pytest.mark.parametrize(
    ("drug", "dose", "route", "frequency", "kind"),
    [
        ("acetaminophen", "1000 mg", "oral", "every 4 hours", "range"),
        ("acetaminophen", "4000 mg", "oral", "once", "range"),
        ("acetaminophen", "10 mg", "oral", "every 6 hours", "range"),
        ("digoxin", "125 mg", "oral", "once daily", "range"),
        ("metformin", "500 mg", "IV", "BID", "range"),
        ("metformin", "500 mL", "oral", "BID", "range"),
        ("metformin", "a tablet or two", "oral", "BID", "range"),
        ("vancomycin", "4000 mg", "IV", "every 12 hours", "range"),
    ],
)
def test_orders_out_of_range(drug: str, dose: str, route: str, frequency: str, kind: str) -> None:
    assert kind in _kinds(problems(drug, dose, route, frequency, _person()))


def test_ages() -> None:
    assert _kinds(problems("aspirin", "81 mg", "oral", "once daily", _person(age=10))) == {"age"}
    assert _kinds(problems("levofloxacin", "750 mg", "oral", "once daily", _person(age=17))) == {"age"}
    assert "age" in _kinds(problems("prasugrel", "10 mg", "oral", "once daily", _person(age=75)))
    assert problems("prasugrel", "10 mg", "oral", "once daily", _person(age=74)) == ()


@pytest.mark.parametrize(
    ("allergy", "barred", "free"),
    [
        ("penicillin", ["amoxicillin", "piperacillin_tazobactam", "cephalexin"], ["ceftriaxone", "meropenem"]),
        ("amoxicillin", ["ampicillin", "amoxicillin_clavulanate"], ["cefepime", "aztreonam"]),
        ("penicillin_class", ["piperacillin_tazobactam"], ["cefazolin"]),
        ("sulfonamide_antibiotic", ["trimethoprim_sulfamethoxazole", "sulfasalazine"], ["furosemide"]),
        ("aspirin", ["ibuprofen", "ketorolac"], ["acetaminophen"]),
        ("oxycodone", ["oxycodone_acetaminophen"], ["hydromorphone"]),
        ("metoprolol", ["metoprolol_tartrate", "metoprolol_succinate"], ["amlodipine"]),
    ],
)
def test_allergies_cross_within_their_group(allergy: str, barred: list[str], free: list[str]) -> None:
    person = _person(allergies=frozenset({allergy}))
    for drug in barred:
        rule = drug_profiles()[drug].doses[0]
        assert "allergy" in _kinds(problems(drug, rule.dose, rule.route, rule.frequency[0], person)), drug
    for drug in free:
        rule = drug_profiles()[drug].doses[0]
        assert "allergy" not in _kinds(problems(drug, rule.dose, rule.route, rule.frequency[0], person)), drug


@pytest.mark.parametrize(
    ("drug", "now", "kind"),
    [
        ("losartan", "lisinopril", "duplicate"),
        ("carvedilol", "metoprolol_succinate", "duplicate"),
        ("metoprolol_tartrate", "metoprolol_succinate", "duplicate"),
        ("apixaban", "heparin", "duplicate"),
        ("warfarin", "enoxaparin", "duplicate"),
        ("omeprazole", "pantoprazole", "duplicate"),
        ("escitalopram", "sertraline", "duplicate"),
        ("oxycodone_acetaminophen", "acetaminophen", "duplicate"),
        ("furosemide", "furosemide", "duplicate"),
        ("ibuprofen", "apixaban", "interaction"),
        ("apixaban", "ibuprofen", "interaction"),
        ("warfarin", "amiodarone", "interaction"),
        ("amiodarone", "warfarin", "interaction"),
        ("sildenafil", "isosorbide_mononitrate", "interaction"),
        ("lorazepam", "morphine", "interaction"),
        ("meropenem", "valproate", "interaction"),
        ("lithium", "hydrochlorothiazide", "interaction"),
    ],
)
def test_drugs_that_must_not_meet(drug: str, now: str, kind: str) -> None:
    rule = drug_profiles()[drug].doses[0]
    found = problems(drug, rule.dose, rule.route, rule.frequency[0], _person(drugs=(now,)))
    assert kind in _kinds(found)
    assert all(one.absolute for one in found if one.kind == kind)


@pytest.mark.parametrize(
    ("drug", "now"),
    [
        ("aspirin", "clopidogrel"), ("aspirin", "apixaban"), ("timolol", "metoprolol_succinate"),
        ("insulin_lispro", "insulin_glargine"), ("tamsulosin", "labetalol"), ("furosemide", "spironolactone"),
        ("acetaminophen", "warfarin"), ("ampicillin", "ceftriaxone"), ("nitroglycerin", "isosorbide_mononitrate"),
    ],
)  # fmt: skip
def test_drugs_that_may_meet(drug: str, now: str) -> None:
    rule = drug_profiles()[drug].doses[0]
    assert problems(drug, rule.dose, rule.route, rule.frequency[0], _person(drugs=(now,))) == ()


def test_moderate_interactions_are_cautions_and_no_problems() -> None:
    person = _person(drugs=("lisinopril",))
    assert problems("spironolactone", "25 mg", "oral", "once daily", person) == ()
    assert [one.absolute for one in cautions("spironolactone", person)] == [False]
    assert cautions("spironolactone", _person()) == ()


def test_conditions_count_as_what_they_are_a_case_of() -> None:
    heart = _person(conditions=frozenset({"hfref"}), phase="home")
    assert choose(["pioglitazone", "metformin"], heart, Stream(1)).drug == "metformin"  # type: ignore[union-attr]
    chosen = choose(["ibuprofen", "acetaminophen"], heart, Stream(1))
    assert chosen is not None
    assert [(drug, one.kind) for drug, one in chosen.rejected] == [("ibuprofen", "contraindication")]


def test_pregnancy() -> None:
    person = _person(age=28, sex="female", pregnant=True)
    assert _kinds(problems("lisinopril", "10 mg", "oral", "once daily", person)) == {"contraindication"}
    assert problems("labetalol", "200 mg", "oral", "BID", person) == ()


def test_the_preferred_is_chosen_and_a_later_one_now_and_then() -> None:
    names = ["lisinopril", "amlodipine", "losartan"]
    chosen = [choose(names, _person(phase="home"), Stream("later", seed)) for seed in range(2000)]
    drugs = [one.drug for one in chosen if one is not None]
    assert len(drugs) == 2000
    assert Fraction(12, 100) < Fraction(drugs.count("amlodipine"), 2000) < Fraction(18, 100)
    assert drugs.count("losartan") == 0
    assert drugs.count("lisinopril") + drugs.count("amlodipine") == 2000


def test_nothing_safe_is_nothing() -> None:
    assert choose(["lisinopril"], _person(labs={"potassium": Decimal("5.5")}), Stream(1)) is None
    assert choose([], _person(), Stream(1)) is None
    assert choose(["furosemide"], _person(), Stream(1), dose_for="no_such_purpose") is None


def test_as_needed() -> None:
    chosen = choose(["ondansetron"], _person(), Stream(1), prn=True)
    assert chosen is not None
    assert chosen.prn
    assert "needed" not in chosen.frequency


def test_a_drug_without_a_profile_is_the_caller_s_fault() -> None:
    with pytest.raises(UsageError, match="no_such_drug"):
        choose(["no_such_drug"], _person(), Stream(1))
    with pytest.raises(UsageError, match="drug_profiles"):
        problems("no_such_drug", "1 mg", "oral", "BID", _person())


def test_both_languages() -> None:
    found = problems("ibuprofen", "9000 mg", "oral", "BID", _person(drugs=("warfarin", "naproxen"), crcl=Decimal(10)))
    assert len(found) >= 3
    assert all(one.why.zh for one in found)


@pytest.mark.parametrize(
    ("drug", "changes"),
    [
        ("dulaglutide", {"conditions": frozenset({"bowel_obstruction"})}),
        ("semaglutide", {"conditions": frozenset({"vomiting"})}),
        ("liraglutide", {"conditions": frozenset({"acute_kidney_injury"})}),
        ("lisinopril", {"labs": {"potassium": Decimal("5.2")}}),
        ("lisinopril", {"labs": {"egfr": Decimal(16)}}),
        ("spironolactone", {"labs": {"potassium": Decimal("5.1")}}),
        ("furosemide", {"conditions": frozenset({"gastrointestinal_bleeding"})}),
        ("denosumab", {"conditions": frozenset({"septic_shock"})}),
        ("metformin", {"labs": {"egfr": Decimal(24)}}),
        ("diclofenac", {"labs": {"egfr": Decimal(24)}}),
    ],
)
def test_home_drugs_that_the_state_forbids(drug: str, changes: dict[str, Any]) -> None:
    """What a physician found continued against the patient's state is wrong there, and right without it."""
    dose = next(one for one in drug_profiles()[drug].doses if one.from_age <= 60 < one.below_age)
    order = (drug, dose.dose, dose.route, dose.frequency[0])
    assert problems(*order, _person()) == ()
    assert "contraindication" in _kinds(problems(*order, _person(**changes)))
