"""Single concepts of which the reader knows more than a name: `data/concepts.json`."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

from wardround.rubrics.datafile import load_model


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
    settings: tuple[str, ...]
    """What has a number but is no measurement of the patient."""


@lru_cache(maxsize=1)
def concepts() -> ConceptFile:
    """Return the file, loaded once."""
    return load_model("reading/data/concepts.json", ConceptFile)
