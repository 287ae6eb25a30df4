"""What the fifth reading found in words: days of the stay, reports, what is held, awaited or was there before."""

from __future__ import annotations

import re
from dataclasses import replace

from hospital_written_lives import notes_of, said_in, text_of, written_lives

from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.life import CourseEvent, Life, Sign, Stay, Treated
from wardround.patients.hospital.phrasing import table
from wardround.patients.hospital.record import Note
from wardround.patients.hospital.workup import plain_name
from wardround.patients.hospital.writing import write_record
from wardround.patients.hospital.writing_view import Known, Outline
from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles, study_profiles
from wardround.patients.times import DAY, Instant

# -- days of the stay --------------------------------------------------------------------------------------------------

_DAY = re.compile(r"\b(?:hospital day |HD ?#?|[Dd]ay )(\d+)")
_POSTOPERATIVE = re.compile(r"\b(?:postoperative day |POD ?#?)(\d+)")


def test_the_day_of_the_stay_is_counted_from_the_date_of_admission() -> None:
    seen = 0
    for _, stay, note in notes_of("progress"):
        told = _DAY.findall(_POSTOPERATIVE.sub("", text_of(note, "assessment")))
        assert told == [str(note.at // DAY - stay.start // DAY + 1)], note.id
        seen += 1
    assert seen > 40


def test_after_an_operation_its_day_is_told_and_how_the_wound_looks() -> None:
    seen = 0
    for life, stay, note in notes_of("progress"):
        done = [one for one in life.treated if one.procedure in table("operations") and stay.start - DAY < one.at]
        done = [one for one in done if (one.end or one.at) <= note.at]
        told = _POSTOPERATIVE.findall(text_of(note, "assessment"))
        assert told == ([str(note.at // DAY - done[-1].at // DAY)] if done else []), note.id
        if done and done[-1].title in table("exam_wounds"):
            seen += 1
            assert table("exam_wounds")[done[-1].title].partition(" ")[2] in text_of(note, "physical-exam")
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
    life, stay, note = next(found for found in notes_of("progress") if _examined(found[0], found[2]) & answered)
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
    for life, record in written_lives():
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
    for life, record in written_lives():
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
    for life, stay, note in notes_of("progress", "discharge"):
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
    for life, _, note in notes_of("progress"):
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
    life, stay, _ = next(found for found in notes_of("discharge") if _complications(found[0], found[1]))
    event = _complications(life, stay)[0]
    for onset, words in ((stay.start - DAY, False), (event.at - 1, True)):
        ill = [replace(one, onset=onset) if one.id in event.facts else one for one in life.illnesses]
        changed = replace(life, illnesses=tuple(ill), signs=(), results=())
        notes = [one for one in write_record(changed).notes if one.kind == "discharge" and one.encounter == stay.id]
        told = next(said.text for said in said_in(notes[0], "hospital-course") if event.id in said.facts)
        assert bool(re.search("develop|complicat|c/b|^\\S+: [A-Za-z ]+\\.$", told)) == words, told


def _complications(life: Life, stay: Stay) -> list[CourseEvent]:
    return [one for one in life.events if one.kind == "complication" and one.encounter == stay.id]


def test_drugs_of_the_time_before_stand_under_the_illness_that_is_back() -> None:
    for life, _, note in notes_of("progress", "admission"):
        names = {one.id: one.condition for one in life.illnesses}
        told = [said for said in said_in(note, "plan") if "istory of" in said.text]
        here = {
            names[fact] for said in said_in(note, "plan") if said not in told for fact in said.facts if fact in names
        }
        again = {names[fact] for said in told for fact in said.facts if fact in names}
        assert not again & here, note.id


def test_a_course_tells_what_held_up_the_pressure() -> None:
    seen = 0
    for life, stay, note in notes_of("discharge"):
        known = Known(Outline(life), stay, note.at)
        orders = [one for one in known.started(known.begin, note.at) if one.drug in table("course_pressors")]
        told = {fact for said in said_in(note, "hospital-course") for fact in said.facts}
        events = {fact for one in known.events for fact in one.facts}
        for one in orders:
            if known.received(one):
                seen += 1
                assert one.id in told | events
    assert seen
