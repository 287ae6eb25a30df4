"""No leak of the future on real records: another future in the MIMIC-IV tables changes nothing seen at the anchor."""

from __future__ import annotations

import csv
import gzip
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from wardround.patients import Chart, ChartStore, Search, parse_instant
from wardround.patients.importers.mimic import import_mimic

SUBJECT = "10015931"
"""A patient of the demo with several admissions, orders that run for days and a death."""

TABLES = ("patients", "admissions", "diagnoses_icd", "labevents", "prescriptions", "pharmacy")
DICTIONARIES = ("d_labitems", "d_icd_diagnoses")
Row = dict[str, str]
FORM = "%Y-%m-%d %H:%M:%S"


@pytest.fixture(scope="module")
def tables(request: pytest.FixtureRequest) -> dict[str, list[Row]]:
    demo: Path = request.getfixturevalue("mimic_demo")
    found = {}
    for name in TABLES:
        with gzip.open(demo / "hosp" / f"{name}.csv.gz", "rt", newline="") as file:
            found[name] = [row for row in csv.DictReader(file) if row["subject_id"] == SUBJECT]
    assert all(found.values())
    return found


def imported(demo: Path, folder: Path, tables: dict[str, list[Row]]) -> Chart:
    (folder / "hosp").mkdir(parents=True)
    for name in DICTIONARIES:
        shutil.copy(demo / "hosp" / f"{name}.csv.gz", folder / "hosp")
    for name, rows in tables.items():
        with (folder / "hosp" / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    import_mimic(folder, folder / "charts.sqlite")
    return ChartStore.open(folder / "charts.sqlite").chart(SUBJECT)


def moved(text: str, days: int) -> str:
    return (datetime.strptime(text, FORM) + timedelta(days=days)).strftime(FORM)


def other_future(tables: dict[str, list[Row]], now: str) -> dict[str, list[Row]]:
    """The same tables up to `now` (wall clock, as in the files); everything that became known later is otherwise."""
    coming = {row["hadm_id"] for row in tables["admissions"] if row["admittime"] > now}
    open_stays = {row["hadm_id"] for row in tables["admissions"] if row["dischtime"] > now}
    entered = {row["pharmacy_id"]: row["entertime"] for row in tables["pharmacy"]}

    def patient(row: Row) -> Row | None:
        late = row["dod"] and f"{row['dod'][:10]} 23:59:59" > now
        return {**row, "dod": ""} if late else row

    def admission(row: Row) -> Row | None:
        if row["hadm_id"] in coming:
            return None
        if row["hadm_id"] not in open_stays:
            return row
        changes = {"dischtime": moved(row["dischtime"], 4), "discharge_location": "REHAB", "deathtime": ""}
        return {**row, **changes, "hospital_expire_flag": "0"}

    def diagnosis(row: Row) -> Row | None:
        return None if row["hadm_id"] in open_stays else row

    def stayless(row: Row) -> Row:
        return {**row, "hadm_id": ""} if row["hadm_id"] in coming else row

    def lab(row: Row) -> Row | None:
        known = row["storetime"] or f"{row['charttime'][:10]} 23:59:59"
        return None if known > now else stayless(row)

    def order(row: Row) -> Row | None:
        if (entered.get(row["pharmacy_id"]) or row["starttime"]) > now:
            return None
        late = row["stoptime"] > now
        return stayless({**row, "stoptime": moved(row["stoptime"], 3)} if late else row)

    def pharmacy(row: Row) -> Row | None:
        stops = [one["stoptime"] for one in tables["prescriptions"] if one["pharmacy_id"] == row["pharmacy_id"]]
        if row["entertime"] > now:
            return None
        return {**row, "status": "Expired"} if all(stop > now for stop in stops) else row

    makers: dict[str, Callable[[Row], Row | None]] = {
        "patients": patient, "admissions": admission, "diagnoses_icd": diagnosis, "labevents": lab,
        "prescriptions": order, "pharmacy": pharmacy,
    }  # fmt: skip
    return {name: [new for row in rows if (new := makers[name](row)) is not None] for name, rows in tables.items()}


def seen(chart: Chart, now: str) -> dict[Any, Any]:
    anchor = parse_instant(now)
    snapshot = chart.at(anchor)
    out: dict[Any, Any] = {}
    for kind in ("Patient", "Encounter", "Condition", "Observation", "MedicationRequest"):
        out[kind] = [(entry.key, entry.body, entry.row) for entry in snapshot.search(Search(kind)).entries()]
        out[kind, "names"] = snapshot.names(kind)
        for status in ("active", "completed", "stopped", "unknown", "finished", "in-progress"):
            out[kind, status] = [entry.id for entry in snapshot.search(Search(kind, status=status)).entries()]
        for dates in ({"date_from": anchor}, {"date_to": anchor}):
            out[kind, str(dates)] = [entry.id for entry in snapshot.search(Search(kind, **dates)).entries()]
    return out


def test_another_future_changes_nothing_now(
    mimic_demo: Path, tables: dict[str, list[Row]], tmp_path: Path
) -> None:  # fmt: skip
    chart = imported(mimic_demo, tmp_path / "real", tables)
    stays = sorted(tables["admissions"], key=lambda row: row["admittime"])
    middles = [moved(stay["admittime"], 1) for stay in (stays[0], stays[len(stays) // 2], stays[-1])]
    for number, now in enumerate(middles):
        other = other_future(tables, now)
        assert all(other[name] != tables[name] for name in ("admissions", "labevents", "prescriptions"))
        if not other["diagnoses_icd"]:
            other["diagnoses_icd"] = [row for row in tables["diagnoses_icd"] if row["hadm_id"] == stays[0]["hadm_id"]]
        found = seen(imported(mimic_demo, tmp_path / f"other-{number}", other), now)
        mine = seen(chart, now)
        assert mine.keys() == found.keys()
        for key, value in mine.items():
            assert value == found[key], (
                now,
                key,
                [p for p in zip(value, found[key], strict=False) if p[0] != p[1]][:1],
            )
        assert mine["Observation"] and mine["MedicationRequest", "active"]
