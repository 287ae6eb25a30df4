"""What being ill enough for a hospital bed does to labs and vital signs, beside the illness itself."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from importlib import resources
from types import MappingProxyType

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import LabEffect
from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .life import Illness
from .physiology_core import CONTEXT, HOUR, Shift

_BEFORE_H = 72
_BORNE = ((18, Decimal("0.25")), (40, Decimal("0.6")))
"""Below an age, the share of the effect that shows."""
_USUAL = MappingProxyType({"times": Decimal(1), "add": Decimal(0)})
_RECOVERS_H = 96
"""Recovery begins so long after arrival, unless the illness turns before."""


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    format_version: int
    assumption: bool
    note: str
    entries: tuple[LabEffect, ...]
    bed: tuple[LabEffect, ...]
    """What the stay itself does (blood draws, fluids): it grows over the days, whatever becomes of the illness."""


@cache
def _document() -> _Document:
    data = resources.files("wardround.patients.hospital").joinpath("data", "stay_effects.json").read_bytes()
    return TypeAdapter(_Document).validate_python(orjson.loads(data))


def stay_effects() -> tuple[LabEffect, ...]:
    """Return the effects of `data/stay_effects.json` that go with the illness."""
    return _document().entries


def stay_shifts(illness: Illness, age: int, arrival: Instant, stream: Stream, bed: str = "") -> tuple[Shift, ...]:
    """Return the shifts of one hospital stay.

    Args:
        illness: The principal one: the cause, whose turn begins recovery. One of the mind spares the body.
        age: In years; the young bear it better.
        arrival: At the hospital; the shifts begin three days before.
        stream: Named by the stay.
        bed: Id of the stay: the cause of what lying in hospital does; "" leaves it to the illness.
    """
    begin = arrival - _BEFORE_H * HOUR
    profile = condition_profiles().get(illness.condition)
    if profile is not None and profile.system == "psychiatric":
        return ()
    bears = next((part for below, part in _BORNE if age < below), Decimal(1))
    found = []
    for effect in (*stay_effects(), *_document().bed):
        lot = stream.below(1001)
        if stream.below(100) >= effect.percent:
            continue
        low, high = effect.band(illness.severity)
        if _opposed(illness, effect):
            continue
        way = CONTEXT.divide(CONTEXT.multiply(CONTEXT.subtract(high, low), Decimal(lot)), Decimal(1000))
        found.append(
            Shift(
                lab=effect.lab,
                cause=bed if bed and effect in _document().bed else illness.id,
                mode=effect.mode,
                size=_borne(effect.mode, CONTEXT.add(low, way), bears),
                begin=begin,
                peak=begin + effect.rise_hours * HOUR,
                turn=max(arrival + _RECOVERS_H * HOUR, begin + effect.rise_hours * HOUR),
                half_life_h=effect.half_life_hours,
                stays=CONTEXT.divide(Decimal(effect.stays), Decimal(100)),
            )
        )
    return tuple(found)


def _opposed(illness: Illness, effect: LabEffect) -> bool:
    """Tell whether an effect of the stay would hide what the illness itself does (calcium in hypercalcaemia)."""
    profile = condition_profiles().get(illness.condition)
    if profile is None:
        return False
    lowers = _middle(effect, illness) < _USUAL[effect.mode]
    reached = {effect.lab} | ({"calcium"} if effect.lab == "albumin" else set())
    return any(
        one.lab in reached and (_middle(one, illness) < _USUAL[one.mode]) != lowers
        for one in profile.effects
        if _middle(one, illness) != _USUAL[one.mode]
    )


def _middle(effect: LabEffect, illness: Illness) -> Decimal:
    low, high = effect.band(illness.severity)
    return CONTEXT.divide(CONTEXT.add(low, high), Decimal(2))


def _borne(mode: str, size: Decimal, part: Decimal) -> Decimal:
    usual = Decimal(1 if mode == "times" else 0)
    return CONTEXT.add(usual, CONTEXT.multiply(CONTEXT.subtract(size, usual), part))
