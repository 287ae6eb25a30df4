"""Kinds of encounters: a hospital stay, and the ICU and emergency department stays that are counted apart from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .resource import SITE, values_at

ENCOUNTER_KIND = f"{SITE}/CodeSystem/encounter-kind"
"""Code system of an Encounter's type: `hospital`, `icu`, `ed`. Without it an encounter stands for itself."""

_WITHIN = frozenset({"icu", "ed"})


def is_hospital_stay(encounter: Mapping[str, Any]) -> bool:
    """Tell whether an Encounter is a stay or visit of its own: no part of another, no ICU stay and no ED stay.

    Args:
        encounter: As of any anchor; an ED stay does not name the admission it led to before that is known.
    """
    if "partOf" in encounter:
        return False
    codings = values_at(encounter, "type.coding")
    return not any(one.get("system") == ENCOUNTER_KIND and one.get("code") in _WITHIN for one in codings)
