"""What is done because something asks for it: doses as needed, values that are off, operations."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

from hospital_many_lives import many_lives, values_of, ward_stays

from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.making import HOUR, MINUTE
from wardround.patients.hospital.situating import is_a
from wardround.patients.hospital.writing import write_record
from wardround.patients.knowledge.bedside import (
    condition_profiles,
    drug_profiles,
    finding_profiles,
    lab_profiles,
    panels,
)
from wardround.patients.times import DAY, NEVER, Instant

# -- as needed ---------------------------------------------------------------------------------------------------------


def test_opioids_as_needed_are_given_just_where_the_pain_score_asks_for_them() -> None:
    given = asked = 0
    for life in many_lives():
        scores = values_of(life, "pain_score")
        for order in life.prescriptions:
            if not order.prn or order.kind != "inpatient" or not is_a(order.drug, ("opioid",)):
                continue
            doses = [one.at for one in life.doses if one.prescription == order.id]
            for at in doses:
                given += 1
                assert any(at - 6 * HOUR <= known <= at and value >= 4 for known, value in scores)
            high = [known for known, value in scores if value >= 4 and order.start < known < (order.stop or NEVER)]
            if len(high) >= 3:
                asked += 1
                assert doses
    assert given > 20
    assert asked > 0


def test_doses_as_needed_keep_their_distance_and_their_number() -> None:
    seen = 0
    for life in many_lives():
        for order in life.prescriptions:
            if order.prn and order.kind == "inpatient":
                doses = sorted(one.at for one in life.doses if one.prescription == order.id)
                seen += len(doses)
                assert len(doses) <= 24
                assert all(later - earlier >= 4 * HOUR for earlier, later in pairwise(doses))
    assert seen > 60


def test_what_the_emergency_department_gives_is_charted_at_once() -> None:
    seen = 0
    for life in many_lives():
        ed = {one.id for one in life.stays if one.kind == "ed"}
        drug_of = {one.id: one.drug for one in life.prescriptions}
        for order in life.prescriptions:
            if order.encounter not in ed or order.kind != "inpatient" or order.prn:
                continue
            if order.stop is not None and order.stop - order.start < 15 * MINUTE:
                continue
            # a loading dose is an order of its own, may stand before, and counts for the drug
            since = order.start - 12 * HOUR
            doses = [one.at for one in life.doses if drug_of[one.prescription] == order.drug and one.at >= since]
            assert doses, f"{life.index} {order}"
            assert min(doses) - order.start <= 30 * MINUTE
            seen += 1
    assert seen > 50


def test_notes_tell_of_drugs_as_needed_only_once_one_was_given() -> None:
    told = 0
    for life in many_lives()[:60]:
        orders = {one.id for one in life.prescriptions if one.prn and one.kind == "inpatient"}
        first: dict[str, Instant] = {}
        for dose in life.doses:
            if dose.status == "given":
                first.setdefault(dose.prescription, dose.at)
        for note in write_record(life).notes:
            for part in note.parts:
                for fact in (fact for line in part.sentences for fact in line.facts):
                    if part.slug == "hospital-course" and fact in orders:
                        told += 1
                        assert first[fact] <= note.at
    assert told > 5


def test_every_word_of_the_rules_for_doses_as_needed_exists() -> None:
    for rule in rules().as_needed:
        assert all(one in finding_profiles() for one in rule.findings), rule
        assert all(lab in lab_profiles() for lab in rule.labs), rule


# -- values that are off -----------------------------------------------------------------------------------------------


def test_every_rule_that_answers_a_value_names_what_exists() -> None:
    known = {*panels(), *lab_profiles()}
    for rule in rules().replacements:
        assert rule.lab in lab_profiles()
        assert set(rule.recheck) <= known
        assert rule.line is not None or rule.recheck
        assert (rule.below is None) != (rule.at_least is None)
        if rule.line is not None:
            key = rule.line.dose_for or "usual"
            assert all(key in [dose.key for dose in drug_profiles()[drug].doses] for drug in rule.line.any_of)
    for other in rules().call_back:
        assert other.lab in lab_profiles()
        assert "{n}" in other.text.en and "{n}" in other.text.zh
        assert 1 <= other.days[0] <= other.days[1]


def test_low_potassium_on_the_ward_is_replaced_and_drawn_again() -> None:
    low = replaced = again = 0
    for life, stay, inside in ward_stays():
        for known, value in values_of(life, "potassium"):
            late = known > stay.end - 30 * HOUR or known < stay.start + HOUR
            if value >= Decimal("3.4") or late:
                continue
            low += 1
            running = [
                one for one in life.prescriptions
                if one.drug == "potassium_chloride" and known - DAY <= one.start <= known + 26 * HOUR
            ]  # fmt: skip
            replaced += bool(running)
            drawn = [one.at for one in life.results if one.lab == "potassium" and one.encounter in inside]
            again += any(known < one <= known + 34 * HOUR for one in drawn)
    assert low >= 3
    assert replaced * 2 >= low
    assert again == low


def test_heavy_drinkers_are_watched_for_withdrawal() -> None:
    watched = 0
    for life, stay, inside in ward_stays():
        ill = {one.id: one.condition for one in life.illnesses}
        withdrawing = any(ill[one] == "alcohol_withdrawal" for one in stay.diagnoses)
        if life.person.drinks_per_week < rules().drinkers.drinks or withdrawing or stay.end - stay.start < 20 * HOUR:
            continue
        scores = [one for one in life.results if one.lab == "ciwa" and one.encounter in inside]
        assert scores, f"{life.index} {stay.id}"
        assert all(one.at < stay.start + 4 * DAY for one in scores)
        plans = [item.text.en for plan in life.plans if plan.encounter == stay.id for item in plan.items]
        assert any("CIWA" in one for one in plans)
        watched += 1
    assert watched > 3


def test_a_high_pressure_in_the_clinic_is_answered() -> None:
    high = 0
    for life in many_lives():
        for stay in life.stays:
            if stay.kind != "clinic":
                continue
            read = [one for one in life.results if one.encounter == stay.id and one.lab == "blood_pressure"]
            if read and int(read[-1].text.split("/")[0]) >= 160 and life.person.birth_date < "1990":
                high += 1
                items = [
                    (plan.at, item)
                    for plan in life.plans
                    if plan.encounter == stay.id
                    for item in plan.items
                    if read[-1].id in item.facts
                ]
                assert len(items) == 1
                assert items[0][0] >= read[-1].known_at
    assert high > 3


# -- operations --------------------------------------------------------------------------------------------------------


def test_the_antibiotic_of_an_operation_is_given_within_the_hour_before_it() -> None:
    covered = 0
    for life in many_lives():
        for order in life.prescriptions:
            if order.line != rules().cover.line.id:
                continue
            covered += 1
            after = [one.at - order.start for one in life.treated if one.procedure in rules().cover.procedures]
            assert any(0 < one <= HOUR for one in after), f"{life.index} {order}"
            assert [one for one in life.doses if one.prescription == order.id]
    assert covered > 3


def test_operations_take_a_plausible_time() -> None:
    minutes = rules().operation_minutes
    names = {one.procedure for profile in condition_profiles().values() for one in profile.workup.procedures}
    assert names <= {*minutes, *rules().lasting}
    seen = 0
    for life in many_lives():
        for done in life.treated:
            if done.encounter is not None and done.end is not None and done.procedure in rules().cover.procedures:
                least, most = minutes.get(done.title, minutes[done.procedure])
                assert least * MINUTE <= done.end - done.at <= most * MINUTE
                seen += 1
    assert seen > 5


def test_an_operation_hurts_afterwards() -> None:
    seen = sore = 0
    for life in many_lives():
        scores = values_of(life, "pain_score")
        for done in life.treated:
            if done.encounter is not None and done.end is not None and done.procedure in rules().cover.procedures:
                after = [value for known, value in scores if done.end + 2 * HOUR <= known <= done.end + DAY]
                if after:
                    seen += 1
                    sore += max(after) >= 3
    assert seen > 5
    assert sore * 10 >= seen * 8


def test_fever_and_pain_on_the_ward_have_something_to_be_given_for_them() -> None:
    seen = without = 0
    for life, stay, _ in ward_stays():
        for lab, least in (("temperature", "38.3"), ("pain_score", "4")):
            late = stay.start + 8 * HOUR
            reads = [one for one in values_of(life, lab) if stay.start <= one[0] <= late and one[1] >= Decimal(least)]
            if not reads or stay.end - stay.start < 2 * DAY:
                continue
            eases = [
                one
                for one in life.prescriptions
                if is_a(one.drug, ("analgesic", "acetaminophen", "nsaid", "opioid"))
                and one.start <= stay.start + 30 * HOUR
                and (one.stop or NEVER) > stay.start
            ]
            seen += 1
            without += not eases  # an overdose of acetaminophen gets none
    assert seen > 20
    assert without * 20 <= seen


def test_nobody_has_two_opioids_in_hospital_because_of_a_pain_score() -> None:
    for life in many_lives():
        opioids = [one for one in life.prescriptions if one.kind == "inpatient" and is_a(one.drug, ("opioid",))]
        for one in opioids:
            if one.line == "strong_pain_relief":
                assert not any(
                    other.id != one.id and other.start < (one.stop or NEVER) and one.start < (other.stop or NEVER)
                    for other in opioids
                )
