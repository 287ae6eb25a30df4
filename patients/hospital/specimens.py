"""What a procedure sends to the laboratory: there is no spinal fluid without a puncture."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter

from wardround.patients.knowledge.bedside import panels


class Specimen(BaseModel):
    """What one procedure yields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    procedure: str
    panels: tuple[str, ...]
    cultures: tuple[str, ...]


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    format_version: int
    assumption: bool
    note: str
    entries: tuple[Specimen, ...]


@cache
def specimens() -> Mapping[str, Specimen]:
    """Return the specimens of `data/specimens.json` by procedure."""
    data = resources.files("wardround.patients.hospital").joinpath("data", "specimens.json").read_bytes()
    found = TypeAdapter(_Document).validate_python(orjson.loads(data)).entries
    return MappingProxyType({one.procedure: one for one in found})


@cache
def of_procedures() -> frozenset[str]:
    """Return panels, their labs and culture specimens that only a procedure yields."""
    found: set[str] = set()
    for one in specimens().values():
        found.update(one.panels, one.cultures)
        found.update(lab for panel in one.panels for lab in panels()[panel].labs)
    return frozenset(found)
