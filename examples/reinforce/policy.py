"""A softmax policy over templates, linear in a few features of what the agent sees; numpy alone."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from wardround.agents.baseline import has, read_query, vocabulary
from wardround.envs import Episode
from wardround.patients import Stream

from .skills import STEPS

Vector = NDArray[np.float64]
Choice = tuple[int, int, int]

_FIELDS: Final = ("decide", "change", "cause", "ask_patient", "result", "drug", "finding", "repeat", "if_", "otherwise")
_KINDS: Final = ("drug", "drug_class", "lab", "vital", "score", "finding", "service", "study")
_RATE: Final = 6.0
_SPREAD: Final = 0.06
"""Weight of the entropy when training begins; without it `look`, right most often, is all that is ever tried."""
_CHOICES: Final = tuple(len(step) for step in STEPS)


def features(episode: Episode) -> Vector:
    """Return what is seen of the open turn: cue words of the question, kinds of names in it, and which turn it is.

    The kind that the rules would take the question for is not among them: the policy has to find that out.
    """
    text, language = episode.query, episode.settings.language
    words, request = vocabulary(language), read_query(text, language)
    low = text.lower()
    seen = [float(has(low, getattr(words, name), language)) for name in _FIELDS]
    seen += [float(bool(request.of(kind))) for kind in _KINDS]
    seen += [float(ask in request.asks) for ask, _ in words.asks]
    seen += [float(has(low, words.flag, language)), float(request.priority is not None)]
    seen += [float(any(unit in low for unit in (" mg", " mcg", " g ", "units"))), float("?" in text or "？" in text)]
    seen += [float(not request.names), float(episode.turn == 0), float(bool(request.topics)), 1.0]
    # of length 1, so that a question with many cues moves the weights no more than one with few
    whole: Vector = np.array(seen) / np.sqrt(sum(seen))
    return whole


class Policy:
    """One linear softmax a step; a later step also sees what was chosen before it in the turn."""

    def __init__(self, size: int) -> None:
        before = [sum(_CHOICES[:step]) for step in range(len(STEPS))]
        self.weights = [np.zeros((many, size + seen)) for many, seen in zip(_CHOICES, before, strict=True)]

    def choose(self, seen: Vector, stream: Stream | None) -> Choice:
        """Return one choice a step: drawn from the policy, or the likeliest where there is no stream."""
        chosen: list[int] = []
        for step in range(len(STEPS)):
            chances = self._chances(step, seen, chosen)
            if stream is None:
                chosen.append(int(np.argmax(chances)))
                continue
            drawn = stream.below(1 << 30) / (1 << 30)
            chosen.append(min(int(np.searchsorted(np.cumsum(chances), drawn)), len(chances) - 1))
        return chosen[0], chosen[1], chosen[2]

    def learn(self, seen: Vector, choices: list[Choice], rewards: list[float], left: float) -> None:
        """Move towards the choices that earned more than the group: REINFORCE, the group's mean as baseline.

        Args:
            seen: Features of the turn.
            choices: What the forks of the turn chose.
            rewards: What each earned.
            left: Share of the training that is left; the entropy's weight falls with it.
        """
        mean = sum(rewards) / len(rewards)
        for choice, reward in zip(choices, rewards, strict=True):
            for step in range(len(STEPS)):
                chosen = list(choice[:step])
                chances = self._chances(step, seen, chosen)
                push = -chances
                push[choice[step]] += 1
                logs = np.log(chances)
                spread = -chances * (logs - chances @ logs)
                gradient = (reward - mean) * push + _SPREAD * left * spread
                self.weights[step] += _RATE / len(rewards) * np.outer(gradient, self._input(step, seen, chosen))

    def _input(self, step: int, seen: Vector, chosen: list[int]) -> Vector:
        before = [np.eye(many)[one] for many, one in zip(_CHOICES, chosen, strict=False)]
        return np.concatenate([seen, *before])

    def _chances(self, step: int, seen: Vector, chosen: list[int]) -> Vector:
        scores = self.weights[step] @ self._input(step, seen, chosen)
        raised = np.exp(scores - scores.max())
        chances: Vector = np.maximum(raised / raised.sum(), 1e-12)
        return chances
