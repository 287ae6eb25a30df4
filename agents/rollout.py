"""Playing episodes: one task in (`tasks.py`), one record out. Runners of many are in `runners.py` and `ray_rollout.py`.

A record never depends on the worker, the order or the clock, so merged runs are byte-identical.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Literal

import orjson

from wardround.envs import Episode
from wardround.patients import (
    BusyError,
    ChartStore,
    DataError,
    Stream,
    ToolCall,
    UsageError,
    WardroundError,
    load_charts,
)
from wardround.sessions import SessionSet, load_sessions

from .agent import Agent, Answer, AsyncAgent, EndpointFault, Invalid
from .llm import ModelPlan
from .registry import AgentSpec, find_agent, is_model
from .tasks import Setting, Task, phrasings_of

RECORD_FORMAT = "wardround.record/1"
Outcome = Literal["completed", "truncated", "agent_error", "endpoint_error", "environment_error", "ungraded"]
Record = dict[str, Any]
"""What is kept of an episode: its key, outcome, score and trajectory (docs/rollouts.md, `trajectories.jsonl`)."""
_LONGEST_ERROR = 2000
_LONGEST_MAKING = 1800.0
"""Seconds a worker waits for charts that another process makes; `hospital-v1` takes minutes."""


_RAISED = (Exception, SystemExit, asyncio.CancelledError)
"""What an agent may raise without ending the run: one that calls `sys.exit` ends its own episode."""


class AgentFault(Exception):  # noqa: N818 - it says whose fault it was
    """An agent raised, or returned what is no action."""


def waits(agent: Agent | AsyncAgent) -> bool:
    """Tell whether an agent waits for something (`decide`) or acts at once (`act`)."""
    return callable(getattr(agent, "decide", None))


def play(episode: Episode, agent: Agent | AsyncAgent) -> Episode:
    """Let an agent that acts at once play an episode to its end, action by action, and return the episode."""
    seen: Any = episode if agent.sees_gold else episode.view()
    while not episode.done:
        advance(episode, agent, seen)
    return episode


async def play_async(episode: Episode, agent: Agent | AsyncAgent, *, deadline_s: float | None = None) -> Episode:
    """Let any agent play an episode to its end; other episodes go on while it waits.

    Args:
        episode: Not yet played.
        agent: Of either shape.
        deadline_s: Seconds that `decide` may take in all; None sets no limit.

    Raises:
        AgentFault: As `advance`.
        EndpointFault: The agent's model failed, or the deadline passed.
    """
    seen: Any = episode if agent.sees_gold else episode.view()
    left = deadline_s
    while not episode.done:
        if not waits(agent):
            advance(episode, agent, seen)
            continue
        began = time.monotonic()
        try:
            async with asyncio.timeout(left) as limit:
                action = await agent.decide(seen)  # type: ignore[union-attr]  # it waits
        except EndpointFault:
            raise
        except _RAISED as fault:
            if isinstance(fault, TimeoutError) and limit.expired():
                raise EndpointFault(f"the agent waited longer than {deadline_s:g} s in this episode") from fault
            job = asyncio.current_task()
            if isinstance(fault, asyncio.CancelledError) and job is not None and job.cancelling():
                raise  # the run is being stopped
            raise AgentFault(_told(fault)) from fault
        if left is not None:
            left = max(0.0, left - (time.monotonic() - began))
        execute(episode, action)
    return episode


def advance(episode: Episode, agent: Agent | AsyncAgent, seen: Any) -> None:
    """Let an agent do one action; runners that interleave episodes call this in turn.

    Raises:
        AgentFault: The agent raised, or returned neither a ToolCall, an Answer nor an Invalid.
        EndpointFault: The agent says that its model failed.
    """
    if waits(agent):
        raise UsageError(f"agent `{agent.name}` waits for its model: play it with `play_async` or a runner")
    try:
        action = agent.act(seen)  # type: ignore[union-attr]  # it acts
    except EndpointFault:
        raise
    except _RAISED as fault:
        raise AgentFault(_told(fault)) from fault
    execute(episode, action)


def _told(fault: BaseException) -> str:
    """Return what an outside agent raised, which may not even be able to say so."""
    try:
        return f"{type(fault).__name__}: {fault}"
    except Exception:  # noqa: BLE001  # its own `__str__` raised
        return type(fault).__name__


def execute(episode: Episode, action: Any) -> None:
    """Do what an agent decided.

    Raises:
        AgentFault: It is no action, or the agent has ended the episode itself.
    """
    if episode.done:
        raise AgentFault("the agent ended the episode with `view.answer`; return an Answer, the runner gives it")
    texts = {Answer: ("text",), Invalid: ("text", "remedy")}.get(type(action), ())
    for name in texts:
        if not isinstance(getattr(action, name), str):
            kind = type(getattr(action, name)).__name__
            raise AgentFault(f"the agent returned {type(action).__name__} whose `{name}` is {kind}; give text")
    if isinstance(action, Answer):
        episode.answer(action.text)
    elif isinstance(action, ToolCall):
        episode.call(action.name, action.arguments)
    elif isinstance(action, Invalid):
        episode.mistake(action.text, action.remedy)
    else:
        raise AgentFault(f"the agent returned {type(action).__name__}; give a ToolCall, an Answer or an Invalid")


def open_charts(name_or_path: str) -> ChartStore:
    """Open charts as `load_charts` does, and wait where another process is making them on first use.

    Raises:
        BusyError: It is still making them after `_LONGEST_MAKING` seconds.
    """
    end = time.monotonic() + _LONGEST_MAKING
    while True:
        try:
            return load_charts(name_or_path)
        except BusyError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


class Worker:
    """Plays tasks against a store and a set that it opened itself.

    Args:
        setting: What to open and how to play.

    Raises:
        DataError: A hash is not the one the run was started with.
    """

    def __init__(self, setting: Setting, store: ChartStore | None = None, sessions: SessionSet | None = None) -> None:
        self.setting = setting
        self.store = store if store is not None else open_charts(setting.charts)
        self.sessions = sessions if sessions is not None else load_sessions(setting.sessions)
        for what, have, want in (
            ("charts", self.store.hash, setting.store_hash),
            ("sessions", self.sessions.hash, setting.set_hash),
        ):
            if have != want:
                raise DataError(f"{what} hash is {have[:12]}…, the run was started with {want[:12]}…: file changed")
        self._agents: dict[str, AgentSpec] = {}

    def episode(self, task: Task) -> Episode:
        """Return the task's episode, not yet played.

        Raises:
            UsageError: A model is to play it, and may not read these data.
        """
        session = self.sessions.get(task.session)
        setting, chart = self.setting, self.store.chart(session.chart.patient)
        if is_model(task.agent):  # a session may say less of its data than the chart does
            (setting.model or ModelPlan()).allow((session.licence, chart.licence))
        return Episode(
            session,
            chart,
            language=task.language,  # type: ignore[arg-type]  # checked by the episode
            phrasing=phrasings_of(task.phrasing, len(session.turns)),
            view=setting.view,  # type: ignore[arg-type]
            scoring=setting.scoring,  # type: ignore[arg-type]
            plan=setting.plan,  # type: ignore[arg-type]
            history=setting.history,  # type: ignore[arg-type]
            interview=setting.interview,
        )

    def spec(self, name: str) -> AgentSpec:
        """Return how to make an agent."""
        if name not in self._agents:
            self._agents[name] = find_agent(name, self.sessions, self.setting.model)
        return self._agents[name]

    def agent(self, task: Task) -> Agent | AsyncAgent:
        """Return a new agent for the task's episode."""
        # language and phrasing are no part of it: paired conditions differ in what is asked and in nothing else
        seed = Stream("episode", task.seed, task.session, task.trial).bits64()
        return self.spec(task.agent).factory(seed)

    def run(self, task: Task) -> Record:
        """Play a task; what raises makes a record, never an exception. An agent that waits has a loop of its own here.

        Raises:
            WardroundError: The agent cannot be made at all (no library, no key): nothing that one episode can help.
        """
        agent, fault = self._made(task)
        if agent is not None and waits(agent):
            return asyncio.run(self._alone(task))
        episode = self.episode(task)
        if agent is not None:
            try:
                play(episode, agent)
            except Exception as raised:  # noqa: BLE001  # a failed episode is recorded, not lost
                fault = raised
        return record(task, episode, agent if agent is not None else self.spec(task.agent), fault)

    async def run_async(self, task: Task) -> Record:
        """Play a task as `run` does; other episodes go on while its agent waits."""
        episode = self.episode(task)
        agent, fault = self._made(task)
        if agent is not None:
            try:
                await play_async(episode, agent, deadline_s=self._deadline(task))
            except Exception as raised:  # noqa: BLE001  # as in `run`
                fault = raised
        return record(task, episode, agent if agent is not None else self.spec(task.agent), fault)

    def unplayed(self, task: Task, why: str) -> Record:
        """Return the record of an episode that could not be played anywhere: an `environment_error`."""
        return record(task, self.episode(task), self.spec(task.agent), RuntimeError(why))

    async def close(self) -> None:
        """Let factories close what they hold open in the running event loop (connections to a model)."""
        for spec in self._agents.values():
            shut = getattr(spec.factory, "close", None)
            if shut is not None:
                await shut()

    async def _alone(self, task: Task) -> Record:
        try:
            return await self.run_async(task)
        finally:
            await self.close()

    def _deadline(self, task: Task) -> float | None:
        """Return how long an episode may wait; a model's agent counts for itself, without the queue for a slot."""
        return None if is_model(task.agent) else (self.setting.model or ModelPlan()).episode_deadline

    def _made(self, task: Task) -> tuple[Agent | AsyncAgent | None, Exception | None]:
        """Return the task's agent, or what its factory raised."""
        try:
            agent = self.agent(task)
            return (agent, None) if isinstance(agent.sees_gold, bool) else (None, AgentFault("`sees_gold` is no bool"))
        except WardroundError:
            raise
        except _RAISED as fault:  # an outside factory may raise anything
            return None, AgentFault(f"the factory raised {_told(fault)}")


def record(task: Task, episode: Episode, agent: Agent | AsyncAgent | AgentSpec, fault: Exception | None) -> Record:
    """Return the record of a played episode: who, what, score, hash and the whole trajectory.

    Args:
        task: What was played.
        episode: As it was left.
        agent: Who played, or would have.
        fault: What went wrong; None where nothing did. An `AgentFault` is the agent's, an `EndpointFault` its
            model's, anything else this library's: a set-up failure is not an agent's failure.
    """
    error, outcome = "", outcome_of(episode, "")
    if fault is not None:
        outcome = "environment_error"
        error = f"{type(fault).__name__}: {fault}"
        if isinstance(fault, AgentFault | EndpointFault):
            outcome = "agent_error" if isinstance(fault, AgentFault) else "endpoint_error"
            error = str(fault)
    return {
        "format": RECORD_FORMAT,
        "key": task.key,
        "agent": task.agent,
        "sees_gold": agent.sees_gold,
        "session": task.session,
        "language": task.language,
        "phrasing": task.phrasing,
        "trial": task.trial,
        "seed": task.seed,
        "licence": episode.session.licence,
        "outcome": outcome,
        "error": error.encode("utf-8", "replace").decode()[:_LONGEST_ERROR],
        "score": episode.score,
        "usage": _usage(agent),
        "trajectory_hash": episode.trajectory_hash,
        "trajectory": episode.trajectory,
    }


def outcome_of(episode: Episode, error: str) -> Outcome:
    """Return the named outcome of a played episode."""
    if error:
        return "agent_error"
    if any(not score.reward_valid for score in episode.scores):
        return "ungraded"
    return "truncated" if episode.truncated else "completed"


def _usage(agent: Agent | AsyncAgent | AgentSpec) -> dict[str, Any]:
    """Return what an agent says it used up, {} where it says nothing; what is no plain JSON is told, not kept."""
    try:
        usage = getattr(agent, "usage", None)
        plain: Any = {} if usage is None else orjson.loads(orjson.dumps(usage))
    except Exception as fault:  # noqa: BLE001  # no plain JSON, or a property of the agent's own that raised
        return {
            "fault": f"`usage` is no plain JSON: {_told(fault)}".encode("utf-8", "replace").decode()[:_LONGEST_ERROR]
        }
    return plain if isinstance(plain, dict) else {"fault": "`usage` is no object"}
