"""The yardstick agents: what each must earn on the built-in ward."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wardround.agents import AGENTS, Task, Worker, find_agent
from wardround.patients import UsageError
from wardround.sessions import SessionSet


def _scores(worker: Worker, agent: str, phrasing: str = "implicit") -> Iterator[float]:
    for session in worker.sessions:
        yield worker.run(Task(agent, session.id, "en", phrasing, 0, 0))["score"]


@pytest.mark.parametrize("phrasing", ["explicit", "implicit"])
def test_the_oracle_earns_everything(worker: Worker, phrasing: str) -> None:
    assert set(_scores(worker, "oracle", phrasing)) == {1.0}


@pytest.mark.parametrize("agent", ["silent", "echo", "refuser"])
def test_saying_nothing_earns_nothing(worker: Worker, agent: str) -> None:
    assert set(_scores(worker, agent)) == {0.0}


@pytest.mark.parametrize(("agent", "most"), [("blind", 0.15), ("stuffer", 0.10), ("random", 0.10)])
def test_guessing_and_dumping_earn_little(worker: Worker, agent: str, most: float) -> None:
    scores = list(_scores(worker, agent))
    assert sum(scores) / len(scores) <= most


def test_the_random_agent_follows_its_seed(worker: Worker) -> None:
    session = worker.sessions.sessions[0].id
    first, again, other = (
        worker.run(Task("random", session, "en", "implicit", trial, 0))["trajectory_hash"] for trial in (0, 0, 1)
    )
    assert first == again
    assert first != other


def test_agents_that_see_gold_say_so(ward_sessions: SessionSet) -> None:
    flagged = {name for name in AGENTS if find_agent(name, ward_sessions).sees_gold}
    assert flagged == {"oracle", "blind", "other_turn"}


def test_unknown_agents_are_named_with_a_guess(ward_sessions: SessionSet) -> None:
    with pytest.raises(UsageError, match="did you mean `oracle`"):
        find_agent("orcale", ward_sessions)
    with pytest.raises(UsageError, match="cannot be imported"):
        find_agent("no.such.module:thing", ward_sessions)
    with pytest.raises(UsageError, match="has no `name`"):
        find_agent("builtins:str", ward_sessions)


def test_an_agent_that_raises_makes_a_record(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    from wardround.agents.scripted import Silent

    def fail(self: Silent, view: object) -> None:
        raise RuntimeError("model went away")

    monkeypatch.setattr(Silent, "act", fail)
    record = worker.run(Task("silent", worker.sessions.sessions[0].id, "en", "implicit", 0, 0))
    assert record["outcome"] == "agent_error"
    assert record["error"] == "RuntimeError: model went away"
    assert record["score"] == 0.0


def test_what_is_no_action_is_the_agents_fault(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    from wardround.agents.scripted import Silent

    monkeypatch.setattr(Silent, "act", lambda self, view: "normal")
    record = worker.run(Task("silent", worker.sessions.sessions[0].id, "en", "implicit", 0, 0))
    assert record["outcome"] == "agent_error"
    assert record["error"] == "the agent returned str; give a ToolCall, an Answer or an Invalid"


def test_a_fault_of_the_library_is_not_the_agents(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    from wardround.envs import Episode

    def fail(self: Episode, text: str) -> None:
        raise ZeroDivisionError("scoring broke")

    monkeypatch.setattr(Episode, "answer", fail)
    record = worker.run(Task("echo", worker.sessions.sessions[0].id, "en", "implicit", 0, 0))
    assert (record["outcome"], record["error"]) == ("environment_error", "ZeroDivisionError: scoring broke")


def test_a_file_beside_the_command_is_an_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ward_sessions: SessionSet
) -> None:
    (tmp_path / "beside_agent.py").write_text(
        "class Mine:\n    name, sees_gold = 'mine', False\n    def act(self, view): return None\n"
        "def factory(seed): return Mine()\ndef wrong(): return Mine()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert find_agent("beside_agent:factory", ward_sessions).name == "mine"
    with pytest.raises(UsageError, match="takes one argument, the episode's seed"):
        find_agent("beside_agent:wrong", ward_sessions)
