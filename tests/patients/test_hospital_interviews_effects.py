"""What home drugs do to patients: only in the interview, and nothing that the record or the patient speaks against."""

from __future__ import annotations

import pytest

from wardround.patients import Dialogue
from wardround.patients.hospital.interviews import make_interviews
from wardround.patients.hospital.interviews_facts import knowns
from wardround.patients.hospital.living import make_life
from wardround.patients.knowledge import drug_classes, drugs, findings, labs, lexicon
from wardround.patients.knowledge.bedside import drug_profiles
from wardround.patients.knowledge.side_effects import side_effect_rules, side_effects_of


@pytest.fixture(scope="module")
def lives():
    return [make_life(1, index) for index in range(8)]


def test_effects_are_of_drugs_taken_and_spoken_of_nowhere_else(lives):
    seen = {True: 0, False: 0}
    for life in lives:
        for known, parts in knowns(life):
            ids = {one.id for one in parts}
            spoken = {sign.finding for sign in life.signs if sign.encounter in ids}
            taken = {one.drug for one in known.adherence if one.state in ("taking", "missed_doses", "reduced")}
            for effect in known.effects:
                seen[effect.present] += 1
                assert effect.drug in taken
                assert effect.finding in {one.finding for one in drug_profiles()[effect.drug].adverse}
                assert any(effect.finding in rule.findings for rule in side_effects_of(effect.drug))
                related = [one for one in spoken if lexicon().is_a(one, effect.finding) or one == effect.finding]
                assert not related, (life.index, known.root.id, effect)
    assert min(seen.values()) >= 5


def test_an_effect_is_told_when_it_is_asked_for_by_name(lives):
    asked = 0
    for life in lives:
        for stay, interview in make_interviews(life).items():
            for fact in (one for one in interview.facts if one.id.startswith("fx")):
                assert fact.source == "simulated", stay
                for name in (findings()[fact.concept].name.en, findings()[fact.concept].name.zh):
                    said = Dialogue(interview).ask("patient.get_symptom_history", {"query": name})
                    assert fact.id in said.facts
                    asked += 1
    assert asked >= 20


def test_rules_are_about_what_the_knowledge_base_has():
    names = [rule.id for rule in side_effect_rules()]
    assert len(names) == len(set(names))
    for rule in side_effect_rules():
        for name in (*rule.drugs, *rule.but):
            assert name in drugs() or name in drug_classes(), (rule.id, name)
        assert set(rule.findings) <= set(findings()), rule.id
        assert rule.lab is None or rule.lab in labs(), rule.id
        assert (rule.lab is None) == (rule.at_least is None and rule.below is None), rule.id
        reached = [
            (drug, finding)
            for drug in drug_profiles()
            if rule.holds_for(drug)
            for finding in rule.findings
            if finding in {one.finding for one in drug_profiles()[drug].adverse}
        ]
        assert reached, f"{rule.id}: no drug of it has any of its findings"
