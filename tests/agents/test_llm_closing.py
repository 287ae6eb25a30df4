"""Near the end of a turn a model is told, and then held to, an answer; what it says stays its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint as Server
from endpoint import chat
from model_script import Script, Step, model_agent, play_with, said

from wardround.agents import EvaluationPlan, ModelPlan, evaluate, read_records
from wardround.agents.agent import Answer, Invalid
from wardround.agents.checking import languages_of
from wardround.agents.llm import ChatReply, ChatRequest
from wardround.agents.llm.reply import read_reply
from wardround.envs import Episode
from wardround.envs.budgets import GRACE
from wardround.patients import ChartStore, UsageError
from wardround.sessions import SessionSet

READ = ("Patient_read", {"subject_id": "ward-01"})
PREPARE = ("prepare_to_answer", {"answer_type": "chat"})
BUDGET = 3


@pytest.fixture
def fresh(ward: ChartStore, ward_sessions: SessionSet) -> Callable[..., Episode]:
    """Return an episode of the ward's first session in that language with three calls a turn, or another budget."""

    def make(budget: dict[str, Any] | None = None, language: str = "en", **changes: Any) -> Episode:
        session = next(one for one in ward_sessions if language in languages_of(one))
        new = session.budget.model_copy(update=budget or {"n": BUDGET})
        changed = session.model_copy(update={"budget": new, **changes})
        return Episode(changed, ward.chart(session.chart.patient), language=language)  # type: ignore[arg-type]

    return make


def acting(mode: str, name: str, arguments: dict[str, Any]) -> ChatReply:
    return (
        said(None, (name, arguments)) if mode == "native" else said(json.dumps({"tool": name, "arguments": arguments}))
    )


def obeys(mode: str, *, wish: tuple[str, dict[str, Any]] = READ, words: str = "I looked.") -> Step:
    """Return a model that calls for as long as the request lets it, as an endpoint that holds replies to it."""
    answer = said(words) if mode == "native" else said(json.dumps({"answer": words}))

    def step(request: ChatRequest) -> ChatReply:
        settings = request.settings
        if mode == "native":
            return answer if settings.get("tool_choice") == "none" else acting(mode, *wish)
        schema = settings["response_format"]["json_schema"]["schema"]
        names = [one["properties"].get("tool", {}).get("const") for one in schema.get("anyOf", ())]
        if wish[0] in names:
            return acting(mode, *wish)
        return acting(mode, *PREPARE) if PREPARE[0] in names else answer

    return step


def answers(episode: Episode) -> list[tuple[str, bool]]:
    return [(one["text"], one["forced"]) for one in episode.trajectory["events"] if one["event"] == "answer"]


@pytest.mark.parametrize("wish", [READ, PREPARE], ids=["calls", "prepares"])
@pytest.mark.parametrize("mode", ["native", "json"])
def test_a_model_that_only_calls_ends_each_turn_by_its_own_answer(fresh, mode: str, wish: Any) -> None:
    script = Script(obeys(mode, wish=wish, words="In my words."))
    agent = model_agent(script, mode=mode)
    episode = play_with(fresh(), agent)
    turns = len(episode.session.turns)
    assert answers(episode) == [("In my words.", False)] * turns
    assert episode.done
    assert not episode.truncated
    assert agent.usage["answer_only"] == turns
    assert agent.usage["cut_answers"] == 0


@pytest.mark.parametrize("mode", ["native", "json"])
def test_left_free_it_loses_its_turns(fresh, mode: str) -> None:
    script = Script(obeys(mode))
    agent = model_agent(script, mode=mode, last_step="free")
    episode = play_with(fresh(), agent)
    assert answers(episode) == [("", True)] * len(episode.session.turns)
    assert episode.truncated
    assert agent.usage["answer_only"] == 0
    assert len(script.asked) == (BUDGET + GRACE) * len(episode.session.turns)
    assert all("tool_choice" not in request.settings for request in script.asked)


def test_json_mode_may_prepare_once_and_then_only_answer(fresh) -> None:
    script = Script(obeys("json"))
    episode = play_with(fresh(), model_agent(script, mode="json"))
    first = [request for request in script.asked if len(request.messages) < 12][: BUDGET + 2]
    forms = [request.settings["response_format"]["json_schema"]["schema"] for request in first]
    assert [len(form.get("anyOf", ())) for form in forms] == [19, 19, 19, 2, 0]
    assert list(forms[-1]["properties"]) == ["answer"]
    assert forms[-1]["properties"]["answer"]["minLength"] == 1
    tools = [one["tool"] for one in episode.trajectory["events"] if one["event"] == "call" and one["turn"] == 0]
    assert tools == [*["Patient_read"] * BUDGET, "prepare_to_answer"]


@pytest.mark.parametrize(("mode", "words"), [("native", "[No tool calls are left"), ("json", '{"answer": "…"}')])
def test_the_notice_stands_only_where_it_holds(fresh, mode: str, words: str) -> None:
    script = Script(obeys(mode))
    play_with(fresh(), model_agent(script, mode=mode))
    turn = script.asked[: BUDGET + 2]
    told = [words in request.messages[-1]["content"] for request in turn]
    assert told == [False, False, False, True, mode == "json"]
    assert "[Last step" in turn[-1].messages[-1]["content"]
    for request in script.asked:  # never in what was said before
        assert all("[Last step" not in str(one["content"]) for one in request.messages[:-1])
        assert {tool["function"]["name"] for tool in request.tools} >= ({"Patient_read"} if mode == "native" else set())


def test_it_is_told_in_the_episodes_language(fresh) -> None:
    script = Script(obeys("json"))
    play_with(fresh(language="zh"), model_agent(script, mode="json"))
    assert "最后一步" in script.asked[BUDGET + 1].messages[-1]["content"]


def test_a_session_without_prepare_goes_straight_to_the_answer(fresh) -> None:
    script = Script(obeys("json"))
    agent = model_agent(script, mode="json")
    episode = play_with(fresh(tools=("Patient.read",)), agent)
    assert len(script.asked) == (BUDGET + 1) * len(episode.session.turns)
    assert not episode.truncated


@pytest.mark.parametrize("budget", [
    {"n": BUDGET, "unit": "steps"},
    {"n": BUDGET, "scope": "episode"},
    {"n": BUDGET, "scope": "episode", "on_exhaust": "final_turn"},
])  # fmt: skip
def test_every_budget_that_leaves_a_step_ends_by_an_answer(fresh, budget: dict[str, Any]) -> None:
    episode = play_with(fresh(budget), model_agent(Script(obeys("json")), mode="json"))
    assert episode.done
    assert not episode.truncated
    assert all(not forced for _, forced in answers(episode))


def test_calls_of_one_reply_leave_room_for_an_answer(fresh) -> None:
    def step(request: ChatRequest) -> ChatReply:
        return said("Enough.") if request.settings.get("tool_choice") == "none" else said(None, *[READ] * 30)

    script = Script(step)
    agent = model_agent(script)
    episode = play_with(fresh(), agent)
    turns = len(episode.session.turns)
    made = BUDGET + GRACE - 2
    assert answers(episode) == [("Enough.", False)] * turns
    assert agent.usage["skipped_calls"] == (30 - made) * turns
    shown = next(one for one in script.asked[1].messages if one.get("tool_calls"))
    assert len(shown["tool_calls"]) == made  # the calls that were left out stand in no history


def test_calls_left_out_are_not_taken_for_later_ones(fresh) -> None:
    """An endpoint that does not hold the model to an answer: its next call is shown as a reply of its own."""
    script = Script(said("All at once.", *[READ] * 30), said("Once more.", READ), said("Enough."))
    play_with(fresh(), model_agent(script))
    shown = [one for one in script.asked[2].messages if one.get("tool_calls")]
    assert [(one["content"], len(one["tool_calls"])) for one in shown] == [
        ("All at once.", BUDGET + GRACE - 2),
        ("Once more.", 1),
    ]


def test_an_endpoint_that_takes_no_tool_choice_is_asked_without(fresh) -> None:
    def step(request: ChatRequest) -> ChatReply:
        if "tool_choice" in request.settings:
            return ChatReply(400, error="Unsupported parameter: 'tool_choice'", parameter="tool_choice")
        return said("Told.") if "[Last step" in request.messages[-1]["content"] else said(None, READ)

    agent = model_agent(Script(step))
    episode = play_with(fresh(), agent)
    assert answers(episode) == [("Told.", False)] * len(episode.session.turns)
    assert agent.usage["dropped"] == ["tool_choice"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"answer": "The potassium is 5', "The potassium is 5"),
        ('{"answer":"K is 5.9.\\nIt is', "K is 5.9.\nIt is"),
        ('{"answer": "a \\"high\\" one', 'a "high" one'),
        ('{"answer": "5.9 \\', "5.9"),
        ('{"answer": "5.9 \\u00', "5.9"),
        ('{"answer": "5.9 \\u00b5', "5.9 µ"),
        ('{"answer": "one line\nand the next', "one line\nand the next"),
        (' { "answer" : "5.9 mmol/L" ', "5.9 mmol/L"),
    ],
)
def test_an_answer_that_was_cut_off_counts_as_far_as_it_goes_on_the_last_step_alone(text: str, words: str) -> None:
    read = read_reply({"content": text}, last=True)
    assert (read.actions, read.cut) == ((Answer(words),), True)
    earlier = read_reply({"content": text})
    assert isinstance(earlier.actions[0], Invalid)
    assert not earlier.cut


@pytest.mark.parametrize(
    "text", ['{"answer": "', '{"answer": "\\', '{"answer"', '{"tool": "Patient_read", "arg', '{"an']
)
def test_what_has_no_words_of_an_answer_is_none(text: str) -> None:
    read = read_reply({"content": text}, last=True)
    assert isinstance(read.actions[0], Invalid)
    assert not read.cut


def test_a_model_whose_every_reply_is_cut_off_still_answers_each_turn(fresh) -> None:
    agent = model_agent(Script(said('{"answer": "It goes on and', finish="length")), mode="json")
    episode = play_with(fresh(), agent)
    turns = len(episode.session.turns)
    assert answers(episode) == [("It goes on and", False)] * turns
    assert agent.usage["cut_answers"] == turns
    assert agent.usage["invalid"] == (BUDGET + 1) * turns


def test_over_http_the_last_request_forbids_calls_and_the_run_says_so(
    ward: ChartStore, ward_sessions: SessionSet, endpoint: Server, tmp_path: Path
) -> None:
    session = ward_sessions.sessions[0]
    short = session.model_copy(update={"budget": session.budget.model_copy(update={"n": 1})})
    call = chat(None, ("a", READ[0], json.dumps(READ[1])))
    endpoint.script = [call, call, chat("I looked.")] * len(short.turns)
    model = ModelPlan(base=endpoint.base)
    plan = EvaluationPlan(SessionSet((short,)), ward, agents=["litellm:openai/m"], model=model)
    report = evaluate(plan, tmp_path / "run")
    (record,) = read_records(tmp_path / "run/trajectories.jsonl")
    assert record["outcome"] == "completed"
    assert record["usage"]["answer_only"] == report["results"][0]["usage"]["answer_only"] == len(short.turns)
    choices = [body.get("tool_choice") for body in endpoint.bodies]
    assert choices == [None, None, "none"] * len(short.turns)
    assert all(len(body["tools"]) == 18 for body in endpoint.bodies)
    told = json.loads((tmp_path / "run/manifest.json").read_text())["model"]
    assert told["last_step"] == "answer"
    assert told["instructions"]
    assert replace(model, last_step="free").describe()["instructions"] is None


def test_only_two_last_steps_are_known() -> None:
    with pytest.raises(UsageError, match="answer, free"):
        ModelPlan(last_step="never")  # type: ignore[arg-type]
