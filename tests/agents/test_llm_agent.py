"""The LLM agent against a scripted model: whatever it replies, the episode goes on or ends in a named way."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from model_script import Clock, Script, model_agent, play_with, refused, said

from wardround.agents import EndpointFault, ModelPlan, Worker, find_agent, make_tasks
from wardround.agents.checking import languages_of
from wardround.agents.llm import ChatReply, ChatRequest, Endpoint, LlmAgent
from wardround.agents.llm.history import safe_arguments
from wardround.agents.rollout import play, play_async
from wardround.agents.scripted import Oracle
from wardround.envs import Episode
from wardround.patients import ChartStore
from wardround.sessions import SessionSet


@pytest.fixture
def fresh(ward: ChartStore, ward_sessions: SessionSet) -> Callable[..., Episode]:
    session = next(one for one in ward_sessions if languages_of(one) == ["en", "zh"])
    return lambda **settings: Episode(session, ward.chart(session.chart.patient), **settings)


def gold_steps(episode: Episode, mode: str, *, together: bool) -> list[ChatReply]:
    """Return the replies of a model that knows gold."""
    language, steps = episode.settings.language, []
    for turn in episode.session.turns:
        assert turn.gold is not None
        calls = [(call.tool.replace(".", "_"), dict(call.arguments)) for call in turn.gold.calls]
        answer = turn.gold.answers[0].get(language)
        if mode == "native":
            steps += [said("Looking.", *calls)] if together else [said(None, call) for call in calls]
            steps.append(said(answer))
        else:
            steps += [said(json.dumps({"tool": name, "arguments": raw})) for name, raw in calls]
            steps.append(said(json.dumps({"answer": answer})))
    return steps


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("mode", "together"), [("native", True), ("native", False), ("json", False)])
def test_a_model_that_plays_gold_earns_what_the_oracle_earns(fresh, mode: str, together: bool, language: str) -> None:
    oracle = play(fresh(language=language), Oracle())
    script = Script(*gold_steps(fresh(language=language), mode, together=together))
    agent = model_agent(script, mode=mode)
    episode = play_with(fresh(language=language), agent)
    assert episode.score == oracle.score == 1.0
    tools = [[event.tool for event in one._events if hasattr(event, "tool")] for one in (episode, oracle)]
    assert tools[0] == tools[1]
    assert agent.usage["requests"] == len(script.asked) == len(script.steps)
    assert agent.usage["tokens_in"] == 100 * len(script.asked)


def test_the_chat_is_what_providers_take(fresh) -> None:
    script = Script(*gold_steps(fresh(), "native", together=True))
    play_with(fresh(), model_agent(script))
    for request in script.asked:
        waiting: list[str] = []
        for chat in request.messages:
            if chat["role"] == "tool":
                assert chat["tool_call_id"] == waiting.pop(0)  # every result follows its call, in order
                continue
            assert not waiting
            waiting = [call["id"] for call in chat.get("tool_calls", ())]
            assert len(set(waiting)) == len(waiting)
            for call in chat.get("tool_calls", ()):
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
        assert request.messages[0]["role"] == "system"
    last = script.asked[-1].messages
    both = next(chat for chat in last if chat.get("tool_calls"))
    assert len(both["tool_calls"]) == 2  # one reply's calls stay one message
    assert both["content"] == "Looking."
    asked = [request.messages for request in script.asked]
    assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(asked))


def test_json_mode_says_how_in_the_episodes_language_and_holds_the_reply_to_a_schema(fresh) -> None:
    for language, words in (("en", "exactly one JSON object"), ("zh", "只发送一个 JSON 对象")):
        script = Script(*gold_steps(fresh(language=language), "json", together=False))
        play_with(fresh(language=language), model_agent(script, mode="json"))
        first, last = script.asked[0], script.asked[-1]
        assert words in first.messages[0]["content"]
        assert "MedicationRequest_create" in first.messages[0]["content"]
        assert not first.tools
        assert {chat["role"] for chat in last.messages} == {"system", "user", "assistant"}
        assert all(json.loads(chat["content"]) for chat in last.messages if chat["role"] == "assistant")
        roles = [chat["role"] for chat in last.messages]
        assert all(one != other for one, other in itertools.pairwise(roles))
        schema = first.settings["response_format"]["json_schema"]["schema"]
        kinds = schema["anyOf"]
        assert kinds[-1]["required"] == ["answer"]
        assert {"const": "Observation_search"} in [kind["properties"].get("tool") for kind in kinds]


def test_settings_are_sent_and_recorded(fresh) -> None:
    script = Script(said("I do not know."))
    agent = model_agent(script, seed=2**40 + 5)
    play_with(fresh(), agent)
    settings = script.asked[0].settings
    assert settings == {"temperature": 0.2, "reasoning_effort": "medium", "seed": 5, "max_tokens": 4096}
    assert agent.usage["seed"] == 5
    assert agent.usage["finish"] == {"stop": 4}
    bare = Script(said("I do not know."))
    agent = model_agent(bare, temperature=None, effort=None, seeded=False)
    play_with(fresh(), agent)
    assert bare.asked[0].settings == {"max_tokens": 4096}
    assert agent.usage["seed"] is None


BAD = {
    "unknown tool": said(None, ("Patient_guess", {})),
    "no name": said(None, ("", {})),
    "bad arguments": said(None, ("Patient_read", '{"subject_id": ')),
    "no object": said(None, ("Patient_read", "[1]")),
    "twice the key": said(None, ("Patient_read", '{"subject_id": "x", "subject_id": "y"}')),
    "wrong patient": said(None, ("Patient_read", {"subject_id": "someone-else"})),
    "empty": said(""),
    "nothing": said(None),
    "cut off": said('{"tool": "Patient_read", "argu', finish="length"),
    "only reasoning": said("<think>still thinking about", finish="length"),
    "wrong reason": said("", finish="tool_calls"),
    "an odd object": said('{"verdict": true}'),
    "a flood": said(None, *[("Patient_read", {})] * 200),
    "filtered": said(None, finish="content_filter"),
    "numbers": said(3.5),
    "surrogates": said("\ud800", ("\ud800", "\ud800")),
}


@pytest.mark.parametrize("mode", ["native", "json"])
@pytest.mark.parametrize("kind", BAD)
def test_whatever_a_model_writes_every_turn_closes(fresh, kind: str, mode: str) -> None:
    """A model that never writes anything else spends its actions: four turns of twenty, and no exception."""
    script = Script(BAD[kind])
    agent = model_agent(script, mode=mode)
    episode = play_with(fresh(), agent)
    assert episode.done
    assert episode.truncated
    assert episode.score == 0.0
    for request in script.asked:
        json.dumps([dict(chat) for chat in request.messages]).encode()
        assert all(chat["content"] or chat.get("tool_calls") or chat["role"] == "tool" for chat in request.messages)
    assert agent.usage["retries"] == 0


def test_a_mistake_goes_back_to_the_model_which_mends_it(fresh) -> None:
    wrong = [said('{"tool": "Patient_read", "argu'), said(None, ("Nonsense", "{}")), said("")]
    script = Script(*wrong, said("I do not know."))
    agent = model_agent(script)
    play_with(fresh(), agent)
    told = script.asked[3].messages
    assert told[-6]["content"] == '{"tool": "Patient_read", "argu'
    assert "JSON" in told[-5]["content"]
    assert told[-4]["tool_calls"][0]["function"]["name"] == "Nonsense"
    assert "Nonsense" in told[-3]["content"]
    assert "empty" in told[-1]["content"]
    assert agent.usage["invalid"] == 1


def test_calls_of_one_reply_stop_where_the_turn_closes(fresh) -> None:
    script = Script(said(None, *[("prepare_to_answer", {"answer_type": "tool"})] * 30), said("No."))
    agent = model_agent(script)
    episode = play_with(fresh(), agent)
    calls = [event for event in episode.trajectory["events"] if event["event"] == "call"]
    assert {event["turn"] for event in calls} == {0}
    assert agent.usage["skipped_calls"] == 30 - len(calls) > 0


def test_gold_history_and_calls_of_one_reply_do_not_mix(ward: ChartStore, ward_sessions: SessionSet) -> None:
    session = next(one for one in ward_sessions if one.use == "train" and all(turn.gold for turn in one.turns))
    script = Script(said("Both.", ("Patient_read", {}), ("Patient_read", {})), said("No."))
    script.steps = script.steps * len(session.turns)
    play_with(Episode(session, ward.chart(session.chart.patient), history="gold"), model_agent(script))
    last = script.asked[-1].messages
    names = [call["function"]["name"] for chat in last for call in chat.get("tool_calls", ())]
    assert names[-2:] == ["Patient_read", "Patient_read"]  # the open turn's own
    assert "Patient_read" not in names[:-2]
    assert [chat["content"] for chat in last].count("Both.") == 1


def test_arguments_in_the_history_are_always_an_object() -> None:
    assert safe_arguments('{"a": 1}') == '{"a": 1}'
    assert json.loads(safe_arguments("[1")) == {"unreadable": "[1"}
    assert json.loads(safe_arguments("[1]")) == {"unreadable": "[1]"}


# -- what does not fit -------------------------------------------------------------------------------------------------


def long_rounds(text: str = "K is 5.9.") -> list[ChatReply]:
    """Each turn reads all laboratory results, then answers."""
    read = ("Observation_search", {"subject_id": "ward-01", "category": "laboratory", "_count": 100})
    return [step for _ in range(4) for step in (said(None, read), said(None, read), said(text))]


def results(request: ChatRequest) -> list[str]:
    return [chat["content"] for chat in request.messages if chat["role"] == "tool"]


def test_older_results_are_shortened_first_and_the_open_turn_stays_whole(fresh) -> None:
    free = Script(*long_rounds())
    play_with(fresh(), model_agent(free, context=200_000))
    tight = Script(*long_rounds())
    agent = model_agent(tight, context=17_000, max_tokens=1000)
    play_with(fresh(), agent)
    assert agent.usage["trimmed"] > 0
    whole, cut = results(free.asked[-1]), results(tight.asked[-1])
    assert cut[-2:] == whole[-2:]
    assert "shortened" in cut[0]
    changed = [one != other for one, other in zip(whole, cut, strict=True)]
    assert changed == sorted(changed, reverse=True)  # the oldest first
    assert agent.usage["shortened"] == sum(changed)
    talk = [chat for chat in tight.asked[-1].messages if chat["role"] != "tool"]
    assert talk == [chat for chat in free.asked[-1].messages if chat["role"] != "tool"]


def test_what_the_endpoint_refuses_as_too_long_is_shortened_and_asked_again(fresh) -> None:
    most = 22_000

    def picky(request: ChatRequest) -> ChatReply:
        size = len(json.dumps([dict(chat) for chat in request.messages]))
        if size > most:
            return refused(400, "This model's maximum context length is 4096 tokens.", overflow=True)
        return next(left)

    left = iter(long_rounds())
    script = Script(picky)
    agent = model_agent(script)
    episode = play_with(fresh(), agent)
    assert episode.done
    assert not episode.truncated
    assert agent.usage["requests"] == 12
    assert agent.usage["shortened"] > 0


def test_what_never_fits_ends_the_episode_as_the_endpoints_fault(fresh) -> None:
    script = Script(refused(400, "prompt is too long", overflow=True))
    with pytest.raises(EndpointFault, match="prompt is too long"):
        play_with(fresh(), model_agent(script))
    assert len(script.asked) == 5


# -- endpoints that fail -----------------------------------------------------------------------------------------------


def test_failed_tries_wait_longer_and_as_long_as_asked(fresh) -> None:
    clock = Clock()
    faults = [refused(429, retry_after=90.0), refused(500), RuntimeError("socket"), refused(0, "no message")]
    agent = model_agent(Script(*faults, said("No.")), clock)
    episode = play_with(fresh(), agent)
    assert episode.done
    assert clock.waits[0] == 90.0
    assert [low <= wait <= 2 * low for low, wait in zip((1.0, 2.0, 4.0), clock.waits[1:], strict=True)] == [True] * 3
    assert agent.usage["retries"] == 4
    assert agent.usage["requests"] == 4


def test_waits_are_the_same_each_time_and_differ_between_episodes(fresh) -> None:
    def waits(seed: int) -> list[float]:
        clock = Clock()
        play_with(fresh(), model_agent(Script(refused(503), refused(503), said("No.")), clock, seed=seed))
        return clock.waits

    assert waits(1) == waits(1) != waits(2)


@pytest.mark.parametrize(
    ("steps", "tries", "words"),
    [
        ([refused(500, "oops")], 5, "after 5 tries: status 500: oops"),
        ([refused(401, "bad key")], 1, "after 1 try: status 401: bad key"),
        ([refused(404, "no such model")], 1, "status 404"),
        ([refused(400, "Invalid request")], 1, "status 400: Invalid request"),
        ([refused(400, "tools are not supported")], 1, "plays with --model-mode json"),
        ([RuntimeError("connection lost")], 5, "no reply: RuntimeError: connection lost"),
        ([refused(0, "the reply has no message")], 5, "the reply has no message"),
    ],
)
def test_an_endpoint_that_gives_no_reply_is_told_with_its_last_words(fresh, steps: list[Any], tries, words) -> None:
    script = Script(*steps)
    with pytest.raises(EndpointFault) as told:
        play_with(fresh(), model_agent(script))
    assert words in str(told.value)
    assert len(script.asked) == tries


def test_a_reply_that_hangs_ends_at_its_deadline(fresh) -> None:
    class Hangs(Script):
        async def chat(self, request: ChatRequest) -> ChatReply:
            self.asked.append(request)
            await asyncio.sleep(30)
            raise AssertionError

    script = Hangs()
    with pytest.raises(EndpointFault, match=r"after 2 tries: no reply: no reply within 0\.05 s"):
        play_with(fresh(), model_agent(script, deadline=0.05, attempts=2))
    assert len(script.asked) == 2


def test_an_episode_waits_no_longer_than_its_deadline(fresh) -> None:
    clock = Clock()

    def slow(request: ChatRequest) -> ChatReply:
        clock.now += 40.0
        return said(None, ("Patient_read", {}))

    script = Script(slow)
    with pytest.raises(EndpointFault, match="waited 100 s"):
        play_with(fresh(), model_agent(script, clock, episode_deadline=100.0))
    assert len(script.asked) == 3
    busy = Script(refused(429, retry_after=500.0))
    with pytest.raises(EndpointFault, match="would pass in waiting"):
        play_with(fresh(), model_agent(busy, episode_deadline=100.0))
    assert len(busy.asked) == 1


# -- parameters an endpoint does not take ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "named", "dropped"),
    [
        ("Unsupported value: 'temperature' does not support 0.2", None, "temperature"),
        ("bad value", "temperature", "temperature"),
        ("unknown field reasoning_effort", None, "reasoning_effort"),
        ("Expected `thinking` block first", None, "reasoning_effort"),
        ("seed is not permitted with temperature", None, "seed"),
        ("use max_completion_tokens", None, "max_tokens"),
        ("could not parse grammar", None, "response_format"),
        ("bad", "response_format.json_schema", "response_format"),
    ],
)
def test_a_parameter_that_is_refused_is_left_out_from_then_on(fresh, error: str, named, dropped: str) -> None:
    script = Script(refused(400, error, parameter=named), said('{"answer": "No."}'))
    clock = Clock()
    agent = model_agent(script, clock, mode="json")
    play_with(fresh(), agent)
    assert dropped in script.asked[0].settings
    assert all(dropped not in request.settings for request in script.asked[1:])
    assert agent.usage["dropped"] == [dropped]
    assert agent.usage["retries"] == 0
    assert agent.usage["requests"] == 4
    assert clock.waits == []
    assert (agent.usage["seed"] is None) == (dropped == "seed")


def test_an_endpoint_may_refuse_every_parameter_but_not_for_ever(fresh) -> None:
    script = Script(refused(400, "temperature, seed, max_tokens, reasoning_effort: no"))
    with pytest.raises(EndpointFault, match="status 400"):
        play_with(fresh(), model_agent(script))
    assert len(script.asked) == 5
    assert script.asked[-1].settings == {}


# -- many at once ------------------------------------------------------------------------------------------------------


def test_episodes_of_one_process_share_the_endpoints_slots_and_what_it_refuses(fresh) -> None:
    script = Script(refused(400, "temperature?"), said("No."))
    endpoint = Endpoint("m", ModelPlan(concurrency=3), script, sleep=Clock().sleep)

    async def all_at_once() -> None:
        await asyncio.gather(*(play_async(fresh(), LlmAgent(endpoint, seed)) for seed in range(8)))

    asyncio.run(all_at_once())
    assert script.most == 3
    assert sum("temperature" in request.settings for request in script.asked) <= 3
    assert len(script.asked) <= 8 * 4 + 3


def test_cost_and_tokens_are_none_where_one_reply_told_none(fresh) -> None:
    priced = Script(said("No.", cost=0.25))
    agent = model_agent(priced)
    play_with(fresh(), agent)
    assert agent.usage["cost_usd"] == 1.0
    half = Script(said("No.", cost=0.25), said("No.", tokens_in=None))
    agent = model_agent(half)
    play_with(fresh(), agent)
    assert agent.usage["cost_usd"] is None
    assert agent.usage["tokens_in"] is None
    assert agent.usage["tokens_out"] == 40
    json.dumps(agent.usage)


def test_a_worker_records_what_was_used_and_names_the_outcome(worker: Worker, monkeypatch) -> None:
    import wardround.agents.llm.endpoint as module

    scripts: list[Script] = []

    def made(model: str, plan: ModelPlan) -> Script:
        steps = [said("No.")] if model == "good" else [refused(503, "down")]
        scripts.append(Script(*steps))
        return scripts[-1]

    monkeypatch.setattr(module, "LiteLLMChat", made)
    monkeypatch.setattr(module, "wait_before", lambda key, attempt: 0.0)
    ids = [worker.sessions.sessions[0].id]
    records = {name: worker.run(make_tasks([f"litellm:{name}"], ids)[0]) for name in ("good", "bad")}
    assert records["good"]["outcome"] == "completed"
    assert records["good"]["usage"]["requests"] == 4
    assert records["bad"]["outcome"] == "endpoint_error"
    assert "status 503" in records["bad"]["error"]
    assert records["bad"]["usage"]["retries"] == 4
    assert [script.closed for script in scripts] == [1, 2] or all(script.closed for script in scripts)
    assert find_agent("litellm:good", worker.sessions).sees_gold is False
