"""What the sixth reading found: infections, vancomycin, the hours of doses, codes against the chart."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

from hospital_many_lives import lives_with, many_lives, stays_for, values_of

from wardround.patients.hospital.charting_desk import Desk
from wardround.patients.hospital.charting_illness import chart_illness
from wardround.patients.hospital.coding import Coder, coding
from wardround.patients.hospital.doses import rhythm
from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.life import Life
from wardround.patients.hospital.medicating import is_once
from wardround.patients.hospital.record import Record
from wardround.patients.hospital.situating import is_a
from wardround.patients.knowledge.bedside import condition_profiles, drug_profiles
from wardround.patients.times import DAY, format_instant

_HOUR = DAY // 24
_WANTED = ("sepsis", "febrile_neutropenia", "endocarditis", "diverticulitis", "urinary_tract_infection")
"""Conditions of which a few lives are made on purpose: those of many lives hold too few."""


@cache
def _made() -> tuple[Life, ...]:
    """Return lives in which most hospital stays are for an infection, where it can come."""
    return lives_with(6060, lambda index: (_WANTED[1], _WANTED[index % len(_WANTED)], _WANTED[0]), count=30)


def _lives() -> tuple[Life, ...]:
    return (*_made(), *many_lives())


# -- hours of doses ----------------------------------------------------------------------------------------------------


def test_the_second_dose_of_an_antibiotic_comes_at_its_interval() -> None:
    seen = 0
    for life in _lives():
        for order in life.prescriptions:
            clock, every = rhythm(order.frequency)
            given = sorted(one.at for one in life.doses if one.prescription == order.id)
            if order.kind != "inpatient" or order.prn or len(given) < 2 or not is_a(order.drug, ("antibiotic",)):
                continue
            interval = every or 24 // len(clock or (9,))
            for first, second in pairwise(given):
                seen += 1
                assert second - first <= (interval + 4) * _HOUR, f"{life.index} {order.id} {order.drug}"
                assert second - first >= min(interval, 8) * _HOUR // 2, f"{life.index} {order.id} {order.drug}"
    assert seen > 300


def test_what_is_taken_at_bedtime_or_with_meals_is_given_then() -> None:
    seen = 0
    for life in many_lives():
        orders = {one.id: one for one in life.prescriptions}
        for dose in life.doses:
            order = orders[dose.prescription]
            hour = int(format_instant(dose.at)[11:13])
            if order.line in rules().first_dose_now and dose.at - order.start < _HOUR:
                continue  # begun at once, for what brought the patient in
            if order.frequency == "at bedtime" and not order.prn:
                seen += 1
                assert hour == 21, f"{life.index} {dose.id}"
            if "with meals" in order.frequency and not order.prn:
                seen += 1
                assert hour in (8, 12, 18), f"{life.index} {dose.id}"
    assert seen > 100


def test_a_high_level_of_vancomycin_holds_the_next_dose_and_none_is_drawn_without_it() -> None:
    held = drawn = 0
    for life in _made():
        orders = {one.id: one for one in life.prescriptions if one.drug == "vancomycin" and one.route == "IV"}
        levels = values_of(life, "vancomycin_level")
        for dose in life.doses:
            known = [value for at, value in levels if dose.at - DAY <= at <= dose.at]
            if dose.prescription in orders and known and known[-1] > 20:
                held += 1
                assert dose.status == "held", f"{life.index} {dose.id}: {known}"
        for result in life.results:
            if result.lab == "vancomycin_level":
                drawn += 1
                assert any(one.start <= result.at <= (one.stop or result.at) + DAY for one in orders.values())
    assert held >= 2
    assert drawn >= 15


# -- codes -------------------------------------------------------------------------------------------------------------


def test_an_exacerbation_is_coded_without_what_it_is_one_of() -> None:
    seen = 0
    for life in many_lives():
        ill = {one.id: one.condition for one in life.illnesses}
        for stay in life.stays:
            coded = [ill[one] for one in stay.diagnoses]
            for exacerbation, whole in (("asthma_exacerbation", "asthma"), ("copd_exacerbation", "copd")):
                if coded[0] == exacerbation and stay.kind in ("ed", "ward") and stay.part_of is None:
                    seen += 1
                    assert whole not in coded, f"{life.index} {stay.id}"
    assert seen >= 2


def test_a_stay_codes_kidneys_by_their_last_value_and_diabetes_beside_them() -> None:
    bounds = {
        "N18.1": (90, 999),
        "N18.2": (60, 90),
        "N18.31": (45, 60),
        "N18.32": (30, 45),
        "N18.4": (15, 30),
        "N18.5": (0, 15),
    }
    stages = moved = 0
    for life in many_lives():
        ill, coder, values = {one.id: one for one in life.illnesses}, Coder(life), values_of(life, "egfr")
        for stay in life.stays:
            coded = {ill[one].condition: coder.code(ill[one], stay).code for one in stay.diagnoses if one in ill}
            known = [value for at, value in values if stay.end - 400 * DAY <= at <= stay.end]
            if "chronic_kidney_disease" in coded and known and "acute_kidney_injury" not in coded:
                low, high = bounds[coded["chronic_kidney_disease"]]
                stages += 1
                assert low <= known[-1] < high, f"{life.index} {stay.id}"
                kidneys = next(ill[one] for one in stay.diagnoses if ill[one].condition == "chronic_kidney_disease")
                moved += coded["chronic_kidney_disease"] != kidneys.code
                assert coded.get("type_2_diabetes", "E11.22") == "E11.22", f"{life.index} {stay.id}"
    assert stages > 30
    assert moved >= 5


def test_an_anemia_is_coded_where_the_hemoglobin_is_low() -> None:
    seen = left_out = 0
    for life in many_lives():
        ill, coder, values = {one.id: one for one in life.illnesses}, Coder(life), values_of(life, "hemoglobin")
        for stay in life.stays:
            mine = [
                one for one in stay.diagnoses if one in ill and ill[one].condition == "anemia" and one != stay.principal
            ]
            inside = [value for at, value in values if stay.start <= at <= stay.end]
            if mine and inside and stay.part_of is None:
                seen += 1
                coded = mine[0] in set(coder.diagnoses(stay))
                left_out += not coded
                assert coded == (min(inside) < (13 if life.person.sex == "male" else 12)), f"{life.index} {stay.id}"
    assert seen >= 10
    assert left_out


def test_sepsis_is_coded_by_what_grew_from_the_end_of_its_stay_on() -> None:
    names = {organism: one.code for rule in coding().grown for one in rule.codes for organism in one.organisms}
    seen = 0
    for life in _made():
        ill, coder = {one.id: one for one in life.illnesses}, Coder(life)
        for stay in life.stays:
            septic = [
                ill[one]
                for one in stay.diagnoses
                if one in ill and ill[one].condition == "sepsis" and stay.part_of is None
            ]
            grown = [one.organism for one in life.cultures if one.specimen == "blood" and one.organism is not None
                     and stay.start <= one.at and one.stages[-1].at <= stay.end]  # fmt: skip
            for one in septic:
                expected = names.get(grown[0], one.code) if grown else one.code
                assert coder.code(one, stay).code == expected, f"{life.index} {stay.id}"
                if expected == one.code or one.encounter != stay.id or seen > 2:
                    continue
                seen += 1
                desk = Desk(Record(life, (), ()), swift=False)
                chart_illness(desk)
                charted = {resource["id"]: resource for resource, _ in desk.builder.resources()}[desk.name(one.id)]
                marks = [mark["extension"] for mark in charted["meta"]["extension"] if "extension" in mark]
                told = [
                    (part[1]["valueInstant"][:16], part[2]["valueString"])
                    for part in marks
                    if part[0]["valueString"] == "code"
                ]
                assert [at for at, _ in told] == [format_instant(one.known_at)[:16], format_instant(stay.end)[:16]]
                assert one.code in told[0][1]
                assert f'"{expected}"' in told[1][1]
    assert seen >= 2


def test_bleeding_diverticulitis_and_its_like_are_coded_as_one() -> None:
    (rule,) = coding().beside
    codes = {one.code for one in condition_profiles()[rule.condition].codes}
    assert {one.instead_of for one in rule.codes} == codes
    life = next(life for life in _made() if any(one.condition == rule.condition for one in life.illnesses))
    sick = next(one for one in life.illnesses if one.condition == rule.condition)
    stay = next(one for one in life.stays if sick.id in one.diagnoses)
    bleeds = replace(sick, id="d999", condition=rule.other)
    both = replace(life, illnesses=(*life.illnesses, bleeds))
    told = {one.instead_of: one.code for one in rule.codes}[sick.code]
    assert Coder(both).code(sick, stay).code == sick.code
    assert Coder(both).code(sick, replace(stay, diagnoses=(*stay.diagnoses, bleeds.id))).code == told


# -- doses and courses -------------------------------------------------------------------------------------------------


def test_sulfa_is_not_given_to_failing_kidneys_or_at_a_high_potassium() -> None:
    profile = drug_profiles()["trimethoprim_sulfamethoxazole"]
    assert [(one.act, str(one.below)) for one in profile.renal] == [("avoid", "30")]
    assert any(one.lab == "potassium" and str(one.at_least) == "4.9" for one in profile.contraindications)


def test_an_infected_bladder_of_a_man_is_treated_for_a_week() -> None:
    seen = 0
    for life in _lives():
        ill = {one.id: one.condition for one in life.illnesses}
        for order in life.prescriptions:
            mine = ill.get(order.indication or "") == "urinary_tract_infection" and order.kind != "inpatient"
            if mine and life.person.sex == "male" and is_a(order.drug, ("antibiotic",)) and not is_once(order):
                had = [one.start for one in life.prescriptions if one.indication == order.indication
                       and is_a(one.drug, ("antibiotic",))]  # fmt: skip
                if order.stop is not None and order.ended == "completed":
                    seen += 1
                    assert order.stop - min(had) >= 6 * DAY, f"{life.index} {order.id}"
    assert rules().longer_in_men["urinary_tract_infection"] == 7
    assert seen >= 3


def test_fever_in_neutropenia_comes_with_few_neutrophils_that_recover() -> None:
    seen = back = 0
    for life, stay, _ in stays_for(_lives(), ("febrile_neutropenia",)):
        counts = [(at, value) for at, value in values_of(life, "anc") if stay.start - DAY <= at <= stay.end]
        seen += 1
        assert counts[0][1] < 1, f"{life.index} {stay.id}: {counts[:3]}"
        back += counts[-1][1] > counts[0][1]
    assert seen >= 2
    assert back * 2 >= seen


def test_colitis_that_is_treated_as_an_infection_is_coded_as_one() -> None:
    assert {code.code[:2] for code in condition_profiles()["gastroenteritis"].codes} == {"A0"}
