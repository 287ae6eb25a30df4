"""Making an interview from any chart."""

from __future__ import annotations

import re
from itertools import product

import pytest

from wardround.patients import (
    Dialogue,
    Interview,
    Persona,
    interview_problems,
    interview_stats,
    knowledge,
    make_interview,
)
from wardround.patients.builder import ChartBuilder
from wardround.patients.chart import Chart, Snapshot
from wardround.patients.dialogue import INTERVIEW_TOOLS
from wardround.patients.interviewing import _data
from wardround.patients.times import parse_instant
from wardround.patients.voice import voice_data

ANCHOR = parse_instant("2180-05-07T12:00:00Z")


def chart(*codes: str, sex: str = "female", birth: str = "2112-02-01", marital: str | None = None) -> Chart:
    builder = ChartBuilder("p-1", sex=sex, birth_date=birth, marital_status=marital)
    builder.encounter("e-1", "IMP", "2180-05-01 10:00", "2180-05-09 10:00")
    for code in codes:
        builder.condition(f"Diagnosis {code}", code=code, known_at="2180-05-01", encounter="e-1")
    for name, route in (
        ("Metformin 500 mg tablet", "PO"), ("Warfarin", "oral"), ("Furosemide", "IV"), ("Lisinopril", "ORAL"),
        ("Insulin Glargine", "SC"), ("Sodium Chloride 0.9%", "IV"),
    ):  # fmt: skip
        builder.medication(name, dose="1 mg", route=route, frequency="daily", start="2180-05-02 10:00", encounter="e-1")
    builder.medication("Digoxin", dose="1 mg", route="oral", start="2180-05-02 10:00", stop="2180-05-03 10:00")
    return builder.chart()


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return chart("I50.9", "E11.9", "F17.210").at(ANCHOR)


def adherence(interview: Interview) -> dict[str, str | None]:
    return {fact.concept: fact.state for fact in interview.facts if fact.kind == "adherence"}


def test_same_seed_same_interview_and_seeds_differ(snapshot: Snapshot) -> None:
    assert make_interview(snapshot, 3) == make_interview(snapshot, 3)
    assert len({make_interview(snapshot, seed).model_dump_json() for seed in range(12)}) == 12


@pytest.mark.parametrize("seed", range(25))
def test_every_interview_is_sound(snapshot: Snapshot, seed: int) -> None:
    interview = make_interview(snapshot, seed)
    assert interview_problems(interview) == []
    assert {reply.tool for reply in interview.replies} == set(INTERVIEW_TOOLS)
    told = [(reply.tool, reply.fact) for reply in interview.replies]
    assert len(told) == len(set(told))
    for reply in interview.replies:
        assert reply.text.en
        assert reply.text.zh
        assert "{" not in reply.text.en + reply.text.zh
        assert 2 <= len(re.findall(r"[.?!](?:\s|$)", reply.text.en)) <= 5, reply.text.en
        assert 2 <= len(re.findall(r"[。？！]", reply.text.zh)) <= 5, reply.text.zh
        assert not re.search(r"[a-z]{4,}", reply.text.zh), reply.text.zh


def test_adherence_covers_active_drugs_taken_at_home(snapshot: Snapshot) -> None:
    drugs = adherence(make_interview(snapshot, 1))
    assert {"metformin", "warfarin", "lisinopril"} <= set(drugs)
    assert {"furosemide", "digoxin"}.isdisjoint(drugs)


def test_good_persona_takes_everything(snapshot: Snapshot) -> None:
    for seed in range(8):
        assert set(adherence(make_interview(snapshot, seed, Persona())).values()) == {"taking"}


def test_poor_persona_does_not(snapshot: Snapshot) -> None:
    states = {
        state
        for seed in range(8)
        for state in adherence(make_interview(snapshot, seed, Persona(adherence="poor"))).values()
    }
    assert {"stopped", "missed_doses", "reduced"} <= states


@pytest.mark.parametrize(("seed", "drug"), list(product(range(6), ["warfarin", "metformin"])))
def test_what_is_withheld_comes_out_only_by_name(snapshot: Snapshot, seed: int, drug: str) -> None:
    interview = make_interview(snapshot, seed, withhold=drug)
    (held,) = [fact for fact in interview.facts if fact.withheld]
    assert (held.drug, interview.persona.disclosure) == (drug, "critical_withheld")
    assert held.state not in ("taking", None)
    assert held.reason is not None
    concept = knowledge.lexicon().resolve(drug)
    assert concept is not None
    for language in ("en", "zh"):
        dialogue = Dialogue(interview)
        for tool in INTERVIEW_TOOLS:
            said = dialogue.ask(tool, {"drug": "lisinopril"}, language)
            assert held.id not in said.facts
            assert concept.name.en.casefold() not in said.text.casefold()
            assert (concept.name.zh or "?") not in said.text
        said = dialogue.ask("patient.get_medication_adherence", {"drug": drug}, language)
        assert said.facts == (held.id,)


def test_withheld_drug_need_not_be_ordered(snapshot: Snapshot) -> None:
    assert "levothyroxine" in adherence(make_interview(snapshot, 0, withhold="levothyroxine"))


def test_symptoms_fit_the_diagnoses_and_are_simulated(snapshot: Snapshot) -> None:
    for seed in range(8):
        interview = make_interview(snapshot, seed)
        (complaint,) = [fact for fact in interview.facts if fact.kind == "complaint"]
        assert complaint.concept in {"dyspnea", "leg_edema", "thirst", "fatigue"}
        assert complaint.source == "simulated"
        said = Dialogue(interview).ask("patient.get_symptom_history", {}, "en")
        assert complaint.id in said.facts
        absent = [fact for fact in interview.facts if fact.polarity == "absent" and fact.kind == "symptom"]
        present = {fact.concept for fact in interview.facts if fact.polarity == "present"}
        assert absent
        assert not present.intersection(fact.concept for fact in absent)


def test_a_chart_without_diagnoses_has_no_complaint() -> None:
    interview = make_interview(chart().at(ANCHOR), 1)
    assert not [fact for fact in interview.facts if fact.kind == "complaint"]
    assert Dialogue(interview).ask("patient.get_symptom_history", {}, "en").facts == ()


def test_the_record_decides_what_it_knows() -> None:
    for seed in range(6):
        interview = make_interview(chart("F17.210", "F10.20", marital="WIDOWED").at(ANCHOR), seed)
        facts = {fact.id: fact for fact in interview.facts}
        assert facts["social-smoking"].polarity == "present"
        assert facts["social-smoking"].source.startswith("Condition/")
        assert facts["social-alcohol_use"].attributes["detail"] == "drinks heavily"
        assert facts["social-living"].concept == "lives_alone"
        assert facts["social-living"].source == "Patient/p-1"


def test_nothing_later_than_the_anchor_matters() -> None:
    builder = ChartBuilder("p-1", sex="female", birth_date="2112")
    builder.encounter("e-1", "IMP", "2180-05-01 10:00")
    before = make_interview(builder.chart().at(ANCHOR), 5)
    builder.condition("Heart failure", code="I50.9", known_at="2180-05-08")
    builder.medication("Warfarin", dose="5 mg", route="oral", start="2180-05-08 10:00")
    assert make_interview(builder.chart().at(ANCHOR), 5) == before


def test_a_caregiver_speaks_for_a_patient_with_dementia() -> None:
    for sex, pronoun in (("male", "He"), ("female", "She"), ("unknown", "They")):
        interview = make_interview(chart("F03.90", "I50.9", sex=sex).at(ANCHOR), 2)
        assert interview.persona.informant == "caregiver"
        text = " ".join(reply.text.en or "" for reply in interview.replies if reply.tool.endswith("functional_status"))
        assert re.search(rf"\b{pronoun}\b", text, re.IGNORECASE)
        assert not re.search(r"\bI (?!hope|get|keep|have kept|don't know|'ll)", text), text


def test_persona_colours_the_words(snapshot: Snapshot) -> None:
    def texts(**traits: str) -> str:
        interview = make_interview(snapshot, 4, Persona.model_validate(traits))
        return " ".join(reply.text.en or "" for reply in interview.replies)

    calm, anxious = texts(), texts(anxiety="high")
    assert "?" not in calm
    assert anxious.count("?") >= 2
    assert any(opener["en"] in texts(literacy="low") for opener in voice_data()["openers"]["low"])


def test_stats_count_what_is_simulated(snapshot: Snapshot) -> None:
    stats = interview_stats(make_interview(snapshot, 1, withhold="warfarin"))
    assert stats["withheld"] == 1
    assert 0 < stats["simulated"] < stats["facts"]
    assert stats["replies"] >= 12


def test_an_icd9_external_cause_is_no_icd10_code() -> None:
    builder = ChartBuilder("p-1", birth_date="2112")
    builder.condition(
        "Abnormal reaction to removal of organ", code="E8786", system="http://hl7.org/fhir/sid/icd-9-cm",
        known_at="2180-05-01",
    )  # fmt: skip
    interview = make_interview(builder.chart().at(ANCHOR), 1)
    assert "nausea" not in {fact.concept for fact in interview.facts}


def test_every_entry_of_the_data_reads_in_both_languages() -> None:
    data = _data()
    lexicon = knowledge.lexicon()
    for entry in [*data["symptoms"], *data["denied_words"].values()]:
        assert len(entry["en"]) == len(entry["zh"]) > 0
    for entry in data["symptoms"]:
        assert lexicon.resolve(entry["finding"], kinds=("finding",)) is not None, entry["finding"]
    for entry in data["reasons"]:
        assert lexicon.resolve(entry["reason"], kinds=("finding",)) is not None, entry["reason"]
        for group in entry["classes"]:
            assert group in knowledge.drug_classes()
    for state in {state for states in data["states"].values() for state in states}:
        assert voice_data()["adherence"][state]["say"]
