"""The few words that the agent itself says to a model, in both languages: data/words.json."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import orjson


@lru_cache(maxsize=1)
def _raw() -> bytes:
    return files("wardround.agents.llm").joinpath("data/words.json").read_bytes()


@lru_cache(maxsize=1)
def _words() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(_raw())
    return data


def instructions_hash() -> str:
    """Return version and hash of these words, as manifests keep them."""
    return f"{_words()['version']}:{sha256(_raw()).hexdigest()[:16]}"


@lru_cache(maxsize=64)
def json_instructions(language: str, tools: str) -> str:
    """Return what follows the system prompt in JSON mode.

    Args:
        language: "en" or "zh".
        tools: The tools, one JSON object a line.
    """
    return "\n".join(_words()[language]["actions"]).format(tools=tools)


def result_of(language: str, tool: str, text: str) -> str:
    """Return a tool's result as JSON mode shows it: a user's message that says which tool it is of."""
    return f"{_words()[language]['result'].format(tool=tool)}\n{text}"


def shortened(language: str, characters: int) -> str:
    """Return the marker that stands where characters of an earlier result were left out."""
    return str(_words()[language]["shortened"].format(n=characters))


def last_step(language: str, stage: str, mode: str) -> str:
    """Return what a model is told near the end of a turn.

    Args:
        language: "en" or "zh".
        stage: "closing" or "answer".
        mode: Of the plan; in JSON mode the form of an answer is said again.
    """
    words = _words()[language]["last_step"]
    return str(words[stage]) + (str(words["json"]) if mode == "json" else "")


def no_answer(language: str) -> str:
    """Return what stands where a turn closed without an answer: some providers refuse an empty message."""
    return str(_words()[language]["no_answer"])
