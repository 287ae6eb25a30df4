"""What a row of `chartevents` says: its item, value and unit (`data/mimic_chart_items.json`)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import orjson

from wardround.patients import knowledge
from wardround.patients.resource import SITE, Resource

from . import _vocabulary as words
from ._lab_values import Value
from ._values import MASKED, clean, compared, note_unread, number
from .report import Tally

CONCEPT = f"{SITE}/CodeSystem/concept"
"""Code system of the knowledge base's own ids."""


class Item(NamedTuple):
    """What is the same in every row of one item."""

    code: Resource
    category: list[Resource]
    unit: str | None
    """Unit of rows that state none."""
    ranges: tuple[dict[str, Any], ...]
    """Ranges of the number in which its unit is certain, whatever the row says."""
    note: str | None


def describe(item_id: str, label: str | None, group: str | None) -> Item:
    """Describe an item.

    Args:
        item_id: The itemid.
        label: Its label in `d_items`.
        group: Its category there.
    """
    table = words.chart_items()
    entry = table["items"].get(item_id, {})
    name, note = label or f"Item {item_id}", None
    copied = table["copied"]
    if group == copied["category"] and item_id not in copied["original"]:
        name, note = copied["name"].format(label=name), copied["said"]
    codings = [words.coding(words.LOINC, code) for code in entry.get("loinc", ())]
    if note is not None and "concept" in entry:
        # found by the test's names, but no LOINC: beside its original a copy would be a second, different result
        test = knowledge.labs()[entry["concept"]]
        codings.append(words.coding(CONCEPT, test.id, test.name.en))
    codings.append(words.coding(words.system("chart_item"), item_id, label))
    code = entry.get("category") or table["categories"].get(group or "")
    kind = [words.coding(words.OBSERVATION_CATEGORY, code, table["category_names"][code])] if code else []
    return Item(
        words.concept(name, *codings),
        [words.concept(group or "ICU", *kind)],
        entry.get("unit"),
        tuple(entry.get("ranges", ())),
        note,
    )


def read_value(text: str | None, figure: str | None, tally: Tally) -> Value:
    """Decide what a charted row says.

    The number is `valuenum`, with the digits of `value` where that is the same number. Words beside a number (a score's
    meaning: 4, "Spontaneously") are its note; without a number they are the value.

    Examples:
        >>> tally = Tally("chartevents")
        >>> read_value("98.60", "98.6", tally).number, read_value("Spontaneously", "4", tally).note
        ('98.60', 'Charted as: Spontaneously')
        >>> read_value("Clear", None, tally).words, read_value(None, None, tally).absent
        ('Clear', 'unknown')
    """
    text, measured = clean(text), number(figure)
    if measured is None:
        note_unread(figure, tally)
    if text == MASKED:
        text = None
        if measured is None:
            return Value(absent="masked")
    if text is None:
        return Value(absent="unknown") if measured is None else Value(number=measured)
    charted, limit = number(text), compared(text)
    if measured is None:
        if limit is not None:
            return Value(number=limit[1], comparator=limit[0])
        return Value(number=charted) if charted is not None else Value(words=text)
    if charted is not None and (charted == measured or Decimal(charted) == Decimal(measured)):
        return Value(number=charted)
    if limit is not None and Decimal(limit[1]) == Decimal(measured):
        return Value(number=limit[1], comparator=limit[0])
    if charted is not None or limit is not None:
        tally.note("value and valuenum differ; valuenum is the result, value is noted")
    return Value(number=measured, note=f"Charted as: {text}")


def settle_unit(item: Item, figure: str | None, unit: str | None, tally: Tally) -> tuple[str | None, str | None]:
    """Return the unit of a number, and a note where it is not the one that was charted.

    A temperature is read in the other unit, and FiO2 as a fraction or as percent, only where the number leaves no doubt
    (`mimic_chart_items.json`, `ranges`); every other number keeps what was charted.
    """
    if figure is None:
        return None, None
    for one in item.ranges:
        if Decimal(one["from"]) <= Decimal(figure) <= Decimal(one["to"]):
            if "counted" in one:
                tally.note(one["counted"])
            return one["unit"], one.get("said")
    if unit is None or unit in words.units()["absent"]:
        return item.unit, None
    if item.unit is not None and unit not in words.units()["chart"]:
        tally.note("a unit without a code (?F); the item's own unit stands in for it")
        return item.unit, None
    return unit, None


def charted_quantity(value: str, comparator: str | None, unit: str | None) -> Resource:
    """Build a Quantity; laboratory units too, for the results that are copied into the chart."""
    out: dict[str, Any] = {"value": orjson.Fragment(value)}
    if comparator is not None:
        out["comparator"] = comparator
    if unit is not None:
        out["unit"] = unit
        code = words.units()["chart"].get(unit) or words.units()["lab"].get(unit)
        if code is not None:
            out |= {"system": words.UCUM, "code": code}
    return out
