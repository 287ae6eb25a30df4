"""What a door that serves charts asks of them beside reading, searching and writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import orjson

from .chart import Chart, memory_chart
from .errors import DataError
from .packing import pack
from .query.definitions import compartment, parameters
from .query.extract import elements_of, links
from .resource import Resource, dump, load
from .strict_json import duplicate_key
from .times import NEVER, Instant

DEPTH = 64
"""Objects and arrays within each other that a resource from outside may have."""


def last_known(chart: Chart) -> Instant:
    """Return the instant at which the last that a chart ever shows became known."""
    since = chart.index.arrays["since"]
    since = since[since < NEVER]
    return int(np.max(since)) if len(since) else 0


def blank_chart(patient_id: str, licence: str) -> Chart:
    """Return a chart that holds nothing yet, for a patient who is to be written."""
    return memory_chart(pack(patient_id, [], licence))


def keys_of(chart: Chart) -> Iterator[str]:
    """Yield the `Type/id` of every resource of a chart, whenever it is known; one may come several times."""
    for kind, (start, stop) in chart.index.spans.items():
        for identity in chart.index.ids[start:stop]:
            yield f"{kind}/{identity}"


def read_resource(body: bytes) -> Any:
    """Read JSON that came from outside; decimals come back as `Decimal` with their digits.

    Returns:
        An object, or (for patches) an array.

    Raises:
        DataError: Not JSON, nested deeper than `DEPTH`, or with a key that stands twice in one object.
    """
    try:
        text = body.decode()
        plain = orjson.loads(text)
    except (UnicodeDecodeError, orjson.JSONDecodeError) as fault:
        raise DataError(f"not JSON in UTF-8: {str(fault)[:120]}") from fault
    if not isinstance(plain, dict | list):
        raise DataError("not a JSON object; give one FHIR R4 resource")
    level, depth = [plain], 0
    while level:
        depth += 1
        if depth > DEPTH:
            raise DataError(f"nested deeper than {DEPTH} levels")
        level = [
            inner
            for one in level
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
    twice = duplicate_key(text)
    if twice is not None:
        raise DataError(f"the key `{twice[:40]}` stands twice in one object")
    return load(f'{{"_":{text}}}')["_"]


def dump_resource(resource: Resource) -> bytes:
    """Write a resource as JSON; decimals keep their digits.

    Raises:
        DataError: A value is not JSON.
    """
    return dump(resource)


def patients_named(resource: Resource) -> tuple[str, ...]:
    """Return the ids of the patients in whose compartment a resource is, by the references that put it there."""
    kind = resource.get("resourceType")
    found: dict[str, None] = {}
    for name in compartment("Patient").get(kind, ()) if isinstance(kind, str) else ():
        for path in parameters(str(kind))[name].paths:
            for element in elements_of(resource, path):
                for link in links(element, path):
                    if link.local is not None and link.local.startswith("Patient/"):
                        found[link.local.partition("/")[2]] = None
    return tuple(found)


def with_references(node: Any, change: Callable[[str], str]) -> Any:
    """Return a resource with its references and URIs changed.

    Args:
        node: The resource, or a part of it.
        change: What is written now → what is to stand there.
    """
    if isinstance(node, dict):
        return {
            name: change(value)
            if name in ("reference", "uri", "url") and isinstance(value, str)
            else with_references(value, change)
            for name, value in node.items()
        }
    return [with_references(one, change) for one in node] if isinstance(node, list) else node
