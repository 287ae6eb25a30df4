"""Generates sentences that state one value, with the check the value must pass and one it must fail.

Seeded; the wordings are data (`data/number_wordings.json`). Used by `test_reading_numbers.py` and its external twin.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import orjson

from wardround.patients import knowledge

DATA = Path(__file__).parent / "data" / "number_wordings.json"
HAN = "零一二三四五六七八九"
FULL = str.maketrans("0123456789./", "０１２３４５６７８９．／")
DIGITS = {"ph": 2, "arterial_ph": 2, "inr": 1}
WHOLE = frozenset(("gcs", "pain_score"))
SKIPPED = frozenset(("urine_color", "urine_appearance", "blood_pressure"))


@dataclass(frozen=True)
class Case:
    """One sentence with the value it states and one that is 15–25 % off."""

    text: str
    language: str
    concept: str
    unit: str
    """Unit of both checks, any writing."""
    right: str
    wrong: str


def measurable() -> list[knowledge.Lab]:
    """Return the measurements that have numbers: a unit or a range."""
    return [
        lab
        for lab in knowledge.labs().values()
        if (lab.unit or lab.ranges) and lab.id not in SKIPPED and lab.unit not in ("{titer}", "/10", "{score}")
    ]


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield `count` cases."""
    rng = random.Random(seed)
    wordings = orjson.loads(DATA.read_bytes())
    labs = measurable()
    made = 0
    while made < count:
        language = "en" if made % 2 == 0 else "zh"
        found = _case(rng, labs[made // 2 % len(labs)], language, rng.choice(wordings[language]))
        if found is not None:
            made += 1
            yield found
        else:
            labs = labs[1:] + labs[:1]


def _case(rng: random.Random, lab: knowledge.Lab, language: str, wording: str) -> Case | None:
    bounds = lab.ranges[0] if lab.ranges else None
    units = [lab.unit, *(u for u in (*lab.units, *lab.factors) if _linear(lab, u))]
    unit = rng.choice(units)
    low, high = _bounds(lab, bounds)
    value = _digits(low + (high - low) * Decimal(rng.randint(0, 1000)) / 1000, lab)
    stated = _in(value, lab, unit)
    if stated is None or stated <= 0:
        return None
    off = Decimal(rng.randint(150, 250)) / 1000 * rng.choice((1, -1))
    wrong = _like(stated * (1 + off), stated)
    if (
        not Decimal("0.15") <= abs(wrong - stated) / stated <= Decimal("0.25")
        or f"{wrong}"[-1] == "0"
        or len(wrong.as_tuple().digits) < 2
    ):
        return None  # a JSON number drops its last zeros, and with them how exact it is
    other = _like(stated * Decimal("1.6"), stated)
    shown = knowledge.unit(unit).display if unit and knowledge.unit(unit) else unit
    number, written = _written(rng, stated, unit, shown, language)
    lo, hi = (_like(stated * Decimal("0.7"), stated), _like(stated * Decimal("1.3"), stated))
    name = _name(rng, lab, language)
    if language == "zh" and name[-1].isascii() and name[-1].isalnum():
        name += " "  # nobody writes "IL-688.2"
    text = (
        wording.replace("{N}", name[:1].upper() + name[1:] if language == "en" else name)
        .replace("{n}", name)
        .replace("{v}", written)
        .replace("{x}", number)
        .replace("{u}", shown)
        .replace("{lo}", f"{lo}")
        .replace("{hi2}", f"{_like(stated * 2, stated)}")
        .replace("{hi}", f"{hi}")
        .replace("{o}", f"{other}")
    )
    return _checked(rng, lab, Case(text, language, lab.name.en, shown, f"{stated}", f"{wrong}"), unit, units)


def _checked(rng: random.Random, lab: knowledge.Lab, case: Case, unit: str, units: list[str]) -> Case | None:
    """Ask in another unit in one case of three."""
    other = rng.choice(units)
    if rng.random() > 0.35 or other == unit:
        return case
    both = [knowledge.convert(Decimal(x), unit, other, lab.id) for x in (case.right, case.wrong)]
    if None in both:
        return None
    right, wrong = (_significant(x, 5) for x in both if x is not None)
    shown = knowledge.unit(other)
    return Case(case.text, case.language, case.concept, shown.display if shown else other, f"{right}", f"{wrong}")


def _linear(lab: knowledge.Lab, unit: str) -> bool:
    return unit not in lab.offsets and knowledge.convert(Decimal(1), lab.unit, unit, lab.id) is not None


def _bounds(lab: knowledge.Lab, bounds: knowledge.Range | None) -> tuple[Decimal, Decimal]:
    if bounds is None:
        return Decimal(2), Decimal(90)
    low = bounds.low if bounds.low is not None else (bounds.high or Decimal(1)) / 4
    high = bounds.high if bounds.high is not None else low * 3
    found = [knowledge.convert(x, bounds.unit, lab.unit, lab.id) for x in (low, high)]
    low, high = (x if x is not None else y for x, y in zip(found, (low, high), strict=True))
    if lab.unit == "%":
        return low * Decimal("0.8"), min(high, Decimal(99))
    return low * Decimal("0.8"), max(high * Decimal("1.5"), low + 1)


def _digits(value: Decimal, lab: knowledge.Lab) -> Decimal:
    if lab.id in WHOLE:
        return value.quantize(Decimal(1), ROUND_HALF_UP)
    return _significant(value, 3)


def _in(value: Decimal, lab: knowledge.Lab, unit: str) -> Decimal | None:
    if unit == lab.unit:
        return value
    converted = knowledge.convert(value, lab.unit, unit, lab.id)
    return None if converted is None else _significant(converted, 3)


def _significant(value: Decimal, digits: int) -> Decimal:
    if value == 0:
        return value
    places = digits - 1 - value.adjusted()
    return Decimal(format(round(value, min(places, 6)) if places > 0 else round(value, 0), "f"))


def _like(value: Decimal, model: Decimal) -> Decimal:
    return value.quantize(Decimal(1).scaleb(int(model.as_tuple().exponent)), ROUND_HALF_UP)


def _name(rng: random.Random, lab: knowledge.Lab, language: str) -> str:
    if language == "zh":
        return rng.choice([lab.name.zh or lab.name.en, *(s for s in lab.synonyms.zh if len(s) > 1)])
    short = [s for s in lab.synonyms.en if len(s) > 2]
    name = rng.choice([lab.name.en, *short])
    return name if any(c.isupper() for c in name[1:]) else name.lower()


def _written(rng: random.Random, value: Decimal, unit: str, shown: str, language: str) -> tuple[str, str]:
    """Return the number alone and with its unit, in one of the writings of the language."""
    number = f"{value}"
    if language == "en":
        if value >= 1000 and rng.random() < 0.5:
            number = f"{value:,}"
        return number, f"{number}{rng.choice((' ', ' ', ''))}{shown}" if shown else number
    roll = rng.random()
    if unit == "kg" and roll < 0.4:
        jin = f"{(value * 2).normalize():f}"
        return number, f"{jin}斤"
    if unit in ("10*3/uL", "10*9/L") and roll < 0.4 and len((value / 10).normalize().as_tuple().digits) > 1:
        return number, f"{(value / 10).normalize():f}万/μL"
    if roll < 0.55:
        number = number.translate(FULL)
    elif roll < 0.7 and value == value.to_integral() and 20 < value < 100:
        tens, ones = divmod(int(value), 10)
        number = HAN[tens] + "十" + (HAN[ones] if ones else "")
    return number, f"{number}{shown}"
