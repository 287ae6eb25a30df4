"""How a language model plays: where it is asked, in which mode, with which settings, and for how long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from wardround.agents.litellm_door import check_base, refuse_without_agreement
from wardround.patients import UsageError

Mode = Literal["native", "json"]
Effort = Literal["none", "minimal", "low", "medium", "high"]
LastStep = Literal["answer", "free"]
MODES: tuple[str, ...] = get_args(Mode)
EFFORTS: tuple[str, ...] = get_args(Effort)
LAST_STEPS: tuple[str, ...] = get_args(LastStep)


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """How the models of a run are asked; which model is asked stands in the agent's name, `litellm:MODEL`.

    Raises:
        UsageError: A number or a name is not as described.
    """

    base: str | None = None
    """URL of an OpenAI-compatible endpoint; None is the provider's own."""
    key_env: str | None = None
    """Name of the environment variable that holds the key."""
    agreement: str | None = None
    """The agreement under which credentialed data may be sent to that endpoint, in the user's words."""
    mode: Mode = "native"
    """`native`: the provider's tool calls. `json`: one JSON object a reply, held to a schema where the endpoint can."""
    last_step: LastStep = "answer"
    """`answer`: once a turn's calls are used up the model is told, then held to an answer. `free`: it never is."""
    temperature: float | None = 0.2
    """None leaves it to the provider."""
    effort: Effort | None = "medium"
    """`reasoning_effort`; None leaves it to the provider."""
    seeded: bool = True
    """Whether every request carries a seed, made from the episode's."""
    max_tokens: int = 4096
    """Tokens one reply may have, reasoning included."""
    context: int = 32_768
    """Tokens that a request and its reply may have together; the history is shortened to fit."""
    attempts: int = 5
    """Tries a request."""
    deadline: float = 120.0
    """Seconds one reply may take."""
    episode_deadline: float = 1800.0
    """Seconds one episode may wait for its model in all, waits between tries included, queueing for a slot not."""
    concurrency: int = 32
    """Requests at a time to one endpoint from one process."""

    def __post_init__(self) -> None:
        check_base(self.base)
        if self.mode not in MODES:
            raise UsageError(f"a model's mode is `{self.mode}`; give one of {', '.join(MODES)}")
        if self.last_step not in LAST_STEPS:
            raise UsageError(f"a model's last step is `{self.last_step}`; give one of {', '.join(LAST_STEPS)}")
        if self.effort is not None and self.effort not in EFFORTS:
            raise UsageError(f"a model's effort is `{self.effort}`; give one of {', '.join(EFFORTS)}")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise UsageError(f"a model's temperature is {self.temperature}; give a number from 0 to 2")
        if min(self.attempts, self.concurrency, self.max_tokens) < 1:
            raise UsageError("a model needs at least one try, one request at a time and one token to reply with")
        if not 0 < self.deadline < float("inf") or not 0 < self.episode_deadline < float("inf"):
            raise UsageError("a model needs time to reply: give deadlines in seconds, more than 0")
        if self.context <= self.max_tokens:
            raise UsageError(
                f"a context of {self.context} tokens has no room beside a reply of {self.max_tokens}: "
                "make the context larger, or the reply's tokens fewer"
            )

    def describe(self) -> dict[str, Any]:
        """Return what a manifest says about how models were asked; no address and no key."""
        from .wording import instructions_hash

        return {
            "endpoint": "own" if self.base else "provider",
            "mode": self.mode,
            "instructions": instructions_hash() if self.mode == "json" or self.last_step == "answer" else None,
            "last_step": self.last_step,
            "temperature": self.temperature,
            "reasoning_effort": self.effort,
            "seeded": self.seeded,
            "max_tokens": self.max_tokens,
            "context": self.context,
            "attempts": self.attempts,
            "deadline_s": self.deadline,
            "episode_deadline_s": self.episode_deadline,
            "agreement": self.agreement,
        }

    def allow(self, licences: Iterable[str]) -> None:
        """Refuse to send data to a model without the agreement they need.

        Raises:
            UsageError: Some data are credentialed, or nobody has said what they are, and no agreement was named.
        """
        refuse_without_agreement(licences, self.agreement)
