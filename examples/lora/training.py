"""REINFORCE on forks of a turn, the choice made by a language model."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from reinforce.skills import CLOSE, NAMES, SKILLS, Played, play_turn
from reinforce.training import opened

from wardround.envs import Episode
from wardround.patients import ChartStore, Stream
from wardround.sessions import Session

from .model import Chooser

ACTIONS = {
    "look": "look up facts",
    "decide": "give advice",
    "branch": "depends on a result",
    "prescribe": "order a drug",
    "request": "order a test",
    "flag": "record a flag",
}
"""The templates that the model chooses from, and what the prompt calls them."""
GROUP = 6


def prompt(question: str) -> str:
    """Return what the model is asked about a question."""
    kinds = "; ".join(f"{chr(65 + number)} {words}" for number, words in enumerate(ACTIONS.values()))
    return f"Kinds of request: {kinds}.\nRequest: {question}\nKind:"


def play(episode: Episode, played: Played, action: int) -> float:
    """Play the open turn with one of `ACTIONS`, names recalled and the turn closed as it should be."""
    skill = SKILLS.index(list(ACTIONS)[action])
    return play_turn(episode, played, (skill, NAMES.index("recalled"), CLOSE.index("answer")))


def step(chooser: Chooser, episode: Episode, played: Played, stream: Stream) -> tuple[torch.Tensor, int]:
    """Return the loss of one turn, its group made of forks, and one of the choices to go on with."""
    logs = chooser.logs(prompt(episode.query))
    chances = logs.detach().exp().cumsum(0)
    drawn = [stream.below(1 << 30) / (1 << 30) for _ in range(GROUP)]
    choices = [min(int(torch.searchsorted(chances, one)), len(ACTIONS) - 1) for one in drawn]
    earned = {one: play(episode.fork(), played.fork(), one) for one in sorted(set(choices))}
    rewards = torch.tensor([earned[one] for one in choices])
    gains = rewards - rewards.mean()
    entropy = -(logs.exp() * logs).sum()
    return -(gains * logs[choices]).mean() - 0.02 * entropy, choices[0]


def measure(chooser: Chooser, sessions: Sequence[Session], store: ChartStore) -> float:
    """Return the mean score, as a share of the oracle's (1 a session), of the likeliest choices."""
    total = 0.0
    with torch.no_grad():
        for session in sessions:
            episode, played = opened(session, store), Played()
            while not episode.done:
                play(episode, played, int(chooser.logs(prompt(episode.query)).argmax()))
            total += episode.score
    return total / len(sessions)
