"""Which side of its range a concept or a number is on, where a state word leaves that to them."""

from __future__ import annotations

from wardround.patients import knowledge

from .claims import Measured
from .cues import words
from .document import Ann

WORSE_HIGH = words("status.worse_when_high")
WORSE_LOW = words("status.worse_when_low")
LOW_WHEN_MISSED = words("status.low_when_missed")


def settled(ann: Ann, ids: tuple[str, ...], values: list[Measured]) -> tuple[str, ...]:
    """Return the statuses a state word means for a concept.

    "Worse" and "off target" depend on which way the concept is bad, "only 35" and "up to 6.2" on its reference range.
    """
    if ann.kind in ("better_high", "worse_high"):
        up = bool(set(ids) & WORSE_HIGH)
        if not up and not set(ids) & WORSE_LOW:
            return (ann.kind,)
        return ("rising",) if up == (ann.kind == "worse_high") else ("falling",)
    if ann.kind == "off_target":
        side = _side_of(ids, ann, values)
        if side == "normal" or not side or set(ids) & LOW_WHEN_MISSED:
            side = "low" if set(ids) & LOW_WHEN_MISSED else "high"
        return (side,)
    if ann.kind in ("down_to", "up_to"):
        side = _side_of(ids, ann, values)
        return (side,) if side == ("low" if ann.kind == "down_to" else "high") else ()
    return (ann.kind,)


def _side_of(ids: tuple[str, ...], ann: Ann, values: list[Measured]) -> str:
    """Return on which side of the reference range the concept's next number lies, "" where that is unknown."""
    for value in values:
        if ann.start <= value.token <= ann.end + 3 and set(value.concepts) & set(ids) and value.shape == "one":
            return side_of(value)
    return ""


def side_of(value: Measured) -> str:
    """Return high, low or normal for a number against the widest reference range known, "" without one."""
    lab = knowledge.labs().get(value.concept)
    if lab is None or not lab.ranges or value.shape != "one":
        return ""
    lows, highs = [], []
    for bounds in lab.ranges:
        number = knowledge.convert(value.values[0], value.unit, bounds.unit, value.concept)
        if number is None:
            return ""
        lows.append(bounds.low is not None and number < bounds.low)
        highs.append(bounds.high is not None and number > bounds.high)
    return "low" if all(lows) else "high" if all(highs) else "normal"
