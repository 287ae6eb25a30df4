"""The demo's stays against the same patients as official MIMIC-IV on FHIR: numbers, times, classes, admissions."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.patients import is_hospital_stay, parse_instant
from wardround.patients.importers import ImportReport
from wardround.patients.store import ChartStore

END = parse_instant("2300-01-01")
KINDS = {"icu": "EncounterICU", "ed": "EncounterED"}


@pytest.fixture(scope="module")
def stays(demo_import: tuple[ImportReport, ChartStore]) -> list[dict[str, Any]]:
    store = demo_import[1]
    return [one for patient in store.patients() for one in store.chart(patient).at(END).resources("Encounter")]


@pytest.fixture(scope="module")
def official(shared: Path) -> dict[str, list[dict[str, Any]]]:
    folder = shared / "data" / "mimic-iv-fhir-demo"
    if not folder.is_dir():
        pytest.skip("no MIMIC-IV on FHIR demo in shared/data")
    found = {}
    for kind in ("Encounter", *KINDS.values()):
        with gzip.open(folder / f"Mimic{kind}.ndjson.gz", "rb") as lines:
            found[kind] = [orjson.loads(line) for line in lines]
    return found


def wall(text: str) -> str:
    """The published offsets come from a database session: the wall clock is what counts."""
    return text[:19]


def test_every_kind_of_stay_is_there(stays: list[dict[str, Any]]) -> None:
    kinds = Counter(one["id"].partition("-")[0] if "-" in one["id"] else "hospital" for one in stays)
    assert kinds == {"hospital": 214, "icu": 103, "ed": 177 + 11}  # eleven ED stays are in transfers only
    assert sum(is_hospital_stay(one) for one in stays) == 214
    assert sum("partOf" in one for one in stays if one["id"].startswith("ed-")) == 138 + 8
    assert all("serviceType" in one for one in stays if is_hospital_stay(one))
    assert all("location" in one for one in stays)


@pytest.mark.parametrize("kind", list(KINDS))
def test_icu_and_ed_stays_are_the_official_ones(
    stays: list[dict[str, Any]], official: dict[str, list[dict[str, Any]]], kind: str
) -> None:
    hospital = {one["id"]: one["identifier"][0]["value"] for one in official["Encounter"]}

    def told(one: dict[str, Any], part_of: str | None) -> tuple[Any, ...]:
        period = one["period"]
        return one["class"]["code"], wall(period["start"]), wall(period["end"]), part_of, one["status"]

    theirs = {}
    for one in official[KINDS[kind]]:
        whole = one.get("partOf", {}).get("reference", "").rpartition("/")[2]
        theirs[one["identifier"][0]["value"]] = told(one, hospital.get(whole))
    ours = {}
    for one in stays:
        if one["id"].startswith(f"{kind}-"):
            whole = one.get("partOf", {}).get("reference", "").rpartition("/")[2]
            ours[one["identifier"][0]["value"]] = told(one, whole or None)
    assert {key: value for key, value in ours.items() if key in theirs} == theirs
    assert len(ours) - len(theirs) == (11 if kind == "ed" else 0)


def test_the_chief_complaint_is_the_reason_of_the_ed_stay(stays: list[dict[str, Any]]) -> None:
    reasons = [one["reasonCode"][0]["text"] for one in stays if one["id"].startswith("ed-") and "reasonCode" in one]
    assert len(reasons) == 177 - 2  # two were not known
    assert "UNKNOWN-CC" not in reasons
