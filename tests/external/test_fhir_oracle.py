"""Charts made from MIMIC-IV's tables against the published MIMIC-IV on FHIR: the same patients, made by others.

Every difference stands under a rule of `oracle_rules.py`, and every rule stands in docs/mimic-fhir-differences.md.
The small tables are compared in every run, the others by `make test-external`; `pytest -s` prints the table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

from oracle_pairing import Rule, compare, table
from oracle_rules import LARGE, QUICK, Kind
from oracle_sides import Ours, Theirs

from wardround.patients import ChartStore, export_ndjson
from wardround.patients.importers import import_mimic

SMALL = {
    "hosp": (
        "admissions", "d_icd_diagnoses", "d_icd_procedures", "diagnoses_icd", "patients", "procedures_icd", "services",
        "transfers",
    ),
    "icu": ("icustays",),
    "ed": ("diagnosis", "edstays", "medrecon", "pyxis", "triage", "vitalsign"),
}  # fmt: skip
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "mimic-fhir-differences.md"


@pytest.fixture(scope="module")
def theirs(shared: Path) -> Theirs:
    folder = shared / "data" / "mimic-iv-fhir-demo"
    if not folder.is_dir():
        pytest.skip("no MIMIC-IV on FHIR demo in shared/data")
    return Theirs(folder)


def charts(tables: Path, out: Path, original: Path) -> Ours:
    import_mimic(tables, out / "charts.sqlite")
    with ChartStore.open(out / "charts.sqlite") as store:
        export_ndjson(store, out / "ndjson")
    return Ours(out / "ndjson", original)


@pytest.fixture(scope="module")
def small(mimic_demo: Path, theirs: Theirs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ours]:
    out = tmp_path_factory.mktemp("small")
    for group, names in SMALL.items():
        (out / "tables" / group).mkdir(parents=True)
        for name in names:
            (out / "tables" / group / f"{name}.csv.gz").symlink_to(mimic_demo / group / f"{name}.csv.gz")
    yield charts(out / "tables", out, mimic_demo)


@pytest.fixture(scope="module")
def whole(mimic_demo: Path, theirs: Theirs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ours]:
    yield charts(mimic_demo, tmp_path_factory.mktemp("whole"), mimic_demo)


def check(kinds: tuple[Kind, ...], ours: Ours, theirs: Theirs) -> None:
    results = [kind.compare(ours, theirs) for kind in kinds]
    print("\n" + table(results))
    assert [(one.kind, one.unexplained[:3]) for one in results if one.unexplained] == []
    for one in results:
        assert one.theirs > 0 and one.equal + one.differ + one.only_theirs == one.theirs
    document = " ".join(DOCUMENT.read_text(encoding="utf-8").split())
    for name in {name for one in results for name in one.explained}:
        assert name in document, f"{DOCUMENT.name} does not explain: {name}"
    for one in results:
        assert f"| {one.kind} | {one.ours:,} | {one.theirs:,} | {one.equal:,} |" in document, one.kind


def test_small_tables_agree_with_the_published_files(small: Ours, theirs: Theirs) -> None:
    check(QUICK, small, theirs)


@pytest.mark.external
def test_all_tables_agree_with_the_published_files(whole: Ours, theirs: Theirs) -> None:
    check((*QUICK, *LARGE), whole, theirs)


def test_a_difference_without_a_rule_is_found() -> None:
    row = {"patient": "1", "code": "a", "value": "5"}
    late = row | {"value": "6"}
    rule = Rule("five is six", lambda field, one, two: field == "value" and bool(one and two) and one["value"] == "5")  # type: ignore[index]
    assert compare("x", ("code",), [row], [row]).equal == 1
    assert compare("x", ("code",), [row], [late]).unexplained == [("value", row, late)]
    assert compare("x", ("code",), [row], [late], [rule]).unexplained == []
    assert compare("x", ("code",), [late], [row], [rule]).unexplained == [("value", late, row)]
    twice = compare("x", ("code",), [row, row], [row])
    assert (twice.equal, twice.only_ours, twice.unexplained) == (1, 1, [("", row, None)])
    lost = compare("x", ("code",), [], [row])
    assert (lost.only_theirs, lost.unexplained) == (1, [("", None, row)])
