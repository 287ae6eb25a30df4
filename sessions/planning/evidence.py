"""The pre-filter: how much the record of a case holds, and which scenarios and tiers it is enough for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from wardround.patients import NEVER, format_instant, knowledge, parse_instant
from wardround.sessions.decisions.charted import done_within, fresh, has, takes
from wardround.sessions.moves.move import Case
from wardround.sessions.parsed import resources
from wardround.sessions.record import drug_of

from .scenarios import TIERS, Alternatives, EvidenceName, EvidenceRules, Requirement, Scenario, Tier, evidence_rules

_HOUR = 3_600_000_000

Evidence = Mapping[EvidenceName, int]


def evidence_of(case: Case) -> Evidence:
    """Count what the record of a case holds; worked out once a case."""
    return case.memo("evidence.counts", _count)


def _count(case: Case) -> Evidence:
    rules, view = evidence_rules(), case.view
    codes = _diagnoses(case)
    systems = {system for code in codes for system in (_system(code, rules),) if system}
    markers = [len(view.series.get(lab, ())) for lab in rules.infection_markers]
    return {
        "labs": len(view.latest),
        "series": sum(len(readings) >= 2 for readings in view.series.values()),
        "monitored_pairs": len(view.pairs),
        "active_orders": len(view.orders),
        "home_drugs": _home_drugs(case, rules),
        "diagnoses": len(codes),
        "organ_systems": len(systems),
        "imaging_studies": _imaging(case, rules),
        "infection_values": max(markers, default=0),
        "antibiotics": _antibiotics(case, rules),
        "stay_hours": _stay_hours(case),
        "discharge_summaries": _summaries(case),
        "survived": int(_survived(case)),
        "resource_types": len(view.types),
    }


def _diagnoses(case: Case) -> frozenset[str]:
    """Return the codes of the diagnoses known at the anchor."""
    codes = set()
    for resource in resources(case.snapshot, "Condition"):
        coding = resource.get("code", {}).get("coding", ())
        code = next((str(one["code"]) for one in coding if "icd" in str(one.get("system", "")).casefold()), None)
        if code is not None:
            codes.add(code)
    return frozenset(codes)


def _system(code: str, rules: EvidenceRules) -> str | None:
    """Return the organ system of a diagnosis code; None for symptoms, history and external causes."""
    plain = code.replace(".", "").upper()
    if plain[:1].isdigit():
        number = int(plain[:3]) if plain[:3].isdigit() else 0
        return next((name for first, last, name in rules.systems.icd9 if first <= number <= last), None)
    return rules.systems.icd10.get(plain[:2]) or rules.systems.icd10.get(plain[:1])


def _home_drugs(case: Case, rules: EvidenceRules) -> int:
    found = set()
    for resource in resources(case.snapshot, "MedicationRequest"):
        categories = {code for one in resource.get("category", ()) for code in _codes(one)}
        if categories.intersection(rules.home_categories) and resource.get("status") == "active":
            found.add(str(resource.get("medicationCodeableConcept", {}).get("text", resource["id"])))
    return len(found)


def _codes(concept: dict[str, Any]) -> list[str]:
    texts = [str(concept["text"])] if concept.get("text") else []
    return texts + [
        str(coding[key]) for coding in concept.get("coding", ()) for key in ("code", "display") if key in coding
    ]


def _imaging(case: Case, rules: EvidenceRules) -> int:
    wanted = set(rules.imaging)
    return sum(
        any(wanted.intersection(_codes(category)) for category in resource.get("category", ()))
        for resource in resources(case.snapshot, "DiagnosticReport")
    )


def _antibiotics(case: Case, rules: EvidenceRules) -> int:
    """Count the antibiotics that were ordered in this stay."""
    drugs = set()
    for resource in resources(case.snapshot, "MedicationRequest"):
        here = str(resource.get("encounter", {}).get("reference", "")).rpartition("/")[2] == case.encounter
        drug = drug_of(str(resource.get("medicationCodeableConcept", {}).get("text", ""))) if here else None
        if drug is not None and is_antibiotic(drug):
            drugs.add(drug)
    return len(drugs)


@cache
def is_antibiotic(drug: str) -> bool:
    """Tell whether a drug of the knowledge base is an antibiotic, by its classes and what they belong to."""
    wanted, seen = set(evidence_rules().antibiotic_classes), set()
    todo = list(knowledge.drugs()[drug].classes)
    while todo:
        name = todo.pop()
        if name in wanted:
            return True
        if name not in seen and name in knowledge.drug_classes():
            seen.add(name)
            todo.extend(knowledge.drug_classes()[name].broader)
    return False


def _stay_hours(case: Case) -> int:
    """Return the length of the stay; the pre-filter may look at its end, no agent does."""
    entry = case.snapshot.chart.at(NEVER - 1).read("Encounter", case.encounter)
    period = {} if entry is None else entry.resource().get("period", {})
    if "start" not in period:
        return 0
    end = parse_instant(period.get("end", format_instant(case.anchor)))
    return int((end - parse_instant(period["start"])) // _HOUR)


def _summaries(case: Case) -> int:
    snapshot, found = case.snapshot, 0
    for place in snapshot.positions("DocumentReference").tolist():
        if b"ischarge" in snapshot.body(place):  # a stay has many long notes, and few are worth reading for this
            kind = snapshot.entry(place, "DocumentReference").resource().get("type", {})
            found += any("discharge-summary" in text or text == "Discharge summary" for text in _codes(kind))
    return found


def _survived(case: Case) -> bool:
    person: dict[str, Any] = next(iter(resources(case.snapshot.chart.at(NEVER - 1), "Patient")), {})
    died = person.get("deceasedDateTime")
    if died is None:
        return not person.get("deceasedBoolean", False)
    # Dates without a time are days: a death on the day of the anchor is no survival.
    return str(died)[:10] > format_instant(case.anchor)[:10]


# -- enough? -----------------------------------------------------------------------------------------------------------


def missing(alternatives: Alternatives, evidence: Evidence) -> tuple[str, ...]:
    """Return what is missing for the alternative that is nearest; empty where one is met."""
    lacks = [
        tuple(_lack(one, evidence) for one in needs if evidence[one.evidence] < one.least) for needs in alternatives
    ]
    return min(lacks, key=len, default=())


def _lack(need: Requirement, evidence: Evidence) -> str:
    return f"{need.evidence.replace('_', ' ')}: {evidence[need.evidence]}, at least {need.least}"


def interviewed(case: Case) -> bool:
    """Tell whether the patient can be asked: awake, breathing alone, and no caregiver speaks in their place.

    Every session asks the patient, and a physician's words ask them, not who sits at the bed.
    """
    return case.memo("evidence.interviewed", _interviewed)


def _interviewed(case: Case) -> bool:
    rules = evidence_rules().unheard
    gcs = case.view.vitals.get("gcs")
    clouded = gcs is not None and gcs.value < rules.gcs_below and fresh(case, gcs, rules.hours)
    silent = has(case, rules.conditions) or takes(case, rules.drugs) or done_within(case, rules.done, rules.hours)
    return not (clouded or silent or case.interview.persona.informant == "caregiver")


def lacks(scenario: Scenario, tier: Tier, case: Case) -> tuple[str, ...]:
    """Return what the record lacks for a scenario and tier; empty where it is enough."""
    evidence = evidence_of(case)
    if not interviewed(case):
        return ("the patient cannot be interviewed: sedated, ventilated, or somebody else speaks",)
    return (*missing(scenario.eligibility, evidence), *missing(evidence_rules().tiers[tier], evidence))


def tiers_of(scenario: Scenario, case: Case) -> tuple[Tier, ...]:
    """Return the tiers of a scenario that the record of a case is enough for."""
    return tuple(tier for tier in TIERS if not lacks(scenario, tier, case))
