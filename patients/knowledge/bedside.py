"""Reads the disease graph and the bedside files, once and lazily, with every fault named by file, line and path."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from .bedside_models import Coupling, DrugProfile, LabProfile, Panel
from .graph_models import ConditionProfile, FindingProfile, OrganismProfile, Relation, StudyProfile
from .loader import Faults, Source, _by_id

_Model = TypeVar("_Model", bound=BaseModel)
_LISTS: Mapping[str, type[BaseModel]] = MappingProxyType(
    {
        "conditions": ConditionProfile,
        "findings": FindingProfile,
        "relations": Relation,
        "studies": StudyProfile,
    }
)


def graph_sources() -> tuple[Source, ...]:
    """Return the files of the disease graph, sorted by name."""
    folder = resources.files("wardround.patients.knowledge").joinpath("data", "graph")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".json"))
    return tuple(Source(f"graph/{name}", folder.joinpath(name).read_bytes()) for name in names)


def read_graph(sources: tuple[Source, ...], faults: Faults) -> dict[str, list[BaseModel]]:
    """Return the entries of all files by list name; the bad ones and those told twice go to `faults`."""
    found: dict[str, list[BaseModel]] = {name: [] for name in _LISTS}
    seen: dict[tuple[str, str], str] = {}
    for source in sources:
        try:
            document = orjson.loads(source.data)
        except orjson.JSONDecodeError as error:
            faults.add(source, None, f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}")
            continue
        for name, model in _LISTS.items():
            for entry in document.get(name, ()):
                identity = str(entry.get("id", "")) if isinstance(entry, dict) else ""
                try:
                    found[name].append(model.model_validate(entry))
                except ValidationError as error:
                    for fault in error.errors(include_url=False):
                        path = ".".join([name, identity or "?", *(str(part) for part in fault["loc"])])
                        faults.add(source, None, f"{path}: {fault['msg']}")
                if identity and (name, identity) in seen:
                    faults.add(source, None, f"{name}: `{identity}` stands in {seen[name, identity]} too; tell it once")
                elif identity:
                    seen[name, identity] = source.name
    return found


@cache
def _graph() -> Mapping[str, Mapping[str, BaseModel]]:
    faults = Faults()
    found = read_graph(graph_sources(), faults)
    faults.check()
    return {
        name: MappingProxyType({str(getattr(entry, "id", number)): entry for number, entry in enumerate(entries)})
        for name, entries in found.items()
    }


@cache
def condition_profiles() -> Mapping[str, ConditionProfile]:
    """Return the conditions that the hospital knows, by id."""
    return MappingProxyType({key: _of(ConditionProfile, one) for key, one in _graph()["conditions"].items()})


@cache
def finding_profiles() -> Mapping[str, FindingProfile]:
    """Return the findings of the disease graph, by id."""
    return MappingProxyType({key: _of(FindingProfile, one) for key, one in _graph()["findings"].items()})


@cache
def relations() -> tuple[Relation, ...]:
    """Return how conditions bear on each other, in the order of the files."""
    return tuple(_of(Relation, one) for one in _graph()["relations"].values())


@cache
def study_profiles() -> Mapping[str, StudyProfile]:
    """Return imaging studies and the like, by id."""
    return MappingProxyType({key: _of(StudyProfile, one) for key, one in _graph()["studies"].items()})


@cache
def organism_profiles() -> Mapping[str, OrganismProfile]:
    """Return microbes by id."""
    return _by_id("organisms.json", OrganismProfile)


@cache
def lab_profiles() -> Mapping[str, LabProfile]:
    """Return how each laboratory test and vital sign behaves, by lab id."""
    return _by_id("lab_profiles.json", LabProfile)


@cache
def couplings() -> Mapping[str, Coupling]:
    """Return how values pull each other along, by id."""
    return _by_id("couplings.json", Coupling)


@cache
def panels() -> Mapping[str, Panel]:
    """Return the tests that are drawn together, by panel id."""
    return _by_id("panels.json", Panel)


@cache
def drug_profiles() -> Mapping[str, DrugProfile]:
    """Return how each drug is given, by drug id."""
    return _by_id("drug_profiles.json", DrugProfile)


def _of(model: type[_Model], entry: BaseModel) -> _Model:
    assert isinstance(entry, model)
    return entry
