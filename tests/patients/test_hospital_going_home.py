"""How a stay ends and is told: first days of a clot, ways home, advice, the decisive study, reports, codes."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from hospital_many_lives import many_lives, ward_stays

from wardround.patients.dosing import timing
from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.leading_in import leads
from wardround.patients.hospital.life import Life, Prescription
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.making import HOUR
from wardround.patients.hospital.phrasing import table
from wardround.patients.hospital.reports import report_of
from wardround.patients.hospital.situating import is_a
from wardround.patients.hospital.writing import write_record
from wardround.patients.hospital.writing_view import Outline
from wardround.patients.knowledge.bedside import (
    condition_profiles,
    drug_profiles,
    finding_profiles,
    study_profiles,
)
from wardround.patients.times import DAY, NEVER

# -- first days and ways home ------------------------------------------------------------------------------------------


def _led() -> Iterator[tuple[Life, Prescription]]:
    for life in many_lives():
        for order in life.prescriptions:
            if order.kind == "discharge" and order.drug in rules().lead_in and leads(order):
                yield life, order


def test_the_first_days_dose_of_a_clot_goes_home_and_is_stepped_down_when_they_are_over() -> None:
    seen = stepped = 0
    for life, order in _led():
        seen += 1
        assert order.stop is not None
        assert order.dose == {"apixaban": "10 mg", "rivaroxaban": "15 mg"}[order.drug]
        assert timing(order.frequency)["repeat"]["frequency"] == 2
        assert (order.stop - order.start) // DAY <= rules().lead_in[order.drug]
        told = [item for plan in life.plans for item in plan.items if item.facts == (order.id,)]
        assert any("then" in one.text.en and "之后" in one.text.zh for one in told)
        if max(one.start for one in life.stays) > order.stop:
            after = [one for one in life.prescriptions if one.continues == order.id]
            assert len(after) == 1 and after[0].start == order.stop
            assert after[0].dose == {"apixaban": "5 mg", "rivaroxaban": "20 mg"}[order.drug]
            stepped += 1
    assert seen > 2
    assert stepped > 0


def test_nobody_gets_a_diuretic_by_mouth_before_two_days_in_the_vein() -> None:
    seen = 0
    for life in many_lives():
        orders = {one.id: one for one in life.prescriptions}
        for order in life.prescriptions:
            before = orders.get(order.continues or "")
            if before is None or order.route != "oral" or before.route != "IV" or order.kind != "inpatient":
                continue
            if is_a(order.drug, rules().by_mouth_first):
                first = before
                while first.continues in orders and orders[first.continues].route == "IV":
                    first = orders[first.continues]
                assert order.start - first.start >= 46 * HOUR
                seen += 1
    assert seen > 3


def test_after_a_severe_stroke_or_a_hip_fracture_few_go_home_alone() -> None:
    home = away = 0
    for life, stay, _ in ward_stays():
        illness = next(one for one in life.illnesses if one.id == stay.principal)
        grave = illness.condition in ("stroke", "hip_fracture", "hemorrhagic_stroke") and illness.severity != "mild"
        if grave and stay.disposition != "died":
            assert stay.disposition != "home"
            home += stay.disposition == "home with services"
            away += stay.disposition in ("rehabilitation", "skilled nursing facility")
    assert away > home


def test_who_had_a_severe_stroke_manages_no_better_afterwards() -> None:
    walking = ["independent", "cane", "walker", "wheelchair", "bedbound"]
    seen = 0
    for life in many_lives():
        for illness in life.illnesses:
            if illness.condition not in ("stroke", "hip_fracture") or illness.severity == "mild":
                continue
            before = [one for one in life.functions if one.encounter == illness.encounter]
            after = [one for one in life.functions if int(one.id[2:]) > int(before[0].id[2:])] if before else []
            if after and life.person.living != "alone":
                seen += 1
                assert walking.index(after[0].walking) >= walking.index(before[0].walking)
    assert seen > 0


def test_the_course_tells_when_treatment_changed_and_when_the_patient_was_ready() -> None:
    kinds = {one.kind for life in many_lives() for one in life.events}
    assert {"ready", "treatment_changed"} <= kinds
    for life in many_lives():
        stays = {one.id: one for one in life.stays}
        for one in life.events:
            if one.kind == "ready":
                assert stays[one.encounter].start < one.at < stays[one.encounter].end


def test_nobody_is_told_to_finish_what_does_not_go_home() -> None:
    told = 0
    for life in many_lives():
        for plan in life.plans:
            for item in plan.items:
                if item.kind == "teaching" and "antibiotic" in item.text.en:
                    told += 1
                    assert any(
                        is_a(one.drug, ("antibiotic",)) and one.start <= plan.at < (one.stop or NEVER)
                        for one in life.prescriptions
                        if one.kind != "inpatient"
                    )
    assert told > 2


def test_advice_that_speaks_of_drugs_names_what_exists() -> None:
    phrases = [words for one in condition_profiles().values() for words in (*one.warning.en, *one.teaching.en)]
    for rule in rules().told_with:
        assert any(rule.words in one for one in phrases), rule
        assert any(is_a(drug, rule.drugs) for drug in drug_profiles()), rule


# -- reports and summaries ---------------------------------------------------------------------------------------------


def test_the_study_that_made_the_diagnosis_is_in_the_discharge_summary() -> None:
    told, tells = 0, ("pathognomonic", "highly_suggestive")
    for life in many_lives()[:60]:
        outline = Outline(life)
        signs = {one.id: one for one in life.signs}
        notes = [one for one in write_record(life).notes if one.kind == "discharge"]
        for note in notes:
            stay = next(one for one in life.stays if one.id == note.encounter)
            inside = {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}
            decisive = [
                (study, one)
                for study in life.studies
                if study.encounter in inside and study.known_at <= note.at
                for one in study.shown
                if any(owner == stay.principal and edge in tells for owner, edge in signs[one].owners)
            ]
            course = next((part.text.lower() for part in note.parts if part.slug == "hospital-course"), None)
            if not decisive or course is None or stay.disposition == "died":
                continue
            words = [
                line.text.rstrip(".").replace(", as above", "").lower()
                for study, one in decisive
                for line in report_of(outline, study).impression
                if one in line.facts
            ]
            assert any(one in course for one in words), f"{life.index} {stay.id} {words}"
            told += 1
    assert told > 10


def test_silenced_structures_of_a_report_exist() -> None:
    for name, places in table("report_silences").items():
        study, _, finding = name.rpartition("/")
        assert finding in finding_profiles()
        studies = [study] if study else finding_profiles()[finding].studies
        assert all(int(place) < len(study_profiles()[one].normal) for place in places.split() for one in studies)


def test_an_occluded_vein_is_not_filled_as_well() -> None:
    seen = 0
    normal = {text for ways in study_profiles()["venous_duplex"].normal[1:3] for text in ways}
    for life in many_lives():
        outline = Outline(life)
        for study in life.studies:
            if study.study == "venous_duplex" and study.shown:
                text = " ".join(one.text for one in report_of(outline, study).findings)
                assert not any(one in text for one in normal)
                seen += 1
    assert seen > 0


@pytest.mark.parametrize("finding", ["central_obesity"])
def test_a_build_that_is_seen_is_measured_too(finding: str) -> None:
    seen = 0
    for life in many_lives():
        bmi = life.person.weight_kg / (Decimal(life.person.height_cm) / 100) ** 2
        for sign in life.signs:
            if sign.finding == finding and sign.present:
                assert bmi > 25
                seen += 1
    assert seen > 0


def test_one_code_of_diabetes_at_a_time() -> None:
    for life in many_lives():
        codes = {one.code for one in life.illnesses if one.acuity == "chronic" and one.code.startswith("E11")}
        assert len(codes) <= 1


def test_what_an_emergency_note_says_was_given_was_given() -> None:
    seen = 0
    for life in many_lives()[:60]:
        first = {one.prescription: one.at for one in reversed(life.doses) if one.status == "given"}
        orders = {one.id: one for one in life.prescriptions if one.kind == "inpatient"}
        for note in write_record(life).notes:
            for part in note.parts if note.kind == "ed" else ():
                for line in part.sentences:
                    if part.slug != "history-of-present-illness" or " ED" not in line.text:
                        continue
                    for fact in line.facts:
                        if fact in orders:
                            seen += 1
                            assert first[fact] <= note.at
    assert seen > 10


def test_what_gives_way_at_the_door_was_never_ordered() -> None:
    """A beta blocker of the infarct and one of the heart failure were both written at discharge (life 20261130/3)."""
    life = make_life(20261130, 3)
    for order in life.prescriptions:
        assert order.kind != "discharge" or order.stop != order.start, order
    left = next(one for one in life.stays if one.kind == "ward" and one.id == "e8").end
    blockers = [one.drug for one in life.prescriptions if one.start == left and one.line.startswith("beta_blocker")]
    assert blockers == ["carvedilol"]
