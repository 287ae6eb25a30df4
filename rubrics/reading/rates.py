"""Counts and seconds that are measurements after all: "一分钟喘30次", "心率一百二十六次", a QTc in seconds."""

from __future__ import annotations

from dataclasses import replace

from wardround.patients import knowledge

from .cues import longest_first, words
from .document import CLAUSE_MARKS, Ann
from .quantities import Quantity
from .tokens import Token

PER_MINUTE = longest_first("annotate.per_minute")
OXYGEN = words("measure.oxygen")
OXYGEN_WORDS = words("rates.oxygen")
NEEDING = words("rates.needing")
FLUIDS = words("rates.fluids")
"""What litres are of that are no oxygen."""
OXYGEN_REACH = 14
MOST_OXYGEN = 15
LEAST_RATE = 8
"""A smaller number of times is a count, not a rate a minute."""
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


def _beside(quantity: Quantity, names: dict[int, Ann]) -> bool:
    """As in "脉搏112次", "呼吸28次": the rate's name stands right before the count."""
    near = (names.get(quantity.start - back) for back in (1, 2))
    return quantity.shape == "one" and quantity.values[0] >= LEAST_RATE and any(ann is not None for ann in near)


def flowing(quantity: Quantity, tokens: list[Token]) -> Quantity:
    """Read litres that somebody needs or is on, or beside a word for oxygen, as litres of oxygen a minute."""
    if quantity.unit != "L" or quantity.shape != "one" or not 0 < quantity.values[0] <= MOST_OXYGEN:
        return quantity
    end = quantity.end
    if end < len(tokens) and tokens[end].key == "of":
        given = end + 1 < len(tokens) and tokens[end + 1].key in OXYGEN
    else:
        far = [token.key for token in tokens[max(0, quantity.start - OXYGEN_REACH) : quantity.start]]
        near = {*far, *(token.key for token in tokens[end : end + 6])}
        given = bool(near & OXYGEN_WORDS) or far[-1:] == ["on"] or bool(set(far) & NEEDING)
        given = given and not near & FLUIDS
    return replace(quantity, unit="L/min", dimension="flow") if given else quantity


def timed(quantity: Quantity, names: dict[int, Ann]) -> Quantity:
    """Read seconds as a measurement after one that is timed (QTc, aPTT), and "心率一百二十六次" as a rate."""
    beats = quantity.time and quantity.unit is None and (quantity.worded or _beside(quantity, names))
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
