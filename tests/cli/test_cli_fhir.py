"""`wardround import fhir` and `wardround dump`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from wardround.cli import main


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    return code, orjson.loads(capsys.readouterr().out)


def test_a_set_is_dumped_and_imported_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = str(tmp_path / "fhir"), str(tmp_path / "charts.sqlite")
    code, dumped = run(capsys, "dump", "ward", "--out", folder)
    assert code == 0 and dumped["patients"] == 12 and dumped["interviews_left_out"] == 12
    code, made = run(capsys, "import", "fhir", folder, "--out", out, "--licence", "CC0-1.0")
    assert code == 0 and made["store_hash"] == dumped["store_hash"] and made["resources"] == dumped["resources"]
    assert {"patients", "resources", "invalid", "store_hash", "tables"} <= made.keys() and made["licence"] == "CC0-1.0"


def test_findings_and_faults_have_their_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "a.ndjson"
    bad = {
        "resourceType": "Flag",
        "id": "f",
        "status": "odd",
        "subject": {"reference": "Patient/p"},
        "code": {"text": "x"},
    }
    source.write_bytes(orjson.dumps({"resourceType": "Patient", "id": "p"}) + b"\n" + orjson.dumps(bad))
    out = str(tmp_path / "charts.sqlite")
    assert main(["import", "fhir", str(source), "--out", out]) == 1
    shown = capsys.readouterr().out
    assert "1 × not valid FHIR R4: " in shown and "Flag/f" in shown and "invalid 1" in shown
    source.write_bytes(b"{")
    assert main(["import", "fhir", str(source), "--out", out]) == 2
    assert "`a.ndjson`, line 1: is not JSON" in capsys.readouterr().err
