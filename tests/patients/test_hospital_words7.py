"""What the sixth reading left open in words: symptoms told alike, getting better, advice for this patient."""

from __future__ import annotations

import re

from hospital_written_lives import notes_of, text_of, written_lives

from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.interviews_facts import knowns
from wardround.patients.hospital.plausible import plausible
from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.times import DAY

# -- advice for this patient -------------------------------------------------------------------------------------------


def test_only_who_smokes_is_told_to_stop() -> None:
    told = rules().told_to
    taught = [(name, words) for name, one in condition_profiles().items() for words in one.teaching.en]
    of_smoking = [
        (name, words) for name, words in taught if re.search(r"\b(?:you smoke|still smoke|not smoke|smoking)\b", words)
    ]
    assert len(of_smoking) > 5
    assert not [words for _, words in of_smoking if not any(rule.words in words for rule in told)]
    brought, seen = {name for name, _ in of_smoking}, 0
    for life, _ in written_lives():
        if life.person.smoking == "current":
            continue
        principals = {one.condition for one in life.illnesses if any(stay.principal == one.id for stay in life.stays)}
        seen += bool(principals & brought)
        for item in (item for plan in life.plans for item in plan.items if item.kind == "teaching"):
            assert not any(rule.words in item.text.en for rule in told), (life.index, item.text.en)
    assert seen > 2


def test_what_makes_it_worse_or_better_fits_what_the_patient_has() -> None:
    wanted, seen = plausible().said_only_with, 0
    for life, _ in written_lives():
        have = {one.condition for one in life.illnesses}
        for sign in life.signs:
            for words in sign.attributes.values():
                if words.en in wanted:
                    seen += 1
                    assert have & set(wanted[words.en]), (life.index, sign.id, words.en)
    assert seen


def test_what_is_done_at_home_is_not_dated_as_an_appointment() -> None:
    dated = [rule.text.en for rule in rules().call_back if rule.kind in ("appointment", "lab")]
    assert dated
    assert not [words for words in dated if re.match(r"(?:Measure|Check|Stand|Drink)\b", words)]
    for life, _, note in notes_of("ed", "clinic", "discharge"):
        assert not re.search(r"Measure blood pressure at home[^.;]*20\d\d", text_of(note, "followup")), life.index


# -- one pain ----------------------------------------------------------------------------------------------------------


def test_the_worst_pain_is_not_less_than_what_was_charted() -> None:
    seen = 0
    for life, _ in written_lives():
        for known, _parts in knowns(life):
            if known.sore is None or not known.pains:
                continue
            for at in (known.pains[0].known_at, known.now):
                then = known.as_of(at)
                worst, now = then.worst(known.sore), then.pain
                assert worst is not None and now is not None
                seen += 1
                assert worst >= int(now.text), (life.index, known.root.id, worst, now.text)
    assert seen > 100


def test_notes_and_interview_tell_one_worst_pain_on_arrival() -> None:
    """The score of the history is that of the chart, or more: other pains of the same visit hurt less."""
    seen = 0
    for life, _ in written_lives():
        for known, _parts in knowns(life):
            scored = [one.score for one in known.present if one.score is not None]
            begin = known.pains[0] if known.pains else None
            if scored and begin is not None:
                seen += 1
                assert max(scored) >= int(begin.text), (life.index, known.root.id)
    assert seen > 50


def test_a_consult_was_asked_for_and_not_already_seen() -> None:
    """The event is the asking; the consultant's own note says when the patient was seen."""
    seen = 0
    for life, _, note in notes_of("progress", "discharge"):
        for part in note.parts:
            for said in part.sentences:
                if re.search(r"consulted|c/s|asked to see", said.text):
                    seen += 1
                assert not re.search(r"\b(?:saw (?:pt|him|her|them)|gave input)\b", said.text), (life.index, said.text)
    assert seen


# -- examinations after a delivery -------------------------------------------------------------------------------------


def test_after_a_delivery_the_uterus_is_that_of_one_who_has_delivered() -> None:
    seen = 0
    for life, _, note in notes_of("consult", "progress"):
        ends = [one.end or one.at for one in life.treated if one.procedure == "cesarean_delivery"]
        if any(0 <= note.at - end < 5 * DAY for end in ends):
            seen += 1
            told = text_of(note, "physical-exam")
            assert "gravid" not in told and "uterus firm" in told, (life.index, note.id)
    assert seen > 3
