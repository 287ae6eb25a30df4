"""Importing invented MIMIC-IV tables and FHIR, and one import of the demo for all tests that only read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from once import made_once
from pydantic import TypeAdapter

from wardround.patients.importers import ImportReport, TableReport, import_fhir, import_mimic
from wardround.patients.store import ChartStore
from wardround.patients.times import parse_instant

PATIENTS = "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,60,2150,2011 - 2013,\n"
ADMISSIONS = (
    "subject_id,hadm_id,admittime,dischtime,deathtime,admission_type,admission_location,discharge_location,insurance,"
    "language,marital_status,race,hospital_expire_flag\n"
    "1,10,2150-03-01 10:00:00,2150-03-09 12:00:00,,EW EMER.,EMERGENCY ROOM,HOME,Medicare,ENGLISH,SINGLE,WHITE,0\n"
)


class Invented:
    """The chart of patient 1 and the account of its import."""

    def __init__(self, report: ImportReport, store: ChartStore) -> None:
        self.report, self.store = report, store

    def table(self, name: str) -> TableReport:
        """Return the account of a table."""
        return next(table for table in self.report.tables if table.table == name)

    def refused(self, name: str) -> dict[str, int]:
        """Return reason → count of a table."""
        return {one.reason: one.count for one in self.table(name).refused}

    def all(self, kind: str, at: str = "2300-01-01") -> dict[str, Any]:
        """Return the resources of a type as known at a time, by id."""
        return {one["id"]: one for one in self.store.chart("1").at(parse_instant(at)).resources(kind)}


@pytest.fixture
def invented(tmp_path: Path) -> Iterator[Callable[..., Invented]]:
    """Return a function that imports tables given as CSV text beside one patient with one admission."""
    opened: list[ChartStore] = []

    def make(**tables: str) -> Invented:
        folder = tmp_path / f"mimic{len(opened)}"
        folder.mkdir()
        for name, text in ({"patients": PATIENTS, "admissions": ADMISSIONS} | tables).items():
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")
        report = import_mimic(folder, folder / "out.sqlite", threads=1)
        opened.append(ChartStore.open(folder / "out.sqlite"))
        assert report.invalid == 0
        for table in report.tables:
            assert table.read == table.kept + sum(one.count for one in table.refused)
        return Invented(report, opened[-1])

    yield make
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def demo_import(
    mimic_demo: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[ImportReport, ChartStore]]:
    """Return the report and the store of the whole MIMIC-IV demo, or skip; imported once a run."""
    reports = TypeAdapter(ImportReport)

    def make(folder: Path) -> None:
        report = import_mimic(mimic_demo, folder / "charts.sqlite")
        told = reports.dump_json(report)
        assert reports.validate_json(told) == report
        (folder / "report.json").write_bytes(told)

    folder = made_once(tmp_path_factory, "mimic-demo", make)
    report = reports.validate_json((folder / "report.json").read_bytes())
    with ChartStore.open(folder / "charts.sqlite") as store:
        yield report, store


class InventedFhir:
    """The store made of invented FHIR resources, and the account of its import."""

    def __init__(self, report: ImportReport, store: ChartStore) -> None:
        self.report, self.store = report, store

    def refused(self, kind: str) -> dict[str, int]:
        """Return reason → count of a type."""
        return {one.reason: one.count for table in self.report.tables if table.table == kind for one in table.refused}

    def notes(self, kind: str) -> dict[str, int]:
        """Return what was noted of a type."""
        return next((table.notes for table in self.report.tables if table.table == kind), {})

    def all(self, kind: str, at: str = "2300-01-01", patient: str | None = None) -> dict[str, Any]:
        """Return the resources of a type as known at a time, by id."""
        chart = self.store.chart(patient or self.store.patients()[0])
        return {one["id"]: one for one in chart.at(parse_instant(at)).resources(kind)}


@pytest.fixture
def invented_fhir(tmp_path: Path) -> Iterator[Callable[..., InventedFhir]]:
    """Return a function that imports resources (as NDJSON), or files given as name → text."""
    opened: list[ChartStore] = []

    def make(*resources: dict[str, Any], files: dict[str, str | bytes] | None = None) -> InventedFhir:
        folder = tmp_path / f"fhir{len(opened)}"
        folder.mkdir()
        lines = b"\n".join(orjson.dumps(resource) for resource in resources)
        for name, content in ({"all.ndjson": lines} if files is None else files).items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        out = tmp_path / f"fhir{len(opened)}.sqlite"
        report = import_fhir(folder, out, licence="CC0-1.0")
        opened.append(ChartStore.open(out))
        for table in report.tables:
            assert table.read == table.kept + sum(one.count for one in table.refused)
        return InventedFhir(report, opened[-1])

    yield make
    for store in opened:
        store.close()
