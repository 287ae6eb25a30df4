"""Reads the disease graph and the bedside files, once and lazily, with every fault named by file, line and path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import ValidationError

from .bedside_models import Coupling, DrugProfile, LabProfile, Panel
from .graph_models import ConditionProfile, FindingProfile, GraphFile, OrganismProfile, Relation, StudyProfile
from .loader import Faults, Source, _by_id

_Entry = TypeVar("_Entry", ConditionProfile, FindingProfile, StudyProfile)


def graph_sources() -> tuple[Source, ...]:
    """Return the files of the disease graph, sorted by name."""
    folder = resources.files("wardround.patients.knowledge").joinpath("data", "graph")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".json"))
    return tuple(Source(f"graph/{name}", folder.joinpath(name).read_bytes()) for name in names)


def read_graph(sources: Iterable[Source], faults: Faults) -> list[GraphFile]:
    """Return the good files; what is wrong in the others, and entries told twice, goes to `faults`."""
    found: list[GraphFile] = []
    seen: dict[tuple[str, str], str] = {}
    for source in sources:
        document = source.document(faults)
        if document is None:
            continue
        try:
            file = GraphFile.model_validate(document)
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                index, path = _place(document, fault["loc"])
                faults.add(source, index, f"{path}: {fault['msg']}")
            continue
        found.append(file)
        for name, number, identity in _identities(file):
            if (name, identity) in seen:
                index, _ = _place(document, (name, number))
                faults.add(source, index, f"{name}: `{identity}` stands in {seen[name, identity]} too; tell it once")
            seen.setdefault((name, identity), source.name)
    return found


def _identities(file: GraphFile) -> Iterator[tuple[str, int, str]]:
    """Yield list, place in it and id of all entries that have one."""
    yield from (("conditions", number, one.id) for number, one in enumerate(file.conditions))
    yield from (("findings", number, one.id) for number, one in enumerate(file.findings))
    yield from (("studies", number, one.id) for number, one in enumerate(file.studies))


def _place(document: Mapping[str, Any], path: tuple[Any, ...]) -> tuple[int | None, str]:
    """Return which entry of the file, all lists counted, a path leads into, and the path with the id of that entry."""
    if len(path) < 2:
        return None, ".".join(str(part) for part in path)
    name, number, *rest = path
    index = 0
    for key, entries in document.items():
        if key == name:
            break
        index += len(entries) if isinstance(entries, list) else 0
    entry = document[name][number]
    identity = entry.get("id", "?") if isinstance(entry, dict) else "?"
    return index + number, ".".join(str(part) for part in (name, identity, *rest))


@cache
def _graph() -> tuple[GraphFile, ...]:
    faults = Faults()
    found = read_graph(graph_sources(), faults)
    faults.check()
    return tuple(found)


def _joined(entries: Iterable[_Entry]) -> Mapping[str, _Entry]:
    return MappingProxyType({entry.id: entry for entry in entries})


@cache
def condition_profiles() -> Mapping[str, ConditionProfile]:
    """Return the conditions that the hospital knows, by id."""
    return _joined(entry for file in _graph() for entry in file.conditions)


@cache
def finding_profiles() -> Mapping[str, FindingProfile]:
    """Return the findings of the disease graph, by id."""
    return _joined(entry for file in _graph() for entry in file.findings)


@cache
def relations() -> tuple[Relation, ...]:
    """Return how conditions bear on each other, in the order of the files."""
    return tuple(entry for file in _graph() for entry in file.relations)


@cache
def study_profiles() -> Mapping[str, StudyProfile]:
    """Return imaging studies and the like, by id."""
    return _joined(entry for file in _graph() for entry in file.studies)


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
