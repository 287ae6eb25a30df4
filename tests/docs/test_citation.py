"""CITATION.cff says what the package says of itself, in fields of CFF 1.2.0."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# required and allowed keys: schema.json of the Citation File Format 1.2.0
REQUIRED = {"cff-version", "message", "title", "authors"}
ALLOWED = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
    "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url",
    "version",
}  # fmt: skip


def test_the_citation_is_the_packages() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML comes with the development tools")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(cited) >= REQUIRED
    assert set(cited) <= ALLOWED
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] in ("software", "dataset")
    assert str(cited["version"]) == project["version"]
    assert cited["license"] == project["license"]
    assert [one["name"] for one in cited["authors"]] == [one["name"] for one in project["authors"]]
    assert cited["title"].startswith(project["name"])


def test_the_changelog_says_when_scores_move() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    head, _, entries = text.partition("\n## ")
    assert "**scores**" in head, "the head says what the mark means"
    assert re.search(r"^- \*\*scores\*\* ", entries, re.MULTILINE)
