"""Searches over real exports (US Core, Synthea) against the oracle: every value the records hold."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from wardround.patients import ChartStore, Snapshot, fhir_search, import_fhir, parse_instant
from wardround.patients.resource import instant_text

PREFIXES = ("", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap")
NOW = parse_instant("2300-01-01")


def _load(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


oracle = _load("query_oracle")
writing = _load("test_query_property")


def values_of(search: str, node: Any, path: str) -> Iterator[Any]:
    """Yield what a user may ask of an element that is there."""
    kind = path.partition(":")[2].partition("?")[0].partition("@")[0]
    yield from {
        "token": lambda: _codes(node, kind),
        "string": lambda: (part for text in oracle._texts(node, kind) for part in (text[:4].strip(), text[:40])),
        "date": lambda: _dates([node] if isinstance(node, str) else [node.get("start"), node.get("end")]),
        "reference": lambda: _references(node.get("reference")),
        "uri": lambda: [node],
    }.get(search, lambda: _numbers(node))()


def _codes(node: Any, kind: str) -> Iterator[Any]:
    for system, code, _ in oracle._codings(node, kind):
        if isinstance(code, str):
            yield from ((None, code), (system or "", code), (system, None) if system else (None, code + "x"))


def _dates(texts: list[Any]) -> Iterator[Any]:
    for text in texts:
        if isinstance(text, str):
            yield from ((prefix, text[:size]) for prefix in PREFIXES for size in (4, 7, 10, 40))


def _references(text: Any) -> Iterator[Any]:
    if isinstance(text, str):
        yield from (text, text.rpartition("/")[2])


def _numbers(node: Any) -> Iterator[Any]:
    value, unit = (node.get("value"), node.get("unit")) if isinstance(node, dict) else (node, None)
    if value is not None:
        yield from ((prefix, str(value), None, None) for prefix in PREFIXES)
        if unit:
            yield from ((prefix, str(value), "", unit) for prefix in PREFIXES)


def compare(snapshot: Snapshot, most: int) -> int:
    """Compare at most so many values of each parameter; return how many searches were run."""
    seen = [one for kind in oracle.PARAMETERS for one in snapshot.resources(kind)]
    world = oracle.World(seen, "", instant_text(snapshot.anchor))
    tried = 0
    for kind in oracle.PARAMETERS:
        mine = [one for one in seen if one["resourceType"] == kind]
        for name in (*oracle.COMMON, *oracle.PARAMETERS[kind]):
            meaning = oracle.definition(kind, name)
            if meaning[0] == "composite":
                continue
            found = (
                value
                for one in mine
                for path in meaning[1]
                for node, place in oracle.elements(one, path)
                for value in values_of(meaning[0], node, place)
            )
            for value in itertools.islice(dict.fromkeys(itertools.islice(found, 40 * most)), most):
                asked = ("ask", name, "", [value])
                pairs = [writing.written(kind, asked)]
                if not pairs[0][1].strip():
                    continue
                result = fhir_search(snapshot, kind, pairs, strict=True, cap=100_000)
                hits = fhir_search(snapshot, kind, [*pairs, ("_count", "100000")], strict=True, cap=100_000).matches
                assert {entry.id for entry in hits} == world.search(kind, [asked]), pairs
                assert result.total == len(hits)
                tried += 1
    return tried


@pytest.mark.parametrize("folder", ["us-core", "synthea"])
def test_real_records(shared: Path, tmp_path: Path, folder: str) -> None:
    files = sorted((shared / "data" / folder).glob("*.json*"), key=lambda file: (file.stat().st_size, file.name))
    out = tmp_path / "charts.sqlite"
    import_fhir(files[0], out, licence="Apache-2.0")
    with ChartStore.open(out) as store:
        tried = sum(compare(store.chart(patient).at(NOW), 5) for patient in store.patients()[:2])
    assert tried > 100
