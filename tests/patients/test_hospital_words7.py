"""What the sixth reading left open in words: symptoms told alike, getting better, advice for this patient."""

from __future__ import annotations

import re

from hospital_written_lives import notes_of, text_of, written_lives

from wardround.patients.hospital.generation import rules
from wardround.patients.hospital.plausible import plausible
from wardround.patients.knowledge.bedside import condition_profiles

# -- advice for this patient -------------------------------------------------------------------------------------------


def test_only_who_smokes_is_told_to_stop() -> None:
    told = rules().told_to
    taught = [(name, words) for name, one in condition_profiles().items() for words in one.teaching.en]
    of_smoking = [(name, words) for name, words in taught if re.search(r"\b(?:you smoke|still smoke|not smoke|smoking)\b", words)]
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
