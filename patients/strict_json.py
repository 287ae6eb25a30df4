"""Reading JSON objects that a model wrote: every fault is a short sentence, never an exception.

orjson alone keeps the last of two equal keys; a linear scan finds them. orjson refuses NaN, lone surrogates and
nesting beyond its own limit, and it never overflows on long numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class BadJson:
    """Why a text is not one JSON object."""

    reason: str


def read_object(text: str) -> dict[str, Any] | BadJson:
    """Parse `text` as one JSON object with distinct keys.

    Args:
        text: Any text at all; blank text reads as an empty object, as some providers send no-argument calls.

    Returns:
        The object, or why there is none.

    Examples:
        >>> read_object('{"a": 1}')
        {'a': 1}
        >>> read_object('{"a": 1, "a": 2}').reason
        'the key `a` stands twice in one object'
    """
    if not text.strip():
        return {}
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return BadJson(f"not valid JSON ({clip(str(error), 80)})")
    if not isinstance(value, dict):
        return BadJson(f"a JSON object was expected, not {_kind(value)}")
    twice = duplicate_key(text)
    if twice is not None:
        return BadJson(f"the key `{clip(twice, 40)}` stands twice in one object")
    return value


def duplicate_key(text: str) -> str | None:
    """Return the first key that stands twice in one object of `text` (valid JSON), or None. Linear in the text."""
    open_keys: list[set[str] | None] = []
    keys: set[str] | None = None
    expecting = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        first = token[0]
        if first == '"':
            if expecting and keys is not None:
                key = orjson.loads(token) if "\\" in token else token[1:-1]
                if key in keys:
                    return str(key)
                keys.add(key)
        elif first in "{[":
            open_keys.append(keys)
            keys = set() if first == "{" else None
        elif first in "}]":
            keys = open_keys.pop()
        expecting = first in "{,"
    return None


def clip(text: str, limit: int) -> str:
    """Return `text` as one printable line of at most `limit` characters, safe to encode as UTF-8."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    safe = short.encode("utf-8", "replace").decode("utf-8")
    return "".join(char if char.isprintable() else " " for char in safe)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "a number"
