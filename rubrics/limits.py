"""What an answer may state beyond the gold, per family, and which claims exclude each other (`data/limits.json`)."""

from __future__ import annotations

from functools import cache

from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import DataError

from .datafile import load_model
from .rubric import Act, Status


class FamilyLimits(BaseModel):
    """How many claims of a kind an answer may make beyond the gold before none of them counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measured_concepts: int = Field(ge=0)
    values_per_concept: int = Field(ge=0)
    acts: int = Field(ge=0)
    mentions: int = Field(ge=0)
    status_clashes: int = Field(ge=1)
    """Clashing pairs of statuses of one concept from which its values do not count either."""
    lookups: tuple[str, ...] = ()
    """Tasks that ask for a fact alone: an answer that advises on a drug there counts for nothing."""
    argument_characters: int = Field(gt=0)
    """Longest string argument of a write, in characters."""
    long_arguments: tuple[str, ...] = ()
    """Arguments that may be longer (note bodies, files)."""


class Account(BaseModel):
    """Something a patient may say of taking a drug."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    concepts: tuple[str, ...] = Field(min_length=1)
    """As `reports` checks name it, `{drug}` standing for the drug; the first, narrowest one says whether it is told."""
    event: str
    """Kind of event of the reader's that must stand, not denied."""
    near: tuple[str, ...]
    """Words of which one must stand beside the event; empty: none."""
    contradicted_by: tuple[str, ...]
    """Names of the accounts beside which this one does not count."""


class Limits(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int
    remarks: str = ""
    families: dict[str, FamilyLimits]
    status_conflicts: frozenset[tuple[Status, Status]]
    act_conflicts: frozenset[tuple[Act, Act]]
    act_precedence: frozenset[tuple[Act, Act]]
    """Pairs of which only the first counts where both are advised on one target ("continue, but reduce the dose")."""
    accounts: tuple[Account, ...]
    accounts_at_once: int = Field(ge=1)
    """How many accounts of one drug an answer may give before none of them counts."""
    lookalikes: dict[str, str]
    """Letter of another alphabet → the Latin letter it looks like."""

    def of(self, family: str) -> FamilyLimits:
        """Return the limits of a family; a family without an entry takes the default ones."""
        return self.families.get(family) or self.families["default"]

    def statuses_clash(self, one: str, other: str) -> bool:
        """Tell whether both statuses cannot be true at once."""
        return (one, other) in self.status_conflicts or (other, one) in self.status_conflicts

    def acts_clash(self, one: str, other: str) -> bool:
        """Tell whether both acts cannot be advised on one target at once."""
        return (one, other) in self.act_conflicts or (other, one) in self.act_conflicts


@cache
def limits() -> Limits:
    """Load the file once.

    Raises:
        DataError: The file is not as its schema says.
    """
    loaded = load_model("data/limits.json", Limits)
    if "default" not in loaded.families:
        raise DataError("rubrics/data/limits.json: families: no `default`; add the limits for unnamed families")
    return loaded
