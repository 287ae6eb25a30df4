"""Orders: do the arguments of a write mean what was asked for? Vocabulary in `data/`."""

from __future__ import annotations

from wardround.rubrics.rubric import OrderCheck

from .arguments import Texts, grading_name, read_arguments
from .doses import read_doses
from .fields import FieldVerdict, judge_field
from .forbid import judge_forbid
from .medications import is_of_class


def order_problems(check: OrderCheck) -> list[str]:
    """Return why an order check could never be judged as meant: limits without a unit, unknown classes, no content."""
    problems = []
    if not check.fields and check.forbid is None:
        problems.append("order: neither `fields` nor `forbid`, so any write of that tool passes; name a field")
    for name, wanted in check.fields.items():
        if not wanted.strip():
            problems.append(f"order.fields.{name}: empty; say what it must mean")
        elif name == "dose" and not read_doses(wanted).amounts:
            problems.append(f'order.fields.dose: `{wanted}` has no amount with a unit; write it as "250 mg"')
    if check.forbid is not None:
        problems.extend(_forbid_problems(check))
    return problems


def _forbid_problems(check: OrderCheck) -> list[str]:
    forbid = check.forbid
    assert forbid is not None
    problems = []
    if not forbid.model_dump(exclude_none=True):
        problems.append("order.forbid: empty; name a key or leave it out")
    for key, limit in (("dose_at_least", forbid.dose_at_least), ("daily_dose_at_least", forbid.daily_dose_at_least)):
        if limit is not None and len(read_doses(limit).amounts) != 1:
            problems.append(f'order.forbid.{key}: `{limit}` is not one amount with a unit; write it as "500 mg"')
    if forbid.medication_class is not None and is_of_class(frozenset(), forbid.medication_class) is None:
        problems.append(f"order.forbid.medication_class: `{forbid.medication_class}` is no class of the knowledge base")
    return problems


__all__ = [
    "FieldVerdict",
    "Texts",
    "grading_name",
    "judge_field",
    "judge_forbid",
    "order_problems",
    "read_arguments",
]
