"""Run folders: resume, torn lines, other runs, rescoring."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from wardround.agents import EvaluationPlan, How, evaluate, read_records, rescore
from wardround.patients import DataError, UsageError

PLAN = EvaluationPlan(sessions="ward", agents=("oracle", "refuser"), phrasings=("explicit", "implicit"), limit=4)


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    evaluate(PLAN, tmp_path / "whole")
    return tmp_path / "whole"


def test_a_run_folder_holds_all_that_design_names(whole: Path) -> None:
    assert sorted(path.name for path in whole.iterdir()) == [
        ".lock",
        "inputs.json",
        "manifest.json",
        "parts",
        "results.json",
        "trajectories.jsonl",
    ]
    report = orjson.loads((whole / "results.json").read_bytes())
    assert {"results", "delta", "trajectory_hash", "out"} <= set(report)
    for row in report["results"]:
        assert {
            "agent",
            "phrasing",
            "language",
            "episodes",
            "mrs",
            "r_plain",
            "pass_turn",
            "pass_session",
            "ungraded",
            "unreadable",
            "calls_per_turn",
            "episodes_per_s",
        } <= set(row)
        assert set(row["pass_turn"]) >= {"0.60", "0.75"}
    assert set(report["delta"]) == {"NA", "PE", "AE"}
    assert report["delta"] == {"NA": 0.0, "PE": 0.0, "AE": 0.0}


def test_resume_after_a_kill_loses_and_repeats_nothing(whole: Path, tmp_path: Path) -> None:
    lines = (whole / "parts/serial.jsonl").read_bytes().splitlines(keepends=True)
    for cut in (0, 1, len(lines) - 1):
        broken = tmp_path / f"broken{cut}"
        (broken / "parts").mkdir(parents=True)
        (broken / "manifest.json").write_bytes((whole / "manifest.json").read_bytes())
        torn = lines[cut][: len(lines[cut]) // 2]
        (broken / "parts/serial.jsonl").write_bytes(b"".join(lines[:cut]) + torn)
        evaluate(PLAN, broken, How(resume=True))
        assert (broken / "trajectories.jsonl").read_bytes() == (whole / "trajectories.jsonl").read_bytes()
        keys = [record["key"] for record in read_records(broken / "parts/serial.jsonl")]
        assert len(keys) == len(set(keys)) == len(lines)


def test_a_folder_with_records_wants_resume_and_the_same_run(whole: Path) -> None:
    with pytest.raises(UsageError, match="--resume"):
        evaluate(PLAN, whole)
    other = EvaluationPlan(sessions="ward", agents=("oracle",), limit=4)
    with pytest.raises(UsageError, match="`agents`"):
        evaluate(other, whole, How(resume=True))


def test_a_damaged_record_names_file_and_line(whole: Path) -> None:
    path = whole / "trajectories.jsonl"
    path.write_bytes(path.read_bytes() + b"{}\n")
    with pytest.raises(DataError, match=r"trajectories.jsonl:17: `format`"):
        list(read_records(path))


def test_rescore_replays_to_the_same_hashes(whole: Path) -> None:
    report = rescore(whole)
    assert report["changed"] == []
    assert report["episodes"] == 16
    assert report["trajectory_hash"] == orjson.loads((whole / "results.json").read_bytes())["trajectory_hash"]


def test_rescore_finds_a_score_that_was_tampered_with(whole: Path) -> None:
    path = whole / "trajectories.jsonl"
    records = list(read_records(path))
    event = next(
        e for r in records for e in r["trajectory"]["events"] if e["event"] == "answer" and r["agent"] == "oracle"
    )
    event["text"] = "Everything is fine."
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    changed = rescore(whole)["changed"]
    assert len(changed) == 1
    assert changed[0]["stored"] == 1.0
    assert changed[0]["now"] < 1.0


def test_rescore_refuses_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"trajectories\.jsonl"):
        rescore(tmp_path)


def test_nothing_to_play_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no agent"):
        evaluate(EvaluationPlan(sessions="ward", agents=("nobody",)), tmp_path / "x")
    with pytest.raises(UsageError, match="nothing to play"):
        evaluate(EvaluationPlan(sessions="ward", agents=()), tmp_path / "y")
