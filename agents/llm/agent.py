"""The agent: asks its model what to do next, and does what it says, one action at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from wardround.agents.agent import Action, Invalid
from wardround.agents.litellm_door import LITELLM
from wardround.envs import EpisodeView
from wardround.patients import ToolCall, find_tool

from .client import ChatReply, ChatRequest
from .closing import Stage, TurnEnd, control_of, with_notice
from .endpoint import Endpoint, OverflowFault, Patience
from .history import Step, Together, action_form, json_actions, native, shorten, steps_of, tokens_of
from .plan import ModelPlan
from .reply import Read, read_reply
from .usage import Usage
from .wording import last_step

_SEED_BITS: Final = 31
"""Endpoints take seeds of a signed 32-bit integer."""
_OVERFLOWS: Final = 4
"""Times that one request is shortened after the endpoint has refused it as too long."""


class LlmFactory:
    """Makes the agents of one model; they share its endpoint's slots and what is known of it.

    Args:
        model: The model as litellm names it.
        plan: How it is asked.
        endpoint: Whom to ask; None is the endpoint of the plan.
    """

    def __init__(self, model: str, plan: ModelPlan, endpoint: Endpoint | None = None) -> None:
        self._endpoint = endpoint or Endpoint(model, plan)

    def __call__(self, seed: int) -> LlmAgent:
        """Return the agent of one episode."""
        return LlmAgent(self._endpoint, seed)

    async def close(self) -> None:
        """Let go of connections of the running event loop."""
        await self._endpoint.close()


class LlmAgent:
    """Plays one episode.

    Args:
        endpoint: Model and settings.
        seed: The episode's.
    """

    sees_gold: Final = False

    def __init__(self, endpoint: Endpoint, seed: int) -> None:
        self._endpoint = endpoint
        self._plan = endpoint.plan
        self._key = f"{endpoint.model}/{seed}"
        self._seed = seed % (1 << _SEED_BITS) if endpoint.plan.seeded else None
        self._patience = Patience(endpoint.plan.episode_deadline)
        self._used = Usage()
        self._room = endpoint.plan.context - endpoint.plan.max_tokens
        self._tools: list[dict[str, Any]] = []
        self._waiting: deque[Action] = deque()
        self._turn, self._turn_start = -1, 0
        self._end = TurnEnd()
        self._together: dict[str, Together] = {}
        self._group = ""
        """The last reply's, in it."""
        self._invalid: set[str] = set()

    @property
    def name(self) -> str:
        """`litellm:` and the model."""
        return f"{LITELLM}{self._endpoint.model}"

    @property
    def usage(self) -> dict[str, Any]:
        """What the episode used of its model, so far; see `Usage`."""
        dropped = self._endpoint.dropped
        return self._used.as_dict(seed=None if "seed" in dropped else self._seed, dropped=dropped)

    async def decide(self, view: EpisodeView) -> Action:
        """Return the next action: the next call of the last reply, or what the model says now.

        Raises:
            EndpointFault: No usable reply after all tries, or a deadline passed.
        """
        if view.turn != self._turn:
            self._open_turn(view)
        elif self._waiting and self._end.near and self._plan.last_step == "answer":
            self._skip_waiting()
        if not self._waiting:
            messages = view.messages
            stage = self._stage(view.calls_left, messages[-1])
            reply = await self._ask(messages, view.language, stage)
            read = read_reply(reply.message, view.answer_format, last=stage == "answer")
            self._remember(read, messages)
            self._waiting.extend(read.actions)
        self._end.acted()
        return self._waiting.popleft()

    def _open_turn(self, view: EpisodeView) -> None:
        """Begin a turn: calls still waiting belonged to the one before, and are not made."""
        self._used.skipped_calls += len(self._waiting)
        self._waiting.clear()
        self._turn, self._turn_start = view.turn, len(view.messages) - 1
        self._end = TurnEnd(view.calls_left)
        if not self._tools:
            self._tools = view.tools

    def _skip_waiting(self) -> None:
        """Leave out the rest of a reply's calls, which would take the turn's last actions: they go to an answer."""
        self._used.skipped_calls += len(self._waiting)
        one = self._together[self._group]
        self._together[self._group] = Together(one.names[: -len(self._waiting)], one.note)
        self._waiting.clear()

    def _stage(self, calls_left: int, last: Mapping[str, Any]) -> Stage:
        if self._plan.last_step == "free":
            return "open"
        stage = self._end.stage(calls_left, last, self._tools)
        self._used.answer_only += stage == "answer"
        return stage

    async def _ask(self, messages: list[dict[str, Any]], language: str, stage: Stage) -> ChatReply:
        steps = steps_of(messages, self._turn_start, self._together)
        key = f"{self._key}/{self._used.requests}"
        hard = False
        for _ in range(_OVERFLOWS):
            request, size = self._request(steps, language, stage, hard=hard)
            try:
                return await self._endpoint.ask(request, key, self._patience, self._used)
            except OverflowFault:
                hard = True
                self._room = min(self._room, size) * 3 // 4  # and for all that the episode asks later
        request, _ = self._request(steps, language, stage, hard=hard)
        return await self._endpoint.ask(request, key, self._patience, self._used)

    def _request(self, steps: list[Step], language: str, stage: Stage, *, hard: bool) -> tuple[ChatRequest, int]:
        """Return a request that fits as far as may be, and about how many tokens it has."""
        tools = self._tools if self._plan.mode == "native" else []
        size = tokens_of(self._chat(steps, language, stage)) + tokens_of(tools)
        if size > self._room:
            steps, count = shorten(steps, size - self._room, language, hard=hard)
            self._used.trimmed += bool(count)
            self._used.shortened = max(self._used.shortened, count)
        chat = self._chat(steps, language, stage)
        return ChatRequest(chat, tools, self._settings(stage)), tokens_of(chat) + tokens_of(tools)

    def _chat(self, steps: list[Step], language: str, stage: Stage) -> list[dict[str, Any]]:
        mode = self._plan.mode
        if mode == "native":
            chat = native(steps, language)
        else:
            chat = json_actions(steps, language, self._tools, frozenset(self._invalid))
        return chat if stage == "open" else with_notice(chat, last_step(language, stage, mode))

    def _settings(self, stage: Stage) -> Mapping[str, Any]:
        # natively the tools stay in the request: without them some providers refuse a chat that has calls
        plan = self._plan
        allowed: Mapping[Stage, Sequence[Mapping[str, Any]]]
        allowed = {"open": self._tools, "closing": control_of(self._tools), "answer": ()}
        only_answer = stage == "answer" and plan.mode == "native" and bool(self._tools)
        wanted = {
            "temperature": plan.temperature,
            "reasoning_effort": plan.effort,
            "seed": self._seed,
            "max_tokens": plan.max_tokens,
            "tool_choice": "none" if only_answer else None,
            "response_format": action_form(allowed[stage]) if plan.mode == "json" else None,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def _remember(self, read: Read, messages: list[dict[str, Any]]) -> None:
        """Keep what the view does not show: which calls one reply made, the prose beside them, what was a mistake."""
        first = read.actions[0]
        self._used.cut_answers += read.cut
        if isinstance(first, Invalid):
            self._used.invalid += 1
            self._invalid.add(first.text)
        elif isinstance(first, ToolCall):
            number = 1 + max((_number(message) for message in messages), default=0)
            names = tuple(_shown(str(call.name)) for call in read.actions if isinstance(call, ToolCall))
            self._group = f"call_{number}"
            self._together[self._group] = Together(names, read.note)


def _shown(name: str) -> str:
    """Return a tool's name as the view's messages have it, whichever of its names the model wrote."""
    spec = find_tool(name)
    return spec.alias if spec is not None else name


def _number(message: Mapping[str, Any]) -> int:
    """Return the number of the call that a message of the view makes, 0 where it makes none."""
    calls = message.get("tool_calls")
    return int(str(calls[0]["id"]).rpartition("_")[2]) if calls else 0
