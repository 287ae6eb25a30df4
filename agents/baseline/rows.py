"""What tools show, as small records: the newest value, the order in force, the last dose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import orjson

from wardround.patients import conditions_of, knowledge

Level = Literal["high", "low", "normal"]
_ICD = "http://hl7.org/fhir/sid/icd-10-cm"


@dataclass(frozen=True)
class Value:
    """One measurement as the chart shows it."""

    lab: str
    text: str
    number: Decimal | None
    unit: str
    level: Level | None
    time: str
    low: Decimal | None = None
    high: Decimal | None = None


def table(text: str) -> list[dict[str, Any]]:
    """Return the rows of a search by column; none where the text is no table."""
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        return []
    if not isinstance(data, dict):
        return []
    columns, rows = data.get("columns"), data.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list):
        return []
    return [dict(zip(columns, row, strict=False)) for row in rows if isinstance(row, list)]


def values(lab: str, text: str) -> list[Value]:
    """Return the values of one test or vital sign, newest first.

    Args:
        lab: Concept id; of a pressure charted as a pair, its part is taken.
        text: What the tool showed.
    """
    return [value for row in table(text) if (value := _value(lab, row)) is not None]


def _value(lab: str, row: Mapping[str, Any]) -> Value | None:
    shown = row.get("value")
    if shown is None:
        return None
    text = str(shown)
    named = knowledge.lexicon().resolve(str(row.get("name") or ""), kinds={"lab", "vital"})
    if named is not None and named.id != lab:
        part = knowledge.part_of_pressure(lab, text) if named.id == knowledge.PRESSURE else None
        if part is None:
            return None
        text = part
    low, high = _range(lab, row)
    number = _number(text)
    return Value(
        lab=lab,
        text=text,
        number=number,
        unit=str(row.get("unit") or ""),
        level=_level(text, number, str(row.get("flag") or ""), low, high),
        time=str(row.get("time") or ""),
        low=low,
        high=high,
    )


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _range(lab: str, row: Mapping[str, Any]) -> tuple[Decimal | None, Decimal | None]:
    """Return the row's own range, else the knowledge base's where it is the same for both sexes."""
    shown = str(row.get("range") or "")
    if shown:
        low, dash, high = shown.partition("-")
        if dash:
            return _number(low.strip()), _number(high.strip())
        bound = _number(shown.lstrip("<>≤≥= "))
        return (None, bound) if shown[0] in "<≤" else (bound, None)
    known = knowledge.labs().get(lab)
    if known is None or len(known.ranges) != 1 or known.ranges[0].sex is not None:
        return None, None
    only = known.ranges[0]
    same = knowledge.unit(only.unit) == knowledge.unit(str(row.get("unit") or ""))
    return (only.low, only.high) if same else (None, None)


def _level(text: str, number: Decimal | None, flag: str, low: Decimal | None, high: Decimal | None) -> Level | None:
    if flag[:1] == "H":
        return "high"
    if flag[:1] == "L":
        return "low"
    if number is None:
        return "normal" if not flag and (low is not None or high is not None) and text[:1] != ">" else None
    if low is not None and number < low:
        return "low"
    if high is not None and number > high:
        return "high"
    return "normal" if low is not None or high is not None else None


def drug_rows(drug: str, text: str) -> list[dict[str, Any]]:
    """Return the rows of orders or doses given that name a drug, newest first; all rows where none can be told."""
    lexicon, found = knowledge.lexicon(), table(text)
    mine = [
        row
        for row in found
        if any(
            lexicon.is_a(concept, drug)
            for mention in lexicon.scan(str(row.get("medication") or ""), kinds={"drug", "drug_class"})
            for concept in mention.concepts
        )
    ]
    return mine or found


def drugs_of(rows: list[dict[str, Any]]) -> list[str]:
    """Return the drugs that rows of orders name, each once."""
    lexicon = knowledge.lexicon()
    found = [
        mention.concept for row in rows for mention in lexicon.scan(str(row.get("medication") or ""), kinds={"drug"})
    ]
    return list(dict.fromkeys(found))


def diagnoses(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (condition, row) of a list of diagnoses that are active."""
    for row in table(text):
        if str(row.get("status") or "active") in {"resolved", "inactive", "remission"}:
            continue
        code = str(row.get("code") or "")
        for condition in conditions_of((str(row.get("name") or ""), (), [f"{_ICD}|{code}"] if code else [])):
            yield condition, row
