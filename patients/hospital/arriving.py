"""What was there when the patient came: it does not develop afterwards."""

from __future__ import annotations

from decimal import Decimal

from wardround.patients.knowledge.bedside import finding_profiles
from wardround.patients.knowledge.graph_models import ConditionProfile

from .generation import rules
from .life import Result
from .stays import Course
from .workup import numbers

_TELLING = frozenset({"pathognomonic", "highly_suggestive"})


def there_already(course: Course, profile: ConditionProfile) -> bool:
    """Tell whether what a complication is told by was there on arrival.

    Args:
        course: The stay.
        profile: What would begin now.
    """
    for edge in profile.findings:
        finding = finding_profiles().get(edge.finding)
        seen = finding is not None and finding.type in ("symptom", "sign") and edge.finding in course.making.showing
        if seen and edge.edge in _TELLING and edge.relevance == "key":
            return True
    lab = rules().developed_from.get(profile.id)
    return lab is not None and off_at_first(course, lab)


def off_at_first(course: Course, lab: str) -> bool:
    """Tell whether the first value of a lab in a stay lay outside its reference range."""
    results = [one for one in course.making.results[course.first_result :] if one.lab == lab]
    return bool(results) and _outside(min(results, key=lambda one: (one.at, int(one.id[1:]))))


def _outside(result: Result) -> bool:
    for _, value in numbers(result.lab, result.text):
        if result.low is not None and value < Decimal(result.low):
            return True
        if result.high is not None and value > Decimal(result.high):
            return True
    return False
