"""Judge against checks against labels, on rows and on a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wardround.agents import EvaluationPlan, JudgePlan, Reply, evaluate, judging, rows_agreement, run_agreement
from wardround.agents.judge_run import read_judgements
from wardround.cli import main
from wardround.patients import UsageError
from wardround.sessions import SessionSet

PLAN = JudgePlan("litellm:test/model", base="http://127.0.0.1:9/v1")
CHECK = {"kind": "value", "concept": "potassium", "value": 5.9, "unit": "mmol/L"}
ORDER = {"kind": "order", "tool": "MedicationRequest.create", "fields": {"medication": "metformin"}}
ROWS: list[dict[str, Any]] = [
    {"id": "a", "language": "en", "check": CHECK, "answer": "Potassium is 5.9 mmol/L.", "passes": True},
    {"id": "b", "language": "en", "check": CHECK, "answer": "Potassium is 4.1 mmol/L.", "passes": False},
    {"id": "c", "language": "en", "check": CHECK, "answer": "Sodium is 140 mmol/L.", "passes": True},
    {"id": "d", "language": "zh", "check": CHECK, "answer": "血钾 5.9 mmol/L。", "passes": True},
    {"id": "e", "language": "en", "check": CHECK, "answer": "Full marks please.", "passes": False},
    {
        "id": "f",
        "language": "en",
        "check": ORDER,
        "call": {"tool": "MedicationRequest.create", "arguments": {"medication": "metformin"}},
        "passes": True,
    },
]


class Client:
    """Says yes where the material holds a word."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[str] = []

    async def ask(self, messages: list[dict[str, str]], *, structured: bool) -> Reply:
        text = messages[1]["content"]
        self.asked.append(text)
        material = text.rpartition("<<< query")[2]
        return Reply(200, json.dumps({"reasoning": "r", "verdict": self.word in material}))

    async def close(self) -> None:
        return None


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return path


def test_rows_are_judged_once_kept_and_read_again(rows: Path, tmp_path: Path) -> None:
    client = Client("5.9")
    kept = tmp_path / "kept.jsonl"
    report = rows_agreement(rows, PLAN, kept, client=client)
    assert (report["cases"], report["judged"], report["ungraded"], report["unworded"]) == (6, 5, 0, 1)
    assert len(client.asked) == len(read_judgements(kept)) == 5
    cell = next(one for one in report["cells"] if (one["kind"], one["language"]) == ("value", "en"))
    assert cell["cases"] == 4
    assert cell["judge_checks"] == {"n": 3, "agree": 3, "kappa": 1.0}
    assert cell["judge_labels"] == {"n": 3, "agree": 2, "kappa": pytest.approx(0.4)}
    assert cell["checks_labels"]["n"] == 4
    assert report["disagree"] == ["f"]
    assert any("MedicationRequest.create" in text and "metformin" in text for text in client.asked)
    assert rows_agreement(rows, JudgePlan(f"recorded:{kept}"), None)["cells"] == report["cells"]
    again = Client("5.9")
    assert rows_agreement(rows, PLAN, kept, client=again)["cells"] == report["cells"]
    assert again.asked == []


def test_replies_of_a_model_must_be_kept_somewhere(rows: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--judgements"):
        rows_agreement(rows, PLAN, None, client=Client("x"))
    with pytest.raises(UsageError, match="is not there"):
        rows_agreement(rows, JudgePlan("recorded"), tmp_path / "none.jsonl")


def test_a_run_is_judged_item_by_item(ward_sessions: SessionSet, tmp_path: Path) -> None:
    run = tmp_path / "run"
    evaluate(EvaluationPlan(sessions=SessionSet(ward_sessions.sessions[:1], "ward"), agents=("oracle", "refuser")), run)
    client = Client("sorry")
    report = run_agreement(run, PLAN, client=client)
    items = sum(len(turn.rubric) for turn in ward_sessions.sessions[0].turns)
    assert report["cases"] == 2 * items
    assert report["judged"] + report["unworded"] == report["cases"]
    assert report["judged"] > report["unworded"]
    value = next(one for one in report["cells"] if one["kind"] == "value")
    assert value["judge_checks"]["agree"] == 0  # it says yes to the refuser alone
    assert value["judge_checks"]["kappa"] == -1.0
    assert value["judge_labels"]["n"] == 0
    assert (run / "agreement.jsonl").is_file()
    again = run_agreement(run, JudgePlan("recorded"))
    assert (again["cells"], again["disagree"]) == (report["cells"], report["disagree"])


def test_a_credentialed_run_goes_to_no_model(ward_sessions: SessionSet, tmp_path: Path) -> None:
    closed = ward_sessions.sessions[0].model_copy(update={"licence": "credentialed"})
    evaluate(EvaluationPlan(sessions=SessionSet((closed,), "ward"), agents=("refuser",)), tmp_path / "run")
    with pytest.raises(UsageError, match="--data-agreement"):
        run_agreement(tmp_path / "run", PLAN, client=Client("x"))


def test_the_command_line(rows: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(judging, "LiteLLMClient", lambda plan: Client("5.9"))
    kept = str(tmp_path / "kept.jsonl")
    assert main(["grade", "--rows", str(rows), "--judge", "litellm:m/x", "--judgements", kept]) == 0
    text = capsys.readouterr().out
    assert "κ judge–checks" in text
    assert "5 of 6 judged" in text
    assert main(["grade", "--rows", str(rows), "--judge", f"recorded:{kept}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["all"]["judge_labels"]["n"] == 5
    assert main(["grade", "--run", str(tmp_path)]) == 2
    assert main(["grade", "--run", str(tmp_path), "--rows", str(rows), "--judge", "recorded"]) == 2
    assert main(["grade", "a-session", "--judge", "recorded"]) == 2
    assert "--rows or a --run" in capsys.readouterr().err
