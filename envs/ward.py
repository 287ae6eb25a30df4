"""The Gymnasium environment: text in, text out, over an `Episode` (design §7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, SupportsFloat

import gymnasium as gym
import orjson
from gymnasium import spaces

from wardround.patients import ChartStore, UsageError, load_charts
from wardround.rubrics import TurnScore
from wardround.sessions import Session, SessionSet, load_sessions

from . import prompts
from .episode import Episode
from .playing import play_text
from .spaces import Unicode

SPEAKERS = ("physician", "tool", "environment")
"""Who speaks in an observation; the space holds their indices."""
MAX_TURNS = 64
MAX_CALLS = 4096
MAX_OBSERVATION = 2**20
MAX_ACTION = 2**24
_OPTIONS = ("session", "sessions", "split")
_CUT = "\n… cut: the result is too long. Ask for less (a filter, dates, _count)."

Observation = dict[str, Any]


class WardEnv(gym.Env[Observation, str]):
    """A ward round as a Gymnasium environment.

    ## Description
    Over a session's turns a physician asks; the policy calls tools on a frozen FHIR R4 record, interviews a
    simulated patient, writes orders, and answers. Deterministic: the same session and actions give the same bytes.

    ## Action space
    `Unicode`: one message of the policy, read by `actions.parse_action`. A malformed action is an observation.

    ## Observation space
    `Dict(text: Unicode, speaker: Discrete(3), turn: Discrete(64), calls_left: Discrete(4096))`. `speaker` indexes
    ("physician", "tool", "environment"). The system prompt is `env.unwrapped.system_prompt`.

    ## Reward
    `r_t / n_turns` when a turn closes, else 0: the return is the session's score in [0, 1].

    ## Starting state
    `reset(seed=, options=)` with one of `{"session": id}`, `{"sessions": [ids]}`, `{"split": name}`: options beat the
    constructor, which beats a draw from the seeded generator.

    ## Episode end
    `terminated`: the last turn was answered. `truncated`: its actions ran out instead.

    ## Info
    For graders and logs only, never for prompts. Fixed keys; numbers are floats; `verdicts` is a JSON string, "" while
    the turn is open.

    ## Arguments
    sessions: Name of a built-in set, path of a JSONL file, or a `SessionSet`.
    charts: Name, path, or an open `ChartStore`; None takes the built-in charts of the same name as `sessions`.
    session: Id of the one session to play. split: play this split only.
    language, phrasing, view, scoring, plan, history: as in `Episode`.

    ## Vector environments
    Use `vectorization_mode="sync"`, or "async" with `vector_kwargs={"shared_memory": False}`.

    ## Version History
    * v0: first version.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # declared so by gymnasium.Env
        "render_modes": ["ansi"],
        "render_fps": 1,
        "autoreset_mode": gym.vector.AutoresetMode.DISABLED,
    }

    def __init__(
        self,
        sessions: str | Path | SessionSet = "ward",
        charts: str | Path | ChartStore | None = None,
        *,
        session: str | None = None,
        split: str | None = None,
        language: Literal["en", "zh"] = "en",
        phrasing: str | Sequence[str] = "implicit",
        view: Literal["compact", "fhir"] = "compact",
        scoring: Literal["wardround", "paper"] = "wardround",
        plan: Literal["item", "zero", "off"] = "item",
        history: Literal["self", "gold"] = "self",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise UsageError(f"`render_mode` is `{render_mode}`; expected None or ansi")
        self.render_mode = render_mode
        self._set = sessions if isinstance(sessions, SessionSet) else load_sessions(sessions)
        source = charts if charts is not None else (sessions if isinstance(sessions, str) else "ward")
        self._store = source if isinstance(source, ChartStore) else load_charts(source)
        self._fixed = session
        self._split = split
        self._play: dict[str, Any] = {
            "language": language,
            "phrasing": phrasing,
            "view": view,
            "scoring": scoring,
            "plan": plan,
            "history": history,
        }
        self._episode: Episode | None = None
        self._text = ""
        self._pool_for({})
        self.observation_space = spaces.Dict(
            {
                "text": Unicode(MAX_OBSERVATION),
                "speaker": spaces.Discrete(len(SPEAKERS)),
                "turn": spaces.Discrete(MAX_TURNS),
                "calls_left": spaces.Discrete(MAX_CALLS),
            }
        )
        self.action_space = Unicode(MAX_ACTION)

    # -- Gymnasium -------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: Seeds the draw of the next session; the same seed draws the same session.
            options: At most one of `session` (an id), `sessions` (ids to draw from), `split` (a name).

        Returns:
            The first observation, which says who the patient is, and the info.

        Raises:
            ValueError: An unknown option.
            UsageError: An option names no session.
        """
        super().reset(seed=seed)
        pool = self._pool_for(options or {})
        session = pool[int(self.np_random.integers(len(pool)))]
        self._episode = Episode(session, self._store.chart(session.chart.patient), **self._play)
        return self._observe(self._episode.asked, 0), self._info()

    def step(self, action: str) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Play one message of the policy.

        Raises:
            gymnasium.error.ResetNeeded: The episode is over or never began.
        """
        episode = self.episode
        if episode.done:
            raise gym.error.ResetNeeded("the episode is over: call reset()")
        played = play_text(episode, action if isinstance(action, str) else str(action))
        closed = played.closed
        reward = closed.reward / len(episode.session.turns) if closed is not None else 0.0
        terminated = episode.done and not episode.truncated
        observation = self._observe(played.text, SPEAKERS.index(played.speaker))
        return observation, reward, terminated, episode.done and episode.truncated, self._info(closed, played.mistake)

    def render(self) -> str | None:
        """Return the last observation's text in "ansi" mode."""
        return self._text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Release the episode; may be called twice."""
        self._episode = None

    # -- for scripts and trainers ----------------------------------------------------------------------------------

    @property
    def episode(self) -> Episode:
        """The episode being played: sees gold; for graders and scripts, never for policies.

        Raises:
            gymnasium.error.ResetNeeded: `reset` was not called.
        """
        if self._episode is None:
            raise gym.error.ResetNeeded("call reset() first")
        return self._episode

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as OpenAI function schemas; the caller's own copy."""
        return self.episode.tools

    @property
    def system_prompt(self) -> str:
        """The rules of the round, with the action grammar and the tools' schemas."""
        episode = self.episode
        lines = "\n".join(orjson.dumps(tool["function"]).decode() for tool in episode.tools)
        return episode.system_prompt + "\n" + prompts.action_guide(episode.settings.language, lines)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _pool_for(self, options: dict[str, Any]) -> list[Session]:
        unknown = sorted(set(options) - set(_OPTIONS))
        if unknown:
            raise ValueError(f"unknown reset option `{unknown[0]}`; expected one of {', '.join(_OPTIONS)}")
        if len(options) > 1:
            raise ValueError(f"give one of the options {', '.join(_OPTIONS)}, not {len(options)}")
        if "session" in options:
            return [self._set.get(str(options["session"]))]
        if "sessions" in options:
            pool = [self._set.get(str(name)) for name in options["sessions"]]
        elif "split" in options:
            pool = [session for session in self._set if session.split == options["split"]]
        elif self._fixed is not None:
            return [self._set.get(self._fixed)]
        else:
            pool = [session for session in self._set if self._split is None or session.split == self._split]
        if not pool:
            raise UsageError(f"no session to draw from with options {options or {'split': self._split}}")
        return pool

    def _observe(self, text: str, speaker: int) -> Observation:
        episode = self.episode
        if len(text) > MAX_OBSERVATION:
            text = text[: MAX_OBSERVATION - len(_CUT)] + _CUT
        self._text = text
        return {
            "text": text,
            "speaker": speaker,
            "turn": min(episode.turn, MAX_TURNS - 1),
            "calls_left": min(episode.calls_left, MAX_CALLS - 1),
        }

    def _info(self, closed: TurnScore | None = None, mistake: str = "") -> dict[str, Any]:
        episode = self.episode
        verdicts = ""
        if closed is not None:
            verdicts = orjson.dumps([verdict.model_dump(mode="json") for verdict in closed.verdicts]).decode()
        return {
            "session": episode.session.id,
            "scenario": episode.session.scenario,
            "tier": episode.session.tier,
            "turn_closed": 1.0 if closed is not None else 0.0,
            "turn_reward": closed.reward if closed is not None else 0.0,
            "turn_r_plain": closed.r_plain if closed is not None else 0.0,
            "reward_valid": 1.0 if closed is None or closed.reward_valid else 0.0,
            "return": episode.score,
            "mistake": mistake,
            "verdicts": verdicts,
        }
