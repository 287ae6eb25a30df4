"""One round in a terminal from its options to its report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wardround import load_charts, load_sessions
from wardround.agents.llm import ModelPlan
from wardround.agents.registry import AgentSpec, find_agent, is_model
from wardround.envs import Episode
from wardround.patients import ChartStore, Stream, UsageError
from wardround.sessions import Session, SessionSet

from . import saving
from .game import Game, Leave, refuse_to_replace
from .person import play_person
from .saving import Saved
from .terminal import Terminal
from .watching import watch


@dataclass(frozen=True)
class PlayPlan:
    """What is played, and how. None leaves the choice to the saved play, or to the default."""

    sessions: str | None = None
    """A built-in set or a JSONL file; "ward" by default."""
    charts: str | None = None
    """A built-in set or a store; by default as `sessions`."""
    session: str | None = None
    """Id; one of the set is drawn by `seed` where it is not named."""
    language: Literal["en", "zh"] | None = None
    phrasing: Literal["explicit", "implicit"] | None = None
    view: Literal["compact", "fhir"] | None = None
    seed: int = 0
    """Draws the session, and is the watched agent's."""
    watch: str | None = None
    """An agent to watch, by name."""
    save: Path | None = None
    resume: Path | None = None
    gold: bool = False
    """Show gold after each turn, and the rubric of sessions for evaluation."""
    model: ModelPlan | None = None
    """How a `litellm:` agent's model is asked."""


def play_round(plan: PlayPlan, terminal: Terminal) -> dict[str, Any]:
    """Play one round and return what came of it, JSON-able.

    Args:
        plan: What is played.
        terminal: Where.

    Returns:
        `session`, `language`, `phrasing`, `view`, `player`, `done`, `score`, `turns` (reward and r_plain of each, the
        verdicts where they were shown), `gold_shown`, `actions`, `trajectory_hash`, `saved` (path or None), `failed`
        (whether a watched agent failed), `stopped` (by Ctrl-C).

    Raises:
        UsageError: An option does not fit the set or the saved play.
        DataError: The saved play is damaged or of something else.
    """
    if plan.save is not None and plan.resume is not None:
        raise UsageError("--save and --resume: a resumed play is kept in its own file; leave --save out")
    saved = saving.read(plan.resume) if plan.resume is not None else None
    if saved is not None and plan.resume is not None:
        asked = {name: getattr(plan, name) for name in ("session", "language", "phrasing", "view")}
        saving.check_asked(plan.resume, saved, asked)
        if plan.watch is not None:
            raise UsageError("--resume goes on as a person: an agent cannot take over what it has not done; no --watch")
    if plan.save is not None:
        refuse_to_replace(plan.save)
    session_set, store = _open(plan, saved)
    with store:
        session = _session(plan, saved, session_set)
        episode = _episode(plan, saved, session, store)
        if saved is not None and plan.resume is not None:
            episode = saving.resume(plan.resume, saved, session, episode, session_set.hash)
        spec = None
        if plan.watch is not None:
            if is_model(plan.watch):  # a session may say less of its data than the chart does
                (plan.model or ModelPlan()).allow((session.licence, episode.chart.licence))
            spec = find_agent(plan.watch, session_set, plan.model)
        game = Game(episode, terminal, _about(plan, saved, session_set, spec), plan.gold, plan.resume or plan.save)
        return _run(plan, game, spec, resumed=saved)


def _open(plan: PlayPlan, saved: Saved | None) -> tuple[SessionSet, ChartStore]:
    sessions = plan.sessions or (saved.sessions if saved else "ward")
    charts = plan.charts or (saved.charts if saved and plan.sessions is None else None) or sessions
    return load_sessions(sessions), load_charts(charts)


def _session(plan: PlayPlan, saved: Saved | None, session_set: SessionSet) -> Session:
    wanted = saved.session if saved else plan.session
    if wanted is not None:
        return session_set.get(wanted)
    language = plan.language or "en"
    fitting = [one for one in session_set if _speaks(one, language)]
    if not fitting:
        raise UsageError(f"no session of the set can be played in `{language}`; give another --language or --sessions")
    return fitting[Stream("play", plan.seed).below(len(fitting))]


def _speaks(session: Session, language: str) -> bool:
    return all(getattr(turn.query, language, None) is not None for turn in session.turns)


def _episode(plan: PlayPlan, saved: Saved | None, session: Session, store: ChartStore) -> Episode:
    return Episode(
        session,
        store.chart(session.chart.patient),
        language=saved.language if saved else plan.language or "en",
        phrasing=saved.phrasing if saved else plan.phrasing or "implicit",
        view=saved.view if saved else plan.view or "compact",
    )


def _about(plan: PlayPlan, saved: Saved | None, session_set: SessionSet, spec: AgentSpec | None) -> dict[str, Any]:
    return {
        "player": spec.name if spec is not None else saved.player if saved else "person",
        "sessions": plan.sessions or (saved.sessions if saved else "ward"),
        "charts": plan.charts or (saved.charts if saved else None),
        "set_hash": session_set.hash,
        "seed": saved.seed if saved else plan.seed,
        "data_agreement": saved.data_agreement if saved else plan.model.agreement if plan.model else None,
        # what was once seen is known for good
        "gold_shown": plan.gold or bool(saved and saved.gold_shown) or bool(spec and spec.sees_gold),
    }


def _run(plan: PlayPlan, game: Game, spec: AgentSpec | None, *, resumed: Saved | None) -> dict[str, Any]:
    failed = stopped = False
    game.keep()
    if resumed is not None:
        game.terminal.show(game.words.resumed.format(actions=len(resumed.actions)))
    game.greet()
    try:
        if spec is None:
            play_person(game)
        else:
            failed = not watch(game, spec, plan.seed)
        game.part(asking=True)
    except Leave as leave:
        game.part(asking=leave.asking)
    except KeyboardInterrupt:
        stopped = True
        game.terminal.show("", game.words.stopped)
        game.part(asking=False)
    finally:
        game.terminal.close()
    game.finish()
    return _report(game, failed=failed, stopped=stopped)


def _report(game: Game, *, failed: bool, stopped: bool) -> dict[str, Any]:
    episode, settings = game.episode, game.episode.settings
    turns = []
    for score in episode.scores:
        shown: dict[str, Any] = {"reward": score.reward, "r_plain": score.r_plain, "reward_valid": score.reward_valid}
        if game.shows_rubric:
            shown["verdicts"] = [one.model_dump(mode="json") for one in score.verdicts]
        turns.append(shown)
    return {
        "session": episode.session.id,
        "language": settings.language,
        "phrasing": settings.phrasing[0],
        "view": settings.view,
        "player": game.about["player"],
        "gold_shown": game.about["gold_shown"],
        "done": episode.done,
        "score": episode.score,
        "turns": turns,
        "actions": len(saving.actions_of(episode)),
        "trajectory_hash": episode.trajectory_hash,
        "saved": str(game.path) if game.path is not None else None,
        "failed": failed,
        "stopped": stopped,
    }
