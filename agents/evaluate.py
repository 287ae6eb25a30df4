"""Evaluation: agents × sessions × phrasings × languages × trials → records, tables, one hash."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

import wardround
from wardround.envs import ENV_ID
from wardround.patients import ChartStore, UsageError, write_whole
from wardround.sessions import Session, SessionSet, charts_of, load_sessions, save_sessions

from . import ray_rollout
from .checking import languages_of
from .folder_lock import FolderLock
from .judge_run import chart_licences, is_judged, resolve
from .judging import JudgePlan
from .llm import ModelPlan
from .registry import AgentSpec, find_agent, is_model
from .results import RunFolder
from .rollout import Outcome, Record, Worker, open_charts, waits
from .runners import IN_FLIGHT, run_asyncio, run_processes, run_serial
from .tables import tables
from .tasks import Setting, Task, make_tasks

_RETRIED: tuple[Outcome, ...] = ("endpoint_error", "environment_error")
Progress = Callable[[int, int], None]
"""Called with (episodes done, episodes in all)."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What to evaluate, and on what."""

    sessions: str | SessionSet
    charts: str | ChartStore | None = None
    """None: the built-in charts of the sessions' name."""
    agents: Sequence[str] = ("oracle",)
    phrasings: Sequence[str] = ("implicit",)
    languages: Sequence[str] = ("en",)
    trials: int = 1
    seed: int = 0
    limit: int | None = None
    """Play only the first `limit` sessions of the set."""
    only: Sequence[str] | None = None
    """Play only the sessions with these ids; agents that know the set still know all of it."""
    view: str = "compact"
    scoring: str = "wardround"
    plan: str = "item"
    history: str = "self"
    interview: bool = True
    """False withdraws the tools that ask the patient."""
    judge: JudgePlan | None = None
    """Who decides the items that a language model judges; None leaves them ungraded."""
    model: ModelPlan | None = None
    """How `litellm:` agents ask their model; None is a `ModelPlan` as it comes."""


@dataclass(frozen=True, slots=True)
class How:
    """Where the episodes run; nothing here moves a score."""

    workers: int = 1
    in_flight: int = IN_FLIGHT
    """Episodes at a time of agents that wait for a model: in this process, shared among `workers`, or per Ray actor."""
    ray: str | None = None
    """"local" or a cluster's address."""
    actors: int = 2
    resume: bool = False
    retry: bool = False
    """With `resume`: play again what ended in `endpoint_error` or `environment_error`."""
    progress: Progress | None = field(default=None, compare=False)
    judging: Progress | None = field(default=None, compare=False)
    """Called with (requests judged, requests in all)."""


def evaluate(plan: EvaluationPlan, out: str | Path, how: How | None = None) -> dict[str, Any]:
    """Play a plan and write its run folder.

    Args:
        plan: What to evaluate.
        out: The run folder.
        how: Workers, Ray, resume.

    Returns:
        The report of design §10: `results`, `delta`, `trajectory_hash`, `out`, `judge` (None where none judged), and
        `skipped` (sessions left out of a language they have no words in); also in results.json.

    Raises:
        UsageError: Unknown agent, set or setting, a folder that belongs to another run, or a judge that may not be
            asked about these data.
    """
    how = how or How()
    if how.retry and not how.resume:
        raise UsageError("`retry` plays again what an earlier run recorded: give it with `resume`")
    sessions = plan.sessions if isinstance(plan.sessions, SessionSet) else load_sessions(plan.sessions)
    _check_plan(plan, sessions)
    store = open_store(plan)
    folder_path = Path(out)
    setting = _setting(plan, sessions, store, folder_path)
    agents = {name: find_agent(name, sessions, plan.model) for name in plan.agents}
    chosen = [session.id for session in sessions if plan.only is None or session.id in plan.only][: plan.limit]
    _check_judge(plan, sessions, store)
    worded, skipped = _worded([sessions.get(name) for name in chosen], plan.languages)
    tasks = [
        task
        for task in make_tasks(
            plan.agents, chosen, languages=plan.languages, phrasings=plan.phrasings, trials=plan.trials, seed=plan.seed
        )
        if (task.session, task.language) in worded
    ]
    if not tasks:
        raise UsageError("nothing to play: no agent, session, language or phrasing was chosen")
    worker = Worker(setting, store, sessions)
    for task in {(t.session, t.language, t.phrasing, is_model(t.agent)): t for t in tasks}.values():
        worker.episode(task)  # a setting that no episode can be made with fails here, before anything is played
    folder_path.mkdir(parents=True, exist_ok=True)
    with FolderLock(folder_path):
        folder = RunFolder(folder_path, _manifest(plan, setting, agents, sessions), resume=how.resume)
        _write_inputs(plan, setting, sessions, store, folder_path)
        speed = _play_left(
            folder, worker, tasks, how, any_waits=any(waits(spec.factory(0)) for spec in agents.values())
        )
        folder.merge(tasks)
        asked = any(is_judged(sessions.get(name)) for name in chosen)  # else records are never all in memory
        judged = _judge(folder, plan, sessions, store, how) if asked else None
        report = {
            **tables(folder.records(), sessions, episodes_per_s=speed),
            "judge": judged,
            "skipped": skipped,
            "out": str(folder_path),
        }
        write_whole(folder_path / "results.json", orjson.dumps(report, option=orjson.OPT_INDENT_2) + b"\n")
    return report


def _write_inputs(plan: EvaluationPlan, setting: Setting, sessions: SessionSet, store: ChartStore, out: Path) -> None:
    """Say where the run was made from; a set made in memory is written, for workers need a file."""
    given = plan.sessions
    if isinstance(given, SessionSet):
        save_sessions(setting.sessions, sessions)
        given = str(out / "sessions.jsonl")
    inputs = {"sessions": given, "charts": str(store.path)}
    write_whole(out / "inputs.json", orjson.dumps(inputs, option=orjson.OPT_INDENT_2) + b"\n")


def _play_left(folder: RunFolder, worker: Worker, tasks: Sequence[Task], how: How, *, any_waits: bool) -> float | None:
    """Play what the folder does not hold yet; return episodes a second, None where nothing was left."""
    if how.retry:
        folder.forget(_RETRIED)
    done = folder.done()
    left = [task for task in tasks if task.key not in done]
    began = time.monotonic()
    with closing(_play(worker, left, how, any_waits=any_waits)) as played:  # Ctrl-C ends the workers too
        for number, (part, record) in enumerate(played, start=1):
            folder.append(part, record)
            if how.progress is not None:
                how.progress(len(tasks) - len(left) + number, len(tasks))
    elapsed = time.monotonic() - began
    return len(left) / elapsed if left and elapsed > 0 else None


def _judge(
    folder: RunFolder, plan: EvaluationPlan, sessions: SessionSet, store: ChartStore, how: How
) -> dict[str, Any] | None:
    """Put the verdicts into the merged records; return the judge's summary, None where none judged."""
    held = list(folder.records())
    records, judged = resolve(held, sessions, store, folder.path, plan.judge, progress=how.judging)
    if judged is not None:
        folder.write(records)
    return judged


def _check_plan(plan: EvaluationPlan, sessions: SessionSet) -> None:
    """Refuse what would play an episode twice or another set than was asked for."""
    for name in ("agents", "phrasings", "languages"):
        given = getattr(plan, name)
        if len(set(given)) != len(given):
            raise UsageError(f"`{name}` names one twice ({', '.join(given)}): name each once")
    if plan.trials < 1 or (plan.limit is not None and plan.limit < 1):
        raise UsageError(f"`trials` is {plan.trials} and `limit` {plan.limit}: give whole numbers from 1 on")
    for session in plan.only or ():
        sessions.get(session)


def _worded(chosen: Sequence[Session], languages: Sequence[str]) -> tuple[set[tuple[str, str]], list[dict[str, Any]]]:
    """Return which sessions are played in which language, and how many are left out of one they have no words in.

    Where no session has words in a language all are kept: the episode says what it cannot be played in.
    """
    worded: set[tuple[str, str]] = set()
    skipped: list[dict[str, Any]] = []
    for language in languages:
        here = [session for session in chosen if language in languages_of(session)] or chosen
        worded.update((session.id, language) for session in here)
        if len(here) < len(chosen):
            skipped.append({"language": language, "sessions": len(chosen) - len(here)})
    return worded, skipped


def _check_judge(plan: EvaluationPlan, sessions: SessionSet, store: ChartStore) -> None:
    """Refuse before anything is played what could not be judged afterwards."""
    judged = [session for session in sessions if is_judged(session)]
    if plan.judge is None or not judged:
        return
    plan.judge.allow([*(session.licence for session in sessions), *chart_licences(judged, store)])


def open_store(plan: EvaluationPlan) -> ChartStore:
    """Return the charts a plan is played on.

    Raises:
        UsageError: The plan names none, and its sessions are no built-in set.
    """
    return plan.charts if isinstance(plan.charts, ChartStore) else open_charts(_charts_name(plan))


def _charts_name(plan: EvaluationPlan) -> str:
    """Return where the charts are: a built-in name, which any machine can open, or a path."""
    if isinstance(plan.charts, ChartStore):
        return str(Path(plan.charts.path).absolute())
    if isinstance(plan.charts, str):
        return str(Path(plan.charts).absolute()) if Path(plan.charts).is_file() else plan.charts
    if isinstance(plan.sessions, SessionSet):
        return charts_of(plan.sessions.name) or plan.sessions.name
    charts = charts_of(plan.sessions)
    if charts is None:
        raise UsageError(f"`{plan.sessions}` is no built-in set: say with --charts which store its charts are in")
    return charts


def _setting(plan: EvaluationPlan, sessions: SessionSet, store: ChartStore, out: Path) -> Setting:
    where = str(out / "sessions.jsonl")
    if isinstance(plan.sessions, str):
        where = plan.sessions
    if Path(where).exists() or not isinstance(plan.sessions, str):
        where = str(Path(where).absolute())  # a worker may run in another folder
    return Setting(
        charts=_charts_name(plan),
        sessions=where,
        store_hash=store.hash,
        set_hash=sessions.hash,
        view=plan.view,
        scoring=plan.scoring,
        plan=plan.plan,
        history=plan.history,
        interview=plan.interview,
        model=plan.model,
    )


def _play(worker: Worker, tasks: Sequence[Task], how: How, *, any_waits: bool) -> Generator[tuple[str, Record]]:
    """Yield records with the name of the part of the folder they go to."""
    setting = worker.setting
    if how.ray is not None:
        part, records = (
            "ray",
            ray_rollout.run(setting, tasks, address=how.ray, actors=how.actors, in_flight=how.in_flight),
        )
    elif how.workers > 1:
        in_flight = how.in_flight if any_waits else 0
        part, records = "processes", run_processes(setting, tasks, how.workers, in_flight=in_flight)
    elif any_waits:
        part, records = "asyncio", run_asyncio(worker, tasks, how.in_flight)
    else:
        part, records = "serial", run_serial(worker, tasks)
    with closing(records):
        for record in records:
            yield part, record


def _manifest(
    plan: EvaluationPlan, setting: Setting, agents: dict[str, AgentSpec], sessions: SessionSet
) -> dict[str, Any]:
    """Return what identifies the run. No path and no clock: the same run elsewhere has the same manifest."""
    return {
        "format": "wardround.manifest/1",
        "wardround": wardround.__version__,
        "env": ENV_ID,
        "python": platform.python_version(),
        "store_hash": setting.store_hash,
        "set_hash": setting.set_hash,
        "licence": sessions.licence,
        "agents": [{"name": name, "sees_gold": spec.sees_gold} for name, spec in agents.items()],
        "phrasings": list(plan.phrasings),
        "languages": list(plan.languages),
        "trials": plan.trials,
        "seed": plan.seed,
        "limit": plan.limit,
        "only": sorted(plan.only) if plan.only is not None else None,
        "view": plan.view,
        "scoring": plan.scoring,
        "plan": plan.plan,
        "history": plan.history,
        "interview": plan.interview,
        "judge": plan.judge.describe() if plan.judge is not None else None,
        "model": (plan.model or ModelPlan()).describe() if any(map(is_model, plan.agents)) else None,
    }
