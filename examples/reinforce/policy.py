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
_RATE: Final = 0.5
"""Step of a weight whose gradients were never different; Adagrad divides it by the root of their squares' sum."""
_SPREAD: Final = 0.03
"""Weight of the entropy when training begins; it falls to nothing."""
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
        # Adagrad: cues that are rare (a flag, a dose) have moved little and so move far when they do come
        self._moved = [np.full(one.shape, 1e-12) for one in self.weights]

    def choose(self, seen: Vector, stream: Stream | None) -> Choice:
        """Return one choice a step: drawn from the policy, or the likeliest where there is no stream."""
        return self._choose(seen, [], stream)

    def tries(self, seen: Vector, stream: Stream) -> list[Choice]:
        """Return what the forks of a turn shall choose: as drawn, then every other template at each step.

        What follows a template is drawn. A group that is drawn whole soon holds `look` alone, for that is right most
        often: then nothing is compared with anything, and what a rare question calls for is never found.
        """
        path = self._choose(seen, [], stream)
        steps = [(step, other) for step, many in enumerate(_CHOICES) for other in range(many) if other != path[step]]
        return [path, *(self._choose(seen, [*path[:step], other], stream) for step, other in steps)]

    def learn(self, seen: Vector, tried: list[Choice], rewards: list[float], left: float) -> None:
        """Move towards what earned more than the others at its step: REINFORCE, the mean of these as baseline.

        Each template counts by its chance, so that the gradient is the one that drawing it would have on average.

        Args:
            seen: Features of the turn.
            tried: What the forks of the turn chose, as `tries` said.
            rewards: What each earned.
            left: Share of the training that is left; the entropy's weight falls with it.
        """
        path = tried[0]
        for step, (weights, moved) in enumerate(zip(self.weights, self._moved, strict=True)):
            chosen = list(path[:step])
            earned: dict[int, float] = {}
            for choice, reward in zip(tried, rewards, strict=True):
                if choice[:step] == path[:step]:
                    earned.setdefault(choice[step], reward)  # the path itself comes first
            gains = np.array([earned[one] for one in range(_CHOICES[step])])
            chances = self._chances(step, seen, chosen)
            wanted = chances * (gains - chances @ gains) + _SPREAD * left * _spread(chances)
            gradient = np.outer(wanted, self._input(step, seen, chosen))
            moved += gradient**2
            weights += _RATE * gradient / np.sqrt(moved)

    def _choose(self, seen: Vector, given: list[int], stream: Stream | None) -> Choice:
        chosen = list(given)
        for step in range(len(given), len(STEPS)):
            chances = self._chances(step, seen, chosen)
            chosen.append(int(np.argmax(chances)) if stream is None else _drawn(chances, stream))
        return chosen[0], chosen[1], chosen[2]

    def _input(self, step: int, seen: Vector, chosen: list[int]) -> Vector:
        before = [np.eye(many)[one] for many, one in zip(_CHOICES, chosen, strict=False)]
        return np.concatenate([seen, *before])

    def _chances(self, step: int, seen: Vector, chosen: list[int]) -> Vector:
        scores = self.weights[step] @ self._input(step, seen, chosen)
        raised = np.exp(scores - scores.max())
        chances: Vector = np.maximum(raised / raised.sum(), 1e-12)
        return chances


def _drawn(chances: Vector, stream: Stream) -> int:
    """Return a place drawn by its chance."""
    place = int(np.searchsorted(np.cumsum(chances), stream.below(1 << 30) / (1 << 30)))
    return min(place, len(chances) - 1)


def _spread(chances: Vector) -> Vector:
    """Return the gradient of the entropy of a softmax by its scores."""
    logs = np.log(chances)
    gradient: Vector = -chances * (logs - chances @ logs)
    return gradient
