"""FHIR R4 (4.0.1) resources as plain dicts: JSON text that keeps decimals, and the marks this library puts on them.

Marks, all in `meta`:

- `known-at` (extension, valueInstant): when the resource became known. Without it a resource is never visible.
- `known-later` (extension of `path`, `known` and perhaps `value`): a field that became known later than the resource.
  Without `value` the field at `path` is dropped before `known`; with `value` (JSON text) the field is set from `known`
  on. Only packing reads it (`clock.py`); it is never stored in a served form, so no read can show it.
- `never-known` (extension, valueBoolean): in exported files only, says that a resource without `known-at` stays so.
- `derived-status` (tag): the status follows a written rule, it is not the source's own word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from .errors import DataError
from .times import SECOND, Instant, format_instant, parse_period

Resource = dict[str, Any]
"""A FHIR resource as JSON: read, never changed in place."""

SITE = "https://wardround.dev/fhir"
KNOWN_AT = f"{SITE}/StructureDefinition/known-at"
KNOWN_LATER = f"{SITE}/StructureDefinition/known-later"
NEVER_KNOWN = f"{SITE}/StructureDefinition/never-known"
RANK = f"{SITE}/StructureDefinition/diagnosis-rank"
NOTE_SECTION = f"{SITE}/StructureDefinition/note-section"
"""Extension of a DocumentReference: which part of which note it is (docs/notes.md)."""
DERIVED_SYSTEM = f"{SITE}/CodeSystem/derived"
DERIVED_STATUS = "derived-status"

ALWAYS: Instant = -62_135_596_800 * SECOND
"""0001-01-01: before every anchor. Facts known from the start (a birth date, a dictionary) carry it."""

_LAST: Instant = 253_402_300_799 * SECOND
"""9999-12-31T23:59:59: the last second a date can be written for."""


def decimal(text: str) -> orjson.Fragment:
    """Return a JSON number that is written exactly as `text` (0.30 stays 0.30).

    Raises:
        DataError: `text` is not a JSON number.
    """
    bare = text.strip(" \t\n\r")
    if _NUMBER.fullmatch(bare) is None:
        raise DataError(f"`{text}` is not a JSON number; write it as 0.30, -5 or 1e3")
    return orjson.Fragment(bare)


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,3999})(?:\.[0-9]{1,4000})?(?:[eE][+-]?[0-9]{1,9})?")
"""A JSON number; longer ones Python itself does not read."""


def dump(resource: Mapping[str, Any]) -> bytes:
    """Write a resource as JSON; `Decimal`s keep their digits, `Fragment`s their text.

    Raises:
        DataError: A value is not JSON (NaN, a lone surrogate, an unknown type).
    """
    try:
        return orjson.dumps(resource, default=_encode)
    except (orjson.JSONEncodeError, RecursionError) as fault:
        name = f"{resource.get('resourceType')}/{resource.get('id')}"
        raise DataError(f"{name} cannot be written as JSON: {fault}; use str, int, Decimal, list and dict") from fault


def _encode(value: object) -> orjson.Fragment:
    if isinstance(value, Decimal) and value.is_finite():
        return orjson.Fragment(str(value))
    raise TypeError(f"`{value!r}` is not JSON")


def load(body: bytes | str) -> Resource:
    """Read a resource; decimal numbers come back as `Decimal` with their digits.

    Raises:
        DataError: Not a JSON object.
    """
    try:
        resource = _DECODER.decode(body if isinstance(body, str) else body.decode())
    except (ValueError, RecursionError) as fault:
        raise DataError(f"not a JSON resource: {fault}; give one FHIR R4 resource as a JSON object") from fault
    if not isinstance(resource, dict):
        raise DataError(f"not a JSON object but {type(resource).__name__}; give one FHIR R4 resource")
    return resource


def _refuse(name: str) -> None:
    raise ValueError(f"`{name}` is not a JSON number")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_refuse)
"""Made once: `json.loads` with hooks makes a new decoder for every text."""


period_of = lru_cache(maxsize=1 << 14)(parse_period)
"""`parse_period`, remembered: the results of one panel share their times."""


def end_of(text: str) -> Instant:
    """Return when a dated fact is certainly over: the instant itself, or the last second of a partial date.

    Raises:
        ValueError: `text` is not a date.
    """
    start, end = period_of(text)
    return start if end - start <= SECOND else end - SECOND


def instant_text(instant: Instant) -> str:
    """Write an instant as a FHIR instant in UTC, with a fraction only where there is one, in years 1 to 9999."""
    written = min(max(instant, ALWAYS), _LAST)
    text, fraction = format_instant(written), written % SECOND
    return f"{text[:-1]}.{fraction:06d}Z" if fraction else text


def values_at(node: Any, path: str) -> Iterator[Any]:
    """Yield the values at a dotted path, through arrays; a last array is yielded element by element."""
    key, _, rest = path.partition(".")
    for item in node if isinstance(node, list) else (node,):
        if not isinstance(item, dict) or key not in item:
            continue
        value = item[key]
        if rest:
            yield from values_at(value, rest)
        elif isinstance(value, list):
            yield from value
        else:
            yield value


def stamp(resource: Resource, known_at: Instant) -> Resource:
    """Set the `known-at` mark in place (an earlier one is replaced) and return the resource."""
    meta = resource.setdefault("meta", {})
    others = [mark for mark in meta.get("extension", ()) if mark.get("url") != KNOWN_AT]
    meta["extension"] = [*others, {"url": KNOWN_AT, "valueInstant": instant_text(known_at)}]
    return resource


def known_at(resource: Mapping[str, Any]) -> Instant | None:
    """Return the instant of the `known-at` mark; None where there is none (then the resource is never visible)."""
    for mark in resource.get("meta", {}).get("extension", ()):
        if mark.get("url") == KNOWN_AT:
            return period_of(mark["valueInstant"])[0]
    return None


def known_later(resource: Resource, path: str, known: Instant) -> Resource:
    """Mark the field at `path` (dotted, `period.end`) as known from `known` on; before, it is dropped. In place."""
    return _mark_later(resource, path, known, [])


def known_value(resource: Resource, path: str, value: Any, known: Instant) -> Resource:
    """Give the field at `path` the value `value` from `known` on (the latest known value wins). In place.

    Demographics are written so: each admission's marital status with its admission time.
    """
    text = orjson.dumps(value, default=_encode).decode()
    return _mark_later(resource, path, known, [{"url": "value", "valueString": text}])


def _mark_later(resource: Resource, path: str, known: Instant, value: list[Resource]) -> Resource:
    marks = resource.setdefault("meta", {}).setdefault("extension", [])
    known_text = instant_text(known)
    parts = [{"url": "path", "valueString": path}, {"url": "known", "valueInstant": known_text}, *value]
    marks.append({"url": KNOWN_LATER, "extension": parts})
    return resource


def tag_derived(resource: Resource) -> Resource:
    """Add the derived-status tag in place, once, and return the resource."""
    tags = resource.setdefault("meta", {}).setdefault("tag", [])
    if not is_derived(resource):
        tags.append({"system": DERIVED_SYSTEM, "code": DERIVED_STATUS})
    return resource


def is_derived(resource: Mapping[str, Any]) -> bool:
    """Tell whether the status of a resource was derived by a rule."""
    return any(tag.get("system") == DERIVED_SYSTEM for tag in resource.get("meta", {}).get("tag", ()))


def with_rank(condition: Resource, rank: int) -> Resource:
    """Record the rank of a coded diagnosis (1 is the principal one) in place; searches show it first."""
    others = [mark for mark in condition.get("extension", ()) if mark.get("url") != RANK]
    condition["extension"] = [*others, {"url": RANK, "valuePositiveInt": rank}]
    return condition


def rank_of(condition: Mapping[str, Any]) -> int | None:
    """Return the rank of a coded diagnosis; None where none was recorded."""
    for mark in condition.get("extension", ()):
        if mark.get("url") == RANK:
            rank = mark.get("valuePositiveInt")
            return rank if isinstance(rank, int) else None
    return None


def place_of(resource: Mapping[str, Any]) -> int | None:
    """Return what orders resources of equal time: the rank of a diagnosis; note and order of a section of a note."""
    for mark in resource.get("extension", ()):
        if mark.get("url") == NOTE_SECTION:
            parts = {part["url"]: part for part in mark.get("extension", ())}
            number = parts.get("noteNumber", {}).get("valuePositiveInt", 0)
            order = parts.get("order", {}).get("valuePositiveInt", 0)
            return number * 1000 + order if isinstance(number, int) and isinstance(order, int) else None
    return rank_of(resource)
