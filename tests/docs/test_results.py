"""docs/results.md shows what docs/results.json keeps, and the ward's cheap rows are what this version earns."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

import wardround

ROOT = Path(__file__).resolve().parents[2]
KEPT = json.loads((ROOT / "docs" / "results.json").read_text(encoding="utf-8"))
REMEDY = "run `python scripts/docs_results.py` and commit what it writes"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_results", ROOT / "scripts" / "docs_results.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_what_is_kept(script: ModuleType) -> None:
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert page == script.with_tables(page, KEPT), REMEDY
    assert KEPT["version"] == wardround.__version__, REMEDY


def test_every_agent_has_its_rows(script: ModuleType) -> None:
    for name, found in KEPT["sets"].items():
        rows = {(row["agent"], row["language"], row["phrasing"]) for row in found["rows"]}
        for agent in script.AGENTS:
            for language in ("en", "zh"):
                assert {(agent, language, one) for one in ("explicit", "implicit")} <= rows, (name, agent)


def test_the_ward_gives_these_figures(script: ModuleType) -> None:
    kept = KEPT["sets"]["ward"]
    assert kept["set_hash"] == wardround.load_sessions("ward").hash, REMEDY
    played = script.played("ward", ("baseline", "silent"), "en")["rows"]
    of = {(row["agent"], row["language"], row["phrasing"]): row for row in kept["rows"]}
    assert played == [of[row["agent"], row["language"], row["phrasing"]] for row in played], REMEDY
