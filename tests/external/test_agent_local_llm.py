"""The LLM agent plays with a real language model over real HTTP: a small one, on this machine, from the package index.

Plumbing only: four sessions are completed in both modes, every turn by an answer in the model's own words, whatever so
small a model says. They offer three tools and one call a turn, for a prompt of eighteen tools costs this model a minute
a reply on a busy machine. Its packages go into an environment of their own; where they cannot be had the test is
skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_llm import local_llm

from wardround import load_charts, load_sessions
from wardround.agents import EvaluationPlan, How, ModelPlan, evaluate, read_records
from wardround.sessions import SessionSet

pytestmark = pytest.mark.external


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with local_llm(tmp_path_factory.mktemp("model")) as found:
        yield found


@pytest.fixture(scope="module")
def short_sessions() -> SessionSet:
    changes = {"tools": ("Observation.search", "MedicationRequest.search", "prepare_to_answer")}
    chosen = load_sessions("ward").sessions[:4]
    budgets = [one.budget.model_copy(update={"n": 1}) for one in chosen]
    return SessionSet(
        tuple(one.model_copy(update={**changes, "budget": budget}) for one, budget in zip(chosen, budgets, strict=True))
    )


@pytest.mark.parametrize("mode", ["native", "json"])
def test_four_sessions_are_completed(address: str, short_sessions: SessionSet, tmp_path: Path, mode: str) -> None:
    model = ModelPlan(
        base=f"{address}/v1", mode=mode, max_tokens=64, context=8192, attempts=2, deadline=600.0,
        episode_deadline=3600.0,
    )  # fmt: skip
    plan = EvaluationPlan(short_sessions, load_charts("ward"), agents=["litellm:openai/local"], model=model)
    report = evaluate(plan, tmp_path, How(in_flight=1))  # one after the other: the server keeps one chat's prefix
    print(json.dumps({key: report["results"][0][key] for key in ("outcomes", "call_errors")}))
    records = list(read_records(tmp_path / "trajectories.jsonl"))
    assert len(records) == 4
    for record in records:
        used = record["usage"]
        assert record["outcome"] == "completed", record["error"]
        closed = [event for event in record["trajectory"]["events"] if event["event"] == "answer"]
        print(json.dumps({**used, "answers": [event["text"][:60] for event in closed]}))
        assert [event["turn"] for event in closed] == [0, 1, 2, 3]
        assert all(event["text"].strip() and not event["forced"] for event in closed)
        assert used["requests"] >= 4
        assert used["tokens_out"] > 0
        if mode == "json":  # the endpoint holds replies to the schema: only what was cut off cannot be read
            assert used["dropped"] == []
            assert used["invalid"] <= used["finish"].get("length", 0)
