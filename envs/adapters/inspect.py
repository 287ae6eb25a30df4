"""The door for inspect-ai: a task whose solver plays rounds with the model's own tool calls, and its scorer.

The solver runs the calls itself, so that a malformed one is the episode's to answer and to count. Scores are of the
session (`mrs`: their mean is the set's mRS) and of its turns. Needs `inspect-ai`: `wardround[inspect]`.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Final, Literal

from .extras import missing
from .round import Round, RoundConfig
from .rows import dataset

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        ChatMessage,
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        get_model,
    )
    from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import ToolInfo
except ImportError as error:
    raise ImportError(missing("the inspect-ai door", "inspect-ai", "inspect")) from error

_KEY: Final = "wardround"


@task
def ward_round(
    sessions: str = "ward",
    charts: str | None = None,
    split: str | None = None,
    language: Literal["en", "zh"] = "en",
    phrasing: str = "implicit",
    view: Literal["compact", "fhir"] = "compact",
    limit: int | None = None,
    data_agreement: str | None = None,
) -> Task:
    """Return the task: one sample per session.

    Args:
        sessions: Name of a built-in set, or path of a JSONL file.
        charts: Name or path of the charts; None takes those of the built-in set.
        split: Sessions of this split; None takes all.
        language: "en" or "zh".
        phrasing: "explicit" or "implicit".
        view: What search tools return by default.
        limit: The first so many sessions.
        data_agreement: The agreement under which the model may read credentialed data; kept in the log.

    Raises:
        UsageError: No such set or split, or some of its sessions are for evaluation only.
    """
    rows = dataset(sessions, split, charts=charts, form="tools", language=language, phrasing=phrasing, view=view)
    samples = []
    for number, row in enumerate(rows):
        if limit is not None and number == limit:
            break
        rules, first = row["prompt"]
        opening: list[ChatMessage] = [
            ChatMessageSystem(content=rules["content"]),
            ChatMessageUser(content=first["content"]),
        ]
        samples.append(Sample(input=opening, id=row["session_id"], metadata={"seed": row["seed"]}))
    settings = RoundConfig(sessions, charts, split, language, phrasing, view, data_agreement=data_agreement)
    return Task(
        dataset=MemoryDataset(samples, name=sessions), solver=play_round(**asdict(settings)), scorer=round_scorer()
    )


@solver
def play_round(**config: Any) -> Solver:
    """Return the solver: the model calls tools and answers until the round is over.

    Args:
        config: As of `RoundConfig`: sessions, charts, split, language, phrasing, view, scoring, plan, data_agreement.
    """
    settings = RoundConfig.of(config)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        played = Round(str(state.sample_id), seed=int(state.metadata.get("seed") or 0), config=settings)
        tools = [ToolInfo.model_validate(tool["function"]) for tool in played.tools]
        _keep(state, played)
        while not played.done and not state.completed:  # a limit of the task's own ends it early
            state.output = await get_model().generate(state.messages, tools=tools)
            message = state.output.message
            state.messages.append(message)
            state.messages.extend(_answered(played, message))
            _keep(state, played)
        state.completed = True
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr()]})
def round_scorer() -> Scorer:
    """Return the scorer: the session's score and each turn's, as the episode gave them; no model judges anything."""

    async def score(state: TaskState, target: Target) -> Score:
        result = state.store.get(_KEY)
        value = {"mrs": result["score"]} if result["valid"] else {"mrs": math.nan}  # NaN: inspect's "not scored"
        rewards = [*result["turn_rewards"], *[0.0] * (result["turns"] - len(result["turn_rewards"]))]
        value |= {f"turn_{number}": reward for number, reward in enumerate(rewards, 1)}
        kept = {key: result[key] for key in ("trajectory_hash", "truncated", "turns")}
        return Score(value=value, answer=state.output.completion, metadata=kept)

    return score


def _answered(played: Round, message: ChatMessageAssistant) -> list[ChatMessage]:
    """Play what the model sent and return what it is shown."""
    if not message.tool_calls:
        step = played.send(message.text)
        return [] if step.done else [ChatMessageUser(content=step.text)]
    shown: list[ChatMessage] = []
    turn = played.turn
    for number, call in enumerate(message.tool_calls):
        text = played.closed_notice
        if not played.done and played.turn == turn:  # else the turn was closed under it: the rest is never run
            # where inspect could not read the arguments it kept only what was wrong with them: text that is no JSON
            arguments = call.arguments if call.parse_error is None else call.parse_error
            text = played.call(call.function, arguments, note="" if number else message.text).text
        shown.append(ChatMessageTool(content=text, tool_call_id=call.id, function=call.function))
    return shown


def _keep(state: TaskState, played: Round) -> None:
    """Leave in the sample's store, which is logged and never prompted with, what the scorer needs."""
    state.store.set(
        _KEY,
        {
            "score": played.reward,
            "turn_rewards": played.turn_rewards,
            "turns": played.turns,
            "valid": played.reward_valid,
            "truncated": played.truncated,
            "trajectory_hash": played.trajectory_hash,
        },
    )
