"""Finding the resources of a chart that are not valid FHIR R4, so that only their rows are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from wardround.patients.clock import forms
from wardround.patients.fhir import check, check_model
from wardround.patients.packing import Form
from wardround.patients.resource import Resource, dump, load, stamp
from wardround.patients.times import NEVER

from ._mapper import Mapped


class Invalid(NamedTuple):
    """A resource that was refused, and the element at fault."""

    mapped: Mapped
    problem: str
    """Path of the element; no values, so that equal faults are counted together."""


def split_invalid(made: Iterable[Mapped]) -> tuple[list[Mapped], list[Invalid]]:
    """Check every form of every resource by all layers; slow, for charts that were refused as a whole."""
    valid: list[Mapped] = []
    invalid: list[Invalid] = []
    for one in made:
        problem = _problem(one)
        if problem is None:
            valid.append(one)
        else:
            invalid.append(Invalid(one, problem))
    return valid, invalid


def _problem(one: Mapped) -> str | None:
    if isinstance(one.resource, Form):
        return _first(load(one.resource.body))
    plain = load(dump(one.resource))
    if one.known < NEVER:
        stamp(plain, one.known)
    for _, form in forms(plain, one.known):
        problem = _first(form)
        if problem is not None:
            return problem
    return None


def _first(form: Resource) -> str | None:
    problems = check(form) or check_model(form)
    return problems[0].split(":", 1)[0] if problems else None
