"""An ablation whose agent is a language model over HTTP: scripted ones that are told nothing but the chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from endpoint import Endpoint, chat, error

from wardround.agents import read_records
from wardround.cli import main
from wardround.sessions import Session, SessionSet, Turn

LIMIT = 3
IGNORANCE = "I do not know."
Knows = Callable[[Turn, str, list[str]], bool]
"""Whether a model knows what to do, by the turn, the question as it was sent, and its earlier answers in the chat."""


def literal(turn: Turn, question: str, said: list[str]) -> bool:
    """Know what is worded in full, and nothing where something was left out."""
    return question.endswith(turn.query.get("en", "explicit"))


def discouraged(turn: Turn, question: str, said: list[str]) -> bool:
    """Know nothing at first, and nothing after an answer that knew nothing."""
    return bool(said) and IGNORANCE not in said


class Model:
    """Plays gold with the tools that are offered where it knows what to do; its first requests fail."""

    def __init__(self, endpoint: Endpoint, sessions: SessionSet, knows: Knows, fails: int) -> None:
        self._endpoint, self._sessions, self._knows = endpoint, sessions.sessions[:LIMIT], knows
        self._fails = fails

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        if self._fails:
            self._fails -= 1
            return error(401, "bad key")(handler)
        body = self._endpoint.bodies[-1]  # one at a time, so that it is this request's
        return self._reply(body["messages"], {tool["function"]["name"] for tool in body["tools"]})(handler)

    def _reply(self, messages: list[dict[str, Any]], offered: set[str]) -> Callable[[BaseHTTPRequestHandler], None]:
        session = self._session(messages)
        asked = max(number for number, one in enumerate(messages) if one["role"] == "user")
        said = [one["content"] for one in messages if one["role"] == "assistant" and not one.get("tool_calls")]
        turn = session.turns[len(said)]
        if not self._knows(turn, messages[asked]["content"], said):
            return chat(IGNORANCE)
        assert turn.gold is not None
        calls = [(one.tool.replace(".", "_"), json.dumps(dict(one.arguments))) for one in turn.gold.calls]
        calls = [one for one in calls if one[0] in offered]
        made = sum(one["role"] == "tool" for one in messages[asked:])
        return chat(None, ("c", *calls[made])) if made < len(calls) else chat(turn.gold.answers[0].get("en"))

    def _session(self, messages: list[dict[str, Any]]) -> Session:
        (found,) = [one for one in self._sessions if f"session_id {one.id};" in messages[1]["content"]]
        return found


@pytest.fixture
def run(
    endpoint: Endpoint, ward_sessions: SessionSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """Return what runs `wardround ablate` with a model that knows so much, and reads its report."""

    def ablate(knows: Knows, *more: str, fails: int = 0, exits: int = 0) -> dict[str, Any]:
        endpoint.script = [Model(endpoint, ward_sessions, knows, fails)]
        argv = ["ablate", "--sessions", "ward", "--agent", "litellm:openai/m", "--limit", str(LIMIT)]
        argv += ["--in-flight", "1", "--model-base", endpoint.base, "--out", str(tmp_path), "--json", *more]
        assert main(argv) == exits
        report: dict[str, Any] = json.loads(capsys.readouterr().out)
        return report

    return ablate


def _found(report: dict[str, Any]) -> dict[tuple[str, str], float]:
    return {(one["vary"], one["label"]): one["difference"] for one in report["comparisons"]}


def _requests(folder: Path) -> int:
    return sum(record["usage"]["requests"] for record in read_records(folder / "trajectories.jsonl"))


def test_what_leaving_out_costs_a_model_that_takes_words_literally(
    run: Callable[..., dict[str, Any]], endpoint: Endpoint, ward_sessions: SessionSet, tmp_path: Path
) -> None:
    report = run(literal, "--vary", "phrasing")
    explicit, implicit = (one["results"][0] for one in report["conditions"])
    assert explicit["mrs"] == 1.0
    assert report["errors"] == []
    kinds = {turn.implicitness for session in ward_sessions.sessions[:LIMIT] for turn in session.turns} - {None}
    found = _found(report)
    assert kinds == {"NA", "PE", "AE"}
    assert {found["phrasing", kind] for kind in kinds} == {-1.0}
    assert found["phrasing", "not reworded"] == 0.0
    assert implicit["failures"]["antecedent_missed"] > 0
    made = [_requests(tmp_path / one["name"]) for one in report["conditions"]]
    assert sum(made) == len(endpoint.bodies)
    assert made[1] < made[0]


def test_a_model_is_shown_golds_history_in_place_of_its_own(
    run: Callable[..., dict[str, Any]], endpoint: Endpoint
) -> None:
    report = run(discouraged, "--vary", "history")
    found = _found(report)
    turns = [label for vary, label in found if label.startswith("turn ")]
    assert turns == ["turn 1", "turn 2", "turn 3"]
    assert {found["history", label] for label in turns} == {1.0}
    assert found["history", "all turns"] == 0.75  # the first of four is lost under both


def test_a_model_without_the_interview_is_offered_fewer_tools(
    run: Callable[..., dict[str, Any]], endpoint: Endpoint, tmp_path: Path
) -> None:
    report = run(literal, "--phrasing", "explicit", "--vary", "interview")
    found = _found(report)
    assert found["interview", "interview turns"] < -0.3
    assert found["interview", "other turns"] == 0.0
    offered = [len(body["tools"]) for body in endpoint.bodies]
    asked = _requests(tmp_path / "explicit-en-self-on")
    assert set(offered[:asked]) == {18}
    assert len(set(offered[asked:])) == 1
    assert offered[-1] < 18


def test_what_an_endpoint_failed_is_played_again_and_nothing_else(
    run: Callable[..., dict[str, Any]], endpoint: Endpoint, tmp_path: Path
) -> None:
    lost = run(literal, "--vary", "phrasing", fails=LIMIT, exits=1)
    assert [(one["condition"], one["outcome"], one["episodes"]) for one in lost["errors"]] == [
        ("explicit-en-self-on", "endpoint_error", LIMIT)
    ]
    kept = (tmp_path / "implicit-en-self-on/trajectories.jsonl").read_bytes()
    before = len(endpoint.bodies)
    report = run(literal, "--vary", "phrasing", "--resume", "--retry")
    assert report["errors"] == []
    assert report["conditions"][0]["results"][0]["mrs"] == 1.0
    assert (tmp_path / "implicit-en-self-on/trajectories.jsonl").read_bytes() == kept
    assert len(endpoint.bodies) - before == _requests(tmp_path / "explicit-en-self-on")
