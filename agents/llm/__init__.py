"""A language model plays: any provider or local endpoint, native tool calls or JSON actions (docs/agents.md)."""

from __future__ import annotations

from .agent import LlmAgent, LlmFactory
from .client import ChatClient, ChatReply, ChatRequest
from .endpoint import Endpoint
from .plan import EFFORTS, MODES, ModelPlan

__all__ = [
    "EFFORTS",
    "MODES",
    "ChatClient",
    "ChatReply",
    "ChatRequest",
    "Endpoint",
    "LlmAgent",
    "LlmFactory",
    "ModelPlan",
]
