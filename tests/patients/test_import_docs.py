"""docs/mimic.md: every table that is read has a section, whose heading says by what column its facts are known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from wardround.patients.importers._tables import TableSpec
from wardround.patients.importers.registry import LEFT_OUT, MAPPERS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "mimic.md").read_text(encoding="utf-8")
SPECS = {spec.name: spec for make in MAPPERS for spec in (*make().tables, *make().dictionaries)}
HEADINGS = re.findall(r"^### (.+ → .+)$", PAGE, re.MULTILINE)
CODED = re.compile(r"`([^`]*)`")


def tables_of(heading: str) -> set[str]:
    """Return the tables a heading is about: the words outside of code, before each arrow."""
    sources = " ".join(part.rpartition(";")[2] for part in CODED.sub("", heading).split("→")[:-1])
    return set(re.findall(r"[a-z_]+", sources))


def section_of(heading: str) -> str:
    return PAGE.partition(f"### {heading}\n")[2].partition("\n### ")[0].partition("\n## ")[0]


def columns_that_tell(heading: str) -> list[tuple[str, TableSpec | None]]:
    """Return the columns named after the word known, each with its table (None: one of the heading's)."""
    told = heading.rpartition("known ")[2]
    found: list[tuple[str, TableSpec | None]] = []
    for name in CODED.findall(told):
        table, _, column = name.rpartition(".")
        found.append((column, SPECS[table] if table else None))
    return found


@pytest.mark.parametrize("name", sorted(SPECS))
def test_every_table_has_a_section_that_says_when_its_facts_are_known(name: str) -> None:
    mine = [heading for heading in HEADINGS if name in tables_of(heading)]
    assert mine, f"no heading of docs/mimic.md names `{name}`"
    for heading in mine:
        assert "known " in heading, heading
        assert section_of(heading).strip(), heading


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_names_tables_that_are_read_and_columns_that_they_have(heading: str) -> None:
    tables = tables_of(heading)
    assert tables
    assert tables <= set(SPECS)
    told = columns_that_tell(heading)
    assert told or heading.endswith("known always"), heading
    for column, spec in told:
        where = [spec] if spec is not None else [SPECS[table] for table in tables]
        assert any(column in one.columns for one in where), f"{heading}: no column `{column}`"


def test_what_is_left_out_is_said() -> None:
    left = PAGE.partition("### Not imported")[2].partition("\n## ")[0]
    assert set(LEFT_OUT) <= set(CODED.findall(left))
