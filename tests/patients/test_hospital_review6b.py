"""What the sixth reading found: infections, vancomycin, the hours of doses, codes against the chart."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from hospital_many_lives import lives_with, many_lives, stays_for, values_of

from wardround.patients.hospital.doses import rhythm
from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.life import Life
from wardround.patients.hospital.medicating import is_once
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
