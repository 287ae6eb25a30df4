"""What a physician looks at next, depending on a first lab (data/branches.json)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wardround.patients import load_data

Test = Literal["high", "low", "abnormal"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Related(_Frozen):
    """Two labs of which one explains the other or changes what is done about it."""

    labs: tuple[str, str]
    why: str


class LabBranch(_Frozen):
    """A lab, and which other one is of interest if it is off, and which if it is not."""

    lab: str
    test: Test
    then: str
    """Lab to look at where the test holds."""
    otherwise: str


class DrugBranch(_Frozen):
    """A lab, and the drugs of which one asks how they are really taken if it is off."""

    lab: str
    test: Test
    drugs: tuple[str, ...] = Field(min_length=1)
    by: Literal["missing", "taking"]
    """What about the drug would explain the value: doses that were missed, or that it is taken.

    Whether doses were missed is asked of the former only.
    """
    unless: tuple[str, ...] = ()
    """Reasons of the patient that name a reading of the lab themselves, so that one answer would hold two."""


class BranchRules(_Frozen):
    """The whole file."""

    format_version: Literal[1]
    note: str
    assumption: bool
    related: tuple[Related, ...]
    """Nothing else is looked up after a lab than what is related to it."""
    labs: tuple[LabBranch, ...]
    drugs: tuple[DrugBranch, ...]

    @model_validator(mode="after")
    def _only_related(self) -> Self:
        known = {frozenset(one.labs) for one in self.related}
        for rule in self.labs:
            for other in (rule.then, rule.otherwise):
                if frozenset((rule.lab, other)) not in known:
                    raise ValueError(f"{rule.lab} {rule.test}: {other} is not related to it")
        return self

    def of_lab(self, lab: str) -> tuple[LabBranch, ...]:
        """Return the rules that begin with a lab."""
        return tuple(rule for rule in self.labs if rule.lab == lab)

    def of_drug(self, drug: str) -> tuple[DrugBranch, ...]:
        """Return the rules that are about a drug."""
        return tuple(rule for rule in self.drugs if drug in rule.drugs)


@lru_cache(maxsize=1)
def branch_rules() -> BranchRules:
    """Return the rules.

    Raises:
        DataError: The file is faulty; says field and fault.
    """
    return load_data("wardround.sessions", "data/branches.json", BranchRules)
