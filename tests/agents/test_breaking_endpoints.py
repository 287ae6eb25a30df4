"""Endpoints that send elsewhere, echo what is secret or tell nonsense; charts more secret than their sessions say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat, error, says, status

from wardround.agents import EvaluationPlan, ModelPlan, evaluate
from wardround.agents.judge_run import chart_licences
from wardround.agents.judging import JudgePlan, LiteLLMClient, run_async
from wardround.agents.litellm_door import without_address
from wardround.agents.rollout import Worker
from wardround.agents.tasks import make_tasks
from wardround.patients import UsageError

KEY = "secret-4711"


def played(worker: Worker, endpoint: Endpoint, **plan: Any) -> dict[str, Any]:
    setting = replace(worker.setting, model=ModelPlan(base=endpoint.base, key_env="MODEL_KEY", **plan))
    asking = Worker(setting, worker.store, worker.sessions)
    return asking.run(make_tasks(["litellm:openai/m"], [worker.sessions.sessions[0].id])[0])


@pytest.fixture
def other() -> Any:
    found = Endpoint()
    found.script = [chat("I do not know.")]
    yield found
    found.close()


def test_what_is_sent_goes_to_the_address_that_was_named_and_to_no_other(
    endpoint: Endpoint, other: Endpoint, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)
    for code in (301, 307):
        endpoint.script = [status(code, "", location=f"{other.base}/chat/completions")]
        record = played(worker, endpoint)
        assert record["outcome"] == "endpoint_error"
        assert f"after 1 try: status {code}" in record["error"]

    async def judge() -> list[int]:
        client = LiteLLMClient(JudgePlan("litellm:openai/m", base=endpoint.base))
        try:
            return [(await client.ask([{"role": "user", "content": "x"}], structured=False)).status]
        finally:
            await client.close()

    assert run_async(judge) == [307]
    assert other.bodies == []


def test_keys_addresses_and_nonsense_of_an_endpoint_reach_no_record(
    endpoint: Endpoint, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)
    monkeypatch.setenv("OTHER_API_KEY", "own-key-99")
    host = endpoint.base.removeprefix("http://").removesuffix("/v1")
    endpoint.script = [
        chat(None, refusal=f"no, {KEY}"),
        chat("Potassium 4.6.", used=(10**30, 2**63 - 1)),
        error(404, f"{host} has no such model; own-key-99"),
    ]
    record = played(worker, endpoint)
    told = json.dumps(record)
    assert record["outcome"] == "endpoint_error"
    assert "[endpoint] has no such model" in record["error"]
    assert (record["usage"]["requests"], record["usage"]["tokens_in"], record["usage"]["tokens_out"]) == (2, None, None)
    assert not any(secret in told or secret in json.dumps(endpoint.bodies) for secret in (KEY, host, "own-key"))
    assert without_address("u:pw1 at h.example:1", "http://u:pw1@h.example:1/v1") == "[endpoint] at [endpoint]"


def test_keys_and_addresses_that_can_be_none_are_refused_before_anything_is_sent(
    endpoint: Endpoint, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("secret-4711\n", "sécret-4711", " "):
        monkeypatch.setenv("MODEL_KEY", key)
        with pytest.raises(UsageError, match="MODEL_KEY"):
            played(worker, endpoint)
    for base in ("no url", "http://", "ftp://h/v1", "http://h:x/v1", "http://[::1"):
        for plan in (ModelPlan, lambda base: JudgePlan("litellm:m", base=base)):
            with pytest.raises(UsageError, match="http"):
                plan(base=base)
    assert endpoint.bodies == []


def test_calls_of_one_reply_stay_together_whichever_name_the_model_gives_a_tool(
    endpoint: Endpoint, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)
    read = ("c", "Patient.read", '{"subject_id": "ward-01"}')
    endpoint.script = [chat("Who is she?", read, read), chat("I do not know.")]
    played(worker, endpoint)
    (calls,) = [one for one in endpoint.bodies[1]["messages"] if one.get("tool_calls")]
    assert (calls["content"], len(calls["tool_calls"])) == ("Who is she?", 2)


def test_a_chart_may_be_more_secret_than_its_session_says(
    endpoint: Endpoint, worker: Worker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)
    endpoint.script = [says("I do not know.")]
    session = worker.sessions.sessions[0]
    monkeypatch.setattr(worker.store.chart(session.chart.patient), "licence", "credentialed")
    with pytest.raises(UsageError, match="data-agreement"):
        played(worker, endpoint)
    plan = EvaluationPlan(worker.sessions, worker.store, agents=["silent", "litellm:openai/m"], limit=1)
    plan = replace(plan, model=ModelPlan(base=endpoint.base))
    with pytest.raises(UsageError, match="data-agreement"):
        evaluate(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert endpoint.bodies == []
    assert "credentialed" in chart_licences([session], worker.store)
    assert played(worker, endpoint, agreement="DUA 12")["outcome"] == "completed"
