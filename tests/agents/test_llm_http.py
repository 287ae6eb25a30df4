"""The LLM agent over real HTTP: litellm against a scripted OpenAI-compatible server on loopback."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat, error, says, send, status
from model_script import Clock

from wardround.agents import EvaluationPlan, ModelPlan, Worker, evaluate, find_agent, make_tasks
from wardround.agents.llm import ChatRequest, LlmAgent
from wardround.agents.llm import Endpoint as Model
from wardround.agents.llm.client import LiteLLMChat
from wardround.agents.llm.endpoint import refused_parameter
from wardround.agents.rollout import play_async
from wardround.cli import main
from wardround.envs import Episode
from wardround.patients import ChartStore, UsageError
from wardround.sessions import SessionSet, save_sessions

ANSWER = chat("I do not know.")
READ = ("call_1", "Patient_read", '{"subject_id": "ward-01"}')


class Play:
    """One episode of the ward's first session, with a model at that endpoint."""

    def __init__(self, store: ChartStore, sessions: SessionSet, endpoint: Endpoint) -> None:
        session = sessions.sessions[0]
        self.episode = Episode(session, store.chart(session.chart.patient))
        self.endpoint = endpoint
        self.clock = Clock()

    def __call__(self, **plan: Any) -> LlmAgent:
        model = Model("openai/m", ModelPlan(base=self.endpoint.base, **plan), sleep=self.clock.sleep)
        agent = LlmAgent(model, 7)

        async def work() -> None:
            try:
                await play_async(self.episode, agent)
            finally:
                await model.close()

        asyncio.run(work())
        return agent

    @property
    def events(self) -> list[dict[str, Any]]:
        return list(self.episode.trajectory["events"])


@pytest.fixture
def play(ward: ChartStore, ward_sessions: SessionSet, endpoint: Endpoint) -> Play:
    return Play(ward, ward_sessions, endpoint)


def test_faults_of_every_kind_and_the_episode_goes_on(play: Play, endpoint: Endpoint) -> None:
    faults = [
        status(429, retry_after="7"),
        status(500, "oops"),
        status(503, "<html>"),
        status(200, '{"choices": ['),
        status(200, "not JSON"),
        says(),
        lambda handler: endpoint.release.wait(30),
    ]
    turns = [
        chat("Who?", READ, READ),  # two calls under one id
        chat(None, ("c9", "Patient_guess", "{}"), ("c9", "Patient_read", '{"subject'), finish="stop"),
        chat("", finish="tool_calls"),
        chat('<tool_call>{"name": "Patient_read", "arguments": {"subject_id": "ward-01"}}</tool_call>'),
        chat("<think>K?</think>I do not know.", finish="length", reasoning_content="K is high, I guess."),
        ANSWER,
    ]
    endpoint.script = faults + turns
    agent = play(deadline=4.0, attempts=len(faults) + 1)
    assert play.episode.done
    assert not play.episode.truncated
    kinds = [(one["event"], one.get("error")) for one in play.events if one["turn"] == 0]
    assert kinds == [
        ("query", None),
        ("call", None),
        ("call", None),
        ("call", "unknown_tool"),
        ("call", "bad_json"),
        ("mistake", None),
        ("call", None),
        ("answer", None),
    ]
    assert play.clock.waits[0] == 7.0
    assert len(play.clock.waits) == len(faults)
    assert len(endpoint.bodies) == len(faults) + len(turns) + 2
    assert agent.usage["requests"] == 8
    assert agent.usage["retries"] == len(faults)
    assert (agent.usage["tokens_in"], agent.usage["tokens_out"]) == (56, 24)
    assert agent.usage["cost_usd"] is None
    # litellm writes `tool_calls` for whatever brings calls; the rest is the endpoint's word
    assert agent.usage["finish"] == {"length": 1, "stop": 4, "tool_calls": 3}
    first, last = endpoint.bodies[0], endpoint.bodies[-1]
    assert (first["temperature"], first["reasoning_effort"], first["seed"]) == (0.2, "medium", 7)
    assert first["tools"][0]["function"]["name"] == "Patient_read"
    ids = [call["id"] for one in last["messages"] for call in one.get("tool_calls", ())]
    assert len(ids) == len(set(ids)) == 5
    assert "I guess" not in json.dumps(last)
    assert "K?" not in json.dumps(last)


def test_refused_parameters_are_left_out_and_told(play: Play, endpoint: Endpoint) -> None:
    endpoint.script = [
        error(400, "Unsupported parameter.", param="reasoning_effort"),
        error(400, "Unsupported value: 'temperature' does not support 0.2 with this model."),
        error(400, "response_format is not available here"),
        chat('{"answer": "I do not know."}'),
    ]
    agent = play(mode="json")
    assert play.episode.done
    assert agent.usage["dropped"] == ["reasoning_effort", "response_format", "temperature"]
    assert agent.usage["requests"] == 4
    assert play.clock.waits == []
    schema = endpoint.bodies[0]["response_format"]["json_schema"]["schema"]
    assert len(schema["anyOf"]) == 19
    assert set(endpoint.bodies[-1]) >= {"seed", "max_tokens", "messages"}
    assert not {"temperature", "reasoning_effort", "response_format", "tools"} & set(endpoint.bodies[-1])


def test_what_a_providers_model_does_not_take_is_told_before_anything_is_sent(endpoint: Endpoint) -> None:
    """litellm knows that models of this provider take no seed; nothing leaves this machine."""
    client = LiteLLMChat("anthropic/claude-3-haiku-20240307", ModelPlan())
    reply = asyncio.run(client.chat(ChatRequest([{"role": "user", "content": "hi"}], settings={"seed": 7})))
    assert reply.status == 400
    assert refused_parameter(reply, {"seed": 7, "temperature": 0.2}) == "seed"
    assert endpoint.bodies == []


def test_a_request_that_is_too_long_is_shortened(play: Play, endpoint: Endpoint) -> None:
    labs = '{"subject_id": "ward-01", "category": "laboratory", "_count": 100}'
    too_long = error(400, "the request exceeds the available context size", type="exceed_context_size_error")
    rounds = [chat(None, ("a", "Observation_search", labs)), ANSWER]
    endpoint.script = [*rounds, *rounds, chat(None, ("a", "Observation_search", labs)), too_long, ANSWER]
    agent = play()
    assert play.episode.done
    assert agent.usage["shortened"] == 2
    sent = [len(json.dumps(body["messages"])) for body in endpoint.bodies]
    assert sent[6] < sent[5]


def asking(worker: Worker, plan: ModelPlan) -> Worker:
    return Worker(replace(worker.setting, model=plan), worker.store, worker.sessions)


def test_nobody_there_and_keys_that_are_echoed(endpoint: Endpoint, monkeypatch, worker: Worker) -> None:
    monkeypatch.setenv("MODEL_KEY", "secret-4711")
    endpoint.script = [lambda handler: send(handler, 401, '{"error": {"message": "bad key secret-4711"}}')]
    task = make_tasks(["litellm:openai/m"], [worker.sessions.sessions[0].id])[0]
    plan = ModelPlan(base=endpoint.base, key_env="MODEL_KEY", attempts=1)
    record = asking(worker, plan).run(task)
    assert record["outcome"] == "endpoint_error"
    assert "status 401" in record["error"]
    assert endpoint.headers[0]["authorization"] == "Bearer secret-4711"
    assert "secret" not in json.dumps(record)
    nobody = ModelPlan(base="http://127.0.0.1:9/v1", attempts=1)
    record = asking(worker, nobody).run(task)
    assert record["outcome"] == "endpoint_error"
    assert "127.0.0.1" not in json.dumps(record)


def test_a_run_of_the_command_line_with_a_model(endpoint: Endpoint, tmp_path: Path, capsys) -> None:
    endpoint.script = [error(500, "warming up", code=5), ANSWER]
    out = tmp_path / "run"
    options = ["--sessions", "ward", "--agent", "litellm:openai/m", "--limit", "3", "--out", str(out), "--json"]
    where = ["--model-base", endpoint.base, "--model-temperature", "0", "--model-effort", "default"]
    assert main(["eval", *options, *where]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["results"][0]["outcomes"] == {"completed": 3}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["model"]["temperature"] == 0
    assert manifest["model"]["reasoning_effort"] is None
    assert manifest["model"]["endpoint"] == "own"
    assert all(endpoint.base not in path.read_text() for path in out.glob("*.json*"))
    assert {body.get("seed") is not None for body in endpoint.bodies} == {True}


def test_credentialed_data_need_an_agreement_also_on_loopback(
    ward_sessions: SessionSet, ward: ChartStore, tmp_path: Path, capsys, endpoint: Endpoint
) -> None:
    closed = [one.model_copy(update={"licence": "credentialed"}) for one in ward_sessions.sessions[:1]]
    path = tmp_path / "closed.jsonl"
    save_sessions(path, SessionSet(tuple(closed)))
    options = ["eval", "--sessions", str(path), "--charts", "ward", "--agent", "litellm:openai/m"]
    options += ["--model-base", endpoint.base, "--out", str(tmp_path / "run")]
    assert main(options) == 2
    assert "--data-agreement" in capsys.readouterr().err
    assert endpoint.bodies == []
    endpoint.script = [ANSWER]
    assert main([*options, "--data-agreement", "DUA 12"]) == 0
    assert json.loads((tmp_path / "run/manifest.json").read_text())["model"]["agreement"] == "DUA 12"
    plan = EvaluationPlan(SessionSet(tuple(closed)), ward, agents=["litellm:openai/m"])
    with pytest.raises(UsageError, match="data-agreement"):
        evaluate(plan, tmp_path / "other")


def test_a_plan_that_cannot_be_is_refused(ward_sessions: SessionSet, monkeypatch, capsys) -> None:
    for wrong, words in (
        ({"mode": "xml"}, "native, json"),
        ({"effort": "huge"}, "effort"),
        ({"temperature": 3.0}, "from 0 to 2"),
        ({"attempts": 0}, "at least one try"),
        ({"deadline": 0.0}, "deadlines"),
        ({"context": 100, "max_tokens": 100}, "no room"),
    ):
        with pytest.raises(UsageError, match=words):
            ModelPlan(**wrong)  # type: ignore[arg-type]
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UsageError, match="NO_SUCH_KEY"):
        find_agent("litellm:openai/m", ward_sessions, ModelPlan(key_env="NO_SUCH_KEY"))
    with pytest.raises(UsageError, match="litellm:MODEL"):
        find_agent("litellm:", ward_sessions)
    lone = ["eval", "--sessions", "ward", "--agent", "silent", "--out", "x", "--model-mode", "json"]
    assert main(lone) == 2
    assert "no agent is one" in capsys.readouterr().err
