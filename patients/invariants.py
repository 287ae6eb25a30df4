"""Invariants of FHIR R4: rules between the elements of one resource, which no schema can say.

Named as R4 names them (con-3, obs-6 …). per-1 (a Period's start before its end) is not enforced: real records break
it, and the clock reads such an order as `unknown` rather than refuse it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .resource import Resource


def check_invariants(plain: Resource, problems: list[str], *, strict: bool = False) -> None:
    """Add the invariants that a resource breaks to `problems`; its elements have passed the schema.

    `strict` adds con-3, a guideline of R4 that what we write ourselves keeps and a real record may not.
    """
    kind = plain["resourceType"]
    rules = _INVARIANTS.get(kind)
    if rules is not None:
        rules(plain, problems)
    if strict and kind == "Condition":
        _condition_guideline(plain, problems)


def _codes(node: Any) -> set[str]:
    found: set[str] = set()
    for concept in node if isinstance(node, list) else (node,):
        if isinstance(concept, dict):
            found |= {coding["code"] for coding in concept.get("coding", ()) if "code" in coding}
    return found


def _condition_rules(plain: Resource, problems: list[str]) -> None:
    status, verification = _codes(plain.get("clinicalStatus")), _codes(plain.get("verificationStatus"))
    abated = any(key.startswith("abatement") for key in plain)
    if abated and "clinicalStatus" in plain and status.isdisjoint({"inactive", "resolved", "remission"}):
        problems.append("Condition.clinicalStatus: abated, so it must be inactive, resolved or remission (con-4)")
    if "clinicalStatus" in plain and "entered-in-error" in verification:
        problems.append("Condition.clinicalStatus: must be absent when entered in error (con-5)")


def _condition_guideline(plain: Resource, problems: list[str]) -> None:
    listed = "problem-list-item" in _codes(plain.get("category"))
    if listed and "clinicalStatus" not in plain and "entered-in-error" not in _codes(plain.get("verificationStatus")):
        problems.append("Condition.clinicalStatus: a problem list item needs one (con-3)")


def _observation_rules(plain: Resource, problems: list[str]) -> None:
    has_value = any(key.startswith("value") for key in plain)
    if "dataAbsentReason" in plain and has_value:
        problems.append("Observation.dataAbsentReason: only without a value (obs-6)")
    if has_value and "component" in plain:
        own = _pairs(plain.get("code"))
        if any(not own.isdisjoint(_pairs(part.get("code"))) for part in plain["component"]):
            problems.append("Observation.value[x]: absent where a component has the same code (obs-7)")
    for band in plain.get("referenceRange", ()):
        if not {"low", "high", "text"} & band.keys():
            problems.append("Observation.referenceRange: needs low, high or text (obs-3)")


def _pairs(concept: Any) -> set[tuple[str | None, str]]:
    codings = concept.get("coding", ()) if isinstance(concept, dict) else ()
    return {(coding.get("system"), coding["code"]) for coding in codings if "code" in coding}


def _allergy_rules(plain: Resource, problems: list[str]) -> None:
    wrong = "entered-in-error" in _codes(plain.get("verificationStatus"))
    if wrong == ("clinicalStatus" in plain):
        rule = "ait-2" if wrong else "ait-1"
        problems.append(f"AllergyIntolerance.clinicalStatus: present unless entered in error ({rule})")


_INVARIANTS: dict[str, Callable[[Resource, list[str]], None]] = {
    "Condition": _condition_rules,
    "Observation": _observation_rules,
    "AllergyIntolerance": _allergy_rules,
}
