"""What a physician looks at next, depending on a first lab (data/branches.json)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import load_data

Test = Literal["high", "low", "abnormal"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


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
    unless: tuple[str, ...] = ()
    """Reasons of the patient that name a reading of the lab themselves, so that one answer would hold two."""


class BranchRules(_Frozen):
    """The whole file."""

    format_version: Literal[1]
    note: str
    assumption: bool
    labs: tuple[LabBranch, ...]
    drugs: tuple[DrugBranch, ...]

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
