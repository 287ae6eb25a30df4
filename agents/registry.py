"""Agents by name: the scripted ones, language models as `litellm:MODEL`, and anyone's own as `module:factory`."""

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
from .agent import Agent, AgentFactory, AsyncAgent
from .baseline import Baseline, BaselineWithoutMemory
from .litellm_door import LITELLM, check_litellm, key_of
from .llm import LlmFactory, ModelPlan
from .scripted import Blind, Echo, Oracle, Random, Refuser, Silent, Stuffer

_PLAIN = ("baseline", "baseline-no-memory", "blind", "echo", "oracle", "random", "refuser", "silent", "stuffer")
AGENTS = tuple(sorted((*_PLAIN, *(one.name for one in ADVERSARIES))))
"""Names of the built-in agents."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent ready to be made for any episode."""

    name: str
    sees_gold: bool
    factory: AgentFactory


def find_agent(name: str, sessions: SessionSet, model: ModelPlan | None = None) -> AgentSpec:
    """Return the agent of that name.

    Args:
        name: A name of `AGENTS`, `litellm:MODEL`, or `package.module:factory`; the factory takes the episode's seed.
        sessions: The set being played; `blind` draws its answers from it, and its licence decides whether a model may
            read it.
        model: How a `litellm:` agent's model is asked; None is a `ModelPlan` as it comes.

    Raises:
        UsageError: No such agent, the factory's agent lacks `name`, `sees_gold` or a method that acts, or a model may
            not be asked: litellm or the key is missing, or the data need an agreement.
    """
    if name.startswith(LITELLM):
        return _model_agent(name, sessions, model or ModelPlan())
    plain: dict[str, AgentFactory] = {
        "baseline": lambda seed: Baseline(),
        "baseline-no-memory": lambda seed: BaselineWithoutMemory(),
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
    others = "a model: litellm:MODEL; your own: package.module:factory"
    raise UsageError(f"no agent `{name}`{hint} (built in: {', '.join(AGENTS)}; {others})")


def is_model(name: str) -> bool:
    """Tell whether an agent of that name asks a language model through litellm."""
    return name.startswith(LITELLM)


def _model_agent(name: str, sessions: SessionSet, plan: ModelPlan) -> AgentSpec:
    if name == LITELLM:
        raise UsageError("agent `litellm:` names no model; give litellm:MODEL, as in litellm:openai/gpt-5-mini")
    if plan.base is not None and "/" not in name:  # else litellm finds no provider, after everything is set up
        told = f"agent `{name}` does not say how its endpoint talks"
        raise UsageError(f"{told}: an OpenAI-compatible one is litellm:openai/{name[len(LITELLM) :]}")
    plan.allow(session.licence for session in sessions)
    check_litellm()
    key_of(plan.key_env, plan.base)  # a key that is not there is told before anything is played
    return AgentSpec(name, False, LlmFactory(name[len(LITELLM) :], plan))


def _without_seed(made: Callable[[], Agent]) -> AgentFactory:
    return lambda seed: made()


def _outside_agent(name: str) -> AgentSpec:
    module_name, _, attribute = name.partition(":")
    # a file of the user's own lies where the command was run; last on the path, so that it hides nothing
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        factory: AgentFactory = getattr(importlib.import_module(module_name), attribute)
    except Exception as error:  # whatever a module of the user's own raises
        raise UsageError(f"agent `{name}` cannot be imported: {type(error).__name__}: {error}") from error
    try:
        agent: Agent | AsyncAgent = factory(0)
    except TypeError as error:
        raise UsageError(
            f"agent `{name}`: {error}; the factory takes one argument, the episode's seed, and returns an agent"
        ) from error
    except Exception as error:
        raise UsageError(f"agent `{name}`: its factory raised {type(error).__name__}: {error}") from error
    missing = [field for field in ("name", "sees_gold") if not hasattr(agent, field)]
    if not missing and not hasattr(agent, "act") and not hasattr(agent, "decide"):
        missing = ["act"]
    if missing:
        raise UsageError(f"agent `{name}` has no `{missing[0]}`; see agents/agent.py for the protocol")
    return AgentSpec(agent.name, bool(agent.sees_gold), factory)
