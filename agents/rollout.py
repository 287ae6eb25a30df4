"""Playing episodes: one task in, one record out; serially or in worker processes, with resume.

A record never depends on the worker, the order or the clock, so merged runs are byte-identical.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Literal

from wardround.envs import Episode
from wardround.patients import ChartStore, Stream, ToolCall, UsageError, load_charts
from wardround.sessions import SessionSet, load_sessions

from .agent import Agent, Answer
from .registry import AgentSpec, find_agent

RECORD_FORMAT = "wardround.record/1"
Outcome = Literal["completed", "truncated", "agent_error", "endpoint_error", "environment_error", "ungraded"]
Record = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """One episode to play. Its key names it in every file and on every worker."""

    agent: str
    session: str
    language: str
    phrasing: str
    trial: int
    seed: int

    @property
    def key(self) -> str:
        """Agent, session, language, phrasing, trial and seed, slash-separated."""
        return f"{self.agent}/{self.session}/{self.language}/{self.phrasing}/{self.trial}/{self.seed}"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all episodes of a run share, picklable: workers open store and set by themselves and check the hashes."""

    charts: str
    sessions: str
    store_hash: str
    set_hash: str
    view: str = "compact"
    scoring: str = "wardround"
    plan: str = "item"
    history: str = "self"
    interview: bool = True
    """False: the tools that ask the patient are withdrawn."""


def phrasings_of(name: str, turns: int) -> list[str]:
    """Return the phrasing of every turn.

    Args:
        name: "explicit", "implicit", or "implicit@N": implicit at turn N alone, counted from 0 as records count.
        turns: How many turns the session has.

    Raises:
        UsageError: No such phrasing, or no such turn.
    """
    word, at, number = name.partition("@")
    if not at:
        return [word] * turns
    if word != "implicit" or not (number.isascii() and number.isdecimal()) or not int(number[:9]) < turns:
        raise UsageError(
            f"`phrasing` is `{name}`; expected explicit, implicit, or implicit@N with a turn N from 0 to {turns - 1}"
        )
    return ["implicit" if turn == int(number) else "explicit" for turn in range(turns)]


def make_tasks(
    agents: Sequence[str],
    session_ids: Iterable[str],
    *,
    languages: Sequence[str] = ("en",),
    phrasings: Sequence[str] = ("implicit",),
    trials: int = 1,
    seed: int = 0,
) -> list[Task]:
    """Return the tasks of a run in their canonical order."""
    ids = list(session_ids)
    return sorted(
        Task(agent, session, language, phrasing, trial, seed)
        for agent in agents
        for session in ids
        for language in languages
        for phrasing in phrasings
        for trial in range(trials)
    )


def play(episode: Episode, agent: Agent) -> Episode:
    """Let an agent play an episode to its end, action by action, and return the episode."""
    seen: Any = episode if agent.sees_gold else episode.view()
    while not episode.done:
        advance(episode, agent, seen)
    return episode


class AgentFault(Exception):  # noqa: N818 - it says whose fault it was
    """An agent raised, or returned what is no action."""


def advance(episode: Episode, agent: Agent, seen: Any) -> None:
    """Let an agent do one action; runners that interleave episodes call this in turn.

    Raises:
        AgentFault: The agent raised, or returned neither a ToolCall nor an Answer.
    """
    try:
        action = agent.act(seen)
    except Exception as fault:
        raise AgentFault(f"{type(fault).__name__}: {fault}") from fault
    if isinstance(action, Answer):
        episode.answer(action.text)
    elif isinstance(action, ToolCall):
        episode.call(action.name, action.arguments)
    else:
        raise AgentFault(f"`act` returned {type(action).__name__}; it must return a ToolCall or an Answer")


class Worker:
    """Plays tasks against a store and a set that it opened itself.

    Args:
        setting: What to open and how to play.

    Raises:
        DataError: A hash is not the one the run was started with.
    """

    def __init__(self, setting: Setting, store: ChartStore | None = None, sessions: SessionSet | None = None) -> None:
        from wardround.patients import DataError

        self.setting = setting
        self.store = store if store is not None else load_charts(setting.charts)
        self.sessions = sessions if sessions is not None else load_sessions(setting.sessions)
        for what, have, want in (
            ("charts", self.store.hash, setting.store_hash),
            ("sessions", self.sessions.hash, setting.set_hash),
        ):
            if have != want:
                raise DataError(f"{what} hash is {have[:12]}…, the run was started with {want[:12]}…: file changed")
        self._agents: dict[str, AgentSpec] = {}

    def episode(self, task: Task) -> Episode:
        """Return the task's episode, not yet played."""
        session = self.sessions.get(task.session)
        setting = self.setting
        return Episode(
            session,
            self.store.chart(session.chart.patient),
            language=task.language,  # type: ignore[arg-type]  # checked by the episode
            phrasing=phrasings_of(task.phrasing, len(session.turns)),
            view=setting.view,  # type: ignore[arg-type]
            scoring=setting.scoring,  # type: ignore[arg-type]
            plan=setting.plan,  # type: ignore[arg-type]
            history=setting.history,  # type: ignore[arg-type]
            interview=setting.interview,
        )

    def agent(self, task: Task) -> Agent:
        """Return a new agent for the task's episode."""
        spec = self._agents.get(task.agent)
        if spec is None:
            spec = self._agents[task.agent] = find_agent(task.agent, self.sessions)
        # language and phrasing are no part of it: paired conditions differ in what is asked and in nothing else
        seed = Stream("episode", task.seed, task.session, task.trial).bits64()
        return spec.factory(seed)

    def run(self, task: Task) -> Record:
        """Play a task; what raises makes a record, never an exception.

        The outcome is `agent_error` where the agent raised or returned no action, `environment_error` where this
        library did: a set-up failure is not an agent's failure.
        """
        episode = self.episode(task)
        agent = self.agent(task)
        error, ours = "", False
        try:
            play(episode, agent)
        except AgentFault as fault:
            error = str(fault)
        except Exception as fault:  # noqa: BLE001  # the one broad except: a failed episode is recorded, not lost
            error, ours = f"{type(fault).__name__}: {fault}", True
        return record(task, episode, agent, error, ours=ours)


def record(task: Task, episode: Episode, agent: Agent, error: str = "", *, ours: bool = False) -> Record:
    """Return the record of a played episode: who, what, score, hash and the whole trajectory.

    Args:
        task: What was played.
        episode: As it was left.
        agent: Who played.
        error: What went wrong; "" where nothing did.
        ours: Whether it was this library that went wrong, not the agent.
    """
    outcome = "environment_error" if ours else outcome_of(episode, error)
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
        "error": error,
        "score": episode.score,
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


def run_serial(worker: Worker, tasks: Iterable[Task]) -> Iterator[Record]:
    """Play tasks one after the other in this process."""
    for task in tasks:
        yield worker.run(task)


_worker: Worker | None = None


def _start_worker(setting: Setting) -> None:
    global _worker
    _worker = Worker(setting)


def _run_task(task: Task) -> Record:
    assert _worker is not None
    return _worker.run(task)


def run_processes(
    setting: Setting, tasks: Sequence[Task], workers: int, *, on_submit: Callable[[int], None] | None = None
) -> Iterator[Record]:
    """Play tasks in `workers` processes; records come in the order they finish.

    Args:
        setting: Opened anew in every process.
        tasks: What to play.
        workers: Number of processes.
        on_submit: Called with the number of tasks in flight, for progress.
    """
    # spawn, not fork: a forked child of a process that has threads (Ray, duckdb) may deadlock
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(setting,)) as pool:
        queue = iter(tasks)
        pending: set[Future[Record]] = set()
        exhausted = False
        while pending or not exhausted:
            while not exhausted and len(pending) < workers * 4:
                task = next(queue, None)
                if task is None:
                    exhausted = True
                    break
                pending.add(pool.submit(_run_task, task))
            if on_submit is not None:
                on_submit(len(pending))
            if pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
