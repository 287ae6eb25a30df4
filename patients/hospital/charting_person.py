"""Allergies, vaccines, diseases of relatives; social history → Observation."""

from __future__ import annotations

from wardround.patients.building import LOINC, OBSERVATION_CATEGORY, UCUM, concept, time_text
from wardround.patients.resource import Resource

from .charting_desk import Desk, chart_words
from .life import Stay

_ROLE = "http://terminology.hl7.org/CodeSystem/v3-RoleCode"
_CVX = "http://hl7.org/fhir/sid/cvx"


def chart_background(desk: Desk) -> None:
    """Add allergies, vaccines and the diseases of relatives, each known when it was recorded."""
    words = chart_words()
    for allergy in desk.life.allergies:
        name = desk.name(allergy.id)
        desk.builder.allergy(
            allergy.name, recorded=allergy.known_at, reaction=allergy.reaction.en,
            criticality=words["criticality"][allergy.severity], category=allergy.category, id=name,
        )  # fmt: skip
        desk.builder.last["reaction"][0]["severity"] = allergy.severity
        desk.trace("AllergyIntolerance", name, (allergy.id,))
    for vaccine in desk.life.vaccines:
        name = desk.name(vaccine.id)
        given = desk.builder.begin("Immunization", name, desk.stay(vaccine.encounter))
        given["status"] = "completed"
        given["vaccineCode"] = concept(vaccine.name, _CVX, vaccine.cvx)
        given["occurrenceDateTime"] = time_text(vaccine.at)
        desk.add(given, vaccine.at, (vaccine.id,))
    for relative in desk.life.relatives:
        name = desk.name(relative.id)
        role = words["relations"][relative.relation]
        coding = {"system": _ROLE, "code": role["code"], "display": relative.relation}
        history: Resource = {
            "resourceType": "FamilyMemberHistory",
            "id": name,
            "status": "completed",
            "patient": {"reference": f"Patient/{desk.life.patient_id}"},
            "date": time_text(relative.known_at),
            "relationship": {"coding": [coding], "text": role["text"]},
            "condition": [{"code": {"text": relative.name.en}}],
        }
        if role["sex"]:
            history["sex"] = {"coding": [{"system": "http://hl7.org/fhir/administrative-gender", "code": role["sex"]}]}
        if relative.age_at_onset is not None:
            age = {"value": relative.age_at_onset, "unit": "years", "system": UCUM, "code": "a"}
            history["condition"][0]["onsetAge"] = age
        if relative.deceased:
            history["deceasedBoolean"] = True
        desk.add(history, relative.known_at, (relative.id,))


def chart_social(desk: Desk) -> None:
    """Add social history: smoking at every stay of its own, the rest at the first."""
    own = [stay for stay in desk.life.stays if stay.part_of is None]
    for number, stay in enumerate(own):
        _social(desk, stay, "smoking", _smoking(desk))
        if number == 0:
            person, words = desk.life.person, chart_words()["social"]
            drinks = words["alcohol_words"][person.alcohol]
            if person.alcohol != "none" and person.drinks_per_week:
                drinks = f"{drinks} ({person.drinks_per_week} drinks per week)"
            _social(desk, stay, "alcohol", drinks)
            _social(desk, stay, "occupation", person.occupation.en)
            _social(desk, stay, "living", words["living_words"][person.living])


def _smoking(desk: Desk) -> str:
    person = desk.life.person
    words: str = chart_words()["social"]["smoking_words"][person.smoking]
    return words if person.smoking == "never" or not person.pack_years else f"{words}, {person.pack_years} pack-years"


def _social(desk: Desk, stay: Stay, key: str, value: str) -> None:
    entry = chart_words()["social"][key]
    name = f"{desk.name(stay.id)}-{key}"
    observation = desk.builder.begin("Observation", name, desk.stay(stay.id))
    observation["status"] = "final"
    observation["category"] = [{"coding": [{"system": OBSERVATION_CATEGORY, "code": "social-history"}]}]
    observation["code"] = concept(entry["name"], LOINC, entry["loinc"])
    observation["effectiveDateTime"] = time_text(stay.start)
    observation["valueString"] = value
    desk.add(observation, stay.start, ("person", stay.id))
