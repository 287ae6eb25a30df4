"""What the sixth reading found in words: phrases that nobody says, advice to somebody else, names of drugs."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from hospital_written_lives import notes_of, said_in, text_of, written_lives

from wardround.patients.hospital.advising import advice_book
from wardround.patients.hospital.interviews import make_interviews
from wardround.patients.hospital.life import Life
from wardround.patients.hospital.record import Note
from wardround.patients.hospital.speaking import speech
from wardround.patients.hospital.writing import write_record
from wardround.patients.hospital.writing_assessment import TELLS
from wardround.patients.hospital.writing_view import Known, Outline
from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles
from wardround.patients.times import DAY, format_instant

_NOBODY_WRITES = re.compile(
    r"(?i:reported as like|described as like|negatives include no|negatives: no|seeing things that are not there"
    r"|no longer smokes with|less than on admission|known and not changed|cultures decide|(?:favorable|protective):)"
)
_DRUG_CALLED = re.compile(r"\b(depression|gout)\b[a-z -]*\b(?:pills?|medicine|drug)\b")


def test_notes_have_no_phrase_that_the_sixth_reading_struck_out() -> None:
    seen = 0
    for life, record in written_lives():
        for note in record.notes:
            found = _NOBODY_WRITES.search(text_of(note))
            assert found is None, (life.index, note.id, found)
            seen += 1
    assert seen > 300


def test_what_feels_like_something_is_told_as_feeling_so() -> None:
    like = [words for one in finding_profiles().values() for words in one.quality.en if words.startswith("like ")]
    assert like
    seen = 0
    for _, _, note in notes_of("ed", "admission", "clinic"):
        for words in like:
            for match in re.finditer(re.escape(words), text_of(note, "history-of-present-illness")):
                before = text_of(note, "history-of-present-illness")[: match.start()].rstrip()
                seen += 1
                assert not before.endswith((" as", "character:", "quality:", "calls it", "describes it"))
    assert seen


def test_a_child_is_seen_and_brought_back_not_you() -> None:
    """A visit of a grown patient is told again as that of a child of seven."""
    life, stay, note = next(found for found in notes_of("ed") if "discharge-instructions" in _slugs(found[2]))
    born = format_instant(stay.start - 7 * 366 * DAY)[:10]
    young = write_record(replace(life, person=replace(life.person, birth_date=born)))
    told = next(text_of(one, "discharge-instructions") for one in young.notes if one.id == note.id)
    assert "our child" in told
    assert not re.search(r"\bYou (?:came|were)\b|looked after [a-z ]*for you|why you were", told, re.I), told


def _slugs(note: Note) -> set[str]:
    return {part.slug for part in note.parts}


def test_advice_wants_nobody_whom_one_who_lives_alone_has_not() -> None:
    said = [words.en for group in (*advice_book().activity, *advice_book().diet) for words in group.say]
    assert said
    assert not [one for one in said if re.search(r"[Ll]et (?:others|somebody)|somebody (?:near|should)", one)]


def test_what_changed_is_not_told_as_ever() -> None:
    leads = tuple(one["en"] for one in speech()["still"])
    once = [finding_profiles()[one] for one in speech()["not_as_ever"]]
    said = {one.lay.name.en[0] for one in once if one.lay is not None}
    told = [reply.text.en for life, _ in written_lives() for one in make_interviews(life).values()
            for reply in one.replies]  # fmt: skip
    after = [text[text.index(lead) + len(lead) :] for text in told for lead in leads if lead in text]
    assert after
    assert not [one for one in after if any(one.startswith(f" there is {name}") for name in said)]
    assert not [one for one in after if "without trying" in one.partition(".")[0]]


def test_no_drug_is_called_after_an_illness_that_the_patient_has_not() -> None:
    words, seen = speech()["illness_words"], 0
    assert all(one in condition_profiles() for have in words.values() for one in have)
    for life, _ in written_lives():
        have = {one.condition for one in life.illnesses}
        for interview in make_interviews(life).values():
            for reply in interview.replies:
                for name in _DRUG_CALLED.findall(reply.text.en):
                    seen += 1
                    assert have & set(words[name]), (life.index, reply.text.en)
    assert seen


def test_who_hurts_little_says_nothing_that_only_a_severe_pain_says() -> None:
    """A score of five at its worst is told in words that fit it, by the name of the symptom if by no others."""
    loud = [one for one in speech()["absolute"] if len(one) > 6]
    seen = 0
    for life, _ in written_lives():
        mild = {one.id: one for one in life.signs if one.score is not None and one.score <= 5 and one.present}
        for interview in make_interviews(life).values():
            for reply in interview.replies:
                sign = mild.get(reply.fact or "")
                if sign is None or not reply.tool.endswith("symptom_history"):
                    continue
                lay = finding_profiles()[sign.finding].lay
                assert lay is not None
                own = [one for one in lay.say.en if any(word in one for word in loud) and "{" not in one]
                seen += 1
                assert not [one for one in own if one in reply.text.en], (life.index, reply.text.en)
    assert seen


# -- grounds of a diagnosis --------------------------------------------------------------------------------------------


def _grounds(note: Note, life: Life) -> list[set[str]]:
    """Return the facts of the sentences that say what a diagnosis rests on: they name findings, not the person."""
    said = [set(one.facts) for part in note.parts if part.slug == "assessment" for one in part.sentences]
    findings = {one.id for one in life.signs} | {one.id for one in life.results} | {one.id for one in life.studies}
    return [facts for facts in said if facts and facts <= findings]


def test_the_complaint_does_not_prove_itself() -> None:
    seen = 0
    for life, stay, note in notes_of("ed", "admission", "progress", "clinic"):
        signs = {one.id: one for one in life.signs}
        for facts in _grounds(note, life):
            seen += 1
            found = [signs[one].finding for one in facts if one in signs]
            assert stay.complaint not in found, (life.index, note.id)
    assert seen > 30


def test_only_findings_of_the_illness_are_its_grounds() -> None:
    """Of a study that shows old changes too, the new ones: what is told is owned by the principal illness."""
    seen = 0
    for life, stay, note in notes_of("ed", "admission", "progress"):
        signs = {one.id: one for one in life.signs}
        for facts in _grounds(note, life):
            for one in facts & set(signs):
                seen += 1
                assert any(owner == stay.principal for owner, _ in signs[one].owners), (life.index, note.id)
    assert seen > 50


def test_the_decisive_finding_stands_first() -> None:
    seen = 0
    for life, stay, note in notes_of("ed", "admission"):
        signs = {one.id: one for one in life.signs}
        for part in note.parts:
            for said in part.sentences if part.slug == "assessment" else ():
                if set(said.facts) not in _grounds(note, life):
                    continue
                edges = [edge for one in said.facts if one in signs for owner, edge in signs[one].owners
                         if owner == stay.principal and signs[one].study is None]  # fmt: skip
                decides = [edge in TELLS for edge in edges]
                seen += any(decides) and not all(decides)
                assert decides == sorted(decides, reverse=True), (life.index, said.text)
    assert seen


# -- what is not taken at home, and the visit that decides -------------------------------------------------------------

_GOES_ON = re.compile(r"\b(?:unchanged|no change|kept on|continue[ds]?|cont|c/w|remains on)\b", re.I)


def test_what_is_not_taken_at_home_is_not_told_as_going_on() -> None:
    seen = 0
    for life, stay, note in notes_of("ed", "admission", "progress", "discharge", "clinic"):
        ended = {one.id for one in life.prescriptions if one.stop_reason is not None
                 and one.stop_reason.en == "Not tolerated"}  # fmt: skip
        unused = Known(Outline(life), stay, note.at).unused
        unused = {one: fact for one, fact in unused.items() if one not in ended}  # told as held
        for slug in ("plan", "hospital-course", "discharge-medications"):
            for said in said_in(note, slug):
                told = [unused[one] for one in said.facts if one in unused]
                if not told or not set(said.facts) & {one.id for one in told}:
                    assert not told or not _GOES_ON.search(said.text), (life.index, note.id, said.text)
                    continue
                seen += 1
                assert re.search(r"restart|resume|again|not (?:been )?tak", said.text, re.I), said.text
    assert seen


def test_a_held_drug_is_decided_on_at_a_visit_that_is_booked() -> None:
    seen = 0
    for life, _ in written_lives():
        due = {(plan.encounter, item.due // DAY - plan.at // DAY) for plan in life.plans for item in plan.items
               if item.kind == "appointment" and item.due is not None}  # fmt: skip
        for plan in life.plans:
            for item in plan.items:
                held = re.search(r"(?:decided at the visit|until it is looked at again) in (\d+) days", item.text.en)
                if held is not None:
                    seen += 1
                    assert (plan.encounter, int(held[1])) in due, (life.index, item.text.en)
    assert seen


def test_a_fever_that_was_measured_is_not_told_as_subjective() -> None:
    seen = 0
    for life, stay, note in notes_of("ed", "admission", "progress", "consult", "discharge"):
        measured = [Decimal(one.text) for one in Known(Outline(life), stay, note.at).series("temperature")]
        if measured and max(measured) >= 38:
            seen += 1
            assert "subjective fever" not in text_of(note), (life.index, note.id)
    assert seen > 5
