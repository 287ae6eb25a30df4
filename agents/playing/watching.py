"""The loop of a person who watches an agent, one action at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from wardround.agents.agent import Agent, AsyncAgent, EndpointFault
from wardround.agents.registry import AgentSpec
from wardround.agents.rollout import AgentFault, advance, execute, waits
from wardround.patients import ToolResult, find_tool

from . import showing
from .game import Game, Leave
from .person import run_command
from .showing import visible

_RUN = "run"
_COMMANDS = ("question", "history", "writes", "save", "quit", "help", "rules", "tools")


def watch(game: Game, spec: AgentSpec, seed: int) -> bool:
    """Let an agent play, an action for each Enter; without a terminal it plays to the end.

    Args:
        game: The round.
        spec: The agent.
        seed: Of the agent.

    Returns:
        False where the agent failed; what it said is shown.

    Raises:
        Leave: The person left.
    """
    agent = spec.factory(seed)
    game.terminal.show(game.words.watching.format(agent=visible(spec.name)))
    with asyncio.Runner() as loop:  # one loop for all actions: an agent's connections live in it
        try:
            return _steps(game, agent, loop)
        finally:
            close = getattr(spec.factory, "close", None)
            if close is not None:
                loop.run(close())


def _steps(game: Game, agent: Agent | AsyncAgent, loop: asyncio.Runner) -> bool:
    episode = game.episode
    seen: Any = episode if agent.sees_gold else episode.view()
    running = not game.terminal.interactive
    while not episode.done:
        running = running or _next(game)
        turn, known = episode.turn, len(episode.trajectory["events"])
        try:
            if waits(agent):
                execute(episode, loop.run(_decide(agent, seen)))
            else:
                advance(episode, agent, seen)
        except (AgentFault, EndpointFault) as fault:
            game.terminal.show(game.words.agent_failed.format(error=visible(str(fault))))
            return False
        for event in episode.trajectory["events"][known:]:
            _show(game, event)
        game.take(episode, turn)
    return True


async def _decide(agent: Any, seen: Any) -> object:
    try:
        return await agent.decide(seen)
    except (EndpointFault, asyncio.CancelledError):
        raise
    except Exception as fault:  # an outside agent may raise anything
        raise AgentFault(f"{type(fault).__name__}: {fault}") from fault


def _show(game: Game, event: Mapping[str, Any]) -> None:
    if event["event"] == "call":
        game.terminal.show(game.call_line(event["tool"], event["arguments"]))
        spec = find_tool(event["tool"])
        effect = spec.effect if spec is not None else "read"
        found = ToolResult(event["tool"], {}, event["ok"], event["text"], effect, tuple(event.get("resources", ())))
        game.show_result(found)
    elif event["event"] == "mistake":
        game.terminal.show(visible(event["action"]), showing.said(game.words.notice, event["text"]))
    elif event["event"] == "answer" and not event["forced"]:
        game.terminal.show(showing.said(game.words.you, event["text"]))


def _next(game: Game) -> bool:
    """Wait for Enter, doing what else is asked for; True where all the rest shall be played."""
    while True:
        text = game.terminal.ask("> ")
        if text is None:
            raise Leave
        if not text.strip():
            return False
        if text.strip() == _RUN:
            return True
        line = game.grammar.read(text)
        if line.command in _COMMANDS:
            run_command(game, line)
        else:
            game.terminal.show(game.words.not_a_watch_command)
