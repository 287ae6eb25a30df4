"""Measurements: the numbers and words of a chart's observations, tied to the concepts of the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from .elements import exact, flag_of, number_text, range_of, text_of, unit_of, value_of
from .knowledge import labs, lexicon
from .packing import fold, times_of
from .resource import Resource
from .times import Instant

LOINC = "http://loinc.org"
MIMIC_ITEMS = tuple(f"http://mimic.mit.edu/fhir/mimic/CodeSystem/{name}" for name in ("mimic-d-labitems", "d-labitems"))
"""Both spellings of the system of MIMIC's laboratory items that are in use."""


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
    time, first, _ = times_of(resource)
    instant = first if time is not None else None
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
    """Return the knowledge base's id for a coded measurement: by LOINC, by MIMIC item, then by name.

    Where it knows none, the folded name; with the item's number where that name means another measurement.
    """
    codings = tuple((coding.get("system"), coding.get("code")) for coding in code.get("coding", ()))
    return _concept(codings, name)


@lru_cache(maxsize=4096)
def _concept(codings: tuple[tuple[str | None, str | None], ...], name: str) -> str:
    by_code = _labs_by_code()
    for system, code in codings:
        found = by_code.get((system, code)) if system and code else None
        if found is not None:
            return found
    known = lexicon().resolve(name, kinds=("lab", "vital")) if name else None
    item = next((code for system, code in codings if system in MIMIC_ITEMS), None)
    if known is not None and item is not None:
        # MIMIC labels leave the fluid out ("Glucose" of urine), so the words of an item we do not know prove nothing.
        return f"{fold(name)} ({item})"
    return known.id if known is not None else fold(name)


@cache
def _labs_by_code() -> dict[tuple[str, str], str]:
    found = {}
    for identity, lab in labs().items():
        for code in lab.loinc:
            found[LOINC, code] = identity
        for item in lab.mimic_itemids:
            for system in MIMIC_ITEMS:
                found[system, str(item)] = identity
    return found
