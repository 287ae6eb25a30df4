"""Finding the resources of a chart that are not valid FHIR R4, so that only their rows are refused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from wardround.patients.clock import forms
from wardround.patients.fhir import check, check_model
from wardround.patients.packing import sampled
from wardround.patients.resource import Resource, dump, load, stamp
from wardround.patients.slotted import Sheaf
from wardround.patients.times import NEVER

from ._mapper import Mapped


class Invalid(NamedTuple):
    """A row whose resource was refused, and the element at fault."""

    table: str
    row: int
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
            invalid.append(Invalid(one.table, one.row, problem))
    return valid, invalid


def split_sheaf(sheaf: Sheaf) -> tuple[Sheaf, list[Invalid]]:
    """Take out of a sheaf what its sample finds invalid."""
    found = {place: problem for place, plain in sampled(sheaf) if (problem := _first(plain)) is not None}
    invalid = [Invalid(sheaf.table, sheaf.rows[place][4], problem) for place, problem in found.items()]
    return sheaf.without(list(found)), invalid


def _problem(one: Mapped) -> str | None:
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
