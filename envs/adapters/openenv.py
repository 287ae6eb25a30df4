"""The door for OpenEnv: a server that plays rounds for clients on other machines, and its client.

An action is one message of the policy, in the action grammar. OpenEnv has no flag for a cut episode: `metadata` says
`truncated`. Needs `openenv`: `wardround[openenv]`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from pydantic import Field

from .extras import missing
from .round import Round, RoundConfig, opened

try:
    from fastapi import FastAPI
    from openenv.core import EnvClient
    from openenv.core.client_types import StepResult
    from openenv.core.env_server import Action, Environment, Observation, State
    from openenv.core.env_server.http_server import create_fastapi_app
    from openenv.core.env_server.types import ConcurrencyConfig
except ImportError as error:
    raise ImportError(missing("the OpenEnv door", "openenv", "openenv")) from error

IDLE_S: Final = 1800.0
"""Seconds after which a client that says nothing loses its round; half-open sockets would keep their places."""


class WardAction(Action):
    """One message of the policy."""

    text: str
    """Tool calls (Hermes, OpenAI or plain JSON), or an answer to the physician."""


class WardObservation(Observation):
    """What the policy sees; `reward` is of the turn that the action closed, over the number of turns, else 0."""

    text: str
    """At reset the first question, then what the action brought."""
    speaker: str = "physician"
    """physician, tool or environment."""
    turn: int = 0
    calls_left: int = 0
    prompt: list[dict[str, str]] = Field(default_factory=list)
    """At reset, the messages to start from: the rules with the tools' schemas, and the first question; else empty."""


class WardState(State):
    """Which round is being played, and what a log wants of it; nothing for prompts."""

    session_id: str | None = None
    seed: int = 0
    score: float = 0.0
    truncated: bool = False
    trajectory_hash: str | None = None


class WardServerEnv(Environment[WardAction, WardObservation, WardState]):
    """One client's environment; the server makes one for each.

    Args:
        config: What to open and how to play.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, config: RoundConfig | None = None) -> None:
        super().__init__()
        self._config = config if config is not None else RoundConfig()
        self._round: Round | None = None
        self._episode_id: str | None = None
        self._steps = 0

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, task_id: str | None = None, **kwargs: Any
    ) -> WardObservation:
        """Start a round.

        Args:
            seed: Draws the session where none is named.
            episode_id: A name of the client's own for the episode.
            task_id: The session's id. OpenEnv's server has an argument `session_id` of its own: one sent over the wire
                fails there.
            kwargs: Other fields of a row, not used.

        Raises:
            UsageError: No such session, or it is for evaluation only; the client is told.
        """
        self._round = None  # a round that cannot be opened leaves none of the one before to be played
        played = self._round = Round(task_id, seed=seed or 0, config=self._config)
        self._episode_id, self._steps = episode_id, 0
        return WardObservation(
            text=played.first, turn=0, calls_left=played.calls_left, prompt=played.prompt("text"), reward=None
        )

    def step(self, action: WardAction, timeout_s: float | None = None, **kwargs: Any) -> WardObservation:
        """Play one message; nothing here waits, so there is nothing to time out.

        Raises:
            RuntimeError: `reset` was not called; the client is told.
        """
        played = self._round
        if played is None:
            raise RuntimeError("no round is being played: call reset() first")
        self._steps += 1
        step = played.send(action.text)
        return WardObservation(
            text=step.text,
            speaker=step.speaker,
            turn=played.turn,
            calls_left=played.calls_left,
            reward=step.reward,
            done=step.done,
            metadata={"truncated": step.truncated},
        )

    @property
    def state(self) -> WardState:
        """The round's state, made when it is asked for: models of OpenEnv check every assignment."""
        played = self._round
        if played is None:
            return WardState()
        return WardState(
            episode_id=self._episode_id,
            step_count=self._steps,
            session_id=played.session_id,
            seed=played.seed,
            score=played.reward,
            truncated=played.truncated,
            trajectory_hash=played.trajectory_hash,
        )


class WardClient(EnvClient[WardAction, WardObservation, WardState]):
    """The client: `async with WardClient(base_url=…)`, or `.sync()` of it."""

    def _step_payload(self, action: WardAction) -> dict[str, Any]:
        return dict(action.model_dump())

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[WardObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done", False))
        observation = WardObservation.model_validate({**payload["observation"], "reward": reward, "done": done})
        return StepResult(observation=observation, reward=reward, done=done, metadata=payload.get("metadata"))

    def _parse_state(self, payload: dict[str, Any]) -> WardState:
        state: WardState = WardState.model_validate(payload)
        return state


def ward_app(*, max_concurrent_envs: int = 64, **config: Any) -> FastAPI:
    """Return the server's application, for uvicorn. It asks nobody who they are: serve it on loopback or a closed net.

    Args:
        max_concurrent_envs: Clients at once.
        config: As of `RoundConfig`: sessions, charts, split, language, phrasing, view, scoring, plan, data_agreement.

    Raises:
        UsageError: An unknown setting, or no such set or charts.
    """
    settings = RoundConfig.of(config)
    opened(settings.sessions, settings.charts)  # a wrong name is told when the server starts, not to its first client
    return create_fastapi_app(
        partial(WardServerEnv, settings),
        WardAction,
        WardObservation,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=max_concurrent_envs, session_timeout=IDLE_S),
        env_name="wardround",
        state_cls=WardState,
    )
