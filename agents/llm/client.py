"""One request to a model and what came back; through litellm, with its own retries, fallbacks and callbacks off."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from wardround.agents.litellm_door import (
    close_litellm,
    forget_other_loops,
    import_litellm,
    key_of,
    retry_after,
    scrub,
    scrub_error,
    status_of,
)

from .plan import ModelPlan

_TOO_LONG = (
    "context length", "context window", "context size", "maximum context", "maximum number of tokens",
    "input is too long", "prompt is too long", "too many tokens",
)  # fmt: skip
"""What endpoints say of a request that does not fit; only looked for in errors of status 400 and 413."""
_MOST_TOKENS = 1_000_000_000
"""More than any reply has; an endpoint that tells more, or a price above it, tells nothing."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One chat, as an OpenAI-compatible endpoint takes it."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Optional parameters by their OpenAI names: temperature, reasoning_effort, seed, max_tokens, tool_choice,
    response_format."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What came back from an endpoint."""

    status: int
    """HTTP status; 0 where no reply came, or one that cannot be read."""
    message: Mapping[str, Any] = field(default_factory=dict)
    """`content` (text, parts or None), `tool_calls` (each with `name` and `arguments`), `refusal`."""
    finish: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    """US dollars; None where nobody knows the price."""
    error: str = ""
    """What the endpoint said where the status is not 200."""
    parameter: str | None = None
    """The parameter that the endpoint says it refuses."""
    overflow: bool = False
    """The request does not fit into the model's context."""
    retry_after: float | None = None
    """Seconds the server asks to wait."""


class ChatClient(Protocol):
    """Sends one chat and returns what came back; may raise, which counts as no reply."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Ask once."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class LiteLLMChat:
    """Asks a model through litellm.

    Args:
        model: The model as litellm names it.
        plan: Endpoint, key and deadline.

    Raises:
        UsageError: litellm is missing or a release to refuse, or the key's variable is not set.
    """

    def __init__(self, model: str, plan: ModelPlan) -> None:
        self._model = model
        self._plan = plan
        self._key = key_of(plan.key_env, plan.base)
        self._litellm = import_litellm()

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Ask once; what litellm raises is a reply with that status."""
        plan = self._plan
        forget_other_loops(self._litellm)
        optional = dict(request.settings)
        if request.tools:
            optional["tools"] = list(request.tools)
        if plan.base:
            # an endpoint of one's own may serve anything under any name: it says itself what it does not take
            optional["allowed_openai_params"] = list(request.settings)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # pydantic warns of fields that endpoints leave out
                response = await self._litellm.acompletion(
                    model=self._model,
                    messages=[dict(message) for message in request.messages],
                    api_base=plan.base,
                    api_key=self._key,
                    timeout=plan.deadline,
                    max_retries=0,
                    num_retries=0,
                    **optional,
                )
                return self._read(response)
        except Exception as fault:  # noqa: BLE001  # litellm's errors have no common base beside Exception
            return self._fault(fault)

    async def close(self) -> None:
        """Close litellm's cached connections."""
        await close_litellm(self._litellm)

    def _read(self, response: Any) -> ChatReply:
        choices = getattr(response, "choices", None) or []
        if not choices:
            return ChatReply(0, error="the reply has no message")
        usage = getattr(response, "usage", None)
        return ChatReply(
            200,
            message=_plain(choices[0].message, self._key),
            finish=scrub(str(choices[0].finish_reason or ""), self._key),
            tokens_in=_count(usage, "prompt_tokens"),
            tokens_out=_count(usage, "completion_tokens"),
            cost=self._cost(response),
        )

    def _cost(self, response: Any) -> float | None:
        if self._plan.base:
            return None  # the provider's price of a model of that name says nothing about one's own endpoint
        try:
            cost = float(self._litellm.completion_cost(completion_response=response, model=self._model))
            return cost if 0 <= cost < _MOST_TOKENS else None
        except Exception:  # noqa: BLE001  # raised for every model without a known price
            return None

    def _fault(self, fault: Exception) -> ChatReply:
        text = scrub_error(str(fault), self._key)
        status = status_of(fault)
        named = getattr(fault, "param", None)
        too_long = any(words in text.casefold() for words in _TOO_LONG)
        return ChatReply(
            status,
            error=text,
            parameter=named if isinstance(named, str) else None,
            overflow=type(fault).__name__ == "ContextWindowExceededError" or (status in (400, 413) and too_long),
            retry_after=retry_after(fault),
        )


def _plain(message: Any, key: str | None) -> dict[str, Any]:
    """Return a message of litellm as plain data; a key that a model echoes goes no further."""
    calls = []
    for call in getattr(message, "tool_calls", None) or []:
        function = getattr(call, "function", None)
        arguments = getattr(function, "arguments", None)
        if isinstance(arguments, str):
            arguments = scrub(arguments, key)
        calls.append({"name": scrub(str(getattr(function, "name", None) or ""), key), "arguments": arguments})
    content, refusal = getattr(message, "content", None), getattr(message, "refusal", None)
    if isinstance(content, list):
        content = [_part(part, key) for part in content]
    return {
        "content": scrub(content, key) if isinstance(content, str) else content,
        "tool_calls": calls,
        "refusal": scrub(refusal, key) if isinstance(refusal, str) else None,
    }


def _part(part: Any, key: str | None) -> Any:
    """Return a part of a message's content as it is, its text without the key."""
    text = part.get("text") if isinstance(part, dict) else None
    return {**part, "text": scrub(text, key)} if isinstance(text, str) else part


def _count(usage: Any, name: str) -> int | None:
    """Return a count of tokens; litellm writes 0 where an endpoint told none, and what no reply can have is none."""
    value = getattr(usage, name, None)
    return value if type(value) is int and 0 < value < _MOST_TOKENS else None
