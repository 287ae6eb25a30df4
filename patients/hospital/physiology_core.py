"""Arithmetic of the body in integers: millionths of a lab's unit, set points, days, courses of shifts, limits.

Integers know no ambient decimal context and no platform; `Decimal` appears only where a logarithm is taken, in a
context of our own. A millionth is called a micro here and in the files beside this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cache
from math import isqrt
from typing import Literal

from wardround.patients.knowledge.bedside import lab_profiles
from wardround.patients.knowledge.bedside_models import LabProfile
from wardround.patients.rng import Stream
from wardround.patients.times import Instant

from .onset import HOUR

MICRO = 1_000_000
CONTEXT = Context(prec=18, rounding=ROUND_HALF_EVEN)
"""Of every logarithm and power: correctly rounded, so the same everywhere."""
_STEPS = 64
_SPREAD = 37_837
"""Standard deviation of a sum of four 16-bit integers."""


@dataclass(frozen=True, slots=True)
class Shift:
    """What a fact does to one lab or vital sign, and when.

    The effect rises in a straight line from `begin` to `peak`; after `turn` the part that does not stay halves each
    `half_life_h` hours.
    """

    lab: str
    cause: str
    """Id of the illness, prescription or stay that does it."""
    mode: Literal["add", "times"]
    size: Decimal
    begin: Instant
    peak: Instant
    turn: Instant | None = None
    half_life_h: int | None = None
    """None: it stays whole after `turn`."""
    stays: Decimal = Decimal(0)
    """Share that stays for good, 0 to 1."""


def micro(value: Decimal) -> int:
    """Return a decimal in millionths, what is finer cut off."""
    return int(CONTEXT.scaleb(value, 6))


def decimal(value: int) -> Decimal:
    """Return millionths as a decimal, exactly."""
    return Decimal(value).scaleb(-6, context=Context(prec=60))


def _halves() -> tuple[int, ...]:
    """Return 2 to the power of minus k/64 for k from 0 to 64, in millionths."""
    scale = 10**40
    root = scale // 2
    for _ in range(6):
        root = isqrt(root * scale)
    table, value = [], scale
    for _ in range(_STEPS + 1):
        table.append((value + scale // (2 * MICRO)) * MICRO // scale)
        value = value * root // scale
    return tuple(table)


_HALVES = _halves()


def halved(elapsed: int, half_life: int) -> int:
    """Return 2 to the power of minus `elapsed` / `half_life`, in millionths."""
    whole, rest = divmod(elapsed, half_life)
    if whole >= 30:
        return 0
    step, inside = divmod(rest * _STEPS, half_life)
    high, low = _HALVES[step], _HALVES[step + 1]
    return (high - (high - low) * inside // half_life) >> whole


def raised(base: Decimal, exponent: Decimal) -> Decimal:
    """Return a positive base to any power, the same on every machine."""
    return CONTEXT.exp(CONTEXT.multiply(CONTEXT.ln(base), exponent))


def normal(key: Sequence[str | int]) -> int:
    """Return the standard normal number (Irwin-Hall of four, within ±3.47) named by a key, in millionths."""
    bits = Stream(*key).bits64()
    total = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48)
    return (total - 131_070) * MICRO // _SPREAD


def share(shift: Shift, at: Instant) -> int:
    """Return how much of a shift is there at an instant, in millionths."""
    if at < shift.begin:
        return 0
    until = at if shift.turn is None else min(at, shift.turn)
    if until < shift.begin:
        return 0
    risen = MICRO if until >= shift.peak else (until - shift.begin) * MICRO // (shift.peak - shift.begin)
    if shift.turn is None or at <= shift.turn or shift.half_life_h is None:
        return risen
    stays = micro(shift.stays)
    left = halved(at - shift.turn, shift.half_life_h * HOUR) if shift.half_life_h else 0
    return risen * (stays + (MICRO - stays) * left // MICRO) // MICRO


@dataclass(frozen=True, slots=True)
class Law:
    """A lab profile made ready for arithmetic; amounts in millionths of the unit."""

    profile: LabProfile
    rows: tuple[tuple[str | None, int, int, Decimal, Decimal], ...]
    within: int
    noise: int
    least: int | None
    most: int | None
    step: int
    steps: tuple[int, ...] = ()

    def stands(self, sex: str) -> bool:
        """Return whether it exists for a sex at all."""
        return not self.rows or any(of in (None, sex) for of, *_ in self.rows)


@cache
def law(lab: str) -> Law | None:
    """Return the law of a lab, None where there is no profile."""
    profile = lab_profiles().get(lab)
    if profile is None:
        return None
    return Law(
        profile,
        tuple((one.sex, one.from_age, one.below_age, one.mean, one.sd) for one in profile.baselines),
        micro(profile.within_percent) // 100,
        micro(profile.noise_percent) // 100,
        None if profile.least is None else micro(profile.least),
        None if profile.most is None else micro(profile.most),
        micro(profile.step) if profile.step is not None else 10 ** (6 - profile.digits),
        tuple(micro(one) for one in profile.steps),
    )


def set_point(rule: Law, sex: str, age: int, z: int) -> int:
    """Return where a person of a sex and age lies who is `z` (millionths) deviations from the mean."""
    for of, first, below, mean, sd in rule.rows:
        if of in (None, sex) and first <= age < below:
            if rule.profile.spread == "normal" or not mean:
                return micro(mean) + micro(sd) * z // MICRO
            return _skewed(mean, sd, z)
    return 0


def _skewed(mean: Decimal, sd: Decimal, z: int) -> int:
    ratio = CONTEXT.add(Decimal(1), CONTEXT.divide(sd, mean))
    return micro(CONTEXT.multiply(mean, raised(ratio, decimal(z))))


def combined(times: list[int], add: list[int]) -> tuple[int, int, int]:
    """Combine factors and amounts, in millionths.

    Of several that pull one way the strongest counts in full; of a second factor above one a quarter, of a third a
    sixteenth, of second amounts and lowering factors a half and so on: two causes of one kidney failure do not
    multiply, and four blood pressure drugs do not bring anyone to zero.

    Returns:
        (raising factor, amount, lowering factor): a value is (calm x raising + amount) x lowering, for what lowers a
        value (a statin, insulin) lowers what an illness added too, while what raises one (failing kidneys) does not
        raise what something else adds.
    """
    rising = falling = MICRO
    for place, one in enumerate(sorted((one for one in times if one > MICRO), reverse=True)):
        rising = rising * (MICRO + ((one - MICRO) >> (2 * place))) // MICRO
    for place, one in enumerate(sorted(one for one in times if one < MICRO)):
        falling = falling * (MICRO + ((one - MICRO) >> place)) // MICRO
    amount = sum(one >> place for place, one in enumerate(sorted((one for one in add if one > 0), reverse=True)))
    return (
        rising,
        amount + sum(one >> place for place, one in enumerate(sorted(one for one in add if one < 0))),
        falling,
    )


def softened(value: int, centre: int, least: int | None, most: int | None) -> int:
    """Bend a value towards its limits, which it never passes; near `centre` it is left as it is."""
    bound = most if value > centre else least
    if bound is None or value == centre:
        return value
    room, way = abs(bound - centre), abs(value - centre)
    if (bound > centre) != (value > centre) or not room:
        return bound
    ratio = way * 4096 // room
    if ratio < 1024:  # a quarter of the way: bends by less than a thousandth
        return value
    root = isqrt(isqrt((4096**4 + ratio**4) << 32))
    way = min(room, way * (4096 << 8) // root)
    return centre + way if value > centre else centre - way


def effects_of(shift: Shift, calm: int, at: Instant) -> int:
    """Return how far one shift alone would move a value, without sign, in millionths of the unit."""
    there = share(shift, at)
    if not there:
        return 0
    if shift.mode == "add":
        return abs(micro(shift.size) * there // MICRO)
    return abs(calm * ((micro(shift.size) - MICRO) * there // MICRO) // MICRO)
