"""Single concepts of which the reader knows more than a name: `data/concepts.json`."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

from wardround.rubrics.datafile import load_model


class BareNoun(BaseModel):
    """A noun that names a measurement where a number that fits follows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concept: str
    units: frozenset[str] = frozenset()
    bare: bool = False
    """Whether a number without a unit will do."""
    links: frozenset[str] = frozenset()
    """Words that may stand between the noun and a number without a unit."""
    not_after: frozenset[str] = frozenset()
    """Words before the noun that make it something else ("infusion rate")."""
    least: Decimal = Decimal(0)
    most: Decimal = Decimal(10000)


class ConceptFile(BaseModel):
    """`data/concepts.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: int = Field(ge=1, le=1)
    remarks: str = ""
    counts: dict[str, str]
    """Share of the white cells → its count."""
    bare_counts: dict[str, int]
    """Share of the white cells → below which a number without a unit is its count ("neutrophils 0.6")."""
    levels: dict[str, str]
    """Drug → its blood level, where that has a name of its own."""
    unit_owners: dict[str, str]
    """Unit → what it measures where nothing is named."""
    unit_nouns: dict[str, str]
    """Counted noun of a rate ("28 breaths a minute") → what it measures, whatever else the sentence names."""
    bare_nouns: dict[str, BareNoun]
    """Noun → the measurement it names where a number that fits follows."""
    settings: tuple[str, ...]
    """What has a number but is no measurement of the patient."""


@lru_cache(maxsize=1)
def concepts() -> ConceptFile:
    """Return the file, loaded once."""
    return load_model("reading/data/concepts.json", ConceptFile)
