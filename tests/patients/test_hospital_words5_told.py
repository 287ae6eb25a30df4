"""What the fifth reading found in what is told: advice, histories, interviews, the dying, grounds and doses."""

from __future__ import annotations

import re

from hospital_written_lives import notes_of, said_in, text_of, written_lives

from wardround.patients.hospital.advising import advice_book
from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.making import age_at
from wardround.patients.hospital.phrasing import table
from wardround.patients.hospital.plausible import plausible
from wardround.patients.hospital.speaking import speech
from wardround.patients.hospital.writing_assessment import proving_labs
from wardround.patients.hospital.writing_plan import known_at_home
from wardround.patients.hospital.writing_view import Known, Outline, flag
from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles
from wardround.patients.times import DAY

# -- advice on leaving -------------------------------------------------------------------------------------------------


def test_warnings_follow_their_frames() -> None:
    """A warning is what to come in for: a noun phrase or, where it says itself what to do, a sentence of its own."""
    for profile in condition_profiles().values():
        for text in profile.warning.en:
            assert not re.match(r"(?:if|when|you|call|come|do)\b", text), text
    seen = 0
    for life, _, note in notes_of("discharge", "ed"):
        plans = {one.id for one in life.plans}
        for said in said_in(note, "discharge-instructions"):
            if plans & set(said.facts):
                seen += 1
                assert not re.search(r"\b(?:if|about) (?:fever|bleeding|pain|chest pain|more|new|being)\b", said.text)
                assert said.text.count(":") < 2, said.text
    assert seen > 100


def test_advice_names_conditions_that_are_there_and_suits_who_gets_it() -> None:
    book = advice_book()
    for group in (*book.activity, *book.diet):
        assert {*group.conditions, *group.unless} <= set(condition_profiles())
        assert not set(group.conditions) & set(group.unless)
    assert set(book.limited) <= set(condition_profiles())
    limited = {words.en for group in book.diet if group.unless for words in group.say}
    limited |= {words.en for words in book.others.diet} - {words.en for words in book.others.diet_limited}
    grown = {words.en for group in (*book.activity, *book.diet) for words in group.say}
    grown |= {words.en for words in (*book.others.activity, *book.others.diet, *book.others.diet_limited)}
    for life, _ in written_lives():
        for plan in life.plans:
            have = {one.condition for one in life.illnesses
                    if one.onset <= plan.at and (one.resolved is None or one.resolved > plan.at)}  # fmt: skip
            child = age_at(life.person.birth_date, plan.at) < 16
            for item in plan.items:
                if item.kind in ("activity", "diet"):
                    assert not (child and item.text.en in grown)
                    assert not (item.text.en in limited and have & set(book.limited)), item.text.en


def test_patients_are_not_all_told_the_same() -> None:
    told = [item.text.en for life, _ in written_lives() for plan in life.plans for item in plan.items
            if item.kind in ("activity", "diet")]  # fmt: skip
    assert len(told) > 100
    assert max(told.count(one) for one in set(told)) * 100 <= 12 * len(told)


# -- histories ---------------------------------------------------------------------------------------------------------


def test_a_history_tells_the_habits_and_drugs_that_bear_on_the_illness_and_not_those_of_old_ones() -> None:
    seen = drugs = 0
    for life, stay, note in notes_of("ed", "admission"):
        signs = {one.id: one for one in life.signs}
        told = [signs[fact] for said in said_in(note, "history-of-present-illness") for fact in said.facts
                if fact in signs and signs[fact].type in ("history", "medication") and signs[fact].present]  # fmt: skip
        parts = {one.id for one in life.stays if one.part_of == stay.id} | {stay.id}
        new = {one.id for one in life.illnesses if one.encounter in parts} | {stay.principal}
        for sign in told:
            seen += 1
            drugs += sign.type == "medication"
            assert {owner for owner, _ in sign.owners} & new, (note.id, sign.finding)
            assert sign.type == "history" or "risk_factor" in {edge for _, edge in sign.owners}
    assert seen > 20 and drugs


def test_what_set_an_old_illness_off_is_not_told_at_another_visit() -> None:
    old = plausible().of_the_episode
    assert all(finding_profiles()[one].type == "history" for one in old)
    for life, _ in written_lives():
        begun = {one.id: one for one in life.illnesses}
        stays = {one.id: one for one in life.stays}
        for sign in life.signs:
            if sign.finding in old and sign.present:
                stay = stays[sign.encounter]
                owners = [begun[one] for one, _ in sign.owners]
                assert any(one.acuity != "chronic" or one.id == stay.principal or one.onset > stay.start - 90 * DAY
                           for one in owners), (life.index, sign.id, sign.finding)  # fmt: skip


def test_nobody_counts_twenty_hours_or_grades_a_fever() -> None:
    for _, _, note in notes_of("ed", "admission", "consult", "discharge"):
        text = text_of(note, "history-of-present-illness", "chief-complaint")
        assert not re.search(r"\b(?:1[3-9]|2\d) hours\b|\bthe (?:last |past )?1 (?:day|week|hour)\b", text), text
        assert not re.search(r", (?:The|His|Her|On|In) [a-z]+ (?:working )?diagnosis", text)
    for finding in table("severity_untold"):
        assert finding_profiles()[finding].type == "symptom"


def test_what_was_given_in_the_emergency_department_has_no_frequency() -> None:
    often = re.compile(r"\b(?:BID|TID|QID|q\d+h|daily|every \d+ hours|PRN|as needed|continuous)\b")
    seen = 0
    for life, _, note in notes_of("ed", "admission"):
        orders = {one.id for one in life.prescriptions if one.kind == "inpatient"}
        for said in said_in(note, "history-of-present-illness"):
            if said.facts and set(said.facts) <= orders:
                seen += 1
                assert not often.search(said.text), said.text
    assert seen > 20


def test_a_childs_history_denies_by_who_tells_it() -> None:
    seen = 0
    for life, stay, note in notes_of("ed", "admission"):
        if life.caregiver not in ("mother", "father") or age_at(life.person.birth_date, stay.start) >= 18:
            continue
        seen += 1
        text = text_of(note, "history-of-present-illness")
        assert not re.search(r"\b(?:[Pp]t|[Pp]atient|[Hh]e|[Ss]he) (?:specifically )?denies|\bper pt\b", text), text
    assert seen


def test_reasons_for_missed_doses_hold_for_drugs_taken_once_a_day() -> None:
    for rule in rules().adherence:
        for words in rule.words:
            assert "evening" not in words.en and "晚上" not in words.zh


# -- the dying ---------------------------------------------------------------------------------------------------------


def test_where_a_patient_dies_the_family_is_spoken_with_before_and_informed_after() -> None:
    seen = talked = 0
    for life, stay, note in notes_of("discharge"):
        died = [one for one in life.events if one.kind == "died" and one.encounter == note.encounter]
        if stay.disposition != "died":
            assert not [one for one in life.events if one.kind == "goals_of_care" and one.encounter == stay.id]
            continue
        seen += 1
        assert died or life.person.died is not None
        course = said_in(note, "hospital-course")
        assert re.search("inform|notif", course[-1].text), course[-1].text
        inside = {stay.id, *(one.id for one in life.stays if one.part_of == stay.id)}
        goals = [one for one in life.events if one.kind == "goals_of_care" and one.encounter in inside]
        for one in goals:
            talked += 1
            assert stay.start < one.at < (life.person.died or 0)
            told = next(said.text for said in course if one.id in said.facts)
            assert re.search("wife|husband|family|daughter|son|mother|father", told)
    assert seen and talked


# -- interviews --------------------------------------------------------------------------------------------------------


def test_what_is_counted_has_a_sentence_of_its_own_in_interviews() -> None:
    whole = {one["of"] for one in speech()["whole"] if one["kind"] == "timing"}
    counted = re.compile(r"\btimes\b(?! a night)|\bonce\b|\btwice\b")
    for profile in finding_profiles().values():
        for text in profile.timing.en:
            if counted.search(text) and "all at once" not in text and "," not in text and "lasting" not in text:
                assert text in whole, (profile.id, text)
    for one in speech()["whole"]:
        assert all("{x}" not in say["zh"] for say in one["say"])


# -- grounds and doses -------------------------------------------------------------------------------------------------


def test_only_values_that_speak_for_an_illness_are_told_as_its_grounds() -> None:
    assert not proving_labs("hip_fracture") and "wbc" in proving_labs("appendicitis")
    seen = 0
    for life, stay, note in notes_of("ed", "admission", "progress"):
        principal = next(one for one in life.illnesses if one.id == stay.principal)
        results = {one.id: one for one in life.results}
        for said in said_in(note, "assessment"):
            for fact in said.facts:
                if fact in results:
                    seen += 1
                    assert results[fact].lab in proving_labs(principal.condition), said.text
                    assert flag(results[fact]), said.text
    assert seen > 50


def test_a_home_drug_in_another_dose_is_told_as_changed_not_as_begun() -> None:
    seen = 0
    for life, stay, note in notes_of("admission", "progress"):
        known = Known(Outline(life), stay, note.at)
        for said in said_in(note, "plan"):
            for one in [one for one in life.prescriptions if one.id in said.facts]:
                old = known_at_home(known, one)
                if old is not None and old.id in said.facts:
                    seen += 1
                    assert old.dose in said.text and one.dose in said.text
    assert seen
