"""`wardround hospital`: the store it writes, its report, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wardround.cli import main
from wardround.patients import ChartStore


def test_the_report_has_the_fixed_keys_and_tells_the_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "charts.sqlite"
    assert main(["hospital", "--patients", "3", "--seed", "7", "--flaws", "flawed", "--out", str(out), "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    report = json.loads(shown.out)
    assert {"patients", "resources", "invalid", "store_hash", "tables"} <= set(report)
    with ChartStore.open(out) as store:
        assert (report["patients"], report["store_hash"]) == (len(store), store.hash) == (3, store.hash)
        assert report["resources"] == store.header["resources"]
        planted = [flaw.kind for one in store.patients() if (truth := store.truth(one)) for flaw in truth.flaws]
    assert report["invalid"] == 0
    assert report["flaws"] == {kind: planted.count(kind) for kind in sorted(set(planted))}


def test_words_progress_and_the_first_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "charts.sqlite"
    assert main(["hospital", "--patients", "1", "--first", "12", "--flaws", "clean", "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert "patients: 1/1" in shown.err
    assert "1 patients;" in shown.out and "Flaws planted: none" in shown.out
    with ChartStore.open(out) as store:
        (patient,) = store.patients()
        assert patient.endswith("-00012")
    assert main(["inspect", str(out), patient, "--truth", "--plots", "1", "--html", str(tmp_path / "p.html")]) == 0
    told = capsys.readouterr().out
    assert "TRUTH BEHIND THE CHART: no tool shows this" in told and "Diagnoses\n  - " in told
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert patient in page and "<svg" in page
    assert main(["inspect", str(out), patient, "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert "truth" not in plain and plain["series"][0]["points"]
    assert main(["inspect", str(out), patient, "--json", "--truth"]) == 0
    assert json.loads(capsys.readouterr().out)["truth"]["patient"] == patient


@pytest.mark.parametrize(
    "argv", [["--patients", "0"], ["--seed", "x"], ["--first", "-1"], ["--flaws", "some"], ["--workers", "0"]]
)
def test_wrong_arguments_end_with_usage(argv: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["hospital", "--out", str(tmp_path / "x.sqlite"), *argv])
    assert ended.value.code == 2


def test_a_file_of_another_kind_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["hospital", "--patients", "1", "--out", str(tmp_path / "notes.txt")]) == 2
    assert "is kept" in capsys.readouterr().err
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_truth_and_plots_need_a_patient_and_a_generated_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "ward", "--truth"]) == 2
    assert "are a patient's" in capsys.readouterr().err
    assert main(["inspect", "ward", "ward-01", "--truth"]) == 2
    assert "only generated charts have a truth" in capsys.readouterr().err
    assert main(["inspect", "ward", "ward-01", "--plots", "2", "--type", "Condition"]) == 0
    assert "●" not in capsys.readouterr().out
