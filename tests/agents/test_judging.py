"""The LLM judge against a scripted OpenAI-compatible server on loopback, and a run judged, resumed and rescored."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, says, send, status

from wardround.agents import (
    Asked,
    EvaluationPlan,
    How,
    JudgePlan,
    Reply,
    evaluate,
    judge_all,
    judging,
    litellm_door,
    rescore,
)
from wardround.agents.judge_run import read_judgements
from wardround.agents.litellm_door import wait_before
from wardround.cli import main
from wardround.patients import DataError, UsageError
from wardround.rubrics import Item, JudgeCheck, JudgeRequest, Text
from wardround.sessions import Session, SessionSet, check_session, save_sessions

GOOD = '{"reasoning": "It quotes the value.", "verdict": true}'
BAD = '{"reasoning": "It names no value.", "verdict": false}'


def request(answer: str = "K is 5.9.") -> JudgeRequest:
    return JudgeRequest(
        language="en", criterion="c", query="q", answer=answer, actions="", retrieved="", gold=""
    )  # fmt: skip


@pytest.fixture
def waits() -> tuple[list[float], Callable[[float], Any]]:
    taken: list[float] = []

    async def sleep(seconds: float) -> None:
        taken.append(seconds)

    return taken, sleep


def test_every_kind_of_bad_reply_is_tried_again_and_kept(endpoint: Endpoint, waits) -> None:
    taken, sleep = waits
    slow_done = endpoint.release
    faults = [
        (status(429, retry_after="7"), 429, "status 429"),
        (status(500, "oops"), 500, "status 500"),
        (status(503, "<html>"), 503, "status 503"),
        (says(GOOD[:-9]), 200, "no whole JSON"),
        (says('{"grade": 5}'), 200, "wanted: reasoning, verdict"),
        (says("The criterion is met, clearly."), 200, "no whole JSON"),
        (says('{"reasoning": "none", "verdict": "0"}'), 200, "str, not true or false"),
        (says('{"verdicts": []}'), 200, "wanted: reasoning, verdict"),
        (says(), 200, "empty"),
        (says(""), 200, "empty"),
        (status(200, '{"choices": ['), 0, ""),
        (status(200, "not JSON"), 0, ""),
        (lambda handler: slow_done.wait(30), 0, "no reply within 4 s"),
    ]
    endpoint.script = [step for step, _, _ in faults] + [says(f"Here you are:\n```json\n{GOOD}\n```")]
    plan = JudgePlan("litellm:openai/m", base=endpoint.base, attempts=len(faults) + 1, deadline=4.0)
    (found,) = judge_all([Asked(request(), "s", 2, "why")], plan, sleep=sleep)
    assert found.verdict.passed is True
    assert (found.session, found.turn, found.item, found.model) == ("s", 2, "why", "openai/m")
    assert len(found.attempts) == len(endpoint.bodies) == len(faults) + 1
    for attempt, (_, code, why) in zip(found.attempts, faults, strict=False):
        assert attempt.error, attempt
        assert why in attempt.error
        assert attempt.status == code or (code == 0 and attempt.status in (0, 408, 500)), attempt
    assert found.attempts[3].raw == GOOD[:-9]
    assert found.attempts[-1].raw.startswith("Here you are")
    assert taken[0] == 7.0
    assert len(taken) == len(faults)
    assert all(0.5 <= wait <= 60 for wait in taken)
    sent = endpoint.bodies[0]
    assert sent["temperature"] == 0
    assert sent["response_format"]["json_schema"]["schema"]["required"] == ["reasoning", "verdict"]
    assert sent["messages"] == request().messages()


def test_what_never_succeeds_ends_ungraded_after_that_many_tries(endpoint: Endpoint, waits) -> None:
    endpoint.script = [status(500)]
    plan = JudgePlan("litellm:openai/m", base=endpoint.base, attempts=3)
    (found,) = judge_all([Asked(request())], plan, sleep=waits[1])
    assert found.verdict.passed is None
    assert "status 500" in found.verdict.error
    assert len(endpoint.bodies) == 3  # litellm adds no retries of its own
    assert len(waits[0]) == 2


def test_a_wrong_key_is_asked_once_and_never_written(endpoint: Endpoint, waits, monkeypatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "secret-4711")
    endpoint.script = [lambda handler: send(handler, 401, '{"error": {"message": "bad key secret-4711"}}')]
    plan = JudgePlan("litellm:openai/m", base=endpoint.base, key_env="JUDGE_KEY")
    (found,) = judge_all([Asked(request())], plan, sleep=waits[1])
    assert endpoint.headers[0]["authorization"] == "Bearer secret-4711"
    assert len(endpoint.bodies) == 1
    assert found.attempts[0].status == 401
    assert "secret" not in found.model_dump_json()


def test_an_endpoint_that_knows_no_schema_is_asked_without(endpoint: Endpoint, waits) -> None:
    endpoint.script = [status(400, '{"error": {"message": "response_format?"}}'), says(GOOD)]
    plan = JudgePlan("litellm:openai/m", base=endpoint.base)
    (found,) = judge_all([Asked(request())], plan, sleep=waits[1])
    assert found.verdict.passed is True
    assert ["response_format" in body for body in endpoint.bodies] == [True, False]
    assert waits[0] == []


def test_nobody_there_is_no_reply(waits) -> None:
    if importlib.util.find_spec("litellm") is None:  # not imported here: the library itself says how, offline
        pytest.skip("the extra llm is not installed")
    plan = JudgePlan("litellm:openai/m", base="http://127.0.0.1:9/v1", attempts=2)
    (found,) = judge_all([Asked(request())], plan, sleep=waits[1])
    assert found.verdict.passed is None
    assert len(found.attempts) == 2


# -- a client in memory ------------------------------------------------------------------------------------------------


class Client:
    """Rules by the answer's words, and counts how many ask at once."""

    def __init__(self, *first: Reply | Exception, plan: JudgePlan | None = None) -> None:
        self.first = list(first)
        self.asked: list[str] = []
        self.now = self.most = 0

    async def ask(self, messages: list[dict[str, str]], *, structured: bool) -> Reply:
        self.asked.append(messages[1]["content"])
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        if self.first:
            reply = self.first.pop(0)
            if isinstance(reply, Exception):
                raise reply
            return reply
        answer = messages[1]["content"].rpartition("<<< answer")[2]
        return Reply(200, GOOD if sum(map(ord, answer.split("\n")[1])) % 3 else BAD)

    async def close(self) -> None:
        self.asked.append("closed")


PLAN = JudgePlan("litellm:test/model", base="http://127.0.0.1:9/v1")


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_order_and_number_at_a_time_move_nothing(concurrency: int) -> None:
    asked = [Asked(request(f"answer {n}"), f"s{n}") for n in range(20)]
    client = Client()
    plan = JudgePlan(PLAN.source, base=PLAN.base, concurrency=concurrency)
    found = judge_all([*reversed(asked), *asked], plan, client=client)
    assert found == judge_all(asked, PLAN, client=Client())
    assert len(found) == 20
    assert len(client.asked) == 21
    assert client.asked[-1] == "closed"
    assert client.most <= concurrency
    assert {one.verdict.passed for one in found} == {True, False}


def test_a_client_that_raises_is_a_failed_attempt() -> None:
    async def sleep(_: float) -> None:
        return None

    (found,) = judge_all([Asked(request())], PLAN, client=Client(RuntimeError("boom"), KeyError("x")), sleep=sleep)
    assert [one.error[:8] for one in found.attempts] == ["no reply", "no reply", ""]
    assert found.verdict.passed is not None


def test_a_notebook_with_a_running_loop_may_judge() -> None:
    async def cell() -> int:
        return len(judge_all([Asked(request())], PLAN, client=Client()))

    assert asyncio.run(cell()) == 1


def test_waits_double_stay_bounded_and_differ_by_key() -> None:
    for attempt in range(1, 12):
        longest = min(60.0, 2.0 ** (attempt - 1))
        assert longest / 2 <= wait_before("k", attempt) <= longest
    assert wait_before("k", 5) == wait_before("k", 5) != wait_before("other", 5)
    assert wait_before("k", 1, 9.5) == 9.5
    assert wait_before("k", 1, 1e9) == 60.0


@pytest.mark.parametrize("source", ["", "gpt-5", "litellm:", "record", "openai/m"])
def test_a_judge_is_named_in_one_of_three_ways(source: str) -> None:
    with pytest.raises(UsageError, match="litellm:MODEL"):
        JudgePlan(source)


def test_a_key_that_is_not_set_is_said_before_anything_is_asked(monkeypatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(UsageError, match="NO_SUCH_KEY"):
        judge_all([Asked(request())], JudgePlan("litellm:openai/m", key_env="NO_SUCH_KEY"))


@pytest.mark.parametrize("version", ["1.82.7", "1.82.8"])
def test_the_compromised_releases_are_refused(version: str, monkeypatch) -> None:
    monkeypatch.setattr(litellm_door.metadata, "version", lambda name: version)
    with pytest.raises(UsageError, match="compromised"):
        judge_all([Asked(request())], JudgePlan("litellm:openai/m"))


# -- a run -------------------------------------------------------------------------------------------------------------


def with_judge(session: Session, **changes: Any) -> Session:
    """Add a judge item to every turn of a session, on evidence that its gold reads."""
    criterion = Text(en="The answer gives its reason.", zh="回答说明了理由。")
    turns = []
    for turn in session.turns:
        named = tuple(
            key for one in turn.rubric if one.check.kind == "retrieved" for key in one.check.any_of
        )[:2]  # fmt: skip
        item = Item(id="judged", text=criterion, check=JudgeCheck(criterion=criterion, evidence=named))
        turns.append(turn.model_copy(update={"rubric": (*turn.rubric, item)}))
    return session.model_copy(update={"turns": tuple(turns), **changes})


@pytest.fixture(scope="module")
def judged_set(ward_sessions: SessionSet) -> SessionSet:
    first, second, third = ward_sessions.sessions[:3]
    return SessionSet((with_judge(first), with_judge(second), third), "ward")


@pytest.fixture
def clients(monkeypatch) -> list[Client]:
    """Put a client in memory in litellm's place; every one made is listed."""
    made: list[Client] = []

    def make(plan: JudgePlan) -> Client:
        made.append(Client())
        return made[-1]

    monkeypatch.setattr(judging, "LiteLLMClient", make)
    return made


def played(judged_set: SessionSet, out: Path, judge: JudgePlan | None, **how: Any) -> dict[str, Any]:
    plan = EvaluationPlan(sessions=judged_set, agents=("oracle", "silent"), judge=judge)
    return evaluate(plan, out, How(**how))


def bytes_of(folder: Path) -> bytes:
    return (folder / "trajectories.jsonl").read_bytes()


def rows(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**row, "episodes_per_s": None} for row in report["results"]]


def test_a_run_judged_recorded_resumed_and_rescored(judged_set: SessionSet, tmp_path: Path, clients) -> None:
    waiting = played(judged_set, tmp_path / "waiting", None)
    assert waiting["judge"] is None
    oracle = next(row for row in waiting["results"] if row["agent"] == "oracle")
    assert oracle["outcomes"] == {"completed": 1, "ungraded": 2}
    assert oracle["ungraded"] == sum(len(session.turns) for session in judged_set.sessions[:2])
    assert clients == []

    live = played(judged_set, tmp_path / "live", PLAN)
    (client,) = clients
    assert live["judge"]["asked"] == live["judge"]["verdicts"] == len(client.asked) - 1
    assert live["judge"]["ungraded"] == sum(row["ungraded"] for row in live["results"]) == 0
    manifest = json.loads((tmp_path / "live/manifest.json").read_bytes())
    assert manifest["judge"]["model"] == "test/model"
    assert manifest["judge"]["prompt"]
    assert "127.0.0.1" not in (tmp_path / "live/manifest.json").read_text()
    kept = read_judgements(tmp_path / "live/judgements.jsonl")
    assert {one.attempts[0].raw for one in kept.values()} == {GOOD, BAD}
    assert list(kept) == sorted(kept)

    recorded = JudgePlan(f"recorded:{tmp_path / 'live/judgements.jsonl'}")
    offline = played(judged_set, tmp_path / "offline", recorded, workers=2)
    assert bytes_of(tmp_path / "offline") == bytes_of(tmp_path / "live") != bytes_of(tmp_path / "waiting")
    assert rows(offline) == rows(live)

    again = rescore(tmp_path / "live")  # takes what the folder holds
    assert (again["changed"], again["newly_judged"]) == ([], 0)
    assert again["trajectory_hash"] == live["trajectory_hash"]
    assert rescore(tmp_path / "live", judge=JudgePlan("recorded"))["trajectory_hash"] == live["trajectory_hash"]
    assert len(clients) == 1

    late = rescore(tmp_path / "waiting", judge=PLAN)
    assert late["trajectory_hash"] == live["trajectory_hash"]
    assert late["changed"] == []
    assert late["newly_judged"] == sum(row["outcomes"].get("ungraded", 0) for row in waiting["results"])
    assert (tmp_path / "waiting/judgements.jsonl").read_bytes() == (tmp_path / "live/judgements.jsonl").read_bytes()

    resumed = played(judged_set, tmp_path / "live", PLAN, resume=True)
    assert resumed["trajectory_hash"] == live["trajectory_hash"]
    assert all(one.asked in ([], ["closed"]) for one in clients[2:])  # every verdict was at hand


def test_failures_are_ungraded_kept_and_asked_again_later(judged_set: SessionSet, tmp_path: Path, monkeypatch) -> None:
    down = [Client(*[Reply(401, "no")] * 999), Client()]
    monkeypatch.setattr(judging, "LiteLLMClient", lambda plan: down[0])
    first = played(judged_set, tmp_path / "run", PLAN)
    assert first["judge"]["verdicts"] == 0
    assert first["judge"]["faults"] == [{"reason": "status 401: no", "count": first["judge"]["asked"]}]
    assert sum(row["ungraded"] for row in first["results"]) > 0
    offline = rescore(tmp_path / "run", judge=JudgePlan("recorded"))
    assert offline["trajectory_hash"] == first["trajectory_hash"]
    monkeypatch.setattr(judging, "LiteLLMClient", lambda plan: down[1])
    second = played(judged_set, tmp_path / "run", PLAN, resume=True)
    assert second["judge"]["ungraded"] == 0
    kept = read_judgements(tmp_path / "run/judgements.jsonl")
    assert all([attempt.status for attempt in one.attempts] == [401, 200] for one in kept.values())


def test_another_judge_does_not_mix_its_verdicts_in(judged_set: SessionSet, tmp_path: Path, clients) -> None:
    played(judged_set, tmp_path / "run", PLAN)
    with pytest.raises(UsageError, match="holds verdicts of `test/model`"):
        rescore(tmp_path / "run", judge=JudgePlan("litellm:test/other"))


def test_a_recorded_file_lacks_a_line_is_torn_or_is_wrong(judged_set: SessionSet, tmp_path: Path, clients) -> None:
    live = played(judged_set, tmp_path / "run", PLAN)
    path = tmp_path / "run/judgements.jsonl"
    body = path.read_bytes()
    path.write_bytes(body[:-20])  # torn by a kill: the line is left out
    report = rescore(tmp_path / "run", judge=JudgePlan("recorded"))
    assert report["judge"]["ungraded"] == 1
    assert report["judge"]["faults"] == [{"reason": "no verdict recorded", "count": 1}]
    assert report["trajectory_hash"] != live["trajectory_hash"]
    path.write_bytes(b"{}\n" + body)
    with pytest.raises(DataError, match=r"judgements.jsonl:1: no judgement"):
        rescore(tmp_path / "run")
    path.unlink()
    with pytest.raises(UsageError, match="is not there"):
        rescore(tmp_path / "run", judge=JudgePlan("recorded"))


def test_a_set_with_judge_items_is_checked_as_far_as_rules_go(judged_set: SessionSet, ward) -> None:
    session = judged_set.sessions[0]
    chart = ward.chart(session.chart.patient)
    assert check_session(session, chart) == []
    turn = session.turns[0]
    item = turn.rubric[-1]
    check = item.check.model_copy(update={"evidence": ("Observation/none", "fact/none")})
    lost = turn.model_copy(update={"rubric": (*turn.rubric[:-1], item.model_copy(update={"check": check}))})
    found = check_session(session.model_copy(update={"turns": (lost, *session.turns[1:])}), chart)
    assert {one.rule for one in found} == {"resolves"}
    assert ["Observation/none" in one.message or "fact/none" in one.message for one in found] == [True, True]


def test_under_gold_history_the_agents_own_answers_are_judged(judged_set: SessionSet, tmp_path: Path, clients) -> None:
    plan = EvaluationPlan(sessions=judged_set, agents=("echo",), history="gold", judge=PLAN)
    report = evaluate(plan, tmp_path / "run")
    turns = sum(len(session.turns) for session in judged_set.sessions[:2])
    assert report["judge"]["asked"] == turns
    for line in (tmp_path / "run" / "trajectories.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        session = next(one for one in judged_set if one.id == record["session"])
        answers = [one["text"] for one in record["trajectory"]["events"] if one["event"] == "answer"]
        assert answers == [turn.query.en.implicit for turn in session.turns]


@pytest.mark.parametrize("licence", ["credentialed", "unknown"])
def test_data_that_may_be_credentialed_go_to_no_model_without_an_agreement(
    licence: str, ward_sessions: SessionSet, tmp_path: Path, clients
) -> None:
    closed = SessionSet((with_judge(ward_sessions.sessions[0], licence=licence),), "ward")
    plan = EvaluationPlan(sessions=closed, judge=PLAN)
    with pytest.raises(UsageError, match="--data-agreement"):
        evaluate(plan, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    evaluate(EvaluationPlan(sessions=closed), tmp_path / "run")
    with pytest.raises(UsageError, match="--data-agreement"):
        rescore(tmp_path / "run", judge=PLAN)
    assert clients == []
    agreed = JudgePlan(PLAN.source, base=PLAN.base, agreement="DUA 12, local endpoint")
    evaluate(EvaluationPlan(sessions=closed, judge=agreed), tmp_path / "agreed")
    assert json.loads((tmp_path / "agreed/manifest.json").read_bytes())["judge"]["agreement"] == agreed.agreement
    recorded = JudgePlan(f"recorded:{tmp_path / 'agreed/judgements.jsonl'}")
    assert rescore(tmp_path / "run", judge=recorded)["judge"]["ungraded"] == 0  # nothing is sent anywhere


def test_the_command_line_judges_over_http(judged_set: SessionSet, tmp_path: Path, endpoint: Endpoint, capsys) -> None:
    sessions = str(tmp_path / "set.jsonl")
    save_sessions(sessions, SessionSet(judged_set.sessions[:1], "one"))
    endpoint.script = [says(GOOD), says("no"), says(BAD)]
    out = str(tmp_path / "run")
    play = ["eval", "--sessions", sessions, "--charts", "ward", "--agent", "oracle", "--out", out, "--json"]
    judge = ["--judge", "litellm:openai/m", "--judge-base", endpoint.base, "--judge-attempts", "1"]
    assert main([*play, *judge, "--judge-workers", "1"]) == 1  # one request stayed without a verdict: a finding
    report = json.loads(capsys.readouterr().out)
    assert (report["judge"]["asked"], report["judge"]["ungraded"]) == (4, 1)
    assert report["results"][0]["ungraded"] == 1
    assert main(["rescore", out, "--judge", "recorded", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["trajectory_hash"] == report["trajectory_hash"]
    assert main(["rescore", out, *judge]) == 0
    text = capsys.readouterr().out
    assert "judge openai/m: 4 requests, 4 verdicts, 0 ungraded" in text
    assert main(["rescore", out, "--judge-base", endpoint.base]) == 2
    assert "--judge" in capsys.readouterr().err
