"""What the sixth reading left open in words: symptoms told alike, getting better, advice for this patient."""

from __future__ import annotations

import re
from dataclasses import replace

from hospital_written_lives import notes_of, text_of, written_lives

from wardround.patients import Persona
from wardround.patients.hospital.charting import chart_record
from wardround.patients.hospital.charting_desk import chart_words
from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.interviews_facts import knowns
from wardround.patients.hospital.making import Making
from wardround.patients.hospital.planning import holds
from wardround.patients.hospital.plausible import plausible
from wardround.patients.hospital.situating import is_a
from wardround.patients.hospital.speaking import Speaker
from wardround.patients.hospital.speaking_symptoms import symptom
from wardround.patients.knowledge.bedside import condition_profiles, finding_profiles
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


def test_a_rectal_examination_is_not_repeated_every_day() -> None:
    first = [text_of(note, "physical-exam") for _, _, note in notes_of("ed", "admission")]
    rectal = re.compile(r"guaiac|rectal|black stool in")
    assert any(rectal.search(one) for one in first)
    for life, _, note in notes_of("progress"):
        assert not rectal.search(text_of(note, "physical-exam")), (life.index, note.id)


# -- advice and words of treatment -------------------------------------------------------------------------------------


def test_antibiotics_are_to_be_finished_only_where_days_are_left() -> None:
    taught = [words for one in condition_profiles().values() for words in one.teaching.en]
    finish = [words for words in taught if re.match("Finish .*antibiotic", words)]
    assert len(finish) > 2
    order = next(
        one for life, _ in written_lives() for one in life.prescriptions
        if is_a(one.drug, ("antibiotic",)) and one.stop is not None
    )  # fmt: skip
    at = order.start + DAY
    for words in finish:
        assert holds(Making(1, 1), words, [replace(order, stop=at + 3 * DAY)], at)
        assert not holds(Making(1, 1), words, [replace(order, stop=at + DAY // 4)], at)
        assert not holds(Making(1, 1), words, [replace(order, stop=None)], at), "for good: there is nothing to finish"


def test_treatment_is_switched_only_where_one_drug_replaces_another() -> None:
    """A drug of the event, or one like it for the same illness, ended then; else it was added or taken up again."""
    told = dict.fromkeys(("switched", "other"), 0)
    for life, _, note in notes_of("progress", "discharge"):
        orders = {one.id: one for one in life.prescriptions}
        for said in (said for part in note.parts for said in part.sentences):
            new = [orders[one] for one in said.facts if one in orders]
            if re.search(r"\b(?:added|resumed|restarted|back on|also included|In addition)\b", said.text) and new:
                told["other"] += 1
            if not new or not re.search(r"\b(?:switched|transitioned) to\b", said.text):
                continue
            told["switched"] += 1
            ended = [one for one in life.prescriptions if one.stop is not None and one not in new]
            assert any(abs(old.stop - one.start) <= DAY // 2 for one in new for old in ended if old.stop), said.text
    assert all(told.values()), told


def test_what_prevents_or_eases_is_ordered_for_that_and_not_for_the_illness() -> None:
    reasons, seen = chart_words()["reasons"], set()
    for life, record in written_lives()[:12]:
        if not any(one.line in reasons for one in life.prescriptions):
            continue
        charted = chart_record(record)
        lines = {one.id: one.line for one in life.prescriptions if one.line in reasons}
        orders = {trace.key: trace.facts[0] for trace in charted.provenance if trace.facts}
        for one, _ in charted.builder.resources():
            line = lines.get(orders.get(f"{one['resourceType']}/{one['id']}", ""))
            if one["resourceType"] == "MedicationRequest" and line is not None:
                seen.add(line)
                assert one["reasonCode"][0]["text"] == reasons[line], (life.index, line)
    assert "vte_prophylaxis" in seen


# -- one symptom told alike --------------------------------------------------------------------------------------------


def test_nothing_helps_is_not_said_of_what_eased() -> None:
    speaker, said = Speaker(Persona(), "female", "none", 50, (1, 2, "e1")), {True: "", False: ""}
    for life, _ in written_lives():
        for sign in life.signs:
            words = sign.attributes.get("palliation")
            if sign.present and sign.type == "symptom" and words is not None and words.en.startswith("nothing"):
                for better in said:
                    told = symptom(speaker, sign, None, before=True, better=better, most=9)
                    said[better] += " ".join(one.en for one in told)
    helps = re.compile(r"[Nn]othing(?: has helped| in particular helps| helps)|nothing has helped")
    assert helps.search(said[False]) and said[True]
    assert not helps.search(said[True])


def test_speech_is_slurred_in_every_word_of_it() -> None:
    """The sign that goes with it is dysarthria: words not found would be another's, aphasia."""
    said, found = finding_profiles()["speech_difficulty"], finding_profiles()["dysarthria_aphasia"]
    assert said.lay is not None
    words = [*said.present, *said.abbreviated, *said.lay.say.en, *found.present]
    assert not [one for one in words if re.search(r"find|aphasi", one)]


def test_who_denies_one_trouble_of_the_bowels_does_not_deny_the_other() -> None:
    for name in ("diarrhea", "constipation"):
        lay = finding_profiles()[name].lay
        assert lay is not None
        assert not [one for one in lay.deny.en if re.search(r"bowels|regular|normal|fine", one)]
        assert not [one for one in lay.deny.zh if re.search(r"正常|规律", one)]
