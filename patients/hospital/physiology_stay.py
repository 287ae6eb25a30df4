"""What being ill enough for a hospital bed does to labs and vital signs, beside the illness itself."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from types import MappingProxyType

from wardround.patients.knowledge.bedside import condition_profiles
from wardround.patients.knowledge.graph_models import LabEffect
from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .documents import Frozen, read_document
from .life import Illness
from .onset import HOUR
from .physiology_core import CONTEXT, Shift

_USUAL = MappingProxyType({"times": Decimal(1), "add": Decimal(0)})


class _Borne(Frozen):
    below_age: int
    share: Decimal


class _Document(Frozen):
    """The content of `data/stay_effects.json`."""

    format_version: int
    assumption: bool
    note: str
    entries: tuple[LabEffect, ...]
    before_hours: int
    """The shifts begin so long before arrival."""
    recovers_hours: int
    """Recovery begins so long after arrival, unless the illness turns before."""
    borne: tuple[_Borne, ...]
    """Below an age, the share of the effect that shows; the lowest age first."""
    spared: tuple[str, ...]
    """Systems whose illnesses spare the body."""
    bound: dict[str, tuple[str, ...]]
    """Lab → those that go with it."""
    bed: tuple[LabEffect, ...]
    """What the stay itself does (blood draws, fluids): it grows over the days, whatever becomes of the illness."""


@cache
def _document() -> _Document:
    return _Document.model_validate_json(read_document("stay_effects.json"))


def stay_effects() -> tuple[LabEffect, ...]:
    """Return the effects of `data/stay_effects.json` that go with the illness."""
    return _document().entries


def stay_shifts(illness: Illness, age: int, arrival: Instant, stream: Stream, bed: str = "") -> tuple[Shift, ...]:
    """Return the shifts of one hospital stay.

    Args:
        illness: The principal one: the cause, whose turn begins recovery. One of the mind spares the body.
        age: In years; the young bear it better.
        arrival: At the hospital; the shifts begin some days before.
        stream: Named by the stay.
        bed: Id of the stay: the cause of what lying in hospital does; "" leaves it to the illness.
    """
    document = _document()
    begin = arrival - document.before_hours * HOUR
    profile = condition_profiles().get(illness.condition)
    if profile is not None and profile.system in document.spared:
        return ()
    bears = next((one.share for one in document.borne if age < one.below_age), Decimal(1))
    found = []
    for effect in (*document.entries, *document.bed):
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
                cause=bed if bed and effect in document.bed else illness.id,
                mode=effect.mode,
                size=_borne(effect.mode, CONTEXT.add(low, way), bears),
                begin=begin,
                peak=begin + effect.rise_hours * HOUR,
                turn=max(arrival + document.recovers_hours * HOUR, begin + effect.rise_hours * HOUR),
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
    reached = {effect.lab, *_document().bound.get(effect.lab, ())}
    return any(
        one.lab in reached and (_middle(one, illness) < _USUAL[one.mode]) != lowers
        for one in profile.effects
        if _middle(one, illness) != _USUAL[one.mode]
    )


def _middle(effect: LabEffect, illness: Illness) -> Decimal:
    low, high = effect.band(illness.severity)
    return CONTEXT.divide(CONTEXT.add(low, high), Decimal(2))


def _borne(mode: str, size: Decimal, part: Decimal) -> Decimal:
    usual = _USUAL[mode]
    return CONTEXT.add(usual, CONTEXT.multiply(CONTEXT.subtract(size, usual), part))
