"""Reads the knowledge files, once and lazily, and reports every fault with file, line and path.

Layout of a file: `{"format_version": 1, "entries": [` and then one entry a line, so that a diff shows one fact and a
fault can be named by its line.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from wardround.patients.errors import DataError

from .models import Ambiguity, Concept, Condition, Drug, DrugClass, Finding, Lab, Monitoring, Unit, WordRules
from .terms import Lexicon

FORMAT_VERSION = 1
CONCEPT_FILES: Mapping[str, type[Concept]] = MappingProxyType(
    {
        "labs.json": Lab,
        "drugs.json": Drug,
        "drug_classes.json": DrugClass,
        "conditions.json": Condition,
        "findings.json": Finding,
    }
)
_Model = TypeVar("_Model", bound=BaseModel)


class Source:
    """A knowledge file: where its bytes come from and which line an entry stands on."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data

    @classmethod
    def packaged(cls, name: str) -> Source:
        """Return a file of the package."""
        return cls(name, resources.files("wardround.patients.knowledge").joinpath("data", name).read_bytes())

    def line(self, index: int) -> int:
        """Return the line (from 1) of entry `index`."""
        seen = -1
        for number, line in enumerate(self.data.split(b"\n"), 1):
            if line.lstrip().startswith(b'{"') and b'"format_version"' not in line[:40]:
                seen += 1
                if seen == index:
                    return number
        return 1

    def document(self, faults: Faults) -> dict[str, Any] | None:
        """Return the JSON object of the file; None where it is none or of another version, which goes to `faults`."""
        try:
            document = orjson.loads(self.data)
        except orjson.JSONDecodeError as error:
            faults.add(self, None, f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}")
            return None
        if not isinstance(document, dict):
            faults.add(self, None, f'expected `{{"format_version": {FORMAT_VERSION}, ...}}`')
            return None
        version = document.get("format_version")
        if version != FORMAT_VERSION:
            faults.add(self, None, f"`format_version` is {version!r}; this version reads {FORMAT_VERSION}")
            return None
        return document


class Faults:
    """Collects faults, so that an author sees all of them at once."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, source: Source, index: int | None, what: str) -> None:
        """Note a fault of entry `index` (None: of the file)."""
        where = source.name if index is None else f"{source.name}:{source.line(index)}"
        self.found.append(f"{where}: {what}")

    def check(self) -> None:
        """Raise if anything was found.

        Raises:
            DataError: every fault, one a line.
        """
        if self.found:
            raise DataError("\n".join(self.found))


def read(source: Source, model: type[_Model], faults: Faults) -> list[tuple[int, _Model]]:
    """Return the good entries of a file with their index; the bad ones go to `faults`."""
    document = source.document(faults)
    if document is None:
        return []
    if not isinstance(document.get("entries"), list):
        faults.add(source, None, 'expected `{"format_version": 1, "entries": [...]}`')
        return []
    good = []
    for index, entry in enumerate(document["entries"]):
        try:
            good.append((index, model.model_validate(entry)))
        except ValidationError as error:
            name = entry.get("id", entry.get("ucum", "?")) if isinstance(entry, dict) else "?"
            for fault in error.errors(include_url=False):
                path = ".".join([str(name), *(str(part) for part in fault["loc"])])
                faults.add(source, index, f"{path}: {fault['msg']}")
    return good


def _by_id(name: str, model: type[_Model], key: str = "id") -> Mapping[str, _Model]:
    source, faults = Source.packaged(name), Faults()
    entries = index_by(source, read(source, model, faults), faults, key)
    faults.check()
    return MappingProxyType(entries)


def index_by(
    source: Source, entries: Iterable[tuple[int, _Model]], faults: Faults, key: str = "id"
) -> dict[str, _Model]:
    """Return entries by `key`; a second one with the same key goes to `faults`."""
    found: dict[str, _Model] = {}
    for index, entry in entries:
        value: Any = getattr(entry, key)
        if value in found:
            faults.add(source, index, f"{value}: `{key}` appears twice; ids are unique")
        else:
            found[value] = entry
    return found


@cache
def labs() -> Mapping[str, Lab]:
    """Return laboratory tests and vital signs by id."""
    return _by_id("labs.json", Lab)


@cache
def drugs() -> Mapping[str, Drug]:
    """Return drugs by ingredient id."""
    return _by_id("drugs.json", Drug)


@cache
def drug_classes() -> Mapping[str, DrugClass]:
    """Return drug classes by id."""
    return _by_id("drug_classes.json", DrugClass)


@cache
def conditions() -> Mapping[str, Condition]:
    """Return diagnoses by id."""
    return _by_id("conditions.json", Condition)


@cache
def findings() -> Mapping[str, Finding]:
    """Return symptoms, signs, habits, procedures and services by id."""
    return _by_id("findings.json", Finding)


@cache
def units() -> Mapping[str, Unit]:
    """Return units by UCUM code."""
    return _by_id("units.json", Unit, "ucum")


@cache
def monitoring() -> Mapping[str, Monitoring]:
    """Return drug–lab monitoring pairs by id."""
    return _by_id("monitoring.json", Monitoring)


@cache
def lexicon() -> Lexicon:
    """Return the lexicon of all concepts."""
    paused = gc.isenabled()
    gc.disable()  # tens of thousands of small objects that all stay: collecting meanwhile only costs time
    try:
        concepts: list[Concept] = []
        for table in (labs(), drugs(), drug_classes(), conditions(), findings()):
            concepts.extend(table.values())
        rules = Source.packaged("words.json")
        faults = Faults()
        found = [entry for _, entry in read(rules, WordRules, faults)]
        source = Source.packaged("ambiguous.json")
        settled = [entry for _, entry in read(source, Ambiguity, faults)]
        faults.check()
        return Lexicon(concepts, settled, found[0])
    finally:
        if paused:
            gc.enable()
