"""Agents by name: the scripted ones, and anyone's own as `module:factory`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from wardround.patients import UsageError
from wardround.sessions import SessionSet

from .adversaries import ADVERSARIES
from .agent import Agent, AgentFactory
from .scripted import Blind, Echo, Oracle, Random, Refuser, Silent, Stuffer

_PLAIN = ("blind", "echo", "oracle", "random", "refuser", "silent", "stuffer")
AGENTS = tuple(sorted((*_PLAIN, *(one.name for one in ADVERSARIES))))
"""Names of the built-in agents."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent ready to be made for any episode."""

    name: str
    sees_gold: bool
    factory: AgentFactory


def find_agent(name: str, sessions: SessionSet) -> AgentSpec:
    """Return the agent of that name.

    Args:
        name: A name of `AGENTS`, or `package.module:factory`; the factory takes the episode's seed.
        sessions: The set being played; `blind` draws its answers from it.

    Raises:
        UsageError: No such agent, or the factory's agent lacks `name` or `sees_gold`.
    """
    plain: dict[str, AgentFactory] = {
        "blind": lambda seed: Blind(sessions),
        "echo": lambda seed: Echo(),
        "oracle": lambda seed: Oracle(),
        "random": lambda seed: Random(seed),
        "refuser": lambda seed: Refuser(),
        "silent": lambda seed: Silent(),
        "stuffer": lambda seed: Stuffer(),
        **{made.name: _without_seed(made) for made in ADVERSARIES},
    }
    if name in plain:
        return AgentSpec(name, plain[name](0).sees_gold, plain[name])
    if ":" in name:
        return _outside_agent(name)
    near = get_close_matches(name, AGENTS, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    raise UsageError(f"no agent `{name}`{hint} (built in: {', '.join(AGENTS)}; your own: package.module:factory)")


def _without_seed(made: Callable[[], Agent]) -> AgentFactory:
    return lambda seed: made()


def _outside_agent(name: str) -> AgentSpec:
    module_name, _, attribute = name.partition(":")
    # a file of the user's own lies where the command was run; last on the path, so that it hides nothing
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        factory: AgentFactory = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"agent `{name}` cannot be imported: {error}") from error
    try:
        agent: Agent = factory(0)
    except TypeError as error:
        raise UsageError(
            f"agent `{name}`: {error}; the factory takes one argument, the episode's seed, and returns an agent"
        ) from error
    for field in ("name", "sees_gold", "act"):
        if not hasattr(agent, field):
            raise UsageError(f"agent `{name}` has no `{field}`; see agents/agent.py for the protocol")
    return AgentSpec(agent.name, bool(agent.sees_gold), factory)
