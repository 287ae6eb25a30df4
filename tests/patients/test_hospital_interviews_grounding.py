"""Interviews say what is true of a life and nothing that gives away or contradicts; of many more lives on request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import pytest

from wardround.patients.dialogue import INTERVIEW_TOOLS, Dialogue, interview_problems
from wardround.patients.hospital.interviews import make_interviews
from wardround.patients.hospital.life import Life, Stay
from wardround.patients.hospital.living import make_life
from wardround.patients.hospital.making import Making
from wardround.patients.hospital.person import make_person
from wardround.patients.hospital.writing_view import moment
from wardround.patients.interview import Fact, Interview, Reply
from wardround.patients.knowledge import lexicon
from wardround.patients.knowledge.bedside import drug_profiles

_LATIN = {"B", "D", "A", "C", "K", "E", "COVID", "HIV", "CT", "MRI", "INR"}
_BAD = ("stopped", "reduced", "never_started", "missed_doses")
Encounters: TypeAlias = "list[tuple[Life, Stay, Interview]]"


@pytest.fixture(
    scope="module",
    params=[pytest.param((41, 40), id="few"), pytest.param((1009, 100), id="many", marks=pytest.mark.external)],
)
def roots(request: pytest.FixtureRequest) -> Encounters:
    """Return the encounters of some lives, not their parts, each with its life and its interview."""
    seed, count = request.param
    found = []
    for index in range(count):
        life = make_life(seed, index)
        told = make_interviews(life)
        found += [(life, stay, told[stay.id]) for stay in life.stays if stay.part_of is None]
    return found


def _sentences(text: str) -> int:
    return len(re.findall(r"[.?!](?= |$)|[。？！]", text))


def _parts(life: Life, root: Stay) -> set[str]:
    return {stay.id for stay in life.stays if root.id in (stay.id, stay.part_of)} | {
        stay.id for stay in life.stays for above in life.stays
        if stay.part_of == above.id and above.part_of == root.id
    }  # fmt: skip


def test_interviews_are_sound(roots: Encounters) -> None:
    for _, _, interview in roots:
        assert interview_problems(interview) == []


def test_every_question_is_answered_in_both_languages(roots: Encounters) -> None:
    for _, _, interview in roots:
        recorded = {(reply.tool, reply.fact) for reply in interview.replies if not reply.after}
        assert {(tool, None) for tool in INTERVIEW_TOOLS} - recorded <= {("patient.get_functional_status", None)}
        answered = {reply.fact for reply in interview.replies}
        assert {fact.id for fact in interview.facts} <= answered
        for reply in interview.replies:
            assert reply.text.en
            assert reply.text.zh
            assert "{" not in reply.text.en + reply.text.zh


def test_replies_are_two_to_five_sentences(roots: Encounters) -> None:
    for _, _, interview in roots:
        for reply in interview.replies:
            assert 2 <= _sentences(reply.text.en or "") <= 5, reply.text.en
            assert 2 <= _sentences(reply.text.zh or "") <= 6, reply.text.zh


def test_chinese_has_no_english_left(roots: Encounters) -> None:
    found = Counter(
        word for _, _, one in roots for reply in one.replies for word in re.findall("[A-Za-z]+", reply.text.zh or "")
    )
    assert set(found) <= _LATIN


def test_facts_are_those_of_the_life(roots: Encounters) -> None:
    for life, root, interview in roots:
        parts = _parts(life, root)
        signs = {sign.id: sign for sign in life.signs if sign.encounter in parts}
        taken = {one.id: one for one in life.adherence if one.encounter in parts}
        for fact in interview.facts:
            if fact.id in signs:
                sign = signs[fact.id]
                assert fact.concept == sign.finding
                assert (fact.polarity == "present") == sign.present
                assert fact.attributes.get("onset") == (sign.attributes["onset"].en if sign.attributes else None)
                assert sign.onset <= root.end
            if fact.kind == "adherence":
                true = taken[fact.id]
                assert (fact.drug, fact.state, fact.reason) == (true.drug, true.state, true.reason_concept)
                assert fact.attributes.get("since") == (true.since.en if true.since else None)


def test_every_drug_taken_at_home_has_one_fact(roots: Encounters) -> None:
    for life, root, interview in roots:
        drugs = [fact.drug for fact in interview.facts if fact.kind == "adherence"]
        parts = _parts(life, root)
        assert len(drugs) == len(set(drugs))
        assert set(drugs) == {one.drug for one in life.adherence if one.encounter in parts}


def test_what_is_held_back_is_told_only_when_its_drug_is_named(roots: Encounters) -> None:
    tried = 0
    for _, _, interview in roots:
        for fact in interview.facts:
            if not fact.withheld:
                continue
            assert fact.drug is not None
            tried += 1
            dialogue = Dialogue(interview)
            for tool in INTERVIEW_TOOLS:
                assert fact.id not in dialogue.ask(tool, {}).facts
            name = lexicon().concept(fact.drug).name.en
            said = dialogue.ask("patient.get_medication_adherence", {"medication": name})
            assert fact.id in said.facts
            general = dialogue.ask("patient.get_medication_adherence", {})
            assert fact.id in general.facts
    assert tried >= 10


def test_no_other_words_name_the_drug_that_is_held_back(roots: Encounters) -> None:
    for _, _, interview in roots:
        for fact in interview.facts:
            if not fact.withheld:
                continue
            for reply in interview.replies:
                if reply.fact == fact.id or fact.id in reply.after:
                    continue
                for text in (reply.text.en or "", reply.text.zh or ""):
                    named = {one.concept for one in lexicon().scan(text, kinds=("drug",))}
                    assert fact.drug not in named, text


def test_withheld_drugs_are_not_taken_and_unknown_to_the_notes(roots: Encounters) -> None:
    for life, root, interview in roots:
        hidden = [fact for fact in interview.facts if fact.withheld]
        assert len(hidden) <= 1
        assert (interview.persona.disclosure == "critical_withheld") == bool(hidden)
        for fact in hidden:
            true = next(one for one in life.adherence if one.id == fact.id)
            assert true.state in _BAD
            assert not true.charted
            assert fact.source == "simulated"
            assert true.encounter in _parts(life, root)


def test_pain_scores_agree(roots: Encounters) -> None:
    for life, root, interview in roots:
        for fact in interview.facts:
            if fact.kind != "pain":
                continue
            measured = [
                one for one in life.results if one.lab == "pain_score" and one.encounter in _parts(life, root)
            ]  # fmt: skip
            if measured:
                assert fact.attributes["score"] == max(measured, key=lambda one: one.at).text
            allowed = {fact.attributes["score"], fact.attributes.get("worst"), "10", "0"}
            for reply in interview.replies:
                if reply.tool == "patient.get_pain_assessment":
                    assert set(re.findall(r"\d+", reply.text.en or "")) <= allowed
                    assert set(re.findall(r"\d+", reply.text.zh or "")) <= allowed


def _own(fact: Fact, reply: Reply) -> bool:
    return reply.fact == fact.id and reply.tool == "patient.get_symptom_history"


def test_onset_is_told_as_it_was(roots: Encounters) -> None:
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    checked = 0
    for _, _, interview in roots:
        for fact in interview.facts:
            number = re.search(r"\d+", fact.attributes.get("onset", ""))
            if fact.kind not in ("symptom", "complaint") or number is None:
                continue
            n = int(number[0])
            said = words[n - 1] if n <= len(words) else str(n)
            for reply in interview.replies:
                if _own(fact, reply):
                    assert said in (reply.text.en or "").lower()
                    checked += 1
    assert checked > 100


def test_children_are_not_asked_what_grown_ups_are(roots: Encounters) -> None:
    for life, root, interview in roots:
        if moment(root.start).year - int(life.person.birth_date[:4]) < 14:
            assert not {fact.id for fact in interview.facts} & {"smoking", "alcohol"}
            assert interview.persona.informant == "caregiver"


def test_low_literacy_does_not_name_drugs_by_their_generic_names(roots: Encounters) -> None:
    for _, _, interview in roots:
        if interview.persona.literacy != "low":
            continue
        for reply in interview.replies:
            fact = next((one for one in interview.facts if one.id == reply.fact and one.kind == "adherence"), None)
            if fact is None or fact.drug is None or reply.tool != "patient.get_medication_adherence":
                continue
            name = lexicon().concept(fact.drug).name.en.lower()
            profile = drug_profiles()[fact.drug]
            if not any(name in one.lower() for one in (*profile.lay.en, *profile.look.en)):  # folic acid has no other
                assert name not in (reply.text.en or "").lower()


def test_a_symptom_is_found_by_its_name(roots: Encounters) -> None:
    asked = found = 0
    for _, _, interview in roots:
        dialogue = Dialogue(interview)
        for fact in interview.facts:
            concept = lexicon().resolve(fact.concept)
            if fact.kind != "symptom" or concept is None:
                continue
            for language, name in (("en", concept.name.en), ("zh", concept.name.zh or concept.name.en)):
                said = dialogue.ask("patient.get_symptom_history", {"symptom": name}, language)
                asked += 1
                found += fact.id in said.facts
    assert asked > 200
    assert found * 100 >= asked * 95


def test_what_eased_is_not_said_to_get_worse(roots: Encounters) -> None:
    for life, root, interview in roots:
        if root.kind != "ward" or not any(
            one.kind == "improved" and one.encounter in _parts(life, root) for one in life.events
        ):
            continue
        for reply in interview.replies:
            assert "getting worse" not in (reply.text.en or "")


def test_who_is_in_bed_tells_nothing_of_stairs(roots: Encounters) -> None:
    seen = 0
    for life, root, interview in roots:
        function = next((one for one in life.functions if one.encounter in _parts(life, root)), None)
        if function is None or function.walking not in ("wheelchair", "bedbound"):
            continue
        seen += 1
        for reply in interview.replies:
            if reply.tool == "patient.get_symptom_history" and reply.fact is not None:
                assert not re.search(r"stairs|uphill|squatting", reply.text.en or ""), reply.text.en
    assert seen


def test_who_does_not_drink_tells_nothing_of_drinks(roots: Encounters) -> None:
    seen = 0
    for life, _, interview in roots:
        if life.person.alcohol != "none":
            continue
        seen += 1
        for reply in interview.replies:
            assert "a drink in the evening" not in (reply.text.en or "")
    assert seen


def test_nobody_speaks_in_pack_years_nor_makes_light_of_what_is_grave(roots: Encounters) -> None:
    light = ("Nothing I can't live with", "I'm not too bothered", "We'll see what you find")
    for _, _, interview in roots:
        worst = {fact.id: int(fact.attributes.get("worst", "0")) for fact in interview.facts}
        severe = {fact.id for fact in interview.facts if fact.attributes.get("severity", "").startswith("severe")}
        for reply in interview.replies:
            english = reply.text.en or ""
            assert "pack-year" not in english
            assert "包年" not in (reply.text.zh or "")
            if reply.fact in severe or worst.get(reply.fact or "", 0) >= 5:
                assert not any(one in english for one in light), english


def test_who_is_asked_yes_or_no_says_no_more_than_that(roots: Encounters) -> None:
    for _, _, interview in roots:
        for reply in interview.replies:
            if reply.tool == "patient.get_functional_status" or reply.fact in ("living", "smoking", "alcohol", "work"):
                english = reply.text.en or ""
                assert not english.startswith(("Certainly", "In short", "As to that", "Sure.", "Well", "Let me"))
                assert not english.endswith(("Anything else?", "Is that what you wanted to know?", "I can tell you."))


def _in_care_homes(seed: int, wanted: int) -> Iterator[Life]:
    """Yield lives spent in a care home, about one in 75: the person is drawn first, which is quick."""
    for index in range(2000):
        making = Making(seed, index)
        make_person(making)
        if making.person.living == "facility":
            yield make_life(seed, index)
            wanted -= 1
        if not wanted:
            return


def test_in_a_care_home_nothing_is_forgotten_or_runs_out() -> None:
    reasons = {one.reason_concept for life in _in_care_homes(42, 8) for one in life.adherence if one.reason_concept}
    assert reasons
    assert not reasons & {"forgetting", "ran_out", "cost", "too_many_pills"}
