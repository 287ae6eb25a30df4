"""What a table of MIMIC-IV must look like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableSpec:
    """The columns of one table, in MIMIC-IV's own order."""

    name: str
    columns: tuple[str, ...]
    required: frozenset[str]
    not_carried: tuple[str, ...] = ()
    """Columns that MIMIC-IV has and the chart has no place for; named in the report."""
    keyed: bool = True
    """Whether rows belong to a subject (`subject_id`); dictionaries do not."""
