"""What being ill enough for a hospital bed does to labs and vital signs, beside the illness itself."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from importlib import resources

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter

from wardround.patients.knowledge.graph_models import LabEffect, Severity
from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .physiology_core import CONTEXT, HOUR, Shift

_BEFORE_H = 72
_YOUNG = 40
_RECOVERS_H = 96
"""Recovery begins so long after arrival, unless the illness turns before."""


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    format_version: int
    assumption: bool
    note: str
    entries: tuple[LabEffect, ...]


@cache
def stay_effects() -> tuple[LabEffect, ...]:
    """Return the effects of `data/stay_effects.json`."""
    data = resources.files("wardround.patients.hospital").joinpath("data", "stay_effects.json").read_bytes()
    return TypeAdapter(_Document).validate_python(orjson.loads(data)).entries


def stay_shifts(illness: str, severity: Severity, age: int, arrival: Instant, stream: Stream) -> tuple[Shift, ...]:
    """Return the shifts of one hospital stay.

    Args:
        illness: Id of the principal illness: the cause, whose turn begins recovery.
        severity: Of that illness; whoever is younger than 40 bears it as if it were mild.
        age: In years.
        arrival: At the hospital; the shifts begin three days before.
        stream: Named by the stay.
    """
    begin = arrival - _BEFORE_H * HOUR
    bearing: Severity = "mild" if age < _YOUNG else severity
    found = []
    for effect in stay_effects():
        lot = stream.below(1001)
        if stream.below(100) >= effect.percent:
            continue
        low, high = effect.band(bearing)
        way = CONTEXT.divide(CONTEXT.multiply(CONTEXT.subtract(high, low), Decimal(lot)), Decimal(1000))
        found.append(
            Shift(
                lab=effect.lab,
                cause=illness,
                mode=effect.mode,
                size=CONTEXT.add(low, way),
                begin=begin,
                peak=begin + effect.rise_hours * HOUR,
                turn=arrival + _RECOVERS_H * HOUR,
                half_life_h=effect.half_life_hours,
                stays=CONTEXT.divide(Decimal(effect.stays), Decimal(100)),
            )
        )
    return tuple(found)
