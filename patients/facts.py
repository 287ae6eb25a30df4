"""Measurements: the numbers and words of a chart's observations, tied to the concepts of the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from .packing import attributes, fold
from .resource import Resource
from .rows import exact, flag_of, number_text, range_of, text_of, unit_of, value_of
from .times import Instant

LOINC = "http://loinc.org"
MIMIC_ITEMS = "http://mimic.mit.edu/fhir/mimic/CodeSystem/mimic-d-labitems"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measured value of a chart."""

    concept: str
    """Id of the knowledge base's lab or vital; the folded own name where it knows none."""
    name: str
    """Name as the chart has it."""
    text: str
    """Value as the chart has it ("0.30", ">300", "NEG"), without unit."""
    value: Decimal | None
    """Number; None for words and for values with a comparator."""
    comparator: str | None
    """`<`, `<=`, `>=` or `>` where the value is only bounded."""
    bound: Decimal | None
    """The number behind a comparator."""
    unit: str | None
    """Unit as the chart has it."""
    instant: Instant | None
    """When it was measured; None for an undated one."""
    low: Decimal | None
    high: Decimal | None
    """The chart's own reference range, in the same unit."""
    flag: str | None
    """H, L from both bounds; else the source's flag; None for normal or unflagged."""
    key: str
    """`Observation/…`."""


def measurements(resource: Resource) -> tuple[Measurement, ...]:
    """Return the measurements of a resource: one, or one per component; none for anything but an Observation."""
    if resource.get("resourceType") != "Observation":
        return ()
    marks = attributes(resource)
    instant = marks.first if marks.time is not None else None
    key = f"Observation/{resource.get('id')}"
    return tuple(_measured(resource, instant, key))


def _measured(resource: Resource, instant: Instant | None, key: str) -> Iterator[Measurement]:
    for node in (resource, *resource.get("component", ())):
        value, unit = value_of(node)
        if value is None:
            continue
        quantity = node.get("valueQuantity", {})
        comparator = quantity.get("comparator")
        number = exact(quantity["value"]) if "value" in quantity else None
        if number is None and isinstance(value, int) and not isinstance(value, bool):
            number = Decimal(value)
        low, high, _ = range_of(node)
        name = text_of(node.get("code")) or ""
        yield Measurement(
            concept_of(node.get("code") or {}, name), name, number_text(value),
            None if comparator else number, comparator, number if comparator else None,
            unit_of(quantity) if quantity else unit, instant, _number(low), _number(high), flag_of(node), key,
        )  # fmt: skip


def _number(value: Any) -> Decimal | None:
    return None if value is None else exact(value)


def concept_of(code: Mapping[str, Any], name: str) -> str:
    """Return the knowledge base's id for a coded measurement: by LOINC, by MIMIC item, then by name."""
    codings = tuple((coding.get("system"), coding.get("code")) for coding in code.get("coding", ()))
    return _concept(codings, name)


@lru_cache(maxsize=4096)
def _concept(codings: tuple[tuple[str | None, str | None], ...], name: str) -> str:
    return fold(name)
