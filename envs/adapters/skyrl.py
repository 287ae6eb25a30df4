"""The door for SkyRL-Gym: one object plays one round, a message of the model is an action, each turn has its reward.

SkyRL puts a step's reward on the last token of the message that earned it. Needs `skyrl-gym`: `wardround[skyrl]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .extras import missing
from .round import Round, RoundConfig

try:
    import skyrl_gym
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput
except ImportError as error:
    raise ImportError(missing("the SkyRL door", "skyrl-gym", "skyrl")) from error

ID: Final = "wardround"


class WardTextEnv(BaseTextEnv):
    """A ward round as SkyRL-Gym plays it.

    Args:
        env_config: As of `RoundConfig`: sessions, charts, split, language, phrasing, view, scoring, plan,
            data_agreement.
        extras: The row's other columns: `session_id` and `seed` choose the round, `max_turns` cuts it after so many
            messages of the model.

    Raises:
        UsageError: An unknown setting, no such session, or one for evaluation only.
    """

    def __init__(self, env_config: Mapping[str, Any] | None = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        row = extras if extras is not None else {}
        self._round = Round(
            row.get("session_id"), seed=int(row.get("seed") or 0), config=RoundConfig.of(dict(env_config or {}))
        )
        self.max_turns = int(row["max_turns"]) if row.get("max_turns") is not None else None
        self._cut = False

    @property
    def round(self) -> Round:
        """The round being played; for logs and tests."""
        return self._round

    def init(self, prompt: list[dict[str, str]]) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Return the messages to start from.

        Args:
            prompt: The row's: as `dataset(form="text")` makes it, or messages of one's own, to which the first
                question is appended.
        """
        return self._round.opening(prompt, "text"), {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play one message of the model: tool calls (Hermes and other forms), an answer, or a mistake."""
        if self._cut:  # nothing is played or paid once the round was cut
            over = {"session_id": self._round.session_id, "truncated": True}
            return BaseTextEnvStepOutput(observations=[], reward=0.0, done=True, metadata=over)
        self.turns += 1
        step = self._round.send(action)
        self._cut = not step.done and self.max_turns is not None and self.turns >= self.max_turns
        done = step.done or self._cut
        shown = [] if done else [{"role": "user", "content": step.text}]
        metadata = {"session_id": self._round.session_id, "truncated": step.truncated or self._cut}
        return BaseTextEnvStepOutput(observations=shown, reward=step.reward, done=done, metadata=metadata)

    def get_metrics(self) -> dict[str, Any]:
        """Return the session's score, turns closed, and whether actions ran out; SkyRL averages them over episodes."""
        return {
            "score": self._round.reward,
            "turns_closed": float(len(self._round.turn_rewards)),
            "truncated": float(self._round.truncated or self._cut),
            "reward_valid": float(self._round.reward_valid),
        }


def register() -> None:
    """Register the environment with SkyRL-Gym as `wardround`; calling it again does nothing."""
    if ID not in skyrl_gym.registry:
        skyrl_gym.register(id=ID, entry_point=f"{__name__}:WardTextEnv")
