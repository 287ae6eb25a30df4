"""What a procedure sends to the laboratory: there is no spinal fluid without a puncture."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from wardround.patients.knowledge.bedside import panels

from .documents import Frozen, read_document


class Specimen(Frozen):
    """What one procedure yields."""

    procedure: str
    panels: tuple[str, ...]
    cultures: tuple[str, ...]


class _Document(Frozen):
    format_version: int
    assumption: bool
    note: str
    entries: tuple[Specimen, ...]


@cache
def specimens() -> Mapping[str, Specimen]:
    """Return the specimens of `data/specimens.json` by procedure."""
    found = _Document.model_validate_json(read_document("specimens.json")).entries
    return MappingProxyType({one.procedure: one for one in found})


@cache
def of_procedures() -> frozenset[str]:
    """Return panels, their labs and culture specimens that only a procedure yields."""
    found: set[str] = set()
    for one in specimens().values():
        found.update(one.panels, one.cultures)
        found.update(lab for panel in one.panels for lab in panels()[panel].labs)
    return frozenset(found)
