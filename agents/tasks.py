"""What is to be played: an episode each, and what all episodes of a run share; both picklable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wardround.patients import UsageError

from .llm import ModelPlan


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """One episode to play. Its key names it in every file and on every worker."""

    agent: str
    session: str
    language: str
    phrasing: str
    trial: int
    seed: int

    @property
    def key(self) -> str:
        """Agent, session, language, phrasing, trial and seed, slash-separated."""
        return f"{self.agent}/{self.session}/{self.language}/{self.phrasing}/{self.trial}/{self.seed}"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all episodes of a run share, picklable: workers open store and set by themselves and check the hashes."""

    charts: str
    sessions: str
    store_hash: str
    set_hash: str
    view: str = "compact"
    scoring: str = "wardround"
    plan: str = "item"
    history: str = "self"
    interview: bool = True
    """False: the tools that ask the patient are withdrawn."""
    model: ModelPlan | None = None
    """How `litellm:` agents ask their model; its `episode_deadline` holds for every agent that waits."""


def phrasings_of(name: str, turns: int) -> list[str]:
    """Return the phrasing of every turn.

    Args:
        name: "explicit", "implicit", or "implicit@N": implicit at turn N alone, counted from 0 as records count.
        turns: How many turns the session has.

    Raises:
        UsageError: No such phrasing, or no such turn.
    """
    word, at, number = name.partition("@")
    if not at:
        return [word] * turns
    if word != "implicit" or not (number.isascii() and number.isdecimal()) or not int(number[:9]) < turns:
        raise UsageError(
            f"`phrasing` is `{name}`; expected explicit, implicit, or implicit@N with a turn N from 0 to {turns - 1}"
        )
    return ["implicit" if turn == int(number) else "explicit" for turn in range(turns)]


def make_tasks(
    agents: Sequence[str],
    session_ids: Iterable[str],
    *,
    languages: Sequence[str] = ("en",),
    phrasings: Sequence[str] = ("implicit",),
    trials: int = 1,
    seed: int = 0,
) -> list[Task]:
    """Return the tasks of a run in their canonical order."""
    ids = list(session_ids)
    return sorted(
        Task(agent, session, language, phrasing, trial, seed)
        for agent in agents
        for session in ids
        for language in languages
        for phrasing in phrasings
        for trial in range(trials)
    )
