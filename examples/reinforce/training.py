"""Training on forks of a turn, and measuring on patients that were never trained on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wardround.envs import Episode
from wardround.patients import ChartStore, Stream
from wardround.sessions import Session

from .policy import Policy, features
from .skills import Played, play_turn


@dataclass(frozen=True)
class Point:
    """One point of a learning curve."""

    turns: int
    """Turns trained on so far, each played by twelve forks."""
    value: float
    """Mean score on unseen patients, as a share of the oracle's, choices drawn from the policy."""
    seconds: float
    """Processor time of training so far."""


def opened(session: Session, store: ChartStore) -> Episode:
    """Return an episode of a session, its questions implicit."""
    return Episode(session, store.chart(session.chart.patient), phrasing="implicit")


def measure(policy: Policy, sessions: Sequence[Session], store: ChartStore, stream: Stream | None = None) -> float:
    """Return the mean score of the policy, as a share of the oracle's; drawn choices where a stream is given."""
    total, best = 0.0, 0.0
    for session in sessions:
        episode, played = opened(session, store), Played()
        while not episode.done:
            play_turn(episode, played, policy.choose(features(episode), stream))
        total += episode.score
        best += 1.0  # the gold calls and answer of every session earn 1.0: gate 1, `wardround check`
    return total / best


def train(
    sessions: Sequence[Session],
    unseen: Sequence[Session],
    store: ChartStore,
    seed: int,
    most: int,
    tell: Callable[[Point], None],
) -> tuple[Policy, list[Point]]:
    """Train one policy and return it with its learning curve.

    Args:
        sessions: To train on.
        unseen: Some sessions of other patients, for the curve alone.
        store: Charts of both.
        seed: Of the order of sessions and of every draw.
        most: Turns to train on.
        tell: Called with each point.
    """
    stream = Stream("reinforce", seed)
    policy = Policy(len(features(opened(sessions[0], store))))
    curve: list[Point] = []
    spent, turns, due = 0.0, 0, 0
    while True:
        for session in stream.shuffled(list(sessions)):
            if turns >= due or turns >= most:
                curve.append(Point(turns, measure(policy, unseen, store, Stream("unseen", seed)), spent))
                tell(curve[-1])
                due = max(25, turns * 2)
            if turns >= most:
                return policy, curve
            started = time.process_time()
            turns += _train_on(policy, session, store, stream, max(0.0, 1 - turns / most))
            spent += time.process_time() - started


def _train_on(policy: Policy, session: Session, store: ChartStore, stream: Stream, left: float) -> int:
    """Train on every turn of a session: forks try, the group compares, and the policy's own goes on."""
    episode, played, turns = opened(session, store), Played(), 0
    while not episode.done:
        seen = features(episode)
        tried = policy.tries(seen, stream)
        forks = [(episode.fork(), played.fork()) for _ in tried]
        rewards = [play_turn(fork, mine, one) for (fork, mine), one in zip(forks, tried, strict=True)]
        policy.learn(seen, tried, rewards, left)
        episode, played = forks[0]  # as the policy itself would have gone on
        turns += 1
    return turns
