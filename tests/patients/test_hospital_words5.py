"""What the fifth reading found in words: days of the stay, held drugs, cultures, reports, advice, histories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from wardround.patients.hospital.advising import advice_book
from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.life import CourseEvent, Life, Sign, Stay, Treated
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.making import age_at
from wardround.patients.hospital.phrasing import table
from wardround.patients.hospital.plausible import plausible
from wardround.patients.hospital.record import Note, Record, Sentence
from wardround.patients.hospital.speaking import speech
from wardround.patients.hospital.workup import plain_name
from wardround.patients.hospital.writing import write_record
from wardround.patients.hospital.writing_assessment import proving_labs
from wardround.patients.hospital.writing_plan import known_at_home
from wardround.patients.hospital.writing_view import Known, Outline, flag
from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles, study_profiles
from wardround.patients.times import DAY, Instant

pytestmark = pytest.mark.no_cover  # some forty lives are made and written; a few reach the same lines

_LIVES = 40


@cache
def _written() -> tuple[tuple[Life, Record], ...]:
    """Return lives with their records."""
    lives = [make_life(55022, index) for index in range(_LIVES)]
    lives += [make_life(86420, 11), make_life(86420, 9)]  # a child, and one who dies after a turn for the worse
    return tuple((life, write_record(life)) for life in lives)


def _notes(*kinds: str) -> Iterator[tuple[Life, Stay, Note]]:
    """Yield the notes of some kinds with the life and the whole stay that each is about."""
    for life, record in _written():
        stays = {one.id: one for one in life.stays}
        for note in record.notes:
            if note.kind in kinds:
                stay = stays[note.encounter]
                yield life, stays[stay.part_of] if stay.part_of is not None else stay, note


def _text(note: Note, *slugs: str) -> str:
    return "\n".join(part.text for part in note.parts if not slugs or part.slug in slugs)


# -- days of the stay --------------------------------------------------------------------------------------------------

_DAY = re.compile(r"\b(?:hospital day |HD ?#?|[Dd]ay )(\d+)")
_POSTOPERATIVE = re.compile(r"\b(?:postoperative day |POD ?#?)(\d+)")


def test_the_day_of_the_stay_is_counted_from_the_date_of_admission() -> None:
    seen = 0
    for _, stay, note in _notes("progress"):
        told = _DAY.findall(_POSTOPERATIVE.sub("", _text(note, "assessment")))
        assert told == [str(note.at // DAY - stay.start // DAY + 1)], note.id
        seen += 1
    assert seen > 40


def test_after_an_operation_its_day_is_told_and_how_the_wound_looks() -> None:
    seen = 0
    for life, stay, note in _notes("progress"):
        done = [one for one in life.treated if one.procedure in table("operations") and stay.start - DAY < one.at]
        done = [one for one in done if (one.end or one.at) <= note.at]
        told = _POSTOPERATIVE.findall(_text(note, "assessment"))
        assert told == ([str(note.at // DAY - done[-1].at // DAY)] if done else []), note.id
        if done and done[-1].title in table("exam_wounds"):
            seen += 1
            assert table("exam_wounds")[done[-1].title].partition(" ")[2] in _text(note, "physical-exam")
    assert seen


def test_every_operation_has_a_wound() -> None:
    titles = {
        rules().titles.get(f"{one.id}/{order.procedure}") or plain_name(order.procedure)
        for one in condition_profiles().values()
        for order in one.workup.procedures
        if order.procedure in table("operations")
    }
    assert set(table("exam_wounds")) == {title[0].upper() + title[1:] for title in titles}


def _examined(life: Life, note: Note) -> set[str]:
    signs = {one.id: one.finding for one in life.signs}
    return {signs[one] for part in note.parts if part.slug == "physical-exam" for one in part.facts if one in signs}


def test_the_sedated_show_no_sign_that_takes_an_answer() -> None:
    answered = set(table("exam_answered"))
    assert all(finding_profiles()[one].type == "sign" for one in answered)
    life, stay, note = next(found for found in _notes("progress") if _examined(found[0], found[2]) & answered)
    name = "mechanical_ventilation"
    tube = Treated("p999", name, "Mechanical ventilation", stay.start, None, stay.id, stay.principal)
    sedated = write_record(replace(life, treated=(*life.treated, tube)))
    again = next(one for one in sedated.notes if (one.kind, one.at) == (note.kind, note.at))
    assert "p999" in {fact for part in again.parts for fact in part.facts}
    assert not _examined(life, again) & answered


# -- reports of studies ------------------------------------------------------------------------------------------------


def test_no_report_can_deny_what_it_shows() -> None:
    """A normal sentence that names what a finding's own words tell stands beside it for no kind of study."""
    silences, seen = table("report_silences"), 0
    denied = re.compile(r"^(?:there (?:is|are) )?no ([a-z -]+?)(?=[,.;]|$| or | is | are | in | of )", re.I)
    for study in study_profiles().values():
        for finding in finding_profiles().values():
            place = study.replaces.get(finding.id)
            if study.id not in finding.studies or place is None:
                continue
            silent = {int(one) for name in (finding.id, f"{study.id}/{finding.id}")
                      for one in silences.get(name, "").split()}  # fmt: skip
            for other, ways in enumerate(study.normal):
                if other == place or other in silent:
                    continue
                names = {name.lower() for way in ways for name in denied.findall(way)}
                for text in finding.report:
                    bare = re.sub(r"\b(?:no|without)\b[^,.;]*", "", text.lower())
                    seen += 1
                    assert not [name for name in names if name in bare], (study.id, finding.id, text)
    assert seen > 500


def _over(life: Life, sign: Sign, at: Instant) -> bool:
    owners = {one.id: one for one in life.illnesses}
    ends = [owners[one].resolved for one, _ in sign.owners]
    return all(end is not None and end <= at for end in ends)


def test_a_report_tells_what_changed_since_the_last_one_of_its_kind() -> None:
    again = gone = 0
    for life, record in _written():
        signs, studies = {one.id: one for one in life.signs}, {one.id: one for one in life.studies}
        for report in record.reports:
            study = studies[report.study]
            before = [signs[one] for one in studies[study.compare].shown] if study.compare is not None else []
            then, now = {one.finding for one in before}, {signs[one].finding for one in study.shown}
            facts = {fact for one in (*report.findings, *report.impression) for fact in one.facts}
            same = [one for one in before if one.finding in now]
            assert all(one.id in facts for one in same)
            left = [one for one in before if one.finding not in now and one.finding not in table("report_stays")]
            left = [one for one in left if _over(life, one, study.at)]
            assert all(one.id in facts for one in left)
            again, gone = again + len(same), gone + len(left)
            assert (study.compare in facts) or not (then & now)
    assert again and gone


def test_no_study_denies_what_another_showed_while_it_lasts() -> None:
    for key, findings in table("report_seen_before").items():
        study, _, place = key.partition("/")
        assert int(place) < len(study_profiles()[study].normal)
        assert all(finding_profiles()[one].type == "imaging" for one in findings.split())
    seen = 0
    for life, record in _written():
        studies = {one.id: one for one in life.studies}
        for report in record.reports:
            study = studies[report.study]
            profile = study_profiles()[study.study]
            told = {one.text.rstrip(".") for one in report.findings}
            for sign in life.signs:
                other = studies.get(sign.study or "")
                if other is None or other.known_at > study.at or _over(life, sign, study.at):
                    continue
                for place, ways in enumerate(profile.normal):
                    if sign.finding in table("report_seen_before").get(f"{study.study}/{place}", "").split():
                        seen += 1
                        assert not told & {way.rstrip(".") for way in ways}, (life.index, study.id)
    assert seen


# -- held, awaited, there before ---------------------------------------------------------------------------------------


def test_what_the_stay_held_is_told_as_held_each_day_and_as_taken_up_again_at_the_end() -> None:
    waiting = again = 0
    for life, stay, note in _notes("progress", "discharge"):
        known = Known(Outline(life), stay, note.at)
        facts = {fact for part in note.parts if part.slug in ("plan", "discharge-medications") for fact in part.facts}
        if note.kind == "progress":
            running = {one.drug for one in known.active()}
            listed = {one.id for one in known.problems}
            held = [one for one in known.stopped(known.begin, note.at) if one.kind != "inpatient"]
            held = [one for one in held if one.drug not in running and one.indication in listed]
            waiting += len(held)
            assert {one.id for one in held} <= facts, note.id
            continue
        for one in known.active("discharge"):
            old = known.held_before(one)
            if old is not None and (old.dose, old.frequency) == (one.dose, one.frequency):
                again += 1
                line = next(said.text for part in note.parts if part.slug == "discharge-medications"
                            for said in part.sentences if one.id in said.facts)  # fmt: skip
                assert re.search("resume|take again", line, re.I) and "unchanged" not in line
    assert waiting > 5 and again


def test_a_culture_that_told_something_is_not_awaited_as_if_it_had_not() -> None:
    seen = 0
    for life, _, note in _notes("progress"):
        for one in life.cultures:
            stages = [stage for stage in one.stages if stage.at <= note.at]
            told = [said.text for part in note.parts if part.slug == "plan" for said in part.sentences
                    if one.id in said.facts]  # fmt: skip
            if stages and stages[-1].status == "final":
                assert not told
            elif stages and told:
                seen += 1
                assert re.search("growth|susceptibilities|final", told[0])
    assert seen > 3


def test_what_was_there_on_arrival_did_not_develop() -> None:
    """An illness that is found on the second day, though its laboratory value was off at the door."""
    life, stay, _ = next(found for found in _notes("discharge") if _complications(found[0], found[1]))
    event = _complications(life, stay)[0]
    for onset, words in ((stay.start - DAY, False), (event.at - 1, True)):
        ill = [replace(one, onset=onset) if one.id in event.facts else one for one in life.illnesses]
        changed = replace(life, illnesses=tuple(ill), signs=(), results=())
        notes = [one for one in write_record(changed).notes if one.kind == "discharge" and one.encounter == stay.id]
        told = next(said.text for said in _part(notes[0], "hospital-course") if event.id in said.facts)
        assert bool(re.search("develop|complicat|c/b|^\\S+: [A-Za-z ]+\\.$", told)) == words, told


def _complications(life: Life, stay: Stay) -> list[CourseEvent]:
    return [one for one in life.events if one.kind == "complication" and one.encounter == stay.id]


def _part(note: Note, slug: str) -> list[Sentence]:
    return [said for part in note.parts if part.slug == slug for said in part.sentences]


def test_drugs_of_the_time_before_stand_under_the_illness_that_is_back() -> None:
    for life, _, note in _notes("progress", "admission"):
        names = {one.id: one.condition for one in life.illnesses}
        told = [said for said in _part(note, "plan") if "istory of" in said.text]
        here = {names[fact] for said in _part(note, "plan") if said not in told for fact in said.facts if fact in names}
        again = {names[fact] for said in told for fact in said.facts if fact in names}
        assert not again & here, note.id


def test_a_course_tells_what_held_up_the_pressure() -> None:
    seen = 0
    for life, stay, note in _notes("discharge"):
        known = Known(Outline(life), stay, note.at)
        orders = [one for one in known.started(known.begin, note.at) if one.drug in table("course_pressors")]
        told = {fact for said in _part(note, "hospital-course") for fact in said.facts}
        events = {fact for one in known.events for fact in one.facts}
        for one in orders:
            if known.received(one):
                seen += 1
                assert one.id in told | events
    assert seen


# -- advice on leaving -------------------------------------------------------------------------------------------------


def test_warnings_follow_their_frames() -> None:
    """A warning is what to come in for: a noun phrase or, where it says itself what to do, a sentence of its own."""
    for profile in condition_profiles().values():
        for text in profile.warning.en:
            assert not re.match(r"(?:if|when|you|call|come|do)\b", text), text
    seen = 0
    for life, _, note in _notes("discharge", "ed"):
        plans = {one.id for one in life.plans}
        for said in _part(note, "discharge-instructions"):
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
    for life, _ in _written():
        for plan in life.plans:
            have = {one.condition for one in life.illnesses
                    if one.onset <= plan.at and (one.resolved is None or one.resolved > plan.at)}  # fmt: skip
            child = age_at(life.person.birth_date, plan.at) < 16
            for item in plan.items:
                if item.kind in ("activity", "diet"):
                    assert not (child and item.text.en in grown)
                    assert not (item.text.en in limited and have & set(book.limited)), item.text.en


def test_patients_are_not_all_told_the_same() -> None:
    told = [item.text.en for life, _ in _written() for plan in life.plans for item in plan.items
            if item.kind in ("activity", "diet")]  # fmt: skip
    assert len(told) > 100
    assert max(told.count(one) for one in set(told)) * 100 <= 12 * len(told)


# -- histories ---------------------------------------------------------------------------------------------------------


def test_a_history_tells_the_habits_and_drugs_that_bear_on_the_illness_and_not_those_of_old_ones() -> None:
    seen = drugs = 0
    for life, stay, note in _notes("ed", "admission"):
        signs = {one.id: one for one in life.signs}
        told = [signs[fact] for said in _part(note, "history-of-present-illness") for fact in said.facts
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
    for life, _ in _written():
        begun = {one.id: one for one in life.illnesses}
        stays = {one.id: one for one in life.stays}
        for sign in life.signs:
            if sign.finding in old and sign.present:
                stay = stays[sign.encounter]
                owners = [begun[one] for one, _ in sign.owners]
                assert any(one.acuity != "chronic" or one.id == stay.principal or one.onset > stay.start - 90 * DAY
                           for one in owners), (life.index, sign.id, sign.finding)  # fmt: skip


def test_nobody_counts_twenty_hours_or_grades_a_fever() -> None:
    for _, _, note in _notes("ed", "admission", "consult", "discharge"):
        text = _text(note, "history-of-present-illness", "chief-complaint")
        assert not re.search(r"\b(?:1[3-9]|2\d) hours\b|\bthe (?:last |past )?1 (?:day|week|hour)\b", text), text
        assert not re.search(r", (?:The|His|Her|On|In) [a-z]+ (?:working )?diagnosis", text)
    for finding in table("severity_untold"):
        assert finding_profiles()[finding].type == "symptom"


def test_what_was_given_in_the_emergency_department_has_no_frequency() -> None:
    often = re.compile(r"\b(?:BID|TID|QID|q\d+h|daily|every \d+ hours|PRN|as needed|continuous)\b")
    seen = 0
    for life, _, note in _notes("ed", "admission"):
        orders = {one.id for one in life.prescriptions if one.kind == "inpatient"}
        for said in _part(note, "history-of-present-illness"):
            if said.facts and set(said.facts) <= orders:
                seen += 1
                assert not often.search(said.text), said.text
    assert seen > 20


def test_a_childs_history_denies_by_who_tells_it() -> None:
    seen = 0
    for life, stay, note in _notes("ed", "admission"):
        if life.caregiver not in ("mother", "father") or age_at(life.person.birth_date, stay.start) >= 18:
            continue
        seen += 1
        text = _text(note, "history-of-present-illness")
        assert not re.search(r"\b(?:[Pp]t|[Pp]atient|[Hh]e|[Ss]he) (?:specifically )?denies|\bper pt\b", text), text
    assert seen


def test_reasons_for_missed_doses_hold_for_drugs_taken_once_a_day() -> None:
    for rule in rules().adherence:
        for words in rule.words:
            assert "evening" not in words.en and "晚上" not in words.zh


# -- the dying ---------------------------------------------------------------------------------------------------------


def test_where_a_patient_dies_the_family_is_spoken_with_before_and_informed_after() -> None:
    seen = talked = 0
    for life, stay, note in _notes("discharge"):
        died = [one for one in life.events if one.kind == "died" and one.encounter == note.encounter]
        if stay.disposition != "died":
            assert not [one for one in life.events if one.kind == "goals_of_care" and one.encounter == stay.id]
            continue
        seen += 1
        assert died or life.person.died is not None
        course = _part(note, "hospital-course")
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
    for life, stay, note in _notes("ed", "admission", "progress"):
        principal = next(one for one in life.illnesses if one.id == stay.principal)
        results = {one.id: one for one in life.results}
        for said in _part(note, "assessment"):
            for fact in said.facts:
                if fact in results:
                    seen += 1
                    assert results[fact].lab in proving_labs(principal.condition), said.text
                    assert flag(results[fact]), said.text
    assert seen > 50


def test_a_home_drug_in_another_dose_is_told_as_changed_not_as_begun() -> None:
    seen = 0
    for life, stay, note in _notes("admission", "progress"):
        known = Known(Outline(life), stay, note.at)
        for said in _part(note, "plan"):
            for one in [one for one in life.prescriptions if one.id in said.facts]:
                old = known_at_home(known, one)
                if old is not None and old.id in said.facts:
                    seen += 1
                    assert old.dose in said.text and one.dose in said.text
    assert seen
