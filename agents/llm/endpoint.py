"""Asking until there is a reply: slots, deadlines, waits between tries, parameters an endpoint does not take."""

from __future__ import annotations

import asyncio
import re
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from wardround.agents.agent import EndpointFault
from wardround.agents.litellm_door import FORM_REFUSED, HOPELESS, Sleep, wait_before, without_address
from wardround.patients import printable

from .client import ChatClient, ChatReply, ChatRequest, LiteLLMChat
from .plan import ModelPlan
from .usage import Usage

_SAID: Final = 300
"""Characters of an endpoint's error that are read and told."""
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "temperature": ("temperature",),
    "reasoning_effort": ("reasoning_effort", "reasoning effort", "reasoning", "thinking"),
    "seed": ("seed",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "tool_choice": ("tool_choice",),
    "response_format": ("response_format", "json_schema", "structured output", "grammar"),
}
"""The parameters that an agent can do without, and what errors call them."""

_slots: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = weakref.WeakKeyDictionary()


class OverflowFault(EndpointFault):
    """The request does not fit into the model's context; a shorter one may."""


@dataclass(slots=True)
class Patience:
    """What is left of the time that one episode may wait for its model."""

    left: float

    def spend(self, seconds: float) -> None:
        """Take seconds off."""
        self.left -= seconds


class Endpoint:
    """One model at one endpoint, shared by the episodes of a process.

    Args:
        model: The model as litellm names it.
        plan: How it is asked.
        client: Whom to ask; None makes a client of litellm at the first request.
        sleep: Waits between tries.
        clock: Seconds that only grow; no part of any result.
    """

    def __init__(
        self,
        model: str,
        plan: ModelPlan,
        client: ChatClient | None = None,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.plan = plan
        self._made = client
        self._sleep = sleep
        self._clock = clock
        self._dropped: dict[str, None] = {}

    @property
    def dropped(self) -> tuple[str, ...]:
        """Parameters that are not sent, for the model or its endpoint does not take them."""
        return tuple(sorted(self._dropped))

    async def ask(self, request: ChatRequest, key: str, patience: Patience, usage: Usage) -> ChatReply:
        """Ask until there is a reply.

        Args:
            request: What to send; parameters that the endpoint does not take are left out.
            key: Spreads the waits of requests that fail together.
            patience: What the episode may still wait; is spent.
            usage: What the episode used; is counted on.

        Raises:
            OverflowFault: The request is too long.
            EndpointFault: No usable reply after all tries, or the endpoint refuses it, or no time is left.
        """
        client = self._client()
        attempt = 1
        while True:
            sent, reply = await self._once(client, request, patience)
            if reply.status == 200:
                usage.add(reply)
                return reply
            if reply.overflow:
                raise OverflowFault(self._told(reply))
            name = refused_parameter(reply, sent.settings)
            if name is not None:
                self._dropped[name] = None  # asked again at once; every episode of this process then leaves it out
                continue
            if reply.status in HOPELESS or attempt >= self.plan.attempts:
                tries = "1 try" if attempt == 1 else f"{attempt} tries"
                raise EndpointFault(f"no reply of {self.model} after {tries}: {self._told(reply)}{_hint(sent, reply)}")
            wait = max(wait_before(key, attempt), reply.retry_after or 0.0)
            if wait >= patience.left:
                raise EndpointFault(
                    f"{self.model}: the episode's {self.plan.episode_deadline:g} s for its model would pass in "
                    f"waiting; the last try: {self._told(reply)}"
                )
            await self._sleep(wait)
            patience.spend(wait)
            usage.retries += 1
            attempt += 1

    async def close(self) -> None:
        """Let go of connections; the next request opens new ones."""
        if self._made is not None:
            await self._made.close()

    def _client(self) -> ChatClient:
        if self._made is None:
            self._made = LiteLLMChat(self.model, self.plan)
        return self._made

    def _without_dropped(self, request: ChatRequest) -> ChatRequest:
        kept = {name: value for name, value in request.settings.items() if name not in self._dropped}
        return replace(request, settings=kept)

    async def _once(
        self, client: ChatClient, request: ChatRequest, patience: Patience
    ) -> tuple[ChatRequest, ChatReply]:
        """Ask once, as soon as there is a slot; return what was sent and what came back."""
        async with self._slot():
            sent = self._without_dropped(request)  # in the slot: others may have learnt something meanwhile
            if patience.left <= 0:
                raise EndpointFault(
                    f"{self.model}: the episode has waited {self.plan.episode_deadline:g} s for its model"
                )
            limit = min(self.plan.deadline, patience.left)
            began = self._clock()
            try:
                return sent, await asyncio.wait_for(client.chat(sent), limit)
            except TimeoutError:
                return sent, ChatReply(0, error=f"no reply within {limit:g} s")
            except Exception as fault:  # noqa: BLE001  # whatever a client's library raises is a failed try, and told
                return sent, ChatReply(0, error=f"{type(fault).__name__}: {fault}")
            finally:
                patience.spend(self._clock() - began)

    def _slot(self) -> asyncio.Semaphore:
        """Return what limits the requests to this endpoint at a time, shared by all agents in this event loop."""
        held = _slots.setdefault(asyncio.get_running_loop(), {})
        where = self.plan.base or self.model.partition("/")[0]
        if where not in held:
            held[where] = asyncio.Semaphore(self.plan.concurrency)
        return held[where]

    def _told(self, reply: ChatReply) -> str:
        """Return what an endpoint said, in one line and without its address."""
        what = f"status {reply.status}" if reply.status else "no reply"
        text = without_address(reply.error, self.plan.base)
        first = next((line for line in text[:_SAID].splitlines() if line.strip()), "")
        return f"{what}: {printable(first)}"


def _hint(sent: ChatRequest, reply: ChatReply) -> str:
    """Return what may help a user whose model takes no tools."""
    about_tools = bool(sent.tools) and reply.status in FORM_REFUSED and "tool" in reply.error[:_SAID].casefold()
    return " (a model without tool calls plays with --model-mode json)" if about_tools else ""


def refused_parameter(reply: ChatReply, sent: Mapping[str, Any]) -> str | None:
    """Return which optional parameter an error blames, None where it blames none that was sent."""
    if reply.status not in FORM_REFUSED:
        return None
    named = [name for name in sent if name in _NAMES]
    if reply.parameter:
        for name in named:
            if reply.parameter.partition(".")[0] in _NAMES[name]:
                return name
    text = reply.error[:_SAID].casefold()
    places = {name: min((place for word in _NAMES[name] if (place := _place(word, text)) >= 0), default=-1)
              for name in named}  # fmt: skip
    found = [name for name in named if places[name] >= 0]
    return min(found, key=places.__getitem__, default=None)


def _place(word: str, text: str) -> int:
    found = re.search(rf"(?<![a-z_]){re.escape(word)}(?![a-z_])", text)
    return found.start() if found else -1
