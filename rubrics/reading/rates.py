"""Counts and seconds that are measurements after all: "一分钟喘30次", "心率一百二十六次", a QTc in seconds."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients import knowledge

from .cues import longest_first
from .document import CLAUSE_MARKS, Ann
from .quantities import Quantity
from .tokens import Token

PER_MINUTE = longest_first("annotate.per_minute")
MINUTE_REACH = 8
"""Tokens before a count in which "每分钟" makes it a rate."""


def minutely(quantity: Quantity, tokens: list[Token]) -> Quantity:
    """Read times that "每分钟" or "一分钟" stands shortly before as a rate ("一分钟喘30次")."""
    times = quantity.time and quantity.unit is None and quantity.shape == "one" and quantity.end < len(tokens)
    if not times or tokens[quantity.end].raw != "次":
        return quantity
    near = [token.raw for token in tokens[max(0, quantity.start - MINUTE_REACH) : quantity.start]]
    begin = max((i + 1 for i, raw in enumerate(near) if raw in CLAUSE_MARKS), default=0)
    if not any(word in "".join(near[begin:]) for word in PER_MINUTE):
        return quantity
    return replace(quantity, time=False, unit="/min", dimension="rate", end=quantity.end + 1)


def timed(quantity: Quantity, names: dict[int, Ann]) -> Quantity:
    """Read seconds as a measurement after one that is timed (QTc, aPTT), and "心率一百二十六次" as a rate."""
    beats = quantity.time and quantity.unit is None and quantity.worded
    if not beats and not (quantity.time and quantity.unit in ("s", "ms")):
        return quantity
    labs = knowledge.labs()
    units = ("/min",) if beats else ("s", "ms")
    for at in range(max(0, quantity.start - 11), quantity.start):
        ann = names.get(at)
        if ann is not None and any(one in labs and labs[one].unit in units for one in ann.value.ids):
            changed = replace(quantity, time=False)
            return replace(changed, unit="/min", dimension="rate") if beats else changed
    return quantity
