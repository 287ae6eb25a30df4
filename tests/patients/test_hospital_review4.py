"""What the fourth reading found: insulin, anticoagulants round operations, infarcts, the ventilated, antibiotics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from hospital_many_lives import lives_with, many_lives, stays_for, values_of, ward_stays

from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.life import Life, Prescription, Stay
from wardround.patients.hospital.making import HOUR, MINUTE
from wardround.patients.hospital.situating import is_a
from wardround.patients.knowledge.bedside import condition_profiles, drug_profiles, lab_profiles, study_profiles
from wardround.patients.times import DAY, NEVER, Instant

_RARE = ("stemi", "hip_fracture", "covid_19", "sepsis", "pneumonia")
"""Conditions of which a few lives are made on purpose: those of many lives hold too few."""


@cache
def _made() -> tuple[Life, ...]:
    """Return lives in which most hospital stays are for ketoacidosis, where diabetes is, or for a rare condition."""
    return lives_with(4040, lambda index: ("diabetic_ketoacidosis", _RARE[index % len(_RARE)]))


def _stays(*conditions: str) -> Iterator[tuple[Life, Stay, set[str]]]:
    return stays_for((*_made(), *many_lives()), conditions)


def _orders(life: Life, inside: set[str], *drugs: str) -> list[Prescription]:
    return [one for one in life.prescriptions if one.encounter in inside and one.kind == "inpatient"
            and is_a(one.drug, drugs)]  # fmt: skip


def _until(order: Prescription) -> Instant:
    return order.stop if order.stop is not None else NEVER


# -- ketoacidosis ------------------------------------------------------------------------------------------------------


def test_insulin_runs_until_the_ketoacidosis_is_over_and_meals_are_covered_then() -> None:
    seen = 0
    for life, stay, inside in _stays("diabetic_ketoacidosis"):
        rule = rules().closing
        gaps = [(at, value) for at, value in values_of(life, rule.lab) if stay.start - 10 * HOUR < at < stay.end]
        insulin = [one for one in _orders(life, inside, "insulin") if one.line in rule.lines]
        if not insulin or stay.disposition == "died":
            continue
        seen += 1
        end = max(_until(one) for one in insulin)
        before = [value for at, value in gaps if at <= end]
        ketones = [value for at, value in values_of(life, rule.cleared[0].lab) if stay.start - DAY < at <= end]
        assert before and ketones
        assert before[-1] <= rule.enough or rule.cleared[0].off(ketones[-1]), f"{life.index} {stay.id}"
        if end < stay.end - 2 * HOUR:
            after = _orders(life, inside, "rapid_insulins")
            assert any(abs(one.start - end) < HOUR for one in after), f"{life.index} {stay.id}: nothing for the meals"
    assert seen >= 4


def test_sugar_and_potassium_are_given_beside_the_insulin() -> None:
    sugared = salted = 0
    for life, _, inside in _stays("diabetic_ketoacidosis"):
        drips = [one for one in _orders(life, inside, "insulin_regular") if one.line == "insulin_drip"]
        if not drips:
            continue
        sugared += bool(_orders(life, inside, "dextrose_saline"))
        salted += bool(_orders(life, inside, "potassium_chloride"))
    assert sugared >= 2
    assert salted >= 2


# -- anticoagulants ----------------------------------------------------------------------------------------------------


def test_no_operation_that_can_wait_is_done_on_a_home_anticoagulant_or_at_a_high_inr() -> None:
    held = 0
    rule = rules().put_off
    can_wait = {
        (profile.id, order.procedure)
        for profile in condition_profiles().values()
        for order in profile.workup.procedures
        if order.procedure in rule.procedures and order.hours[1] >= rule.can_wait_hours
    }
    for life in (*_made(), *many_lives()):
        ill = {one.id: one.condition for one in life.illnesses}
        for done in life.treated:
            if done.encounter is None or (ill.get(done.illness or ""), done.procedure) not in can_wait:
                continue
            running = [one for one in life.prescriptions if is_a(one.drug, rule.drugs)
                       and one.start < done.at < _until(one)]  # fmt: skip
            assert not running, f"{life.index} {done.id}"
            read = [value for at, value in values_of(life, rule.lab) if done.at - 2 * DAY < at < done.at]
            warfarin = [one for one in life.prescriptions if one.drug == "warfarin" and done.at - 6 * DAY < _until(one)
                        and one.start < done.at]  # fmt: skip
            if warfarin:
                assert read and read[-1] < rule.reverse_from, f"{life.index} {done.id}: {read}"
            held += any(one.stop_reason == rules().reasons["for_operation"].pair() for one in life.prescriptions)
    assert held >= 1


def test_who_goes_home_on_warfarin_has_an_inr_booked() -> None:
    seen = 0
    for life, stay, _ in ward_stays():
        on = [one for one in life.prescriptions if one.drug == "warfarin" and one.kind != "inpatient"
              and one.start <= stay.end < _until(one)]  # fmt: skip
        if on and stay.disposition != "died":
            seen += 1
            items = [item for plan in life.plans if plan.encounter == stay.id for item in plan.items]
            assert any(item.kind == "lab" and "INR" in item.text.en for item in items), f"{life.index} {stay.id}"
    assert seen >= 1


def test_beside_an_anticoagulant_one_antiplatelet_at_most_runs() -> None:
    both = 0
    for life in (*_made(), *many_lives()):
        platelets = [one for one in life.prescriptions if is_a(one.drug, ("antiplatelet",))
                     and _until(one) - one.start > HOUR]  # fmt: skip
        for order in life.prescriptions:
            if not is_a(order.drug, ("doac", "warfarin")):
                continue
            for at in [order.start, *(one.start for one in platelets if order.start <= one.start < _until(order))]:
                there = {one.drug for one in platelets if one.start <= at < _until(one)}
                assert len(there) <= 1, f"{life.index} {order.id} {there}"
                both += len(there)
    assert both >= 1


# -- infarcts ----------------------------------------------------------------------------------------------------------


def test_an_infarct_is_treated_before_the_artery_is_opened_and_the_pain_goes_then() -> None:
    seen = 0
    for life, _, inside in _stays("stemi"):
        opened = next((one for one in life.treated if one.encounter in inside and one.procedure == "pci"), None)
        if opened is None:
            continue
        seen += 1
        aspirin = [one.start for one in life.prescriptions if one.drug == "aspirin" and one.start < opened.at]
        assert aspirin, f"{life.index}: aspirin after the stent"
        late = (opened.end or opened.at) + 3 * HOUR
        after = [value for at, value in values_of(life, "pain_score") if late < at < late + DAY]
        assert all(value <= 2 for value in after), f"{life.index}: {after}"
    assert seen >= 3


def test_no_study_is_done_during_an_operation() -> None:
    seen = 0
    for life in (*_made(), *many_lives()):
        for done in life.treated:
            if done.procedure in rules().lasting or done.end is None or done.encounter is None:
                continue
            seen += 1
            inside = [one for one in life.studies if done.at <= one.at < done.end and one.encounter == done.encounter]
            assert not [one for one in inside if one.illness == done.illness], f"{life.index} {done.id}"
    assert seen > 40


def test_the_artery_the_ecg_and_the_echo_are_of_one_wall() -> None:
    walls: set[str] = set()
    words = {"I21.11": ("right coronary", "右冠状动脉"), "I21.02": ("left anterior descending", "左前降支")}
    assert {code.code for code in condition_profiles()["stemi"].codes} == set(words)
    for life, stay, inside in _stays("stemi"):
        illness = next(one for one in life.illnesses if one.id == stay.principal)
        english, chinese = words[illness.code]
        assert english in illness.title
        for done in life.treated:
            if done.encounter in inside and done.procedure == "coronary_angiography" and done.outcome is not None:
                assert english in done.outcome.en, f"{life.index} {done.id}"
                assert chinese in done.outcome.zh, f"{life.index} {done.id}"
                walls.add(english)
        other = rules().territories.get(illness.code, {})
        seen = {one.finding for one in life.signs if one.encounter in inside and one.study is not None}
        for usual, name in rules().territories["I21.02"].items():
            assert (usual if other else name) not in seen, f"{life.index} {stay.id}: {seen}"
    assert len(walls) == 2


# -- infections --------------------------------------------------------------------------------------------------------


def test_nothing_broad_runs_on_beside_what_a_culture_chose_and_nothing_is_narrowed_on_a_pressor() -> None:
    told = 0
    for life in (*_made(), *many_lives()):
        orders = {one.id: one for one in life.prescriptions}
        for event in life.events:
            if event.kind != "antibiotic_narrowed":
                continue
            told += 1
            mine = [orders[one] for one in event.facts if one in orders]
            illness = mine[0].indication
            left = [one for one in life.prescriptions if one.indication == illness and is_a(one.drug, ("antibiotic",))
                    and one.start <= event.at + MINUTE < _until(one)]  # fmt: skip
            assert len({one.drug for one in left}) <= 1, f"{life.index} {event.id} {[one.drug for one in left]}"
            pressed = [one for one in life.prescriptions if one.drug == "norepinephrine"
                       and one.start <= event.at < _until(one)]  # fmt: skip
            assert not pressed, f"{life.index} {event.id}"
    assert told >= 10


def test_the_ventilated_are_sedated_and_have_cultures_where_an_infection_brought_them_there() -> None:
    seen = 0
    for life, stay, inside in _stays("pneumonia", "sepsis", "covid_19"):
        for done in life.treated:
            if done.procedure != "mechanical_ventilation" or done.encounter not in inside:
                continue
            seen += 1
            sedated = [one for one in life.prescriptions if one.line == rules().sedation.id
                       and abs(one.start - done.at) < 4 * HOUR]  # fmt: skip
            assert sedated, f"{life.index} {stay.id}"
            asked = any(one.specimen == "blood" for one in condition_profiles()[_condition(life, stay)].workup.cultures)
            if asked:
                assert any(one.encounter in inside and one.specimen == "blood" for one in life.cultures)
    assert seen >= 2


def _condition(life: Life, stay: Stay) -> str:
    return next(one.condition for one in life.illnesses if one.id == stay.principal)


def test_covid_gets_six_milligrams_a_day_and_the_antiviral_a_load() -> None:
    seen = loaded = 0
    for life, _, inside in _stays("covid_19"):
        for order in _orders(life, inside, "dexamethasone"):
            seen += 1
            assert order.frequency not in rules().once
            assert float(order.dose.split()[0]) <= 6
        loads = [one for one in _orders(life, inside, "remdesivir") if one.line == "remdesivir_load"]
        loaded += bool(loads)
        for load in loads:
            mine = {one.id for one in life.prescriptions if one.drug == "remdesivir" and one.id != load.id}
            doses = [one.at for one in life.doses if one.prescription in mine]
            assert all(at - load.start >= 18 * HOUR for at in doses if at >= load.start)
    assert seen >= 1
    assert loaded >= 1


def test_what_begins_in_hospital_is_looked_at_as_at_the_door() -> None:
    looked = 0
    for life, stay, inside in _stays(
        "hip_fracture", "stroke", "influenza", "sickle_cell_disease", "dementia", "epilepsy"
    ):
        ill = {one.id: one for one in life.illnesses}
        for event in life.events:
            if event.kind == "complication" and event.encounter in inside and event.facts[0] in stay.diagnoses:
                illness = ill[event.facts[0]]
                if illness.condition in ("pneumonia", "aspiration_pneumonia"):
                    looked += 1
                    films = [one for one in life.studies if one.illness == illness.id and one.study == "chest_xray"]
                    assert films, f"{life.index} {stay.id}"
    assert looked >= 1


def test_a_chest_film_of_a_short_emergency_visit_is_done_within_the_hour() -> None:
    seen = 0
    for life in many_lives():
        ill = {one.id: one.condition for one in life.illnesses}
        for stay in life.stays:
            if stay.kind == "ed" and stay.part_of is None and ill[stay.principal] in ("pneumonia", "copd_exacerbation"):
                films = [one for one in life.studies if one.encounter == stay.id and one.study == "chest_xray"]
                seen += len(films)
                assert all(one.at - stay.start <= 61 * MINUTE for one in films)
    assert seen >= 1


# -- the data ----------------------------------------------------------------------------------------------------------


def test_the_rules_of_this_reading_name_what_exists() -> None:
    data = rules()
    closing = data.closing
    lines = {line.id for line in condition_profiles()[closing.condition].treatments}
    assert {*closing.lines, *closing.then, *closing.ends} <= lines
    assert closing.lab in lab_profiles()
    given = [data.sedation, data.pressor, data.put_off.line, *(one.line for one in closing.beside if one.line)]
    assert all(drug in drug_profiles() for line in given for drug in line.any_of)
    assert data.put_off.lab in lab_profiles()
    assert data.put_off.safe_below < data.put_off.reverse_from
    for condition, soon in data.at_once.items():
        assert condition in condition_profiles()
        assert all(study in study_profiles() for study in soon.studies)
    assert all(rule.lab in lab_profiles() and rule.to < 1 for rule in data.eases.values())


def test_long_courses_of_steroids_are_not_stopped_at_once() -> None:
    seen = 0
    for life in (*_made(), *many_lives()):
        for order in life.prescriptions:
            long = order.kind == "discharge" and order.stop is not None and order.stop - order.start > 22 * DAY
            if order.drug == "prednisone" and long:
                items = [item for plan in life.plans for item in plan.items if order.id in item.facts]
                seen += any("all at once" in item.text.en and "不要突然停用" in item.text.zh for item in items)
                assert any("all at once" in item.text.en for item in items), f"{life.index} {order.id}"
    assert seen >= 1


def test_dialysis_is_days_away() -> None:
    follow = condition_profiles()["end_stage_renal_disease"].follow_up[0]
    assert follow.days[1] <= 3
    assert "three times a week" in follow.reason.en
