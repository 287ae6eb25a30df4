"""Arguments of a write under their grading names, FHIR shapes flattened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from .vocabulary import normal, table

Texts = Mapping[str, tuple[str, ...]]
"""Grading name → what the arguments of that name say."""

_SEPARATORS = re.compile(r"[\s_.\-]+")
_DEPTH = 12
"""Levels of nesting that are read."""


@cache
def _names() -> dict[str, str]:
    aliases: Mapping[str, list[str]] = table("arguments")["aliases"]
    return {_key(name): grading for grading, names in aliases.items() for name in (grading, *names)}


def _key(name: str) -> str:
    return _SEPARATORS.sub("", normal(name))


def grading_name(argument: str) -> str:
    """Return the grading name of an argument; an unknown one keeps its own name."""
    return _names().get(_key(argument), argument)


def read_arguments(arguments: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return what each grading name is given, as text, in the order of the arguments.

    FHIR shapes (quantities, codeable concepts, references, timings) become the words they stand for; other nested
    objects are read as arguments themselves.
    """
    found: dict[str, list[str]] = {}
    for name, text in _flat(arguments, 0):
        found.setdefault(name, []).append(text)
    if "dose_unit" in found and "dose" in found:
        found["dose"] = [f"{dose} {unit}" for dose, unit in zip(found["dose"], found["dose_unit"], strict=False)]
    return {name: tuple(texts) for name, texts in found.items()}


def _flat(arguments: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    days = {_key(name) for name in table("arguments")["days"]}
    for argument, value in arguments.items():
        name = grading_name(argument)
        for part in value if isinstance(value, list | tuple) else (value,):
            if isinstance(part, Mapping):
                text = _shape(part)
                if text is not None:
                    yield name, text
                elif depth < _DEPTH:
                    yield from _flat(part, depth + 1)
            elif isinstance(part, bool):
                if name == "prn" and part:
                    yield "prn", "as needed"
            elif part is not None and str(part).strip():
                text = str(part)
                yield name, f"{text} days" if _key(argument) in days and text.strip().isdecimal() else text


def _shape(value: Mapping[str, Any]) -> str | None:
    """Return the words of a FHIR shape, or None where it is none."""
    if "reference" in value:
        return str(value["reference"])
    if "value" in value and set(value) <= {"value", "unit", "code", "system", "comparator"}:
        return f"{value['value']} {value.get('unit', value.get('code', ''))}".strip()
    if "text" in value and isinstance(value["text"], str) and set(value) <= {"text", "coding", "id"}:
        return str(value["text"])
    if isinstance(value.get("coding"), list):
        names = [
            coding.get("display") or coding.get("code") for coding in value["coding"] if isinstance(coding, Mapping)
        ]
        return "; ".join(str(name) for name in names if name)
    if {"frequency", "period", "periodUnit"} <= set(value):
        return f"{value['frequency']} times every {value['period']} {value['periodUnit']}"
    return None
