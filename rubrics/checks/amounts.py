"""Whether two stated amounts are the same: rounding, equivalent units, pairs, titres and less-than results."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from wardround.patients import knowledge
from wardround.rubrics.reading import Measured
from wardround.rubrics.reading.fitting import home_unit
from wardround.rubrics.reading.quantities import find_unit, parse_quantity

_WIDE = Context(prec=80)
"""Room for 28 converted digits beside the longest number that is read."""
IMPOSSIBLE = 3
"""A bare number this many times above the reference range is not meant in the conventional unit."""
COARSE_PERCENT = Decimal(1)
"""A coarser rounding with two or more digits may differ by this much of the value."""


def same_amount(claim: Measured, value: float | str, unit: str, concept: str) -> bool:
    """Tell whether a claim states `value` in `unit` or an equivalent.

    Args:
        claim: a number of the answer.
        value: a JSON number, or "148/92", "1:320", "<0.01".
        unit: any writing of a unit; "" for none.
        concept: knowledge id of the concept, for conversions.
    """
    text = str(value).strip()
    if text[:1] in "<>≤≥":
        side = "below" if text[0] in "<≤" else "above"
        bare = text.lstrip("<>≤≥=").strip()
        return claim.role == "bound" and claim.comparator == side and _single(claim, bare, unit, concept)
    if ":" in text:
        return claim.shape == "titre" and claim.value == text.replace(" ", "")
    if "/" in text:
        return _pair(claim, text, unit)
    return claim.shape == "one" and _single(claim, text, unit, concept)


def _pair(claim: Measured, text: str, unit: str) -> bool:
    wanted = text.replace(" ", "").split("/")
    if claim.shape != "pair" or len(wanted) != 2:
        return False
    factor = 1
    if claim.stated_unit and not equivalent(claim.unit, unit, "blood_pressure"):
        return False
    return all(Decimal(w) * factor == v for w, v in zip(wanted, claim.values, strict=True))


def _single(claim: Measured, text: str, unit: str, concept: str) -> bool:
    parsed = parse_quantity(text)
    if parsed is None:
        return False
    stated = claim.value if claim.shape == "one" else str(claim.values[0])
    return same_number(stated, claim.unit if claim.stated_unit else None, parsed.texts[0], unit, concept)


def same_number(stated: str, stated_unit: str | None, wanted: str, unit: str, concept: str) -> bool:
    """Compare two single numbers, each with its digits as written."""
    try:
        said, true = Decimal(stated), Decimal(wanted)
    except ArithmeticError:
        return False
    home = home_unit(concept)
    if stated_unit is not None and _same_without_feu(stated, stated_unit, wanted, unit, concept):
        return True
    if (stated_unit, unit_code(unit)) in LOGS or (unit_code(unit), stated_unit) in LOGS:
        return _logs(said, true, stated_unit == "{copies}/mL")
    if stated_unit is None and home == "10*3/uL" and said >= 1000:
        stated_unit = "/uL"  # "platelets 64,000"
    if stated_unit is None and home == "%" and said < 1 < true:
        return rounds_to(said * 100, true)  # an ejection fraction of 0.35
    if stated_unit is None:
        if unit and home and not equivalent(home, unit, concept, exact=True):
            lab = knowledge.labs().get(concept)
            known = lab is not None and (unit_code(unit) in lab.factors or _other_scale(said, unit, home, concept))
            return known and rounds_to(said, true)
        return rounds_to(said, true)
    if (stated_unit == "%" and unit in ("", "ratio")) or same_unit(stated_unit, unit):
        return rounds_to(said, true)
    if not unit and not home:
        return rounds_to(said, true)
    if home == "%" and stated_unit in ("{fraction}", "1"):
        return rounds_to(said * 100, true)
    return _converted(said, stated_unit, true, unit, concept)


def _other_scale(said: Decimal, unit: str, home: str, concept: str) -> bool:
    """Tell whether a bare number can only be meant in the asked unit ("血红蛋白78" is 78 g/L: nobody has 78 g/dL)."""
    lab = knowledge.labs()[concept]
    highs = [Decimal(r.high) for r in lab.ranges if r.unit == home and r.high is not None]
    asked = knowledge.convert(said, unit_code(unit), home, concept)
    return bool(highs) and asked is not None and said > IMPOSSIBLE * max(highs) >= asked


def _same_without_feu(stated: str, stated_unit: str, wanted: str, unit: str, concept: str) -> bool:
    """Many reports leave "FEU" out: the same number counts then, as a converted one does."""
    code = unit_code(unit)
    if ("FEU" in stated_unit) == ("FEU" in code):
        return False
    return same_number(stated, stated_unit.replace("{FEU}", ""), wanted, code.replace("{FEU}", ""), concept)


def _converted(said: Decimal, stated_unit: str, true: Decimal, unit: str, concept: str) -> bool:
    """Compare two numbers in different units, each rounded as it is written."""
    there = knowledge.convert(said, stated_unit, unit, concept)
    back = knowledge.convert(true, unit, stated_unit, concept)
    if there is None or back is None:
        return False
    exact = len(said.as_tuple().digits) >= 2
    return _round(there, true) == true or (exact and _round(back, said) == said) or _close(said, back)


LOGS = frozenset((("{copies}/mL", "{log_copies}/mL"),))


def unit_code(text: str) -> str:
    """Return the UCUM code of a unit's writing, the writing itself where unknown."""
    found = find_unit(text)
    return text if found is None else str(found.ucum)


def _logs(said: Decimal, true: Decimal, said_plain: bool) -> bool:
    """Compare copies with their common logarithm."""
    plain, log = (said, true) if said_plain else (true, said)
    return plain > 0 and _round(plain.log10(), log) == log


def _close(said: Decimal, true: Decimal) -> bool:
    """Two roundings of one value, each in its own unit, may differ by half a last digit and a hair."""
    step = Decimal(1).scaleb(int(said.as_tuple().exponent))
    return abs(said - true) <= step * Decimal("0.5") + abs(true) * Decimal("0.004")


def rounds_to(said: Decimal, true: Decimal) -> bool:
    """Tell whether `said` is `true`, to the stated precision or better."""
    if said == true or _round(said, true) == true:
        return True
    digits = len(said.as_tuple().digits)
    return digits >= 2 and _round(true, said) == said and abs(said - true) * 100 <= abs(true) * COARSE_PERCENT


def _round(value: Decimal, like: Decimal) -> Decimal:
    """Round to the number of decimals of `like`."""
    exponent = int(like.as_tuple().exponent)
    return value.quantize(Decimal(1).scaleb(min(exponent, 0)), rounding=ROUND_HALF_UP, context=_WIDE)


def same_unit(one: str, other: str) -> bool:
    """Tell whether two writings name one unit."""
    first, second = find_unit(one), find_unit(other)
    return one == other or (first is not None and second is not None and first.ucum == second.ucum)


def equivalent(one: str, other: str, concept: str, *, exact: bool = False) -> bool:
    """Tell whether two units measure the concept; `exact`: with the same number."""
    if same_unit(one, other):
        return True
    converted = knowledge.convert(Decimal(1), one, other, concept)
    return converted is not None and (not exact or converted == 1)
