"""The roles of a writer: what each is told, the form of its reply, and how a reply is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Protocol

import jsonschema_rs
import orjson
from pydantic import BaseModel, ConfigDict, Field

from wardround.patients import WardroundError

MOST = 20_000
"""Characters of a reply that are read."""


_THOUGHT_ENDS = "</think>"
_TRIES = 50
"""Braces of a reply at which an object may begin."""


class MalformedReplyError(WardroundError):
    """A reply that is not as its role's schema says."""


class Role(BaseModel):
    """One role."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    system: tuple[str, ...]
    schema_: dict[str, Any] = Field(alias="schema")


class Writer(Protocol):
    """Whoever writes: sends one chat and returns the text of the reply."""

    def complete(self, role: str, messages: list[dict[str, str]], schema: dict[str, Any]) -> str:
        """Return the reply's text.

        Args:
            role: Name of the role.
            messages: The chat.
            schema: JSON Schema that the reply should keep.

        Raises:
            WardroundError: No reply could be had to this.
            UsageError: No reply can be had any more; the run ends.
        """
        ...


@cache
def _document() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(files("wardround.sessions.writers").joinpath("data/roles.json").read_bytes())
    return found


@cache
def roles() -> dict[str, Role]:
    """Return the roles by name."""
    return {name: Role.model_validate(role) for name, role in _document()["roles"].items()}


@cache
def prompt_hash() -> str:
    """Return the hash of all that the roles are told."""
    return sha256(orjson.dumps(_document(), option=orjson.OPT_SORT_KEYS)).hexdigest()


def messages_of(role: str, context: dict[str, Any], faults: list[str]) -> list[dict[str, str]]:
    """Return the chat for a role.

    Args:
        role: Its name.
        context: What it is shown, as JSON.
        faults: What was wrong with its earlier replies to this.
    """
    shown = dict(context) | ({"your_last_replies_were_refused": faults} if faults else {})
    return [
        {"role": "system", "content": "\n".join(roles()[role].system)},
        {"role": "user", "content": orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode()},
    ]


def read_reply(role: str, text: str) -> dict[str, Any]:
    """Read a reply: one JSON object of the role's schema; prose or a code fence round it does not matter.

    Raises:
        MalformedReplyError: There is none, more than one, or one that is not as asked for; says which.
    """
    found = list(_objects(text[:MOST]))
    if not found:
        raise MalformedReplyError("no whole JSON object in the reply")
    if any(one != found[0] for one in found):
        raise MalformedReplyError(f"{len(found)} different JSON objects in the reply")
    fault = next(iter(_validator(role).iter_errors(found[0])), None)
    if fault is not None:
        raise MalformedReplyError(f"not as asked for: {fault.message}"[:200])
    return found[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects of a text; what a model thought aloud before it spoke is left out."""
    plain = text.rpartition(_THOUGHT_ENDS)[2]
    decoder, at = json.JSONDecoder(), -1
    for _ in range(_TRIES):
        at = plain.find("{", at + 1)
        if at < 0:
            return
        try:
            _, end = decoder.raw_decode(plain, at)
            value = orjson.loads(plain[at:end])  # refuses what JSON does not know (NaN, half a character)
        except (ValueError, RecursionError):
            continue
        yield value
        at = end - 1


@cache
def _validator(role: str) -> Any:
    return jsonschema_rs.validator_for(roles()[role].schema_)
