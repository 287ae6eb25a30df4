"""Compact rows: one column per name, of every type a chart can hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients import COLUMNS
from wardround.patients.fhir import _data, types
from wardround.patients.rows import _plain_rows, compact_row

EXAMPLES = orjson.loads((Path(__file__).parent / "clock_examples.json").read_bytes())


def test_every_type_has_columns() -> None:
    assert set(COLUMNS) == set(types())
    assert all(columns[0] == "id" for columns in COLUMNS.values())


def test_the_paths_of_the_table_are_elements_of_r4() -> None:
    definitions = _data()["definitions"]
    for kind, columns in _plain_rows().items():
        for path in (one for paths in columns.values() for one in paths.split("|") if one != "@time"):
            name = kind
            for key in path.strip("#*").split("."):
                properties = definitions[name]["properties"]
                assert key in properties, f"{kind}: {path}"
                prop = properties[key]
                name = (prop.get("$ref") or prop.get("items", {}).get("$ref") or "").rpartition("/")[2]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: f"{one['resourceType']}-{one['id']}")
def test_a_row_has_a_value_for_each_column(example: dict[str, Any]) -> None:
    row = orjson.loads(compact_row(example, "2180-05-01"))
    assert len(row) == len(COLUMNS[example["resourceType"]]) and row[0] == example["id"]
    assert all(value is None or isinstance(value, str | int | float) for value in row)


def test_words_and_numbers_of_rows() -> None:
    study = {
        "resourceType": "ImagingStudy",
        "id": "i1",
        "series": [
            {"modality": {"code": "CT", "display": "Computed tomography"}, "bodySite": {"display": "Chest"}},
            {"modality": {"code": "CT", "display": "Computed tomography"}, "bodySite": {"display": "Abdomen"}},
        ],
        "numberOfSeries": 2,
        "status": "available",
        "encounter": {"reference": "Encounter/e1"},
    }
    assert orjson.loads(compact_row(study, "2180-05-01")) == [
        "i1", "2180-05-01", "Computed tomography", None, "Chest; Abdomen", 2, "available", "e1",
    ]  # fmt: skip
    team = {"resourceType": "CareTeam", "id": "t1", "participant": [{"member": {"display": "An"}}, {"role": []}]}
    assert orjson.loads(compact_row(team)) == ["t1", None, None, "An", None, None]


def test_a_stay_says_which_service_has_the_patient() -> None:
    """A question that a reader could not answer from the rows: "which service is she under?"."""
    stay = {
        "resourceType": "Encounter",
        "id": "e1",
        "status": "in-progress",
        "class": {"code": "IMP"},
        "serviceType": {"text": "General medicine"},
    }
    row = dict(zip(COLUMNS["Encounter"], orjson.loads(compact_row(stay, None)), strict=True))
    assert row["service"] == "General medicine"
